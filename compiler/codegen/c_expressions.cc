#include "compiler/codegen/c_expressions.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "compiler/codegen/c_prefetch.h"
#include "compiler/loop_ir/result_rows.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/support/contains.h"
#include "compiler/support/result.h"

// Prints expressions as C. The constructor walks all statements once and learns the facts that other parts
// ask for. These are types of names and arrays, monoids of accumulators, and the parts of the prologue that
// the kernel needs. A name has one kind in all phases, so one table serves them. Index arithmetic is done in
// 64 bits, also with elements of 32-bit arrays. Constants of values are cast, so that f32 kernels do not
// compute in double.
namespace schaas::codegen {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::Match;
using operators::Function;
using operators::Monoid;

bool is_connective(Function function) {
  return function == Function::logical_and || function == Function::logical_or ||
         function == Function::logical_not;
}

/// Returns the name of a function that is no C operator; `where` and `not` are no C words thanks to the
/// prefix.
const char* c_name(Function function) {
  switch (function) {
    case Function::add:
    case Function::subtract:
    case Function::multiply:
    case Function::divide:
    case Function::negate:
      return "";
    case Function::power:
      return "power";
    case Function::minimum:
      return "minimum";
    case Function::maximum:
      return "maximum";
    case Function::less:
      return "less";
    case Function::less_equal:
      return "less_equal";
    case Function::greater:
      return "greater";
    case Function::greater_equal:
      return "greater_equal";
    case Function::equal:
      return "equal";
    case Function::not_equal:
      return "not_equal";
    case Function::logical_and:
      return "and";
    case Function::logical_or:
      return "or";
    case Function::logical_not:
      return "not";
    case Function::where:
    case Function::abs:
    case Function::exp:
    case Function::expm1:
    case Function::log:
    case Function::log1p:
    case Function::log2:
    case Function::log10:
    case Function::sqrt:
    case Function::sin:
    case Function::cos:
    case Function::tan:
    case Function::asin:
    case Function::acos:
    case Function::atan:
    case Function::sinh:
    case Function::cosh:
    case Function::tanh:
    case Function::sigmoid:
    case Function::erf:
    case Function::relu:
    case Function::sign:
    case Function::floor:
    case Function::ceil:
    case Function::round:
    case Function::conj:
    case Function::real:
    case Function::imag:
    case Function::add_absorbing_largest:
    case Function::add_absorbing_smallest:
      return operators::facts(function).name;
  }
  return "";
}

/// The expression takes less time than a mispredicted branch.
bool is_cheap(const ExpressionPtr& expression) {
  if (std::holds_alternative<loop_ir::Search>(expression->node)) return false;
  const auto* called = std::get_if<loop_ir::Apply>(&expression->node);
  return called == nullptr || (!operators::is_costly(called->function) &&
                               std::all_of(called->arguments.begin(), called->arguments.end(), is_cheap));
}

/// Returns the function of runtime/complex.h for a product or quotient.
std::string complex_name(const std::string& type, Function function) {
  return type + (function == Function::multiply ? "_multiply" : "_divide");
}

/// Returns "name(name(a, b), c)".
std::string nested(const std::string& name, const std::vector<std::string>& arguments) {
  std::string text = arguments.front();
  if (arguments.size() == 1) return name + "(" + text + ")";
  for (std::size_t n = 1; n < arguments.size(); ++n) text = name + "(" + text + ", " + arguments[n] + ")";
  return text;
}

/// Returns the function of runtime/function.h that raises to the power without a call of pow; "": none does.
std::string power_name(const loop_ir::Apply& apply) {
  if (apply.function != Function::power) return "";
  const auto* negated = std::get_if<loop_ir::Apply>(&apply.arguments[1]->node);
  const bool negates = negated != nullptr && negated->function == Function::negate;
  const auto& exponent = negates ? negated->arguments.front() : apply.arguments[1];
  const auto* number = std::get_if<loop_ir::Number>(&exponent->node);
  if (number == nullptr) return "";
  const double value = negates ? -number->value : number->value;
  const char* name = operators::simple_power(value);
  return name == nullptr ? "" : name;
}

/// Returns "(a op b op c)".
std::string joined(const std::vector<std::string>& parts, const std::string& op) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "(" : " " + op + " ") + part;
  return text + ")";
}

}  // namespace

