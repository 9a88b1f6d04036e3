#include "compiler/lower/passes/coalesce_rows.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/loop_ir/vector_form.h"

// Loops are coalesced from the innermost one outwards, so that a nest over several compressed levels becomes
// one loop over the entries of the last. Legal since positions of a level ascend without gaps: the entries of
// a row end where those of the next one begin. Only the order of summation changes. Entries that are appended
// for the entries of an operand stand at its positions, moved by one distance in all rows of a range. So
// where values know their row, a register past a row's end writes entries that the next rows write again.
namespace schaas::lower {
namespace {

using loop_ir::ExpressionPtr;
using loop_ir::For;
using loop_ir::StatementPtr;

/// Returns the arrays of indices, which vector loops do not store.
std::set<std::string> index_arrays(const loop_ir::Kernel& kernel) {
  std::set<std::string> found;
  for (const auto& array : kernel.arrays)
    if (array.element != loop_ir::Element::value) found.insert(array.name);
  return found;
}

/// The inner loop of each iteration begins where that of the iteration before ends.
bool adjoin(const For& rows, const For& entries) { return entries.row && entries.row->row == rows.variable; }

bool walks_in_order(const For& loop) {
  return loop.shape == loop_ir::Shape::scalar && loop.step == 1 && loop.unroll == 1;
}

/// The iterations fold values into accumulators or elements, and the row occurs nowhere in them.
bool folds_alone(const std::vector<StatementPtr>& body, const std::string& row) {
  return std::all_of(body.begin(), body.end(), [&](const StatementPtr& each) {
    loop_ir::Uses uses;
    collect_uses(each, uses);
    const auto* store = as<loop_ir::Store>(each);
    const bool folds = store != nullptr ? store->mode != loop_ir::Write::set
                                        : loop_ir::is_any<loop_ir::Let, loop_ir::Accumulate>(each);
    return folds && uses.names.count(row) == 0;
  });
}

bool in_vectors(const std::vector<StatementPtr>& body, const std::string& variable) {
  return std::all_of(body.begin(), body.end(), [&](const StatementPtr& each) {
    const auto* fold = as<loop_ir::Accumulate>(each);
    return fold != nullptr && loop_ir::is_vector_value(fold->value, variable, {variable});
  });
}

/// Returns one loop over the entries of all rows.
For whole(const For& rows, const For& entries, std::vector<StatementPtr> body) {
  For out = entries;
  out.begin = substitute(entries.begin, {{rows.variable, rows.begin}});
  out.end = substitute(entries.begin, {{rows.variable, rows.end}});
  out.body = loop_ir::block(std::move(body));
  // Rows of rows adjoin, too.
  if (rows.row) {
    out.row = rows.row;
    const auto& inside = entries.row->positions;
    out.row->positions.insert(out.row->positions.end(), inside.begin(), inside.end());
  } else {
    out.row.reset();
  }
  // Its body is another one than that of the rows.
  out.along.clear();
  out.adds.reset();
  out.appends.reset();
  return out;
}

/// Loops over rows that append an entry to the result for each entry of another tensor.
class Appends {
 public:
  Appends(const loop_ir::Counter& counter, const For& rows, const std::set<std::string>& indices)
      : counter_(counter), rows_(rows), indices_(indices), of_row_{rows.variable} {}

  /// Returns the statements instead of the counter and the loop; nothing when they do more than that.
  std::optional<std::vector<StatementPtr>> coalesced() {
    const std::vector<StatementPtr> body = statements_of(rows_.body);
    const auto found = std::find_if(body.begin(), body.end(), [&](const StatementPtr& each) {
      const auto* loop = as<For>(each);
      return loop != nullptr && loop->appends && loop->appends->counter == counter_.name;
    });
    const auto* entries = found == body.end() ? nullptr : as<For>(*found);
    if (entries == nullptr || !walks_in_order(rows_) || !walks_in_order(*entries) || !adjoin(rows_, *entries))
      return std::nullopt;
    before_ = {body.begin(), found};
    if (!read_before() || !read(*entries)) return std::nullopt;
    const auto begin = substitute(entries->begin, {{rows_.variable, rows_.begin}});
    std::vector<StatementPtr> out = {
        make(loop_ir::Let{counter_.name, loop_ir::Type::index, loop_ir::subtract(counter_.initial, begin)})};
    // Coordinates were read last by whoever checked them, so they are copied while a cache may hold them.
    std::stable_partition(stores_.begin(), stores_.end(), [&](const StatementPtr& each) {
      return indices_.count(std::get<loop_ir::Store>(each->node).array) > 0;
    });
    std::vector<StatementPtr> by_row;
    for (const StatementPtr& store : stores_) {
      const auto each = entry_of(*entries, store);
      if (!knows_row(each)) {
        add_entries(*entries, each, out);
      } else if (!is_value(each)) {
        return std::nullopt;
      } else {
        by_row.insert(by_row.end(), each.begin(), each.end());
      }
    }
    if (!by_row.empty()) add_rows(*entries, std::move(by_row), out);
    const std::vector<StatementPtr> after(found + 1, body.end());
    if (!after.empty() && !add_ends(*entries, after, out)) return std::nullopt;
    return out;
  }

