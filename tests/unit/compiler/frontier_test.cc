#include "compiler/frontier/frontier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "compiler/concrete_notation/copies/possible_copies.h"
#include "compiler/frontier/pairwise.h"
#include "compiler/frontier/proofs/log_bounds.h"
#include "compiler/frontier/proofs/log_proof.h"
#include "compiler/problem/copies.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/space/listed/appending.h"
#include "compiler/space/space.h"
#include "tests/support/intersections.h"
#include "tests/support/search_oracle.h"
#include "tests/support/sound_stages.h"

// The whole search, on the eight kernels of SparseAuto (tests/support/search_oracle.h) and on small programs.
// The main reference is exhaustive: at 60 sampled sizes, no class of the whole space may beat every survivor
// (K2 and K5 are too large). Pruning inside the recursion must keep what pruning the complete list keeps. The
// number of threads must change nothing. Copies are compared with every member of every set of copies, at 200
// random sizes (seed 3). A search that a budget ends says so.
namespace schaas::frontier {
namespace {

const support::Cancellation never;

Frontier compute_or_fail(const problem::Problem& problem) {
  auto result = compute(problem, options_for(problem.profile), {}, never);
  if (!result.ok()) throw std::runtime_error(support::render(result.error()));
  return std::move(result).value();
}

std::vector<std::string> texts(const Frontier& found, const problem::Problem& problem) {
  const auto variables = cost::variables_of(problem);
  std::vector<std::string> result;
  for (const Survivor& one : found.survivors) {
    result.push_back(cost::print_time(one.cost, variables) + " | " + cost::print_memory(one.cost, variables));
  }
  return result;
}

TEST(Frontier, DefaultPrefersARowTemporaryToStridedGathers) {
  const auto problem = problem::build(test_support::search_oracle()[3].text("default")).value();
  EXPECT_THAT(texts(compute_or_fail(problem), problem), testing::Contains("i*l*k + i*j'*k | k"));
}

/// At sizes the constraints allow, some survivor is at least as good as each class of the whole space.
void check_nothing_lost(const problem::Problem& problem, std::uint64_t seed) {
  const Frontier found = compute_or_fail(problem);
  LogBounds bounds(problem);
  ProvenDominance objectives(bounds, 1, 4096);
  const auto memory = [&](const cost::Cost& cost, const cost::Point& point) {
    double sum = 0;
    for (cost::Term term : cost.memory)
      sum += objectives.free(term) ? 0 : cost::evaluate_memory({{}, {term}}, point);
    return sum;
  };
  space::Space space(problem, {});
  const std::vector<space::ClassCount> classes = space.classes(16, never).value();
  auto points = bounds.samples(300);
  std::mt19937_64 random(seed);
  std::shuffle(points.begin(), points.end(), random);
  points.resize(std::min<std::size_t>(points.size(), 60));
  for (const cost::Point& point : points) {
    for (const auto& one : classes) {
      const double time_limit = cost::evaluate_time(one.cost, point) * (1 + 1e-9);
      const double memory_limit = memory(one.cost, point) * (1 + 1e-9);
      const bool covered =
          std::any_of(found.survivors.begin(), found.survivors.end(), [&](const Survivor& s) {
            return cost::evaluate_time(s.cost, point) <= time_limit && memory(s.cost, point) <= memory_limit;
          });
      ASSERT_TRUE(covered) << cost::print_time(one.cost, cost::variables_of(problem)) << " | "
                           << cost::print_memory(one.cost, cost::variables_of(problem));
    }
  }
}

TEST(Frontier, NoClassOfTheWholeSpaceBeatsEverySurvivorAtAnySampledSize) {
  for (const auto& kernel : test_support::search_oracle()) {
    if (kernel.name == "K2" || kernel.name == "K5") continue;  // too many classes to evaluate one by one
    auto text = kernel.text("default");
    SCOPED_TRACE(kernel.name);
    // Of a sparse result, schedules with more entries are left out (space/result_entries.h).
    check_nothing_lost(space::with_dense_result(problem::build(text).value()), 1);
    text.constraints.clear();
    check_nothing_lost(space::with_dense_result(problem::build(text).value()), 2);
  }
}

/// Pruning below must keep exactly what pruning the complete list keeps.
TEST(Frontier, PruningInsideTheRecursionEqualsPruningTheWholeList) {
  for (const auto& kernel : test_support::search_oracle()) {
    if (kernel.name != "K1" && kernel.name != "K4" && kernel.name != "K6") continue;
    SCOPED_TRACE(kernel.name);
    const auto problem = problem::build(kernel.text("default")).value();
    LogBounds bounds(problem);
    ProvenDominance dominance(bounds, 256, 4096);
    const auto solver = make_z3_solver();
    space::Space space(problem, {});
    std::vector<cost::Cost> all;
    const std::vector<space::ClassCount> classes = space.classes(16, never).value();
    for (const auto& one : classes) all.push_back(one.cost);
    const Options options = options_for(problem.profile);
    Counts counts;
    Pairwise pairwise(bounds, dominance, *solver, options, counts);
    auto whole = pairwise
                     .prune(
                         all, [](std::uint64_t, std::uint64_t) {}, never)
                     .value()
                     .kept;
    std::vector<cost::Cost> found;
    for (const Survivor& one : compute_or_fail(problem).survivors) found.push_back(one.cost);
    EXPECT_THAT(found, testing::UnorderedElementsAreArray(whole));
  }
}

TEST(Frontier, EveryRemovalNamesItsWinnerAndItsReason) {
  const auto problem = problem::build(test_support::search_oracle()[1].text("sparseauto")).value();
  const std::vector<Removal> proven = test_support::sound_after_stage2(problem).value().removals;
  ASSERT_EQ(proven.size(), 35U);
  const cost::Variables variables = cost::variables_of(problem);
  for (const Removal& removal : proven) {
    ASSERT_TRUE(removal.certificate.winner);
    EXPECT_THAT(print(removal.certificate.argument, variables),
                testing::StartsWith("at every allowed size " +
                                    cost::print_time(*removal.certificate.winner, variables) +
                                    " <= " + cost::print_time(removal.cost, variables) + " and "));
  }
}

/// What earlier stages dropped, as "kind: argument".
std::vector<std::string> summaries(const Frontier& found) {
  std::vector<std::string> result;
  for (const Removal& removal : found.removals) {
    if (!removal.summary()) continue;
    EXPECT_EQ(removal.cost, cost::Cost{});
    result.push_back((removal.certificate.kind == Certificate::Kind::depth         ? "depth: "
                      : removal.certificate.kind == Certificate::Kind::depth_poset ? "depth-poset: "
                                                                                   : "log-proof: ") +
                     print(removal.certificate.argument, {}));
  }
  return result;
}

TEST(Frontier, SummariesSayWhatTheEarlierStagesDropped) {
  const auto kernel = test_support::search_oracle()[0];
  EXPECT_THAT(
      summaries(compute_or_fail(problem::build(kernel.text("sparseauto")).value())),
      testing::ElementsAre("depth: temporaries of more than 2 indices were not allowed",
                           "depth-poset: 267 classes were dropped for those with nests of 3 loops and "
                           "temporaries of 0 indices: they have no fewer of either (a heuristic, no proof)"));
  EXPECT_THAT(
      summaries(compute_or_fail(problem::build(kernel.text("default")).value())),
      testing::ElementsAre(
          "log-proof: 1575 classes of partial schedules were dropped in 434 states, each because another of "
          "its state is proven to take no more time and no more memory at every allowed size (261 different "
          "pairs of sums)"));
}

TEST(Frontier, ClassesAreTheSameForAnyNumberOfThreads) {
  const auto problem = problem::build(test_support::search_oracle()[1].text("default")).value();
  LogBounds bounds(problem);
  ProvenDominance dominance(bounds, 24, 4096);
  std::vector<space::Space::ParetoClasses> found;
  for (const int threads : {1, 2, 5}) {
    space::Options options;
    options.threads = threads;
    found.push_back(space::Space(problem, options).pareto_classes(dominance, 16, never).value());
    EXPECT_EQ(found.back().classes, found.front().classes) << threads;
    EXPECT_EQ(found.back().dropped, found.front().dropped) << threads;
    EXPECT_FALSE(found.back().ended);
    EXPECT_EQ(found.back().members.get_str(), test_support::search_oracle()[1].symmetric);
  }
}

TEST(Frontier, FoldsOfSeveralKernelsAndOfSixOperandsAreTheSameForAnyNumberOfThreads) {
  std::vector<problem::ProblemText> texts;
  for (const std::size_t kernel : {2U, 4U, 7U})
    texts.push_back(test_support::search_oracle()[kernel].text("default"));
  texts.push_back(test_support::search_oracle()[1].text("default"));
  texts.back().expression = "A(i,n) = B(i,j) * C(i,k) * D(j,k) * E(j,l) * F(l,m) * G(m,n)";
  for (const problem::ProblemText& text : texts) {
    SCOPED_TRACE(text.expression);
    const auto problem = problem::build(text).value();
    LogBounds bounds(problem);
    ProvenDominance dominance(bounds, 24, 4096);
    const auto fold = [&](int threads) {
      space::Options options;
      options.threads = threads;
      options.max_operand_orders = 40;
      return space::Space(problem, options).pareto_classes(dominance, 1, never).value();
    };
    const auto alone = fold(1);
    EXPECT_FALSE(alone.classes.empty());
    for (const int threads : {2, 4}) {
      const auto together = fold(threads);
      EXPECT_EQ(together.classes, alone.classes) << threads;
      EXPECT_EQ(together.dropped, alone.dropped) << threads;
      EXPECT_EQ(together.members, alone.members) << threads;
    }
  }
}

TEST(Frontier, WhatABudgetEndsKeepsTheFinishedOperandOrders) {
  const auto problem = problem::build(test_support::search_oracle()[1].text("default")).value();
  LogBounds bounds(problem);
  ProvenDominance dominance(bounds, 24, 4096);
  space::Options options;
  options.max_bytes = 1'500'000;
  space::Space space(problem, options);
  std::vector<std::size_t> orders;
  const auto part = space.pareto_classes(dominance, 16, never, [&](const auto& progress) {
    orders.push_back(progress.operand_orders);
    EXPECT_EQ(progress.of_operand_orders, 60U);
    EXPECT_EQ(progress.members > 0, progress.operand_orders > 0);
  });
  ASSERT_TRUE(part.ok());
  ASSERT_TRUE(part->ended);
  EXPECT_EQ(part->ended->code, "space-memory");
  EXPECT_GT(part->operand_orders, 0U);
  EXPECT_LT(part->operand_orders, 60U);
  EXPECT_EQ(orders.back(), part->operand_orders);
  // The same as searching these operand orders alone.
  space::Options alone;
  alone.max_operand_orders = part->operand_orders;
  const auto whole = space::Space(problem, alone).pareto_classes(dominance, 16, never).value();
  EXPECT_EQ(part->classes, whole.classes);
  EXPECT_EQ(part->members, whole.members);
  for (const cost::Cost& cost : part->classes) EXPECT_TRUE(space.members_of(cost, 1, never).ok());
}

TEST(Frontier, IsTheSameOnEveryRun) {
  const auto problem = problem::build(test_support::search_oracle()[4].text("default")).value();
  const Frontier first = compute_or_fail(problem);
  const Frontier second = compute_or_fail(problem);
  ASSERT_EQ(first.survivors.size(), second.survivors.size());
  for (std::size_t n = 0; n < first.survivors.size(); ++n) {
    EXPECT_EQ(first.survivors[n].cost, second.survivors[n].cost);
    EXPECT_EQ(first.survivors[n].traces, second.survivors[n].traces);
    EXPECT_EQ(first.survivors[n].id, "s" + std::to_string(n + 1));
  }
}

TEST(Frontier, TighterConstraintsNeverEnlargeIt) {
  for (const auto& kernel : test_support::search_oracle()) {
    auto text = kernel.text("default");
    const auto tight = compute_or_fail(problem::build(text).value()).survivors.size();
    text.constraints.clear();
    EXPECT_LE(tight, compute_or_fail(problem::build(text).value()).survivors.size()) << kernel.name;
  }
}

TEST(Frontier, ContradictingConstraintsAreRefused) {
  problem::ProblemText text = test_support::search_oracle()[3].text("default");
  text.constraints = {"10*j <= k", "2*k <= j"};
  const auto found = compute(problem::build(text).value(), {}, {}, never);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().family, support::Family::invalid);
  EXPECT_EQ(found.error().code, "contradiction");
  EXPECT_EQ(found.error().message, "no sizes satisfy all of these constraints");
  EXPECT_THAT(found.error().notes, testing::ElementsAre("2*k <= j", "10*j <= k"));
}

/// A temporary over k and l holds at least 10^6 elements at every allowed size.
TEST(Frontier, SchedulesThatNeverFitAreDroppedAndSaidSo) {
  problem::ProblemText text = test_support::search_oracle()[3].text("default");
  text.constraints = {"1000 <= k", "1000 <= l", "5000 <= j"};
  const auto problem = problem::build(text).value();
  const auto largest = [&](const Frontier& found) {
    cost::Point least(17, 1);
    least[1] = least[3] = 1000;
    least[2] = 5000;
    double most = 0;
    for (const Survivor& one : found.survivors) most = std::max(most, cost::evaluate_memory(one.cost, least));
    return most;
  };
  Options options;
  options.max_temporary_elements = 4'999'999;
  const Frontier found = compute(problem, options, {}, never).value();
  EXPECT_GE(largest(compute_or_fail(problem)), 5'000'000);
  EXPECT_LT(largest(found), 5'000'000);
  EXPECT_TRUE(found.complete);
  EXPECT_TRUE(std::any_of(found.removals.begin(), found.removals.end(), [&](const Removal& removal) {
    return removal.certificate.kind == Certificate::Kind::volume &&
           print(removal.certificate.argument, cost::variables_of(problem)).find("at least 5000000") !=
               std::string::npos;
  }));
}

/// Proofs of the recursion are kept, and hold.
TEST(Frontier, ProofsOfTheRecursionAreStoredAndHold) {
  for (const auto& kernel : test_support::search_oracle()) {
    SCOPED_TRACE(kernel.name);
    const auto problem = problem::build(kernel.text("default")).value();
    if (space::appends(problem)) continue;  // listed, not folded
    const Frontier found = compute_or_fail(problem);
    EXPECT_EQ(found.more_proofs, 0U);
    EXPECT_FALSE(found.proofs.empty());
    const auto points = LogBounds(problem).samples(100);
    for (const Frontier::Proof& proof : found.proofs) {
      for (const cost::Point& point : points) {
        ASSERT_LE(cost::evaluate_time({proof.winner, {}}, point),
                  cost::evaluate_time({proof.loser, {}}, point) * (1 + 1e-9));
      }
    }
  }
}

TEST(Frontier, TooLittleMemoryGivesAPartOfTheSpaceAndSaysWhich) {
  const auto problem = problem::build(test_support::search_oracle()[1].text("default")).value();
  const Frontier whole = compute_or_fail(problem);
  EXPECT_TRUE(whole.complete);
  EXPECT_EQ(whole.limited, "");
  int partial = 0;
  for (std::size_t bytes = std::size_t{16} << 20; bytes >= 64 << 10; bytes /= 2) {
    Options options;
    options.search_bytes = bytes;
    const auto found = compute(problem, options, {}, never);
    if (!found.ok()) {
      EXPECT_EQ(found.error().family, support::Family::exhausted);
      continue;
    }
    EXPECT_FALSE(found->survivors.empty());
    EXPECT_EQ(found->complete, found->limited.empty()) << found->limited;
    partial += found->complete ? 0 : 1;
  }
  EXPECT_GT(partial, 0);
}

TEST(Frontier, AContradictionOnlySumsShowIsFoundByTheSolver) {
  problem::ProblemText text = test_support::search_oracle()[3].text("default");
  text.constraints = {"i <= j + k", "100 <= i", "j <= 10", "k <= 10"};
  const auto found = compute(problem::build(text).value(), {}, {}, never);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, "contradiction");
}

