#include "compiler/codegen/c_lanes.h"

#include <algorithm>

// A dot product for each of four entries of a row leaves four sums in the lanes of one vector. Taken apart,
// each is multiplied by the value of its entry and put into a vector of its own again; together they are
// multiplied by four adjacent values with one instruction, and stored with one. docs/performance/kernels.md.
namespace schaas::codegen {
namespace {

using loop_ir::as;
using loop_ir::ExpressionPtr;
using loop_ir::StatementPtr;
using operators::Function;

/// The index of each is one more than that of the one before.
bool are_adjacent(const std::vector<ExpressionPtr>& indices) {
  for (std::size_t n = 1; n < indices.size(); ++n)
    if (!equal(indices[n], loop_ir::add(indices[0], loop_ir::integer(static_cast<std::int64_t>(n)))))
      return false;
  return true;
}

/// Returns the nodes of one kind; empty when there is another one.
template <class Node>
std::vector<const Node*> all_of_kind(const std::vector<ExpressionPtr>& expressions) {
  std::vector<const Node*> nodes;
  for (const auto& each : expressions) {
    const auto* node = std::get_if<Node>(&each->node);
    if (node == nullptr) return {};
    nodes.push_back(node);
  }
  return nodes;
}

}  // namespace

void CLanes::enter(const StatementPtr& statement) {
  if (as<loop_ir::For>(statement) != nullptr) lanes_.clear();
  if (const auto* sum = as<loop_ir::Accumulator>(statement)) {
    if (sum->monoid == operators::Monoid::sum && !sum->initial) zero_.insert(sum->name);
  } else if (const auto* let = as<loop_ir::Let>(statement)) {
    const auto* load = std::get_if<loop_ir::Load>(&let->value->node);
    if (load != nullptr && !let->fold && expressions_->is_operand(load->array))
      loads_[let->name] = let->value;
  }
}

void CLanes::leave(const StatementPtr& statement) {
  if (as<loop_ir::Accumulator>(statement) || as<loop_ir::Let>(statement) || as<loop_ir::Store>(statement))
    return;
  zero_.clear();
  // A loop that folds has declared lanes while it was printed.
  if (as<loop_ir::For>(statement) == nullptr) lanes_.clear();
}

std::string CLanes::declare(const std::vector<std::string>& names) {
  const std::string vector = names.front() + "_lanes" + std::to_string(declared_++);
  for (std::size_t lane = 0; lane < names.size(); ++lane) lanes_[names[lane]] = {vector, lane};
  return vector;
}

std::optional<std::string> CLanes::values(const std::vector<StatementPtr>& statements,
                                          std::size_t first) const {
  if (lanes_.empty() || first + count > statements.size()) return std::nullopt;
  Four values, indices;
  std::string array;
  for (std::size_t n = first; n < first + count; ++n) {
    const auto* let = as<loop_ir::Let>(statements[n]);
    const auto* store = as<loop_ir::Store>(statements[n]);
    if (let != nullptr && let->type == loop_ir::Type::value && !let->fold && let->wide == 1 &&
        array.empty()) {
      values.push_back(let->value);
    } else if (store != nullptr && store->mode == loop_ir::Write::set && store->wide == 1 &&
               values.size() == indices.size() && (array.empty() || array == store->array) &&
               expressions_->element_of(store->array) == loop_ir::Element::value) {
      array = store->array;
      values.push_back(store->value);
      indices.push_back(store->index);
    } else {
      return std::nullopt;
    }
  }
  if (!indices.empty() && (indices.size() < count || !are_adjacent(indices))) return std::nullopt;
  const auto text = print(values);
  if (!text || !text->is_vector) return std::nullopt;
  return text->text;
}

std::optional<CLanes::Text> CLanes::print(const Four& four) const {
  if (std::all_of(four.begin() + 1, four.end(), [&](const auto& each) { return equal(each, four.front()); }))
    return Text{expressions_->print(four.front())};
  for (const auto of : {&CLanes::of_names, &CLanes::of_loads, &CLanes::of_applications, &CLanes::of_choices})
    if (auto text = (this->*of)(four)) return text;
  return std::nullopt;
}

/// Prints the lanes of a vector, or adjacent loads that have names.
std::optional<CLanes::Text> CLanes::of_names(const Four& four) const {
  const auto names = all_of_kind<loop_ir::Name>(four);
  if (names.empty()) return std::nullopt;
  const auto first = lanes_.find(names.front()->name);
  Four loads;
  for (std::size_t lane = 0; lane < count; ++lane) {
    if (first != lanes_.end()) {
      const auto found = lanes_.find(names[lane]->name);
      if (found == lanes_.end() || found->second != std::pair(first->second.first, lane)) return std::nullopt;
    } else {
      const auto found = loads_.find(names[lane]->name);
      if (found == loads_.end()) return std::nullopt;
      loads.push_back(found->second);
    }
  }
  return first != lanes_.end() ? Text{first->second.first, true} : of_loads(loads);
}

std::optional<CLanes::Text> CLanes::of_loads(const Four& four) const {
  const auto loads = all_of_kind<loop_ir::Load>(four);
  if (loads.empty()) return std::nullopt;
  const std::string& array = loads.front()->array;
  Four indices;
  for (const auto* load : loads) {
    if (load->array != array || !expressions_->is_operand(array)) return std::nullopt;
    indices.push_back(load->index);
  }
  if (!are_adjacent(indices)) return std::nullopt;
  return Text{expressions_->loaded("vec4", array, array + " + " + expressions_->print(indices.front())),
              true};
}

std::optional<CLanes::Text> CLanes::of_applications(const Four& four) const {
  const auto applications = all_of_kind<loop_ir::Apply>(four);
  if (applications.empty()) return std::nullopt;
  const Function function = applications.front()->function;
  if (function != Function::add && function != Function::subtract && function != Function::multiply)
    return std::nullopt;
  std::vector<Text> sides;
  for (const std::size_t side : {0, 1}) {
    Four arguments;
    for (const auto* each : applications) {
      if (each->function != function) return std::nullopt;
      arguments.push_back(each->arguments[side]);
    }
    const auto text = print(arguments);
    if (!text) return std::nullopt;
    sides.push_back(*text);
  }
  return Text{"(" + sides[0].text + " " + CExpressions::infix(function) + " " + sides[1].text + ")",
              sides[0].is_vector || sides[1].is_vector};
}

/// Prints a choice that is the same for all lanes.
std::optional<CLanes::Text> CLanes::of_choices(const Four& four) const {
  const auto choices = all_of_kind<loop_ir::Choose>(four);
  if (choices.empty()) return std::nullopt;
  Four then, otherwise;
  for (const auto* each : choices) {
    if (!equal(each->condition, choices.front()->condition)) return std::nullopt;
    then.push_back(each->then);
    otherwise.push_back(each->otherwise);
  }
  const auto one = print(then), other = print(otherwise);
  if (!one || !other || !one->is_vector || !other->is_vector) return std::nullopt;
  return Text{"(" + expressions_->print(choices.front()->condition) + " ? (vec4)" + one->text + " : (vec4)" +
                  other->text + ")",
              true};
}

}  // namespace schaas::codegen
