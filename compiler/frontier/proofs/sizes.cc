#include "compiler/frontier/proofs/sizes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "compiler/index_notation/extent_classes.h"

// Whole sizes near a point of real ones. Extents are rounded, counts of levels follow from their fibers from
// the outside in, averages of intersections come last. Each is clamped to what formats allow. Rounding is
// tried in several ways, in the same order on every run; a result counts only when all constraints hold in
// integers. Numbers are of any size, since products of counts leave 64 bits.
namespace schaas::frontier {
namespace {

using problem::Symbol;

Symbol extent(const std::string& index) { return {Symbol::Kind::extent, index, 0}; }
Symbol entries(const std::string& tensor, int levels) { return {Symbol::Kind::nonzeros, tensor, levels}; }

/// Returns the value of a symbol; sizes are sorted by symbol.
const mpz_class& value_of(const Sizes& sizes, const Symbol& symbol) {
  const auto found =
      std::lower_bound(sizes.begin(), sizes.end(), symbol,
                       [](const Size& size, const Symbol& wanted) { return size.symbol < wanted; });
  SCHAAS_CHECK(found != sizes.end() && found->symbol == symbol, "no size of " + problem::print(symbol));
  return found->value;
}

/// One storage level of a tensor.
struct Level {
  std::string tensor, index;
  int level = 0;
  bool compressed = false;
  bool below_compressed = false;
};

/// The levels of all sparse tensors, outermost first.
std::vector<Level> levels_of(const problem::Problem& problem) {
  std::vector<Level> all;
  for (const std::string& tensor : problem.tensors()) {
    const format::TensorFormat& format = problem.formats.at(tensor);
    const std::vector<std::string>& indices = problem.indices_of(tensor);
    if (format.all_dense()) continue;
    for (int level = 0; level < format.order(); ++level) {
      const auto at = static_cast<std::size_t>(level);
      const bool compressed = format::is_sparse(format.levels[at]);
      const bool below = level > 0 && format::holds_entries(format.levels[at - 1]);
      all.push_back(
          {tensor, indices[static_cast<std::size_t>(format.mode_order[at])], level, compressed, below});
    }
  }
  return all;
}

/// The level whose count is that of its original: the last one of a copy of entries alone.
const problem::Copy* tied_copy(const Level& level, const problem::Problem& problem) {
  const problem::Copy* copy = problem.copy_named(level.tensor);
  if (copy == nullptr) return nullptr;
  const bool is_last = level.level + 1 == problem.formats.at(level.tensor).order();
  return is_last && holds_as_many(*copy, problem) ? copy : nullptr;
}

/// nnz(B,levels) of a dense tensor is the product of its extents.
mpz_class symbol_value(const Sizes& sizes, const problem::Problem& problem, const Symbol& symbol) {
  if (symbol.kind == Symbol::Kind::extent) return value_of(sizes, symbol);
  const format::TensorFormat& format = problem.formats.at(symbol.name);
  if (!format.all_dense()) return value_of(sizes, symbol);
  mpz_class product = 1;
  for (int level = 0; level < symbol.levels; ++level) {
    const int mode = format.mode_order[static_cast<std::size_t>(level)];
    product *= value_of(sizes, extent(problem.indices_of(symbol.name)[static_cast<std::size_t>(mode)]));
  }
  return product;
}

/// The constraint holds in integers.
bool holds(const problem::Constraint& constraint, const Sizes& sizes, const problem::Problem& problem) {
  const auto value = [&](const std::vector<problem::Monomial>& sum) {
    mpz_class total = 0;
    for (const problem::Monomial& monomial : sum) {
      mpz_class product = static_cast<long>(monomial.coefficient);
      for (const auto& [symbol, exponent] : monomial.powers) {
        for (int n = 0; n < exponent; ++n) product *= symbol_value(sizes, problem, symbol);
      }
      total += product;
    }
    return total;
  };
  return value(constraint.lhs) <= value(constraint.rhs);
}

Symbol average(const std::string& name) { return {Symbol::Kind::average, name, 0}; }

/// A fraction of two counts: the average entries of a level under one entry of the level above.
mpq_class fiber_value(const std::map<Symbol, mpz_class>& values, const cost::Variable& fiber) {
  const mpz_class above = fiber.level == 0 ? mpz_class(1) : values.at(entries(fiber.tensor, fiber.level));
  if (above == 0) return 1;
  return mpq_class(values.at(entries(fiber.tensor, fiber.level + 1))) / above;
}

mpz_class floor_of(const mpq_class& value) { return value.get_num() / value.get_den(); }

/// Adds averages of intersections near the point. Matches are at most each list and those of fewer lists,
/// steps between the matches and the sum of the lists.
template <class Round>
void add_averages(const cost::Point& point, const cost::Variables& variables, Round&& round,
                  std::map<Symbol, mpz_class>& values) {
  for (const cost::Intersection& both : variables.intersections) {
    const auto at = [](cost::Term bit) { return std::countr_zero(bit); };
    const cost::Variable& matches = variables.at(at(both.matches));
    mpz_class most = values.at(extent(matches.index));
    mpq_class sum = 0;
    for (const cost::Variable& list : matches.lists) {
      const mpq_class held = fiber_value(values, list);
      sum += held;
      most = std::min(most, floor_of(held));
    }
    for (const cost::Intersection& fewer : variables.intersections) {
      const auto known = values.find(average(variables.name(at(fewer.matches))));
      if ((fewer.lists & both.lists) == fewer.lists && known != values.end())
        most = std::min(most, known->second);
    }
    const auto near = [&](cost::Term bit) {
      return mpz_class(round(point[static_cast<std::size_t>(at(bit))]));
    };
    const mpz_class common = std::clamp(near(both.matches), mpz_class(0), most);
    const mpz_class longest = std::min(floor_of(sum), values.at(extent(matches.index)));
    values[average(variables.name(at(both.matches)))] = common;
    values[average(variables.name(at(both.steps)))] = std::clamp(near(both.steps), common, longest);
  }
}

/// Extents rounded by `round`, then the counts of each level from its fiber, then averages.
template <class Round>
Sizes rounded(const cost::Point& point, const LogBounds& bounds, const std::vector<Level>& levels,
              Round&& round) {
  const problem::Problem& problem = bounds.problem();
  std::map<Symbol, mpz_class> values;
  const auto classes = index_notation::extent_classes(problem.statements());
  const auto& extents = bounds.variables().extents;
  for (std::size_t n = 0; n < extents.size(); ++n) {
    if (classes.at(extents[n].index) == extents[n].index)
      values[extent(extents[n].index)] = std::max(mpz_class(1), mpz_class(round(point[n])));
  }
  for (const auto& [index, first] : classes) values[extent(index)] = values.at(extent(first));
  for (const Level& level : levels) {
    const mpz_class above = level.level == 0 ? mpz_class(1) : values.at(entries(level.tensor, level.level));
    const mpz_class most = above * values.at(extent(level.index));
    mpz_class& count = values[entries(level.tensor, level.level + 1)];
    count = most;
    if (!level.compressed) continue;
    for (std::size_t n = 0; n < bounds.fibers().size(); ++n) {
      const cost::Variable& fiber = bounds.fibers()[n];
      if (!cost::is_fiber(fiber) || fiber.tensor != level.tensor || fiber.level != level.level) continue;
      count = mpz_class(round(above.get_d() * point[cost::Variables::first_fiber + n]));
      break;
    }
    if (const problem::Copy* copy = tied_copy(level, problem))
      count = values.at(entries(copy->tensor, level.level + 1));
    count = std::clamp(count, level.below_compressed ? above : mpz_class(0), most);
  }
  add_averages(point, bounds.variables(), round, values);
  Sizes sizes;
  for (const auto& [symbol, value] : values) sizes.push_back({symbol, value});
  return sizes;
}

}  // namespace

std::string print(const Sizes& sizes, const problem::Problem& problem) {
  std::vector<Symbol> order;
  for (const std::string& index : problem.indices()) order.push_back(extent(index));
  for (const std::string& tensor : problem.tensors()) {
    const auto& levels = problem.formats.at(tensor).levels;
    const auto sparse = std::find_if(levels.begin(), levels.end(), format::is_sparse);
    for (auto level = sparse; level != levels.end(); ++level)
      order.push_back(entries(tensor, static_cast<int>(level - levels.begin()) + 1));
  }
  std::string text;
  for (const Symbol& symbol : order) {
    const auto size =
        std::find_if(sizes.begin(), sizes.end(), [&](const Size& one) { return one.symbol == symbol; });
    if (size == sizes.end()) continue;
    text += (text.empty() ? "" : ", ") + problem::print(symbol) + " = " + size->value.get_str();
  }
  return text;
}

bool allowed(const Sizes& sizes, const problem::Problem& problem) {
  for (const Size& size : sizes) {
    if (size.value < (size.symbol.kind == Symbol::Kind::extent ? 1 : 0)) return false;
  }
  for (const Level& level : levels_of(problem)) {
    const mpz_class above =
        level.level == 0 ? mpz_class(1) : value_of(sizes, entries(level.tensor, level.level));
    const mpz_class most = above * value_of(sizes, extent(level.index));
    const mpz_class& count = value_of(sizes, entries(level.tensor, level.level + 1));
    if (count > most || (!level.compressed && count != most) || (level.below_compressed && count < above))
      return false;
    if (const problem::Copy* copy = tied_copy(level, problem);
        copy != nullptr && count != value_of(sizes, entries(copy->tensor, level.level + 1)))
      return false;
  }
  return std::all_of(problem.constraints.begin(), problem.constraints.end(),
                     [&](const problem::Constraint& one) { return holds(one, sizes, problem); });
}

std::optional<Sizes> whole_sizes(const cost::Point& point, const LogBounds& bounds) {
  constexpr int attempts = 24;
  const std::vector<Level> levels = levels_of(bounds.problem());
  std::mt19937_64 random(20260711);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    Sizes sizes = rounded(point, bounds, levels, [&](double value) {
      if (attempt == 0) return std::round(value);
      if (attempt == 1) return std::floor(value);
      if (attempt == 2) return std::ceil(value);
      return random() % 2 == 0 ? std::floor(value) : std::ceil(value);
    });
    if (allowed(sizes, bounds.problem())) return sizes;
  }
  return std::nullopt;
}

