#include "compiler/schedule/directives/loopfuse.h"

#include <algorithm>
#include <utility>

#include "compiler/schedule/illegal.h"
#include "compiler/schedule/section.h"

// Splits a product into producer and consumer (SparseAuto, algorithm 1). Both sides keep the order of the
// section's loops, each without the loops that it does not need. Removing loops from an order that respects
// storage leaves one that does. The loops with which both sides begin alike are fused. The temporary has the
// producer's own indices that the other factors or the target also have. It is legal because multiplication
// distributes over the semiring's sum.
namespace schaas::schedule {
namespace {

using index_notation::Access;
using Factors = std::vector<Access>;
using Names = std::vector<std::string>;

bool mentions(const Factors& factors, const std::string& index) {
  return std::any_of(factors.begin(), factors.end(), [&](const Access& access) {
    return std::find(access.indices.begin(), access.indices.end(), index) != access.indices.end();
  });
}

/// Returns the loops of the section that one side has, in the section's order.
Names loops_of(const Names& loops, const Factors& side) {
  Names out;
  for (const auto& index : loops) {
    if (mentions(side, index)) out.push_back(index);
  }
  return out;
}

support::Result<void> check(const LoopFuse& directive, const Factors& factors) {
  const std::size_t count = factors.size();
  if (count < 2) {
    return illegal("the section's product has one factor, so there is nothing to split");
  }
  if (directive.loc < 1 || static_cast<std::size_t>(directive.loc) >= count) {
    return illegal("loc is " + std::to_string(directive.loc) + " but the section's product has " +
                   std::to_string(count) + " factors; loc must be between 1 and " +
                   std::to_string(count - 1));
  }
  if (directive.fuse && *directive.fuse < 0) {
    return illegal("fuse is " + std::to_string(*directive.fuse) + "; it is a number of loops, at least 0");
  }
  return {};
}

/// Returns the number of leading loops that both sides share, at most `fuse` when given.
std::size_t fused_loops(const Names& producer, const Names& consumer, const std::optional<int>& fuse) {
  const auto shorter = std::min(producer.size(), consumer.size());
  const auto end = std::mismatch(producer.begin(), producer.begin() + static_cast<std::ptrdiff_t>(shorter),
                                 consumer.begin());
  const auto common = static_cast<std::size_t>(end.first - producer.begin());
  return fuse ? std::min(common, static_cast<std::size_t>(*fuse)) : common;
}

}  // namespace

support::Result<concrete_notation::StatementPtr> apply_loopfuse(const concrete_notation::StatementPtr& tree,
                                                                const LoopFuse& directive,
                                                                const std::string& temporary) {
  SCHAAS_ASSIGN_OR_RETURN(const Section section, find_section(tree, directive.path));
  SCHAAS_ASSIGN_OR_RETURN(const Factors factors, factors_of(section));
  SCHAAS_RETURN_IF_ERROR(check(directive, factors));
  const auto split = factors.begin() + directive.loc;
  const Factors left(factors.begin(), split);
  const Factors right(split, factors.end());
  Factors producing = directive.producer_left ? left : right;
  Factors consuming = directive.producer_left ? right : left;
  Factors passed_to =
      consuming;  // accesses that need an index of the temporary: the other factors and the target
  passed_to.push_back(section.target);

  const Names producer_loops = loops_of(section.loops, producing);
  const Names consumer_loops = loops_of(section.loops, passed_to);
  const auto fused = static_cast<std::ptrdiff_t>(fused_loops(producer_loops, consumer_loops, directive.fuse));
  const Names common(producer_loops.begin(), producer_loops.begin() + fused);
  // Each side keeps below the branch the loops that are not fused above it.
  const Names own_producer(producer_loops.begin() + fused, producer_loops.end());
  const Names own_consumer(consumer_loops.begin() + fused, consumer_loops.end());

  Access passed;
  passed.tensor = temporary;
  passed.indices = loops_of(own_producer, passed_to);
  consuming.insert(directive.producer_left ? consuming.begin() : consuming.end(), passed);

  const auto side = [&](const Names& loops, const Access& target, Factors product) {
    return statement_of(
        Section{loops, target, index_notation::product_of(std::move(product)), section.monoid});
  };
  const auto producer = side(own_producer, passed, std::move(producing));
  const auto consumer = side(own_consumer, section.target, std::move(consuming));
  return replace_section(tree, directive.path,
                         concrete_notation::forall(common, concrete_notation::where(consumer, producer)));
}

}  // namespace schaas::schedule
