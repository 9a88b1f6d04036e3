#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/result.h"

namespace schaas::problem {

/// A named part of the schedule space beyond the plain one. docs/schedule_space.md, "Wider spaces", says what
/// each adds, how much that is, and why it is on or off by default.
enum class SpaceOption : unsigned {
  shorter_fusion,    ///< fusing fewer loops than both sides begin with
  stored_producers,  ///< both parts of a split stored whole, at any depth
  row_blocks,        ///< a single fused loop in blocks of `block_size` values
  copies,            ///< operands stored once more in another order of modes
  free_copies,       ///< the same, and copies cost nothing: they are there, or made once for many runs
};

/// A set of them. Immutable text form: names in the order above, separated by commas, or "none".
class SpaceOptions {
 public:
  constexpr SpaceOptions() = default;
  constexpr SpaceOptions(SpaceOption one) : bits_(1U << static_cast<unsigned>(one)) {}
  /// Every option of one problem's recursion: copies are problems of their own.
  static constexpr SpaceOptions all() { return SpaceOptions(7U); }

  constexpr bool has(SpaceOption one) const { return (bits_ >> static_cast<unsigned>(one) & 1U) != 0; }
  constexpr bool has_copies() const { return has(SpaceOption::copies) || has(SpaceOption::free_copies); }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr SpaceOptions operator|(SpaceOptions other) const { return SpaceOptions(bits_ | other.bits_); }
  constexpr bool operator==(const SpaceOptions&) const = default;
  /// The options one by one, in order.
  std::vector<SpaceOption> list() const;

 private:
  explicit constexpr SpaceOptions(unsigned bits) : bits_(bits) {}
  unsigned bits_ = 0;
};

const char* name(
    SpaceOption option);  ///< "shorter-fusion", "stored-producers", "row-blocks", "copies", "free-copies"
std::string print(SpaceOptions options);
/// Inverse of print, in any order; "" and "none" are the plain space, "all" is every option
/// but the copies. Errors: invalid
/// [space] (an unknown name, with suggestion).
support::Result<SpaceOptions> parse_space_options(std::string_view text);

}  // namespace schaas::problem
