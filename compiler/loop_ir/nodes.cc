#include "compiler/loop_ir/nodes.h"

#include <algorithm>
#include <cstring>
#include <utility>

// Constructors, comparison and classification of loop IR nodes. Nodes are immutable and shared, so a subtree
// may occur in several parents. Constructors of sums and products fold indices: two constants, additions of
// 0, multiplications by 1. A result beyond 64 bits stays unfolded. Values are never folded: folding matches
// Integer nodes alone, so rounding stays that of the kernel's value type. Comparison is structural. A kind of
// node that it lacks breaks the build; a field that it lacks does not, so a new field is compared here, too.
namespace schaas::loop_ir {
namespace {

ExpressionPtr make_expression(Expression expression) {
  return std::make_shared<const Expression>(std::move(expression));
}

const Integer* as_integer(const ExpressionPtr& e) { return std::get_if<Integer>(&e->node); }

bool equal_occupancy(const Occupancy& a, const Occupancy& b) {
  return a.array == b.array && a.list == b.list && a.count == b.count && equal(a.extent, b.extent);
}

bool equal_terms(const Terms& a, const Terms& b) {
  return a.list == b.list && a.values == b.values && a.count == b.count && a.arithmetic == b.arithmetic;
}

/// Compares names, too: statements that differ in names of cursors are different statements.
bool equal_cursors(const Cursor& a, const Cursor& b) {
  return a.position == b.position && a.coordinates == b.coordinates && equal(a.begin, b.begin) &&
         equal(a.end, b.end) && a.present == b.present && a.until == b.until;
}

/// Compares bit for bit: -0 is not 0, NaN is NaN.
bool same_number(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

bool same_number(const std::optional<double>& a, const std::optional<double>& b) {
  return a.has_value() == b.has_value() && (!a || same_number(*a, *b));
}

bool all_equal(const std::vector<ExpressionPtr>& a, const std::vector<ExpressionPtr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ExpressionPtr& x, const ExpressionPtr& y) { return equal(x, y); });
}

bool both_or_equal(const ExpressionPtr& a, const ExpressionPtr& b) { return a && b ? equal(a, b) : !a && !b; }

/// Both are absent, or both add the same.
bool equal_rows(const std::optional<AddedRow>& a, const std::optional<AddedRow>& b) {
  if (!a || !b) return !a && !b;
  return a->variant == b->variant && a->values == b->values && a->sums == b->sums && a->set == b->set &&
         a->factors == b->factors && a->at == b->at && equal(a->factor, b->factor) &&
         both_or_equal(a->scale, b->scale) && a->arithmetic == b->arithmetic;
}

/// Both are absent, or both have equal ends.
bool equal_ranges(const std::optional<Range>& a, const std::optional<Range>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return equal(a->begin, b->begin) && equal(a->end, b->end);
}

}  // namespace

ExpressionPtr integer(std::int64_t value) { return make_expression({Integer{value}}); }
ExpressionPtr name(std::string text) { return make_expression({Name{std::move(text)}}); }
ExpressionPtr load(std::string array, ExpressionPtr index) {
  return make_expression({Load{std::move(array), std::move(index)}});
}
ExpressionPtr number(double value) { return make_expression({Number{value}}); }
ExpressionPtr apply(operators::Function function, std::vector<ExpressionPtr> arguments) {
  return make_expression({Apply{function, std::move(arguments)}});
}
ExpressionPtr choose(ExpressionPtr condition, ExpressionPtr then, ExpressionPtr otherwise) {
  return make_expression({Choose{std::move(condition), std::move(then), std::move(otherwise)}});
}

ExpressionPtr occupancy_bytes(const ExpressionPtr& extent) {
  // One byte per index, per group of 64, and per block of 64 groups, each part rounded up to 64 bytes.
  const auto groups = apply(operators::Function::divide, {extent, integer(64)});
  const auto blocks = apply(operators::Function::divide, {extent, integer(4096)});
  return add(add(add(extent, groups), blocks), integer(192));
}

ExpressionPtr list_elements(const ExpressionPtr& extent) {
  // One element per index and one per group of 64, as in the map.
  const auto groups = apply(operators::Function::divide, {extent, integer(64)});
  return add(add(extent, groups), integer(24));  // room for repeated first entries; two are written at once
}

/// Matches an application by its function, for patterns over expressions.
const std::vector<ExpressionPtr>* arguments_of(const ExpressionPtr& expression,
                                               operators::Function function) {
  const auto* found = std::get_if<Apply>(&expression->node);
  return found && found->function == function ? &found->arguments : nullptr;
}

ExpressionPtr add(ExpressionPtr left, ExpressionPtr right) {
  const Integer* a = as_integer(left);
  const Integer* b = as_integer(right);
  std::int64_t sum = 0;
  if (a && b && !__builtin_add_overflow(a->value, b->value, &sum)) return integer(sum);
  if (a && a->value == 0) return right;
  if (b && b->value == 0) return left;
  return apply(operators::Function::add, {std::move(left), std::move(right)});
}

