#include "compiler/space/classes.h"

#include <algorithm>
#include <bit>

namespace schaas::space {

/// Adds up multiplicities by class: a hash table with open addressing, emptied into a sorted list.
class Classes::Gathering {
 public:
  Gathering() : table_(64) {}

  bool add(SumId time, SumId memory, Multiplicity members) {
    std::size_t slot = place(time, memory);
    if (table_[slot].members == 0) {
      table_[slot] = {time, memory, 0};
      if (++used_ * 2 > table_.size()) {
        grow();
        slot = place(time, memory);
        table_[slot] = {time, memory, 0};
      }
    }
    const Multiplicity before = table_[slot].members;
    table_[slot].members += members;
    return table_[slot].members >= before;
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
  std::size_t place(SumId time, SumId memory) const {
    std::uint64_t hash = (std::uint64_t{time} << 32 | memory) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 32;
    std::size_t slot = hash & (table_.size() - 1);
    while (table_[slot].members != 0 && (table_[slot].time != time || table_[slot].memory != memory)) {
      slot = (slot + 1) & (table_.size() - 1);
    }
    return slot;
  }
  void grow() {
    std::vector<Entry> old(table_.size() * 2);
    old.swap(table_);
    for (const Entry& entry : old) {
      if (entry.members != 0) table_[place(entry.time, entry.memory)] = entry;
    }
  }

  std::vector<Entry> table_;
  std::size_t used_ = 0;
};

namespace {

/// a * b * c; false when it does not fit.
bool product(Multiplicity a, Multiplicity b, Multiplicity c, Multiplicity& result) {
  return !__builtin_mul_overflow(a, b, &result) && !__builtin_mul_overflow(result, c, &result);
}

void too_many(Watch& watch) {
  watch.stop(support::exhausted("space-classes", "a cost class has more members than 128 bits can count"));
}

}  // namespace

const std::vector<Classes::Entry>& Classes::of(StateId id, Watch& watch) {
  static const std::vector<Entry> none;
  if (id < known_.size() && known_[id]) return *known_[id];
  if (watch.stopped()) return none;
  const Expansion& expansion = recursion_.expand(id);
  const State& state = recursion_.state(id);
  Gathering sum;
  if (expansion.linear != 0) {
    for (const auto& [last, orders] : recursion_.innermost_choices(id, state.loops)) {
      sum.add(sums_.single(recursion_.leaf_term(id, last)), 0, orders);
    }
  }
  for (const Transition& t : expansion.transitions) {
    fuse(t, trips_of(recursion_.context(id), t.prefix), sum, watch);
  }
  for (const Join& both : expansion.joins) join(id, both, sum, watch);
  if (watch.stopped()) return none;
  if (id >= known_.size()) known_.resize(recursion_.size());
  known_[id] = std::make_unique<std::vector<Entry>>(sum.take());
  return *known_[id];
}

void Classes::fuse(const Transition& t, cost::Term prefix, Gathering& sum, Watch& watch) {
  if (std::popcount(t.temporary) > max_memory_depth_) return;
  std::vector<Entry> producers = of(t.producer, watch);
  std::vector<Entry> consumers = of(t.consumer, watch);
  const SumId temporary = sums_.single(extents_of(t.temporary));
  for (Entry& entry : producers) {
    entry.time = sums_.times(entry.time, prefix);
    entry.memory = sums_.plus(entry.memory, temporary);
  }
  for (Entry& entry : consumers) entry.time = sums_.times(entry.time, prefix);
  for (const Entry& p : producers) {
    if (watch.stopped()) return;
    for (const Entry& c : consumers) {
      Multiplicity members = 0;
      if (!product(p.members, c.members, t.orders, members) ||
          !sum.add(sums_.plus(p.time, c.time), sums_.plus(p.memory, c.memory), members)) {
        return too_many(watch);
      }
    }
  }
}

void Classes::join(StateId id, const Join& join, Gathering& sum, Watch& watch) {
  if (std::max(std::popcount(join.left_temporary), std::popcount(join.right_temporary)) > max_memory_depth_)
    return;
  std::vector<cost::Term> temporaries = {extents_of(join.left_temporary), extents_of(join.right_temporary)};
  std::sort(temporaries.begin(), temporaries.end());
  const SumId memory = sums_.intern(temporaries);
  const std::vector<Entry> lefts = of(join.left, watch);
  const std::vector<Entry> rights = of(join.right, watch);
  for (const auto& [last, orders] : recursion_.innermost_choices(id, join.loops)) {
    const SumId combining = sums_.single(recursion_.join_term(id, join.loops, last));
    for (const Entry& l : lefts) {
      if (watch.stopped()) return;
      for (const Entry& r : rights) {
        Multiplicity members = 0;
        if (!product(l.members, r.members, orders, members) ||
            !sum.add(sums_.plus(sums_.plus(l.time, r.time), combining),
                     sums_.plus(sums_.plus(l.memory, r.memory), memory), members)) {
          return too_many(watch);
        }
      }
    }
  }
}

}  // namespace schaas::space
