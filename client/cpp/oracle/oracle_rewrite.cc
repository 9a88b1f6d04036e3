#include "client/cpp/oracle/oracle_rewrite.h"

#include <algorithm>

namespace schaas::client {
namespace {

using Names = std::vector<std::string>;

bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void collect_free(const Expression& expression, Names bound, Names& found) {
  if (const auto* access = std::get_if<Access>(&expression.value)) {
    for (const auto& index : access->indices) {
      if (!contains(bound, index) && !contains(found, index)) found.push_back(index);
    }
  } else if (const auto* operation = std::get_if<Operation>(&expression.value)) {
    for (const auto& argument : operation->arguments) collect_free(argument, bound, found);
  } else if (const auto* reduction = std::get_if<Reduction>(&expression.value)) {
    bound.insert(bound.end(), reduction->indices.begin(), reduction->indices.end());
    collect_free(reduction->body.front(), bound, found);
  }
}

void collect_bound(const Expression& expression, Names& found) {
  if (const auto* operation = std::get_if<Operation>(&expression.value)) {
    for (const auto& argument : operation->arguments) collect_bound(argument, found);
  } else if (const auto* reduction = std::get_if<Reduction>(&expression.value)) {
    found.insert(found.end(), reduction->indices.begin(), reduction->indices.end());
    collect_bound(reduction->body.front(), found);
  }
}

Expression summed(const Expression& value, const Names& left, Fold sum) {
  const auto* operation = std::get_if<Operation>(&value.value);
  if (operation != nullptr &&
      (operation->function == Function::add || operation->function == Function::subtract ||
       operation->function == Function::negate)) {
    Operation out{operation->function, {}};
    for (const auto& argument : operation->arguments) out.arguments.push_back(summed(argument, left, sum));
    return {std::move(out)};
  }
  Names reduced;
  for (const auto& index : free_indices(value)) {
    if (!contains(left, index)) reduced.push_back(index);
  }
  if (reduced.empty()) return value;
  return {Reduction{sum, std::move(reduced), {value}}};
}

void rename(Names& indices, const std::map<std::string, std::string>& names) {
  for (auto& index : indices) {
    if (const auto found = names.find(index); found != names.end()) index = found->second;
  }
}

}  // namespace

std::vector<std::string> free_indices(const Expression& expression) {
  Names found;
  collect_free(expression, {}, found);
  return found;
}

Expression with_sums(const Statement& statement, Fold sum) {
  return summed(statement.value, statement.result.indices, sum);
}

Expression renamed(const Expression& expression, const std::map<std::string, std::string>& names) {
  Expression out = expression;
  if (auto* access = std::get_if<Access>(&out.value)) {
    rename(access->indices, names);
  } else if (auto* operation = std::get_if<Operation>(&out.value)) {
    for (auto& argument : operation->arguments) argument = renamed(argument, names);
  } else if (auto* reduction = std::get_if<Reduction>(&out.value)) {
    rename(reduction->indices, names);
    reduction->body.front() = renamed(reduction->body.front(), names);
  }
  return out;
}

std::vector<std::string> bound_indices(const Expression& expression) {
  Names found;
  collect_bound(expression, found);
  return found;
}

}  // namespace schaas::client
