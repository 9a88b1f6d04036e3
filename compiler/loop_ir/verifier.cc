#include "compiler/loop_ir/verifier.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "compiler/loop_ir/kernel_checks.h"
#include "compiler/loop_ir/loop_checks.h"
#include "compiler/loop_ir/phase_range.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/loop_ir/vector_form.h"

// One walk in program order. Names seen so far are restored when a loop, branch or phase ends. Types follow
// from parts: indices address, values are computed. `varying_` is the set of names that differ between
// lanes of the open vector loop; vector_form.cc says what lanes may do with them. Disjointness of parallel
// writes is not verified: it follows from the tree that was lowered. Declarations are checked in
// kernel_checks.cc.
namespace schaas::loop_ir {
namespace {

using support::Result;

bool is_identifier(const std::string& text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && letter(text.front()) && std::all_of(text.begin(), text.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '_';
  });
}

enum class Kind { index, value, sum, counter, deferred };

bool holds_indices(Element element) { return element == Element::index32 || element == Element::index64; }

class Verifier {
 public:
  Result<void> kernel(const Kernel& kernel) {
    kernel_ = &kernel;
    for (const auto& extent : kernel.extents) SCHAAS_RETURN_IF_ERROR(declare(extent.name, Kind::index));
    // Known in every kernel; sizes of hash tables depend on it.
    SCHAAS_RETURN_IF_ERROR(declare("capacity", Kind::index));
    for (const auto& let : kernel.lets) {
      if (let.type != Type::index) return wrong("kernel-wide `" + let.name + "` is no index");
      SCHAAS_RETURN_IF_ERROR(expect(let.value, Type::index));
      SCHAAS_RETURN_IF_ERROR(declare(let.name, Kind::index));
    }
    for (const auto& array : kernel.arrays) SCHAAS_RETURN_IF_ERROR(declare_array(array, kernel.arguments));
    for (const auto& phase : kernel.phases) {
      SCHAAS_RETURN_IF_ERROR(expect(phase.range, Type::index));
      SCHAAS_RETURN_IF_ERROR(check_over(phase, *kernel_));
      if (phase.fold) SCHAAS_RETURN_IF_ERROR(fold(phase, *phase.fold));
      const auto outside = names_;
      counts_ = phase.step == Step::symbolic;
      for (const char* name : range_names) SCHAAS_RETURN_IF_ERROR(declare(name, Kind::index));
      SCHAAS_RETURN_IF_ERROR(mapping(phase, kernel.for_gpu()));
      SCHAAS_RETURN_IF_ERROR(statement(phase.body));
      names_ = outside;
      if (phase.numeric) SCHAAS_RETURN_IF_ERROR(numeric_body(phase));
      if (phase.row_split) SCHAAS_RETURN_IF_ERROR(row_split(phase, *phase.row_split));
    }
    return check_around(kernel);
  }

 private:
  Result<void> declare(const std::string& name, Kind kind) {
    if (!is_identifier(name)) return wrong("`" + name + "` is no identifier");
    if (arrays_.count(name) > 0 || !names_.emplace(name, kind).second)
      return wrong("`" + name + "` is declared twice");
    return {};
  }

  /// Declares the names of a thread's range.
  Result<void> mapping(const Phase& phase, bool for_gpu) {
    in_mapping_ = phase.mapping.has_value();
    SCHAAS_RETURN_IF_ERROR(alignment(phase));
    if (in_mapping_ != for_gpu) return wrong("some phases are for a GPU and some are not");
    if (!in_mapping_) return {};
    const ThreadMapping& mapping = *phase.mapping;
    SCHAAS_RETURN_IF_ERROR(check_mapping(phase, *kernel_));
    SCHAAS_RETURN_IF_ERROR(declare("lane", Kind::index));
    if (mapping.groups > 1) SCHAAS_RETURN_IF_ERROR(declare("lane_group", Kind::index));
    stage_ = mapping.stage;
    if (stage_ > 0) SCHAAS_RETURN_IF_ERROR(declare("staged", Kind::index));
    if (mapping.rows) SCHAAS_RETURN_IF_ERROR(expect(mapping.rows, Type::index));
    if (!mapping.columns) return {};
    SCHAAS_RETURN_IF_ERROR(expect(mapping.columns, Type::index));
    for (const char* name : column_names) SCHAAS_RETURN_IF_ERROR(declare(name, Kind::index));
    return {};
  }

