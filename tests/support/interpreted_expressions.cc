#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "tests/support/interpreted_code.h"

// Expressions as closures. Types follow from parts: an index is a 64-bit integer, a value a number of the
// kernel's type (interpreted_value.h). Every access is checked against the array's count.
namespace schaas::test_support {

using loop_ir::Element;
using loop_ir::ExpressionPtr;
using loop_ir::Match;
using loop_ir::Type;
using operators::Function;

void InterpretedWork::add(const InterpretedWork& other) {
  iterations += other.iterations;
  leaves += other.leaves;
  steps += other.steps;
  cleared += other.cleared;
  loads += other.loads;
  jumps += other.jumps;
  functions += other.functions;
}

ExpressionCode::ExpressionCode(const loop_ir::Kernel& kernel)
    : kernel_(kernel), arithmetic_(kernel.value_type) {
  for (std::size_t n = 0; n < kernel.arrays.size(); ++n) arrays_.emplace(kernel.arrays[n].name, n);
}

const ExpressionCode::Symbol& ExpressionCode::declare(const std::string& name, Type type,
                                                      operators::Monoid monoid) {
  return symbols_[name] = Symbol{type, slots_++, monoid};
}

const ExpressionCode::Symbol& ExpressionCode::at(const std::string& name) const {
  const auto found = symbols_.find(name);
  if (found == symbols_.end()) throw BrokenCode("`" + name + "` is not declared");
  return found->second;
}

std::size_t ExpressionCode::array(const std::string& name) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) throw BrokenCode("no array `" + name + "`");
  return found->second;
}

Frame ExpressionCode::frame() const {
  Frame frame;
  frame.indices.resize(slots_);
  frame.values.resize(slots_);
  frame.arrays.resize(kernel_.arrays.size());
  frame.sites.resize(sites_);
  return frame;
}

Type ExpressionCode::type_of(const ExpressionPtr& expression) const {
  return std::visit(Match{
                        [](const loop_ir::Integer&) { return Type::index; },
                        [](const loop_ir::Number&) { return Type::value; },
                        [&](const loop_ir::Name& x) { return at(x.name).type; },
                        [&](const loop_ir::Load& x) {
                          return element(x.array) == Element::value ? Type::value : Type::index;
                        },
                        [&](const loop_ir::Apply& x) { return type_of(x.arguments.front()); },
                        [&](const loop_ir::Choose& x) { return type_of(x.then); },
                        [](const loop_ir::Search&) { return Type::index; },
                        [](const loop_ir::Convert&) { return Type::value; },
                    },
                    expression->node);
}

std::function<std::size_t(const Frame&, std::int64_t)> ExpressionCode::checked(
    const std::string& array) const {
  return [name = array, number = this->array(array)](const Frame& frame, std::int64_t at) {
    const ArrayView& view = frame.arrays[number];
    if (at < 0 || at >= view.count || view.data == nullptr)
      throw BrokenCode(name + "[" + std::to_string(at) + "] of " + std::to_string(view.count));
    return static_cast<std::size_t>(at);
  };
}

std::function<std::size_t(Frame&, std::int64_t)> ExpressionCode::followed(const std::string& array) const {
  return [check = checked(array), site = sites_++](Frame& frame, std::int64_t at) {
    if (std::abs(at - std::exchange(frame.sites[site], at)) > 1) ++frame.work.jumps;
    return check(frame, at);
  };
}

std::function<std::int64_t(Frame&, std::int64_t)> ExpressionCode::index_loader(
    const std::string& array) const {
  const auto number = this->array(array);
  const auto check = checked(array);
  switch (element(array)) {
    case Element::index32:
      return [=](Frame& frame, std::int64_t at) -> std::int64_t {
        return static_cast<const std::int32_t*>(frame.arrays[number].data)[check(frame, at)];
      };
    case Element::index64:
      return [=](Frame& frame, std::int64_t at) {
        return static_cast<const std::int64_t*>(frame.arrays[number].data)[check(frame, at)];
      };
    case Element::byte:
      return [=](Frame& frame, std::int64_t at) -> std::int64_t {
        return static_cast<const unsigned char*>(frame.arrays[number].data)[check(frame, at)];
      };
    case Element::value:
      break;
  }
  throw BrokenCode(array + " holds no indices");
}

std::function<void(Frame&, std::int64_t, std::int64_t)> ExpressionCode::index_storer(
    const std::string& array) const {
  const auto number = this->array(array);
  const auto check = checked(array);
  const auto element = this->element(array);
  if (element == Element::value) throw BrokenCode(array + " holds no indices");
  return [=](Frame& frame, std::int64_t at, std::int64_t value) {
    void* data = frame.arrays[number].data;
    const auto place = check(frame, at);
    if (element == Element::index32)
      static_cast<std::int32_t*>(data)[place] = static_cast<std::int32_t>(value);
    else if (element == Element::index64)
      static_cast<std::int64_t*>(data)[place] = value;
    else
      static_cast<unsigned char*>(data)[place] = static_cast<unsigned char>(value);
  };
}

