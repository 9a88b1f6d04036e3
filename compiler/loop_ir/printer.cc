#include "compiler/loop_ir/printer.h"

#include <charconv>
#include <cmath>
#include <map>

// Prints the text form that README.md describes and parser.cc reads back: parse(print(k)) is k. Attributes
// appear only where they differ from their defaults, always in one order, the only one that the parser
// accepts. Operators have two operands and parentheses, so the text determines the tree without precedence.
// Every kind of node has a case here; a new one breaks the build.
namespace schaas::loop_ir {
namespace {

/// Returns the shortest text that reads back as `value` and is not an index.
std::string value_text(double value) {
  char buffer[32];
  std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  // A fraction, an exponent, `inf` or `nan` tell a value from an index.
  if (text.find_first_of(".einf") == std::string::npos) text += ".0";
  return text;
}

/// Returns the assignment operator of a monoid: "+=", "max=".
std::string fold_text(operators::Monoid monoid) {
  switch (monoid) {
    case operators::Monoid::sum:
      return "+=";
    case operators::Monoid::product:
      return "*=";
    case operators::Monoid::minimum:
    case operators::Monoid::maximum:
    case operators::Monoid::logical_or:
    case operators::Monoid::logical_and:
      return std::string(operators::name(monoid)) + "=";
  }
  return "";
}

/// Prints an operator between its two operands, any other function with a list of arguments.
std::string apply_text(const Apply& apply) {
  const auto& facts = operators::facts(apply.function);
  const auto& arguments = apply.arguments;
  if (facts.infix[0] != '\0' && facts.arity == 2) {
    return "(" + print(arguments[0]) + " " + facts.infix + " " + print(arguments[1]) + ")";
  }
  std::string text = facts.name;
  for (std::size_t n = 0; n < arguments.size(); ++n) text += (n == 0 ? "(" : ", ") + print(arguments[n]);
  return text + ")";
}

/// Prints the numbers of a mapping by name, then its columns where it has some.
std::string mapping_text(const ThreadMapping& mapping) {
  const auto number = [](const char* what, int value) { return what + std::to_string(value); };
  std::string text = number(" mapping grain ", mapping.grain) +
                     number(" per_item ", mapping.threads_per_item) + number(" group ", mapping.group_size) +
                     number(" tile ", mapping.tile) + number(" block ", mapping.block);
  if (mapping.columns)
    text += " columns " + print(mapping.columns) + number(" grain ", mapping.columns_grain);
  if (mapping.stage > 0) text += number(" stage ", mapping.stage);
  if (mapping.groups > 1) text += number(" groups ", mapping.groups);
  if (mapping.rows) text += " merges " + mapping.merged_positions + " rows " + print(mapping.rows);
  return text;
}

std::string alignment_text(const Alignment& alignment) {
  std::string text = " aligned " + std::to_string(alignment.width) + " extents";
  for (const auto& extent : alignment.extents) text += " " + extent;
  text += " arrays";
  for (const auto& array : alignment.arrays) text += " " + array;
  return text;
}

std::string specialisation_text(const Specialisation& specialisation) {
  std::string text = " specialised for";
  for (const auto& extent : specialisation.extents) text += " " + extent;
  if (!specialisation.singles.empty()) text += " single";
  for (const auto& extent : specialisation.singles) text += " " + extent;
  text += " at";
  for (const auto size : specialisation.sizes) text += " " + std::to_string(size);
  if (!specialisation.registers.empty()) text += " registers";
  for (const int bound : specialisation.registers) text += " " + std::to_string(bound);
  return text;
}

/// Prints how many adjacent values a load or a store takes at once.
std::string wide_text(int wide) { return wide > 1 ? " wide " + std::to_string(wide) : ""; }

/// Returns the text of a write up to its value: "A[i] = ", "atomic A[i] += ".
std::string write_text(const std::string& array, const ExpressionPtr& index, Write mode,
                       operators::Monoid monoid) {
  const std::string op = mode == Write::set ? "=" : fold_text(monoid);
  return (mode == Write::atomic ? "atomic " : "") + array + "[" + print(index) + "] " + op + " ";
}

/// Collects lines, indented by two spaces for each enclosing body.
class Printer {
 public:
  std::string kernel(const Kernel& kernel) {
    open(std::string("kernel ") + name(kernel.value_type) + " arguments " + std::to_string(kernel.arguments));
    for (const auto& each : kernel.copies) copy(each);
    for (const auto& each : kernel.extents) extent(each);
    for (const auto& each : kernel.lets) let(each);
    for (const auto& each : kernel.arrays) array(each);
    if (kernel.writes_all) line("result written");
    if (kernel.appends == Appends::always) line("result appended");
    if (kernel.appends == Appends::alone) line("result appended alone");
    if (kernel.result_entries_of >= 0)
      line("result entries of argument " + std::to_string(kernel.result_entries_of));
    if (kernel.result_fill != 0 || std::signbit(kernel.result_fill))
      line("result fill " + value_text(kernel.result_fill));
    for (const auto& each : kernel.counters) {
      line("result counter level " + std::to_string(each.level) + " slot " + std::to_string(each.slot));
    }
    for (const auto& each : kernel.phases) phase(each);
    close();
    return text_;
  }

