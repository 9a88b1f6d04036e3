#include "server/providers/caching_provider.h"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "compiler/pipeline/pipeline.h"
#include "compiler/pipeline/variants.h"
#include "compiler/schedule/replay/apply.h"
#include "server/providers/relaxed_frontier.h"
#include "server/storage/stored_frontier.h"

// Stored answers before new ones. A frontier is stored under one of two keys. Complete answers serve every
// budget and have a key without one; answers that a budget ended have a key with it. Then frontiers of
// relaxed constraints are tried; only after that a search is made. What is read is checked again. Traces must
// apply, kernels must be signed and whole. Whatever does not fit is a miss with a warning.
// Order of writes: the binary, then its row, so that no row names bytes that were not written.
namespace schaas::server {
namespace {

using kernels_cache::FrontierKey;
using kernels_cache::FrontierRow;
using kernels_cache::KernelRow;
using support::Cancellation;
using support::Diagnostic;
using support::Result;

/// Relaxed problems whose stored answers are tried, newest first.
constexpr std::size_t max_relaxed_candidates = 8;
/// An answer that another server works on is looked for this often.
constexpr std::chrono::milliseconds claim_interval{100};

class CachingProvider final : public KernelProvider {
 public:
  CachingProvider(std::unique_ptr<KernelProvider> next, Stores stores, std::shared_ptr<KernelSigner> signer,
                  Log log, std::shared_ptr<CacheEvictor> evictor)
      : next_(std::move(next)),
        stores_(std::move(stores)),
        signer_(std::move(signer)),
        log_(std::move(log)),
        evictor_(std::move(evictor)) {}

  Result<FrontierAnswer> frontier(const FrontierQuery& query, const frontier::Progress& progress,
                                  const Cancellation& cancellation) override {
    // A complete answer serves every time budget; one cut by its budget serves this budget alone.
    const FrontierKey key = key_within(0, query);
    const auto stored = [&] { return stored_answer(query); };
    if (query.source != Source::made) {
      if (auto answer = stored()) return *std::move(answer);
    }
    if (query.source == Source::stored) return not_stored();
    std::optional<FrontierAnswer> made_elsewhere;
    const FrontierKey claimed = key_within(query.options.search_seconds, query);
    SCHAAS_ASSIGN_OR_RETURN(
        const auto claim, claim_work("frontier " + claimed.problem_key + " " + claimed.options, query.source,
                                     cancellation, stored, made_elsewhere));
    if (made_elsewhere) return *std::move(made_elsewhere);
    const std::string unconstrained = unconstrained_key(query.canonical.problem);
    if (query.source != Source::made) {
      SCHAAS_ASSIGN_OR_RETURN(auto derived,
                              relaxed_frontier(key, unconstrained, query, progress, cancellation));
      if (derived) {
        keep(key, unconstrained, query, *derived);
        return FrontierAnswer{std::move(derived), false, query.options.search_seconds};
      }
    }
    SCHAAS_ASSIGN_OR_RETURN(FrontierAnswer answer, next_->frontier(query, progress, cancellation));
    const double budget = answer.frontier->complete ? 0 : answer.search_seconds;
    keep(key_within(budget, query), unconstrained, query, *answer.frontier);
    return answer;
  }

  Result<KernelAnswer> kernel(const KernelQuery& query, const Cancellation& cancellation) override {
    const auto stored = [&] { return stored_kernel(query); };
    if (query.source != Source::made) {
      if (auto answer = stored()) return *std::move(answer);
    }
    if (query.source == Source::stored) return not_stored();
    std::optional<KernelAnswer> made_elsewhere;
    SCHAAS_ASSIGN_OR_RETURN(const auto claim, claim_work("kernel " + query.kernel_key, query.source,
                                                         cancellation, stored, made_elsewhere));
    if (made_elsewhere) return *std::move(made_elsewhere);
    auto made = next_->kernel(query, cancellation);
    // A kernel that failed its trial now must not be served from an earlier compilation either.
    if (!made.ok() && made.error().code == "kernel-rejected") withdraw(query.kernel_key);
    SCHAAS_ASSIGN_OR_RETURN(KernelAnswer answer, std::move(made));
    SCHAAS_ASSIGN_OR_RETURN(answer.digest, stores_.binaries->put(*answer.bytes));
    answer.signature =
        signer_->sign({query.canonical.key, query.kernel_key, query.target.isa, answer.digest});
    // The binary comes first: a row never names a binary that was not written.
    SCHAAS_RETURN_IF_ERROR(stores_.schedules->put_kernel(
        {query.kernel_key, query.canonical.key, query.canonical.text, schedule::print(query.trace),
         toolchain::print(query.target), answer.digest, answer.seconds, "", answer.signature}));
    if (evictor_ != nullptr) evictor_->note_stored_binary(answer.digest.bytes);
    return answer;
  }