operators::ValueType ExpressionCode::stored_type(std::size_t number) const {
  const auto* values = std::get_if<loop_ir::ArgumentValues>(&kernel_.arrays[number].origin);
  return values != nullptr ? values->stored.value_or(kernel_.value_type) : kernel_.value_type;
}

std::function<Value(Frame&, std::int64_t)> ExpressionCode::value_loader(const std::string& array) const {
  const auto number = this->array(array);
  const auto check = followed(array);
  if (element(array) != Element::value) throw BrokenCode(array + " holds no values");
  return [=, this, type = stored_type(number)](Frame& frame, std::int64_t at) {
    const auto place = check(frame, at);
    ++frame.work.loads;
    return arithmetic_.read(frame.arrays[number].data, type, static_cast<std::int64_t>(place));
  };
}

std::function<void(Frame&, std::int64_t, const Value&)> ExpressionCode::value_storer(
    const std::string& array) const {
  const auto number = this->array(array);
  const auto check = followed(array);
  if (element(array) != Element::value) throw BrokenCode(array + " holds no values");
  return [=, this, type = stored_type(number)](Frame& frame, std::int64_t at, const Value& value) {
    const auto place = check(frame, at);
    arithmetic_.write(frame.arrays[number].data, type, static_cast<std::int64_t>(place), value);
  };
}

IndexCode ExpressionCode::search(const loop_ir::Search& search) const {
  const auto load = index_loader(search.array);
  const auto begin = index(search.begin), end = index(search.end), key = index(search.key);
  const bool is_distinct = search.layout == loop_ir::Layout::distinct;
  if (is_distinct || search.layout == loop_ir::Layout::ascending) {
    return [=](Frame& frame) -> std::int64_t {
      std::int64_t low = begin(frame), high = end(frame);
      const std::int64_t wanted = key(frame), last = high;
      while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (load(frame, middle) < wanted)
          low = middle + 1;
        else
          high = middle;
      }
      if (is_distinct && (low >= last || load(frame, low) != wanted)) return -1;
      return std::min(low, last);
    };
  }
  const bool filled = search.layout == loop_ir::Layout::filled;
  return [=](Frame& frame) -> std::int64_t {
    const std::int64_t low = begin(frame), slots = end(frame) - low, wanted = key(frame);
    if (slots == 0) return -1;
    auto at = static_cast<std::int64_t>(schaas_hash(static_cast<std::uint64_t>(wanted)) %
                                        static_cast<std::uint64_t>(slots));
    for (std::int64_t tries = 0; tries < slots; ++tries, at = (at + 1) % slots) {
      const std::int64_t here = load(frame, low + at);
      if (here == wanted || (filled && here == 0)) return low + at;
      if (!filled && here < 0) return -1;
    }
    throw BrokenCode("a full hash table is searched");
  };
}

IndexCode ExpressionCode::index_apply(const loop_ir::Apply& apply) const {
  std::vector<IndexCode> arguments;
  for (const auto& each : apply.arguments) arguments.push_back(index(each));
  const Function function = apply.function;
  // These stop at the argument that decides.
  if (function == Function::logical_and || function == Function::logical_or) {
    const bool decides = function == Function::logical_or;
    return [=](Frame& frame) -> std::int64_t {
      for (const auto& each : arguments)
        if ((each(frame) != 0) == decides) return decides ? 1 : 0;
      return decides ? 0 : 1;
    };
  }
  if (function == Function::logical_not)
    return [a = arguments.at(0)](Frame& frame) -> std::int64_t { return a(frame) == 0 ? 1 : 0; };
  return [=](Frame& frame) -> std::int64_t {
    std::int64_t a = arguments.at(0)(frame);
    for (std::size_t n = 1; n < arguments.size(); ++n) {
      const std::int64_t b = arguments[n](frame);
      switch (function) {
        case Function::add:
          a += b;
          break;
        case Function::subtract:
          a -= b;
          break;
        case Function::multiply:
          a *= b;
          break;
        case Function::divide:
          if (a < 0 || b <= 0) throw BrokenCode("a quotient of indices that are not positive");
          a /= b;
          break;
        case Function::minimum:
          a = std::min(a, b);
          break;
        case Function::maximum:
          a = std::max(a, b);
          break;
        case Function::less:
          a = a < b;
          break;
        case Function::less_equal:
          a = a <= b;
          break;
        case Function::greater:
          a = a > b;
          break;
        case Function::greater_equal:
          a = a >= b;
          break;
        case Function::equal:
          a = a == b;
          break;
        case Function::not_equal:
          a = a != b;
          break;
        default:
          throw BrokenCode("a function that indices do not have");
      }
    }
    return a;
  };
}