  Result<void> alignment(const Phase& phase) {
    alignment_ = phase.alignment ? &*phase.alignment : nullptr;
    if (alignment_ == nullptr) return {};
    SCHAAS_RETURN_IF_ERROR(check_alignment(*kernel_, phase));
    return declare("aligned", Kind::index);
  }

  Result<void> block(const std::vector<StatementPtr>& statements) {
    for (std::size_t n = 0; n < statements.size(); ++n) {
      const auto* let = as<Let>(statements[n]);
      if (let != nullptr && let->wide > 1) SCHAAS_RETURN_IF_ERROR(check_wide_load(statements, n, alignment_));
      if (is_wide_store(statements[n])) SCHAAS_RETURN_IF_ERROR(check_wide_store(statements, n, alignment_));
      SCHAAS_RETURN_IF_ERROR(statement(statements[n]));
    }
    return {};
  }

  Result<void> group_store(const GroupStore& store) {
    if (!in_mapping_)
      return wrong("`" + store.array + "` is written by a group of threads that there are not");
    SCHAAS_RETURN_IF_ERROR(writable(store.array, store.value));
    SCHAAS_RETURN_IF_ERROR(expect(store.index, Type::index));
    return expect(store.value, Type::value);
  }

  Result<void> deferred(const std::string& name) const {
    const auto found = names_.find(name);
    if (found != names_.end() && found->second == Kind::deferred) return {};
    return wrong("nothing is deferred as `" + name + "`");
  }

  /// The structure that a numeric body keeps is that of the result.
  Result<void> numeric_body(const Phase& phase) {
    if (counts_ || in_mapping_) return wrong("a numeric body of a phase that is symbolic or for a GPU");
    const auto outside = names_;
    for (const char* name : range_names) SCHAAS_RETURN_IF_ERROR(declare(name, Kind::index));
    keeps_structure_ = true;
    SCHAAS_RETURN_IF_ERROR(statement(phase.numeric));
    keeps_structure_ = false;
    names_ = outside;
    return {};
  }

  /// Partial results know their positions; the fix-up knows the iteration.
  Result<void> row_split(const Phase& phase, const RowSplit& row_split) {
    const auto outside = names_;
    for (const char* name : range_names) SCHAAS_RETURN_IF_ERROR(declare(name, Kind::index));
    const auto inside = names_;
    for (const char* name : {"first", "last"}) SCHAAS_RETURN_IF_ERROR(declare(name, Kind::index));
    SCHAAS_RETURN_IF_ERROR(statement(row_split.partial));
    names_ = inside;
    const auto carry_out = arrays_.find(row_split.carry_out);
    const bool carries =
        carry_out != arrays_.end() && std::holds_alternative<CarryOut>(carry_out->second.origin);
    if (!row_split.carry_out.empty() && !carries)
      return wrong("`" + row_split.carry_out + "` is no array of carry-out values");
    if (!row_split.carry_out.empty() != (row_split.fix_up != nullptr))
      return wrong("a carry-out without a fix-up");
    if (row_split.fix_up) SCHAAS_RETURN_IF_ERROR(statement(row_split.fix_up));
    names_ = outside;
    if (!phase.parallel || phase.balance_argument < 0)
      return wrong("rows are split in a phase that is not balanced");
    return {};
  }

  /// A reduction needs an array of values that is not thread-private, with a single writer statement.
  Result<void> fold(const Phase& phase, const Fold& fold) {
    const auto found = arrays_.find(fold.array);
    if (found == arrays_.end()) return wrong("array `" + fold.array + "` is not declared");
    const auto& array = found->second;
    const bool shared = std::holds_alternative<Shared>(array.origin);
    if (array.element != Element::value || !array.written || (!shared && !belongs_to_result(array)))
      return wrong("`" + fold.array + "` is folded but no array of values that phases write");
    if (!phase.parallel || phase.step != Step::compute) return wrong("a phase folds that is not parallel");
    for (const auto& factor : fold.work) SCHAAS_RETURN_IF_ERROR(expect(factor, Type::index));
    return {};
  }

