#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "client/cpp/runtime/balance.h"
#include "client/cpp/runtime/bound_arguments.h"
#include "client/cpp/runtime/partial_results.h"
#include "client/cpp/runtime/privatised_reduction.h"
#include "client/cpp/runtime/shared_arrays.h"

namespace schaas::client {

/// A phase divided for threads: a piece is what a thread takes at a time, tasks [borders[n], borders[n + 1]).
struct DividedPhase {
  std::vector<Task> tasks;
  std::vector<std::size_t> borders;
  /// Set when iterations are split and their parts do not write for themselves.
  std::optional<PartialResults> partial_results;
  /// Set when pieces write the same elements.
  std::optional<PrivatisedReduction> reduction;

  std::size_t pieces() const { return borders.size() - 1; }
  bool splits_iterations() const;
  std::int64_t bytes() const;  ///< bytes of both
};

/// Circumstances of a division beside the phase.
struct Division {
  const BoundArguments& arguments;
  const SharedArrays& shared;
  const PackedTensor& result;
  int threads = 1;
  const ExecutionOptions& options;
};

/// Divides a phase into tasks and those into pieces. Three kinds: exclusive writes (many pieces for each
/// thread), privatised reductions (a few, each with an array of its own), and one piece. Heavy iterations are
/// split in addition. Errors: exhausted [memory].
support::Result<DividedPhase> divide(const schaas_phase& phase, const Division& division);

}  // namespace schaas::client
