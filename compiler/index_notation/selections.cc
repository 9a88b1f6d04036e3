#include "compiler/index_notation/selections.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "compiler/index_notation/arithmetic.h"
#include "compiler/index_notation/implied_sums.h"
#include "compiler/index_notation/printer.h"
#include "compiler/index_notation/rename.h"
#include "compiler/support/contains.h"

// A windowed mode could have been a case of its own in each stage (R. Henry, O. Hsu et al., Compilation of
// sparse array programming models, 2021, section 5). As a product with a 0-1 matrix it needs none. For each
// index exactly one coordinate is selected, so `sum(p)(select(p,i(..)) * f(B(p)))` is f at that coordinate
// for any f. The sum may stand around a whole additive term, which keeps products contractions. The indices
// of reductions inside a term are known there only, so ranges inside are written out inside. Implied sums are
// written out first: the new sums must not decide which indices a term has.
namespace schaas::index_notation {
namespace {

bool is_ranged(const Access& access) { return !access.ranges.empty() && !selects(access); }

bool any_access(const Assignment& statement, const std::function<bool(const Access&)>& holds) {
  const auto all = operands(statement.value);
  return holds(statement.result) || std::any_of(all.begin(), all.end(), holds);
}

// True when the index of a whole mode stands at a whole mode before it.
bool repeats(const Access& access, std::size_t mode) {
  const std::string& index = access.indices[mode];
  if (mode_range(access, mode) != nullptr) return false;
  for (std::size_t before = 0; before < mode; ++before)
    if (access.indices[before] == index && mode_range(access, before) == nullptr) return true;
  return false;
}

// Writes the ranges of one program's statements as selections.
class Writer {
 public:
  explicit Writer(const Program& program) : semiring_(*program.semiring), names_(program) {}

  Assignment written(const Assignment& statement) {
    const bool writes_part = is_ranged(statement.result) || is_diagonal(statement.result);
    if (!writes_part && !any_access(statement, is_ranged)) return statement;
    Assignment out = statement;
    out.value = terms(statement.value, statement);
    if (writes_part) scatter(out);
    return out;
  }

 private:
  struct Found {
    std::string coordinate;
    Expression select;
  };

  // Writes out the implied sum of each additive term, with the selections of the term inside.
  Expression terms(const Expression& value, const Assignment& statement) {
    if (is_additive(value)) {
      std::vector<Expression> inner;
      for (const auto& part : parts(value)) inner.push_back(terms(part, statement));
      return with_parts(value, std::move(inner));
    }
    return summed(term(value), implied_indices(statement, value), value.range);
  }

  Expression summed(Expression value, std::vector<std::string> indices, support::SourceRange range) const {
    if (indices.empty()) return value;
    auto* inner = std::get_if<Reduction>(&value.node);
    if (inner != nullptr && inner->monoid == semiring_.sum) {
      inner->indices.insert(inner->indices.begin(), indices.begin(), indices.end());
      return value;
    }
    return {Reduction{semiring_.sum, std::move(indices), {std::move(value)}}, range};
  }

  // Multiplies by selections, which end the product, and sums over their coordinates.
  Expression selected(Expression value, const std::vector<Found>& found, std::vector<std::string> indices) {
    const support::SourceRange range = value.range;
    Product product;
    if (auto* factors = std::get_if<Product>(&value.node)) {
      product = std::move(*factors);
    } else {
      product.factors.push_back(std::move(value));
    }
    for (const Found& each : found) product.factors.push_back(each.select);
    return {Reduction{semiring_.sum, std::move(indices), {{std::move(product), range}}}, range};
  }

  // Returns an additive part, or the body of a reduction, without ranges.
  Expression term(const Expression& value) {
    if (is_additive(value)) {
      std::vector<Expression> inner;
      for (const auto& part : parts(value)) inner.push_back(term(part));
      return with_parts(value, std::move(inner));
    }
    std::vector<Found> found;
    const std::size_t outside = open_.size();
    Expression out = outside_reductions(value, found);
    for (const Found& each : found) open_.push_back(each.coordinate);
    out = inside_reductions(out);
    open_.resize(outside);
    if (found.empty()) return out;
    std::vector<std::string> coordinates;
    for (const Found& each : found) coordinates.push_back(each.coordinate);
    return selected(std::move(out), found, std::move(coordinates));
  }

  Expression outside_reductions(const Expression& value, std::vector<Found>& found) {
    if (const auto* access = std::get_if<Access>(&value.node)) return {plain(*access, found), value.range};
    if (std::holds_alternative<Reduction>(value.node)) return value;
    std::vector<Expression> inner;
    for (const auto& part : parts(value)) inner.push_back(outside_reductions(part, found));
    return with_parts(value, std::move(inner));
  }
  Expression inside_reductions(const Expression& value) {
    const bool reduction = std::holds_alternative<Reduction>(value.node);
    std::vector<Expression> inner;
    for (const auto& part : parts(value)) inner.push_back(reduction ? term(part) : inside_reductions(part));
    return with_parts(value, std::move(inner));
  }

