#pragma once
#include <unordered_map>
#include <vector>

#include <gmpxx.h>

#include "compiler/space/recursion.h"
#include "compiler/space/watch.h"

namespace schaas::space {

__extension__ typedef unsigned __int128 Multiplicity;

mpz_class wide(Multiplicity value);
inline const mpz_class& wide(const mpz_class& value) { return value; }

/// result = a * b * orders; false when it does not fit. Folds are written for both kinds of numbers: the fast
/// one first, and once more with the other when that did not fit.
inline bool multiply(Multiplicity a, Multiplicity b, std::uint64_t orders, Multiplicity& result) {
  return !__builtin_mul_overflow(a, b, &result) &&
         !__builtin_mul_overflow(result, Multiplicity{orders}, &result);
}
inline bool multiply(const mpz_class& a, const mpz_class& b, std::uint64_t orders, mpz_class& result) {
  result = a * b * static_cast<unsigned long>(orders);
  return true;
}

/// Exact numbers of members by state: in 128 bits, where they fit.
class Counter {
 public:
  explicit Counter(Recursion& recursion) : recursion_(recursion) {}
  mpz_class of(StateId id, Watch& watch);
  std::size_t bytes() const { return counts_.capacity() * sizeof(Multiplicity); }

 private:
  static constexpr Multiplicity unknown = ~Multiplicity{0};
  static constexpr Multiplicity large = unknown - 1;  ///< the number is in `large_`

  void find(StateId id, Watch& watch);
  bool add(StateId a, StateId b, std::uint64_t orders, Multiplicity& sum) const;
  mpz_class known(StateId id) const;
  mpz_class add_up(StateId id) const;

  Recursion& recursion_;
  std::vector<Multiplicity> counts_;
  std::unordered_map<StateId, mpz_class> large_;
};

}  // namespace schaas::space
