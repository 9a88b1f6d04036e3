#include "compiler/loop_ir/parser.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "compiler/loop_ir/expression_parser.h"

// Recursive descent over the tokenizer's words, one function for each kind of node, in the order in which
// printer.cc prints it. One word of lookahead suffices. Some words are not reserved: `simd`, `any`, `atomic`
// and names of functions may also be names of the kernel. Parsed expressions are built as written, so
// parse(print(k)) is k. An accumulator's monoid stands at its declaration and again at each fold; both must
// agree.
namespace schaas::loop_ir {
namespace {

/// Recursive descent parser. An error moves the tokenizer to the end of the text, where no rule matches, so
/// every rule returns at once.
class Parser : private ExpressionParser {
 public:
  explicit Parser(std::string_view text) : ExpressionParser(text) {}

  /// Accepts declarations in any order; the verifier wants each before its use.
  Kernel kernel() {
    Kernel kernel;
    expect("kernel");
    kernel.value_type = static_cast<ValueType>(choose(operators::value_type_names()));
    expect("arguments");
    kernel.arguments = small_number();
    expect("{");
    while (word() != "}" && !error()) {
      if (word() == "copy") {
        kernel.copies.push_back(copy());
      } else if (word() == "extent") {
        kernel.extents.push_back(extent());
      } else if (word() == "let") {
        kernel.lets.push_back(let());
      } else if (word() == "array") {
        kernel.arrays.push_back(array());
      } else if (accept("result")) {
        result(kernel);
      } else if (word() == "phase") {
        kernel.phases.push_back(phase());
      } else {
        fail("`copy`, `extent`, `let`, `array`, `result`, `phase` or `}`");
      }
    }
    expect("}");
    if (!word().empty()) fail("the end of the text");
    return kernel;
  }
  using Tokenizer::error;

 private:
  Extent extent() {
    Extent extent;
    expect("extent");
    extent.name = identifier();
    expect("=");
    expect("argument");
    extent.argument = small_number();
    expect("mode");
    extent.mode = small_number();
    if (accept("required")) extent.required = whole_number();
    extent.sparse = accept("sparse");
    if (accept("minimum")) extent.minimum = whole_number();
    if (accept("maximum")) extent.maximum = whole_number();
    return extent;
  }

  Let let() {
    Let let;
    expect("let");
    let.name = identifier();
    expect(":");
    let.type = choose({"index", "value"}) == 0 ? Type::index : Type::value;
    expect("=");
    let.value = expression();
    if (accept("group")) {
      const int width = small_number();
      let.fold = GroupFold{width, monoid()};
    }
    if (accept("wide")) let.wide = small_number();
    return let;
  }

  Array array() {
    Array array;
    expect("array");
    array.name = identifier();
    expect(":");
    // The words are in the order of the enumerators.
    array.element = static_cast<Element>(choose({"value", "index32", "index64", "byte"}));
    expect("=");
    const int kind =
        choose({"values", "positions", "coordinates", "shared", "scratch", "carry_out", "staged"});
    // Number of an argument or slot; scratch and carry-out arrays have none.
    const int first = kind >= 4 ? 0 : small_number();
    if (kind == 0) {
      ArgumentValues values{first};
      if (accept("of")) values.stored = static_cast<ValueType>(choose(operators::value_type_names()));
      array.origin = values;
    }
    if (kind == 1 || kind == 2) {
      expect("level");
      const int level = small_number();
      if (kind == 1) array.origin = Positions{first, level};
      if (kind == 2) array.origin = Coordinates{first, level};
    }
    if (kind == 6) array.origin = Staged{small_number()};
    if (kind >= 3 && kind < 6) {
      expect("count");
      const auto count = expression();
      if (kind == 3) array.origin = shared(first, count);
      if (kind == 4) array.origin = Scratch{count};
      if (kind == 5) array.origin = CarryOut{count};
    }
    array.written = accept("written");
    return array;
  }

