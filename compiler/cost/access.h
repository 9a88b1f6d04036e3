#pragma once
#include <string>
#include <vector>

#include "compiler/cost/cost.h"
#include "compiler/format/tensor_format.h"

/// How one loop touches the tensors of a leaf (SparseAuto section 5.3, stage 5, refined; docs/cost_model.md).
namespace schaas::cost {

/// What one access does when one loop advances.
enum class Touch : std::uint8_t {
  absent,    ///< the loop's index is not in the access
  adjacent,  ///< dense and the last storage level: the next element
  jumping,   ///< dense and not the last storage level: at least a row further
  walked,    ///< a compressed level: the next stored entry; the coordinates come out of order of no other
             ///< tensor
};

/// `indices` are the access's indices by mode. An index that occurs twice counts at its last level.
Touch touch(const std::vector<std::string>& indices, const format::TensorFormat& format,
            const std::string& loop);

/// The access class of a leaf whose innermost loop touches its operands and its target so. A loop that walks
/// a compressed level reaches every dense tensor through coordinates, so adjacent becomes gathered; two
/// walked operands are coiterated, which is no vector code either. A compressed level of the target is
/// appended to, which is contiguous.
Access leaf_access(const std::vector<Touch>& operands, Touch target);

}  // namespace schaas::cost
