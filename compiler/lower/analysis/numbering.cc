#include "compiler/lower/analysis/numbering.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "compiler/concrete_notation/determined_loops.h"
#include "compiler/concrete_notation/masked_elements.h"
#include "compiler/concrete_notation/semantics.h"
#include "compiler/concrete_notation/stored_by_entries.h"
#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/analysis/iteration_space.h"
#include "compiler/lower/analysis/occupancy.h"
#include "compiler/problem/linear_form.h"
#include "compiler/support/contains.h"

// Resolves the names of a concrete tree to numbers, in one walk that keeps the loops, blocks and shared
// targets around. Reads of an argument with the same indices are one operand, walked once; so is the target
// of several terms. Last, each temporary gets the order of its modes: that of the loops around its deepest
// use, so that the innermost loop walks adjacent elements.
namespace schaas::lower {
namespace {

using concrete_notation::Assign;
using ConcreteBlocks = concrete_notation::Blocks;
using concrete_notation::Forall;
using ConcreteTerms = concrete_notation::Terms;
using concrete_notation::Where;
using index_notation::Access;
using index_notation::Expression;
using loop_ir::Match;

/// A leaf's operand together with the loops above the leaf, outermost first.
struct Use {
  int operand = 0;
  std::vector<int> loops;
};

class Numbering {
 public:
  explicit Numbering(const problem::Problem& problem) : problem_(problem) {}

  support::Result<NestTree> run(const concrete_notation::StatementPtr& statement) {
    tree_.semiring = problem_.semiring;
    tree_.index_names = problem_.indices();
    for (const auto& pattern : problem_.patterns) patterns_.insert(pattern.name);
    int argument = 0;
    for (const auto& name : problem_.tensors()) {
      const auto found = problem_.formats.find(name);
      SCHAAS_CHECK(found != problem_.formats.end(), "no format for " + name);
      tensor_numbers_[name] = argument;
      tree_.tensors.push_back(Tensor{name, argument++, found->second.levels, problem_.semiring->zero});
    }
    for (const auto& pattern : problem_.patterns)
      tensor_numbers_[pattern.name] = tensor_numbers_.at(pattern.tensor);
    SCHAAS_ASSIGN_OR_RETURN(tree_.root, convert(statement));
    tree_.update = problem_.statement.update.has_value();
    give_occupancy(tree_);
    order_temporaries();
    return tree_;
  }

 private:
  support::Result<NestPtr> convert(const concrete_notation::StatementPtr& statement) {
    return std::visit(Match{
                          [&](const Forall& forall) { return convert_loop(forall); },
                          [&](const ConcreteBlocks& blocks) { return convert_blocks(blocks); },
                          [&](const Where& where) { return convert_branch(where); },
                          [&](const ConcreteTerms& sum) { return convert_terms(sum); },
                          [&](const Assign& assign) { return convert_leaf(assign); },
                      },
                      statement->node);
  }

  support::Result<int> index_number(const std::string& index) {
    const auto found = std::find(tree_.index_names.begin(), tree_.index_names.end(), index);
    if (found != tree_.index_names.end()) return static_cast<int>(found - tree_.index_names.begin());
    return support::invalid("lower-unknown-index",
                            "index `" + index + "` of the tree is not an index of the problem");
  }

  support::Result<NestPtr> convert_loop(const Forall& forall) {
    SCHAAS_ASSIGN_OR_RETURN(const int index, index_number(forall.index));
    if (forall.annotation.extent) tree_.extents[index] = *forall.annotation.extent;
    Loop loop{index, nullptr, false, blocks_.count(index) > 0, forall.annotation};
    const auto determined = determined_value(forall);
    if (determined) {
      SCHAAS_ASSIGN_OR_RETURN(loop.value, numbered(determined->value));
      held_.push_back(determined->equation);
    }
    const auto& written = leaf_of(forall.body).target.indices;
    loop.sums = std::any_of(chain_.begin(), chain_.end(),
                            [&](const Forall* each) { return !support::contains(written, each->index); });
    around_.push_back(&forall);
    chain_.push_back(&forall);
    loops_.push_back(index);
    auto body = convert(forall.body);
    loops_.pop_back();
    chain_.pop_back();
    around_.pop_back();
    if (determined) held_.pop_back();
    if (!body.ok()) return body.error();
    loop.body = *body;
    return make_nest({std::move(loop)});
  }

  /// Returns the one value of a loop inside those that are converted. Threads of a GPU, pairs and blocks of
  /// loops, and ranges of entries are not shared out by it.
  std::optional<concrete_notation::DeterminedLoop> determined_value(const Forall& forall) const {
    std::vector<std::string> names;
    for (const Forall* each : around_) {
      const concrete_notation::LoopAnnotation& annotation = each->annotation;
      if (annotation.mapping || annotation.collapsed || annotation.positions > 0) return std::nullopt;
      names.push_back(each->index);
    }
    if (!blocks_.empty()) return std::nullopt;
    return concrete_notation::determined_loop(forall, names, problem_);
  }

