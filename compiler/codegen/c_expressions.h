#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/codegen/c_gathered_sums.h"
#include "compiler/codegen/short_indices.h"
#include "compiler/loop_ir/kernel.h"
#include "compiler/loop_ir/uses.h"

namespace schaas::codegen {

/// Prints the expressions of one kernel as C, and collects facts about its names.
class CExpressions {
 public:
  explicit CExpressions(const loop_ir::Kernel& kernel);

  /// Names of lists' flags (loop_ir::Cursor::present) whose entries can be loaded whatever the flag is.
  using Loadable = std::set<std::string>;

  /// Choices by a `loadable` flag are made without a branch.
  std::string print(const loop_ir::ExpressionPtr& expression, const Loadable& loadable = {}) const;
  /// The expression is a value, not an index.
  bool is_value(const loop_ir::ExpressionPtr& expression) const;
  operators::Monoid monoid_of(const std::string& accumulator) const { return monoids_.at(accumulator); }
  /// The array holds operands in fewer bits, which loads widen.
  bool is_narrow(const std::string& array) const { return narrow_.count(array) > 0; }
  /// The array holds values of an argument, which no phase writes.
  bool is_operand(const std::string& array) const { return operands_.values.count(array) > 0; }
  const std::map<std::string, operators::ValueType>& narrow_arrays() const { return narrow_; }
  /// Types of narrow arrays.
  std::set<operators::ValueType> narrow_types() const;
  /// Values are complex: products and quotients are functions, and registers hold pairs.
  bool is_complex() const { return complex_; }
  /// An instruction loads or stores a part of a register of the arrays in use. None of them is narrow, and
  /// values have four bytes or more.
  bool load_in_part(const loop_ir::Uses& uses) const;
  /// Returns the load of a narrow element as a value, or of a register of them: "vec_of_bf16(B + p)".
  std::string widened(const std::string& type, const std::string& array, const std::string& address) const;
  /// Returns the load of a whole register of this vector type: widened, or as it is.
  std::string loaded(const std::string& type, const std::string& array, const std::string& address) const;
  /// Returns the C type of the elements of an array as they are stored.
  std::string stored_type(const loop_ir::Array& array) const;
  /// Extents, coordinates and positions have 32 bits, and so have index variables that follow from them.
  bool has_short_indices() const { return short_.any(); }
  /// Returns the C type of an index variable.
  const char* index_type(const std::string& name) const { return short_.type_of(name); }
  loop_ir::Element element_of(const std::string& array) const { return elements_.at(array); }

  /// Returns "0.5", "__builtin_inf()".
  static std::string real(double value);
  /// Returns "(value)0.5"; of integers "(value)2", and VALUE_LARGEST or VALUE_SMALLEST for an infinity.
  std::string number(double value) const;
  /// Returns the infix operator of C, such as "+", or "" when the function has none.
  static std::string infix(operators::Function function);
  /// Returns the function of runtime/function.h for a type: "value_maximum", "vec_exp".
  /// Returns what defines the functions of terms, whose names end in terms_name().
  std::string term_functions(const loop_ir::RowArithmetic& arithmetic) const;
  static std::string terms_name(const loop_ir::RowArithmetic& arithmetic);
  static std::string called(const std::string& type, operators::Function function);
  /// Registers of the function are computed at once, not lane by lane.
  static bool has_vector_form(const loop_ir::Apply& apply);
  /// All functions of the value have a vector form.
  static bool is_for_registers(const loop_ir::ExpressionPtr& value);
  /// Returns a call of the function for a type, or calls of two arguments at a time.
  static std::string call(const std::string& type, const loop_ir::Apply& apply,
                          const std::vector<std::string>& arguments);
  /// Returns the statement that folds `value` into `target`: "t += v;", "t = value_maximum(t, v);".
  std::string fold(const std::string& type, operators::Monoid monoid, const std::string& target,
                   const std::string& value) const;
  /// Returns the statement that stores one element.
  std::string stored(const loop_ir::Store& store, const std::string& index, const std::string& value) const;
  /// Returns a register that holds the number in each lane.
  std::string broadcast(const std::string& type, const std::string& number) const;
  /// Returns a lane of a register as a value.
  std::string lane(const std::string& type, const std::string& vector, const std::string& number) const;
  /// Returns the statement that folds a number into the element at `address` in one step for all threads.
  static std::string atomic(operators::Monoid monoid, const std::string& address, const std::string& value);
  /// Returns the statement that prefetches an element.
  std::string prefetch(const loop_ir::Prefetch& prefetch) const;
  static const char* c_type(loop_ir::Element element);

