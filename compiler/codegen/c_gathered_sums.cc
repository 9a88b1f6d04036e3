#include "compiler/codegen/c_gathered_sums.h"

#include <algorithm>

#include "compiler/codegen/c_statements.h"
#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/loop_ir/vector_form.h"
#include "compiler/support/result.h"

// y(i) = B(i,j) * x(j) and its like: four entries at a time in one register. The end of a row is computed
// beyond it, at entries of the next rows, and masked. A row of up to three entries then needs no loop, whose
// number of iterations the processor would have to predict. Rows of graphs have few entries and differ: a
// wrong prediction a row costs more than all of its products. Legal since all arrays indexed by positions
// have the same entries, and indices made of coordinates stay within extents. `or` and comparisons are folded
// in the same way; for one entry at a time they are a chain of conversions. So are functions that registers
// compute at once, and minima and maxima, whose masked lanes hold their identity. Gather instructions are
// half as fast as four loads on Zen where rows lie in cache, and faster on others. The client tells a kernel
// for AVX-512 whether they pay. Then eight entries at a time, masked, take 0.6 of the time for rows of one to
// nine. Rejected: eight loads beyond the end, slower for rows of two.
// Rows of as many entries as those before them, up to six, are summed entry by entry. The processor foresees
// how many there are, and no register is filled and folded. Rows of five take 0.75 to 0.9 of the time, rows
// that differ as long as without.
// Where nothing is gathered, as in y(i) = B(i,j), every processor with AVX-512 adds eight at a time, masked.
// Rows of zero to ten entries take 0.45 of the time, of zero to forty 0.65. Rows that all have five take
// about the same.
namespace schaas::codegen {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::Match;
using operators::Function;

constexpr int lanes = 4, max_sums = 2;
constexpr int min_equal = 4;  ///< rows as long as the next one, which is then summed entry by entry
constexpr int max_equal = 6;  ///< entries of such a row

/// Zero is the identity of these, and lanes that are 0 elsewhere are folded by their sum.
bool folds_from_zero(operators::Monoid monoid) {
  return monoid == operators::Monoid::sum || monoid == operators::Monoid::logical_or;
}

/// Checks the values of one loop and learns which array of coordinates it walks.
class Walk {
 public:
  Walk(const std::string& position, const OperandArrays& operands)
      : position_(position), operands_(operands) {}

  const std::string& coordinates() const { return coordinates_; }
  bool gathers() const { return gathers_; }
  bool gathers_at_coordinates() const { return gathers_ && at_coordinates_; }

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
                            return CExpressions::has_vector_form(x) &&
                                   std::all_of(x.arguments.begin(), x.arguments.end(),
                                               [&](const ExpressionPtr& each) { return may_compute(each); });
                          },
                          [](const auto&) { return false; },
                      },
                      value->node);
  }

 private:
  bool varies(const ExpressionPtr& expression) const { return loop_ir::mentions(expression, {position_}); }

  bool may_load(const loop_ir::Load& load) {
    const auto* at = std::get_if<loop_ir::Load>(&load.index->node);
    const bool is_at_coordinate = at != nullptr && is_coordinate(*at);
    gathers_ = gathers_ || is_at_coordinate;
    // A temporary has an element for each coordinate, not for each entry.
    if (operands_.temporaries.count(load.array) > 0) return is_at_coordinate;
    const auto operand = operands_.values.find(load.array);
    if (operand == operands_.values.end()) return false;
    if (is_name(load.index, position_)) return is_of(operand->second);
    gathers_ = true;
    at_coordinates_ = at_coordinates_ && is_at_coordinate;
    return is_affine(load.index);
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
  bool gathers_ = false, at_coordinates_ = true;
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
    const bool is_temporary = std::holds_alternative<loop_ir::Shared>(array.origin) ||
                              std::holds_alternative<loop_ir::Scratch>(array.origin);
    if (is_temporary && array.element == loop_ir::Element::value) found.temporaries.insert(array.name);
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
      if (monoid == monoids.end() || monoid->second == operators::Monoid::product) return std::nullopt;
      if (!loop_ir::mentions(value, {loop.variable}) || !walk.may_compute(value)) return std::nullopt;
      found.sums.push_back({fold->name, value});
    } else if (!std::holds_alternative<loop_ir::Prefetch>(each->node)) {
      return std::nullopt;
    }
  }
  for (const auto& [name, variable] : inlined) walk.learn_coordinates(variable);
  if (walk.coordinates().empty() || found.sums.empty() || found.sums.size() > max_sums) return std::nullopt;
  found.coordinates = walk.coordinates();
  found.gathers = walk.gathers();
  found.gathers_at_coordinates = walk.gathers_at_coordinates();
  return found;
}

