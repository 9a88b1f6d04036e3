#pragma once
#include <chrono>
#include <string>

#include "compiler/support/diagnostic.h"

/// Why a call ended before there was an answer, by the wish of the caller.
namespace schaas::client {

support::Diagnostic cancelled();
/// `what`: the statement whose kernels were waited for.
support::Diagnostic wait_limit_over(const std::string& what, std::chrono::milliseconds limit);

}  // namespace schaas::client
