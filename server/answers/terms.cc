#include "server/answers/terms.h"

// Clients evaluate costs at their sizes. So costs go out as lists of variables with weights, never as texts
// that a client would have to parse.
namespace schaas::server {
namespace {

answers::Variable variable_of(const cost::Variable& from) {
  answers::Variable to;
  switch (from.kind) {
    case cost::Variable::Kind::extent:
      to.kind = answers::Variable::Kind::extent;
      break;
    case cost::Variable::Kind::fiber:
      to.kind = answers::Variable::Kind::fiber;
      break;
    case cost::Variable::Kind::matches:
      to.kind = answers::Variable::Kind::matches;
      break;
    case cost::Variable::Kind::steps:
      to.kind = answers::Variable::Kind::steps;
      break;
  }
  to.index = from.index;
  to.tensor = from.tensor;
  to.level = from.kind == cost::Variable::Kind::extent ? 0 : from.level;
  to.copy_of = from.copy_of;
  to.outer = from.outer;
  to.outer_dense = from.outer_dense;
  for (const cost::Variable& list : from.lists) to.lists.push_back(variable_of(list));
  return to;
}

/// Returns the variables whose bits are set in a term.
std::vector<answers::Variable> variables_in(cost::Term term, const cost::Variables& variables) {
  std::vector<answers::Variable> out;
  for (int bit = 0; bit < cost::access_shift; ++bit)
    if ((term >> bit & 1) != 0) out.push_back(variable_of(variables.at(bit)));
  return out;
}

answers::Scope scope_of(cost::Scope scope) {
  switch (scope) {
    case cost::Scope::thread:
      return answers::Scope::thread;
    case cost::Scope::shared:
      return answers::Scope::shared;
    case cost::Scope::operand:
      return answers::Scope::operand;
  }
  return answers::Scope::unknown;
}

answers::Nest::Code code_of(const concrete_notation::LeafCode& code) {
  return {code.tile_loop,       code.tile, code.kept, code.lengths, code.streams, code.numeric,
          code.row_in_registers};
}

std::vector<answers::Constraint::Monomial> sum(const std::vector<problem::Monomial>& from) {
  using Factor = answers::Constraint::Factor;
  std::vector<answers::Constraint::Monomial> out;
  for (const auto& [coefficient, powers] : from) {
    auto& monomial = out.emplace_back();
    monomial.coefficient = static_cast<std::uint64_t>(coefficient);
    for (const auto& [symbol, exponent] : powers)
      monomial.factors.push_back(
          {symbol.kind == problem::Symbol::Kind::extent ? Factor::Kind::extent : Factor::Kind::nonzeros,
           symbol.name, symbol.levels, static_cast<unsigned>(exponent)});
  }
  return out;
}

}  // namespace

std::vector<answers::Term> time_terms(const cost::Cost& cost, const cost::Variables& variables) {
  std::vector<answers::Term> out;
  for (const cost::Term term : cost.time)
    out.push_back({.weight = static_cast<double>(cost::weight(cost::access_of(term))),
                   .variables = variables_in(term & cost::variables_mask, variables),
                   .serial = cost::is_serial(term)});
  return out;
}

std::vector<answers::Term> memory_terms(const cost::Cost& cost, const cost::Variables& variables) {
  std::vector<answers::Term> out;
  for (const cost::Term term : cost.memory)
    out.push_back({.variables = variables_in(term & cost::variables_mask, variables)});
  return out;
}

std::vector<answers::Term> memory_terms(const std::vector<cost::MemoryTerm>& terms,
                                        const cost::Variables& variables) {
  std::vector<answers::Term> out;
  for (const cost::MemoryTerm& term : terms)
    out.push_back({.weight = static_cast<double>(term.block),
                   .variables = variables_in(term.product & cost::variables_mask, variables),
                   .scope = scope_of(term.scope)});
  return out;
}

std::vector<answers::Nest> nests(const std::vector<cost::LeafNest>& nests, const cost::Variables& variables,
                                 const std::vector<concrete_notation::LeafCode>& code) {
  std::vector<answers::Nest> out;
  for (const cost::LeafNest& from : nests) {
    answers::Nest& nest = out.emplace_back();
    // The trips of one loop are a single variable.
    for (const cost::NestLoop& loop : from.loops)
      nest.loops.push_back(
          {variables_in(loop.trips, variables).at(0), loop.index, loop.block, loop.inside, loop.under});
    for (const cost::NestAccess& access : from.accesses)
      nest.accesses.push_back(
          {access.tensor, access.sparse, access.loops, access.unit, access.sums, access.table});
    nest.shared = static_cast<int>(from.shared);
    nest.serial = from.serial;
    nest.weight = cost::weight(from.access);
    if (from.leaf < code.size()) nest.code = code_of(code[from.leaf]);
  }
  return out;
}

std::vector<answers::Constraint> constraints(const problem::Problem& problem) {
  std::vector<answers::Constraint> out;
  for (const problem::Constraint& constraint : problem.constraints)
    out.push_back({sum(constraint.lhs), sum(constraint.rhs)});
  return out;
}

}  // namespace schaas::server
