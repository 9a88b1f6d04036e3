#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "client/cli/command_line.h"
#include "client/cli/display.h"
#include "client/cli/gpu_target.h"
#include "client/cli/problem_options.h"
#include "client/cli/progress.h"
#include "client/cli/run_report.h"
#include "client/cli/tensor_options.h"
#include "compiler/support/instruction_set.h"
#include "compiler/support/schedule_id.h"
#include "schaas/bundle.h"
#include "schaas/convert.h"
#include "schaas/gpu.h"
#include "schaas/host.h"
#include "schaas/operands.h"
#include "schaas/session.h"

// schaas run: reads the tensors, asks for the frontier and its kernels, and runs the kernel selected at the
// real sizes. It verifies and writes the result when asked to. Everything that can be wrong is checked before
// anything that takes long. Options, names, and files to write come first, then the texts, by the server,
// then the files to read. Only a device that refuses after the choice sends a run with --target auto back to
// the processor.
namespace schaas::cli {
namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct RunOptions {
  ProblemOptions problem;
  client::SearchOptions search;
  ServerOptions server;
  TensorOptions tensors;
  std::string bundle, target_text = "cpu", isa, schedule = "auto", output;
  Target target = Target::cpu;  ///< parsed target_text
  int threads = 0, repeat = 1;
  bool reuse_structure = false;
  std::optional<double> wait;
  double tune_seconds = 10;
  bool tune = false, tune_exclusive = false, verify = false, no_cache = false, deterministic = false;
};

/// Seconds after which a kernel that has come is enough, where no wait limit is given.
constexpr double usual_wait = 3;

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1e3));
}

// Refuses options that exclude each other.
support::Result<void> check_options(const RunOptions& options) {
  const std::string& schedule = options.schedule;
  if (options.target == Target::cpu && support::is_gpu_id(schedule))
    return support::invalid("target",
                            "`--schedule " + schedule + "` is a schedule for a GPU: `--target cuda` runs it");
  if (options.problem.expression.empty() && options.bundle.empty()) {
    return support::noting(
        support::invalid("command-line", "`schaas run` needs an expression, or `--bundle FILE`"),
        "`schaas run --help` shows its options");
  }
  if (!options.bundle.empty() &&
      (options.target != Target::cpu || options.no_cache || !options.server.address.empty()))
    return support::invalid(
        "bundle-options",
        "--bundle runs kernels of a file on the processor, without a server: leave "
        "--target " +
            std::string(name(options.target == Target::cpu ? Target::cuda : options.target)) +
            ", --no-cache and --server out");
  if (options.tune && options.schedule != "auto") {
    return support::invalid(
        "tune", "--tune measures the schedules of the frontier, so it cannot be combined with `--schedule " +
                    options.schedule + "`");
  }
  if (!options.output.empty()) {
    SCHAAS_RETURN_IF_ERROR(client::kind_of(options.output));
  }
  return {};
}

/// Checks, before anything is computed, that the result fits its file and that the file can be written.
support::Result<void> check_output(const std::string& path, const client::Program& program,
                                   client::ValueType type) {
  if (path.empty()) return {};
  SCHAAS_RETURN_IF_ERROR(
      client::kind_to_write(path, static_cast<int>(program.result().indices.size()), type));
  return client::check_writable(path);
}

/// The texts are checked by the server before a file is read: a long read must not end in a message about a
/// typing error. A frontier that is not stored yet is no error here.
support::Result<void> check_texts(client::KernelSource& source, const client::ProblemText& text) {
  const auto stored = source.lookup(text);
  if (stored.ok() || stored.error().code == "not-stored") return {};
  if (stored.error().code == "contradiction") return {};  // formats that files decide are not known yet
  return stored.error();
}

support::Result<client::Execution> make_ready(const client::Session& session,
                                              const client::ScheduleAnswer& answer,
                                              const client::KernelInfo& info, client::Packed& packed,
                                              const RunOptions& run_options) {
  client::ExecutionOptions options;
  options.threads = run_options.threads;
  options.deterministic = run_options.deterministic;
  // The program changes no operand between runs: copies are made once.
  options.operands_change = false;
  return session.prepare(answer.frontier.arguments, info, packed.arguments(answer.frontier.arguments),
                         options);
}

