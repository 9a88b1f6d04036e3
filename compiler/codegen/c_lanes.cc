#include <algorithm>
#include <cmath>

#include "compiler/codegen/c_ahead.h"
#include "compiler/codegen/c_statements.h"
#include "compiler/loop_ir/lane_form.h"
#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/support/result.h"

namespace schaas::codegen {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::Match;
using loop_ir::StatementPtr;
using loop_ir::statements_of;

/// Vectors that one varying name may occupy, and all of them together, of the sixteen registers of x86-64-v3;
/// the rest is left for loads and broadcast factors. Twice as many of those with 64 bytes.
constexpr int widest_block = 8, register_budget = 12;
/// Of a loop whose length the compiler knows: measured in section 43 of docs/notes/performance.md.
constexpr int turns_written_out = 16;

/// Vectors of the partial sums of a reduction whose turns run side by side.
constexpr int turn_budget = 8;

/// Partial sums of a reduction: enough to cover the latency of an addition at two per cycle, few enough for
/// short rows.
constexpr int partial_sums = 4;

/// Whole rounds of several turns below which a loop runs turn by turn: what a second loop costs that nobody
/// can predict to run is as much as three of its rounds gain.
constexpr int worth_turns = 3;

/// Partial results of each of so many folds that run side by side.
int parts_of(std::size_t folds) { return std::max(1, partial_sums / static_cast<int>(folds)); }

std::string part_name(const std::string& name, int part) { return name + "v" + std::to_string(part); }

/// Whether folding is an operator, which takes a number beside a register.
bool takes_a_number(operators::Monoid monoid) {
  return monoid == operators::Monoid::sum || monoid == operators::Monoid::product;
}

}  // namespace

bool CLanes::varies(const ExpressionPtr& expression) const { return loop_ir::mentions(expression, varying_); }

/// Declarations come before uses, so one walk finds every varying name. Accumulators always vary.
void CLanes::classify(const StatementPtr& statement) {
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
                 [](const loop_ir::Counter&) { SCHAAS_CHECK(false, "a counter inside a lanes loop"); },
                 [](const loop_ir::SetCounter&) { SCHAAS_CHECK(false, "a counter inside a lanes loop"); },
                 [&](const loop_ir::For& x) { classify(x.body); },
                 [](const loop_ir::Merge&) { SCHAAS_CHECK(false, "a merge inside a lanes loop"); },
                 [](const loop_ir::Fill&) { SCHAAS_CHECK(false, "a fill inside a lanes loop"); },
                 [](const loop_ir::Ask&) {},
                 [](const loop_ir::Sort&) { SCHAAS_CHECK(false, "a sort inside a lanes loop"); },
                 [](const loop_ir::Mark&) { SCHAAS_CHECK(false, "a mark inside a lanes loop"); },
                 [](const loop_ir::MarkGroups&) { SCHAAS_CHECK(false, "marks inside a lanes loop"); },
                 [](const loop_ir::Collect&) { SCHAAS_CHECK(false, "marks collected inside a lanes loop"); },
                 [](const loop_ir::Expand&) { SCHAAS_CHECK(false, "terms inside a lanes loop"); },
                 [](const loop_ir::Compress&) { SCHAAS_CHECK(false, "terms inside a lanes loop"); },
                 [](const loop_ir::AddAlike&) { SCHAAS_CHECK(false, "rows added inside a lanes loop"); },
                 [](const loop_ir::GroupStore&) { SCHAAS_CHECK(false, "a group inside a lanes loop"); },
                 [](const loop_ir::Pending&) { SCHAAS_CHECK(false, "a group inside a lanes loop"); },
                 [](const loop_ir::Defer&) { SCHAAS_CHECK(false, "a group inside a lanes loop"); },
                 [](const loop_ir::Settle&) { SCHAAS_CHECK(false, "a group inside a lanes loop"); },
                 [](const loop_ir::GiveUp&) { SCHAAS_CHECK(false, "a lanes loop gives up"); },
             },
             statement->node);
}