ExactValues::ExactValues(const Sizes& sizes, const problem::Problem& problem,
                         const cost::Variables& variables)
    : values_(static_cast<std::size_t>(cost::Variables::first_fiber) + variables.fibers.size(), 1) {
  for (std::size_t n = 0; n < variables.extents.size(); ++n)
    values_[n] = value_of(sizes, extent(variables.extents[n].index));
  for (std::size_t n = 0; n < variables.fibers.size(); ++n) {
    const cost::Variable& fiber = variables.fibers[n];
    if (!cost::is_fiber(fiber)) {
      const int bit = cost::Variables::first_fiber + static_cast<int>(n);
      values_[static_cast<std::size_t>(bit)] = value_of(sizes, average(variables.name(bit)));
      continue;
    }
    const mpz_class above =
        fiber.level == 0 ? mpz_class(1) : symbol_value(sizes, problem, entries(fiber.tensor, fiber.level));
    // An empty parent has fibers of 1, as in fiber_value.
    if (above == 0) continue;
    mpq_class& value = values_[cost::Variables::first_fiber + n];
    value = mpq_class(symbol_value(sizes, problem, entries(fiber.tensor, fiber.level + 1)), above);
    value.canonicalize();
  }
}

mpq_class ExactValues::of(const std::vector<cost::Term>& terms) const {
  mpq_class sum = 0;
  for (cost::Term term : terms) {
    mpq_class product = cost::weight(cost::access_of(term));
    for (cost::Term rest = term & cost::variables_mask; rest != 0; rest &= rest - 1)
      product *= values_[static_cast<std::size_t>(std::countr_zero(rest))];
    sum += product;
  }
  return sum;
}

cost::Point ExactValues::point() const {
  cost::Point point;
  for (const mpq_class& value : values_) point.push_back(value.get_d());
  return point;
}

}  // namespace schaas::frontier
