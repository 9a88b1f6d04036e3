#include "compiler/loop_ir/verifier.h"

#include <map>
#include <set>
#include <string>

#include "compiler/loop_ir/lane_form.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/loop_ir/uses.h"

namespace schaas::loop_ir {
namespace {

using support::Result;

support::Diagnostic wrong(const std::string& what) { return support::internal("loop-ir", what); }

bool is_identifier(const std::string& text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (text.empty() || !letter(text.front())) return false;
  for (const char c : text) {
    if (!letter(c) && !(c >= '0' && c <= '9') && c != '_') return false;
  }
  return true;
}

enum class Kind { index, value, sum };

class Verifier {
 public:
  Result<void> kernel(const Kernel& kernel) {
    for (const auto& extent : kernel.extents) SCHAAS_RETURN_IF_ERROR(declare(extent.name, Kind::index));
    for (const auto& let : kernel.lets) {
      if (let.type != Type::index) return wrong("kernel-wide `" + let.name + "` is no index");
      SCHAAS_RETURN_IF_ERROR(expect(let.value, Type::index));
      SCHAAS_RETURN_IF_ERROR(declare(let.name, Kind::index));
    }
    for (const auto& array : kernel.arrays) SCHAAS_RETURN_IF_ERROR(declare_array(array, kernel.arguments));
    for (const auto& phase : kernel.phases) {
      SCHAAS_RETURN_IF_ERROR(expect(phase.range, Type::index));
      const auto outside = names_;
      SCHAAS_RETURN_IF_ERROR(declare("begin", Kind::index));
      SCHAAS_RETURN_IF_ERROR(declare("end", Kind::index));
      SCHAAS_RETURN_IF_ERROR(statement(phase.body));
      names_ = outside;
    }
    return {};
  }

 private:
  Result<void> declare(const std::string& name, Kind kind) {
    if (!is_identifier(name)) return wrong("`" + name + "` is no identifier");
    if (arrays_.count(name) > 0 || !names_.emplace(name, kind).second)
      return wrong("`" + name + "` is declared twice");
    return {};
  }

  Result<void> declare_array(const Array& array, int arguments) {
    if (!is_identifier(array.name)) return wrong("`" + array.name + "` is no identifier");
    if (names_.count(array.name) > 0 || !arrays_.emplace(array.name, array).second) {
      return wrong("`" + array.name + "` is declared twice");
    }
    const auto argument = [&](int number) -> Result<void> {
      if (number < 0 || number >= arguments)
        return wrong("`" + array.name + "` belongs to an argument that does not exist");
      return {};
    };
    const auto element = [&](bool value) -> Result<void> {
      if ((array.element == Element::value) != value)
        return wrong("`" + array.name + "` has the wrong element type");
      return {};
    };
    const auto sized = [&](const ExpressionPtr& count) -> Result<void> {
      SCHAAS_RETURN_IF_ERROR(element(true));
      return expect(count, Type::index);
    };
    const auto indexed = [&](int number) -> Result<void> {
      SCHAAS_RETURN_IF_ERROR(element(false));
      if (array.written) return wrong("`" + array.name + "` holds indices and is written");
      return argument(number);
    };
    return std::visit(Match{
                          [&](const ArgumentValues& x) -> Result<void> {
                            SCHAAS_RETURN_IF_ERROR(element(true));
                            return argument(x.argument);
                          },
                          [&](const Positions& x) { return indexed(x.argument); },
                          [&](const Coordinates& x) { return indexed(x.argument); },
                          [&](const Shared& x) { return sized(x.count); },
                          [&](const Workspace& x) { return sized(x.count); },
                      },
                      array.origin);
  }

