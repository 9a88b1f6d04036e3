#include <algorithm>
#include <mutex>
#include <optional>

#include "compiler/loop_ir/traversal.h"
#include "tests/support/interpreted_code.h"

// Statements as closures, in order, one iteration after the other. A merge follows its definition rather than
// any generated form: at each step the least coordinate of the lists, which of them hold it, and all lists
// that do move on.
namespace schaas::test_support {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::Match;
using loop_ir::Type;

std::mutex atomic_folds;

StatementCode store_code(const loop_ir::Store& x, ExpressionCode& names) {
  const auto at = names.index(x.index);
  if (names.element(x.array) != loop_ir::Element::value) {
    if (x.mode != loop_ir::Write::set) throw BrokenCode("a fold into indices");
    return [at, value = names.index(x.value), store = names.index_storer(x.array)](Frame& frame) {
      const std::int64_t place = at(frame);
      store(frame, place, value(frame));
    };
  }
  const auto value = names.value(x.value);
  const auto store = names.value_storer(x.array);
  if (x.mode == loop_ir::Write::set)
    return [=](Frame& frame) {
      ++frame.work.leaves;
      const std::int64_t place = at(frame);
      store(frame, place, value(frame));
    };
  return [=, &names, load = names.value_loader(x.array), monoid = x.monoid, mode = x.mode](Frame& frame) {
    ++frame.work.leaves;
    const std::int64_t place = at(frame);
    const Value one = value(frame);
    std::unique_lock<std::mutex> lock;
    if (mode == loop_ir::Write::atomic) lock = std::unique_lock(atomic_folds);
    store(frame, place, names.arithmetic().folded(monoid, load(frame, place), one));
    --frame.work.loads;  // the target is no operand
  };
}

StatementCode for_code(const loop_ir::For& x, ExpressionCode& names) {
  if (x.interleaved || x.cut || x.clears) throw BrokenCode("a loop for a GPU");
  const auto begin = names.index(x.begin), end = names.index(x.end);
  const auto slot = names.declare(x.variable, Type::index).slot;
  return [=, step = x.step, body = statement_code(x.body, names)](Frame& frame) {
    const std::int64_t last = end(frame);
    // A supernode moves the variable on.
    for (frame.indices[slot] = begin(frame); frame.indices[slot] < last && !frame.overflow;
         frame.indices[slot] += step) {
      ++frame.work.iterations;
      body(frame);
    }
  };
}

struct CursorCode {
  std::size_t position = 0;
  std::optional<std::size_t> present, until;
  IndexCode begin, end;
  std::function<std::int64_t(Frame&, std::int64_t)> coordinate;
};

CursorCode cursor_code(const loop_ir::Cursor& cursor, ExpressionCode& names) {
  CursorCode code;
  code.begin = names.index(cursor.begin);
  code.end = names.index(cursor.end);
  code.coordinate = cursor.coordinates.empty() ? [](Frame&, std::int64_t at) { return at; }
                                               : names.index_loader(cursor.coordinates);
  code.position = names.declare(cursor.position, Type::index).slot;
  if (!cursor.present.empty()) code.present = names.declare(cursor.present, Type::index).slot;
  if (!cursor.until.empty()) code.until = names.declare(cursor.until, Type::index).slot;
  return code;
}

/// One run of a merge.
class MergeRun {
 public:
  MergeRun(const std::vector<CursorCode>& cursors, Frame& frame) : cursors_(cursors), frame_(frame) {
    for (const auto& each : cursors) {
      at_.push_back(each.begin(frame));
      end_.push_back(each.end(frame));
    }
    past_ = at_;
  }
  bool ended(std::size_t n) const { return at_[n] >= end_[n]; }
  bool any_ended() const { return count_ended() > 0; }
  bool all_ended() const { return count_ended() == at_.size(); }
  std::int64_t here(std::size_t n) const { return cursors_[n].coordinate(frame_, at_[n]); }
  /// The least coordinate of the lists that have not ended.
  std::int64_t least() const {
    std::optional<std::int64_t> least;
    for (std::size_t n = 0; n < at_.size(); ++n)
      if (!ended(n)) least = std::min(least.value_or(here(n)), here(n));
    return *least;
  }
  /// Binds the names of all cursors at `coordinate`; returns the number of lists that hold it.
  std::size_t bind(std::int64_t coordinate) {
    std::size_t holders = 0;
    for (std::size_t n = 0; n < at_.size(); ++n) {
      const bool holds = !ended(n) && here(n) == coordinate;
      holders += holds ? 1 : 0;
      past_[n] = at_[n];
      while (holds && past_[n] < end_[n] && cursors_[n].coordinate(frame_, past_[n]) == coordinate) {
        ++past_[n];
        if (!cursors_[n].until) break;
      }
      frame_.indices[cursors_[n].position] = at_[n];
      if (cursors_[n].present) frame_.indices[*cursors_[n].present] = holds ? 1 : 0;
      if (cursors_[n].until) frame_.indices[*cursors_[n].until] = past_[n];
    }
    return holders;
  }
  void advance() { at_ = past_; }
  std::size_t size() const { return at_.size(); }

