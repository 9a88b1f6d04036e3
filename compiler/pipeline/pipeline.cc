#include "compiler/pipeline/pipeline.h"

#include <utility>

#include "compiler/codegen/c_printer.h"
#include "compiler/codegen/cuda_printer.h"
#include "compiler/concrete_notation/checks/verifier.h"
#include "compiler/concrete_notation/printer.h"
#include "compiler/format/tensor_format.h"
#include "compiler/index_notation/printer.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/loop_ir/verifier.h"
#include "compiler/lower/lower.h"
#include "compiler/pipeline/check.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/support/instruction_set.h"
#include "compiler/support/nearest_name.h"

// The stages in order. A tree is verified once more here, since traces come from disks and networks; loop IR
// is verified because code generation trusts it. `check`, `emit` and `compile` share these two steps, so what
// is checked is what is compiled. Kernels for processors and for GPUs part after lowering: the schedule
// decides, and a mismatch with the language is an error, not another kernel.
namespace schaas::pipeline {
namespace {

using support::Result;

const std::vector<std::pair<std::string, Language>>& languages() {
  static const std::vector<std::pair<std::string, Language>> known = {{"trace", Language::trace},
                                                                      {"tree", Language::tree},
                                                                      {"loops", Language::loops},
                                                                      {"c", Language::c},
                                                                      {"cuda", Language::cuda}};
  return known;
}

/// A tree, and the problem it computes: with the copies that its schedule reads.
struct Tree {
  concrete_notation::StatementPtr statement;
  problem::Problem problem;
};

/// Trace -> tree, verified: a trace may come from disk or the network.
Result<Tree> make_tree(const problem::Problem& problem, const schedule::Trace& trace) {
  SCHAAS_ASSIGN_OR_RETURN(auto tree, schedule::apply(trace, problem));
  SCHAAS_ASSIGN_OR_RETURN(auto with_copies, schedule::problem_of(trace, problem));
  SCHAAS_RETURN_IF_ERROR(concrete_notation::verify(tree, with_copies));
  return Tree{std::move(tree), std::move(with_copies)};
}

/// Tree -> loop IR, verified: code generation trusts it.
Result<loop_ir::Kernel> make_loops(const Tree& tree, const lower::PassOptions& passes) {
  SCHAAS_ASSIGN_OR_RETURN(auto kernel, lower::lower(tree.statement, tree.problem, passes));
  SCHAAS_RETURN_IF_ERROR(loop_ir::verify(kernel));
  return kernel;
}

/// Lists what a kernel computes, of which formats, by which schedule and loops, for readers of its text.
std::string banner(const Tree& tree, const codegen::KernelLabel& label) {
  std::string text = index_notation::print(tree.problem.program()) + "\n";
  for (const std::string& tensor : tree.problem.tensors())
    text += "format " + tensor + " " + format::print(tree.problem.formats.at(tensor)) + "\n";
  if (!label.schedule.empty()) text += "schedule " + label.schedule + "\n";
  return text + concrete_notation::print_indented(tree.statement);
}

/// Trace -> C, under a comment that says what it computes.
Result<std::string> make_c(const problem::Problem& problem, const schedule::Trace& trace,
                           codegen::KernelLabel label, const lower::PassOptions& passes) {
  SCHAAS_ASSIGN_OR_RETURN(const auto tree, make_tree(problem, trace));
  SCHAAS_ASSIGN_OR_RETURN(const auto kernel, make_loops(tree, passes));
  if (kernel.for_gpu())
    return support::unsupported(
        "gpu-schedule",
        "the schedule is for a GPU: language `cuda` prints it; without `threads` it is "
        "one for the CPU");
  label.banner = banner(tree, label);
  return codegen::print_c(kernel, label);
}

Result<std::string> make_cuda(const problem::Problem& problem, const schedule::Trace& trace,
                              codegen::KernelLabel label, const lower::PassOptions& passes) {
  SCHAAS_ASSIGN_OR_RETURN(const auto tree, make_tree(problem, trace));
  SCHAAS_ASSIGN_OR_RETURN(const auto kernel, make_loops(tree, passes));
  if (!kernel.for_gpu())
    return support::unsupported(
        "gpu-schedule",
        "the schedule says nothing of the threads of a GPU: `threads(loop=...)` at its "
        "end does (docs/gpu.md); language `c` prints it for the CPU");
  label.banner = banner(tree, label);
  return codegen::print_cuda(kernel, label);
}

}  // namespace

Result<Language> parse_language(const std::string& text) {
  std::vector<std::string> names;
  for (const auto& [name, language] : languages()) {
    if (name == text) return language;
    names.push_back(name);
  }
  return support::invalid("language", "unknown language `" + text + "`" + support::did_you_mean(text, names) +
                                          "; known are trace, tree, loops, c, cuda");
}

Result<PassList> parse_passes(const std::string& passes, const std::string& last, Language language) {
  const bool lowered = language != Language::trace && language != Language::tree;
  if (!lowered && !(passes.empty() && last.empty()))
    return support::invalid("pass", "passes of lowering make loops, c and cuda; a trace or tree has none");
  return lower::parse_passes(passes, last);
}

Result<std::string> emit(const problem::Problem& problem, const schedule::Trace& trace, Language language,
                         const std::string& isa, const lower::PassOptions& passes) {
  const auto label = [&](const std::string& target) {
    return codegen::KernelLabel{"", schedule::print(trace), target, problem::print(problem)};
  };
  switch (language) {
    case Language::trace: {
      SCHAAS_RETURN_IF_ERROR(make_tree(problem, trace));
      return schedule::print(trace.directives.empty() ? schedule::default_trace(problem) : trace) + "\n";
    }
    case Language::tree: {
      SCHAAS_ASSIGN_OR_RETURN(const auto tree, make_tree(problem, trace));
      return concrete_notation::print_indented(tree.statement);
    }
    case Language::loops: {
      SCHAAS_ASSIGN_OR_RETURN(const auto tree, make_tree(problem, trace));
      SCHAAS_ASSIGN_OR_RETURN(const auto kernel, make_loops(tree, passes));
      return loop_ir::print(kernel);
    }
    case Language::c:
      return make_c(problem, trace, label(isa), passes);
    case Language::cuda:
      return make_cuda(problem, trace, label("cuda"), passes);
  }
  SCHAAS_CHECK(false, "a language without a case");
}

Result<void> check(const problem::Problem& problem, const schedule::Trace& trace) {
  SCHAAS_ASSIGN_OR_RETURN(const auto tree, make_tree(problem, trace));
  SCHAAS_RETURN_IF_ERROR(make_loops(tree, {}));
  return {};
}

/// Every ingredient on a line of its own, so that no two lists of ingredients read the same.
/// docs/cache_key.md.
std::string kernel_key(const problem::Canonical& canonical, const schedule::Trace& trace,
                       const toolchain::Target& target, const toolchain::Toolchain& toolchain) {
  return support::digest_of("schaas-kernel 2\nproblem " + canonical.key + "\nschedule " +
                            schedule::print(trace) + "\nisa " + toolchain::print(target) + "\ntoolchain " +
                            toolchain.identity(target) + "\ncode " + std::to_string(code_version) + "\n")
      .sha256;
}

Result<std::string> compile(const problem::Canonical& canonical, const schedule::Trace& trace,
                            const toolchain::Target& target, toolchain::Toolchain& toolchain,
                            const support::Cancellation& cancellation) {
  // The key is computed before lowering and stands in the text, so that a binary names its own row.
  SCHAAS_RETURN_IF_ERROR(cancellation.check("lowering"));
  const bool cuda = support::is_for_gpu(target.isa);
  codegen::KernelLabel label{kernel_key(canonical, trace, target, toolchain), schedule::print(trace),
                             target.isa, canonical.text};
  if (target.baseline) label.blocks = codegen::Blocks::few;
  const lower::PassOptions passes{.passes = target.baseline ? lower::baseline_passes() : lower::all_passes()};
  SCHAAS_ASSIGN_OR_RETURN(const std::string source, cuda ? make_cuda(canonical.problem, trace, label, passes)
                                                         : make_c(canonical.problem, trace, label, passes));
  return toolchain.compile_c(source, target, cancellation);
}

}  // namespace schaas::pipeline