 private:
  // Returns the key of the answers that a search of so many seconds cut; 0: of complete answers.
  static FrontierKey key_within(double seconds, const FrontierQuery& query) {
    frontier::Options options = query.options;
    options.search_seconds = seconds;
    return {query.canonical.key, fingerprint(options), pipeline::search_version};
  }

  // Returns the time limits whose answers serve the query, the best first.
  static std::vector<double> budgets_of(const FrontierQuery& query) {
    std::vector<double> budgets = {0};
    for (const double seconds : {query.options.search_seconds,
                                 within_deadline(query.options, query.requester.deadline).search_seconds}) {
      if (seconds != budgets.back()) budgets.push_back(seconds);
    }
    return budgets;
  }

  // Claims work that servers of one database would all do, or waits until another one has done it, which
  // fills `answer`. Work that was asked for anew, and work while no claim can be had, is done without a
  // claim.
  template <class Look, class Answer>
  Result<std::unique_ptr<kernels_cache::Claim>> claim_work(const std::string& key, Source source,
                                                           const Cancellation& cancellation, const Look& look,
                                                           std::optional<Answer>& answer) {
    std::unique_ptr<kernels_cache::Claim> none;
    if (source == Source::made) return none;
    for (;;) {
      auto claim = stores_.schedules->claims().try_take(key);
      if (!claim.ok()) return warn("working without a claim", claim.error()), std::move(none);
      // Whoever held the claim stored the answer before giving it up.
      if ((answer = look())) return none;
      if (*claim != nullptr) return claim;
      SCHAAS_RETURN_IF_ERROR(cancellation.check("waiting for another server's answer"));
      std::this_thread::sleep_for(claim_interval);
    }
  }

  // Returns the best stored answer within the query's time.
  std::optional<FrontierAnswer> stored_answer(const FrontierQuery& query) {
    for (const double seconds : budgets_of(query)) {
      if (auto stored = stored_frontier(key_within(seconds, query), query))
        return FrontierAnswer{std::move(stored), true, seconds};
    }
    return std::nullopt;
  }

  static Diagnostic not_stored() {
    return support::noting(support::invalid("not-stored", "nothing is stored for this problem"),
                           "request its schedule, which computes and stores it");
  }

  // Parses a stored frontier and checks that its schedules apply to the problem.
  static Result<frontier::Frontier> read(const std::string& payload, const problem::Problem& problem) {
    SCHAAS_ASSIGN_OR_RETURN(frontier::Frontier found, parse_frontier(payload));
    for (const auto& survivor : found.survivors)
      SCHAAS_RETURN_IF_ERROR(schedule::apply(survivor.traces.front(), problem));
    return found;
  }

  /// Returns the stored frontier of this key; null when there is none that can be read and applied. Code that
  /// an earlier version made is described anew.
  std::shared_ptr<const frontier::Frontier> stored_frontier(const FrontierKey& key,
                                                            const FrontierQuery& query) {
    const problem::Problem& problem = query.canonical.problem;
    const auto row = stores_.schedules->frontier(key);
    if (!row.ok()) return warn("cannot read a frontier", row.error()), nullptr;
    if (!row->has_value()) return nullptr;
    auto parsed = read((*row)->payload, problem);
    if (!parsed.ok())
      return warn("ignoring the stored frontier of " + key.problem_key, parsed.error()), nullptr;
    if (parsed->code_version != pipeline::code_version) {
      pipeline::add_variants(*parsed, problem);
      keep(key, unconstrained_key(problem), query, *parsed);
    }
    return std::make_shared<const frontier::Frontier>(std::move(parsed).value());
  }