  // Returns the access with coordinates in place of ranges, and adds their selections to `found`.
  Access plain(const Access& access, std::vector<Found>& found) {
    if (!is_ranged(access)) return access;
    return with_coordinates(access, found,
                            [&](std::size_t mode) { return mode_range(access, mode) != nullptr; });
  }

  Access with_coordinates(const Access& access, std::vector<Found>& found,
                          const std::function<bool(std::size_t)>& is_selected) {
    Access out = access;
    out.ranges.clear();
    for (std::size_t mode = 0; mode < access.indices.size(); ++mode) {
      if (!is_selected(mode)) continue;
      const Range* range = mode_range(access, mode);
      out.indices[mode] = coordinate(access, mode);
      const auto same = [&](const Found& each) { return each.coordinate == out.indices[mode]; };
      if (std::any_of(found.begin(), found.end(), same)) continue;
      Access select{select_name, {out.indices[mode], access.indices[mode]}, access.range, {}, {}};
      if (range != nullptr) select.ranges = {std::nullopt, *range};
      found.push_back({out.indices[mode], {std::move(select), access.range}});
    }
    return out;
  }

  // Returns the index of a ranged mode: the same wherever the same is selected, unless a sum around has it.
  std::string coordinate(const Access& access, std::size_t mode) {
    const std::string stem = access.tensor + "_mode" + std::to_string(mode + 1);
    const Range* range = mode_range(access, mode);
    std::vector<std::string>& known =
        coordinates_[stem + ' ' + print(access.indices[mode], range == nullptr ? Range{} : *range)];
    for (const auto& each : known)
      if (!support::contains(open_, each)) return each;
    known.push_back(names_.fresh(stem));
    return known.back();
  }

  // A statement that writes ranges adds each element at the coordinate that is selected for it.
  void scatter(Assignment& statement) {
    const Access written = statement.result;
    std::vector<Found> found;
    statement.result = with_coordinates(written, found, [&](std::size_t mode) {
      return mode_range(written, mode) != nullptr || repeats(written, mode);
    });
    std::vector<std::string> indices;
    for (std::size_t mode = 0; mode < written.indices.size(); ++mode) {
      const std::string& index = written.indices[mode];
      const bool ranged = mode_range(written, mode) != nullptr && !index.empty();
      if (ranged && !support::contains(indices, index) && !support::contains(statement.result.indices, index))
        indices.push_back(index);
    }
    statement.value = scattered(statement.value, found, indices);
  }
  Expression scattered(const Expression& value, const std::vector<Found>& found,
                       const std::vector<std::string>& indices) {
    if (is_additive(value)) {
      std::vector<Expression> inner;
      for (const auto& part : parts(value)) inner.push_back(scattered(part, found, indices));
      return with_parts(value, std::move(inner));
    }
    Expression out = selected(value, found, indices);
    return indices.empty() ? std::get<Reduction>(out.node).body.front() : out;
  }

  const operators::Semiring& semiring_;
  FreshNames names_;
  std::map<std::string, std::vector<std::string>> coordinates_;
  std::vector<std::string> open_;  // coordinates that the sums around bind
};

void add_parameters(const Access& access, std::vector<std::string>& out) {
  for (const auto& range : access.ranges) {
    if (!range) continue;
    for (const auto* bound : {&range->begin, &range->end, &range->step}) {
      if (!*bound) continue;
      const auto* name = std::get_if<std::string>(&**bound);
      if (name != nullptr && !support::contains(out, *name)) out.push_back(*name);
    }
  }
}

}  // namespace

bool selects(const Access& access) { return access.tensor == select_name || access.tensor == equal_name; }

bool is_diagonal(const Access& access) {
  if (selects(access)) return false;
  for (std::size_t mode = 0; mode < access.indices.size(); ++mode)
    if (repeats(access, mode)) return true;
  return false;
}

bool has_ranges(const Program& program) {
  return std::any_of(program.statements.begin(), program.statements.end(), [](const Assignment& statement) {
    return is_diagonal(statement.result) || any_access(statement, [](const Access& access) {
             return !access.ranges.empty() || selects(access);
           });
  });
}

Program with_selections(const Program& program) {
  Program out{program.semiring, {}};
  Writer writer(program);
  for (const auto& statement : program.statements) out.statements.push_back(writer.written(statement));
  return out;
}

std::vector<std::string> range_parameters(const Program& program) {
  std::vector<std::string> out;
  for (const auto& statement : program.statements) {
    add_parameters(statement.result, out);
    for (const auto& access : operands(statement.value)) add_parameters(access, out);
  }
  return out;
}

std::string selection_format(const IndexOperand& selection) {
  return selection.index.empty() ? "banded" : "dense,banded";
}

namespace {

// Replaces each selection of a program by an operand.
class Operands {
 public:
  Operands(SelectedProgram& out, const WalkedLevel& walked_level)
      : out_(out), walked_level_(walked_level), names_(out.program) {
    for (const auto& parameter : out.parameters) names_.take(parameter);
    const Access& result = out.program.result();
    for (std::size_t mode = 0; mode < result.indices.size(); ++mode)
      has_sparse_result_ = has_sparse_result_ || walked_level(result, mode).has_value();
  }