CExpressions::CExpressions(const loop_ir::Kernel& kernel)
    : integers_(operators::is_integer(kernel.value_type)),
      complex_(operators::is_complex(kernel.value_type)),
      short_(kernel),
      value_bytes_(static_cast<int>(operators::bytes_of(kernel.value_type))),
      narrow_(loop_ir::widened_arrays(kernel)),
      streaming_target_(loop_ir::streaming_target(kernel)),
      operands_(operand_arrays(kernel)) {
  for (const auto& array : kernel.arrays) elements_[array.name] = array.element;
  for (const auto& phase : kernel.phases) {
    learn(phase.body);
    if (phase.numeric) learn(phase.numeric);
    for (const auto& body : {phase.body, phase.numeric})
      if (body) adjacent_rows_.merge(loops_over_adjacent_rows(body));
    if (phase.row_split) learn(phase.row_split->partial);
    if (phase.row_split && phase.row_split->fix_up) learn(phase.row_split->fix_up);
  }
}

bool CExpressions::load_in_part(const loop_ir::Uses& uses) const {
  return value_bytes_ >= 4 && std::none_of(uses.arrays.begin(), uses.arrays.end(),
                                           [&](const std::string& array) { return is_narrow(array); });
}

std::set<operators::ValueType> CExpressions::narrow_types() const {
  std::set<operators::ValueType> types;
  for (const auto& [array, type] : narrow_) types.insert(type);
  return types;
}

std::string CExpressions::widened(const std::string& type, const std::string& array,
                                  const std::string& address) const {
  return type + "_of_" + operators::name(narrow_.at(array)) + "(" + address + ")";
}

std::string CExpressions::loaded(const std::string& type, const std::string& array,
                                 const std::string& address) const {
  return is_narrow(array) ? widened(type, array, address) : "*(const " + type + "*)(" + address + ")";
}

std::string CExpressions::stored_type(const loop_ir::Array& array) const {
  const auto narrow = narrow_.find(array.name);
  return narrow == narrow_.end() ? c_type(array.element) : operators::facts(narrow->second).c_type;
}

void CExpressions::learn_prefetch(const loop_ir::For& loop) {
  const Gathered gathers = gathered(loop);
  if (!gathers.loads.empty()) beyond_rows_.insert(gathers.coordinates);
}

// Sums are computed beyond a row's end, at coordinates of the next rows.
void CExpressions::learn(const GatheredSums& sums) {
  beyond_rows_.insert(sums.coordinates);
  needs_gathers_ = needs_gathers_ || gathers_by_instruction(sums);
  needs_eight_ = needs_eight_ || needs_gathers_ || adds_eight(sums);
}

void CExpressions::learn(Monoid monoid) {
  if (monoid != Monoid::sum && monoid != Monoid::product) needs_functions_ = true;
}

void CExpressions::learn(const loop_ir::RowArithmetic& arithmetic) {
  if (!support::contains(terms_, arithmetic)) terms_.push_back(arithmetic);
  if (infix(arithmetic.product).empty()) needs_functions_ = true;
  learn(arithmetic.monoid);
}

void CExpressions::learn(const ExpressionPtr& expression) {
  std::visit(Match{
                 [](const loop_ir::Integer&) {},
                 [](const loop_ir::Number&) {},
                 [](const loop_ir::Name&) {},
                 [&](const loop_ir::Load& x) { learn(x.index); },
                 [&](const loop_ir::Apply& x) {
                   for (const auto& each : x.arguments) learn(each);
                   // Functions that C writes as operators need no runtime.
                   const bool called = c_name(x.function)[0] != '\0';
                   if (called && is_value(x.arguments.front())) needs_functions_ = true;
                 },
                 [&](const loop_ir::Choose& x) {
                   for (const auto& part : {x.condition, x.then, x.otherwise}) learn(part);
                 },
                 [&](const loop_ir::Search& x) {
                   needs_find_ = needs_find_ || x.layout == loop_ir::Layout::hashed ||
                                 x.layout == loop_ir::Layout::filled;
                 },
                 [&](const loop_ir::Convert& x) {
                   needs_coordinates_ = true;
                   learn(x.index);
                 },
             },
             expression->node);
}