support::Result<void> run_again(client::Execution& execution) { return execution.rerun_values(); }
support::Result<void> run_again(client::GpuExecution& execution) { return execution.run(); }

template <class Execution>
support::Result<double> timed_run(Execution& execution, client::Packed& packed, bool values_only = false) {
  // An update starts from the same values in each run.
  packed.restart();
  const auto start = Clock::now();
  SCHAAS_RETURN_IF_ERROR(values_only ? run_again(execution) : execution.run());
  return since(start);
}

// Builds the request of a choice; the sizes and the machine are added once the tensors are packed.
client::ChoiceRequest choice_request(const RunOptions& options, const client::ProblemText& text,
                                     const client::Operands& operands) {
  client::ChoiceRequest request;
  request.schedule.problem = text;
  request.schedule.search = options.search;
  if (text.position_bits == "auto")
    request.schedule.problem.position_bits = std::to_string(operands.position_bits);
  request.schedule.isa = options.target == Target::cuda ? support::gpu_isa : client::isa_for(options.isa);
  request.schedule.no_cache = options.no_cache;
  request.schedule.deterministic = options.deterministic;
  request.wanted = options.schedule;
  request.leave_after = milliseconds_of(options.wait.value_or(usual_wait));
  if (options.wait.value_or(0) > 0) request.wait_limit = milliseconds_of(*options.wait);
  return request;
}

/// The result in the storage that was asked for, where its kernel writes another one.
support::Result<void> store_result(const client::Operands& operands, client::Packed& packed,
                                   ProgressLine& progress, RunFacts& facts) {
  client::PackedTensor& result = packed.tensors.at(packed.result);
  const auto wanted = operands.blocks.format(packed.result, operands.result_format);
  if (result.format() == wanted) return {};
  progress.show("storing " + packed.result + " as " + format::print(wanted));
  const auto start = Clock::now();
  facts.kernel_format = format::print(result.format());
  SCHAAS_ASSIGN_OR_RETURN(result, client::convert(result, wanted, {packed.result, facts.threads}));
  facts.store_seconds = since(start);
  facts.first_result_seconds += facts.store_seconds;
  return {};
}

/// The result as the user knows it is verified and written.
support::Result<void> use_result(const RunOptions& options, const client::Operands& operands,
                                 const client::Packed& packed, ProgressLine& progress, RunFacts& facts) {
  if (!options.verify && options.output.empty()) return {};
  const client::PackedTensor* result = &packed.tensors.at(packed.result);
  client::PackedTensor joined;
  if (!operands.blocks.empty()) {
    std::vector<std::int64_t> extents;
    for (const auto& index : facts.program.result().indices) extents.push_back(operands.extents.at(index));
    SCHAAS_ASSIGN_OR_RETURN(joined,
                            operands.blocks.joined(packed.result, *result, extents, operands.result_format));
    result = &joined;
  }
  if (options.verify) {
    progress.show("verifying");
    SCHAAS_ASSIGN_OR_RETURN(facts.verification, verify(facts.program, operands, packed, *result));
  }
  if (options.output.empty()) return {};
  progress.show("writing " + options.output);
  SCHAAS_RETURN_IF_ERROR(client::write(options.output, *result));
  facts.written = options.output;
  return {};
}

// Runs as often as asked; the first run pays for `before`, the copies or the way to the device, too.
template <class Execution>
support::Result<void> run_all(const RunOptions& options, Execution& execution, client::Packed& packed,
                              double before, Clock::time_point start, ProgressLine& progress,
                              RunFacts& facts) {
  for (int run = 0; run < options.repeat; ++run) {
    progress.show("running", static_cast<std::uint64_t>(run), static_cast<std::uint64_t>(options.repeat));
    SCHAAS_ASSIGN_OR_RETURN(const double took, timed_run(execution, packed, options.reuse_structure));
    facts.run_seconds.push_back(run == 0 ? took + before : took);
    if (run == 0) facts.first_result_seconds = since(start);
  }
  return {};
}

