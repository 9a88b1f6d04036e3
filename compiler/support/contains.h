#pragma once
#include <algorithm>
#include <iterator>

namespace schaas::support {

/// Returns true when an element of the container equals the value. Takes linear time: for short lists.
template <class Container, class Value>
bool contains(const Container& container, const Value& value) {
  return std::find(std::begin(container), std::end(container), value) != std::end(container);
}

}  // namespace schaas::support
