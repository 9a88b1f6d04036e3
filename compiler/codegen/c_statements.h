#pragma once
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "compiler/codegen/c_expressions.h"
#include "compiler/codegen/c_lanes.h"
#include "compiler/codegen/c_printer.h"
#include "compiler/codegen/c_text.h"
#include "compiler/loop_ir/nodes.h"
#include "compiler/loop_ir/result_rows.h"

namespace schaas::codegen {

enum class Dialect {
  c,     ///< loops that may be vectorised are
  cuda,  ///< one thread of a GPU; groups of threads as functions of runtime/group.cuh
};

/// Prints the statements of one phase.
class CStatements {
 public:
  CStatements(CText& text, const CExpressions& expressions, Dialect dialect, Blocks blocks = Blocks::many)
      : text_(text), expressions_(expressions), dialect_(dialect), blocks_(blocks), lanes_(expressions) {}
  void print(const loop_ir::StatementPtr& statement);

 private:
  void print_block(const std::vector<loop_ir::StatementPtr>& statements);
  bool print_lanes(const std::vector<loop_ir::StatementPtr>& statements, std::size_t first);
  void print_for(const loop_ir::For& loop);
  void print_store(const loop_ir::Store& store);
  void print_stage(const loop_ir::Stage& stage);
  void print_group_store(const loop_ir::GroupStore& store, const std::string& values);
  void print_wide_store(const std::vector<loop_ir::StatementPtr>& stores, std::size_t first);
  void print_fill(const loop_ir::Fill& fill);
  bool print_kept_row(const std::vector<loop_ir::StatementPtr>& statements, std::size_t fill);
  void print_addition(const loop_ir::For& loop);
  void print_intersection(const loop_ir::Merge& merge);
  void print_union(const loop_ir::Merge& merge);
  void print_union_of_two(const loop_ir::Merge& merge);
  void print_both_lists(const loop_ir::Merge& merge);
  void print_one_list(const loop_ir::Merge& merge, const loop_ir::Cursor& held);
  void print_range_merge(const loop_ir::Merge& merge);
  void print_lists(const loop_ir::Merge& merge);
  void print_ranges(const loop_ir::Merge& merge);
  void print_advance(const loop_ir::Merge& merge);
  std::string simd_pragma(const loop_ir::For& loop) const;
  std::string expression(const loop_ir::ExpressionPtr& part) const {
    return expressions_.print(part, loadable_);
  }

  CText& text_;
  const CExpressions& expressions_;
  const Dialect dialect_;
  const Blocks blocks_;
  const loop_ir::KeptRow* kept_ = nullptr;  ///< the row that stays in registers here
  bool among_copies_ = false;               ///< inside a loop over several entries at once, for a GPU
  CExpressions::Loadable loadable_;         ///< flags of the union around
  CLanes lanes_;                            ///< lanes of the block that is printed
};

/// Returns "for (...)" of a sequential loop; the end is evaluated once, into a name with suffix `end`.
std::string for_header(const loop_ir::For& loop, const CExpressions& expressions, const char* end = "_end");

/// Ends with an internal error: the verifier keeps such statements out of vector loops.
[[noreturn]] void refuse_in_vector_loop(const loop_ir::StatementPtr& statement);

/// Prints a `vector` loop as a cascade of register blocks: `count` vectors of one type at a time. The rest is
/// one pass, whose last vector ends with the loop and overlaps the one before. Where elements may not be
/// computed twice, fewer and narrower vectors follow, then single elements. Each block is the loop's body
/// with every name that depends on the loop variable replicated once per vector.
class CVectorLoops {
 public:
  /// Partial sums of a reduction: enough to cover the latency of an addition at two per cycle, few enough for
  /// short rows.
  static constexpr int partial_sums = 4;

  CVectorLoops(CText& text, const CExpressions& expressions, Blocks blocks)
      : text_(text), expressions_(expressions), blocks_(blocks) {}
  void print(const loop_ir::For& loop);
  /// Prints a simd loop that only folds into accumulators, one value per iteration each, as vectors of
  /// partial results that are folded at the end; several vectors where one would wait for itself. Returns
  /// false, printing nothing, for other loops. Four sums become `lanes`.
  bool print_fold(const loop_ir::For& loop, CLanes& lanes);
  /// Prints a sequential loop that adds to accumulators, and may store, as interleaved iterations with sums
  /// of their own. Returns false, printing nothing, for other loops.
  bool print_scalar_sums(const loop_ir::For& loop);
  /// Prints a simd loop of stores to adjacent elements; returns false, printing nothing, for other loops.
  bool print_stores(const loop_ir::For& loop);
  void print_overrun(const loop_ir::For& loop);
  bool print_overrun_by_loads(const loop_ir::For& loop);
  void open_overrun(const loop_ir::For& loop, const std::string& width);
  /// Prints a simd loop that adds to each element of the row once, for a row that is kept.
  void print_kept(const loop_ir::For& loop, const loop_ir::KeptRow& row);