void CExpressions::learn(const loop_ir::StatementPtr& statement) {
  std::visit(Match{
                 [&](const loop_ir::Block& x) {
                   for (const auto& each : x.statements) learn(each);
                 },
                 [&](const loop_ir::Let& x) {
                   learn(x.value);
                   if (x.type == loop_ir::Type::value) values_.insert(x.name);
                 },
                 [&](const loop_ir::Accumulator& x) {
                   values_.insert(x.name);
                   monoids_[x.name] = x.monoid;
                   learn(x.monoid);
                 },
                 [&](const loop_ir::Accumulate& x) { learn(x.value); },
                 [&](const loop_ir::Store& x) {
                   learn(x.index);
                   learn(x.value);
                   if (x.mode == loop_ir::Write::fold) learn(x.monoid);
                   if (x.mode == loop_ir::Write::atomic) needs_atomics_ = true;
                 },
                 [&](const loop_ir::If& x) {
                   learn(x.condition);
                   learn(x.body);
                 },
                 [&](const loop_ir::Counter& x) { learn(x.initial); },
                 [&](const loop_ir::SetCounter& x) { learn(x.value); },
                 [&](const loop_ir::For& x) {
                   learn(x.body);
                   if (x.prefetch_distance > 0) learn_prefetch(x);
                   if (const auto sums = gathered_sums_of(x)) learn(*sums);
                 },
                 [&](const loop_ir::Merge& x) {
                   needs_merges_ = needs_merges_ || is_union_of_two(x) || is_intersection_of_lists(x);
                   needs_runs_ = needs_runs_ || walks_long_runs(x);
                   learn(x.body);
                 },
                 [&](const loop_ir::Fill& x) { learn(x.value); },
                 [](const loop_ir::Prefetch&) {},
                 [&](const loop_ir::Sort&) { needs_sort_ = true; },
                 [&](const loop_ir::Occupy&) { needs_sort_ = needs_occupancy_ = true; },
                 [&](const loop_ir::OccupyGroups&) { needs_sort_ = needs_occupancy_ = true; },
                 [&](const loop_ir::Compact&) { needs_sort_ = needs_occupancy_ = true; },
                 [&](const loop_ir::Expand& x) {
                   learn(x.terms.arithmetic);
                   learn(x.scale);
                 },
                 [&](const loop_ir::Compress& x) { learn(x.terms.arithmetic); },
                 [&](const loop_ir::AddSupernode& x) {
                   needs_supernodes_ = true;
                   learn(x.scale);
                 },
                 [&](const loop_ir::GroupStore& x) { learn(x.value); },
                 [](const loop_ir::Deferred&) {},
                 [&](const loop_ir::Defer& x) { learn(x.value); },
                 [](const loop_ir::Flush&) {},
                 [&](const loop_ir::Stage& x) {
                   for (const auto& copy : x.copies)
                     if (is_narrow(copy.from)) narrow_.emplace(copy.to, narrow_.at(copy.from));
                 },
                 [](const loop_ir::Overflow&) {},
             },
             statement->node);
}

bool CExpressions::is_value(const ExpressionPtr& expression) const {
  return std::visit(
      Match{
          [](const loop_ir::Integer&) { return false; },
          [](const loop_ir::Number&) { return true; },
          [&](const loop_ir::Name& x) { return values_.count(x.name) > 0; },
          [&](const loop_ir::Load& x) { return elements_.at(x.array) == loop_ir::Element::value; },
          // All arguments of a function have one type, and so have both branches of a choice.
          [&](const loop_ir::Apply& x) { return is_value(x.arguments.front()); },
          [&](const loop_ir::Choose& x) { return is_value(x.then); },
          [](const loop_ir::Search&) { return false; },
          [](const loop_ir::Convert&) { return true; },
      },
      expression->node);
}

