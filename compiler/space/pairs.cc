#include "compiler/space/pairs.h"

#include <algorithm>
#include <bit>

// SparseAuto's pairs of time and memory. Temporaries are lists in preorder here, kept among the sums without
// being sorted. Pairs have no multiplicities, so equal ones are dropped as they come.
namespace schaas::space {
namespace {

/// Sorts what was found so far now and then, so that equal pairs do not pile up.
void tidy(std::vector<Pairs::Entry>& entries) {
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
}

}  // namespace

/// Returns a section's temporaries, then those of its sides.
SumId Pairs::list(const std::vector<cost::Term>& own, SumId first, SumId second) {
  std::vector<cost::Term> terms = own;
  for (SumId side : {first, second}) {
    const auto more = sums_.at(side);
    terms.insert(terms.end(), more.begin(), more.end());
  }
  return sums_.intern(terms);
}

const std::vector<Pairs::Entry>& Pairs::of(StateId id, Watch& watch) {
  static const std::vector<Entry> none;
  if (id < known_.size() && known_[id]) return *known_[id];
  if (watch.stopped()) return none;
  const Expansion expansion = recursion_.expand(id);
  std::vector<Entry> found;
  if (expansion.linear) {
    for (const Recursion::Nest& nest : recursion_.leaf_nests(id, false))
      found.push_back({sums_.single(nest.term), 0});
  }
  for (const Transition& t : expansion.transitions) {
    if (std::popcount(t.temporary) > max_memory_depth_) continue;
    const cost::Term prefix = trips_of(recursion_.context(id), t.prefix);
    const std::vector<Entry>& producers = of(t.producer, watch);
    const std::vector<Entry>& consumers = of(t.consumer, watch);
    for (const Entry& p : producers) {
      if (watch.stopped()) return none;
      for (const Entry& c : consumers) {
        found.push_back({sums_.times(sums_.plus(p.time, c.time), prefix),
                         list({extents_of(t.temporary)}, p.memory, c.memory)});
      }
    }
    tidy(found);
  }
  for (const Join& join : expansion.joins) {
    if (std::max(std::popcount(join.left_temporary), std::popcount(join.right_temporary)) > max_memory_depth_)
      continue;
    const std::vector<Entry>& lefts = of(join.left, watch);
    const std::vector<Entry>& rights = of(join.right, watch);
    for (const Recursion::Nest& combining : recursion_.join_nests(id, join, false)) {
      const SumId nest = sums_.single(combining.term);
      for (const Entry& l : lefts) {
        if (watch.stopped()) return none;
        for (const Entry& r : rights) {
          found.push_back({sums_.plus(sums_.plus(l.time, r.time), nest),
                           list({extents_of(join.left_temporary), extents_of(join.right_temporary)}, l.memory,
                                r.memory)});
        }
      }
    }
    tidy(found);
  }
  if (watch.stopped()) return none;
  tidy(found);
  if (id >= known_.size()) known_.resize(recursion_.size());
  known_[id] = std::make_unique<std::vector<Entry>>(std::move(found));
  return *known_[id];
}

}  // namespace schaas::space