  std::string statements(const StatementPtr& first) {
    statement(first);
    return text_;
  }

 private:
  void line(const std::string& text) {
    text_.append(static_cast<std::size_t>(2 * depth_), ' ');
    text_ += text;
    text_ += '\n';
  }
  void open(const std::string& text) {
    line(text + " {");
    ++depth_;
  }
  void close() {
    --depth_;
    line("}");
  }

  void copy(const ArgumentCopy& copy) {
    std::string modes;
    for (const int mode : copy.mode_order) modes += " " + std::to_string(mode);
    line("copy of argument " + std::to_string(copy.of) + " modes" + modes + (copy.locates ? " locates" : ""));
  }

  void extent(const Extent& extent) {
    // Prints a bound of an extent where it has one.
    const auto size = [](const char* word, const std::optional<std::int64_t>& of) {
      return of ? std::string(" ") + word + " " + std::to_string(*of) : "";
    };
    line("extent " + extent.name + " = argument " + std::to_string(extent.argument) + " mode " +
         std::to_string(extent.mode) + size("required", extent.required) + (extent.sparse ? " sparse" : "") +
         size("minimum", extent.minimum) + size("maximum", extent.maximum));
  }

  void let(const Let& let) {
    std::string text =
        "let " + let.name + ": " + (let.type == Type::index ? "index" : "value") + " = " + print(let.value);
    if (let.fold)
      text += " group " + std::to_string(let.fold->width) + " " + operators::name(let.fold->monoid);
    text += wide_text(let.wide);
    line(text);
  }

  void array(const Array& array) {
    static constexpr const char* elements[] = {"value", "index32", "index64", "byte"};
    const auto at = [](const char* what, int argument, int level) {
      return what + std::to_string(argument) + " level " + std::to_string(level);
    };
    const std::string origin = std::visit(
        Match{
            [](const ArgumentValues& x) {
              return "values " + std::to_string(x.argument) +
                     (x.stored ? std::string(" of ") + name(*x.stored) : "");
            },
            [&](const Positions& x) { return at("positions ", x.argument, x.level); },
            [&](const Coordinates& x) { return at("coordinates ", x.argument, x.level); },
            [&](const Shared& x) {
              return "shared " + std::to_string(x.slot) + " count " + print(x.count) +
                     (x.stored ? " stored" : "") +
                     (x.referenced ? at(" referenced by ", x.referenced->argument, x.referenced->level) : "");
            },
            [](const Scratch& x) { return "scratch count " + print(x.count); },
            [](const CarryOut& x) { return "carry_out count " + print(x.count); },
            [](const Staged& x) { return "staged " + std::to_string(x.count); },
        },
        array.origin);
    line("array " + array.name + ": " + elements[static_cast<int>(array.element)] + " = " + origin +
         (array.written ? " written" : ""));
  }

  /// Prints attributes in the order in which the parser accepts them, then the bodies.
  void phase(const Phase& phase) {
    std::string text = phase.step == Step::symbolic ? "phase symbolic range " : "phase range ";
    text += print(phase.range);
    if (!phase.over.empty()) text += " over " + phase.over;
    if (phase.parallel) text += " parallel";
    if (phase.balance_argument >= 0) {
      text += " balance " + std::to_string(phase.balance_argument) + " level " +
              std::to_string(phase.balance_level);
    }
    if (phase.specialised) text += specialisation_text(*phase.specialised);
    if (phase.fold) {
      text += " fold " + phase.fold->array + " " + operators::name(phase.fold->monoid) + " work";
      for (const auto& factor : phase.fold->work) text += " " + print(factor);
    }
    if (phase.mapping) text += mapping_text(*phase.mapping);
    if (phase.alignment) text += alignment_text(*phase.alignment);
    open(text);
    statement(phase.body);
    close();
    if (phase.numeric) {
      open("numeric");
      statement(phase.numeric);
      close();
    }
    if (!phase.row_split) return;
    open(std::string("partial ") + operators::name(phase.row_split->monoid));
    statement(phase.row_split->partial);
    close();
    if (phase.row_split->carry_out.empty()) return;
    open("fix_up " + phase.row_split->carry_out);
    statement(phase.row_split->fix_up);
    close();
  }