static bool adds_or_multiplies(const loop_ir::Apply& apply) {
  return apply.function == Function::add || apply.function == Function::subtract ||
         apply.function == Function::multiply || apply.function == Function::negate;
}

/// The value is zero where all that is loaded at the position, or at its coordinate, is zero.
static bool vanishes(const ExpressionPtr& value, const std::string& position) {
  if (!loop_ir::mentions(value, {position})) return false;
  const auto* apply = std::get_if<loop_ir::Apply>(&value->node);
  if (apply == nullptr) return true;
  return adds_or_multiplies(*apply) &&
         std::all_of(apply->arguments.begin(), apply->arguments.end(),
                     [&](const auto& each) { return vanishes(each, position); });
}

/// Eight values of each array that the sums use can be loaded in part.
bool CExpressions::load_eight_in_part(const GatheredSums& sums) const {
  loop_ir::Uses uses;
  for (const auto& sum : sums.sums) loop_ir::collect_uses(sum.value, uses);
  return load_in_part(uses);
}

bool CExpressions::gathers_by_instruction(const GatheredSums& sums) const {
  return sums.gathers_at_coordinates && load_eight_in_part(sums);
}

bool CExpressions::adds_eight(const GatheredSums& sums) const {
  return !sums.gathers && load_eight_in_part(sums);
}

bool CExpressions::gathers_by_instruction(const loop_ir::StatementPtr& statement) const {
  return loop_ir::any_of(statement, [&](const loop_ir::StatementPtr& each) {
    const auto* loop = loop_ir::as<loop_ir::For>(each);
    const auto sums = loop == nullptr ? std::nullopt : gathered_sums_of(*loop);
    return sums && gathers_by_instruction(*sums);
  });
}

namespace {

struct LoadedArrays {
  std::set<std::string> at_position, elsewhere;
};

void collect(const ExpressionPtr& value, const std::string& position, LoadedArrays& out) {
  if (const auto* load = std::get_if<loop_ir::Load>(&value->node)) {
    (is_name(load->index, position) ? out.at_position : out.elsewhere).insert(load->array);
    collect(load->index, position, out);
  } else if (const auto* apply = std::get_if<loop_ir::Apply>(&value->node)) {
    for (const auto& each : apply->arguments) collect(each, position, out);
  }
}

LoadedArrays arrays_of(const GatheredSums& sums, const std::string& position) {
  LoadedArrays arrays;
  for (const auto& sum : sums.sums) collect(sum.value, position, arrays);
  return arrays;
}

/// Sums and products of loads.
bool is_sum_of_products(const ExpressionPtr& value) {
  const auto* apply = std::get_if<loop_ir::Apply>(&value->node);
  if (apply == nullptr) return true;
  return adds_or_multiplies(*apply) &&
         std::all_of(apply->arguments.begin(), apply->arguments.end(), is_sum_of_products);
}

}  // namespace

std::map<std::string, std::string> loops_over_adjacent_rows(const loop_ir::StatementPtr& phase) {
  std::map<std::string, std::string> found;
  for (const auto& statement : statements_of(phase)) {
    const auto* rows = loop_ir::as<loop_ir::For>(statement);
    if (rows == nullptr || !is_name(rows->begin, "begin") || !is_name(rows->end, "end") || rows->step != 1)
      continue;
    for (const auto& each : statements_of(rows->body)) {
      const auto* loop = loop_ir::as<loop_ir::For>(each);
      if (loop != nullptr && loop->row && loop->row->row == rows->variable &&
          loop->row->positions.size() == 1)
        found.emplace(loop->variable, loop->row->positions.front());
    }
  }
  return found;
}

/// Rows of a few entries are summed one by one where all operations are cheap. No array is loaded both at the
/// entries and elsewhere: there it begins with the row.
bool CExpressions::counts_equal_rows(const loop_ir::For& loop, const GatheredSums& sums) const {
  const auto arrays = arrays_of(sums, loop.variable);
  const bool is_apart =
      std::none_of(arrays.at_position.begin(), arrays.at_position.end(),
                   [&](const std::string& array) { return arrays.elsewhere.count(array) > 0; });
  return sums.gathers && is_apart && adjacent_rows_.count(loop.variable) > 0 &&
         std::all_of(sums.sums.begin(), sums.sums.end(),
                     [](const auto& sum) { return is_sum_of_products(sum.value); });
}

