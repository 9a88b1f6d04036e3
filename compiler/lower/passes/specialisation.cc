#include "compiler/lower/passes/specialisation.h"

#include <algorithm>
#include <set>
#include <string>

#include "compiler/loop_ir/traversal.h"

// Function multi-versioning for constant extents: the printer makes one version of the phase for each size,
// in which all chosen extents have it. Chosen are the named ends of vector loops; sizes that constraints
// rule out for one of them are dropped.
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
    const auto* end = loop != nullptr ? std::get_if<loop_ir::Name>(&loop->end->node) : nullptr;
    if (end == nullptr || loop->shape == loop_ir::Shape::scalar) return;
    trips.names.insert(end->name);
    trips.sums = trips.sums || only_sums(*loop);
    trips.sets = trips.sets || sets_elements(*loop);
  });
  return trips;
}

bool allows(const loop_ir::Extent& extent, std::int64_t size) {
  return size >= extent.minimum.value_or(size) && size <= extent.maximum.value_or(size);
}

}  // namespace

loop_ir::Kernel specialise(loop_ir::Kernel kernel) {
  for (auto& phase : kernel.phases) {
    const Trips trips = trips_of(phase.body);
    loop_ir::Specialisation specialisation;
    auto& sizes = specialisation.sizes;
    bool may_be_short = trips.sums || trips.sets || trips.keeps;
    if (trips.sums) {
      sizes.assign(std::begin(sizes_of_sums), std::end(sizes_of_sums));
    } else {
      sizes.assign(std::begin(common_sizes), std::end(common_sizes));
    }
    for (const auto& extent : kernel.extents) {
      if (trips.names.count(extent.name) == 0 || extent.required || extent.sparse) continue;
      specialisation.extents.push_back(extent.name);
      may_be_short = may_be_short && extent.minimum.value_or(0) < short_extent;
      sizes.erase(
          std::remove_if(sizes.begin(), sizes.end(), [&](auto size) { return !allows(extent, size); }),
          sizes.end());
    }
    auto& registers = specialisation.registers;
    if (may_be_short && (trips.keeps || (trips.sums && specialisation.extents.size() == 1))) {
      registers.assign(std::begin(registers_of_sums), std::end(registers_of_sums));
    } else if (may_be_short) {
      registers.assign(std::begin(common_registers), std::end(common_registers));
    }
    if (!specialisation.extents.empty() && !sizes.empty()) phase.specialised = std::move(specialisation);
  }
  return kernel;
}

}  // namespace schaas::lower