 private:
  ExpressionPtr moved(const ExpressionPtr& position) const {
    return loop_ir::add(position, loop_ir::name(counter_.name));
  }

  /// Takes what is computed for a row before its entries. Returns false where it does more.
  bool read_before() {
    for (const StatementPtr& each : before_) {
      if (!loop_ir::only_folds(each)) return false;
      loop_ir::Uses uses;
      collect_uses(each, uses);
      if (uses.names.count(counter_.name) > 0) return false;
      loaded_.insert(uses.arrays.begin(), uses.arrays.end());
      if (const auto* let = as<loop_ir::Let>(each)) of_row_.insert(let->name);
      if (const auto* sum = as<loop_ir::Accumulator>(each)) of_row_.insert(sum->name);
    }
    return true;
  }

  /// Takes the lets and stores of the entry that an iteration appends. Returns false for other statements.
  bool read(const For& entries) {
    const std::string& position = entries.appends->position;
    std::set<std::string> written;
    for (const StatementPtr& each : statements_of(entries.body)) {
      loop_ir::Uses uses;
      collect_uses(each, uses);
      const auto* let = as<loop_ir::Let>(each);
      const auto* store = as<loop_ir::Store>(each);
      const auto* counter = as<loop_ir::SetCounter>(each);
      if (counter != nullptr && counter->name == counter_.name) continue;
      if (let != nullptr && let->name == position) continue;
      if (let != nullptr && !let->fold && let->wide == 1) {
        lets_.push_back(each);
        loaded_.insert(uses.arrays.begin(), uses.arrays.end());
      } else if (store != nullptr && store->mode == loop_ir::Write::set && is_name(store->index, position)) {
        loop_ir::Uses value;
        collect_uses(store->value, value);
        if (value.names.count(position) > 0) return false;
        loaded_.insert(value.arrays.begin(), value.arrays.end());
        if (!written.insert(store->array).second) return false;
        stores_.push_back(each);
      } else {
        return false;
      }
    }
    return std::none_of(written.begin(), written.end(),
                        [&](const std::string& array) { return loaded_.count(array) > 0; });
  }

  /// Returns the lets and the store of one entry. Lets that load are part of its value, so that the loop may
  /// be a vector loop.
  std::vector<StatementPtr> entry_of(const For& entries, const StatementPtr& statement) const {
    loop_ir::Substitution loads;
    std::vector<StatementPtr> body;
    for (const StatementPtr& each : lets_) {
      auto let = std::get<loop_ir::Let>(each->node);
      let.value = substitute(let.value, loads);
      if (std::holds_alternative<loop_ir::Load>(let.value->node)) {
        loads[let.name] = let.value;
      } else {
        body.push_back(make(std::move(let)));
      }
    }
    auto store = std::get<loop_ir::Store>(statement->node);
    store.index = moved(loop_ir::name(entries.variable));
    store.value = substitute(store.value, loads);
    body.push_back(make(std::move(store)));
    return loop_ir::without_unused_lets(body);
  }

  bool knows_row(const std::vector<StatementPtr>& entry) const {
    return std::any_of(entry.begin(), entry.end(), [&](const StatementPtr& each) {
      loop_ir::Uses uses;
      collect_uses(each, uses);
      return std::any_of(of_row_.begin(), of_row_.end(),
                         [&](const std::string& name) { return uses.names.count(name) > 0; });
    });
  }

  /// The entry is the store of a value alone.
  bool is_value(const std::vector<StatementPtr>& entry) const {
    const auto* store = entry.size() == 1 ? as<loop_ir::Store>(entry.front()) : nullptr;
    return store != nullptr && indices_.count(store->array) == 0;
  }