IndexCode ExpressionCode::index(const ExpressionPtr& expression) const {
  return std::visit(
      Match{
          [](const loop_ir::Integer& x) -> IndexCode { return [value = x.value](Frame&) { return value; }; },
          [](const loop_ir::Number&) -> IndexCode { throw BrokenCode("a value where an index is wanted"); },
          [&](const loop_ir::Name& x) -> IndexCode {
            const Symbol& symbol = at(x.name);
            if (symbol.type != Type::index) throw BrokenCode(x.name + " is no index");
            return [slot = symbol.slot](Frame& frame) { return frame.indices[slot]; };
          },
          [&](const loop_ir::Load& x) -> IndexCode {
            return [load = index_loader(x.array), at = index(x.index)](Frame& frame) {
              return load(frame, at(frame));
            };
          },
          [&](const loop_ir::Apply& x) -> IndexCode { return index_apply(x); },
          [&](const loop_ir::Choose& x) -> IndexCode {
            return [condition = index(x.condition), then = index(x.then), otherwise = index(x.otherwise)](
                       Frame& frame) { return condition(frame) != 0 ? then(frame) : otherwise(frame); };
          },
          [&](const loop_ir::Search& x) -> IndexCode { return search(x); },
          [](const loop_ir::Convert&) -> IndexCode { throw BrokenCode("a value where an index is wanted"); },
      },
      expression->node);
}

namespace {

/// The call takes far longer than a multiplication, unlike pow(x, 2).
bool is_costly(const loop_ir::Apply& x) {
  const auto* exponent =
      x.function == Function::power ? std::get_if<loop_ir::Number>(&x.arguments[1]->node) : nullptr;
  const bool is_simple = exponent != nullptr && operators::simple_power(exponent->value) != nullptr;
  return operators::is_costly(x.function) && !is_simple;
}

}  // namespace

ValueCode ExpressionCode::apply(Function function, std::vector<ValueCode> arguments, bool costly) const {
  // Of `where` only the chosen argument is evaluated.
  if (function == Function::where)
    return [=](Frame& frame) {
      return client::is_true(arguments[0](frame)) ? arguments[1](frame) : arguments[2](frame);
    };
  if (arguments.size() == 2 && (function == Function::add || function == Function::multiply)) {
    const auto& a = arguments[0];
    const auto& b = arguments[1];
    if (function == Function::add)
      return [a, b, this](Frame& frame) { return arithmetic_.sum(a(frame), b(frame)); };
    return [a, b, this](Frame& frame) { return arithmetic_.product(a(frame), b(frame)); };
  }
  return [=, this](Frame& frame) {
    std::vector<Value> values;
    values.reserve(arguments.size());
    if (costly) ++frame.work.functions;
    for (const auto& each : arguments) values.push_back(each(frame));
    return arithmetic_.apply(function, values);
  };
}

ValueCode ExpressionCode::value(const ExpressionPtr& expression) const {
  return std::visit(
      Match{
          [](const loop_ir::Integer&) -> ValueCode { throw BrokenCode("an index where a value is wanted"); },
          [&](const loop_ir::Number& x) -> ValueCode {
            return [value = arithmetic_.number(x.value)](Frame&) { return value; };
          },
          [&](const loop_ir::Name& x) -> ValueCode {
            const Symbol& symbol = at(x.name);
            if (symbol.type != Type::value) throw BrokenCode(x.name + " is no value");
            return [slot = symbol.slot](Frame& frame) { return frame.values[slot]; };
          },
          [&](const loop_ir::Load& x) -> ValueCode {
            return [load = value_loader(x.array), at = index(x.index)](Frame& frame) {
              return load(frame, at(frame));
            };
          },
          [&](const loop_ir::Apply& x) -> ValueCode {
            std::vector<ValueCode> arguments;
            for (const auto& each : x.arguments) arguments.push_back(value(each));
            return apply(x.function, std::move(arguments), is_costly(x));
          },
          [&](const loop_ir::Choose& x) -> ValueCode {
            return [condition = index(x.condition), then = value(x.then), otherwise = value(x.otherwise)](
                       Frame& frame) { return condition(frame) != 0 ? then(frame) : otherwise(frame); };
          },
          [](const loop_ir::Search&) -> ValueCode { throw BrokenCode("a position where a value is wanted"); },
          [&](const loop_ir::Convert& x) -> ValueCode {
            return
                [index = index(x.index), this](Frame& frame) { return arithmetic_.of_index(index(frame)); };
          },
      },
      expression->node);
}

}  // namespace schaas::test_support