void CLanes::print(const loop_ir::For& loop) {
  varying_ = {loop.variable};
  classify(loop.body);
  int widest = widest_block;
  while (widest > 1 && widest * (live_ > 0 ? live_ : 2) > register_budget) widest /= 2;
  const std::string& v = loop.variable;
  const std::string end = v + "_end";
  text_.open("");
  text_.line("int64_t " + v + " = " + expressions_.print(loop.begin) + ";");
  text_.line("const int64_t " + end + " = " + expressions_.print(loop.end) + ";");
  const auto cascade = [&](const Block& block, const char* keyword) {
    const std::string width = std::to_string(block.count) + " * WIDTH(" + block.type + ")";
    text_.open(std::string(keyword) + " (" + v + " + " + width + " <= " + end + ")");
    print_body(loop.body, block);
    text_.line(v + " += " + width + ";");
    text_.close();
  };
  text_.directive("#if VECTOR_BYTES > 32");  // those with 64 bytes are thirty-two
  cascade({"vec", 2 * widest}, "while");
  text_.directive("#endif");
  cascade({"vec", widest}, "while");
  for (int count = widest / 2; count >= 1; count /= 2) cascade({"vec", count}, "if");
  text_.directive("#if VECTOR_BYTES > 32");
  cascade({"vec32", 1}, "if");
  text_.directive("#endif");
  text_.directive("#if VECTOR_BYTES > 16");
  cascade({"vec16", 1}, "if");
  text_.directive("#endif");
  cascade({"value", 1}, "while");
  text_.close();
}

bool CLanes::print_stores(const loop_ir::For& loop) {
  varying_ = {loop.variable};
  for (const auto& each : statements_of(loop.body)) {
    const auto* store = std::get_if<loop_ir::Store>(&each->node);
    if (!store || !loop_ir::is_lane_index(store->index, loop.variable, varying_) ||
        !loop_ir::is_lane_value(store->value, loop.variable, varying_)) {
      return false;
    }
  }
  print(loop);
  return true;
}

bool CLanes::print_fold(const loop_ir::For& loop) {
  Folds folds;
  for (const auto& each : statements_of(loop.body)) {
    const auto* fold = std::get_if<loop_ir::Accumulate>(&each->node);
    if (!fold) return false;
    folds.push_back(fold);
  }
  varying_ = {loop.variable};
  const auto monoid = expressions_.monoid_of(folds.front()->name);
  for (const auto* fold : folds) {
    const bool in_lanes = loop_ir::is_lane_value(fold->value, loop.variable, varying_);
    if (!varies(fold->value) || !in_lanes || expressions_.monoid_of(fold->name) != monoid) return false;
  }
  if (monoid == operators::Monoid::sum) {
    print_sums(loop, folds);
  } else {
    print_other_folds(loop, folds, monoid);
  }
  return true;
}

/// The loop's header as two names.
void CLanes::open_range(const loop_ir::For& loop) {
  text_.open("");
  text_.line("int64_t " + loop.variable + " = " + expressions_.print(loop.begin) + ";");
  text_.line("const int64_t " + loop.variable + "_end = " + expressions_.print(loop.end) + ";");
}

/// As long as `block` fits: `each` for every fold and part of it.
void CLanes::step(const loop_ir::For& loop, const Folds& folds, const Block& block, const char* keyword,
                  const std::function<void(const loop_ir::Accumulate&, int)>& each) {
  const std::string& v = loop.variable;
  const std::string width = std::to_string(block.count) + " * WIDTH(" + block.type + ")";
  text_.open(std::string(keyword) + " (" + v + " + " + width + " <= " + v + "_end)");
  for (const auto* fold : folds) {
    for (int part = 0; part < block.count; ++part) each(*fold, part);
  }
  text_.line(v + " += " + width + ";");
  text_.close();
}

