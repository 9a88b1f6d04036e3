#include "client/cpp/oracle/oracle_program.h"

#include <algorithm>
#include <limits>
#include <set>

#include "compiler/support/contains.h"

namespace schaas::client {
namespace {

using Indices = std::vector<std::string>;

class Composer {
 public:
  Composer(const OracleShape& shape, std::vector<int> depth_of)
      : shape_(shape), depth_of_(std::move(depth_of)) {}

  OracleProgram compose(int result_depth) {
    const int depths = static_cast<int>(shape_.driver.size());
    program_.depths = depths;
    program_.result_depth = result_depth;
    program_.steps.resize(depths + 1);
    program_.accumulator_size.assign(depths + 1, 1);
    Indices partial;
    for (int depth = depths; depth >= result_depth; --depth) {
      program_.accumulator_size[depth] = size_of(partial);
      program_.multiplications += shape_.visits[depth] * static_cast<double>(size_of(partial));
      partial = multiply_at(depth, std::move(partial));
    }
    program_.result_indices = partial;
    for (const auto& index : partial) program_.result_extents.push_back(shape_.extents.at(index));
    return std::move(program_);
  }

 private:
  std::int64_t size_of(const Indices& indices) const {
    double size = 1;
    for (const auto& index : indices) size *= static_cast<double>(shape_.extents.at(index));
    return size > 4e18 ? std::numeric_limits<std::int64_t>::max() / 2 : static_cast<std::int64_t>(size);
  }

  // The factor's indices outside the driver, largest stride first: the innermost loop is then contiguous in
  // it.
  Indices inner_indices(int factor) const {
    Indices inner;
    const auto& strides = shape_.factors[factor].strides;
    for (const auto& [index, stride] : strides) {
      if (!support::contains(shape_.driver, index)) inner.push_back(index);
    }
    std::stable_sort(inner.begin(), inner.end(), [&](const std::string& a, const std::string& b) {
      return strides.at(a) > strides.at(b);
    });
    return inner;
  }

  Indices joined(const Indices& partial, int factor) const {
    Indices all = partial;
    for (const auto& index : inner_indices(factor)) {
      if (!support::contains(all, index)) all.push_back(index);
    }
    return all;
  }

  bool needed_later(const std::string& index, const std::set<int>& later) const {
    return support::contains(shape_.result_indices, index) ||
           std::any_of(later.begin(), later.end(),
                       [&](int factor) { return shape_.factors[factor].strides.count(index) > 0; });
  }

  Indices multiply_at(int depth, Indices partial) {
    std::set<int> here, later;
    for (std::size_t f = 0; f < depth_of_.size(); ++f) {
      if (depth_of_[f] == depth) here.insert(static_cast<int>(f));
      if (depth_of_[f] < depth) later.insert(static_cast<int>(f));
    }
    while (!here.empty()) {
      const int factor = *std::min_element(here.begin(), here.end(), [&](int a, int b) {
        return size_of(joined(partial, a)) < size_of(joined(partial, b));
      });
      here.erase(factor);
      std::set<int> rest = later;
      rest.insert(here.begin(), here.end());
      partial = multiply(depth, std::move(partial), factor, rest);
    }
    return partial;
  }

  Indices multiply(int depth, Indices partial, int factor, const std::set<int>& rest) {
    const Indices all = joined(partial, factor);
    Indices out;
    for (const auto& index : all) {
      if (needed_later(index, rest)) out.push_back(index);
    }
    OracleStep step;
    step.factor = factor;
    step.out_size = size_of(out);
    const auto in_strides = row_major(partial), out_strides = row_major(out);
    for (const auto& index : all) {
      const auto& strides = shape_.factors[factor].strides;
      step.loops.push_back({shape_.extents.at(index), stride_in(in_strides, index), stride_in(strides, index),
                            stride_in(out_strides, index)});
    }
    program_.multiplications += shape_.visits[depth] * static_cast<double>(size_of(all));
    program_.largest = std::max(program_.largest, step.out_size);
    program_.steps[depth].push_back(std::move(step));
    return out;
  }

  static std::int64_t stride_in(const std::map<std::string, std::int64_t>& strides,
                                const std::string& index) {
    const auto it = strides.find(index);
    return it == strides.end() ? 0 : it->second;
  }

  std::map<std::string, std::int64_t> row_major(const Indices& indices) const {
    std::map<std::string, std::int64_t> strides;
    std::int64_t stride = 1;
    for (auto it = indices.rbegin(); it != indices.rend(); ++it) {
      strides[*it] = stride;
      if (__builtin_mul_overflow(stride, shape_.extents.at(*it), &stride))
        stride = 0;  // refused by size later
    }
    return strides;
  }

  const OracleShape& shape_;
  std::vector<int> depth_of_;
  OracleProgram program_;
};

int result_depth_of(const OracleShape& shape) {
  int depth = 0;
  for (std::size_t d = 0; d < shape.driver.size(); ++d) {
    if (support::contains(shape.result_indices, shape.driver[d])) depth = static_cast<int>(d) + 1;
  }
  return depth;
}

}  // namespace

OracleProgram oracle_program(const OracleShape& shape) {
  const int depths = static_cast<int>(shape.driver.size());
  const int result_depth = result_depth_of(shape);
  std::vector<int> lowest, depth_of;
  for (const auto& factor : shape.factors) lowest.push_back(std::max(result_depth, factor.bound_at));
  depth_of = lowest;
  // Counts through all assignments; the first one (every factor as high as it may be) stays when there are
  // too many.
  constexpr int max_tries = 5000;
  OracleProgram best = Composer(shape, depth_of).compose(result_depth);
  for (int tries = 1; tries < max_tries; ++tries) {
    std::size_t f = 0;
    while (f < depth_of.size() && depth_of[f] == depths) depth_of[f] = lowest[f], ++f;
    if (f == depth_of.size()) break;
    ++depth_of[f];
    OracleProgram other = Composer(shape, depth_of).compose(result_depth);
    if (other.multiplications < best.multiplications) best = std::move(other);
  }
  return best;
}

}  // namespace schaas::client
