#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

/// A loop tree seen as a trie (ReACT, section 4.3): one nest per assignment, in the order in which they run,
/// and how many loops each has in common with the next one.
namespace schaas::schedule {

/// One assignment under all of its loops. Temporaries have the indices they would have if no loop were
/// shared.
struct Nest {
  std::vector<std::string> loops;  ///< outermost first
  concrete_notation::StatementPtr assignment;
  /// The first so many loops run once around this nest and the next one. The temporary this nest computes
  /// lives inside them: it has lost their indices and starts anew in each turn. Of the last nest 0.
  std::size_t shared = 0;

  const concrete_notation::Assign& leaf() const {
    return std::get<concrete_notation::Assign>(assignment->node);
  }
};
using Nests = std::vector<Nest>;

/// The nests of a tree. A loop above a producer that the producer does not need is not one of its loops.
/// Errors: invalid [illegal-directive]: a section runs in blocks.
support::Result<Nests> nests_of(const concrete_notation::StatementPtr& tree);

/// How many of the loops before `nests[number]` and the next one may be shared at most, whatever their order:
/// the indices of its temporary by which every reader finds its element, as loops that all nests up to the
/// last reader have.
std::vector<std::string> sharable(const Nests& nests, std::size_t number);

/// The last nest that reads what `nests[number]` computes; `number` when none does.
std::size_t last_reader(const Nests& nests, std::size_t number);

/// The tree of the nests: loops are shared, temporaries lose the indices of the loops they live in. Errors:
/// invalid [illegal-directive]: loops that are shared differ; a temporary is complete only after a shared
/// loop, is read at another element, or is read by a nest outside of it.
support::Result<concrete_notation::StatementPtr> tree_of(const Nests& nests);

/// Nest `number` and the next one begin with `loops`, which both must have, and share them; whatever else
/// they share is kept as far as their loops still agree. Legal or not is for tree_of to say.
void share(Nests& nests, std::size_t number, const std::vector<std::string>& loops);

/// The path of each nest's section in tree_of(nests).
std::vector<Path> paths_of(const Nests& nests);

}  // namespace schaas::schedule
