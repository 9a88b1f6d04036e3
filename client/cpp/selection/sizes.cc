#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "client/cpp/runtime/stored_coordinates.h"
#include "client/cpp/selection/merge_steps.h"
#include "client/cpp/tensor/entry_order.h"
#include "compiler/support/nearest_name.h"
#include "schaas/select.h"

// Sizes of tensors as cost terms want them: entries by level, variation of row lengths, shares of occupied
// coordinates; and the evaluation of variables and terms. All counts are exact where a pass over positions or
// flags gives them; shares of rows are estimated from 64 samples. Tensors on a device are described by their
// counts alone.
namespace schaas::client {
namespace {

// The distinct coordinates of the nonunique level `l`, together with the nonunique levels from `head` on.
template <class Position>
std::int64_t distinct_coordinates(const PackedTensor& tensor, int head, int l) {
  EntryLists<Position> lists;
  lists.pos = tensor.levels()[head].pos.as<Position>();
  lists.parents = head == 0 ? 1 : tensor.levels()[head - 1].entries;
  lists.entries = tensor.levels()[head].entries;
  for (int level = head; level <= l; ++level) lists.crd.push_back(tensor.levels()[level].crd.as<Position>());
  return distinct(lists);
}

std::int64_t occupied_slots(const PackedTensor& tensor, int l) {
  const PackedTensor::Level& level = tensor.levels()[l];
  const auto count = [&level](const auto* crd) {
    return std::count_if(crd, crd + level.entries, [](auto c) { return c >= 0; });
  };
  if (format::coordinates(tensor.format().levels[l]) == format::Coordinates::slots)
    return tensor.position_bits() == 32 ? count(level.crd.as<std::int32_t>())
                                        : count(level.crd.as<std::int64_t>());
  const auto* held = level.crd.as<std::uint8_t>();
  return std::count(held, held + level.entries, std::uint8_t{1});
}

/// Returns the bounds that counts give: a nonunique level has at most as many coordinates as entries and
/// slots.
std::vector<std::int64_t> entries_told(const PackedTensor& tensor) {
  std::vector<std::int64_t> entries;
  std::int64_t slots = 1;
  for (int l = 0; l < tensor.order(); ++l) {
    const std::int64_t extent = tensor.extents()[tensor.format().mode_order[l]];
    if (__builtin_mul_overflow(slots, extent, &slots)) slots = std::numeric_limits<std::int64_t>::max();
    entries.push_back(std::min(tensor.levels()[l].entries, slots));
    slots = entries.back();
  }
  return entries;
}

}  // namespace

// Counts the distinct coordinates of nonunique levels, and of located levels the slots that hold something.
// Levels below slots have positions for empty ones, too, which do not count.
std::vector<std::int64_t> entries_of(const PackedTensor& tensor) {
  if (tensor.on_device()) return entries_told(tensor);
  std::vector<std::int64_t> entries;
  int head = 0;         // first of the current nonunique levels
  bool unheld = false;  // some positions of the level above are not held
  for (int l = 0; l < tensor.order(); ++l) {
    const format::LevelFormat kind = tensor.format().levels[l];
    const bool unique = format::is_unique(kind);
    entries.push_back(tensor.levels()[l].entries);
    if (unheld && kind == format::LevelFormat::dense)
      entries.back() = entries[l - 1] * tensor.extents()[tensor.format().mode_order[l]];
    const bool may_be_empty = format::has_empty_positions(kind);
    if (may_be_empty) entries.back() = occupied_slots(tensor, l);
    unheld = may_be_empty || (unheld && kind == format::LevelFormat::dense);
    if (unique) {
      head = l + 1;
      continue;
    }
    entries.back() = tensor.position_bits() == 32 ? distinct_coordinates<std::int32_t>(tensor, head, l)
                                                  : distinct_coordinates<std::int64_t>(tensor, head, l);
  }
  return entries;
}

namespace {

template <class Position>
Spread spread_of(const Position* pos, std::int64_t parents) {
  double sum = 0, squares = 0, largest = 0;
  for (std::int64_t p = 0; p < parents; ++p) {
    const auto count = static_cast<double>(pos[p + 1] - pos[p]);
    sum += count;
    squares += count * count;
    largest = std::max(largest, count);
  }
  if (parents == 0) return {};
  const double mean = sum / static_cast<double>(parents);
  // Rounding may leave a variance slightly below 0.
  return {std::sqrt(std::max(squares / static_cast<double>(parents) - mean * mean, 0.0)), largest};
}

}  // namespace

std::vector<Spread> spreads_of(const PackedTensor& tensor) {
  std::vector<Spread> spreads;
  for (int l = 0; l < tensor.order(); ++l) {
    const PackedTensor::Level& level = tensor.levels()[l];
    Spread& spread = spreads.emplace_back();
    if (tensor.format().levels[l] != format::LevelFormat::compressed) continue;
    const std::int64_t parents = l == 0 ? 1 : tensor.levels()[l - 1].entries;
    spread = tensor.position_bits() == 32 ? spread_of(level.pos.as<std::int32_t>(), parents)
                                          : spread_of(level.pos.as<std::int64_t>(), parents);
  }
  return spreads;
}

namespace {

// A level with fewer entries than this share of its extent has almost as many coordinates: counting would not
// change the figure.
constexpr double min_counted = 1.0 / 64;

// Samples lie in the middle of 64 equal ranges of rows.
template <class Position>
double used_of(const Position* pos, std::int64_t rows) {
  const std::int64_t asked = std::min<std::int64_t>(rows, 64);
  std::int64_t used = 0;
  for (std::int64_t n = 0; n < asked; ++n) {
    const std::int64_t row = (2 * n + 1) * rows / (2 * asked);
    used += pos[row] < pos[row + 1];
  }
  return rows == 0 ? 1 : static_cast<double>(used) / static_cast<double>(asked);
}

}  // namespace

std::vector<double> occupied_coordinates(const PackedTensor& tensor, bool counted) {
  const auto& levels = tensor.format().levels;
  std::vector<double> shares(levels.size(), 1.0);
  if (tensor.on_device()) return shares;
  if (tensor.order() > 1 && levels[0] == format::LevelFormat::dense &&
      levels[1] == format::LevelFormat::compressed) {
    const auto& pos = tensor.levels()[1].pos;
    const std::int64_t rows = tensor.levels()[0].entries;
    shares[0] = tensor.position_bits() == 32 ? used_of(pos.as<std::int32_t>(), rows)
                                             : used_of(pos.as<std::int64_t>(), rows);
  }
  const schaas_tensor view = tensor.view();
  for (std::size_t l = 0; counted && l < levels.size(); ++l) {
    const auto extent = static_cast<double>(tensor.extents()[tensor.format().mode_order[l]]);
    const schaas_level& level = view.levels[l];
    if (levels[l] != format::LevelFormat::compressed || extent == 0) continue;
    const double most = static_cast<double>(level.entries) / extent;
    if (l == 0 || most < min_counted) {
      shares[l] = std::min(most, 1.0);
    } else {
      const auto is_held = held(level, static_cast<std::int64_t>(extent));
      shares[l] = static_cast<double>(std::count(is_held.begin(), is_held.end(), 1)) / extent;
    }
  }
  return shares;
}

double fiber(const std::vector<std::int64_t>& entries, int level) {
  const double parents = level == 0 ? 1.0 : static_cast<double>(entries[level - 1]);
  return parents == 0 ? 0.0 : static_cast<double>(entries[level]) / parents;
}

namespace {

support::Result<double> extent_of(const std::string& index, const Sizes& sizes) {
  return evaluate(Variable{Variable::Kind::extent, index, "", 0}, sizes);
}

// Returns the mean fiber of a copy whose modes are in another order. `original`: the entries of its levels.
// Entries are assumed to be spread evenly: a level has at most as many coordinates as the extents above
// allow.
support::Result<double> copied_fiber(const Variable& variable, const std::vector<std::int64_t>& original,
                                     const Sizes& sizes) {
  const auto entries = static_cast<double>(original.back());
  double above = 1;
  for (const std::string& index : variable.outer) {
    SCHAAS_ASSIGN_OR_RETURN(const double extent, extent_of(index, sizes));
    above *= extent;
  }
  SCHAAS_ASSIGN_OR_RETURN(const double extent, extent_of(variable.index, sizes));
  const bool last = variable.level + 1 == static_cast<int>(original.size());
  const double here = last ? entries : std::min(entries, above * extent);
  if (!variable.outer_dense) above = std::min(above, entries);
  return above == 0 ? 0 : here / above;
}

WalkedLevel level_of(const Variable& list) { return {list.tensor, list.level, list.index}; }

/// Returns the length of a list at the rows that leading levels reach; nothing: it is not known.
std::optional<double> reached_length(const Variable& variable, const LeadingLevels& leading,
                                     const Sizes& sizes) {
  const WalkedLevel list = level_of(variable);
  std::optional<double> by_coordinates;
  for (const auto* levels : {&leading.before, &leading.after}) {
    for (const WalkedLevel& level : *levels) {
      const auto known = sizes.lists.lengths.find({list, level});
      if (known == sizes.lists.lengths.end()) continue;
      if (!known->second.beside) by_coordinates = known->second.mean;
      if (known->second.beside && levels == &leading.before) return known->second.mean;
    }
  }
  return by_coordinates;
}

/// Returns what two lists have in common where leading levels reach them; nothing: it is not known.
std::optional<MergedLists::Mean> reached_merge(const Variable& variable, const LeadingLevels& leading,
                                               const Sizes& sizes) {
  const auto& merges = sizes.lists.merges;
  if (merges.empty() || variable.lists.size() != 2) return std::nullopt;
  auto lists = MergedLists::of(level_of(variable.lists[0]), level_of(variable.lists[1]));
  for (const WalkedLevel& level : leading.before) {
    lists.leading = level;
    if (const auto known = merges.find(lists); known != merges.end()) return known->second;
  }
  // A leading level that is not known makes the rows uneven.
  const auto known = leading.before.empty() ? merges.find(lists) : merges.end();
  return known == merges.end() ? std::nullopt : std::optional(known->second);
}

/// Matches and steps of lists whose coordinates are spread evenly and independently over the extent. A merge
/// ends with the list that ends first: of n entries the last one lies at n / (n + 1) of the extent.
support::Result<double> intersection(const Variable& variable, const Sizes& sizes,
                                     const LeadingLevels& leading) {
  SCHAAS_ASSIGN_OR_RETURN(const double extent, extent_of(variable.index, sizes));
  if (const auto known = reached_merge(variable, leading, sizes))
    return variable.kind == Variable::Kind::matches ? known->matches : known->steps;
  double sum = 0, shortest = extent, longest = 0, matches = extent;
  for (const Variable& list : variable.lists) {
    SCHAAS_ASSIGN_OR_RETURN(const double entries, evaluate(list, sizes, leading));
    sum += entries;
    shortest = std::min(shortest, entries);
    longest = std::max(longest, entries);
    matches *= extent == 0 ? 0 : std::min(entries / extent, 1.0);
  }
  if (variable.kind == Variable::Kind::matches) return matches;
  double steps = sum * shortest / (shortest + 1);
  if (skips(shortest, longest)) steps = std::min(steps, skipping_steps(shortest, longest));
  return std::clamp(steps, matches, std::max(matches, extent));
}

}  // namespace

LeadingLevels leading_levels(const std::vector<Variable>& walked, std::size_t n) {
  const Variable& to = walked[n];
  LeadingLevels leading;
  if (to.lists.empty() && (to.kind != Variable::Kind::fiber || to.level != 1)) return leading;
  for (std::size_t m = 0; m < walked.size(); ++m) {
    const Variable& from = walked[m];
    // Other levels of its own access lead to no row.
    const bool is_own = to.lists.empty() && from.tensor == to.tensor && from.level != to.level;
    if (m == n || is_own || from.kind != Variable::Kind::fiber || !from.copy_of.empty()) continue;
    (m < n || !to.lists.empty() ? leading.before : leading.after)
        .push_back({from.tensor, from.level, from.index});
  }
  return leading;
}

support::Result<double> evaluate(const Variable& variable, const Sizes& sizes, const LeadingLevels& leading) {
  if (!variable.lists.empty()) return intersection(variable, sizes, leading);
  if (variable.kind == Variable::Kind::extent) {
    const auto it = sizes.extents.find(variable.index);
    if (it != sizes.extents.end()) return static_cast<double>(it->second);
    return support::invalid("unknown-size", "no extent is known for index `" + variable.index + "`" +
                                                support::did_you_mean(variable.index, sizes.extents));
  }
  const std::string& tensor = variable.copy_of.empty() ? variable.tensor : variable.copy_of;
  const auto it = sizes.entries.find(tensor);
  if (it == sizes.entries.end()) {
    return support::invalid("unknown-size", "no entry counts are known for `" + tensor + "`" +
                                                support::did_you_mean(tensor, sizes.entries));
  }
  if (!variable.copy_of.empty()) return copied_fiber(variable, it->second, sizes);
  if (variable.level < 0 || variable.level >= static_cast<int>(it->second.size())) {
    return support::invalid("unknown-size",
                            "`" + variable.tensor + "` has " + std::to_string(it->second.size()) +
                                " levels, there is no level " + std::to_string(variable.level + 1));
  }
  return reached_length(variable, leading, sizes).value_or(fiber(it->second, variable.level));
}

// Terms that are not serial run on all threads.
support::Result<double> evaluate(const std::vector<Term>& terms, const Sizes& sizes, int threads) {
  double sum = 0;
  for (const Term& term : terms) {
    double product = term.serial ? term.weight : term.weight / std::max(threads, 1);
    for (std::size_t n = 0; n < term.variables.size(); ++n) {
      SCHAAS_ASSIGN_OR_RETURN(const double value,
                              evaluate(term.variables[n], sizes, leading_levels(term.variables, n)));
      product *= value;
    }
    sum += product;
  }
  return sum;
}

// An older server tells no scope: a product with a fiber is then a copy of an operand, others belong to a
// thread.
Scope known_scope(const Term& term) {
  if (term.scope != Scope::unknown) return term.scope;
  const bool has_entries =
      std::any_of(term.variables.begin(), term.variables.end(),
                  [](const Variable& variable) { return variable.kind == Variable::Kind::fiber; });
  return has_entries ? Scope::operand : Scope::thread;
}

int owners(Scope scope, int threads) { return scope == Scope::thread ? std::max(threads, 1) : 1; }

support::Result<double> memory_elements(const std::vector<Term>& terms, const Sizes& sizes, int threads) {
  double sum = 0;
  for (const Term& term : terms) {
    double elements = term.weight;
    for (const Variable& variable : term.variables) {
      SCHAAS_ASSIGN_OR_RETURN(const double value, evaluate(variable, sizes));
      elements *= value;
    }
    sum += elements * owners(known_scope(term), threads);
  }
  return sum;
}

}  // namespace schaas::client
