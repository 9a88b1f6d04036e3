#include "tests/support/kernel_queue.h"

#include <exception>

namespace schaas::test_support {
namespace {

constexpr std::size_t batch_size = 32;

support::Result<std::string> source_or_error(const schedule::Trace& trace, const problem::Problem& problem,
                                             lower::Effort effort) {
  try {
    return source_of(trace, problem, effort);
  } catch (const std::exception& broken) {
    return support::internal("invariant", broken.what());
  }
}

}  // namespace

support::Result<void> KernelQueue::add(const schedule::Trace& trace, const problem::Problem& problem) {
  const bool draft = random_() % 8 == 0;
  auto source = source_or_error(trace, problem, draft ? lower::Effort{false, false} : lower::Effort{});
  if (!source.ok()) {
    if (source.error().family == support::Family::internal) {
      failed_(described(trace, problem, support::render(source.error())));
    }
    return source.error();
  }
  auto trials = std::make_shared<Trials>(problem, inputs_, random_());
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
  const auto kernels = compile_batch(sources, *toolchain_);
  if (!kernels.ok()) {
    for (const auto& each : waiting) {
      const auto alone = compile_batch({each.source}, *toolchain_);
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