 private:
  struct Block {
    std::string type;     ///< C type of one register: vec, vec32, vec16, vec8 or value
    int count = 1;        ///< registers per name
    int first_sum = 0;    ///< number of the first register of an accumulator
    bool scalar = false;  ///< outside vector loops: an accumulator has its own name
    std::string last{};   ///< offset of the last register where it overlaps the one before; empty: adjacent
    std::string first{};  ///< elements of the last register where it is loaded and stored in part; empty: all
    bool is_partial(int part) const { return !first.empty() && part == count - 1; }
  };
  using Folds = std::vector<const loop_ir::Accumulate*>;
  void classify(const loop_ir::StatementPtr& statement);
  void print_body(const loop_ir::StatementPtr& statement, const Block& block);
  void open_range(const loop_ir::For& loop);
  void open_extent(const loop_ir::For& loop);
  void cascade(const loop_ir::For& loop, const Block& block, const char* keyword, int most = 0,
               int max_of_64 = 0);
  static bool may_repeat_elements(const loop_ir::StatementPtr& body);
  void print_overlapping_remainder(const loop_ir::For& loop, int widest);
  bool may_end_in_part(const loop_ir::StatementPtr& body) const;
  void print_partial_remainder(const loop_ir::For& loop, int most, int least);
  void step(const loop_ir::For& loop, const Folds& folds, const Block& block, const char* keyword,
            const std::function<void(const loop_ir::Accumulate&, int)>& each);
  void print_whole_registers(const loop_ir::For& loop, const Folds& folds);
  void print_sums_of_registers(const Folds& folds, const CLanes& lanes, const std::string& vector = "");
  void print_masked_sums(const loop_ir::For& loop, const Folds& folds, CLanes& lanes);
  void print_overlapping_sums(const loop_ir::For& loop, const Folds& folds, const CLanes& lanes);
  bool is_zero_of_zeros(const loop_ir::ExpressionPtr& value) const;
  void print_sums(const loop_ir::For& loop, const Folds& folds, CLanes& lanes);
  void print_fold_of_lanes(const loop_ir::Accumulate& fold, operators::Monoid monoid);
  void print_other_folds(const loop_ir::For& loop, const Folds& folds, operators::Monoid monoid);
  std::set<std::string> sums_of(const loop_ir::For& loop, bool may_store) const;
  void print_interleaved(const loop_ir::For& loop, const std::set<std::string>& sums, const Block& block,
                         int iterations);
  static std::string part_name(const std::string& name, int part) {
    return name + "v" + std::to_string(part);
  }
  /// Returns the register of partial results of a fold.
  static std::string partial(const loop_ir::Accumulate& fold, int part) {
    return part_name(fold.name + "vec", part);
  }
  static std::string sum_name(const std::string& name, int part, const Block& block);
  void print_inner(const loop_ir::For& loop, const Block& block);
  bool print_gathered_sums(const loop_ir::For& loop, const Block& block);
  /// Values at adjacent positions, in a register of four or eight.
  struct Adjacent {
    std::string type;
    std::string count;     ///< those that are loaded, of a register of eight; empty: all
    bool gathers = false;  ///< by instructions
  };
  std::string adjacent_values(const loop_ir::ExpressionPtr& value, const std::string& position,
                              const Adjacent& adjacent) const;
  std::string adjacent_loads(const loop_ir::Load& load, const std::string& position,
                             const Adjacent& adjacent) const;
  std::string adjacent_calls(const loop_ir::Apply& apply, const std::string& position,
                             const Adjacent& adjacent) const;
  std::string identity_of(const loop_ir::Accumulate& fold, const std::string& type) const;
  std::string first_of(const loop_ir::Accumulate& fold, const std::string& type, const std::string& values,
                       const std::string& count) const;
  void print_fold_of_four(const loop_ir::Accumulate& fold, const std::string& four, const Block& block);
  void print_sums_of_eight(const loop_ir::For& loop, const GatheredSums& sums, const Block& block);
  void print_sums_by_loads(const loop_ir::For& loop, const GatheredSums& sums, const Block& block);
  void print_sums_of_equal_row(const loop_ir::For& loop, const GatheredSums& sums, const Block& block);
  void print_iteration(const loop_ir::For& loop, const Block& block);
  void print_prefetch(const loop_ir::For& loop, const Block& block);
  void print_let(const loop_ir::Let& let, const Block& block);
  void print_accumulator(const loop_ir::Accumulator& accumulator, const Block& block);
  void print_accumulate(const loop_ir::Accumulate& accumulate, const Block& block);
  void print_store(const loop_ir::Store& store, const Block& block);
  void print_atomic(const loop_ir::Store& store, const Block& block, int part, const std::string& value);
  std::string apply(const loop_ir::Apply& apply, const Block& block, int part) const;
  std::string complex_apply(const loop_ir::Apply& apply, const Block& block, int part) const;
  std::string complex_sum(const std::string& sum, const loop_ir::ExpressionPtr& value, const Block& block,
                          int part) const;
  std::string scaled_arguments(const loop_ir::Apply& product, const Block& block, int part) const;
  std::string counted(const loop_ir::ExpressionPtr& index, const Block& block, int part) const;
  static std::string offset(const std::string& first, const Block& block, int part);
  /// Returns one register, broadcast where the expression does not vary.
  std::string register_of(const loop_ir::ExpressionPtr& expression, const Block& block, int part) const;
  std::string vector_expression(const loop_ir::ExpressionPtr& expression, const Block& block, int part) const;
  std::string address(const std::string& array, const loop_ir::ExpressionPtr& index, const Block& block,
                      int part) const;
  std::string element_text(const std::string& array, const loop_ir::ExpressionPtr& index, const Block& block,
                           int part, bool constant) const;
  bool varies(const loop_ir::ExpressionPtr& expression) const;

  CText& text_;
  const CExpressions& expressions_;
  const Blocks blocks_;
  std::set<std::string> varying_;  ///< the loop variable and the names whose values depend on it
  int live_ = 0;                   ///< accumulators and varying values, which share the registers
};

}  // namespace schaas::codegen
