#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "schaas/bundled_answer.h"
#include "schaas/connection.h"
#include "schaas/kernel_set.h"

/// One file with a frontier and its kernels, for use where there is no server:
///
///     auto bundle = Bundle::open("kernels.schaas");
///     auto kernels = bundle->kernels();
///     auto product = kernels->bind({{"B", &b}, {"C", &c}});
///
/// The layout is in docs/file_formats.md. Kernels are code: say whose they must be, or open bundles only of
/// those whom you trust.
namespace schaas::client {

/// Thread-safe; copies share it.
class Bundle {
 public:
  /// Reads all of it, compares every part with its digest and verifies the signature of every kernel.
  /// `server_key`: whose they must be, "ed25519:..." or a file that holds it; "": $SCHAAS_SERVER_KEY, else
  /// whoever's the file says. Errors: invalid [file-missing] and what else reading has; [bundle-format]
  /// (another file), [bundle-damaged]; unsupported [bundle-version], [bundle-abi] (made for other versions
  /// than this one); unreachable [bundle-key] (signed by another).
  static support::Result<Bundle> open(const std::string& path, const std::string& server_key = {});

  const std::string& path() const;
  const std::string& made_by() const;                 ///< "schaas 0.1.0"
  const std::string& server() const;                  ///< version and compiler of the server that compiled it
  const std::string& created() const;                 ///< UTC, ISO 8601
  const std::vector<BundledAnswer>& answers() const;  ///< at least one

  /// Answers as a server does, for the best instruction set that the bundle has and this processor runs.
  /// Errors of its methods: unsupported [not-in-bundle], which names what is there. Reports are not kept.
  std::shared_ptr<KernelSource> source() const;
  /// The problem of the first answer with positions of so many bits (0: any). Errors: unsupported
  /// [not-in-bundle].
  support::Result<KernelSet> kernels(int position_bits = 0, KernelSetOptions options = {}) const;

  struct State;

 private:
  explicit Bundle(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// Contents of a bundle to be made.
struct BundleRequest {
  ProblemText problem;  ///< position_bits "auto": both widths, where a tensor has positions
  SearchOptions search;
  std::vector<std::string> isas;    ///< none: those of this processor's family that the server makes
  std::vector<std::string> traces;  ///< further schedules: "linear", a trace
  std::uint32_t kernels = 64;       ///< frontier schedules at most, for each instruction set
};
struct BundleSummary {
  std::uint64_t bytes = 0;
  std::vector<BundledAnswer> answers;
  std::vector<KernelFailure> failures;  ///< kernels that could not be made and are not in it
};

/// Asks the server for everything, waiting to the end, and writes the file: whole or not at all. The listener
/// sees what the server says. Errors: the server's; those of writing a file; internal [no-kernel].
support::Result<BundleSummary> make_bundle(Connection& connection, const BundleRequest& request,
                                           const std::string& path,
                                           const std::function<void(const ScheduleEvent&)>& listener = {});

}  // namespace schaas::client