  static std::string occupancy(const Occupancy& occupancy) {
    return occupancy.array + " of " + print(occupancy.extent) + " list " + occupancy.list + " count " +
           occupancy.count;
  }

  /// Nothing for products and sums.
  static std::string arithmetic_text(const RowArithmetic& arithmetic) {
    if (arithmetic == RowArithmetic{}) return "";
    const auto& product = operators::facts(arithmetic.product);
    return std::string(" with ") + operators::name(arithmetic.monoid) + " of " + product.name;
  }

  static std::string terms(const Terms& terms) {
    return terms.list + " values " + terms.values + " count " + terms.count +
           arithmetic_text(terms.arithmetic);
  }

  void statement(const StatementPtr& statement_ptr) {
    std::visit(
        Match{
            [&](const Block& x) {
              for (const auto& each : x.statements) statement(each);
            },
            [&](const Let& x) { let(x); },
            [&](const Accumulator& x) { accumulator(x); },
            [&](const Accumulate& x) { accumulate(x); },
            [&](const Store& x) {
              line(write_text(x.array, x.index, x.mode, x.monoid) + print(x.value) + wide_text(x.wide));
            },
            [&](const If& x) {
              open("if " + print(x.condition));
              statement(x.body);
              close();
            },
            [&](const Counter& x) { line("counter " + x.name + " = " + print(x.initial)); },
            [&](const SetCounter& x) { line("set " + x.name + " = " + print(x.value)); },
            [&](const For& x) { loop(x); },
            [&](const Merge& x) { merge(x); },
            [&](const Fill& x) {
              line("fill " + x.array + " from " + print(x.begin) + " count " + print(x.count) + " with " +
                   print(x.value) + (x.row ? " row" : ""));
            },
            [&](const Prefetch& x) { line("prefetch " + x.array + "[" + print(x.index) + "]"); },
            [&](const Overflow&) { line("overflow"); },
            [&](const Occupy& x) { line("occupy " + occupancy(x.occupancy) + " at " + print(x.index)); },
            [&](const OccupyGroups& x) {
              line("groups " + x.clustered + " in " + occupancy(x.occupancy) + " from " + print(x.first) +
                   " to " + print(x.last) + " times " + print(x.times));
            },
            [&](const Compact& x) { line("compact " + occupancy(x.occupancy)); },
            [&](const Expand& x) {
              line("expand " + x.coordinates + " " + x.values + " in " + print(x.begin) + " .. " +
                   print(x.end) + " times " + print(x.scale) + " to " + terms(x.terms));
            },
            [&](const Compress& x) { line("compress " + terms(x.terms)); },
            [&](const AddSupernode& x) {
              line("supernode " + x.variable + " to " + print(x.end) + " rows " + x.rows + " times " +
                   x.factors + " and " + print(x.scale) + " of " + x.positions + " " + x.coordinates + " " +
                   x.values + " into " + x.sums + " set " + x.set);
            },
            [&](const Sort& x) { line("sort " + x.array + " in " + print(x.begin) + " .. " + print(x.end)); },
            [&](const GroupStore& x) {
              line("group " + std::to_string(x.width) + " " + operators::name(x.monoid) + " " +
                   write_text(x.array, x.index, x.mode, x.monoid) + print(x.value) + wide_text(x.wide));
            },
            [&](const Deferred& x) {
              line("deferred " + x.name + " of " + x.array + " " + operators::name(x.monoid));
            },
            [&](const Defer& x) {
              line("defer " + x.name + " at " + print(x.index) + " value " + print(x.value));
            },
            [&](const Flush& x) { line("flush " + x.name + " group " + std::to_string(x.width)); },
            [&](const Stage& x) { stage(x); },
        },
        statement_ptr->node);
  }

  void stage(const Stage& stage) {
    std::string text = "stage " + std::to_string(stage.threads) + " from " + print(stage.begin) + " count " +
                       print(stage.count);
    for (const auto& copy : stage.copies) text += " to " + copy.to + " of " + copy.from;
    line(text);
  }

  void accumulator(const Accumulator& accumulator) {
    monoids_[accumulator.name] = accumulator.monoid;
    line(std::string(operators::name(accumulator.monoid)) + " " + accumulator.name +
         (accumulator.initial ? " from " + value_text(*accumulator.initial) : ""));
  }

  void accumulate(const Accumulate& accumulate) {
    const auto found = monoids_.find(accumulate.name);
    // A statement printed by itself may lack the declaration; its fold then reads as a sum.
    const auto monoid = found == monoids_.end() ? operators::Monoid::sum : found->second;
    line(accumulate.name + " " + fold_text(monoid) + " " + print(accumulate.value));
  }

