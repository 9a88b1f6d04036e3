#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

/// A loop tree seen as a trie (ReACT, section 4.3). It has one nest per assignment, in execution order, and
/// the number of loops each shares with the next one.
namespace schaas::schedule {

/// One assignment under all of its loops. Temporaries have the indices they would have if no loop were
/// shared.
struct Nest {
  std::vector<std::string> loops;  ///< outermost first
  concrete_notation::StatementPtr assignment;
  /// Number of leading loops that run once around this nest and the next one. The temporary this nest
  /// computes lives inside them: it has lost their indices and starts anew in each iteration. 0 for the last
  /// nest.
  std::size_t shared = 0;

  const concrete_notation::Assign& leaf() const {
    return std::get<concrete_notation::Assign>(assignment->node);
  }
};
using Nests = std::vector<Nest>;

/// Returns the nests of a tree. A loop above a producer that does not need it is not one of its loops; loops
/// that can then not be shared are not.
/// Errors: invalid [illegal-directive]: a section runs in blocks.
support::Result<Nests> nests_of(const concrete_notation::StatementPtr& tree);

/// The same; each term of a distributed sum is a nest that writes the sum's target.
support::Result<Nests> nests_and_terms_of(const concrete_notation::StatementPtr& tree);

/// Returns the loops that `nests[number]` and the next one may share at most, in any order: indices of its
/// temporary by which every reader finds its element, as loops that all nests up to the last reader have.
std::vector<std::string> sharable(const Nests& nests, std::size_t number);

/// Returns the last nest that reads the target of `nests[number]`; `number` when none does.
std::size_t last_reader(const Nests& nests, std::size_t number);

/// Builds the tree of the nests: loops are shared, temporaries lose the indices of the loops they live in.
/// Errors: invalid [illegal-directive]: shared loops differ; a temporary is complete only after a shared
/// loop, is read at another element, or is read by a nest outside of it.
support::Result<concrete_notation::StatementPtr> tree_of(const Nests& nests);

/// Makes nest `number` and the next one begin with `loops`, which both must have, and share them. Other
/// sharing is kept as far as their loops still agree. tree_of checks legality.
void share(Nests& nests, std::size_t number, const std::vector<std::string>& loops);

/// Returns the path of each nest's section in tree_of(nests).
std::vector<Path> paths_of(const Nests& nests);

}  // namespace schaas::schedule
