#include "compiler/lower/emit/sinks.h"

namespace schaas::lower {

using loop_ir::ExpressionPtr;
using loop_ir::make;

void Sinks::write(const Sink& sink, const Scope& scope, const ExpressionPtr& value, Statements& out) const {
  switch (sink.kind) {
    case Sink::Kind::array:
      if (facts_.tracks(sink.operand)) {
        Scope inserted = scope;
        accumulators_.emit_insert(sink.operand, inserted, out);
        return store(sink, inserted, value, out);
      }
      return store(sink, scope, value, out);
    case Sink::Kind::accumulate:
      out.push_back(make(loop_ir::Accumulate{sink.name, value}));
      return;
    case Sink::Kind::define:
      out.push_back(make(loop_ir::Let{sink.name, loop_ir::Type::value, value}));
      return;
  }
}

void Sinks::store(const Sink& sink, const Scope& scope, const ExpressionPtr& value, Statements& out) const {
  SCHAAS_CHECK(levels_.is_complete(sink.operand, scope), "a result is written before its indices are bound");
  out.push_back(writes_.stored(sink, facts_.builder.arrays.values(facts_.operand(sink.operand).tensor),
                               location(levels_.position_of(sink.operand, scope)), value));
}

loop_ir::StatementPtr Sinks::accumulator(const std::string& name, operators::Monoid monoid) const {
  loop_ir::Accumulator out{name, monoid, {}};
  if (monoid == facts_.tree.semiring->sum && facts_.tree.semiring->zero != operators::identity(monoid))
    out.initial = facts_.tree.semiring->zero;
  return make(std::move(out));
}

bool Sinks::is_one_element(const Sink& sink, const Scope& scope) const {
  return levels_.is_complete(sink.operand, scope) && facts_.sums_in_register(sink.operand);
}

}  // namespace schaas::lower
