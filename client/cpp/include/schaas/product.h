#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/result.h"

namespace schaas::client {

/// `result(indices) = operand * operand * ...`: what the oracle evaluates and what binds extents to files.
struct Product {
  struct Access {
    std::string tensor;
    std::vector<std::string> indices;
    bool operator==(const Access&) const = default;
  };
  Access result;
  std::vector<Access> operands;
  bool operator==(const Product&) const = default;
};

/// A small reader of products, on purpose not the compiler's: names, index lists, `*`, `=`.
/// The server's diagnostics are the better ones; this one's errors are invalid [product-syntax] with a caret.
support::Result<Product> parse_product(std::string_view expression);

}  // namespace schaas::client
