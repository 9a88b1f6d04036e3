#pragma once
#include <map>
#include <set>
#include <string>

#include "compiler/loop_ir/kernel.h"

namespace schaas::codegen {

/// C of the expressions of one kernel, and what the names in them are.
class CExpressions {
 public:
  explicit CExpressions(const loop_ir::Kernel& kernel);

  std::string print(const loop_ir::ExpressionPtr& expression) const;
  /// Else an index.
  bool is_value(const loop_ir::ExpressionPtr& expression) const;
  operators::Monoid monoid_of(const std::string& accumulator) const { return monoids_.at(accumulator); }
  loop_ir::Element element_of(const std::string& array) const { return elements_.at(array); }

  /// "0.5", "__builtin_inf()"
  static std::string real(double value);
  /// "(value)0.5"
  static std::string number(double value);
  /// "+" of functions that C writes between two numbers, "" of all others.
  static std::string infix(operators::Function function);
  /// "value_maximum", "vec_exp": the function of c_prologue.h for a type.
  static std::string called(const std::string& type, operators::Function function);
  /// `target` with `value` folded into it, as a statement: "t += v;", "t = value_maximum(t, v);".
  static std::string fold(const std::string& type, operators::Monoid monoid, const std::string& target,
                          const std::string& value);
  /// The same of one number, at an address, in one step for all threads.
  static std::string atomic(operators::Monoid monoid, const std::string& place, const std::string& value);
  /// What asks for an element, as a statement.
  std::string ask(const loop_ir::Ask& ask) const;
  static const char* c_type(loop_ir::Element element);

  bool needs_functions() const { return needs_functions_; }
  bool needs_sort() const { return needs_sort_; }
  bool needs_marks() const { return needs_marks_; }
  bool needs_terms() const { return needs_terms_; }
  bool needs_alike() const { return needs_alike_; }
  bool needs_find() const { return needs_find_; }
  bool needs_atomics() const { return needs_atomics_; }
  /// The result's values, where loops that run in vectors set them: these may be stored past the caches; "":
  /// they do not.
  const std::string& streamed() const { return streamed_; }
  /// Coordinates that are read ahead (For::ahead).
  const std::set<std::string>& read_ahead() const { return ahead_; }

 private:
  void learn(const loop_ir::StatementPtr& statement);
  void learn(const loop_ir::ExpressionPtr& expression);
  void learn(operators::Monoid monoid);
  void learn_ahead(const loop_ir::For& loop);
  std::string apply(const loop_ir::Apply& apply) const;
  std::string apply_to_indices(const loop_ir::Apply& apply) const;

  std::set<std::string> values_;  ///< names that are values; all others are indices
  std::map<std::string, operators::Monoid> monoids_;
  std::map<std::string, loop_ir::Element> elements_;
  bool needs_functions_ = false;
  bool needs_sort_ = false;
  bool needs_marks_ = false;
  bool needs_terms_ = false;
  bool needs_alike_ = false;
  bool in_vectors_ = false;  ///< what is learnt is inside of a loop that runs in vectors
  std::set<std::string> set_by_vectors_;
  std::string streamed_;
  std::set<std::string> ahead_;
  bool needs_find_ = false;
  bool needs_atomics_ = false;
};

}  // namespace schaas::codegen
