#pragma once
#include <memory>
#include <string>

#include "compiler/frontier/frontier.h"
#include "compiler/problem/canonical.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/cancellation.h"
#include "compiler/support/digest.h"
#include "compiler/toolchain/toolchain.h"
#include "server/slots.h"

/// The service core: small decorators over one interface, outermost first
///
///     coalescing   equal questions asked at the same moment are worked on once
///     caching      what was found or compiled before is read from the stores
///     admitting    only so many searches and compilations run side by side
///     trying       a compiled kernel must compute what the oracle says
///     compiling    does the work
///
/// Everything here speaks canonical names; UserNames translates at the edge.
namespace schaas::server {

/// Whether a stored answer will do.
enum class Source {
  stored,  ///< only a stored one: [not-stored] when there is none
  stored_or_made,
  made,  ///< made anew, and stored
};

struct FrontierQuery {
  problem::Canonical canonical;
  frontier::Options options;
  Source source = Source::stored_or_made;
  Urgency urgency = Urgency::awaited;
};
struct FrontierAnswer {
  std::shared_ptr<const frontier::Frontier> frontier;
  bool hit = false;  ///< no search was made for this request
};

struct KernelQuery {
  problem::Canonical canonical;
  schedule::Trace trace;
  toolchain::Target target;
  std::string kernel_key;  ///< pipeline::kernel_key of the above
  Source source = Source::stored_or_made;
  Urgency urgency = Urgency::awaited;
};
struct KernelAnswer {
  std::shared_ptr<const std::string> bytes;  ///< a shared object
  support::Digest digest;
  double seconds = 0;  ///< what its compilation took, then or now
  bool hit = false;
  std::string signature;  ///< KernelSigner::sign; below the caching provider: none
};

/// Thread-safe. Errors: those of frontier::compute and pipeline::compile, those of the stores, invalid
/// [not-stored].
class KernelProvider {
 public:
  virtual ~KernelProvider() = default;
  virtual support::Result<FrontierAnswer> frontier(const FrontierQuery& query,
                                                   const frontier::Progress& progress,
                                                   const support::Cancellation& cancellation) = 0;
  virtual support::Result<KernelAnswer> kernel(const KernelQuery& query,
                                               const support::Cancellation& cancellation) = 0;
};

/// The search options as text: two searches with the same text make the same effort. Part of a stored
/// frontier's key.
std::string fingerprint(const frontier::Options& options);

}  // namespace schaas::server
