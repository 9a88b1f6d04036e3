#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/copy.h"
#include "compiler/problem/mask.h"
#include "compiler/problem/precomputed.h"
#include "compiler/support/result.h"

/// A schedule is data: a replayable trace of directives applied to the default linear nest.
/// docs/schedules.md.
namespace schaas::schedule {

/// A path of branches from the root: 0 = producer, 1 = consumer of the first `where` reached; {} = the root
/// section.
using Path = std::vector<int>;

/// permute(path={}, factors={1,0,2}): the factors of a linear section's product in a new order; factors[n] is
/// the present position of the factor that comes n-th.
struct Permute {
  Path path;
  std::vector<int> factors;
  bool operator==(const Permute&) const = default;
};

/// reorder(path={1}, order={m,k,n,j}): the loops of a linear section in a new order (SparseAuto section 4.4).
struct Reorder {
  Path path;
  std::vector<std::string> order;
  bool operator==(const Reorder&) const = default;
};

/// loopfuse(path={}, loc=2, pol=left [, fuse=1]): splits a linear section's product after `loc` factors;
/// pol=left makes the first part the producer, pol=right the second; their common leading loops are fused
/// (SparseAuto algorithm 1), at most `fuse` of them when given (0: separate nests).
struct LoopFuse {
  Path path;
  int loc = 1;
  bool producer_left = true;
  std::optional<int> fuse;
  bool operator==(const LoopFuse&) const = default;
};

/// block(path={}, size=48): the innermost loop that the branch at `path` has in common runs in blocks of
/// `size` values; the temporary holds one block (between one value, fused, and all of them, separate nests).
struct Block {
  Path path;
  int size = 0;
  bool operator==(const Block&) const = default;
};

/// share(nest=0, loops={i,j}): nest 0, counted in execution order, and the next one begin with these loops
/// and share them; loops={} separates them (ReACT section 4.3).
struct Share {
  int nest = 0;
  std::vector<std::string> loops;
  bool operator==(const Share&) const = default;
};

/// sequence(order={1,0,2}): the nests in another order, sharing no loops; order[n] is the present number of
/// the one that runs n-th.
struct Sequence {
  std::vector<int> order;
  bool operator==(const Sequence&) const = default;
};

/// distribute(path={1}, depth=1): distributes loops of a linear section below its first `depth` over its
/// terms (result reuse in Kjolstad et al., CGO 2019).
struct Distribute {
  Path path;
  int depth = 0;
  bool operator==(const Distribute&) const = default;
};

/// parallelize(path={}, loop=i, races=private): threads share the iterations of the outermost loop of a
/// phase; `races` names their synchronisation where they write the same elements.
struct Parallelize {
  Path path;
  std::string loop;
  concrete_notation::Races races = concrete_notation::Races::none;
  bool operator==(const Parallelize&) const = default;
};

/// unroll(path={}, loop=k, factor=4): unrolls the loop.
struct Unroll {
  Path path;
  std::string loop;
  int factor = 0;
  bool operator==(const Unroll&) const = default;
};

/// split(path={}, loop=k, factor=32, outer=i): the loop runs in blocks of `factor` values; the loop over the
/// blocks stands outside loop `outer` (by default directly around the loop).
struct Split {
  Path path;
  std::string loop;
  int factor = 0;
  std::string outer;
  bool operator==(const Split&) const = default;
};

/// divide(path={}, loop=k, parts=4, outer=i): the same with a number of blocks instead of their size.
struct Divide {
  Path path;
  std::string loop;
  int parts = 0;
  std::string outer;
  bool operator==(const Divide&) const = default;
};

/// bound(loop=k, extent=64): code for this one extent of the index, which is then a constant.
struct Bound {
  std::string loop;
  int extent = 0;
  bool operator==(const Bound&) const = default;
};

/// collapse(path={}, loop=i): threads share the outermost loop of a phase and the one directly inside as one
/// loop.
struct Collapse {
  Path path;
  std::string loop;
  bool operator==(const Collapse&) const = default;
};

/// pos(path={}, loop=j [, from=i]): threads share the entries of the sparse operand that loop j and those
/// around it, out to the outermost one of a phase, walk together (`pos` of TACO: Senanayake et al., OOPSLA
/// 2020).
struct Pos {
  Path path;
  std::string loop;
  std::string from{};  ///< the first of these loops; "": the section's outermost one
  bool operator==(const Pos&) const = default;
};

/// threads(path={}, loop=i, each=4): a thread of a GPU has that many iterations of the loop; each=1/8: that
/// many threads share one (the minimal data of Sgap, section 3). The outermost loop of a phase, or that and
/// the one directly inside it.
struct Threads {
  Path path;
  std::string loop;
  int take = 1;
  int share = 1;
  bool operator==(const Threads&) const = default;
};

/// group(path={}, loop=i, width=8, reduce=segment): size of the thread groups that reduce together, and their
/// reduction (Sgap, section 4, which separates tiling and synchronisation).
struct Group {
  Path path;
  std::string loop;
  int width = 1;
  concrete_notation::GroupReduction reduce = concrete_notation::GroupReduction::atomic;
  bool operator==(const Group&) const = default;
};

/// launch(path={}, loop=i, block=256 [, warp=8]): threads of a block; iterations of the loop whose threads
/// are adjacent before the columns change.
struct Launch {
  Path path;
  std::string loop;
  int block = 0;
  int warp = 0;
  bool operator==(const Launch&) const = default;
};

/// stage(path={}, loop=i, width=32): threads that load the entries of their common row into shared memory
/// together (GE-SpMM).
struct Stage {
  Path path;
  std::string loop;
  int width = 0;
  bool operator==(const Stage&) const = default;
};

/// merge_path(path={}, loop=i): threads take equal shares of rows and entries together (Merrill and Garland,
/// SC 2016).
struct MergePath {
  Path path;
  std::string loop;
  bool operator==(const MergePath&) const = default;
};

/// gather(storage=hash): the workspace of a sparse result is a hash table instead of an array of its extents
/// (Kjolstad et al., CGO 2019, section 5.3).
struct WorkspaceStorage {
  concrete_notation::Storage storage = concrete_notation::Storage::dense;
  bool operator==(const WorkspaceStorage&) const = default;
};

/// store(tensor=C, order={1,0} [, first=dense] [, at={j,i}]): the accesses of C, or those with the indices
/// `at`, read a re-layout of C that stores its modes in this order, with a dense first level. Stands before
/// all directives of other kinds.
using Store = problem::CopyRequest;

/// mask(tensor=T, by={B}): the intermediate T, which is read at the entries of B only, is computed there only
/// (ReACT, section 4.2). Stands before all directives of other kinds but `store`.
using Mask = problem::MaskRequest;

/// precompute(calls={0}): these calls of functions are computed once, as intermediates (Kjolstad et al., CGO
/// 2019). Stands before all directives of other kinds but `store` and `mask`.
using Precompute = problem::PrecomputeRequest;

using Directive = std::variant<Permute, Reorder, LoopFuse, Block, Share, Sequence, Distribute, Parallelize,
                               Unroll, Split, Divide, Bound, Collapse, Pos, Threads, Group, Launch, Stage,
                               MergePath, WorkspaceStorage, Store, Mask, Precompute>;

/// The directive annotates loops and leaves the tree as it is. Such directives come last: the others make new
/// loops.
bool is_annotation(const Directive& directive);
std::string name(const Directive& directive);

struct Trace {
  std::vector<Directive> directives;
  bool operator==(const Trace&) const = default;
};

/// Prints "permute(path={}, factors={1,0}); loopfuse(path={}, loc=2, pol=left)"; the empty trace prints as
/// "linear".
std::string print(const Trace& trace);
std::string print(const Directive& directive);
/// Inverse of print; white space free, `linear` or empty text is the empty trace.
/// Errors: invalid [trace-syntax], [unknown-directive] (with suggestion), [unknown-argument],
/// [missing-argument], [trace-too-long].
support::Result<Trace> parse(std::string_view text);

/// Renames indices and tensors (canonical -> user names or back); unknown names stay.
using NewNames = std::vector<std::pair<std::string, std::string>>;
Trace rename(const Trace& trace, const NewNames& index_names, const NewNames& tensor_names);

}  // namespace schaas::schedule
