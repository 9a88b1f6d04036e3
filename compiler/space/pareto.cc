#include "compiler/space/pareto.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace schaas::space {
namespace {

constexpr double tolerance = 1 + 1e-12;

Multiplicity saturating(Multiplicity a, Multiplicity b, Multiplicity c) {
  Multiplicity result = 0;
  if (__builtin_mul_overflow(a, b, &result) || __builtin_mul_overflow(result, c, &result))
    return ~Multiplicity{0};
  return result;
}

bool no_worse(const double* a, const double* b, std::size_t count) {
  for (std::size_t n = 0; n < count; ++n) {
    if (a[n] > b[n] * tolerance) return false;
  }
  return true;
}

}  // namespace

/// A class that exists as values only; its sums are interned when it survives the samples or a proof needs
/// them.
struct Pareto::Point {
  const Entry* producer = nullptr;  ///< null: a leaf
  const Entry* consumer = nullptr;
  cost::Term prefix = 0;  ///< multiplies the time of both
  SumId own_time = 0;     ///< added: a leaf, a combining nest
  SumId own_memory = 0;   ///< added: the temporaries
  Multiplicity members = 0;
  double elements = 0;
  std::vector<double> values;
};

Pareto::Pareto(Recursion& recursion, Sums& sums, Dominance& dominance, int max_memory_depth)
    : recursion_(recursion),
      sums_(sums),
      dominance_(dominance),
      samples_(dominance.samples().size()),
      max_memory_depth_(max_memory_depth) {}

const Pareto::Values& Pareto::time_values(cost::Term term) {
  Values& values = time_values_[term];
  if (values.empty()) {
    for (const cost::Point& point : dominance_.samples())
      values.push_back(cost::evaluate_time({{term}, {}}, point));
  }
  return values;
}

const Pareto::Values& Pareto::memory_values(cost::Term term) {
  Values& values = memory_values_[term];
  if (values.empty()) {
    const bool free = dominance_.free(term);
    for (const cost::Point& point : dominance_.samples()) {
      values.push_back(free ? 0 : cost::evaluate_memory({{}, {term}}, point));
    }
  }
  return values;
}

/// The sum without its free temporaries.
SumId Pareto::costly(SumId memory) {
  const auto [place, added] = costly_.emplace(memory, 0);
  if (!added) return place->second;
  std::vector<cost::Term> kept;
  for (cost::Term term : sums_.at(memory)) {
    if (term != 0 && !dominance_.free(term)) kept.push_back(term);
  }
  return costly_[memory] = sums_.intern(kept);
}

bool Pareto::covered(const Entry& winner, const Entry& loser) {
  const auto ask = [&](auto& proofs, SumId a, SumId b, auto&& prove) {
    if (a == b) return true;
    const auto [place, added] = proofs.emplace(std::uint64_t{a} << 32 | b, false);
    if (added) place->second = prove(sums_.at(a), sums_.at(b));
    return place->second;
  };
  return ask(memory_proofs_, costly(winner.memory), costly(loser.memory),
             [&](auto a, auto b) { return dominance_.memory_at_most(a, b); }) &&
         ask(time_proofs_, winner.time, loser.time,
             [&](auto a, auto b) { return dominance_.time_at_most(a, b); });
}

Pareto::Entry Pareto::entry_of(const Point& point) {
  Entry entry;
  entry.members = point.members;
  entry.values = point.values;
  entry.elements = point.elements;
  entry.time = point.own_time;
  entry.memory = point.own_memory;
  if (point.producer != nullptr) {
    const SumId both = sums_.plus(point.producer->time, point.consumer->time);
    entry.time = sums_.plus(sums_.times(both, point.prefix), point.own_time);
    entry.memory = sums_.plus(sums_.plus(point.producer->memory, point.consumer->memory), point.own_memory);
  }
  return entry;
}

void Pareto::offer(std::vector<Entry>& front, const Point& point) {
  const std::size_t count = 2 * samples_;
  bool built = false;
  Entry entry;
  for (Entry& known : front) {
    if (!no_worse(known.values.data(), point.values.data(), count)) continue;
    if (!built) entry = entry_of(point);
    built = true;
    if (known.time == entry.time && known.memory == entry.memory) {
      known.members += entry.members;
      return;
    }
    if (!covered(known, entry)) continue;
    ++dropped_;
    const bool tie = no_worse(point.values.data(), known.values.data(), count) && covered(entry, known);
    if (!tie || known.elements <= entry.elements) return;
    known = std::move(entry);
    return;
  }
  if (!built) entry = entry_of(point);
  dropped_ += std::erase_if(front, [&](const Entry& known) {
    return no_worse(entry.values.data(), known.values.data(), count) && covered(entry, known);
  });
  front.push_back(std::move(entry));
}