  /// The type of an expression, all of whose parts are checked.
  Result<Type> type_of(const ExpressionPtr& expression) {
    return std::visit(Match{
                          [](const Integer&) -> Result<Type> { return Type::index; },
                          [&](const Name& x) -> Result<Type> {
                            const auto found = names_.find(x.name);
                            if (found == names_.end())
                              return wrong("`" + x.name + "` is used before it is declared");
                            return found->second == Kind::index ? Type::index : Type::value;
                          },
                          [&](const Load& x) -> Result<Type> {
                            const auto found = arrays_.find(x.array);
                            if (found == arrays_.end())
                              return wrong("array `" + x.array + "` is not declared");
                            SCHAAS_RETURN_IF_ERROR(expect(x.index, Type::index));
                            return found->second.element == Element::value ? Type::value : Type::index;
                          },
                          [&](const Add& x) { return both(x.left, x.right); },
                          [&](const Multiply& x) { return both(x.left, x.right); },
                          [&](const Minimum& x) -> Result<Type> {
                            SCHAAS_RETURN_IF_ERROR(expect(x.left, Type::index));
                            SCHAAS_RETURN_IF_ERROR(expect(x.right, Type::index));
                            return Type::index;
                          },
                          [&](const Search& x) -> Result<Type> {
                            const auto found = arrays_.find(x.array);
                            if (found == arrays_.end() || found->second.element == Element::value) {
                              return wrong("`" + x.array + "` is searched but holds no indices");
                            }
                            for (const auto& part : {x.begin, x.end, x.key})
                              SCHAAS_RETURN_IF_ERROR(expect(part, Type::index));
                            return Type::index;
                          },
                          [](const Zero&) -> Result<Type> { return Type::value; },
                      },
                      expression->node);
  }

  Result<Type> both(const ExpressionPtr& left, const ExpressionPtr& right) {
    SCHAAS_ASSIGN_OR_RETURN(const Type a, type_of(left));
    SCHAAS_RETURN_IF_ERROR(expect(right, a));
    return a;
  }

  Result<void> expect(const ExpressionPtr& expression, Type type) {
    SCHAAS_ASSIGN_OR_RETURN(const Type found, type_of(expression));
    if (found == type) return {};
    return wrong("`" + loop_ir::print(expression) + "` is " + (type == Type::index ? "a value" : "an index") +
                 " where the other is needed");
  }

  Result<void> statement(const StatementPtr& statement_ptr) {
    return std::visit(Match{
                          [&](const Block& x) -> Result<void> {
                            for (const auto& each : x.statements) SCHAAS_RETURN_IF_ERROR(statement(each));
                            return {};
                          },
                          [&](const Let& x) -> Result<void> {
                            SCHAAS_RETURN_IF_ERROR(expect(x.value, x.type));
                            if (!lanes_.empty() && mentions(x.value, lanes_)) {
                              SCHAAS_RETURN_IF_ERROR(lane_value(x.value));
                              if (x.type == Type::index)
                                return wrong("index `" + x.name + "` depends on a lane");
                              lanes_.insert(x.name);
                            }
                            return declare(x.name, x.type == Type::index ? Kind::index : Kind::value);
                          },
                          [&](const Accumulator& x) {
                            if (!lanes_.empty()) lanes_.insert(x.name);
                            return declare(x.name, Kind::sum);
                          },
                          [&](const Accumulate& x) { return accumulate(x); },
                          [&](const Store& x) { return store(x); },
                          [&](const For& x) { return loop(x); },
                          [&](const Merge& x) { return merge(x); },
                          [&](const Clear& x) -> Result<void> {
                            if (!lanes_.empty())
                              return wrong("`" + x.array + "` is cleared inside a lanes loop");
                            SCHAAS_RETURN_IF_ERROR(writable(x.array));
                            return expect(x.count, Type::index);
                          },
                      },
                      statement_ptr->node);
  }

