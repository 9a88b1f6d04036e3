// Frontiers under tighter constraints, derived from stored ones: the same as searched for.
#include "server/providers/relaxed_frontier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/frontier/tighten.h"
#include "compiler/schedule/replay/apply.h"
#include "kernels_cache/binary_store_memory.h"
#include "kernels_cache/schedule_store_memory.h"
#include "server/providers/caching_provider.h"
#include "server/providers/compiling_provider.h"

namespace schaas::server {
namespace {

const support::Cancellation never;

struct Pair {
  const char* name;
  problem::ProblemText relaxed, tighter;
};

problem::ProblemText text(const std::string& expression, const std::map<std::string, std::string>& formats,
                          const std::vector<std::string>& constraints) {
  problem::ProblemText out;
  out.expression = expression;
  out.formats = formats;
  out.constraints = constraints;
  return out;
}

std::vector<Pair> pairs() {
  const std::string k2 = "A(i,m) = B(i,j) * C(i,k) * D(j,k) * E(j,l) * F(l,m)";
  const std::string k4 = "A(i,l) = B(i,j) * C(j,k) * D(k,l)";
  const std::string k5 = "A(l,m,n) = B(i,j,k) * C(i,l) * D(j,m) * E(k,n)";
  return {
      {"narrower extents", text(k4, {{"B", "csr"}}, {"8 <= k <= 256", "8 <= l <= 256"}),
       text(k4, {{"B", "csr"}}, {"16 <= k <= 200", "100 <= l <= 256"})},
      {"a density", text(k2, {{"B", "csr"}}, {"8 <= k <= 256", "8 <= l <= 256", "8 <= m <= 256"}),
       text(k2, {{"B", "csr"}},
            {"8 <= k <= 256", "8 <= l <= 256", "8 <= m <= 256", "1e-6 <= density(B) <= 1e-2"})},
      {"no constraint at all before", text(k5, {{"B", "csf"}}, {}),
       text(k5, {{"B", "csf"}}, {"i >= 1000", "j >= 1000", "k >= 1000", "nnz(B) >= 10*nnz(B,2)"})},
      {"an extent compared with another", text(k4, {{"B", "csr"}}, {"100 <= k", "100 <= l"}),
       text(k4, {{"B", "csr"}}, {"100 <= k", "100 <= l", "10*k <= l"})},
      {"implied only together", text(k4, {{"B", "csr"}}, {"k <= 4*l", "100 <= k"}),
       text(k4, {{"B", "csr"}}, {"200 <= k <= 8000", "2000 <= l"})},
      {"under other names, which change the canonical order",
       text(k4, {{"B", "csr"}}, {"100 <= k <= 300", "l >= 100"}),
       text("Out(row,d) = Last(f,d) * Mask(row,col) * Mid(col,f)", {{"Mask", "csr"}},
            {"100 <= f <= 300", "d >= 1000", "col <= 5000", "nnz(Mask) >= row"})},
  };
}

problem::Canonical canonical(const problem::ProblemText& what) {
  return problem::canonicalize(problem::build(what).value());
}

frontier::Frontier searched(const problem::Canonical& what) {
  return frontier::compute(what.problem, {}, {}, never).value();
}

std::vector<std::string> told(const frontier::Frontier& found, const problem::Problem& problem) {
  const auto variables = cost::variables_of(problem);
  std::vector<std::string> out;
  for (const auto& s : found.survivors) {
    out.push_back(s.id + " T = " + cost::print_time(s.cost, variables) +
                  ", M = " + cost::print_memory(s.cost, variables) + ", " + s.members + " members, " +
                  std::to_string(s.loop_trees) + " trees");
  }
  return out;
}

TEST(RelaxedFrontier, EqualsTheSearchedFrontier) {
  for (const Pair& pair : pairs()) {
    SCOPED_TRACE(pair.name);
    const auto relaxed = canonical(pair.relaxed), tighter = canonical(pair.tighter);
    ASSERT_EQ(unconstrained_key(relaxed.problem), unconstrained_key(tighter.problem));
    const auto derived = from_relaxed(tighter, relaxed.problem, searched(relaxed), {}, {}, never);
    ASSERT_TRUE(derived.ok());
    ASSERT_TRUE(derived->has_value());
    const frontier::Frontier from_scratch = searched(tighter);
    EXPECT_EQ(told(**derived, tighter.problem), told(from_scratch, tighter.problem));
    EXPECT_EQ((*derived)->counts.space, from_scratch.counts.space);
    EXPECT_EQ((*derived)->counts.stage3, from_scratch.counts.stage3);
    EXPECT_TRUE((*derived)->complete);
    for (const auto& survivor : (*derived)->survivors) {
      for (const auto& trace : survivor.traces) {
        const auto tree = schedule::apply(trace, tighter.problem);
        ASSERT_TRUE(tree.ok()) << schedule::print(trace);
        EXPECT_EQ(cost::of(*tree, tighter.problem), survivor.cost);
        // A trace contains at most one order of all loops.
        const auto orders = std::count_if(trace.directives.begin(), trace.directives.end(),
                                          [](const schedule::Directive& directive) {
                                            const auto* reorder = std::get_if<schedule::Reorder>(&directive);
                                            return reorder != nullptr && reorder->path.empty();
                                          });
        EXPECT_LE(orders, 1) << schedule::print(trace);
      }
    }
  }
}

TEST(RelaxedFrontier, IsNotUsedForRelaxedQueries) {
  for (const Pair& pair : pairs()) {
    SCOPED_TRACE(pair.name);
    const auto relaxed = canonical(pair.relaxed), tighter = canonical(pair.tighter);
    const auto derived = from_relaxed(relaxed, tighter.problem, searched(tighter), {}, {}, never);
    ASSERT_TRUE(derived.ok());
    EXPECT_FALSE(derived->has_value());
  }
}

TEST(RelaxedFrontier, IsNotUsedWhenMoreTemporariesAreFree) {
  const std::string k4 = "A(i,l) = B(i,j) * C(j,k) * D(k,l)";
  const auto relaxed = canonical(text(k4, {{"B", "csr"}}, {"k <= 256", "l <= 256"}));
  const auto tighter = canonical(text(k4, {{"B", "csr"}}, {"k <= 64", "l <= 64"}));
  EXPECT_TRUE(frontier::implies(tighter.problem, relaxed.problem, {}, never));
  EXPECT_FALSE(frontier::stands_for_space(relaxed.problem, tighter.problem, {}, never)) << "k*l is free now";
  EXPECT_FALSE(from_relaxed(tighter, relaxed.problem, searched(relaxed), {}, {}, never)->has_value());
}

TEST(Implied, ConstraintsAreProvenInWholeNumbers) {
  const std::string k4 = "A(i,l) = B(i,j) * C(j,k) * D(k,l)";
  const auto holds = [&](const std::vector<std::string>& known, const std::string& wanted) {
    const auto tighter = problem::build(text(k4, {{"B", "csr"}}, known)).value();
    const auto relaxed = problem::build(text(k4, {{"B", "csr"}}, {wanted})).value();
    return frontier::implies(tighter, relaxed, {}, never);
  };
  EXPECT_TRUE(holds({"k <= 10"}, "k <= 10"));
  EXPECT_TRUE(holds({"k <= 10"}, "k < 11"));
  EXPECT_TRUE(holds({"2*k <= 11"}, "k <= 5"));
  EXPECT_TRUE(holds({"k <= l", "l <= j", "j <= 7"}, "k <= 7"));
  EXPECT_TRUE(holds({"density(B) <= 1e-3"}, "nnz(B) <= i*j"));
  EXPECT_TRUE(holds({}, "nnz(B) <= i*j"));
  EXPECT_TRUE(holds({"k >= 3", "l >= 4"}, "k + l >= 7"));
  EXPECT_FALSE(holds({"k <= 10"}, "k <= 9"));
  EXPECT_FALSE(holds({"k <= 10"}, "10 <= k"));
  EXPECT_FALSE(holds({}, "nnz(B) >= i"));
  EXPECT_FALSE(holds({"k <= l", "l <= j"}, "j <= k"));
}

/// Prints what a client sees of a frontier but durations.
std::string told_whole(const frontier::Frontier& found, const problem::Problem& problem) {
  std::string out = found.complete ? "complete\n" : "cut: " + found.limited + "\n";
  for (const std::string& survivor : told(found, problem)) out += survivor + "\n";
  for (const auto& survivor : found.survivors) {
    for (const auto& trace : survivor.traces) out += survivor.id + " " + schedule::print(trace) + "\n";
  }
  return out;
}

TEST(RelaxedFrontier, HasTheTracesOfTheSearchedFrontier) {
  for (const Pair& pair : pairs()) {
    SCOPED_TRACE(pair.name);
    const auto relaxed = canonical(pair.relaxed), tighter = canonical(pair.tighter);
    const auto derived = from_relaxed(tighter, relaxed.problem, searched(relaxed), {}, {}, never);
    ASSERT_TRUE(derived.ok());
    ASSERT_TRUE(derived->has_value());
    EXPECT_EQ(told_whole(**derived, tighter.problem), told_whole(searched(tighter), tighter.problem));
  }
}

TEST(RelaxedFrontier, IsNotUsedWhereAConstraintIsAnEquality) {
  const std::string k4 = "A(i,l) = B(i,j) * C(j,k) * D(k,l)";
  const auto relaxed = canonical(text(k4, {{"B", "csr"}}, {"100 <= k <= 300", "100 <= l <= 300"}));
  const auto fixed = canonical(text(k4, {{"B", "csr"}}, {"200 <= k <= 200", "100 <= l <= 300"}));
  EXPECT_TRUE(frontier::implies(fixed.problem, relaxed.problem, {}, never));
  EXPECT_FALSE(frontier::stands_for_space(relaxed.problem, fixed.problem, {}, never));
}

/// Eighty problems of eight families: ranges in ranges, fixed extents, densities, ratios.
std::vector<problem::Canonical> eighty_problems() {
  const std::vector<std::pair<std::string, std::string>> families = {
      {"A(i,l) = B(i,j) * C(j,k) * D(k,l)", "csr"},
      {"A(i,k) = B(i,j) * C(j,k)", "csr"},
      {"A(i,l) = B(i,k) * C(k,j) * D(j,l)", "csc"},
      {"A(i,k,l) = B(i,j) * C(j,k) * D(j,l)", "csr"},
      {"y(i) = B(i,j) * C(j,k) * x(k)", "csr"},
      {"A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", "csr"},
      {"A(k,l,m) = B(i,j) * C(i,k) * D(j,l) * E(j,m)", "csr"},
      {"A(k,l) = B(i,j) * C(i,k) * D(j,l)", "csr"}};
  const std::vector<std::vector<std::string>> constraints = {
      {},
      {"4 <= k <= 512"},
      {"8 <= k <= 256"},
      {"16 <= k <= 16"},
      {"i >= 1000", "j >= 1000"},
      {"i >= 1000", "j >= 1000", "8 <= k <= 256"},
      {"i >= 1000", "j >= 1000", "8 <= k <= 256", "density(B) <= 1e-2"},
      {"i >= 1000", "j >= 1000", "8 <= k <= 64", "1e-6 <= density(B) <= 1e-2"},
      {"k <= j", "100 <= j"},
      {"10*k <= j", "100 <= j", "k >= 2"}};
  std::vector<problem::Canonical> out;
  for (const auto& [expression, format] : families) {
    for (const auto& each : constraints) out.push_back(canonical(text(expression, {{"B", format}}, each)));
  }
  return out;
}

class NoToolchain final : public toolchain::Toolchain {
 public:
  std::string identity(const toolchain::Target&) const override { return "none"; }
  support::Result<std::string> compile_c(const std::string&, const toolchain::Target&,
                                         const support::Cancellation&) override {
    return support::unsupported("none", "no compiler");
  }
};

std::unique_ptr<KernelProvider> empty_provider() {
  const Stores stores{kernels_cache::make_memory_schedule_store(kernels_cache::system_clock()),
                      std::make_shared<kernels_cache::MemoryBinaryStore>()};
  return make_caching_provider(
      make_compiling_provider(std::make_shared<NoToolchain>()), stores,
      std::make_shared<KernelSigner>(support::SigningKey::from_seed(std::string(32, 's'))), silent_log());
}

TEST(Caching, AnswersAlikeInWhateverOrderProblemsCome) {
  std::vector<problem::Canonical> problems = eighty_problems();
  ASSERT_EQ(problems.size(), 80u);
  std::map<std::string, std::string> first;
  int derived = 0;
  for (const bool backwards : {false, true}) {
    const auto provider = empty_provider();
    if (backwards) std::reverse(problems.begin(), problems.end());
    for (const auto& problem : problems) {
      const auto found = provider->frontier({problem, {}, Source::stored_or_made}, {}, never);
      ASSERT_TRUE(found.ok()) << problem.text << support::render(found.error());
      derived += found->frontier->relaxed_from.empty() ? 0 : 1;
      const std::string text = told_whole(*found->frontier, problem.problem);
      const auto [known, is_new] = first.emplace(problem.key, text);
      EXPECT_EQ(known->second, text) << problem.text;
    }
  }
  EXPECT_GT(derived, 8) << "in one of the orders relaxed problems come first";
}

TEST(Caching, DerivesAndStoresSubsumedFrontiers) {
  const auto provider = empty_provider();
  const Pair pair = pairs().front();
  const auto relaxed = canonical(pair.relaxed), tighter = canonical(pair.tighter);
  FrontierQuery query{relaxed, {}, Source::stored_or_made};
  EXPECT_EQ(provider->frontier(query, {}, never)->frontier->relaxed_from, "");
  query.canonical = tighter;
  query.source = Source::made;
  EXPECT_EQ(provider->frontier(query, {}, never)->frontier->relaxed_from, "") << "asked to be made anew";
  const auto other =
      canonical(text(pair.tighter.expression, pair.tighter.formats, {"20 <= k <= 200", "100 <= l <= 250"}));
  query = {other, {}, Source::stored_or_made};
  const auto derived = provider->frontier(query, {}, never);
  ASSERT_TRUE(derived.ok());
  EXPECT_FALSE(derived->hit);
  EXPECT_EQ(derived->frontier->relaxed_from, tighter.key) << "the newest that covers it";
  const auto again = provider->frontier(query, {}, never);
  EXPECT_TRUE(again->hit);
  EXPECT_EQ(again->frontier->relaxed_from, tighter.key);
  // Searches with other options do not share answers.
  query.options.stage1 = true;
  EXPECT_EQ(provider->frontier(query, {}, never)->frontier->relaxed_from, "");
}

}  // namespace
}  // namespace schaas::server
