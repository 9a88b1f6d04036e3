#include "compiler/codegen/c_statements.h"

#include <cmath>
#include <string>
#include <utility>

#include "compiler/loop_ir/store_target.h"
#include "compiler/loop_ir/uses.h"

// Prints statements as C or CUDA. Loops that may become vector code are offered to CVectorLoops first.
// Sequential loops evaluate their end once, as loop IR demands. c_merges.cc prints merges.
namespace schaas::codegen {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::Match;
using loop_ir::StatementPtr;

/// Collects accumulators that `statement` folds into but does not declare.
void outer_accumulators(const StatementPtr& statement, std::set<std::string>& declared,
                        std::set<std::string>& found) {
  std::visit(Match{
                 [&](const loop_ir::Block& x) {
                   for (const auto& each : x.statements) outer_accumulators(each, declared, found);
                 },
                 [](const loop_ir::Let&) {},
                 [&](const loop_ir::Accumulator& x) { declared.insert(x.name); },
                 [&](const loop_ir::Accumulate& x) {
                   if (declared.count(x.name) == 0) found.insert(x.name);
                 },
                 [](const loop_ir::Store&) {},
                 [&](const loop_ir::If& x) { outer_accumulators(x.body, declared, found); },
                 [](const loop_ir::Counter&) {},
                 [](const loop_ir::SetCounter&) {},
                 [&](const loop_ir::For& x) { outer_accumulators(x.body, declared, found); },
                 [&](const loop_ir::Merge& x) { outer_accumulators(x.body, declared, found); },
                 [](const loop_ir::Fill&) {},
                 [](const loop_ir::Prefetch&) {},
                 [](const loop_ir::Sort&) {},
                 [](const loop_ir::Occupy&) {},
                 [](const loop_ir::OccupyGroups&) {},
                 [](const loop_ir::Compact&) {},
                 [](const loop_ir::Expand&) {},
                 [](const loop_ir::Compress&) {},
                 [](const loop_ir::AddSupernode&) {},
                 [](const loop_ir::GroupStore&) {},
                 [](const loop_ir::Deferred&) {},
                 [](const loop_ir::Defer&) {},
                 [](const loop_ir::Flush&) {},
                 [](const loop_ir::Stage&) {},
                 [](const loop_ir::Overflow&) {},
             },
             statement->node);
}

const char* reduction_operator(operators::Monoid monoid) {
  switch (monoid) {
    case operators::Monoid::sum:
      return "+";
    case operators::Monoid::product:
      return "*";
    case operators::Monoid::minimum:
      return "min";
    case operators::Monoid::maximum:
      return "max";
    case operators::Monoid::logical_or:
      return "||";
    case operators::Monoid::logical_and:
      return "&&";
  }
  return "";
}

/// The value has no bit set, which memset can store; -0 has one.
bool is_all_zero_bits(const ExpressionPtr& value) {
  if (const auto* integer = std::get_if<loop_ir::Integer>(&value->node)) return integer->value == 0;
  const auto* number = std::get_if<loop_ir::Number>(&value->node);
  return number && number->value == 0 && !std::signbit(number->value);
}

}  // namespace

/// Returns the pragma of a simd loop; accumulators declared outside are its reductions.
std::string CStatements::simd_pragma(const loop_ir::For& loop) const {
  std::set<std::string> declared;
  std::set<std::string> accumulators;
  outer_accumulators(loop.body, declared, accumulators);
  std::string text = "#pragma omp simd";
  for (const auto& name : accumulators) {
    text += std::string(" reduction(") + reduction_operator(expressions_.monoid_of(name)) + ":" + name + ")";
  }
  return text;
}

/// Calls `folded_for_all` of runtime/group.cuh, where a group folds the value.
std::string folded(const std::optional<loop_ir::GroupFold>& fold, const std::string& value) {
  if (!fold) return value;
  return std::string("folded_for_all<monoid_") + operators::name(fold->monoid) + ", " +
         std::to_string(fold->width) + ">(" + value + ")";
}

/// Calls `load_adjacent` of runtime/device.cuh for the let at `first` and the next ones.
void print_wide_load(const std::vector<StatementPtr>& lets, std::size_t first,
                     const CExpressions& expressions, CText& text) {
  const auto& let = std::get<loop_ir::Let>(lets[first]->node);
  const auto& from = std::get<loop_ir::Load>(let.value->node);
  std::string names = let.name;
  for (std::size_t n = 1; n < static_cast<std::size_t>(let.wide); ++n)
    names += ", " + std::get<loop_ir::Let>(lets[first + n]->node).name;
  text.line("value " + names + ";");
  const std::string stored =
      expressions.is_narrow(from.array)
          ? std::string("_") + operators::name(expressions.narrow_arrays().at(from.array))
          : "";
  text.line("load_adjacent" + stored + "(" + from.array + " + " + expressions.print(from.index) + ", " +
            names + ");");
}