  Shared shared(int slot, const ExpressionPtr& count) {
    Shared shared{slot, count};
    shared.stored = accept("stored");
    if (!accept("referenced")) return shared;
    expect("by");
    shared.referenced.emplace();
    shared.referenced->argument = small_number();
    expect("level");
    shared.referenced->level = small_number();
    return shared;
  }

  ArgumentCopy copy() {
    ArgumentCopy copy;
    for (const char* each : {"copy", "of", "argument"}) expect(each);
    copy.of = small_number();
    expect("modes");
    while (at_number()) copy.mode_order.push_back(small_number());
    copy.locates = accept("locates");
    return copy;
  }

  void result(Kernel& kernel) {
    if (accept("fill")) {
      kernel.result_fill = value();
      return;
    }
    if (accept("written")) return void(kernel.writes_all = true);
    if (accept("appended")) return void(kernel.appends = accept("alone") ? Appends::alone : Appends::always);
    if (accept("entries")) {
      expect("of"), expect("argument");
      kernel.result_entries_of = small_number();
      return;
    }
    EntryCounter counter;
    expect("counter");
    expect("level");
    counter.level = small_number();
    expect("slot");
    counter.slot = small_number();
    kernel.counters.push_back(counter);
  }

  /// Parses attributes, all optional and in one order, then the bodies.
  Phase phase() {
    Phase phase;
    expect("phase");
    if (accept("symbolic")) phase.step = Step::symbolic;
    expect("range");
    phase.range = expression();
    if (accept("over")) phase.over = identifier();
    phase.parallel = accept("parallel");
    if (accept("balance")) {
      phase.balance_argument = small_number();
      expect("level");
      phase.balance_level = small_number();
    }
    if (accept("specialised")) phase.specialised = specialisation();
    if (accept("fold")) phase.fold = folding();
    if (accept("mapping")) phase.mapping = mapping();
    if (accept("aligned")) phase.alignment = alignment();
    phase.body = body();
    if (accept("numeric")) phase.numeric = body();
    if (accept("partial")) phase.row_split = row_split();
    return phase;
  }

  Specialisation specialisation() {
    Specialisation specialisation;
    expect("for");
    while (word() != "single" && word() != "at" && !error()) specialisation.extents.push_back(identifier());
    if (accept("single"))
      while (word() != "at" && !error()) specialisation.singles.push_back(identifier());
    expect("at");
    while (at_number()) specialisation.sizes.push_back(whole_number());
    if (accept("registers"))
      while (at_number()) specialisation.registers.push_back(small_number());
    return specialisation;
  }

  /// Parses the five numbers of a mapping, then columns where the phase has them.
  ThreadMapping mapping() {
    ThreadMapping mapping;
    const std::pair<const char*, int*> numbers[] = {{"grain", &mapping.grain},
                                                    {"per_item", &mapping.threads_per_item},
                                                    {"group", &mapping.group_size},
                                                    {"tile", &mapping.tile},
                                                    {"block", &mapping.block}};
    for (const auto& [word, value] : numbers) expect(word), *value = small_number();
    if (accept("columns")) {
      mapping.columns = expression();
      expect("grain");
      mapping.columns_grain = small_number();
    }
    if (accept("stage")) mapping.stage = small_number();
    if (accept("groups")) mapping.groups = small_number();
    if (!accept("merges")) return mapping;
    mapping.merged_positions = identifier();
    expect("rows");
    mapping.rows = expression();
    return mapping;
  }

  Alignment alignment() {
    Alignment alignment{small_number(), {}, {}};
    expect("extents");
    while (word() != "arrays" && !error()) alignment.extents.push_back(identifier());
    expect("arrays");
    while (word() != "{" && !error()) alignment.arrays.push_back(identifier());
    return alignment;
  }

  RowSplit row_split() {
    RowSplit row_split;
    row_split.monoid = monoid();
    row_split.partial = body();
    if (!accept("fix_up")) return row_split;
    row_split.carry_out = identifier();
    row_split.fix_up = body();
    return row_split;
  }

