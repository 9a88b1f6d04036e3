#include "skipped_rows.h"

#include <algorithm>
#include <bit>

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

}  // namespace

std::vector<std::string> skipped_rows(const std::vector<Nest>& nests) {
  std::vector<std::string> tensors(nests.size());
  if (nests.empty() || nests.back().loops.empty()) return tensors;
  const Nest& last = nests.back();
  const bool by_rows = (last.accesses.front().loops & 1U) != 0 && last.loops[0].block == 0;
  if (!by_rows || std::any_of(last.loops.begin(), last.loops.end(), is_fiber)) return tensors;
  std::size_t first = nests.size() - 1;
  while (first > 0 && nests[first].shared > 0) --first;
  std::string tensor;
  for (std::size_t n = first; n < nests.size() && tensor.empty(); ++n) tensor = csr_of(nests[n]);
  for (std::size_t n = first; n < nests.size(); ++n) {
    if (std::none_of(nests[n].loops.begin(), nests[n].loops.end(), is_fiber)) tensors[n] = tensor;
  }
  return tensors;
}

}  // namespace schaas::client
