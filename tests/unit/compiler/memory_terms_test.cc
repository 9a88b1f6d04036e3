// The memory told of a schedule is the memory its kernel declares: as many arrays of a thread, and as many
// shared ones, as memory terms of that scope. Lowering knows nothing of costs.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/cost/memory_terms.h"
#include "compiler/frontier/frontier.h"
#include "compiler/lower/lower.h"
#include "compiler/schedule/replay/apply.h"
#include "tests/support/problem_of.h"

namespace schaas {
namespace {

struct Program {
  std::string expression;
  std::map<std::string, std::string> formats;
  bool in_registers = false;  ///< lowering holds rows of some temporaries in registers
};

const std::vector<Program>& programs() {
  static const std::vector<Program> all = {
      {"A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,m) * F(m,l)", {{"B", "csr"}}},
      {"A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", {{"B", "csr"}}},
      {"A(i,m) = B(i,j,k) * C(j,l) * D(k,l) * E(l,m)", {{"B", "csf"}}},
      {"A(i,j) = B(i,k) * C(k,l) * D(l,m) * E(m,j)", {}, true},
      {"F(i,j) = B(i,j) * sum(k)(C(i,k) * D(j,k)); A(i,l) = F(i,j) * E(j,l)", {{"B", "csr"}}},
      {"A(i,j) = B(i,j) + C(i,j) + D(i,k) * E(k,j)", {{"B", "csr"}, {"C", "csr"}, {"D", "csr"}}},
  };
  return all;
}

struct Arrays {
  int of_thread = 0, shared = 0;
};

/// Counts the arrays of values that a kernel declares for its temporaries.
Arrays declared(const loop_ir::Kernel& kernel) {
  Arrays out;
  for (const loop_ir::Array& array : kernel.arrays) {
    if (array.element != loop_ir::Element::value) continue;
    out.of_thread += std::holds_alternative<loop_ir::Scratch>(array.origin) ? 1 : 0;
    out.shared += std::holds_alternative<loop_ir::Shared>(array.origin) ? 1 : 0;
  }
  return out;
}

/// Counts the same in memory terms. A scalar inside a loop is a register.
Arrays told(const std::vector<cost::MemoryTerm>& terms) {
  Arrays out;
  for (const cost::MemoryTerm& term : terms) {
    const bool is_register = term.product == 0 && term.block == 1;
    out.of_thread += term.scope == cost::Scope::thread && !is_register ? 1 : 0;
    out.shared += term.scope == cost::Scope::shared ? 1 : 0;
  }
  return out;
}

class MemoryTerms : public testing::TestWithParam<std::size_t> {};

TEST_P(MemoryTerms, AreTheArraysOfTheKernel) {
  const Program& program = programs()[GetParam()];
  const auto problem = test_support::problem_of(program.expression, program.formats);
  const auto found =
      frontier::compute(problem, frontier::options_for(problem.profile), {}, support::Cancellation());
  ASSERT_TRUE(found.ok()) << support::render(found.error());
  std::size_t with_both = 0;
  for (const auto& survivor : found->survivors) {
    for (const auto& trace : survivor.traces) {
      const auto tree = schedule::apply(trace, problem).value();
      const auto with_copies = schedule::problem_of(trace, problem).value();
      const auto terms = cost::memory_terms(tree, with_copies);
      std::vector<cost::Term> products;
      for (const auto& term : terms) products.push_back(term.product);
      EXPECT_EQ(products, cost::of(tree, with_copies).memory) << schedule::print(trace);
      const auto kernel = lower::lower(tree, with_copies, {.passes = lower::baseline_passes()});
      ASSERT_TRUE(kernel.ok()) << support::render(kernel.error());
      EXPECT_EQ(told(terms).shared, declared(*kernel).shared) << schedule::print(trace);
      EXPECT_GE(told(terms).of_thread, declared(*kernel).of_thread) << schedule::print(trace);
      if (!program.in_registers) {
        EXPECT_EQ(told(terms).of_thread, declared(*kernel).of_thread) << schedule::print(trace);
      }
      with_both += told(terms).of_thread > 0 && told(terms).shared > 0 ? 1 : 0;
    }
  }
  if (GetParam() == 0) {
    EXPECT_GT(with_both, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, MemoryTerms, testing::Range<std::size_t>(0, 6));

}  // namespace
}  // namespace schaas
