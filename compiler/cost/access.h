#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/cost/cost.h"
#include "compiler/format/tensor_format.h"

/// Memory access of a leaf nest (SparseAuto section 5.3, stage 5, refined; docs/cost_model.md).
namespace schaas::cost {

/// Movement of one access when one loop advances.
enum class Touch : std::uint8_t {
  absent,    ///< the loop's index is not in the access
  adjacent,  ///< dense or banded, and the last storage level: the next element
  jumping,   ///< dense and not the last storage level: at least a row further
  walked,    ///< a compressed level: the next stored entry; the coordinates come out of order of no other
             ///< tensor
};

/// `indices` are the access's indices by mode. An index that occurs twice counts at its last level.
Touch touch(const std::vector<std::string>& indices, const format::TensorFormat& format,
            const std::string& loop);

/// A set of indices: bit x stands for index_variables(statement)[x], as in a Term.
using Indices = std::uint32_t;

/// An access of a leaf.
struct Seen {
  Touch touch = Touch::absent;  ///< by the leaf's innermost loop
  Indices indices = 0;
};

/// The loops of a leaf that its class depends on; only loops below the innermost branch above it are its own.
struct InnerLoops {
  int around = -1;            ///< its own loop directly around the innermost one; -1: there is none
  bool around_phase = false;  ///< `around` is the outermost loop of a phase
};

/// True when a leaf with these accesses is vector code over rows: only then does its class depend on the loop
/// around.
bool is_row_code(std::span<const Seen> operands, const Seen& target);

/// The access class of a leaf.
///
/// Elements: a dense access that the innermost loop takes a row further is strided. A loop that walks a
/// compressed level reaches every dense row through coordinates: gathered. So are two walked operands, which
/// are coiterated.
///
/// Rows, vector code: what counts is how many rows come and go with each run of the innermost loop. An
/// operand's row does when the operand has the loop around; a leaf without a loop around of its own reads at
/// least one row that does. The target's row stays in registers over a reduction around that is not a phase's
/// outermost loop (lower/register_blocking.h). Else it is read and written and counts two.
Access leaf_access(std::span<const Seen> operands, const Seen& target, const InnerLoops& loops);

}  // namespace schaas::cost
