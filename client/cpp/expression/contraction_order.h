#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "schaas/expression.h"

namespace schaas::client {

/// A contraction order of a product: each step contracts two tensors, numbered as the operands and then the
/// results of the steps.
struct ContractionOrder {
  std::vector<std::pair<std::size_t, std::size_t>> steps;
  std::vector<std::vector<std::string>> indices;  ///< indices of the result of each step
  double multiplications = 0;                     ///< those of dense tensors
  bool is_exact = false;                          ///< no order takes fewer
};

/// Limits on products that are contracted by an order.
constexpr std::size_t max_ordered_operands = 64, max_ordered_indices = 256;
/// Products of more operands than that are not searched exactly, 3 to their power steps.
constexpr std::size_t max_exact_operands = 12;

/// Finds the order with the fewest multiplications. Exact, by dynamic programming over sets of operands, up
/// to max_exact_operands. Above that the best of several randomised greedy orders, in which random subtrees
/// of eight tensors are replaced by their exact orders. Deterministic. `extents` has every index; operands
/// and indices are within the limits.
ContractionOrder contraction_order(const std::vector<Access>& operands,
                                   const std::vector<std::string>& result,
                                   const std::map<std::string, std::int64_t>& extents);

}  // namespace schaas::client
