#include "compiler/concrete_notation/determined_loops.h"

#include <algorithm>

#include "compiler/support/contains.h"

namespace schaas::concrete_notation {
namespace {

using index_notation::Access;
using index_notation::Expression;
using problem::LinearForm;

/// The tensor stores the index densely, or does not have it.
bool locates(const Access& access, const std::string& index, const problem::Problem& problem) {
  if (!support::contains(access.indices, index)) return true;
  const auto format = problem.formats.find(access.tensor);
  if (format == problem.formats.end()) return problem.pattern_named(access.tensor) == nullptr;
  for (std::size_t level = 0; level < format->second.levels.size(); ++level) {
    const auto mode = static_cast<std::size_t>(format->second.mode_order[level]);
    if (access.indices[mode] == index && format->second.levels[level] != format::LevelFormat::dense)
      return false;
  }
  return true;
}

/// The leaf adds to what a loop around has added to before, if its target has the index at all.
bool adds_at(const Assign& leaf, const std::string& index, const std::vector<std::string>& around,
             const problem::Problem& problem) {
  if (!support::contains(leaf.target.indices, index)) return true;
  const auto format = problem.formats.find(leaf.target.tensor);
  return format != problem.formats.end() && format->second.all_dense() &&
         std::any_of(around.begin(), around.end(),
                     [&](const std::string& each) { return !support::contains(leaf.target.indices, each); });
}

/// Returns what the equation `difference == 0` says of the index; nothing when other coordinates than those
/// around are in it, or when the index has another factor than 1 or -1.
std::optional<LinearForm> solved(const LinearForm& difference, const std::string& index,
                                 const std::vector<std::string>& around) {
  const auto own = difference.factors.find(index);
  if (own == difference.factors.end() || (own->second != 1 && own->second != -1)) return std::nullopt;
  LinearForm out{-own->second * difference.number, {}};
  for (const auto& [other, factor] : difference.factors) {
    if (other == index) continue;
    if (!support::contains(around, other)) return std::nullopt;
    out.factors[other] = -own->second * factor;
  }
  return out;
}

}  // namespace

std::optional<DeterminedLoop> determined_loop(const Assign& leaf, const std::string& index,
                                              const std::vector<std::string>& around,
                                              const problem::Problem& problem) {
  const auto* product = std::get_if<index_notation::Product>(&leaf.value.node);
  if (product == nullptr || around.empty() || problem.semiring != &operators::plus_times() ||
      leaf.monoid != problem.semiring->sum || !adds_at(leaf, index, around, problem))
    return std::nullopt;
  for (const Expression& factor : product->factors) {
    const auto comparison = problem::comparison_of(factor, true);
    if (!comparison || comparison->function != operators::Function::equal) continue;
    const auto value = solved(comparison->difference, index, around);
    if (!value) continue;
    std::vector<Access> all = index_notation::operands(leaf.value);
    all.push_back(leaf.target);
    const bool located = std::all_of(all.begin(), all.end(),
                                     [&](const Access& each) { return locates(each, index, problem); });
    return located ? std::optional(DeterminedLoop{*value, factor}) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<DeterminedLoop> determined_loop(const Forall& loop, const std::vector<std::string>& around,
                                              const problem::Problem& problem) {
  const Statement* at = loop.body.get();
  while (const auto* inner = std::get_if<Forall>(&at->node)) at = inner->body.get();
  const auto* leaf = std::get_if<Assign>(&at->node);
  if (leaf == nullptr || loop.annotation != LoopAnnotation{}) return std::nullopt;
  return determined_loop(*leaf, loop.index, around, problem);
}

}  // namespace schaas::concrete_notation