  Fold folding() {
    Fold fold;
    fold.array = identifier();
    fold.monoid = monoid();
    expect("work");
    while (word() != "{" && !error()) fold.work.push_back(expression());
    return fold;
  }

  StatementPtr body() {
    enter();
    expect("{");
    std::vector<StatementPtr> statements;
    while (word() != "}" && !error()) statements.push_back(statement());
    expect("}");
    leave();
    return block(std::move(statements));
  }

  /// Parses the statement that the present word begins.
  StatementPtr statement() {
    if (word() == "let") return make(let());
    if (accept("for")) return loop();
    if (accept("merge")) return merge();
    if (accept("fill")) return fill();
    if (accept("prefetch")) return prefetch();
    if (accept("sort")) return sort();
    if (accept("occupy")) return occupy();
    if (accept("groups")) return occupy_groups();
    if (accept("compact")) return make(Compact{occupancy()});
    if (accept("expand")) return expand();
    if (accept("compress")) return make(Compress{terms()});
    if (accept("supernode")) return add_supernode();
    if (accept("group")) return group_store();
    if (accept("deferred")) return deferred();
    if (accept("defer")) return defer();
    if (accept("flush")) return flush();
    if (accept("stage")) return stage();
    if (accept("overflow")) return make(Overflow{});
    if (accept("if")) {
      auto condition = expression();
      return make(If{std::move(condition), body()});
    }
    const bool declares = accept("counter");
    if (declares || accept("set")) {
      auto counter = identifier();
      expect("=");
      const auto value = expression();
      return declares ? make(Counter{counter, value}) : make(SetCounter{counter, value});
    }
    // The name of a monoid begins an accumulator; any other word is the target of a write.
    if (const auto monoid = operators::monoid_named(word())) return accumulator(*monoid);
    return write();
  }

  StatementPtr prefetch() {
    auto array = identifier();
    expect("[");
    Prefetch prefetch{std::move(array), expression()};
    expect("]");
    return make(std::move(prefetch));
  }

  StatementPtr accumulator(operators::Monoid monoid) {
    advance();
    Accumulator accumulator{identifier(), monoid};
    if (accept("from")) accumulator.initial = value();
    monoids_[accumulator.name] = monoid;
    return make(std::move(accumulator));
  }

  bool fold_follows() const {
    return word() == "+=" || word() == "*=" || (word().size() > 2 && word().back() == '=');
  }

  /// Consumes `+=`, `*=`, `max=`, ... and returns its monoid; nothing, consuming nothing, for another word.
  std::optional<operators::Monoid> fold() {
    std::optional<operators::Monoid> monoid;
    if (word() == "+=") monoid = operators::Monoid::sum;
    if (word() == "*=") monoid = operators::Monoid::product;
    if (word().size() > 2 && word().back() == '=') {
      monoid = operators::monoid_named(word().substr(0, word().size() - 1));
    }
    if (monoid) advance();
    return monoid;
  }

  /// Parses the rest after `group`, `deferred`, `defer` and `flush`.
  StatementPtr group_store() {
    const int width = small_number();
    const auto folded = monoid();
    // Its mode is that of the one thread that writes.
    const auto written = write();
    const auto* store = std::get_if<Store>(&written->node);
    if (store == nullptr) fail("what the group writes before this");
    const Store plain = store == nullptr ? Store{} : *store;
    return make(GroupStore{plain.array, plain.index, plain.mode, plain.value, folded, width, plain.wide});
  }
  StatementPtr deferred() {
    Deferred deferred{identifier(), {}, {}};
    expect("of");
    deferred.array = identifier(), deferred.monoid = monoid();
    return make(std::move(deferred));
  }
  StatementPtr defer() {
    Defer defer{identifier(), nullptr, nullptr};
    expect("at"), defer.index = expression();
    expect("value"), defer.value = expression();
    return make(std::move(defer));
  }
  StatementPtr flush() {
    auto name = identifier();
    expect("group");
    return make(Flush{std::move(name), small_number()});
  }

