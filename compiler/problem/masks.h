#pragma once
#include <vector>

#include "compiler/problem/mask.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

/// Masks: intermediates computed only where they are read (ReACT, section 4.2: sparse iteration spaces pass
/// from uses to definitions, as a union over the uses).
namespace schaas::problem {

/// The problem whose definition of the intermediate is multiplied by the patterns of the operands, their
/// union where there are several:
///     T(i,j) = C(i,k) * D(k,j)   ->   T(i,j) = B_stored(i,j) * C(i,k) * D(k,j)
/// Wherever T is read, an operand of `by` with the indices of the read is a factor or a dividend. It gives
/// zero where it stores nothing, so the problem's result stays the same. Errors: invalid [illegal-directive]:
/// no intermediate, or one that is masked; a reading that no operand of `by` masks; one that masks it by
/// other indices than the definition's; several under another semiring than plus-times, which has no union of
/// them.
support::Result<Problem> with_mask(const Problem& problem, const MaskRequest& request);

/// Masks for the intermediates that sum, or call exp and the like, and are read by several statements, where
/// every read has a mask. The intermediate is then computed once, for all readers. In order of the
/// statements; one operand that masks all readings goes before a union.
std::vector<MaskRequest> possible_masks(const Problem& problem);

}  // namespace schaas::problem
