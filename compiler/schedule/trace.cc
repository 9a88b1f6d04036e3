#include "compiler/schedule/trace.h"

#include "compiler/concrete_notation/match.h"
#include "compiler/schedule/section.h"

namespace schaas::schedule {
namespace {

std::string list(const std::vector<std::string>& names) {
  std::string out = "{";
  for (std::size_t n = 0; n < names.size(); ++n) out += (n ? "," : "") + names[n];
  return out + "}";
}

std::string renamed(const std::string& name, const std::vector<std::pair<std::string, std::string>>& names) {
  for (const auto& [from, to] : names) {
    if (from == name) return to;
  }
  return name;
}

}  // namespace

std::string print(const Directive& directive) {
  return concrete_notation::match(
      directive,
      [](const Permute& permute) {
        return "permute(path=" + print(permute.path) + ", factors=" + print(permute.factors) + ")";
      },
      [](const Reorder& reorder) {
        return "reorder(path=" + print(reorder.path) + ", order=" + list(reorder.order) + ")";
      },
      [](const LoopFuse& fuse) {
        return "loopfuse(path=" + print(fuse.path) + ", loc=" + std::to_string(fuse.loc) +
               ", pol=" + (fuse.producer_left ? "left" : "right") +
               (fuse.fuse ? ", fuse=" + std::to_string(*fuse.fuse) : std::string()) + ")";
      },
      [](const Block& block) {
        return "block(path=" + print(block.path) + ", size=" + std::to_string(block.size) + ")";
      },
      [](const Share& share) {
        return "share(nest=" + std::to_string(share.nest) + ", loops=" + list(share.loops) + ")";
      },
      [](const Sequence& sequence) { return "sequence(order=" + print(sequence.order) + ")"; },
      [](const Distribute& distribute) {
        return "distribute(path=" + print(distribute.path) + ", depth=" + std::to_string(distribute.depth) +
               ")";
      });
}

std::string print(const Trace& trace) {
  if (trace.directives.empty()) return "linear";
  std::string out;
  for (const auto& directive : trace.directives) out += (out.empty() ? "" : "; ") + print(directive);
  return out;
}

Trace rename(const Trace& trace, const std::vector<std::pair<std::string, std::string>>& index_names) {
  Trace out = trace;
  for (auto& directive : out.directives) {
    if (auto* reorder = std::get_if<Reorder>(&directive)) {
      for (auto& index : reorder->order) index = renamed(index, index_names);
    }
    if (auto* share = std::get_if<Share>(&directive)) {
      for (auto& index : share->loops) index = renamed(index, index_names);
    }
  }
  return out;
}

}  // namespace schaas::schedule
