#include "compiler/space/count.h"

namespace schaas::space {

mpz_class Counter::of(StateId id, Watch& watch) {
  if (id < known_.size() && known_[id]) return counts_[id];
  if (watch.stopped()) return 0;
  const Expansion& expansion = recursion_.expand(id);
  mpz_class sum = static_cast<unsigned long>(expansion.linear);
  for (const Transition& t : expansion.transitions) {
    sum += mpz_class(of(t.producer, watch) * of(t.consumer, watch)) * static_cast<unsigned long>(t.orders);
  }
  for (const Join& join : expansion.joins) {
    sum += mpz_class(of(join.left, watch) * of(join.right, watch)) * static_cast<unsigned long>(join.orders);
  }
  if (watch.stopped()) return 0;
  if (id >= known_.size()) {
    known_.resize(recursion_.size());
    counts_.resize(recursion_.size());
  }
  known_[id] = true;
  counts_[id] = sum;
  return sum;
}

}  // namespace schaas::space
