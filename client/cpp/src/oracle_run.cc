#include "oracle_run.h"

#include <omp.h>

#include <algorithm>
#include <cmath>

namespace schaas::client {
namespace {

// One thread's partial results. visit(d, ...) handles the entries that share their first d coordinates.
class Runner {
 public:
  Runner(const OracleInput& input, double* result)
      : input_(input), program_(*input.program), result_(result), bound_(std::max(program_.depths, 1), 0) {
    for (int d = 0; d <= program_.depths; ++d) {
      accumulators_.emplace_back(d >= program_.result_depth ? program_.accumulator_size[d] : 0);
      outputs_.emplace_back();
      for (const OracleStep& step : program_.steps[d]) outputs_.back().emplace_back(step.out_size);
    }
  }

  std::vector<double>& root_sum() { return accumulators_[0]; }

  void visit(int depth, std::size_t begin, std::size_t end) {
    if (depth >= program_.result_depth) {
      add_to_result(partial(depth, begin, end));
      return;
    }
    for_children(depth, begin, end, [&](std::size_t b, std::size_t e) { visit(depth + 1, b, e); });
  }

  // The children of a stretch of the root, summed into root_sum(), without the root's own factors.
  void sum_children(std::size_t begin, std::size_t end) {
    for_children(0, begin, end,
                 [&](std::size_t b, std::size_t e) { add(accumulators_[0], partial(1, b, e)); });
  }

  void finish_root() { add_to_result(apply_steps(0, accumulators_[0].data())); }

  // Without a driver there is one leaf of value 1.
  void run_dense() {
    accumulators_[0][0] = 1;
    finish_root();
  }

 private:
  template <class Child>
  void for_children(int depth, std::size_t begin, std::size_t end, Child child) {
    for (std::size_t b = begin; b < end;) {
      const std::int64_t c = input_.driver->coordinate(depth, b);
      std::size_t e = b + 1;
      while (e < end && input_.driver->coordinate(depth, e) == c) ++e;
      bound_[depth] = c;
      child(b, e);
      b = e;
    }
  }

  static void add(std::vector<double>& sum, const double* values) {
    for (std::size_t x = 0; x < sum.size(); ++x) sum[x] += values[x];
  }

  const double* partial(int depth, std::size_t begin, std::size_t end) {
    std::vector<double>& sum = accumulators_[depth];
    if (depth == program_.depths) {
      sum[0] = leaf(begin, end);
    } else {
      std::fill(sum.begin(), sum.end(), 0.0);
      for_children(depth, begin, end,
                   [&](std::size_t b, std::size_t e) { add(sum, partial(depth + 1, b, e)); });
    }
    return apply_steps(depth, sum.data());
  }

  double magnitude(double value) const { return input_.magnitudes ? std::fabs(value) : value; }

  double leaf(std::size_t begin, std::size_t end) {
    double value = 0;
    for (std::size_t e = begin; e < end; ++e) value += magnitude(input_.driver->value(e));
    for (const auto& lookup : input_.lookups) {
      coordinates_.clear();
      for (const int depth : lookup.depth_of_mode) coordinates_.push_back(bound_[depth]);
      value *= magnitude(lookup.table->at(coordinates_));
    }
    return value;
  }

  std::int64_t offset(const StridedAccess& access) const {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < access.driver_strides.size(); ++d)
      offset += access.driver_strides[d] * bound_[d];
    return offset;
  }

  const double* apply_steps(int depth, const double* in) {
    for (std::size_t s = 0; s < program_.steps[depth].size(); ++s) {
      const OracleStep& step = program_.steps[depth][s];
      std::vector<double>& out = outputs_[depth][s];
      std::fill(out.begin(), out.end(), 0.0);
      const DenseTensor& factor = *input_.factors[step.factor];
      const std::int64_t base = offset(input_.accesses[step.factor]);
      if (factor.value_type == ValueType::f64) {
        loop(step, 0, out.data(), in, factor.values.as<double>() + base);
      } else {
        loop(step, 0, out.data(), in, factor.values.as<float>() + base);
      }
      in = out.data();
    }
    return in;
  }

