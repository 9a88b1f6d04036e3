#include "tests/support/kernel_queue.h"

#include <exception>

#include "tests/support/gpu_batch.h"

namespace schaas::test_support {
namespace {

constexpr std::size_t batch_size = 32;

}  // namespace

support::Result<std::string> KernelQueue::source_or_error(const schedule::Trace& trace,
                                                          const problem::Problem& problem,
                                                          const lower::PassList& passes) const {
  try {
    return machine_ == Machine::cpu ? source_of(trace, problem, passes) : cuda_source_of(trace, problem);
  } catch (const std::exception& broken) {
    return support::internal("invariant", broken.what());
  }
}

support::Result<std::vector<LoadedKernel>> KernelQueue::compile(const std::vector<std::string>& sources) {
  return machine_ == Machine::cpu ? compile_batch(sources, *toolchain_) : emulated_batch(sources);
}

support::Result<void> KernelQueue::add(const schedule::Trace& trace, const problem::Problem& problem) {
  return add(trace, problem, nullptr);
}

support::Result<void> KernelQueue::add(const schedule::Trace& trace, const problem::Problem& problem,
                                       std::shared_ptr<Trials> trials) {
  const bool draft = random_() % 8 == 0;
  auto source = source_or_error(trace, problem, draft ? lower::baseline_passes() : lower::all_passes());
  if (!source.ok()) {
    if (source.error().family == support::Family::internal) {
      failed_(described(trace, problem, support::render(source.error())));
    }
    return source.error();
  }
  if (!trials) trials = std::make_shared<Trials>(problem, inputs_, random_());
  elements_ += trials->elements();
  determined_ += trials->determined_elements();
  auto& waiting = waiting_[problem.value_type];
  waiting.push_back({std::move(trials), std::move(source).value(),
                     described(trace, problem, draft ? " in the draft" : "")});
  if (waiting.size() == batch_size) run(waiting);
  return {};
}

void KernelQueue::finish() {
  for (auto& [type, waiting] : waiting_) run(waiting);
}

void KernelQueue::run(std::vector<Waiting>& waiting) {
  std::vector<std::string> sources;
  for (const auto& each : waiting) sources.push_back(each.source);
  if (sources.empty()) return;
  const auto kernels = compile(sources);
  if (!kernels.ok()) {
    for (const auto& each : waiting) {
      const auto alone = compile({each.source});
      if (!alone.ok()) failed_(support::render(alone.error()) + each.description);
    }
  } else {
    for (std::size_t n = 0; n < waiting.size(); ++n) {
      const auto error = waiting[n].trials->error_of((*kernels)[n].descriptor(), n, inputs_, random_);
      if (!error.empty()) failed_(error + waiting[n].description);
      combinations_ += inputs_;
    }
  }
  waiting.clear();
}

}  // namespace schaas::test_support
