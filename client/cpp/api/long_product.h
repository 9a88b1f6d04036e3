#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "schaas/expression.h"
#include "schaas/kernel_source.h"

/// Products of more operands than one search takes (support::Limits::factors).
namespace schaas::client {

/// The program is one product of accesses with too many operands for one search.
bool is_long_product(const Program& program);

/// A long product as statements of two operands, each a problem of its own.
struct ProductSteps {
  std::vector<ProblemText> problems;  ///< in order; the last one makes the program's result
  std::string order;                  ///< kind of order, and its multiplications, in words
};
/// Takes the contraction order with the fewest multiplications for these extents (contraction_order.h). A
/// result in between is stored sparse where each of its indices belongs to a sparse factor of it. Errors:
/// unsupported [too-many-factors], [too-many-indices] beyond the limits of orders; those of problem::build.
support::Result<ProductSteps> product_steps(const ProblemText& problem, const Program& program,
                                            const std::map<std::string, std::int64_t>& extents);

}  // namespace schaas::client
