#include "compiler/cost/listed_vectors.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <variant>

#include "compiler/concrete_notation/loop_order.h"
#include "compiler/support/contains.h"

// The question that lowering asks of a nest, asked of a tree. The entries that a producer writes follow from
// the spaces of its leaves. A reader's space with and without them tells whether it may leave out others.
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

/// The points at which loops above one leaf, or above terms, write; nothing where others may be among them.
std::optional<IterationSpace> written_by(const StatementPtr& producer, const Operands& operands) {
  if (const auto* loop = std::get_if<Forall>(&producer->node)) return written_by(loop->body, operands);
  if (const auto* both = std::get_if<Where>(&producer->node)) return written_by(both->consumer, operands);
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

/// Collects the loops that read one vector, if all of them may walk its list.
class ListLoops {
 public:
  ListLoops(const std::string& vector, const IterationSpace& written, const Operands& operands)
      : vector_(vector), written_(written), operands_(operands) {}

  /// Returns false when some reader may not.
  bool collect(const StatementPtr& statement) {
    if (const auto* loop = std::get_if<Forall>(&statement->node)) {
      around_.push_back(loop);
      const bool all = collect(loop->body);
      around_.pop_back();
      return all;
    }
    if (const auto* both = std::get_if<Where>(&statement->node))
      return collect(both->producer) && collect(both->consumer);
    if (const auto* sum = std::get_if<Terms>(&statement->node))
      return std::all_of(sum->terms.begin(), sum->terms.end(),
                         [&](const StatementPtr& term) { return collect(term); });
    if (const auto* leaf = std::get_if<Assign>(&statement->node)) return collect(*leaf);
    return !reads(statement);
  }

  std::vector<const Forall*> found() && { return std::move(found_); }

 private:
  bool reads(const StatementPtr& statement) const {
    const auto all = concrete_notation::reads(statement);
    return std::any_of(all.begin(), all.end(),
                       [&](const index_notation::Access& read) { return read.tensor == vector_; });
  }

  bool collect(const Assign& leaf) {
    const auto reads = index_notation::operands(leaf.value);
    return std::all_of(reads.begin(), reads.end(), [&](const index_notation::Access& read) {
      if (read.tensor != vector_) return true;
      const auto loop = std::find_if(around_.rbegin(), around_.rend(),
                                     [&](const Forall* each) { return each->index == read.indices.front(); });
      if (loop == around_.rend() || !is_chain((*loop)->body) || !may_walk(leaf, (*loop)->index)) return false;
      if (!support::contains(found_, *loop)) found_.push_back(*loop);
      return true;
    });
  }

  static bool is_chain(const StatementPtr& body) {
    const auto* loop = std::get_if<Forall>(&body->node);
    return loop != nullptr ? is_chain(loop->body) : std::holds_alternative<Assign>(body->node);
  }

  /// The leaf is zero where the vector is not written. No other operand has a list along the index, since a
  /// loop cannot walk two of which one is not sorted.
  bool may_walk(const Assign& leaf, const std::string& index) const {
    const auto is_listed = [&](const index_notation::Access& read) {
      const auto known = operands_.problem().formats.find(read.tensor);
      if (known == operands_.problem().formats.end()) return false;
      const format::TensorFormat& format = known->second;
      for (std::size_t level = 0; level < format.levels.size(); ++level)
        if (format::is_sparse(format.levels[level]) &&
            read.indices[static_cast<std::size_t>(format.mode_order[level])] == index)
          return true;
      return false;
    };
    const auto reads = index_notation::operands(leaf.value);
    if (std::any_of(reads.begin(), reads.end(), is_listed)) return false;
    const auto with = iteration_space(leaf.value, leaf.monoid, operands_, {{vector_, written_}});
    return std::all_of(with.begin(), with.end(), [&](OperandSet way) {
      return std::any_of(written_.begin(), written_.end(),
                         [&](OperandSet each) { return (way & each) == each; });
    });
  }

  const std::string& vector_;
  const IterationSpace& written_;
  const Operands& operands_;
  std::vector<const Forall*> around_;
  std::vector<const Forall*> found_;
};

}  // namespace

std::vector<const Forall*> list_loops(const Where& both, const Operands& operands) {
  if (operands.problem().profile != problem::Profile::standard || problem::is_contraction(operands.problem()))
    return {};
  const index_notation::Access& vector = concrete_notation::leaf_of(both.producer).target;
  if (vector.indices.size() != 1) return {};
  const auto written = written_by(both.producer, operands);
  if (!written || !is_walked_in(*written, vector.indices.front(), operands)) return {};
  ListLoops loops(vector.tensor, *written, operands);
  return loops.collect(both.consumer) ? std::move(loops).found() : std::vector<const Forall*>{};
}

}  // namespace schaas::cost
