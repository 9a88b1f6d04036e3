#include "compiler/schedule/trace.h"

#include "compiler/concrete_notation/match.h"
#include "compiler/schedule/index_list.h"
#include "compiler/schedule/section.h"

// Traces as text, the form in which schedules are stored, sent and compared. A value has one spelling:
// arguments have a fixed order, and optional ones are printed only when they are given. Equal traces are
// equal texts, and parse(print(trace)) is the trace.
namespace schaas::schedule {
namespace {

std::string outer_text(const std::string& outer) { return outer.empty() ? "" : ", outer=" + outer; }

std::string renamed(const std::string& name, const NewNames& names) {
  for (const auto& [from, to] : names) {
    if (from == name) return to;
  }
  return name;
}

}  // namespace

// Each kind has its text here once; its arguments come in the order of the documentation.
std::string print(const Directive& directive) {
  return concrete_notation::match(
      directive,
      [](const Permute& permute) {
        return "permute(path=" + print(permute.path) + ", factors=" + print(permute.factors) + ")";
      },
      [](const Reorder& reorder) {
        return "reorder(path=" + print(reorder.path) + ", order=" + index_list(reorder.order) + ")";
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
        return "share(nest=" + std::to_string(share.nest) + ", loops=" + index_list(share.loops) + ")";
      },
      [](const Sequence& sequence) { return "sequence(order=" + print(sequence.order) + ")"; },
      [](const Distribute& distribute) {
        return "distribute(path=" + print(distribute.path) + ", depth=" + std::to_string(distribute.depth) +
               ")";
      },
      [](const Parallelize& parallelize) {
        return "parallelize(path=" + print(parallelize.path) + ", loop=" + parallelize.loop +
               ", races=" + concrete_notation::name(parallelize.races) + ")";
      },
      [](const Unroll& unroll) {
        return "unroll(path=" + print(unroll.path) + ", loop=" + unroll.loop +
               ", factor=" + std::to_string(unroll.factor) + ")";
      },
      [](const Split& split) {
        return "split(path=" + print(split.path) + ", loop=" + split.loop +
               ", factor=" + std::to_string(split.factor) + outer_text(split.outer) + ")";
      },
      [](const Divide& divide) {
        return "divide(path=" + print(divide.path) + ", loop=" + divide.loop +
               ", parts=" + std::to_string(divide.parts) + outer_text(divide.outer) + ")";
      },
      [](const Bound& bound) {
        return "bound(loop=" + bound.loop + ", extent=" + std::to_string(bound.extent) + ")";
      },
      [](const Collapse& collapse) {
        return "collapse(path=" + print(collapse.path) + ", loop=" + collapse.loop + ")";
      },
      [](const Pos& pos) {
        return "pos(path=" + print(pos.path) + ", loop=" + pos.loop +
               (pos.from.empty() ? "" : ", from=" + pos.from) + ")";
      },
      [](const Threads& threads) {
        return "threads(path=" + print(threads.path) + ", loop=" + threads.loop +
               ", each=" + std::to_string(threads.take) +
               (threads.share > 1 ? "/" + std::to_string(threads.share) : "") + ")";
      },
      [](const Group& group) {
        return "group(path=" + print(group.path) + ", loop=" + group.loop +
               ", width=" + std::to_string(group.width) +
               ", reduce=" + concrete_notation::name(group.reduce) + ")";
      },
      [](const Launch& launch) {
        return "launch(path=" + print(launch.path) + ", loop=" + launch.loop +
               ", block=" + std::to_string(launch.block) +
               (launch.warp > 0 ? ", warp=" + std::to_string(launch.warp) : std::string()) + ")";
      },
      [](const Stage& stage) {
        return "stage(path=" + print(stage.path) + ", loop=" + stage.loop +
               ", width=" + std::to_string(stage.width) + ")";
      },
      [](const MergePath& merge) {
        return "merge_path(path=" + print(merge.path) + ", loop=" + merge.loop + ")";
      },
      [](const WorkspaceStorage& gather) {
        return std::string("gather(storage=") + concrete_notation::name(gather.storage) + ")";
      },
      [](const Store& store) {
        return "store(tensor=" + store.tensor + ", order=" + print(store.order) +
               (store.locates ? ", first=dense" : "") +
               (store.at ? ", at=" + index_list(*store.at) : std::string()) + ")";
      },
      [](const Mask& mask) { return "mask(tensor=" + mask.tensor + ", by=" + index_list(mask.by) + ")"; },
      [](const Precompute& precompute) { return "precompute(calls=" + print(precompute.calls) + ")"; });
}

// The last case stands for all directives that make loops or concern the problem.
bool is_annotation(const Directive& directive) {
  return concrete_notation::match(
      directive, [](const Parallelize&) { return true; }, [](const Unroll&) { return true; },
      [](const Bound&) { return true; }, [](const Collapse&) { return true; },
      [](const Pos&) { return true; }, [](const Threads&) { return true; }, [](const Group&) { return true; },
      [](const Launch&) { return true; }, [](const Stage&) { return true; },
      [](const MergePath&) { return true; }, [](const WorkspaceStorage&) { return true; },
      [](const auto&) { return false; });
}

// The name is the text of the directive before its parenthesis.
std::string name(const Directive& directive) {
  const std::string text = print(directive);
  return text.substr(0, text.find('('));
}

std::string print(const Trace& trace) {
  if (trace.directives.empty()) return "linear";
  std::string out;
  for (const auto& directive : trace.directives) out += (out.empty() ? "" : "; ") + print(directive);
  return out;
}

// Each kind with names is listed: a new directive that names loops or tensors must be added here by hand.
Trace rename(const Trace& trace, const NewNames& index_names, const NewNames& tensor_names) {
  Trace out = trace;
  for (auto& directive : out.directives) {
    if (auto* reorder = std::get_if<Reorder>(&directive)) {
      for (auto& index : reorder->order) index = renamed(index, index_names);
    }
    if (auto* share = std::get_if<Share>(&directive)) {
      for (auto& index : share->loops) index = renamed(index, index_names);
    }
    if (auto* parallelize = std::get_if<Parallelize>(&directive))
      parallelize->loop = renamed(parallelize->loop, index_names);
    if (auto* unroll = std::get_if<Unroll>(&directive)) unroll->loop = renamed(unroll->loop, index_names);
    if (auto* bound = std::get_if<Bound>(&directive)) bound->loop = renamed(bound->loop, index_names);
    if (auto* collapse = std::get_if<Collapse>(&directive))
      collapse->loop = renamed(collapse->loop, index_names);
    if (auto* pos = std::get_if<Pos>(&directive)) {
      pos->loop = renamed(pos->loop, index_names);
      pos->from = renamed(pos->from, index_names);
    }
    if (auto* threads = std::get_if<Threads>(&directive)) threads->loop = renamed(threads->loop, index_names);
    if (auto* group = std::get_if<Group>(&directive)) group->loop = renamed(group->loop, index_names);
    if (auto* launch = std::get_if<Launch>(&directive)) launch->loop = renamed(launch->loop, index_names);
    if (auto* stage = std::get_if<Stage>(&directive)) stage->loop = renamed(stage->loop, index_names);
    if (auto* merge = std::get_if<MergePath>(&directive)) merge->loop = renamed(merge->loop, index_names);
    if (auto* split = std::get_if<Split>(&directive)) {
      split->loop = renamed(split->loop, index_names);
      split->outer = renamed(split->outer, index_names);
    }
    if (auto* divide = std::get_if<Divide>(&directive)) {
      divide->loop = renamed(divide->loop, index_names);
      divide->outer = renamed(divide->outer, index_names);
    }
    if (auto* mask = std::get_if<Mask>(&directive)) {
      mask->tensor = renamed(mask->tensor, tensor_names);
      for (auto& tensor : mask->by) tensor = renamed(tensor, tensor_names);
    }
    if (auto* store = std::get_if<Store>(&directive)) {
      store->tensor = renamed(store->tensor, tensor_names);
      if (!store->at) continue;
      for (auto& index : *store->at) index = renamed(index, index_names);
    }
  }
  return out;
}

}  // namespace schaas::schedule
