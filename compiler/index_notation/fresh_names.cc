#include "compiler/index_notation/fresh_names.h"

#include "compiler/support/limits.h"

namespace schaas::index_notation {

FreshNames::FreshNames(const Program& program) {
  for (const Assignment& statement : program.statements) {
    taken_.insert(statement.result.tensor);
    for (const Access& access : operands(statement.value)) taken_.insert(access.tensor);
  }
  for (const std::string& index : index_variables(program.statements)) taken_.insert(index);
}

// Long names are cut, so that the number behind them still fits.
std::string FreshNames::fresh(const std::string& name) {
  constexpr std::size_t longest = support::Limits::name_bytes - 4;
  const std::string stem = name.substr(0, longest);
  std::string found = stem;
  for (int number = 2; is_taken(found); ++number) found = stem + "_" + std::to_string(number);
  take(found);
  return found;
}

}  // namespace schaas::index_notation
