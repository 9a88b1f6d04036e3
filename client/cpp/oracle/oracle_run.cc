#include "client/cpp/oracle/oracle_run.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "client/cpp/oracle/oracle_arithmetic.h"
#include "client/cpp/platform/team.h"
#include "schaas/host.h"

namespace schaas::client {
namespace {

double times(Function product, double a, double b) {
  switch (product) {
    case Function::add:
      return a + b;
    case Function::minimum:
      return b < a ? b : a;
    case Function::maximum:
      return b > a ? b : a;
    case Function::logical_and:
      return a != 0 && b != 0 ? 1 : 0;
    default:
      return a * b;
  }
}

double plus(Monoid sum, double a, double b) {
  switch (sum) {
    case Monoid::minimum:
      return b < a ? b : a;
    case Monoid::maximum:
      return b > a ? b : a;
    case Monoid::logical_or:
      return a != 0 || b != 0 ? 1 : 0;
    default:
      return a + b;
  }
}

constexpr double zero_of(Monoid sum, Function product) {
  if (sum == Monoid::minimum) return infinity;
  return sum == Monoid::maximum && product != Function::multiply ? -infinity : 0;
}

constexpr double one_of(Function product) {
  if (product == Function::minimum) return infinity;
  if (product == Function::maximum) return -infinity;
  return product == Function::add ? 0 : 1;
}

// A semiring that the compiler of this file can see through: the inner loop is one multiplication and
// addition.
template <Monoid sum, Function product>
struct Algebra {
  static constexpr double zero = zero_of(sum, product), one = one_of(product);
  static double plus(double a, double b) { return client::plus(sum, a, b); }
  static double times(double a, double b) { return client::times(product, a, b); }
  static double factor(double value) { return value; }
};

// Sums of absolute terms.
struct Magnitudes : Algebra<Monoid::sum, Function::multiply> {
  static double factor(double value) { return std::fabs(value); }
};

// Bounds the finite numbers in the largest term, for semirings whose sum selects a term.
template <Function product>
struct LargestMagnitude : Algebra<Monoid::maximum, product> {
  static constexpr double zero = 0, one = product == Function::multiply ? 1 : 0;
  static double factor(double value) { return std::isinf(value) ? 0 : std::fabs(value); }
};

// One thread's partial results. visit(d, ...) handles the entries that share their first d coordinates.
template <class Algebra>
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

  void clear_root_sum() { std::fill(accumulators_[0].begin(), accumulators_[0].end(), Algebra::zero); }
  void add_root_sum(const Runner& other) { add(accumulators_[0], other.accumulators_[0].data()); }

  void visit(int depth, std::size_t begin, std::size_t end) {
    if (depth >= program_.result_depth) {
      add_to_result(partial(depth, begin, end));
      return;
    }
    for_children(depth, begin, end, [&](std::size_t b, std::size_t e) { visit(depth + 1, b, e); });
  }

  // Sums the children of a range of the root into root_sum(), without the root's own factors.
  void sum_children(std::size_t begin, std::size_t end) {
    for_children(0, begin, end,
                 [&](std::size_t b, std::size_t e) { add(accumulators_[0], partial(1, b, e)); });
  }

  void finish_root() { add_to_result(apply_steps(0, accumulators_[0].data())); }

  // Without a driver there is one leaf of value 1.
  void run_dense() {
    accumulators_[0][0] = Algebra::one;
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
    for (std::size_t x = 0; x < sum.size(); ++x) sum[x] = Algebra::plus(sum[x], values[x]);
  }

  const double* partial(int depth, std::size_t begin, std::size_t end) {
    std::vector<double>& sum = accumulators_[depth];
    if (depth == program_.depths) {
      sum[0] = leaf(begin, end);
    } else {
      std::fill(sum.begin(), sum.end(), Algebra::zero);
      for_children(depth, begin, end,
                   [&](std::size_t b, std::size_t e) { add(sum, partial(depth + 1, b, e)); });
    }
    return apply_steps(depth, sum.data());
  }

