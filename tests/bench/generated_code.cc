// Writes the generated code of random kernels, so that a change of lowering which should leave code as it is
// can be checked: write a folder before and after it, and compare with `diff -r`. Kernels are 500 programs as
// written, 500 products under random schedules, 500 products mapped to threads of a GPU, and kernels that the
// passes are for (the paper's, and products of sparse matrices) under 50 random schedules each; all of them
// with all passes and with none, verified after each pass.
//   build/release/bin/generated_code FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "compiler/codegen/c_printer.h"
#include "compiler/codegen/cuda_printer.h"
#include "compiler/concrete_notation/checks/verifier.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/replay/apply.h"
#include "tests/support/paper_kernels.h"
#include "tests/support/random_problem.h"
#include "tests/support/random_program.h"
#include "tests/support/random_units.h"

using namespace schaas;

namespace {

constexpr int kernels_of_a_kind = 500;
constexpr int schedules_of_a_kernel = 50;

/// Returns the lowered kernel and its source, or the message of the refusal.
std::string code_of(const problem::Problem& problem, const schedule::Trace& trace,
                    const lower::PassOptions& options) {
  const auto tree = schedule::apply(trace, problem);
  if (!tree.ok()) return support::render(tree.error());
  const auto with_copies = schedule::problem_of(trace, problem);
  if (!with_copies.ok()) return support::render(with_copies.error());
  const auto legal = concrete_notation::verify(*tree, *with_copies);
  if (!legal.ok()) return support::render(legal.error());
  const auto kernel = lower::lower(*tree, *with_copies, options);
  if (!kernel.ok()) return support::render(kernel.error());
  const codegen::KernelLabel label{"key", "trace", "isa", "problem"};
  return loop_ir::print(*kernel) +
         (kernel->for_gpu() ? codegen::print_cuda(*kernel, label) : codegen::print_c(*kernel, label));
}

/// Kernels to which most passes apply.
std::vector<problem::ProblemText> usual_kernels() {
  std::vector<problem::ProblemText> texts;
  for (const auto& kernel : test_support::paper_kernels()) texts.push_back(kernel.text);
  for (const std::string type : {"f64", "f32"}) {
    for (const std::string expression :
         {"A(i,k) = B(i,j) * C(j,k)", "A(i,k) = -B(i,j) * C(j,k)", "A(i,l) = 2 * B(i,j) * C(j,k) * D(k,l)",
          "A(i,k) = B(i,j) * C(j,k) * D(i,k)", "A(i,k) = B(j,i) * C(j,k) + D(i,k)",
          "A(i,j) = B(i,j) + C(i,j) + D(i,j)"}) {
      problem::ProblemText text;
      text.expression = expression;
      for (const char* tensor : {"A", "B", "C", "D"})
        if (expression.find(tensor) != std::string::npos) text.formats[tensor] = "csr";
      text.value_type = type;
      texts.push_back(text);
    }
  }
  return texts;
}

class Folder {
 public:
  explicit Folder(std::filesystem::path path) : path_(std::move(path)) {
    std::filesystem::create_directories(path_);
  }

  void write(const std::string& name, const problem::Problem& problem, const schedule::Trace& trace) {
    const std::string head = problem::print(problem) + "\n" + schedule::print(trace) + "\n";
    std::ofstream(path_ / (name + ".all")) << head << code_of(problem, trace, {.verify = true});
    std::ofstream(path_ / (name + ".plain"))
        << head << code_of(problem, trace, {.passes = lower::PassList{}, .verify = true});
  }

 private:
  const std::filesystem::path path_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: generated_code FOLDER\n");
    return 1;
  }
  Folder folder(argv[1]);
  std::mt19937_64 random(37);
  for (int n = 0; n < kernels_of_a_kind;) {
    const auto problem = problem::build(test_support::random_program_text({}, random));
    if (problem.ok()) folder.write("program_" + std::to_string(n++), *problem, {});
  }
  for (int n = 0; n < kernels_of_a_kind; ++n) {
    const auto problem =
        test_support::random_problem({.sparse_result = true, .lists = true, .repeats = true}, random);
    folder.write("product_" + std::to_string(n), problem, test_support::random_trace(problem, 6, random));
  }
  for (int n = 0; n < kernels_of_a_kind; ++n) {
    const auto problem = test_support::random_problem({}, random);
    const auto trace = test_support::random_trace(problem, 6, random);
    folder.write("gpu_" + std::to_string(n), problem,
                 test_support::with_random_units(trace, problem, random));
  }
  int n = 0;
  for (const auto& text : usual_kernels()) {
    const auto problem = problem::build(text).value();
    folder.write("usual_" + std::to_string(n++), problem, {});
    for (int trace = 0; trace < schedules_of_a_kernel; ++trace)
      folder.write("usual_" + std::to_string(n++), problem, test_support::random_trace(problem, 6, random));
  }
  return 0;
}
