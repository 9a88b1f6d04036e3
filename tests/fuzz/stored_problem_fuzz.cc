// The problem text of a stored row, of a job or of a kernel: server and client each read it.
#include "client/cpp/runtime/kernel_problem.h"
#include "compiler/problem/canonical.h"
#include "tests/fuzz/target.h"

namespace schaas::fuzz {

void one(std::string_view bytes) {
  (void)client::parse_kernel_problem(std::string(bytes), {});
  const auto stored = problem::parse_problem(bytes);
  if (!stored.ok()) return;
  const problem::Canonical canonical = problem::canonicalize(*stored);
  const auto again = problem::parse_problem(canonical.text);
  require(again.ok() && *again == canonical.problem);
}

}  // namespace schaas::fuzz
