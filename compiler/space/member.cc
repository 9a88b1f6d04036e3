#include "compiler/space/member.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "compiler/support/result.h"

// Members by number, and as traces. A number is divided by the counts of choices, orders and sides, so a
// random number is a random member. Traces are written from the outermost section inwards: a reorder to the
// common prefix and both sides' tails, then the split (docs/schedule_space.md, "Members as traces"). States
// are kept up to mirror images, so a section may have to be written backwards.
namespace schaas::space {
namespace {

using schedule::Path;

/// Rows of a block (docs/performance/kernels.md).
constexpr int block_size = 48;

/// number = quotient * base + rest; returns the rest.
std::uint64_t split_off(mpz_class& number, const mpz_class& base) {
  const mpz_class rest = number % base;
  number /= base;
  return rest.get_ui();
}

IndexSet set_of(const Order& order) {
  IndexSet set = 0;
  for (std::uint8_t x : order) set |= IndexSet{1} << x;
  return set;
}

/// Returns the loops of an order that are in the set.
Order restricted(const Order& order, IndexSet to) {
  Order result;
  for (std::uint8_t x : order) {
    if ((to >> x) & 1U) result.push_back(x);
  }
  return result;
}

Path extended(Path path, int branch) {
  path.push_back(branch);
  return path;
}

/// Merges the orders two sides wish for into one legal order of their union after `prefix`.
class Merge {
 public:
  Merge(const Orders& orders, IndexSet loops, Order wish, Order other)
      : orders_(orders), loops_(loops), wishes_{std::move(wish), std::move(other)} {}

  /// `allowed_next` limits the first loop after the prefix, where one of these may come first.
  Order after(const Order& prefix, IndexSet allowed_next) {
    Order order = prefix;
    IndexSet placed = set_of(prefix);
    IndexSet allowed = any_may(allowed_next, placed) ? allowed_next : loops_;
    while (placed != loops_) {
      const int x = next(placed, allowed);
      order.push_back(static_cast<std::uint8_t>(x));
      placed |= IndexSet{1} << x;
      allowed = loops_;
    }
    return order;
  }

 private:
  bool any_may(IndexSet allowed, IndexSet placed) const {
    for (IndexSet rest = allowed; rest != 0; rest &= rest - 1) {
      if (may(std::countr_zero(rest), placed, loops_)) return true;
    }
    return false;
  }
  bool may(int x, IndexSet placed, IndexSet allowed) const {
    const IndexSet bit = IndexSet{1} << x;
    return (placed & bit) == 0 && (allowed & bit) != 0 && orders_.available(x, placed, loops_);
  }
  /// Best: a loop next in one side's wish that the other side does not have, or has next too.
  int next(IndexSet placed, IndexSet allowed) const {
    for (int strict = 1; strict >= 0; --strict) {
      for (std::size_t side = 0; side < 2; ++side) {
        const Order mine = restricted(wishes_[side], ~placed);
        if (mine.empty() || !may(mine.front(), placed, allowed)) continue;
        const Order theirs = restricted(wishes_[1 - side], ~placed);
        const bool known = std::find(theirs.begin(), theirs.end(), mine.front()) != theirs.end();
        if (strict == 1 && known && theirs.front() != mine.front()) continue;
        return mine.front();
      }
    }
    for (int x = 0; x < max_indices; ++x) {
      if (((loops_ >> x) & 1U) != 0 && may(x, placed, allowed)) return x;
    }
    // Operands whose storage orders contradict each other, as in B(i,j) * C(j,k) * D(k,i) by rows, have no
    // legal nest. Split they may have: what is written here is taken apart and reordered by later directives.
    // The choice is schedule::default_nest's.
    const IndexSet left = loops_ & ~placed;
    return std::countr_zero((left & allowed) != 0 ? left & allowed : left);
  }

  const Orders& orders_;
  IndexSet loops_;
  std::array<Order, 2> wishes_;
};

/// Writes the directives of a member, sections from the outside in, producers first.
class TraceWriter {
 public:
  explicit TraceWriter(Recursion& recursion) : recursion_(recursion) {}

  schedule::Trace write(const Member& member, const std::vector<int>& operand_order, bool mirrored) {
    if (!std::is_sorted(operand_order.begin(), operand_order.end())) {
      trace_.directives.push_back(schedule::Permute{{}, operand_order});
    }
    section(member, mirrored, {}, default_order(member.state));
    trace_.directives.insert(trace_.directives.end(), blocks_.begin(), blocks_.end());
    return std::move(trace_);
  }

 private:
  /// At each depth the earliest index that no access order forbids: schedule::default_nest's order.
  Order default_order(StateId id) {
    const IndexSet loops = recursion_.state(id).loops;
    return Merge(recursion_.orders(id), loops, {}, {}).after({}, loops);
  }

  /// The loop order a section gets before anything else happens to it.
  Order nest_order(const Member& member) {
    if (member.kind == Member::Kind::linear) return member.order;
    const IndexSet loops = recursion_.state(member.state).loops;
    const Order first = nest_order(*member.producer);
    const Order second = nest_order(*member.consumer);
    Merge merge(recursion_.orders(member.state), loops, first, second);
    if (member.kind == Member::Kind::joined) return merge.after({}, loops);
    const Transition& t = transition(member);
    const IndexSet shared = recursion_.state(t.producer).loops & recursion_.state(t.consumer).loops;
    return merge.after(member.order, loops & ~shared & ~IndexSet{t.prefix});
  }

  const Transition& transition(const Member& member) {
    return recursion_.expand(member.state).transitions[member.choice];
  }

