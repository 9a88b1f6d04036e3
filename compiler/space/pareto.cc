#include "compiler/space/pareto.h"

#include <algorithm>
#include <bit>

namespace schaas::space {
namespace {

constexpr double tolerance = 1 + 1e-12;
constexpr SumId unknown = 0xffffffffU;

bool no_worse(const double* a, const double* b, std::size_t count) {
  for (std::size_t n = 0; n < count; ++n) {
    if (a[n] > b[n] * tolerance) return false;
  }
  return true;
}

}  // namespace

void PairAnswers::grow() {
  std::vector<std::uint64_t> old(table_.size() * 2, 0);
  old.swap(table_);
  for (std::uint64_t entry : old) {
    if (entry == 0) continue;
    std::size_t place = start(entry & ~std::uint64_t{1});
    while (table_[place] != 0) place = (place + 1) & (table_.size() - 1);
    table_[place] = entry;
  }
}

void Pareto::Valued::clear() {
  entries.clear();
  values.clear();
  elements.clear();
}

Pareto::Pareto(Recursion& recursion, Sums& sums, Dominance& dominance, int max_memory_depth)
    : recursion_(recursion),
      sums_(sums),
      dominance_(dominance),
      samples_(dominance.samples().size()),
      width_(2 * samples_),
      max_memory_depth_(max_memory_depth),
      sum_(width_) {}

std::size_t Pareto::bytes() const {
  return known_.capacity() * sizeof(Front) + kept_.bytes() + time_proofs_.bytes() + memory_proofs_.bytes() +
         costly_.capacity() * sizeof(SumId);
}

const std::vector<double>& Pareto::time_values(cost::Term term) {
  std::vector<double>& values = time_values_[term];
  if (values.empty()) {
    for (const cost::Point& point : dominance_.samples())
      values.push_back(cost::evaluate_time({{term}, {}}, point));
  }
  return values;
}

/// The last value counts a free temporary too, at the first sample.
const std::vector<double>& Pareto::memory_values(cost::Term term) {
  std::vector<double>& values = memory_values_[term];
  if (values.empty()) {
    const bool free = dominance_.free(term);
    for (const cost::Point& point : dominance_.samples())
      values.push_back(free ? 0 : cost::evaluate_memory({{}, {term}}, point));
    values.push_back(cost::evaluate_memory({{}, {term}}, dominance_.samples().front()));
  }
  return values;
}

void Pareto::append(Valued& list, Entry entry) {
  const std::size_t begin = list.values.size();
  list.values.resize(begin + width_, 0);
  double* values = list.values.data() + begin;
  double elements = 0;
  for (cost::Term term : sums_.at(entry.time)) {
    const std::vector<double>& more = time_values(term);
    for (std::size_t n = 0; n < samples_; ++n) values[n] += more[n];
  }
  for (cost::Term term : sums_.at(entry.memory)) {
    const std::vector<double>& more = memory_values(term);
    for (std::size_t n = 0; n < samples_; ++n) values[samples_ + n] += more[n];
    elements += more[samples_];
  }
  list.entries.push_back(entry);
  list.elements.push_back(elements);
}

/// The sum without its free temporaries.
SumId Pareto::costly(SumId memory) {
  if (memory >= costly_.size()) costly_.resize(memory + memory / 2 + 64, unknown);
  if (costly_[memory] != unknown) return costly_[memory];
  std::vector<cost::Term> kept;
  for (cost::Term term : sums_.at(memory)) {
    if (term != 0 && !dominance_.free(term)) kept.push_back(term);
  }
  return costly_[memory] = sums_.intern(kept);
}

bool Pareto::covered(const Entry& winner, const Entry& loser) {
  const SumId less = costly(winner.memory);
  const SumId more = costly(loser.memory);
  return (less == more ||
          memory_proofs_.of(less, more,
                            [&] { return dominance_.memory_at_most(sums_.at(less), sums_.at(more)); })) &&
         (winner.time == loser.time || time_proofs_.of(winner.time, loser.time, [&] {
           return dominance_.time_at_most(sums_.at(winner.time), sums_.at(loser.time));
         }));
}

void Pareto::offer(Valued& front, const Pair& pair, const double* values) {
  bool built = false;
  Entry entry;
  const auto build = [&] {
    if (built) return;
    entry = {sums_.plus(pair.first.time, pair.second.time),
             sums_.plus(pair.first.memory, pair.second.memory)};
    built = true;
  };
  for (std::size_t n = 0; n < front.entries.size(); ++n) {
    double* theirs = front.values.data() + n * width_;
    if (!no_worse(theirs, values, width_)) continue;
    build();
    Entry& known = front.entries[n];
    if (known.time == entry.time && known.memory == entry.memory) return;
    if (!covered(known, entry)) continue;
    ++dropped_;
    if (front.elements[n] > pair.elements && no_worse(values, theirs, width_) && covered(entry, known)) {
      known = entry;
      front.elements[n] = pair.elements;
      std::copy(values, values + width_, theirs);
    }
    return;
  }
  build();
  std::size_t left = 0;
  for (std::size_t n = 0; n < front.entries.size(); ++n) {
    double* theirs = front.values.data() + n * width_;
    if (no_worse(values, theirs, width_) && covered(entry, front.entries[n])) continue;
    if (left != n) {
      front.entries[left] = front.entries[n];
      front.elements[left] = front.elements[n];
      std::copy(theirs, theirs + width_, front.values.data() + left * width_);
    }
    ++left;
  }
  dropped_ += front.entries.size() - left;
  front.entries.resize(left);
  front.elements.resize(left);
  front.values.resize(left * width_);
  front.entries.push_back(entry);
  front.elements.push_back(pair.elements);
  front.values.insert(front.values.end(), values, values + width_);
}

void Pareto::combine(const Valued& first, const Valued& second, Valued& front, Watch& watch) {
  for (std::size_t a = 0; a < first.entries.size(); ++a) {
    for (std::size_t b = 0; b < second.entries.size(); ++b) {
      if (watch.stopped()) return;
      const double* ours = first.values.data() + a * width_;
      const double* theirs = second.values.data() + b * width_;
      for (std::size_t n = 0; n < width_; ++n) sum_[n] = ours[n] + theirs[n];
      offer(front, {first.entries[a], second.entries[b], first.elements[a] + second.elements[b]},
            sum_.data());
    }
  }
}

void Pareto::linear(StateId id, Valued& front) {
  for (const auto& [last, orders] : recursion_.innermost_choices(id, recursion_.state(id).loops)) {
    first_.clear();
    append(first_, {sums_.single(recursion_.leaf_term(id, last)), 0});
    offer(front, {first_.entries[0], {}, 0}, first_.values.data());
  }
}

void Pareto::fuse(StateId id, const Transition& t, Valued& front, Watch& watch) {
  if (std::popcount(t.temporary) > max_memory_depth_) return;
  const std::span<const Entry> producers = of(t.producer, watch);
  const std::span<const Entry> consumers = of(t.consumer, watch);
  if (watch.stopped()) return;
  const cost::Term prefix = trips_of(recursion_.context(id), t.prefix);
  const SumId temporary = sums_.single(extents_of(t.temporary));
  first_.clear();
  for (const Entry& p : producers)
    append(first_, {sums_.times(p.time, prefix), sums_.plus(p.memory, temporary)});
  second_.clear();
  for (const Entry& c : consumers) append(second_, {sums_.times(c.time, prefix), c.memory});
  combine(first_, second_, front, watch);
}

void Pareto::join(StateId id, const Join& join, Valued& front, Watch& watch) {
  if (std::max(std::popcount(join.left_temporary), std::popcount(join.right_temporary)) > max_memory_depth_)
    return;
  const std::span<const Entry> lefts = of(join.left, watch);
  const std::span<const Entry> rights = of(join.right, watch);
  if (watch.stopped()) return;
  const SumId left = sums_.single(extents_of(join.left_temporary));
  const SumId right = sums_.single(extents_of(join.right_temporary));
  for (const auto& [last, orders] : recursion_.innermost_choices(id, join.loops)) {
    const SumId nest = sums_.single(recursion_.join_term(id, join.loops, last));
    first_.clear();
    for (const Entry& l : lefts) append(first_, {sums_.plus(l.time, nest), sums_.plus(l.memory, left)});
    second_.clear();
    for (const Entry& r : rights) append(second_, {r.time, sums_.plus(r.memory, right)});
    combine(first_, second_, front, watch);
  }
}

std::span<const Pareto::Entry> Pareto::of(StateId id, Watch& watch) {
  if (id >= known_.size()) known_.resize(recursion_.size());
  if (known_[id].done) return {known_[id].entries, known_[id].count};
  if (watch.stopped()) return {};
  const Expansion expansion = recursion_.expand(id);
  Valued front;
  if (expansion.linear) linear(id, front);
  for (const Transition& t : expansion.transitions) fuse(id, t, front, watch);
  for (const Join& both : expansion.joins) join(id, both, front, watch);
  if (watch.stopped()) return {};
  ++folded_;
  if ((folded_ & 63U) == 0) watch.hold(recursion_.bytes() + sums_.bytes() + bytes());
  const std::span<const Entry> kept = kept_.keep(front.entries);
  if (id >= known_.size()) known_.resize(recursion_.size());
  known_[id] = {kept.data(), static_cast<std::uint32_t>(kept.size()), true};
  return kept;
}

void Pareto::add_root(StateId id, Watch& watch) {
  for (const Entry& entry : of(id, watch)) {
    first_.clear();
    append(first_, entry);
    offer(roots_, {entry, {}, first_.elements[0]}, first_.values.data());
  }
}

}  // namespace schaas::space
