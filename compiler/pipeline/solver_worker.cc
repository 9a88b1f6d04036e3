#include "compiler/pipeline/solver_worker.h"

#include <optional>
#include <utility>

#include "compiler/frontier/proofs/solver_protocol.h"
#include "compiler/toolchain/worker_process.h"

// A solver in a process of its own, because Z3 can be neither interrupted in time nor bounded in memory as a
// library (docs/decisions/0008). The process starts at the first question. Constraints are sent once for each
// process and again after a restart. Every failure is the verdict `unknown`, which is always sound: a
// schedule is then kept. A query that is cancelled, or ended by the search's budget, is no failure. After
// `max_failures` the solver is not started again in this search, so that a crash cannot cost a start for each
// question.
namespace schaas::pipeline {
namespace {

using frontier::SolverAnswer;
using frontier::SolverRelation;
using frontier::Verdict;
using support::Result;

class SolverWorker final : public frontier::Solver {
 public:
  SolverWorker(const SolverWorkerOptions& options, const support::Cancellation& cancellation)
      : options_(options), cancellation_(cancellation) {}

  void assume(int variables, const std::vector<SolverRelation>& constraints) override {
    variables_ = variables;
    constraints_ = frontier::assume_request(variables, constraints);
    told_ = false;
  }

  Verdict check_all(const std::vector<SolverRelation>& relations, int milliseconds) override {
    model_.clear();
    steps_ = 0;
    if (failures_ >= options_.max_failures || is_over()) return Verdict::unknown;
    auto answer = ask(relations, milliseconds);
    if (answer.ok()) {
      model_ = std::move(answer->model);
      steps_ = answer->steps;
      return answer->verdict;
    }
    // The answer may still be on its way, so the process is of no further use.
    process_.reset();
    if (is_over()) return Verdict::unknown;
    if (answer.error().code == "worker-busy") {
      steps_ = milliseconds * frontier::steps_per_millisecond;  // all that it was given
      return Verdict::unknown;
    }
    ++failures_;
    if (options_.log) {
      options_.log("the solver failed, its question stays open: " + answer.error().message +
                   (failures_ < options_.max_failures ? "" : "; it is not asked again in this search"));
    }
    return Verdict::unknown;
  }

  std::vector<double> model() const override { return model_; }
  std::int64_t steps() const override { return steps_; }

 private:
  /// Nobody waits for another answer.
  bool is_over() const {
    return !cancellation_.check("a solver query").ok() ||
           time_left(std::chrono::milliseconds(1)).count() == 0;
  }

  Result<void> make_ready() {
    if (process_) return {};
    toolchain::ChildOptions child;
    child.processes = toolchain::Processes::one;
    child.isolated = options_.isolated;
    child.program = options_.program;
    child.working_directory = "/";
    child.cpu_seconds = 24 * 3600;  // its queries are limited one by one
    child.memory_bytes = options_.memory_bytes;
    // It needs no file.
    child.file_bytes = 0;
    SCHAAS_ASSIGN_OR_RETURN(toolchain::WorkerProcess started, toolchain::WorkerProcess::start(child));
    SCHAAS_ASSIGN_OR_RETURN(const std::string line, started.ask("", {options_.start, {}}, cancellation_));
    if (line != "ready")
      return support::exhausted("worker-garbage", "`" + options_.program + "` began with `" + line + "`");
    process_.emplace(std::move(started));
    told_ = false;
    return {};
  }

  // Asks the process, which is killed when its steps take much longer than they stand for.
  Result<SolverAnswer> ask(const std::vector<SolverRelation>& relations, int milliseconds) {
    SCHAAS_RETURN_IF_ERROR(make_ready());
    const std::string question =
        (told_ ? "" : constraints_) + frontier::check_request(relations, milliseconds);
    told_ = true;
    const std::chrono::milliseconds limit(milliseconds);
    const auto left = time_left(limit * options_.slowness + options_.grace);
    SCHAAS_ASSIGN_OR_RETURN(
        const std::string line,
        process_->ask(question, {left, limit * options_.processor_slowness}, cancellation_));
    return frontier::parse_answer(line, variables_);
  }

  const SolverWorkerOptions options_;
  const support::Cancellation& cancellation_;
  int variables_ = 0;
  std::string constraints_;
  bool told_ = false;  ///< the process knows the constraints
  int failures_ = 0;
  std::optional<toolchain::WorkerProcess> process_;
  std::vector<double> model_;
  std::int64_t steps_ = 0;
};

}  // namespace

frontier::SolverFactory solver_workers(SolverWorkerOptions options) {
  return [options = std::move(options)](const support::Cancellation& cancellation) {
    return std::make_unique<SolverWorker>(options, cancellation);
  };
}

}  // namespace schaas::pipeline