  // Derives the frontier from the stored one of a problem with relaxed constraints; null when none subsumes
  // the query.
  Result<std::shared_ptr<const frontier::Frontier>> relaxed_frontier(const FrontierKey& key,
                                                                     const std::string& unconstrained,
                                                                     const FrontierQuery& query,
                                                                     const frontier::Progress& progress,
                                                                     const Cancellation& cancellation) {
    std::shared_ptr<const frontier::Frontier> none;
    const problem::Profile profile = query.canonical.problem.profile;
    if (profile != problem::Profile::standard) return none;  // the published stages remove without proof
    const auto rows = stores_.schedules->frontiers_of(unconstrained, key.options, key.search_version,
                                                      max_relaxed_candidates);
    if (!rows.ok()) return warn("cannot read frontiers of relaxed problems", rows.error()), none;
    for (const FrontierRow& row : *rows) {
      const auto relaxed = problem::parse_problem(row.canonical);
      const auto stored = parse_frontier(row.payload);
      if (!relaxed.ok() || !stored.ok()) continue;
      auto found = from_relaxed(query.canonical, *relaxed, *stored, query.options, progress, cancellation);
      if (!found.ok() && found.error().code == "contradiction") break;  // the search reports the constraints
      if (!found.ok()) return found.error();
      if (!found->has_value()) continue;
      (**found).relaxed_from = row.key.problem_key;
      return std::make_shared<const frontier::Frontier>(std::move(**found));
    }
    return none;
  }

  /// Returns the stored kernel; none without a valid signature or with bytes that are missing or damaged.
  std::optional<KernelAnswer> stored_kernel(const KernelQuery& query) {
    const std::string& kernel_key = query.kernel_key;
    const auto row = stores_.schedules->kernel(kernel_key);
    if (!row.ok()) return warn("cannot read a kernel", row.error()), std::nullopt;
    if (!row->has_value()) return std::nullopt;
    if (!signer_->verifies({query.canonical.key, kernel_key, query.target.isa, (*row)->digest},
                           (*row)->signature)) {
      warn("recompiling kernel " + kernel_key,
           support::invalid("kernel-signature", "its stored row is not signed by this server's key"));
      return std::nullopt;
    }
    auto bytes = stores_.binaries->get((*row)->digest.sha256);
    if (!bytes.ok()) return warn("recompiling kernel " + kernel_key, bytes.error()), std::nullopt;
    return KernelAnswer{std::make_shared<const std::string>(std::move(bytes).value()), (*row)->digest,
                        (*row)->seconds, true, (*row)->signature};
  }

  // Deletes the stored kernel after a recompilation failed its validation.
  void withdraw(const std::string& kernel_key) {
    const auto row = stores_.schedules->kernel(kernel_key);
    if (!row.ok() || !row->has_value()) return;
    const auto dropped = stores_.schedules->drop_kernels_with({(*row)->digest.sha256});
    if (!dropped.ok())
      warn("kernel " + kernel_key + " failed validation and is still stored", dropped.error());
  }

  /// Stores a frontier; a failure costs the next request a search, so it is only logged.
  void keep(const FrontierKey& key, const std::string& unconstrained, const FrontierQuery& query,
            const frontier::Frontier& found) {
    std::string payload = print_frontier(found);
    const std::uint64_t bytes = payload.size();
    const auto put = stores_.schedules->put_frontier(
        {key, query.canonical.text, std::move(payload), found.complete, found.survivors.size(),
         found.seconds.total, "", unconstrained, query.canonical.asked});
    if (!put.ok()) return warn("cannot store the frontier of " + key.problem_key, put.error());
    if (evictor_ != nullptr) evictor_->note_stored_frontier(bytes);
  }

  void warn(const std::string& what, const Diagnostic& why) {
    log_->warn("{}: {}", what, support::render(why));
  }

  std::unique_ptr<KernelProvider> next_;
  Stores stores_;
  std::shared_ptr<KernelSigner> signer_;
  Log log_;
  std::shared_ptr<CacheEvictor> evictor_;  ///< may be null
};

}  // namespace

std::unique_ptr<KernelProvider> make_caching_provider(std::unique_ptr<KernelProvider> next, Stores stores,
                                                      std::shared_ptr<KernelSigner> signer, Log log,
                                                      std::shared_ptr<CacheEvictor> evictor) {
  return std::make_unique<CachingProvider>(std::move(next), std::move(stores), std::move(signer),
                                           std::move(log), std::move(evictor));
}

}  // namespace schaas::server
