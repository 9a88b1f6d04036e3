#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "schaas/expression.h"
#include "schaas/frontier_at.h"
#include "schaas/session.h"
#include "schaas/waiting.h"

/// The entrance for programs that hold their tensors in memory:
///
///     auto session = Session::open();
///     auto kernels = KernelSet::open(*session, {.expression = "A(i,k) = B(i,j) * C(j,k)", .formats = {{"B",
///     "csr"}}}); auto product = kernels->bind({{"B", &b}, {"C", &c}}); product->run(); // as often as
///     wanted; the operands' values may change in between use(product->result());
namespace schaas::client {

struct KernelSetOptions {
  SearchOptions search;
  std::string isa;                          ///< "" = host_isa()
  std::chrono::milliseconds leave_after{};  ///< WaitOptions::leave_after of bindings that say none
  std::stop_token stop{};                   ///< ends opening from another thread: exhausted [cancelled]
};

constexpr int max_threads = 4096;  ///< limit of a computation
/// A device on which kernels may run.
struct GpuUse {
  Gpu gpu;
  bool alone = false;      ///< the processor does not compete
  void* stream = nullptr;  ///< in whose order; as of GpuExecution
};
struct BindOptions {
  std::map<std::string, std::int64_t> extents{};  ///< extents of indices that no operand has
  int threads = 0;                                ///< 0: host_threads(), one for what is done in microseconds
  bool deterministic = false;                     ///< as in ExecutionOptions
  bool operands_change = true;
  std::string schedule = "auto";  ///< "auto", "linear", a frontier id or a trace
  /// Tensor for the result, of its extents and format. Null: bind makes one. A dense one may have memory of
  /// operands; it is then computed apart and copied after each run.
  PackedTensor* result = nullptr;
  WaitOptions wait{};
  bool single_run = false;  ///< the computation runs once: nothing is kept for a better kernel
  /// Operands checked by Trust::bounds, for a single run. bind checks the order where the kernel needs it.
  std::set<std::string> unordered{};
  /// Needed where a tensor lies on a device (PackedTensor::on_device). Schedules for it compete with those
  /// for the processor; what lies elsewhere than where the chosen one runs is copied, and the reason says so.
  std::optional<GpuUse> gpu{};
};

/// A kernel bound to tensors. One run at a time. It keeps what its kernel set shares alive. When a better
/// kernel for its sizes has come, the next run takes it, as bind() would; not one that was bound with a named
/// schedule, as deterministic, or for a single run.
class Computation {
 public:
  Computation(Computation&&) noexcept;
  Computation& operator=(Computation&&) noexcept;
  ~Computation();

  /// The operands' entries are those of the binding, so a sparse result gets its structure in the first run
  /// and its values in each. A statement that updates its result (`A(i) += ...`) starts each run from the
  /// values that the operand of that name holds then. On a device with a stream of the caller's it returns
  /// before the result is there (GpuExecution); the processor waits for the stream before it reads what lies
  /// on a device. Errors: those of Execution::run and GpuExecution::run.
  support::Result<void> run();
  /// Takes the arrays that its tensors have now, of the same extents and numbers of entries; the next run
  /// begins from nothing. False: bind anew. Needs is_rebindable().
  bool rebind();
  /// False where something is made of what the tensors' arrays hold.
  bool is_rebindable() const;
  /// False where the kernel takes the operands that KernelSet::sums tells in any order.
  bool order_matters() const;
  std::int64_t temporary_bytes() const;  ///< intermediates that are stored sparse included
  PackedTensor& result();
  const KernelInfo& kernel() const;
  const std::string& reason() const;  ///< why this schedule, a sentence
  int threads() const;                ///< threads of the processor
  std::vector<CopiedOperand> copies() const;
  const std::string& device() const;  ///< name of the one it runs on; "": the processor

 private:
  friend class KernelSet;
  friend class SplitProgram;
  friend class RangedProgram;
  struct State;
  explicit Computation(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Seconds of every compiled schedule on the tensors that were bound for it.
struct Tuning {
  std::vector<Measured> measured;
  std::string fastest;  ///< its id
};

/// A frontier, and what it is for some tensors.
struct FrontierHere {
  Frontier frontier;
  std::optional<FrontierAt> at;  ///< none: no sizes are known
  support::Plot plot;            ///< plot of the point `at`
};

/// Kernels of one problem. They are requested when tensors are first bound, then selected anew for the sizes
/// of each binding. Threads of its own ask the server and load kernels; they end with the last copy and its
/// computations. A call runs the best kernel at hand and waits as BindOptions::wait says. Thread-safe; copies
/// share it.
class KernelSet {
 public:
  /// Checks the texts. problem.position_bits is the width of the operands' positions, "32" or "64". Errors:
  /// those of parse_program and Connection::lookup; unsupported [blocks].
  static support::Result<KernelSet> open(const Session& session, ProblemText problem,
                                         KernelSetOptions options = {});

  const Program& program() const;
  const ProblemText& problem() const;
  /// True of an operand whose entries some kernels take in any order, and repeatedly (summed_operands.h).
  bool sums(const std::string& operand) const;
  /// Every operand by its name. They must outlive the computation, stay where they are and keep their
  /// structure. Errors: invalid [threads], [missing-operand], [unknown-tensor], [operand-rank],
  /// [extent-conflict], [missing-extent], [result-shape], [result-overlap], [no-device], [argument-format],
  /// [argument-type]; those of choose, Session::prepare, zeros,
  /// Gpu::check_is_there and GpuExecution::prepare; unsupported [result-format]: a result on a device in a
  /// format that no kernel writes.
  support::Result<Computation> bind(const std::map<std::string, PackedTensor*>& operands,
                                    const BindOptions& options = {}) const;
  /// Has the server asked for kernels, in the background, as the next bind with these options would.
  void begin(const BindOptions& options = {}) const;
  /// Measures every compiled schedule of the frontier on these tensors; from then on the fastest is taken for
  /// tensors of these sizes. Where a tensor lies on a device, schedules for it alone. Errors: as of bind and
  /// run.
  support::Result<Tuning> tune(const std::map<std::string, PackedTensor*>& operands,
                               const BindOptions& options = {}) const;
  /// Returns the server's answer; before the first bind the server is asked for the frontier alone. Errors:
  /// those of Connection::schedule.
  support::Result<Frontier> frontier(const std::stop_token& stop = {}) const;
  /// The same with what its schedules cost for these tensors; without `operands` at the sizes of the last
  /// binding, if there was one. Nothing is compiled. Errors: those of frontier, and of bind for the tensors.
  support::Result<FrontierHere> frontier_at(const std::map<std::string, PackedTensor*>& operands,
                                            const BindOptions& options = {}) const;

 private:
  struct State;
  explicit KernelSet(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace schaas::client
