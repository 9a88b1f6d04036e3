#include "compiler/cost/cost.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "compiler/concrete_notation/copies/needed_copies.h"
#include "compiler/cost/memory_terms.h"
#include "compiler/support/result.h"

// Variables of a problem's costs; value and text of a cost. A term is one word with a bit for each variable,
// an access class and the serial bit. A product of different loops is thus a union of bits, and a sum a
// sorted vector of words. Bits are numbered in a fixed order: extents, fibers, intersections, then fibers and
// intersections of copies. So a problem with copies keeps the bits of the problem it was made of.
// Intersections share the bits that fibers leave, small sets first; a set without bits is priced by one of
// its fibers. Rejected: the fiber of the first operand as the price of every intersection. The other list is
// walked again for each iteration around, so that proofs removed faster schedules (docs/cost_model.md,
// "Intersections").
namespace schaas::cost {
namespace {

const std::string& index_at(const std::vector<std::string>& indices, const format::TensorFormat& format,
                            std::size_t level) {
  return indices[static_cast<std::size_t>(format.mode_order[level])];
}

bool has_fiber(const Variables& variables, const std::string& tensor, int level, const std::string& index) {
  return std::any_of(variables.fibers.begin(), variables.fibers.end(), [&](const Variable& v) {
    return v.tensor == tensor && v.level == level && v.index == index;
  });
}

/// Adds a variable for each compressed level of one access that has none yet.
void add_fibers(const std::string& tensor, const std::vector<std::string>& indices,
                const problem::Problem& problem, Variables& variables) {
  const format::TensorFormat& format = problem.formats.at(tensor);
  for (int level = 0; level < format.order(); ++level) {
    const auto at = static_cast<std::size_t>(level);
    if (!format::is_sparse(format.levels[at])) continue;
    // The papers never count the outermost level as sparse.
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

/// The levels of one access that loops walk: the first one of each index.
std::vector<Variable> walked_levels(const std::string& tensor, const std::vector<std::string>& indices,
                                    const format::TensorFormat& format) {
  std::vector<Variable> lists;
  std::vector<std::string> outer;
  bool dense = true;
  for (std::size_t level = 0; level < format.levels.size(); ++level) {
    const std::string& index = index_at(indices, format, level);
    const bool sparse = format::is_sparse(format.levels[level]) && !format::is_located(format.levels[level]);
    if (sparse && walks(indices, format, static_cast<int>(level), index))
      lists.push_back({Variable::Kind::fiber, index, tensor, static_cast<int>(level), "", outer, dense, {}});
    outer.push_back(index);
    dense = dense && !format::is_sparse(format.levels[level]);
  }
  return lists;
}

/// A list of an access. A copy's access is that of its original.
struct Walked {
  Variable list;
  std::string tensor;
  std::vector<std::string> indices;

  /// Lists that a loop may walk together: of one index and different accesses.
  bool meets(const Walked& other) const {
    return list.index == other.list.index && (tensor != other.tensor || indices != other.indices);
  }
};

/// The walked levels of operands, of patterns none, and then those of copies.
std::vector<Walked> walked_lists(const problem::Problem& known) {
  std::vector<Walked> all;
  const auto add = [&](const std::string& tensor, const std::vector<std::string>& indices,
                       const std::string& original) {
    for (Variable& list : walked_levels(tensor, indices, known.formats.at(tensor))) {
      if (tensor != original) list.copy_of = original;
      if (std::none_of(all.begin(), all.end(), [&](const Walked& one) { return one.list == list; }))
        all.push_back({std::move(list), original, indices});
    }
  };
  for (const index_notation::Access& operand : known.reads()) {
    if (known.pattern_named(operand.tensor) == nullptr) add(operand.tensor, operand.indices, operand.tensor);
  }
  for (const problem::Copy& copy : known.copies) {
    for (const auto& indices : copy.reads) add(copy.name, indices, copy.tensor);
  }
  return all;
}

/// Adds the sets of lists that loops may walk together to the variables, small ones first.
class Intersections {
 public:
  /// `room`: bits for variables.
  Intersections(const std::vector<Walked>& lists, std::size_t room, Variables& variables)
      : lists_(lists), room_(room), variables_(variables) {
    for (const Walked& one : lists) variables.lists.push_back(one.list);
  }

  /// All sets of lists whose last one is in [begin, end).
  void add(std::size_t begin, std::size_t end) {
    for (std::size_t size = 2; size <= end; ++size) {
      for (std::size_t last = begin; last < end; ++last) {
        std::vector<std::size_t> chosen{last};
        if (!choose(0, size, chosen)) return;
      }
    }
  }

 private:
  /// Completes a set by lists before its first one; false when there is no room for more.
  bool choose(std::size_t from, std::size_t size, std::vector<std::size_t>& chosen) {
    if (chosen.size() == size) return add(chosen);
    for (std::size_t n = from; n < chosen.front(); ++n) {
      if (!std::all_of(chosen.begin(), chosen.end(),
                       [&](std::size_t other) { return lists_[n].meets(lists_[other]); }))
        continue;
      chosen.push_back(n);
      const bool go_on = choose(n + 1, size, chosen);
      chosen.pop_back();
      if (!go_on) return false;
    }
    return true;
  }

  /// Gives a set two adjacent bits, matches and then steps. Returns false when fewer than two are left.
  bool add(const std::vector<std::size_t>& chosen) {
    if (variables_.fibers.size() + 2 > room_) return variables_.all_intersections = false;
    Intersection both;
    Variable of{Variable::Kind::matches, variables_.lists[chosen.front()].index, "", 0};
    std::vector<std::size_t> sorted = chosen;
    std::sort(sorted.begin(), sorted.end());
    for (const std::size_t n : sorted) {
      both.lists |= ListSet{1} << n;
      of.lists.push_back(variables_.lists[n]);
    }
    both.matches = Term{1} << (Variables::first_fiber + variables_.fibers.size());
    both.steps = both.matches << 1;
    variables_.fibers.push_back(of);
    of.kind = Variable::Kind::steps;
    variables_.fibers.push_back(std::move(of));
    variables_.intersections.push_back(both);
    return true;
  }

  const std::vector<Walked>& lists_;
  std::size_t room_;
  Variables& variables_;
};

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

/// The tensor, with the loops above where the index is read of it twice.
std::string name_of_list(const Variable& list, const Variables& variables) {
  const auto same = std::count_if(variables.lists.begin(), variables.lists.end(), [&](const Variable& other) {
    return other.index == list.index && other.tensor == list.tensor;
  });
  std::string text = list.tensor;
  if (same == 1) return text;
  text += "[";
  for (const std::string& index : list.outer) text += (text.back() == '[' ? "" : ",") + index;
  return text + "]";
}

/// Factors in order of the indices, an index's fiber where the extent would stand.
std::string print_product(Term term, const Variables& variables) {
  std::vector<std::pair<int, int>> factors;
  for (Term rest = term & variables_mask; rest != 0; rest &= rest - 1) {
    const int bit = std::countr_zero(rest);
    int position = bit;
    if (bit >= Variables::first_fiber) {
      const auto& extents = variables.extents;
      position = static_cast<int>(
          std::find_if(extents.begin(), extents.end(),
                       [&](const Variable& e) { return e.index == variables.at(bit).index; }) -
          extents.begin());
    }
    factors.emplace_back(position, bit);
  }
  std::sort(factors.begin(), factors.end());
  std::string text;
  for (const auto& [position, bit] : factors) text += (text.empty() ? "" : "*") + variables.name(bit);
  return text.empty() ? "1" : text;
}

/// The name of a class of terms that are not the nests of leaves.
const char* name_of(Access access) {
  switch (access) {
    case Access::cleared:
      return "clear";
    case Access::copied:
      return "copy";
    case Access::merged:
      return "merge";
    default:
      return nullptr;
  }
}

/// Prints leaves and calls with their weights; clearing, copies and merges have names instead.
std::string print_sum(std::span<const Term> terms, const Variables& variables) {
  std::string text;
  for (Term term : terms) {
    if (!text.empty()) text += " + ";
    if (const char* of_its_own = name_of(access_of(term)); of_its_own != nullptr) {
      text += of_its_own + ("(" + print_product(term, variables)) + ")";
      continue;
    }
    if (const int factor = weight(access_of(term)); factor != 1) text += std::to_string(factor) + "*";
    text += print_product(term, variables);
  }
  return text.empty() ? "0" : text;
}

/// Multiplies the values of a term's variables, without its weight.
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

/// Returns "j'" for the only fiber of its index, else "j'B". Matches and steps name their lists: "j'B&C",
/// "j'B|C".
std::string Variables::name(int bit) const {
  const Variable& v = at(bit);
  if (v.kind == Variable::Kind::extent) return v.index;
  if (!is_fiber(v)) {
    std::string text;
    for (const Variable& list : v.lists)
      text += (text.empty()                        ? v.index + "'"
               : v.kind == Variable::Kind::matches ? "&"
                                                   : "|") +
              name_of_list(list, *this);
    return text;
  }
  const auto same = std::count_if(fibers.begin(), fibers.end(), [&](const Variable& other) {
    return is_fiber(other) && other.index == v.index;
  });
  return same == 1 ? v.index + "'" : v.index + "'" + v.tensor;
}

bool walks(const std::vector<std::string>& indices, const format::TensorFormat& format, int level,
           const std::string& index) {
  for (int above = 0; above < level; ++above)
    if (index_at(indices, format, static_cast<std::size_t>(above)) == index) return false;
  return index_at(indices, format, static_cast<std::size_t>(level)) == index;
}

ListSet Variables::list_of(const index_notation::Access& access, const std::string& index,
                           const problem::Problem& problem) const {
  // The entries of a pattern are those of its operand, and so are its lists.
  const problem::Pattern* pattern = problem.pattern_named(access.tensor);
  const std::string& tensor = pattern == nullptr ? access.tensor : pattern->tensor;
  for (std::size_t n = 0; n < lists.size(); ++n) {
    if (lists[n].tensor != tensor || lists[n].index != index) continue;
    for (const Variable& level : walked_levels(tensor, access.indices, problem.formats.at(tensor))) {
      if (level.index == index && level.outer == lists[n].outer) return ListSet{1} << n;
    }
  }
  return 0;
}

const Intersection* Variables::intersection(ListSet wanted) const {
  const auto found = std::find_if(intersections.begin(), intersections.end(),
                                  [&](const Intersection& one) { return one.lists == wanted; });
  return found == intersections.end() ? nullptr : &*found;
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
  constexpr std::size_t bits = access_shift - Variables::first_fiber;
  SCHAAS_CHECK(variables.extents.size() <= Variables::first_fiber && variables.fibers.size() <= bits,
               "more variables than a term has bits");
  Variables copies = variables;
  for (const problem::Copy& copy : known.copies) {
    for (const auto& indices : copy.reads) add_fibers(copy.name, indices, known, copies);
  }
  // Loops over levels without a bit count their extents, upper bounds.
  if (copies.fibers.size() > bits) copies.fibers.resize(bits);
  std::vector<Walked> lists;
  if (known.profile != problem::Profile::sparseauto) lists = walked_lists(known);
  // Lists beyond the bits of a ListSet take part in no intersection.
  if (lists.size() > std::numeric_limits<ListSet>::digits) lists.resize(std::numeric_limits<ListSet>::digits);
  const auto originals = static_cast<std::size_t>(
      std::count_if(lists.begin(), lists.end(), [](const Walked& one) { return one.list.copy_of.empty(); }));
  const auto of_copies = copies.fibers.begin() + static_cast<std::ptrdiff_t>(variables.fibers.size());
  Intersections(lists, bits - static_cast<std::size_t>(copies.fibers.end() - of_copies), variables)
      .add(0, originals);
  variables.fibers.insert(variables.fibers.end(), of_copies, copies.fibers.end());
  // The lists come again in the same order, so that sets found so far keep their bits.
  variables.lists.clear();
  Intersections(lists, bits, variables).add(originals, lists.size());
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
    // A compressed copy holds a coordinate beside each value.
    if (!problem.formats.at(copy.tensor).all_dense()) cost.memory.push_back(entries);
  }
  std::sort(cost.time.begin(), cost.time.end());
  std::sort(cost.memory.begin(), cost.memory.end());
  return cost;
}

std::span<const Term> serial_terms(std::span<const Term> time) {
  // The serial bit is the highest one, so serial terms are sorted last.
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
std::string print_memory(const std::vector<MemoryTerm>& terms, const Variables& variables) {
  std::string text;
  for (const MemoryTerm& term : terms) {
    if (!text.empty()) text += " + ";
    const std::string product = print_product(term.product, variables);
    text += term.block == 1     ? product
            : term.product == 0 ? std::to_string(term.block)
                                : std::to_string(term.block) + "*" + product;
  }
  return text.empty() ? "0" : text;
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