  Result<void> declare_array(const Array& array, int arguments) {
    if (!is_identifier(array.name)) return wrong("`" + array.name + "` is no identifier");
    if (names_.count(array.name) > 0 || !arrays_.emplace(array.name, array).second)
      return wrong("`" + array.name + "` is declared twice");
    const auto argument = [&](int number) -> Result<void> {
      if (number < 0 || number >= arguments)
        return wrong("`" + array.name + "` belongs to an argument that does not exist");
      return {};
    };
    const auto element = [&](bool right) -> Result<void> {
      if (!right) return wrong("`" + array.name + "` has the wrong element type");
      return {};
    };
    const auto indexed = [&](int number) -> Result<void> {
      SCHAAS_RETURN_IF_ERROR(element(holds_indices(array.element)));
      if (array.written && number != 0)
        return wrong("`" + array.name + "` holds an operand's indices and is written");
      return argument(number);
    };
    return std::visit(
        Match{
            [&](const ArgumentValues& x) -> Result<void> {
              SCHAAS_RETURN_IF_ERROR(element(array.element == Element::value));
              return argument(x.argument);
            },
            [&](const Positions& x) { return indexed(x.argument); },
            [&](const Coordinates& x) -> Result<void> {
              // Bytes of a bitmap are only read.
              if (array.element == Element::byte && !array.written) return argument(x.argument);
              return indexed(x.argument);
            },
            [&](const Shared& x) -> Result<void> {
              if (x.referenced) {
                SCHAAS_RETURN_IF_ERROR(element(array.element == Element::index64));
                SCHAAS_RETURN_IF_ERROR(argument(x.referenced->argument));
                if (array.written || x.referenced->argument == 0)
                  return wrong("`" + array.name + "` holds what an operand meets and is written");
              }
              return expect(x.count, Type::index);
            },
            [&](const CarryOut& x) -> Result<void> {
              SCHAAS_RETURN_IF_ERROR(element(array.element == Element::value));
              return expect(x.count, Type::index);
            },
            [&](const Staged& x) -> Result<void> {
              SCHAAS_RETURN_IF_ERROR(element(array.element != Element::byte));
              if (x.count > 0 && kernel_->for_gpu()) return {};
              return wrong("`" + array.name + "` is staged by no threads");
            },
            [&](const Scratch& x) -> Result<void> {
              Uses uses;
              collect_uses(x.count, uses);
              if (!uses.arrays.empty()) return wrong("the size of `" + array.name + "` depends on an array");
              return expect(x.count, Type::index);
            },
        },
        array.origin);
  }

  /// Returns the type of an expression whose parts are checked.
  Result<Type> type_of(const ExpressionPtr& expression) {
    return std::visit(Match{
                          [](const Integer&) -> Result<Type> { return Type::index; },
                          [](const Number&) -> Result<Type> { return Type::value; },
                          [&](const Name& x) -> Result<Type> {
                            const auto found = names_.find(x.name);
                            if (found == names_.end())
                              return wrong("`" + x.name + "` is used before it is declared");
                            const bool index = found->second == Kind::index || found->second == Kind::counter;
                            return index ? Type::index : Type::value;
                          },
                          [&](const Load& x) -> Result<Type> {
                            const auto found = arrays_.find(x.array);
                            if (found == arrays_.end())
                              return wrong("array `" + x.array + "` is not declared");
                            SCHAAS_RETURN_IF_ERROR(expect(x.index, Type::index));
                            return found->second.element == Element::value ? Type::value : Type::index;
                          },
                          [&](const Apply& x) { return apply(x); },
                          [&](const Choose& x) -> Result<Type> {
                            SCHAAS_RETURN_IF_ERROR(expect(x.condition, Type::index));
                            SCHAAS_ASSIGN_OR_RETURN(const Type type, type_of(x.then));
                            SCHAAS_RETURN_IF_ERROR(expect(x.otherwise, type));
                            return type;
                          },
                          [&](const Search& x) -> Result<Type> {
                            const auto found = arrays_.find(x.array);
                            if (found == arrays_.end() || !holds_indices(found->second.element))
                              return wrong("`" + x.array + "` is searched but holds no indices");
                            for (const auto& part : {x.begin, x.end, x.key})
                              SCHAAS_RETURN_IF_ERROR(expect(part, Type::index));
                            return Type::index;
                          },
                          [&](const Convert& x) -> Result<Type> {
                            SCHAAS_RETURN_IF_ERROR(expect(x.index, Type::index));
                            return Type::value;
                          },
                      },
                      expression->node);
  }

