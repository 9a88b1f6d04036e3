#include "schaas/expression.h"

#include <algorithm>

#include "compiler/index_notation/parser.h"

namespace schaas::client {
namespace {

template <class Value>
void add_distinct(std::vector<Value>& list, const Value& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

}  // namespace

support::Result<Program> parse_program(std::string_view text) { return index_notation::parse(text); }

std::vector<Access> operands(const Program& program) {
  std::vector<Access> found;
  for (const Statement& statement : program.statements) {
    for (Access& access : index_notation::operands(statement.value)) {
      const auto defines = [&](const Statement& each) { return each.result.tensor == access.tensor; };
      if (std::none_of(program.statements.begin(), program.statements.end(), defines))
        found.push_back(std::move(access));
    }
  }
  return found;
}

std::vector<std::string> arguments(const Program& program) {
  std::vector<std::string> names = {program.result().tensor};
  for (const Access& access : operands(program)) add_distinct(names, access.tensor);
  return names;
}

std::vector<std::string> indices_of(const Program& program) {
  std::vector<std::string> indices;
  for (const auto& index : program.result().indices) add_distinct(indices, index);
  for (const auto& index : index_notation::index_variables(program.statements)) add_distinct(indices, index);
  return indices;
}

std::vector<std::pair<std::string, std::string>> linked_indices(const Program& program) {
  std::vector<std::pair<std::string, std::string>> links;
  for (const Statement& statement : program.statements) {
    for (const Access& access : index_notation::operands(statement.value)) {
      for (const Statement& definition : program.statements) {
        const auto& defined = definition.result.indices;
        if (definition.result.tensor != access.tensor || defined.size() != access.indices.size()) continue;
        for (std::size_t mode = 0; mode < defined.size(); ++mode) {
          if (defined[mode] != access.indices[mode])
            add_distinct(links, std::pair{defined[mode], access.indices[mode]});
        }
      }
    }
  }
  return links;
}

}  // namespace schaas::client
