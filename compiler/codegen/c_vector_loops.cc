#include <algorithm>

#include "compiler/codegen/c_statements.h"
#include "compiler/loop_ir/entries.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/loop_ir/vector_form.h"
#include "compiler/support/result.h"

// Vector loops as a cascade of register blocks, in vector types of GCC. A block replicates each name that
// depends on the loop variable, once for each of its registers. So sums of a row stay in registers while the
// loops inside walk sparse rows. The widest block is the largest whose accumulators and values fit the
// registers. The last register of a remainder is loaded and stored in part. Where values are widened, which
// has no cheap load in part, it overlaps the one before, or narrower blocks follow. Rejected for such loops:
// a narrower register for each part of the remainder, which walks the loops inside again for each: SpMM of 15
// columns took 2.4 times as long (docs/performance/kernels.md).
namespace schaas::codegen {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::Match;
using loop_ir::StatementPtr;
using loop_ir::statements_of;

/// Vectors that one varying name, and all of them together, may occupy of the sixteen registers of x86-64-v3;
/// the others hold loads and broadcast factors. Twice as many registers have 64 bytes.
constexpr int widest_block = 8, register_budget = 12;

/// Registers of a block of which the last is loaded and stored in part: each number has code of its own.
constexpr int max_in_part = 8;

/// Some loop stands between statement `from` and the first use of the name there. The compiler computes it
/// after the loop, so that it takes no register inside.
bool is_used_after_loops_alone(const std::string& name, const std::vector<StatementPtr>& statements,
                               std::size_t from) {
  for (std::size_t n = from; n < statements.size(); ++n) {
    if (const auto* guarded = loop_ir::as<loop_ir::If>(statements[n]))
      return is_used_after_loops_alone(name, statements_of(guarded->body), 0);
    loop_ir::Uses uses;
    loop_ir::collect_uses(statements[n], uses);
    const bool is_used = uses.names.count(name) > 0;
    if (is_used || loop_ir::as<loop_ir::For>(statements[n]) != nullptr) return !is_used;
  }
  return false;
}

}  // namespace

bool CVectorLoops::varies(const ExpressionPtr& expression) const {
  return loop_ir::mentions(expression, varying_);
}

/// Collects varying names in one walk: declarations come before uses. Accumulators always vary.
void CVectorLoops::classify(const StatementPtr& statement) {
  std::visit(Match{
                 [&](const loop_ir::Block& x) {
                   for (std::size_t n = 0; n < x.statements.size(); ++n) {
                     classify(x.statements[n]);
                     const auto* let = loop_ir::as<loop_ir::Let>(x.statements[n]);
                     if (let != nullptr && varying_.count(let->name) > 0 &&
                         is_used_after_loops_alone(let->name, x.statements, n + 1))
                       --live_;
                   }
                 },
                 [&](const loop_ir::Let& x) {
                   if (!varies(x.value)) return;
                   varying_.insert(x.name);
                   ++live_;
                 },
                 [&](const loop_ir::Accumulator& x) {
                   varying_.insert(x.name);
                   ++live_;
                 },
                 [](const loop_ir::Accumulate&) {},
                 [](const loop_ir::Store&) {},
                 [&](const loop_ir::If& x) { classify(x.body); },
                 [&](const loop_ir::For& x) { classify(x.body); },
                 [](const loop_ir::Prefetch&) {},
                 [&](const auto&) { refuse_in_vector_loop(statement); },
             },
             statement->node);
}

void CVectorLoops::print(const loop_ir::For& loop) {
  varying_ = {loop.variable};
  classify(loop.body);
  const bool many = blocks_ == Blocks::many;
  int widest = many ? widest_block : widest_block / 2;
  // Loops without accumulators and lets need registers for their loads all the same.
  while (widest > 1 && widest * (live_ > 0 ? live_ : 2) > register_budget) widest /= 2;
  const bool in_part = may_end_in_part(loop.body), overlaps = !in_part && may_repeat_elements(loop.body);
  if (overlaps) {
    open_extent(loop);
  } else {
    open_range(loop);
  }
  if (many) {
    text_.directive("#if VECTOR_BYTES > 32");  // 32 registers have 64 bytes
    cascade(loop, {"vec", 2 * widest}, "while");
    text_.directive("#endif");
  }
  const auto max_registers_of = [&](int budget) {
    return many && in_part && live_ > 0 ? std::clamp(budget / live_, widest, max_in_part) : widest;
  };
  // Loops inside are walked once for a rest of more registers than the block has, where they fit.
  const int most = max_registers_of(register_budget),
            max_of_64 = many ? max_registers_of(2 * register_budget) : most;
  cascade(loop, {"vec", widest}, "while", most, max_of_64);
  if (in_part) {
    if (max_of_64 > most) {
      text_.directive("#if VECTOR_BYTES > 32");
      print_partial_remainder(loop, max_of_64, most + 1);
      text_.directive("#endif");
    }
    print_partial_remainder(loop, most, 1);
  } else if (overlaps) {
    print_overlapping_remainder(loop, std::max(widest / 2, 1));
  } else if (many) {
    for (int count = widest / 2; count >= 1; count /= 2) cascade(loop, {"vec", count}, "if");
    text_.directive("#if VECTOR_BYTES > 32");
    cascade(loop, {"vec32", 1}, "if");
    text_.directive("#endif");
    text_.directive("#if VECTOR_BYTES > 16");
    cascade(loop, {"vec16", 1}, "if");
    text_.directive("#endif");
    cascade(loop, {"value", 1}, "while");
  } else {
    if (widest > 1) cascade(loop, {"vec", 1}, "while");
    cascade(loop, {"value", 1}, "while");
  }
  text_.close();
}

