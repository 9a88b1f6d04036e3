#include "compiler/lower/passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "compiler/concrete_notation/parser.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/lower/lower.h"
#include "tests/golden/golden_file.h"
#include "tests/unit/compiler/kernel_run.h"

// The table of lowering passes: selection by name, order constraints, remarks. A handful of schedules is
// chosen so that each pass for CPUs applies to one of them, which a test asserts. Passes are then left out
// one by one, and shuffled within their constraints (seed 37). Every kernel must still agree with the dense
// oracle, and the same passes must apply in every order. A missing order constraint would show as a wrong
// result or a changed list.
namespace schaas {
namespace {

using lower::PassList;
using testing::check_tree;
using testing::RunCase;

std::string names(const PassList& passes) {
  std::string all;
  for (const auto* pass : passes) all += (all.empty() ? "" : ",") + std::string(pass->name);
  return all;
}

std::string selected(const std::string& text, const std::string& last = "") {
  const auto passes = lower::parse_passes(text, last);
  return passes.ok() ? names(*passes) : support::render(passes.error());
}

/// A schedule and sizes at which it is compared with the oracle.
struct Case {
  std::string expression;
  std::map<std::string, std::string> formats;
  std::string tree;
  std::map<std::string, std::int64_t> extents;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"A(i,l) = B(i,j) * C(j,k) * D(k,l)",
       {{"B", "csr"}},
       "forall(i, where(forall(k, forall(l, A(i,l) += t1(k) * D(k,l))), forall(j, forall(k, t1(k) += B(i,j) "
       "* C(j,k)))))",
       {{"i", 9}, {"j", 11}, {"k", 16}, {"l", 21}}},
      {"A(i,l) = B(i,k) * C(k,j) * D(k,j) * E(j,l)",
       {{"B", "csr"}},
       "where(forall(i, forall(k, forall(l, A(i,l) += B(i,k) * t1(k,l)))), "
       "forall(k, forall(j, forall(l, t1(k,l) += C(k,j) * D(k,j) * E(j,l)))))",
       {{"i", 9}, {"k", 23}, {"j", 11}, {"l", 37}}},
      {"A(i,j) = B(i,j) * C(i,k) * D(j,k)",
       {{"A", "csr"}, {"B", "csr"}},
       "forall(i, forall(j, forall(k, A(i,j) += B(i,j) * C(i,k) * D(j,k))))",
       {{"i", 70}, {"j", 11}, {"k", 16}}},
      {"A(i,k) = B(i,j) * C(j,k)",
       {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}},
       "forall(i, where(forall(k, A(i,k) += t1(k)), forall(j, forall(k, t1(k) += B(i,j) * C(j,k)))))",
       {{"i", 12}, {"j", 15}, {"k", 90}}},
      {"A(i,k) = B(i,j) * C(j,k) * D(i,k)",
       {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}, {"D", "csr"}},
       "forall(i, where(forall(k, A(i,k) += t1(k)), forall(j, forall(k, t1(k) += B(i,j) * C(j,k) * "
       "D(i,k)))))",
       {{"i", 12}, {"j", 15}, {"k", 90}}},
      {"A(i) = max(j)(B(i,j))",
       {{"B", "csr"}},
       "forall(i, forall(j, A(i) max= B(i,j)))",
       {{"i", 12}, {"j", 9}}},
      {"A(i,k) = B(i,j) * C(j,k)",
       {{"A", "csr"}, {"B", "coo"}, {"C", "csr"}},
       "forall(i, where(forall(k, A(i,k) += t1(k)), forall(j, forall(k, t1(k) += B(i,j) * C(j,k)))))",
       {{"i", 12}, {"j", 15}, {"k", 90}}},
      {"A(i,j) = B(i,j) + C(i,j)",
       {{"B", "csr"}},
       "forall(i, forall(j, A(i,j) += B(i,j) + C(i,j)))",
       {{"i", 12}, {"j", 90}}},
      {"y(i) = exp(sum(j)(B(i,j) * x(j)))",
       {{"B", "csr"}},
       "forall(i, where(y(i) += exp(t1), forall(j, t1 += B(i,j) * x(j))))",
       {{"i", 150}, {"j", 9}}},
      {"y(i) = relu(sum(j)(B(i,j) * x(j)))",
       {{"B", "csr"}},
       "forall(i, where(y(i) += relu(t1), forall(j, t1 += B(i,j) * x(j))))",
       {{"i", 12}, {"j", 9}}},
      {"s = B(i,j) * B(i,j)",
       {{"B", "csr"}},
       "forall(i, forall(j, s += B(i,j) * B(i,j)))",
       {{"i", 40}, {"j", 9}}},
      {"y(i) = B(i,j) * x(j) + B(j,i) * x(j)",
       {{"B", "csr"}},
       "terms(forall(i, forall(j, y(i) += B(i,j) * x(j))), forall(j, forall(i, y(i) += B(j,i) * x(j))))",
       {{"i", 40}, {"j", 40}}},
      {"y(j) = or(i)(and(x(i), B(i,j)))",
       {{"B", "csr"}},
       "forall(i, forall(j, y(j) or= and(x(i), B(i,j))))",
       {{"i", 40}, {"j", 9}}},
  };
  return all;
}