/// Calls `store_adjacent`, `fold_adjacent` or `atomic_adjacent` for the stores from `first` on.
void CStatements::print_wide_store(const std::vector<StatementPtr>& stores, std::size_t first) {
  const auto* group = loop_ir::as<loop_ir::GroupStore>(stores[first]);
  const auto* single = loop_ir::as<loop_ir::Store>(stores[first]);
  const int wide = group != nullptr ? group->wide : single->wide;
  std::string values;
  for (std::size_t n = first; n < first + static_cast<std::size_t>(wide); ++n)
    values += (n == first ? "" : ", ") + expression(group != nullptr
                                                        ? std::get<loop_ir::GroupStore>(stores[n]->node).value
                                                        : std::get<loop_ir::Store>(stores[n]->node).value);
  if (group != nullptr) return print_group_store(*group, values);
  const std::string monoid = std::string("monoid_") + operators::name(single->monoid);
  const std::string called = single->mode == loop_ir::Write::set    ? "store_adjacent"
                             : single->mode == loop_ir::Write::fold ? "fold_adjacent<" + monoid + ">"
                                                                    : "atomic_adjacent<" + monoid + ">";
  text_.line(called + "(" + single->array + " + " + expression(single->index) + ", adjacent_values<" +
             std::to_string(wide) + ">{{" + values + "}});");
}

/// Returns the statements from `at` on that one instruction stands for.
std::size_t adjacent_statements(const StatementPtr& at) {
  if (const auto* let = loop_ir::as<loop_ir::Let>(at)) return static_cast<std::size_t>(let->wide);
  const auto target = loop_ir::store_target(at);
  return target ? static_cast<std::size_t>(target->wide) : 1;
}

/// Prints four lets or stores at once where they treat four lanes alike; else prints nothing.
bool CStatements::print_lanes(const std::vector<StatementPtr>& statements, std::size_t first) {
  const auto values = lanes_.values(statements, first);
  if (!values) return false;
  if (const auto* store = loop_ir::as<loop_ir::Store>(statements[first])) {
    text_.line("*(vec4*)(" + store->array + " + " + expression(store->index) + ") = " + *values + ";");
    return true;
  }
  std::vector<std::string> names;
  for (std::size_t n = first; n < first + CLanes::count; ++n)
    names.push_back(std::get<loop_ir::Let>(statements[n]->node).name);
  const std::string vector = lanes_.declare(names);
  text_.line("const vec4 " + vector + " = " + *values + ";");
  for (std::size_t lane = 0; lane < names.size(); ++lane)
    text_.line("const value " + names[lane] + " = " + vector + "[" + std::to_string(lane) + "];");
  return true;
}

/// Prints statements that follow each other, as one block.
void CStatements::print_block(const std::vector<StatementPtr>& statements) {
  const CLanes outside = std::exchange(lanes_, CLanes(expressions_));
  for (std::size_t n = 0; n < statements.size(); ++n) {
    if (print_kept_row(statements, n)) break;
    if (print_lanes(statements, n)) {
      n += CLanes::count - 1;
      continue;
    }
    lanes_.enter(statements[n]);
    const std::size_t adjacent = adjacent_statements(statements[n]);
    if (adjacent == 1)
      print(statements[n]);
    else if (loop_ir::as<loop_ir::Let>(statements[n]) != nullptr)
      print_wide_load(statements, n, expressions_, text_);
    else
      print_wide_store(statements, n);
    lanes_.leave(statements[n]);
    n += adjacent - 1;
  }
  lanes_ = outside;
}

