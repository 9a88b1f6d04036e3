#include "client/cpp/selection/occupied_rows.h"

#include <algorithm>
#include <bit>

// Mirrors two passes of lowering that leave out rows. Rows of the result are cleared instead of computed
// where a csr operand has no entries. Rows of a temporary that nobody reads are not made. The conditions must
// be those of the passes (compiler/lower/emit/cleared.cc, referenced_rows.cc); a difference costs a wrong
// prediction, never a wrong result.
// A loop's bit in `loops` says that it moves the access, in `unit` that it moves the access by one element.
namespace schaas::client {
namespace {

bool is_fiber(const Nest::Loop& loop) { return loop.trips.kind == Variable::Kind::fiber; }

// The tensor in csr by whose rows the nest's outermost loop goes, and by whose entries another one.
std::string csr_of(const Nest& nest) {
  for (const Nest::Access& access : nest.accesses) {
    if (!access.sparse || (access.loops & 1U) == 0 || nest.loops.empty() || is_fiber(nest.loops[0])) continue;
    const auto second = static_cast<std::size_t>(std::countr_zero(access.loops & ~1U));
    if (second >= nest.loops.size()) continue;
    const Nest::Loop& entries = nest.loops[second];
    if (is_fiber(entries) && entries.trips.tensor == access.tensor && entries.trips.level == 1)
      return access.tensor;
  }
  return {};
}

// The nests from `first` on that share loops, and so are one phase: where the next one begins.
std::size_t end_of_phase(const std::vector<Nest>& nests, std::size_t first) {
  std::size_t end = first + 1;
  while (end < nests.size() && nests[end].shared > 0) ++end;
  return end;
}

// Returns the entries of the one level by which all reads of the temporary in `nest` move; `index` is that of
// its rows. Nothing: the nest does not read it.
std::optional<OccupiedRows> rows_read_by(const Nest& nest, const std::string& temporary,
                                         const std::string& index) {
  std::optional<OccupiedRows> by;
  for (std::size_t a = 1; a < nest.accesses.size(); ++a) {
    if (nest.accesses[a].tensor != temporary) continue;
    by = OccupiedRows{};
    for (std::size_t n = 0; n < nest.loops.size(); ++n) {
      const Nest::Loop& loop = nest.loops[n];
      const bool moves = (nest.accesses[a].loops >> n & 1U) != 0;
      if (moves && loop.index == index && is_fiber(loop) && loop.trips.copy_of.empty())
        by = OccupiedRows{loop.trips.tensor, loop.trips.level};
    }
  }
  return by;
}

// Returns the entries by which all other phases read the rows of a temporary that a phase makes row by row.
std::optional<OccupiedRows> met(const std::vector<Nest>& nests, std::size_t first, std::size_t end) {
  const Nest& made = nests[end - 1];
  if (made.loops.empty() || is_fiber(made.loops[0]) || made.loops[0].block > 0) return {};
  const Nest::Access& target = made.accesses.front();
  const bool by_rows = (target.loops & 1U) != 0 && ((target.unit & 1U) == 0 || target.loops == 1U);
  // The target must be moved by rows, in order, and not be the result.
  if (!by_rows || target.tensor == nests.back().accesses.front().tensor) return {};
  std::optional<OccupiedRows> met;
  for (std::size_t n = 0; n < nests.size(); ++n) {
    if (n >= first && n < end) continue;
    const auto by = rows_read_by(nests[n], target.tensor, made.loops[0].index);
    if (!by) continue;
    // Readers that differ in their entries together read an unknown set of rows.
    if (by->tensor.empty() || (met && *met != *by)) return {};
    met = by;
  }
  return met;
}

}  // namespace

std::vector<std::optional<OccupiedRows>> occupied_rows(const std::vector<Nest>& nests) {
  std::vector<std::optional<OccupiedRows>> occupied(nests.size());
  if (nests.empty() || nests.back().loops.empty()) return occupied;
  std::size_t last = 0;  // the phase of the result
  for (std::size_t first = 0; first < nests.size(); first = end_of_phase(nests, first)) {
    const std::size_t end = end_of_phase(nests, first);
    const auto rows = met(nests, first, end);
    std::fill(occupied.begin() + static_cast<std::ptrdiff_t>(first),
              occupied.begin() + static_cast<std::ptrdiff_t>(end), rows);
    last = first;
  }
  const Nest& result = nests.back();
  const bool by_rows = (result.accesses.front().loops & 1U) != 0 && result.loops[0].block == 0;
  // A fiber among the loops of the result's own nest visits no row that has no entries.
  if (!by_rows || std::any_of(result.loops.begin(), result.loops.end(), is_fiber)) return occupied;
  std::string tensor;
  for (std::size_t n = last; n < nests.size() && tensor.empty(); ++n) tensor = csr_of(nests[n]);
  if (tensor.empty()) return occupied;
  for (std::size_t n = last; n < nests.size(); ++n) {
    if (std::none_of(nests[n].loops.begin(), nests[n].loops.end(), is_fiber))
      occupied[n] = OccupiedRows{tensor, 0};
  }
  return occupied;
}

}  // namespace schaas::client