RunCase run_of(const Case& one) {
  auto built = problem::build({one.expression, one.formats, {}, "f64", "32", "default"});
  EXPECT_TRUE(built.ok()) << support::render(built.error());
  return RunCase{*built, one.extents, 0.3};
}

/// Returns the remarks of the passes on a case.
std::vector<lower::Remark> remarks_on(const Case& one, const PassList& passes) {
  std::vector<lower::Remark> remarks;
  const auto kernel = lower::lower(*concrete_notation::parse(one.tree), run_of(one).problem,
                                   {.passes = passes, .verify = true, .remarks = &remarks});
  EXPECT_TRUE(kernel.ok());
  return remarks;
}

std::string applied(const std::vector<lower::Remark>& remarks) {
  std::string all;
  for (const auto& remark : remarks) {
    if (remark.applied) all += remark.pass + " ";
  }
  return all;
}

/// Returns an order that the table allows, drawn at random.
PassList shuffled(PassList passes, std::mt19937_64& random) {
  for (int swaps = 0; swaps < 200; ++swaps) {
    const auto at = random() % (passes.size() - 1);
    std::swap(passes[at], passes[at + 1]);
    if (!lower::is_in_order(passes)) std::swap(passes[at], passes[at + 1]);
  }
  return passes;
}

TEST(Passes, AreListedInOrder) {
  EXPECT_TRUE(lower::is_in_order(lower::all_passes()));
  std::set<std::string_view> seen;
  for (const auto* pass : lower::all_passes()) {
    EXPECT_TRUE(seen.insert(pass->name).second) << pass->name;
    EXPECT_EQ(pass, lower::find_pass(pass->name));
    EXPECT_EQ(pass->after.empty(), pass->why.empty()) << pass->name;
    for (const auto name : pass->after) EXPECT_NE(nullptr, lower::find_pass(name)) << name;
    for (const auto name : pass->needs)
      EXPECT_TRUE(std::count(pass->after.begin(), pass->after.end(), name) > 0) << pass->name;
  }
  PassList reversed = lower::all_passes();
  std::reverse(reversed.begin(), reversed.end());
  EXPECT_FALSE(lower::is_in_order(reversed));
}

TEST(Passes, AreSelectedByName) {
  EXPECT_EQ(names(lower::all_passes()), selected(""));
  EXPECT_EQ(names(lower::all_passes()), selected("all"));
  EXPECT_EQ(
      "count-unstored,block-registers,coarsen-threads,keep-rows,vectorise-loads,store-whole-rows,stage-"
      "entries,unroll-entries",
      selected("baseline"));
  EXPECT_EQ("block-registers,unroll-and-jam", selected("unroll-and-jam,block-registers"));
  EXPECT_EQ("count-unstored,block-registers,unroll-and-jam,coarsen-threads,store-whole-rows,unroll-entries",
            selected("baseline,unroll-and-jam,-keep-rows,-vectorise-loads,-stage-entries"));
  EXPECT_EQ(selected("all,-specialise"), selected("-specialise"));
  EXPECT_EQ(std::string::npos, selected("-specialise").find("specialise"));
  EXPECT_EQ(
      "count-unstored,index-rows,block-registers,block-calls,split-rows,fuse-phases,split-unions,coalesce-"
      "rows,prefetch-"
      "gathers",
      selected("", "prefetch-gathers"));
  EXPECT_EQ("count-unstored,index-rows,block-registers,block-calls,split-rows", selected("", "emission"));
}