 private:
  std::size_t count_ended() const {
    std::size_t count = 0;
    for (std::size_t n = 0; n < at_.size(); ++n) count += ended(n) ? 1 : 0;
    return count;
  }
  const std::vector<CursorCode>& cursors_;
  Frame& frame_;
  std::vector<std::int64_t> at_, past_, end_;
};

StatementCode merge_code(const loop_ir::Merge& x, ExpressionCode& names) {
  std::vector<CursorCode> cursors;
  for (const auto& each : x.cursors) cursors.push_back(cursor_code(each, names));
  std::optional<std::pair<IndexCode, IndexCode>> over;
  if (x.over) over.emplace(names.index(x.over->begin), names.index(x.over->end));
  const auto variable = names.declare(x.variable, Type::index).slot;
  const auto body = statement_code(x.body, names);
  const bool all = x.kind != loop_ir::MergeKind::any, first = x.kind == loop_ir::MergeKind::first;
  return [=](Frame& frame) {
    bool met = false;
    MergeRun run(cursors, frame);
    const auto visit = [&](std::int64_t coordinate) {
      const std::size_t holders = run.bind(coordinate);
      if (!over) frame.work.steps += static_cast<double>(run.size()) - 1;
      if (!all || holders == run.size()) {
        frame.indices[variable] = coordinate;
        ++frame.work.iterations;
        body(frame);
        met = true;
      }
      run.advance();
    };
    if (over) {
      const std::int64_t end = over->second(frame);
      for (std::int64_t at = over->first(frame); at < end && !frame.overflow; ++at) {
        if (!run.all_ended() && run.least() < at) throw BrokenCode("a list begins before its range");
        visit(at);
      }
      return;
    }
    while (!(all ? run.any_ended() : run.all_ended()) && !frame.overflow && !(first && met))
      visit(run.least());
  };
}

StatementCode block_code(const std::vector<loop_ir::StatementPtr>& statements, ExpressionCode& names) {
  std::vector<StatementCode> all;
  for (const auto& each : statements) all.push_back(statement_code(each, names));
  return [all](Frame& frame) {
    for (const auto& each : all) {
      each(frame);
      if (frame.overflow) return;
    }
  };
}

StatementCode let_code(const loop_ir::Let& x, ExpressionCode& names) {
  if (x.fold) throw BrokenCode("a fold of threads");
  if (x.type == Type::index) {
    const auto value = names.index(x.value);
    return [value, slot = names.declare(x.name, x.type).slot](Frame& frame) {
      frame.indices[slot] = value(frame);
    };
  }
  const auto value = names.value(x.value);
  return
      [value, slot = names.declare(x.name, x.type).slot](Frame& frame) { frame.values[slot] = value(frame); };
}

StatementCode accumulator_code(const loop_ir::Accumulator& x, ExpressionCode& names) {
  const Value initial = names.arithmetic().number(x.initial.value_or(operators::identity(x.monoid)));
  return [initial, slot = names.declare(x.name, Type::value, x.monoid).slot](Frame& frame) {
    frame.values[slot] = initial;
  };
}

StatementCode accumulate_code(const loop_ir::Accumulate& x, ExpressionCode& names) {
  const auto symbol = names.at(x.name);
  return [&names, symbol, value = names.value(x.value)](Frame& frame) {
    ++frame.work.leaves;
    Value& sum = frame.values[symbol.slot];
    sum = names.arithmetic().folded(symbol.monoid, sum, value(frame));
  };
}

StatementCode counter_code(const std::string& name, const ExpressionPtr& value, bool declares,
                           ExpressionCode& names) {
  const auto code = names.index(value);
  const auto slot = declares ? names.declare(name, Type::index).slot : names.at(name).slot;
  return [=](Frame& frame) { frame.indices[slot] = code(frame); };
}

StatementCode fill_code(const loop_ir::Fill& x, ExpressionCode& names) {
  const auto begin = names.index(x.begin), count = names.index(x.count);
  if (names.element(x.array) == loop_ir::Element::value)
    return [=, value = names.value(x.value), store = names.value_storer(x.array)](Frame& frame) {
      const std::int64_t first = begin(frame), past = first + count(frame);
      const Value what = value(frame);
      for (std::int64_t at = first; at < past; ++at, ++frame.work.cleared) store(frame, at, what);
    };
  return [=, value = names.index(x.value), store = names.index_storer(x.array)](Frame& frame) {
    const std::int64_t first = begin(frame), past = first + count(frame), what = value(frame);
    for (std::int64_t at = first; at < past; ++at, ++frame.work.cleared) store(frame, at, what);
  };
}

StatementCode if_code(const loop_ir::If& x, ExpressionCode& names) {
  const StatementCode body = statement_code(x.body, names);
  if (names.type_of(x.condition) == loop_ir::Type::index) {
    return [condition = names.index(x.condition), body](Frame& frame) {
      if (condition(frame) != 0) body(frame);
    };
  }
  return [condition = names.value(x.condition), body](Frame& frame) {
    const Value found = condition(frame);
    if (found.value != 0 || found.integer != 0 || found.imaginary != 0) body(frame);
  };
}

StatementCode sort_code(const loop_ir::Sort& x, ExpressionCode& names) {
  return [begin = names.index(x.begin), end = names.index(x.end), load = names.index_loader(x.array),
          store = names.index_storer(x.array)](Frame& frame) {
    std::vector<std::int64_t> all;
    const std::int64_t first = begin(frame), past = end(frame);
    for (std::int64_t at = first; at < past; ++at) all.push_back(load(frame, at));
    std::sort(all.begin(), all.end());
    for (std::int64_t at = first; at < past; ++at)
      store(frame, at, all[static_cast<std::size_t>(at - first)]);
  };
}

}  // namespace

