#pragma once
#include <memory>
#include <string>

#include "compiler/frontier/frontier.h"
#include "compiler/problem/canonical.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/cancellation.h"
#include "compiler/support/digest.h"
#include "compiler/toolchain/toolchain.h"
#include "server/providers/admission_queue.h"

/// The service core: decorators over one interface, outermost first:
///
///     coalescing   equal concurrent requests are worked on once
///     caching      what was found or compiled before is read from the stores
///     admitting    a bounded number of searches and compilations runs at once
///     validating   a compiled kernel must agree with the oracle
///     compiling    searches and compiles
///
/// All names here are canonical; UserNames translates at the edge.
namespace schaas::server {

/// Freshness that a query requires.
enum class Source {
  stored,  ///< stored answers only: [not-stored] when there is none
  stored_or_made,
  made,  ///< a new answer, which is stored
};

/// The client that a query works for, and until when the answer is of use.
struct Requester {
  using Clock = support::Cancellation::Clock;
  std::string client;  ///< for the admission queues; "": the server's own work
  Clock::time_point deadline = Clock::time_point::max();
};

struct FrontierQuery {
  problem::Canonical canonical;
  frontier::Options options;
  Source source = Source::stored_or_made;
  Priority priority = Priority::interactive;
  Requester requester = {};
};
struct FrontierAnswer {
  std::shared_ptr<const frontier::Frontier> frontier;
  bool hit = false;           ///< no search was made for this request
  double search_seconds = 0;  ///< time limit of the search; below the query's where its deadline came first
};

struct KernelQuery {
  problem::Canonical canonical;
  schedule::Trace trace;
  toolchain::Target target;
  std::string kernel_key;  ///< pipeline::kernel_key of the above
  Source source = Source::stored_or_made;
  Priority priority = Priority::interactive;
  Requester requester = {};
};
struct KernelAnswer {
  std::shared_ptr<const std::string> bytes;  ///< a shared object
  support::Digest digest;
  double seconds = 0;  ///< duration of its compilation, then or now
  bool hit = false;
  std::string signature;  ///< KernelSigner::sign; empty below the caching provider
};

/// Source of frontiers and kernels. Thread-safe. Errors: those of frontier::compute and pipeline::compile,
/// those of the stores, invalid [not-stored].
class KernelProvider {
 public:
  virtual ~KernelProvider() = default;
  virtual support::Result<FrontierAnswer> frontier(const FrontierQuery& query,
                                                   const frontier::Progress& progress,
                                                   const support::Cancellation& cancellation) = 0;
  virtual support::Result<KernelAnswer> kernel(const KernelQuery& query,
                                               const support::Cancellation& cancellation) = 0;
};

/// Prints the search options: equal texts mean equal effort. Part of a stored frontier's key.
std::string fingerprint(const frontier::Options& options);

/// Shortens the time limits of a search to what the deadline leaves, so that it ends with part of the space
/// and no error. Shortened limits are powers of two: equal deadlines give equal limits.
frontier::Options within_deadline(frontier::Options options, Requester::Clock::time_point deadline);

}  // namespace schaas::server