/// Prints a block of the loop's elements, run while (or if) it fits. It leaves a rest of more registers than
/// it has and at most `most` (`max_of_64` of 64 bytes).
void CVectorLoops::cascade(const loop_ir::For& loop, const Block& block, const char* keyword, int most,
                           int max_of_64) {
  const std::string& v = loop.variable;
  const auto widths = [&](const std::string& count) { return count + " * WIDTH(" + block.type + ")"; };
  const std::string width = widths(std::to_string(block.count)),
                    fits = v + " + " + width + " <= " + v + "_end";
  const std::string bound = max_of_64 > most ? "(VECTOR_BYTES > 32 ? " + std::to_string(max_of_64) + " : " +
                                                   std::to_string(most) + ")"
                                             : std::to_string(most);
  const bool may_leave = std::max(most, max_of_64) > block.count;
  const std::string leaves = may_leave ? " && (" + v + " + " + width + " == " + v + "_end || " + v + " + " +
                                             widths(bound) + " < " + v + "_end)"
                                       : "";
  text_.open(std::string(keyword) + " (" + fits + leaves + ")");
  print_body(loop.body, block);
  text_.line(v + " += " + width + ";");
  text_.close();
}

/// Computing an element of the loop twice changes nothing: stores only set, outside of inner loops, and
/// nothing that is stored is loaded.
bool CVectorLoops::may_repeat_elements(const StatementPtr& body) {
  loop_ir::Uses loaded;
  std::set<std::string> stored;
  for (const auto& each : statements_of(body)) {
    if (const auto* store = std::get_if<loop_ir::Store>(&each->node)) {
      if (store->mode != loop_ir::Write::set) return false;
      stored.insert(store->array);
      loop_ir::collect_uses(store->index, loaded);
      loop_ir::collect_uses(store->value, loaded);
      continue;
    }
    if (!loop_ir::only_folds(each)) return false;
    loop_ir::collect_uses(each, loaded);
  }
  return std::none_of(stored.begin(), stored.end(),
                      [&](const std::string& array) { return loaded.arrays.count(array) > 0; });
}

/// Prints what whole blocks leave over in one pass, whatever the extent. The last register of a block ends
/// with the loop and overlaps the one before it.
void CVectorLoops::print_overlapping_remainder(const loop_ir::For& loop, int widest) {
  const std::string& v = loop.variable;
  const auto overlapped = [&](const std::string& type, int count) {
    Block block{type, count};
    block.last = v + "_last";
    const std::string width = "WIDTH(" + type + ")", whole = std::to_string(count - 1) + " * " + width;
    // Adjacent to the register before where it fits, else ending with the loop. It never begins before the
    // loop, whose extent is a register at least.
    text_.line("const int64_t " + block.last + " = " + v + "_end - " + v + " - " + width + " < " + whole +
               " ? " + v + "_end - " + v + " - " + width + " : " + whole + ";");
    print_body(loop.body, block);
    text_.line(v + " += " + std::to_string(count) + " * " + width + ";");
  };
  const auto narrow = [&](const char* type, const char* bytes) {
    text_.directive(std::string("#if VECTOR_BYTES > ") + bytes);
    for (const int count : {2, 1}) {
      text_.open("else if (" + v + "_extent " + (count == 2 ? ">" : ">=") + " WIDTH(" + type + "))");
      overlapped(type, count);
      text_.close();
    }
    text_.directive("#endif");
  };
  text_.open("if (" + v + "_extent >= WIDTH(vec))");
  for (int count = widest; count >= 1; --count) {
    text_.open(std::string(count == widest ? "while" : "if") + " (" + v + " + " + std::to_string(count - 1) +
               " * WIDTH(vec) < " + v + "_end)");
    overlapped("vec", count);
    text_.close();
  }
  text_.close();
  if (blocks_ == Blocks::many) {
    narrow("vec32", "32");
    narrow("vec16", "16");
  }
  text_.open("else");
  cascade(loop, {"value", 1}, "while");
  text_.close();
}

