#pragma once
#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::pipeline {

/// Checks that a kernel can be made of a trace: the stages of compile before code generation. Errors: those
/// of schedule::apply, concrete_notation::verify and lower::lower.
support::Result<void> check(const problem::Problem& problem, const schedule::Trace& trace);

}  // namespace schaas::pipeline