  Result<Type> apply(const Apply& apply) {
    const auto& facts = operators::facts(apply.function);
    const bool any_more = facts.any_more && facts.infix[0] == '\0';
    const std::size_t count = apply.arguments.size();
    if (count < facts.arity || (!any_more && count > facts.arity))
      return wrong(std::string("`") + facts.name + "` of " + std::to_string(count) + " arguments");
    SCHAAS_ASSIGN_OR_RETURN(const Type type, type_of(apply.arguments.front()));
    for (const auto& each : apply.arguments) SCHAAS_RETURN_IF_ERROR(expect(each, type));
    if (type == Type::index && !takes_indices(apply.function))
      return wrong(std::string("`") + facts.name + "` of indices");
    return type;
  }

  Result<void> expect(const ExpressionPtr& expression, Type type) {
    SCHAAS_ASSIGN_OR_RETURN(const Type found, type_of(expression));
    if (found == type) return {};
    return wrong("`" + loop_ir::print(expression) + "` is " + (type == Type::index ? "a value" : "an index") +
                 " where the other is needed");
  }

  Result<void> statement(const StatementPtr& statement_ptr) {
    return std::visit(
        Match{
            [&](const Block& x) { return block(x.statements); },
            [&](const Let& x) -> Result<void> {
              SCHAAS_RETURN_IF_ERROR(expect(x.value, x.type));
              if (x.fold && (!in_mapping_ || x.type != Type::value))
                return wrong("`" + x.name + "` is folded by a group of threads that there are not");
              if (!varying_.empty() && mentions(x.value, varying_)) {
                SCHAAS_RETURN_IF_ERROR(lane_value(x.value));
                if (x.type == Type::index) return wrong("index `" + x.name + "` depends on a lane");
                varying_.insert(x.name);
              }
              return declare(x.name, x.type == Type::index ? Kind::index : Kind::value);
            },
            [&](const Accumulator& x) {
              if (!varying_.empty()) varying_.insert(x.name);
              return declare(x.name, Kind::sum);
            },
            [&](const Accumulate& x) { return accumulate(x); },
            [&](const Store& x) { return store(x); },
            [&](const If& x) { return branch(x); },
            [&](const Counter& x) -> Result<void> {
              SCHAAS_RETURN_IF_ERROR(in_order(x.name));
              SCHAAS_RETURN_IF_ERROR(expect(x.initial, Type::index));
              return declare(x.name, Kind::counter);
            },
            [&](const SetCounter& x) -> Result<void> {
              SCHAAS_RETURN_IF_ERROR(counter(x.name));
              return expect(x.value, Type::index);
            },
            [&](const For& x) { return loop(x); },
            [&](const Merge& x) { return merge(x); },
            [&](const Fill& x) -> Result<void> {
              if (!varying_.empty()) return wrong("`" + x.array + "` is filled inside a vector loop");
              SCHAAS_RETURN_IF_ERROR(expect(x.begin, Type::index));
              SCHAAS_RETURN_IF_ERROR(expect(x.count, Type::index));
              SCHAAS_RETURN_IF_ERROR(writable(x.array, x.value));
              if (!x.row || arrays_.at(x.array).element == Element::value) return {};
              return wrong("`" + x.array + "` is filled as a row but holds no values");
            },
            [&](const Prefetch& x) { return expect(load(x.array, x.index), Type::value); },
            [&](const Overflow&) -> Result<void> {
              if (counts_) return {};
              return wrong("an overflow in a phase that is not symbolic");
            },
            [&](const Sort& x) -> Result<void> {
              if (!varying_.empty()) return wrong("`" + x.array + "` is sorted inside a vector loop");
              SCHAAS_RETURN_IF_ERROR(expect(x.begin, Type::index));
              SCHAAS_RETURN_IF_ERROR(expect(x.end, Type::index));
              SCHAAS_RETURN_IF_ERROR(writable(x.array, integer(0)));
              if (!holds_indices(arrays_.at(x.array).element))
                return wrong("`" + x.array + "` is sorted but holds bytes");
              return {};
            },
            [&](const Occupy& x) -> Result<void> {
              SCHAAS_RETURN_IF_ERROR(occupancy(x.occupancy));
              return expect(x.index, Type::index);
            },
            [&](const OccupyGroups& x) -> Result<void> {
              SCHAAS_RETURN_IF_ERROR(occupancy(x.occupancy));
              for (const auto& each : {x.first, x.last, x.times})
                SCHAAS_RETURN_IF_ERROR(expect(each, Type::index));
              return declare(x.clustered, Kind::index);
            },
            [&](const Compact& x) { return occupancy(x.occupancy); },
            [&](const Expand& x) { return expand(x); },
            [&](const Compress& x) { return terms(x.terms); },
            [&](const AddSupernode& x) { return add_supernode(x); },
            [&](const GroupStore& x) { return group_store(x); },
            [&](const Deferred& x) -> Result<void> {
              if (!in_mapping_) return wrong("`" + x.name + "` is deferred for no group");
              SCHAAS_RETURN_IF_ERROR(writable(x.array, number(0)));
              return declare(x.name, Kind::deferred);
            },
            [&](const Defer& x) -> Result<void> {
              SCHAAS_RETURN_IF_ERROR(deferred(x.name));
              SCHAAS_RETURN_IF_ERROR(expect(x.index, Type::index));
              return expect(x.value, Type::value);
            },
            [&](const Flush& x) { return deferred(x.name); },
            [&](const Stage& x) -> Result<void> {
              SCHAAS_RETURN_IF_ERROR(expect(x.begin, Type::index));
              SCHAAS_RETURN_IF_ERROR(expect(x.count, Type::index));
              return check_stage(x, stage_, *kernel_);
            },
        },
        statement_ptr->node);
  }

