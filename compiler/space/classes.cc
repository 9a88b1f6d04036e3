#include "compiler/space/classes.h"

#include <algorithm>
#include <bit>

// Every cost class of a state with its exact multiplicity, by a fold over transitions. Sums are numbered
// (sums.h), so that a class is a pair of numbers and equal classes meet in a hash table. Multiplicities are
// kept in 128 bits. When one does not fit, everything found is dropped, and the caller begins anew with big
// integers.
namespace schaas::space {

/// Adds up multiplicities by class: a hash table with open addressing, emptied into a sorted list.
template <class Number>
class Classes<Number>::Gathering {
 public:
  Gathering() : table_(64) {}

  /// False when the sum does not fit.
  bool add(SumId time, SumId memory, const Number& members) {
    // A slot without members is empty: every class has some.
    std::size_t slot = position(time, memory);
    if (table_[slot].members == 0) {
      table_[slot] = {time, memory, 0};
      if (++used_ * 2 > table_.size()) {
        grow();
        slot = position(time, memory);
        table_[slot] = {time, memory, 0};
      }
    }
    table_[slot].members += members;
    return table_[slot].members >= members;
  }

  std::vector<Entry> take() {
    std::vector<Entry> entries;
    for (const Entry& entry : table_) {
      if (entry.members != 0) entries.push_back(entry);
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return a.time != b.time ? a.time < b.time : a.memory < b.memory;
    });
    return entries;
  }

 private:
  std::size_t position(SumId time, SumId memory) const {
    std::uint64_t hash = (std::uint64_t{time} << 32 | memory) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 32;
    std::size_t slot = hash & (table_.size() - 1);
    while (table_[slot].members != 0 && (table_[slot].time != time || table_[slot].memory != memory)) {
      slot = (slot + 1) & (table_.size() - 1);
    }
    return slot;
  }
  /// Doubles the table, which is at most half full.
  void grow() {
    std::vector<Entry> old(table_.size() * 2);
    old.swap(table_);
    for (const Entry& entry : old) {
      if (entry.members != 0) table_[position(entry.time, entry.memory)] = entry;
    }
  }

  std::vector<Entry> table_;
  std::size_t used_ = 0;
};

template <class Number>
const std::vector<typename Classes<Number>::Entry>& Classes<Number>::of(StateId id, bool outermost,
                                                                        int loop_depth, Watch& watch) {
  static const std::vector<Entry> none;
  const IndexSet loops = recursion_.state(id).loops;
  loop_depth = std::min(loop_depth, std::popcount(loops));
  if (loop_depth < 0) return none;
  // A state has at most 16 loops, so nine bits hold the depth and the flag.
  const std::uint64_t key =
      std::uint64_t{id} << 9 | static_cast<std::uint64_t>(loop_depth) << 1 | (outermost ? 1U : 0U);
  if (const auto found = known_.find(key); found != known_.end()) return *found->second;
  if (watch.stopped() || overflowed_) return none;
  const Expansion expansion = recursion_.expand(id);
  Gathering sum;
  if (expansion.linear && std::popcount(loops) <= loop_depth) {
    for (const Recursion::Nest& nest : recursion_.leaf_nests(id, outermost))
      sum.add(with(sums_.single(nest.term), nest.merges), 0, Number(static_cast<unsigned long>(nest.orders)));
  }
  for (const Transition& t : expansion.transitions) fuse(id, t, outermost, loop_depth, sum, watch);
  for (const Join& both : expansion.joins) join(id, both, outermost, loop_depth, sum, watch);
  if (watch.stopped() || overflowed_) return none;
  auto classes = std::make_unique<std::vector<Entry>>(sum.take());
  entries_ += classes->size();
  watch.hold(recursion_.bytes() + sums_.bytes() + entries_ * sizeof(Entry));
  return *(known_[key] = std::move(classes));
}

template <class Number>
SumId Classes<Number>::with(SumId sum, const Merges& merges) {
  for (const cost::Term merge : merges) sum = sums_.with(sum, merge);
  return sum;
}

template <class Number>
void Classes<Number>::add(Gathering& sum, const Entry& a, const Entry& b, std::uint64_t orders, SumId time,
                          SumId memory) {
  Number members = 0;
  if (!multiply(a.members, b.members, orders, members) || !sum.add(time, memory, members)) overflowed_ = true;
}

template <class Number>
/// Adds the classes of a transition: each of the producer with each of the consumer, below all common loops.
void Classes<Number>::fuse(StateId id, const Transition& t, bool outermost, int loop_depth, Gathering& sum,
                           Watch& watch) {
  if (std::popcount(t.temporary) > max_memory_depth_) return;
  const int below = loop_depth - std::popcount(t.prefix);
  const bool phases = outermost && t.prefix == 0;
  const std::vector<Entry> producers = of(t.producer, phases, below, watch);
  const std::vector<Entry> consumers = of(t.consumer, phases, below, watch);
  const SumId temporary = sums_.single(extents_of(t.temporary));
  const cost::Term clearing = recursion_.clearing(id, t, outermost);
  for (const Recursion::Nest& common : recursion_.common_loops(id, t, outermost)) {
    for (const Entry& p : producers) {
      const SumId producer = sums_.with(p.time, clearing);
      for (const Entry& c : consumers) {
        if (watch.stopped()) return;
        const SumId below = sums_.times(sums_.plus(producer, c.time), common.term);
        add(sum, p, c, common.orders, with(below, common.merges),
            sums_.plus(sums_.plus(p.memory, c.memory), temporary));
      }
    }
  }
}

template <class Number>
/// Adds the classes of a combination: those of both halves and of the nest that combines them.
void Classes<Number>::join(StateId id, const Join& join, bool outermost, int loop_depth, Gathering& sum,
                           Watch& watch) {
  if (std::max(std::popcount(join.left_temporary), std::popcount(join.right_temporary)) > max_memory_depth_)
    return;
  if (std::popcount(join.loops) > loop_depth) return;
  std::vector<cost::Term> temporaries = {extents_of(join.left_temporary), extents_of(join.right_temporary)};
  std::sort(temporaries.begin(), temporaries.end());
  const SumId memory = sums_.intern(temporaries);
  const auto [left, right] = recursion_.clearing(join, outermost);
  const SumId clearing = sums_.with(sums_.with(0, left), right);
  const std::vector<Entry> lefts = of(join.left, outermost, loop_depth, watch);
  const std::vector<Entry> rights = of(join.right, outermost, loop_depth, watch);
  for (const Recursion::Nest& nest : recursion_.join_nests(id, join, outermost)) {
    const SumId combining = sums_.plus(sums_.single(nest.term), clearing);
    for (const Entry& l : lefts) {
      for (const Entry& r : rights) {
        if (watch.stopped()) return;
        add(sum, l, r, nest.orders, sums_.plus(sums_.plus(l.time, r.time), combining),
            sums_.plus(sums_.plus(l.memory, r.memory), memory));
      }
    }
  }
}

template class Classes<Multiplicity>;
template class Classes<mpz_class>;

}  // namespace schaas::space
