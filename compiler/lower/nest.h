#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

/// The tree being lowered, with names resolved to numbers: indices, tensors, and operands (one per occurrence
/// of an access; what the terms of a sum write is one).
namespace schaas::lower {

struct Nest;
using NestPtr = std::shared_ptr<const Nest>;

/// A loop over index `index`; `lanes`: the loop was moved outwards to keep what its body accumulates in
/// registers. `block`: over the values of the present block only; their places in it are 0, 1, ...;
/// `entries`: over those entries of one operand that are the block.
struct Loop {
  int index = 0;
  NestPtr body;
  bool lanes = false;
  bool block = false;
  concrete_notation::Manner manner{};
  bool entries = false;
};
/// What a loop over `index` would run over, `size` values at a time.
struct Blocks {
  int index = 0;
  int size = 0;
  NestPtr body;
  int parts = 0;  ///< above 0: so many blocks instead
};
/// producer fills temporary `temporary` (a tensor), consumer reads it.
struct Branch {
  int temporary = 0;
  NestPtr producer;
  NestPtr consumer;
};
/// One after another; all write the same operand.
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
/// The semiring's product.
struct Multiplied {
  std::vector<ValuePtr> factors;
};
struct Called {
  operators::Function function = operators::Function::add;
  std::vector<ValuePtr> arguments;
};
struct Value {
  std::variant<Read, Constant, Multiplied, Called> node;
};

/// target = monoid(target, value). `factors`: the operands read, left to right. A null value is their product,
/// times `scale`, with the semiring's sum as the monoid, so that factors may be moved out of sums.
struct Leaf {
  int target = 0;
  std::vector<int> factors;
  operators::Monoid monoid = operators::Monoid::sum;
  ValuePtr value;
  std::optional<double> scale{};
  int counted = -1;  ///< the index of the loop around when it folds what is not stored by number (unstored.h)
};
struct Nest {
  std::variant<Loop, Blocks, Branch, Terms, Leaf> node;
};

/// Of blocks: values in each, or how many there are.
struct BlockSize {
  int size = 0;
  int parts = 0;
};

/// An argument of the kernel or a temporary; levels in storage order.
struct Tensor {
  std::string name;   ///< as the problem or tree says it; for messages only
  int argument = -1;  ///< -1: temporary
  std::vector<format::LevelFormat> levels;
  double fill = 0;                    ///< what is not stored; of a temporary what it starts from
  std::map<int, BlockSize> blocks{};  ///< temporaries: of an index of which only one block is held
  /// Temporaries: of the elements that agree in the first so many levels it is remembered whether one has
  /// been written since the start (tracked.cc); 0 of others.
  int tracked = 0;
  /// Temporaries: elements are read only where the producer has written one since the start
  /// (problem/masks.h).
  bool masked = false;
  bool hashed = false;  ///< temporaries: a hash table by the first level, of which one is tracked
  int entries_of = -1;  ///< temporaries: the operand for each entry of which there is an element, or -1
  bool temporary() const { return argument < 0; }
};

/// One access: the index bound to each storage level of the tensor. All reads of an argument with the same
/// indices are one operand.
struct Operand {
  int tensor = 0;
  std::vector<int> indices;
  /// The operand at whose position this one is read or written: of a pattern, and of a temporary with an
  /// element for each entry of an argument; -1: at its own.
  int place = -1;
  /// Not the element is read but whether there is one: the semiring's one or its zero.
  bool pattern = false;
};

/// How the iterations of a phase are done in parts: along level 1 of `operand`, into tensor `carry` where
/// parts write the same elements, else (-1) where the phase writes.
struct PhaseCut {
  int operand = 0;
  int carry = -1;
};

struct NestTree {
  const operators::Semiring* semiring = &operators::plus_times();
  std::vector<std::string> index_names;
  std::vector<Tensor> tensors;  ///< arguments first, in problem.tensors() order
  std::vector<Operand> operands;
  NestPtr root;
  std::map<const Nest*, PhaseCut> cuts{};  ///< by phase (cut.h)
  bool update = false;                     ///< the result starts from what it holds
  std::map<int, std::int64_t> extents{};   ///< of indices for which the code is made for one extent
};

/// Numbers everything. Temporaries get a storage order: that of the loops above the heavier (deeper) of the
/// leaves that write and read it, the writer when they are equally deep, so that its innermost loop walks
/// contiguous elements. Errors: invalid [lower-unknown-index], [lower-rank] for a tree that was not verified.
support::Result<NestTree> number(const concrete_notation::StatementPtr& statement,
                                 const problem::Problem& problem);

NestPtr make_nest(Nest nest);
NestPtr with_body(Loop loop, NestPtr body);
NestPtr with_body(Blocks blocks, NestPtr body);
/// Every operand below, targets included; of patterns the operands at whose position they are read.
std::vector<int> operands_below(const NestPtr& nest, const NestTree& tree);
/// Operands read below.
std::vector<int> factors_below(const NestPtr& nest, const NestTree& tree);
/// The operand that the statement accumulates into for the world outside it (every leaf reached by following
/// consumers writes it).
int target_of(const NestPtr& nest);
/// The monoid of that leaf.
operators::Monoid monoid_of(const NestPtr& nest);
/// True when there are only loops around one leaf.
bool is_chain(const NestPtr& nest);
/// The loop of a branch's consumer, a chain, over the last tracked level of its temporary; or null.
const Loop* tracked_walk(const Branch& branch, const NestTree& tree);
/// First level of `operand` that binds `index`, or -1.
int level_of(const Operand& operand, int index);
/// The semiring and the monoid of a leaf allow to move factors out of its sums.
bool is_plain_product(const Leaf& leaf);

}  // namespace schaas::lower