  Result<void> accumulate(const Accumulate& accumulate) {
    const auto found = names_.find(accumulate.name);
    if (found == names_.end() || found->second != Kind::sum)
      return wrong("`" + accumulate.name + "` is no sum");
    if (!varying_.empty()) {
      if (varying_.count(accumulate.name) == 0)
        return wrong("`" + accumulate.name + "` is shared by all lanes");
      SCHAAS_RETURN_IF_ERROR(lane_value(accumulate.value));
    }
    return expect(accumulate.value, Type::value);
  }

  /// Counters count iterations in order.
  Result<void> in_order(const std::string& name) const {
    if (vectors_ > 0) return wrong("`" + name + "` counts in a loop whose iterations have no order");
    return {};
  }

  Result<void> branch(const If& branch) {
    SCHAAS_RETURN_IF_ERROR(type_of(branch.condition));
    if (!varying_.empty() && mentions(branch.condition, varying_))
      return wrong("`" + loop_ir::print(branch.condition) + "` decides for a lane");
    const auto names = names_;
    SCHAAS_RETURN_IF_ERROR(statement(branch.body));
    names_ = names;
    return {};
  }

  /// Checks an occupancy map: bytes and a list that may be written, and a counter.
  Result<void> occupancy(const Occupancy& occupancy) {
    if (!varying_.empty())
      return wrong("`" + occupancy.array + "` is occupied or compacted inside a vector loop");
    SCHAAS_RETURN_IF_ERROR(writable(occupancy.array, integer(0)));
    SCHAAS_RETURN_IF_ERROR(writable(occupancy.list, integer(0)));
    if (arrays_.at(occupancy.array).element != Element::byte)
      return wrong("`" + occupancy.array + "` is occupied but holds no bytes");
    if (!holds_indices(arrays_.at(occupancy.list).element))
      return wrong("`" + occupancy.list + "` is a list but holds bytes");
    SCHAAS_RETURN_IF_ERROR(expect(occupancy.extent, Type::index));
    return counter(occupancy.count);
  }

  Result<void> terms(const Terms& terms) {
    if (!varying_.empty()) return wrong("`" + terms.list + "` has terms of one lane");
    SCHAAS_RETURN_IF_ERROR(writable(terms.list, integer(0)));
    SCHAAS_RETURN_IF_ERROR(writable(terms.values, number(0)));
    for (const auto& each : {terms.list, terms.values}) {
      const auto* own = std::get_if<Scratch>(&arrays_.at(each).origin);
      if (own == nullptr || !equal(own->count, integer(term_elements)))
        return wrong("`" + each + "` is no array of the workspace of " + std::to_string(term_elements) +
                     " elements");
    }
    return counter(terms.count);
  }

  /// The array is a list of indices, as wide as those of `other`.
  Result<void> indices_like(const std::string& array, const std::string& other) {
    SCHAAS_RETURN_IF_ERROR(expect(load(array, integer(0)), Type::index));
    if (arrays_.at(array).element != arrays_.at(other).element)
      return wrong("`" + array + "` and `" + other + "` differ in their width");
    return {};
  }