/// Partial results begin at the identity; at the end every element is folded.
void CLanes::print_other_folds(const loop_ir::For& loop, const Folds& folds, operators::Monoid monoid) {
  const int parts = parts_of(folds.size());
  const auto partial = [](const loop_ir::Accumulate& fold, int part) {
    return part_name(fold.name + "vec", part);
  };
  const auto steps = [&](const Block& block) {
    step(loop, folds, block, "while", [&](const loop_ir::Accumulate& fold, int part) {
      const std::string target = block.type == "value" ? fold.name : partial(fold, part);
      text_.line(CExpressions::fold(block.type, monoid, target, lane_expression(fold.value, block, part)));
    });
  };
  open_range(loop);
  const std::string identity = CExpressions::number(operators::identity(monoid));
  for (const auto* fold : folds) {
    for (int part = 0; part < parts; ++part)
      text_.line("vec " + partial(*fold, part) + " = " + identity + " - (vec){0};");
  }
  if (parts > 1) steps({"vec", parts});
  steps({"vec", 1});
  for (const auto* fold : folds) {
    for (int part = 1; part < parts; ++part) {
      text_.line(CExpressions::fold("vec", monoid, partial(*fold, 0), partial(*fold, part)));
    }
    text_.open("for (int n = 0; n < WIDTH(vec); ++n)");
    text_.line(CExpressions::fold("value", monoid, fold->name, partial(*fold, 0) + "[n]"));
    text_.close();
  }
  steps({"value", 1});
  text_.close();
}

/// Four sums by the additions of two: the registers are transposed on the way.
void CLanes::print_sum_of_four(const Folds& folds) {
  std::string registers;
  for (const auto* fold : folds)
    registers += (registers.empty() ? "" : ", ") + part_name(fold->name + "vec", 0);
  text_.open("");
  text_.line("const vec4 four = sum_four(" + registers + ");");
  for (std::size_t n = 0; n < folds.size(); ++n)
    text_.line(folds[n]->name + " += four[" + std::to_string(n) + "];");
  text_.close();
}

/// What is left below a whole register goes into narrower ones, which are parts of the first.
void CLanes::print_sums(const loop_ir::For& loop, const Folds& folds) {
  const int parts = parts_of(folds.size());
  const auto partial = [](const loop_ir::Accumulate& fold, int part) {
    return part_name(fold.name + "vec", part);
  };
  const auto steps = [&](const Block& block) {
    step(loop, folds, block, "while", [&](const loop_ir::Accumulate& fold, int part) {
      const std::string sum = block.type == "value" ? fold.name : partial(fold, part);
      text_.line(sum + " += " + lane_expression(fold.value, block, part) + ";");
    });
  };
  const auto narrow = [&](const char* type, const char* bytes) {
    text_.directive(std::string("#if VECTOR_BYTES > ") + bytes);
    step(loop, folds, {type, 1}, "if", [&](const loop_ir::Accumulate& fold, int) {
      text_.line(fold.name + " += sum" + bytes + "(" + lane_expression(fold.value, {type, 1}, 0) + ");");
    });
    text_.directive("#endif");
  };
  open_range(loop);
  for (const auto* fold : folds) text_.line("vec " + partial(*fold, 0) + " = {0};");
  if (parts > 1) {
    // Short sums do not pay for the registers of long ones.
    text_.open("if (" + loop.variable + " + " + std::to_string(parts) + " * WIDTH(vec) <= " + loop.variable +
               "_end)");
    for (const auto* fold : folds) {
      for (int part = 1; part < parts; ++part) text_.line("vec " + partial(*fold, part) + " = {0};");
    }
    steps({"vec", parts});
    for (const auto* fold : folds) {
      for (int part = 1; part < parts; ++part)
        text_.line(partial(*fold, 0) + " += " + partial(*fold, part) + ";");
    }
    text_.close();
  }
  if (parts > 1) {
    steps({"vec", 1});
  } else {
    // In a version for one length without turns: the loads of the next sums begin beside these.
    text_.open("if (__builtin_constant_p(" + loop.variable + "_end) && " + loop.variable +
               "_end <= " + std::to_string(turns_written_out) + " * WIDTH(vec))");
    text_.directive("#pragma GCC unroll " + std::to_string(turns_written_out));
    steps({"vec", 1});
    text_.close();
    text_.open("else");
    steps({"vec", 1});
    text_.close();
  }
  narrow("vec32", "32");
  narrow("vec16", "16");
  if (folds.size() == 4) {
    print_sum_of_four(folds);
  } else {
    for (const auto* fold : folds) text_.line(fold->name + " += SUM(" + partial(*fold, 0) + ");");
  }
  steps({"value", 1});
  text_.close();
}

