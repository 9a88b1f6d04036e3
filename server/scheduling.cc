#include "server/scheduling.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "compiler/pipeline/pipeline.h"
#include "compiler/schedule/apply.h"
#include "compiler/support/nearest_name.h"
#include "compiler/support/processor.h"
#include "server/compile_crew.h"
#include "server/explaining.h"
#include "server/gpu_schedules.h"
#include "server/measurements.h"
#include "server/representatives.h"
#include "server/subject.h"

namespace schaas::server {
namespace {

using support::Cancellation;
using support::Diagnostic;
using support::Result;
using Steady = std::chrono::steady_clock;

double seconds_since(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

/// How large a part of the space is searched before the whole of it, one after the other.
struct Part {
  std::size_t operand_orders;
  int memory_depth;
  std::size_t kernels;  ///< made of its frontier at most
};
constexpr Part parts[] = {{1, 1, 1}, {4, 2, 2}, {64, 2, 4}};
/// Kernels for GPUs made before anybody's sizes are known, for nvcc takes seconds: those of a client's choice
/// are asked for by their ids.
constexpr std::size_t most_gpu_kernels = 3;
/// Whether the search of a request is over; the search tells, a compile thread waits.
class Finish {
 public:
  void set() {
    const std::lock_guard lock(mutex_);
    set_ = true;
    changed_.notify_all();
  }
  bool wait_for(std::chrono::milliseconds longest) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, longest, [this] { return set_; });
  }
  bool is_set() { return wait_for(std::chrono::milliseconds(0)); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

// One schedule request while it is worked on.
class Work {
 public:
  Work(Subject subject, const ScheduleQuery& query, KernelProvider& provider,
       const toolchain::Toolchain& toolchain, const Sink& sink, Cancellation& cancellation,
       const SchedulingOptions& options)
      : subject_(std::move(subject)),
        query_(query),
        provider_(provider),
        toolchain_(toolchain),
        sink_(sink),
        cancellation_(cancellation),
        options_(options) {}

  Result<Finished> run() {
    SCHAAS_RETURN_IF_ERROR(sort_traces());
    CompileCrew crew(options_.compile_threads);
    // What needs no search is compiled beside it: the first usable kernel comes early.
    for (const auto& wanted : direct_) order(crew, wanted);
    if (!query_.traces_only || !ids_.empty()) {
      SCHAAS_RETURN_IF_ERROR(search(crew));
    } else {
      tell(without_entries(subject_));
    }
    crew.finish();
    SCHAAS_RETURN_IF_ERROR(cancellation_.check("compilation"));
    if (made_ == 0 && first_failure_) return *first_failure_;
    finished_.hit = search_hit_ && finished_.compiled == 0;
    finished_.seconds = seconds_since(start_);
    tell(finished_);
    return finished_;
  }

 private:
  struct Wanted {
    std::string id;
    schedule::Trace trace;  // canonical
    std::string isa;
  };

  // Traces are checked before any work, so that a wrong one costs nothing.
  Result<void> sort_traces() {
    if (query_.search_only) return {};
    for (const auto& text : query_.traces) {
      if (is_frontier_id(text) || is_gpu_id(text)) {
        ids_.push_back(text);
        continue;
      }
      SCHAAS_ASSIGN_OR_RETURN(schedule::Trace trace, canonical_trace(text, subject_));
      direct_.push_back({text, std::move(trace), query_.isa});
    }
    return {};
  }

  Result<void> search(CompileCrew& crew) {
    const FrontierQuery question{subject_.canonical, subject_.options,
                                 query_.no_cache ? Source::made : Source::stored_or_made, urgency()};
    // Only a product has parts to be searched first; of programs all schedules are listed at once.
    const problem::Problem& problem = subject_.canonical.problem;
    const bool parted = problem.profile == problem::Profile::standard && problem::is_contraction(problem);
    if (parted && !for_gpu_alone() && !query_.search_only && !query_.traces_only && !is_stored(question)) {
      crew.add([this] { search_parts(); });
    }
    SCHAAS_ASSIGN_OR_RETURN(const FrontierAnswer answer, search_whole(question));
    search_hit_ = answer.hit;
    SCHAAS_ASSIGN_OR_RETURN(NamedFrontier out, named(*answer.frontier, subject_));
    out.hit = answer.hit;
    if (options_.measurements != nullptr) {
      SCHAAS_ASSIGN_OR_RETURN(out.measurements, measured(subject_, query_.host, *options_.measurements));
    }
    if (query_.wins) add_wins(out, *answer.frontier, subject_.names, cancellation_);
    std::optional<GpuSchedules> gpu;
    if (query_.gpu || std::any_of(ids_.begin(), ids_.end(), is_gpu_id)) {
      gpu.emplace(*answer.frontier, subject_, query_.deterministic);
      SCHAAS_ASSIGN_OR_RETURN(out.gpu, gpu->named());
    }
    SCHAAS_ASSIGN_OR_RETURN(const std::vector<Wanted> wanted, choose(*answer.frontier, gpu));
    tell(out);
    // The most wanted kernel is not there for as long as the compiler takes for all its code: little code
    // first, and nothing else beside it.
    if (!wanted.empty() && wanted.front().isa != "cuda" && !drafted_ && !crowded() &&
        !is_stored(wanted.front()))
      make_draft(wanted.front());
    for (const auto& one : wanted) order(crew, one);
    return {};
  }

  Result<FrontierAnswer> search_whole(const FrontierQuery& question) {
    struct Over {  // also when the search throws: a compile thread may be waiting
      Finish& searched;
      ~Over() { searched.set(); }
    };
    const Over over{searched_};
    const auto progress = [this](const StageProgress& stage) { tell_progress(stage); };
    return subject_.names.told(provider_.frontier(question, progress, cancellation_));
  }

  bool is_stored(FrontierQuery question) {
    if (question.source == Source::made) return false;
    question.source = Source::stored;
    return provider_.frontier(question, {}, cancellation_).ok();
  }

  // On a thread of the crew, while the search takes its time: frontiers of growing parts of the space and
  // their kernels, best first, so that the client soon has something to run and then something better.
  void search_parts() {
    if (searched_.wait_for(options_.head_start) || crowded()) return;
    std::vector<schedule::Trace> known;
    for (std::size_t p = 0; p < std::size(parts); ++p) {
      frontier::Options options = subject_.options;
      options.operand_orders = parts[p].operand_orders;
      options.memory_depth =
          options.stage1 ? std::min(options.memory_depth, parts[p].memory_depth) : parts[p].memory_depth;
      options.stage1 = true;
      options.members_per_class = 1;
      auto found = frontier::compute(subject_.canonical.problem, options, {}, cancellation_);
      if (!found.ok()) return;  // the search of the whole says why
      for (auto& survivor : found->survivors) survivor.id.replace(0, 1, "p" + std::to_string(p + 1) + ".");
      auto out = named(*found, subject_);
      if (!out.ok() || searched_.is_set()) return;
      out->partial = true;
      tell(*out);
      for (const std::size_t s : representatives(*found, subject_.canonical.problem, parts[p].kernels)) {
        const schedule::Trace& trace = found->survivors[s].traces.front();
        if (searched_.is_set()) return;
        if (std::find(known.begin(), known.end(), trace) != known.end()) continue;
        known.push_back(trace);
        const Wanted wanted{found->survivors[s].id, trace, query_.isa};
        if (!drafted_.exchange(true)) make_draft(wanted);
        make(wanted);
      }
    }
  }

  // Frontier schedules to compile: those asked for by id, then the representatives, then some for GPUs.
  Result<std::vector<Wanted>> choose(const frontier::Frontier& found,
                                     const std::optional<GpuSchedules>& gpu) const {
    std::vector<Wanted> wanted;
    if (query_.search_only) return wanted;
    const auto add = [&](const std::string& id, const schedule::Trace& trace, const std::string& isa) {
      const auto same = [&](const Wanted& other) { return other.id == id; };
      if (std::none_of(wanted.begin(), wanted.end(), same)) wanted.push_back({id, trace, isa});
    };
    for (const auto& id : ids_) {
      if (is_gpu_id(id)) {
        SCHAAS_ASSIGN_OR_RETURN(const auto schedule, gpu->schedule(id));
        add(id, schedule.point.trace, "cuda");
        continue;
      }
      SCHAAS_ASSIGN_OR_RETURN(const frontier::Survivor* survivor, survivor_named(found, id));
      add(survivor->id, survivor->traces.front(), query_.isa);
    }
    if (query_.traces_only) return wanted;
    if (!for_gpu_alone()) {
      for (const std::size_t s : representatives(found, subject_.canonical.problem, query_.kernels))
        add(found.survivors[s].id, found.survivors[s].traces.front(), query_.isa);
    } else if (gpu->empty() && direct_.empty() && ids_.empty()) {
      return no_gpu_schedule();
    }
    if (!query_.gpu) return wanted;
    for (const auto& schedule : gpu->likeliest(std::min(query_.kernels, most_gpu_kernels)))
      add(schedule.id, schedule.point.trace, "cuda");
    return wanted;
  }

  bool for_gpu_alone() const { return query_.isa == "cuda"; }

  void order(CompileCrew& crew, const Wanted& wanted) {
    crew.add([this, wanted] { make(wanted); });
  }

  bool is_stored(const Wanted& wanted) {
    return !query_.no_cache && provider_.kernel(query_for(wanted, false, Source::stored), cancellation_).ok();
  }

  // On a thread of the crew. The full kernel tells what is wrong, should anything be.
  void make_draft(const Wanted& wanted) {
    if (!cancellation_.check("compilation").ok()) return;
    const auto kernel = made(wanted, true);
    if (kernel.ok()) tell(*kernel);
  }

  // On a thread of the crew.
  void make(const Wanted& wanted) {
    if (!cancellation_.check("compilation").ok()) return;
    const auto kernel = made(wanted, false);
    if (kernel.ok()) {
      tell(*kernel);
    } else {
      tell(KernelFailure{wanted.id, schedule::print(subject_.names.to_user(wanted.trace)), kernel.error()});
    }
  }

  KernelQuery query_for(const Wanted& wanted, bool draft, Source source) const {
    const toolchain::Target target{wanted.isa, draft};
    return {subject_.canonical,
            wanted.trace,
            target,
            pipeline::kernel_key(subject_.canonical, wanted.trace, target, toolchain_),
            source,
            urgency()};
  }

  Urgency urgency() const { return query_.awaited ? Urgency::awaited : Urgency::precomputed; }
  bool crowded() const { return options_.crowded && options_.crowded(); }

  Result<NamedKernel> made(const Wanted& wanted, bool draft) {
    const KernelQuery question =
        query_for(wanted, draft, query_.no_cache ? Source::made : Source::stored_or_made);
    const UserNames& names = subject_.names;
    SCHAAS_ASSIGN_OR_RETURN(const KernelAnswer answer,
                            names.told(provider_.kernel(question, cancellation_)));
    SCHAAS_ASSIGN_OR_RETURN(const auto tree, schedule::apply(wanted.trace, subject_.canonical.problem));
    SCHAAS_ASSIGN_OR_RETURN(const auto with_copies,
                            schedule::problem_of(wanted.trace, subject_.canonical.problem));
    SCHAAS_ASSIGN_OR_RETURN(const auto users,
                            schedule::problem_of(names.to_user(wanted.trace), names.problem()));
    NamedKernel kernel;
    kernel.id = wanted.id;
    kernel.kernel_key = question.kernel_key;
    kernel.trace = schedule::print(names.to_user(wanted.trace));
    kernel.isa = wanted.isa;
    SCHAAS_ASSIGN_OR_RETURN(kernel.tree, names.tree(wanted.trace));
    kernel.cost = cost::of(tree, with_copies);
    kernel.variables = cost::variables_of(users);
    kernel.time = cost::print_time(kernel.cost, kernel.variables);
    kernel.memory = cost::print_memory(kernel.cost, kernel.variables);
    kernel.digest = answer.digest;
    kernel.signature = answer.signature;
    kernel.compile_seconds = answer.seconds;
    kernel.hit = answer.hit;
    kernel.draft = draft;
    return kernel;
  }

  // The search may report thousands of times a second; nobody reads more than some twenty.
  void tell_progress(const StageProgress& stage) {
    const auto now = Steady::now();
    if (stage.stage == last_stage_ && now - last_progress_ < std::chrono::milliseconds(50)) return;
    last_stage_ = stage.stage;
    last_progress_ = now;
    tell(stage);
  }

  // Any thread; one event at a time.
  void tell(const Event& event) {
    const std::lock_guard lock(mutex_);
    if (const auto* frontier = std::get_if<NamedFrontier>(&event)) {
      if (frontier->partial && whole_told_) return;
      whole_told_ = !frontier->partial;
    }
    if (const auto* kernel = std::get_if<NamedKernel>(&event); kernel && !kernel->draft) {
      ++made_;
      finished_.compiled += kernel->hit ? 0 : 1;
      finished_.compile_seconds += kernel->hit ? 0 : kernel->compile_seconds;
    }
    if (const auto* failure = std::get_if<KernelFailure>(&event)) {
      ++finished_.failed;
      if (!first_failure_) first_failure_ = failure->diagnostic;
    }
    if (!sink_(event)) cancellation_.cancel();
  }

  const Subject subject_;
  const ScheduleQuery& query_;
  KernelProvider& provider_;
  const toolchain::Toolchain& toolchain_;
  const Sink& sink_;
  Cancellation& cancellation_;
  const SchedulingOptions& options_;
  const Steady::time_point start_ = Steady::now();

  std::vector<Wanted> direct_;
  std::vector<std::string> ids_;
  bool search_hit_ = true;  // true also when no search was asked for
  Finish searched_;
  std::atomic<bool> drafted_{!query_.awaited};  // a draft was begun, or is not wanted
  std::string last_stage_;
  Steady::time_point last_progress_;

  std::mutex mutex_;  // guards what follows and the sink
  Finished finished_;
  bool whole_told_ = false;
  std::uint32_t made_ = 0;
  std::optional<Diagnostic> first_failure_;
};

Result<void> check_limits(const ScheduleQuery& query, std::size_t most_kernels) {
  SCHAAS_RETURN_IF_ERROR(check_isa(query.isa));
  if (query.kernels > most_kernels) {
    return support::invalid("kernels", std::to_string(query.kernels) + " kernels are asked for; at most " +
                                           std::to_string(most_kernels) + " are made for one request");
  }
  if (query.traces.size() > RequestLimits::traces) {
    return support::invalid("traces",
                            std::to_string(query.traces.size()) + " traces are asked for; at most " +
                                std::to_string(RequestLimits::traces) + " are compiled for one request");
  }
  return {};
}

}  // namespace

const std::vector<std::string>& known_isas() {
  static const std::vector<std::string> isas = {"x86-64-v2", "x86-64-v3", "x86-64-v4", "generic", "native"};
  return isas;
}

Result<void> check_isa(const std::string& isa) {
  if (isa == support::native_isa()) return {};
  if (support::is_native(isa)) {
    return support::noting(
        support::unsupported("isa", "`" + isa +
                                        "` is another processor than this server's, which compiles for `" +
                                        support::native_isa() + "`"),
        "a server on that machine compiles for it; `x86-64-v4` and the others run on every processor that "
        "has them");
  }
  auto known = known_isas();
  known.push_back("cuda");
  if (std::find(known.begin(), known.end(), isa) != known.end()) return {};
  return support::invalid("isa", "unknown instruction set `" + isa +
                                     "`; expected x86-64-v2, x86-64-v3, x86-64-v4, generic, native or cuda" +
                                     support::did_you_mean(isa, known));
}

Scheduling::Scheduling(std::shared_ptr<KernelProvider> provider,
                       std::shared_ptr<const toolchain::Toolchain> toolchain, SchedulingOptions options)
    : provider_(std::move(provider)), toolchain_(std::move(toolchain)), options_(options) {}

Result<Finished> Scheduling::schedule(const ScheduleQuery& query, const Sink& sink,
                                      Cancellation& cancellation) {
  SCHAAS_RETURN_IF_ERROR(check_limits(query, options_.most_kernels));
  SCHAAS_ASSIGN_OR_RETURN(Subject subject,
                          subject_of(query.problem, query.bounds, options_.search, cancellation));
  if (query.no_stage2) SCHAAS_RETURN_IF_ERROR(leave_out_stage2(subject));
  return Work(std::move(subject), query, *provider_, *toolchain_, sink, cancellation, options_).run();
}

Result<void> Scheduling::check(const ScheduleQuery& query, const Cancellation& cancellation) {
  SCHAAS_RETURN_IF_ERROR(check_limits(query, options_.most_kernels));
  SCHAAS_ASSIGN_OR_RETURN(Subject subject,
                          subject_of(query.problem, query.bounds, options_.search, cancellation));
  for (const auto& trace : query.traces) {
    if (!is_frontier_id(trace) && !is_gpu_id(trace)) SCHAAS_RETURN_IF_ERROR(canonical_trace(trace, subject));
  }
  return query.no_stage2 ? leave_out_stage2(subject) : Result<void>();
}

Result<NamedFrontier> Scheduling::lookup(const problem::ProblemText& text, const SearchBounds& bounds,
                                         const Cancellation& cancellation) {
  SCHAAS_ASSIGN_OR_RETURN(const Subject subject, subject_of(text, bounds, options_.search, cancellation));
  SCHAAS_ASSIGN_OR_RETURN(
      const FrontierAnswer answer,
      subject.names.told(
          provider_->frontier({subject.canonical, subject.options, Source::stored}, {}, cancellation)));
  return named(*answer.frontier, subject);
}

Result<void> Scheduling::report(const ReportQuery& query, const Cancellation& cancellation) {
  SCHAAS_ASSIGN_OR_RETURN(const Subject subject,
                          subject_of(query.problem, {}, options_.search, cancellation));
  if (options_.measurements == nullptr) return {};
  return keep(query.measurements, query.host, subject, *options_.measurements);
}

Result<std::vector<NamedExplanation>> Scheduling::explain(const ExplainQuery& query,
                                                          const Cancellation& cancellation) {
  return server::explain(query, *provider_, options_.search, cancellation);
}

Result<std::string> Scheduling::emit(const EmitQuery& query, const Cancellation& cancellation) {
  SCHAAS_RETURN_IF_ERROR(check_isa(query.isa));
  SCHAAS_ASSIGN_OR_RETURN(const pipeline::Language language, pipeline::parse_language(query.language));
  SCHAAS_ASSIGN_OR_RETURN(const Subject subject,
                          subject_of(query.problem, query.bounds, options_.search, cancellation));
  const auto print = [&](const schedule::Trace& canonical) {
    return pipeline::emit(subject.names.as_written(), subject.names.to_user(canonical), language, query.isa);
  };
  const bool automatic = query.schedule.empty() || query.schedule == "auto";
  if (!automatic && !is_frontier_id(query.schedule) && !is_gpu_id(query.schedule)) {
    SCHAAS_ASSIGN_OR_RETURN(const schedule::Trace trace, canonical_trace(query.schedule, subject));
    return print(trace);
  }
  const auto unheard = [](const frontier::Stage&) {};
  SCHAAS_ASSIGN_OR_RETURN(
      const FrontierAnswer answer,
      subject.names.told(provider_->frontier({subject.canonical, subject.options}, unheard, cancellation)));
  if (automatic) {
    const auto best = representatives(*answer.frontier, subject.canonical.problem, 1);
    SCHAAS_CHECK(!best.empty(), "an empty frontier");
    return print(answer.frontier->survivors[best.front()].traces.front());
  }
  if (is_gpu_id(query.schedule)) {
    const GpuSchedules gpu(*answer.frontier, subject, false);
    SCHAAS_ASSIGN_OR_RETURN(const auto schedule, gpu.schedule(query.schedule));
    return print(schedule.point.trace);
  }
  SCHAAS_ASSIGN_OR_RETURN(const frontier::Survivor* survivor,
                          survivor_named(*answer.frontier, query.schedule));
  return print(survivor->traces.front());
}

}  // namespace schaas::server
