#include "compiler/lower/emit/phases.h"

#include <algorithm>
#include <utility>

#include "compiler/lower/analysis/referenced_rows.h"
#include "compiler/lower/emit/emission.h"
#include "compiler/lower/emit/facts/temporaries.h"
#include "compiler/lower/emit/partial_results.h"
#include "compiler/lower/emit/phase_range.h"

// A root `where` is split into the phases of its producer, then those of its consumer; the terms of a root
// sum are phases, too. Facts of a phase are set here, before its loops are emitted (nests.cc). Rewriting that
// needs no knowledge of formats is left to passes on kernels (passes.cc).
namespace schaas::lower {

using concrete_notation::Races;
using loop_ir::make;
using loop_ir::Step;
using loop_ir::Write;

namespace {

class Phases {
 public:
  Phases(const NestTree& tree, KernelBuilder& builder) : tree_(tree), builder_(builder) {}

  void emit(const NestPtr& nest);
  void emit_row_index(int tensor);

 private:
  std::size_t term_that_begins(const Terms& sum);
  void emit_shared(const Branch& branch);
  void emit_single(const NestPtr& nest);
  Write write_mode(const NestPtr& nest, bool atomic);
  Write write_mode_of_one_thread(const NestPtr& nest);
  void emit_appending(const NestPtr& nest, const Sink& sink);
  void emit_phase(const NestPtr& nest, const Sink& sink, Step step);
  void run_over_referenced_rows(const NestPtr& nest);
  void map_to_threads(const NestPtr& nest) {
    emission_.facts.mapped = emission_.facts.for_gpu ? mapped_loops(nest, tree_) : MappedLoops{};
  }

