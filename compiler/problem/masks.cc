#include "compiler/problem/masks.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/index_notation/costly_calls.h"
#include "compiler/index_notation/lexer.h"
#include "compiler/index_notation/printer.h"
#include "compiler/problem/copies.h"
#include "compiler/problem/sparse_factors.h"
#include "compiler/support/nearest_name.h"

// Masks: sparse iteration spaces pass from uses to definitions, as a union over the uses (ReACT, section
// 4.2). Uses are found by walking down expressions with the sparse factors around: where one of these stores
// nothing, what is read counts nothing. A mask must have exactly the indices of the read, so that the
// definition can name the same entry. A pattern, whose elements are the semiring's one and zero, stands for
// the operand, so that values stay. A pattern brings no index, so the definition sums over the same ones.
namespace schaas::problem {
namespace {

using index_notation::Access;
using index_notation::Assignment;
using index_notation::Expression;
using index_notation::quoted;
using support::Result;
support::Diagnostic illegal(std::string message) {
  return support::invalid("illegal-directive", std::move(message));
}

/// Returns the operand of a copy.
const std::string& original(const Problem& problem, const std::string& tensor) {
  const Copy* copy = problem.copy_named(tensor);
  return copy == nullptr ? tensor : copy->tensor;
}

/// A read of an intermediate, and the sparse operands around with exactly its indices.
struct Use {
  Access read;
  std::vector<Access> masks;
  std::size_t statement = 0;
};

bool same_indices(const Access& mask, const Access& read) {
  const std::set<std::string> a(mask.indices.begin(), mask.indices.end());
  const std::set<std::string> b(read.indices.begin(), read.indices.end());
  return a == b && a.size() == mask.indices.size() && b.size() == read.indices.size();
}

/// Collects the reads of a tensor in an expression; `around` has the sparse factors on the way down.
void collect_uses(const Expression& expression, const std::string& tensor, const Problem& problem, Use around,
                  std::vector<Use>& out) {
  if (const auto* access = std::get_if<Access>(&expression.node)) {
    if (access->tensor != tensor) return;
    around.read = *access;
    std::erase_if(around.masks, [&](const Access& mask) {
      return !same_indices(mask, *access) || problem.pattern_named(mask.tensor) != nullptr;
    });
    out.push_back(std::move(around));
    return;
  }
  const auto more = sparse_factors(expression, problem);
  around.masks.insert(around.masks.end(), more.begin(), more.end());
  for (const auto& part : index_notation::parts(expression)) collect_uses(part, tensor, problem, around, out);
}

std::vector<Use> uses_of(const std::string& tensor, const Problem& problem) {
  std::vector<Use> out;
  const auto statements = problem.statements();
  for (std::size_t n = 0; n < statements.size(); ++n)
    collect_uses(statements[n].value, tensor, problem, Use{{}, {}, n}, out);
  return out;
}

/// Returns the mask in the indices of the definition.
Access in_definition(const Access& mask, const Access& read, const Access& target) {
  Access out = mask;
  for (auto& index : out.indices) {
    const auto mode = std::find(read.indices.begin(), read.indices.end(), index) - read.indices.begin();
    index = target.indices[static_cast<std::size_t>(mode)];
  }
  out.index_ranges.clear();
  return out;
}

/// Returns the pattern of an operand, new when there is none.
std::string name_of_pattern(const std::string& tensor, Problem& problem) {
  for (const Pattern& pattern : problem.patterns) {
    if (pattern.tensor == tensor) return pattern.name;
  }
  const std::string name = free_name(tensor + "_stored", problem);
  problem.formats.emplace(name, format::TensorFormat(problem.formats.at(tensor)));
  problem.patterns.push_back({name, tensor});
  return name;
}

/// The value with one more factor.
Expression multiplied(Expression factor, const Assignment& definition, const Problem& problem) {
  index_notation::Product product;
  product.factors.push_back(std::move(factor));
  Expression value =
      index_notation::is_product(definition.value) ? definition.value : explicit_value(definition, problem);
  if (const auto* inner = std::get_if<index_notation::Product>(&value.node)) {
    product.factors.insert(product.factors.end(), inner->factors.begin(), inner->factors.end());
  } else {
    product.factors.push_back(std::move(value));
  }
  return Expression{std::move(product), {}};
}

Assignment* definition_of(const std::string& tensor, Problem& problem) {
  for (Assignment& definition : problem.intermediates) {
    if (definition.result.tensor == tensor) return &definition;
  }
  return nullptr;
}

/// Checks what a request says without its readers: an intermediate, unmasked, and some operand.
Result<void> check_definition(const Assignment* definition, const Problem& problem,
                              const MaskRequest& request) {
  if (definition == nullptr) {
    std::vector<std::string> known;
    for (const auto& each : problem.intermediates) known.push_back(each.result.tensor);
    return illegal(quoted(request.tensor) +
                   " is no intermediate; only what a statement before the last defines is "
                   "computed where it is read" +
                   support::did_you_mean(request.tensor, known));
  }
  if (problem.mask_of(request.tensor) != nullptr)
    return illegal(quoted(request.tensor) + " is masked already");
  if (request.by.empty())
    return illegal("`by` names no operand whose entries " + quoted(request.tensor) + " is computed at");
  return {};
}

/// The masks of all readings, in the definition's indices, each once.
Result<std::vector<Access>> masks_of(const Assignment& definition, const Problem& problem,
                                     const MaskRequest& request) {
  std::vector<Access> out;
  const auto reads = problem.reads();
  for (const Use& use : uses_of(request.tensor, problem)) {
    const auto mask = std::find_if(use.masks.begin(), use.masks.end(), [&](const Access& access) {
      return std::count(request.by.begin(), request.by.end(), original(problem, access.tensor)) > 0;
    });
    if (mask == use.masks.end()) {
      std::string names;
      for (const auto& name : request.by) names += (names.empty() ? "" : ", ") + quoted(name);
      return illegal(quoted(index_notation::print(use.read)) + " is read where no entry of " + names +
                     " with its indices decides whether it counts");
    }
    Access at = in_definition(*mask, use.read, definition.result);
    if (std::find(reads.begin(), reads.end(), at) == reads.end()) {
      return illegal(quoted(index_notation::print(definition.result)) + " is read as " +
                     quoted(index_notation::print(use.read)) + ", masked by " +
                     quoted(index_notation::print(*mask)) +
                     "; define it with the indices that it is read with");
    }
    if (std::find(out.begin(), out.end(), at) == out.end()) out.push_back(std::move(at));
  }
  for (const auto& name : request.by) {
    const bool used = std::any_of(out.begin(), out.end(),
                                  [&](const Access& at) { return original(problem, at.tensor) == name; });
    if (!used)
      return illegal("no reading of " + quoted(request.tensor) + " needs the entries of " + quoted(name));
  }
  if (out.size() > 1 && problem.semiring != &operators::plus_times())
    return illegal("the readings of " + quoted(request.tensor) +
                   " are masked by several operands, and under " + std::string(problem.semiring->name) +
                   " there is no union of their entries");
  return out;
}

/// Operands that mask all readings: one if one does.
std::vector<std::string> operands_for(const std::vector<Use>& uses, const Problem& problem) {
  std::vector<std::string> all;
  for (const Use& use : uses) {
    if (use.masks.empty()) return {};
    const auto& first = original(problem, use.masks.front().tensor);
    if (std::find(all.begin(), all.end(), first) == all.end()) all.push_back(first);
  }
  for (const Access& mask : uses.front().masks) {
    const std::string& name = original(problem, mask.tensor);
    const bool everywhere = std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
      return std::any_of(use.masks.begin(), use.masks.end(),
                         [&](const Access& other) { return original(problem, other.tensor) == name; });
    });
    if (everywhere) return {name};
  }
  return all;
}

}  // namespace

