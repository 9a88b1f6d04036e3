#include "compiler/lower/nest.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/loop_ir/nodes.h"

namespace schaas::lower {
namespace {

using concrete_notation::Assign;
using ConcreteBlocks = concrete_notation::Blocks;
using concrete_notation::Forall;
using concrete_notation::StatementPtr;
using concrete_notation::Where;
using index_notation::Access;
using loop_ir::Match;

/// A leaf's operand together with the loops above the leaf, outermost first.
struct Use {
  int operand = 0;
  std::vector<int> loops;
};

class Numbering {
 public:
  explicit Numbering(const problem::Problem& problem) : problem_(problem) {}

  support::Result<NestTree> run(const StatementPtr& statement) {
    for (const auto& index : index_notation::index_variables(problem_.statement))
      tree_.index_names.push_back(index);
    int argument = 0;
    for (const auto& name : problem_.tensors()) {
      const auto found = problem_.formats.find(name);
      SCHAAS_CHECK(found != problem_.formats.end(), "no format for " + name);
      tensor_numbers_[name] = argument;
      tree_.tensors.push_back(Tensor{name, argument++, found->second.levels});
    }
    SCHAAS_ASSIGN_OR_RETURN(tree_.root, convert(statement));
    order_temporaries();
    return tree_;
  }

 private:
  support::Result<NestPtr> convert(const StatementPtr& statement) {
    return std::visit(Match{
                          [&](const Forall& forall) { return convert_loop(forall); },
                          [&](const ConcreteBlocks& blocks) { return convert_blocks(blocks); },
                          [&](const Where& where) { return convert_branch(where); },
                          [&](const Assign& assign) { return convert_leaf(assign); },
                      },
                      statement->node);
  }

  support::Result<int> index_number(const std::string& index) {
    const auto& names = tree_.index_names;
    const auto found = std::find(names.begin(), names.end(), index);
    if (found == names.end()) {
      return support::invalid("lower-unknown-index",
                              "index `" + index + "` of the tree is not an index of the problem");
    }
    return static_cast<int>(found - names.begin());
  }

  support::Result<NestPtr> convert_loop(const Forall& forall) {
    SCHAAS_ASSIGN_OR_RETURN(const int index, index_number(forall.index));
    loops_.push_back(index);
    auto body = convert(forall.body);
    loops_.pop_back();
    if (!body.ok()) return body.error();
    return make_nest({Loop{index, *body, false, blocks_.count(index) > 0}});
  }

  support::Result<NestPtr> convert_blocks(const ConcreteBlocks& blocks) {
    SCHAAS_ASSIGN_OR_RETURN(const int index, index_number(blocks.index));
    blocks_[index] = blocks.size;
    auto body = convert(blocks.body);
    blocks_.erase(index);
    if (!body.ok()) return body.error();
    return make_nest({Blocks{index, blocks.size, *body}});
  }

  support::Result<NestPtr> convert_branch(const Where& where) {
    const auto blocks_here = blocks_;
    SCHAAS_ASSIGN_OR_RETURN(NestPtr producer, convert(where.producer));
    SCHAAS_ASSIGN_OR_RETURN(NestPtr consumer, convert(where.consumer));
    const int temporary = tree_.operands[static_cast<std::size_t>(target_of(producer))].tensor;
    // A block's index of this temporary is bound inside the block, on both sides.
    for (const int index : tree_.operands[static_cast<std::size_t>(target_of(producer))].indices) {
      const auto block = blocks_here.find(index);
      if (block != blocks_here.end())
        tree_.tensors[static_cast<std::size_t>(temporary)].blocks.insert(*block);
    }
    return make_nest({Branch{temporary, producer, consumer}});
  }

  support::Result<NestPtr> convert_leaf(const Assign& assign) {
    Leaf leaf;
    SCHAAS_ASSIGN_OR_RETURN(leaf.target, add_operand(assign.target));
    for (const auto& factor : index_notation::operands(assign.value)) {
      SCHAAS_ASSIGN_OR_RETURN(const int operand, add_operand(factor));
      leaf.factors.push_back(operand);
    }
    return make_nest({leaf});
  }

  support::Result<int> add_operand(const Access& access) {
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
    const int number = static_cast<int>(tree_.operands.size());
    tree_.operands.push_back(operand);
    if (description.temporary()) uses_[tensor].push_back(Use{number, loops_});
    return number;
  }

  std::size_t mode_of(const std::string& tensor, std::size_t level) const {
    return static_cast<std::size_t>(problem_.formats.at(tensor).mode_order[level]);
  }

  void order_temporaries() {
    for (const auto& [tensor, uses] : uses_) {
      const Use* heavier =
          &uses.front();  // the writer comes first: a producer is numbered before its consumer
      for (const auto& use : uses) {
        if (use.loops.size() > heavier->loops.size()) heavier = &use;
      }
      for (const auto& use : uses)
        sort_by_loops(tree_.operands[static_cast<std::size_t>(use.operand)], heavier->loops);
    }
  }

  static void sort_by_loops(Operand& operand, const std::vector<int>& loops) {
    std::sort(operand.indices.begin(), operand.indices.end(), [&](int a, int b) {
      return std::find(loops.begin(), loops.end(), a) < std::find(loops.begin(), loops.end(), b);
    });
  }

  const problem::Problem& problem_;
  NestTree tree_;
  std::map<std::string, int> tensor_numbers_;
  std::map<int, std::vector<Use>> uses_;
  std::vector<int> loops_;
  std::map<int, int> blocks_;  ///< index -> size of the blocks that are open
};

void collect(const NestPtr& nest, bool with_targets, std::vector<int>& out) {
  std::visit(Match{
                 [&](const Loop& loop) { collect(loop.body, with_targets, out); },
                 [&](const Blocks& blocks) { collect(blocks.body, with_targets, out); },
                 [&](const Branch& branch) {
                   collect(branch.producer, with_targets, out);
                   collect(branch.consumer, with_targets, out);
                 },
                 [&](const Leaf& leaf) {
                   if (with_targets) out.push_back(leaf.target);
                   out.insert(out.end(), leaf.factors.begin(), leaf.factors.end());
                 },
             },
             nest->node);
}

}  // namespace

support::Result<NestTree> number(const StatementPtr& statement, const problem::Problem& problem) {
  return Numbering(problem).run(statement);
}

NestPtr make_nest(Nest nest) { return std::make_shared<const Nest>(std::move(nest)); }

std::vector<int> operands_below(const NestPtr& nest) {
  std::vector<int> out;
  collect(nest, true, out);
  return out;
}

std::vector<int> factors_below(const NestPtr& nest) {
  std::vector<int> out;
  collect(nest, false, out);
  return out;
}

int target_of(const NestPtr& nest) {
  return std::visit(Match{
                        [](const Loop& loop) { return target_of(loop.body); },
                        [](const Blocks& blocks) { return target_of(blocks.body); },
                        [](const Branch& branch) { return target_of(branch.consumer); },
                        [](const Leaf& leaf) { return leaf.target; },
                    },
                    nest->node);
}

bool is_chain(const NestPtr& nest) {
  return std::visit(Match{
                        [](const Loop& loop) { return is_chain(loop.body); },
                        [](const Blocks&) { return false; },
                        [](const Branch&) { return false; },
                        [](const Leaf&) { return true; },
                    },
                    nest->node);
}

int level_of(const Operand& operand, int index) {
  const auto found = std::find(operand.indices.begin(), operand.indices.end(), index);
  return found == operand.indices.end() ? -1 : static_cast<int>(found - operand.indices.begin());
}

}  // namespace schaas::lower