std::string CExpressions::print(const ExpressionPtr& expression, const Loadable& loadable) const {
  return std::visit(Match{
                        [](const loop_ir::Integer& x) { return std::to_string(x.value); },
                        [&](const loop_ir::Number& x) { return number(x.value); },
                        [](const loop_ir::Name& x) { return x.name; },
                        [&](const loop_ir::Load& x) {
                          const std::string index = print(x.index);
                          return is_narrow(x.array) ? widened("value", x.array, x.array + " + " + index)
                                                    : x.array + "[" + index + "]";
                        },
                        [&](const loop_ir::Convert& x) { return "(value)(" + print(x.index) + ")"; },
                        [&](const loop_ir::Apply& x) { return apply(x, loadable); },
                        [&](const loop_ir::Choose& x) { return choose(x, loadable); },
                        [&](const loop_ir::Search& x) {
                          static constexpr const char* names[] = {"SEARCH(", "FIND(", "SLOT(", "MATCH("};
                          return names[static_cast<int>(x.layout)] + x.array + ", " + print(x.begin) + ", " +
                                 print(x.end) + ", " + print(x.key) + ")";
                        },
                    },
                    expression->node);
}

std::string CExpressions::choose(const loop_ir::Choose& choice, const Loadable& loadable) const {
  const auto* flag = std::get_if<loop_ir::Name>(&choice.condition->node);
  const std::string condition = print(choice.condition, loadable), then = print(choice.then, loadable),
                    otherwise = print(choice.otherwise, loadable);
  if (flag != nullptr && loadable.count(flag->name) > 0 && is_value(choice.then) && is_cheap(choice.then))
    return "value_selected(" + condition + ", " + then + ", " + otherwise + ")";
  return (is_value(choice.then) ? promoted() : "") + "(" + condition + " ? " + then + " : " + otherwise + ")";
}

/// Returns the cast of an operator's result, which C computes in int where values have fewer bits.
std::string CExpressions::promoted() const { return value_bytes_ < 4 ? "(value)" : ""; }

/// Prints whether real values are true, as an integer of C. Nested connectives pass no truth through a value.
std::string CExpressions::truth(const loop_ir::Apply& apply, const Loadable& loadable) const {
  std::vector<std::string> parts;
  for (const auto& each : apply.arguments) {
    const auto* inner = std::get_if<loop_ir::Apply>(&each->node);
    parts.push_back(inner != nullptr && is_connective(inner->function)
                        ? truth(*inner, loadable)
                        : "value_holds(" + print(each, loadable) + ")");
  }
  if (apply.function == Function::logical_not) return "!" + parts.front();
  return joined(parts, apply.function == Function::logical_and ? "&" : "|");
}

/// Prints a function of values: an operator, a call, or calls of two arguments at a time.
std::string CExpressions::apply(const loop_ir::Apply& apply, const Loadable& loadable) const {
  if (!is_value(apply.arguments.front())) return apply_to_indices(apply);
  if (is_connective(apply.function) && !integers_ && !complex_)
    return "value_truth(" + truth(apply, loadable) + ")";
  std::vector<std::string> parts;
  for (const auto& each : apply.arguments) parts.push_back(print(each, loadable));
  if (apply.function == Function::negate) return promoted() + "(-" + parts.front() + ")";
  const std::string op = infix(apply.function);
  const bool is_call =
      complex_ && (apply.function == Function::multiply || apply.function == Function::divide);
  if (!op.empty() && !is_call) return promoted() + joined(parts, op);
  if (is_call) return nested(complex_name("value", apply.function), parts);
  return call("value", apply, parts);
}

/// Returns the arguments of index arithmetic. It has 64 bits, also where a 32-bit array or variable is read,
/// unless the result has 32.
std::vector<std::string> CExpressions::index_arguments(const loop_ir::Apply& apply) const {
  const bool arithmetic = !infix(apply.function).empty();
  const auto is_narrow = [&](const ExpressionPtr& each) {
    const auto* load = std::get_if<loop_ir::Load>(&each->node);
    return short_.fits(each) || (load && elements_.at(load->array) != loop_ir::Element::index64);
  };
  // C widens the other arguments where one has 64 bits.
  const bool widened =
      short_.any() && !std::all_of(apply.arguments.begin(), apply.arguments.end(), is_narrow);
  bool cast = arithmetic && !widened && !short_.fits(apply);
  std::vector<std::string> parts;
  for (const auto& each : apply.arguments) {
    const bool here = cast && is_narrow(each);
    parts.push_back((here ? "(int64_t)" : "") + print(each));
    cast = cast && !(here && short_.any());
  }
  return parts;
}

