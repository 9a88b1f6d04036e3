#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/support/digest.h"

/// Answers of a server as plain values: the frontier of a problem and its kernels. All names are the user's.
namespace schaas::client {

/// A variable of a cost term: the extent of an index, or a fiber. A fiber is the mean number of entries of a
/// storage level under one entry of its parent level. For several levels that one loop merges it is the mean
/// number of coordinates that all hold (matches), or of steps of the merge.
struct Variable {
  enum class Kind { extent, fiber, matches, steps } kind = Kind::extent;
  std::string index;   ///< extent
  std::string tensor;  ///< fiber
  int level = 0;       ///< fiber: 0-based storage level
  /// Original of a copy that the kernel reads; `outer` has the indices of the levels above.
  std::string copy_of{};
  std::vector<std::string> outer{};
  bool outer_dense = false;       ///< all of these are dense
  std::vector<Variable> lists{};  ///< fibers of matches and steps, each with the indices above in `outer`
  bool operator==(const Variable&) const = default;
};

/// Owner of memory. Schedules of a removed class may differ in it: unknown.
enum class Scope {
  unknown,
  thread,   ///< temporary inside a loop: each thread has its own
  shared,   ///< temporary passed between phases
  operand,  ///< copy of an operand
};
/// weight * product of the variables.
struct Term {
  double weight = 1;
  std::vector<Variable> variables;
  bool serial = false;           ///< term of time whose phase runs on one thread
  Scope scope = Scope::unknown;  ///< owner, in a term of memory
  bool operator==(const Term&) const = default;
};

/// An assignment of a schedule with all loops above it, outermost first, and what they move.
struct Nest {
  struct Loop {
    Variable trips;  ///< loops over blocks and inside of them: trips of the whole loop
    std::string index;
    int block = 0;            ///< values in a block; 0: not cut into blocks
    bool inside = false;      ///< loop inside of a block
    std::uint32_t under = 0;  ///< fiber: bit n: loops[n] decides which coordinates are referenced
    bool operator==(const Loop&) const = default;
  };
  struct Access {
    std::string tensor;
    bool sparse = false;
    std::uint32_t loops = 0;            ///< bit n: loops[n] moves it
    std::uint32_t unit = 0;             ///< those of `loops` that move the access to the next element
    std::vector<std::uint32_t> sums{};  ///< sets of loops whose coordinates add up to one of the tensor's
    bool table = false;                 ///< a temporary that is a hash table
    bool operator==(const Access&) const = default;
  };
  /// Code that lowering makes of the nest. By default nothing is known of it: an older server, or a GPU.
  struct Code {
    int tile_loop = 0;  ///< loop that is unrolled and jammed
    int tile = 0;       ///< iterations of that loop in a register tile; 0: no loop is jammed
    /// Loops right above the innermost one that run while the target's row along it stays in registers.
    int kept = 0;
    std::vector<int> lengths{};  ///< trips of the innermost loop with code of their own, ascending
    bool streams = false;        ///< the result may be written with streaming stores
    bool numeric = false;        ///< values may be computed for a structure that is kept
    bool row_in_registers =
        false;  ///< rows of the target, while short, stay in registers over the loop around
    bool operator==(const Code&) const = default;
  };
  std::vector<Loop> loops;
  std::vector<Access> accesses;  ///< the target first
  int shared = 0;                ///< the first so many loops are those of the nest before, too
  bool serial = false;
  double weight = 1;  ///< weight of a trip
  Code code{};
  bool operator==(const Nest&) const = default;
};
/// A schedule of an entry's cost class, or one of these with temporaries of one block of rows.
struct Variant {
  std::string trace, tree;
  std::vector<Nest> nests;           ///< in the order in which they run
  std::vector<Term> memory_terms{};  ///< elements of temporaries and copies
  bool operator==(const Variant&) const = default;
};

/// One schedule of the frontier (or its cost class's representative).
struct FrontierEntry {
  std::string id;                  ///< "s1", ...
  std::string trace;               ///< the schedule, as data
  std::string tree;                ///< "ij<k,l>"
  std::string time;                ///< text of time_terms
  std::string memory;              ///< text of memory_terms
  std::vector<Term> time_terms;    ///< weighted trips
  std::vector<Term> memory_terms;  ///< elements of temporaries and copies
  std::string members;             ///< exact number of schedules of this cost
  std::uint64_t loop_trees = 0;
  std::vector<std::string> other_traces;
  std::string wins;               ///< at which sizes; only when asked for
  std::string code;               ///< the loops as indented pseudo-code
  std::vector<Variant> variants;  ///< the first is `trace`; none where costs are not to be refined
  bool operator==(const FrontierEntry&) const = default;
};

/// A nest of a schedule for a GPU that is a launch of its own (docs/gpu.md).
struct GpuPhase {
  bool columns = false;  ///< the values of its outermost loop are shared out, too,
  int columns_take = 1;  ///< so many for a thread
  int rows = 0;   ///< the first so many loops inside the columns are shared out, as one; 0: it has no loops
  int take = 1;   ///< iterations of these for a thread
  int share = 1;  ///< threads for an iteration
  int width = 1;  ///< threads in a group
  bool segments = false;         ///< a group finds out which of its threads write
  int side_by_side = 1;          ///< iterations, before the columns change
  int block = 256;               ///< threads
  bool exclusive_writes = true;  ///< each element is written by one thread; else writes are atomic
  int stage = 0;                 ///< adjacent threads that stage the entries of a row together; 0: none do
  bool merge_path = false;       ///< `take` counts rows besides their entries
  bool operator==(const GpuPhase&) const = default;
};
/// An entry's loops shared out among the threads of a GPU. Its kernel has isa "cuda" and its id.
struct GpuSchedule {
  std::string id;     ///< "g1", ...
  std::string entry;  ///< "s1"
  std::string trace, tree;
  std::string point;              ///< "{<1/8 row, 4 col>, 8 parallel}"
  bool nondeterministic = false;  ///< sums are rounded in the order in which threads come
  std::vector<GpuPhase> phases;   ///< in the order in which they run
  std::vector<Nest> nests;        ///< those of a phase follow each other; its first one shares no loops
  std::vector<Term> memory_terms;
  bool operator==(const GpuSchedule&) const = default;
};

/// Why a cost class is not on the frontier; or, with `time`, `memory` and `by` empty, a summary of the many
/// that a stage dropped before classes were compared one by one.
struct Removal {
  std::string id;  ///< "r1", "r2", ...
  std::string time, memory, by, kind, argument;
  std::vector<Term> time_terms, memory_terms;
  std::string winner;  ///< id of the entry or removal that dominates it; "": a limit excludes it
  bool summary() const { return by.empty(); }
  bool operator==(const Removal&) const = default;
};

/// Exact counts after each stage as decimal strings, and what the proofs took.
struct Counts {
  std::string space, stage1, stage2, stage3;  ///< members left, decimal; "" where only classes are known
  std::uint64_t states = 0, classes_stage1 = 0, classes_stage2 = 0, classes_stage3 = 0;
  std::uint64_t solver_queries = 0, solver_unknown = 0, log_proofs = 0, witnesses = 0;
  std::uint64_t solver_pairs = 0;
  double solver_milliseconds = 0, solver_worst_milliseconds = 0;
  /// With space options: members of the plain space, "plain", and with each option alone.
  std::vector<std::pair<std::string, std::string>> spaces;
  bool operator==(const Counts&) const = default;
};
struct StageSeconds {
  double space = 0, stage1 = 0, stage2 = 0, stage3 = 0, total = 0;
  bool operator==(const StageSeconds&) const = default;
};

/// Seconds of one run of a schedule, measured by a client.
struct Measurement {
  std::string trace;
  std::string sizes;  ///< size_class()
  std::string isa;
  int threads = 1;
  double seconds = 0;
  bool exclusive = false;  ///< nothing else ran on the machine
  bool operator==(const Measurement&) const = default;
};

/// left <= right over whole numbers: sums of products of extents and entry counts, in canonical names.
struct Constraint {
  struct Factor {
    enum class Kind { extent, nonzeros } kind = Kind::extent;
    std::string name;       ///< an index, or a tensor whose entries are counted
    int levels = 0;         ///< nonzeros: entries that the first so many storage levels hold
    unsigned exponent = 1;  ///< >= 1
    bool operator==(const Factor&) const = default;
  };
  struct Monomial {
    std::uint64_t coefficient = 1;
    std::vector<Factor> factors;
    bool operator==(const Monomial&) const = default;
  };
  std::vector<Monomial> left, right;
  bool operator==(const Constraint&) const = default;
};

struct Frontier {
  std::string key;        ///< key of the canonical problem
  std::string canonical;  ///< its text
  std::vector<Constraint> constraints;
  std::vector<FrontierEntry> entries;
  Counts counts;
  StageSeconds seconds;
  bool complete = false;
  std::vector<std::string> arguments;               ///< kernel arguments in order: the result first
  std::map<std::string, std::string> user_tensors;  ///< canonical -> the user's name
  std::map<std::string, std::string> user_indices;  ///< canonical -> an index of the request with its extent
  std::vector<Removal> removals;                    ///< at most the server's limit
  std::string statement;      ///< statement to which the traces apply, in the user's names
  std::uint64_t removed = 0;  ///< all removals, summaries included
  std::string limited;        ///< which budget ended what, in a sentence; "" when complete
  std::string relaxed_from;   ///< key of the problem with relaxed constraints whose answer it was derived
                              ///< from; "": searched
  bool hit = false;           ///< it was stored
  bool partial = false;       ///< answer from a small part of the space; a better one follows, with other ids
  std::vector<Measurement> measurements;  ///< on hosts like this one, newest first
  std::vector<GpuSchedule> gpu;           ///< only when asked for
  std::string signature;  ///< by the server's key, of the problem as it was asked; verified in files
  bool operator==(const Frontier&) const = default;
};

/// Sizes at which a schedule needs less time or less memory than one of the frontier, and what both need
/// there.
struct Competitor {
  std::string id, sizes;  ///< sizes "": none are known
  double time = 0, memory = 0, other_time = 0, other_memory = 0;
};
enum class Verdict {
  survivor,  ///< on the frontier
  removed,   ///< proven to be dominated
  left_out,  ///< by a limit or a heuristic of the search
  open,      ///< neither
};
const char* name(Verdict verdict);  ///< "survivor", "removed", "left-out", "open"
/// Why a schedule is, or is not, on the frontier.
struct Explanation {
  Verdict verdict = Verdict::open;
  std::string id;  ///< id of the survivor or removal of the same cost, if there is one
  std::string trace, tree, code, time, memory;
  std::string by, kind, argument;
  std::vector<Competitor> competitors;
};

/// One compiled schedule: what to download, and its cost.
struct KernelInfo {
  std::string id;  ///< frontier id, or the trace as it was asked for ("linear")
  std::string kernel_key;
  std::string trace, tree, time, memory;
  std::string isa;
  support::Digest digest;  ///< digest of the binary
  double compile_seconds = 0;
  bool hit = false;  ///< it was stored already
  bool baseline =
      false;  ///< the first, quickly compiled and slower kernel of its schedule: the full one follows
  std::string signature;          ///< by the server's key; verified before the binary is downloaded
  bool nondeterministic = false;  ///< sums are rounded in the order in which threads come
  std::vector<Term> time_terms, memory_terms;
  /// Key of the problem that was asked. Derived by the client, never received: the signature must hold for
  /// it.
  std::string problem_key{};
  bool operator==(const KernelInfo&) const = default;
};

}  // namespace schaas::client
