#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/index_notation/nodes.h"

/// Concrete index notation (Kjolstad et al., CGO 2019): index notation with an order of loops and scopes of
/// temporaries. The only loop-tree IR; a branched iteration graph (SparseAuto section 4.2) is a statement of
/// it. See README.md.
namespace schaas::concrete_notation {

struct Statement;
/// Immutable and shared: an unchanged subtree is the same pointer.
using StatementPtr = std::shared_ptr<const Statement>;

/// Synchronisation of threads that write the same elements.
enum class Races {
  none,      ///< nothing: each iteration writes elements of its own
  atomics,   ///< each write is an atomic fold
  privates,  ///< privatised reduction: each thread folds into a private array, and these are folded in order
};
const char* name(Races races);  ///< "none", "atomics", "private"

/// Reduction among the threads of a GPU group (Sgap, section 4).
enum class GroupReduction {
  atomic,    ///< the group folds by shuffles; its first thread writes atomically
  parallel,  ///< the same, but the write is exclusive
  segment,   ///< adjacent threads that write one element fold it; the writing threads are known at run time
};
const char* name(GroupReduction reduction);  ///< "atomic", "parallel", "segment"

/// Thread mapping of a loop on a GPU. It defines the minimal data of a thread (Sgap, section 3) and the group
/// it synchronises with. docs/gpu.md.
struct ThreadMapping {
  int grain = 1;             ///< iterations of a thread, one after another
  int threads_per_item = 1;  ///< threads that share one iteration, when above 1
  int group_size = 1;        ///< threads of a group
  GroupReduction reduce = GroupReduction::atomic;
  int block = 256;  ///< threads of a block
  int tile = 0;     ///< adjacent iterations before the columns change; 0: as many as a group needs
  int stage = 0;    ///< adjacent threads that stage the entries of their common row together; 0: none do
  bool merge_path = false;  ///< `grain` counts rows besides their entries
  bool operator==(const ThreadMapping&) const = default;
};

/// Annotation of one loop by a schedule; by default empty, and lowering decides.
struct LoopAnnotation {
  std::optional<Races> parallel;  ///< threads share its iterations; only of a phase's outermost loop
  int unroll = 1;                 ///< unroll factor
  bool collapsed = false;         ///< collapsed with the loop inside it: threads share the pairs
  /// Number of loops, from this one inwards, that threads share as one. They run over the entries of the
  /// sparse operand they walk, down to the level of the last one; 0: each loop is separate.
  int positions = 0;
  std::optional<ThreadMapping> mapping{};  ///< mapped to threads of a GPU
  std::optional<std::int64_t> extent{};    ///< the only size of the index that the code is for
  bool operator==(const LoopAnnotation&) const = default;
};

/// for all values of `index`: body. Over the coordinates stored by every sparse operand of the body that has
/// the index at a compressed level, else over the whole extent.
struct Forall {
  std::string index;
  StatementPtr body;
  LoopAnnotation annotation{};
};

/// Splits forall(index, body) into blocks of `size` values, in order: body once per block. Below it only
/// branches stand above loops over the index, which run over the values of the present block. A temporary
/// passed by these branches holds one block of the index.
struct Blocks {
  std::string index;
  int size = 0;
  StatementPtr body;
  int parts = 0;  ///< above 0: number of blocks of nearly equal sizes, and `size` is 0
};

/// Storage of a temporary.
enum class Storage {
  dense,  ///< an array of its extents
  hash,   ///< a hash table of the written elements
};
const char* name(Storage storage);  ///< "dense", "hash"

/// Sets the temporary that `producer` writes and `consumer` reads to the start value of its monoid
/// (semantics.h). Then runs producer, then consumer. Text: where(consumer,
/// producer), and where(consumer, producer, hash) for a temporary in a hash table (result_workspace.h).
struct Where {
  StatementPtr consumer;
  StatementPtr producer;
  Storage storage = Storage::dense;
};

/// Statements that add to the same target with one monoid, one after another. A sum becomes terms when its
/// loops are distributed over them (schedule/distribute.h).
struct Terms {
  std::vector<StatementPtr> terms;  ///< at least two
};

/// target = monoid(target, value); the value has no Reduction. A tensor that is no argument of the problem is
/// a temporary; its indices are exactly those its `where` passes, none of them bound outside the `where`.
struct Assign {
  index_notation::Access target;
  index_notation::Expression value;
  operators::Monoid monoid = operators::Monoid::sum;
};

struct Statement {
  std::variant<Forall, Blocks, Where, Terms, Assign> node;
};

StatementPtr forall(std::string index, StatementPtr body, LoopAnnotation annotation = {});
StatementPtr forall(const std::vector<std::string>& indices, StatementPtr body);  ///< outermost first
StatementPtr with_body(const Forall& loop, StatementPtr body);  ///< the same loop around another body
StatementPtr blocks(std::string index, int size, StatementPtr body);
StatementPtr divided(std::string index, int parts, StatementPtr body);
StatementPtr with_body(const Blocks& blocks, StatementPtr body);
StatementPtr where(StatementPtr consumer, StatementPtr producer, Storage storage = Storage::dense);
StatementPtr terms(std::vector<StatementPtr> each);
StatementPtr assign(index_notation::Access target, index_notation::Expression value,
                    operators::Monoid monoid = operators::Monoid::sum);
/// Returns the assignment operator: "+=", "*=", "max=", ...
std::string assignment_sign(operators::Monoid monoid);

/// Structural equality.
bool equal(const StatementPtr& a, const StatementPtr& b);

/// Returns original and temporary operands read anywhere below, left to right, producer before consumer.
std::vector<index_notation::Access> reads(const StatementPtr& statement);

/// Returns the indices whose coordinates leaves below take as numbers; they may repeat.
std::vector<std::string> coordinates(const StatementPtr& statement);

/// Replaces every access, read or written, by `changed` of it.
StatementPtr with_accesses(const StatementPtr& statement,
                           const std::function<index_notation::Access(index_notation::Access)>& changed);

/// Replaces the target of the statement; trees in blocks stay.
StatementPtr with_target(const StatementPtr& statement, const index_notation::Access& target);

/// Returns the assignment a statement exists for: down the loops, the consumer of a `where`, the first of
/// several terms. Its target is that of the statement.
const Assign& leaf_of(const StatementPtr& statement);

}  // namespace schaas::concrete_notation