std::string CLanes::address(const std::string& array, const ExpressionPtr& index, const Block& block,
                            int part) const {
  const std::string first = array + " + " + expressions_.print(index);
  return part == 0 ? first : first + " + " + std::to_string(part) + " * WIDTH(" + block.type + ")";
}

std::string CLanes::place(const std::string& array, const ExpressionPtr& index, const Block& block, int part,
                          bool constant) const {
  return std::string("*(") + (constant ? "const " : "") + block.type + "*)(" +
         address(array, index, block, part) + ")";
}

std::string CLanes::lane_expression(const ExpressionPtr& expression, const Block& block, int part) const {
  if (!varies(expression)) return expressions_.print(expression);
  return std::visit(
      Match{
          [](const loop_ir::Integer&) -> std::string { SCHAAS_CHECK(false, "an integer varies"); },
          [](const loop_ir::Number&) -> std::string { SCHAAS_CHECK(false, "a number varies"); },
          [&](const loop_ir::Name& x) { return part_name(x.name, part); },
          [&](const loop_ir::Load& x) { return place(x.array, x.index, block, part, true); },
          [&](const loop_ir::Apply& x) { return apply(x, block, part); },
          [&](const loop_ir::Choose& x) {
            // The casts: a register read from memory and one that is computed differ in qualifiers.
            const std::string type = "(" + block.type + ")";
            return "(" + expressions_.print(x.condition) + " ? " + type + register_of(x.then, block, part) +
                   " : " + type + register_of(x.otherwise, block, part) + ")";
          },
          [](const loop_ir::Search&) -> std::string { SCHAAS_CHECK(false, "a search varies"); },
      },
      expression->node);
}

