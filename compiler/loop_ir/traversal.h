#pragma once
#include <utility>
#include <variant>
#include <vector>

#include "compiler/loop_ir/nodes.h"

/// Traversal of statements without a case for each kind. A kind with statements inside has a member `body` or
/// `statements`.
namespace schaas::loop_ir {

/// Calls `visit` for each statement directly inside, in order.
template <class Visit>
void for_each_child(const StatementPtr& statement, const Visit& visit) {
  std::visit(
      [&](const auto& node) {
        if constexpr (requires { node.statements; }) {
          for (const auto& each : node.statements) visit(each);
        } else if constexpr (requires { node.body; }) {
          visit(node.body);
        }
      },
      statement->node);
}

/// Replaces each statement directly inside by `map` of it. Nested blocks become one; returns the statement
/// itself where nothing changed.
template <class Map>
StatementPtr map_children(const StatementPtr& statement, const Map& map) {
  return std::visit(
      [&](const auto& node) -> StatementPtr {
        if constexpr (requires { node.statements; }) {
          bool same = true;
          std::vector<StatementPtr> all;
          for (const auto& each : node.statements) {
            const auto mapped = map(each);
            same = same && mapped == each;
            const auto parts = statements_of(mapped);
            all.insert(all.end(), parts.begin(), parts.end());
          }
          return same ? statement : block(std::move(all));
        } else if constexpr (requires { node.body; }) {
          const auto body = map(node.body);
          if (body == node.body) return statement;
          auto changed = node;
          changed.body = body;
          return make(std::move(changed));
        } else {
          return statement;
        }
      },
      statement->node);
}

/// Calls `visit` for the statement, then for each inside, in order.
template <class Visit>
void for_each_statement(const StatementPtr& statement, const Visit& visit) {
  visit(statement);
  for_each_child(statement, [&](const StatementPtr& each) { for_each_statement(each, visit); });
}

/// The predicate holds for the statement or one inside.
template <class Predicate>
bool any_of(const StatementPtr& statement, const Predicate& predicate) {
  bool found = predicate(statement);
  for_each_child(statement, [&](const StatementPtr& each) { found = found || any_of(each, predicate); });
  return found;
}

/// The statement is of one of these kinds.
template <class... Nodes>
bool is_any(const StatementPtr& statement) {
  return (std::holds_alternative<Nodes>(statement->node) || ...);
}

/// The statement and the loops in it declare and fold values, and store nothing.
inline bool only_folds(const StatementPtr& statement) {
  return !any_of(statement, [](const StatementPtr& each) {
    return !is_any<Block, For, Let, Accumulator, Accumulate, Prefetch>(each);
  });
}

}  // namespace schaas::loop_ir
