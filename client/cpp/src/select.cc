#include "schaas/select.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "allocate.h"
#include "compiler/support/nearest_name.h"
#include "traffic.h"

namespace schaas::client {
namespace {

template <class Value>
std::vector<std::string> names_of(const std::map<std::string, Value>& map) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map) names.push_back(name);
  return names;
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

// A temporary under an outer loop exists once per thread; the tree of a schedule whose root branches starts
// with '<'.
double copies(const FrontierEntry& entry, const Machine& machine) {
  return !entry.tree.empty() && entry.tree.front() == '<' ? 1.0
                                                          : static_cast<double>(std::max(machine.threads, 1));
}

// Of a copy of a sparse operand: temporaries are made of extents alone.
bool is_stored(const Term& term) {
  return std::any_of(term.variables.begin(), term.variables.end(),
                     [](const Variable& v) { return v.kind == Variable::Kind::fiber; });
}

bool better(const Evaluated& a, const Evaluated& b, bool any_fits) {
  if (any_fits && a.fits != b.fits) return a.fits;
  if (!any_fits && a.memory_bytes != b.memory_bytes) return a.memory_bytes < b.memory_bytes;
  const double slack = 1e-9 * std::max(a.predicted, b.predicted);
  if (a.predicted < b.predicted - slack) return true;
  if (b.predicted < a.predicted - slack) return false;
  return a.memory_bytes < b.memory_bytes;
}

std::string reason_for(const FrontierEntry& entry, const Evaluated& chosen, std::size_t fitting,
                       std::size_t all) {
  const std::string temporaries = bytes_text(chosen.memory_bytes) + " of temporaries";
  if (fitting == 0) {
    return "no schedule fits half of the cache; `" + entry.id + "` needs least memory: " + temporaries;
  }
  const std::string variant =
      chosen.variant == 0 ? "" : ", run as `" + entry.variants[chosen.variant].tree + "`";
  return "`" + entry.id + "` takes least time, " + number_text(chosen.time) + " weighted trips with " +
         temporaries + variant + "; " + std::to_string(fitting) + " of " + std::to_string(all) +
         " schedules fit half of the cache";
}

}  // namespace

namespace {

// The distinct coordinates of a nonunique level: of the entries of each parent, those that begin a stretch of
// equals.
template <class Position>
std::vector<bool> begins(const PackedTensor& tensor, int l, std::vector<bool> begins) {
  const PackedTensor::Level& level = tensor.levels()[l];
  if (begins.empty()) {
    begins.resize(static_cast<std::size_t>(level.entries), false);
    const std::int64_t parents = l == 0 ? 1 : tensor.levels()[l - 1].entries;
    const auto* pos = level.pos.as<Position>();
    for (std::int64_t p = 0; p < parents; ++p) {
      if (pos[p] < pos[p + 1]) begins[static_cast<std::size_t>(pos[p])] = true;
    }
  }
  const auto* crd = level.crd.as<Position>();
  for (std::int64_t q = 1; q < level.entries; ++q)
    if (crd[q] != crd[q - 1]) begins[static_cast<std::size_t>(q)] = true;
  return begins;
}

}  // namespace

std::vector<std::int64_t> entries_of(const PackedTensor& tensor) {
  std::vector<std::int64_t> entries;
  std::vector<bool> first;
  for (int l = 0; l < tensor.order(); ++l) {
    const bool unique = format::is_unique(tensor.format().levels[l]);
    entries.push_back(tensor.levels()[l].entries);
    if (unique) {
      first.clear();
      continue;
    }
    first = tensor.position_bits() == 32 ? begins<std::int32_t>(tensor, l, std::move(first))
                                         : begins<std::int64_t>(tensor, l, std::move(first));
    entries.back() = std::count(first.begin(), first.end(), true);
  }
  return entries;
}

double fiber(const std::vector<std::int64_t>& entries, int level) {
  const double parents = level == 0 ? 1.0 : static_cast<double>(entries[level - 1]);
  return parents == 0 ? 0.0 : static_cast<double>(entries[level]) / parents;
}

namespace {

support::Result<double> extent_of(const std::string& index, const Sizes& sizes) {
  return evaluate(Variable{Variable::Kind::extent, index, "", 0}, sizes);
}

/// `original`: the entries of its levels.
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

}  // namespace

