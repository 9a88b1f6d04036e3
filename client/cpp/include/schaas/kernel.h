#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/digest.h"
#include "compiler/support/result.h"
#include "schaas/tensor.h"

/// Loading and running kernels.
namespace schaas::client {

struct KernelProblem;

/// A loaded kernel. Copies share it; it is unloaded with the last copy. Thread-safe.
class Kernel {
 public:
  /// The bytes are checked against `expected` before anything of them is loaded, then mapped from memory
  /// (never from a path that others may write). Errors: invalid [kernel-digest], [kernel-binary] (not
  /// loadable, or no descriptor), [kernel-abi] (other version); unsupported [kernel-isa] when this processor
  /// cannot run it.
  static support::Result<Kernel> load(std::string_view bytes, const support::Digest& expected);

  const schaas_kernel_descriptor& descriptor() const;
  std::string key() const;
  std::string problem() const;   ///< canonical problem text
  std::string schedule() const;  ///< trace
  std::string isa() const;

 private:
  friend const support::Result<KernelProblem>& problem_of(const Kernel& kernel);
  struct Library;
  explicit Kernel(std::shared_ptr<const Library> library) : library_(std::move(library)) {}
  std::shared_ptr<const Library> library_;
};

struct ExecutionOptions {
  /// 0: host_threads(), of which a run takes those that no other run of this process has at that moment. The
  /// load of the machine may reduce them.
  int threads = 0;
  int chunks_per_thread =
      12;  ///< pieces a phase's range is cut into, per thread where there are several: finer balances better
  /// For messages, in argument order (Frontier::arguments); canonical names are used when empty.
  std::vector<std::string> names;
  /// The same result to the last bit whatever the number of threads: what threads sum side by side is cut by
  /// the sizes alone. Costs some time where a phase reduces over its outermost loop, and one thread gains
  /// nothing from it. Otherwise results are the same for the same number of threads.
  bool deterministic = false;
  /// Phases whose threads would write the same elements: each thread may fold into an array of its own, and
  /// these are folded in order afterwards; else such a phase runs on one thread.
  enum class Folding {
    when_it_pays,  ///< by the size of what is written and the work of the phase
    always,
    never,
  } folding = Folding::when_it_pays;
  std::int64_t folding_bytes = std::int64_t{1} << 30;  ///< most memory for these arrays
  /// Makes a sparse result in one pass where its kernel allows it. Its arrays grow, and with several threads
  /// two copies exist for a moment. False: its entries are always counted first.
  bool may_append = true;
  /// False: the caller promises that the values of the operands stay what they are at prepare(); copies of
  /// operands are then not brought up to date before each run.
  bool operands_change = true;
  bool guard_copies = false;  ///< copies lie before pages that nobody may touch: for trials
};

/// An operand that a kernel reads from a copy in another storage.
struct CopiedOperand {
  int argument = 0;    ///< number of the argument that is copied
  std::string format;  ///< format of the copy
  std::int64_t bytes = 0;
  double seconds = 0;  ///< to make it
};

/// A kernel bound to its arguments, ready to run many times. Tasks, scratch, and copies of operands in the
/// kernel's formats are made once. Each run copies the current values of the operands; their entries must
/// stay. Not thread-safe: one run at a time. The tensors must outlive it, stay where they are and keep their
/// shape. Only run() gives a result with compressed levels another structure.
class Execution {
 public:
  /// arguments: the result first, then the operands in the kernel's order. They are checked against the
  /// kernel's problem text: number, formats, value type, position width, and extents of every index. Errors:
  /// invalid [argument-count], [argument-format], [argument-type], [argument-positions], [extent-mismatch],
  /// [extent-bound] (the kernel is for another extent),
  /// [kernel-problem] (its text cannot be read), [kernel-binary] (its counters do not fit the result, or its
  /// copies no operand);
  /// unsupported [sparse-update] (a result with compressed levels cannot be updated); exhausted [memory].
  static support::Result<Execution> prepare(const Kernel& kernel, std::vector<PackedTensor*> arguments,
                                            const ExecutionOptions& options = {});
  Execution(Execution&&) noexcept;
  Execution& operator=(Execution&&) noexcept;
  ~Execution();

  /// Runs the phases in order on a team of threads, one phase after the other. The result starts from its
  /// fill value, or from what it holds when the statement updates it. A result with compressed levels is
  /// counted first, then allocated, then filled. Errors: internal [kernel-failed] when the kernel returns an
  /// error code; for a sparse result also invalid [position-overflow] (more entries than its positions can
  /// count) and exhausted [memory], and it is empty then.
  support::Result<void> run();
  /// Runs again for operands whose values may have changed since run(), but not their entries. A sparse
  /// result keeps its structure, which is not counted again. The first call is a run(), and so is one that
  /// finds arrays in the result other than those it made.
  support::Result<void> rerun_values();

  /// Takes the arrays that its tensors have now, of the same extents, operands of the same numbers of
  /// entries. The next run counts the entries of a sparse result anew. False: prepare anew. Needs
  /// is_rebindable().
  bool rebind();
  /// False where something is made of what the tensors' arrays hold: copies, lists of coordinates, iterations
  /// that are cut inside.
  bool is_rebindable() const;

  int threads() const;
  /// bytes of all threads together; hash tables as the runs so far needed them
  std::int64_t scratch_bytes() const;
  std::int64_t shared_bytes() const;
  std::int64_t folding_bytes() const;  ///< bytes of the privatised arrays of threads
  std::vector<CopiedOperand> copies() const;

 private:
  struct State;
  explicit Execution(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace schaas::client
