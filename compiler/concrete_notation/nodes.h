#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/index_notation/nodes.h"

/// Concrete index notation (Kjolstad et al., CGO 2019): says the order of loops and where temporaries live.
/// The ONE loop-tree IR; a branched iteration graph (SparseAuto section 4.2) is a statement of it. See
/// README.md.
namespace schaas::concrete_notation {

struct Statement;
/// Immutable and shared: an unchanged subtree is the same pointer.
using StatementPtr = std::shared_ptr<const Statement>;

/// What keeps threads apart that write the same elements.
enum class Races {
  none,      ///< nothing: each iteration writes elements of its own
  atomics,   ///< each write is one indivisible fold
  privates,  ///< each thread folds into an array of its own, and these are folded in order
};
const char* name(Races races);  ///< "none", "atomics", "private"

/// How the threads of a group of a GPU bring together what they computed (Sgap, section 4).
enum class Gather {
  atomic,    ///< the group folds by shuffles; its first thread writes, in one indivisible step
  parallel,  ///< the same, and nobody else writes the element
  segment,   ///< threads next to each other that write one element fold it; which of them write is known at
             ///< run time
};
const char* name(Gather gather);  ///< "atomic", "parallel", "segment"

/// What one thread of a GPU gets of a loop, its minimal data in the paper's words (Sgap, section 3), and with
/// whom it synchronises. docs/gpu.md.
struct Units {
  int take = 1;   ///< so many iterations for a thread, one after another
  int share = 1;  ///< above 1: so many threads for each iteration
  int width = 1;  ///< threads of a group
  Gather reduce = Gather::atomic;
  int block = 256;  ///< threads of a block
  int tile = 0;     ///< iterations side by side before the columns change; 0: as many as a group needs
  bool operator==(const Units&) const = default;
};

/// What a schedule says of how one loop runs; by default nothing, and lowering decides.
struct Manner {
  std::optional<Races> parallel;  ///< its iterations are shared by threads; only of a phase's outermost loop
  int unroll = 1;                 ///< iterations written one after the other
  bool collapsed = false;         ///< with the loop inside it is one loop for the threads
  /// So many loops from this one inwards are one loop for the threads: over the entries of the one sparse
  /// operand that they walk, down to the level of the last one; 0: each loop is a loop of its own.
  int positions = 0;
  std::optional<Units> units{};          ///< its iterations are shared out among the threads of a GPU
  std::optional<std::int64_t> extent{};  ///< the only size of the index for which the code is made
  bool operator==(const Manner&) const = default;
};

/// for all values of `index`: body. Over the coordinates stored by every sparse operand of the body that has
/// the index at a compressed level, else over the whole extent.
struct Forall {
  std::string index;
  StatementPtr body;
  Manner manner{};
};

/// What forall(index, body) runs over, `size` values at a time, in order: body once per block. Below it only
/// branches stand above loops over the index, and those run over the values of the present block. A temporary
/// passed by these branches holds one block of the index.
struct Blocks {
  std::string index;
  int size = 0;
  StatementPtr body;
  int parts = 0;  ///< above 0: so many blocks of as equal sizes as may be, and `size` is 0
};

/// How a temporary is kept.
enum class Storage {
  dense,  ///< an array of its extents
  hash,   ///< a hash table of the elements that are written
};
const char* name(Storage storage);  ///< "dense", "hash"

/// Each time it is reached: the temporary `producer` writes and `consumer` reads is set to the start value of
/// its monoid (semantics.h), then producer runs, then consumer. Text: where(consumer, producer), and
/// where(consumer, producer, hash) for a temporary in a hash table (gathered.h).
struct Where {
  StatementPtr consumer;
  StatementPtr producer;
  Storage storage = Storage::dense;
};

/// Statements that compute one and the same target with one monoid, one after another: it gets the terms of
/// them all. What a sum becomes when its loops are distributed over its terms (schedule/distribute.h).
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

StatementPtr forall(std::string index, StatementPtr body, Manner manner = {});
StatementPtr forall(const std::vector<std::string>& indices, StatementPtr body);  ///< outermost first
StatementPtr with_body(const Forall& loop, StatementPtr body);  ///< the same loop around another body
StatementPtr blocks(std::string index, int size, StatementPtr body);
StatementPtr divided(std::string index, int parts, StatementPtr body);
StatementPtr with_body(const Blocks& blocks, StatementPtr body);
StatementPtr where(StatementPtr consumer, StatementPtr producer, Storage storage = Storage::dense);
StatementPtr terms(std::vector<StatementPtr> each);
StatementPtr assign(index_notation::Access target, index_notation::Expression value,
                    operators::Monoid monoid = operators::Monoid::sum);
/// How it is written: "+=", "*=", "max=", ...
std::string assignment_sign(operators::Monoid monoid);

/// Structural equality.
bool equal(const StatementPtr& a, const StatementPtr& b);

/// Original and temporary operands read anywhere below, left to right, producer before consumer.
std::vector<index_notation::Access> reads(const StatementPtr& statement);

/// The same tree with every access, read or written, as `changed` gives it.
StatementPtr with_accesses(const StatementPtr& statement,
                           const std::function<index_notation::Access(index_notation::Access)>& changed);

/// The same tree with another target for what it computes; trees in blocks stay.
StatementPtr with_target(const StatementPtr& statement, const index_notation::Access& target);

/// The assignment a statement exists for: down the loops, at a `where` the consumer, of several terms the
/// first. Its target is what the statement computes.
const Assign& leaf_of(const StatementPtr& statement);

}  // namespace schaas::concrete_notation