  void reorder(const Path& path, const Order& order, const Order& current) {
    if (order == current) return;
    std::vector<std::string> names;
    for (std::uint8_t x : order) names.push_back(recursion_.contraction().indices[x]);
    trace_.directives.push_back(schedule::Reorder{path, std::move(names)});
  }

  /// `mirrored`: the section's operands stand in the reverse order of the state's.
  void section(const Member& member, bool mirrored, const Path& path, const Order& current) {
    const Order order = nest_order(member);
    reorder(path, order, current);
    if (member.kind == Member::Kind::fused) {
      const Transition& t = transition(member);
      const int split = mirrored ? recursion_.state(member.state).size - t.split : t.split;
      const auto both = [&](StateId side) { return recursion_.state(side).loops | IndexSet{t.prefix}; };
      fuse({path, split, t.producer_left != mirrored, std::nullopt}, t, restricted(order, both(t.producer)),
           restricted(order, both(t.consumer)));
      section(*member.producer, t.producer_mirrored != mirrored, extended(path, 0),
              restricted(order, recursion_.state(t.producer).loops));
      section(*member.consumer, t.consumer_mirrored != mirrored, extended(path, 1),
              restricted(order, recursion_.state(t.consumer).loops));
    } else if (member.kind == Member::Kind::joined) {
      joined(member, mirrored, path, order);
    }
  }

  /// Fuses the transition's prefix, and no more than that where both sides go on with the same loop.
  void fuse(schedule::LoopFuse directive, const Transition& t, const Order& producer, const Order& consumer) {
    const auto fused = static_cast<std::size_t>(std::popcount(t.prefix));
    if (producer.size() > fused && consumer.size() > fused && producer[fused] == consumer[fused])
      directive.fuse = static_cast<int>(fused);
    if (t.blocked) blocks_.push_back(schedule::Block{directive.path, block_size});
    trace_.directives.push_back(std::move(directive));
  }

  /// One producer of a combination as it stands in the section.
  struct Stored {
    const Member& member;
    bool mirrored;
    IndexSet loops, temporary;
  };

  /// The left producer is split off first, then the right one from [T1, right...].
  void joined(const Member& member, bool mirrored, const Path& path, const Order& order) {
    const Join& join = recursion_.expand(member.state).joins[member.choice];
    const Stored first{*member.producer, join.left_mirrored != mirrored, recursion_.state(join.left).loops,
                       join.left_temporary};
    const Stored second{*member.consumer, join.right_mirrored != mirrored, recursion_.state(join.right).loops,
                        join.right_temporary};
    const Stored& left = mirrored ? second : first;
    const Stored& right = mirrored ? first : second;
    const int split = mirrored ? recursion_.state(member.state).size - join.split : join.split;
    const Path rest = extended(path, 1);
    const Order rest_order = separate(path, split, true, order, left.loops, left.temporary | right.loops);
    const Order combining = separate(rest, 1, false, rest_order, right.loops, join.loops);
    reorder(extended(rest, 1), member.order, combining);
    section(left.member, left.mirrored, extended(path, 0), restricted(order, left.loops));
    section(right.member, right.mirrored, extended(rest, 0), restricted(rest_order, right.loops));
  }

  /// Splits without common loops; returns the order the consumer inherits.
  Order separate(const Path& path, int split, bool producer_left, const Order& order, IndexSet producer,
                 IndexSet consumer) {
    const Order first = restricted(order, producer);
    const Order second = restricted(order, consumer);
    schedule::LoopFuse fuse{path, split, producer_left, std::nullopt};
    if (!first.empty() && !second.empty() && first.front() == second.front()) fuse.fuse = 0;
    trace_.directives.push_back(fuse);
    return second;
  }

  Recursion& recursion_;
  schedule::Trace trace_;
  std::vector<schedule::Directive>
      blocks_;  ///< last, so that what lies inside is directed as if there were none
};

}  // namespace

MemberPtr member_at(Recursion& recursion, Counter& counter, StateId id, mpz_class number, Watch& watch) {
  const Expansion expansion = recursion.expand(id);
  Orders& orders = recursion.orders(id);
  auto member = std::make_shared<Member>();
  member->state = id;
  if (expansion.linear) {
    const IndexSet loops = recursion.state(id).loops;
    if (number < wide(orders.count(loops))) {
      member->order = orders.at(loops, number.get_ui());
      return member;
    }
    number -= wide(orders.count(loops));
  }
  const auto choose = [&](Member::Kind kind, std::size_t choice, StateId producer, StateId consumer,
                          IndexSet loops) {
    const mpz_class count = wide(orders.count(loops));
    const mpz_class consumers = counter.of(consumer, watch);
    const mpz_class block = counter.of(producer, watch) * consumers * count;
    if (number >= block) {
      number -= block;
      return false;
    }
    member->kind = kind;
    member->choice = choice;
    member->order = orders.at(loops, split_off(number, count));
    const mpz_class rest = number % consumers;
    number /= consumers;
    member->producer = member_at(recursion, counter, producer, number, watch);
    member->consumer = member_at(recursion, counter, consumer, rest, watch);
    return true;
  };
  for (std::size_t n = 0; n < expansion.transitions.size(); ++n) {
    const Transition& t = expansion.transitions[n];
    if (choose(Member::Kind::fused, n, t.producer, t.consumer, t.prefix)) return member;
  }
  for (std::size_t n = 0; n < expansion.joins.size(); ++n) {
    const Join& join = expansion.joins[n];
    if (choose(Member::Kind::joined, n, join.left, join.right, join.loops)) return member;
  }
  throw support::InternalError("member number out of range");
}

schedule::Trace trace_of(Recursion& recursion, const Member& member, const std::vector<int>& operand_order,
                         bool mirrored) {
  return TraceWriter(recursion).write(member, operand_order, mirrored);
}

}  // namespace schaas::space
