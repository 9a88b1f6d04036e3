#pragma once
#include <string>

#include "compiler/loop_ir/kernel.h"
#include "compiler/support/result.h"

namespace schaas::loop_ir {

/// Returns internal [loop-ir].
support::Diagnostic wrong(const std::string& what);

/// The array holds values, positions or coordinates of the result.
bool belongs_to_result(const Array& array);

/// Checks what a phase asks of its tensors.
support::Result<void> check_alignment(const Kernel& kernel, const Phase& phase);
/// Checks the load of adjacent values that begins at statement `at`. Its array is one that the phase asks to
/// be aligned (null: none), and the next lets load the others.
support::Result<void> check_wide_load(const std::vector<StatementPtr>& statements, std::size_t at,
                                      const Alignment* alignment);
bool is_wide_store(const StatementPtr& statement);
/// Checks the write of adjacent values that begins at statement `at`, a wide store, as check_wide_load does.
support::Result<void> check_wide_store(const std::vector<StatementPtr>& statements, std::size_t at,
                                       const Alignment* alignment);

/// Checks the declarations around statements whose names and arrays are correct: specialisations, copies,
/// counters.
support::Result<void> check_around(const Kernel& kernel);

/// Checks that the phase runs over a list of referenced coordinates, where it runs over a list.
support::Result<void> check_over(const Phase& phase, const Kernel& kernel);
/// Checks the numbers of a phase's mapping, the groups that stage entries, and the positions by which rows
/// are merged with entries.
support::Result<void> check_mapping(const Phase& phase, const Kernel& kernel);
/// Checks that the `threads` of the phase stage elements of arrays in staged ones like them.
support::Result<void> check_stage(const Stage& stage, int threads, const Kernel& kernel);

}  // namespace schaas::loop_ir
