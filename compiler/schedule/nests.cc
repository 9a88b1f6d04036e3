#include "compiler/schedule/nests.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/concrete_notation/match.h"
#include "compiler/index_notation/printer.h"
#include "compiler/schedule/illegal.h"
#include "compiler/support/contains.h"

// A loop tree as a list of nests, and back (trie-like fusion, ReACT sections 4.3 and 4.4). Unfolding takes
// the tree apart in execution order. In the list a temporary has the indices that it would have without
// sharing. The number of leading loops that neighbours share is all that remains of the tree's shape. Folding
// builds the tree again and drops the indices of shared loops from temporaries.
// Sharing is legal when every reader, up to the last, is inside the shared loops, finds its element by their
// indices, and reads it complete. Then a temporary lives within one iteration of them and loses their indices
// (dimension reduction). Blocks are refused, having no counterpart in a nest. `sequence` and `share` are
// edits of the list.
namespace schaas::schedule {
namespace {

using concrete_notation::Assign;
using concrete_notation::Blocks;
using concrete_notation::Forall;
using concrete_notation::match;
using concrete_notation::StatementPtr;
using concrete_notation::Terms;
using concrete_notation::Where;
using index_notation::Access;
using support::Result;
using Names = std::vector<std::string>;

/// A loop of the tree; loops with equal names are distinguished.
struct Loop {
  std::string index;
  std::size_t number;
};

enum class TermsOfSums { refused, nests };

/// Takes a tree apart, producers before consumers.
class Unfolding {
 public:
  explicit Unfolding(TermsOfSums terms) : terms_(terms) {}

  Result<Nests> run(const StatementPtr& tree) {
    SCHAAS_RETURN_IF_ERROR(walk(tree, {}, 0));
    // Loops are compared by number: two loops of one name in different branches are not shared.
    for (std::size_t n = 0; n + 1 < nests_.size(); ++n) {
      const auto& a = loops_[n];
      const auto& b = loops_[n + 1];
      while (nests_[n].shared < std::min(a.size(), b.size()) && a[nests_[n].shared] == b[nests_[n].shared])
        ++nests_[n].shared;
    }
    return std::move(nests_);
  }

 private:
  /// Walks a statement whose target starts anew below the first `fresh` loops above.
  Result<void> walk(const StatementPtr& statement, std::vector<Loop> above, std::size_t fresh) {
    return match(
        statement->node,
        [&](const Forall& loop) -> Result<void> {
          above.push_back({loop.index, next_loop_++});
          return walk(loop.body, std::move(above), fresh);
        },
        [&](const Blocks& blocks) -> Result<void> {
          return illegal("the tree runs in blocks of `" + blocks.index +
                         "`; share loops first and make blocks afterwards");
        },
        [&](const Where& branch) -> Result<void> {
          // The temporary starts anew in each iteration of all loops above; the target of the consumer does
          // not.
          SCHAAS_RETURN_IF_ERROR(walk(branch.producer, above, above.size()));
          return walk(branch.consumer, std::move(above), fresh);
        },
        [&](const Terms& sum) -> Result<void> {
          if (terms_ == TermsOfSums::nests) {
            for (const StatementPtr& term : sum.terms) SCHAAS_RETURN_IF_ERROR(walk(term, above, fresh));
            return {};
          }
          return illegal("`" + index_notation::print(concrete_notation::leaf_of(sum.terms.front()).target) +
                         "` is computed term by term; share and order nests first and distribute afterwards");
        },
        [&](const Assign&) -> Result<void> {
          add(statement, above, fresh);
          return {};
        });
  }

  /// Gives temporaries the indices of the loops they were inside of.
  Access widened(Access access) const {
    const auto found = added_.find(access.tensor);
    if (found != added_.end())
      access.indices.insert(access.indices.begin(), found->second.begin(), found->second.end());
    return access;
  }

  /// Adds the nest of an assignment. A loop around its producer that the value does not mention is not its
  /// own.
  void add(const StatementPtr& leaf, const std::vector<Loop>& above, std::size_t fresh) {
    Nest nest;
    const StatementPtr read_wide =
        concrete_notation::with_accesses(leaf, [&](Access access) { return widened(std::move(access)); });
    Names mentioned = concrete_notation::coordinates(leaf);
    for (const Access& access : concrete_notation::reads(read_wide))
      mentioned.insert(mentioned.end(), access.indices.begin(), access.indices.end());
    // Loops inside of which the target starts anew give it an index each, if the value depends on them.
    std::vector<std::size_t> numbers;
    Names passed;
    for (std::size_t n = 0; n < above.size(); ++n) {
      const bool outside = n < fresh;
      if (outside && !support::contains(mentioned, above[n].index)) continue;
      if (outside) passed.push_back(above[n].index);
      nest.loops.push_back(above[n].index);
      numbers.push_back(above[n].number);
    }
    // The target is known only now, so the accesses are widened once more, target included.
    added_[nest_target(leaf)] = passed;
    nest.assignment =
        concrete_notation::with_accesses(leaf, [&](Access access) { return widened(std::move(access)); });
    nests_.push_back(std::move(nest));
    loops_.push_back(std::move(numbers));
  }

