#pragma once
#include <string>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/cost/cost.h"
#include "compiler/problem/problem.h"

/// Memory of one loop tree by temporary. A cost class knows the sum alone: its trees may share out the same
/// temporaries differently among threads.
namespace schaas::cost {

/// Owner of memory.
enum class Scope : std::uint8_t {
  thread,   ///< temporary inside a loop: each thread has its own
  shared,   ///< temporary passed between phases
  operand,  ///< copy of an operand
};

/// `block` * `product` elements.
struct MemoryTerm {
  Term product = 0;
  Scope scope = Scope::thread;
  int block =
      1;  ///< elements of the blocks that the temporary stays within; their extents are not in `product`
  auto operator<=>(const MemoryTerm&) const = default;
};

/// Returns the memory of a verified tree, sorted. Without blocks its products are Cost::memory.
std::vector<MemoryTerm> memory_terms(const concrete_notation::StatementPtr& statement,
                                     const problem::Problem& problem);

/// Prints "1 + 8*k", like print_memory of a cost.
std::string print_memory(const std::vector<MemoryTerm>& terms, const Variables& variables);

}  // namespace schaas::cost
