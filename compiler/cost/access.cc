#include "compiler/cost/access.h"

// Access classes: SparseAuto's stage 5 (section 5.3) made part of the symbolic cost. Elements are looked at
// first and decide strided and gathered. What is left is vector code, told apart by the rows that come and go
// with each execution of the innermost loop. Rejected: the published model, which has no classes. It prefers
// scalar temporaries with the sparse loop innermost, and those walk dense rows with a stride
// (docs/cost_model.md).
namespace schaas::cost {
namespace {

bool has(const Seen& access, int index) { return index >= 0 && ((access.indices >> index) & 1U) != 0; }

/// Without the rows: gathered, strided, or contiguous for vector code.
Access element_access(std::span<const Seen> operands, const Seen& target) {
  int walked = 0;
  bool jumping = target.touch == Touch::jumping;
  bool rows = target.touch == Touch::adjacent;
  for (const Seen& one : operands) {
    jumping = jumping || one.touch == Touch::jumping;
    rows = rows || one.touch == Touch::adjacent;
    walked += one.touch == Touch::walked ? 1 : 0;
  }
  if (jumping) return Access::strided;
  return walked > 1 || (walked == 1 && rows) ? Access::gathered : Access::contiguous;
}

}  // namespace

/// Returns a weight measured on generated code (docs/performance/model.md, tests/bench/trip_costs.cc).
int weight(Access access) {
  switch (access) {
    case Access::contiguous:
      return 1;
    case Access::two_rows:
      return 2;
    case Access::three_rows:
      return 3;
    case Access::gathered:
      return 6;
    case Access::strided:
      return 8;
    case Access::cleared:
      return 1;
    case Access::function:
      return 48;
    case Access::copied:
      return 200;
    case Access::merged:
      return 48;
  }
  // Reached by no class: the switch is complete.
  return 8;
}

Touch touch(const std::vector<std::string>& indices, const format::TensorFormat& format,
            const std::string& loop) {
  Touch result = Touch::absent;
  for (int level = 0; level < format.order(); ++level) {
    const auto at = static_cast<std::size_t>(level);
    if (indices[static_cast<std::size_t>(format.mode_order[at])] != loop) continue;
    const bool last = level + 1 == format.order();
    if (format.levels[at] == format::LevelFormat::banded && last) {
      result = Touch::adjacent;
    } else if (format::is_sparse(format.levels[at])) {
      result = Touch::walked;
    } else {
      result = last ? Touch::adjacent : Touch::jumping;
    }
  }
  return result;
}

bool is_row_code(std::span<const Seen> operands, const Seen& target) {
  return element_access(operands, target) == Access::contiguous;
}

Access leaf_access(std::span<const Seen> operands, const Seen& target, const InnerLoops& loops) {
  if (const Access elements = element_access(operands, target); elements != Access::contiguous)
    return elements;
  int rows = 0;
  for (const Seen& one : operands) {
    // A leaf without a loop around of its own counts one row, however many its operands read.
    if (one.touch == Touch::adjacent && (loops.around < 0 ? rows == 0 : has(one, loops.around))) ++rows;
  }
  const bool kept = loops.around >= 0 && !loops.around_phase && !has(target, loops.around);
  if (target.touch == Touch::adjacent && !kept) rows += 2;
  return rows <= 1 ? Access::contiguous : rows == 2 ? Access::two_rows : Access::three_rows;
}

}  // namespace schaas::cost
