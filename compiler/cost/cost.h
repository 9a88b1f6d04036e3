#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"

/// Exact symbolic costs of loop trees: sums of products. docs/cost_model.md.
namespace schaas::cost {

/// A variable of the cost of one problem. `extent`: number of values of an index. `fiber`: average number of
/// stored entries of `tensor`'s storage level `level` (0-based, a compressed level) under one entry of its
/// parent level, so nonzeros(B, n levels) = product over its first n levels of extent (dense level) or fiber
/// (compressed level). 0 <= fiber <= extent of the level's index.
struct Variable {
  enum class Kind { extent, fiber } kind = Kind::extent;
  std::string index;
  std::string tensor;
  int level = 0;
};

/// The variables of a problem: bit v of a Term stands for variables[v]. Extents first, in index_variables
/// order (bits 0..15), fibers from bit 16.
struct Variables {
  std::vector<Variable> extents;
  std::vector<Variable> fibers;
  static constexpr int first_fiber = 16;
  const Variable& at(int bit) const;
};
Variables variables_of(const problem::Problem& problem);

/// How the innermost loop of a leaf touches memory (SparseAuto stage 5 made part of the cost;
/// docs/cost_model.md).
enum class Access : std::uint8_t {
  contiguous,  ///< every access is invariant or advances by one element: vector code
  gathered,    ///< positions of a compressed level, other operands indexed through it
  strided,     ///< some access jumps by a whole row each trip
};

/// A product of variables (each at most once: a loop occurs once on a path) and the access class of its leaf.
/// bits 0..59 variables, bits 60..61 access. The empty product is 1 (a scalar).
using Term = std::uint64_t;
constexpr int access_shift = 60;
constexpr Term variables_mask = (Term{1} << access_shift) - 1;
constexpr Term make_term(Term variables, Access access) {
  return variables | (static_cast<Term>(access) << access_shift);
}
constexpr Access access_of(Term term) { return static_cast<Access>(term >> access_shift); }

/// Relative cost of one trip of a leaf by access class; contiguous = 1. docs/cost_model.md.
int weight(Access access);

/// Sorted multisets. Time: one term per leaf nest. Memory: one term per temporary, extents only, in elements;
/// a scalar (empty term) lives in a register and counts 0 in comparisons.
struct Cost {
  std::vector<Term> time;
  std::vector<Term> memory;
  auto operator<=>(const Cost&) const = default;
};

/// The cost of a verified tree, computed from the tree alone. `Profile::sparseauto` ignores access classes
/// (all contiguous) and never counts the outermost level of a sparse tensor as sparse.
Cost of(const concrete_notation::StatementPtr& statement, const problem::Problem& problem);

/// "i*j'*k + i*j'*l" (a prime marks a loop over stored entries); "0" when empty; a scalar prints as "1".
/// With access classes: a gathered term is prefixed by its weight, "2*".
std::string print_time(const Cost& cost, const Variables& variables);
std::string print_memory(const Cost& cost, const Variables& variables);

/// Values of the variables at run time, by bit.
using Point = std::vector<double>;
double evaluate_time(const Cost& cost, const Point& point);    ///< weighted trips
double evaluate_memory(const Cost& cost, const Point& point);  ///< elements, scalars 0

/// Largest number of factors of a time term; largest number of factors of a memory term (SparseAuto stages 1,
/// 2).
int loop_depth(const Cost& cost);
int memory_depth(const Cost& cost);

}  // namespace schaas::cost
