#include <algorithm>
#include <cmath>

#include "compiler/codegen/c_prefetch.h"
#include "compiler/codegen/c_statements.h"
#include "compiler/loop_ir/substitute.h"
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
// columns took 2.4 times as long (docs/performance/kernels.md). Inner loops that only add are interleaved
// where registers are left.
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

/// Registers for the partial sums of a reduction with interleaved iterations.
constexpr int accumulator_budget = 8;

/// Whole rounds of interleaved iterations below which a loop runs one by one; a mispredicted second loop
/// costs as much as three of its rounds gain.
constexpr int min_rounds = 3;

/// The fold is an operator, which accepts a number beside a register.
bool takes_a_number(operators::Monoid monoid) {
  return monoid == operators::Monoid::sum || monoid == operators::Monoid::product;
}

/// The statement and the loops in it declare and fold values, and store nothing.
bool only_folds(const StatementPtr& statement) {
  return !loop_ir::any_of(statement, [](const StatementPtr& each) {
    return !loop_ir::is_any<loop_ir::Block, loop_ir::For, loop_ir::Let, loop_ir::Accumulator,
                            loop_ir::Accumulate, loop_ir::Prefetch>(each);
  });
}

}  // namespace

bool CVectorLoops::varies(const ExpressionPtr& expression) const {
  return loop_ir::mentions(expression, varying_);
}