  static const std::string& nest_target(const StatementPtr& leaf) {
    return std::get<Assign>(leaf->node).target.tensor;
  }

  TermsOfSums terms_;
  Nests nests_;
  std::vector<std::vector<std::size_t>> loops_;  ///< loops of each nest, by number
  std::map<std::string, Names> added_;
  std::size_t next_loop_ = 0;
};

/// Returns the reads of `tensor` in a nest.
std::vector<Access> reads_of(const Nest& nest, const std::string& tensor) {
  std::vector<Access> all = concrete_notation::reads(nest.assignment);
  std::erase_if(all, [&](const Access& access) { return access.tensor != tensor; });
  return all;
}

/// Returns the reason why the loop over `index` cannot be shared between nest `number` and the next ones; ""
/// when it can.
std::string reason_against(const Nests& nests, std::size_t number, const std::string& index) {
  const Access& target = nests[number].leaf().target;
  const std::string name = "`" + index_notation::print(target) + "`";
  // An index that is on the left alone: the tree inside of the loop would not tell that the target had it.
  const auto reads = concrete_notation::reads(nests[number].assignment);
  const bool depends = support::contains(concrete_notation::coordinates(nests[number].assignment), index) ||
                       std::any_of(reads.begin(), reads.end(), [&](const Access& read) {
                         return support::contains(read.indices, index);
                       });
  if (!support::contains(nests[number].loops, index) || !depends)
    return name + " does not depend on it, and would be computed again in each iteration";
  const auto found = std::find(target.indices.begin(), target.indices.end(), index);
  if (found == target.indices.end()) return name + " is complete only after all of its iterations";
  // Every reader must have the index in the same position, once: only then is its element made in the same
  // iteration.
  const auto at = static_cast<std::size_t>(found - target.indices.begin());
  for (std::size_t n = number + 1; n <= last_reader(nests, number); ++n) {
    if (!support::contains(nests[n].loops, index))
      return "the nest of `" + index_notation::print(nests[n].leaf().target) + "` has no such loop";
    for (const Access& read : reads_of(nests[n], target.tensor)) {
      if (read.indices.size() <= at || read.indices[at] != index ||
          std::count(read.indices.begin(), read.indices.end(), index) != 1)
        return name + " is read as `" + index_notation::print(read) + "`";
    }
  }
  return "";
}

/// Checks that shared loops agree, and that temporaries live as long as they are read.
Result<void> check(const Nests& nests) {
  for (std::size_t n = 0; n < nests.size(); ++n) {
    const Nest& nest = nests[n];
    const std::string name = "`" + index_notation::print(nest.leaf().target) + "`";
    const std::size_t last = last_reader(nests, n);
    if (nest.shared > 0 && last == n)
      return illegal("nothing reads " + name + ", so its nest shares no loop with another");
    for (std::size_t m = n; m < last; ++m) {
      if (nests[m].shared >= nest.shared) continue;
      return illegal(name + " lives inside loop `" + nest.loops[nests[m].shared] +
                     "`, but is read outside of it by the nest of `" +
                     index_notation::print(nests[m + 1].leaf().target) + "`");
    }
    for (std::size_t s = 0; s < nest.shared; ++s) {
      const std::string& index = nest.loops[s];
      if (const std::string reason = reason_against(nests, n, index); !reason.empty())
        return illegal("loop `" + index + "` cannot be shared by the nest of " + name +
                       " and the next one: " + reason);
      if (nests[n + 1].loops[s] != index)
        return illegal("the nest of " + name + " and the next one begin with different loops, `" + index +
                       "` and `" + nests[n + 1].loops[s] + "`");
    }
  }
  return {};
}

/// Builds trees of checked nests.
class Folding {
 public:
  explicit Folding(const Nests& nests) : nests_(nests) {
    for (const Nest& nest : nests) {
      for (std::size_t s = 0; s < nest.shared; ++s) {
        const Names& indices = nest.leaf().target.indices;
        const auto found = std::find(indices.begin(), indices.end(), nest.loops[s]);
        lost_[nest.leaf().target.tensor].push_back(static_cast<std::size_t>(found - indices.begin()));
      }
    }
  }