support::Result<client::GpuExecution> make_ready(const client::Session& session, const client::Gpu& gpu,
                                                 const std::vector<std::string>& arguments,
                                                 const client::KernelInfo& info, client::Packed& packed) {
  // Levels are brought to the device here, values by each run.
  SCHAAS_ASSIGN_OR_RETURN(const auto kernel, session.load_for_gpu(info));
  return client::GpuExecution::prepare(gpu, kernel, packed.arguments(arguments), arguments);
}

/// The chosen kernel, on the device; times are with the values' way there and back.
support::Result<void> run_on_gpu(const RunOptions& options, const client::Session& session,
                                 const client::Gpu& gpu, client::Packed& packed, Clock::time_point start,
                                 ProgressLine& progress, RunFacts& facts) {
  const auto bring = Clock::now();
  SCHAAS_ASSIGN_OR_RETURN(auto execution,
                          make_ready(session, gpu, facts.arguments, facts.choice.kernel, packed));
  facts.threads = 1;
  facts.device = gpu.name();
  facts.scratch_bytes = execution.scratch_bytes();
  return run_all(options, execution, packed, since(bring), start, progress, facts);
}

// Runs the chosen kernel on the processor. Making the copies counts into the first run.
support::Result<void> run_on_cpu(const RunOptions& options, const client::Session& session,
                                 client::Packed& packed, Clock::time_point start, ProgressLine& progress,
                                 RunFacts& facts) {
  progress.show("downloading " + facts.choice.kernel.id);
  SCHAAS_ASSIGN_OR_RETURN(auto execution,
                          make_ready(session, facts.choice.answer, facts.choice.kernel, packed, options));
  facts.threads = execution.threads();
  facts.copies = execution.copies();
  double copy_seconds = 0;
  for (const auto& copy : facts.copies) copy_seconds += copy.seconds;
  facts.scratch_bytes = execution.scratch_bytes() + execution.shared_bytes() + execution.folding_bytes();
  return run_all(options, execution, packed, copy_seconds, start, progress, facts);
}

/// Binds kernels, of either kind, to be measured.
void add_tuning(const RunOptions& options, const client::Session& session, const Devices& devices,
                client::Packed& packed, ProgressLine& progress, client::ChoiceRequest& request) {
  request.tune_seconds = options.tune_seconds;
  request.tune_exclusive = options.tune_exclusive;
  request.timed_run = [&](const client::ScheduleAnswer& answer,
                          const client::KernelInfo& kernel) -> support::Result<client::TimedRun> {
    progress.show("measuring " + kernel.id);
    const auto timed = [&packed](auto ready) -> support::Result<client::TimedRun> {
      if (!ready.ok()) return ready.error();
      using Ready = std::remove_reference_t<decltype(*ready)>;
      return client::TimedRun([&packed, execution = std::make_shared<Ready>(std::move(ready).value())] {
        return timed_run(*execution, packed);
      });
    };
    if (!support::is_for_gpu(kernel.isa)) return timed(make_ready(session, answer, kernel, packed, options));
    return timed(make_ready(session, *devices.gpu, answer.frontier.arguments, kernel, packed));
  };
}

/// Asks, decides and runs; with `--target auto` on the processor where the device refuses after all.
support::Result<void> choose_and_run(const RunOptions& options, const client::Session& session,
                                     const Devices& devices, client::ChoiceRequest request,
                                     client::Packed& packed, Clock::time_point start, ProgressLine& progress,
                                     RunFacts& facts) {
  SCHAAS_ASSIGN_OR_RETURN(facts.choice, client::choose(session.source(), request, show_events(progress)));
  progress.clear();
  facts.arguments = facts.choice.answer.frontier.arguments;
  std::string refused = devices.why_none;
  if (support::is_for_gpu(facts.choice.kernel.isa)) {
    const auto ran = run_on_gpu(options, session, *devices.gpu, packed, start, progress, facts);
    // Internal errors are bugs: they are shown, not avoided.
    const bool elsewhere = options.target == Target::automatic && options.schedule == "auto";
    if (ran.ok() || !elsewhere || ran.error().family == support::Family::internal) return ran;
    refused = ran.error().message;
    request.gpu.reset();
    facts.device.clear();
    SCHAAS_ASSIGN_OR_RETURN(facts.choice, client::choose(session.source(), request, show_events(progress)));
    progress.clear();
  }
  if (!refused.empty()) facts.choice.reason += "; " + refused;
  return run_on_cpu(options, session, packed, start, progress, facts);
}