ExpressionPtr subtract(ExpressionPtr left, ExpressionPtr right) {
  return apply(operators::Function::subtract, {std::move(left), std::move(right)});
}

ExpressionPtr multiply(ExpressionPtr left, ExpressionPtr right) {
  const Integer* a = as_integer(left);
  const Integer* b = as_integer(right);
  std::int64_t product = 0;
  if (a && b && !__builtin_mul_overflow(a->value, b->value, &product)) return integer(product);
  if (a && a->value == 1) return right;
  if (b && b->value == 1) return left;
  return apply(operators::Function::multiply, {std::move(left), std::move(right)});
}

ExpressionPtr minimum(ExpressionPtr left, ExpressionPtr right) {
  return apply(operators::Function::minimum, {std::move(left), std::move(right)});
}

ExpressionPtr convert(ExpressionPtr index) { return make_expression({Convert{std::move(index)}}); }

ExpressionPtr search(std::string array, ExpressionPtr begin, ExpressionPtr end, ExpressionPtr key,
                     Layout layout) {
  return make_expression(
      {Search{std::move(array), std::move(begin), std::move(end), std::move(key), layout}});
}

/// The inverse of statements_of: a single statement stands without a block around it.
StatementPtr block(std::vector<StatementPtr> statements) {
  if (statements.size() == 1) return statements.front();
  return make(Block{std::move(statements)});
}

std::vector<StatementPtr> statements_of(const StatementPtr& statement) {
  if (const auto* block = std::get_if<Block>(&statement->node)) return block->statements;
  return {statement};
}

bool equal(const ExpressionPtr& a, const ExpressionPtr& b) {
  // Shared subtrees compare by address.
  if (a == b) return true;
  if (a->node.index() != b->node.index()) return false;
  const auto same = Match{
      [&](const Integer& x) { return x.value == std::get<Integer>(b->node).value; },
      [&](const Number& x) { return same_number(x.value, std::get<Number>(b->node).value); },
      [&](const Name& x) { return x.name == std::get<Name>(b->node).name; },
      [&](const Load& x) {
        const auto& y = std::get<Load>(b->node);
        return x.array == y.array && equal(x.index, y.index);
      },
      [&](const Apply& x) {
        const auto& y = std::get<Apply>(b->node);
        return x.function == y.function && all_equal(x.arguments, y.arguments);
      },
      [&](const Choose& x) {
        const auto& y = std::get<Choose>(b->node);
        return equal(x.condition, y.condition) && equal(x.then, y.then) && equal(x.otherwise, y.otherwise);
      },
      [&](const Search& x) {
        const auto& y = std::get<Search>(b->node);
        return x.layout == y.layout && x.array == y.array && equal(x.begin, y.begin) && equal(x.end, y.end) &&
               equal(x.key, y.key);
      },
      [&](const Convert& x) { return equal(x.index, std::get<Convert>(b->node).index); },
  };
  return std::visit(same, a->node);
}

