#include "tests/support/compiled_kernel.h"

#include <stdexcept>

#include "compiler/pipeline/pipeline.h"
#include "tests/support/remembering_toolchain.h"

namespace schaas::test_support {
namespace {

template <class T>
T value_of(support::Result<T> result) {
  if (!result.ok()) throw std::runtime_error(support::render(result.error()));
  return std::move(result).value();
}

}  // namespace

client::Kernel compiled_kernel(const problem::ProblemText& text, const std::string& trace,
                               const std::string& isa) {
  return compiled_kernel(text, trace, toolchain::Target{isa});
}

client::Kernel compiled_kernel(const problem::ProblemText& text, const std::string& trace,
                               const toolchain::Target& target) {
  const auto canonical = problem::canonicalize(value_of(problem::build(text)));
  const auto bytes = value_of(pipeline::compile(canonical, value_of(schedule::parse(trace)), target,
                                                remembering_toolchain(), support::Cancellation()));
  return value_of(client::Kernel::load(bytes, support::digest_of(bytes)));
}

std::vector<std::string> instruction_sets() {
  std::vector<std::string> all{"generic"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) all.push_back("x86-64-v3");
  if (client::host_isa() != all.back()) all.push_back(client::host_isa());
  return all;
}

}  // namespace schaas::test_support