TEST(Passes, UnknownNamesAreRejected) {
  const std::string known =
      "count-unstored, index-rows, block-registers, block-calls, split-rows, fuse-phases, split-unions, "
      "coalesce-rows, "
      "prefetch-gathers, unroll-and-jam, prefetch-rows, "
      "pack-panels, supernodes, expand-rows, probe-lists, numeric-phases, flatten-loops, "
      "skip-zero-rows, specialise, coarsen-threads, "
      "keep-rows, vectorise-loads, store-whole-rows, stage-entries, unroll-entries";
  EXPECT_EQ(
      "invalid [pass]: unknown pass `unrol-and-jam`; did you mean `unroll-and-jam`?; known are all, "
      "baseline, " +
          known,
      selected("all,-unrol-and-jam"));
  EXPECT_EQ("invalid [pass]: unknown pass ``; known are all, baseline, " + known,
            selected("all,,specialise"));
  EXPECT_EQ("invalid [pass]: unknown pass `x`; known are emission, " + known, selected("", "x"));
}

TEST(Passes, RemarkOnWhatTheyDid) {
  const auto remarks = remarks_on(cases()[2], lower::all_passes());
  ASSERT_EQ(lower::all_passes().size(), remarks.size());
  EXPECT_EQ("unroll-and-jam numeric-phases flatten-loops specialise ", applied(remarks));
  const auto reason = [](const std::vector<lower::Remark>& all, const std::string& pass) {
    return std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.pass == pass; })->reason;
  };
  EXPECT_EQ("", reason(remarks, "unroll-and-jam"));
  EXPECT_EQ("no register tile whose factors are rows in memory", reason(remarks, "prefetch-rows"));
  EXPECT_EQ("the kernel is for the CPU", reason(remarks, "coarsen-threads"));
  const auto fewer = remarks_on(cases()[2], *lower::parse_passes("-unroll-and-jam"));
  EXPECT_EQ("left out", reason(fewer, "unroll-and-jam"));
  EXPECT_EQ("no numeric body that is a jammed loop over the entries of each row, which unroll-and-jam makes",
            reason(fewer, "flatten-loops"));
}

/// Returns the remarks of all passes on a case, as `schaas emit --remarks` prints them but for the times.
std::string remarks_text(const Case& one) {
  std::string text = one.expression + "\n" + one.tree + "\n";
  for (const auto& remark : remarks_on(one, lower::all_passes()))
    text += "  " + remark.pass + ": " + (remark.applied ? "applied" : "not applied: " + remark.reason) + "\n";
  return text;
}

/// SCHAAS_UPDATE=1 in the environment rewrites the file; review reads the difference.
TEST(Passes, RemarkAsTheGoldenSays) {
  const std::filesystem::path path =
      std::filesystem::path(SCHAAS_SOURCE_DIR) / "tests/golden/lower/remarks.txt";
  std::string found;
  for (const auto& one : cases()) found += remarks_text(one);
  found += remarks_text(
      {"A(i,k) = B(i,j) * C(j,k)",
       {{"B", "csr"}},
       "forall(k threads 4, forall(i threads 1/8 group 8 parallel, forall(j, A(i,k) += B(i,j) * C(j,k))))",
       {}});
  if (std::getenv("SCHAAS_UPDATE") != nullptr) std::ofstream(path) << found;
  EXPECT_EQ(golden::read_file(path), found);
}

/// Each pass for CPUs applies to a case, so that the tests below test it.
TEST(Passes, ApplyToTheCases) {
  std::string all;
  for (const auto& one : cases()) all += applied(remarks_on(one, lower::all_passes()));
  for (const auto* pass : lower::all_passes()) {
    if (pass->machine != lower::Machine::cpu) continue;
    EXPECT_NE(std::string::npos, all.find(std::string(pass->name) + " ")) << pass->name;
  }
}

TEST(Passes, AreExchangedWhereTheTableAllows) {
  std::mt19937_64 random(37);
  for (const auto& one : cases()) {
    const auto in_order = applied(remarks_on(one, lower::all_passes()));
    for (int n = 0; n < 3; ++n) {
      const auto passes = shuffled(lower::all_passes(), random);
      SCOPED_TRACE(one.tree + "\n" + names(passes));
      EXPECT_EQ(in_order, applied(remarks_on(one, passes)));
      EXPECT_EQ("", check_tree(one.tree, run_of(one), 70, passes));
    }
  }
}

TEST(Passes, AreLeftOutOneByOne) {
  for (const auto& one : cases()) {
    for (const auto& remark : remarks_on(one, lower::all_passes())) {
      if (!remark.applied) continue;
      SCOPED_TRACE(one.tree + " without " + remark.pass);
      EXPECT_EQ("", check_tree(one.tree, run_of(one), 71, *lower::parse_passes("-" + remark.pass)));
    }
  }
}

}  // namespace
}  // namespace schaas