  double leaf(std::size_t begin, std::size_t end) {
    double value = 0;
    for (std::size_t e = begin; e < end; ++e) value += input_.driver->value(e);
    value = Algebra::factor(value);
    for (const auto& lookup : input_.lookups) {
      coordinates_.clear();
      for (const int depth : lookup.depth_of_mode) coordinates_.push_back(bound_[depth]);
      const std::optional<double> found = lookup.table->find(coordinates_);
      value = found ? Algebra::times(value, Algebra::factor(*found)) : Algebra::zero;
      if (!found) break;
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
      std::fill(out.begin(), out.end(), Algebra::zero);
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
      *out = Algebra::plus(*out, Algebra::times(*in, Algebra::factor(static_cast<double>(*factor))));
      return;
    }
    const OracleStep::Loop& l = step.loops[level];
    if (level + 1 < step.loops.size()) {
      for (std::int64_t x = 0; x < l.extent; ++x)
        loop(step, level + 1, out + x * l.out, in + x * l.in, factor + x * l.factor);
      return;
    }
    for (std::int64_t x = 0; x < l.extent; ++x) {
      const double term =
          Algebra::times(in[x * l.in], Algebra::factor(static_cast<double>(factor[x * l.factor])));
      out[x * l.out] = Algebra::plus(out[x * l.out], term);
    }
  }

  void add_to_result(const double* partial_result) {
    double* base = result_ + offset(input_.result);
    scatter(0, base, partial_result);
  }

  const double* scatter(std::size_t mode, double* to, const double* from) {
    if (mode == program_.result_indices.size()) {
      *to = Algebra::plus(*to, *from);
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

// Splits the entries into about `pieces` ranges whose borders lie only where the first coordinate changes.
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

template <class Algebra>
void run(const OracleInput& input, double* result) {
  const OracleProgram& program = *input.program;
  if (input.driver == nullptr) return Runner<Algebra>(input, result).run_dense();
  const SortedEntries& driver = *input.driver;
  if (driver.size() == 0) return;
  if (program.depths == 0) return Runner<Algebra>(input, result).visit(0, 0, driver.size());
  const bool root = program.result_depth == 0;
  int threads = host_threads();
  if (root)
    threads =
        static_cast<int>(std::clamp<std::int64_t>(root_sum_limit / program.accumulator_size[0], 1, threads));
  const std::vector<std::size_t> cuts = cut(driver, static_cast<std::size_t>(threads) * 16);
  const std::size_t pieces = cuts.size() - 1;
  Runner<Algebra> first(input, result);
  first.clear_root_sum();
  Team team = Team::at_most(threads);
  std::vector<std::optional<Runner<Algebra>>> runners(static_cast<std::size_t>(team.threads()));
  team.run(static_cast<std::int64_t>(pieces), [&](std::int64_t piece, int thread) {
    auto& own = runners[static_cast<std::size_t>(thread)];
    if (!own) own.emplace(input, result).clear_root_sum();
    const auto c = static_cast<std::size_t>(piece);
    if (root) {
      own->sum_children(cuts[c], cuts[c + 1]);
    } else {
      own->visit(0, cuts[c], cuts[c + 1]);
    }
  });
  for (const auto& runner : runners)
    if (root && runner) first.add_root_sum(*runner);
  if (root) first.finish_root();
}

template <Monoid sum, Function product>
void run_values_or_magnitudes(const OracleInput& input, double* result) {
  if (!input.magnitudes) return run<Algebra<sum, product>>(input, result);
  if constexpr (sum == Monoid::sum) {
    run<Magnitudes>(input, result);
  } else {
    constexpr bool grows = product == Function::add || product == Function::multiply;
    run<LargestMagnitude<grows ? product : Function::maximum>>(input, result);
  }
}

}  // namespace

void run_oracle(const OracleInput& input, double* result) {
  const Semiring& s = *input.semiring;
  if (s.sum == Monoid::sum) return run_values_or_magnitudes<Monoid::sum, Function::multiply>(input, result);
  if (s.sum == Monoid::logical_or)
    return run_values_or_magnitudes<Monoid::logical_or, Function::logical_and>(input, result);
  if (s.sum == Monoid::minimum && s.product == Function::add)
    return run_values_or_magnitudes<Monoid::minimum, Function::add>(input, result);
  if (s.sum == Monoid::minimum)
    return run_values_or_magnitudes<Monoid::minimum, Function::maximum>(input, result);
  if (s.product == Function::add)
    return run_values_or_magnitudes<Monoid::maximum, Function::add>(input, result);
  if (s.product == Function::minimum)
    return run_values_or_magnitudes<Monoid::maximum, Function::minimum>(input, result);
  run_values_or_magnitudes<Monoid::maximum, Function::multiply>(input, result);
}

}  // namespace schaas::client
