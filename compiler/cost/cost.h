#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"

/// Exact symbolic costs of loop trees: sums of products. docs/cost_model.md.
namespace schaas::cost {

/// A variable of the cost of one problem. `extent`: number of values of an index. `fiber`: average number of
/// stored entries of `tensor`'s compressed storage level `level` (0-based) under one entry of its
/// parent level. So nonzeros(B, n levels) is the product of extents (dense levels) and fibers (compressed
/// ones) of its first n levels. 0 <= fiber <= extent of the level's index. `matches`: average number of
/// coordinates that all of `lists` hold; `steps`: average number of steps of their merge (docs/cost_model.md,
/// "Intersections").
struct Variable {
  enum class Kind { extent, fiber, matches, steps } kind = Kind::extent;
  std::string index;
  std::string tensor;
  int level = 0;
  /// Original of a copy, whose levels nobody has counted before it is made, and the indices of the
  /// levels above, outermost first.
  std::string copy_of{};
  std::vector<std::string> outer{};
  bool outer_dense = false;  ///< all of these are dense
  /// Fibers that matches and steps merge, each with the indices of the levels above in `outer`.
  std::vector<Variable> lists{};
  bool operator==(const Variable&) const = default;
};
inline bool is_fiber(const Variable& variable) { return variable.kind == Variable::Kind::fiber; }
/// An access with these indices has `index` at the level, and at none above. Loops walk such levels; others
/// are looked up at the coordinate that is known there, as the second level of csr in `B(i,i)`.
bool walks(const std::vector<std::string>& indices, const format::TensorFormat& format, int level,
           const std::string& index);

/// A product of variables, below: Term.
using Term = std::uint64_t;
/// A set of lists: bit n stands for Variables::lists[n].
using ListSet = std::uint64_t;
/// Compressed levels that a loop over their index walks together, and the variables of their intersection.
struct Intersection {
  ListSet lists = 0;
  Term matches = 0, steps = 0;
};

/// The variables of a problem: bit v of a Term stands for variables[v]. Extents come first, in
/// index_variables order (bits 0..15), then fibers from bit 16. Fibers are those of the operands, then
/// matches and steps of intersections, then the same for copies (concrete_notation::with_known_copies), under
/// the names of the copies. So a problem with copies begins with the variables of the problem it was made of.
struct Variables {
  std::vector<Variable> extents;
  std::vector<Variable> fibers;  ///< and matches and steps
  /// The compressed levels that are walked and not located, at most one of an access and index.
  std::vector<Variable> lists;
  std::vector<Intersection> intersections;  ///< small sets first, as many as terms have bits for
  bool all_intersections = true;            ///< there were bits for all of them
  static constexpr int first_fiber = 16;
  const Variable& at(int bit) const;
  std::string name(int bit) const;
  /// The list of `access` that has the index; none: 0.
  ListSet list_of(const index_notation::Access& access, const std::string& index,
                  const problem::Problem& problem) const;
  /// The intersection of exactly these lists; nullptr of fewer than two, or where there was no bit left.
  const Intersection* intersection(ListSet lists) const;
};
Variables variables_of(const problem::Problem& problem);

/// Memory access of a leaf when its innermost loop advances (SparseAuto stage 5 made part of the cost;
/// compiler/cost/ access.h, docs/cost_model.md), or that a term is no leaf but the clearing of a temporary.
enum class Access : std::uint8_t {
  contiguous,  ///< vector code; at most one row comes and goes with each run of the loop
  two_rows,    ///< vector code; two rows do, or one that is read and written
  three_rows,  ///< vector code; three rows or more
  gathered,    ///< single elements, reached through the coordinates of a compressed level
  strided,     ///< some access jumps by a whole row each trip
  cleared,     ///< elements of a temporary set to zero
  function,    ///< calls of exp, log, sin, ... besides what the leaf costs
  copied,      ///< entries of an operand that are stored once more in another order
  merged,      ///< steps of a merge of compressed levels that one loop walks together
};
constexpr int access_classes = static_cast<int>(Access::merged) + 1;

/// A product of variables, the access class of its leaf, and a bit for a phase that runs on one thread. A
/// variable occurs at most once, as a loop does on a path. Bits 0..58 variables, bits 59..62 access, bit 63
/// serial. The empty product is 1 (a scalar).
constexpr int access_shift = 59;
constexpr Term variables_mask = (Term{1} << access_shift) - 1;
constexpr Term serial_bit = Term{1} << 63;
constexpr Term make_term(Term variables, Access access) {
  return variables | (static_cast<Term>(access) << access_shift);
}
constexpr Access access_of(Term term) { return static_cast<Access>((term & ~serial_bit) >> access_shift); }
/// The nest of a leaf, and nothing that comes in addition to one.
constexpr bool is_leaf(Term term) {
  return access_of(term) != Access::cleared && access_of(term) != Access::merged;
}
constexpr bool is_serial(Term term) { return (term & serial_bit) != 0; }

/// Relative cost of one trip of a leaf by access class; contiguous = 1. Measured by
/// tests/bench/trip_costs.cc; docs/cost_model.md.
int weight(Access access);

/// Sorted multisets. Time: one term per leaf nest, one per loop that merges compressed levels, one per
/// temporary that is cleared, one per copy. Memory, in elements: one term per temporary, extents only. A
/// scalar (empty term) lives in a register and counts 0 in comparisons. A copy has one term for its values
/// and one for its coordinates, the entries of the original.
///
/// A phase (an outermost nest) whose outermost loop is no index of what it writes runs on one thread. Its
/// terms are serial. T is the sum of all terms, S that of the serial ones. A schedule takes
/// (T - S) / P + S on P threads. It takes no more than another for every P >= 1 exactly when T and S are no
/// more.
struct Cost {
  std::vector<Term> time;
  std::vector<Term> memory;
  auto operator<=>(const Cost&) const = default;
};

/// The serial terms of a sorted sum: its end.
std::span<const Term> serial_terms(std::span<const Term> time);

/// Returns the cost of clearing a temporary. One that is passed between phases is cleared whole by whoever
/// runs the kernel, on all threads. One inside a phase is cleared where its producer reads an operand that
/// stores one of its indices compressed. Such a producer does not write every element once
/// (lower/temporaries.h). Then the elements that it can reach are cleared each time. 0: nothing is cleared.
/// `above`: the product of the loops above the branch; `reached`: of what the producer's loops over the
/// temporary's indices count; `extents`: of their extents.
Term clearing(bool between_phases, Term above, Term reached, Term extents);

/// The cost of a verified tree, computed from the tree alone. `Profile::sparseauto` knows neither access
/// classes (all contiguous) nor clearing nor serial terms, and never counts the outermost level of a sparse
/// tensor as sparse.
Cost of(const concrete_notation::StatementPtr& statement, const problem::Problem& problem);

struct MemoryTerm;

/// Costs of several trees of one problem, which must outlive them: its variables, which take much longer than
/// a tree, are found once. One thread at a time.
class TreeCosts {
 public:
  explicit TreeCosts(const problem::Problem& problem);
  ~TreeCosts();
  Cost of(const concrete_notation::StatementPtr& statement) const;
  std::vector<MemoryTerm> memory_of(const concrete_notation::StatementPtr& statement) const;

