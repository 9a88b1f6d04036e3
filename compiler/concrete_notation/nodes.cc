#include "compiler/concrete_notation/nodes.h"

#include <algorithm>
#include <utility>

#include "compiler/concrete_notation/match.h"
#include "compiler/support/result.h"

// Statements of concrete index notation. Constructors check what a node needs, so a statement that exists has
// no missing parts. Functions visit by `match` without a default: a new kind of node breaks the build in each
// of them. Recursion is bounded by the depth of trees (README.md, "Files").
namespace schaas::concrete_notation {

namespace {

// Appends what `of` gives for the value of each leaf, a producer's before its consumer's.
template <class Of, class Found>
void collect(const StatementPtr& statement, Of of, std::vector<Found>& out) {
  match(
      statement->node, [&](const Forall& loop) { collect(loop.body, of, out); },
      [&](const Blocks& blocks) { collect(blocks.body, of, out); },
      [&](const Where& branch) {
        collect(branch.producer, of, out);
        collect(branch.consumer, of, out);
      },
      [&](const Terms& sum) {
        for (const auto& term : sum.terms) collect(term, of, out);
      },
      [&](const Assign& leaf) {
        for (auto& found : of(leaf.value)) out.push_back(std::move(found));
      });
}

}  // namespace

const char* name(Races races) {
  switch (races) {
    case Races::none:
      return "none";
    case Races::atomics:
      return "atomics";
    case Races::privates:
      return "private";
  }
  return "";
}

const char* name(Storage storage) { return storage == Storage::hash ? "hash" : "dense"; }

StatementPtr forall(std::string index, StatementPtr body, LoopAnnotation annotation) {
  SCHAAS_CHECK(body != nullptr, "a loop needs a body");
  return std::make_shared<const Statement>(Statement{Forall{std::move(index), std::move(body), annotation}});
}

StatementPtr forall(const std::vector<std::string>& indices, StatementPtr body) {
  for (auto index = indices.rbegin(); index != indices.rend(); ++index)
    body = forall(*index, std::move(body));
  return body;
}

StatementPtr with_body(const Forall& loop, StatementPtr body) {
  return forall(loop.index, std::move(body), loop.annotation);
}

StatementPtr blocks(std::string index, int size, StatementPtr body) {
  SCHAAS_CHECK(body != nullptr && size > 0, "blocks need a size and a body");
  return std::make_shared<const Statement>(Statement{Blocks{std::move(index), size, std::move(body), 0}});
}

StatementPtr divided(std::string index, int parts, StatementPtr body) {
  SCHAAS_CHECK(body != nullptr && parts > 0, "blocks need a number and a body");
  return std::make_shared<const Statement>(Statement{Blocks{std::move(index), 0, std::move(body), parts}});
}

StatementPtr with_body(const Blocks& blocks, StatementPtr body) {
  Blocks out = blocks;
  out.body = std::move(body);
  return std::make_shared<const Statement>(Statement{std::move(out)});
}

StatementPtr where(StatementPtr consumer, StatementPtr producer, Storage storage) {
  SCHAAS_CHECK(consumer != nullptr && producer != nullptr, "a where needs both sides");
  return std::make_shared<const Statement>(
      Statement{Where{std::move(consumer), std::move(producer), storage}});
}

StatementPtr terms(std::vector<StatementPtr> each) {
  SCHAAS_CHECK(each.size() >= 2, "one term stands alone");
  return std::make_shared<const Statement>(Statement{Terms{std::move(each)}});
}

StatementPtr assign(index_notation::Access target, index_notation::Expression value,
                    operators::Monoid monoid) {
  return std::make_shared<const Statement>(Statement{Assign{std::move(target), std::move(value), monoid}});
}

std::string assignment_sign(operators::Monoid monoid) {
  switch (monoid) {
    case operators::Monoid::sum:
      return "+=";
    case operators::Monoid::product:
      return "*=";
    default:
      return std::string(operators::name(monoid)) + "=";
  }
}

bool equal(const StatementPtr& a, const StatementPtr& b) {
  // Shared subtrees are one pointer.
  if (a == b) return true;
  if (a->node.index() != b->node.index()) return false;
  return match(
      a->node,
      [&](const Forall& x) {
        const auto& y = std::get<Forall>(b->node);
        return x.index == y.index && x.annotation == y.annotation && equal(x.body, y.body);
      },
      [&](const Blocks& x) {
        const auto& y = std::get<Blocks>(b->node);
        return x.index == y.index && x.size == y.size && x.parts == y.parts && equal(x.body, y.body);
      },
      [&](const Where& x) {
        const auto& y = std::get<Where>(b->node);
        return x.storage == y.storage && equal(x.consumer, y.consumer) && equal(x.producer, y.producer);
      },
      [&](const Terms& x) {
        const auto& y = std::get<Terms>(b->node);
        return std::equal(x.terms.begin(), x.terms.end(), y.terms.begin(), y.terms.end(), equal);
      },
      [&](const Assign& x) {
        const auto& y = std::get<Assign>(b->node);
        return x.target == y.target && x.value == y.value && x.monoid == y.monoid;
      });
}

std::vector<index_notation::Access> reads(const StatementPtr& statement) {
  std::vector<index_notation::Access> out;
  collect(statement, index_notation::operands, out);
  return out;
}

std::vector<std::string> coordinates(const StatementPtr& statement) {
  std::vector<std::string> out;
  collect(statement, index_notation::coordinates, out);
  return out;
}

StatementPtr with_accesses(const StatementPtr& statement,
                           const std::function<index_notation::Access(index_notation::Access)>& changed) {
  return match(
      statement->node, [&](const Forall& loop) { return with_body(loop, with_accesses(loop.body, changed)); },
      [&](const Blocks& parts) { return with_body(parts, with_accesses(parts.body, changed)); },
      [&](const Where& branch) {
        return where(with_accesses(branch.consumer, changed), with_accesses(branch.producer, changed),
                     branch.storage);
      },
      [&](const Terms& sum) {
        std::vector<StatementPtr> each;
        for (const auto& term : sum.terms) each.push_back(with_accesses(term, changed));
        return terms(std::move(each));
      },
      [&](const Assign& leaf) {
        auto value = index_notation::with_accesses(leaf.value, changed);
        return assign(changed(leaf.target), std::move(value), leaf.monoid);
      });
}

StatementPtr with_target(const StatementPtr& statement, const index_notation::Access& target) {
  return match(
      statement->node, [&](const Forall& loop) { return with_body(loop, with_target(loop.body, target)); },
      [&](const Blocks&) { return statement; },
      [&](const Where& branch) {
        return where(with_target(branch.consumer, target), branch.producer, branch.storage);
      },
      [&](const Terms& sum) {
        std::vector<StatementPtr> each;
        for (const auto& term : sum.terms) each.push_back(with_target(term, target));
        return terms(std::move(each));
      },
      [&](const Assign& leaf) { return assign(target, leaf.value, leaf.monoid); });
}

const Assign& leaf_of(const StatementPtr& statement) {
  return match(
      statement->node, [](const Forall& loop) -> const Assign& { return leaf_of(loop.body); },
      [](const Blocks& blocks) -> const Assign& { return leaf_of(blocks.body); },
      [](const Where& branch) -> const Assign& { return leaf_of(branch.consumer); },
      [](const Terms& sum) -> const Assign& { return leaf_of(sum.terms.front()); },
      [](const Assign& leaf) -> const Assign& { return leaf; });
}

}  // namespace schaas::concrete_notation