std::string CExpressions::apply_to_indices(const loop_ir::Apply& apply) const {
  const bool arithmetic = !infix(apply.function).empty();
  const std::vector<std::string> parts = index_arguments(apply);
  if (arithmetic) return joined(parts, infix(apply.function));
  if (apply.function == Function::logical_not) return "!" + parts.front();
  if (apply.function == Function::logical_and) return joined(parts, "&&");
  if (apply.function == Function::logical_or) return joined(parts, "||");
  const bool extreme = apply.function == Function::minimum || apply.function == Function::maximum;
  // Comparisons are 0 or 1, as in C.
  if (!extreme) return joined(parts, operators::facts(apply.function).infix);
  const std::string op = apply.function == Function::minimum ? " < " : " > ";
  std::string text = parts.front();
  for (std::size_t n = 1; n < parts.size(); ++n) {
    text = "(" + text + op + parts[n] + " ? " + text + " : " + parts[n] + ")";
  }
  return text;
}

bool is_union_of_two(const loop_ir::Merge& merge) {
  const auto repeats = [](const loop_ir::Cursor& cursor) { return !cursor.until.empty(); };
  const auto loops = [](const loop_ir::StatementPtr& each) {
    return loop_ir::is_any<loop_ir::For, loop_ir::Merge>(each);
  };
  return merge.kind == loop_ir::MergeKind::any && !merge.over && merge.cursors.size() == 2 &&
         std::none_of(merge.cursors.begin(), merge.cursors.end(), repeats) &&
         !loop_ir::any_of(merge.body, loops);
}

bool is_intersection_of_lists(const loop_ir::Merge& merge) {
  return merge.kind != loop_ir::MergeKind::any && !merge.over && merge.cursors.size() > 1 &&
         std::none_of(merge.cursors.begin(), merge.cursors.end(),
                      [](const loop_ir::Cursor& cursor) { return cursor.coordinates.empty(); });
}

// A phase finds the ends of its share by conditions; lists of one parent end at positions.
bool walks_long_runs(const loop_ir::Merge& merge) {
  if (merge.cursors.size() != 1 || merge.over) return false;
  const loop_ir::Cursor& cursor = merge.cursors.front();
  return !cursor.until.empty() && !cursor.coordinates.empty() && cursor.present.empty() &&
         std::holds_alternative<loop_ir::Choose>(cursor.end->node);
}

std::string CExpressions::real(double value) {
  if (std::isnan(value)) return "__builtin_nan(\"\")";
  if (std::isinf(value)) return value < 0 ? "-__builtin_inf()" : "__builtin_inf()";
  char buffer[32];
  std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  // Without a point it would be an integer of C.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string CExpressions::number(double value) const {
  if (!integers_) return "(value)" + real(value);
  if (std::isinf(value)) return value < 0 ? "VALUE_SMALLEST" : "VALUE_LARGEST";
  return "(value)" + std::to_string(static_cast<std::int64_t>(value));
}

std::string CExpressions::infix(Function function) {
  const bool operators = function == Function::add || function == Function::subtract ||
                         function == Function::multiply || function == Function::divide;
  return operators ? operators::facts(function).infix : "";
}

std::string CExpressions::called(const std::string& type, Function function) {
  const std::string name = c_name(function);
  SCHAAS_CHECK(!name.empty(), "a function that C writes with an operator");
  return type + "_" + name;
}

bool CExpressions::has_vector_form(const loop_ir::Apply& apply) {
  switch (apply.function) {
    case Function::minimum:
    case Function::maximum:
    case Function::where:
    case Function::abs:
    case Function::relu:
    case Function::sign:
    case Function::sqrt:
    case Function::exp:
    case Function::expm1:
    case Function::log:
    case Function::log1p:
    case Function::sin:
    case Function::cos:
    case Function::tanh:
    case Function::sigmoid:
      return true;
    case Function::power:
      return !power_name(apply).empty();
    default:
      return c_name(apply.function)[0] == '\0' || operators::is_truth(apply.function);
  }
}