void CStatements::print(const StatementPtr& statement) {
  std::visit(
      Match{
          [&](const loop_ir::Block& x) { print_block(x.statements); },
          [&](const loop_ir::Let& x) {
            const std::string type =
                x.type == loop_ir::Type::index ? expressions_.index_type(x.name) : "value";
            text_.line("const " + type + " " + x.name + " = " + folded(x.fold, expression(x.value)) + ";");
          },
          [&](const loop_ir::Accumulator& x) {
            const double initial = x.initial.value_or(operators::identity(x.monoid));
            text_.line("value " + x.name + " = " + expressions_.number(initial) + ";");
          },
          [&](const loop_ir::Accumulate& x) {
            const auto monoid = expressions_.monoid_of(x.name);
            text_.line(expressions_.fold("value", monoid, x.name, expression(x.value)));
          },
          [&](const loop_ir::Store& x) { print_store(x); },
          [&](const loop_ir::If& x) {
            text_.open("if (" + expression(x.condition) + ")");
            print_block(statements_of(x.body));
            text_.close();
          },
          [&](const loop_ir::Counter& x) {
            text_.line(std::string(expressions_.index_type(x.name)) + " " + x.name + " = " +
                       expression(x.initial) + ";");
          },
          [&](const loop_ir::SetCounter& x) { text_.line(x.name + " = " + expression(x.value) + ";"); },
          [&](const loop_ir::For& x) { print_for(x); },
          [&](const loop_ir::Merge& x) {
            if (x.over) {
              print_range_merge(x);
            } else if (dialect_ == Dialect::c && is_union_of_two(x)) {
              print_union_of_two(x);
            } else if (x.kind == loop_ir::MergeKind::any) {
              print_union(x);
            } else {
              print_intersection(x);
            }
          },
          [&](const loop_ir::Fill& x) { print_fill(x); },
          [&](const loop_ir::Prefetch& x) { text_.line(expressions_.prefetch(x)); },
          [&](const loop_ir::Overflow&) { text_.line("return 2;"); },  // SCHAAS_TABLES_FULL
          [&](const loop_ir::Sort& x) {
            text_.line("SORT(" + x.array + ", " + expression(x.begin) + ", " + expression(x.end) + ");");
          },
          [&](const loop_ir::Occupy& x) {
            const loop_ir::Occupancy& m = x.occupancy;
            text_.line("OCCUPY(" + m.array + ", " + m.list + ", " + m.count + ", " + expression(m.extent) +
                       ", " + expression(x.index) + ");");
          },
          [&](const loop_ir::OccupyGroups& x) {
            const loop_ir::Occupancy& m = x.occupancy;
            text_.line("const int64_t " + x.clustered + " = OCCUPY_GROUPS(" + m.array + ", " + m.count +
                       ", " + expression(m.extent) + ", " + expression(x.first) + ", " + expression(x.last) +
                       ", " + expression(x.times) + ");");
            text_.line(m.count + " += " + x.clustered + " ? " + expression(x.times) + " : 0;");
          },
          [&](const loop_ir::Compact& x) {
            const loop_ir::Occupancy& m = x.occupancy;
            text_.line(m.count + " = COMPACT(" + m.array + ", " + m.list + ", " + m.count + ", " +
                       expression(m.extent) + ");");
          },
          [&](const loop_ir::Expand& x) {
            const loop_ir::Terms& t = x.terms;
            text_.line("EXPAND(" + CExpressions::terms_name(t.arithmetic) + ", " + t.list + " + " + t.count +
                       ", " + t.values + " + " + t.count + ", " + x.coordinates + ", " + x.values + ", " +
                       expression(x.begin) + ", " + expression(x.end) + ", " + expression(x.scale) + ");");
            text_.line(t.count + " += " + expression(x.end) + " - " + expression(x.begin) + ";");
          },
          [&](const loop_ir::Compress& x) {
            const loop_ir::Terms& t = x.terms;
            text_.line(t.count + " = COMPRESS(" + CExpressions::terms_name(t.arithmetic) + ", " + t.list +
                       ", " + t.values + ", " + t.count + ");");
          },
          [&](const loop_ir::AddSupernode& x) {
            text_.line(x.variable + " = ADD_SUPERNODE(" + x.sums + ", " + x.set + ", " + x.rows + ", " +
                       x.factors + ", " + expression(x.scale) + ", " + x.variable + ", " + expression(x.end) +
                       ", " + x.positions + ", " + x.coordinates + ", " + x.values + ");");
          },
          [&](const loop_ir::GroupStore& x) { print_group_store(x, expression(x.value)); },
          [&](const loop_ir::Deferred& x) {
            text_.line(std::string("deferred_update<monoid_") + operators::name(x.monoid) + "> " + x.name +
                       "(" + x.array + ");");
          },
          [&](const loop_ir::Defer& x) {
            text_.line(x.name + ".defer(" + expression(x.index) + ", " + expression(x.value) + ");");
          },
          [&](const loop_ir::Flush& x) { text_.line(x.name + ".flush<" + std::to_string(x.width) + ">();"); },
          [&](const loop_ir::Stage& x) { print_stage(x); },
      },
      statement->node);
}

std::string for_header(const loop_ir::For& loop, const CExpressions& expressions, const char* end) {
  const auto& v = loop.variable;
  const std::string next = loop.step == 1 ? "++" + v : v + " += " + std::to_string(loop.step);
  return std::string("for (") + expressions.index_type(v) + " " + v + " = " + expressions.print(loop.begin) +
         ", " + v + end + " = " + expressions.print(loop.end) + "; " + v + " < " + v + end + "; " + next +
         ")";
}

