#include "compiler/cost/cost.h"

#include <algorithm>
#include <bit>

#include "compiler/concrete_notation/needed_copies.h"
#include "compiler/support/result.h"

namespace schaas::cost {
namespace {

bool has_fiber(const Variables& variables, const std::string& tensor, int level, const std::string& index) {
  return std::any_of(variables.fibers.begin(), variables.fibers.end(), [&](const Variable& v) {
    return v.tensor == tensor && v.level == level && v.index == index;
  });
}

/// Of one access: a variable for each of its compressed levels that has none yet.
void add_fibers(const std::string& tensor, const std::vector<std::string>& indices,
                const problem::Problem& problem, Variables& variables) {
  const format::TensorFormat& format = problem.formats.at(tensor);
  for (int level = 0; level < format.order(); ++level) {
    const auto at = static_cast<std::size_t>(level);
    if (!format::is_sparse(format.levels[at])) continue;
    if (problem.profile == problem::Profile::sparseauto && level == 0) continue;
    const std::string& index = indices[static_cast<std::size_t>(format.mode_order[at])];
    if (has_fiber(variables, tensor, level, index)) continue;
    Variable fiber{Variable::Kind::fiber, index, tensor, level};
    if (const problem::Copy* copy = problem.copy_named(tensor)) {
      fiber.copy_of = copy->tensor;
      for (std::size_t above = 0; above < at; ++above)
        fiber.outer.push_back(indices[static_cast<std::size_t>(format.mode_order[above])]);
      fiber.outer_dense =
          std::none_of(format.levels.begin(), format.levels.begin() + level, format::is_sparse);
    }
    variables.fibers.push_back(std::move(fiber));
  }
}

/// The stored entries of a tensor read with these indices: a fiber of each compressed level, else the extent.
Term entries_of(const std::string& tensor, const std::vector<std::string>& indices,
                const problem::Problem& problem, const Variables& variables) {
  const format::TensorFormat& format = problem.formats.at(tensor);
  Term entries = 0;
  for (int level = 0; level < format.order(); ++level) {
    const std::string& index =
        indices[static_cast<std::size_t>(format.mode_order[static_cast<std::size_t>(level)])];
    const auto fiber = std::find_if(variables.fibers.begin(), variables.fibers.end(), [&](const Variable& v) {
      return v.tensor == tensor && v.level == level && v.index == index;
    });
    const auto extent = std::find_if(variables.extents.begin(), variables.extents.end(),
                                     [&](const Variable& v) { return v.index == index; });
    entries |= fiber != variables.fibers.end()
                   ? Term{1} << (Variables::first_fiber + (fiber - variables.fibers.begin()))
                   : Term{1} << (extent - variables.extents.begin());
  }
  return entries;
}

std::string name_of(int bit, const Variables& variables) {
  const Variable& v = variables.at(bit);
  if (v.kind == Variable::Kind::extent) return v.index;
  const auto same = std::count_if(variables.fibers.begin(), variables.fibers.end(),
                                  [&](const Variable& other) { return other.index == v.index; });
  return same == 1 ? v.index + "'" : v.index + "'" + v.tensor;
}

/// Factors in order of the indices, an index's fiber where the extent would stand.
std::string print_product(Term term, const Variables& variables) {
  std::vector<std::pair<int, int>> factors;
  for (Term rest = term & variables_mask; rest != 0; rest &= rest - 1) {
    const int bit = std::countr_zero(rest);
    int place = bit;
    if (bit >= Variables::first_fiber) {
      const auto& extents = variables.extents;
      place = static_cast<int>(
          std::find_if(extents.begin(), extents.end(),
                       [&](const Variable& e) { return e.index == variables.at(bit).index; }) -
          extents.begin());
    }
    factors.emplace_back(place, bit);
  }
  std::sort(factors.begin(), factors.end());
  std::string text;
  for (const auto& [place, bit] : factors) text += (text.empty() ? "" : "*") + name_of(bit, variables);
  return text.empty() ? "1" : text;
}

std::string print_sum(std::span<const Term> terms, const Variables& variables) {
  std::string text;
  for (Term term : terms) {
    if (!text.empty()) text += " + ";
    if (access_of(term) == Access::cleared || access_of(term) == Access::copied) {
      text +=
          (access_of(term) == Access::cleared ? "clear(" : "copy(") + print_product(term, variables) + ")";
      continue;
    }
    if (const int factor = weight(access_of(term)); factor != 1) text += std::to_string(factor) + "*";
    text += print_product(term, variables);
  }
  return text.empty() ? "0" : text;
}

double value_of(Term term, const Point& point) {
  double product = 1;
  for (Term rest = term & variables_mask; rest != 0; rest &= rest - 1) {
    product *= point[static_cast<std::size_t>(std::countr_zero(rest))];
  }
  return product;
}

double weighted(std::span<const Term> terms, const Point& point) {
  double sum = 0;
  for (Term term : terms) sum += weight(access_of(term)) * value_of(term, point);
  return sum;
}

int depth(const std::vector<Term>& terms) {
  int deepest = 0;
  for (Term term : terms) deepest = std::max(deepest, std::popcount(term & variables_mask));
  return deepest;
}

}  // namespace

const Variable& Variables::at(int bit) const {
  const auto n = static_cast<std::size_t>(bit);
  if (bit >= first_fiber) {
    SCHAAS_CHECK(n - first_fiber < fibers.size(), "no fiber variable has bit " + std::to_string(bit));
    return fibers[n - first_fiber];
  }
  SCHAAS_CHECK(n < extents.size(), "no extent variable has bit " + std::to_string(bit));
  return extents[n];
}

Variables variables_of(const problem::Problem& problem) {
  const problem::Problem known = concrete_notation::with_known_copies(problem);
  Variables variables;
  for (const std::string& index : known.indices()) {
    variables.extents.push_back({Variable::Kind::extent, index, "", 0});
  }
  for (const index_notation::Access& operand : known.reads()) {
    if (known.pattern_named(operand.tensor) != nullptr) continue;
    add_fibers(operand.tensor, operand.indices, known, variables);
  }
  for (const problem::Copy& copy : known.copies) {
    for (const auto& indices : copy.reads) add_fibers(copy.name, indices, known, variables);
  }
  SCHAAS_CHECK(variables.extents.size() <= Variables::first_fiber &&
                   variables.fibers.size() <= static_cast<std::size_t>(access_shift - Variables::first_fiber),
               "more variables than a term has bits");
  return variables;
}

Cost copying(const problem::Problem& problem) {
  Cost cost;
  if (problem.copies.empty() || problem.space.has(problem::SpaceOption::free_copies)) return cost;
  const Variables variables = variables_of(problem);
  for (const problem::Copy& copy : problem.copies) {
    const Term entries = entries_of(copy.tensor, copy.reads.front(), problem, variables);
    cost.time.push_back(make_term(entries, Access::copied));
    cost.memory.push_back(entries);
    if (!problem.formats.at(copy.tensor).all_dense()) cost.memory.push_back(entries);
  }
  std::sort(cost.time.begin(), cost.time.end());
  std::sort(cost.memory.begin(), cost.memory.end());
  return cost;
}

std::span<const Term> serial_terms(std::span<const Term> time) {
  return time.subspan(
      static_cast<std::size_t>(std::lower_bound(time.begin(), time.end(), serial_bit) - time.begin()));
}

Term clearing(bool between_phases, Term above, Term reached, Term extents) {
  if (extents == 0) return 0;
  if (between_phases) return make_term(extents, Access::cleared);
  return reached == extents ? 0 : make_term(above | reached, Access::cleared);
}

std::string print_time(const Cost& cost, const Variables& variables) {
  const std::span<const Term> all = cost.time;
  const std::span<const Term> serial = serial_terms(all);
  if (serial.empty()) return print_sum(all, variables);
  const std::string text = "serial(" + print_sum(serial, variables) + ")";
  const auto shared = all.first(all.size() - serial.size());
  return shared.empty() ? text : print_sum(shared, variables) + " + " + text;
}
std::string print_memory(const Cost& cost, const Variables& variables) {
  return print_sum(cost.memory, variables);
}

double evaluate_time(const Cost& cost, const Point& point, int threads) {
  const double all = weighted(cost.time, point);
  if (threads == 1) return all;
  const double serial = evaluate_serial(cost, point);
  return (all - serial) / threads + serial;
}
double evaluate_serial(const Cost& cost, const Point& point) {
  return weighted(serial_terms(cost.time), point);
}

double evaluate_memory(const Cost& cost, const Point& point) {
  double sum = 0;
  for (Term term : cost.memory) sum += term == 0 ? 0 : value_of(term, point);
  return sum;
}

int loop_depth(const Cost& cost) { return depth(cost.time); }
int memory_depth(const Cost& cost) { return depth(cost.memory); }

}  // namespace schaas::cost
