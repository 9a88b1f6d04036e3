#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace schaas::client {

/// A whole number >= 0 of any size: a term of a constraint may be a product of 24 extents.
class Natural {
 public:
  Natural() = default;
  explicit Natural(std::uint64_t value) {
    for (; value != 0; value >>= 32) limbs_.push_back(static_cast<std::uint32_t>(value));
  }

  Natural& operator+=(const Natural& other);
  Natural operator*(const Natural& other) const;
  std::strong_ordering operator<=>(const Natural& other) const;
  bool operator==(const Natural&) const = default;
  std::string decimal() const;

 private:
  std::vector<std::uint32_t> limbs_;  // least significant first, the last one not 0
};

}  // namespace schaas::client
