#include "compiler/index_notation/equations.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/index_notation/arithmetic.h"
#include "compiler/index_notation/verifier.h"

// An equation is 1 on a diagonal and 0 elsewhere, which no merge lattice sees: its coordinates are numbers
// like any other. A selection has the same values and stores the ones. Sums are rewritten from the outside:
// the accesses of all terms tell whether entries are walked, each term whether an equation decides it.
namespace schaas::index_notation {
namespace {

using operators::Function;

/// The indices of `i == j`, without offsets.
struct Equation {
  std::string first, second;
};

std::optional<Equation> equation(const Expression& expression) {
  const auto* equal = std::get_if<Call>(&expression.node);
  if (equal == nullptr || equal->function != Function::equal) return std::nullopt;
  const auto* first = std::get_if<Coordinate>(&equal->arguments[0].node);
  const auto* second = std::get_if<Coordinate>(&equal->arguments[1].node);
  if (first == nullptr || second == nullptr || first->index == second->index) return std::nullopt;
  return Equation{first->index, second->index};
}

/// The expression times the diagonal.
Expression on_diagonal(const Equation& diagonal, const Expression& value) {
  Expression select{Access{equal_name, {diagonal.first, diagonal.second}, value.range, {}, {}}, value.range};
  if (is_number(value, 1)) return select;
  if (const auto* product = std::get_if<Product>(&value.node)) {
    Product all = *product;
    all.factors.push_back(std::move(select));
    return {std::move(all), value.range};
  }
  return {Product{{value, std::move(select)}}, value.range};
}

class EquationWriter {
 public:
  explicit EquationWriter(const WalkedLevel& walked_level) : walked_level_(walked_level) {}

  Assignment written(const Assignment& statement) const {
    Assignment out = statement;
    out.value = sum(statement.value, {statement.result});
    return out;
  }

 private:
  /// `beside`: accesses that the expression is added to or stored in.
  Expression sum(const Expression& value, std::vector<Access> beside) const {
    const auto reads = operands(value);
    beside.insert(beside.end(), reads.begin(), reads.end());
    return terms(value, beside);
  }

  Expression terms(const Expression& value, const std::vector<Access>& beside) const {
    if (is_additive(value)) {
      std::vector<Expression> inner;
      for (const Expression& part : parts(value)) inner.push_back(terms(part, beside));
      return with_parts(value, std::move(inner));
    }
    if (auto both = choice(value, beside)) return *std::move(both);
    if (auto selected = term(value, beside)) return *std::move(selected);
    std::vector<Expression> inner;
    for (const Expression& part : parts(value)) inner.push_back(sum(part, {}));
    return inner.empty() ? value : with_parts(value, std::move(inner));
  }

  /// Takes apart a choice by an equation, of two values that are not 0.
  std::optional<Expression> choice(const Expression& value, const std::vector<Access>& beside) const {
    const auto* chosen = std::get_if<Call>(&value.node);
    if (chosen == nullptr || chosen->function != Function::where) return std::nullopt;
    const auto diagonal = equation(chosen->arguments[0]);
    const Expression &then = chosen->arguments[1], &otherwise = chosen->arguments[2];
    if (!diagonal || is_number(then, 0) || is_number(otherwise, 0) || !is_walked(*diagonal, beside))
      return std::nullopt;
    Call rest = *chosen;
    rest.arguments[1] = number(0);
    return call(Function::add, {on_diagonal(*diagonal, then), Expression{std::move(rest), value.range}});
  }

  /// Returns a term that an equation decides, as a selection.
  std::optional<Expression> term(const Expression& value, const std::vector<Access>& beside) const {
    if (const auto diagonal = equation(value))
      return is_walked(*diagonal, beside) ? std::optional(on_diagonal(*diagonal, number(1))) : std::nullopt;
    const auto own = operands(value);
    if (std::any_of(own.begin(), own.end(), [&](const Access& access) { return is_sparse(access); }))
      return std::nullopt;
    const auto* chosen = std::get_if<Call>(&value.node);
    if (chosen != nullptr && chosen->function == Function::where && is_number(chosen->arguments[2], 0)) {
      const auto diagonal = equation(chosen->arguments[0]);
      if (!diagonal || !is_walked(*diagonal, beside)) return std::nullopt;
      return on_diagonal(*diagonal, chosen->arguments[1]);
    }
    const bool divides = chosen != nullptr && chosen->function == Function::divide;
    if (!divides && !std::holds_alternative<Product>(value.node)) return std::nullopt;
    std::vector<Expression> all = parts(value);
    for (std::size_t n = 0; n < (divides ? 1 : all.size()); ++n) {
      auto selected = term(all[n], beside);
      if (!selected) continue;
      all[n] = *std::move(selected);
      return with_parts(value, std::move(all));
    }
    return std::nullopt;
  }

  bool is_sparse(const Access& access) const {
    for (std::size_t mode = 0; mode < access.indices.size(); ++mode)
      if (walked_level_(access, mode)) return true;
    return false;
  }

  /// Entries of some access are walked along one of the two indices.
  bool is_walked(const Equation& diagonal, const std::vector<Access>& beside) const {
    return std::any_of(beside.begin(), beside.end(), [&](const Access& access) {
      for (std::size_t mode = 0; mode < access.indices.size(); ++mode) {
        const bool has = access.indices[mode] == diagonal.first || access.indices[mode] == diagonal.second;
        if (has && mode_range(access, mode) == nullptr && walked_level_(access, mode)) return true;
      }
      return false;
    });
  }

  const WalkedLevel& walked_level_;
};

}  // namespace

Program with_equations_selected(const Program& program, const WalkedLevel& walked_level) {
  if (program.semiring != &operators::plus_times()) return program;
  Program out{program.semiring, {}};
  const EquationWriter writer(walked_level);
  for (const Assignment& statement : program.statements) out.statements.push_back(writer.written(statement));
  return out;
}

support::Result<std::optional<SelectedProgram>> selected_program(const Program& program,
                                                                 const WalkedLevel& walked_level,
                                                                 const std::string& text) {
  const Program selecting = with_equations_selected(program, walked_level);
  if (!has_ranges(selecting)) return std::optional<SelectedProgram>();
  SCHAAS_RETURN_IF_ERROR(verify(selecting, text));
  std::optional<SelectedProgram> out = with_selection_operands(selecting, walked_level);
  SCHAAS_RETURN_IF_ERROR(verify(out->program, ""));
  return out;
}

}  // namespace schaas::index_notation