/// Everything after the tensors are known.
support::Result<RunFacts> compute(const RunOptions& options, const client::Session& session,
                                  const Devices& devices, const client::ProblemText& text,
                                  const client::Program& program, const client::Operands& operands,
                                  Clock::time_point start) {
  ProgressLine progress;
  RunFacts facts;
  facts.expression = text.expression;
  facts.target = name(options.target);
  facts.program = program;
  facts.operands = &operands;
  facts.seed = options.tensors.seed;
  facts.read_seconds = since(start);
  facts.value_type = text.value_type;

  const auto pack_start = Clock::now();
  SCHAAS_ASSIGN_OR_RETURN(auto packed,
                          client::pack_all(operands, program, facts.value_type, show_packing(progress)));
  progress.clear();
  facts.pack_seconds = since(pack_start);
  const client::Sizes sizes = client::all_sizes(operands, packed, program);
  facts.sizes = client::reported_sizes(sizes, packed);
  facts.machine = client::this_machine(facts.value_type, options.threads);
  client::ChoiceRequest request = choice_request(options, text, operands);
  request.sizes = sizes;
  request.machine = facts.machine;
  // Row lengths matter on a GPU, where threads of a warp wait for the longest row.
  if (devices.gpu) {
    request.gpu = gpu_target(*devices.gpu, packed, options.repeat);
    request.gpu->alone = options.target == Target::cuda;
    for (const auto& [name, tensor] : packed.tensors)
      if (name != packed.result) request.sizes.spreads[name] = client::spreads_of(tensor);
  }
  if (options.tune) add_tuning(options, session, devices, packed, progress, request);
  SCHAAS_RETURN_IF_ERROR(
      choose_and_run(options, session, devices, std::move(request), packed, start, progress, facts));
  facts.result_entries = packed.tensors.at(packed.result).stored();
  SCHAAS_RETURN_IF_ERROR(store_result(operands, packed, progress, facts));
  SCHAAS_RETURN_IF_ERROR(use_result(options, operands, packed, progress, facts));
  return facts;
}

/// The bundle says what is computed; what the command line says of it must agree.
support::Result<client::ProblemText> bundled_problem(const RunOptions& options,
                                                     const client::Bundle& bundle) {
  client::ProblemText problem = bundle.answers().front().problem;
  problem.position_bits = options.problem.positions;
  SCHAAS_ASSIGN_OR_RETURN(const client::ProblemText asked, problem_text(options.problem));
  if (!asked.expression.empty() || !asked.formats.empty() || !asked.constraints.empty()) {
    return support::invalid("bundle-problem", "`" + options.bundle + "` says what is computed, `" +
                                                  problem.expression +
                                                  "`: leave the expression, -f and -c out");
  }
  return problem;
}

// Reads, computes, and reports.
support::Result<Answer> run(RunOptions options) {
  const auto start = Clock::now();
  SCHAAS_ASSIGN_OR_RETURN(options.target, parse_target(options.target_text));
  SCHAAS_RETURN_IF_ERROR(check_options(options));
  SCHAAS_ASSIGN_OR_RETURN(const Devices devices, devices_for(options.target));
  std::optional<client::Bundle> bundle;
  if (!options.bundle.empty()) {
    SCHAAS_ASSIGN_OR_RETURN(bundle, client::Bundle::open(options.bundle, options.server.key));
  }
  SCHAAS_ASSIGN_OR_RETURN(client::ProblemText text,
                          bundle ? bundled_problem(options, *bundle) : problem_text(options.problem));
  SCHAAS_ASSIGN_OR_RETURN(TensorArguments arguments, tensor_arguments(options.tensors, text.value_type));

  // A program that cannot be read is told by the server where there is one: it reads formats and constraints
  // as well.
  const auto program = take_ranges(arguments, text);
  arguments.formats = text.formats;
  if (program.ok()) {
    SCHAAS_RETURN_IF_ERROR(check_names(arguments, *program));
    SCHAAS_RETURN_IF_ERROR(check_output(options.output, program->program(), text.value_type));
  }
  const auto opened = bundle ? support::Result<client::Session>(client::Session(bundle->source()))
                             : open_session(options.server);
  if (!opened.ok()) return program.ok() ? opened.error() : program.error();
  const client::Session& session = *opened;
  if (!bundle) SCHAAS_RETURN_IF_ERROR(check_texts(session.source(), text));
  if (!program.ok()) return program.error();

  ProgressLine progress;
  SCHAAS_ASSIGN_OR_RETURN(client::Operands operands, read_operands(arguments, *program, progress));
  // A width that was named holds for all tensors.
  if (text.position_bits != "auto") operands.position_bits = text.position_bits == "32" ? 32 : 64;
  text.formats = format_texts(operands, arguments);
  SCHAAS_ASSIGN_OR_RETURN(RunFacts facts,
                          compute(options, session, devices, text, program->program(), operands, start));
  facts.server_address = session.source().address();
  facts.server_notice = session.source().notice();
  facts.server_started = session.source().started_server();
  return report(facts);
}

