#include "client/cpp/platform/natural.h"

#include <algorithm>

// Whole numbers of any size, in limbs of 32 bits, the least significant first and without leading zeros. Sums
// and products are those of school: products are small, 24 extents of 64 bits at most, so nothing faster
// pays. The unique form makes comparison by length right.
namespace schaas::client {

// The carry is at most 1, so 33 bits hold each sum.
Natural& Natural::operator+=(const Natural& other) {
  limbs_.resize(std::max(limbs_.size(), other.limbs_.size()));
  std::uint64_t carry = 0;
  for (std::size_t n = 0; n < limbs_.size(); ++n) {
    carry += limbs_[n];
    if (n < other.limbs_.size()) carry += other.limbs_[n];
    limbs_[n] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  if (carry != 0) limbs_.push_back(static_cast<std::uint32_t>(carry));
  return *this;
}

Natural Natural::operator*(const Natural& other) const {
  Natural out;
  out.limbs_.resize(limbs_.size() + other.limbs_.size());
  for (std::size_t a = 0; a < limbs_.size(); ++a) {
    std::uint64_t carry = 0;
    for (std::size_t b = 0; b < other.limbs_.size(); ++b) {
      // (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1: the carry never overflows.
      carry += std::uint64_t{limbs_[a]} * other.limbs_[b] + out.limbs_[a + b];
      out.limbs_[a + b] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    out.limbs_[a + other.limbs_.size()] = static_cast<std::uint32_t>(carry);
  }
  while (!out.limbs_.empty() && out.limbs_.back() == 0) out.limbs_.pop_back();
  return out;
}

std::strong_ordering Natural::operator<=>(const Natural& other) const {
  if (limbs_.size() != other.limbs_.size()) return limbs_.size() <=> other.limbs_.size();
  return std::lexicographical_compare_three_way(limbs_.rbegin(), limbs_.rend(), other.limbs_.rbegin(),
                                                other.limbs_.rend());
}

// Divides by 10 until nothing is left; digits come out from the last to the first.
std::string Natural::decimal() const {
  std::string digits;
  for (std::vector<std::uint32_t> rest = limbs_; !rest.empty();) {
    std::uint64_t remainder = 0;
    for (auto limb = rest.rbegin(); limb != rest.rend(); ++limb) {
      remainder = remainder << 32 | *limb;
      *limb = static_cast<std::uint32_t>(remainder / 10);
      remainder %= 10;
    }
    digits += static_cast<char>('0' + remainder);
    while (!rest.empty() && rest.back() == 0) rest.pop_back();
  }
  return digits.empty() ? "0" : std::string(digits.rbegin(), digits.rend());
}

}  // namespace schaas::client