/// The loop's last register may be loaded and stored in part: elements are set or added to, and an
/// instruction loads a part of them.
bool CVectorLoops::may_end_in_part(const StatementPtr& body) const {
  loop_ir::Uses uses;
  loop_ir::collect_uses(body, uses);
  return expressions_.load_in_part(uses) && !loop_ir::any_of(body, [](const StatementPtr& each) {
           const auto* store = std::get_if<loop_ir::Store>(&each->node);
           return store != nullptr && store->mode != loop_ir::Write::set &&
                  (store->mode == loop_ir::Write::atomic || store->monoid != operators::Monoid::sum);
         });
}

/// Prints what whole blocks leave over, from `most` registers down to `least`. The last register is loaded
/// and stored in part.
void CVectorLoops::print_partial_remainder(const loop_ir::For& loop, int most, int least) {
  const std::string& v = loop.variable;
  if (expressions_.is_complex() && least == 1) {  // one value by its parts: most of a register would be idle
    text_.open("if (" + v + " + 1 == " + v + "_end)");
    print_body(loop.body, {"value", 1});
    text_.line("++" + v + ";");
    text_.close();
  }
  for (int count = most; count >= least; --count) {
    const std::string whole = std::to_string(count - 1) + " * WIDTH(vec)";
    text_.open("if (" + v + " + " + whole + " < " + v + "_end)");
    Block block{"vec", count};
    block.first = v + "_end - " + v + " - " + whole;
    print_body(loop.body, block);
    text_.line(v + " = " + v + "_end;");
    text_.close();
  }
}

bool CVectorLoops::print_stores(const loop_ir::For& loop) {
  varying_ = {loop.variable};
  for (const auto& each : statements_of(loop.body)) {
    const auto* store = std::get_if<loop_ir::Store>(&each->node);
    if (!store || !loop_ir::is_vector_index(store->index, loop.variable, varying_) ||
        !loop_ir::is_vector_value(store->value, loop.variable, varying_)) {
      return false;
    }
  }
  if (loop.overruns) {
    print_overrun(loop);
  } else {
    print(loop);
  }
  return true;
}

/// Begins a loop over registers of so many elements, up to the end of the last row of the range.
void CVectorLoops::open_overrun(const loop_ir::For& loop, const std::string& width) {
  const std::string &v = loop.variable, last = v + "_last";
  open_range(loop);
  text_.line("const int64_t " + last + " = " +
             expressions_.print(loop_ir::first_position(*loop.row, loop_ir::name("end"))) + ";");
  text_.open("for (; " + v + " < " + v + "_end && " + v + " + " + width + " <= " + last + "; " + v +
             " += " + width + ")");
}

/// Stores whole registers, and at the end of the range element by element. Rows of any length up to a
/// register take the same path, which the processor predicts. A function that is called for each lane is not
/// called for those past the end.
void CVectorLoops::print_overrun(const loop_ir::For& loop) {
  const auto stores = statements_of(loop.body);
  const bool in_registers = std::all_of(stores.begin(), stores.end(), [](const StatementPtr& each) {
    return CExpressions::is_for_registers(std::get<loop_ir::Store>(each->node).value);
  });
  if (in_registers) {
    open_overrun(loop, "WIDTH(vec)");
    print_body(loop.body, {"vec", 1});
    text_.close();
  } else {
    open_range(loop);
  }
  cascade(loop, {"value", 1}, "while");
  text_.close();
}

/// Prints the loop's header as two names.
void CVectorLoops::open_range(const loop_ir::For& loop) {
  text_.open("");
  text_.line("int64_t " + loop.variable + " = " + expressions_.print(loop.begin) + ";");
  text_.line("const int64_t " + loop.variable + "_end = " + expressions_.print(loop.end) + ";");
}

/// Prints the loop's header as two names, and its extent as a third.
void CVectorLoops::open_extent(const loop_ir::For& loop) {
  const std::string& v = loop.variable;
  open_range(loop);
  text_.line("const int64_t " + v + "_extent = " + v + "_end - " + v + ";");
}

}  // namespace schaas::codegen
