#include "compiler/schedule/apply.h"

#include <algorithm>
#include <utility>

#include "compiler/concrete_notation/match.h"
#include "compiler/concrete_notation/verifier.h"
#include "compiler/index_notation/printer.h"
#include "compiler/schedule/block.h"
#include "compiler/schedule/distribute.h"
#include "compiler/schedule/loopfuse.h"
#include "compiler/schedule/ordered_appends.h"
#include "compiler/schedule/permute.h"
#include "compiler/schedule/reorder.h"
#include "compiler/schedule/sequence.h"
#include "compiler/schedule/share.h"
#include "compiler/schedule/temporary_layout.h"

namespace schaas::schedule {
namespace {

using concrete_notation::StatementPtr;
using support::Diagnostic;
using support::Result;

Result<StatementPtr> apply_one(const Directive& directive, const StatementPtr& tree,
                               const problem::Problem& problem, TemporaryNames& names) {
  return concrete_notation::match(
      directive, [&](const Permute& permute) { return apply_permute(tree, permute); },
      [&](const Reorder& reorder) { return apply_reorder(tree, reorder); },
      [&](const LoopFuse& fuse) { return apply_loopfuse(tree, fuse, names.next()); },
      [&](const Block& block) { return apply_block(tree, block); },
      [&](const Share& share) { return apply_share(tree, share); },
      [&](const Sequence& sequence) { return apply_sequence(tree, sequence); },
      [&](const Distribute& distribute) { return apply_distribute(tree, distribute, problem); });
}

/// The diagnostic pointing at directive `number` of print(trace).
Diagnostic at_directive(const Diagnostic& error, const Trace& trace, std::size_t number) {
  Trace before;
  before.directives.assign(trace.directives.begin(),
                           trace.directives.begin() + static_cast<std::ptrdiff_t>(number));
  const std::size_t begin = number == 0 ? 0 : print(before).size() + 2;  // "; "
  const std::size_t end = begin + print(trace.directives[number]).size();
  return support::at(support::invalid("illegal-directive", error.message), "schedule", print(trace),
                     {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
}

/// Verifies what the tree is when nothing more is done to it.
Result<void> check(const StatementPtr& tree, const problem::Problem& problem) {
  return concrete_notation::verify(with_ordered_appends(tree, problem), problem);
}

Result<void> check_default_nest(const StatementPtr& tree, const problem::Problem& problem) {
  const auto verified = check(tree, problem);
  if (verified.ok()) return {};
  return support::noting(support::unsupported("no-loop-order", "no single loop nest computes `" +
                                                                   index_notation::print(problem.statement) +
                                                                   "`: " + verified.error().message),
                         "store one of these tensors in the mode order of the other, or dense");
}

}  // namespace

Result<StatementPtr> apply(const Trace& trace, const problem::Problem& problem) {
  TemporaryNames names(problem);
  StatementPtr tree = default_nest(problem, names);
  // Storage orders that go round in a circle, as in B(i,j) * C(j,k) * D(k,i) by rows, have no nest, but they
  // have trees once they are split. There the tree must be legal at the end only.
  const auto legal_nest = check_default_nest(tree, problem);
  if (!legal_nest.ok() && trace.directives.empty()) return legal_nest.error();
  for (std::size_t number = 0; number < trace.directives.size(); ++number) {
    auto next = apply_one(trace.directives[number], tree, problem, names);
    if (!next.ok()) return at_directive(next.error(), trace, number);
    tree = std::move(next).value();
    if (!legal_nest.ok() && number + 1 < trace.directives.size()) continue;
    const auto verified = check(tree, problem);
    if (!verified.ok()) return at_directive(verified.error(), trace, number);
  }
  if (problem::is_contraction(problem)) tree = lay_out_temporaries(tree);
  return with_ordered_appends(tree, problem);
}

}  // namespace schaas::schedule
