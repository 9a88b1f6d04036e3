#include "compiler/problem/canonical.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

#include "compiler/index_notation/extent_classes.h"
#include "compiler/index_notation/parser.h"
#include "compiler/index_notation/rename.h"
#include "compiler/problem/colours.h"
#include "compiler/problem/constraint_set.h"
#include "compiler/support/contains.h"
#include "compiler/support/digest.h"

// Canonical form by search with colour refinement and automorphisms (B. D. McKay, Practical graph
// isomorphism, 1981). An order of the factors determines names: tensors and indices in order of first
// appearance. Each order is described by a sequence of steps, one per factor, then by the result's indices
// and the constraints. The description is the whole problem without the user's names, so the minimal one is
// the same for all ways of writing it. A depth-first search finds it. At each depth only factors with the
// minimal step can lead to it, and ties are rare because steps contain refined colours (colours.h). Real ties
// are symmetries: two orders with equal descriptions form an automorphism, and those found so far cut
// branches that mirror one already searched. docs/cache_key.md argues the design.
namespace schaas::problem {
namespace {

using index_notation::Access;
using index_notation::Renaming;
using Names = std::map<std::string, std::string>;

constexpr std::string_view index_letters = "ijklmnopqrstuvwx";

std::size_t at(int n) { return static_cast<std::size_t>(n); }

int position(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
}

// True for `i <= j` between indices of one class: these follow from the statement.
bool is_implied(const Constraint& constraint, const Names& classes) {
  const auto lone_extent = [](const std::vector<Monomial>& side) -> const std::string* {
    const bool lone = side.size() == 1 && side[0].coefficient == 1 && side[0].powers.size() == 1 &&
                      side[0].powers[0].second == 1 && side[0].powers[0].first.kind == Symbol::Kind::extent;
    return lone ? &side[0].powers[0].first.name : nullptr;
  };
  const auto* left = lone_extent(constraint.lhs);
  const auto* right = lone_extent(constraint.rhs);
  return left != nullptr && right != nullptr && classes.at(*left) == classes.at(*right);
}

bool is_compressed(format::LevelFormat level) {
  return format::coordinates(level) == format::Coordinates::list && !format::is_singleton(level);
}

// A problem with numbers for names, and the names.
struct Numbered {
  std::vector<std::string> tensors;  // the operands in order of first appearance, then the result
  std::vector<std::string> indices;
  Access result;
  std::vector<Access> factors;
  std::vector<Constraint> constraints;  // without the implied ones
  Structure structure;
};

Structure::Access numbered(const Access& access, const Numbered& names) {
  Structure::Access out{position(names.tensors, access.tensor), {}};
  for (const auto& index : access.indices) out.indices.push_back(position(names.indices, index));
  return out;
}

// Returns a constraint with numbers for names; an extent is that of its class.
Structure::Relation numbered(const Constraint& constraint, const Numbered& names) {
  Structure::Relation out;
  for (const bool right : {false, true}) {
    for (const auto& term : right ? constraint.rhs : constraint.lhs) {
      auto& to = out.terms.emplace_back(Structure::Term{right, term.coefficient, {}});
      for (const auto& [symbol, exponent] : term.powers) {
        const bool extent = symbol.kind == Symbol::Kind::extent;
        const int id = extent ? names.structure.extent_class[at(position(names.indices, symbol.name))]
                              : position(names.tensors, symbol.name);
        to.uses.push_back({extent, id, symbol.levels, exponent});
      }
    }
  }
  return out;
}

// Numbers tensors, indices and classes of equal extents in the order of the statement.
Numbered number(const Problem& problem) {
  Numbered out;
  out.tensors = problem.tensors();
  // Problem::tensors begins with the result, which goes last here.
  std::rotate(out.tensors.begin(), out.tensors.begin() + 1, out.tensors.end());
  out.indices = index_notation::index_variables(problem.statement);
  out.result = problem.statement.result;
  out.factors = problem.operands();
  Structure& structure = out.structure;
  const Names classes = index_notation::extent_classes(problem.statements());
  std::map<std::string, int> class_number;
  for (const auto& index : out.indices) {
    const int fresh = static_cast<int>(class_number.size());
    structure.extent_class.push_back(class_number.emplace(classes.at(index), fresh).first->second);
  }
  structure.classes = static_cast<int>(class_number.size());
  structure.result = numbered(problem.statement.result, out);
  for (const auto& factor : out.factors) structure.factors.push_back(numbered(factor, out));
  for (const auto& tensor : out.tensors) {
    const format::TensorFormat& format = problem.formats.at(tensor);
    structure.formats.push_back(format::print(format));
    structure.compressed.push_back(std::any_of(format.levels.begin(), format.levels.end(), is_compressed));
  }
  for (const auto& constraint : problem.constraints) {
    if (is_implied(constraint, classes)) continue;
    out.constraints.push_back(constraint);
    structure.relations.push_back(numbered(constraint, out));
  }
  return out;
}

std::string tensor_name(std::size_t n) {
  constexpr std::size_t letters = 26;
  return n < letters ? std::string(1, static_cast<char>('A' + n)) : "Z" + std::to_string(n);
}

// Returns the user's names -> canonical names, for one order of the factors.
Renaming renaming_of(const Numbered& numbers, const std::vector<int>& order) {
  Renaming out;
  out.tensors[numbers.tensors.back()] = tensor_name(0);
  for (const int factor : order) {
    const Access& access = numbers.factors[at(factor)];
    out.tensors.emplace(access.tensor, tensor_name(out.tensors.size()));
    for (const auto& index : access.indices) {
      out.indices.emplace(index, std::string(1, index_letters[out.indices.size()]));
    }
  }
  return out;
}

// The same for statements that stay as written: names in order of first appearance.
Renaming renaming_of(const Problem& problem) {
  Renaming out;
  out.tensors[problem.statement.result.tensor] = tensor_name(0);
  for (const auto& statement : problem.statements()) {
    out.tensors.emplace(statement.result.tensor, tensor_name(out.tensors.size()));
    for (const auto& access : index_notation::operands(statement.value))
      out.tensors.emplace(access.tensor, tensor_name(out.tensors.size()));
  }
  for (const auto& index : problem.indices())
    out.indices.emplace(index, std::string(1, index_letters[out.indices.size()]));
  return out;
}

// Returns the constraints under canonical names, sorted.
std::vector<Constraint> renamed(const Numbered& numbers, const Renaming& names) {
  // An extent is written on the class's index of minimal canonical name.
  Names least = names.indices;
  for (std::size_t a = 0; a < numbers.indices.size(); ++a) {
    for (std::size_t b = 0; b < numbers.indices.size(); ++b) {
      if (numbers.structure.extent_class[a] != numbers.structure.extent_class[b]) continue;
      least[numbers.indices[a]] = std::min(least[numbers.indices[a]], names.indices.at(numbers.indices[b]));
    }
  }
  // Different classes keep different names, so no terms meet and the normal form only needs sorting.
  std::vector<Constraint> out = numbers.constraints;
  for (auto& constraint : out) {
    for (auto* side : {&constraint.lhs, &constraint.rhs}) {
      for (auto& term : *side) {
        for (auto& [symbol, exponent] : term.powers) {
          symbol.name = (symbol.kind == Symbol::Kind::extent ? least : names.tensors).at(symbol.name);
        }
        std::sort(term.powers.begin(), term.powers.end());
      }
      std::sort(side->begin(), side->end());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Comparison key of an order at one depth.
using Step = std::vector<int>;
struct Description {
  std::vector<Step> steps;
  Access result;
  std::vector<Constraint> constraints;
};

class Search {
 public:
  explicit Search(const Numbered& numbers)
      : numbers_(numbers), structure_(numbers.structure), formats_(initial_colours(structure_)) {}

  std::vector<int> run() {
    explore(refine(structure_, formats_));
    return best_order_;
  }

 private:
  // Factors in order so far, with the numbers their tensors and indices have got.
  struct Prefix {
    std::vector<int> order;
    std::vector<Step> steps;
    std::map<int, int> tensors, indices;
  };

  // Returns the step of a factor: sparse operands first, those of more modes before; then the factor with
  // most names that have appeared.
  Step step_of(int factor, const Colours& colours) const {
    const Structure::Access& access = structure_.factors[at(factor)];
    const bool sparse = structure_.compressed[at(access.tensor)];
    Step step = {sparse ? 0 : 1, sparse ? -static_cast<int>(access.indices.size()) : 0};
    int fresh = static_cast<int>(prefix_.indices.size());
    for (const int index : access.indices) {
      const auto known = prefix_.indices.find(index);
      step.push_back(known == prefix_.indices.end() ? fresh++ : known->second);
    }
    const auto known = prefix_.tensors.find(access.tensor);
    step.push_back(-1);
    step.push_back(known == prefix_.tensors.end() ? static_cast<int>(prefix_.tensors.size()) : known->second);
    step.push_back(formats_.tensors[at(access.tensor)]);
    step.push_back(colours.factors[at(factor)]);
    return step;
  }

  // Appends a factor to the prefix and numbers the names that appear with it first.
  void enter(int factor, Step step) {
    const Structure::Access& access = structure_.factors[at(factor)];
    prefix_.order.push_back(factor);
    prefix_.steps.push_back(std::move(step));
    prefix_.tensors.emplace(access.tensor, static_cast<int>(prefix_.tensors.size()));
    for (const int index : access.indices)
      prefix_.indices.emplace(index, static_cast<int>(prefix_.indices.size()));
  }

  // Searches below the prefix. Returns the depth to continue at: less than this depth when everything below
  // mirrors a searched branch.
  std::size_t explore(const Colours& colours) {
    const std::size_t depth = prefix_.order.size();
    if (depth == structure_.factors.size()) return compare();
    Step least;
    std::vector<int> tied;
    for (int factor = 0; at(factor) < structure_.factors.size(); ++factor) {
      if (std::find(prefix_.order.begin(), prefix_.order.end(), factor) != prefix_.order.end()) continue;
      Step step = step_of(factor, colours);
      if (tied.empty() || step < least) {
        least = std::move(step);
        tied = {factor};
      } else if (step == least) {
        tied.push_back(factor);
      }
    }
    // Every order below begins with a greater description than the best one's.
    if (is_worse(least)) return depth;
    const Prefix before = prefix_;
    std::vector<int> searched;
    for (const int factor : tied) {
      if (mirrors(factor, searched)) continue;
      enter(factor, least);
      // A tie is broken by giving the factor a colour of its own, from which refinement tells others apart.
      const std::size_t go_on =
          explore(tied.size() == 1 ? colours : refine(structure_, individualize(colours, factor)));
      prefix_ = before;
      if (go_on < depth) return go_on;
      searched.push_back(factor);
    }
    return depth;
  }

  // The steps so far and `next` are greater than the best order's.
  bool is_worse(const Step& next) const {
    if (!best_) return false;
    const std::size_t depth = prefix_.steps.size();
    for (std::size_t n = 0; n < depth; ++n) {
      if (prefix_.steps[n] != best_->steps[n]) return best_->steps[n] < prefix_.steps[n];
    }
    return best_->steps[depth] < next;
  }

  // Some known automorphism fixes the prefix and maps, perhaps in several steps, a searched factor to this
  // one.
  bool mirrors(int factor, const std::vector<int>& searched) const {
    // Orbits under the automorphisms that fix the prefix, by merging labels.
    std::vector<int> orbit(structure_.factors.size());
    std::iota(orbit.begin(), orbit.end(), 0);
    for (const auto& map : automorphisms_) {
      if (!std::all_of(prefix_.order.begin(), prefix_.order.end(), [&](int f) { return map[at(f)] == f; }))
        continue;
      for (std::size_t from = 0; from < map.size(); ++from) {
        const int a = orbit[from], b = orbit[at(map[from])];
        for (int& member : orbit) member = member == a ? b : member;
      }
    }
    return std::any_of(searched.begin(), searched.end(),
                       [&](int f) { return orbit[at(f)] == orbit[at(factor)]; });
  }

  // Compares a whole order with the best one. Returns the depth to continue at.
  std::size_t compare() {
    const std::size_t depth = prefix_.order.size();
    const Renaming names = renaming_of(numbers_, prefix_.order);
    Description here{prefix_.steps, index_notation::renamed(numbers_.result, names),
                     renamed(numbers_, names)};
    const auto key = [](const Description& d) { return std::tie(d.steps, d.result.indices, d.constraints); };
    if (!best_ || key(here) < key(*best_)) {
      best_ = std::move(here);
      best_order_ = prefix_.order;
      return depth;
    }
    if (key(*best_) < key(here)) return depth;
    // Equal descriptions: mapping one order to the other is an automorphism. All searched since they part
    // mirrors a branch that was searched before.
    std::vector<int> map(depth);
    for (std::size_t n = 0; n < depth; ++n) map[at(best_order_[n])] = prefix_.order[n];
    automorphisms_.push_back(std::move(map));
    const auto split = std::mismatch(best_order_.begin(), best_order_.end(), prefix_.order.begin());
    return static_cast<std::size_t>(split.first - best_order_.begin());
  }

  const Numbered& numbers_;
  const Structure& structure_;
  const Colours
      formats_;  // tensors by format: refined colours of two branches cannot be compared part by part
  Prefix prefix_;
  std::optional<Description> best_;
  std::vector<int> best_order_;
  std::vector<std::vector<int>> automorphisms_;
};

// Removes names, statements and constraints from a problem.
Problem without_names(const Problem& problem) {
  Problem out = problem;
  out.intermediates.clear();
  out.statement = {};
  out.formats.clear();
  out.constraints.clear();
  return out;
}

// Adds formats and constraints under the canonical names.
void finish(Problem& out, const Problem& problem, const Renaming& names,
            const std::vector<Constraint>& constraints) {
  for (const auto& [tensor, format] : problem.formats) out.formats.emplace(names.tensors.at(tensor), format);
  auto simple = simplify(out.statements(), constraints);
  SCHAAS_CHECK(simple.ok(), "a renaming changes no constraint");
  out.constraints = std::move(simple).value();
}

Problem renamed(const Problem& problem, const Numbered& numbers, const std::vector<int>& order,
                const Renaming& names) {
  Problem out = without_names(problem);
  std::vector<Access> factors;
  for (const int factor : order)
    factors.push_back(index_notation::renamed(numbers.factors[at(factor)], names));
  out.statement = {index_notation::renamed(problem.statement.result, names),
                   index_notation::product_of(std::move(factors)),
                   problem.statement.update,
                   {}};
  finish(out, problem, names, renamed(numbers, names));
  return out;
}

Problem renamed(const Problem& problem, const Renaming& names) {
  Problem out = without_names(problem);
  for (const auto& statement : problem.intermediates)
    out.intermediates.push_back(index_notation::renamed(statement, names));
  out.statement = index_notation::renamed(problem.statement, names);
  std::vector<Constraint> constraints;
  for (const auto& constraint : problem.constraints) {
    const auto known = rename(constraint, names.indices, names.tensors);
    SCHAAS_CHECK(known.ok(), "a renaming changes no constraint");
    constraints.insert(constraints.end(), known->begin(), known->end());
  }
  finish(out, problem, names, constraints);
  return out;
}

Names inverse(const Names& names) {
  Names out;
  for (const auto& [from, to] : names) out.emplace(to, from);
  return out;
}

/// Maps the problem's indices to indices of the request that must have the same extent: to themselves where
/// they are such.
Names extents_of(const Problem& problem, std::string_view expression) {
  Names names;
  for (const std::string& index : problem.indices()) names.emplace(index, index);
  if (expression.empty()) return names;
  const auto request = index_notation::parse(expression);
  if (!request.ok()) return names;
  const auto asked = index_notation::index_variables(request->statements);
  const Names classes = index_notation::extent_classes(problem.statements());
  for (auto& [index, to] : names) {
    if (support::contains(asked, index)) continue;
    const std::string& first = classes.at(index);
    const auto same = std::find_if(asked.begin(), asked.end(), [&](const std::string& other) {
      const auto known = classes.find(other);
      return known != classes.end() && known->second == first;
    });
    if (same != asked.end()) to = *same;
  }
  return names;
}

}  // namespace

Canonical canonicalize(const Problem& problem, std::string_view expression) {
  Canonical out;
  Renaming names;
  if (is_contraction(problem)) {
    const Numbered numbers = number(problem);
    std::vector<int> order(numbers.factors.size());
    std::iota(order.begin(), order.end(), 0);
    // The papers' space depends on the order the product is written in.
    if (problem.profile == Profile::standard) order = Search(numbers).run();
    names = renaming_of(numbers, order);
    out.problem = renamed(problem, numbers, order, names);
    out.user_positions = std::move(order);
  } else {
    names = renaming_of(problem);
    out.problem = renamed(problem, names);
  }
  out.text = print(out.problem);
  out.key = support::digest_of(out.text).sha256;
  out.user_tensor = inverse(names.tensors);
  out.user_index = inverse(names.indices);
  const Names extents = extents_of(problem, expression);
  for (const auto& [ours, users] : out.user_index) out.user_extent.emplace(ours, extents.at(users));
  out.asked = print(problem);
  return out;
}

}  // namespace schaas::problem
