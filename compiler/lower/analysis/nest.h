#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/format/level_format.h"
#include "compiler/operators/operators.h"

/// The tree being lowered, with names resolved to numbers: indices, tensors, and operands. An operand is one
/// occurrence of an access; the target shared by the terms of a sum is one operand.
namespace schaas::lower {

struct Nest;
using NestPtr = std::shared_ptr<const Nest>;

/// A number and the sum of coordinates, by index, times their factors.
struct LinearForm {
  std::int64_t number = 0;
  std::map<int, std::int64_t> factors;
};

/// A loop over `index`. `vector`: moved outwards so that its body accumulates in registers. `block`: over the
/// values of the present block only, at offsets 0, 1, ...; `entries`: over the entries of one operand in the
/// block. `value`: the one coordinate at which it adds something, where it is a coordinate of the index
/// (concrete_notation/determined_loops.h). `sums`: a loop of the same chain around it sums into its target.
struct Loop {
  int index = 0;
  NestPtr body;
  bool vector = false;
  bool block = false;
  concrete_notation::LoopAnnotation annotation{};
  bool entries = false;
  std::optional<LinearForm> value{};
  bool sums = false;
};
/// The values of a loop over `index`, `size` at a time.
struct Blocks {
  int index = 0;
  int size = 0;
  NestPtr body;
  int parts = 0;  ///< above 0: number of blocks instead
};
/// producer fills temporary `temporary` (a tensor), consumer reads it.
struct Branch {
  int temporary = 0;
  NestPtr producer;
  NestPtr consumer;
};
/// Terms computed one after another into the same operand.
struct Terms {
  std::vector<NestPtr> terms;
};
struct Value;
using ValuePtr = std::shared_ptr<const Value>;
/// The element of an operand.
struct Read {
  int operand = 0;
};
struct Constant {
  double value = 0;
};
/// The coordinate of an index, whose loop is around.
struct Coordinate {
  int index = 0;
};
/// The semiring's product.
struct Multiplied {
  std::vector<ValuePtr> factors;
};
struct Called {
  operators::Function function = operators::Function::add;
  std::vector<ValuePtr> arguments;
};
struct Value {
  std::variant<Read, Constant, Coordinate, Multiplied, Called> node;
};

/// A comparison of coordinates: of a form, the left side without the right one, with 0.
struct CoordinateComparison {
  operators::Function function = operators::Function::equal;
  LinearForm difference;
};

/// target = monoid(target, value). `factors`: the operands read, left to right. A null value is their product
/// times `scale`, folded by the semiring's sum, so factors may move out of sums.
struct Leaf {
  int target = 0;
  std::vector<int> factors;
  operators::Monoid monoid = operators::Monoid::sum;
  ValuePtr value;
  std::optional<double> scale{};
  std::vector<CoordinateComparison> comparisons{};  ///< they hold wherever the value differs from 0
  /// Indices of the innermost loops around that fold unstored values by their number (unstored.h).
  std::vector<int> counted{};
};
struct Nest {
  std::variant<Loop, Blocks, Branch, Terms, Leaf> node;
};

/// Values in each block, or the number of blocks.
struct BlockSize {
  int size = 0;
  int parts = 0;
};

/// An argument of the kernel or a temporary; levels in storage order.
struct Tensor {
  std::string name;   ///< as in the problem or tree; for messages only
  int argument = -1;  ///< -1: temporary
  std::vector<format::LevelFormat> levels;
  double fill = 0;                    ///< value of unstored elements; of a temporary its start value
  std::map<int, BlockSize> blocks{};  ///< temporaries: indices of which only one block is held
  /// Temporaries: number of first levels with an occupancy flag per element, set by the first write
  /// (emit/sparse_accumulators.cc); 0: none.
  int occupancy_levels = 0;
  /// Temporaries: read only at elements that the producer has written since the start (problem/masks.h).
  bool masked = false;
  bool hashed = false;  ///< temporaries: a hash table over the first level, which has occupancy
  int entries_of = -1;  ///< temporaries: operand with an entry for each element, or -1
  /// Arguments in coo that are read as csr: a phase finds the positions (row_index.h).
  bool has_row_index = false;
  bool temporary() const { return argument < 0; }
};

/// One access: the index bound to each storage level of the tensor. All reads of an argument with the same
/// indices are one operand.
struct Operand {
  int tensor = 0;
  std::vector<int> indices;
  /// The operand at whose position this one is read or written: for patterns and for temporaries with an
  /// element per entry of an argument; -1: its own.
  int located_by = -1;
  /// Reads the presence of the element, as the semiring's one or zero, instead of its value.
  bool pattern = false;
};

/// Row splitting of a phase along level 1 of `operand`. Partial results go to tensor `carry_out` where they
/// share elements, else (-1) where the phase writes.
struct RowSplit {
  int operand = 0;
  int carry_out = -1;
};

struct NestTree {
  const operators::Semiring* semiring = &operators::plus_times();
  std::vector<std::string> index_names;
  std::vector<Tensor> tensors;  ///< arguments first, in problem.tensors() order
  std::vector<Operand> operands;
  NestPtr root;
  std::map<const Nest*, RowSplit> row_splits{};  ///< by phase (row_splitting.h)
  bool update = false;                           ///< the result starts from what it holds
  std::map<int, std::int64_t> extents{};         ///< indices with code for a single extent
};

inline const Operand& operand(const NestTree& tree, int number) {
  return tree.operands[static_cast<std::size_t>(number)];
}
/// Returns the tensor of an operand.
inline const Tensor& tensor_of(const NestTree& tree, int number) {
  return tree.tensors[static_cast<std::size_t>(operand(tree, number).tensor)];
}

NestPtr make_nest(Nest nest);
NestPtr with_body(Loop loop, NestPtr body);
NestPtr with_body(Blocks blocks, NestPtr body);
/// Returns every operand below, targets included; for patterns the operands at whose position they are read.
std::vector<int> operands_below(const NestPtr& nest, const NestTree& tree);
/// Returns the operands read below.
std::vector<int> factors_below(const NestPtr& nest, const NestTree& tree);
/// Returns the operand that the statement accumulates into for the statements around it. Every leaf reached
/// through consumers writes it.
int target_of(const NestPtr& nest);
/// Returns the monoid of that leaf.
operators::Monoid monoid_of(const NestPtr& nest);
/// True when there are only loops around one leaf.
bool is_chain(const NestPtr& nest);
/// Returns that leaf, or null.
const Leaf* leaf_of_chain(const NestPtr& nest);
/// The loop is one of a chain whose leaf folds the unstored values along it by their number.
bool counts_unstored(const Loop& loop);
/// Returns the loop on the way to the consumer's target over the last occupancy level of the temporary, which
/// is read below it; or null.
const Loop* occupied_walk(const Branch& branch, const NestTree& tree);
/// Returns the first level of `operand` that binds `index`, or -1.
int level_of(const Operand& operand, int index);
/// The semiring and the monoid of a leaf allow moving factors out of its sums.
bool is_plain_product(const Leaf& leaf);

}  // namespace schaas::lower
