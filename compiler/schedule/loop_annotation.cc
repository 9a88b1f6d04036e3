#include "compiler/schedule/loop_annotation.h"

#include <utility>

#include "compiler/schedule/illegal.h"
#include "compiler/schedule/section.h"

// Annotations change how one loop runs and leave the tree as it is, so the loop is replaced where it stands.
// Only loops above the first branch of the section are searched: those below belong to other paths.
namespace schaas::schedule {

using concrete_notation::Blocks;
using concrete_notation::Forall;
using concrete_notation::StatementPtr;
using support::Result;

namespace {

/// Returns null when the loops above the first branch or assignment are others.
StatementPtr changed_below(const StatementPtr& statement, const std::string& index,
                           const std::function<void(concrete_notation::LoopAnnotation&)>& changed) {
  if (const auto* blocks = std::get_if<Blocks>(&statement->node)) {
    auto body = changed_below(blocks->body, index, changed);
    return body ? concrete_notation::with_body(*blocks, std::move(body)) : nullptr;
  }
  const auto* loop = std::get_if<Forall>(&statement->node);
  if (loop == nullptr) return nullptr;
  if (loop->index == index) {
    auto annotation = loop->annotation;
    changed(annotation);
    return concrete_notation::forall(loop->index, loop->body, annotation);
  }
  auto body = changed_below(loop->body, index, changed);
  return body ? concrete_notation::with_body(*loop, std::move(body)) : nullptr;
}

}  // namespace

Result<StatementPtr> with_annotation(const StatementPtr& tree, const Path& path, const std::string& loop,
                                     const std::function<void(concrete_notation::LoopAnnotation&)>& changed) {
  SCHAAS_ASSIGN_OR_RETURN(const StatementPtr at, find_statement(tree, path));
  const auto replacement = changed_below(at, loop, changed);
  if (replacement) return replace_section(tree, path, replacement);
  return illegal("the section at path " + print(path) + " has no loop `" + loop +
                 "` of its own above its branches");
}

}  // namespace schaas::schedule
