#pragma once
#include "compiler/lower/analysis/nest.h"
#include "compiler/lower/emit/facts/kernel_builder.h"

namespace schaas::lower {

/// Turns a numbered tree into the phases of the builder's kernel, those of a producer before those of the
/// consumer that reads it.
void emit_phases(const NestTree& tree, KernelBuilder& builder);

}  // namespace schaas::lower
