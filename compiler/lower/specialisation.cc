#include "compiler/lower/specialisation.h"

#include <algorithm>
#include <set>
#include <string>

#include "compiler/index_notation/extent_classes.h"
#include "compiler/problem/copies.h"
#include "compiler/problem/extent_range.h"

namespace schaas::lower {
namespace {

using loop_ir::Match;

/// At larger extents a remainder loop costs little, and rows do not stay in registers.
/// docs/performance/kernels.md.
constexpr std::int64_t common_sizes[] = {8, 16, 32};
/// Extents of loops along rows that only sum: fully unrolled, the loads of the next sums begin before the
/// present ones end.
constexpr std::int64_t sizes_of_sums[] = {8, 16, 32, 64, 128};

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
};

void collect_trips(const loop_ir::StatementPtr& statement, Trips& trips) {
  std::visit(Match{
                 [&](const loop_ir::Block& x) {
                   for (const auto& each : x.statements) collect_trips(each, trips);
                 },
                 [&](const loop_ir::If& x) { collect_trips(x.body, trips); },
                 [&](const loop_ir::Merge& x) { collect_trips(x.body, trips); },
                 [&](const loop_ir::For& x) {
                   const auto* end = std::get_if<loop_ir::Name>(&x.end->node);
                   if (x.shape != loop_ir::Shape::scalar && end) {
                     trips.names.insert(end->name);
                     trips.sums = trips.sums || only_sums(x);
                   }
                   collect_trips(x.body, trips);
                 },
                 [](const auto&) {},
             },
             statement->node);
}

/// Returns the first indices of the classes of extents that a sparse level, or one above it, has.
std::set<std::string> sparse_extents(const problem::Problem& problem,
                                     const std::map<std::string, std::string>& classes) {
  std::set<std::string> found;
  for (const auto& tensor : problem.tensors()) {
    const auto& format = problem.formats.at(tensor);
    const auto indices = problem.indices_of(tensor);
    for (std::size_t level = 0; level < format.levels.size(); ++level) {
      if (std::any_of(format.levels.begin() + static_cast<std::ptrdiff_t>(level), format.levels.end(),
                      format::is_sparse)) {
        found.insert(classes.at(indices[static_cast<std::size_t>(format.mode_order[level])]));
      }
    }
  }
  return found;
}

}  // namespace

loop_ir::Kernel specialise(loop_ir::Kernel kernel, const problem::Problem& problem) {
  const auto classes = index_notation::extent_classes(problem::without_copies(problem).statements());
  const auto sparse = sparse_extents(problem, classes);
  const auto tensors = problem.tensors();
  for (auto& phase : kernel.phases) {
    Trips trips;
    collect_trips(phase.body, trips);
    loop_ir::Specialisation specialisation;
    if (trips.sums) {
      specialisation.sizes.assign(std::begin(sizes_of_sums), std::end(sizes_of_sums));
    } else {
      specialisation.sizes.assign(std::begin(common_sizes), std::end(common_sizes));
    }
    for (const auto& extent : kernel.extents) {
      const auto indices = problem.indices_of(tensors[static_cast<std::size_t>(extent.argument)]);
      const auto& index = classes.at(indices[static_cast<std::size_t>(extent.mode)]);
      if (trips.names.count(extent.name) == 0 || extent.required || sparse.count(index) > 0) continue;
      specialisation.extents.push_back(extent.name);
      const auto range = problem::extent_range(problem, index);
      auto& sizes = specialisation.sizes;
      sizes.erase(std::remove_if(sizes.begin(), sizes.end(), [&](auto size) { return !range.holds(size); }),
                  sizes.end());
    }
    if (!specialisation.extents.empty() && !specialisation.sizes.empty())
      phase.specialised = std::move(specialisation);
  }
  return kernel;
}

}  // namespace schaas::lower
