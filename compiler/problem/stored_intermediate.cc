#include "compiler/problem/stored_intermediate.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/index_notation/implied_sums.h"
#include "compiler/index_notation/parser.h"
#include "compiler/index_notation/printer.h"
#include "compiler/problem/masks.h"
#include "compiler/problem/sparse_factors.h"
#include "compiler/support/contains.h"

// The decision is made on the built problem, whose intermediates are those that no rewrite removed
// (inline_intermediates.h). The parts are cut from the statements as written, since they are requests of
// their own. Rejected: inlining the definition once per read. Each copy sums over indices of its own, and a
// product of eight operands takes much longer to search than two of four. A kernel with two sparse results
// would save the second call alone.
namespace schaas::problem {
namespace {

using index_notation::Access;
using index_notation::Assignment;
using index_notation::Expression;
using index_notation::Program;
using support::Result;

/// Returns the sparse operands that make a term zero, through the sums around it.
std::vector<Access> sparse_factors_of(const Expression& term, const Problem& problem) {
  const auto* reduction = std::get_if<index_notation::Reduction>(&term.node);
  if (reduction != nullptr && reduction->monoid == problem.semiring->sum)
    return sparse_factors_of(reduction->body.front(), problem);
  return sparse_factors(term, problem);
}

/// Some sparse operand stores the coordinates of each index.
bool cover(const std::vector<Access>& factors, const std::vector<std::string>& indices) {
  return std::all_of(indices.begin(), indices.end(), [&](const std::string& index) {
    return std::any_of(factors.begin(), factors.end(),
                       [&](const Access& factor) { return support::contains(factor.indices, index); });
  });
}

/// The first storage level of some operand is over the index.
bool begins_with(const std::vector<Access>& factors, const std::string& index, const Problem& problem) {
  return std::any_of(factors.begin(), factors.end(), [&](const Access& factor) {
    const auto first = static_cast<std::size_t>(problem.formats.at(factor.tensor).mode_order.front());
    return factor.indices[first] == index;
  });
}

/// The intermediate is a matrix, or more, and a sum of terms that are zero where sparse operands are.
bool is_sparse(const Assignment& definition, const Problem& problem) {
  const auto& indices = definition.result.indices;
  const auto terms = index_notation::additive_terms(definition.value);
  return indices.size() > 1 && std::all_of(terms.begin(), terms.end(), [&](const Expression& term) {
           return cover(sparse_factors_of(term, problem), indices);
         });
}

/// One loop over the first mode can compute the rows of the intermediate, and all that reads them. Every
/// statement that depends on it then reads one row of it at a time.
bool is_computed_by_rows(const Assignment& definition, const Problem& problem) {
  const auto terms = index_notation::additive_terms(definition.value);
  const bool has_rows = std::all_of(terms.begin(), terms.end(), [&](const Expression& term) {
    return begins_with(sparse_factors_of(term, problem), definition.result.indices.front(), problem);
  });
  if (!has_rows) return false;
  std::map<std::string, std::size_t> row_modes = {{definition.result.tensor, 0}};
  for (const Assignment& statement : problem.statements()) {
    std::set<std::string> rows;
    for (const Access& access : index_notation::operands(statement.value)) {
      const auto known = row_modes.find(access.tensor);
      if (known != row_modes.end()) rows.insert(access.indices[known->second]);
    }
    if (rows.empty()) continue;
    if (rows.size() > 1) return false;
    const auto& kept = statement.result.indices;
    const auto row = std::find(kept.begin(), kept.end(), *rows.begin());
    const bool is_total = kept.empty() && statement == problem.statement;
    if (row == kept.end() && !is_total) return false;
    row_modes[statement.result.tensor] = static_cast<std::size_t>(row - kept.begin());
  }
  return true;
}

bool is_masked(const std::string& tensor, const Problem& problem) {
  const auto masks = possible_masks(problem);
  return std::any_of(masks.begin(), masks.end(),
                     [&](const MaskRequest& mask) { return mask.tensor == tensor; });
}

std::size_t definition_of(const std::string& tensor, const Program& program) {
  const auto found = std::find_if(program.statements.begin(), program.statements.end(),
                                  [&](const Assignment& each) { return each.result.tensor == tensor; });
  return static_cast<std::size_t>(found - program.statements.begin());
}

/// Returns the statements that the last one of `from` depends on, and it. `operand` counts as an argument.
Program needed(const Program& from, const std::string& operand) {
  std::set<std::string> read = {from.result().tensor};
  Program out{from.semiring, {}};
  for (auto at = from.statements.rbegin(); at != from.statements.rend(); ++at) {
    if (at->result.tensor == operand || read.count(at->result.tensor) == 0) continue;
    for (const Access& access : index_notation::operands(at->value)) read.insert(access.tensor);
    out.statements.push_back(*at);
  }
  std::reverse(out.statements.begin(), out.statements.end());
  return out;
}

}  // namespace

Result<ProblemText> part_of(const ProblemText& whole, const Program& part) {
  ProblemText out = whole;
  out.expression = index_notation::print(part);
  std::set<std::string> named = {part.result().tensor};
  for (const Assignment& statement : part.statements)
    for (const Access& access : index_notation::operands(statement.value)) named.insert(access.tensor);
  std::erase_if(out.formats, [&](const auto& given) { return named.count(given.first) == 0; });
  out.constraints.clear();
  SCHAAS_ASSIGN_OR_RETURN(const Problem problem, build(out));
  const ConstraintScope scope = scope_of(problem);
  std::copy_if(whole.constraints.begin(), whole.constraints.end(), std::back_inserter(out.constraints),
               [&](const std::string& one) { return parse_constraint(one, scope).ok(); });
  return out;
}

Result<std::optional<StoredIntermediate>> stored_intermediate(const ProblemText& given) {
  using Found = std::optional<StoredIntermediate>;
  SCHAAS_ASSIGN_OR_RETURN(const ProblemText text, without_selections(given));
  SCHAAS_ASSIGN_OR_RETURN(const Program program, index_notation::parse(text.expression));
  if (program.statements.size() == 1) return Found();
  SCHAAS_ASSIGN_OR_RETURN(const Problem problem, build(text));
  if (problem.profile != Profile::standard) return Found();
  for (const Assignment& definition : problem.intermediates) {
    const Access& target = definition.result;
    const std::size_t number = definition_of(target.tensor, program);
    if (number >= program.statements.size() || !is_sparse(definition, problem)) continue;
    if (is_computed_by_rows(definition, problem) || is_masked(target.tensor, problem)) continue;
    StoredIntermediate out{target.tensor, target.indices.size() == 2 ? "csr" : "csf", {}, {}};
    Program before = program;
    before.statements.resize(number + 1);
    ProblemText whole = text;
    whole.formats[out.tensor] = out.format;
    SCHAAS_ASSIGN_OR_RETURN(out.producer, part_of(whole, needed(before, "")));
    SCHAAS_ASSIGN_OR_RETURN(out.consumer, part_of(whole, needed(program, out.tensor)));
    return Found(std::move(out));
  }
  return Found();
}

}  // namespace schaas::problem
