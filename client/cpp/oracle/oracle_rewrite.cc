#include "client/cpp/oracle/oracle_rewrite.h"

#include <algorithm>

namespace schaas::client {
namespace {

using Names = std::vector<std::string>;

void collect_bound(const Expression& expression, Names& found) {
  if (const auto* reduction = std::get_if<Reduction>(&expression.node))
    found.insert(found.end(), reduction->indices.begin(), reduction->indices.end());
  for (const auto& part : parts(expression)) collect_bound(part, found);
}

bool joins_terms(const Call& call) {
  return call.function == Function::add || call.function == Function::subtract ||
         call.function == Function::negate;
}

Expression summed(const Expression& value, const Names& left, Monoid sum) {
  if (const auto* call = std::get_if<Call>(&value.node); call != nullptr && joins_terms(*call)) {
    Call out{call->function, {}};
    for (const auto& argument : call->arguments) out.arguments.push_back(summed(argument, left, sum));
    return {std::move(out)};
  }
  Names reduced;
  for (const auto& index : free_indices(value)) {
    if (std::find(left.begin(), left.end(), index) == left.end()) reduced.push_back(index);
  }
  if (reduced.empty()) return value;
  return {Reduction{sum, std::move(reduced), {value}}};
}

}  // namespace

Expression with_sums(const Statement& statement, Monoid sum) {
  return summed(statement.value, statement.result.indices, sum);
}

std::vector<std::string> bound_indices(const Expression& expression) {
  Names found;
  collect_bound(expression, found);
  return found;
}

}  // namespace schaas::client
