#include "compiler/codegen/c_statements.h"
#include "compiler/loop_ir/lane_form.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/support/result.h"

namespace schaas::codegen {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::Match;
using loop_ir::StatementPtr;

/// Vectors that all varying names may occupy together: half of the sixteen registers of x86-64-v3; the rest
/// is left for loads and broadcast factors.
constexpr int register_budget = 8;

/// Partial sums of a reduction: enough to cover the latency of an addition at two per cycle, few enough for
/// short rows.
constexpr int partial_sums = 4;

std::string part_name(const std::string& name, int part) { return name + "v" + std::to_string(part); }

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
                 [&](const loop_ir::For& x) { classify(x.body); },
                 [](const loop_ir::Merge&) { SCHAAS_CHECK(false, "a merge inside a lanes loop"); },
                 [](const loop_ir::Clear&) { SCHAAS_CHECK(false, "a clear inside a lanes loop"); },
             },
             statement->node);
}

void CLanes::print(const loop_ir::For& loop) {
  varying_ = {loop.variable};
  classify(loop.body);
  int widest = register_budget;
  while (widest > 1 && widest * live_ > register_budget) widest /= 2;
  const std::string& v = loop.variable;
  const std::string end = v + "_end";
  text_.open("");
  text_.line("int64_t " + v + " = " + CStatements::expression(loop.begin) + ";");
  text_.line("const int64_t " + end + " = " + CStatements::expression(loop.end) + ";");
  const auto cascade = [&](const Block& block, const char* keyword) {
    const std::string width = std::to_string(block.count) + " * WIDTH(" + block.type + ")";
    text_.open(std::string(keyword) + " (" + v + " + " + width + " <= " + end + ")");
    print_body(loop.body, block);
    text_.line(v + " += " + width + ";");
    text_.close();
  };
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

bool CLanes::print_sum(const loop_ir::For& loop) {
  const auto* add = std::get_if<loop_ir::Accumulate>(&loop.body->node);
  varying_ = {loop.variable};
  if (!add || !varies(add->value) || !loop_ir::is_lane_value(add->value, loop.variable, varying_))
    return false;
  const std::string& v = loop.variable;
  const std::string end = v + "_end";
  const auto partial = [&](const std::string& type, int part) { return part_name(add->name + type, part); };
  const auto step = [&](const Block& block, const char* keyword) {
    const std::string width = std::to_string(block.count) + " * WIDTH(" + block.type + ")";
    text_.open(std::string(keyword) + " (" + v + " + " + width + " <= " + end + ")");
    for (int part = 0; part < block.count; ++part) {
      const std::string sum = block.type == "value" ? add->name : partial(block.type, part);
      text_.line(sum + " += " + lane_expression(add->value, block, part) + ";");
    }
    text_.line(v + " += " + width + ";");
    text_.close();
  };
  const auto narrow = [&](const char* type, const char* bytes) {
    text_.directive(std::string("#if VECTOR_BYTES > ") + bytes);
    text_.open(std::string("if (") + v + " + WIDTH(" + type + ") <= " + end + ")");
    text_.line(std::string("const ") + type + " part = " + lane_expression(add->value, {type, 1}, 0) + ";");
    text_.line(add->name + " += sum" + bytes + "(part);");
    text_.line(v + " += WIDTH(" + type + ");");
    text_.close();
    text_.directive("#endif");
  };
  text_.open("");
  text_.line("int64_t " + v + " = " + CStatements::expression(loop.begin) + ";");
  text_.line("const int64_t " + end + " = " + CStatements::expression(loop.end) + ";");
  std::string total;
  for (int part = 0; part < partial_sums; ++part) {
    text_.line("vec " + partial("vec", part) + " = {0};");
    total += (part > 0 ? " + " : "") + partial("vec", part);
  }
  step({"vec", partial_sums}, "while");
  step({"vec", 1}, "while");
  narrow("vec32", "32");
  narrow("vec16", "16");
  text_.line(add->name + " += SUM(" + total + ");");
  step({"value", 1}, "while");
  text_.close();
  return true;
}

std::string CLanes::place(const std::string& array, const ExpressionPtr& index, const Block& block, int part,
                          bool constant) const {
  std::string offset = CStatements::expression(index);
  if (part > 0) offset += " + " + std::to_string(part) + " * WIDTH(" + block.type + ")";
  return std::string("*(") + (constant ? "const " : "") + block.type + "*)(" + array + " + " + offset + ")";
}

std::string CLanes::lane_expression(const ExpressionPtr& expression, const Block& block, int part) const {
  if (!varies(expression)) return CStatements::expression(expression);
  return std::visit(
      Match{
          [](const loop_ir::Integer&) -> std::string { SCHAAS_CHECK(false, "an integer varies"); },
          [&](const loop_ir::Name& x) { return part_name(x.name, part); },
          [&](const loop_ir::Load& x) { return place(x.array, x.index, block, part, true); },
          [&](const loop_ir::Add& x) {
            return "(" + lane_expression(x.left, block, part) + " + " +
                   lane_expression(x.right, block, part) + ")";
          },
          [&](const loop_ir::Multiply& x) {
            return "(" + lane_expression(x.left, block, part) + " * " +
                   lane_expression(x.right, block, part) + ")";
          },
          [](const loop_ir::Minimum&) -> std::string { SCHAAS_CHECK(false, "a minimum varies"); },
          [](const loop_ir::Search&) -> std::string { SCHAAS_CHECK(false, "a search varies"); },
          [](const loop_ir::Zero&) -> std::string { SCHAAS_CHECK(false, "zero varies"); },
      },
      expression->node);
}

void CLanes::print_let(const loop_ir::Let& let, const Block& block) {
  if (!varies(let.value)) {
    const char* type = let.type == loop_ir::Type::index ? "const int64_t " : "const value ";
    text_.line(type + let.name + " = " + CStatements::expression(let.value) + ";");
    return;
  }
  for (int part = 0; part < block.count; ++part) {
    text_.line("const " + block.type + " " + part_name(let.name, part) + " = " +
               lane_expression(let.value, block, part) + ";");
  }
}

void CLanes::print_body(const StatementPtr& statement, const Block& block) {
  const std::string zero = "(" + block.type + "){0}";
  std::visit(
      Match{
          [&](const loop_ir::Block& x) {
            for (const auto& each : x.statements) print_body(each, block);
          },
          [&](const loop_ir::Let& x) { print_let(x, block); },
          [&](const loop_ir::Accumulator& x) {
            for (int part = 0; part < block.count; ++part) {
              text_.line(block.type + " " + part_name(x.name, part) + " = " + zero + ";");
            }
          },
          [&](const loop_ir::Accumulate& x) {
            for (int part = 0; part < block.count; ++part) {
              text_.line(part_name(x.name, part) + " += " + lane_expression(x.value, block, part) + ";");
            }
          },
          [&](const loop_ir::Store& x) {
            const bool set = x.mode == loop_ir::Write::set;
            for (int part = 0; part < block.count; ++part) {
              const std::string value = lane_expression(x.value, block, part);
              text_.line(place(x.array, x.index, block, part, false) + (set ? " = " : " += ") +
                         (varies(x.value) ? value : zero + " + " + value) + ";");
            }
          },
          [&](const loop_ir::For& x) {
            text_.open(CStatements::header(x));
            print_body(x.body, block);
            text_.close();
          },
          [](const loop_ir::Merge&) { SCHAAS_CHECK(false, "a merge inside a lanes loop"); },
          [](const loop_ir::Clear&) { SCHAAS_CHECK(false, "a clear inside a lanes loop"); },
      },
      statement->node);
}

}  // namespace schaas::codegen
