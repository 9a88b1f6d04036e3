// Members of a schedule space: all of them, or some drawn evenly. Of each its trace, a line, and its tree,
// lines that begin with a space.
//
//   list_members EXPRESSION FORMAT_OF_B COUNT SEED [CONSTRAINT...]        COUNT 0: all
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <random>
#include <sstream>

#include "compiler/concrete_notation/printer.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/space/space.h"

int main(int argc, char** argv) {
  using namespace schaas;
  if (argc < 5) return 2;
  problem::ProblemText text;
  text.expression = argv[1];
  text.formats = {{"B", argv[2]}};
  text.constraints.assign(argv + 5, argv + argc);
  const auto problem = problem::build(text);
  if (!problem.ok()) {
    std::cerr << support::render(problem.error()) << "\n";
    return 1;
  }
  const auto show = [&](const schedule::Trace& trace) {
    const auto tree = schedule::apply(trace, *problem);
    if (!tree.ok()) return false;
    std::cout << schedule::print(trace) << "\n";
    std::istringstream lines(concrete_notation::print_indented(*tree));
    for (std::string line; std::getline(lines, line);) std::cout << " " << line << "\n";
    return true;
  };
  space::Space space(*problem, {});
  const auto count = std::strtoull(argv[3], nullptr, 10);
  if (count == 0) {
    const auto visited = space.for_each(show, support::Cancellation());
    return visited.ok() ? 0 : 1;
  }
  std::mt19937_64 random(std::strtoull(argv[4], nullptr, 10));
  for (std::size_t n = 0; n < count; ++n) {
    const auto trace = space.draw(random);
    if (!trace.ok() || !show(*trace)) return 1;
  }
  return 0;
}