void Pareto::linear(StateId id, std::vector<Entry>& front) {
  for (const auto& [last, orders] : recursion_.innermost_choices(id, recursion_.state(id).loops)) {
    const cost::Term term = recursion_.leaf_term(id, last);
    Point point;
    point.own_time = sums_.single(term);
    point.members = orders;
    point.values = time_values(term);
    point.values.resize(2 * samples_, 0);
    offer(front, point);
  }
}

void Pareto::fuse(StateId id, const Transition& t, std::vector<Entry>& front, Watch& watch) {
  if (std::popcount(t.temporary) > max_memory_depth_) return;
  const auto& producers = of(t.producer, watch);
  const auto& consumers = of(t.consumer, watch);
  if (watch.stopped()) return;
  const cost::Term temporary = extents_of(t.temporary);
  Point point;
  point.prefix = trips_of(recursion_.context(id), t.prefix);
  const Values& factor = time_values(cost::make_term(point.prefix, cost::Access::contiguous));
  const Values& stored = memory_values(temporary);
  point.own_memory = sums_.single(temporary);
  const double elements = cost::evaluate_memory({{}, {temporary}}, dominance_.samples().front());
  point.values.resize(2 * samples_);
  for (const Entry& p : producers) {
    for (const Entry& c : consumers) {
      if (watch.stopped()) return;
      point.producer = &p;
      point.consumer = &c;
      point.members = saturating(p.members, c.members, t.orders);
      point.elements = p.elements + c.elements + elements;
      for (std::size_t n = 0; n < samples_; ++n) {
        const std::size_t m = samples_ + n;
        point.values[n] = factor[n] * (p.values[n] + c.values[n]);
        point.values[m] = p.values[m] + c.values[m] + stored[n];
      }
      offer(front, point);
    }
  }
}

void Pareto::join(StateId id, const Join& join, std::vector<Entry>& front, Watch& watch) {
  if (std::max(std::popcount(join.left_temporary), std::popcount(join.right_temporary)) > max_memory_depth_)
    return;
  const auto& lefts = of(join.left, watch);
  const auto& rights = of(join.right, watch);
  if (watch.stopped()) return;
  std::vector<cost::Term> temporaries = {extents_of(join.left_temporary), extents_of(join.right_temporary)};
  std::sort(temporaries.begin(), temporaries.end());
  Point point;
  point.own_memory = sums_.intern(temporaries);
  const Values first = memory_values(temporaries[0]);
  const Values second = memory_values(temporaries[1]);
  const double elements = cost::evaluate_memory({{}, temporaries}, dominance_.samples().front());
  point.values.resize(2 * samples_);
  for (const auto& [last, orders] : recursion_.innermost_choices(id, join.loops)) {
    const cost::Term nest = recursion_.join_term(id, join.loops, last);
    point.own_time = sums_.single(nest);
    const Values combining = time_values(nest);
    for (const Entry& l : lefts) {
      for (const Entry& r : rights) {
        if (watch.stopped()) return;
        point.producer = &l;
        point.consumer = &r;
        point.members = saturating(l.members, r.members, orders);
        point.elements = l.elements + r.elements + elements;
        for (std::size_t n = 0; n < samples_; ++n) {
          const std::size_t m = samples_ + n;
          point.values[n] = l.values[n] + r.values[n] + combining[n];
          point.values[m] = l.values[m] + r.values[m] + first[n] + second[n];
        }
        offer(front, point);
      }
    }
  }
}

const std::vector<Pareto::Entry>& Pareto::of(StateId id, Watch& watch) {
  static const std::vector<Entry> none;
  if (id < known_.size() && known_[id]) return *known_[id];
  if (watch.stopped()) return none;
  const Expansion& expansion = recursion_.expand(id);
  std::vector<Entry> front;
  if (expansion.linear != 0) linear(id, front);
  for (const Transition& t : expansion.transitions) fuse(id, t, front, watch);
  for (const Join& both : expansion.joins) join(id, both, front, watch);
  if (watch.stopped()) return none;
  if (id >= known_.size()) known_.resize(recursion_.size());
  known_[id] = std::make_unique<std::vector<Entry>>(std::move(front));
  return *known_[id];
}

std::vector<Pareto::Entry> Pareto::of_roots(Watch& watch) {
  std::vector<Entry> front;
  for (StateId root : recursion_.roots()) {
    for (const Entry& entry : of(root, watch)) {
      Point point;
      point.own_time = entry.time;
      point.own_memory = entry.memory;
      point.members = entry.members;
      point.elements = entry.elements;
      point.values = entry.values;
      offer(front, point);
    }
  }
  return front;
}

}  // namespace schaas::space