/// Prints an assignment, a fold, or an atomic step.
void CStatements::print_store(const loop_ir::Store& store) {
  text_.line(expressions_.stored(store, expression(store.index), expression(store.value)));
}

/// Calls the functions of runtime/group.cuh.
void CStatements::print_group_store(const loop_ir::GroupStore& store, const std::string& values) {
  using loop_ir::Write;
  const char* called = store.mode == Write::atomic ? "atomic_group"
                       : store.mode == Write::set  ? "store_group"
                                                   : "fold_group";
  text_.line(std::string(called) + "<monoid_" + operators::name(store.monoid) + ", " +
             std::to_string(store.width) + ">(" + store.array + ", " + expression(store.index) + ", " +
             values + ");");
}

/// Calls `stage_entries` of runtime/group.cuh between barriers of the group.
void CStatements::print_stage(const loop_ir::Stage& stage) {
  const std::string threads = std::to_string(stage.threads);
  text_.line("__syncwarp(group_mask<" + threads + ">());");
  for (const auto& copy : stage.copies)
    text_.line("stage_entries<" + threads + ">(" + copy.to + ", " + copy.from + " + " +
               expression(stage.begin) + ", " + expression(stage.count) + ");");
  text_.line("__syncwarp(group_mask<" + threads + ">());");
}

/// Prints a memset where the value is zero, else a loop.
void CStatements::print_fill(const loop_ir::Fill& fill) {
  const std::string type = CExpressions::c_type(expressions_.element_of(fill.array));
  const std::string count = expression(fill.count);
  const auto* first = std::get_if<loop_ir::Integer>(&fill.begin->node);
  const bool at_front = first != nullptr && first->value == 0;
  const std::string from = at_front ? fill.array : fill.array + " + " + expression(fill.begin);
  if (is_all_zero_bits(fill.value)) {
    // An empty array may have a null address, which memset does not accept.
    const std::string some =
        std::holds_alternative<loop_ir::Integer>(fill.count->node) ? "" : "if (" + count + " > 0) ";
    text_.line(some + "memset(" + from + ", 0, (size_t)(" + count + ") * sizeof(" + type + "));");
    return;
  }
  text_.open("");
  text_.line("const " + type + " fill_value = " + expression(fill.value) + ";");
  text_.open("for (int64_t at = 0, at_end = " + count + "; at < at_end; ++at)");
  text_.line((at_front ? fill.array : "(" + from + ")") + "[at] = fill_value;");
  text_.close();
  text_.close();
}

/// Prints a loop in the first form that applies: vectors, folds, stores, interleaved sums, or a plain loop.
void CStatements::print_for(const loop_ir::For& loop) {
  if (dialect_ == Dialect::cuda) {
    // Copies of an entry have enough loads under way; more would take registers from other threads.
    const int unroll = among_copies_ ? 1 : loop.unroll;
    if (among_copies_ || unroll > 1) text_.directive("#pragma unroll " + std::to_string(unroll));
    const bool outside = std::exchange(among_copies_, among_copies_ || loop.part == loop_ir::Part::jammed);
    text_.open(for_header(loop, expressions_, "_stop"));  // C++ lets the body declare no second i_block_end
    print_block(statements_of(loop.body));
    text_.close();
    among_copies_ = outside;
    return;
  }
  if (kept_ != nullptr && loop_ir::adds_to(*kept_, loop)) return print_addition(loop);
  if (loop.shape == loop_ir::Shape::vector) {
    CVectorLoops(text_, expressions_, blocks_).print(loop);
    return;
  }
  if (loop.shape == loop_ir::Shape::simd &&
      (CVectorLoops(text_, expressions_, blocks_).print_fold(loop, lanes_) ||
       CVectorLoops(text_, expressions_, blocks_).print_stores(loop))) {
    return;
  }
  if (loop.shape == loop_ir::Shape::scalar &&
      CVectorLoops(text_, expressions_, blocks_).print_scalar_sums(loop))
    return;
  const auto& v = loop.variable;
  if (loop.shape == loop_ir::Shape::simd) {
    text_.directive(simd_pragma(loop));
    text_.open("for (int64_t " + v + " = " + expression(loop.begin) + "; " + v + " < " +
               expression(loop.end) + "; ++" + v + ")");
  } else {
    if (loop.unroll > 1) text_.line("UNROLL(" + std::to_string(loop.unroll) + ")");
    text_.open(for_header(loop, expressions_));
  }
  print_block(statements_of(loop.body));
  text_.close();
}

}  // namespace schaas::codegen
