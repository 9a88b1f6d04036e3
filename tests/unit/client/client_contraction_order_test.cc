// Contraction orders: exact beside an enumeration of all trees, heuristic beside the optimum of chains.
#include "client/cpp/expression/contraction_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>

#include "compiler/support/limits.h"

namespace schaas::client {
namespace {

using Extents = std::map<std::string, std::int64_t>;
using Names = std::set<std::string>;

struct Network {
  std::vector<Access> operands;
  std::vector<std::string> result;
  Extents extents;
};

double size(const Names& names, const Extents& extents) {
  double product = 1;
  for (const std::string& name : names) product *= static_cast<double>(extents.at(name));
  return product;
}

Names kept(const Names& all, const std::vector<Names>& others, const std::vector<std::string>& result) {
  Names out;
  for (const std::string& name : all) {
    const bool is_read =
        std::any_of(others.begin(), others.end(), [&](const Names& one) { return one.count(name) > 0; });
    if (is_read || std::find(result.begin(), result.end(), name) != result.end()) out.insert(name);
  }
  return out;
}

/// Multiplications of the best order, by trying every pair first.
double least(const std::vector<Names>& tensors, const Network& network) {
  if (tensors.size() == 1) return 0;
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < tensors.size(); ++a) {
    for (std::size_t b = a + 1; b < tensors.size(); ++b) {
      std::vector<Names> rest;
      for (std::size_t n = 0; n < tensors.size(); ++n)
        if (n != a && n != b) rest.push_back(tensors[n]);
      Names all = tensors[a];
      all.insert(tensors[b].begin(), tensors[b].end());
      const double step = size(all, network.extents);
      rest.push_back(kept(all, rest, network.result));
      best = std::min(best, step + least(rest, network));
    }
  }
  return best;
}

std::vector<Names> tensors_of(const Network& network) {
  std::vector<Names> out;
  for (const Access& operand : network.operands)
    out.emplace_back(operand.indices.begin(), operand.indices.end());
  return out;
}

/// Replays an order and adds up its multiplications.
double replayed(const ContractionOrder& order, const Network& network) {
  std::vector<Names> tensors = tensors_of(network);
  std::vector<bool> used(tensors.size() + order.steps.size());
  double sum = 0;
  for (std::size_t n = 0; n < order.steps.size(); ++n) {
    const auto [a, b] = order.steps[n];
    EXPECT_FALSE(used.at(a) || used.at(b) || a == b);
    used[a] = used[b] = true;
    Names all = tensors[a];
    all.insert(tensors[b].begin(), tensors[b].end());
    sum += size(all, network.extents);
    std::vector<Names> others;
    for (std::size_t t = 0; t < tensors.size(); ++t)
      if (!used[t]) others.push_back(tensors[t]);
    tensors.push_back(kept(all, others, network.result));
    EXPECT_EQ(Names(order.indices[n].begin(), order.indices[n].end()), tensors.back());
  }
  EXPECT_EQ(order.steps.size() + 1, network.operands.size());
  return sum;
}

Network random_network(std::mt19937& random, std::size_t operands, int indices) {
  Network network;
  const auto index = [](int n) { return "i" + std::to_string(n); };
  for (int n = 0; n < indices; ++n) network.extents[index(n)] = 2 + static_cast<std::int64_t>(random() % 8);
  for (std::size_t n = 0; n < operands; ++n) {
    Names names;
    while (names.size() < 1 + random() % 3)
      names.insert(index(static_cast<int>(random() % static_cast<unsigned>(indices))));
    network.operands.push_back({"T" + std::to_string(n), {names.begin(), names.end()}});
  }
  Names all;
  for (const auto& names : tensors_of(network)) all.insert(names.begin(), names.end());
  for (const std::string& name : all)
    if (random() % 4 == 0) network.result.push_back(name);
  std::erase_if(network.extents, [&](const auto& one) { return all.count(one.first) == 0; });
  return network;
}

TEST(ContractionOrder, IsTheBestOfAllForFewOperands) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const Network network = random_network(random, 2 + random() % 5, 7);
    const auto order = contraction_order(network.operands, network.result, network.extents);
    EXPECT_TRUE(order.is_exact);
    EXPECT_DOUBLE_EQ(order.multiplications, least(tensors_of(network), network)) << "round " << round;
    EXPECT_DOUBLE_EQ(order.multiplications, replayed(order, network)) << "round " << round;
  }
}

TEST(ContractionOrder, IsNearTheOptimumOfLongChains) {
  std::mt19937 random(11);
  for (const int matrices : {13, 20, 40, 64}) {
    Network network;
    std::vector<double> extents;
    for (int n = 0; n <= matrices; ++n) {
      extents.push_back(2 + static_cast<double>(random() % 60));
      network.extents["i" + std::to_string(n)] = static_cast<std::int64_t>(extents.back());
    }
    for (int n = 0; n < matrices; ++n)
      network.operands.push_back(
          {"M" + std::to_string(n), {"i" + std::to_string(n), "i" + std::to_string(n + 1)}});
    network.result = {"i0", "i" + std::to_string(matrices)};
    std::vector<std::vector<double>> best(matrices + 1, std::vector<double>(matrices + 1));
    for (int length = 2; length <= matrices; ++length) {
      for (int from = 0; from + length <= matrices; ++from) {
        double least = std::numeric_limits<double>::infinity();
        for (int at = from + 1; at < from + length; ++at)
          least = std::min(least, best[from][at] + best[at][from + length] +
                                      extents[from] * extents[at] * extents[from + length]);
        best[from][from + length] = least;
      }
    }
    const auto order = contraction_order(network.operands, network.result, network.extents);
    EXPECT_LE(order.multiplications, 1.05 * best[0][matrices]) << matrices << " matrices";
    EXPECT_GE(order.multiplications, (1 - 1e-9) * best[0][matrices]) << matrices << " matrices";
    EXPECT_DOUBLE_EQ(order.multiplications, replayed(order, network));
  }
}

TEST(ContractionOrder, KeepsStepsWithinTheIndicesOfProblems) {
  // A core of twelve modes with a chain of two tensors at each. Fewest multiplications has the order that
  // contracts the core with all inner tensors first, to 24 modes of which most have extent 1.
  Network network;
  network.operands.push_back({"C", {}});
  for (int n = 0; n < 12; ++n) {
    const std::string own = std::to_string(n);
    network.operands.front().indices.push_back("b" + own);
    network.operands.push_back({"L" + own, {"b" + own, "x" + own, "y" + own}});
    network.operands.push_back({"M" + own, {"x" + own, "y" + own, "z" + own}});
    for (const char* name : {"b", "z"}) network.extents[name + own] = 2;
    for (const char* name : {"x", "y"}) network.extents[name + own] = 1;
  }
  const auto order = contraction_order(network.operands, network.result, network.extents);
  std::vector<Names> tensors = tensors_of(network);
  for (std::size_t n = 0; n < order.steps.size(); ++n) {
    Names all = tensors[order.steps[n].first];
    all.insert(tensors[order.steps[n].second].begin(), tensors[order.steps[n].second].end());
    EXPECT_LE(all.size(), support::Limits::indices);
    tensors.emplace_back(order.indices[n].begin(), order.indices[n].end());
  }
}

}  // namespace
}  // namespace schaas::client