/// Operators take a number beside a register, functions do not.
std::string CLanes::apply(const loop_ir::Apply& apply, const Block& block, int part) const {
  const auto& arguments = apply.arguments;
  if (apply.function == operators::Function::negate) {
    return "(-" + lane_expression(arguments.front(), block, part) + ")";
  }
  const std::string op = CExpressions::infix(apply.function);
  if (!op.empty()) {
    return "(" + lane_expression(arguments[0], block, part) + " " + op + " " +
           lane_expression(arguments[1], block, part) + ")";
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

/// x - 0 is x for every x, and every compiler knows it.
std::string CLanes::register_of(const ExpressionPtr& expression, const Block& block, int part) const {
  const std::string text = lane_expression(expression, block, part);
  return varies(expression) ? text : "(" + text + " - (" + block.type + "){0})";
}

void CLanes::print_let(const loop_ir::Let& let, const Block& block) {
  if (!varies(let.value)) {
    const char* type = let.type == loop_ir::Type::index ? "const int64_t " : "const value ";
    text_.line(type + let.name + " = " + expressions_.print(let.value) + ";");
    return;
  }
  for (int part = 0; part < block.count; ++part) {
    text_.line("const " + block.type + " " + part_name(let.name, part) + " = " +
               lane_expression(let.value, block, part) + ";");
  }
}

void CLanes::print_accumulator(const loop_ir::Accumulator& accumulator, const Block& block) {
  const double initial = accumulator.initial.value_or(operators::identity(accumulator.monoid));
  const std::string zero = "(" + block.type + "){0}";
  const std::string value =
      initial == 0 && !std::signbit(initial) ? zero : CExpressions::number(initial) + " - " + zero;
  for (int part = 0; part < block.count; ++part) {
    text_.line(block.type + " " + part_name(accumulator.name, part) + " = " + value + ";");
  }
}

void CLanes::print_accumulate(const loop_ir::Accumulate& accumulate, const Block& block) {
  const auto monoid = expressions_.monoid_of(accumulate.name);
  for (int part = 0; part < block.count; ++part) {
    const std::string value = takes_a_number(monoid) ? lane_expression(accumulate.value, block, part)
                                                     : register_of(accumulate.value, block, part);
    text_.line(CExpressions::fold(block.type, monoid,
                                  sum_name(accumulate.name, block.first_sum + part, block), value));
  }
}

/// Element by element: memory knows no atomic registers.
void CLanes::print_atomic(const loop_ir::Store& store, const Block& block, int part,
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

void CLanes::print_store(const loop_ir::Store& store, const Block& block) {
  const std::string zero = "(" + block.type + "){0}";
  const bool set = store.mode == loop_ir::Write::set;
  const bool streams = set && store.array == expressions_.streamed() && block.type == "vec";
  if (streams) {  // the vectors are side by side: all are aligned where the first is
    text_.open("");
    text_.line("const int past = streams && IS_ALIGNED(" + address(store.array, store.index, block, 0) +
               ");");
  }
  for (int part = 0; part < block.count; ++part) {
    const std::string target = place(store.array, store.index, block, part, false);
    std::string value = lane_expression(store.value, block, part);
    if (!varies(store.value)) value = zero + " + " + value;
    if (store.mode == loop_ir::Write::atomic) {
      print_atomic(store, block, part, value);
      continue;
    }
    if (streams) {
      text_.line("PUT(past, " + address(store.array, store.index, block, part) + ", " + value + ");");
      continue;
    }
    text_.line(set ? target + " = " + value + ";"
                   : CExpressions::fold(block.type, store.monoid, target, value));
  }
  if (streams) text_.close();
}

/// The accumulators of a loop that does nothing but add to them; none of another.
std::set<std::string> CLanes::sums_of(const loop_ir::For& loop) const {
  std::set<std::string> sums;
  for (const auto& each : statements_of(loop.body)) {
    const auto* fold = std::get_if<loop_ir::Accumulate>(&each->node);
    if (fold && expressions_.monoid_of(fold->name) == operators::Monoid::sum) {
      sums.insert(fold->name);
    } else if (!std::holds_alternative<loop_ir::Let>(each->node) &&
               !std::holds_alternative<loop_ir::Ask>(each->node)) {
      return {};
    }
  }
  return sums;
}

/// A loop inside. When it only adds, and registers are left, several turns run side by side with sums of
/// their own, so that additions do not wait for each other.
void CLanes::print_inner(const loop_ir::For& loop, const Block& block) {
  const auto sums = sums_of(loop);
  const int used = block.count * static_cast<int>(sums.size());
  const int turns = used == 0 || block.type == "value" ? 1 : std::clamp(turn_budget / used, 1, partial_sums);
  if (turns > 1 && loop.step == 1 && loop.unroll == 1) {
    print_turns(loop, sums, block, turns);
    return;
  }
  if (loop.unroll > 1) text_.line("UNROLL(" + std::to_string(loop.unroll) + ")");
  text_.open(for_header(loop, expressions_));
  print_turn(loop, block);
  text_.close();
}

void CLanes::print_turn(const loop_ir::For& loop, const Block& block) {
  if (loop.ahead > 0 && block.type == "vec") print_ahead(loop, block);
  print_body(loop.body, block);
}

/// Beyond the last position the last one is asked for again.
void CLanes::print_ahead(const loop_ir::For& loop, const Block& block) {
  const Gathered gathers = gathered(loop);
  if (gathers.loads.empty()) return;
  const auto later = [](const std::string& name) { return name + "_ahead"; };
  const std::string next = loop.variable + " + " + std::to_string(loop.ahead);
  const std::string last = gathers.coordinates + "_last";
  text_.open("if (ahead)");  // known when it is compiled: there is no question in each turn
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
      text_.line("AHEAD(" + std::to_string(part) + ", " + address(load.array, index, block, part) + ");");
  }
  text_.close();
}

bool CLanes::print_scalar_sums(const loop_ir::For& loop) {
  const auto sums = sums_of(loop);
  if (loop.step != 1 || loop.unroll != 1 || sums.empty() || static_cast<int>(sums.size()) > partial_sums)
    return false;
  varying_.clear();
  Block block{"value", 1};
  block.scalar = true;
  print_turns(loop, sums, block, partial_sums);
  return true;
}

/// Sums of later turns are numbered after those of the first. A loop of fewer turns does not pay for them.
void CLanes::print_turns(const loop_ir::For& loop, const std::set<std::string>& sums, const Block& block,
                         int turns) {
  const std::string& v = loop.variable;
  const std::string count = std::to_string(turns), more = v + " + " + count + " <= " + v + "_end";
  open_range(loop);
  text_.open("if (" + v + " + " + std::to_string(worth_turns * turns) + " <= " + v + "_end)");
  for (const auto& name : sums) {
    for (int part = block.count; part < turns * block.count; ++part) {
      text_.line(block.type + " " + part_name(name, part) + (block.type == "value" ? " = 0;" : " = {0};"));
    }
  }
  text_.open("for (; " + more + "; " + v + " += " + count + ")");
  text_.line("const int64_t " + v + "_turn = " + v + ";");
  for (int turn = 0; turn < turns; ++turn) {
    text_.open("");
    text_.line("const int64_t " + v + " = " + v + "_turn + " + std::to_string(turn) + ";");
    Block own = block;
    own.first_sum = turn * block.count;
    print_turn(loop, own);
    text_.close();
  }
  text_.close();
  for (const auto& name : sums) {
    for (int part = 0; part < block.count; ++part) {
      std::string others;
      for (int turn = turns - 1; turn > 0; --turn) {
        const std::string own = part_name(name, part + turn * block.count);
        others = others.empty() ? own : "(" + own + " + " + others + ")";
      }
      text_.line(sum_name(name, part, block) + " += " + others + ";");
    }
  }
  text_.close();
  text_.open("for (; " + v + " < " + v + "_end; ++" + v + ")");
  print_turn(loop, block);
  text_.close();
  text_.close();
}

/// Of numbers the first sum is the accumulator itself.
std::string CLanes::sum_name(const std::string& name, int part, const Block& block) {
  return block.type == "value" && part == 0 && block.scalar ? name : part_name(name, part);
}

void CLanes::print_body(const StatementPtr& statement, const Block& block) {
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
                 [](const loop_ir::Counter&) { SCHAAS_CHECK(false, "a counter inside a lanes loop"); },
                 [](const loop_ir::SetCounter&) { SCHAAS_CHECK(false, "a counter inside a lanes loop"); },
                 [&](const loop_ir::For& x) { print_inner(x, block); },
                 [](const loop_ir::Merge&) { SCHAAS_CHECK(false, "a merge inside a lanes loop"); },
                 [](const loop_ir::Fill&) { SCHAAS_CHECK(false, "a fill inside a lanes loop"); },
                 [&](const loop_ir::Ask& x) { text_.line(expressions_.ask(x)); },
                 [](const loop_ir::Sort&) { SCHAAS_CHECK(false, "a sort inside a lanes loop"); },
                 [](const loop_ir::Mark&) { SCHAAS_CHECK(false, "a mark inside a lanes loop"); },
                 [](const loop_ir::MarkGroups&) { SCHAAS_CHECK(false, "marks inside a lanes loop"); },
                 [](const loop_ir::Collect&) { SCHAAS_CHECK(false, "marks collected inside a lanes loop"); },
                 [](const loop_ir::Expand&) { SCHAAS_CHECK(false, "terms inside a lanes loop"); },
                 [](const loop_ir::Compress&) { SCHAAS_CHECK(false, "terms inside a lanes loop"); },
                 [](const loop_ir::AddAlike&) { SCHAAS_CHECK(false, "rows added inside a lanes loop"); },
                 [](const loop_ir::GroupStore&) { SCHAAS_CHECK(false, "a group inside a lanes loop"); },
                 [](const loop_ir::Pending&) { SCHAAS_CHECK(false, "a group inside a lanes loop"); },
                 [](const loop_ir::Defer&) { SCHAAS_CHECK(false, "a group inside a lanes loop"); },
                 [](const loop_ir::Settle&) { SCHAAS_CHECK(false, "a group inside a lanes loop"); },
                 [](const loop_ir::GiveUp&) { SCHAAS_CHECK(false, "a lanes loop gives up"); },
             },
             statement->node);
}

}  // namespace schaas::codegen