  Result<void> accumulate(const Accumulate& accumulate) {
    const auto found = names_.find(accumulate.name);
    if (found == names_.end() || found->second != Kind::sum)
      return wrong("`" + accumulate.name + "` is no sum");
    if (!lanes_.empty()) {
      if (lanes_.count(accumulate.name) == 0)
        return wrong("`" + accumulate.name + "` is shared by all lanes");
      SCHAAS_RETURN_IF_ERROR(lane_value(accumulate.value));
    }
    return expect(accumulate.value, Type::value);
  }

  Result<void> writable(const std::string& array) {
    const auto found = arrays_.find(array);
    if (found == arrays_.end()) return wrong("array `" + array + "` is not declared");
    if (!found->second.written) return wrong("`" + array + "` is stored to but not declared written");
    return {};
  }

  Result<void> store(const Store& store) {
    SCHAAS_RETURN_IF_ERROR(writable(store.array));
    SCHAAS_RETURN_IF_ERROR(expect(store.index, Type::index));
    if (!lanes_.empty()) {
      if (!is_lane_index(store.index, lane_variable_, lanes_))
        return wrong("`" + store.array + "` is not stored one element per lane");
      SCHAAS_RETURN_IF_ERROR(lane_value(store.value));
    }
    return expect(store.value, Type::value);
  }

  Result<void> loop(const For& loop) {
    SCHAAS_RETURN_IF_ERROR(expect(loop.begin, Type::index));
    SCHAAS_RETURN_IF_ERROR(expect(loop.end, Type::index));
    if (loop.step < 1 || (loop.step > 1 && loop.shape != Shape::scalar)) {
      return wrong("`" + loop.variable + "` advances by " + std::to_string(loop.step));
    }
    if (!lanes_.empty()) {
      if (loop.shape == Shape::lanes) return wrong("lanes loop `" + loop.variable + "` inside another");
      if (mentions(loop.begin, lanes_) || mentions(loop.end, lanes_)) {
        return wrong("a bound of `" + loop.variable + "` depends on a lane");
      }
    }
    const auto names = names_;
    const auto lanes = lanes_;
    const auto variable = lane_variable_;
    SCHAAS_RETURN_IF_ERROR(declare(loop.variable, Kind::index));
    if (loop.shape == Shape::lanes) {
      lanes_ = {loop.variable};
      lane_variable_ = loop.variable;
    }
    SCHAAS_RETURN_IF_ERROR(statement(loop.body));
    names_ = names;
    lanes_ = lanes;
    lane_variable_ = variable;
    return {};
  }

  Result<void> merge(const Merge& merge) {
    if (!lanes_.empty()) return wrong("`" + merge.variable + "` is merged inside a lanes loop");
    if (merge.cursors.size() < 2) return wrong("`" + merge.variable + "` merges fewer than two lists");
    for (const auto& cursor : merge.cursors) {
      SCHAAS_RETURN_IF_ERROR(expect(cursor.begin, Type::index));
      SCHAAS_RETURN_IF_ERROR(expect(cursor.end, Type::index));
      SCHAAS_RETURN_IF_ERROR(expect(load(cursor.coordinates, integer(0)), Type::index));
    }
    const auto names = names_;
    SCHAAS_RETURN_IF_ERROR(declare(merge.variable, Kind::index));
    for (const auto& cursor : merge.cursors) SCHAAS_RETURN_IF_ERROR(declare(cursor.position, Kind::index));
    SCHAAS_RETURN_IF_ERROR(statement(merge.body));
    names_ = names;
    return {};
  }

  Result<void> lane_value(const ExpressionPtr& value) const {
    if (is_lane_value(value, lane_variable_, lanes_)) return {};
    return wrong("`" + loop_ir::print(value) + "` is not one element per lane");
  }

  std::map<std::string, Kind> names_;
  std::map<std::string, Array> arrays_;
  std::set<std::string> lanes_;  ///< inside a lanes loop: its variable and what varies with it
  std::string lane_variable_;
};

}  // namespace

support::Result<void> verify(const Kernel& kernel) { return Verifier().kernel(kernel); }

}  // namespace schaas::loop_ir