  template <class Value>
  void loop(const OracleStep& step, std::size_t level, double* out, const double* in,
            const Value* factor) const {
    if (level == step.loops.size()) {
      *out += *in * magnitude(static_cast<double>(*factor));
      return;
    }
    const OracleStep::Loop& l = step.loops[level];
    if (level + 1 < step.loops.size()) {
      for (std::int64_t x = 0; x < l.extent; ++x)
        loop(step, level + 1, out + x * l.out, in + x * l.in, factor + x * l.factor);
      return;
    }
    for (std::int64_t x = 0; x < l.extent; ++x) {
      out[x * l.out] += in[x * l.in] * magnitude(static_cast<double>(factor[x * l.factor]));
    }
  }

  void add_to_result(const double* partial_result) {
    double* base = result_ + offset(input_.result);
    scatter(0, base, partial_result);
  }

  const double* scatter(std::size_t mode, double* to, const double* from) {
    if (mode == program_.result_indices.size()) {
      *to += *from;
      return from + 1;
    }
    const std::int64_t stride = input_.result.strides.at(program_.result_indices[mode]);
    for (std::int64_t x = 0; x < program_.result_extents[mode]; ++x)
      from = scatter(mode + 1, to + x * stride, from);
    return from;
  }

  const OracleInput& input_;
  const OracleProgram& program_;
  double* result_;
  std::vector<std::int64_t> bound_;
  std::vector<std::int64_t> coordinates_;
  std::vector<std::vector<double>> accumulators_;
  std::vector<std::vector<std::vector<double>>> outputs_;
};

// About `pieces` stretches of entries that break only where the first coordinate changes.
std::vector<std::size_t> cut(const SortedEntries& driver, std::size_t pieces) {
  std::vector<std::size_t> cuts = {0};
  const std::size_t step = std::max<std::size_t>(1, driver.size() / pieces);
  for (std::size_t e = step; e < driver.size(); e += step) {
    while (e < driver.size() && driver.coordinate(0, e) == driver.coordinate(0, e - 1)) ++e;
    if (e < driver.size()) cuts.push_back(e);
  }
  cuts.push_back(driver.size());
  return cuts;
}

// At most this much private memory for all threads' sums at the root.
constexpr std::int64_t root_sum_limit = std::int64_t{1} << 26;  // elements

}  // namespace

void run_oracle(const OracleInput& input, double* result) {
  const OracleProgram& program = *input.program;
  if (input.driver == nullptr) return Runner(input, result).run_dense();
  const SortedEntries& driver = *input.driver;
  if (program.depths == 0) return Runner(input, result).visit(0, 0, driver.size());
  if (driver.size() == 0) return;
  const bool root = program.result_depth == 0;
  int threads = omp_get_max_threads();
  if (root)
    threads =
        static_cast<int>(std::clamp<std::int64_t>(root_sum_limit / program.accumulator_size[0], 1, threads));
  const std::vector<std::size_t> cuts = cut(driver, static_cast<std::size_t>(threads) * 16);
  const std::size_t pieces = cuts.size() - 1;
  Runner first(input, result);
#pragma omp parallel num_threads(threads)
  {
    Runner mine(input, result);
#pragma omp for schedule(dynamic)
    for (std::size_t c = 0; c < pieces; ++c) {
      if (root) {
        mine.sum_children(cuts[c], cuts[c + 1]);
      } else {
        mine.visit(0, cuts[c], cuts[c + 1]);
      }
    }
    if (root) {
#pragma omp critical
      for (std::size_t x = 0; x < first.root_sum().size(); ++x) first.root_sum()[x] += mine.root_sum()[x];
    }
  }
  if (root) first.finish_root();
}

}  // namespace schaas::client
