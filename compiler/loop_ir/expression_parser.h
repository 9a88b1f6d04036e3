#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

#include "compiler/loop_ir/nodes.h"
#include "compiler/loop_ir/tokenizer.h"

namespace schaas::loop_ir {

/// Recursive descent over expressions.
class ExpressionParser : protected Tokenizer {
 protected:
  explicit ExpressionParser(std::string_view text) : Tokenizer(text) {}

  /// Builds nodes as written, without folding: the text is the tree.
  ExpressionPtr expression();
  /// Recursion is bounded: every nested statement passes here, every nested expression through `expression`.
  void enter();
  void leave() { --depth_; }

  operators::Monoid monoid();

 private:
  ExpressionPtr unbounded();
  /// Parses, after "(": left operator right ")".
  ExpressionPtr infix();
  /// Parses, after "(": one or more expressions, then ")".
  std::vector<ExpressionPtr> arguments();

  std::size_t depth_ = 0;
};

}  // namespace schaas::loop_ir