  /// Builds nests first..last, below the first `depth` loops of each.
  StatementPtr tree(std::size_t first, std::size_t last, std::size_t depth) const {
    const Nest& nest = nests_[first];
    if (first == last) {
      return concrete_notation::forall(
          Names(nest.loops.begin() + static_cast<std::ptrdiff_t>(depth), nest.loops.end()), leaf(nest));
    }
    std::size_t end = first;  // end of the nests that share one more loop
    while (end < last && nests_[end].shared > depth) ++end;
    if (end == last) return concrete_notation::forall(nest.loops[depth], tree(first, last, depth + 1));
    return concrete_notation::where(tree(end + 1, last, depth), tree(first, end, depth));
  }

 private:
  StatementPtr leaf(const Nest& nest) const {
    return concrete_notation::with_accesses(nest.assignment, [&](Access access) {
      const auto lost = lost_.find(access.tensor);
      if (lost == lost_.end()) return access;
      Names kept;
      for (std::size_t n = 0; n < access.indices.size(); ++n) {
        if (std::find(lost->second.begin(), lost->second.end(), n) == lost->second.end())
          kept.push_back(access.indices[n]);
      }
      access.indices = std::move(kept);
      // Ranges point at indices of the source text, which no longer correspond to those kept.
      access.index_ranges.clear();
      return access;
    });
  }

  const Nests& nests_;
  std::map<std::string, std::vector<std::size_t>> lost_;  ///< temporary -> positions of its lost indices
};

/// Keeps the loops that two nests can still share after reordering.
void keep_common(Nest& nest, const Nest& next) {
  const std::size_t most = std::min({nest.shared, nest.loops.size(), next.loops.size()});
  std::size_t common = 0;
  while (common < most && nest.loops[common] == next.loops[common]) ++common;
  nest.shared = common;
}

/// Keeps the leading shared loops that tree_of allows. Two producers may share a loop that their reader has
/// inside of another one, on which neither depends.
void keep_legal(Nests& nests) {
  for (std::size_t n = nests.size(); n-- > 0;) {
    const std::size_t last = last_reader(nests, n);
    std::size_t most = last == n ? 0 : nests[n].shared, legal = 0;
    for (std::size_t m = n; m < last; ++m) most = std::min(most, nests[m].shared);
    while (legal < most && reason_against(nests, n, nests[n].loops[legal]).empty()) ++legal;
    nests[n].shared = legal;
  }
}

/// Adds the paths of the sections of nests first..last below their first `depth` loops, in the order of
/// Folding::tree.
void add_paths(const Nests& nests, std::size_t first, std::size_t last, std::size_t depth, const Path& path,
               std::vector<Path>& out) {
  if (first == last) return out.push_back(path);
  std::size_t end = first;
  while (end < last && nests[end].shared > depth) ++end;
  if (end == last) return add_paths(nests, first, last, depth + 1, path, out);
  Path side = path;
  side.push_back(0);
  add_paths(nests, first, end, depth, side, out);
  side.back() = 1;
  add_paths(nests, end + 1, last, depth, side, out);
}

}  // namespace

Result<Nests> nests_of(const StatementPtr& tree) {
  SCHAAS_ASSIGN_OR_RETURN(Nests nests, Unfolding(TermsOfSums::refused).run(tree));
  keep_legal(nests);
  return nests;
}

Result<Nests> nests_and_terms_of(const StatementPtr& tree) { return Unfolding(TermsOfSums::nests).run(tree); }

std::size_t last_reader(const Nests& nests, std::size_t number) {
  std::size_t last = number;
  for (std::size_t n = number + 1; n < nests.size(); ++n) {
    if (!reads_of(nests[n], nests[number].leaf().target.tensor).empty()) last = n;
  }
  return last;
}

Names sharable(const Nests& nests, std::size_t number) {
  Names out;
  for (const std::string& index : nests[number].loops) {
    if (last_reader(nests, number) > number && reason_against(nests, number, index).empty())
      out.push_back(index);
  }
  return out;
}

Result<StatementPtr> tree_of(const Nests& nests) {
  SCHAAS_RETURN_IF_ERROR(check(nests));
  return Folding(nests).tree(0, nests.size() - 1, 0);
}

void share(Nests& nests, std::size_t number, const Names& loops) {
  for (Nest* nest : {&nests[number], &nests[number + 1]}) {
    Names order = loops;
    for (const std::string& index : nest->loops) {
      if (!support::contains(loops, index)) order.push_back(index);
    }
    nest->loops = std::move(order);
  }
  nests[number].shared = loops.size();
  if (number > 0) keep_common(nests[number - 1], nests[number]);
  if (number + 2 < nests.size()) keep_common(nests[number + 1], nests[number + 2]);
}

std::vector<Path> paths_of(const Nests& nests) {
  std::vector<Path> out;
  add_paths(nests, 0, nests.size() - 1, 0, {}, out);
  return out;
}

}  // namespace schaas::schedule
