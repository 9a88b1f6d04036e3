#include <gtest/gtest.h>

#include "compiler/concrete_notation/printer.h"
#include "compiler/schedule/nests.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/schedule/trace.h"
#include "tests/support/paper_kernels.h"
#include "tests/support/problem_of.h"

// Traces replayed on the default nest: each case is a trace as text and the tree that it gives, written by
// hand. Default nests come first: order of loops, branches for reductions, copies where storage orders
// contradict each other. Fusion follows the example of SparseAuto (section 4.2, figure 5). Refused traces are
// in tests/errors/schedule_test.cc, random ones in tests/property/schedule_test.cc.
namespace schaas::schedule {
namespace {

using test_support::problem_of;

std::string applied(const std::string& trace, const problem::Problem& problem) {
  const auto parsed = parse(trace);
  if (!parsed.ok()) return support::render(parsed.error());
  const auto tree = apply(*parsed, problem);
  return tree.ok() ? concrete_notation::print(*tree) : support::render(tree.error());
}

TEST(Trace, TheEmptyTraceIsLinear) {
  EXPECT_EQ(print(Trace{}), "linear");
  EXPECT_EQ(parse("linear").value(), Trace{});
  EXPECT_EQ(parse("").value(), Trace{});
  EXPECT_EQ(parse(" \n linear \t").value(), Trace{});
}

TEST(Trace, PrintsEveryDirective) {
  const Trace trace{{Permute{{}, {1, 0, 2}}, Reorder{{1, 0}, {"m", "k1"}}, LoopFuse{{}, 2, true, {}},
                     LoopFuse{{0}, 1, false, 0}, Share{1, {"i", "j"}}, Sequence{{1, 0, 2}},
                     Distribute{{1}, 2}}};
  const std::string text =
      "permute(path={}, factors={1,0,2}); reorder(path={1,0}, order={m,k1}); loopfuse(path={}, loc=2, "
      "pol=left); "
      "loopfuse(path={0}, loc=1, pol=right, fuse=0); share(nest=1, loops={i,j}); sequence(order={1,0,2}); "
      "distribute(path={1}, depth=2)";
  EXPECT_EQ(print(trace), text);
  EXPECT_EQ(parse(text).value(), trace);
}

TEST(Trace, ArgumentsComeInAnyOrderAndThePathMayBeLeftOut) {
  EXPECT_EQ(print(parse("loopfuse(pol=left,loc=1);reorder(order={ i , j },path={ 1 });").value()),
            "loopfuse(path={}, loc=1, pol=left); reorder(path={1}, order={i,j})");
}

TEST(Trace, RenamesIndices) {
  const Trace trace = parse("reorder(path={}, order={i,j,k}); loopfuse(path={}, loc=1, pol=left)").value();
  EXPECT_EQ(print(rename(trace, {{"i", "j"}, {"j", "row"}}, {})),
            "reorder(path={}, order={j,row,k}); loopfuse(path={}, loc=1, pol=left)");
}

TEST(DefaultNest, TakesTheEarliestLegalLoop) {
  EXPECT_EQ(applied("linear", problem_of("A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", {{"B", "csr"}})),
            "forall(i, forall(l, forall(j, forall(k, A(i,l) += B(i,j) * C(i,k) * D(j,k) * E(j,l)))))");
  // The result comes first in the order of appearance, but B is stored by columns.
  EXPECT_EQ(applied("linear", problem_of("y(i) = B(i,j) * x(j)", {{"B", "csc"}})),
            "forall(j, forall(i, y(i) += B(i,j) * x(j)))");
  EXPECT_EQ(applied("linear", problem_of("A(k,j,i) = B(i,j,k)", {{"B", "csf"}})),
            "forall(i, forall(j, forall(k, A(k,j,i) += B(i,j,k))))");
  EXPECT_EQ(applied("linear", problem_of("a = b", {})), "a += b");
}

TEST(DefaultNest, FormatsInACircleHaveTreesWhenSplit) {
  const auto problem = problem_of("s = B(i,j) * C(j,k) * D(k,i)", {{"B", "csr"}, {"C", "csr"}, {"D", "csr"}});
  EXPECT_EQ(
      applied("loopfuse(path={}, loc=2, pol=left, fuse=0); reorder(path={1}, order={k,i})", problem),
      "where(forall(k, forall(i, s += t1(k,i) * D(k,i))), forall(i, forall(j, forall(k, t1(k,i) += B(i,j) * "
      "C(j,k)))))");
  EXPECT_EQ(applied("loopfuse(path={}, loc=2, pol=left, fuse=0)", problem),
            "invalid [illegal-directive]: `D(k,i)` is stored dense,compressed:0,1: loop `k` must be outside "
            "loop `i`\n"
            "  --> schedule:1:1\n"
            "  | loopfuse(path={}, loc=2, pol=left, fuse=0)\n"
            "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
}

TEST(DefaultNest, FormatsThatContradictEachOtherGetACopy) {
  const auto problem = problem_of("y(i) = B(i,j) * C(j,i)", {{"B", "csr"}, {"C", "csr"}});
  EXPECT_EQ(print(default_trace(problem)), "store(tensor=C, order={1,0})");
  EXPECT_EQ(applied("linear", problem), "forall(i, forall(j, y(i) += B(i,j) * C_1_0(j,i)))");
  EXPECT_EQ(applied("linear", problem_of("y(i) = B(i,j) * C(j,i)", {{"B", "csr"}, {"C", "csc"}})),
            "forall(i, forall(j, y(i) += B(i,j) * C(j,i)))");
}

TEST(DefaultNest, OneTensorIsReadThroughItselfAndItsCopy) {
  const auto problem = problem_of("A(i,j) = B(i,j) + B(j,i)", {{"A", "csr"}, {"B", "csr"}});
  EXPECT_EQ(print(default_trace(problem)), "store(tensor=B, order={1,0}, at={j,i})");
  EXPECT_EQ(applied("linear", problem), "forall(i, forall(j, A(i,j) += B(i,j) + B_1_0(j,i)))");
}

TEST(DefaultNest, TheTensorWithFewestEntriesIsCopied) {
  auto text =
      problem::ProblemText{"A(i,j) = B(i,j) + C(j,i)", {{"B", "csr"}, {"C", "csr"}}, {"nnz(B) <= 100"}};
  EXPECT_EQ(print(default_trace(problem::build(text).value())), "store(tensor=B, order={1,0})");
  text.constraints.emplace_back("nnz(C) <= 99");
  EXPECT_EQ(print(default_trace(problem::build(text).value())), "store(tensor=C, order={1,0})");
}

TEST(DefaultNest, NestsApartNeedNoCopies) {
  const std::map<std::string, std::string> formats{{"B", "csr"}, {"C", "csr"}};
  EXPECT_EQ(print(default_trace(problem_of("y(i) = sum(j)(B(i,j)) + max(j)(C(j,i))", formats))), "linear");
  EXPECT_EQ(print(default_trace(problem_of("y(i) = sum(j)(abs(B(i,j) - C(j,i)))", formats))),
            "store(tensor=C, order={1,0})");
}

TEST(DefaultNest, ADiagonalMayContradictItself) {
  const auto problem = problem_of("y(n) = B(l,n,l)", {{"B", "csf"}});
  EXPECT_EQ(print(default_trace(problem)), "store(tensor=B, order={0,2,1})");
}

TEST(DefaultNest, SeveralCopiesWhereOneDoesNotDo) {
  const auto problem =
      problem_of("A(i,j) = B(i,j) + C(j,i) + D(j,i)", {{"B", "csr"}, {"C", "csr"}, {"D", "csr"}});
  EXPECT_EQ(print(default_trace(problem)), "store(tensor=B, order={1,0})");
  const auto cubes =
      problem_of("A(i,j,k) = B(i,j,k) * C(j,k,i) * D(k,i,j)", {{"B", "csf"}, {"C", "csf"}, {"D", "csf"}});
  EXPECT_EQ(print(default_trace(cubes)), "store(tensor=C, order={2,0,1}); store(tensor=D, order={1,2,0})");
  EXPECT_EQ(applied("linear", cubes),
            "forall(i, forall(j, forall(k, A(i,j,k) += B(i,j,k) * C_2_0_1(j,k,i) * D_1_2_0(k,i,j))))");
}

TEST(Store, AnyOperandMayBeCopied) {
  const auto problem = problem_of("A(i,k) = B(i,j) * C(j,k)", {{"B", "csr"}});
  EXPECT_EQ(applied("store(tensor=C, order={1,0})", problem),
            "forall(i, forall(k, forall(j, A(i,k) += B(i,j) * C_1_0(j,k))))");
  EXPECT_EQ(applied("store(tensor=B, order={1,0}); reorder(order={k,j,i})", problem),
            "forall(k, forall(j, forall(i, A(i,k) += B_1_0(i,j) * C(j,k))))");
  EXPECT_EQ(problem_of(parse("store(tensor=B, order={1,0})").value(), problem)->formats.at("B_1_0"),
            format::parse("csc", 2, "B").value());
}

TEST(Permute, ReordersFactorsOnly) {
  EXPECT_EQ(applied("permute(path={}, factors={2,0,1})", problem_of("A(i,l) = B(i,j) * C(j,k) * D(k,l)", {})),
            "forall(i, forall(l, forall(j, forall(k, A(i,l) += D(k,l) * B(i,j) * C(j,k)))))");
}

TEST(Reorder, ReordersTheSectionsLoopsOnly) {
  EXPECT_EQ(applied("reorder(path={}, order={i,j,k,l}); loopfuse(path={}, loc=2, pol=left); "
                    "reorder(path={1}, order={l,k})",
                    problem_of("A(i,l) = B(i,j) * C(j,k) * D(k,l)", {{"B", "csr"}})),
            "forall(i, where(forall(l, forall(k, A(i,l) += t1(k) * D(k,l))), "
            "forall(j, forall(k, t1(k) += B(i,j) * C(j,k)))))");
}

// SparseAuto section 4.2, figure 5: 5a -> 5c -> 5d -> 5e.
TEST(LoopFuse, FollowsThePapersExample) {
  const auto ttmc = problem_of("A(l,m,n) = B(i,j,k) * C(i,l) * D(j,m) * E(k,n)", {{"B", "csf"}});
  const std::string a = "reorder(path={}, order={l,m,n,i,j,k})";
  EXPECT_EQ(applied(a + "; loopfuse(path={}, loc=3, pol=left)", ttmc),
            "forall(l, forall(m, where(forall(n, forall(k, A(l,m,n) += t1(k) * E(k,n))), "
            "forall(i, forall(j, forall(k, t1(k) += B(i,j,k) * C(i,l) * D(j,m)))))))");
  const std::string c = a + "; loopfuse(path={}, loc=2, pol=left)";
  EXPECT_EQ(
      applied(c, ttmc),
      "forall(l, where(forall(m, forall(n, forall(j, forall(k, A(l,m,n) += t1(j,k) * D(j,m) * E(k,n))))), "
      "forall(i, forall(j, forall(k, t1(j,k) += B(i,j,k) * C(i,l))))))");
  // The temporary is written in the order of the loops of the assignment that reads it, k and j here.
  EXPECT_EQ(applied(c + "; reorder(path={1}, order={m,k,n,j}); loopfuse(path={1}, loc=2, pol=left)", ttmc),
            "forall(l, where(forall(m, forall(k, where(forall(n, A(l,m,n) += t2 * E(k,n)), "
            "forall(j, t2 += t1(k,j) * D(j,m))))), "
            "forall(i, forall(j, forall(k, t1(k,j) += B(i,j,k) * C(i,l))))))");
}

TEST(LoopFuse, TheRightSideMayProduce) {
  EXPECT_EQ(applied("loopfuse(path={}, loc=1, pol=right)",
                    problem_of("A(i,l) = B(i,j) * C(j,k) * D(k,l)", {{"B", "csr"}})),
            "where(forall(i, forall(l, forall(j, A(i,l) += B(i,j) * t1(l,j)))), "
            "forall(l, forall(j, forall(k, t1(l,j) += C(j,k) * D(k,l)))))");
}

TEST(LoopFuse, FusesAtMostAsManyLoopsAsAsked) {
  const auto k1 = problem::build(test_support::paper_kernel("K1").text).value();
  const std::string order = "reorder(path={}, order={i,j,k,l}); loopfuse(path={}, loc=3, pol=left";
  EXPECT_EQ(applied(order + ")", k1),
            "forall(i, forall(j, where(forall(l, A(i,l) += t1 * E(j,l)), "
            "forall(k, t1 += B(i,j) * C(i,k) * D(j,k)))))");
  EXPECT_EQ(applied(order + ", fuse=7)", k1), applied(order + ")", k1));
  EXPECT_EQ(applied(order + ", fuse=1)", k1),
            "forall(i, where(forall(j, forall(l, A(i,l) += t1(j) * E(j,l))), "
            "forall(j, forall(k, t1(j) += B(i,j) * C(i,k) * D(j,k)))))");
  EXPECT_EQ(applied(order + ", fuse=0)", k1),
            "where(forall(i, forall(j, forall(l, A(i,l) += t1(i,j) * E(j,l)))), "
            "forall(i, forall(j, forall(k, t1(i,j) += B(i,j) * C(i,k) * D(j,k)))))");
}

TEST(LoopFuse, ASideMayBeLeftWithoutLoops) {
  EXPECT_EQ(applied("loopfuse(path={}, loc=1, pol=left)", problem_of("y(i) = B(i,j) * x(j)", {{"B", "csr"}})),
            "forall(i, forall(j, where(y(i) += t1 * x(j), t1 += B(i,j))))");
}

// The dense accesses to E are the same one: a copy of E for the sum would be read outside of it as well.
TEST(DefaultNest, ACopyForOneNestKeepsTheOrdersOfOthers) {
  const auto problem =
      problem_of("A(l,i) = B(i,l,n) * C(i,n) * (E(n,l) - sum(j)(D(j,l,n) * C(j,l) * E(n,l)))",
                 {{"B", "coo:2,1,0"}, {"C", "dcsr"}, {"D", "compressed,dense,dense:2,1,0"}, {"E", "dcsc"}});
  EXPECT_EQ(print(default_trace(problem)), "store(tensor=B, order={0,1,2}); store(tensor=D, order={0,1,2})");
  const auto nests = nests_of(default_nest(problem_of(default_trace(problem), problem).value())).value();
  for (const Nest& nest : nests) EXPECT_EQ(nest.loops.back(), "n");
}

// Both sums depend on j, which stands inside of l where they are read, and not on l.
TEST(Nests, OfADefaultNestShareWhatATreeAllows) {
  const auto problem = problem_of("A(l,i) = exp(sum(k)(B(k,j) * D(i,k))) * E(l,j) * relu(sum(k)(H(i,j,k)))",
                                  {{"D", "csc"}, {"E", "csr"}, {"H", "dense,compressed,compressed:1,2,0"}});
  const auto nests = nests_of(default_nest(problem)).value();
  ASSERT_EQ(nests.size(), 3U);
  EXPECT_EQ(nests[0].loops.front(), "j");
  EXPECT_EQ(nests[1].loops.front(), "j");
  EXPECT_EQ(nests[2].loops.front(), "l");
  EXPECT_EQ(nests[0].shared, 0U);
  const auto tree = tree_of(nests);
  EXPECT_TRUE(tree.ok()) << support::render(tree.error());
}

TEST(LoopFuse, TwoProducersMeetInOneConsumer) {
  const auto k4 = problem::build(test_support::paper_kernel("K4").text).value();
  EXPECT_EQ(
      applied("loopfuse(path={}, loc=2, pol=left, fuse=0); loopfuse(path={1}, loc=1, pol=right, fuse=0)", k4),
      "where(where(forall(i, forall(l, forall(k, A(i,l) += t1(i,k) * t2(l,k)))), "
      "forall(l, forall(k, t2(l,k) += D(k,l)))), "
      "forall(i, forall(j, forall(k, t1(i,k) += B(i,j) * C(j,k)))))");
}

TEST(LoopFuse, TemporariesAvoidTheProblemsNames) {
  EXPECT_EQ(applied("loopfuse(path={}, loc=1, pol=left)", problem_of("t1(i) = t2(i,j) * x(j)", {})),
            "forall(i, forall(j, where(t1(i) += t3 * x(j), t3 += t2(i,j))))");
}

TEST(Share, MovesABranchInwardsAndOutwards) {
  const auto problem = problem_of("A(i,l) = B(i,j) * C(j,k) * D(k,l)", {{"B", "csr"}});
  const std::string separate = "loopfuse(path={}, loc=2, pol=left, fuse=0)";
  const std::string fused =
      "forall(i, where(forall(l, forall(k, A(i,l) += t1(k) * D(k,l))), forall(j, forall(k, t1(k) += B(i,j) * "
      "C(j,k)))))";
  EXPECT_EQ(applied(separate + "; share(nest=0, loops={i})", problem), fused);
  EXPECT_EQ(
      applied("loopfuse(path={}, loc=2, pol=left); share(nest=0, loops={})", problem),
      "where(forall(i, forall(l, forall(k, A(i,l) += t1(i,k) * D(k,l)))), forall(i, forall(j, forall(k, "
      "t1(i,k) += B(i,j) * C(j,k)))))");
}

TEST(Share, NamesTheLoopsInTheirNewOrder) {
  const auto problem = problem_of("A(i,l) = B(i,j) * C(j,k) * D(k,l)", {});
  EXPECT_EQ(
      applied("loopfuse(path={}, loc=2, pol=left, fuse=0); share(nest=0, loops={k,i})", problem),
      "forall(k, forall(i, where(forall(l, A(i,l) += t1 * D(k,l)), forall(j, t1 += B(i,j) * C(j,k)))))");
}

TEST(Share, ThreeNestsInOneTrie) {
  const auto problem = problem_of("A(i,m) = B(i,j) * C(j,k) * D(k,l) * E(l,m)", {});
  const std::string chain =
      "loopfuse(path={}, loc=3, pol=left, fuse=0); loopfuse(path={0}, loc=2, pol=left, fuse=0)";
  EXPECT_EQ(
      applied(chain + "; share(nest=0, loops={i,k}); share(nest=1, loops={i})", problem),
      "forall(i, where(forall(m, forall(l, A(i,m) += t1(l) * E(l,m))), forall(k, where(forall(l, t1(l) += t2 "
      "* D(k,l)), forall(j, t2 += B(i,j) * C(j,k))))))");
}

TEST(Sequence, RunsNestsInAnotherOrder) {
  const auto problem = problem_of("A(i,m) = B(i,j) * C(j,k) * D(k,l) * E(l,m)", {});
  const std::string pairs =
      "loopfuse(path={}, loc=2, pol=left, fuse=0); loopfuse(path={1}, loc=1, pol=right, fuse=0)";
  EXPECT_EQ(
      applied(pairs + "; sequence(order={1,0,2}); share(nest=1, loops={i})", problem),
      "where(forall(i, where(forall(m, forall(k, A(i,m) += t1(k) * t2(m,k))), forall(j, forall(k, t1(k) += "
      "B(i,j) * C(j,k))))), forall(m, forall(k, forall(l, t2(m,k) += D(k,l) * E(l,m)))))");
}

TEST(DefaultNest, AReductionInsideAnExpressionBecomesABranch) {
  EXPECT_EQ(applied("linear", problem_of("Y(i) = max(j)(B(i,j)) / c(i)", {{"B", "csr"}})),
            "forall(i, where(Y(i) += t1 / c(i), forall(j, t1 max= B(i,j))))");
  EXPECT_EQ(applied("linear", problem_of("Y(i) = max(j)(B(i,j))", {})),
            "forall(i, forall(j, Y(i) max= B(i,j)))");
  EXPECT_EQ(applied("linear", problem_of("y(i) = b(i) + A(i,j) * x(j)", {{"A", "csr"}})),
            "forall(i, where(y(i) += b(i) + t1, forall(j, t1 += A(i,j) * x(j))))");
  EXPECT_EQ(applied("linear", problem_of("s = sum(i)(x(i)) / 2", {})),
            "where(s += t1 / 2, forall(i, t1 += x(i)))");
}

TEST(DefaultNest, ABranchStandsWhereItsReductionIsNeeded) {
  const std::string divided = "A(i,j) = B(i,j) / sum(k)(C(i,k) * D(k,j))";
  EXPECT_EQ(applied("linear", problem_of(divided, {{"B", "csr"}})),
            "forall(i, forall(j, where(A(i,j) += B(i,j) / t1, forall(k, t1 += C(i,k) * D(k,j)))))");
  EXPECT_EQ(applied("linear", problem_of("Y(i,j) = b(i,j) * max(k)(C(j,k))", {})),
            "where(forall(i, forall(j, Y(i,j) += b(i,j) * t1(j))), forall(j, forall(k, t1(j) max= C(j,k))))");
  EXPECT_EQ(applied("linear", problem_of("Y(i,j) = b(i,j) * max(k)(C(j,k))", {{"b", "csr"}})),
            "forall(i, forall(j, where(Y(i,j) += b(i,j) * t1, forall(k, t1 max= C(j,k)))))");
  EXPECT_EQ(applied("linear", problem_of(divided, {{"D", "csr"}})),
            "forall(i, where(forall(j, A(i,j) += B(i,j) / t1(j)), forall(k, forall(j, t1(j) += C(i,k) * "
            "D(k,j)))))");
}

TEST(DefaultNest, EqualReductionsAreComputedOnce) {
  EXPECT_EQ(applied("linear", problem_of("y(i) = x(i) / sum(j)(x(j)) + sum(j)(x(j))", {})),
            "where(forall(i, y(i) += x(i) / t1 + t1), forall(j, t1 += x(j)))");
}

TEST(DefaultNest, StatementsComeBeforeWhatReadsThem) {
  EXPECT_EQ(
      applied("linear", problem_of("T(i,k) = B(i,j) * C(j,k); A(i,l) = T(i,k) * D(k,l)", {{"B", "csr"}})),
      "where(forall(i, forall(l, forall(k, A(i,l) += T(i,k) * D(k,l)))), "
      "forall(i, forall(k, forall(j, T(i,k) += B(i,j) * C(j,k)))))");
  EXPECT_EQ(applied("linear", problem_of("y(i) max= sum(j)(A(i,j) * x(j))", {})),
            "forall(i, where(y(i) max= t1, forall(j, t1 += A(i,j) * x(j))))");
}

TEST(DefaultNest, SemiringsFoldWithTheirSum) {
  EXPECT_EQ(applied("linear", problem_of("min-plus: D(i,k) = B(i,j) * C(j,k)", {{"B", "csr"}})),
            "forall(i, forall(k, forall(j, D(i,k) min= B(i,j) * C(j,k))))");
}

TEST(OrderedAppends, ARowOfASparseProductIsGatheredFirst) {
  const std::string product = "A(i,j) = B(i,k) * C(k,j)";
  EXPECT_EQ(applied("linear", problem_of(product, {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}})),
            "forall(i, where(forall(j, A(i,j) += t1(j)), forall(k, forall(j, t1(j) += B(i,k) * C(k,j)))))");
  EXPECT_EQ(applied("linear", problem_of(product, {{"A", "csc"}, {"B", "csc"}, {"C", "csc"}})),
            "forall(j, where(forall(i, A(i,j) += t1(i)), forall(k, forall(i, t1(i) += B(i,k) * C(k,j)))))");
  EXPECT_EQ(applied("linear", problem_of("a(i) = B(j,i) * c(j)", {{"a", "compressed"}, {"B", "csr"}})),
            "where(forall(i, a(i) += t1(i)), forall(j, forall(i, t1(i) += B(j,i) * c(j))))");
}

TEST(OrderedAppends, AppendsDirectlyInOrder) {
  EXPECT_EQ(applied("linear", problem_of("A(i,j) = B(i,j) * C(i,k) * D(k,j)", {{"A", "csr"}, {"B", "csr"}})),
            "forall(i, forall(j, forall(k, A(i,j) += B(i,j) * C(i,k) * D(k,j))))");
  EXPECT_EQ(
      applied("linear", problem_of("A(i,j) = B(i,j) + C(i,j)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}})),
      "forall(i, forall(j, A(i,j) += B(i,j) + C(i,j)))");
}

TEST(LoopFuse, OnlyProductsAreSplit) {
  const auto quotient = problem_of("A(i,j) = B(i,j) / C(i,j)", {});
  EXPECT_EQ(
      applied("loopfuse(path={}, loc=1, pol=left)", quotient),
      "invalid [illegal-directive]: the section computes `B(i,j) / C(i,j)`, which is no product of tensors: "
      "it has no factors\n"
      "  --> schedule:1:1\n"
      "  | loopfuse(path={}, loc=1, pol=left)\n"
      "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(applied("reorder(path={}, order={j,i})", quotient),
            "forall(j, forall(i, A(i,j) += B(i,j) / C(i,j)))");
}

}  // namespace
}  // namespace schaas::schedule