  static std::string along_text(const std::vector<RowAlong>& rows) {
    std::string text;
    for (const auto& each : rows)
      text += (text.empty() ? " along " : ", ") + each.array + " from " + each.offset + " row " + each.row;
    return text;
  }

  static std::string row_text(const RowEntries& row) {
    std::string text = " row " + row.row + " of ";
    for (const auto& each : row.positions) text += (&each == &row.positions.front() ? "" : ", ") + each;
    return text;
  }

  static std::string adds_text(const AddedRow& row) {
    static constexpr const char* variants[] = {"", "clustered ", "scattered "};
    std::string text = std::string(" adds ") + variants[static_cast<int>(row.variant)] + row.values +
                       " times " + print(row.factor) + " to " + row.sums + " set " + row.set;
    if (!row.factors.empty()) text += " factor " + print(row.scale) + " of " + row.factors + " at " + row.at;
    return text + arithmetic_text(row.arithmetic);
  }

  /// Prints attributes only where they say something.
  void loop(const For& loop) {
    static constexpr const char* shapes[] = {"for ", "for simd ", "for vector "};
    static constexpr const char* parts[] = {"", " jammed", " remainder"};
    open(shapes[static_cast<int>(loop.shape)] + loop.variable + " in " + print(loop.begin) + " .. " +
         print(loop.end) + (loop.step == 1 ? "" : " by " + std::to_string(loop.step)) +
         (loop.interleaved ? " interleaved" : "") + (loop.clears ? " clears" : "") +
         (loop.cut ? " cut" : "") + parts[static_cast<int>(loop.part)] +
         (loop.unroll == 1 ? "" : " unroll " + std::to_string(loop.unroll)) +
         (loop.product ? " product" : "") + (loop.entries.empty() ? "" : " entries of " + loop.entries) +
         (loop.row ? row_text(*loop.row) : "") +
         (loop.appends ? " appends " + loop.appends->counter + " at " + loop.appends->position : "") +
         (loop.overruns ? " overruns" : "") +
         (loop.prefetch_distance == 0 ? "" : " prefetch " + std::to_string(loop.prefetch_distance)) +
         along_text(loop.along) + (loop.adds ? adds_text(*loop.adds) : ""));
    statement(loop.body);
    close();
  }

  /// Prints the lists in their order; `itself` stands for a list whose positions are its coordinates.
  void merge(const Merge& merge) {
    const char* const kind = merge.kind == MergeKind::any     ? "any "
                             : merge.kind == MergeKind::first ? "first "
                                                              : "";
    std::string text = std::string("merge ") + kind + merge.variable;
    if (merge.over) text += " in " + print(merge.over->begin) + " .. " + print(merge.over->end);
    text += " at ";
    for (std::size_t n = 0; n < merge.cursors.size(); ++n) {
      const auto& cursor = merge.cursors[n];
      text += (n > 0 ? ", " : "") + cursor.position + (cursor.until.empty() ? "" : " until " + cursor.until) +
              (cursor.present.empty() ? "" : " present " + cursor.present) + " over " +
              (cursor.coordinates.empty() ? "itself" : cursor.coordinates) + " in " + print(cursor.begin) +
              " .. " + print(cursor.end);
    }
    open(text);
    statement(merge.body);
    close();
  }

  std::string text_;
  int depth_ = 0;
  std::map<std::string, operators::Monoid> monoids_;  ///< accumulators declared so far
};

}  // namespace

std::string print(const Kernel& kernel) { return Printer().kernel(kernel); }
std::string print(const StatementPtr& statement) { return Printer().statements(statement); }

std::string print(const ExpressionPtr& expression) {
  return std::visit(Match{
                        [](const Integer& x) { return std::to_string(x.value); },
                        [](const Number& x) { return value_text(x.value); },
                        [](const Name& x) { return x.name; },
                        [](const Load& x) { return x.array + "[" + print(x.index) + "]"; },
                        [](const Convert& x) { return "value(" + print(x.index) + ")"; },
                        [](const Apply& x) { return apply_text(x); },
                        [](const Choose& x) {
                          return "choose(" + print(x.condition) + ", " + print(x.then) + ", " +
                                 print(x.otherwise) + ")";
                        },
                        [](const Search& x) {
                          static constexpr const char* names[] = {"search(", "find(", "slot(", "match("};
                          return names[static_cast<int>(x.layout)] + x.array + ", " + print(x.begin) + ", " +
                                 print(x.end) + ", " + print(x.key) + ")";
                        },
                    },
                    expression->node);
}

}  // namespace schaas::loop_ir