  bool needs_functions() const { return needs_functions_; }
  bool needs_sort() const { return needs_sort_; }
  bool needs_occupancy() const { return needs_occupancy_; }
  /// Every arithmetic of rows that are expanded into terms.
  const std::vector<loop_ir::RowArithmetic>& terms() const { return terms_; }
  bool needs_coordinates() const { return needs_coordinates_; }
  bool needs_supernodes() const { return needs_supernodes_; }
  bool needs_merges() const { return needs_merges_; }
  bool needs_find() const { return needs_find_; }
  bool needs_runs() const { return needs_runs_; }
  bool needs_atomics() const { return needs_atomics_; }
  /// Returns the result's values when vector loops set them, so that streaming stores apply; else "".
  const std::string& streaming_target() const { return streaming_target_; }
  /// Returns the arrays of coordinates that are read beyond a row's end, for prefetching
  /// (For::prefetch_distance) or for gathered sums.
  const std::set<std::string>& coordinates_beyond_rows() const { return beyond_rows_; }
  std::optional<GatheredSums> gathered_sums_of(const loop_ir::For& loop) const {
    if (!fills_four()) return std::nullopt;
    return gathered_sums(loop, operands_, monoids_);
  }
  /// Four values are taken at once. Four complex ones do not fit a register. Products of a few narrow
  /// integers are made one by one anyway.
  bool fills_four() const { return !complex_ && value_bytes_ >= 4; }
  const OperandArrays& operands() const { return operands_; }
  /// The sums are made by gather instructions where these pay.
  bool gathers_by_instruction(const GatheredSums& sums) const;
  /// Some loop of the statement has such sums.
  bool gathers_by_instruction(const loop_ir::StatementPtr& statement) const;
  /// Some loop of the kernel has.
  bool needs_gathers() const { return needs_gathers_; }
  /// The sums gather nothing, and load eight adjacent entries at a time where vectors have 64 bytes.
  bool adds_eight(const GatheredSums& sums) const;
  /// Rows of a few entries are summed entry by entry where the rows before them have as many.
  bool counts_equal_rows(const loop_ir::For& loop, const GatheredSums& sums) const;
  /// Returns the loops of a statement that do so: variable -> array of positions.
  std::map<std::string, std::string> loops_with_equal_rows(const loop_ir::StatementPtr& statement) const;
  /// Some loop of the kernel has such sums, or sums that are gathered.
  bool needs_eight() const { return needs_eight_; }
  /// Returns the type of a register of eight values, where vectors have 64 bytes.
  const char* eight_values() const { return value_bytes_ == 8 ? "vec" : "vec32"; }

 private:
  void learn(const loop_ir::StatementPtr& statement);
  void learn(const loop_ir::ExpressionPtr& expression);
  void learn(operators::Monoid monoid);
  void learn(const loop_ir::RowArithmetic& arithmetic);
  void learn_prefetch(const loop_ir::For& loop);
  void learn(const GatheredSums& sums);
  bool load_eight_in_part(const GatheredSums& sums) const;
  std::string of_two(operators::Function function, const std::string& a, const std::string& b) const;
  std::string truth(const loop_ir::Apply& apply, const Loadable& loadable) const;
  std::string apply(const loop_ir::Apply& apply, const Loadable& loadable) const;
  std::string apply_to_indices(const loop_ir::Apply& apply) const;
  std::vector<std::string> index_arguments(const loop_ir::Apply& apply) const;
  std::string promoted() const;
  std::string choose(const loop_ir::Choose& choice, const Loadable& loadable) const;

  bool integers_;                                       ///< values are integers
  bool complex_;                                        ///< values are complex
  ShortIndices short_;                                  ///< index variables of 32 bits
  int value_bytes_;                                     ///< bytes of a value
  std::map<std::string, operators::ValueType> narrow_;  ///< arrays of operands in fewer bits than values have
  std::set<std::string> values_;                        ///< names that are values; all others are indices
  std::map<std::string, operators::Monoid> monoids_;
  std::map<std::string, loop_ir::Element> elements_;
  bool needs_functions_ = false;
  bool needs_sort_ = false;
  bool needs_occupancy_ = false;
  std::vector<loop_ir::RowArithmetic> terms_;
  bool needs_coordinates_ = false;
  bool needs_supernodes_ = false;
  std::string streaming_target_;
  std::set<std::string> beyond_rows_;
  OperandArrays operands_;
  bool needs_merges_ = false;
  bool needs_find_ = false;
  bool needs_runs_ = false;
  bool needs_atomics_ = false;
  bool needs_gathers_ = false;
  std::map<std::string, std::string> adjacent_rows_;  ///< loops_over_adjacent_rows
  bool needs_eight_ = false;
};

/// The merge is a union of two lists without repeated coordinates around statements without loops. It is
/// printed as a loop without branches on coordinates.
bool is_union_of_two(const loop_ir::Merge& merge);
/// The merge is an intersection of lists that lie in memory.
bool is_intersection_of_lists(const loop_ir::Merge& merge);
/// The merge walks the repeated coordinates of one list that a phase divides, so that it is long.
bool walks_long_runs(const loop_ir::Merge& merge);

}  // namespace schaas::codegen
