#include "server/answers/representatives.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>

// Which schedules to compile before the client has told its sizes. The frontier holds every schedule that can
// be the fastest somewhere, so a few typical points stand for the sizes to come. Three quantities vary: dense
// extents, entries of a fiber, room for temporaries. Costs are evaluated for one thread and for several, as
// serial phases count differently. Points are clamped to the constraints. The rest of the limit is filled by
// an even spread over the frontier. Wrong choices cost time only: the client asks for its own choice by id,
// which is compiled then.
namespace schaas::server {
namespace {

struct Bounds {
  double low = 1;
  double high = std::numeric_limits<double>::infinity();
};

// Returns the value of a side without symbols; none when it has symbols.
std::optional<double> number(const std::vector<problem::Monomial>& side) {
  double sum = 0;
  for (const auto& m : side) {
    if (!m.powers.empty()) return std::nullopt;
    sum += static_cast<double>(m.coefficient);
  }
  return sum;
}

// Returns the monomial `coefficient * extent` when it is alone on its side.
const problem::Monomial* single_extent(const std::vector<problem::Monomial>& side) {
  if (side.size() != 1 || side[0].powers.size() != 1) return nullptr;
  const auto& [symbol, exponent] = side[0].powers[0];
  return symbol.kind == problem::Symbol::Kind::extent && exponent == 1 ? &side[0] : nullptr;
}

// Reads lower and upper bounds off constraints between one extent and a number; others are ignored.
std::map<std::string, Bounds> extent_bounds(const problem::Problem& problem) {
  std::map<std::string, Bounds> out;
  for (const auto& c : problem.constraints) {
    if (const auto* m = single_extent(c.rhs); m != nullptr && number(c.lhs)) {
      double& low = out[m->powers[0].first.name].low;
      low = std::max(low, *number(c.lhs) / static_cast<double>(m->coefficient));
    }
    if (const auto* m = single_extent(c.lhs); m != nullptr && number(c.rhs)) {
      double& high = out[m->powers[0].first.name].high;
      high = std::min(high, *number(c.rhs) / static_cast<double>(m->coefficient));
    }
  }
  return out;
}

// Returns the indices of sparse operands: their extents are taken to be large.
std::set<std::string> sparse_indices(const problem::Problem& problem) {
  std::set<std::string> out;
  for (const auto& access : problem.reads()) {
    if (problem.formats.at(access.tensor).all_dense()) continue;
    out.insert(access.indices.begin(), access.indices.end());
  }
  return out;
}

struct Sizes {
  double dense;   // extent of indices no sparse tensor has
  double fiber;   // stored entries per parent
  double memory;  // elements a schedule may use
};
constexpr double unlimited = std::numeric_limits<double>::infinity();
// The middle point comes first: the order decides which points count when few kernels are compiled.
constexpr Sizes points[] = {
    {64, 8, unlimited},  {64, 8, 4096},       {16, 8, 4096},        {256, 8, 4096},     {64, 1, unlimited},
    {64, 64, unlimited}, {16, 64, unlimited}, {256, 64, unlimited}, {16, 1, unlimited}, {256, 1, unlimited}};

// Gives every variable of the costs a value, extents first, since fibers are no longer than them.
cost::Point point_at(const Sizes& sizes, const problem::Problem& problem) {
  constexpr double sparse_extent = 10'000;
  const auto bounds = extent_bounds(problem);
  const auto sparse = sparse_indices(problem);
  const auto variables = cost::variables_of(problem);
  const auto extent = [&](const std::string& index) {
    const double wanted = sparse.count(index) != 0 ? sparse_extent : sizes.dense;
    const auto found = bounds.find(index);
    return found == bounds.end()
               ? wanted
               : std::clamp(wanted, found->second.low, std::max(found->second.low, found->second.high));
  };
  cost::Point point(cost::Variables::first_fiber + variables.fibers.size(), 1.0);
  for (std::size_t v = 0; v < variables.extents.size(); ++v) point[v] = extent(variables.extents[v].index);
  // The first of several levels lists every coordinate, as the rows of coo; other lists are short.
  const auto entries = [&](const cost::Variable& fiber) {
    const auto& tensor = fiber.copy_of.empty() ? fiber.tensor : fiber.copy_of;
    const double all = extent(fiber.index);
    const bool lists_rows = fiber.level == 0 && problem.formats.at(tensor).order() > 1;
    return lists_rows ? all : std::min(sizes.fiber, all);
  };
  for (std::size_t v = 0; v < variables.fibers.size(); ++v) {
    const auto& fiber = variables.fibers[v];
    double& value = point[cost::Variables::first_fiber + v];
    if (cost::is_fiber(fiber)) {
      value = entries(fiber);
      continue;
    }
    // Lists of an intersection are taken to share half of the entries of the shortest.
    double shortest = extent(fiber.index), all = 0;
    for (const auto& list : fiber.lists) {
      shortest = std::min(shortest, entries(list));
      all += entries(list);
    }
    const bool is_matches = fiber.kind == cost::Variable::Kind::matches;
    value = is_matches ? shortest / 2 : std::min(all - shortest / 2, extent(fiber.index));
  }
  return point;
}

constexpr int several_threads = 8;

// Returns the fastest survivor within the memory; the first, which needs the least, when none fits.
std::size_t fastest(const frontier::Frontier& frontier, const cost::Point& point, double memory,
                    int threads) {
  std::size_t best = 0;  // the least memory, also when nothing fits
  double best_time = unlimited;
  for (std::size_t s = 0; s < frontier.survivors.size(); ++s) {
    const auto& cost = frontier.survivors[s].cost;
    if (cost::evaluate_memory(cost, point) > memory) continue;
    const double time = cost::evaluate_time(cost, point, threads);
    if (time < best_time) best = s, best_time = time;
  }
  return best;
}

}  // namespace

std::vector<std::size_t> representatives(const frontier::Frontier& frontier, const problem::Problem& problem,
                                         std::size_t limit) {
  const std::size_t all = frontier.survivors.size();
  limit = std::min(limit, all);
  std::vector<std::size_t> chosen;
  const auto choose = [&](std::size_t s) {
    if (chosen.size() < limit && std::find(chosen.begin(), chosen.end(), s) == chosen.end())
      chosen.push_back(s);
  };
  if (limit == 0) return chosen;
  // The likeliest choice first, then the least memory: they are what a limit of 1 or 2 compiles.
  choose(fastest(frontier, point_at(points[0], problem), unlimited, several_threads));
  choose(0);
  for (const Sizes& sizes : points) {
    for (const int threads : {several_threads, 1})
      choose(fastest(frontier, point_at(sizes, problem), sizes.memory, threads));
  }
  for (std::size_t n = 0; n < limit; ++n) choose(n * all / limit);
  for (std::size_t s = 0; s < all; ++s) choose(s);
  return chosen;
}

}  // namespace schaas::server