TEST(Frontier, OpposedStorageOrdersReadACopy) {
  problem::ProblemText text;
  text.expression = "A(i,j) = B(i,j) * C(i,j)";
  text.formats = {{"B", "csr"}, {"C", "csc"}};
  const problem::Problem problem = problem::build(text).value();
  const auto found = compute(problem, {}, {}, never);
  ASSERT_TRUE(found.ok()) << support::render(found.error());
  ASSERT_EQ(found->survivors.size(), 1U);
  const Survivor& only = found->survivors.front();
  EXPECT_EQ(schedule::print(only.traces.front()), "store(tensor=C, order={0,1})");
  const auto variables = cost::variables_of(problem);
  EXPECT_EQ(cost::print_time(only.cost, variables), "6*i*j'B&C_0_1 + copy(i'*j) + merge(i*j'B|C_0_1)");
  EXPECT_EQ(cost::print_memory(only.cost, variables), "i'*j + i'*j");
  text.constraints = {"nnz(B) <= 100", "101 <= nnz(C)"};
  const auto other = compute(problem::build(text).value(), {}, {}, never);
  EXPECT_EQ(schedule::print(other->survivors.front().traces.front()), "store(tensor=B, order={1,0})");
}

/// Extents and entries at which every copy has as many entries as its original.
cost::Point random_sizes(const problem::Problem& problem, std::mt19937_64& random) {
  const auto variables = cost::variables_of(problem);
  const auto up_to = [&](double most) {
    return std::floor(std::exp(std::uniform_real_distribution<double>(0, std::log(most))(random)));
  };
  std::map<std::string, double> extents, entries;
  for (const auto& extent : variables.extents) extents[extent.index] = up_to(1000);
  for (const auto& read : problem.reads())
    entries[read.tensor] = up_to(extents.at(read.indices[0]) * extents.at(read.indices[1]));
  cost::Point point(static_cast<std::size_t>(cost::Variables::first_fiber) + variables.fibers.size(), 1);
  for (std::size_t n = 0; n < variables.extents.size(); ++n)
    point[n] = extents.at(variables.extents[n].index);
  for (std::size_t n = 0; n < variables.fibers.size(); ++n) {
    const cost::Variable& fiber = variables.fibers[n];  // of matrices: csr, csc
    if (!cost::is_fiber(fiber)) continue;
    const std::string& tensor = fiber.copy_of.empty() ? fiber.tensor : fiber.copy_of;
    const auto indices = problem.indices_of(tensor);
    const double rows = extents.at(fiber.index == indices[0] ? indices[1] : indices[0]);
    point[static_cast<std::size_t>(cost::Variables::first_fiber) + n] = entries.at(tensor) / rows;
  }
  test_support::draw_intersections(variables, point, random);
  return point;
}

