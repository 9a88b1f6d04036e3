#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/codegen/c_text.h"
#include "compiler/loop_ir/nodes.h"

namespace schaas::codegen {

/// Prints the statements of one phase.
class CStatements {
 public:
  explicit CStatements(CText& text) : text_(text) {}
  void print(const loop_ir::StatementPtr& statement);
  static std::string expression(const loop_ir::ExpressionPtr& expression);
  /// "for (...)" of a loop that runs in order; the end is evaluated once.
  static std::string header(const loop_ir::For& loop);

 private:
  void print_for(const loop_ir::For& loop);
  void print_merge(const loop_ir::Merge& merge);
  void print_store(const loop_ir::Store& store);

  CText& text_;
};

/// Prints a `lanes` loop as a cascade of register blocks: `count` vectors of one type at a time, then fewer,
/// then narrower vectors, then single elements. Each block is the loop's body with every name that depends on
/// the loop variable replicated once per vector.
class CLanes {
 public:
  explicit CLanes(CText& text) : text_(text) {}
  void print(const loop_ir::For& loop);
  /// A simd loop that only adds one product per iteration to a sum: several vectors of partial sums, added up
  /// at the end, because one sum would wait for itself. False, printing nothing, when `loop` is not of that
  /// form.
  bool print_sum(const loop_ir::For& loop);

 private:
  struct Block {
    std::string type;  ///< C type of one register: vec, vec32, vec16, vec8 or value
    int count = 1;     ///< registers per name
  };
  void classify(const loop_ir::StatementPtr& statement);
  void print_body(const loop_ir::StatementPtr& statement, const Block& block);
  void print_let(const loop_ir::Let& let, const Block& block);
  std::string lane_expression(const loop_ir::ExpressionPtr& expression, const Block& block, int part) const;
  std::string place(const std::string& array, const loop_ir::ExpressionPtr& index, const Block& block,
                    int part, bool constant) const;
  bool varies(const loop_ir::ExpressionPtr& expression) const;

  CText& text_;
  std::set<std::string> varying_;  ///< the loop variable and the names whose values depend on it
  int live_ = 0;                   ///< accumulators and values that vary: they share the registers
};

}  // namespace schaas::codegen