std::map<std::string, std::string> CExpressions::loops_with_equal_rows(
    const loop_ir::StatementPtr& statement) const {
  std::map<std::string, std::string> found;
  loop_ir::for_each_statement(statement, [&](const loop_ir::StatementPtr& each) {
    const auto* loop = loop_ir::as<loop_ir::For>(each);
    const auto sums = loop == nullptr ? std::nullopt : gathered_sums_of(*loop);
    if (sums && counts_equal_rows(*loop, *sums)) found.insert(*adjacent_rows_.find(loop->variable));
  });
  return found;
}

namespace {

/// Counts rows in turn that have as many entries as the one before.
void print_row_count(CText& text, const std::string& variable, const std::string& count) {
  const std::string equal = variable + "_equal", before = variable + "_before";
  text.line(equal + " = " + count + " == " + before + " ? " + equal + " + 1 : 0, " + before + " = " + count +
            ";");
}

}  // namespace

void print_equal_row_counters(CText& text, const std::string& variable, const std::string& positions) {
  const std::string least = std::to_string(min_equal);
  text.line("int64_t " + variable + "_before = -1, " + variable + "_equal = 0;");
  text.open("for (int64_t row = begin > " + least + " ? begin - " + least + " : 0; row < begin; ++row)");
  text.line("const int64_t count = " + positions + "[row + 1] - " + positions + "[row];");
  print_row_count(text, variable, "count");
  text.close();
}

/// Returns adjacent values from the loop's position on.
std::string CVectorLoops::adjacent_values(const ExpressionPtr& value, const std::string& position,
                                          const Adjacent& adjacent) const {
  if (!loop_ir::mentions(value, {position})) return expressions_.print(value);
  return std::visit(
      Match{
          [&](const loop_ir::Load& x) { return adjacent_loads(x, position, adjacent); },
          [&](const loop_ir::Apply& x) -> std::string {
            if (x.function == Function::negate)
              return "(-" + adjacent_values(x.arguments.front(), position, adjacent) + ")";
            if (CExpressions::infix(x.function).empty()) return adjacent_calls(x, position, adjacent);
            return "(" + adjacent_values(x.arguments[0], position, adjacent) + " " +
                   CExpressions::infix(x.function) + " " +
                   adjacent_values(x.arguments[1], position, adjacent) + ")";
          },
          [](const auto&) -> std::string { SCHAAS_CHECK(false, "a value that no gathered sum has"); },
      },
      value->node);
}

std::string CVectorLoops::adjacent_loads(const loop_ir::Load& load, const std::string& position,
                                         const Adjacent& adjacent) const {
  if (is_name(load.index, position)) {
    const std::string address = load.array + " + " + position;
    return adjacent.count.empty() ? expressions_.loaded(adjacent.type, load.array, address)
                                  : "FIRST_EIGHT(" + address + ", " + adjacent.count + ")";
  }
  if (adjacent.gathers) {
    const std::string coordinates = std::get<loop_ir::Load>(load.index->node).array;
    return "GATHER_FIRST(" + load.array + ", " + coordinates + " + " + position + ", " +
           (adjacent.count.empty() ? std::string("8") : adjacent.count) + ")";
  }
  std::string text;
  for (int lane = 0; lane < lanes; ++lane) {
    const auto at = loop_ir::add(loop_ir::name(position), loop_ir::integer(lane));
    const auto index = loop_ir::substitute(load.index, {{position, at}});
    text += (lane > 0 ? ", " : "") + expressions_.print(loop_ir::load(load.array, index));
  }
  return "(" + adjacent.type + "){" + text + "}";
}

/// Returns adjacent values of a function that C has no operator for. Its arguments are registers.
std::string CVectorLoops::adjacent_calls(const loop_ir::Apply& apply, const std::string& position,
                                         const Adjacent& adjacent) const {
  std::vector<std::string> parts;
  for (const auto& argument : apply.arguments) {
    const std::string given = adjacent_values(argument, position, adjacent);
    const bool is_register = loop_ir::mentions(argument, {position});
    parts.push_back(is_register ? given : expressions_.broadcast(adjacent.type, given));
  }
  return CExpressions::call(adjacent.type, apply, parts);
}

/// Returns a register whose lanes hold the identity of the fold.
std::string CVectorLoops::identity_of(const loop_ir::Accumulate& fold, const std::string& type) const {
  const auto monoid = expressions_.monoid_of(fold.name);
  if (folds_from_zero(monoid)) return "{0}";
  return expressions_.broadcast(type, expressions_.number(operators::identity(monoid)));
}

