#include "compiler/codegen/short_indices.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/loop_ir/nodes.h"
#include "compiler/loop_ir/phase_range.h"
#include "compiler/loop_ir/traversal.h"

// The largest set of names that hold each other. At first it has all index variables. Those that some binding
// gives a value of more bits are taken out, until there are none. Extents, coordinates and positions have 32
// bits. Products have more, but for those of small numbers, and so has a sum of two that are not small.
namespace schaas::codegen {
namespace {

using loop_ir::as;
using loop_ir::ExpressionPtr;
using loop_ir::Match;
using operators::Function;

struct Binding {
  std::string name;
  ExpressionPtr value;
};

/// Index variables and what they are bound to; those of `other` kinds stay long.
struct Bindings {
  std::vector<Binding> bound;
  std::set<std::string> other;
};

void collect(const loop_ir::StatementPtr& body, Bindings& out) {
  loop_ir::for_each_statement(body, [&](const loop_ir::StatementPtr& each) {
    if (const auto* let = as<loop_ir::Let>(each)) {
      if (let->type == loop_ir::Type::index) out.bound.push_back({let->name, let->value});
    } else if (const auto* counter = as<loop_ir::Counter>(each)) {
      out.bound.push_back({counter->name, counter->initial});
    } else if (const auto* set = as<loop_ir::SetCounter>(each)) {
      out.bound.push_back({set->name, set->value});
    } else if (const auto* loop = as<loop_ir::For>(each)) {
      out.bound.push_back({loop->variable, loop->begin});
      out.bound.push_back({loop->variable, loop->end});
    } else if (const auto* merge = as<loop_ir::Merge>(each)) {
      out.other.insert(merge->variable);
      for (const auto& cursor : merge->cursors)
        out.other.insert({cursor.position, cursor.present, cursor.until});
    }
  });
}

bool is_small(const loop_ir::Apply& apply);

/// The value is below a few thousands.
bool is_small(const ExpressionPtr& expression) {
  constexpr std::int64_t most = 1000;
  if (const auto* number = std::get_if<loop_ir::Integer>(&expression->node))
    return number->value <= most && number->value >= -most;
  if (const auto* name = std::get_if<loop_ir::Name>(&expression->node))
    return name->name == "lane" || name->name == "lane_group" || name->name == "staged";
  const auto* apply = std::get_if<loop_ir::Apply>(&expression->node);
  return apply != nullptr && is_small(*apply);
}

/// The product is one of a small number and a constant up to 16.
bool is_small(const loop_ir::Apply& apply) {
  if (apply.function != Function::multiply || apply.arguments.size() != 2) return false;
  const auto* times = std::get_if<loop_ir::Integer>(&apply.arguments[1]->node);
  return times != nullptr && times->value >= 0 && times->value <= 16 &&
         std::holds_alternative<loop_ir::Name>(apply.arguments[0]->node) && is_small(apply.arguments[0]);
}

}  // namespace

ShortIndices::ShortIndices(const loop_ir::Kernel& kernel) {
  bool short_positions = false;
  for (const auto& array : kernel.arrays) {
    elements_[array.name] = array.element;
    short_positions = short_positions || array.element == loop_ir::Element::index32;
  }
  if (!short_positions || kernel.phases.empty() || !kernel.phases.front().mapping) return;
  Bindings bindings;
  for (const auto& extent : kernel.extents) names_.insert(extent.name);
  for (const auto& let : kernel.lets) bindings.bound.push_back({let.name, let.value});
  for (const auto& phase : kernel.phases) {
    collect(phase.body, bindings);
    for (const char* name : loop_ir::range_names) bindings.bound.push_back({name, phase.range});
  }
  names_.insert({"lane", "lane_group", "staged"});
  names_.insert(loop_ir::column_names.begin(), loop_ir::column_names.end());
  for (const auto& [name, value] : bindings.bound) names_.insert(name);
  for (const auto& name : bindings.other) names_.erase(name);
  const auto too_long = [&](const Binding& binding) { return has(binding.name) && !fits(binding.value); };
  for (auto found = bindings.bound.begin(); found != bindings.bound.end();) {
    found = std::find_if(bindings.bound.begin(), bindings.bound.end(), too_long);
    if (found != bindings.bound.end()) names_.erase(found->name);
  }
}

bool ShortIndices::fits(const ExpressionPtr& expression) const {
  if (!any()) return false;
  return std::visit(
      Match{
          [&](const loop_ir::Integer&) { return is_small(expression); },
          [&](const loop_ir::Name& x) { return has(x.name); },
          [&](const loop_ir::Load& x) { return elements_.at(x.array) == loop_ir::Element::index32; },
          [&](const loop_ir::Apply& x) { return fits(x); },
          [&](const loop_ir::Choose& x) { return fits(x.then) && fits(x.otherwise); },
          [&](const loop_ir::Search& x) {
            const bool is_table = x.layout == loop_ir::Layout::hashed || x.layout == loop_ir::Layout::filled;
            return !is_table && fits(x.begin) && fits(x.end);
          },
          [](const auto&) { return false; },
      },
      expression->node);
}

bool ShortIndices::fits(const loop_ir::Apply& apply) const {
  if (!any()) return false;
  const auto& arguments = apply.arguments;
  const auto fit = [&](const ExpressionPtr& each) { return fits(each); };
  switch (apply.function) {
    case Function::multiply:
      return is_small(apply);
    case Function::add:
      return std::all_of(arguments.begin(), arguments.end(), fit) &&
             std::count_if(arguments.begin(), arguments.end(),
                           [](const ExpressionPtr& each) { return is_small(each); }) +
                     1 >=
                 static_cast<std::ptrdiff_t>(arguments.size());
    case Function::subtract:
    case Function::minimum:
    case Function::maximum:
    case Function::divide:
      return std::all_of(arguments.begin(), arguments.end(), fit);
    default:
      return loop_ir::takes_indices(apply.function);  // comparisons and logic are 0 or 1
  }
}

}  // namespace schaas::codegen