 private:
  class Walk;
  std::unique_ptr<Walk> walk_;
};

/// Elements that a hash table takes for each entry it may have to hold: values and keys of at least two
/// positions, lists.
constexpr std::size_t table_elements = 4;

/// Returns the cost of making the problem's copies: entries of what is copied, in class `copied`, and the
/// memory they take. Nothing when copies are declared free (problem::SpaceOptions).
Cost copying(const problem::Problem& problem);

/// "i*j'*k + 2*i*j'*l + clear(i*j') + serial(j*k)" (a prime marks a loop over stored entries); "0" when
/// empty; a scalar prints as "1". A term whose trips weigh more than one has its weight in front.
std::string print_time(const Cost& cost, const Variables& variables);
std::string print_memory(const Cost& cost, const Variables& variables);

/// Values of the variables at run time, by bit.
using Point = std::vector<double>;
/// Weighted trips on so many threads.
double evaluate_time(const Cost& cost, const Point& point, int threads = 1);
double evaluate_serial(const Cost& cost, const Point& point);  ///< those of the serial terms
double evaluate_memory(const Cost& cost, const Point& point);  ///< elements, scalars 0

/// Largest number of factors of a time term; largest number of factors of a memory term (SparseAuto stages 1,
/// 2).
int loop_depth(const Cost& cost);
int memory_depth(const Cost& cost);

}  // namespace schaas::cost