/// Collects varying names in one walk: declarations come before uses. Accumulators always vary.
void CVectorLoops::classify(const StatementPtr& statement) {
  std::visit(Match{
                 [&](const loop_ir::Block& x) {
                   for (const auto& each : x.statements) classify(each);
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
                 [](const loop_ir::Counter&) { SCHAAS_CHECK(false, "a counter inside a vector loop"); },
                 [](const loop_ir::SetCounter&) { SCHAAS_CHECK(false, "a counter inside a vector loop"); },
                 [&](const loop_ir::For& x) { classify(x.body); },
                 [](const loop_ir::Merge&) { SCHAAS_CHECK(false, "a merge inside a vector loop"); },
                 [](const loop_ir::Fill&) { SCHAAS_CHECK(false, "a fill inside a vector loop"); },
                 [](const loop_ir::Prefetch&) {},
                 [](const loop_ir::Sort&) { SCHAAS_CHECK(false, "a sort inside a vector loop"); },
                 [](const loop_ir::Occupy&) { SCHAAS_CHECK(false, "occupancy inside a vector loop"); },
                 [](const loop_ir::OccupyGroups&) { SCHAAS_CHECK(false, "occupancy inside a vector loop"); },
                 [](const loop_ir::Compact&) { SCHAAS_CHECK(false, "compaction inside a vector loop"); },
                 [](const loop_ir::Expand&) { SCHAAS_CHECK(false, "terms inside a vector loop"); },
                 [](const loop_ir::Compress&) { SCHAAS_CHECK(false, "terms inside a vector loop"); },
                 [](const loop_ir::AddSupernode&) { SCHAAS_CHECK(false, "rows added inside a vector loop"); },
                 [](const loop_ir::GroupStore&) { SCHAAS_CHECK(false, "a group inside a vector loop"); },
                 [](const loop_ir::Deferred&) { SCHAAS_CHECK(false, "a group inside a vector loop"); },
                 [](const loop_ir::Defer&) { SCHAAS_CHECK(false, "a group inside a vector loop"); },
                 [](const loop_ir::Flush&) { SCHAAS_CHECK(false, "a group inside a vector loop"); },
                 [](const loop_ir::Stage&) { SCHAAS_CHECK(false, "a group inside a vector loop"); },
                 [](const loop_ir::Overflow&) { SCHAAS_CHECK(false, "an overflow inside a vector loop"); },
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
  const int most = in_part && live_ > 0 ? std::clamp(register_budget / live_, widest, max_in_part) : widest;
  // Loops inside are walked once for a rest of more registers than the block has, where they fit.
  cascade(loop, {"vec", widest}, "while", most);
  if (in_part) {
    print_partial_remainder(loop, most);
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

/// Prints a block of the loop's elements, run while (or if) it fits, and the rest is not between it and
/// `most` registers.
void CVectorLoops::cascade(const loop_ir::For& loop, const Block& block, const char* keyword, int most) {
  const std::string& v = loop.variable;
  const auto widths = [&](int count) { return std::to_string(count) + " * WIDTH(" + block.type + ")"; };
  const std::string width = widths(block.count), fits = v + " + " + width + " <= " + v + "_end";
  const std::string leaves = most > block.count ? " && (" + v + " + " + width + " == " + v + "_end || " + v +
                                                      " + " + widths(most) + " < " + v + "_end)"
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
    if (!only_folds(each)) return false;
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

/// The loop's last register may be loaded and stored in part: elements are set or added to, and none is
/// widened.
bool CVectorLoops::may_end_in_part(const StatementPtr& body) const {
  loop_ir::Uses uses;
  loop_ir::collect_uses(body, uses);
  return !expressions_.widens(uses) && !loop_ir::any_of(body, [](const StatementPtr& each) {
    const auto* store = std::get_if<loop_ir::Store>(&each->node);
    return store != nullptr && store->mode != loop_ir::Write::set &&
           (store->mode == loop_ir::Write::atomic || store->monoid != operators::Monoid::sum);
  });
}

/// Prints what whole blocks leave over, at most so many registers. The last register is loaded and stored in
/// part.
void CVectorLoops::print_partial_remainder(const loop_ir::For& loop, int most) {
  const std::string& v = loop.variable;
  for (int count = most; count >= 1; --count) {
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
  print(loop);
  return true;
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

/// Returns the address of the first element of a register.
std::string CVectorLoops::address(const std::string& array, const ExpressionPtr& index, const Block& block,
                                  int part) const {
  return offset(array + " + " + expressions_.print(index), block, part);
}

/// Returns where a register begins, given where the first one does.
std::string CVectorLoops::offset(const std::string& first, const Block& block, int part) {
  if (!block.last.empty() && part == block.count - 1) return first + " + " + block.last;
  return part == 0 ? first : first + " + " + std::to_string(part) + " * WIDTH(" + block.type + ")";
}

std::string CVectorLoops::element_text(const std::string& array, const ExpressionPtr& index,
                                       const Block& block, int part, bool constant) const {
  const std::string at = "(" + address(array, index, block, part) + ")";
  if (expressions_.is_narrow(array)) return block.type + "_widened" + at;
  if (block.is_partial(part))
    return "load_first(" + address(array, index, block, part) + ", " + block.first + ")";
  return std::string("*(") + (constant ? "const " : "") + block.type + "*)" + at;
}

/// Returns one register of an expression, or a number where no lane differs.
std::string CVectorLoops::vector_expression(const ExpressionPtr& expression, const Block& block,
                                            int part) const {
  if (!varies(expression)) return expressions_.print(expression);
  return std::visit(
      Match{
          [](const loop_ir::Integer&) -> std::string { SCHAAS_CHECK(false, "an integer varies"); },
          [](const loop_ir::Number&) -> std::string { SCHAAS_CHECK(false, "a number varies"); },
          [&](const loop_ir::Name& x) { return part_name(x.name, part); },
          [&](const loop_ir::Load& x) { return element_text(x.array, x.index, block, part, true); },
          [&](const loop_ir::Apply& x) { return apply(x, block, part); },
          [&](const loop_ir::Choose& x) {
            // The casts: a register from memory and a computed one differ in qualifiers.
            const std::string type = "(" + block.type + ")";
            return "(" + expressions_.print(x.condition) + " ? " + type + register_of(x.then, block, part) +
                   " : " + type + register_of(x.otherwise, block, part) + ")";
          },
          [](const loop_ir::Search&) -> std::string { SCHAAS_CHECK(false, "a search varies"); },
          [&](const loop_ir::Convert& x) { return counted(x.index, block, part); },
      },
      expression->node);
}

/// Returns a register of adjacent indices as values.
std::string CVectorLoops::counted(const ExpressionPtr& index, const Block& block, int part) const {
  return block.type + "_counted(" + offset(expressions_.print(index), block, part) + ")";
}

/// Applies a function: operators accept a number beside a register, functions do not.
std::string CVectorLoops::apply(const loop_ir::Apply& apply, const Block& block, int part) const {
  const auto& arguments = apply.arguments;
  if (apply.function == operators::Function::negate) {
    return "(-" + vector_expression(arguments.front(), block, part) + ")";
  }
  const std::string op = CExpressions::infix(apply.function);
  if (!op.empty()) {
    return "(" + vector_expression(arguments[0], block, part) + " " + op + " " +
           vector_expression(arguments[1], block, part) + ")";
  }
  const std::string name = CExpressions::called(block.type, apply.function);
  std::string text = register_of(arguments.front(), block, part);
  if (arguments.size() == 1) return name + "(" + text + ")";
  if (apply.function == operators::Function::where) {
    return name + "(" + text + ", " + register_of(arguments[1], block, part) + ", " +
           register_of(arguments[2], block, part) + ")";
  }
  for (std::size_t n = 1; n < arguments.size(); ++n) {
    text = name + "(" + text + ", " + register_of(arguments[n], block, part) + ")";
  }
  return text;
}

/// Broadcasts by subtraction: x - 0 is x for every x, which every compiler folds.
std::string CVectorLoops::register_of(const ExpressionPtr& expression, const Block& block, int part) const {
  const std::string text = vector_expression(expression, block, part);
  return varies(expression) ? text : "(" + text + " - (" + block.type + "){0})";
}

/// Declares an invariant once, a varying name for each register.
void CVectorLoops::print_let(const loop_ir::Let& let, const Block& block) {
  if (!varies(let.value)) {
    const char* type = let.type == loop_ir::Type::index ? "const int64_t " : "const value ";
    text_.line(type + let.name + " = " + expressions_.print(let.value) + ";");
    return;
  }
  for (int part = 0; part < block.count; ++part) {
    text_.line("const " + block.type + " " + part_name(let.name, part) + " = " +
               vector_expression(let.value, block, part) + ";");
  }
}

/// Declares the registers of an accumulator at its initial value.
void CVectorLoops::print_accumulator(const loop_ir::Accumulator& accumulator, const Block& block) {
  const double initial = accumulator.initial.value_or(operators::identity(accumulator.monoid));
  const std::string zero = "(" + block.type + "){0}";
  const std::string value =
      initial == 0 && !std::signbit(initial) ? zero : expressions_.number(initial) + " - " + zero;
  for (int part = 0; part < block.count; ++part) {
    text_.line(block.type + " " + part_name(accumulator.name, part) + " = " + value + ";");
  }
}

void CVectorLoops::print_accumulate(const loop_ir::Accumulate& accumulate, const Block& block) {
  const auto monoid = expressions_.monoid_of(accumulate.name);
  for (int part = 0; part < block.count; ++part) {
    const std::string value = takes_a_number(monoid) ? vector_expression(accumulate.value, block, part)
                                                     : register_of(accumulate.value, block, part);
    text_.line(CExpressions::fold(block.type, monoid,
                                  sum_name(accumulate.name, block.first_sum + part, block), value));
  }
}

/// Writes element by element: vectors have no atomic stores.
void CVectorLoops::print_atomic(const loop_ir::Store& store, const Block& block, int part,
                                const std::string& value) {
  std::string at = store.array + " + " + expressions_.print(store.index);
  if (block.type == "value") return text_.line(CExpressions::atomic(store.monoid, at, value));
  if (part > 0) at += " + " + std::to_string(part) + " * WIDTH(" + block.type + ")";
  text_.open("");
  text_.line("const " + block.type + " folded = " + value + ";");
  text_.open("for (int n = 0; n < WIDTH(" + block.type + "); ++n)");
  text_.line(CExpressions::atomic(store.monoid, at + " + n", "folded[n]"));
  text_.close();
  text_.close();
}

/// Stores the registers of a block: by streaming stores, atomically, or by plain ones.
void CVectorLoops::print_store(const loop_ir::Store& store, const Block& block) {
  const bool set = store.mode == loop_ir::Write::set;
  const bool streams =
      set && store.array == expressions_.streaming_target() && block.type == "vec" && block.first.empty();
  if (streams) {  // adjacent vectors: all are aligned when the first one is
    text_.open("");
    text_.line("const int streaming = streams && IS_ALIGNED(" + address(store.array, store.index, block, 0) +
               ")" +
               (block.last.empty()
                    ? ""
                    : " && IS_ALIGNED(" + address(store.array, store.index, block, block.count - 1) + ")") +
               ";");
  }
  for (int part = 0; part < block.count; ++part) {
    const std::string target = element_text(store.array, store.index, block, part, false);
    const std::string value = register_of(store.value, block, part);
    if (block.is_partial(part)) {
      text_.line(std::string(set ? "store" : "add") + "_first(" +
                 address(store.array, store.index, block, part) + ", " + value + ", " + block.first + ");");
      continue;
    }
    if (store.mode == loop_ir::Write::atomic) {
      print_atomic(store, block, part, value);
      continue;
    }
    if (streams) {
      text_.line("STREAM_STORE(streaming, " + address(store.array, store.index, block, part) + ", " + value +
                 ");");
      continue;
    }
    text_.line(set ? target + " = " + value + ";"
                   : CExpressions::fold(block.type, store.monoid, target, value));
  }
  if (streams) text_.close();
}

/// Returns the accumulators of a loop that only adds to them; none for other loops.
std::set<std::string> CVectorLoops::sums_of(const loop_ir::For& loop) const {
  std::set<std::string> sums;
  for (const auto& each : statements_of(loop.body)) {
    const auto* fold = std::get_if<loop_ir::Accumulate>(&each->node);
    if (fold && expressions_.monoid_of(fold->name) == operators::Monoid::sum) {
      sums.insert(fold->name);
    } else if (!std::holds_alternative<loop_ir::Let>(each->node) &&
               !std::holds_alternative<loop_ir::Prefetch>(each->node)) {
      return {};
    }
  }
  return sums;
}

/// Prints an inner loop. When it only adds, and registers are left, iterations are interleaved with sums of
/// their own, so that additions do not wait for each other.
void CVectorLoops::print_inner(const loop_ir::For& loop, const Block& block) {
  if (block.type == "value" && print_gathered_sums(loop, block)) return;
  const auto sums = sums_of(loop);
  const int used = block.count * static_cast<int>(sums.size());
  // As many iterations as have registers for sums of their own.
  const int iterations = used == 0 ? 1 : std::clamp(accumulator_budget / used, 1, partial_sums);
  if (iterations > 1 && loop.step == 1 && loop.unroll == 1) {
    print_interleaved(loop, sums, block, iterations);
    return;
  }
  if (loop.unroll > 1) text_.line("UNROLL(" + std::to_string(loop.unroll) + ")");
  text_.open(for_header(loop, expressions_));
  print_iteration(loop, block);
  text_.close();
}

void CVectorLoops::print_iteration(const loop_ir::For& loop, const Block& block) {
  if (loop.prefetch_distance > 0 && block.type == "vec") print_prefetch(loop, block);
  print_body(loop.body, block);
}

/// Prefetches the last position again beyond the end.
void CVectorLoops::print_prefetch(const loop_ir::For& loop, const Block& block) {
  const Gathered gathers = gathered(loop);
  if (gathers.loads.empty()) return;
  const auto later = [](const std::string& name) { return name + "_prefetched"; };
  const std::string next = loop.variable + " + " + std::to_string(loop.prefetch_distance);
  const std::string last = gathers.coordinates + "_last";
  text_.open("if (prefetch)");  // a constant in each inlined copy: no branch per iteration
  text_.line("const int64_t " + later(loop.variable) + " = " + next + " < " + last + " ? " + next + " : " +
             last + ";");
  loop_ir::Substitution with{{loop.variable, loop_ir::name(later(loop.variable))}};
  for (const auto& let : gathers.indices) {
    text_.line("const int64_t " + later(let.name) + " = " +
               expressions_.print(loop_ir::substitute(let.value, with)) + ";");
    with[let.name] = loop_ir::name(later(let.name));
  }
  for (const auto& load : gathers.loads) {
    const auto index = loop_ir::substitute(load.index, with);
    for (int part = 0; part < (varies(load.index) ? block.count : 1); ++part)
      text_.line("PREFETCH(" + std::to_string(part) + ", " + address(load.array, index, block, part) + ");");
  }
  text_.close();
}

/// Prints gathered sums, or interleaved iterations with accumulators of single values.
bool CVectorLoops::print_scalar_sums(const loop_ir::For& loop) {
  const auto sums = sums_of(loop);
  if (loop.step != 1 || loop.unroll != 1 || sums.empty() || static_cast<int>(sums.size()) > partial_sums)
    return false;
  varying_.clear();
  Block block{"value", 1};
  block.scalar = true;
  if (print_gathered_sums(loop, block)) return true;
  print_interleaved(loop, sums, block, partial_sums);
  return true;
}

/// Prints interleaved iterations; their later sums are numbered after the first ones. Does not pay for few
/// iterations.
void CVectorLoops::print_interleaved(const loop_ir::For& loop, const std::set<std::string>& sums,
                                     const Block& block, int iterations) {
  const std::string& v = loop.variable;
  const std::string count = std::to_string(iterations), more = v + " + " + count + " <= " + v + "_end";
  open_range(loop);
  text_.open("if (" + v + " + " + std::to_string(min_rounds * iterations) + " <= " + v + "_end)");
  for (const auto& name : sums) {
    for (int part = block.count; part < iterations * block.count; ++part) {
      text_.line(block.type + " " + part_name(name, part) + (block.type == "value" ? " = 0;" : " = {0};"));
    }
  }
  text_.open("for (; " + more + "; " + v + " += " + count + ")");
  // The body finds its iteration under the loop's name.
  text_.line("const int64_t " + v + "_iteration = " + v + ";");
  for (int iteration = 0; iteration < iterations; ++iteration) {
    text_.open("");
    text_.line("const int64_t " + v + " = " + v + "_iteration + " + std::to_string(iteration) + ";");
    Block own = block;
    own.first_sum = iteration * block.count;
    print_iteration(loop, own);
    text_.close();
  }
  text_.close();
  for (const auto& name : sums) {
    for (int part = 0; part < block.count; ++part) {
      std::string others;
      for (int iteration = iterations - 1; iteration > 0; --iteration) {
        const std::string own = part_name(name, part + iteration * block.count);
        others = others.empty() ? own : "(" + own + " + " + others + ")";
      }
      text_.line(sum_name(name, part, block) + " += " + others + ";");
    }
  }
  text_.close();
  text_.open("for (; " + v + " < " + v + "_end; ++" + v + ")");
  print_iteration(loop, block);
  text_.close();
  text_.close();
}

/// Outside vectors the first sum is the accumulator itself.
std::string CVectorLoops::sum_name(const std::string& name, int part, const Block& block) {
  return block.type == "value" && part == 0 && block.scalar ? name : part_name(name, part);
}

/// Prints a statement for the registers of a block. Kinds that the verifier keeps out of vector loops are
/// bugs here.
void CVectorLoops::print_body(const StatementPtr& statement, const Block& block) {
  std::visit(Match{
                 [&](const loop_ir::Block& x) {
                   for (const auto& each : x.statements) print_body(each, block);
                 },
                 [&](const loop_ir::Let& x) { print_let(x, block); },
                 [&](const loop_ir::Accumulator& x) { print_accumulator(x, block); },
                 [&](const loop_ir::Accumulate& x) { print_accumulate(x, block); },
                 [&](const loop_ir::Store& x) { print_store(x, block); },
                 [&](const loop_ir::If& x) {
                   text_.open("if (" + expressions_.print(x.condition) + ")");
                   print_body(x.body, block);
                   text_.close();
                 },
                 [](const loop_ir::Counter&) { SCHAAS_CHECK(false, "a counter inside a vector loop"); },
                 [](const loop_ir::SetCounter&) { SCHAAS_CHECK(false, "a counter inside a vector loop"); },
                 [&](const loop_ir::For& x) { print_inner(x, block); },
                 [](const loop_ir::Merge&) { SCHAAS_CHECK(false, "a merge inside a vector loop"); },
                 [](const loop_ir::Fill&) { SCHAAS_CHECK(false, "a fill inside a vector loop"); },
                 [&](const loop_ir::Prefetch& x) { text_.line(expressions_.prefetch(x)); },
                 [](const loop_ir::Sort&) { SCHAAS_CHECK(false, "a sort inside a vector loop"); },
                 [](const loop_ir::Occupy&) { SCHAAS_CHECK(false, "occupancy inside a vector loop"); },
                 [](const loop_ir::OccupyGroups&) { SCHAAS_CHECK(false, "occupancy inside a vector loop"); },
                 [](const loop_ir::Compact&) { SCHAAS_CHECK(false, "compaction inside a vector loop"); },
                 [](const loop_ir::Expand&) { SCHAAS_CHECK(false, "terms inside a vector loop"); },
                 [](const loop_ir::Compress&) { SCHAAS_CHECK(false, "terms inside a vector loop"); },
                 [](const loop_ir::AddSupernode&) { SCHAAS_CHECK(false, "rows added inside a vector loop"); },
                 [](const loop_ir::GroupStore&) { SCHAAS_CHECK(false, "a group inside a vector loop"); },
                 [](const loop_ir::Deferred&) { SCHAAS_CHECK(false, "a group inside a vector loop"); },
                 [](const loop_ir::Defer&) { SCHAAS_CHECK(false, "a group inside a vector loop"); },
                 [](const loop_ir::Flush&) { SCHAAS_CHECK(false, "a group inside a vector loop"); },
                 [](const loop_ir::Stage&) { SCHAAS_CHECK(false, "a group inside a vector loop"); },
                 [](const loop_ir::Overflow&) { SCHAAS_CHECK(false, "an overflow inside a vector loop"); },
             },
             statement->node);
}

}  // namespace schaas::codegen
