#include "compiler/cost/listed_vectors.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <variant>

#include "compiler/concrete_notation/loop_order.h"

// The question that lowering asks of a nest, asked of a tree. The entries that a producer writes follow from
// the spaces of its leaves. The reader's space with and without them tells whether it may leave out others.
namespace schaas::cost {
namespace {

using concrete_notation::Assign;
using concrete_notation::Forall;
using concrete_notation::StatementPtr;
using concrete_notation::Terms;
using concrete_notation::Where;

/// In each way to be needed, some operand is walked along the index.
bool is_walked_in(const IterationSpace& space, const std::string& index, const Operands& operands) {
  return !space.empty() && std::all_of(space.begin(), space.end(), [&](OperandSet way) {
    for (; way != 0; way &= way - 1)
      if (concrete_notation::is_walked(operands.at(std::countr_zero(way)), index, operands.problem()))
        return true;
    return false;
  });
}

/// The points at which loops above one leaf, or above terms, write; nothing where a branch is among them.
std::optional<IterationSpace> written_by(const StatementPtr& producer, const Operands& operands) {
  if (const auto* loop = std::get_if<Forall>(&producer->node)) return written_by(loop->body, operands);
  if (const auto* sum = std::get_if<Terms>(&producer->node)) {
    IterationSpace all;
    for (const StatementPtr& term : sum->terms) {
      const auto one = written_by(term, operands);
      if (!one) return std::nullopt;
      all = unite(all, *one);
    }
    return all;
  }
  const auto* leaf = std::get_if<Assign>(&producer->node);
  if (leaf == nullptr || leaf->monoid != operands.problem().semiring->sum) return std::nullopt;
  return iteration_space(leaf->value, leaf->monoid, operands, {});
}

}  // namespace

bool reads_list(const Where& both, const Operands& operands) {
  if (operands.problem().profile != problem::Profile::standard || problem::is_contraction(operands.problem()))
    return false;
  const auto* loop = std::get_if<Forall>(&both.consumer->node);
  const auto* reader = loop == nullptr ? nullptr : std::get_if<Assign>(&loop->body->node);
  const index_notation::Access& vector = concrete_notation::leaf_of(both.producer).target;
  if (reader == nullptr || vector.indices.size() != 1) return false;
  const auto reads = index_notation::operands(reader->value);
  const bool along_loop = std::all_of(reads.begin(), reads.end(), [&](const index_notation::Access& read) {
    return read.tensor != vector.tensor || read.indices.front() == loop->index;
  });
  const auto written = written_by(both.producer, operands);
  if (!along_loop || !written || !is_walked_in(*written, vector.indices.front(), operands)) return false;
  const auto without = iteration_space(reader->value, reader->monoid, operands, {});
  const auto with = iteration_space(reader->value, reader->monoid, operands, {{vector.tensor, *written}});
  const bool walks_others = std::any_of(without.begin(), without.end(), [&](OperandSet way) {
    return is_walked_in({way}, loop->index, operands);
  });
  return !walks_others && std::all_of(with.begin(), with.end(), [&](OperandSet way) {
    return std::any_of(written->begin(), written->end(),
                       [&](OperandSet each) { return (way & each) == each; });
  });
}

}  // namespace schaas::cost
