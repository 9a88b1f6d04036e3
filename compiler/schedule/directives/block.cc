#include "compiler/schedule/directives/block.h"

#include <utility>

#include "compiler/schedule/illegal.h"
#include "compiler/schedule/section.h"

// Strip-mining of the innermost fused loop, with the inner loop moved into both sides of the branch:
//     forall(i, where(C, P)) --> blocks(i, size, where(forall(i, C), forall(i, P)))
// The temporary gets index i, as its outermost one, and holds one block of it. The verifier decides legality:
// coordinates of the index must be stored once.
namespace schaas::schedule {
namespace {

using concrete_notation::Blocks;
using concrete_notation::Forall;
using concrete_notation::StatementPtr;
using concrete_notation::Where;
using index_notation::Access;

/// Adds an index to every access to `temporary`.
StatementPtr extended(const StatementPtr& statement, const std::string& temporary, const std::string& index) {
  return concrete_notation::with_accesses(statement, [&](Access access) {
    if (access.tensor == temporary) access.indices.insert(access.indices.begin(), index);
    return access;
  });
}

}  // namespace

support::Result<StatementPtr> apply_block(const StatementPtr& tree, const Block& directive) {
  if (directive.size < 2) {
    return illegal("size is " + std::to_string(directive.size) + "; a block holds at least 2 values");
  }
  SCHAAS_ASSIGN_OR_RETURN(StatementPtr at, find_statement(tree, directive.path));
  // Walks to the branch; its innermost fused loop is the last of `loops`.
  std::vector<std::string> loops;
  for (const Forall* loop = std::get_if<Forall>(&at->node); loop; loop = std::get_if<Forall>(&at->node)) {
    loops.push_back(loop->index);
    const StatementPtr body = loop->body;
    at = body;
  }
  const std::string section = "the section at path " + print(directive.path);
  if (std::holds_alternative<Blocks>(at->node)) return illegal(section + " runs in blocks already");
  const auto* branch = std::get_if<Where>(&at->node);
  if (!branch) return illegal(section + " has no branch, so nothing is passed from block to block");
  if (loops.empty()) return illegal("no loop is fused above the branch of " + section);
  const std::string index = loops.back();
  loops.pop_back();
  const std::string temporary = concrete_notation::leaf_of(branch->producer).target.tensor;
  const auto side = [&](const StatementPtr& statement) {
    return concrete_notation::forall(index, extended(statement, temporary, index));
  };
  const auto inside = concrete_notation::where(side(branch->consumer), side(branch->producer));
  return replace_section(
      tree, directive.path,
      concrete_notation::forall(loops, concrete_notation::blocks(index, directive.size, inside)));
}

}  // namespace schaas::schedule