/// Returns the values up to `count`; behind them the identity.
std::string CVectorLoops::first_of(const loop_ir::Accumulate& fold, const std::string& type,
                                   const std::string& values, const std::string& count) const {
  const std::string in_part = type + ", (" + values + "), " + count;
  if (folds_from_zero(expressions_.monoid_of(fold.name))) return "FIRST(" + in_part + ")";
  return "FIRST_OR(" + in_part + ", " + identity_of(fold, type) + ")";
}

/// Folds the four lanes of a register into the fold.
void CVectorLoops::print_fold_of_four(const loop_ir::Accumulate& fold, const std::string& four,
                                      const Block& block) {
  const auto monoid = expressions_.monoid_of(fold.name);
  const auto of_two = [&](const std::string& a, const std::string& b) {
    return CExpressions::called("value", operators::combine(monoid)) + "(" + a + ", " + b + ")";
  };
  const auto lane = [&](int n) { return four + "[" + std::to_string(n) + "]"; };
  text_.line(expressions_.fold("value", monoid, sum_name(fold.name, 0, block),
                               of_two(of_two(lane(0), lane(1)), of_two(lane(2), lane(3)))));
}

/// Prints the sums of a loop over whole registers, and of one in part, which rows of up to eight entries have
/// alone. Factors that are not at the entries' positions are gathered by instructions.
void CVectorLoops::print_sums_of_eight(const loop_ir::For& loop, const GatheredSums& sums,
                                       const Block& block) {
  const std::string &v = loop.variable, type = expressions_.eight_values();
  const auto add = [&](const std::string& count) {
    for (const auto& sum : sums.sums) {
      const std::string values = adjacent_values(sum.value, v, {type, count, true});
      const auto monoid = expressions_.monoid_of(sum.name);
      const bool is_whole = count.empty() || (folds_from_zero(monoid) && vanishes(sum.value, v));
      text_.line(expressions_.fold(type, monoid, sum.name + "_eight",
                                   is_whole ? values : first_of(sum, type, values, count)));
    }
  };
  for (const auto& sum : sums.sums)
    text_.line(type + " " + sum.name + "_eight = " + identity_of(sum, type) + ";");
  text_.open("for (; " + v + " + 8 < " + v + "_end; " + v + " += 8)");
  add("");
  text_.close();
  add(v + "_end - " + v);
  for (const auto& sum : sums.sums) {
    const auto monoid = expressions_.monoid_of(sum.name);
    const std::string eight = sum.name + "_eight", halves = sum.name + "_halves";
    if (folds_from_zero(monoid)) {
      text_.line(expressions_.fold("value", monoid, sum_name(sum.name, 0, block),
                                   (type == "vec" ? "SUM(" : "sum32(") + eight + ")"));
      continue;
    }
    text_.line("union { " + type + " whole; vec4 half[2]; } " + halves + " = {" + eight + "};");
    text_.line(expressions_.fold("vec4", monoid, halves + ".half[0]", halves + ".half[1]"));
    print_fold_of_four(sum, halves + ".half[0]", block);
  }
}

/// Prints registers of eight where vectors have 64 bytes, for gathers where they pay, else of four.
bool CVectorLoops::print_gathered_sums(const loop_ir::For& loop, const Block& block) {
  const auto found = expressions_.gathered_sums_of(loop);
  if (!found) return false;
  open_range(loop);
  const bool by_instruction = expressions_.gathers_by_instruction(*found);
  const bool by_eight = expressions_.adds_eight(*found);
  if (by_instruction) {
    text_.directive("#if VECTOR_BYTES == 64");
    text_.open("if (__builtin_expect(gathers, 0))");
    print_sums_of_eight(loop, *found, block);
    text_.close();
    text_.directive("#endif");
    text_.open("if (!gathers)");
  } else if (by_eight) {
    text_.directive("#if VECTOR_BYTES == 64");
    print_sums_of_eight(loop, *found, block);
    text_.directive("#else");
  }
  const bool counts_rows = block.scalar && expressions_.counts_equal_rows(loop, *found);
  if (counts_rows) {
    const std::string &v = loop.variable, count = v + "_count";
    text_.line("const int64_t " + count + " = " + v + "_end - " + v + ";");
    print_row_count(text_, v, count);
    text_.open("if (__builtin_expect(" + v + "_equal >= " + std::to_string(min_equal) + " && " + count +
               " <= " + std::to_string(max_equal) + ", 1))");
    print_sums_of_equal_row(loop, *found, block);
    text_.close();
    text_.open("else");
  }
  print_sums_by_loads(loop, *found, block);
  if (counts_rows) text_.close();
  if (by_instruction) text_.close();
  if (by_eight) text_.directive("#endif");
  text_.close();
  return true;
}

