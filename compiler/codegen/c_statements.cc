#include "compiler/codegen/c_statements.h"

#include "compiler/loop_ir/uses.h"

namespace schaas::codegen {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::Match;
using loop_ir::StatementPtr;

/// Accumulators that `statement` adds to but does not declare.
void outer_sums(const StatementPtr& statement, std::set<std::string>& declared, std::set<std::string>& sums) {
  std::visit(Match{
                 [&](const loop_ir::Block& x) {
                   for (const auto& each : x.statements) outer_sums(each, declared, sums);
                 },
                 [](const loop_ir::Let&) {},
                 [&](const loop_ir::Accumulator& x) { declared.insert(x.name); },
                 [&](const loop_ir::Accumulate& x) {
                   if (declared.count(x.name) == 0) sums.insert(x.name);
                 },
                 [](const loop_ir::Store&) {},
                 [&](const loop_ir::For& x) { outer_sums(x.body, declared, sums); },
                 [&](const loop_ir::Merge& x) { outer_sums(x.body, declared, sums); },
                 [](const loop_ir::Clear&) {},
             },
             statement->node);
}

std::string simd_pragma(const loop_ir::For& loop) {
  std::set<std::string> declared;
  std::set<std::string> sums;
  outer_sums(loop.body, declared, sums);
  std::string text = "#pragma omp simd";
  for (const auto& sum : sums) text += " reduction(+:" + sum + ")";
  return text;
}

std::string binary(const ExpressionPtr& left, const char* op, const ExpressionPtr& right) {
  return "(" + CStatements::expression(left) + op + CStatements::expression(right) + ")";
}

}  // namespace

std::string CStatements::expression(const ExpressionPtr& expression) {
  return std::visit(
      Match{
          [](const loop_ir::Integer& x) { return std::to_string(x.value); },
          [](const loop_ir::Name& x) { return x.name; },
          [](const loop_ir::Load& x) { return x.array + "[" + CStatements::expression(x.index) + "]"; },
          [](const loop_ir::Add& x) { return binary(x.left, " + ", x.right); },
          [](const loop_ir::Multiply& x) { return binary(x.left, " * ", x.right); },
          [](const loop_ir::Minimum& x) {
            const std::string left = CStatements::expression(x.left);
            const std::string right = CStatements::expression(x.right);
            return "(" + left + " < " + right + " ? " + left + " : " + right + ")";
          },
          [](const loop_ir::Search& x) {
            return "SEARCH(" + x.array + ", " + CStatements::expression(x.begin) + ", " +
                   CStatements::expression(x.end) + ", " + CStatements::expression(x.key) + ")";
          },
          [](const loop_ir::Zero&) { return std::string("0"); },
      },
      expression->node);
}

void CStatements::print(const StatementPtr& statement) {
  std::visit(
      Match{
          [&](const loop_ir::Block& x) {
            for (const auto& each : x.statements) print(each);
          },
          [&](const loop_ir::Let& x) {
            const char* type = x.type == loop_ir::Type::index ? "const int64_t " : "const value ";
            text_.line(type + x.name + " = " + expression(x.value) + ";");
          },
          [&](const loop_ir::Accumulator& x) { text_.line("value " + x.name + " = 0;"); },
          [&](const loop_ir::Accumulate& x) { text_.line(x.name + " += " + expression(x.value) + ";"); },
          [&](const loop_ir::Store& x) { print_store(x); },
          [&](const loop_ir::For& x) { print_for(x); },
          [&](const loop_ir::Merge& x) { print_merge(x); },
          [&](const loop_ir::Clear& x) {
            text_.line("memset(" + x.array + ", 0, (size_t)(" + expression(x.count) + ") * sizeof(value));");
          },
      },
      statement->node);
}

std::string CStatements::header(const loop_ir::For& loop) {
  const auto& v = loop.variable;
  const std::string next = loop.step == 1 ? "++" + v : v + " += " + std::to_string(loop.step);
  return "for (int64_t " + v + " = " + expression(loop.begin) + ", " + v + "_end = " + expression(loop.end) +
         "; " + v + " < " + v + "_end; " + next + ")";
}

void CStatements::print_store(const loop_ir::Store& store) {
  const char* op = store.mode == loop_ir::Write::set ? " = " : " += ";
  text_.line(store.array + "[" + expression(store.index) + "]" + op + expression(store.value) + ";");
}

void CStatements::print_for(const loop_ir::For& loop) {
  if (loop.shape == loop_ir::Shape::lanes) {
    CLanes(text_).print(loop);
    return;
  }
  if (loop.shape == loop_ir::Shape::simd && CLanes(text_).print_sum(loop)) return;
  const auto& v = loop.variable;
  if (loop.shape == loop_ir::Shape::simd) {
    text_.directive(simd_pragma(loop));
    text_.open("for (int64_t " + v + " = " + expression(loop.begin) + "; " + v + " < " +
               expression(loop.end) + "; ++" + v + ")");
  } else {
    text_.open(header(loop));
  }
  print(loop.body);
  text_.close();
}

/// All cursors advance together on a common coordinate; else those behind the largest coordinate do.
void CStatements::print_merge(const loop_ir::Merge& merge) {
  text_.open("");
  std::string more;
  std::string all_equal;
  for (const auto& cursor : merge.cursors) {
    const auto& p = cursor.position;
    text_.line("int64_t " + p + " = " + expression(cursor.begin) + ";");
    text_.line("const int64_t " + p + "_end = " + expression(cursor.end) + ";");
    more += (more.empty() ? "" : " && ") + p + " < " + p + "_end";
    all_equal += (all_equal.empty() ? "" : " && ") + p + "_crd == " + merge.variable;
  }
  text_.open("while (" + more + ")");
  for (const auto& cursor : merge.cursors) {
    const std::string crd = cursor.position + "_crd";
    text_.line("const int64_t " + crd + " = " + cursor.coordinates + "[" + cursor.position + "];");
  }
  const std::string& v = merge.variable;
  text_.line("int64_t " + v + " = " + merge.cursors.front().position + "_crd;");
  for (std::size_t n = 1; n < merge.cursors.size(); ++n) {
    const std::string crd = merge.cursors[n].position + "_crd";
    text_.line("if (" + crd + " > " + v + ") " + v + " = " + crd + ";");
  }
  text_.open("if (" + all_equal + ")");
  print(merge.body);
  for (const auto& cursor : merge.cursors) text_.line("++" + cursor.position + ";");
  text_.close("} else {");
  for (const auto& cursor : merge.cursors) {
    text_.line("  " + cursor.position + " += " + cursor.position + "_crd < " + v + ";");
  }
  text_.line("}");
  text_.close();
  text_.close();
}

}  // namespace schaas::codegen
