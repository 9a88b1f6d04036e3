#include "compiler/lower/analysis/unstored_value.h"

#include <algorithm>

#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/analysis/iteration_space.h"

// Evaluates the value of a leaf as if no list held anything along one index. Elements of lists become their
// fill values, elements that lack the index stay reads, and others that have it make the value unknown. What
// is known as a number follows the rules of merge_lattice.h, so that factors annihilate. A function of other
// known values is that function of them, to be evaluated wherever any of them must be.
namespace schaas::lower {
namespace {

using loop_ir::Match;
using merge_lattice::LevelAccess;
using merge_lattice::Space;
using operators::Function;

ValuePtr made(Value value) { return std::make_shared<const Value>(std::move(value)); }

class Unstored {
 public:
  using Known = std::optional<UnstoredValue>;

  Unstored(int index, const NestTree& tree) : index_(index), tree_(tree) {}

  Known of(const Leaf& leaf) const {
    if (leaf.value) return of(leaf.value);
    std::vector<ValuePtr> factors;
    if (leaf.scale) factors.push_back(made({Constant{*leaf.scale}}));
    for (const int factor : leaf.factors) factors.push_back(made({Read{factor}}));
    return of(made({Multiplied{std::move(factors)}}));
  }

 private:
  Known of(const ValuePtr& here) const {
    return std::visit(Match{
                          [&](const Read& read) { return of_read(read.operand, here); },
                          [&](const Constant&) -> Known {
                            return UnstoredValue{merge_lattice::none(), here};
                          },
                          [&](const Coordinate& coordinate) -> Known {
                            if (coordinate.index == index_) return std::nullopt;
                            return UnstoredValue{merge_lattice::none(), here};
                          },
                          [&](const Multiplied& product) {
                            const auto parts = all(product.factors);
                            return joined(parts, merge_lattice::product(spaces(parts), *tree_.semiring),
                                          [](std::vector<ValuePtr> values) {
                                            return made({Multiplied{std::move(values)}});
                                          });
                          },
                          [&](const Called& call) {
                            const auto parts = all(call.arguments);
                            if (call.function == Function::where)
                              if (const Known chosen = of_choice(parts)) return chosen;
                            return joined(parts, merge_lattice::apply(call.function, spaces(parts)),
                                          [&](std::vector<ValuePtr> values) {
                                            return made({Called{call.function, std::move(values)}});
                                          });
                          },
                      },
                      here->node);
  }

  Known of_read(int number, const ValuePtr& here) const {
    const Operand& operand = tree_.operands[static_cast<std::size_t>(number)];
    const int level = level_of(operand, index_);
    if (level < 0) return UnstoredValue{merge_lattice::none(), here};
    const Tensor& tensor = tree_.tensors[static_cast<std::size_t>(operand.tensor)];
    if (tensor.temporary() || !format::is_sparse(tensor.levels[static_cast<std::size_t>(level)]))
      return std::nullopt;
    return UnstoredValue{
        merge_lattice::held(LevelAccess{operand.pattern ? operand.located_by : number, level}),
        made({Constant{tensor.fill}})};
  }

  /// Returns the branch that a condition which is a number chooses.
  Known of_choice(const std::vector<Known>& parts) const {
    const auto condition = parts[0] ? number_of(parts[0]->value) : std::nullopt;
    const Known& usual = parts[condition && *condition != 0 ? 1 : 2];
    if (!condition || !usual || number_of(usual->value)) return std::nullopt;
    return UnstoredValue{merge_lattice::united({parts[0]->visited, usual->visited}), usual->value};
  }

  std::vector<Known> all(const std::vector<ValuePtr>& values) const {
    std::vector<Known> out;
    for (const auto& value : values) out.push_back(of(value));
    return out;
  }

  static std::vector<Space> spaces(const std::vector<Known>& parts) {
    std::vector<Space> out;
    for (const Known& part : parts) {
      const auto number = part ? number_of(part->value) : std::nullopt;
      out.push_back(number ? Space{part->visited, number} : merge_lattice::anywhere());
    }
    return out;
  }

  /// Returns the value of a function of the parts. `space`: as far as numbers alone decide it.
  template <class Function>
  static Known joined(const std::vector<Known>& parts, const Space& space, const Function& value_of) {
    if (space.otherwise) return UnstoredValue{space.visited, made({Constant{*space.otherwise}})};
    std::vector<merge_lattice::Formula> visited;
    std::vector<ValuePtr> values;
    for (const Known& part : parts) {
      if (!part) return std::nullopt;
      visited.push_back(part->visited);
      values.push_back(part->value);
    }
    return UnstoredValue{merge_lattice::united(visited), value_of(std::move(values))};
  }

  int index_;
  const NestTree& tree_;
};

}  // namespace

std::optional<double> number_of(const ValuePtr& value) {
  const auto* constant = std::get_if<Constant>(&value->node);
  return constant == nullptr ? std::nullopt : std::optional(constant->value);
}

std::optional<UnstoredValue> unstored_value(const Leaf& leaf, int index, const NestTree& tree) {
  return Unstored(index, tree).of(leaf);
}

}  // namespace schaas::lower
