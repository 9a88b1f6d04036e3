#include <cmath>

#include "compiler/codegen/c_statements.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/support/result.h"

// Statements and expressions of a vector loop for one block of registers. Each name that depends on the loop
// variable has a register of its own for each of the block's.
namespace schaas::codegen {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::Match;
using loop_ir::StatementPtr;

/// The fold is an operator, which accepts a number beside a register.
bool takes_a_number(operators::Monoid monoid) {
  return monoid == operators::Monoid::sum || monoid == operators::Monoid::product;
}

}  // namespace

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
  if (expressions_.is_narrow(array))
    return expressions_.widened(block.type, array, address(array, index, block, part));
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
  if (!op.empty() && expressions_.is_complex()) return complex_apply(apply, block, part);
  if (!op.empty()) {
    return "(" + vector_expression(arguments[0], block, part) + " " + op + " " +
           vector_expression(arguments[1], block, part) + ")";
  }
  std::vector<std::string> registers;
  for (const auto& each : arguments) registers.push_back(register_of(each, block, part));
  return CExpressions::call(block.type, apply, registers);
}

/// Returns the arguments of a product with one value: the value and the register.
std::string CVectorLoops::scaled_arguments(const loop_ir::Apply& product, const Block& block,
                                           int part) const {
  const bool first_varies = varies(product.arguments[0]);
  return vector_expression(product.arguments[first_varies ? 1 : 0], block, part) + ", " +
         vector_expression(product.arguments[first_varies ? 0 : 1], block, part);
}

/// Returns the sum of a complex register and a product, as two fused multiplications; "" where the value is
/// no product, and where so few sums are made side by side that each would wait for both.
std::string CVectorLoops::complex_sum(const std::string& sum, const ExpressionPtr& value, const Block& block,
                                      int part) const {
  const auto* apply = std::get_if<loop_ir::Apply>(&value->node);
  constexpr int enough = 4;
  if (!expressions_.is_complex() || block.type == "value" || block.count < enough || apply == nullptr ||
      apply->function != operators::Function::multiply || !varies(value))
    return "";
  const auto &a = apply->arguments[0], &b = apply->arguments[1];
  if (varies(a) != varies(b))
    return block.type + "_add_scaled(" + sum + ", " + scaled_arguments(*apply, block, part) + ")";
  return block.type + "_add_product(" + sum + ", " + register_of(a, block, part) + ", " +
         register_of(b, block, part) + ")";
}

/// Prints arithmetic of complex registers. Products with one value need its parts but once.
std::string CVectorLoops::complex_apply(const loop_ir::Apply& apply, const Block& block, int part) const {
  const auto &a = apply.arguments[0], &b = apply.arguments[1];
  const bool multiplies = apply.function == operators::Function::multiply;
  if (multiplies && block.type != "value" && varies(a) != varies(b))
    return block.type + "_scale(" + scaled_arguments(apply, block, part) + ")";
  const std::string x = register_of(a, block, part), y = register_of(b, block, part);
  if (multiplies) return block.type + "_multiply(" + x + ", " + y + ")";
  if (apply.function == operators::Function::divide) return block.type + "_divide(" + x + ", " + y + ")";
  return "(" + x + " " + CExpressions::infix(apply.function) + " " + y + ")";
}

/// Broadcasts by subtraction: x - 0 is x for every x, which every compiler folds.
std::string CVectorLoops::register_of(const ExpressionPtr& expression, const Block& block, int part) const {
  const std::string text = vector_expression(expression, block, part);
  return varies(expression) ? text : expressions_.broadcast(block.type, text);
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
  const std::string value = initial == 0 && !std::signbit(initial) ? zero
                            : expressions_.is_complex()
                                ? expressions_.broadcast(block.type, expressions_.number(initial))
                                : expressions_.number(initial) + " - " + zero;
  for (int part = 0; part < block.count; ++part) {
    text_.line(block.type + " " + part_name(accumulator.name, part) + " = " + value + ";");
  }
}

void CVectorLoops::print_accumulate(const loop_ir::Accumulate& accumulate, const Block& block) {
  const auto monoid = expressions_.monoid_of(accumulate.name);
  for (int part = 0; part < block.count; ++part) {
    const std::string target = sum_name(accumulate.name, block.first_sum + part, block);
    if (const std::string sum = complex_sum(target, accumulate.value, block, part);
        monoid == operators::Monoid::sum && !sum.empty()) {
      text_.line(target + " = " + sum + ";");
      continue;
    }
    const std::string value = takes_a_number(monoid) && !expressions_.is_complex()
                                  ? vector_expression(accumulate.value, block, part)
                                  : register_of(accumulate.value, block, part);
    text_.line(expressions_.fold(block.type, monoid, target, value));
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
  text_.line(CExpressions::atomic(store.monoid, at + " + n", expressions_.lane(block.type, "folded", "n")));
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
                   : expressions_.fold(block.type, store.monoid, target, value));
  }
  if (streams) text_.close();
}

void refuse_in_vector_loop(const StatementPtr& statement) {
  throw support::InternalError("a statement that no vector loop has: " + loop_ir::print(statement));
}

/// Prints a statement for the registers of a block.
void CVectorLoops::print_body(const StatementPtr& statement, const Block& block) {
  std::visit(
      Match{
          [&](const loop_ir::Block& x) {
            for (const auto& each : x.statements) print_body(each, block);
          },
          [&](const loop_ir::Let& x) { print_let(x, block); },
          [&](const loop_ir::Accumulator& x) { print_accumulator(x, block); },
          [&](const loop_ir::Accumulate& x) { print_accumulate(x, block); },
          [&](const loop_ir::Store& x) {
            if (!block.scalar) return print_store(x, block);
            text_.line(expressions_.stored(x, expressions_.print(x.index), expressions_.print(x.value)));
          },
          [&](const loop_ir::If& x) {
            text_.open("if (" + expressions_.print(x.condition) + ")");
            print_body(x.body, block);
            text_.close();
          },
          [&](const loop_ir::For& x) { print_inner(x, block); },
          [&](const loop_ir::Prefetch& x) { text_.line(expressions_.prefetch(x)); },
          [&](const auto&) { refuse_in_vector_loop(statement); },
      },
      statement->node);
}

}  // namespace schaas::codegen