TEST(Frontier, OfEverySetOfCopiesNoScheduleBeatsAllThatAreKept) {
  constexpr std::uint64_t seed = 3;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (const char* space : {"copies", "free-copies"}) {
    problem::ProblemText text;
    text.expression = "A(i,k) = B(j,i) * C(j,k)";
    text.formats = {{"B", "csr"}, {"C", "csr"}};
    text.space = space;
    const problem::Problem problem = problem::build(text).value();
    const auto found = compute(problem, {}, {}, never);
    ASSERT_TRUE(found.ok()) << support::render(found.error());
    EXPECT_TRUE(found->complete);
    std::vector<cost::Cost> members;
    const auto sets = concrete_notation::copy_sets(problem);
    EXPECT_EQ(sets.size(), 4U);  // none, B, C, both
    for (const auto& set : sets) {
      problem::Problem with_set = problem;
      for (const auto& request : set) with_set = problem::with_copy(with_set, request);
      space::Space members_of_set(with_set, {});
      ASSERT_TRUE(members_of_set
                      .for_each(
                          [&](const schedule::Trace& trace) {
                            members.push_back(cost::of(schedule::apply(trace, with_set).value(), with_set));
                            return true;
                          },
                          never)
                      .ok());
    }
    EXPECT_EQ(found->counts.space, std::to_string(members.size()));
    bool copied = false;
    for (const Survivor& survivor : found->survivors) {
      const auto& trace = survivor.traces.front();
      const auto with_copies = schedule::problem_of(trace, problem).value();
      EXPECT_EQ(cost::of(schedule::apply(trace, problem).value(), with_copies), survivor.cost);
      copied = copied || !with_copies.copies.empty();
    }
    EXPECT_TRUE(copied) << "rows of the result are computed side by side from a copy of B by columns";
    for (int n = 0; n < 200; ++n) {
      const cost::Point point = random_sizes(problem, random);
      for (const cost::Cost& member : members) {
        const double time = cost::evaluate_time(member, point), memory = cost::evaluate_memory(member, point);
        ASSERT_TRUE(std::any_of(found->survivors.begin(), found->survivors.end(), [&](const Survivor& one) {
          return cost::evaluate_time(one.cost, point) <= time * (1 + 1e-9) &&
                 cost::evaluate_memory(one.cost, point) <= memory * (1 + 1e-9);
        })) << cost::print_time(member, cost::variables_of(problem));
      }
    }
  }
}