  support::Result<LinearForm> numbered(const problem::LinearForm& form) {
    LinearForm out{form.number, {}};
    for (const auto& [name, factor] : form.factors) {
      SCHAAS_ASSIGN_OR_RETURN(const int index, index_number(name));
      out.factors[index] = factor;
    }
    return out;
  }

  support::Result<NestPtr> convert_blocks(const ConcreteBlocks& blocks) {
    SCHAAS_ASSIGN_OR_RETURN(const int index, index_number(blocks.index));
    blocks_[index] = {blocks.size, blocks.parts};
    auto body = convert(blocks.body);
    blocks_.erase(index);
    if (!body.ok()) return body.error();
    // Blocks of the only list that is walked hold entries, not coordinates.
    if (loop_space(*body, index, tree_).kind == LoopSpace::Kind::walk) body = over_entries(*body, index);
    return make_nest({Blocks{index, blocks.size, *body, blocks.parts}});
  }

  /// Marks the loops over the index that run over the entries of a block.
  static NestPtr over_entries(const NestPtr& nest, int index) {
    return std::visit(
        Match{
            [&](const Loop& loop) {
              Loop out = loop;
              out.entries = out.entries || loop.index == index;
              return with_body(out, over_entries(loop.body, index));
            },
            [&](const Blocks& blocks) { return with_body(blocks, over_entries(blocks.body, index)); },
            [&](const Branch& branch) {
              return make_nest({Branch{branch.temporary, over_entries(branch.producer, index),
                                       over_entries(branch.consumer, index)}});
            },
            [&](const Terms& sum) {
              Terms out;
              for (const auto& term : sum.terms) out.terms.push_back(over_entries(term, index));
              return make_nest({std::move(out)});
            },
            [&](const Leaf&) { return nest; },
        },
        nest->node);
  }

  support::Result<NestPtr> convert_branch(const Where& where) {
    const auto blocks_here = blocks_;
    const Access& passed = leaf_of(where.producer).target;
    // A temporary between phases may have one element for each entry of an argument.
    if (loops_.empty() && blocks_.empty()) {
      if (auto pattern = concrete_notation::stored_by_entries(where, problem_))
        by_entries_[passed.tensor] = {passed, std::move(*pattern)};
    }
    const auto outside = std::exchange(chain_, {});
    SCHAAS_ASSIGN_OR_RETURN(NestPtr producer, convert(where.producer));
    SCHAAS_ASSIGN_OR_RETURN(NestPtr consumer, convert(where.consumer));
    chain_ = outside;
    const int temporary = tree_.operands[static_cast<std::size_t>(target_of(producer))].tensor;
    Tensor& kept = tree_.tensors[static_cast<std::size_t>(temporary)];
    kept.masked = concrete_notation::writes_whole_mask(where, problem_);
    kept.hashed = where.storage == concrete_notation::Storage::hash;
    if (kept.hashed) kept.levels.front() = format::LevelFormat::hashed;
    // Both sides bind the temporary's block index inside the block.
    for (const int index : tree_.operands[static_cast<std::size_t>(target_of(producer))].indices) {
      const auto block = blocks_here.find(index);
      if (block != blocks_here.end())
        tree_.tensors[static_cast<std::size_t>(temporary)].blocks.insert(*block);
    }
    return make_nest({Branch{temporary, producer, consumer}});
  }

  /// All terms write one operand.
  support::Result<NestPtr> convert_terms(const ConcreteTerms& sum) {
    const auto outside = shared_target_;
    const auto around = std::exchange(chain_, {});
    Terms terms;
    for (const concrete_notation::StatementPtr& term : sum.terms) {
      auto converted = convert(term);
      if (!converted.ok()) return converted.error();
      terms.terms.push_back(*converted);
      if (terms.terms.size() == 1) shared_target_[leaf_of(term).target.tensor] = target_of(*converted);
    }
    shared_target_ = outside;
    chain_ = around;
    return make_nest({std::move(terms)});
  }