  StatementPtr stage() {
    Stage stage{small_number(), nullptr, nullptr, {}};
    expect("from"), stage.begin = expression();
    expect("count"), stage.count = expression();
    while (accept("to")) {
      auto to = identifier();
      expect("of");
      stage.copies.push_back({std::move(to), identifier()});
    }
    return make(std::move(stage));
  }

  /// `atomic` is a keyword unless it is the array itself.
  StatementPtr write() {
    auto target = identifier();
    const bool atomic = target == "atomic" && word() != "[" && !fold_follows();
    if (atomic) target = identifier();
    if (!accept("[")) {
      const auto known = monoids_.find(target);
      const auto monoid = fold();
      if (!monoid || (known != monoids_.end() && known->second != *monoid)) {
        fail("what `" + target + "` folds with before this");
      }
      return make(Accumulate{target, expression()});
    }
    Store store{target, expression(), Write::set, nullptr};
    expect("]");
    if (const auto monoid = fold()) {
      store.mode = atomic ? Write::atomic : Write::fold;
      store.monoid = *monoid;
    } else if (atomic || !accept("=")) {
      fail("`=`, `+=`, `*=`, `max=`, `min=`, `or=` or `and=`");
    }
    store.value = expression();
    if (accept("wide")) store.wide = small_number();
    return make(std::move(store));
  }

  StatementPtr fill() {
    Fill fill{identifier(), nullptr, nullptr, nullptr};
    expect("from"), fill.begin = expression();
    expect("count"), fill.count = expression();
    expect("with"), fill.value = expression();
    fill.row = accept("row");
    return make(std::move(fill));
  }

  StatementPtr sort() {
    Sort sort{identifier(), nullptr, nullptr};
    expect("in"), sort.begin = expression();
    expect(".."), sort.end = expression();
    return make(std::move(sort));
  }

  Occupancy occupancy() {
    Occupancy occupancy{identifier(), {}, {}, nullptr};
    expect("of"), occupancy.extent = expression();
    expect("list"), occupancy.list = identifier();
    expect("count"), occupancy.count = identifier();
    return occupancy;
  }

  StatementPtr occupy() {
    Occupy occupy{occupancy(), nullptr};
    expect("at"), occupy.index = expression();
    return make(std::move(occupy));
  }

  StatementPtr occupy_groups() {
    OccupyGroups groups{identifier(), {}, nullptr, nullptr, nullptr};
    expect("in"), groups.occupancy = occupancy();
    expect("from"), groups.first = expression();
    expect("to"), groups.last = expression();
    expect("times"), groups.times = expression();
    return make(std::move(groups));
  }

  /// `with or of and`; products and sums have no text.
  RowArithmetic arithmetic() {
    if (!accept("with")) return {};
    const auto folded = monoid();
    expect("of");
    const auto product = operators::product_named(word());
    if (!product) fail("the product of a semiring");
    advance();
    return {product.value_or(operators::Function::multiply), folded};
  }

  Terms terms() {
    Terms terms{identifier(), {}, {}, {}};
    expect("values"), terms.values = identifier();
    expect("count"), terms.count = identifier();
    terms.arithmetic = arithmetic();
    return terms;
  }

  StatementPtr expand() {
    Expand expand{{}, identifier(), identifier(), nullptr, nullptr, nullptr};
    expect("in"), expand.begin = expression();
    expect(".."), expand.end = expression();
    expect("times"), expand.scale = expression();
    expect("to"), expand.terms = terms();
    return make(std::move(expand));
  }

  StatementPtr add_supernode() {
    AddSupernode add;
    add.variable = identifier();
    expect("to"), add.end = expression();
    expect("rows"), add.rows = identifier();
    expect("times"), add.factors = identifier();
    expect("and"), add.scale = expression();
    expect("of"), add.positions = identifier();
    add.coordinates = identifier(), add.values = identifier();
    expect("into"), add.sums = identifier();
    expect("set"), add.set = identifier();
    return make(std::move(add));
  }

