#pragma once
#include <set>
#include <string>
#include <vector>

#include "compiler/lower/analysis/names.h"
#include "compiler/lower/passes/threads/adjacent_elements.h"

namespace schaas::lower {

/// Unrolls loops over whole extents by the elements of a vector, where that makes accesses adjacent.
class LoopWidening {
 public:
  /// Elements of `read` arrays are loaded together, those of `written` ones stored.
  struct Arrays {
    std::set<std::string> read, written;
  };
  LoopWidening(const Divisibility& divisibility, const Arrays& arrays, int width, AlignmentNeeds& needs,
               Names& names)
      : divisibility_(divisibility), arrays_(arrays), width_(width), needs_(needs), names_(names) {}

  /// Unrolls the loop by a vector's elements where it has such accesses.
  loop_ir::For widened(const loop_ir::For& loop);
  /// Replaces the tests of choices that use a sum of a moved loop.
  loop_ir::ExpressionPtr moved(const loop_ir::ExpressionPtr& expression) const;
  /// Returns the test that a moved loop ran, for a test of what uses one of its sums. A test of the same text
  /// guards a single element where rows are kept in registers; it uses no such sum and stays.
  loop_ir::ExpressionPtr moved_test(const loop_ir::ExpressionPtr& test,
                                    const std::set<std::string>& used) const;

 private:
  /// An interleaved loop that starts elsewhere now. Later statements test `ran` to learn if its sums are
  /// empty.
  struct Moved {
    loop_ir::ExpressionPtr ran, runs;
    std::set<std::string> sums;
  };

  bool advances(const loop_ir::Load& load, const std::string& variable) const;
  bool advances(const loop_ir::ExpressionPtr& index, const std::string& variable) const;
  bool can_widen(const loop_ir::For& loop) const;

  const Divisibility& divisibility_;
  const Arrays& arrays_;
  const int width_;
  AlignmentNeeds& needs_;
  Names& names_;
  std::vector<Moved> moved_;
};

}  // namespace schaas::lower