  /// Its value has the loads of adjacent lanes at adjacent elements.
  bool is_vector(const For& entries, const std::vector<StatementPtr>& entry) const {
    return is_value(entry) && loop_ir::is_vector_value(std::get<loop_ir::Store>(entry.front()->node).value,
                                                       entries.variable, {entries.variable});
  }

  /// Adds the loop over all entries of one store.
  void add_entries(const For& entries, const std::vector<StatementPtr>& entry,
                   std::vector<StatementPtr>& out) const {
    For loop = whole(rows_, entries, entry);
    if (is_vector(entries, entry)) loop.shape = loop_ir::Shape::simd;
    out.push_back(make(std::move(loop)));
  }

  /// Adds the loop over rows, of which each stores the values of its entries.
  void add_rows(const For& entries, std::vector<StatementPtr> stores, std::vector<StatementPtr>& out) const {
    For values = entries;
    const bool in_vectors = std::all_of(stores.begin(), stores.end(),
                                        [&](const StatementPtr& each) { return is_vector(entries, {each}); });
    if (in_vectors) values.shape = loop_ir::Shape::simd;
    values.body = loop_ir::block(std::move(stores));
    values.appends.reset();
    values.overruns = is_name(rows_.end, "end");
    std::vector<StatementPtr> body = before_;
    body.push_back(make(std::move(values)));
    For rows = rows_;
    rows.body = loop_ir::block(std::move(body));
    out.push_back(make(std::move(rows)));
  }

  /// Adds the loop that stores where each row of the result ends.
  bool add_ends(const For& entries, const std::vector<StatementPtr>& stores,
                std::vector<StatementPtr>& out) const {
    std::vector<StatementPtr> body;
    for (const StatementPtr& each : stores) {
      const auto* found = as<loop_ir::Store>(each);
      if (found == nullptr || found->mode != loop_ir::Write::set || !is_name(found->value, counter_.name))
        return false;
      auto store = *found;
      store.value = moved(entries.end);
      body.push_back(make(std::move(store)));
    }
    For ends = rows_;
    ends.body = loop_ir::block(std::move(body));
    ends.along.clear();
    ends.product = false;
    out.push_back(make(std::move(ends)));
    return true;
  }

  const loop_ir::Counter& counter_;
  const For& rows_;
  const std::set<std::string>& indices_;
  std::set<std::string> of_row_;  ///< names whose values differ from row to row
  std::set<std::string> loaded_;
  std::vector<StatementPtr> before_, lets_, stores_;
};

/// Coalesces loops that append in a phase's body.
StatementPtr with_coalesced_appends(const StatementPtr& body, const std::set<std::string>& indices) {
  std::vector<StatementPtr> all = statements_of(body);
  if (all.size() < 2) return body;
  const auto* counter = as<loop_ir::Counter>(all[all.size() - 2]);
  const auto* rows = as<For>(all.back());
  if (counter == nullptr || rows == nullptr) return body;
  const auto instead = Appends(*counter, *rows, indices).coalesced();
  if (!instead) return body;
  all.resize(all.size() - 2);
  all.insert(all.end(), instead->begin(), instead->end());
  return loop_ir::block(std::move(all));
}

StatementPtr coalesced(const StatementPtr& statement) {
  const StatementPtr inside =
      map_children(statement, [&](const StatementPtr& each) { return coalesced(each); });
  const auto* rows = as<For>(inside);
  if (rows == nullptr) return inside;
  // A coordinate that nothing uses is bound between loops over levels.
  const auto within = loop_ir::without_unused_lets(statements_of(rows->body));
  const auto* entries = within.size() == 1 ? as<For>(within.front()) : nullptr;
  if (entries == nullptr || !walks_in_order(*rows) || entries->shape == loop_ir::Shape::vector ||
      entries->step != 1 || entries->unroll != 1 || !adjoin(*rows, *entries))
    return inside;
  const auto body = loop_ir::without_unused_lets(statements_of(entries->body));
  if (!folds_alone(body, rows->variable)) return inside;
  For loop = whole(*rows, *entries, body);
  if (in_vectors(body, loop.variable)) loop.shape = loop_ir::Shape::simd;
  return make(std::move(loop));
}

}  // namespace

loop_ir::Kernel coalesce_rows(loop_ir::Kernel kernel) {
  const auto indices = index_arrays(kernel);
  for (auto& phase : kernel.phases) phase.body = with_coalesced_appends(coalesced(phase.body), indices);
  return kernel;
}

}  // namespace schaas::lower
