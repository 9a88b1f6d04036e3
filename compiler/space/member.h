#pragma once
#include <memory>

#include <gmpxx.h>

#include "compiler/schedule/trace.h"
#include "compiler/space/count.h"
#include "compiler/space/recursion.h"

namespace schaas::space {

struct Member;
using MemberPtr = std::shared_ptr<const Member>;

/// One member of a state: the choices made, as a tree. Immutable and shared. Whether the state was met as its
/// mirror image is the parent's to know (Transition, Join, roots).
struct Member {
  enum class Kind { linear, fused, joined } kind = Kind::linear;
  StateId state = 0;
  Order order;             ///< linear: all loops; fused: the common loops; joined: the combining nest's loops
  std::size_t choice = 0;  ///< fused: which transition; joined: which join
  MemberPtr producer;      ///< fused; joined: the left producer
  MemberPtr consumer;      ///< fused; joined: the right producer
};

/// Member `number` of a state, 0 <= number < counter.of(state): linear nests first, then the transitions in
/// order.
MemberPtr member_at(Recursion& recursion, Counter& counter, StateId id, mpz_class number, Watch& watch);

/// The directives that turn the default nest into this member of the root with this operand order;
/// `mirrored`: the operand order is the mirror image of the root's state. Every nest
/// that is split or ends a branch gets its loop order by an explicit `reorder` where it would otherwise
/// inherit another one.
schedule::Trace trace_of(Recursion& recursion, const Member& member, const std::vector<int>& operand_order,
                         bool mirrored);

}  // namespace schaas::space
