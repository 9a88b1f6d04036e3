// Traces of directives: read back as printed, and applied to two problems.
#include "compiler/problem/canonical.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/schedule/trace.h"
#include "tests/fuzz/target.h"

namespace schaas::fuzz {
namespace {

problem::Problem problem_of(const char* expression) {
  problem::ProblemText text;
  text.expression = expression;
  text.formats["B"] = "csr";
  return problem::build(text).value();
}

}  // namespace

void one(std::string_view bytes) {
  static const problem::Problem problems[] = {problem_of("A(i,l) = B(i,j) * C(j,k) * D(k,l)"),
                                              problem_of("Y(i) = B(i,j) * x(j) + z(i)")};
  const auto trace = schedule::parse(bytes);
  if (!trace.ok()) {
    require(!support::render(trace.error()).empty());
    return;
  }
  const auto again = schedule::parse(schedule::print(*trace));
  require(again.ok() && schedule::print(*again) == schedule::print(*trace));
  for (const auto& problem : problems) (void)schedule::apply(*trace, problem);
}

}  // namespace schaas::fuzz
