#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/loop_ir/kernel.h"

namespace schaas::lower {

/// An index as a sum: its terms, and what is constant. Indices with equal terms are as far apart as their
/// constants.
struct IndexSum {
  std::vector<loop_ir::ExpressionPtr> terms;
  std::int64_t constant = 0;

  void add(const loop_ir::ExpressionPtr& expression);
  std::string text() const;  ///< terms in any order
};
IndexSum index_sum_of(const loop_ir::ExpressionPtr& index);

/// Calls `each` for the loads that the statement makes in any case.
void collect_loads(const loop_ir::StatementPtr& statement,
                   const std::function<void(const loop_ir::Load&)>& each);

/// Facts that a launch must find so that vectors of elements are aligned.
struct AlignmentNeeds {
  int width = 1;
  std::set<std::string> extents, arrays;
};

/// Divisibility of the indices of one phase, from what its names are.
class Divisibility {
 public:
  Divisibility(const loop_ir::Kernel& kernel, int columns_grain);

  void note(const loop_ir::Let& let) { known_[let.name] = let.value; }
  void note(const loop_ir::For& loop) { steps_[loop.variable] = {loop.begin, loop.step}; }
  bool is_extent(const std::string& name) const { return extents_.count(name) > 0; }

  /// The expression is a multiple of `number` where the extents that are added to `extents` are.
  bool is_multiple(const loop_ir::ExpressionPtr& expression, int number,
                   std::set<std::string>& extents) const;
  bool is_multiple(const IndexSum& sum, int number, std::set<std::string>& extents) const;

 private:
  struct Steps {
    loop_ir::ExpressionPtr begin;
    std::int64_t step;
  };
  bool is_multiple(const std::string& name, int number, std::set<std::string>& extents) const;

  const int columns_grain_;
  std::set<std::string> extents_;
  std::map<std::string, loop_ir::ExpressionPtr> known_;
  std::map<std::string, Steps> steps_;
};

}  // namespace schaas::lower