/// Z3 that counts the solvers that were asked anything.
class CountedSolver : public Solver {
 public:
  explicit CountedSolver(int& asked) : asked_(asked) {}
  void assume(int variables, const std::vector<SolverRelation>& constraints) override {
    solver_->assume(variables, constraints);
  }
  Verdict check_all(const std::vector<SolverRelation>& relations, int milliseconds) override {
    asked_ += first_ ? 1 : 0;
    first_ = false;
    return solver_->check_all(relations, milliseconds);
  }
  std::vector<double> model() const override { return solver_->model(); }

 private:
  std::unique_ptr<Solver> solver_ = make_z3_solver();
  int& asked_;
  bool first_ = true;
};

TEST(Frontier, AsksAtMostOneSolverForAllSetsOfCopies) {
  problem::ProblemText text;
  text.expression = "A(i,l) = P(j,i) * B(j,k) * P(k,l)";
  text.formats = {{"A", "csr"}, {"B", "csr"}, {"P", "csr"}};
  int asked = 0;
  Options options;
  options.solver = [&](const support::Cancellation&) { return std::make_unique<CountedSolver>(asked); };
  const auto found = compute(problem::build(text).value(), options, {}, never);
  ASSERT_TRUE(found.ok()) << support::render(found.error());
  EXPECT_LE(asked, 1);
  EXPECT_TRUE(found->complete);
  EXPECT_EQ(found->survivors.size(), 10U);
}

