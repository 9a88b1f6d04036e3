#include "compiler/lower/passes/specialisation.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"

// Function multi-versioning for constant extents. The printer makes one version of the phase for each size,
// in which all chosen extents have it. Chosen are the named ends of vector loops; sizes that constraints rule
// out for one of them are dropped. Products with vectors have a version more. The ends of the scalar loops
// around are 1 there, too, since a loop that runs once costs more than its body.
namespace schaas::lower {
namespace {

/// At larger extents a remainder loop costs little, and rows do not stay in registers.
/// docs/performance/kernels.md.
constexpr std::int64_t common_sizes[] = {1, 8, 16, 32};
/// Extents of loops along rows that only sum: fully unrolled, the loads of the next sums begin before the
/// present ones end.
constexpr std::int64_t sizes_of_sums[] = {1, 8, 16, 32, 64, 128};
/// Versions for the short extents between those sizes: the compiler sees how many registers a row fills, and
/// keeps one that stays the same. They gain nothing where elements are added to in memory.
/// docs/performance/kernels.md.
constexpr int common_registers[] = {1, 2, 3, 4};
/// The same of loops that only sum, and of rows that stay in registers.
constexpr int registers_of_sums[] = {1, 2, 3, 4, 6, 8};
/// From this extent on, no version by registers is worth its compilation.
constexpr std::int64_t short_extent = 32;

bool only_sums(const loop_ir::For& loop) {
  const auto statements = loop_ir::statements_of(loop.body);
  return loop.shape == loop_ir::Shape::simd &&
         std::all_of(statements.begin(), statements.end(), [](const auto& each) {
           return std::holds_alternative<loop_ir::Accumulate>(each->node);
         });
}

struct Trips {
  std::set<std::string> names;  ///< ends of vector loops
  loop_ir::Uses others;         ///< in ends of other loops
  bool sums = false;            ///< some of these loops only sum
  bool sets = false;            ///< some of them set elements
  bool keeps = false;           ///< some of them add to a row that may stay in registers
};

bool sets_elements(const loop_ir::For& loop) {
  return loop_ir::any_of(loop.body, [](const loop_ir::StatementPtr& each) {
    const auto* store = loop_ir::as<loop_ir::Store>(each);
    return store != nullptr && store->mode == loop_ir::Write::set;
  });
}

/// Collects the named ends of loops that become vector code.
Trips trips_of(const loop_ir::StatementPtr& statement) {
  Trips trips;
  loop_ir::for_each_statement(statement, [&](const loop_ir::StatementPtr& each) {
    const auto* fill = loop_ir::as<loop_ir::Fill>(each);
    trips.keeps = trips.keeps ||
                  (fill != nullptr && fill->row && std::holds_alternative<loop_ir::Name>(fill->count->node));
    const auto* loop = loop_ir::as<loop_ir::For>(each);
    if (loop == nullptr) return;
    if (loop->shape == loop_ir::Shape::scalar) return loop_ir::collect_uses(loop->end, trips.others);
    const auto* end = std::get_if<loop_ir::Name>(&loop->end->node);
    if (end == nullptr) return;
    trips.names.insert(end->name);
    trips.sums = trips.sums || only_sums(*loop);
    trips.sets = trips.sets || sets_elements(*loop);
  });
  return trips;
}

bool allows(const loop_ir::Extent& extent, std::int64_t size) {
  return size >= extent.minimum.value_or(size) && size <= extent.maximum.value_or(size);
}

/// Returns the versions by registers for one phase, none where they gain nothing.
std::vector<int> registers_of(const Trips& trips, std::size_t extents) {
  if (trips.keeps || (trips.sums && extents == 1))
    return {std::begin(registers_of_sums), std::end(registers_of_sums)};
  return {std::begin(common_registers), std::end(common_registers)};
}

/// Returns the versions of a phase; of no sizes where none pays.
loop_ir::Specialisation versions_of(const loop_ir::Phase& phase,
                                    const std::vector<loop_ir::Extent>& extents) {
  const Trips trips = trips_of(phase.body);
  loop_ir::Specialisation specialisation;
  auto& sizes = specialisation.sizes;
  bool may_be_short = trips.sums || trips.sets || trips.keeps;
  if (trips.sums) {
    sizes.assign(std::begin(sizes_of_sums), std::end(sizes_of_sums));
  } else {
    sizes.assign(std::begin(common_sizes), std::end(common_sizes));
  }
  for (const auto& extent : extents) {
    if (extent.required || extent.sparse) continue;
    if (trips.names.count(extent.name) > 0) {
      specialisation.extents.push_back(extent.name);
      may_be_short = may_be_short && extent.minimum.value_or(0) < short_extent;
      std::erase_if(sizes, [&](auto size) { return !allows(extent, size); });
    } else if (trips.others.names.count(extent.name) > 0 && allows(extent, 1)) {
      specialisation.singles.push_back(extent.name);
    }
  }
  if (sizes.empty() || sizes.front() != 1) specialisation.singles.clear();
  if (may_be_short) specialisation.registers = registers_of(trips, specialisation.extents.size());
  return specialisation;
}

}  // namespace

loop_ir::Kernel specialise(loop_ir::Kernel kernel) {
  for (auto& phase : kernel.phases) {
    loop_ir::Specialisation specialisation = versions_of(phase, kernel.extents);
    if (!specialisation.extents.empty() && !specialisation.sizes.empty())
      phase.specialised = std::move(specialisation);
  }
  return kernel;
}

}  // namespace schaas::lower
