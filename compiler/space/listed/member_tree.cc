#include "compiler/space/listed/member_tree.h"

#include <algorithm>
#include <utility>

#include "compiler/schedule/replay/apply.h"

// A member says which operands each section has, by the splits of its states. States are kept up to mirror
// images, so the operands of a side are turned round where its state is its mirror image. Of a combination
// the producer that stands left is outside.
namespace schaas::space {

using concrete_notation::StatementPtr;
using concrete_notation::where;
using index_notation::Access;

namespace {

/// Operands [begin, end) in the order of a state that is met as it is, or as its mirror image.
std::vector<Access> part(const std::vector<Access>& operands, std::size_t begin, std::size_t end,
                         bool mirrored) {
  std::vector<Access> out(operands.begin() + static_cast<std::ptrdiff_t>(begin),
                          operands.begin() + static_cast<std::ptrdiff_t>(end));
  if (mirrored) std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace

MemberTrees::MemberTrees(Recursion& recursion, const problem::Problem& problem)
    : recursion_(recursion), statement_(concrete_notation::leaf_of(schedule::default_nest(problem))) {}

StatementPtr MemberTrees::of(const Member& member, const std::vector<int>& operand_order, bool mirrored) {
  temporaries_ = 0;
  const Accesses written = index_notation::operands(statement_.value);
  Accesses operands;
  for (const int operand : operand_order) operands.push_back(written[static_cast<std::size_t>(operand)]);
  return tree({member, part(operands, 0, operands.size(), mirrored), mirrored, statement_.target});
}

StatementPtr MemberTrees::tree(const Section& section) {
  if (section.member.kind == Member::Kind::fused) return fused(section);
  if (section.member.kind == Member::Kind::joined) return joined(section);
  return nest(section.member.order, section.operands, section.mirrored, section.target);
}

StatementPtr MemberTrees::fused(const Section& section) {
  const auto& [member, operands, mirrored, target] = section;
  const Transition t = recursion_.expand(member.state).transitions[member.choice];
  const Access passed = temporary(t.temporary);
  const std::size_t begin = t.producer_left ? 0 : t.split, end = t.producer_left ? t.split : operands.size();
  Accesses others = operands;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(begin),
               others.begin() + static_cast<std::ptrdiff_t>(end));
  others.insert(t.producer_left ? others.begin() : others.end(), passed);
  const Section producer{*member.producer, part(operands, begin, end, t.producer_mirrored),
                         t.producer_mirrored != mirrored, passed};
  const Section consumer{*member.consumer, part(others, 0, others.size(), t.consumer_mirrored),
                         t.consumer_mirrored != mirrored, target};
  return below(member.order, where(tree(consumer), tree(producer)));
}

StatementPtr MemberTrees::joined(const Section& section) {
  const auto& [member, operands, mirrored, target] = section;
  const Join join = recursion_.expand(member.state).joins[member.choice];
  const Access first = temporary(join.left_temporary), second = temporary(join.right_temporary);
  StatementPtr outer = tree({*member.producer, part(operands, 0, join.split, join.left_mirrored),
                             join.left_mirrored != mirrored, first});
  StatementPtr inner =
      tree({*member.consumer, part(operands, join.split, operands.size(), join.right_mirrored),
            join.right_mirrored != mirrored, second});
  if (mirrored) std::swap(outer, inner);
  StatementPtr combined = nest(member.order, {first, second}, mirrored, target);
  return where(where(std::move(combined), std::move(inner)), std::move(outer));
}

StatementPtr MemberTrees::nest(const Order& loops, Accesses operands, bool mirrored,
                               const Access& target) const {
  if (mirrored) std::reverse(operands.begin(), operands.end());
  auto value = index_notation::product_of(std::move(operands));
  return below(loops, concrete_notation::assign(target, std::move(value), statement_.monoid));
}

StatementPtr MemberTrees::below(const Order& loops, StatementPtr body) const {
  for (std::size_t n = loops.size(); n-- > 0;)
    body = concrete_notation::forall(recursion_.contraction().indices[loops[n]], std::move(body));
  return body;
}

Access MemberTrees::temporary(IndexSet indices) {
  Access access;
  access.tensor = "#" + std::to_string(++temporaries_);
  for (std::size_t x = 0; x < recursion_.contraction().indices.size(); ++x)
    if ((indices >> x) & 1U) access.indices.push_back(recursion_.contraction().indices[x]);
  return access;
}

}  // namespace schaas::space
