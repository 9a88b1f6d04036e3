#include "schaas/extents.h"

#include <algorithm>
#include <utility>

#include "compiler/index_notation/nodes.h"

namespace schaas::client {

support::Result<void> Extents::bind(const std::string& index, std::int64_t extent,
                                    const std::string& source) {
  if (extent < 0)
    return support::invalid("negative-extent",
                            "index `" + index + "` has extent " + std::to_string(extent) + " by " + source);
  const auto [known, added] = bound_.emplace(index, Bound{extent, source});
  if (!added && known->second.extent != extent) {
    return support::invalid("extent-conflict", "index `" + index + "` has extent " +
                                                   std::to_string(known->second.extent) + " by " +
                                                   known->second.source + " but " + std::to_string(extent) +
                                                   " by " + source);
  }
  return {};
}

void Extents::at_least(const std::string& index, std::int64_t extent) {
  auto& least = least_[index];
  least = std::max(least, extent);
}

std::optional<std::int64_t> Extents::bound(const std::string& index) const {
  const auto known = bound_.find(index);
  if (known == bound_.end()) return std::nullopt;
  return known->second.extent;
}

std::optional<std::int64_t> Extents::known(const std::string& index) const {
  if (const auto extent = bound(index)) return extent;
  const auto least = least_.find(index);
  return least == least_.end() ? std::nullopt : std::optional(least->second);
}

// Rounds until nothing new is learnt: a chain of n links needs at most n.
support::Result<void> Extents::link(const std::vector<std::pair<std::string, std::string>>& pairs) {
  for (std::size_t round = 0; round < pairs.size(); ++round) {
    for (const auto& [a, b] : pairs) {
      for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
        if (const auto known = bound_.find(from); known != bound_.end()) {
          const Bound bound = known->second;
          SCHAAS_RETURN_IF_ERROR(bind(to, bound.extent, bound.source + ", through index `" + from + "`"));
        }
        if (const auto known = least_.find(from); known != least_.end()) at_least(to, known->second);
      }
    }
  }
  return {};
}

namespace {

/// Returns the index whose coordinate an expression compares with that of `index` for equality; "" for none.
std::string equated_with(const index_notation::Expression& value, const std::string& index) {
  const auto* call = std::get_if<index_notation::Call>(&value.node);
  if (call != nullptr && call->function == operators::Function::equal) {
    const auto* a = std::get_if<index_notation::Coordinate>(&call->arguments[0].node);
    const auto* b = std::get_if<index_notation::Coordinate>(&call->arguments[1].node);
    if (a != nullptr && b != nullptr && (a->index == index) != (b->index == index))
      return a->index == index ? b->index : a->index;
  }
  for (const auto& part : index_notation::parts(value))
    if (std::string found = equated_with(part, index); !found.empty()) return found;
  return "";
}

/// Names the ways to write a diagonal where the index has an extent only through it.
support::Diagnostic with_diagonals(support::Diagnostic missing, const Program& program,
                                   const std::string& index) {
  for (const auto& statement : program.statements) {
    const std::string other = equated_with(statement.value, index);
    if (other.empty()) continue;
    return support::noting(std::move(missing),
                           "a diagonal is written with one index, as in `A(" + other + "," + other +
                               ") = x(" + other + ")`, or by the identity matrix `select(" + other + "," +
                               index + ")`: sparse results then store its elements alone");
  }
  return missing;
}

}  // namespace

support::Result<std::map<std::string, std::int64_t>> Extents::all(
    const Program& program, const std::function<std::string(const std::string&)>& way_out) const {
  std::map<std::string, std::int64_t> extents;
  for (const auto& index : indices_of(program)) {
    const auto least = least_.find(index);
    if (const auto known = bound(index)) {
      extents[index] = *known;
    } else if (least != least_.end()) {
      extents[index] = least->second;
    } else {
      return with_diagonals(
          support::invalid("missing-extent", "index `" + index + "` has no extent: " + way_out(index)),
          program, index);
    }
  }
  return extents;
}

}  // namespace schaas::client
