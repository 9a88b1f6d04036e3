#include "compiler/lower/passes/packed_panels.h"

#include <set>
#include <string>
#include <vector>

#include "compiler/loop_ir/map_loops.h"
#include "compiler/loop_ir/uses.h"

// Finds register tiles: the vector loop of a jammed loop, with one scalar loop from 0 inside. In its sums of
// products, factors that are computed and vary with the scalar loop alone are packed before the tile. This
// is legal since they mention no name that the tile declares, and the packing loop has the bounds of the
// loop they came from. Equal factors of several sums share a row of the buffer. A factor that is a plain
// load stays: loading it from the buffer would cost as much.
namespace schaas::lower {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::For;
using loop_ir::StatementPtr;
using loop_ir::statements_of;

/// The vector loop of a jammed loop, and the factors computed before it.
class Tile {
 public:
  Tile(const For& vector_loop, Names& names) : vector_loop_(vector_loop), names_(names) {}

  /// Returns the loop that packs the factors, then the tile; empty where there is nothing to pack.
  std::vector<StatementPtr> result() {
    auto statements = statements_of(vector_loop_.body);
    for (auto& each : statements) {
      const auto* loop = std::get_if<For>(&each->node);
      if (loop == nullptr) continue;
      if (loop_ != nullptr) return {};  // a second one
      loop_ = loop;
    }
    if (loop_ == nullptr || !runs_from_zero() || !collect_fixed(statements)) return {};
    For along = *loop_;
    std::vector<StatementPtr> inside;
    for (const auto& each : statements_of(loop_->body)) inside.push_back(with_factor(each));
    if (products_.empty()) return {};
    along.body = loop_ir::block(std::move(inside));
    for (auto& each : statements) {
      if (std::holds_alternative<For>(each->node)) each = loop_ir::make(std::move(along));
    }
    const For before{loop_->variable, loop_->begin, loop_->end, loop_ir::Shape::simd,
                     loop_ir::block(std::move(stores_))};
    For tile = vector_loop_;
    tile.body = loop_ir::block(std::move(statements));
    return {loop_ir::make(before), loop_ir::make(std::move(tile))};
  }

  /// Returns the buffer of the panel; call only when there is one.
  loop_ir::Array buffer() const {
    const auto count = offset_of(static_cast<std::int64_t>(products_.size()));
    return {buffer_, loop_ir::Element::value, loop_ir::Scratch{count}, /*written=*/true};
  }

 private:
  bool runs_from_zero() const {
    const auto* begin = std::get_if<loop_ir::Integer>(&loop_->begin->node);
    return begin != nullptr && begin->value == 0 && loop_->shape == loop_ir::Shape::scalar &&
           loop_->step == 1;
  }

  /// Collects names declared in the tile: values that mention them cannot be packed before it.
  bool collect_fixed(const std::vector<StatementPtr>& statements) {
    inside_ = {vector_loop_.variable};
    const auto declare = [&](const StatementPtr& each) {
      if (const auto* let = std::get_if<loop_ir::Let>(&each->node)) inside_.insert(let->name);
      if (const auto* sum = std::get_if<loop_ir::Accumulator>(&each->node)) inside_.insert(sum->name);
    };
    for (const auto& each : statements) declare(each);
    for (const auto& each : statements_of(loop_->body)) declare(each);
    return !loop_ir::mentions(loop_->end, inside_);
  }

  /// Returns the beginning of a row of the buffer; null for the first.
  ExpressionPtr offset_of(std::int64_t number) const {
    return number == 0   ? nullptr
           : number == 1 ? loop_->end
                         : loop_ir::multiply(loop_->end, loop_ir::integer(number));
  }

  /// Replaces the computed factors of a sum's product by loads of the buffer.
  StatementPtr with_factor(const StatementPtr& statement) {
    const auto* fold = std::get_if<loop_ir::Accumulate>(&statement->node);
    const auto* product = fold ? arguments_of(fold->value, operators::Function::multiply) : nullptr;
    if (product == nullptr || product->size() != 2) return statement;
    auto factors = *product;
    for (auto& factor : factors) {
      if (!std::holds_alternative<loop_ir::Apply>(factor->node) || loop_ir::mentions(factor, inside_) ||
          !loop_ir::mentions(factor, {loop_->variable}))
        continue;
      if (buffer_.empty()) buffer_ = names_.fresh("rows");
      factor = loop_ir::load(buffer_, packed(factor));
    }
    auto after = *fold;
    after.value = loop_ir::apply(operators::Function::multiply, factors);
    return loop_ir::make(std::move(after));
  }

  /// Returns the index of a packed value; sums that share the value share its slot.
  ExpressionPtr packed(const ExpressionPtr& value) {
    std::size_t number = 0;
    while (number < products_.size() && !equal(products_[number], value)) ++number;
    const auto first = offset_of(static_cast<std::int64_t>(number));
    const auto at = loop_ir::name(loop_->variable);
    const auto index = first == nullptr ? at : loop_ir::add(first, at);
    if (number == products_.size()) {
      products_.push_back(value);
      stores_.push_back(
          loop_ir::make(loop_ir::Store{buffer_, index, loop_ir::Write::set, value, operators::Monoid::sum}));
    }
    return index;
  }

  const For& vector_loop_;
  Names& names_;
  std::string buffer_;
  const For* loop_ = nullptr;
  std::set<std::string> inside_;
  std::vector<ExpressionPtr> products_;
  std::vector<StatementPtr> stores_;
};

/// Finds register tiles in the bodies of phases.
class PanelPacking {
 public:
  PanelPacking(loop_ir::Kernel& kernel, Names& names) : kernel_(kernel), names_(names) {}

  StatementPtr walk(const StatementPtr& statement) {
    return loop_ir::map_loops(statement, [&](const For& x) {
      For loop = x;
      loop.body = x.part == loop_ir::Part::jammed ? in_group(x.body) : walk(x.body);
      return loop_ir::make(std::move(loop));
    });
  }

 private:
  /// Rewrites the body of a jammed loop.
  StatementPtr in_group(const StatementPtr& body) {
    std::vector<StatementPtr> statements;
    for (const auto& each : statements_of(body)) {
      const auto* vector_loop = std::get_if<For>(&each->node);
      if (vector_loop == nullptr || vector_loop->shape != loop_ir::Shape::vector) {
        statements.push_back(walk(each));
        continue;
      }
      Tile tile(*vector_loop, names_);
      const auto parts = tile.result();
      if (parts.empty()) {
        statements.push_back(each);
        continue;
      }
      kernel_.arrays.push_back(tile.buffer());
      statements.insert(statements.end(), parts.begin(), parts.end());
    }
    return loop_ir::block(std::move(statements));
  }

  loop_ir::Kernel& kernel_;
  Names& names_;
};

}  // namespace

loop_ir::Kernel pack_panels(loop_ir::Kernel kernel, Names& names) {
  for (auto& phase : kernel.phases) phase.body = PanelPacking(kernel, names).walk(phase.body);
  return kernel;
}

}  // namespace schaas::lower
