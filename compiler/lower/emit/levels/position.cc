#include "compiler/lower/emit/levels/position.h"

#include <utility>

// Advances positions as far as bound coordinates allow. The dense levels of a segment may be bound in any
// order; the sparse level below is entered when all of them are. Sums are named when they grow, so that
// inner loops do not add them again. The unit-stride term stays outside, where innermost loops add it.
namespace schaas::lower {
namespace {

using format::LevelFormat;
using loop_ir::ExpressionPtr;

std::size_t at(int level) { return static_cast<std::size_t>(level); }

/// Returns one past the last dense level of the segment that starts at `begin`.
int segment_end(const Tensor& tensor, int begin) {
  int end = begin;
  const int levels = static_cast<int>(tensor.levels.size());
  while (end < levels && tensor.levels[at(end)] == LevelFormat::dense) ++end;
  return end;
}

std::vector<int> indices_between(const Operand& operand, int begin, int end) {
  return {operand.indices.begin() + begin, operand.indices.begin() + end};
}

/// All dense levels of the present segment are added, and so is its parent.
bool run_complete(const Position& position, const Tensor& tensor) {
  const int end = segment_end(tensor, position.segment);
  for (int level = position.segment; level < end; ++level) {
    if (!position.added[at(level)]) return false;
  }
  return position.entered;
}

ExpressionPtr sum(const ExpressionPtr& a, const ExpressionPtr& b) {
  if (!a) return b;
  return b ? loop_ir::add(a, b) : a;
}

/// Names `value`, so that inner loops do not compute it again.
ExpressionPtr named(const ExpressionPtr& value, KernelBuilder& builder,
                    std::vector<loop_ir::StatementPtr>& out) {
  if (!value || std::holds_alternative<loop_ir::Name>(value->node) ||
      std::holds_alternative<loop_ir::Integer>(value->node)) {
    return value;
  }
  const std::string text = builder.names.fresh("o");
  out.push_back(loop_ir::make(loop_ir::Let{text, loop_ir::Type::index, value}));
  return loop_ir::name(text);
}

/// Adds the parent and the bound coordinates of the present segment, each once.
void resolve_segment(Position& position, const Operand& operand, const Tensor& tensor, KernelBuilder& builder,
                     std::vector<loop_ir::StatementPtr>& out) {
  const int end = segment_end(tensor, position.segment);
  ExpressionPtr base = position.base;
  const auto add_multiple = [&](const ExpressionPtr& number, int below) {
    const auto stride = builder.extents.product(operand.tensor, indices_between(operand, below, end));
    position.row = base || below != end - 1 ? nullptr : number;
    base = sum(base, loop_ir::multiply(number, stride));
  };
  if (!position.entered) {
    if (position.parent) add_multiple(position.parent, position.segment);
    position.entered = true;
  }
  for (int level = position.segment; level < end; ++level) {
    if (position.added[at(level)] || !position.bound[at(level)]) continue;
    position.added[at(level)] = true;
    if (level == end - 1) {
      position.unit = position.bound[at(level)];
      continue;
    }
    add_multiple(position.bound[at(level)], level + 1);
  }
  position.base = named(base, builder, out);
}

}  // namespace

Position start_position(const Operand& operand) {
  Position position;
  position.bound.resize(operand.indices.size());
  position.added.resize(operand.indices.size());
  position.shift.resize(operand.indices.size());
  position.until.resize(operand.indices.size());
  return position;
}

void resolve(Position& position, const Operand& operand, const Tensor& tensor, KernelBuilder& builder,
             std::vector<loop_ir::StatementPtr>& out) {
  const int levels = static_cast<int>(tensor.levels.size());
  while (true) {
    resolve_segment(position, operand, tensor, builder, out);
    const int next = segment_end(tensor, position.segment);
    if (next == levels || !run_complete(position, tensor) || !position.bound[at(next)]) return;
    position.added[at(next)] = true;
    const auto& shift = position.shift[at(next)];
    // The coordinate of a last band is the unit-stride term.
    const bool last = shift && next + 1 == levels;
    position.parent = last ? nullptr : sum(shift, position.bound[at(next)]);
    position.base = last ? shift : nullptr;
    position.unit = last ? position.bound[at(next)] : nullptr;
    position.entered = last;
    position.segment = next + 1;
  }
}

bool complete(const Position& position, const Tensor& tensor) {
  const int levels = static_cast<int>(tensor.levels.size());
  return segment_end(tensor, position.segment) == levels && run_complete(position, tensor);
}

bool reached(const Position& position, const Tensor& tensor, int level) {
  return segment_end(tensor, position.segment) == level && run_complete(position, tensor);
}

ExpressionPtr location(const Position& position) {
  const auto at = sum(position.base, position.unit);
  return at ? at : loop_ir::integer(0);
}

}  // namespace schaas::lower
