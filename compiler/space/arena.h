#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace schaas::space {

/// Lists that are written once and then stay where they are: many small arrays without an allocation each.
template <class T>
class Arena {
 public:
  std::span<const T> keep(std::span<const T> list) {
    if (list.empty()) return {};
    if (blocks_.empty() || used_ + list.size() > size_) {
      size_ = std::max(block, list.size());
      blocks_.push_back(std::make_unique_for_overwrite<T[]>(size_));
      used_ = 0;
      bytes_ += size_ * sizeof(T);
    }
    T* position = blocks_.back().get() + used_;
    std::copy(list.begin(), list.end(), position);
    used_ += list.size();
    return {position, list.size()};
  }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t block = (std::size_t{1} << 18) / sizeof(T);
  std::vector<std::unique_ptr<T[]>> blocks_;
  std::size_t used_ = 0, size_ = 0, bytes_ = 0;
};

}  // namespace schaas::space
