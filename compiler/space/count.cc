#include "compiler/space/count.h"

// Numbers of members by a fold: products over both sides and the orders of their common loops, added up over
// transitions. They are kept in 128 bits. A state whose number does not fit is marked and added up anew in
// big integers, from the numbers below it.
namespace schaas::space {

mpz_class wide(Multiplicity value) {
  const mpz_class high = static_cast<unsigned long>(value >> 64);
  return (high << 64) + mpz_class(static_cast<unsigned long>(value));
}

mpz_class Counter::of(StateId id, Watch& watch) {
  find(id, watch);
  return watch.stopped() ? mpz_class(0) : known(id);
}

mpz_class Counter::known(StateId id) const {
  return counts_[id] == large ? large_.at(id) : wide(counts_[id]);
}

/// sum += members(a) * members(b) * orders; false when that does not fit.
bool Counter::add(StateId a, StateId b, std::uint64_t orders, Multiplicity& sum) const {
  if (counts_[a] == large || counts_[b] == large) return false;
  Multiplicity product = 0;
  return !__builtin_mul_overflow(counts_[a], counts_[b], &product) &&
         !__builtin_mul_overflow(product, Multiplicity{orders}, &product) &&
         !__builtin_add_overflow(sum, product, &sum) && sum < large;
}

/// Finds the number of a state after those below it. An interrupted search leaves it unknown.
void Counter::find(StateId id, Watch& watch) {
  if (id >= counts_.size()) counts_.resize(recursion_.size(), unknown);
  if (counts_[id] != unknown || watch.stopped()) return;
  const Expansion expansion = recursion_.expand(id);
  watch.hold(recursion_.bytes() + bytes());
  Multiplicity sum = expansion.linear ? recursion_.orders(id).count(recursion_.state(id).loops) : 0;
  bool fits = true;
  const auto visit = [&](StateId a, StateId b, std::uint64_t orders) {
    find(a, watch);
    find(b, watch);
    fits = fits && !watch.stopped() && add(a, b, orders, sum);
  };
  for (const Transition& t : expansion.transitions)
    visit(t.producer, t.consumer, orders_of(recursion_, id, t));
  for (const Join& join : expansion.joins) visit(join.left, join.right, orders_of(recursion_, id, join));
  if (watch.stopped()) return;
  if (!fits) large_[id] = add_up(id);
  counts_[id] = fits ? sum : large;
}

/// The same sum, of any size, once all that is below is known.
mpz_class Counter::add_up(StateId id) const {
  const Expansion expansion = recursion_.expand(id);
  mpz_class sum = 0;
  if (expansion.linear)
    sum = static_cast<unsigned long>(recursion_.orders(id).count(recursion_.state(id).loops));
  const auto visit = [&](StateId a, StateId b, std::uint64_t orders) {
    sum += known(a) * known(b) * static_cast<unsigned long>(orders);
  };
  for (const Transition& t : expansion.transitions)
    visit(t.producer, t.consumer, orders_of(recursion_, id, t));
  for (const Join& join : expansion.joins) visit(join.left, join.right, orders_of(recursion_, id, join));
  return sum;
}

}  // namespace schaas::space
