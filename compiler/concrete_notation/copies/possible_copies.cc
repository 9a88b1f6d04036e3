#include "compiler/concrete_notation/copies/possible_copies.h"

#include <algorithm>
#include <numeric>
#include <utility>

// Re-layouts of the space option `copies` (docs/schedule_space.md, "Wider spaces"). Each copy adds the fibers
// of its levels to the variables of the costs. Their number is bounded by the bits that a term has, and with
// it the number of copies; those of earlier accesses come first.
namespace schaas::concrete_notation {
namespace {

using index_notation::Access;
using problem::CopyRequest;
using problem::Problem;
using Order = std::vector<int>;

constexpr std::size_t max_possible_copies = 12;
constexpr int max_fibers = 40;  ///< for originals and copies together

/// Returns orders of modes: all others of up to three sparse modes, else each other mode moved to the end.
std::vector<Order> other_orders(const format::TensorFormat& format) {
  std::vector<Order> out;
  Order order = format.mode_order;
  if (format.order() <= 3 && !format.all_dense()) {
    std::sort(order.begin(), order.end());
    do {
      if (order != format.mode_order) out.push_back(order);
    } while (std::next_permutation(order.begin(), order.end()));
    return out;
  }
  for (auto level = static_cast<std::ptrdiff_t>(order.size()) - 2; level >= 0; --level) {
    Order moved = format.mode_order;
    std::rotate(moved.begin() + level, moved.begin() + level + 1, moved.end());
    out.push_back(std::move(moved));
  }
  return out;
}

int fibers_of(const format::TensorFormat& format) {
  return static_cast<int>(std::count_if(format.levels.begin(), format.levels.end(), format::is_sparse));
}

/// Returns the accesses to operands that are no re-layouts, each once.
std::vector<Access> reads_of_originals(const Problem& problem) {
  std::vector<Access> out;
  for (Access& read : problem.reads()) {
    if (problem.copy_named(read.tensor) == nullptr && std::find(out.begin(), out.end(), read) == out.end())
      out.push_back(std::move(read));
  }
  return out;
}

}  // namespace

std::vector<CopyRequest> possible_copies(const Problem& problem) {
  const auto reads = reads_of_originals(problem);
  int fibers = 0;
  for (const Access& read : reads) fibers += fibers_of(problem.formats.at(read.tensor));
  std::vector<CopyRequest> out;
  for (const Access& read : reads) {
    const format::TensorFormat& format = problem.formats.at(read.tensor);
    const auto same = std::count_if(reads.begin(), reads.end(),
                                    [&](const Access& other) { return other.tensor == read.tensor; });
    for (Order& order : other_orders(format)) {
      if (out.size() == max_possible_copies || fibers + fibers_of(format) > max_fibers) return out;
      fibers += fibers_of(format);
      CopyRequest request{read.tensor, std::nullopt, std::move(order)};
      if (same > 1) request.at = read.indices;
      out.push_back(std::move(request));
    }
  }
  return out;
}

std::vector<std::vector<CopyRequest>> copy_sets(const Problem& problem) {
  const auto all = possible_copies(problem);
  std::vector<std::vector<CopyRequest>> sets{{}};
  for (const CopyRequest& one : all) sets.push_back({one});
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = a + 1; b < all.size(); ++b) {
      if (all[a].tensor != all[b].tensor || all[a].at != all[b].at) sets.push_back({all[a], all[b]});
    }
  }
  return sets;
}

}  // namespace schaas::concrete_notation
