#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/codegen/c_expressions.h"
#include "compiler/loop_ir/nodes.h"
#include "compiler/loop_ir/substitute.h"

namespace schaas::codegen {

/// Values of a block of statements that lie side by side in vectors of four, `vec4` (superword-level
/// parallelism: Larsen and Amarasinghe, PLDI 2000). Four sums that are folded together lie so. Four lets or
/// stores in a row that treat each of them alike are computed at once.
class CLanes {
 public:
  static constexpr std::size_t count = 4;

  explicit CLanes(const CExpressions& expressions) : expressions_(&expressions) {}

  /// Learns what a statement of the block declares, before the statement is printed.
  void enter(const loop_ir::StatementPtr& statement);
  /// Forgets what a statement of the block may have changed, after the statement was printed.
  void leave(const loop_ir::StatementPtr& statement);

  /// The accumulator is a sum without terms so far.
  bool is_zero(const std::string& accumulator) const { return zero_.count(accumulator) > 0; }
  /// Returns the vector whose lanes hold these four names from now on.
  std::string declare(const std::vector<std::string>& names);

  /// Returns the vector that the four lets or stores from `first` on compute; nothing when they differ, or do
  /// without lanes.
  std::optional<std::string> values(const std::vector<loop_ir::StatementPtr>& statements,
                                    std::size_t first) const;

 private:
  using Four = std::vector<loop_ir::ExpressionPtr>;
  /// Text of a vector, or of one value for all lanes.
  struct Text {
    std::string text;
    bool is_vector = false;
  };
  std::optional<Text> print(const Four& four) const;
  std::optional<Text> of_names(const Four& four) const;
  std::optional<Text> of_loads(const Four& four) const;
  std::optional<Text> of_applications(const Four& four) const;
  std::optional<Text> of_choices(const Four& four) const;

  const CExpressions* expressions_;
  std::set<std::string> zero_;
  loop_ir::Substitution loads_;                                       ///< names of loads of operands
  std::map<std::string, std::pair<std::string, std::size_t>> lanes_;  ///< name -> vector and lane
  int declared_ = 0;                                                  ///< vectors of this block
};

}  // namespace schaas::codegen
