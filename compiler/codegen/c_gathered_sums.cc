#include "compiler/codegen/c_gathered_sums.h"

#include <algorithm>

#include "compiler/codegen/c_statements.h"
#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/support/result.h"

// y(i) = B(i,j) * x(j) and its like: four entries at a time in one register. The end of a row is computed
// beyond it, at entries of the next rows, and masked. A row of up to three entries then needs no loop, whose
// number of iterations the processor would have to predict. Rows of graphs have few entries and differ: a
// wrong prediction a row costs more than all of its products. Legal since all arrays indexed by positions
// have the same entries, and indices made of coordinates stay within extents. `or` and comparisons are folded
// in the same way; for one entry at a time they are a chain of conversions. Rejected: gather instructions,
// half as fast as four loads on Zen where rows lie in cache. Rejected: eight entries beyond the end, slower
// for rows of two.
namespace schaas::codegen {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::Match;
using operators::Function;

constexpr int lanes = 4, max_sums = 2;

/// Masked lanes are zero, the identity of these.
bool folds_from_zero(operators::Monoid monoid) {
  return monoid == operators::Monoid::sum || monoid == operators::Monoid::logical_or;
}

/// Checks the values of one loop and learns which array of coordinates it walks.
class Walk {
 public:
  Walk(const std::string& position, const OperandArrays& operands)
      : position_(position), operands_(operands) {}

  const std::string& coordinates() const { return coordinates_; }

  /// Takes the array of coordinates from a variable that no value reads.
  void learn_coordinates(const ExpressionPtr& variable) {
    const auto* load = std::get_if<loop_ir::Load>(&variable->node);
    if (load != nullptr && coordinates_.empty()) (void)is_coordinate(*load);
  }

  /// The value is a combination of loads that may be done at every entry.
  bool may_compute(const ExpressionPtr& value) {
    if (!varies(value)) return true;
    return std::visit(Match{
                          [&](const loop_ir::Load& x) { return may_load(x); },
                          [&](const loop_ir::Apply& x) {
                            return (is_arithmetic(x.function) || operators::is_truth(x.function)) &&
                                   std::all_of(x.arguments.begin(), x.arguments.end(),
                                               [&](const ExpressionPtr& each) { return may_compute(each); });
                          },
                          [](const auto&) { return false; },
                      },
                      value->node);
  }

 private:
  static bool is_arithmetic(Function function) {
    return function == Function::add || function == Function::subtract || function == Function::multiply ||
           function == Function::divide || function == Function::negate;
  }
  bool varies(const ExpressionPtr& expression) const { return loop_ir::mentions(expression, {position_}); }

  bool may_load(const loop_ir::Load& load) {
    const auto operand = operands_.values.find(load.array);
    if (operand == operands_.values.end()) return false;
    return is_name(load.index, position_) ? is_of(operand->second) : is_affine(load.index);
  }

  /// Sums and products of coordinates and of what does not depend on the position.
  bool is_affine(const ExpressionPtr& index) {
    if (!varies(index)) return true;
    return std::visit(Match{
                          [&](const loop_ir::Load& x) { return is_coordinate(x); },
                          [&](const loop_ir::Apply& x) {
                            return (x.function == Function::add || x.function == Function::multiply) &&
                                   std::all_of(x.arguments.begin(), x.arguments.end(),
                                               [&](const ExpressionPtr& each) { return is_affine(each); });
                          },
                          [](const auto&) { return false; },
                      },
                      index->node);
  }

  bool is_coordinate(const loop_ir::Load& load) {
    const auto operand = operands_.coordinates.find(load.array);
    if (!is_name(load.index, position_) || operand == operands_.coordinates.end()) return false;
    if (coordinates_.empty()) coordinates_ = load.array;
    return coordinates_ == load.array && is_of(operand->second);
  }

  /// All arrays that positions index are of one operand, so that they hold as many entries.
  bool is_of(int operand) {
    if (operand_ < 0) operand_ = operand;
    return operand_ == operand;
  }

  const std::string& position_;
  const OperandArrays& operands_;
  std::string coordinates_;
  int operand_ = -1;  ///< the one whose positions the loop runs over; -1: not known yet
};

}  // namespace

OperandArrays operand_arrays(const loop_ir::Kernel& kernel) {
  OperandArrays found;
  for (const auto& array : kernel.arrays) {
    if (const auto* coordinates = std::get_if<loop_ir::Coordinates>(&array.origin);
        coordinates && coordinates->argument > 0 && array.element != loop_ir::Element::byte)
      found.coordinates.emplace(array.name, coordinates->argument);
    if (const auto* values = std::get_if<loop_ir::ArgumentValues>(&array.origin);
        values && values->argument > 0)
      found.values.emplace(array.name, values->argument);
  }
  return found;
}