TEST(Frontier, ProgramsAreSearchedWithCopiesToo) {
  problem::ProblemText text;
  text.expression = "A(i,j) = B(i,j) + C(j,i)";
  text.formats = {{"B", "csr"}, {"C", "csr"}};
  text.space = "free-copies";
  const auto found = compute(problem::build(text).value(), {}, {}, never);
  ASSERT_TRUE(found.ok()) << support::render(found.error());
  // With C by columns the terms add elements to a row of A each in turn. With B by columns, or both, they go
  // down columns of A, which is dearer at all sizes.
  std::set<std::string> copies;
  for (const Survivor& survivor : found->survivors) {
    std::string stores;
    for (const auto& directive : survivor.traces.front().directives) {
      if (std::holds_alternative<schedule::Store>(directive)) stores += schedule::print(directive);
    }
    copies.insert(stores);
  }
  EXPECT_THAT(copies, testing::ElementsAre("store(tensor=C, order={1,0})"));
}

/// The survivors of a program, each replayed and costed again.
std::vector<Survivor> survivors_of(const std::string& program,
                                   const std::map<std::string, std::string>& formats) {
  problem::ProblemText text;
  text.expression = program;
  text.formats = formats;
  const auto problem = problem::build(text).value();
  const auto found = compute(problem, {}, {}, never);
  EXPECT_TRUE(found.ok());
  for (const Survivor& survivor : found->survivors) {
    for (const auto& trace : survivor.traces) {
      const auto changed = schedule::problem_of(trace, problem).value();
      const auto tree = schedule::apply(trace, problem);
      EXPECT_TRUE(tree.ok()) << schedule::print(trace);
      if (!tree.ok()) continue;
      EXPECT_EQ(cost::of(*tree, changed), survivor.cost) << schedule::print(trace);
    }
  }
  return found->survivors;
}