void add_run_options(CLI::App& command, RunOptions& options) {
  command
      .add_option("--bundle", options.bundle,
                  "Run a kernel of this file (`schaas bundle`) instead of asking a server; it says what is "
                  "computed")
      ->type_name("FILE");
  command
      .add_option(
          "--target", options.target_text,
          "Where to run: cuda is a GPU, auto where it is predicted to take less, the way of the tensors to a "
          "GPU and back included")
      ->capture_default_str()
      ->type_name(choices({"auto", "cpu", "cuda"}));
  command
      .add_option("--isa", options.isa,
                  "Instruction set of the kernel (default: the best this processor has)")
      ->type_name("NAME");
  command.add_option("--threads", options.threads, "Threads (default: all processors of this process)")
      ->check(CLI::Range(1, 4096).description(""))
      ->type_name("N");
  command.add_flag("--deterministic", options.deterministic,
                   "The same result to the last bit for any number of threads");
  command
      .add_option("--schedule", options.schedule,
                  "auto, linear, an id of the frontier (s2; g3 for a GPU), or a trace")
      ->capture_default_str()
      ->type_name("WHICH");
  command.add_flag(
      "--tune", options.tune,
      "Measure the most promising schedules on these tensors, take the fastest, and remember it");
  // Given by schaas tune --exclusive, which checks that nothing else runs here.
  command.add_flag("--tune-exclusive", options.tune_exclusive)->group("");
  command.add_option("--tune-seconds", options.tune_seconds, "How long --tune may measure")
      ->check(CLI::Range(0.0, 86400.0).description(""))
      ->capture_default_str()
      ->type_name("SECONDS");
  command.add_option("--repeat", options.repeat, "Runs; the median time is reported")
      ->check(CLI::Range(1, 1000000).description(""))
      ->capture_default_str()
      ->type_name("N");
  command.add_flag("--reuse-structure", options.reuse_structure,
                   "Runs after the first keep the entries of a sparse result and compute only their values");
  command
      .add_option(
          "--wait", options.wait,
          "Wait limit: seconds after which nothing more is waited for, and the best kernel that has come "
          "runs; 0: the first kernel that can run (default: after 3 s one that has come is enough)")
      ->check(CLI::Range(0.0, 86400.0).description(""))
      ->type_name("SECONDS");
  command.add_flag("--verify", options.verify, "Compare every value with an independent evaluation");
  command
      .add_option(
          "-o,--output", options.output,
          "Write the result: .mtx, .tns, .npy or .npz, also with .gz, .bz2 or .xz; - is standard output")
      ->type_name("FILE");
  command.add_flag("--no-cache", options.no_cache, "Search anew even when the answer is stored");
}

}  // namespace

void add_run(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command =
      program.add_subcommand("run", "Compute a statement on real tensors with the best schedule");
  add_to(*command, options->problem);
  command->get_option("EXPR")->required(false);
  add_to(*command, options->search);
  add_to(*command, options->tensors);
  add_run_options(*command, *options);
  add_to(*command, options->server);
  command->callback([options, &chosen] { chosen = [options] { return run(*options); }; });
}

}  // namespace schaas::cli