  RowAlong row_along() {
    RowAlong row;
    row.array = identifier();
    expect("from"), row.offset = identifier();
    expect("row"), row.row = identifier();
    return row;
  }

  RowEntries row_entries() {
    RowEntries row;
    row.row = identifier();
    expect("of");
    do row.positions.push_back(identifier());
    while (accept(","));
    return row;
  }

  AppendedEntry appended_entry() {
    AppendedEntry entry;
    entry.counter = identifier();
    expect("at"), entry.position = identifier();
    return entry;
  }

  AddedRow added_row() {
    AddedRow row;
    if (accept("clustered")) row.variant = AddedRow::Variant::clustered;
    if (accept("scattered")) row.variant = AddedRow::Variant::scattered;
    row.values = identifier();
    expect("times"), row.factor = expression();
    expect("to"), row.sums = identifier();
    expect("set"), row.set = identifier();
    if (accept("factor")) {
      row.scale = expression();
      expect("of"), row.factors = identifier();
      expect("at"), row.at = identifier();
    }
    row.arithmetic = arithmetic();
    return row;
  }

  /// `simd` and `vector` are shapes unless they are the variable itself: `for simd in 0 .. n`.
  StatementPtr loop() {
    For loop;
    loop.variable = identifier();
    if (word() != "in") {
      if (loop.variable != "simd" && loop.variable != "vector") fail("`in`");
      loop.shape = loop.variable == "simd" ? Shape::simd : Shape::vector;
      loop.variable = identifier();
    }
    expect("in");
    loop.begin = expression();
    expect("..");
    loop.end = expression();
    if (accept("by")) loop.step = whole_number();
    loop.interleaved = accept("interleaved");
    loop.clears = accept("clears"), loop.cut = accept("cut");
    loop.part = accept("jammed") ? Part::jammed : accept("remainder") ? Part::remainder : Part::whole;
    if (accept("unroll")) loop.unroll = small_number();
    loop.product = accept("product");
    if (accept("entries")) expect("of"), loop.entries = identifier();
    if (accept("row")) loop.row = row_entries();
    if (accept("appends")) loop.appends = appended_entry();
    loop.overruns = accept("overruns");
    if (accept("prefetch")) loop.prefetch_distance = small_number();
    if (accept("along")) {
      do loop.along.push_back(row_along());
      while (accept(","));
    }
    if (accept("adds")) loop.adds = added_row();
    loop.body = body();
    return make(std::move(loop));
  }

  StatementPtr merge() {
    Merge merge;
    merge.variable = identifier();
    // `any` and `first` are kinds of merges unless they are the variable itself.
    if ((merge.variable == "any" || merge.variable == "first") && word() != "at" && word() != "in") {
      merge.kind = merge.variable == "any" ? MergeKind::any : MergeKind::first;
      merge.variable = identifier();
    }
    if (accept("in")) {
      auto begin = expression();
      expect("..");
      merge.over = Range{std::move(begin), expression()};
    }
    expect("at");
    do {
      Cursor cursor;
      cursor.position = identifier();
      if (accept("until")) cursor.until = identifier();
      if (accept("present")) cursor.present = identifier();
      expect("over");
      if (!accept("itself")) cursor.coordinates = identifier();
      expect("in");
      cursor.begin = expression();
      expect("..");
      cursor.end = expression();
      merge.cursors.push_back(std::move(cursor));
    } while (accept(","));
    merge.body = body();
    return make(std::move(merge));
  }

  std::map<std::string, operators::Monoid> monoids_;  ///< accumulators declared so far
};

}  // namespace

support::Result<Kernel> parse(std::string_view text) {
  Parser parser(text);
  Kernel kernel = parser.kernel();
  if (parser.error()) return *parser.error();
  return kernel;
}

}  // namespace schaas::loop_ir