int least_depth(const std::vector<Survivor>& survivors) {
  int least = 64;
  for (const Survivor& survivor : survivors) least = std::min(least, cost::loop_depth(survivor.cost));
  return least;
}

TEST(Frontier, ProductsInsideProgramsAreSplit) {
  const std::string product = "B(i,j) * C(j,k) * D(k,l) * E(l,m)";
  EXPECT_EQ(least_depth(survivors_of("Y(i,m) = " + product, {})), 3);
  EXPECT_EQ(least_depth(survivors_of("T(i,m) = " + product + "; Y(i,m) = exp(T(i,m))", {})), 3);
  EXPECT_EQ(least_depth(survivors_of("Y(i,m) = b(i,m) + " + product, {})), 3);
  EXPECT_EQ(least_depth(survivors_of("Y(i,m) = b(i,m) + " + product, {{"B", "csr"}})), 3);
  EXPECT_EQ(least_depth(survivors_of("T(i,m) = " + product +
                                         "; U(i,j) = exp(T(i,j)); "
                                         "Y(i,m) = U(i,j) * C(j,k) * D(k,l) * E(l,m)",
                                     {})),
            3);
}

TEST(Frontier, IntermediatesAreComputedWhereTheyAreReadOrEverywhere) {
  const auto survivors = survivors_of(
      "T(i,j) = C(i,k) * D(k,j); S(i) = B(i,j) * exp(T(i,j)); A(i,j) = B(i,j) * exp(T(i,j)) / S(i)",
      {{"B", "csr"}});
  const auto masked = std::count_if(survivors.begin(), survivors.end(), [](const Survivor& survivor) {
    const auto& directives = survivor.traces.front().directives;
    return !directives.empty() && std::holds_alternative<schedule::Mask>(directives.front());
  });
  EXPECT_GT(masked, 0);
  EXPECT_LT(static_cast<std::size_t>(masked), survivors.size()) << "rows of products are vector code";
}