Result<Problem> with_mask(const Problem& problem, const MaskRequest& request) {
  Problem out = problem;
  Assignment* definition = definition_of(request.tensor, out);
  SCHAAS_RETURN_IF_ERROR(check_definition(definition, problem, request));
  SCHAAS_ASSIGN_OR_RETURN(std::vector<Access> masks, masks_of(*definition, problem, request));
  Mask mask{request.tensor, {}};
  std::vector<Expression> patterns;
  for (Access& at : masks) {
    at.tensor = name_of_pattern(at.tensor, out);
    mask.patterns.push_back(at.tensor);
    patterns.push_back(Expression{std::move(at), {}});
  }
  Expression factor = patterns.front();
  // A logical or of patterns is one at the union of their entries.
  if (patterns.size() > 1)
    factor = Expression{index_notation::Call{operators::Function::logical_or, std::move(patterns)}, {}};
  definition->value = multiplied(std::move(factor), *definition, problem);
  out.masks.push_back(std::move(mask));
  return out;
}

std::vector<MaskRequest> possible_masks(const Problem& problem) {
  std::vector<MaskRequest> out;
  for (const Assignment& definition : problem.intermediates) {
    const std::string& tensor = definition.result.tensor;
    const bool costs = sums(definition) || !index_notation::costly_calls(definition.value).empty();
    if (!costs || definition.result.indices.empty()) continue;
    const auto uses = uses_of(tensor, problem);
    std::set<std::size_t> readers;
    for (const Use& use : uses) readers.insert(use.statement);
    // A single reader can share its loops with the intermediate instead.
    if (readers.size() < 2) continue;
    MaskRequest request{tensor, operands_for(uses, problem)};
    if (!request.by.empty() && with_mask(problem, request).ok()) out.push_back(std::move(request));
  }
  return out;
}

}  // namespace schaas::problem