StatementCode statement_code(const loop_ir::StatementPtr& statement, ExpressionCode& names) {
  if (auto code = sparse_row_code(statement, names)) return code;
  const bool opens_scope =
      loop_ir::is_any<loop_ir::Block, loop_ir::If, loop_ir::For, loop_ir::Merge>(statement);
  const ExpressionCode::Scope scope(names, opens_scope);
  return std::visit(
      Match{
          [&](const loop_ir::Block& x) { return block_code(x.statements, names); },
          [&](const loop_ir::Let& x) { return let_code(x, names); },
          [&](const loop_ir::Accumulator& x) { return accumulator_code(x, names); },
          [&](const loop_ir::Accumulate& x) { return accumulate_code(x, names); },
          [&](const loop_ir::Store& x) { return store_code(x, names); },
          [&](const loop_ir::If& x) { return if_code(x, names); },
          [&](const loop_ir::Counter& x) { return counter_code(x.name, x.initial, true, names); },
          [&](const loop_ir::SetCounter& x) { return counter_code(x.name, x.value, false, names); },
          [&](const loop_ir::For& x) { return for_code(x, names); },
          [&](const loop_ir::Merge& x) { return merge_code(x, names); },
          [&](const loop_ir::Fill& x) { return fill_code(x, names); },
          [&](const loop_ir::Sort& x) { return sort_code(x, names); },
          [](const loop_ir::Prefetch&) -> StatementCode { return [](Frame&) {}; },
          [](const loop_ir::Overflow&) -> StatementCode {
            return [](Frame& frame) { frame.overflow = true; };
          },
          [](const auto&) -> StatementCode { throw BrokenCode("a statement for a GPU"); },
      },
      statement->node);
}

}  // namespace schaas::test_support
