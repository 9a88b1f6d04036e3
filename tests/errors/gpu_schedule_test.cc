#include <gtest/gtest.h>

#include "compiler/concrete_notation/printer.h"
#include "compiler/concrete_notation/thread_mapping.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/schedule/trace.h"
#include "tests/support/problem_of.h"

// Points that no GPU runs, and those that the rules of Sgap (section 3.3) exclude.
namespace schaas::schedule {
namespace {

const std::string spmm = "C(i,k) = A(i,j) * B(j,k)";
const std::string columns_outside = "reorder(order={k,i,j}); ";

/// The first line without the part that all have.
std::string reason_of(const std::string& expression, const std::string& trace, const std::string& a = "csr") {
  const auto parsed = parse(trace);
  if (!parsed.ok()) return support::render(parsed.error());
  const auto tree = apply(*parsed, test_support::problem_of(expression, {{"A", a}}));
  if (tree.ok()) return "no error: " + concrete_notation::print(*tree);
  const std::string rendered = support::render(tree.error());
  const std::string all = "invalid [illegal-directive]: ";
  return rendered.rfind(all, 0) == 0 ? rendered.substr(all.size(), rendered.find('\n') - all.size())
                                     : rendered;
}

TEST(GpuErrors, RuleOneAnEntryIsNotDivided) {
  EXPECT_EQ(
      reason_of(spmm,
                columns_outside + "threads(loop=k, each=1); pos(loop=j, from=i); threads(loop=i, each=1/4)"),
      "an entry is multiplied once by each thread that has it, so 4 threads cannot share one (Sgap, rule "
      "1): there is no sum inside it");
  EXPECT_EQ(
      reason_of(spmm,
                columns_outside + "threads(loop=k, each=1); pos(loop=j, from=i); threads(loop=k, each=1/4)"),
      "an entry is multiplied once by each thread that has it, so 4 threads cannot share one (Sgap, rule "
      "1): there is no sum inside it");
}

TEST(GpuErrors, RuleTwoOneGroupHoldsAllThreadsOfARow) {
  const std::string shared = columns_outside + "threads(loop=k, each=4); threads(loop=i, each=1/8); ";
  EXPECT_EQ(
      reason_of(spmm, shared + "group(loop=i, width=4, reduce=parallel)"),
      "8 threads share an iteration of loop `i` and a group of 4 threads does not hold them all, so that "
      "several write one element (Sgap, rule 2): reduce=atomic");
  EXPECT_EQ(
      reason_of(spmm, shared + "group(loop=i, width=1, reduce=parallel)"),
      "a group of one thread writes exclusively, and 8 threads share an iteration of loop `i` (Sgap, rule "
      "2): reduce=atomic");
  EXPECT_EQ(reason_of(spmm, shared + "group(loop=i, width=4, reduce=atomic)"),
            "no error: forall(k threads 4, forall(i threads 1/8 group 4 atomic, forall(j, C(i,k) += A(i,j) * "
            "B(j,k))))");
  EXPECT_EQ(reason_of(spmm, shared + "group(loop=i, width=32, reduce=parallel)"),
            "a group of 32 threads holds 4 iterations of loop `i`, which write different elements, and "
            "reduce=parallel writes exclusively: reduce=segment finds the writing threads");
}

TEST(GpuErrors, RuleThreeOnlyOneOfRowsAndColumnsIsDivided) {
  EXPECT_EQ(
      reason_of(spmm, columns_outside +
                          "threads(loop=k, each=1); threads(loop=i, each=1/4); threads(loop=k, each=1/2)"),
      "several threads share an iteration of loop `i` and one of loop `k`; only one of them is divided "
      "(Sgap, rule 3)");
}

TEST(GpuErrors, GroupsThatHaveNothingToBringTogether) {
  EXPECT_EQ(reason_of(spmm, "threads(loop=i, each=2); group(loop=i, width=8, reduce=segment)"),
            "a group of 8 threads has nothing to reduce: each thread computes elements of `C(i,k)` of "
            "its own");
  EXPECT_EQ(
      reason_of(spmm, "threads(loop=i, each=1/8); group(loop=i, width=8, reduce=parallel)"),
      "a group of 8 threads shares all values of an index, and loop `j` runs over the entries of `A(i,j)`");
  const std::string sddmm = "Y(i,j) = A(i,j) * C(i,k) * D(j,k)";
  EXPECT_EQ(reason_of(sddmm, "threads(loop=i, each=1/8); group(loop=i, width=4, reduce=atomic)"),
            "a group of 4 threads has elements of `Y(i,j)` that no other one writes: reduce=parallel");
  EXPECT_EQ(
      reason_of(sddmm, "threads(loop=i, each=1/8); group(loop=i, width=16, reduce=parallel)"),
      "a group of 16 threads has whole elements of one iteration of loop `i`, and its threads have those "
      "of several");
  EXPECT_EQ(
      reason_of("Y(i,j) = A(i,j) * x(j)",
                "threads(loop=i, each=1/8); group(loop=i, width=4, reduce=parallel)"),
      "a group of 4 threads has nothing to reduce: each thread computes elements of `Y(i,j)` of its own");
  EXPECT_EQ(reason_of("y(i) = A(i,j) * x(j)",
                      "threads(loop=i, each=1); pos(loop=j); group(loop=i, width=8, reduce=atomic)"),
            "a group of 8 threads holds 8 iterations of loop `i`, which write different elements, and "
            "reduce=atomic writes exclusively: reduce=segment finds the writing threads");
  EXPECT_EQ(reason_of("y(k) = A(k,i,j) * x(j)",
                      "reorder(order={i,j,k}); threads(loop=i, each=1/4); group(loop=i, width=4, "
                      "reduce=parallel)",
                      "dense"),
            "threads share an iteration of loop `i` by its loop `j`, and loop `k` over elements of `y(k)` "
            "stands there: reorder brings it outside");
  EXPECT_EQ(
      reason_of("y(k) = A(k,i,j) * x(j)",
                "threads(loop=k, each=1); threads(loop=i, each=1/4); group(loop=i, width=4, "
                "reduce=parallel)",
                "dense"),
      "iterations of loop `i` write the same elements of `y(k)`, and reduce=parallel writes exclusively: "
      "reduce=atomic or segment");
}

TEST(GpuErrors, LoopsThatCannotBeShared) {
  EXPECT_EQ(reason_of("C(i,k) = A(i,j) * B(j,k)", "reorder(order={i,j,k}); threads(loop=i, each=1/4)"),
            "threads share an iteration of loop `i` by its loop `j`, and loop `k` over elements of `C(i,k)` "
            "stands there: reorder brings it outside");
  EXPECT_EQ(reason_of(spmm, "threads(loop=i, each=1/4)"),
            "no error: forall(i threads 1/4, forall(k, forall(j, C(i,k) += A(i,j) * B(j,k))))");
  EXPECT_EQ(reason_of("y(i) = A(i)", "threads(loop=i, each=1/4)", "dense"),
            "4 threads share an iteration of loop `i`, and no loop of a sum stands directly inside it");
  EXPECT_EQ(reason_of("y(i) = A(i,j) * B(i,j)", "threads(loop=i, each=1/4)"),
            "no error: forall(i threads 1/4, forall(j, y(i) += A(i,j) * B(i,j)))");
  EXPECT_EQ(reason_of("y(i) = A(i,j) * A(j,i)",
                      "store(tensor=A, order={1,0}, at={j,i}); threads(loop=i, each=1/4)"),
            "loop `j` walks the entries of several operands side by side, which threads cannot share");
  EXPECT_EQ(reason_of(spmm, "threads(loop=j, each=4)"),
            "loop `j` stands inside loop `i`; threads of a GPU share the outermost loop of a phase, or that "
            "and the one inside it");
  EXPECT_EQ(reason_of(spmm, "threads(loop=k, each=4)"),
            "loop `k` stands inside loop `i`; threads of a GPU share the outermost loop of a phase, or that "
            "and the one inside it");
  EXPECT_EQ(reason_of(spmm, "threads(loop=i, each=1); parallelize(loop=i, races=none)"),
            "loop `i` is for the threads of a GPU: `group` says how they are kept apart, not `parallelize`");
  EXPECT_EQ(reason_of(spmm, "reorder(order={i,j,k}); threads(loop=i, each=1); threads(loop=j, each=1)"),
            "how far loop `j` runs hangs on the entries of `A(i,j)` below loop `i`, so that it cannot be "
            "shared out "
            "beside it");
  EXPECT_EQ(reason_of("y(k) = A(i,j) * c(i,j,k)",
                      "reorder(order={i,j,k}); threads(loop=i, each=1); threads(loop=j, each=1)"),
            "iterations of loop `i` write the same elements of `y(k)`; the loop around loop `j` is one over "
            "columns of what is written");
  EXPECT_EQ(reason_of("C(i,j) = A(i,j)", "threads(loop=i, each=1); threads(loop=j, each=1)"),
            "how far loop `j` runs hangs on the entries of `A(i,j)` below loop `i`, so that it cannot be "
            "shared out "
            "beside it");
}

TEST(GpuErrors, BranchesThatCannotBeShared) {
  const std::string fused = "Y(i,l) = A(i,j) * C(i,k) * D(j,k) * E(j,l)";
  const std::string nest = "reorder(order={i,j,k,l}); loopfuse(loc=3, pol=left); threads(loop=i, each=1/8)";
  EXPECT_EQ(
      reason_of(fused, nest),
      "no error: forall(i threads 1/8, forall(j, where(forall(l, Y(i,l) += t1 * E(j,l)), forall(k, t1 += "
      "A(i,j) * C(i,k) * D(j,k)))))");
  const std::string group =
      "the threads that share an iteration of loop `i` around a branch fold the sum among all of them: "
      "`threads` alone says so, without `group`";
  EXPECT_EQ(reason_of(fused, nest + "; group(loop=i, width=8, reduce=parallel)"), group);
  EXPECT_EQ(reason_of(fused, nest + "; group(loop=i, width=4, reduce=atomic)"), group);
  EXPECT_EQ(
      reason_of("Y(i,l) = A(i,j) * B(j,k) * D(k,l)", "loopfuse(loc=2, pol=left); threads(loop=i, each=1/8)"),
      "threads share an iteration of loop `i` around a branch where it sums up a scalar in one nest of "
      "loops and uses it in another");
}

TEST(GpuErrors, SparseResults) {
  const auto tree = apply(parse("threads(loop=i, each=1)").value(),
                          test_support::problem_of("C(i,j) = A(i,j) * x(j)", {{"A", "csr"}, {"C", "dcsr"}}));
  ASSERT_FALSE(tree.ok());
  EXPECT_EQ(tree.error().message,
            "`C(i,j)` is appended to in order, and the threads of a GPU come in any: declare `C` dense, or "
            "compute it by a schedule for the CPU");
}

TEST(GpuErrors, NumbersThatNoGpuHas) {
  EXPECT_EQ(reason_of(spmm, "threads(loop=i, each=0)"),
            "a thread gets no iteration of loop `i`; the least is 1/32 of one");
  EXPECT_EQ(reason_of("y(i) = A(i,j)", "threads(loop=i, each=1/3)"),
            "3 threads share an iteration of loop `i`; 1, 2, 4, 8, 16 or 32 do");
  EXPECT_EQ(reason_of("y(i) = A(i,j)", "threads(loop=i, each=1/4); group(loop=i, width=5, reduce=segment)"),
            "a group has 5 threads; it has 1, 2, 4, 8, 16 or 32");
  EXPECT_EQ(reason_of(spmm, columns_outside + "threads(loop=k, each=17); threads(loop=i, each=1)"),
            "a thread takes 17 columns, one for each value of loop `k`; it has registers for 16");
  EXPECT_EQ(reason_of(spmm, "threads(loop=i, each=1); launch(loop=i, block=100)"),
            "a block has 100 threads; it has 32, 64, 128, 256 or 512");
  EXPECT_EQ(reason_of(spmm, "threads(loop=i, each=1); launch(loop=i, block=64, warp=3)"),
            "3 iterations lie side by side in a warp; 1, 2, 4, 8, 16 or 32 do");
  EXPECT_EQ(reason_of("y(i) = A(i,j)",
                      "threads(loop=i, each=1/4); group(loop=i, width=16, reduce=segment); launch(loop=i, "
                      "block=64, warp=2)"),
            "2 iterations side by side have 8 threads, and a group has 16 of a block of 64");
  EXPECT_EQ(reason_of(spmm, "group(loop=i, width=4, reduce=segment)"),
            "loop `i` is not shared out among threads of a GPU; `threads` does it");
  EXPECT_EQ(reason_of(spmm, "launch(loop=i, block=64)"),
            "loop `i` is not shared out among threads of a GPU; `threads` does it");
  EXPECT_EQ(
      reason_of(spmm, columns_outside + "threads(loop=k, each=1); launch(loop=k, block=64); "
                                        "threads(loop=i, each=1)"),
      "loop `k` stands around loop `i`, which is shared out among threads too: groups, blocks and warps "
      "are of that one");
}

TEST(GpuErrors, EntriesThatCannotBeStaged) {
  const std::string columns = columns_outside + "threads(loop=k, each=4); threads(loop=i, each=1); ";
  EXPECT_EQ(reason_of(spmm, columns + "stage(loop=i, width=32)"),
            "no error: forall(k threads 4, forall(i threads 1 stage 32, forall(j, C(i,k) += A(i,j) * "
            "B(j,k))))");
  EXPECT_EQ(reason_of(spmm, columns + "stage(loop=i, width=4)"),
            "4 threads stage the entries of an iteration of loop `i`; 8, 16 or 32 do");
  EXPECT_EQ(
      reason_of(spmm, columns + "stage(loop=k, width=32)"),
      "loop `k` stands around loop `i`, which is shared out among threads too: groups, blocks and warps "
      "are of that one");
  EXPECT_EQ(reason_of(spmm, "stage(loop=i, width=32)"),
            "loop `i` is not shared out among threads of a GPU; `threads` does it");
  EXPECT_EQ(
      reason_of(spmm, "threads(loop=i, each=1); stage(loop=i, width=32)"),
      "32 threads stage the entries of an iteration of loop `i`, and no loop over columns stands around "
      "it");
  EXPECT_EQ(reason_of(spmm, columns_outside + "threads(loop=k, each=1); threads(loop=i, each=1/8); "
                                              "group(loop=i, width=8, reduce=parallel); stage(loop=i, "
                                              "width=8)"),
            "8 threads stage the entries of an iteration of loop `i`, and adjacent threads differ in more "
            "than their columns");
  EXPECT_EQ(reason_of("C(i,k) = A(i,j) * B(j,k)",
                      columns_outside + "threads(loop=k, each=1); threads(loop=i, each=1); stage(loop=i, "
                                        "width=8)",
                      "coo"),
            "8 threads stage the entries of an iteration of loop `i`, and no loop inside it walks one "
            "compressed list by itself");
}

TEST(GpuErrors, RowsThatCannotBeMergedWithEntries) {
  const std::string entries = columns_outside + "threads(loop=k, each=1); pos(loop=j, from=i); ";
  EXPECT_EQ(reason_of(spmm, entries + "threads(loop=i, each=32); merge_path(loop=i)"),
            "no error: forall(k threads 1, forall(i positions 2 threads 32 merge_path, forall(j, C(i,k) += "
            "A(i,j) * B(j,k))))");
  const std::string other =
      "threads take rows and entries of loop `i` together, and it does not walk the entries of a dense and a "
      "compressed level: `pos` does it";
  EXPECT_EQ(reason_of(spmm, "threads(loop=i, each=32); merge_path(loop=i)"), other);
  EXPECT_EQ(reason_of(spmm, entries + "threads(loop=i, each=32); merge_path(loop=i)", "dcsr"), other);
  EXPECT_EQ(reason_of(spmm, "merge_path(loop=i)"),
            "loop `i` is not shared out among threads of a GPU; `threads` does it");
}

TEST(GpuErrors, Syntax) {
  EXPECT_EQ(reason_of(spmm, "threads(loop=i, each=2/4)"),
            "no error: forall(i threads 2/4, forall(k, forall(j, C(i,k) += A(i,j) * B(j,k))))");
  EXPECT_EQ(reason_of(spmm, "threads(loop=i, each=2/0)"),
            "a thread gets no iteration of loop `i`; the least is 1/32 of one");
  EXPECT_EQ(reason_of(spmm, "group(loop=i, width=4, reduce=warp)"),
            "invalid [trace-syntax]: argument `reduce` is `atomic`, `parallel` or `segment`, not `warp`\n"
            "  --> schedule:1:31\n"
            "  | group(loop=i, width=4, reduce=warp)\n"
            "  |                               ^~~~");
  EXPECT_EQ(reason_of(spmm, "launch(loop=i, block=1/2)"),
            "invalid [trace-syntax]: expected a number from 0 to 999 but found `1/2`\n"
            "  --> schedule:1:22\n"
            "  | launch(loop=i, block=1/2)\n"
            "  |                      ^~~");
}

/// The rounding of a sum depends on the order of writes.
bool is_nondeterministic(const std::string& expression, const std::string& trace) {
  return concrete_notation::is_nondeterministic(
      apply(parse(trace).value(), test_support::problem_of(expression, {{"A", "csr"}})).value());
}

TEST(GpuOrder, AtomicWritesOfSumsAreChance) {
  const std::string shared = columns_outside + "threads(loop=k, each=1); threads(loop=i, each=1/8); ";
  EXPECT_FALSE(is_nondeterministic(spmm, "linear"));
  EXPECT_FALSE(is_nondeterministic(spmm, "threads(loop=i, each=3)"));
  EXPECT_FALSE(is_nondeterministic(spmm, shared + "group(loop=i, width=8, reduce=parallel)"));
  EXPECT_FALSE(is_nondeterministic(spmm, shared + "group(loop=i, width=8, reduce=atomic)"));
  EXPECT_TRUE(is_nondeterministic(spmm, shared + "group(loop=i, width=4, reduce=atomic)"));
  EXPECT_TRUE(is_nondeterministic(spmm, shared + "group(loop=i, width=8, reduce=segment)"));
  EXPECT_TRUE(is_nondeterministic(spmm, columns_outside + "threads(loop=k, each=1); pos(loop=j, from=i)"));
  EXPECT_TRUE(is_nondeterministic("y(j) = A(i,j)", "threads(loop=i, each=1)"));
  EXPECT_TRUE(is_nondeterministic("y(j) = A(i,j)", "threads(loop=i, each=1/8)"));
  EXPECT_FALSE(is_nondeterministic("C(i,j) = A(i,j)", "threads(loop=i, each=1/8)"));
  EXPECT_TRUE(is_nondeterministic("y(j) = A(i,j)", "parallelize(loop=i, races=atomics)"));
  EXPECT_FALSE(
      is_nondeterministic("y(j) = max(i)(where(A(i,j) != 0, A(i,j), -inf))", "threads(loop=i, each=1)"));
}

}  // namespace
}  // namespace schaas::schedule