/// Prints sums of single entries, for a row that has as many entries as those before it. Inside, the arrays
/// begin with the row: registers for their first elements are few where the other ways need some, too.
void CVectorLoops::print_sums_of_equal_row(const loop_ir::For& loop, const GatheredSums& sums,
                                           const Block& block) {
  const std::string& v = loop.variable;
  const auto arrays = arrays_of(sums, v);
  for (const auto& array : arrays.at_position)
    text_.line("const __auto_type " + array + "_row = " + array + " + " + v + ";");
  text_.open("");
  for (const auto& array : arrays.at_position)
    text_.line("const __auto_type " + array + " = " + array + "_row;");
  text_.open("switch (" + v + "_count)");
  for (int entry = max_equal - 1; entry >= 0; --entry) {
    text_.line("case " + std::to_string(entry + 1) + ":");
    for (const auto& sum : sums.sums) {
      const auto value = loop_ir::substitute(sum.value, {{v, loop_ir::integer(entry)}});
      text_.line(expressions_.fold("value", expressions_.monoid_of(sum.name), sum_name(sum.name, 0, block),
                                   expressions_.print(value)));
    }
  }
  text_.close();
  text_.close();
}

/// Prints two registers of sums in turn, a masked end, and a loop for rows at the end of the operand.
void CVectorLoops::print_sums_by_loads(const loop_ir::For& loop, const GatheredSums& sums,
                                       const Block& block) {
  const std::string& v = loop.variable;
  const auto add_four = [&](int part, bool masked) {
    for (const auto& sum : sums.sums) {
      const std::string values = adjacent_values(sum.value, v, {"vec4", "", false});
      text_.line(expressions_.fold("vec4", expressions_.monoid_of(sum.name),
                                   sum.name + "_four" + std::to_string(part),
                                   masked ? first_of(sum, "vec4", values, v + "_end - " + v) : values));
    }
  };
  for (const auto& sum : sums.sums) {
    const std::string identity = identity_of(sum, "vec4");
    text_.line("vec4 " + sum.name + "_four0 = " + identity + ", " + sum.name + "_four1 = " + identity + ";");
  }
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
  text_.open("if (" + v + " + 3 <= " + sums.coordinates + "_last)");
  add_four(1, true);
  text_.close();
  text_.open("else");
  text_.open("for (; " + v + " < " + v + "_end; ++" + v + ")");
  for (const auto& sum : sums.sums) {
    text_.line(expressions_.fold("value", expressions_.monoid_of(sum.name), sum_name(sum.name, 0, block),
                                 expressions_.print(sum.value)));
  }
  text_.close();
  text_.close();
  for (const auto& sum : sums.sums) {
    const auto monoid = expressions_.monoid_of(sum.name);
    const std::string four = sum.name + "_four0", other = sum.name + "_four1";
    if (folds_from_zero(monoid)) {  // lanes of `or` are 0 or 1: their sum is 0 where all are
      text_.line(expressions_.fold("value", monoid, sum_name(sum.name, 0, block),
                                   "sum4(" + four + " + " + other + ")"));
      continue;
    }
    text_.line(expressions_.fold("vec4", monoid, four, other));
    print_fold_of_four(sum, four, block);
  }
}

/// Stores four values at a time of which some are gathered. Returns false where one may not be computed past
/// the row's end.
bool CVectorLoops::print_overrun_by_loads(const loop_ir::For& loop) {
  const std::string& v = loop.variable;
  const auto stores = statements_of(loop.body);
  const auto fills_four = [&](const loop_ir::StatementPtr& each) {
    const auto& store = std::get<loop_ir::Store>(each->node);
    Walk walk(v, expressions_.operands());
    return loop_ir::mentions(store.value, {v}) && walk.may_compute(store.value) &&
           loop_ir::is_vector_index(store.index, v, {v});
  };
  if (!expressions_.fills_four() || !std::all_of(stores.begin(), stores.end(), fills_four)) return false;
  open_overrun(loop, "4");
  for (const auto& each : stores) {
    const auto& store = std::get<loop_ir::Store>(each->node);
    text_.line("*(vec4*)(" + store.array + " + " + expressions_.print(store.index) +
               ") = " + adjacent_values(store.value, v, {"vec4", "", false}) + ";");
  }
  text_.close();
  cascade(loop, {"value", 1}, "while");
  text_.close();
  return true;
}

}  // namespace schaas::codegen
