#include "compiler/space/contraction.h"

#include <algorithm>
#include <bit>

#include "compiler/support/result.h"

// A product as bit masks. The order that storage demands is a precedence, for each index the set of indices
// outside of it. Facts of several accesses below the same loops form a context: united precedences, and for
// each loop what it counts. That is the matches of an intersection, else a fiber, of walked levels before
// located ones, else the extent, as in cost/tree_cost.cc.
namespace schaas::space {
namespace {

IndexSet bit_of(const std::vector<std::string>& indices, const std::string& index) {
  const auto found = std::find(indices.begin(), indices.end(), index);
  SCHAAS_CHECK(found != indices.end(), "index `" + index + "` is not in the statement");
  return IndexSet{1} << (found - indices.begin());
}

std::string index_at(const index_notation::Access& access, const format::TensorFormat& format, int level) {
  return access.indices[static_cast<std::size_t>(format.mode_order[static_cast<std::size_t>(level)])];
}

/// Closes a precedence under transitivity (Warshall's algorithm).
void close(Precedence& before) {
  for (int middle = 0; middle < max_indices; ++middle) {
    for (auto& set : before) {
      if ((set >> middle) & 1U) set |= before[static_cast<std::size_t>(middle)];
    }
  }
}

/// Returns the indices of an access, how each loop moves it, and the order that its storage demands of loops.
AccessShape shape_of(const index_notation::Access& access, const format::TensorFormat& format,
                     const std::vector<std::string>& indices) {
  AccessShape shape;
  IndexSet stored = 0;
  for (int level = 0; level < format.order(); ++level) {
    const IndexSet bit = bit_of(indices, index_at(access, format, level));
    shape.stored_before[static_cast<std::size_t>(std::countr_zero(bit))] |= stored & ~bit;
    stored |= bit;
  }
  shape.indices = stored;
  for (std::size_t x = 0; x < indices.size(); ++x)
    shape.touch[x] = cost::touch(access.indices, format, indices[x]);
  for (const auto& [earlier, later] : format::access_order(format)) {
    const IndexSet first = bit_of(indices, index_at(access, format, earlier));
    const IndexSet second = bit_of(indices, index_at(access, format, later));
    if (first != second) shape.before[static_cast<std::size_t>(std::countr_zero(second))] |= first;
  }
  close(shape.before);
  return shape;
}

/// Reduction indices come after the last compressed level of a sparse result: an entry is appended once,
/// complete.
void order_reductions(AccessShape& result, const index_notation::Access& access,
                      const format::TensorFormat& format, const std::vector<std::string>& indices) {
  int last = -1;
  for (int level = 0; level < format.order(); ++level) {
    if (format::is_sparse(format.levels[static_cast<std::size_t>(level)])) last = level;
  }
  if (last < 0) return;
  IndexSet outer = 0;
  for (int level = 0; level <= last; ++level) outer |= bit_of(indices, index_at(access, format, level));
  for (std::size_t x = 0; x < indices.size(); ++x) {
    if (((result.indices >> x) & 1U) == 0) result.before[x] |= outer;
  }
}

/// The fiber variables of one operand.
void assign_fibers(AccessShape& shape, const index_notation::Access& access, const cost::Variables& variables,
                   const std::vector<std::string>& indices, const format::TensorFormat& format) {
  for (std::size_t n = 0; n < variables.fibers.size(); ++n) {
    const cost::Variable& fiber = variables.fibers[n];
    if (!cost::is_fiber(fiber) || fiber.tensor != access.tensor ||
        !cost::walks(access.indices, format, fiber.level, fiber.index))
      continue;
    const auto x = static_cast<std::size_t>(std::countr_zero(bit_of(indices, fiber.index)));
    if (shape.fiber[x] == 0) shape.fiber[x] = cost::Term{1} << (cost::Variables::first_fiber + n);
    if (!format::is_unique(format.levels[static_cast<std::size_t>(fiber.level)]))
      shape.repeated |= bit_of(indices, fiber.index);
  }
}

/// Fibers of levels that are located.
cost::Term located_fibers(const problem::Problem& problem, const cost::Variables& variables) {
  cost::Term located = 0;
  for (std::size_t n = 0; n < variables.fibers.size(); ++n) {
    const cost::Variable& fiber = variables.fibers[n];
    const auto known = problem.formats.find(fiber.tensor);
    if (known != problem.formats.end() &&
        format::is_located(known->second.levels[static_cast<std::size_t>(fiber.level)]))
      located |= cost::Term{1} << (cost::Variables::first_fiber + n);
  }
  return located;
}

}  // namespace

Contraction contraction_of(const problem::Problem& problem) {
  Contraction contraction;
  contraction.indices = index_notation::index_variables(problem.statement);
  contraction.wider = problem.space;
  contraction.access_classes = problem.profile != problem::Profile::sparseauto;
  contraction.variables = cost::variables_of(problem);
  contraction.located = located_fibers(problem, contraction.variables);
  for (const index_notation::Access& operand : problem.operands()) {
    const format::TensorFormat& format = problem.formats.at(operand.tensor);
    AccessShape shape = shape_of(operand, format, contraction.indices);
    assign_fibers(shape, operand, contraction.variables, contraction.indices, format);
    for (std::size_t x = 0; x < contraction.indices.size(); ++x)
      shape.list[x] = contraction.variables.list_of(operand, contraction.indices[x], problem);
    contraction.all |= shape.indices;
    contraction.operands.push_back(shape);
  }
  const index_notation::Access& result = problem.statement.result;
  const format::TensorFormat& format = problem.formats.at(result.tensor);
  contraction.result = shape_of(result, format, contraction.indices);
  order_reductions(contraction.result, result, format, contraction.indices);
  SCHAAS_CHECK(contraction.indices.size() <= max_indices && contraction.operands.size() <= max_operands,
               "the problem is beyond the limits the front end checks");
  return contraction;
}

Context context_of(const Contraction& contraction, const std::vector<const AccessShape*>& operands,
                   const AccessShape* result) {
  Context context;
  const auto located = [&](cost::Term fiber) { return (fiber & contraction.located) != 0; };
  // Walked levels before located ones, then the lower bit.
  const auto before = [&](cost::Term a, cost::Term b) {
    return located(a) != located(b) ? located(b) : a < b;
  };
  for (std::size_t x = 0; x < max_indices; ++x) {
    cost::Term fiber = 0;
    cost::ListSet lists = 0;
    for (const AccessShape* operand : operands) {
      context.before[x] |= operand->before[x];
      lists |= operand->list[x];
      if (operand->fiber[x] != 0 && (fiber == 0 || before(operand->fiber[x], fiber)))
        fiber = operand->fiber[x];
    }
    if (result != nullptr) context.before[x] |= result->before[x];
    context.trips[x] = fiber != 0 ? fiber : cost::Term{1} << x;
    const cost::Intersection* both = contraction.variables.intersection(lists);
    if (both == nullptr) continue;
    context.trips[x] = both->matches;
    context.steps[x] = both->steps;
    context.merges |= IndexSet{1} << x;
  }
  return context;
}

IndexSet loops_of(const Contraction& contraction, cost::Term term) {
  IndexSet loops = 0;
  for (cost::Term rest = term & cost::variables_mask; rest != 0; rest &= rest - 1) {
    const int bit = std::countr_zero(rest);
    loops |= bit < cost::Variables::first_fiber
                 ? IndexSet{1} << bit
                 : bit_of(contraction.indices, contraction.variables.at(bit).index);
  }
  return loops;
}

cost::Term trips_of(const Context& context, IndexSet loops) {
  cost::Term product = 0;
  for (IndexSet rest = loops; rest != 0; rest &= rest - 1) {
    product |= context.trips[static_cast<std::size_t>(std::countr_zero(rest))];
  }
  return product;
}

cost::Term extents_of(IndexSet loops) { return loops; }

}  // namespace schaas::space
