// schaas-solver: answers the solver questions of one search on standard input
// (frontier/proofs/solver_protocol.h) and is killed by schaasd when it takes too long.
#include <iostream>

#include "compiler/frontier/proofs/solver_protocol.h"

int main() {
  using namespace schaas;
  const auto solver = frontier::make_z3_solver();
  const auto served = frontier::serve_solver(std::cin, std::cout, *solver);
  if (served.ok()) return 0;
  std::cerr << "schaas-solver: " << support::render(served.error()) << "\n";
  return support::exit_code(served.error().family);
}