std::optional<GatheredSums> gathered_sums(const loop_ir::For& loop, const OperandArrays& operands,
                                          const std::map<std::string, operators::Monoid>& monoids) {
  if (loop.step != 1 || loop.unroll != 1) return std::nullopt;
  GatheredSums found;
  Walk walk(loop.variable, operands);
  loop_ir::Substitution inlined;
  for (const auto& each : statements_of(loop.body)) {
    if (const auto* let = std::get_if<loop_ir::Let>(&each->node)) {
      inlined[let->name] = loop_ir::substitute(let->value, inlined);
    } else if (const auto* fold = std::get_if<loop_ir::Accumulate>(&each->node)) {
      const auto monoid = monoids.find(fold->name);
      const auto value = loop_ir::substitute(fold->value, inlined);
      if (monoid == monoids.end() || !folds_from_zero(monoid->second)) return std::nullopt;
      if (!loop_ir::mentions(value, {loop.variable}) || !walk.may_compute(value)) return std::nullopt;
      found.sums.push_back({fold->name, value});
    } else if (!std::holds_alternative<loop_ir::Prefetch>(each->node)) {
      return std::nullopt;
    }
  }
  for (const auto& [name, variable] : inlined) walk.learn_coordinates(variable);
  if (walk.coordinates().empty() || found.sums.empty() || found.sums.size() > max_sums) return std::nullopt;
  found.coordinates = walk.coordinates();
  return found;
}

/// Returns four values, at the loop's position and the next three.
std::string CVectorLoops::four_values(const ExpressionPtr& value, const std::string& position) const {
  if (!loop_ir::mentions(value, {position})) return expressions_.print(value);
  return std::visit(
      Match{
          [&](const loop_ir::Load& x) -> std::string {
            if (is_name(x.index, position))
              return expressions_.loaded("vec4", x.array, x.array + " + " + position);
            std::string text;
            for (int lane = 0; lane < lanes; ++lane) {
              const auto at = loop_ir::add(loop_ir::name(position), loop_ir::integer(lane));
              const auto index = loop_ir::substitute(x.index, {{position, at}});
              text += (lane > 0 ? ", " : "") + expressions_.print(loop_ir::load(x.array, index));
            }
            return "(vec4){" + text + "}";
          },
          [&](const loop_ir::Apply& x) -> std::string {
            if (x.function == Function::negate)
              return "(-" + four_values(x.arguments.front(), position) + ")";
            if (operators::is_truth(x.function)) return four_truths(x, position);
            return "(" + four_values(x.arguments[0], position) + " " + CExpressions::infix(x.function) + " " +
                   four_values(x.arguments[1], position) + ")";
          },
          [](const auto&) -> std::string { SCHAAS_CHECK(false, "a value that no gathered sum has"); },
      },
      value->node);
}

/// Returns four values of a function that is 0 or 1, of as many arguments as it has. Its arguments are
/// registers.
std::string CVectorLoops::four_truths(const loop_ir::Apply& apply, const std::string& position) const {
  std::string text;
  for (const auto& argument : apply.arguments) {
    const std::string given = four_values(argument, position);
    const std::string four = loop_ir::mentions(argument, {position}) ? given : "((vec4){0} + " + given + ")";
    const std::string call = CExpressions::called("vec4", apply.function) + "(";
    text = text.empty() ? four : call + text + ", " + four + ")";
  }
  return apply.arguments.size() > 1 ? text : CExpressions::called("vec4", apply.function) + "(" + text + ")";
}

/// Prints two registers of sums in turn, a masked end, and a loop for rows at the end of the operand.
bool CVectorLoops::print_gathered_sums(const loop_ir::For& loop, const Block& block) {
  const auto found = expressions_.gathered_sums_of(loop);
  if (!found) return false;
  const std::string& v = loop.variable;
  const auto add_four = [&](int part, bool masked) {
    for (const auto& sum : found->sums) {
      const std::string values = four_values(sum.value, v);
      text_.line(expressions_.fold(
          "vec4", expressions_.monoid_of(sum.name), sum.name + "_four" + std::to_string(part),
          masked ? "FIRST(vec4, (" + values + "), " + v + "_end - " + v + ")" : values));
    }
  };
  open_range(loop);
  for (const auto& sum : found->sums)
    text_.line("vec4 " + sum.name + "_four0 = {0}, " + sum.name + "_four1 = {0};");
  // Two registers, so that additions of one do not wait for those of the other.
  text_.open("for (; " + v + " + 8 <= " + v + "_end; " + v + " += 4)");
  add_four(0, false);
  text_.line(v + " += 4;");
  add_four(1, false);
  text_.close();
  text_.open("if (" + v + " + 4 <= " + v + "_end)");
  add_four(0, false);
  text_.line(v + " += 4;");
  text_.close();
  // The operand has four entries from here on; those behind the row's end are masked.
  text_.open("if (" + v + " + 3 <= " + found->coordinates + "_last)");
  add_four(1, true);
  text_.close();
  text_.open("else");
  text_.open("for (; " + v + " < " + v + "_end; ++" + v + ")");
  const auto add = [&](const loop_ir::Accumulate& sum, const std::string& value) {
    text_.line(
        expressions_.fold("value", expressions_.monoid_of(sum.name), sum_name(sum.name, 0, block), value));
  };
  for (const auto& sum : found->sums) add(sum, expressions_.print(sum.value));
  text_.close();
  text_.close();
  // Lanes of `or` are 0 or 1: their sum is 0 where all are.
  for (const auto& sum : found->sums) add(sum, "sum4(" + sum.name + "_four0 + " + sum.name + "_four1)");
  text_.close();
  return true;
}

}  // namespace schaas::codegen
