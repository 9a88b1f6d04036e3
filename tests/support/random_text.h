#pragma once
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace schaas::test_support {

/// Draws what generators of statements as texts are made of: numbers, choices, indices, accesses. Not
/// thread-safe, as the engine that it draws from.
class RandomText {
 protected:
  using Indices = std::vector<std::string>;

  explicit RandomText(std::mt19937_64& random) : random_(random) {}

  bool one_in(int n) { return between(1, n) == 1; }
  int between(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<std::uint64_t>(std::max(1, high - low + 1)));
  }
  template <class T>
  const T& pick(const std::vector<T>& all) {
    return all[random_() % all.size()];
  }
  static const Indices& letters() {
    static const Indices all{"i", "j", "k", "l", "m", "n"};
    return all;
  }
  /// Returns the letters that are not in scope.
  static Indices others(const Indices& scope) {
    Indices out;
    for (const auto& index : letters())
      if (std::find(scope.begin(), scope.end(), index) == scope.end()) out.push_back(index);
    return out;
  }
  Indices some_of(Indices all, int count) {
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(std::min(all.size(), static_cast<std::size_t>(count)));
    return all;
  }
  static std::string access(const std::string& tensor, const Indices& indices) {
    std::string out = tensor;
    for (std::size_t n = 0; n < indices.size(); ++n) out += (n ? "," : "(") + indices[n];
    return indices.empty() ? out : out + ")";
  }

  std::mt19937_64& random_;
};

}  // namespace schaas::test_support