  support::Result<NestPtr> convert_leaf(const Assign& assign) {
    Leaf leaf;
    leaf.monoid = assign.monoid;
    if (const auto shared = shared_target_.find(assign.target.tensor); shared != shared_target_.end()) {
      leaf.target = shared->second;
    } else {
      SCHAAS_ASSIGN_OR_RETURN(leaf.target, add_operand(assign.target, true));
    }
    tree_.tensors[number_of(leaf.target)].fill = concrete_notation::start_value(assign.monoid, problem_);
    const Expression left = without_held(assign.value);
    SCHAAS_ASSIGN_OR_RETURN(auto value, convert_value(left, leaf.factors));
    leaf.scale = scale_of(left);
    const bool product = leaf.scale || index_notation::is_product(left);
    if (!product || assign.monoid != problem_.semiring->sum) leaf.value = std::move(value);
    const bool multiplies = problem_.semiring->product == operators::Function::multiply;
    for (const auto& comparison : problem::comparisons_of(left, multiplies)) {
      SCHAAS_ASSIGN_OR_RETURN(LinearForm difference, numbered(comparison.difference));
      leaf.comparisons.push_back({comparison.function, std::move(difference)});
    }
    return make_nest({std::move(leaf)});
  }

  /// Leaves out the equations that determine loops around: they hold in these.
  Expression without_held(const Expression& value) const {
    const auto* product = std::get_if<index_notation::Product>(&value.node);
    if (product == nullptr || held_.empty()) return value;
    index_notation::Product left;
    std::vector<Expression> held = held_;
    for (const Expression& factor : product->factors) {
      const auto known = std::find(held.begin(), held.end(), factor);
      if (known == held.end())
        left.factors.push_back(factor);
      else
        held.erase(known);
    }
    if (left.factors.empty()) return Expression{index_notation::Literal{problem_.semiring->one}, value.range};
    if (left.factors.size() == 1) return left.factors.front();
    return Expression{std::move(left), value.range};
  }

  /// Returns the number that a product of it and of accesses begins with.
  static std::optional<double> scale_of(const Expression& value) {
    const auto* product = std::get_if<index_notation::Product>(&value.node);
    if (product == nullptr) return std::nullopt;
    const auto* scale = std::get_if<index_notation::Literal>(&product->factors.front().node);
    const bool rest =
        std::all_of(product->factors.begin() + 1, product->factors.end(),
                    [](const Expression& factor) { return std::holds_alternative<Access>(factor.node); });
    return scale != nullptr && rest ? std::optional(scale->value) : std::nullopt;
  }

  /// Numbers operands in the order they are read.
  support::Result<ValuePtr> convert_value(const Expression& expression, std::vector<int>& reads) {
    if (const auto* access = std::get_if<Access>(&expression.node)) {
      SCHAAS_ASSIGN_OR_RETURN(const int operand, add_operand(*access, false));
      reads.push_back(operand);
      return make_value({Read{operand}});
    }
    if (const auto* literal = std::get_if<index_notation::Literal>(&expression.node))
      return make_value({Constant{literal->value}});
    if (const auto* coordinate = std::get_if<index_notation::Coordinate>(&expression.node)) {
      SCHAAS_ASSIGN_OR_RETURN(const int index, index_number(coordinate->index));
      return make_value({Coordinate{index}});
    }
    std::vector<ValuePtr> parts;
    for (const auto& part : index_notation::parts(expression)) {
      SCHAAS_ASSIGN_OR_RETURN(auto value, convert_value(part, reads));
      parts.push_back(std::move(value));
    }
    if (const auto* call = std::get_if<index_notation::Call>(&expression.node))
      return make_value({Called{call->function, std::move(parts)}});
    SCHAAS_CHECK(std::holds_alternative<index_notation::Product>(expression.node),
                 "a reduction inside an assignment of the tree");
    return make_value({Multiplied{std::move(parts)}});
  }

  static ValuePtr make_value(Value value) { return std::make_shared<const Value>(std::move(value)); }
  std::size_t number_of(int operand) const {
    return static_cast<std::size_t>(tree_.operands[static_cast<std::size_t>(operand)].tensor);
  }

