#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/cost/cost.h"
#include "compiler/problem/problem.h"

namespace schaas::test_support {

/// A naive enumeration of the schedule space, to be compared with compiler/space, with which it shares
/// nothing: every schedule is built as a value, by the rules of docs/schedule_space.md taken literally (all
/// loop orders, all splits, sets of strings), widened by the problem's space options.
enum class NaiveRule { symmetric, as_written, published };

/// Factors of a term: "i" for a loop over an extent, "i'B1" for one over the entries of B's second level,
/// "i'&B1(j.)&C0()" for one over what several levels hold, with the indices above, and "steps of " before it
/// for the steps of their merge.
using NaiveProduct = std::set<std::string>;

/// A variable of a cost as a factor.
inline std::string naive_factor(const cost::Variable& variable) {
  if (variable.kind == cost::Variable::Kind::extent) return variable.index;
  if (cost::is_fiber(variable))
    return variable.index + "'" + variable.tensor + std::to_string(variable.level);
  std::set<std::string> names;
  for (const cost::Variable& list : variable.lists) {
    std::string name = list.index + "'" + list.tensor + std::to_string(list.level) + "(";
    for (const std::string& index : list.outer) name += index + ".";
    names.insert(name + ")");
  }
  std::string text = (variable.kind == cost::Variable::Kind::steps ? "steps of " : "") + variable.index + "'";
  for (const std::string& name : names) text += "&" + name;
  return text;
}

struct NaiveSchedule {
  std::string text;  ///< identity
  std::multiset<NaiveProduct> time;
  std::vector<NaiveProduct>
      memory;  ///< in preorder: the nest's own temporaries, the producer's, the consumer's
};

/// Every schedule once; nothing when there are more than `most`. Costs are those of Profile::sparseauto but
/// for the first levels, which count as the problem's profile says: no access classes.
std::optional<std::vector<NaiveSchedule>> naive_space(const problem::Problem& problem, NaiveRule rule,
                                                      std::size_t most);

}  // namespace schaas::test_support