bool CExpressions::is_for_registers(const ExpressionPtr& value) {
  const auto* apply = std::get_if<loop_ir::Apply>(&value->node);
  return apply == nullptr ||
         (has_vector_form(*apply) &&
          std::all_of(apply->arguments.begin(), apply->arguments.end(), is_for_registers));
}

std::string CExpressions::call(const std::string& type, const loop_ir::Apply& apply,
                               const std::vector<std::string>& arguments) {
  const std::string power = power_name(apply);
  if (!power.empty()) return type + "_" + power + "(" + arguments.front() + ")";
  const std::string name = called(type, apply.function);
  if (apply.function == Function::where)
    return name + "(" + arguments[0] + ", " + arguments[1] + ", " + arguments[2] + ")";
  return nested(name, arguments);
}

std::string CExpressions::of_two(Function function, const std::string& a, const std::string& b) const {
  const std::string op = infix(function);
  if (complex_ && function == Function::multiply) return "value_multiply(" + a + ", " + b + ")";
  if (op.empty()) return called("value", function) + "(" + a + ", " + b + ")";
  return promoted() + "((" + a + ") " + op + " (" + b + "))";
}

std::string CExpressions::terms_name(const loop_ir::RowArithmetic& arithmetic) {
  return std::string(operators::name(arithmetic.monoid)) + "_" + operators::facts(arithmetic.product).name;
}

std::string CExpressions::term_functions(const loop_ir::RowArithmetic& arithmetic) const {
  const std::string name = terms_name(arithmetic);
  const bool by_vectors = !complex_ && arithmetic.product == Function::multiply;
  const std::string folded = of_two(operators::combine(arithmetic.monoid), "sum", "term");
  return "#define PRODUCT_" + name + "(a, b) " + of_two(arithmetic.product, "a", "b") + "\n#define FOLD_" +
         name + "(sum, is_set, term) " +
         (arithmetic.monoid == Monoid::sum ? "sum += term" : "sum = is_set ? " + folded + " : term") +
         "\nDEFINE_TERMS(" + name + ", " + (by_vectors ? "EXPAND_PRODUCTS" : "EXPAND_EACH") + ")\n";
}

std::string CExpressions::fold(const std::string& type, Monoid monoid, const std::string& target,
                               const std::string& value) const {
  if (monoid == Monoid::sum) return target + " += " + value + ";";
  if (monoid == Monoid::product && complex_)
    return target + " = " + type + "_multiply(" + target + ", " + value + ");";
  if (monoid == Monoid::product) return target + " *= " + value + ";";
  return target + " = " + called(type, operators::combine(monoid)) + "(" + target + ", " + value + ");";
}

std::string CExpressions::stored(const loop_ir::Store& store, const std::string& index,
                                 const std::string& value) const {
  const std::string target = store.array + "[" + index + "]";
  if (store.mode == loop_ir::Write::atomic) return atomic(store.monoid, "&" + target, value);
  if (store.mode == loop_ir::Write::set) return target + " = " + value + ";";
  return fold("value", store.monoid, target, value);
}

std::string CExpressions::broadcast(const std::string& type, const std::string& number) const {
  if (complex_ && type != "value") return type + "_of_value(" + number + ")";
  return "(" + number + " - (" + type + "){0})";
}

std::string CExpressions::lane(const std::string& type, const std::string& vector,
                               const std::string& number) const {
  return complex_ ? "LANE(" + type + ", " + vector + ", " + number + ")" : vector + "[" + number + "]";
}

std::string CExpressions::prefetch(const loop_ir::Prefetch& prefetch) const {
  return "__builtin_prefetch(" + prefetch.array + " + " + print(prefetch.index) + ");";
}

std::string CExpressions::atomic(Monoid monoid, const std::string& address, const std::string& value) {
  return std::string("atomic_") + operators::name(monoid) + "(" + address + ", " + value + ");";
}

const char* CExpressions::c_type(loop_ir::Element element) {
  switch (element) {
    case loop_ir::Element::value:
      return "value";
    case loop_ir::Element::index32:
      return "int32_t";
    case loop_ir::Element::index64:
      return "int64_t";
    case loop_ir::Element::byte:
      return "uint8_t";
  }
  return "";
}

}  // namespace schaas::codegen
