#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "compiler/support/result.h"
#include "schaas/frontier.h"
#include "schaas/tensor.h"

/// Requests about a problem, answers, and the interface of their sources: a server (connection.h), a bundle
/// (bundle.h).
namespace schaas::client {

struct ScheduleAnswer;

/// The user's texts (docs/language.md).
struct ProblemText {
  std::string expression;
  std::map<std::string, std::string> formats;  ///< tensor -> format; others are dense
  std::vector<std::string> constraints;
  ValueType value_type = ValueType::f64;
  std::string position_bits = "auto";
  std::string profile = "default";
  std::string space = "none";  ///< space searched beyond the plain one: "all", or options with commas
};

/// Limits of the search beyond those of the profile; zero: none.
struct SearchOptions {
  int memory_depth = 0;                   ///< indices of a temporary
  std::uint64_t max_temporary_bytes = 0;  ///< all temporaries of a schedule
  double seconds = 0;  ///< limit of the search, after which a part of the space stands for the whole
};

struct ScheduleRequest {
  ProblemText problem;
  SearchOptions search;
  std::string isa;                  ///< "" = host_isa()
  std::uint32_t kernels = 0;        ///< frontier schedules to compile at most; 0 = the server's default
  std::vector<std::string> traces;  ///< further ones: "linear", a frontier id, or a trace
  bool search_only = false;
  bool no_cache = false;
  bool no_stage2 = false;
  bool traces_only = false;
  bool wins = false;  ///< also tell at which sizes each schedule wins
  bool gpu = false;   ///< also how schedules run on a GPU, and some kernels; with isa "cuda" these alone
  /// Makes the same choice for any number of threads and any measurements. Schedules for GPUs are limited to
  /// those that round the same way each time.
  bool deterministic = false;
  /// Compiles one kernel of the schedules that `traces` do not name, and soon: a baseline kernel where no
  /// full one is stored. For clients that know their sizes, and ask for their choice by its id.
  bool first_kernel_only = false;
  bool keep_working =
      false;  ///< a client that leaves after the first kernel stops nothing: the answer is stored
  /// After so long the answer is left as soon as it has a kernel that `is_usable` (empty: any).
  std::chrono::milliseconds leave_after = std::chrono::milliseconds::max();
  std::function<bool(const Frontier&, const KernelInfo&)> is_usable{};
  /// After so long it is left in any case; without a kernel: exhausted [wait-limit].
  std::chrono::milliseconds wait_limit = std::chrono::milliseconds::max();
  /// Ends the call from another thread at once: exhausted [cancelled].
  std::stop_token stop{};
  /// Sees what has come so far after each kernel, on the calling thread; may be empty.
  std::function<void(const ScheduleAnswer&)> so_far{};
};

struct Progress {
  std::string stage;
  std::uint64_t done = 0, of = 0;         ///< `of` == 0: unknown
  std::uint64_t states = 0, classes = 0;  ///< states of the recursion, and classes kept so far
  std::string members;                    ///< schedules covered so far, decimal; "": unknown
};
struct Done {
  bool hit = false;
  std::uint32_t compiled = 0;
  double seconds = 0, compile_seconds = 0;
  std::uint32_t failed = 0;  ///< kernels that could not be made
};
/// A kernel that could not be made; the others still come.
struct KernelFailure {
  std::string id, trace;
  support::Diagnostic diagnostic;
  std::string isa{};  ///< as KernelInfo::isa
};
using ScheduleEvent = std::variant<Progress, Frontier, KernelInfo, Done, KernelFailure>;

/// All events of one request, collected.
struct ScheduleAnswer {
  Frontier frontier;                ///< the last one
  std::vector<KernelInfo> kernels;  ///< baseline kernels only where the full kernel has not come
  std::vector<KernelFailure> failures;
  Done done;  ///< when the answer was left: from what had come
  /// Reason for leaving the answer before its end.
  enum class Left { no, listener, time } left = Left::no;
  bool kept = false;  ///< from the client's cache, for want of the server
};

/// A source of answers. Thread-safe.
class KernelSource {
 public:
  virtual ~KernelSource() = default;

  /// "unix:/path", "host:port", "bundle:FILE".
  virtual const std::string& address() const = 0;
  /// True when it is a private server that had to be started.
  virtual bool started_server() const { return false; }
  /// True when it answers only what its maker asked for, in those words.
  virtual bool is_bundle() const { return false; }
  /// Something the user should know, a sentence: that the server is gone and what was kept answers for it.
  /// Mostly "".
  virtual std::string notice() const { return ""; }
  /// Streams the answer; `listener` (may be empty) sees each event in order, on the calling thread, and says
  /// whether to go on.
  virtual support::Result<ScheduleAnswer> schedule(
      const ScheduleRequest& request, const std::function<bool(const ScheduleEvent&)>& listener) = 0;
  /// The frontier when it is known: checks the texts. Errors: invalid [not-stored] when they are right.
  /// `stop` ends it as it ends schedule().
  virtual support::Result<Frontier> lookup(const ProblemText& problem, std::stop_token stop) = 0;
  support::Result<Frontier> lookup(const ProblemText& problem) { return lookup(problem, {}); }
  /// The binary of a kernel; invalid [kernel-digest] when the bytes are not what was promised. `stop` ends it
  /// as it ends schedule().
  virtual support::Result<std::string> download(const KernelInfo& kernel, std::stop_token stop) = 0;
  support::Result<std::string> download(const KernelInfo& kernel) { return download(kernel, {}); }
  /// Tells what was measured on this host, for the answers to hosts like it. At most 64 at once. Errors:
  /// invalid [measurement].
  virtual support::Result<void> report(const ProblemText& problem,
                                       const std::vector<Measurement>& measurements) = 0;

 protected:
  KernelSource() = default;
  KernelSource(const KernelSource&) = default;
  KernelSource(KernelSource&&) noexcept = default;
  KernelSource& operator=(const KernelSource&) = default;
  KernelSource& operator=(KernelSource&&) noexcept = default;
};

/// A server that answers. Thread-safe.
class ServerSource : public KernelSource {
 public:
  /// The server's: "ed25519:...".
  virtual std::string public_key() const = 0;
};

}  // namespace schaas::client
