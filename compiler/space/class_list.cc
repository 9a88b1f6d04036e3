#include "compiler/space/class_list.h"

#include <algorithm>

// Cost classes in flat arrays, without an allocation for each. What is replaced or removed leaves its terms
// behind until `clear`: lists live for one state.
namespace schaas::space {

void ClassList::clear() {
  items_.clear();
  terms_.clear();
  values_.clear();
}

ClassList::Item ClassList::keep(Terms time, Terms memory, double elements) {
  Item item;
  item.time = static_cast<std::uint32_t>(terms_.size());
  terms_.insert(terms_.end(), time.begin(), time.end());
  item.memory = static_cast<std::uint32_t>(terms_.size());
  terms_.insert(terms_.end(), memory.begin(), memory.end());
  item.end = static_cast<std::uint32_t>(terms_.size());
  item.elements = elements;
  return item;
}

void ClassList::add(Terms time, Terms memory, const double* values, double elements) {
  items_.push_back(keep(time, memory, elements));
  values_.insert(values_.end(), values, values + width_);
}

void ClassList::replace(std::size_t n, Terms time, Terms memory, const double* values, double elements) {
  items_[n] = keep(time, memory, elements);
  std::copy(values, values + width_, values_.begin() + static_cast<std::ptrdiff_t>(n * width_));
}

void ClassList::move(std::size_t from, std::size_t to) {
  items_[to] = items_[from];
  const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(from * width_);
  std::copy(begin, begin + static_cast<std::ptrdiff_t>(width_),
            values_.begin() + static_cast<std::ptrdiff_t>(to * width_));
}

}  // namespace schaas::space
