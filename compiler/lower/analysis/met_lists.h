#pragma once
#include <optional>

#include "compiler/lower/analysis/nest.h"
#include "compiler/merge_lattice/merge_lattice.h"

namespace schaas::lower {

/// Two lists along the index of a sum. An entry of the result has a term where they have a coordinate in
/// common.
struct MetLists {
  merge_lattice::LevelAccess first, second;
  int index = 0;
};

/// Returns the lists that decide whether an iteration of a loop over the last level of a sparse result
/// appends an entry:
///     forall i, j, k: A(i,j) += B(i,j) * C(i,k) * D(j,k)                            C(i,:) and D(j,:)
///     forall i: t(k) += C(i,k), then forall j, k: A(i,j) += B(i,j) * t(k) * D(j,k)  the same
/// Nothing where the sum below is of another form: then each iteration appends. `space::result_entries` says
/// so of the schedule.
std::optional<MetLists> met_lists(const Loop& appending, const NestTree& tree);

}  // namespace schaas::lower