bool equal(const StatementPtr& a, const StatementPtr& b) {
  // Shared subtrees compare by address.
  if (a == b) return true;
  if (a->node.index() != b->node.index()) return false;
  const auto same = Match{
      [&](const Block& x) {
        const auto& y = std::get<Block>(b->node);
        return std::equal(x.statements.begin(), x.statements.end(), y.statements.begin(), y.statements.end(),
                          [](const StatementPtr& s, const StatementPtr& t) { return equal(s, t); });
      },
      [&](const Let& x) {
        const auto& y = std::get<Let>(b->node);
        return x.name == y.name && x.type == y.type && equal(x.value, y.value) && x.wide == y.wide &&
               x.fold == y.fold;
      },
      [&](const Accumulator& x) {
        const auto& y = std::get<Accumulator>(b->node);
        return x.name == y.name && x.monoid == y.monoid && same_number(x.initial, y.initial);
      },
      [&](const Accumulate& x) {
        const auto& y = std::get<Accumulate>(b->node);
        return x.name == y.name && equal(x.value, y.value);
      },
      [&](const Store& x) {
        const auto& y = std::get<Store>(b->node);
        return x.array == y.array && x.mode == y.mode && x.monoid == y.monoid && x.wide == y.wide &&
               equal(x.index, y.index) && equal(x.value, y.value);
      },
      [&](const If& x) {
        const auto& y = std::get<If>(b->node);
        return equal(x.condition, y.condition) && equal(x.body, y.body);
      },
      [&](const Counter& x) {
        const auto& y = std::get<Counter>(b->node);
        return x.name == y.name && equal(x.initial, y.initial);
      },
      [&](const SetCounter& x) {
        const auto& y = std::get<SetCounter>(b->node);
        return x.name == y.name && equal(x.value, y.value);
      },
      [&](const For& x) {
        const auto& y = std::get<For>(b->node);
        return x.variable == y.variable && x.shape == y.shape && x.step == y.step && x.unroll == y.unroll &&
               x.prefetch_distance == y.prefetch_distance && x.entries == y.entries && x.row == y.row &&
               x.appends == y.appends && x.overruns == y.overruns && x.product == y.product &&
               x.part == y.part && x.interleaved == y.interleaved && x.clears == y.clears && x.cut == y.cut &&
               x.along == y.along && equal_rows(x.adds, y.adds) && equal(x.begin, y.begin) &&
               equal(x.end, y.end) && equal(x.body, y.body);
      },
      [&](const Merge& x) {
        const auto& y = std::get<Merge>(b->node);
        return x.variable == y.variable && x.kind == y.kind && equal_ranges(x.over, y.over) &&
               equal(x.body, y.body) &&
               std::equal(x.cursors.begin(), x.cursors.end(), y.cursors.begin(), y.cursors.end(),
                          equal_cursors);
      },
      [&](const Fill& x) {
        const auto& y = std::get<Fill>(b->node);
        return x.array == y.array && x.row == y.row && equal(x.begin, y.begin) && equal(x.count, y.count) &&
               equal(x.value, y.value);
      },
      [&](const Prefetch& x) {
        const auto& y = std::get<Prefetch>(b->node);
        return x.array == y.array && equal(x.index, y.index);
      },
      [](const Overflow&) { return true; },
      [&](const Sort& x) {
        const auto& y = std::get<Sort>(b->node);
        return x.array == y.array && equal(x.begin, y.begin) && equal(x.end, y.end);
      },
      [&](const Occupy& x) {
        const auto& y = std::get<Occupy>(b->node);
        return equal_occupancy(x.occupancy, y.occupancy) && equal(x.index, y.index);
      },
      [&](const OccupyGroups& x) {
        const auto& y = std::get<OccupyGroups>(b->node);
        return x.clustered == y.clustered && equal_occupancy(x.occupancy, y.occupancy) &&
               equal(x.first, y.first) && equal(x.last, y.last) && equal(x.times, y.times);
      },
      [&](const Compact& x) { return equal_occupancy(x.occupancy, std::get<Compact>(b->node).occupancy); },
      [&](const Expand& x) {
        const auto& y = std::get<Expand>(b->node);
        return equal_terms(x.terms, y.terms) && x.coordinates == y.coordinates && x.values == y.values &&
               equal(x.begin, y.begin) && equal(x.end, y.end) && equal(x.scale, y.scale);
      },
      [&](const Compress& x) { return equal_terms(x.terms, std::get<Compress>(b->node).terms); },
      [&](const AddSupernode& x) {
        const auto& y = std::get<AddSupernode>(b->node);
        return x.variable == y.variable && x.rows == y.rows && x.factors == y.factors &&
               equal(x.end, y.end) && equal(x.scale, y.scale) && x.positions == y.positions &&
               x.coordinates == y.coordinates && x.values == y.values && x.sums == y.sums && x.set == y.set;
      },
      [&](const GroupStore& x) {
        const auto& y = std::get<GroupStore>(b->node);
        return x.array == y.array && x.mode == y.mode && x.monoid == y.monoid && x.width == y.width &&
               x.wide == y.wide && equal(x.index, y.index) && equal(x.value, y.value);
      },
      [&](const Deferred& x) {
        const auto& y = std::get<Deferred>(b->node);
        return x.name == y.name && x.array == y.array && x.monoid == y.monoid;
      },
      [&](const Defer& x) {
        const auto& y = std::get<Defer>(b->node);
        return x.name == y.name && equal(x.index, y.index) && equal(x.value, y.value);
      },
      [&](const Flush& x) {
        const auto& y = std::get<Flush>(b->node);
        return x.name == y.name && x.width == y.width;
      },
      [&](const Stage& x) {
        const auto& y = std::get<Stage>(b->node);
        return x.threads == y.threads && equal(x.begin, y.begin) && equal(x.count, y.count) &&
               x.copies == y.copies;
      },
  };
  return std::visit(same, a->node);
}

/// Lists the functions that have an integer form: division is that of whole numbers, comparisons give 1 or
/// 0.
bool takes_indices(operators::Function function) {
  using operators::Function;
  switch (function) {
    case Function::add:
    case Function::subtract:
    case Function::multiply:
    case Function::divide:
    case Function::minimum:
    case Function::maximum:
      return true;
    default:
      return operators::is_truth(function);
  }
}

bool is_name(const ExpressionPtr& expression, const std::string& name) {
  const auto* found = std::get_if<Name>(&expression->node);
  return found != nullptr && found->name == name;
}

}  // namespace schaas::loop_ir
