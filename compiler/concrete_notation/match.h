#pragma once
#include <utility>
#include <variant>

namespace schaas::concrete_notation {

/// match(statement->node, [](const Forall& f) {...}, [](const Where& w) {...}, [](const Assign& a) {...}):
/// one function per kind of statement and no default, so a new kind breaks the build wherever it must be
/// learned.
template <class... Functions>
struct Match : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Match(Functions...) -> Match<Functions...>;

template <class Variant, class... Functions>
decltype(auto) match(const Variant& node, Functions&&... functions) {
  return std::visit(Match{std::forward<Functions>(functions)...}, node);
}

}  // namespace schaas::concrete_notation
