#include "compiler/schedule/directives/thread_layout.h"

#include <functional>
#include <string>

#include "compiler/schedule/illegal.h"
#include "compiler/schedule/loop_annotation.h"

namespace schaas::schedule {
namespace {

using concrete_notation::StatementPtr;
using support::Result;

/// Changes the mapping of a loop of the nest at the path.
Result<StatementPtr> with_mapping(const StatementPtr& tree, const Path& path, const std::string& loop,
                                  const std::function<void(concrete_notation::ThreadMapping&)>& change) {
  bool shared_out = false;
  auto out = with_annotation(tree, path, loop, [&](concrete_notation::LoopAnnotation& annotation) {
    shared_out = annotation.mapping.has_value();
    if (shared_out) change(*annotation.mapping);
  });
  if (!out.ok() || shared_out) return out;
  return illegal("loop `" + loop + "` is not shared out among threads of a GPU; `threads` does it");
}

}  // namespace

Result<StatementPtr> apply_group(const StatementPtr& tree, const Group& directive) {
  return with_mapping(tree, directive.path, directive.loop, [&](auto& mapping) {
    mapping.group_size = directive.width;
    mapping.reduce = directive.reduce;
  });
}

Result<StatementPtr> apply_launch(const StatementPtr& tree, const Launch& directive) {
  return with_mapping(tree, directive.path, directive.loop, [&](auto& mapping) {
    mapping.block = directive.block;
    mapping.tile = directive.warp;
  });
}

Result<StatementPtr> apply_stage(const StatementPtr& tree, const Stage& directive) {
  return with_mapping(tree, directive.path, directive.loop,
                      [&](auto& mapping) { mapping.stage = directive.width; });
}

Result<StatementPtr> apply_merge_path(const StatementPtr& tree, const MergePath& directive) {
  return with_mapping(tree, directive.path, directive.loop, [](auto& mapping) { mapping.merge_path = true; });
}

}  // namespace schaas::schedule
