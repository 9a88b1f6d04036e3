#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/cost/cost.h"

namespace schaas::space {

/// Cost classes by their terms, each with a row of values (what is compared first) and the elements of all
/// its temporaries (which decide ties).
class ClassList {
 public:
  using Terms = std::span<const cost::Term>;
  explicit ClassList(std::size_t width) : width_(width) {}

  std::size_t size() const { return items_.size(); }
  Terms time(std::size_t n) const {
    return {terms_.data() + items_[n].time, items_[n].memory - items_[n].time};
  }
  Terms memory(std::size_t n) const {
    return {terms_.data() + items_[n].memory, items_[n].end - items_[n].memory};
  }
  const double* values(std::size_t n) const { return values_.data() + n * width_; }
  double elements(std::size_t n) const { return items_[n].elements; }

  void clear();
  /// `values`: width numbers (null when the width is 0).
  void add(Terms time, Terms memory, const double* values, double elements);
  /// Replaces one in its position.
  void replace(std::size_t n, Terms time, Terms memory, const double* values, double elements);
  /// Removes those `remove(n)` is true of, keeping the others' order; returns how many.
  template <class Remove>
  std::size_t remove_if(const Remove& remove) {
    std::size_t left = 0;
    for (std::size_t n = 0; n < items_.size(); ++n) {
      if (remove(n)) continue;
      if (left != n) move(n, left);
      ++left;
    }
    const std::size_t removed = items_.size() - left;
    items_.resize(left);
    values_.resize(left * width_);
    return removed;
  }

 private:
  struct Item {
    std::uint32_t time = 0, memory = 0, end = 0;  ///< in terms_
    double elements = 0;
  };
  Item keep(Terms time, Terms memory, double elements);
  void move(std::size_t from, std::size_t to);

  std::size_t width_;
  std::vector<Item> items_;
  std::vector<cost::Term> terms_;
  std::vector<double> values_;
};

}  // namespace schaas::space