  /// Numbers an access. Its indices are in storage order; temporaries are ordered later.
  support::Result<int> add_operand(const Access& access, bool written) {
    const auto known = tensor_numbers_.find(access.tensor);
    if (known == tensor_numbers_.end()) {
      tensor_numbers_[access.tensor] = static_cast<int>(tree_.tensors.size());
      const std::vector<format::LevelFormat> levels(access.indices.size(), format::LevelFormat::dense);
      tree_.tensors.push_back(Tensor{access.tensor, -1, levels});
    }
    const int tensor = tensor_numbers_[access.tensor];
    const auto& description = tree_.tensors[static_cast<std::size_t>(tensor)];
    if (description.levels.size() != access.indices.size()) {
      return support::invalid("lower-rank", "`" + access.tensor + "` has " +
                                                std::to_string(description.levels.size()) +
                                                " levels but the tree accesses it with " +
                                                std::to_string(access.indices.size()) + " indices");
    }
    Operand operand{tensor, {}};
    for (std::size_t level = 0; level < access.indices.size(); ++level) {
      const std::size_t mode = description.temporary() ? level : mode_of(access.tensor, level);
      SCHAAS_ASSIGN_OR_RETURN(const int index, index_number(access.indices[mode]));
      operand.indices.push_back(index);
    }
    if (!description.temporary() && !written)
      return read_argument(operand, patterns_.count(access.tensor) > 0);
    if (const auto entries = by_entries_.find(access.tensor); entries != by_entries_.end()) {
      SCHAAS_ASSIGN_OR_RETURN(operand.located_by, add_operand(entry_of(access, entries->second), false));
      const int at = tree_.operands[static_cast<std::size_t>(operand.located_by)].located_by;
      if (at >= 0) operand.located_by = at;
      tree_.tensors[static_cast<std::size_t>(tensor)].entries_of = operand.located_by;
    }
    const int number = static_cast<int>(tree_.operands.size());
    tree_.operands.push_back(operand);
    if (tree_.tensors[static_cast<std::size_t>(tensor)].temporary())
      uses_[tensor].push_back(Use{number, loops_});
    return number;
  }

  /// Returns the operand of these indices; a pattern gets another one at the same position.
  int read_argument(const Operand& operand, bool pattern) {
    const std::pair key{operand.tensor, operand.indices};
    auto found = arguments_.find(key);
    if (found == arguments_.end()) {
      found = arguments_.emplace(key, static_cast<int>(tree_.operands.size())).first;
      tree_.operands.push_back(operand);
    }
    if (!pattern) return found->second;
    auto known = pattern_reads_.find(key);
    if (known == pattern_reads_.end()) {
      known = pattern_reads_.emplace(key, static_cast<int>(tree_.operands.size())).first;
      tree_.operands.push_back(Operand{operand.tensor, operand.indices, found->second, true});
    }
    return known->second;
  }

  /// A temporary with an element for each entry of an argument: its access as written, and the pattern.
  struct ByEntries {
    Access target;
    Access pattern;
  };
  /// Returns the pattern at which the temporary is read or written as `access`.
  static Access entry_of(const Access& access, const ByEntries& entries) {
    Access out = entries.pattern;
    for (auto& index : out.indices) {
      const auto& names = entries.target.indices;
      const auto mode = std::find(names.begin(), names.end(), index) - names.begin();
      index = access.indices[static_cast<std::size_t>(mode)];
    }
    return out;
  }

  std::size_t mode_of(const std::string& tensor, std::size_t level) const {
    return static_cast<std::size_t>(problem_.formats.at(tensor).mode_order[level]);
  }

  /// Gives all uses of a temporary their indices in one order of its modes.
  void order_temporaries() {
    for (const auto& [tensor, uses] : uses_) {
      // Those with occupancy keep the order in which entries are appended.
      if (tree_.tensors[static_cast<std::size_t>(tensor)].occupancy_levels > 0) continue;
      const Use* heavier =
          &uses.front();  // the writer comes first: a producer is numbered before its consumer
      for (const auto& use : uses)
        if (use.loops.size() > heavier->loops.size()) heavier = &use;
      const auto order = order_by_loops(*heavier);
      for (const auto& use : uses) {
        auto& indices = tree_.operands[static_cast<std::size_t>(use.operand)].indices;
        const std::vector<int> before = indices;
        for (std::size_t n = 0; n < order.size(); ++n) indices[n] = before[order[n]];
      }
    }
  }

  std::vector<std::size_t> order_by_loops(const Use& use) const {
    const auto& indices = tree_.operands[static_cast<std::size_t>(use.operand)].indices;
    std::vector<std::size_t> order(indices.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::find(use.loops.begin(), use.loops.end(), indices[a]) <
             std::find(use.loops.begin(), use.loops.end(), indices[b]);
    });
    return order;
  }

  const problem::Problem& problem_;
  NestTree tree_;
  std::map<std::string, int> tensor_numbers_;
  std::map<int, std::vector<Use>> uses_;
  std::vector<int> loops_;
  std::vector<const Forall*> around_, chain_;  ///< all loops around, and those below the innermost branch
  std::vector<Expression> held_;               ///< equations that determine loops around
  std::map<int, BlockSize> blocks_;            ///< open blocks by index
  std::set<std::string> patterns_;
  std::map<std::string, ByEntries> by_entries_;
  std::map<std::pair<int, std::vector<int>>, int> arguments_, pattern_reads_;  ///< by tensor and indices
  std::map<std::string, int> shared_target_;  ///< written by several terms -> the operand they write
};

}  // namespace

support::Result<NestTree> number(const concrete_notation::StatementPtr& statement,
                                 const problem::Problem& problem) {
  return Numbering(problem).run(statement);
}

}  // namespace schaas::lower
