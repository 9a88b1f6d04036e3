#include "compiler/schedule/section.h"

#include <utility>

#include "compiler/concrete_notation/match.h"
#include "compiler/concrete_notation/printer.h"
#include "compiler/index_notation/printer.h"
#include "compiler/schedule/illegal.h"

// Paths count branches, not loops: a step leads through all loops and blocks to the next branch or sum, and
// into one of its sides. Sections are therefore named the same however many loops a directive adds above
// them. Trees are immutable values: a replacement rebuilds the nodes on its path and shares all others.
namespace schaas::schedule {
namespace {

using concrete_notation::Assign;
using concrete_notation::Blocks;
using concrete_notation::Forall;
using concrete_notation::match;
using concrete_notation::StatementPtr;
using concrete_notation::Terms;
using concrete_notation::Where;
using support::Result;

/// Returns the first statement below the loops of `statement`.
const StatementPtr& below_loops(const StatementPtr& statement) {
  if (const auto* loop = std::get_if<Forall>(&statement->node)) return below_loops(loop->body);
  if (const auto* blocks = std::get_if<Blocks>(&statement->node)) return below_loops(blocks->body);
  return statement;
}

/// Rebuilds the nodes from `tree` to the end of the path; `step` steps of the path are done.
StatementPtr replace_at(const StatementPtr& tree, const Path& path, std::size_t step,
                        const StatementPtr& replacement) {
  if (step == path.size()) return replacement;
  return match(
      tree->node,
      [&](const Forall& loop) {
        return concrete_notation::with_body(loop, replace_at(loop.body, path, step, replacement));
      },
      [&](const Blocks& blocks) {
        return concrete_notation::with_body(blocks, replace_at(blocks.body, path, step, replacement));
      },
      [&](const Where& branch) {
        if (path[step] == 0) {
          return concrete_notation::where(
              branch.consumer, replace_at(branch.producer, path, step + 1, replacement), branch.storage);
        }
        return concrete_notation::where(replace_at(branch.consumer, path, step + 1, replacement),
                                        branch.producer, branch.storage);
      },
      [&](const Terms& sum) {
        std::vector<StatementPtr> each = sum.terms;
        auto& term = each.at(static_cast<std::size_t>(path[step]));
        term = replace_at(term, path, step + 1, replacement);
        return concrete_notation::terms(std::move(each));
      },
      [](const Assign&) -> StatementPtr {
        throw support::InternalError("replace_section: the path leads nowhere");
      });
}

}  // namespace

/// Follows the path step by step; an error tells the step and the section that it leaves from.
Result<StatementPtr> find_statement(const StatementPtr& tree, const Path& path) {
  StatementPtr at = tree;
  for (std::size_t step = 0; step < path.size(); ++step) {
    const auto* branch = std::get_if<Where>(&below_loops(at)->node);
    const Path so_far(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(step));
    if (const auto* sum = std::get_if<Terms>(&below_loops(at)->node)) {
      const auto term = static_cast<std::size_t>(path[step]);
      if (path[step] < 0 || term >= sum->terms.size()) {
        return illegal("path " + print(path) + " has the step " + std::to_string(path[step]) +
                       "; the section at " + print(so_far) + " is a sum of terms 0 to " +
                       std::to_string(sum->terms.size() - 1));
      }
      const StatementPtr next = sum->terms[term];
      at = next;
      continue;
    }
    if (!branch) {
      return illegal("path " + print(path) + " leads nowhere: the section at " + print(so_far) +
                     " has no branches");
    }
    if (path[step] != 0 && path[step] != 1) {
      return illegal("path " + print(path) + " has the step " + std::to_string(path[step]) +
                     "; a step is 0 (the producer) or 1 (the consumer)");
    }
    const StatementPtr next = path[step] == 0 ? branch->producer : branch->consumer;
    at = next;
  }
  return at;
}

/// Takes the loops below the end of the path off, down to the assignment.
Result<Section> find_section(const StatementPtr& tree, const Path& path) {
  SCHAAS_ASSIGN_OR_RETURN(StatementPtr at, find_statement(tree, path));
  Section section;
  for (const Forall* loop = std::get_if<Forall>(&at->node); loop; loop = std::get_if<Forall>(&at->node)) {
    section.loops.push_back(loop->index);
    const StatementPtr body = loop->body;
    at = body;
  }
  // Loops end at an assignment (linear), a branch or blocks; directives on products need the first.
  const auto* leaf = std::get_if<Assign>(&at->node);
  if (!leaf) {
    return illegal("the section at path " + print(path) + " is branched (" +
                   concrete_notation::print_loop_tree(concrete_notation::forall(section.loops, at)) +
                   "); a directive needs a linear one, such as its producer or its consumer");
  }
  section.target = leaf->target;
  section.value = leaf->value;
  section.monoid = leaf->monoid;
  return section;
}

Result<std::vector<index_notation::Access>> factors_of(const Section& section) {
  if (index_notation::is_product(section.value)) return index_notation::operands(section.value);
  return illegal("the section computes `" + index_notation::print(section.value) +
                 "`, which is no product of tensors: it has no factors");
}

StatementPtr replace_section(const StatementPtr& tree, const Path& path, const StatementPtr& replacement) {
  return replace_at(tree, path, 0, replacement);
}

StatementPtr statement_of(const Section& section) {
  return concrete_notation::forall(section.loops,
                                   concrete_notation::assign(section.target, section.value, section.monoid));
}

std::string print(const Path& path) {
  std::string out = "{";
  for (std::size_t n = 0; n < path.size(); ++n) {
    if (n > 0) out += ',';
    out += std::to_string(path[n]);
  }
  return out + "}";
}

}  // namespace schaas::schedule