// Issue 38: the logarithm was computed at each entry of B for each class.
TEST(Frontier, CallsOfDenseElementsAreComputedOnceOrWhereTheyAreRead) {
  const auto problem =
      problem::build({.expression = "S(i,c) = B(i,j) * log(P(c,j))", .formats = {{"B", "csr"}}}).value();
  const auto found = compute(problem, options_for(problem.profile), {}, never).value();
  std::vector<std::string> costs;
  for (const Survivor& survivor : found.survivors) {
    const auto& directives = survivor.traces.front().directives;
    const bool once = std::any_of(directives.begin(), directives.end(), [](const schedule::Directive& one) {
      return std::holds_alternative<schedule::Precompute>(one);
    });
    costs.push_back((once ? "once: " : "") + cost::print_time(survivor.cost, cost::variables_of(problem)));
  }
  EXPECT_THAT(costs, testing::UnorderedElementsAre("6*i*c*j' + 48*i*c*j'", "once: 3*c*j + 6*i*c*j' + 48*c*j",
                                                   "once: i*c*j' + 3*c*j + clear(c*j) + 48*c*j"));
}

/// The copies that each survivor reads, as traces; nothing for those that read none.
std::vector<std::string> copies_of(const std::string& program,
                                   const std::map<std::string, std::string>& formats) {
  std::vector<std::string> out;
  for (const Survivor& survivor : survivors_of(program, formats)) {
    schedule::Trace stores = survivor.traces.front();
    std::erase_if(stores.directives, [](const schedule::Directive& directive) {
      return !std::holds_alternative<schedule::Store>(directive);
    });
    if (!stores.directives.empty()) out.push_back(schedule::print(stores));
  }
  return out;
}

