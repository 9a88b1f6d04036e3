#include "compiler/lower/pass_runner.h"

#include <algorithm>
#include <utility>

#include "compiler/loop_ir/printer.h"
#include "compiler/loop_ir/verifier.h"

// Runs the passes of a list that are for the machine. Without remarks nothing is printed or compared. With
// them, a pass on kernels counts as applied when the printed kernel changed; passes on trees tell it
// themselves.
namespace schaas::lower {
namespace {

using Clock = std::chrono::steady_clock;

/// Collects remarks, when they are wanted.
class Observer {
 public:
  Observer(const PassOptions& options, Machine machine) : options_(options), machine_(machine) {}

  bool is_on() const { return options_.remarks != nullptr; }

  /// The pass is for the machine; otherwise remarks on it.
  bool admits(const Pass& pass) const {
    if (pass.machine == machine_) return true;
    add(pass, false, machine_ == Machine::gpu ? "the kernel is for a GPU" : "the kernel is for the CPU");
    return false;
  }

  void remark(const Pass& pass, bool applied, std::chrono::nanoseconds time) const {
    if (is_on()) add(pass, applied, applied ? "" : reason(pass), time);
  }

  /// Remarks on the passes of one kind that are not in the list.
  void remark_left_out(bool nests) const {
    if (!is_on()) return;
    const auto& list = options_.passes;
    for (const Pass* pass : all_passes()) {
      if (rewrites_nest(*pass) == nests && std::count(list.begin(), list.end(), pass) == 0)
        add(*pass, false, "left out");
    }
  }

  /// Sorts the remarks in the order of the table.
  void sort() const {
    if (!is_on()) return;
    std::stable_sort(options_.remarks->begin(), options_.remarks->end(),
                     [](const auto& a, const auto& b) { return find_pass(a.pass) < find_pass(b.pass); });
  }

 private:
  std::string reason(const Pass& pass) const {
    std::string text = "no " + std::string(pass.rewrites);
    for (const auto& need : pass.needs) {
      const auto& made = *options_.remarks;
      if (std::none_of(made.begin(), made.end(),
                       [&](const Remark& each) { return each.pass == need && each.applied; }))
        text += ", which " + std::string(need) + " makes";
    }
    return text;
  }

  void add(const Pass& pass, bool applied, std::string reason, std::chrono::nanoseconds time = {}) const {
    if (is_on()) options_.remarks->push_back({std::string(pass.name), applied, std::move(reason), time});
  }

  const PassOptions& options_;
  const Machine machine_;
};

loop_ir::Kernel rewritten(const Pass& pass, loop_ir::Kernel kernel, Names& names) {
  if (const auto* run = std::get_if<Pass::OnKernel>(&pass.run)) return (*run)(std::move(kernel));
  return std::get<Pass::OnKernelWithNames>(pass.run)(std::move(kernel), names);
}

support::Result<void> verify_after(const Pass& pass, const loop_ir::Kernel& kernel) {
  const auto verified = loop_ir::verify(kernel);
  if (verified.ok()) return {};
  auto broken = verified.error();
  broken.message = "after " + std::string(pass.name) + ": " + broken.message;
  return broken;
}

}  // namespace

void run_passes(NestTree& tree, Machine machine, const PassOptions& options) {
  const Observer observer(options, machine);
  observer.remark_left_out(true);
  for (const Pass* pass : options.passes) {
    const auto* run = std::get_if<Pass::OnNest>(&pass->run);
    if (run == nullptr || !observer.admits(*pass)) continue;
    const auto start = Clock::now();
    const bool applied = (*run)(tree);
    observer.remark(*pass, applied, Clock::now() - start);
  }
}

support::Result<loop_ir::Kernel> run_passes(loop_ir::Kernel kernel, Names& names,
                                            const PassOptions& options) {
  const Observer observer(options, kernel.for_gpu() ? Machine::gpu : Machine::cpu);
  observer.remark_left_out(false);
  std::string before = observer.is_on() ? loop_ir::print(kernel) : "";
  for (const Pass* pass : options.passes) {
    if (rewrites_nest(*pass) || !observer.admits(*pass)) continue;
    const auto start = Clock::now();
    kernel = rewritten(*pass, std::move(kernel), names);
    const auto time = Clock::now() - start;
    if (observer.is_on()) {
      std::string after = loop_ir::print(kernel);
      observer.remark(*pass, after != before, time);
      before = std::move(after);
    }
    if (options.verify) SCHAAS_RETURN_IF_ERROR(verify_after(*pass, kernel));
  }
  observer.sort();
  return kernel;
}

}  // namespace schaas::lower