  Result<void> expand(const Expand& expand) {
    SCHAAS_RETURN_IF_ERROR(terms(expand.terms));
    SCHAAS_RETURN_IF_ERROR(indices_like(expand.coordinates, expand.terms.list));
    SCHAAS_RETURN_IF_ERROR(expect(load(expand.values, integer(0)), Type::value));
    for (const auto& each : {expand.begin, expand.end}) SCHAAS_RETURN_IF_ERROR(expect(each, Type::index));
    return expect(expand.scale, Type::value);
  }

  Result<void> add_supernode(const AddSupernode& add) {
    if (!varying_.empty() || vectors_ > 0)
      return wrong("rows are added in a loop whose iterations have no order");
    if (loops_.count(add.variable) == 0) return wrong("`" + add.variable + "` is no loop's variable");
    SCHAAS_RETURN_IF_ERROR(expect(add.end, Type::index));
    SCHAAS_RETURN_IF_ERROR(expect(add.scale, Type::value));
    for (const auto& each : {add.factors, add.values})
      SCHAAS_RETURN_IF_ERROR(expect(load(each, integer(0)), Type::value));
    SCHAAS_RETURN_IF_ERROR(expect(load(add.rows, integer(0)), Type::index));
    for (const auto& each : {add.positions, add.coordinates})
      SCHAAS_RETURN_IF_ERROR(indices_like(each, add.rows));
    SCHAAS_RETURN_IF_ERROR(writable(add.sums, number(0)));
    SCHAAS_RETURN_IF_ERROR(writable(add.set, integer(0)));
    if (arrays_.at(add.set).element != Element::byte)
      return wrong("`" + add.set + "` is occupied but holds no bytes");
    return {};
  }

  Result<void> counter(const std::string& name) const {
    SCHAAS_RETURN_IF_ERROR(in_order(name));
    const auto found = names_.find(name);
    if (found == names_.end() || found->second != Kind::counter) return wrong("`" + name + "` is no counter");
    return {};
  }

  Result<void> writable(const std::string& array, const ExpressionPtr& value) {
    const auto found = arrays_.find(array);
    if (found == arrays_.end()) return wrong("array `" + array + "` is not declared");
    if (!found->second.written) return wrong("`" + array + "` is stored to but not declared written");
    if (keeps_structure_ && belongs_to_result(found->second) && found->second.element != Element::value)
      return wrong("`" + array + "` is stored to in a numeric body");
    return expect(value, found->second.element == Element::value ? Type::value : Type::index);
  }

  Result<void> store(const Store& store) {
    SCHAAS_RETURN_IF_ERROR(writable(store.array, store.value));
    SCHAAS_RETURN_IF_ERROR(expect(store.index, Type::index));
    const bool values = arrays_.at(store.array).element == Element::value;
    if (store.mode == Write::atomic && vectors_ > 0 && varying_.empty())
      return wrong("`" + store.array + "` is written atomically in a simd loop");
    if (store.mode != Write::set && !values)
      return wrong("`" + store.array + "` holds no values to fold into");
    if (varying_.empty()) return {};
    if (!values || !is_vector_index(store.index, lane_variable_, varying_))
      return wrong("`" + store.array + "` is not stored one element per lane");
    return lane_value(store.value);
  }

  Result<void> loop(const For& loop) {
    SCHAAS_RETURN_IF_ERROR(expect(loop.begin, Type::index));
    SCHAAS_RETURN_IF_ERROR(expect(loop.end, Type::index));
    SCHAAS_RETURN_IF_ERROR(check_attributes(loop, *kernel_, {!varying_.empty(), in_mapping_}));
    if (loop.adds) SCHAAS_RETURN_IF_ERROR(expect(loop.adds->factor, Type::value));
    if (loop.row) SCHAAS_RETURN_IF_ERROR(expect(name(loop.row->row), Type::index));
    for (const auto& row : loop.along) {
      SCHAAS_RETURN_IF_ERROR(expect(name(row.offset), Type::index));
      SCHAAS_RETURN_IF_ERROR(expect(name(row.row), Type::index));
    }
    if (!varying_.empty()) {
      if (loop.shape == Shape::vector) return wrong("vector loop `" + loop.variable + "` inside another");
      if (mentions(loop.begin, varying_) || mentions(loop.end, varying_))
        return wrong("a bound of `" + loop.variable + "` depends on a lane");
    }
    const auto names = names_;
    const auto varying = varying_;
    const auto variable = lane_variable_;
    SCHAAS_RETURN_IF_ERROR(declare(loop.variable, Kind::index));
    if (loop.shape == Shape::vector) {
      varying_ = {loop.variable};
      lane_variable_ = loop.variable;
    }
    vectors_ += loop.shape == Shape::scalar ? 0 : 1;
    // A supernode advances the variable by single positions.
    if (loop.step == 1) loops_.insert(loop.variable);
    SCHAAS_RETURN_IF_ERROR(statement(loop.body));
    loops_.erase(loop.variable);
    vectors_ -= loop.shape == Shape::scalar ? 0 : 1;
    names_ = names;
    varying_ = varying;
    lane_variable_ = variable;
    return {};
  }

