#include "compiler/cost/cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "compiler/cost/access.h"
#include "compiler/cost/leaf_nests.h"
#include "compiler/cost/memory_terms.h"
#include "compiler/cost/tie_order.h"
#include "compiler/schedule/replay/apply.h"
#include "tests/support/problem_of.h"

// Costs of loop trees: weighted time, memory by scope, serial phases, clearing, intersections of sparse
// lists. Trees are replayed from traces; expected formulas follow docs/cost_model.md and are compared as
// text. So a changed weight or rule shows as a changed term. Leaf nests, which the model at real sizes needs,
// are printed with the loops that move each access. tests/property/several_sparse_test.cc compares costs with
// counted iterations.
namespace schaas::cost {
namespace {

using test_support::problem_of;

Cost cost_of(const problem::Problem& problem, const std::string& trace) {
  return of(schedule::apply(schedule::parse(trace).value(), problem).value(), problem);
}

const std::string k1 = "A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)";

TEST(Variables, ExtentsComeInIndexOrderAndFibersPerCompressedLevel) {
  const auto v =
      variables_of(problem_of("A(l,i) = B(i,j,k) * C(j,l) * D(k,l)", {{"B", "dense,compressed,compressed"}}));
  ASSERT_EQ(v.extents.size(), 4U);
  EXPECT_EQ(v.extents[0].index, "l");
  EXPECT_EQ(v.extents[1].index, "i");
  ASSERT_EQ(v.fibers.size(), 2U);
  EXPECT_EQ(v.fibers[0].index, "j");
  EXPECT_EQ(v.fibers[0].tensor, "B");
  EXPECT_EQ(v.fibers[0].level, 1);
  EXPECT_EQ(v.fibers[1].index, "k");
  EXPECT_EQ(&v.at(Variables::first_fiber + 1), &v.fibers[1]);
}

TEST(Variables, TheOutermostCompressedLevelIsAFiberExceptUnderThePapersProfile) {
  EXPECT_EQ(variables_of(problem_of("A(i,k) = B(i,j) * C(j,k)", {{"B", "dcsr"}})).fibers.size(), 2U);
  EXPECT_EQ(variables_of(problem_of("A(i,k) = B(i,j) * C(j,k)", {{"B", "dcsr"}}, "sparseauto")).fibers.size(),
            1U);
}

TEST(Variables, OneTensorReadUnderOtherIndicesHasItsOwnFiber) {
  const auto v = variables_of(problem_of("A(i,k) = B(i,j) * B(j,k)", {{"B", "csr"}}));
  ASSERT_EQ(v.fibers.size(), 2U);
  EXPECT_EQ(v.fibers[0].index, "j");
  EXPECT_EQ(v.fibers[1].index, "k");
}

// Issue 38: the search of such sums ended with an internal error.
TEST(Variables, LevelsOfCopiesBeyondTheBitsOfATermHaveNone) {
  const auto problem = problem_of(
      "A(i,j,k) = B(i,j,k) + C(i,j,k) + D(i,k,j) + E(i,k,j) + F(j,i,k) + G(j,i,k) + H(j,k,i) + K(k,i,j) + "
      "L(k,j,i)",
      {{"B", "csf"},
       {"C", "csf"},
       {"D", "csf"},
       {"E", "csf"},
       {"F", "csf"},
       {"G", "csf"},
       {"H", "csf"},
       {"K", "csf"},
       {"L", "csf"}});
  EXPECT_EQ(variables_of(problem).fibers.size(),
            static_cast<std::size_t>(access_shift) - Variables::first_fiber);
  EXPECT_FALSE(variables_of(problem).all_intersections);
}

TEST(TreeCost, FusedNestOfKernelOne) {
  const auto problem = problem_of(k1, {{"B", "csr"}});
  const auto cost = cost_of(problem, "reorder(path={}, order={i,j,k,l}); loopfuse(path={}, loc=3, pol=left)");
  const auto v = variables_of(problem);
  EXPECT_EQ(print_time(cost, v), "i*j'*k + 3*i*l*j'");
  EXPECT_EQ(print_memory(cost, v), "1");
  EXPECT_EQ(loop_depth(cost), 3);
  EXPECT_EQ(memory_depth(cost), 0);
}

TEST(Intersections, CountMatchesInsideAndStepsForEveryIterationAround) {
  const auto problem = problem_of("y(i) = B(i,j) * x(j)", {{"B", "csr"}, {"x", "compressed"}});
  const auto v = variables_of(problem);
  EXPECT_EQ(print_time(cost_of(problem, "linear"), v), "6*i*j'B&x + merge(i*j'B|x)");
  EXPECT_EQ(print_time(cost_of(problem, "loopfuse(path={}, loc=1, pol=right)"), v),
            "6*i*j'B + 6*j'x + clear(j)");
}

TEST(Intersections, DependOnTheOrderOfLoops) {
  const auto problem = problem_of("A(i,k) = B(i,j) * C(i,j) * D(j,k)", {{"B", "csr"}, {"C", "csr"}});
  const auto v = variables_of(problem);
  EXPECT_EQ(print_time(cost_of(problem, "reorder(path={}, order={i,j,k})"), v), "i*k*j'B&C + merge(i*j'B|C)");
  EXPECT_EQ(print_time(cost_of(problem, "reorder(path={}, order={i,k,j})"), v),
            "8*i*k*j'B&C + merge(i*k*j'B|C)");
}

TEST(Intersections, OfThreeListsHaveASetForEachTwoAndForAll) {
  const auto v = variables_of(
      problem_of("s = x(i) * y(i) * z(i)", {{"x", "compressed"}, {"y", "compressed"}, {"z", "compressed"}}));
  ASSERT_EQ(v.intersections.size(), 4U);
  EXPECT_TRUE(v.all_intersections);
  EXPECT_EQ(v.fibers.size(), 3U + 2U * 4U);
  EXPECT_EQ(v.name(Variables::first_fiber + 9), "i'x&y&z");
  EXPECT_EQ(v.name(Variables::first_fiber + 10), "i'x|y|z");
}

TEST(Intersections, LeaveOutLevelsThatAreLocated) {
  const auto problem = problem_of("y(i) = B(i,j) * x(j)", {{"B", "csr"}, {"x", "bitmap"}});
  EXPECT_EQ(print_time(cost_of(problem, "linear"), variables_of(problem)), "6*i*j'B");
  const auto dense = problem_of("y(i) = x(j) * B(i,j)", {{"B", "csr"}, {"x", "bitmap"}});
  EXPECT_EQ(print_time(cost_of(dense, "linear"), variables_of(dense)), "6*i*j'B");
}

TEST(Intersections, TellAccessesOfOneTensorApart) {
  const auto problem = problem_of("A(i,k) = B(i,j) * B(k,j)", {{"B", "csr"}});
  const auto v = variables_of(problem);
  EXPECT_EQ(print_time(cost_of(problem, "reorder(path={}, order={i,k,j})"), v),
            "6*i*k*j'B[i]&B[k] + merge(i*k*j'B[i]|B[k])");
}

TEST(Intersections, AreUnknownToThePapersProfile) {
  const auto problem = problem_of("y(i) = B(i,j) * C(i,j)", {{"B", "csr"}, {"C", "csr"}}, "sparseauto");
  EXPECT_TRUE(variables_of(problem).intersections.empty());
}

std::string print_loops(const LeafNest& nest, std::uint32_t loops) {
  std::string text;
  for (std::size_t n = 0; n < nest.loops.size(); ++n) {
    if ((loops >> n & 1U) != 0) text += nest.loops[n].index;
  }
  return text;
}

/// "i:48 i' j'(i) k 2 | t(k:k) B(ij:j) ..." : loops, those shared with the nest before; accesses with the
/// loops that move them, and to the next element.
std::string print_nest(const LeafNest& nest) {
  std::string text;
  for (const NestLoop& loop : nest.loops) {
    text += loop.index;
    if (loop.block != 0) text += (loop.inside ? "<" : ":") + std::to_string(loop.block);
    if (loop.trips >= Term{1} << Variables::first_fiber) text += "'(" + print_loops(nest, loop.under) + ")";
    text += " ";
  }
  text += std::to_string(nest.shared) + (nest.serial ? " serial" : "") + " |";
  for (const NestAccess& access : nest.accesses)
    text += " " + access.tensor + "(" + print_loops(nest, access.loops) + ":" +
            print_loops(nest, access.unit) + (access.sparse ? " sparse)" : ")");
  return text + " " + std::to_string(weight(nest.access));
}

/// Each term of a sum is a nest; what is appended from a list is none.
TEST(LeafNests, TermsOfASumAreNests) {
  const auto problem = problem_of("A(i,j) = B(i,j) + C(i,j)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}});
  const auto nests_of = [&](const std::string& trace) {
    return leaf_nests(schedule::apply(schedule::parse(trace).value(), problem).value(), problem).size();
  };
  EXPECT_EQ(nests_of("linear"), 1U);
  EXPECT_EQ(nests_of("distribute(path={}, depth=1)"), 2U);
}

TEST(LeafNests, LoopsOfAWindowMoveItsOperandTogether) {
  const auto problem = problem_of("A(i) = B(i+k-1) * w(k)", {});
  const auto trace = schedule::parse("reorder(path={}, order={i,k,B_mode1})").value();
  const auto nests = leaf_nests(schedule::apply(trace, problem).value(), problem);
  ASSERT_EQ(nests.size(), 1U);
  ASSERT_EQ(nests[0].loops.size(), 2U);
  const auto at = [&](const std::string& tensor) {
    return *std::find_if(nests[0].accesses.begin(), nests[0].accesses.end(),
                         [&](const NestAccess& each) { return each.tensor == tensor; });
  };
  EXPECT_EQ(at("B").loops, 3U);
  EXPECT_EQ(at("B").unit, 3U);
  EXPECT_EQ(at("B").sums, std::vector<std::uint32_t>{3});
  EXPECT_EQ(at("w").loops, 2U);
  EXPECT_TRUE(at("w").sums.empty());
}

TEST(LeafNests, SayWhatEachLoopMoves) {
  const auto problem = problem_of("A(i,l) = B(i,j) * C(j,k) * D(k,l)", {{"B", "csr"}});
  const auto nests = [&](const std::string& trace) {
    return leaf_nests(schedule::apply(schedule::parse(trace).value(), problem).value(), problem);
  };
  const std::string fused = "reorder(path={}, order={i,j,k,l}); loopfuse(path={}, loc=2, pol=left)";
  auto found = nests(fused);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(print_nest(found[0]), "i j'(i) k 0 | t1(k:k) B(ij:j sparse) C(jk:k) 1");
  EXPECT_EQ(print_nest(found[1]), "i k l 1 | A(il:l) t1(k:k) D(kl:l) 1");
  found = nests(fused + "; block(path={}, size=48)");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(print_nest(found[0]), "i:48 i<48 j'(ii) k 0 | t1(ik:k) B(iij:j sparse) C(jk:k) 1");
  EXPECT_EQ(print_nest(found[1]), "i:48 i<48 k l 1 | A(iil:l) t1(ik:k) D(kl:l) 1");
  found = nests("reorder(path={}, order={k,l,i,j}); loopfuse(path={}, loc=2, pol=left, fuse=0)");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(print_nest(found[0]), "k i j'(i) 0 | t1(ki:i) B(ij:j sparse) C(kj:k) 8");
  EXPECT_EQ(print_nest(found[1]), "k l i 0 serial | A(li:l) t1(ki:i) D(kl:l) 8");
}

TEST(LeafNests, ASumOverABlockNextToTheRowOfTheResultKeepsIt) {
  const auto problem = problem_of("A(i,l,m) = B(i,j,k) * C(j,l) * D(k,m)", {{"B", "csf"}});
  const std::string rows =
      "permute(path={}, factors={1,0,2}); reorder(path={}, order={i,j,k,l,m}); "
      "loopfuse(path={}, loc=1, pol=right)";
  const auto nests = [&](const std::string& trace) {
    return leaf_nests(schedule::apply(schedule::parse(trace).value(), problem).value(), problem);
  };
  const auto added = nests(rows + "; block(path={}, size=32)");
  ASSERT_EQ(added.size(), 2U);
  EXPECT_EQ(print_nest(added[1]), "i'() j:32'(i) j<32 l m 2 | A(ilm:m) C(jjl:l) t1(jm:m) 2");
  const auto kept = nests(rows + "; block(path={}, size=32); reorder(path={1}, order={l,j,m})");
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(print_nest(kept[0]), "i'() j:32'(i) j<32'(i) k'(ijj) m 0 | t1(jm:m) B(ijjk:k sparse) D(km:m) 1");
  EXPECT_EQ(print_nest(kept[1]), "i'() j:32'(i) l j<32 m 2 | A(ilm:m) C(jlj:l) t1(jm:m) 1");
}

TEST(TreeCost, ALoopThatAnEquationDeterminesHasOneTrip) {
  const auto problem = problem_of("A(i) = B(i+k-1) * w(k)", {});
  EXPECT_EQ(print_time(cost_of(problem, "reorder(path={}, order={i,k,B_mode1})"), variables_of(problem)),
            "i*k");
  EXPECT_EQ(print_time(cost_of(problem, "reorder(path={}, order={i,B_mode1,k})"), variables_of(problem)),
            "i*B_mode1");
  // A sparse operand is walked; what is left to determine is a place in the result.
  const auto sparse = problem_of("A(i) = w(k) * B(i-k)", {{"B", "compressed"}});
  EXPECT_EQ(print_time(cost_of(sparse, "reorder(path={}, order={i,k,B_mode1})"), variables_of(sparse)),
            "i*k*B_mode1'");
  EXPECT_EQ(print_time(cost_of(sparse, "reorder(path={}, order={B_mode1,k,i})"), variables_of(sparse)),
            "serial(2*k*B_mode1')");
}

TEST(TreeCost, AConsumerWithoutTheSparseOperandCountsTheWholeExtent) {
  const auto problem = problem_of(k1, {{"B", "csr"}}, "sparseauto");
  const auto cost = cost_of(problem, "reorder(path={}, order={i,k,j,l}); loopfuse(path={}, loc=3, pol=left)");
  const auto v = variables_of(problem);
  EXPECT_EQ(print_time(cost, v), "i*l*j + i*j'*k");
  EXPECT_EQ(print_memory(cost, v), "j");
  EXPECT_EQ(memory_depth(cost), 1);
}

TEST(TreeCost, SeparateNestsStoreTheWholeTemporary) {
  const auto problem = problem_of("A(i,l) = B(i,j) * C(j,k) * D(k,l)", {{"B", "csr"}}, "sparseauto");
  const auto cost = cost_of(problem, "loopfuse(path={}, loc=1, pol=right, fuse=0)");
  const auto v = variables_of(problem);
  EXPECT_EQ(print_time(cost, v), "l*j*k + i*l*j'");
  EXPECT_EQ(print_memory(cost, v), "l*j");
}

/// Prints "thread(8*k) + shared(j*k)".
std::string print_scopes(const std::vector<MemoryTerm>& terms, const Variables& variables) {
  static constexpr const char* names[] = {"thread", "shared", "operand"};
  std::string text;
  for (const MemoryTerm& term : terms)
    text += (text.empty() ? "" : " + ") + std::string(names[static_cast<int>(term.scope)]) + "(" +
            print_memory(std::vector{term}, variables) + ")";
  return text;
}

TEST(TreeCost, TellsTheTemporariesOfAThreadFromSharedOnes) {
  const auto problem = problem_of("A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,m) * F(m,l)", {{"B", "csr"}});
  const auto v = variables_of(problem);
  const auto scopes = [&](const std::string& trace) {
    return print_scopes(
        memory_terms(schedule::apply(schedule::parse(trace).value(), problem).value(), problem), v);
  };
  EXPECT_EQ(scopes("permute(path={}, factors={1,2,0,3,4}); reorder(path={}, order={i,j,m,l,k}); "
                   "loopfuse(path={}, loc=3, pol=right); reorder(path={1}, order={i,l,j,k}); "
                   "loopfuse(path={1}, loc=2, pol=left); reorder(path={1,1}, order={j,l})"),
            "thread(j) + shared(l*j)");
  EXPECT_EQ(scopes("reorder(path={}, order={i,j,k,m,l}); loopfuse(path={}, loc=4, pol=left); "
                   "loopfuse(path={0}, loc=3, pol=left)"),
            "thread(1) + thread(m)");
}

TEST(TreeCost, CountsTheElementsOfOneBlock) {
  const auto problem = problem_of(k1, {{"B", "csr"}});
  const auto v = variables_of(problem);
  const std::string fused = "reorder(path={}, order={i,j,k,l}); loopfuse(path={}, loc=3, pol=left); ";
  const auto tree =
      schedule::apply(schedule::parse(fused + "block(path={}, size=8)").value(), problem).value();
  EXPECT_EQ(print_scopes(memory_terms(tree, problem), v), "thread(8)");
}

TEST(TreeCost, TheInnermostLoopDecidesTheAccessClass) {
  const auto problem = problem_of("A(i,k) = B(i,j) * C(j,k)", {{"B", "csr"}});
  const auto v = variables_of(problem);
  EXPECT_EQ(print_time(cost_of(problem, "reorder(path={}, order={i,j,k})"), v), "i*k*j'");
  EXPECT_EQ(print_time(cost_of(problem, "reorder(path={}, order={i,k,j})"), v), "8*i*k*j'");
  const auto transposed = problem_of("A(i,k) = B(i,j) * C(j,k)", {{"B", "csr"}, {"C", "dense,dense:1,0"}});
  EXPECT_EQ(print_time(cost_of(transposed, "reorder(path={}, order={i,k,j})"), v), "6*i*k*j'");
  EXPECT_EQ(print_time(cost_of(transposed, "reorder(path={}, order={i,j,k})"), v), "8*i*k*j'");
}

// Issue 38: such leaves were taken to be vector code whatever the order of the loops.
TEST(TreeCost, TermsThatShareAllLoopsStoreByTheInnermostOne) {
  const auto problem = problem_of("A(k,m) = max(l)(exp(B(l)) * 2) + C(k,m) * D(k)", {});
  const auto v = variables_of(problem);
  const std::string first = "distribute(path={1}, depth=2)";
  const auto by_rows = print_time(cost_of(problem, first), v);
  EXPECT_EQ(by_rows, "2*k*m + 3*k*m + serial(l + 48*l)");
  const auto by_columns = print_time(cost_of(problem, "reorder(path={1}, order={m,k}); " + first), v);
  EXPECT_EQ(by_columns, "8*k*m + 8*k*m + serial(l + 48*l)");
}

// Issue 38: lists that bound no loop were walked for nothing.
TEST(TreeCost, ListsBesideThoseThatBoundALoopAreMerged) {
  const auto time = [](const std::string& expression, const std::string& format) {
    const auto problem = problem_of(expression, {{"B", "csr"}, {"C", format}});
    return print_time(cost_of(problem, "linear"), variables_of(problem));
  };
  const std::string condition = "A(i,j) = B(i,j) * where(C(i,j) > 1, F(i), G(i))";
  EXPECT_EQ(time(condition, "csr"), "6*i*j'B + merge(i*j'B|C)");
  EXPECT_EQ(time(condition + " + D(i,j)", "csr"), "6*i*j");
  // Located, and walked by no loop.
  EXPECT_EQ(time(condition, "dense,bitmap"), "6*i*j'B");
  EXPECT_EQ(time(condition, "dense"), "6*i*j'");
}

// Issue 38: the diagonal of a csr matrix counted the mean length of its rows.
TEST(TreeCost, LevelsWhoseIndexIsKnownAboveAreNotWalked) {
  const auto time = [](const std::string& expression, const std::map<std::string, std::string>& formats) {
    const auto problem = problem_of(expression, formats);
    return print_time(cost_of(problem, "linear"), variables_of(problem));
  };
  EXPECT_EQ(time("A(i,k) = B(i,i) * C(i,k)", {{"B", "csr"}}), "3*i*k");
  EXPECT_EQ(time("A(i,k) = B(i,i) * C(i,k)", {{"B", "dcsr"}}), "3*i'B*k");
  EXPECT_EQ(time("y(i) = B(i,i) * x(i)", {{"B", "csr"}, {"x", "compressed"}}), "6*i'x");
  EXPECT_EQ(time("A(i,k) = D(i,i) + B(i,j) * C(j,k)", {{"B", "csr"}, {"D", "csr"}}), "2*i*k + 8*i*k*j'");
}

TEST(TreeCost, AScalarProblemIsOneTrip) {
  const auto problem = problem_of("a = b * c", {});
  const auto cost = cost_of(problem, "linear");
  EXPECT_EQ(cost.time, std::vector<Term>{0});
  EXPECT_EQ(print_time(cost, variables_of(problem)), "1");
  EXPECT_EQ(print_memory(cost, variables_of(problem)), "0");
}

TEST(Access, ALevelTouchesMemoryByItsPlaceInStorage) {
  const auto csr = format::parse("csr", 2, "B").value();
  const auto column_major = format::parse("dense,dense:1,0", 2, "C").value();
  EXPECT_EQ(touch({"i", "j"}, csr, "j"), Touch::walked);
  EXPECT_EQ(touch({"i", "j"}, csr, "i"), Touch::jumping);
  EXPECT_EQ(touch({"i", "j"}, csr, "k"), Touch::absent);
  EXPECT_EQ(touch({"i", "j"}, column_major, "i"), Touch::adjacent);
  EXPECT_EQ(touch({"i", "j"}, column_major, "j"), Touch::jumping);
}

Access access(const std::vector<Touch>& operands, Touch target) {
  std::vector<Seen> seen;
  for (Touch one : operands) seen.push_back({one, 0});
  return leaf_access(seen, {target, 0}, {});
}

TEST(Access, TheWorstAccessOfALeafCounts) {
  using enum Touch;
  EXPECT_EQ(access({walked, absent}, absent), Access::contiguous);
  EXPECT_EQ(access({walked, adjacent}, absent), Access::gathered);
  EXPECT_EQ(access({walked, absent}, adjacent), Access::gathered);
  EXPECT_EQ(access({walked, walked}, absent), Access::gathered);
  EXPECT_EQ(access({walked, jumping}, absent), Access::strided);
  EXPECT_EQ(access({adjacent}, jumping), Access::strided);
  EXPECT_EQ(access({absent}, walked), Access::contiguous);
}

// Loops x (bit 0) around the innermost y (bit 1).
TEST(Access, RowsThatComeAndGoWithTheLoopAroundCount) {
  const Seen moving{Touch::adjacent, 3};
  const Seen kept{Touch::adjacent, 2};
  const auto around = [&](const std::vector<Seen>& operands, const Seen& target) {
    return leaf_access(operands, target, {0, false});
  };
  EXPECT_EQ(around({moving}, kept), Access::contiguous);  // the target's row stays in registers
  EXPECT_EQ(around({kept}, kept), Access::contiguous);
  EXPECT_EQ(around({moving, moving}, kept), Access::two_rows);
  EXPECT_EQ(around({moving, kept, kept}, kept), Access::contiguous);
  EXPECT_EQ(around({moving, moving}, {Touch::absent, 1}), Access::two_rows);  // a dot product
  EXPECT_EQ(around({moving, moving, moving}, kept), Access::three_rows);
  EXPECT_EQ(around({kept}, moving), Access::two_rows);  // read and written
  EXPECT_EQ(around({moving}, moving), Access::three_rows);
  EXPECT_EQ(around({moving, moving}, moving), Access::three_rows);
}

TEST(Access, RowsDoNotStayInRegistersOverAPhaseOrABranch) {
  const std::vector<Seen> operands = {{Touch::adjacent, 3}};
  const Seen row{Touch::adjacent, 2};
  EXPECT_EQ(leaf_access(operands, row, {0, true}), Access::three_rows);
  EXPECT_EQ(leaf_access(operands, row, {}), Access::three_rows);
  // Below a branch one row of the operands counts, however many there are.
  EXPECT_EQ(leaf_access(std::vector<Seen>(3, row), {Touch::absent, 0}, {}), Access::contiguous);
}

TEST(Serial, APhaseWhoseOutermostLoopIsNotOfItsResultRunsOnOneThread) {
  const auto problem = problem_of("A(j,k) = B(i,j) * C(i,k)", {{"B", "csr"}});
  const auto v = variables_of(problem);
  const auto rows = cost_of(problem, "reorder(path={}, order={i,j,k})");
  EXPECT_EQ(print_time(rows, v), "serial(2*j'*k*i)");
  EXPECT_EQ(print_time(cost_of(problem, "reorder(path={}, order={k,i,j})"), v), "8*j'*k*i");
  EXPECT_EQ(serial_terms(rows.time).size(), 1U);
}

TEST(Serial, OnlyThePhaseItselfIsSerial) {
  const auto problem = problem_of("A(j,l) = B(i,j) * C(i,k) * D(k,l)", {{"B", "csr"}});
  const auto v = variables_of(problem);
  const auto cost = cost_of(problem, "loopfuse(path={}, loc=2, pol=left, fuse=0)");
  EXPECT_EQ(print_time(cost, v), "8*j*l*k + clear(j*k) + serial(2*j'*i*k)");
  EXPECT_EQ(print_memory(cost, v), "j*k");
  Point point(Variables::first_fiber + 1, 2);
  EXPECT_EQ(evaluate_time(cost, point), 8 * 8 + 4 + 2 * 8);
  EXPECT_EQ(evaluate_serial(cost, point), 2 * 8);
}

TEST(Clearing, IsChargedWhereTheProducerCannotWriteEveryElement) {
  const std::string text = "A(i,l) = B(i,j) * C(j,k) * D(k,l)";
  const std::string trace = "reorder(path={}, order={i,j,k,l}); loopfuse(path={}, loc=2, pol=left)";
  const auto dense = problem_of(text, {{"B", "csr"}});
  EXPECT_EQ(print_time(cost_of(dense, trace), variables_of(dense)), "i*l*k + i*j'*k");
  const auto sparse = problem_of(text, {{"B", "csr"}, {"C", "csr"}});
  EXPECT_EQ(print_time(cost_of(sparse, trace), variables_of(sparse)), "i*l*k + 6*i*j'*k' + clear(i*k')");
  const auto papers = problem_of(text, {{"B", "csr"}, {"C", "csr"}}, "sparseauto");
  EXPECT_EQ(print_time(cost_of(papers, trace), variables_of(papers)), "i*l*k + i*j'*k'");
}

TEST(Functions, CallsKnownBeforeALoopAreComputedBeforeIt) {
  const auto time = [](const std::string& text, const std::string& trace) {
    const auto problem = problem_of(text, {{"B", "csr"}});
    return print_time(cost_of(problem, trace), variables_of(problem));
  };
  EXPECT_EQ(time("A(i,j) = B(i,j) * exp(s(i))", "linear"), "6*i*j' + 48*i");
  EXPECT_EQ(time("A(i,j) = B(i,j) * exp(C(i,j))", "linear"), "6*i*j' + 48*i*j'");
  const std::string rows = "reorder(path={}, order={i,j,k})";
  EXPECT_EQ(time("A(i,k) = B(i,j) * C(j,k) * exp(s(i)) * log(u(j))", rows),
            time("A(i,k) = B(i,j) * C(j,k) * abs(s(i)) * abs(u(j))", rows) + " + 48*i + 48*i*j'");
}

TEST(TreeCost, StepsOfUnitedListsAreComparedWithUpToThreeOthers) {
  const auto time = [](const std::string& text, std::map<std::string, std::string> formats = {}) {
    for (const char* tensor : {"B", "C", "D", "E", "F"}) {
      if (text.find(tensor) != std::string::npos) formats.emplace(tensor, "csr");
    }
    const auto problem = problem_of(text, formats);
    return print_time(cost_of(problem, "linear"), variables_of(problem));
  };
  EXPECT_EQ(time("y(i) = max(j)(B(i,j))"), "i*j'");
  // Unstored elements are counted, where they do not change along the loop.
  EXPECT_EQ(time("y(i) = sum(j)(B(i,j) + 1)"), "i*j'");
  EXPECT_EQ(time("y(i) = sum(j)(exp(B(i,j) - m(i)))"), "i*j' + 48*i*j'");
  EXPECT_EQ(time("y(i) = sum(j)(abs(B(i,j) - x(j)))"), "6*i*j");
  EXPECT_EQ(time("y(i) = max(j)(B(i,j) + m(i))"), "i*j'");
  EXPECT_EQ(time("y(i) = max(j,k)(T(i,j,k))", {{"T", "dense,compressed,compressed"}}), "i*j'*k'");
  EXPECT_EQ(time("y(i) = max(j,k)(T(i,j,k) + x(j))", {{"T", "dense,compressed,compressed"}}), "i*j*k'");
  EXPECT_EQ(time("y(i) = sum(j)(abs(B(i,j)) + abs(m(i)))"), "i*j'");
  EXPECT_EQ(time("y(i) = B(i,j) + C(i,j)"), "i*j'B + i*j'C + 2*i");
  const std::string two = "6*i*j'B + 6*i*j'C + merge(i*j'B) + merge(i*j'C)";
  EXPECT_EQ(time("y(i) = max(j)(B(i,j) + C(i,j))"), two);
  std::string four, merged;
  for (const char* tensor : {"B", "C", "D", "E", "F"}) {
    four += (four.empty() ? "6*i*j'" : " + 6*i*j'") + std::string(tensor);
    for (int n = 0; n < 3; ++n) merged += " + merge(i*j'" + std::string(tensor) + ")";
  }
  EXPECT_EQ(time("y(i) = max(j)(B(i,j) + C(i,j) + D(i,j) + E(i,j) + F(i,j))"), four + merged);
  // Rows below united lists are no lists.
  EXPECT_EQ(time("A(i,j) = max(x(i) * G(i,j), z(i) * H(i,j))", {{"x", "compressed"}, {"z", "compressed"}}),
            "3*i'x*j + 3*i'z*j + merge(i'x) + merge(i'z)");
  // A product in a sum steps over what either of its lists holds.
  EXPECT_EQ(time("y(i) = max(j)(B(i,j) * C(i,j) + D(i,j))"),
            "6*i*j'D + 6*i*j'B&C + merge(i*j'D) + merge(i*j'D) + merge(i*j'B|C) + merge(i*j'B|C)");
  // One list is located at coordinates of the other.
  EXPECT_EQ(time("y(i) = max(j)(B(i,j) + C(i,j))", {{"C", "dense,bitmap"}}), "6*i*j'B + 6*i*j'C");
}

// Issue 38: readers with loops inside were charged all elements of the vector.
TEST(ListedVectors, AllReadersCountWhatTheProducerWrites) {
  const auto time = [](const std::string& readers, const std::string& format) {
    const auto problem = problem_of("T(i,j) = B(i,j) * C(i,k) * D(k,j); " + readers, {{"B", format}});
    return print_time(cost_of(problem, "share(nest=1, loops={i}); share(nest=0, loops={i})"),
                      variables_of(problem));
  };
  const std::string two = "n(i) = T(i,j); Z(i,l) = T(i,j) * H(j,l) / n(i)";
  EXPECT_EQ(time(two, "csr"), "6*i*j' + 6*i*j'*l + 8*i*j'*k + clear(i*j')");
  EXPECT_EQ(time("n(i) = T(i,j) * T(i,j); Z(i,j) = T(i,j) / n(i)", "csr"),
            "6*i*j' + 6*i*j' + 8*i*j'*k + clear(i*j')");
  // One reader needs all elements, so that there is no list.
  EXPECT_EQ(time("n(i) = sum(j)(exp(T(i,j))); Z(i,l) = T(i,j) * H(j,l) / n(i)", "csr"),
            "i*j + 8*i*j*l + 8*i*j'*k + clear(i*j') + 48*i*j");
  EXPECT_EQ(time(two, "dense"), "i*j + 8*i*j*k + 8*i*j*l");
  // A reader of another list, which is sorted, cannot walk this one.
  EXPECT_EQ(time("n(i) = where(T(i,j) != 0, (T(i,j) - B(i,j)) / T(i,j), 0); Z(i,l) = T(i,j) * H(j,l) / n(i)",
                 "csr"),
            "6*i*j + 8*i*j*l + 8*i*j'*k + clear(i*j')");
}

TEST(LeafNests, WalkTheListsOfVectors) {
  const auto problem = problem_of(
      "T(i,j) = B(i,j) * C(i,k) * D(k,j); n(i) = T(i,j); Z(i,l) = T(i,j) * H(j,l) / n(i)", {{"B", "csr"}});
  const auto tree =
      schedule::apply(schedule::parse("share(nest=1, loops={i}); share(nest=0, loops={i})").value(), problem)
          .value();
  const auto nests = leaf_nests(tree, problem);
  ASSERT_EQ(nests.size(), 3U);
  EXPECT_EQ(print_nest(nests[1]), "i j'(i) 1 | n(:) T(j:j) 1");
  EXPECT_EQ(print_nest(nests[2]), "i l j'(i) 1 | Z(il:l) T(j:j) H(lj:l) n(:) 8");
}

TEST(Gathering, ATableHoldsWhatTheLeavesBelowItsBranchWrite) {
  const auto problem = problem_of("A(i,j) = B(i,k) * C(k,j)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}});
  const auto variables = variables_of(problem);
  const auto array = cost_of(problem, "linear"), table = cost_of(problem, "gather(storage=hash)");
  EXPECT_EQ(print_memory(array, variables), "j + j");
  EXPECT_EQ(print_memory(table, variables), "j'*k' + j'*k' + j'*k' + j'*k'");
  EXPECT_EQ(print_time(table, variables), print_time(array, variables) + " + 6*i*j'*k'");
  const auto tree = schedule::apply(schedule::parse("gather(storage=hash)").value(), problem).value();
  const auto nests = leaf_nests(tree, problem);
  ASSERT_EQ(nests.size(), 1U);
  EXPECT_EQ(print_nest(nests[0]), "i k'(i) j'(k) 0 | t1(:) B(ik:k sparse) C(kj:j sparse) 6");
}

TEST(Evaluation, TermsAreWeightedAndScalarTemporariesAreFree) {
  Point point(Variables::first_fiber + 1, 0);
  point[0] = 10;
  point[1] = 20;
  point[Variables::first_fiber] = 3;
  const Term rows = make_term(Term{1} | Term{1} << Variables::first_fiber, Access::contiguous);
  const Term columns = make_term(3, Access::strided);
  const Cost cost{{rows, columns}, {0, 2}};
  EXPECT_EQ(evaluate_time(cost, point), 10 * 3 + weight(Access::strided) * 10 * 20);
  EXPECT_EQ(evaluate_memory(cost, point), 20);
}

TEST(Printing, ALoopOverOneOfSeveralSparseTensorsNamesIt) {
  const auto problem = problem_of("A(i,k) = B(i,j) * C(j,k) * D(i,j)", {{"B", "csr"}, {"D", "csr"}});
  const auto v = variables_of(problem);
  const Cost cost{{Term{1} | Term{1} << Variables::first_fiber}, {}};
  EXPECT_EQ(print_time(cost, v), "i*j'B");
}

TEST(TieOrder, IsTotalAndSurvivesMoreTermsAndLoops) {
  std::mt19937_64 random(7);
  const auto drawn = [&](std::size_t most) {
    std::vector<Term> sum;
    for (std::size_t n = random() % (most + 1); n > 0; --n) sum.push_back(1 + random() % 15);
    std::sort(sum.begin(), sum.end());
    return sum;
  };
  const auto joined = [](std::vector<Term> sum, const std::vector<Term>& more, Term loops) {
    sum.insert(sum.end(), more.begin(), more.end());
    for (Term& term : sum) term |= loops;
    std::sort(sum.begin(), sum.end());
    return sum;
  };
  const auto before = [](const Cost& a, const Cost& b) {
    const auto elements = [](const Cost& cost) {
      double sum = 0;
      for (const Term term : cost.memory) sum += reference_elements(term);
      return sum;
    };
    return stays_before({a.time, a.memory, elements(a)}, {b.time, b.memory, elements(b)});
  };
  for (int n = 0; n < 20'000; ++n) {
    const Cost a{drawn(4), drawn(2)}, b{drawn(4), drawn(2)}, c{drawn(4), drawn(2)};
    EXPECT_EQ(before(a, b) + before(b, a), a == b ? 0 : 1);
    EXPECT_FALSE(before(a, b) && before(b, c) && !before(a, c));
    constexpr Term loops = 16;  // those of no term
    const Cost more_a{joined(a.time, c.time, loops), joined(a.memory, c.memory, 0)};
    const Cost more_b{joined(b.time, c.time, loops), joined(b.memory, c.memory, 0)};
    EXPECT_EQ(before(a, b), before(more_a, more_b));
  }
  EXPECT_TRUE(before({{1, 2}, {1}}, {{1}, {3}})) << "one index of a temporary is less than two";
}

}  // namespace
}  // namespace schaas::cost
