#pragma once
#include <cstddef>

namespace schaas::support {

/// Bounds on what a request may contain, checked by the front end so that every later stage may recurse and
/// use fixed-width masks safely. Documented in docs/language.md.
struct Limits {
  static constexpr std::size_t expression_bytes = 16 * 1024;
  static constexpr std::size_t name_bytes = 64;
  static constexpr std::size_t factors = 8;      ///< factors of one product
  static constexpr std::size_t operands = 16;    ///< accesses on the right of one statement
  static constexpr std::size_t terms = 256;      ///< operations, numbers and accesses of one statement
  static constexpr std::size_t statements = 16;  ///< per program
  static constexpr std::size_t indices = 16;     ///< index variables of one problem
  static constexpr std::size_t order = 16;       ///< modes of one tensor
  static constexpr std::size_t compressed_levels =
      43;  ///< in all operands: each has a bit in a term of costs
  static constexpr std::size_t constraints = 256;
  static constexpr std::size_t nesting = 64;  ///< parentheses and calls in any text
  static constexpr std::size_t trace_directives = 256;
};

}  // namespace schaas::support