  Result<void> list(const Cursor& cursor) {
    if (cursor.coordinates.empty() && cursor.until.empty()) return {};
    if (cursor.coordinates.empty())
      return wrong("`" + cursor.position + "` is its own coordinate and is held once");
    const auto found = arrays_.find(cursor.coordinates);
    if (found == arrays_.end()) return wrong("array `" + cursor.coordinates + "` is not declared");
    if (holds_indices(found->second.element)) return {};
    return wrong("`" + cursor.coordinates + "` is merged but holds no indices");
  }

  Result<void> merge(const Merge& merge) {
    if (!varying_.empty()) return wrong("`" + merge.variable + "` is merged inside a vector loop");
    const bool any = merge.kind == MergeKind::any;
    if (merge.over) {
      if (!any) return wrong("`" + merge.variable + "` runs over a range but intersects lists");
      SCHAAS_RETURN_IF_ERROR(expect(merge.over->begin, Type::index));
      SCHAAS_RETURN_IF_ERROR(expect(merge.over->end, Type::index));
    }
    // One list is merged with a range, or walked by ranges of equal coordinates.
    const bool walks = merge.cursors.size() == 1 && (merge.over || !merge.cursors.front().until.empty());
    if (merge.cursors.size() < 2 && !walks)
      return wrong("`" + merge.variable + "` merges fewer than two lists");
    for (const auto& cursor : merge.cursors) {
      SCHAAS_RETURN_IF_ERROR(expect(cursor.begin, Type::index));
      SCHAAS_RETURN_IF_ERROR(expect(cursor.end, Type::index));
      SCHAAS_RETURN_IF_ERROR(list(cursor));
      if (cursor.present.empty() == any)
        return wrong("`" + cursor.position +
                     (any ? "` may be absent and has no name for it" : "` is never absent"));
    }
    const auto names = names_;
    SCHAAS_RETURN_IF_ERROR(declare(merge.variable, Kind::index));
    for (const auto& cursor : merge.cursors) {
      SCHAAS_RETURN_IF_ERROR(declare(cursor.position, Kind::index));
      if (any) SCHAAS_RETURN_IF_ERROR(declare(cursor.present, Kind::index));
      if (!cursor.until.empty()) SCHAAS_RETURN_IF_ERROR(declare(cursor.until, Kind::index));
    }
    SCHAAS_RETURN_IF_ERROR(statement(merge.body));
    names_ = names;
    return {};
  }

  Result<void> lane_value(const ExpressionPtr& value) const {
    if (is_vector_value(value, lane_variable_, varying_)) return {};
    return wrong("`" + loop_ir::print(value) + "` is not one element per lane");
  }

  const Kernel* kernel_ = nullptr;
  std::set<std::string> loops_;  ///< variables of open loops with step 1
  std::map<std::string, Kind> names_;
  std::map<std::string, Array> arrays_;
  bool in_mapping_ = false;               ///< the phase is for a GPU
  int stage_ = 0;                         ///< threads that stage together in the present phase
  const Alignment* alignment_ = nullptr;  ///< alignment of the present phase, or null
  bool keeps_structure_ = false;          ///< in a numeric body
  std::set<std::string> varying_;  ///< inside a vector loop: its variable and the names that vary with it
  std::string lane_variable_;
  bool counts_ = false;  ///< the present phase is symbolic
  int vectors_ = 0;      ///< simd and vector loops around
};

}  // namespace

support::Result<void> verify(const Kernel& kernel) { return Verifier().kernel(kernel); }

}  // namespace schaas::loop_ir
