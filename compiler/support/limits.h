#pragma once
#include <cstddef>

namespace schaas::support {

/// Bounds on what a request may contain, checked by the front end so that every later stage may recurse and
/// use fixed-width masks safely. Documented in docs/language.md.
struct Limits {
  static constexpr std::size_t expression_bytes = 16 * 1024;
  static constexpr std::size_t name_bytes = 64;
  static constexpr std::size_t factors = 8;        ///< operands of one product
  static constexpr std::size_t indices = 16;       ///< index variables of one problem
  static constexpr std::size_t order = 8;          ///< modes of one tensor
  static constexpr std::size_t constraints = 256;
  static constexpr std::size_t nesting = 64;       ///< parentheses in any text
  static constexpr std::size_t trace_directives = 256;
};

}  // namespace schaas::support
