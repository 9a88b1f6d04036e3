#include <map>

#include "tests/support/interpreted_code.h"

// The statements for rows of sparse results as sparse_rows.h defines them. An occupied index is a byte that
// is set; lists are made when an occupancy is compacted.
namespace schaas::test_support {
namespace {

using loop_ir::Match;
using loop_ir::Type;

StatementCode compact_code(const loop_ir::Occupancy& x, ExpressionCode& names) {
  return [extent = names.index(x.extent), occupied = names.index_loader(x.array),
          clear = names.index_storer(x.array), list = names.index_storer(x.list),
          count = names.at(x.count).slot](Frame& frame) {
    std::int64_t found = 0;
    const std::int64_t end = extent(frame);
    for (std::int64_t at = 0; at < end; ++at) {
      if (occupied(frame, at) == 0) continue;
      list(frame, found++, at);
      clear(frame, at, 0);
    }
    frame.indices[count] = found;
  };
}

StatementCode expand_code(const loop_ir::Expand& x, ExpressionCode& names) {
  return [begin = names.index(x.begin), end = names.index(x.end), scale = names.value(x.scale),
          coordinate = names.index_loader(x.coordinates), value = names.value_loader(x.values),
          list = names.index_storer(x.terms.list), store = names.value_storer(x.terms.values),
          count = names.at(x.terms.count).slot, product = x.terms.arithmetic.product, &names](Frame& frame) {
    const std::int64_t past = end(frame);
    for (std::int64_t at = begin(frame); at < past; ++at) {
      std::int64_t& terms = frame.indices[count];
      if (terms >= loop_ir::max_terms) throw BrokenCode("more terms than a row may have");
      list(frame, terms, coordinate(frame, at));
      store(frame, terms++, names.arithmetic().apply(product, {scale(frame), value(frame, at)}));
      ++frame.work.iterations;
      ++frame.work.leaves;
    }
  };
}

StatementCode compress_code(const loop_ir::Compress& x, ExpressionCode& names) {
  return [list = names.index_loader(x.terms.list), set_list = names.index_storer(x.terms.list),
          value = names.value_loader(x.terms.values), set_value = names.value_storer(x.terms.values),
          count = names.at(x.terms.count).slot, monoid = x.terms.arithmetic.monoid, &names](Frame& frame) {
    std::map<std::int64_t, Value> sums;
    for (std::int64_t at = 0; at < frame.indices[count]; ++at) {
      const auto [sum, is_new] = sums.emplace(list(frame, at), value(frame, at));
      if (!is_new) sum->second = names.arithmetic().folded(monoid, sum->second, value(frame, at));
    }
    std::int64_t at = 0;
    for (const auto& [coordinate, sum] : sums) {
      set_list(frame, at, coordinate);
      set_value(frame, at++, sum);
    }
    frame.indices[count] = at;
  };
}

/// Adds the row of the loop's position alone: the loop then meets the others.
StatementCode supernode_code(const loop_ir::AddSupernode& x, ExpressionCode& names) {
  return [variable = names.at(x.variable).slot, scale = names.value(x.scale),
          rows = names.index_loader(x.rows), factors = names.value_loader(x.factors),
          positions = names.index_loader(x.positions), coordinates = names.index_loader(x.coordinates),
          values = names.value_loader(x.values), sum = names.value_loader(x.sums),
          store = names.value_storer(x.sums), occupy = names.index_storer(x.set), &names](Frame& frame) {
    const std::int64_t at = frame.indices[variable], row = rows(frame, at), end = positions(frame, row + 1);
    const Value factor = names.arithmetic().product(scale(frame), factors(frame, at));
    for (std::int64_t q = positions(frame, row); q < end; ++q) {
      const std::int64_t coordinate = coordinates(frame, q);
      occupy(frame, coordinate, loop_ir::occupied_byte);
      store(frame, coordinate,
            names.arithmetic().sum(sum(frame, coordinate),
                                   names.arithmetic().product(factor, values(frame, q))));
      ++frame.work.iterations;
      ++frame.work.leaves;
    }
  };
}

}  // namespace

StatementCode sparse_row_code(const loop_ir::StatementPtr& statement, ExpressionCode& names) {
  return std::visit(Match{
                        [&](const loop_ir::Occupy& x) -> StatementCode {
                          return [at = names.index(x.index), store = names.index_storer(x.occupancy.array)](
                                     Frame& frame) { store(frame, at(frame), loop_ir::occupied_byte); };
                        },
                        [&](const loop_ir::OccupyGroups& x) -> StatementCode {
                          return [slot = names.declare(x.clustered, Type::index).slot](Frame& frame) {
                            frame.indices[slot] = ++frame.clustered % 2;
                          };
                        },
                        [&](const loop_ir::Compact& x) { return compact_code(x.occupancy, names); },
                        [&](const loop_ir::Expand& x) { return expand_code(x, names); },
                        [&](const loop_ir::Compress& x) { return compress_code(x, names); },
                        [&](const loop_ir::AddSupernode& x) { return supernode_code(x, names); },
                        [](const auto&) -> StatementCode { return {}; },
                    },
                    statement->node);
}

}  // namespace schaas::test_support
