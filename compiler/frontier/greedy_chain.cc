#include "compiler/frontier/greedy_chain.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontier/sparse_point.h"

// A greedy order of the operands, as that of opt_einsum (Smith and Gray, JOSS 2018), but of one chain. From
// each first operand on, the next one is that with which the step has the fewest trips. The chain with the
// least largest step is taken, among equal ones that with the fewest trips in all. Indices of sparse operands
// count as large, and a sparse operand has as many trips as entries.
namespace schaas::frontier {
namespace {

using index_notation::Access;
using IndexNames = std::set<std::string>;

/// An order of operands with the trips of its steps.
struct Chain {
  std::vector<int> order;
  double largest = 0, trips = 0;
  bool operator<(const Chain& other) const {
    return std::pair(largest, trips) < std::pair(other.largest, other.trips);
  }
};

class Greedy {
 public:
  Greedy(const problem::Problem& product, const problem::Problem& program)
      : sizes_(program), result_(of(product.statement.result)) {
    for (const Access& operand : product.operands()) {
      const auto format = product.formats.find(operand.tensor);
      const bool is_sparse = format != product.formats.end() && !format->second.all_dense();
      const IndexNames indices = of(operand);
      const double all = trips(indices);
      operands_.push_back({indices, is_sparse ? sizes_.held(all) / all : 1});
    }
  }

  Chain best() const {
    Chain best = from(0);
    for (std::size_t n = 1; n < operands_.size(); ++n) best = std::min(best, from(n));
    return best;
  }

 private:
  struct Operand {
    IndexNames indices;
    double density;
  };

  static IndexNames of(const Access& access) { return {access.indices.begin(), access.indices.end()}; }

  double trips(const IndexNames& loops) const {
    double product = 1;
    for (const std::string& index : loops) product *= sizes_.extent(index);
    return product;
  }

  /// The chain that begins with this operand.
  Chain from(std::size_t first) const {
    Chain chain;
    std::set<std::size_t> left;
    for (std::size_t n = 0; n < operands_.size(); ++n) left.insert(n);
    Operand made = operands_[first];
    chain.order.push_back(static_cast<int>(first));
    left.erase(first);
    const auto step = [&](std::size_t n) {
      return trips(joined(made.indices, n)) * made.density * operands_[n].density;
    };
    while (!left.empty()) {
      const std::size_t next = *std::min_element(
          left.begin(), left.end(), [&](std::size_t a, std::size_t b) { return step(a) < step(b); });
      const double trips_of_step = step(next);
      chain.order.push_back(static_cast<int>(next));
      left.erase(next);
      chain.largest = std::max(chain.largest, trips_of_step);
      chain.trips += trips_of_step;
      made = {needed(joined(made.indices, next), left), 1};
    }
    return chain;
  }

  IndexNames joined(const IndexNames& made, std::size_t operand) const {
    IndexNames all = made;
    all.insert(operands_[operand].indices.begin(), operands_[operand].indices.end());
    return all;
  }

  /// The indices that the result or an operand that is left has.
  IndexNames needed(const IndexNames& loops, const std::set<std::size_t>& left) const {
    IndexNames out;
    for (const std::string& index : loops) {
      const bool is_read = std::any_of(left.begin(), left.end(),
                                       [&](std::size_t n) { return operands_[n].indices.count(index) != 0; });
      if (is_read || result_.count(index) != 0) out.insert(index);
    }
    return out;
  }

  SparsePoint sizes_;
  IndexNames result_;
  std::vector<Operand> operands_;
};

}  // namespace

schedule::Trace greedy_chain(const problem::Problem& product, const problem::Problem& program) {
  const std::vector<int> order = Greedy(product, program).best().order;
  schedule::Trace trace;
  if (!std::is_sorted(order.begin(), order.end()))
    trace.directives.emplace_back(schedule::Permute{{}, order});
  schedule::Path path;
  for (std::size_t left = order.size(); left > 2; --left) {
    trace.directives.emplace_back(schedule::LoopFuse{path, 2, true, 0});
    path.push_back(1);
  }
  return trace;
}

}  // namespace schaas::frontier