support::Result<double> evaluate(const Variable& variable, const Sizes& sizes) {
  if (variable.kind == Variable::Kind::extent) {
    const auto it = sizes.extents.find(variable.index);
    if (it != sizes.extents.end()) return static_cast<double>(it->second);
    return support::invalid("unknown-size",
                            "no extent is known for index `" + variable.index + "`" +
                                support::did_you_mean(variable.index, names_of(sizes.extents)));
  }
  const std::string& tensor = variable.copy_of.empty() ? variable.tensor : variable.copy_of;
  const auto it = sizes.entries.find(tensor);
  if (it == sizes.entries.end()) {
    return support::invalid("unknown-size", "no entry counts are known for `" + tensor + "`" +
                                                support::did_you_mean(tensor, names_of(sizes.entries)));
  }
  if (!variable.copy_of.empty()) return copied_fiber(variable, it->second, sizes);
  if (variable.level < 0 || variable.level >= static_cast<int>(it->second.size())) {
    return support::invalid("unknown-size",
                            "`" + variable.tensor + "` has " + std::to_string(it->second.size()) +
                                " levels, there is no level " + std::to_string(variable.level + 1));
  }
  return fiber(it->second, variable.level);
}

support::Result<double> evaluate(const Term& term, const Sizes& sizes, int threads) {
  double product = term.serial ? term.weight : term.weight / std::max(threads, 1);
  for (const Variable& variable : term.variables) {
    SCHAAS_ASSIGN_OR_RETURN(const double value, evaluate(variable, sizes));
    product *= value;
  }
  return product;
}

support::Result<double> evaluate(const std::vector<Term>& terms, const Sizes& sizes, int threads) {
  double sum = 0;
  for (const Term& term : terms) {
    SCHAAS_ASSIGN_OR_RETURN(const double value, evaluate(term, sizes, threads));
    sum += value;
  }
  return sum;
}

namespace {

// The server's own choice for an entry stays unless another variant is predicted to take so much less.
constexpr double worth_a_variant = 0.93;

// What working sets cost, most promising entries first: those that take longer without it than the best with
// it are left as they are.
support::Result<void> add_traffic(const std::vector<FrontierEntry>& entries, const Sizes& sizes,
                                  const Machine& machine, std::vector<Evaluated>& evaluated) {
  std::vector<std::size_t> order;
  for (std::size_t e = 0; e < entries.size(); ++e)
    if (evaluated[e].fits && !entries[e].variants.empty()) order.push_back(e);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(evaluated[a].predicted, a) < std::pair(evaluated[b].predicted, b);
  });
  double best = std::numeric_limits<double>::infinity();
  for (const std::size_t e : order) {
    if (evaluated[e].predicted > best) break;
    const double without = evaluated[e].predicted;
    for (std::size_t v = 0; v < entries[e].variants.size(); ++v) {
      SCHAAS_ASSIGN_OR_RETURN(const double traffic,
                              traffic_time(entries[e].variants[v].nests, sizes, machine));
      const double needed = v == 0
                                ? std::numeric_limits<double>::infinity()
                                : evaluated[e].predicted * (evaluated[e].variant == 0 ? worth_a_variant : 1);
      if (without + traffic >= needed) continue;
      evaluated[e].predicted = without + traffic;
      evaluated[e].variant = v;
    }
    best = std::min(best, evaluated[e].predicted);
  }
  return {};
}

}  // namespace

support::Result<Selection> select(const std::vector<FrontierEntry>& entries, const Sizes& sizes,
                                  const Machine& machine) {
  if (entries.empty()) return support::invalid("empty-frontier", "there is no schedule to select from");
  Selection selection;
  std::size_t fitting = 0;
  for (const FrontierEntry& entry : entries) {
    Evaluated evaluated;
    SCHAAS_ASSIGN_OR_RETURN(evaluated.time, evaluate(entry.time_terms, sizes, machine.threads));
    const auto size = static_cast<double>(bytes_of(machine.value_type));
    double all = 0, stored = 0;
    for (const Term& term : entry.memory_terms) {
      SCHAAS_ASSIGN_OR_RETURN(const double elements, evaluate(term, sizes));
      all += elements;
      if (is_stored(term)) stored += elements;
    }
    const double temporaries = (all - stored) * size * copies(entry, machine);
    evaluated.memory_bytes = temporaries + stored * size;
    evaluated.fits = temporaries <= 0.5 * static_cast<double>(machine.cache_bytes);
    fitting += evaluated.fits;
    SCHAAS_ASSIGN_OR_RETURN(evaluated.predicted, entry.variants.empty()
                                                     ? support::Result<double>(evaluated.time)
                                                     : least_time(entry.time_terms, sizes, machine.threads));
    selection.evaluated.push_back(evaluated);
  }
  if (fitting > 0) SCHAAS_RETURN_IF_ERROR(add_traffic(entries, sizes, machine, selection.evaluated));
  for (std::size_t e = 1; e < entries.size(); ++e) {
    if (better(selection.evaluated[e], selection.evaluated[selection.index], fitting > 0))
      selection.index = e;
  }
  selection.reason =
      reason_for(entries[selection.index], selection.evaluated[selection.index], fitting, entries.size());
  return selection;
}

}  // namespace schaas::client
