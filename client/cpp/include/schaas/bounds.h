#pragma once
#include <string>

#include "schaas/frontier.h"
#include "schaas/select.h"

namespace schaas::client {

/// Checks that real sizes satisfy the constraints of the problem. A frontier is optimal only for sizes that
/// do, and a kernel with a fixed extent runs for no other. `sizes` must know every index, and the entries by
/// level of every tensor that a constraint counts (dense ones too). The comparison is exact for numbers of
/// any size and takes microseconds. Errors: invalid [bound-violated] naming the constraint in its normal form
/// (docs/language.md), the real sizes in it and both sides' values; [unknown-size]; internal
/// [server-internal] when a constraint of the frontier names what its problem does not have.
support::Result<void> check_bounds(const Frontier& frontier, const Sizes& sizes);

}  // namespace schaas::client
