#pragma once
#include <string>

#include "schaas/frontier.h"
#include "schaas/select.h"

namespace schaas::client {

/// Whether real sizes keep what the user promised. A frontier is the best only for sizes that keep the
/// constraints of its problem, and a kernel with a fixed extent runs for no other. `sizes` must know every
/// index, and the entries by level of every tensor that a constraint counts (dense ones too). Exact, whatever
/// the size of the numbers; microseconds. Errors: invalid [bound-violated] naming the constraint in its
/// normal form (docs/language.md), the real sizes in it and both sides' values; [unknown-size]; internal
/// [server-internal] when the canonical text of the frontier is not in the form of docs/cache_key.md.
support::Result<void> check_bounds(const Frontier& frontier, const Sizes& sizes);

}  // namespace schaas::client