  void replace() {
    std::vector<Assignment> statements = out_.program.statements;
    for (auto& statement : statements)
      statement.value =
          with_accesses(statement.value, [this](const Access& access) { return operand(access); });
    out_.program.statements = std::move(statements);
  }

 private:
  Access operand(const Access& access) {
    if (!selects(access)) return access;
    IndexOperand wanted{"",    access.indices[0],          access.indices[1], Range{},
                        false, access.tensor == equal_name};
    if (const Range* range = mode_range(access, 1)) wanted.range = *range;
    const auto same = [&](const IndexOperand& each) {
      return each.coordinate == wanted.coordinate && each.index == wanted.index &&
             each.range == wanted.range && each.is_equation == wanted.is_equation;
    };
    auto known = std::find_if(out_.selections.begin(), out_.selections.end(), same);
    if (known == out_.selections.end()) {
      wanted.tensor = names_.fresh("select_" + wanted.coordinate);
      const auto stored = wanted.range == Range{} ? coordinate_is_stored_first(wanted) : std::nullopt;
      wanted.coordinate_first = stored ? *stored : is_walked(wanted.coordinate);
      known = out_.selections.insert(out_.selections.end(), std::move(wanted));
    }
    Access made{known->tensor, {known->coordinate}, access.range, {}, {}};
    if (known->index.empty()) return made;
    made.indices.insert(known->coordinate_first ? made.indices.end() : made.indices.begin(), known->index);
    return made;
  }

  // As many as there are modes: none has the index.
  static std::size_t mode_of(const Access& access, const std::string& index) {
    const auto& indices = access.indices;
    return static_cast<std::size_t>(std::find(indices.begin(), indices.end(), index) - indices.begin());
  }

  // An identity matrix may be stored either way. It is stored like a sparse tensor that has both indices:
  // loops over the rows of that one then have the rows of both.
  std::optional<bool> coordinate_is_stored_first(const IndexOperand& identity) const {
    for (const Assignment& statement : out_.program.statements) {
      std::vector<Access> all = operands(statement.value);
      all.insert(all.begin(), statement.result);
      for (const Access& access : all) {
        if (selects(access)) continue;
        const std::size_t order = access.indices.size(), coordinate = mode_of(access, identity.coordinate),
                          index = mode_of(access, identity.index);
        if (coordinate == order || index == order || coordinate == index) continue;
        const auto outer = walked_level_(access, coordinate), inner = walked_level_(access, index);
        if (outer && inner) return *outer < *inner;
        if (inner) return *inner > 0;
        if (outer) return *outer == 0;
      }
    }
    return std::nullopt;
  }

  // Loops over the outermost level come to the coordinate before the index. Sparse results need the index
  // first, and the search of long products with one slows down when the two orders contradict each other.
  bool is_walked(const std::string& coordinate) const {
    constexpr std::size_t max_reordered = 3;  // operands of a statement
    for (const Assignment& statement : out_.program.statements) {
      std::vector<Access> all = operands(statement.value);
      const bool may_reorder = !has_sparse_result_ || all.size() <= max_reordered;
      all.push_back(statement.result);
      for (const Access& access : all) {
        if (selects(access)) continue;
        for (std::size_t mode = 0; mode < access.indices.size(); ++mode) {
          if (access.indices[mode] != coordinate) continue;
          const auto level = walked_level_(access, mode);
          if (level && (*level > 0 || may_reorder)) return true;
        }
      }
    }
    return false;
  }

  SelectedProgram& out_;
  const WalkedLevel& walked_level_;
  FreshNames names_;
  bool has_sparse_result_ = false;
};

}  // namespace

SelectedProgram with_selection_operands(const Program& program, const WalkedLevel& walked_level) {
  SelectedProgram out{with_selections(program), {}, range_parameters(program)};
  Operands(out, walked_level).replace();
  return out;
}

}  // namespace schaas::index_notation