  const NestTree& tree_;
  KernelBuilder& builder_;
  Emission emission_{tree_, builder_};
  const Branch* reader_ = nullptr;  ///< branch whose consumer reads the target of the phase
};

void Phases::emit(const NestPtr& nest) {
  bool& adds_terms = emission_.facts.adds_terms;
  if (const auto* branch = std::get_if<Branch>(&nest->node)) {
    emit_shared(*branch);
    const bool outside = std::exchange(adds_terms, false);
    const Branch* const reader = std::exchange(reader_, branch);
    emit(branch->producer);
    adds_terms = outside;
    reader_ = reader;
    emit(branch->consumer);
  } else if (const auto* sum = std::get_if<Terms>(&nest->node)) {
    const bool outside = std::exchange(adds_terms, true);
    const std::size_t first = outside ? sum->terms.size() : term_that_begins(*sum);
    if (first < sum->terms.size()) {
      adds_terms = false;
      emit(sum->terms[first]);
      adds_terms = true;
    }
    for (std::size_t n = 0; n < sum->terms.size(); ++n)
      if (n != first) emit(sum->terms[n]);
    adds_terms = outside;
  } else {
    emit_single(nest);
  }
}

/// Returns the term that stores the whole result, to which the others add: the client then need not clear it.
/// The number of terms where there is none. A dense term of a matrix is copied so, before entries are added.
std::size_t Phases::term_that_begins(const Terms& sum) {
  const auto begins = [&](const NestPtr& term) {
    if (!std::holds_alternative<Loop>(term->node) || emission_.facts.for_gpu || tree_.update) return false;
    const int target = target_of(term);
    const Tensor& tensor = tensor_of(tree_, target);
    return !tensor.temporary() && tensor.fill == 0 && monoid_of(term) == operators::Monoid::sum &&
           !operand(tree_, target).indices.empty() && !reduces_across_threads(term, tree_) &&
           writes_each_once(term, tree_);
  };
  const auto found = std::find_if(sum.terms.begin(), sum.terms.end(), begins);
  return static_cast<std::size_t>(found - sum.terms.begin());
}

/// Emits the phase that finds where the rows of a matrix in coo begin. Each entry stores the end of its row
/// so far, and the last one prevails. Rows without entries end where the one before them does.
void Phases::emit_row_index(int tensor) {
  const auto read = std::find_if(tree_.operands.begin(), tree_.operands.end(),
                                 [&](const Operand& each) { return each.tensor == tensor; });
  const auto rows = builder_.extents.of(read->indices.front());
  const std::string ends = builder_.arrays.positions(tensor, 0),
                    rows_of = builder_.arrays.coordinates(tensor, 0);
  const std::string begins = builder_.shared.add_row_index(tensor, rows);
  const std::string entry = builder_.names.fresh("p"), row = builder_.names.fresh("r");
  const std::string last = builder_.names.fresh("last"), next = builder_.names.fresh("r");
  const auto one_more = [](const std::string& name) {
    return loop_ir::add(loop_ir::name(name), loop_ir::integer(1));
  };
  loop_ir::For entries{
      entry, loop_ir::load(ends, loop_ir::integer(0)), loop_ir::load(ends, loop_ir::integer(1)),
      loop_ir::Shape::scalar,
      loop_ir::block(
          {make(loop_ir::Let{row, loop_ir::Type::index, loop_ir::load(rows_of, loop_ir::name(entry))}),
           make(loop_ir::Store{begins, one_more(row), Write::set, one_more(entry)})})};
  entries.entries = rows_of;
  const auto reached = loop_ir::apply(operators::Function::maximum,
                                      {loop_ir::name(last), loop_ir::load(begins, one_more(next))});
  loop_ir::Phase phase;
  phase.range = loop_ir::integer(1);
  phase.body = loop_ir::block(
      {make(std::move(entries)), make(loop_ir::Counter{last, loop_ir::integer(0)}),
       make(loop_ir::For{next, loop_ir::integer(0), rows, loop_ir::Shape::scalar,
                         loop_ir::block({make(loop_ir::SetCounter{last, reached}),
                                         make(loop_ir::Store{begins, one_more(next), Write::set,
                                                             loop_ir::name(last)})})})});
  builder_.kernel.phases.push_back(std::move(phase));
}

/// Allocates a temporary that one phase leaves to later ones; it starts at zero.
void Phases::emit_shared(const Branch& branch) {
  const int writer = target_of(branch.producer);
  const auto& indices = operand(tree_, writer).indices;
  builder_.shared.add_values(branch.temporary, indices);
  if (emission_.facts.tracks(writer)) return emission_.accumulators.declare_shared(branch);
  const double start = tensor_of(tree_, writer).fill;
  map_to_threads(branch.producer);
  const bool stored = !indices.empty() && may_overwrite(branch.producer, tree_) &&
                      (emission_.facts.for_gpu ? emission_.writes.are_exclusive()
                                               : !reduces_across_threads(branch.producer, tree_));
  // Shared arrays start at zero; a phase of its own fills in another start value.
  if (start == 0 || stored) return;
  loop_ir::Phase phase;
  phase.range = loop_ir::integer(1);
  phase.body =
      make(loop_ir::Fill{builder_.arrays.values(branch.temporary), loop_ir::integer(0),
                         builder_.arrays.elements(branch.temporary, indices), loop_ir::number(start)});
  builder_.kernel.phases.push_back(std::move(phase));
}

/// Emits the phase of a nest, or both phases of one that appends to a sparse result.
void Phases::emit_single(const NestPtr& nest) {
  const int target = target_of(nest);
  builder_.arrays.set_written(operand(tree_, target).tensor);
  const auto* loop = std::get_if<Loop>(&nest->node);
  map_to_threads(nest);
  const Write mode = write_mode(nest, loop != nullptr && loop->annotation.parallel == Races::atomics);
  emission_.facts.atomic = mode == Write::atomic ? operand(tree_, target).tensor : -1;
  const Sink sink{Sink::Kind::array, target, mode, "", monoid_of(nest)};
  if (emission_.facts.appends_to(target)) return emit_appending(nest, sink);
  if (emission_.clearing.open(nest, sink)) builder_.kernel.writes_all = true;
  emit_phase(nest, sink, Step::compute);
  emission_.clearing.close();
  // An element that is stored exactly once needs no start value. Partial results of split rows are folded.
  const bool stored = mode == Write::set && tensor_of(tree_, target).temporary() &&
                      !emission_.facts.for_gpu && tree_.row_splits.count(nest.get()) == 0 &&
                      writes_each_once(nest, tree_);
  if (!stored) return;
  builder_.shared.set_stored(operand(tree_, target).tensor);
  run_over_referenced_rows(nest);
}

/// Decides how the phase writes. `atomic`: the schedule says so.
Write Phases::write_mode(const NestPtr& nest, bool atomic) {
  if (emission_.facts.for_gpu) {
    emission_.writes.open(nest);
    return emission_.writes.are_exclusive() ? write_mode_of_one_thread(nest) : Write::atomic;
  }
  if (atomic) return Write::atomic;
  return reduces_across_threads(nest, tree_) ? Write::fold : write_mode_of_one_thread(nest);
}

/// Decides whether a phase stores or folds into its target, and whether it writes every value of a result.
Write Phases::write_mode_of_one_thread(const NestPtr& nest) {
  const int target = target_of(nest);
  const Tensor& tensor = tensor_of(tree_, target);
  const EmissionFacts& facts = emission_.facts;
  // Scalars, terms of a sum and elements of sparse accumulators are folded into.
  if (operand(tree_, target).indices.empty() || facts.adds_terms || facts.tracks(target) ||
      !facts.sums_in_register(target))
    return Write::fold;
  if (tensor.temporary()) return may_overwrite(nest, tree_) ? Write::set : Write::fold;
  const bool all = writes_each_once(nest, tree_);
  // Only a sum starting at 0 leaves a fresh element equal to the first term.
  const bool plain = monoid_of(nest) == operators::Monoid::sum && tensor.fill == 0 && !tree_.update;
  if (!plain || !writes_none_twice(nest, tree_)) return Write::fold;
  if (all || writes_entries_once(nest, tree_)) builder_.kernel.writes_all = true;
  return Write::set;
}

/// Emits the symbolic phase, then the numeric one, between which the result is allocated.
void Phases::emit_appending(const NestPtr& nest, const Sink& sink) {
  EntryAppends& appends = emission_.appends;
  appends.declare_counts(sink.operand, phase_of(nest, emission_.facts).range);
  emit_phase(nest, sink, Step::symbolic);
  // One-pass assembly by several threads pays only where counting does more than add up lengths of lists.
  const bool slow = counts_entry_by_entry(builder_.kernel.phases.back());
  appends.open_numeric_phase(nest, sink.operand);
  emit_phase(nest, sink, Step::compute);
  const bool tables =
      std::any_of(tree_.tensors.begin(), tree_.tensors.end(), [](const Tensor& each) { return each.hashed; });
  loop_ir::Kernel& kernel = builder_.kernel;
  if (!tables && appends.rows_follow() && kernel.writes_all)
    kernel.appends = slow ? loop_ir::Appends::always : loop_ir::Appends::alone;
  appends.close();
}

void Phases::emit_phase(const NestPtr& nest, const Sink& sink, Step step) {
  EmissionFacts& facts = emission_.facts;
  const Loop* columns = facts.mapped.columns;
  facts.step = step;
  facts.outermost = std::visit([](const auto& node) -> const void* { return &node; }, nest->node);
  // With columns around them, the rows are counted by the range.
  if (columns != nullptr) facts.outermost = facts.mapped.rows;
  Statements out;
  const Scope scope = emission_.levels.start(nest, out);
  loop_ir::Phase phase = phase_of(columns != nullptr ? columns->body : nest, facts);
  phase.step = step;
  if (step == Step::symbolic) {
    emission_.structure.emit_count(nest, scope, out);
  } else {
    emission_.nests.emit(nest, scope, sink, out);
  }
  if (facts.for_gpu) emission_.writes.close(out, phase);
  phase.body = loop_ir::block(std::move(out));
  const auto row_split = tree_.row_splits.find(nest.get());
  if (row_split != tree_.row_splits.end() && step == Step::compute)
    phase.row_split = emit_row_split(nest, sink, row_split->second, emission_);
  builder_.kernel.phases.push_back(std::move(phase));
}

/// Leaves out rows of a temporary that its readers do not reference.
void Phases::run_over_referenced_rows(const NestPtr& nest) {
  const int target = target_of(nest);
  if (reader_ == nullptr || reader_->temporary != operand(tree_, target).tensor ||
      !iterates_rows(nest, target, tree_))
    return;
  const auto referenced = referenced_rows(reader_->consumer, reader_->temporary, tree_);
  if (!referenced) return;
  const std::string variable = builder_.names.fresh("q");
  builder_.variables[&std::get<Loop>(nest->node)].push_back(variable);
  builder_.kernel.phases.back() = over_referenced_rows(
      std::move(builder_.kernel.phases.back()),
      builder_.shared.add_referenced(operand(tree_, referenced->operand), referenced->level), variable);
}

}  // namespace

void emit_phases(const NestTree& tree, KernelBuilder& builder) {
  Phases phases(tree, builder);
  for (std::size_t n = 0; n < tree.tensors.size(); ++n)
    if (tree.tensors[n].has_row_index) phases.emit_row_index(static_cast<int>(n));
  phases.emit(tree.root);
}

}  // namespace schaas::lower