// Issue 38: each row of a slice was met with each other row of it.
TEST(Frontier, TensorsThatShareTwoIndicesAreReadByThem) {
  EXPECT_THAT(copies_of("G(j,m) = T(i,j,k) * T(i,m,k)", {{"T", "csf"}}),
              testing::Contains("store(tensor=T, order={0,2,1}, at={i,j,k}); "
                                "store(tensor=T, order={0,2,1}, at={i,m,k})"));
  EXPECT_THAT(copies_of("A(i,l) = T(i,j,k) * U(l,j,k)", {{"T", "csf"}, {"U", "csf"}}),
              testing::Contains("store(tensor=T, order={1,2,0}); store(tensor=U, order={1,2,0})"));
  EXPECT_THAT(copies_of("s = T(i,j,k) * U(i,j,k)", {{"T", "csf"}, {"U", "csf"}}), testing::IsEmpty());
}

// Issue 38: each row of B was merged with each row of C for every element of a dense result.
TEST(Frontier, FunctionsOfProductsOfRowsReadACopyByColumns) {
  const std::map<std::string, std::string> rows = {{"B", "csr"}, {"C", "csr"}};
  const auto by_columns = testing::Contains("store(tensor=C, order={1,0})");
  EXPECT_THAT(copies_of("A(i,k) = exp(sum(j)(B(i,j) * C(k,j)))", rows), by_columns);
  EXPECT_THAT(copies_of("s = sum(i,k)(exp(sum(j)(B(i,j) * C(k,j))))", rows), by_columns);
  EXPECT_THAT(copies_of("A(i,k) = exp(sum(j)(B(i,j) * C(k,j)))", {{"B", "csr"}}), testing::IsEmpty());
}

// Issue 38: no part of such a space had a schedule, and the first answer took the whole search of seconds.
TEST(Frontier, PartsHaveANestWithCopiesWhereASparseResultNeedsThem) {
  const auto part_of = [](const std::string& expression, const std::map<std::string, std::string>& formats) {
    const auto problem = problem::build({.expression = expression, .formats = formats}).value();
    Options part = options_for(problem.profile);
    part.stage1 = true;
    part.memory_depth = 1;
    part.operand_orders = 1;
    return compute(problem, part, {}, never);
  };
  const auto elements = part_of("A(i,j) = P(e,a,i) * K(e,a,b) * P(e,b,j)", {{"P", "csf"}, {"A", "csr"}});
  ASSERT_TRUE(elements.ok()) << support::render(elements.error());
  EXPECT_EQ(schedule::print(elements->survivors.front().traces.front()),
            "store(tensor=P, order={2,1,0}, at={e,a,i}); store(tensor=P, order={0,2,1}, at={e,b,j})");
  // Each row of the result would be merged with each row of a copy of P.
  const char* const dcsr = "compressed,compressed";
  const auto all =
      part_of("A(i,l) = P(j,i) * B(j,k) * P(k,l)", {{"P", dcsr}, {"B", "dense,dense"}, {"A", "csr"}});
  ASSERT_FALSE(all.ok()) << schedule::print(all->survivors.front().traces.front());
  EXPECT_EQ(all.error().code, "no-schedule");
}

TEST(Frontier, ACancelledSearchIsExhausted) {
  support::Cancellation cancelled;
  cancelled.cancel();
  const auto problem = problem::build(test_support::search_oracle()[1].text("default")).value();
  const auto found = compute(problem, {}, {}, cancelled);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().family, support::Family::exhausted);
}

TEST(Frontier, ProgressNamesTheStages) {
  std::vector<std::string> stages;
  const auto problem = problem::build(test_support::search_oracle()[3].text("sparseauto")).value();
  const auto progress = [&](const Stage& now) {
    if (stages.empty() || stages.back() != now.stage) stages.push_back(now.stage);
  };
  ASSERT_TRUE(compute(problem, options_for(problem.profile), progress, never).ok());
  EXPECT_THAT(stages, testing::ElementsAre("space", "stage1", "stage2", "stage3", "members"));
}

TEST(Frontier, OneOperandIsItsLinearNest) {
  problem::ProblemText text;
  text.expression = "A(j,i) = B(i,j)";
  text.formats = {{"B", "csr"}};
  const auto problem = problem::build(text).value();
  const Frontier found = compute_or_fail(problem);
  ASSERT_EQ(found.survivors.size(), 1U);
  EXPECT_EQ(found.survivors[0].members, "1");
  EXPECT_EQ(found.counts.space, "1");
}

}  // namespace
}  // namespace schaas::frontier
