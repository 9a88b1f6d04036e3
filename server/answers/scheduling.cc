#include "server/answers/scheduling.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "compiler/concrete_notation/thread_mapping.h"
#include "compiler/pipeline/pipeline.h"
#include "compiler/pipeline/variants.h"
#include "compiler/problem/rewrites/factors.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/support/nearest_name.h"
#include "compiler/support/schedule_id.h"
#include "server/answers/explanation.h"
#include "server/answers/gpu_schedules.h"
#include "server/answers/measurements.h"
#include "server/answers/prepared_problem.h"
#include "server/answers/representatives.h"
#include "server/answers/terms.h"
#include "server/answers/thread_pool.h"

// One request from query to events. The search runs on the request's own thread, compilations on a pool;
// events of both pass through `send`, one at a time. Kernels come early in three ways. Traces that need no
// search are compiled beside it. After a delay, growing parts of the space are searched on a thread of the
// pool. The best schedules of each are compiled while the whole search goes on. The first kernel is a
// baseline kernel. Where the frontier is stored, no parts are searched. A sink that returns false cancels the
// work. Every wait ends: the search sets `searched_` also when it throws. An exception on a pool thread
// reaches the request's thread by ThreadPool::finish.
// Names are canonical inside and the user's outside; `prepared_.names` translates what is sent.
namespace schaas::server {
namespace {

using support::Cancellation;
using support::Diagnostic;
using support::Result;
using Steady = std::chrono::steady_clock;

double seconds_since(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

/// Size of a part of the space that is searched before the whole, in increasing order.
struct Part {
  std::size_t operand_orders;
  int memory_depth;
  std::size_t kernels;  ///< compiled from its frontier at most
  double seconds;       ///< budget of its search
};
constexpr Part parts[] = {{1, 1, 1, 0.1}, {4, 2, 2, 1}, {64, 2, 4, 10}};
/// Least budget of a part of a program's space, which is small by its number of schedules. It takes a tenth
/// of that time where no compiler runs beside; ended early, it may know only nests over all elements.
constexpr double min_program_seconds = 0.5;
/// Time that parts wait for other requests of the client, which takes a few first kernels.
constexpr std::chrono::milliseconds max_wait_before_parts{300};
/// GPU kernels compiled before the client's sizes are known. nvcc takes seconds; the client requests its own
/// choice by id.
constexpr std::size_t max_gpu_kernels = 3;
/// Event set by the search when it ends; a compilation thread waits for it.
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
  // A wait of no time, so that one condition decides both.
  bool is_set() { return wait_for(std::chrono::milliseconds(0)); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

// One schedule request in progress.
class Work {
 public:
  Work(PreparedProblem prepared, const ScheduleQuery& query, KernelProvider& provider,
       const toolchain::Toolchain& toolchain, const Sink& sink, Cancellation& cancellation,
       const SchedulingOptions& options)
      : prepared_(std::move(prepared)),
        query_(query),
        provider_(provider),
        toolchain_(toolchain),
        sink_(sink),
        cancellation_(cancellation),
        options_(options) {}

  Result<Finished> run() {
    SCHAAS_RETURN_IF_ERROR(sort_traces());
    ThreadPool pool(options_.compile_threads);
    // Schedules that need no search are compiled beside it: the first usable kernel comes early.
    for (const auto& wanted : direct_) order(pool, wanted);
    if (!query_.traces_only || !ids_.empty()) {
      SCHAAS_RETURN_IF_ERROR(search(pool));
    } else {
      send(without_entries(prepared_));
    }
    pool.finish();
    SCHAAS_RETURN_IF_ERROR(cancellation_.check("compilation"));
    // Some kernel is enough for success; failures of others were sent as events.
    if (made_ == 0 && first_failure_) return *first_failure_;
    finished_.hit = search_hit_ && finished_.compiled == 0;
    finished_.seconds = seconds_since(start_);
    send(finished_);
    return finished_;
  }

 private:
  struct Wanted {
    std::string id;
    schedule::Trace trace;  // canonical
    std::string isa;
  };

  // Parses and checks the requested traces before any work.
  Result<void> sort_traces() {
    if (query_.search_only) return {};
    for (const auto& text : query_.traces) {
      if (support::is_entry_id(text) || support::is_gpu_id(text)) {
        ids_.push_back(text);
        continue;
      }
      SCHAAS_ASSIGN_OR_RETURN(schedule::Trace trace, canonical_trace(text, prepared_));
      direct_.push_back({text, std::move(trace), query_.isa});
    }
    return {};
  }

  Result<void> search(ThreadPool& pool) {
    const FrontierQuery question{prepared_.canonical, prepared_.options,
                                 query_.no_cache ? Source::made : Source::stored_or_made, priority(),
                                 query_.requester};
    if (frontier::has_parts(prepared_.canonical.problem) && !for_gpu_alone() && !query_.search_only &&
        !query_.traces_only && !is_stored(question)) {
      pool.add([this] { search_parts(); });
    }
    // From here on the frontier is known, by search or from the store; ids of schedules can be resolved.
    SCHAAS_ASSIGN_OR_RETURN(const FrontierAnswer answer, search_whole(question));
    search_hit_ = answer.hit;
    SCHAAS_ASSIGN_OR_RETURN(answers::Frontier out, named(*answer.frontier, prepared_));
    out.hit = answer.hit;
    if (options_.measurements != nullptr) {
      SCHAAS_ASSIGN_OR_RETURN(out.measurements, measured(prepared_, query_.host, *options_.measurements));
    }
    if (query_.wins) {
      const Cancellation budget(cancellation_, Cancellation::Clock::now() + options_.win_budget);
      add_wins(out, *answer.frontier, prepared_, budget);
    }
    std::optional<GpuSchedules> gpu;
    if (query_.gpu || std::any_of(ids_.begin(), ids_.end(), support::is_gpu_id)) {
      gpu.emplace(*answer.frontier, prepared_, query_.deterministic);
      SCHAAS_ASSIGN_OR_RETURN(out.gpu, gpu->named());
    }
    SCHAAS_ASSIGN_OR_RETURN(std::vector<Wanted> wanted, choose(*answer.frontier, gpu));
    send(out);
    // The full kernel takes the compiler long, so a baseline kernel of little code comes first, with nothing
    // beside it.
    const bool has_first = !wanted.empty() && !support::is_for_gpu(wanted.front().isa) && !baseline_begun_ &&
                           waiting_first_kernels() < options_.max_waiting_first_kernels &&
                           !is_stored(wanted.front());
    // The full kernel tells why there is none.
    const bool has_baseline = has_first ? compile_baseline(wanted.front()) : baseline_begun_.load();
    const bool is_enough = query_.first_kernel_only && ids_.empty() && has_baseline;
    if (is_enough) wanted.clear();
    if (!search_hit_ && !is_enough && (has_first || baseline_begun_)) let_first_kernels_pass();
    for (const auto& one : wanted) order(pool, one);
    if (!search_hit_ && !wanted.empty()) send_compiled();
    return {};
  }

  /// Searches the whole space, with progress, and releases the thread that searches parts.
  Result<FrontierAnswer> search_whole(const FrontierQuery& question) {
    struct Over {  // also when the search throws: a compilation thread may wait
      Finish& searched;
      ~Over() { searched.set(); }
    };
    const Over over{searched_};
    const auto progress = [this](const StageProgress& stage) { send_progress(stage); };
    return frontier_of(prepared_, provider_, question, progress, cancellation_);
  }

  /// Asks for the stored frontier alone; costs a look-up, which the whole search would make as well.
  bool is_stored(FrontierQuery question) {
    if (question.source == Source::made) return false;
    question.source = Source::stored;
    return provider_.frontier(question, {}, cancellation_).ok();
  }

  // Searches growing parts of the space and compiles their best kernels while the whole search runs. The
  // client soon has a kernel, and then a better one, unless others wait. Runs on a thread of the pool.
  void search_parts() {
    if (searched_.wait_for(options_.partial_search_delay) || !others_have_passed()) return;
    std::vector<schedule::Trace> known;
    const problem::Problem& problem = prepared_.canonical.problem;
    const bool is_product = problem::is_one_product(problem);
    for (std::size_t p = 0; p < std::size(parts); ++p) {
      if (searched_.is_set() || !cancellation_.check("searching parts").ok()) return;
      frontier::Options options = prepared_.options;
      options.operand_orders = parts[p].operand_orders;
      options.memory_depth =
          options.stage1 ? std::min(options.memory_depth, parts[p].memory_depth) : parts[p].memory_depth;
      // Bounds the rank of temporaries below the request's own bound, which keeps the part small.
      options.stage1 = true;
      options.members_per_class = 1;
      const double whole = prepared_.options.search_seconds;
      const double part = is_product ? parts[p].seconds : std::max(parts[p].seconds, min_program_seconds);
      options.search_seconds = whole > 0 ? std::min(whole, part) : part;
      auto found = frontier::compute(problem, options, {}, cancellation_);
      // A larger part may have what this one lacks; the search of the whole reports the error.
      if (!found.ok()) continue;
      // Describing a schedule takes milliseconds, so a part is sent as what is compiled of it. Ids of parts
      // are their own, "p1.1": those of the whole frontier mean other schedules.
      std::vector<frontier::Survivor> kept;
      for (const std::size_t s : representatives(*found, problem, parts[p].kernels)) {
        kept.push_back(std::move(found->survivors[s]));
        kept.back().id = "p" + std::to_string(p + 1) + "." + std::to_string(kept.size());
      }
      found->survivors = std::move(kept);
      if (searched_.is_set()) return;
      pipeline::add_variants(*found, problem);
      auto out = named(*found, prepared_);
      if (!out.ok() || searched_.is_set()) return;
      out->partial = true;
      out->complete = false;
      send(*out);
      for (const frontier::Survivor& survivor : found->survivors) {
        const schedule::Trace& trace = survivor.traces.front();
        if (searched_.is_set()) return;
        if (std::find(known.begin(), known.end(), trace) != known.end()) continue;
        known.push_back(trace);
        const Wanted wanted{survivor.id, trace, query_.isa};
        if (!baseline_begun_.exchange(true) && !compile_baseline(wanted)) baseline_begun_ = false;
        if (overloaded()) return;
        make(wanted);
      }
    }
  }

  /// Waits while requests of the client wait for a permit or their first kernel, this one's search among
  /// them. Most have it soon. Where long searches hold every permit, a part brings the first kernel all the
  /// same. False: the whole was searched, or too many wait.
  bool others_have_passed() {
    const auto end = Steady::now() + max_wait_before_parts;
    while (waiting_first_kernels() > 0 && Steady::now() < end)
      if (searched_.wait_for(std::chrono::milliseconds(10))) return false;
    return waiting_first_kernels() < options_.max_waiting_first_kernels;
  }

  // Returns the schedules to compile: those requested by id, then the representatives, then some for GPUs.
  Result<std::vector<Wanted>> choose(const frontier::Frontier& found,
                                     const std::optional<GpuSchedules>& gpu) const {
    std::vector<Wanted> wanted;
    if (query_.search_only) return wanted;
    const auto add = [&](const std::string& id, const schedule::Trace& trace, const std::string& isa) {
      const auto same = [&](const Wanted& other) { return other.id == id; };
      if (std::none_of(wanted.begin(), wanted.end(), same)) wanted.push_back({id, trace, isa});
    };
    for (const auto& id : ids_) {
      if (support::is_gpu_id(id)) {
        SCHAAS_ASSIGN_OR_RETURN(const auto schedule, gpu->schedule(id));
        add(id, schedule.point.trace, support::gpu_isa);
        continue;
      }
      SCHAAS_ASSIGN_OR_RETURN(const frontier::Survivor* survivor, survivor_named(found, id));
      add(survivor->id, survivor->traces.front(), query_.isa);
    }
    if (query_.traces_only) return wanted;
    if (!for_gpu_alone()) {
      const std::size_t limit = query_.first_kernel_only ? 1 : query_.kernels;
      for (const std::size_t s : representatives(found, prepared_.canonical.problem, limit))
        add(found.survivors[s].id, found.survivors[s].traces.front(), query_.isa);
    } else if (gpu->empty() && direct_.empty() && ids_.empty()) {
      return no_gpu_schedule(prepared_.canonical.problem);
    }
    if (!query_.gpu || query_.first_kernel_only) return wanted;
    for (const auto& schedule : gpu->likeliest(std::min(query_.kernels, max_gpu_kernels)))
      add(schedule.id, schedule.point.trace, support::gpu_isa);
    return wanted;
  }

  bool for_gpu_alone() const { return support::is_for_gpu(query_.isa); }

  void order(ThreadPool& pool, const Wanted& wanted) {
    ++ordered_;
    pool.add([this, wanted] {
      const bool stored = make(wanted);
      ++ended_;
      if (!stored) send_compiled();
    });
  }

  void send_compiled() {
    StageProgress stage;
    stage.stage = "compiling kernels";
    stage.done = ended_;
    stage.of = ordered_;
    send(stage);
  }

  bool is_stored(const Wanted& wanted) {
    return !query_.no_cache && provider_.kernel(query_for(wanted, false, Source::stored), cancellation_).ok();
  }

  // Compiles the baseline kernel on the calling thread. The full kernel reports any error. True: it was sent.
  bool compile_baseline(const Wanted& wanted) {
    if (!cancellation_.check("compilation").ok()) return false;
    const auto kernel = made(wanted, true);
    if (kernel.ok()) send(*kernel);
    return kernel.ok();
  }

  // Compiles a kernel on a thread of the pool and sends it, or its failure. True: it was stored.
  bool make(const Wanted& wanted) {
    if (!cancellation_.check("compilation").ok()) return false;
    const auto kernel = made(wanted, false);
    if (kernel.ok()) {
      send(*kernel);
      return kernel->hit;
    }
    send(KernelFailure{wanted.id, schedule::print(prepared_.names.to_user(wanted.trace)), wanted.isa,
                       kernel.error()});
    return false;
  }

  KernelQuery query_for(const Wanted& wanted, bool baseline, Source source) const {
    const toolchain::Target target{wanted.isa, baseline};
    return {prepared_.canonical,
            wanted.trace,
            target,
            pipeline::kernel_key(prepared_.canonical, wanted.trace, target, toolchain_),
            source,
            baseline ? Priority::first : priority(),
            query_.requester};
  }

  Priority priority() const { return query_.interactive ? Priority::interactive : Priority::batch; }
  bool overloaded() const { return options_.overloaded && options_.overloaded(); }
  std::size_t waiting_first_kernels() const {
    return options_.waiting_first_kernels ? options_.waiting_first_kernels(query_.requester.client) : 0;
  }

  /// Waits while other requests of the client wait for their first kernel, which takes a tenth of what a full
  /// one does.
  void let_first_kernels_pass() const {
    const auto end = Steady::now() + options_.max_delay_for_others;
    while (waiting_first_kernels() > 0 && Steady::now() < end && cancellation_.check("compilation").ok())
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

  /// Gets one kernel from the providers and describes it in the user's names, with costs and tree.
  Result<answers::Kernel> made(const Wanted& wanted, bool baseline) {
    const KernelQuery question =
        query_for(wanted, baseline, query_.no_cache ? Source::made : Source::stored_or_made);
    const UserNames& names = prepared_.names;
    SCHAAS_ASSIGN_OR_RETURN(const KernelAnswer answer,
                            kernel_of(prepared_, provider_, question, cancellation_));
    SCHAAS_ASSIGN_OR_RETURN(const auto tree, schedule::apply(wanted.trace, prepared_.canonical.problem));
    SCHAAS_ASSIGN_OR_RETURN(const auto with_copies,
                            schedule::problem_of(wanted.trace, prepared_.canonical.problem));
    SCHAAS_ASSIGN_OR_RETURN(const auto users,
                            schedule::problem_of(names.to_user(wanted.trace), names.problem()));
    answers::Kernel kernel;
    kernel.id = wanted.id;
    kernel.kernel_key = question.kernel_key;
    kernel.trace = schedule::print(names.to_user(wanted.trace));
    kernel.isa = wanted.isa;
    SCHAAS_ASSIGN_OR_RETURN(kernel.tree, names.tree(wanted.trace));
    const cost::Cost cost = cost::of(tree, with_copies);
    const auto memory = cost::memory_terms(tree, with_copies);
    const cost::Variables variables = names.variables_of(users);
    kernel.time = cost::print_time(cost, variables);
    kernel.memory = cost::print_memory(memory, variables);
    kernel.time_terms = time_terms(cost, variables);
    kernel.memory_terms = memory_terms(memory, variables);
    kernel.digest = answer.digest;
    kernel.signature = answer.signature;
    kernel.compile_seconds = answer.seconds;
    kernel.hit = answer.hit;
    kernel.baseline = baseline;
    kernel.nondeterministic = concrete_notation::is_nondeterministic(tree);
    return kernel;
  }

  // Sends at most twenty progress events a second: the search may report thousands.
  void send_progress(const StageProgress& stage) {
    const auto now = Steady::now();
    if (stage.stage == last_stage_ && now - last_progress_ < std::chrono::milliseconds(50)) return;
    last_stage_ = stage.stage;
    last_progress_ = now;
    send(stage);
  }

  // Sends one event at a time, from any thread.
  void send(const Event& event) {
    const std::lock_guard lock(mutex_);
    if (const auto* frontier = std::get_if<answers::Frontier>(&event)) {
      // A part that was searched too late would replace the whole in the client.
      if (frontier->partial && whole_sent_) return;
      whole_sent_ = !frontier->partial;
    }
    if (const auto* kernel = std::get_if<answers::Kernel>(&event); kernel && !kernel->baseline) {
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

  const PreparedProblem prepared_;
  const ScheduleQuery& query_;
  KernelProvider& provider_;
  const toolchain::Toolchain& toolchain_;
  const Sink& sink_;
  Cancellation& cancellation_;
  const SchedulingOptions& options_;
  const Steady::time_point start_ = Steady::now();

  std::vector<Wanted> direct_;
  std::vector<std::string> ids_;
  bool search_hit_ = true;  // true also when no search was requested
  Finish searched_;
  std::atomic<bool> baseline_begun_{!query_.interactive};  // a baseline kernel was begun, or is not wanted
  std::atomic<std::size_t> ordered_{0}, ended_{0};  // kernels given to the pool, and those it has tried
  std::string last_stage_;
  Steady::time_point last_progress_;

  std::mutex mutex_;  // guards the members below and the sink
  Finished finished_;
  bool whole_sent_ = false;
  std::uint32_t made_ = 0;
  std::optional<Diagnostic> first_failure_;
};

/// Checks an instruction set. Native kernels of another processor are served where some are stored.
Result<void> check_target(const std::string& isa, const toolchain::Toolchain& toolchain) {
  SCHAAS_RETURN_IF_ERROR(check_isa(isa));
  return support::is_native(isa) ? toolchain.check({isa}) : Result<void>();
}

/// Checks the instruction set and the numbers of a query before any work.
Result<void> check_limits(const ScheduleQuery& query, std::size_t max_kernels,
                          const toolchain::Toolchain& toolchain) {
  SCHAAS_RETURN_IF_ERROR(check_target(query.isa, toolchain));
  if (query.kernels > max_kernels) {
    return support::invalid("kernels", std::to_string(query.kernels) + " kernels are asked for; at most " +
                                           std::to_string(max_kernels) + " are made for one request");
  }
  if (query.traces.size() > RequestLimits::traces) {
    return support::invalid("traces",
                            std::to_string(query.traces.size()) + " traces are asked for; at most " +
                                std::to_string(RequestLimits::traces) + " are compiled for one request");
  }
  return {};
}

}  // namespace

std::vector<std::string> processor_isas() {
  std::vector<std::string> isas;
  for (const auto& one : support::instruction_sets())
    if (one.device == support::Device::processor) isas.push_back(one.name);
  return isas;
}

namespace {

// Tells whether the name of native code ends as that of this processor does, by a number of as many digits.
bool is_of_a_processor(const std::string& isa) {
  const std::size_t begin = isa.find(':') + 1;
  return isa.size() == support::native_isa().size() &&
         isa.find_first_not_of("0123456789abcdef", begin) == std::string::npos;
}

}  // namespace

Result<void> check_isa(const std::string& isa) {
  const bool is_whole = !support::is_native(isa) || is_of_a_processor(isa);
  if (is_whole && support::find_instruction_set(isa) != nullptr) return {};
  std::vector<std::string> known;
  std::string list;
  for (const auto& one : support::instruction_sets()) {
    known.push_back(one.name);
    list += (&one == &support::instruction_sets().front()  ? ""
             : &one == &support::instruction_sets().back() ? " or "
                                                           : ", ") +
            one.name;
  }
  return support::invalid(
      "isa", "unknown instruction set `" + isa + "`; expected " + list + support::did_you_mean(isa, known));
}

Scheduling::Scheduling(std::shared_ptr<KernelProvider> provider,
                       std::shared_ptr<const toolchain::Toolchain> toolchain, SchedulingOptions options)
    : provider_(std::move(provider)), toolchain_(std::move(toolchain)), options_(options) {}

Result<Finished> Scheduling::schedule(const ScheduleQuery& query, const Sink& sink,
                                      Cancellation& cancellation) {
  SCHAAS_RETURN_IF_ERROR(check_limits(query, options_.max_kernels, *toolchain_));
  SCHAAS_ASSIGN_OR_RETURN(PreparedProblem prepared,
                          prepare(query.problem, query.bounds, options_.search, cancellation));
  if (query.no_stage2) SCHAAS_RETURN_IF_ERROR(leave_out_stage2(prepared));
  return Work(std::move(prepared), query, *provider_, *toolchain_, sink, cancellation, options_).run();
}

Result<void> Scheduling::check(const ScheduleQuery& query, const Cancellation& cancellation) {
  SCHAAS_RETURN_IF_ERROR(check_limits(query, options_.max_kernels, *toolchain_));
  SCHAAS_ASSIGN_OR_RETURN(PreparedProblem prepared,
                          prepare(query.problem, query.bounds, options_.search, cancellation));
  for (const auto& trace : query.traces) {
    if (!support::is_entry_id(trace) && !support::is_gpu_id(trace))
      SCHAAS_RETURN_IF_ERROR(canonical_trace(trace, prepared));
  }
  return query.no_stage2 ? leave_out_stage2(prepared) : Result<void>();
}

Result<answers::Frontier> Scheduling::lookup(const problem::ProblemText& text, const SearchBounds& bounds,
                                             const Cancellation& cancellation) {
  SCHAAS_ASSIGN_OR_RETURN(const PreparedProblem prepared,
                          prepare(text, bounds, options_.search, cancellation));
  SCHAAS_ASSIGN_OR_RETURN(
      const FrontierAnswer answer,
      frontier_of(prepared, *provider_, {prepared.canonical, prepared.options, Source::stored}, {},
                  cancellation));
  return named(*answer.frontier, prepared);
}

Result<void> Scheduling::report(const ReportQuery& query, const Cancellation& cancellation) {
  SCHAAS_ASSIGN_OR_RETURN(const PreparedProblem prepared,
                          prepare(query.problem, {}, options_.search, cancellation));
  if (options_.measurements == nullptr) return {};
  return keep(query.measurements, query.host, prepared, *options_.measurements);
}

Result<std::vector<answers::Explanation>> Scheduling::explain(const ExplainQuery& query,
                                                              const Cancellation& cancellation) {
  return server::explain(query, *provider_, options_.search, cancellation);
}

Result<EmitAnswer> Scheduling::emit(const EmitQuery& query, const Cancellation& cancellation) {
  SCHAAS_RETURN_IF_ERROR(check_target(query.isa, *toolchain_));
  SCHAAS_ASSIGN_OR_RETURN(const pipeline::Language language, pipeline::parse_language(query.language));
  SCHAAS_ASSIGN_OR_RETURN(const auto passes, pipeline::parse_passes(query.passes, query.last_pass, language));
  SCHAAS_ASSIGN_OR_RETURN(const PreparedProblem prepared,
                          prepare(query.problem, query.bounds, options_.search, cancellation));
  const auto print = [&](const schedule::Trace& canonical) -> Result<EmitAnswer> {
    EmitAnswer answer;
    SCHAAS_ASSIGN_OR_RETURN(
        answer.text, pipeline::emit(prepared.names.as_written(), prepared.names.to_user(canonical), language,
                                    query.isa, {.passes = passes, .remarks = &answer.remarks}));
    return answer;
  };
  // Named traces need no search; `auto` and ids of a frontier do.
  const bool automatic = query.schedule.empty() || query.schedule == "auto";
  if (!automatic && !support::is_entry_id(query.schedule) && !support::is_gpu_id(query.schedule)) {
    SCHAAS_ASSIGN_OR_RETURN(const schedule::Trace trace, canonical_trace(query.schedule, prepared));
    return print(trace);
  }
  const auto unheard = [](const frontier::Stage&) {};
  SCHAAS_ASSIGN_OR_RETURN(const FrontierAnswer answer, frontier_of(prepared, *provider_,
                                                                   {.canonical = prepared.canonical,
                                                                    .options = prepared.options,
                                                                    .requester = query.requester},
                                                                   unheard, cancellation));
  if (automatic) {
    const auto best = representatives(*answer.frontier, prepared.canonical.problem, 1);
    SCHAAS_CHECK(!best.empty(), "an empty frontier");
    return print(answer.frontier->survivors[best.front()].traces.front());
  }
  if (support::is_gpu_id(query.schedule)) {
    const GpuSchedules gpu(*answer.frontier, prepared, false);
    SCHAAS_ASSIGN_OR_RETURN(const auto schedule, gpu.schedule(query.schedule));
    return print(schedule.point.trace);
  }
  SCHAAS_ASSIGN_OR_RETURN(const frontier::Survivor* survivor,
                          survivor_named(*answer.frontier, query.schedule));
  return print(survivor->traces.front());
}

}  // namespace schaas::server
