#include <gtest/gtest.h>

#include "compiler/concrete_notation/printer.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/schedule/trace.h"
#include "tests/support/paper_kernels.h"

// Wrong traces, each with the whole text of its diagnostic.
namespace schaas::schedule {
namespace {

std::string parse_error(const std::string& text) {
  const auto trace = parse(text);
  return trace.ok() ? "no error: " + print(*trace) : support::render(trace.error());
}

/// Returns the error of a trace on A(i,l) = B(i,j) * C(j,k) * D(k,l), B in csr.
std::string apply_error(const std::string& text) {
  const auto problem = problem::build(test_support::paper_kernel("K4").text).value();
  const auto tree = apply(parse(text).value(), problem);
  return tree.ok() ? "no error: " + concrete_notation::print(*tree) : support::render(tree.error());
}

TEST(TraceErrors, UnknownDirectiveIsNamedWithTheNearest) {
  EXPECT_EQ(
      parse_error("loopfus(path={}, loc=1, pol=left)"),
      "invalid [unknown-directive]: `loopfus` is no directive; there are permute, reorder, "
      "loopfuse, block, share, sequence, distribute, parallelize, split, divide, unroll, bound, "
      "collapse, pos, threads, group, launch, stage, merge_path, gather, store, mask and precompute; did "
      "you mean `loopfuse`?\n"
      "  --> schedule:1:1\n"
      "  | loopfus(path={}, loc=1, pol=left)\n"
      "  | ^~~~~~~");
  EXPECT_EQ(parse_error("linear; reorder(path={}, order={i})"),
            "invalid [unknown-directive]: `linear` is no directive; there are permute, reorder, loopfuse, "
            "block, share, sequence, distribute, parallelize, split, divide, unroll, bound, "
            "collapse, pos, threads, group, launch, stage, merge_path, gather, store, mask and precompute\n"
            "  --> schedule:1:1\n"
            "  | linear; reorder(path={}, order={i})\n"
            "  | ^~~~~~");
}

TEST(TraceErrors, UnknownArgumentIsNamedWithTheNearest) {
  EXPECT_EQ(parse_error("reorder(path={}, ordr={i,j})"),
            "invalid [unknown-argument]: `reorder` has no argument `ordr`; it has path, order; did you mean "
            "`order`?\n"
            "  --> schedule:1:18\n"
            "  | reorder(path={}, ordr={i,j})\n"
            "  |                  ^~~~");
}

TEST(TraceErrors, MissingArgument) {
  EXPECT_EQ(parse_error("permute(path={})"),
            "invalid [missing-argument]: `permute` needs the argument `factors`\n"
            "  --> schedule:1:1\n"
            "  | permute(path={})\n"
            "  | ^~~~~~~");
  EXPECT_EQ(parse_error("reorder(path={})"),
            "invalid [missing-argument]: `reorder` needs the argument `order`\n"
            "  --> schedule:1:1\n"
            "  | reorder(path={})\n"
            "  | ^~~~~~~");
  EXPECT_EQ(parse_error("loopfuse(path={}, pol=left)"),
            "invalid [missing-argument]: `loopfuse` needs the argument `loc`\n"
            "  --> schedule:1:1\n"
            "  | loopfuse(path={}, pol=left)\n"
            "  | ^~~~~~~~");
  EXPECT_EQ(parse_error("loopfuse(loc=1)"),
            "invalid [missing-argument]: `loopfuse` needs the argument `pol`\n"
            "  --> schedule:1:1\n"
            "  | loopfuse(loc=1)\n"
            "  | ^~~~~~~~");
}

TEST(TraceErrors, SyntaxPointsAtThePlace) {
  EXPECT_EQ(parse_error("reorder{order={i}}"),
            "invalid [trace-syntax]: expected `(` but found `{`\n"
            "  --> schedule:1:8\n"
            "  | reorder{order={i}}\n"
            "  |        ^");
  EXPECT_EQ(parse_error("reorder(order={i,}"),
            "invalid [trace-syntax]: expected a name or a number but found `}`\n"
            "  --> schedule:1:18\n"
            "  | reorder(order={i,}\n"
            "  |                  ^");
  EXPECT_EQ(parse_error("reorder(order={i}"),
            "invalid [trace-syntax]: expected `)` but found the end of the text\n"
            "  --> schedule:1:18\n"
            "  | reorder(order={i}\n"
            "  |                  ^");
  EXPECT_EQ(parse_error("reorder(order={i}) reorder(order={i})"),
            "invalid [trace-syntax]: expected `;` or the end of the trace but found `r`\n"
            "  --> schedule:1:20\n"
            "  | reorder(order={i}) reorder(order={i})\n"
            "  |                    ^");
  EXPECT_EQ(parse_error("; linear"),
            "invalid [trace-syntax]: expected a directive but found `;`\n"
            "  --> schedule:1:1\n"
            "  | ; linear\n"
            "  | ^");
}

TEST(TraceErrors, ValuesHaveTheirKind) {
  EXPECT_EQ(parse_error("reorder(order=i)"),
            "invalid [trace-syntax]: argument `order` is a list in braces, like {0,1}\n"
            "  --> schedule:1:15\n"
            "  | reorder(order=i)\n"
            "  |               ^");
  EXPECT_EQ(parse_error("loopfuse(loc={1}, pol=left)"),
            "invalid [trace-syntax]: argument `loc` is a single value, not a list\n"
            "  --> schedule:1:14\n"
            "  | loopfuse(loc={1}, pol=left)\n"
            "  |              ^~~");
  EXPECT_EQ(parse_error("loopfuse(loc=99999999999, pol=left)"),
            "invalid [trace-syntax]: expected a number from 0 to 999 but found `99999999999`\n"
            "  --> schedule:1:14\n"
            "  | loopfuse(loc=99999999999, pol=left)\n"
            "  |              ^~~~~~~~~~~");
  EXPECT_EQ(parse_error("loopfuse(loc=-1, pol=left)"),
            "invalid [trace-syntax]: expected a number from 0 to 999 but found `-1`\n"
            "  --> schedule:1:14\n"
            "  | loopfuse(loc=-1, pol=left)\n"
            "  |              ^~");
  EXPECT_EQ(parse_error("loopfuse(loc=1, pol=True)"),
            "invalid [trace-syntax]: pol says which side is the producer, `left` or `right`, but is `True`\n"
            "  --> schedule:1:21\n"
            "  | loopfuse(loc=1, pol=True)\n"
            "  |                     ^~~~");
  EXPECT_EQ(parse_error("loopfuse(loc=1, loc=2, pol=left)"),
            "invalid [trace-syntax]: argument `loc` is given twice\n"
            "  --> schedule:1:17\n"
            "  | loopfuse(loc=1, loc=2, pol=left)\n"
            "  |                 ^~~");
}

TEST(TraceErrors, LongTracesAreRefused) {
  std::string text;
  for (int n = 0; n < 256; ++n) text += "permute(factors={0});";
  EXPECT_TRUE(parse(text).ok());
  const auto result = parse(text + "permute(factors={0})");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "trace-too-long");
  EXPECT_EQ(result.error().message, "the trace has more than 256 directives");
  EXPECT_EQ(parse_error(std::string(65537, ' ')),
            "invalid [trace-too-long]: the trace has 65537 bytes; at most 65536 are read");
}

TEST(DirectiveErrors, StoreNamesAnOperandAnOrderAndAnAccess) {
  EXPECT_EQ(apply_error("store(tensor=A, order={1,0})"),
            "invalid [illegal-directive]: `A` is no operand; only operands can be copied\n"
            "  --> schedule:1:1\n"
            "  | store(tensor=A, order={1,0})\n"
            "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(apply_error("store(tensor=B, order={1,1})"),
            "invalid [illegal-directive]: order {1,1} is no permutation of the modes {0,1} of `B`\n"
            "  --> schedule:1:1\n"
            "  | store(tensor=B, order={1,1})\n"
            "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(apply_error("store(tensor=C, order={0,1})"),
            "invalid [illegal-directive]: `C` is stored in the order {0,1} already\n"
            "  --> schedule:1:1\n"
            "  | store(tensor=C, order={0,1})\n"
            "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(apply_error("store(tensor=C, order={1,0}, at={i,j})"),
            "invalid [illegal-directive]: there is no access `C(i,j)`; `C` is read as `C(j,k)`\n"
            "  --> schedule:1:1\n"
            "  | store(tensor=C, order={1,0}, at={i,j})\n"
            "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(apply_error("store(tensor=C, order={1,0}); store(tensor=C, order={1,0})"),
            "invalid [illegal-directive]: all accesses of `C` read copies already\n"
            "  --> schedule:1:31\n"
            "  | store(tensor=C, order={1,0}); store(tensor=C, order={1,0})\n"
            "  |                               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(apply_error("permute(path={}, factors={2,1,0}); store(tensor=C, order={1,0})"),
            "invalid [illegal-directive]: `store` stands before all other directives: they work on what it "
            "leads to\n"
            "  --> schedule:1:36\n"
            "  | permute(path={}, factors={2,1,0}); store(tensor=C, order={1,0})\n"
            "  |                                    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~");
}

TEST(DirectiveErrors, PathLeadsNowhere) {
  EXPECT_EQ(apply_error("reorder(path={0}, order={i})"),
            "invalid [illegal-directive]: path {0} leads nowhere: the section at {} has no branches\n"
            "  --> schedule:1:1\n"
            "  | reorder(path={0}, order={i})\n"
            "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(
      apply_error("loopfuse(loc=1, pol=left); reorder(path={2}, order={i})"),
      "invalid [illegal-directive]: path {2} has the step 2; a step is 0 (the producer) or 1 (the consumer)\n"
      "  --> schedule:1:37\n"
      "  | loopfuse(path={}, loc=1, pol=left); reorder(path={2}, order={i})\n"
      "  |                                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~");
}

TEST(DirectiveErrors, SectionIsBranched) {
  EXPECT_EQ(apply_error("loopfuse(loc=1, pol=left); reorder(order={i})"),
            "invalid [illegal-directive]: the section at path {} is branched (i<j,ljk>); a directive needs a "
            "linear "
            "one, such as its producer or its consumer\n"
            "  --> schedule:1:37\n"
            "  | loopfuse(path={}, loc=1, pol=left); reorder(path={}, order={i})\n"
            "  |                                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~");
}

TEST(DirectiveErrors, OrderIsNoPermutationOfTheLoops) {
  EXPECT_EQ(
      apply_error("reorder(order={i,j,k})"),
      "invalid [illegal-directive]: order {i,j,k} leaves out loop `l`; the section's loops are {i,l,j,k}\n"
      "  --> schedule:1:1\n"
      "  | reorder(path={}, order={i,j,k})\n"
      "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(apply_error("reorder(order={i,j,k,l,j})"),
            "invalid [illegal-directive]: order {i,j,k,l,j} names loop `j` twice\n"
            "  --> schedule:1:1\n"
            "  | reorder(path={}, order={i,j,k,l,j})\n"
            "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(apply_error("loopfuse(loc=1, pol=left); reorder(path={1}, order={l,j,i})"),
            "invalid [illegal-directive]: the section has no loop `i`; its loops are {l,j,k}\n"
            "  --> schedule:1:37\n"
            "  | loopfuse(path={}, loc=1, pol=left); reorder(path={1}, order={l,j,i})\n"
            "  |                                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
}

TEST(DirectiveErrors, OrderBreaksTheAccessOrder) {
  EXPECT_EQ(apply_error("reorder(order={j,i,k,l})"),
            "invalid [illegal-directive]: `B(i,j)` is stored dense,compressed:0,1: loop `i` must be outside "
            "loop `j`\n"
            "  --> schedule:1:1\n"
            "  | reorder(path={}, order={j,i,k,l})\n"
            "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
}

TEST(DirectiveErrors, FactorsAreNoPermutation) {
  EXPECT_EQ(apply_error("permute(factors={0,1})"),
            "invalid [illegal-directive]: factors {0,1} is no permutation of the section's factors {0,1,2}\n"
            "  --> schedule:1:1\n"
            "  | permute(path={}, factors={0,1})\n"
            "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(
      apply_error("permute(factors={0,1,1})"),
      "invalid [illegal-directive]: factors {0,1,1} is no permutation of the section's factors {0,1,2}\n"
      "  --> schedule:1:1\n"
      "  | permute(path={}, factors={0,1,1})\n"
      "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
}

TEST(DirectiveErrors, LocIsOutOfRange) {
  EXPECT_EQ(apply_error("loopfuse(loc=3, pol=left)"),
            "invalid [illegal-directive]: loc is 3 but the section's product has 3 factors; loc must be "
            "between 1 and "
            "2\n"
            "  --> schedule:1:1\n"
            "  | loopfuse(path={}, loc=3, pol=left)\n"
            "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(apply_error("loopfuse(loc=0, pol=right)"),
            "invalid [illegal-directive]: loc is 0 but the section's product has 3 factors; loc must be "
            "between 1 and "
            "2\n"
            "  --> schedule:1:1\n"
            "  | loopfuse(path={}, loc=0, pol=right)\n"
            "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(
      apply_error("loopfuse(loc=1, pol=left); loopfuse(path={0}, loc=1, pol=left)"),
      "invalid [illegal-directive]: the section's product has one factor, so there is nothing to split\n"
      "  --> schedule:1:37\n"
      "  | loopfuse(path={}, loc=1, pol=left); loopfuse(path={0}, loc=1, pol=left)\n"
      "  |                                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
}

TEST(DirectiveErrors, NothingToRunInBlocks) {
  EXPECT_EQ(
      apply_error("block(size=48)"),
      "invalid [illegal-directive]: the section at path {} has no branch, so nothing is passed from block to "
      "block\n"
      "  --> schedule:1:1\n"
      "  | block(path={}, size=48)\n"
      "  | ^~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(apply_error("loopfuse(loc=2, pol=left, fuse=0); block(size=48)"),
            "invalid [illegal-directive]: no loop is fused above the branch of the section at path {}\n"
            "  --> schedule:1:45\n"
            "  | loopfuse(path={}, loc=2, pol=left, fuse=0); block(path={}, size=48)\n"
            "  |                                             ^~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(apply_error("loopfuse(loc=1, pol=left); block(size=48); block(size=8)"),
            "invalid [illegal-directive]: the section at path {} runs in blocks already\n"
            "  --> schedule:1:62\n"
            "  | loopfuse(path={}, loc=1, pol=left); block(path={}, size=48); block(path={}, size=8)\n"
            "  |                                                              ^~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(apply_error("loopfuse(loc=1, pol=left); block(size=1)"),
            "invalid [illegal-directive]: size is 1; a block holds at least 2 values\n"
            "  --> schedule:1:37\n"
            "  | loopfuse(path={}, loc=1, pol=left); block(path={}, size=1)\n"
            "  |                                     ^~~~~~~~~~~~~~~~~~~~~~");
}

/// Returns the error of a trace on the default nest of a problem with B in csr.
std::string reason_of(const std::string& expression, const std::string& trace) {
  problem::ProblemText text;
  text.expression = expression;
  if (expression.find("B(") != std::string::npos) text.formats = {{"B", "csr"}};
  const auto tree = apply(parse(trace).value(), problem::build(text).value());
  if (tree.ok()) return "no error: " + concrete_notation::print(*tree);
  const std::string rendered = support::render(tree.error());
  return rendered.substr(0, rendered.find('\n'));
}

TEST(ParallelizeErrors, RacesThatDoNotFitTheLoop) {
  EXPECT_EQ(
      apply_error("parallelize(loop=l, races=none)"),
      "invalid [illegal-directive]: threads share the iterations of an outermost loop only, and loop `l` "
      "stands inside loop `i`: reorder brings it outside\n"
      "  --> schedule:1:1\n"
      "  | parallelize(path={}, loop=l, races=none)\n"
      "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(
      reason_of("y(j) = B(i,j)", "parallelize(loop=i, races=none)"),
      "invalid [illegal-directive]: iterations of loop `i` write the same elements of `y(j)`: races=none is "
      "for loops over an index of what they write; private or atomics keep the threads apart");
  EXPECT_EQ(
      reason_of("y(i) = B(i,j)", "parallelize(loop=i, races=private)"),
      "invalid [illegal-directive]: each iteration of loop `i` writes elements of `y(i)` of its own, so "
      "there is nothing to keep apart: races=none instead of races=private");
  EXPECT_EQ(
      reason_of("y(i) = B(i,j)", "parallelize(loop=i, races=atomics)"),
      "invalid [illegal-directive]: each iteration of loop `i` writes elements of `y(i)` of its own, so "
      "there is nothing to keep apart: races=none instead of races=atomics");
  EXPECT_EQ(
      reason_of("y(i) = B(i,j)", "parallelize(loop=k, races=none)"),
      "invalid [illegal-directive]: the section at path {} has no loop `k` of its own above its branches");
  EXPECT_EQ(parse_error("parallelize(loop=k, races=some)"),
            "invalid [trace-syntax]: argument `races` is `none`, `atomics` or `private`, not `some`\n"
            "  --> schedule:1:27\n"
            "  | parallelize(loop=k, races=some)\n"
            "  |                           ^~~~");
}

TEST(UnrollErrors, FactorsAndLoops) {
  EXPECT_EQ(
      reason_of("y(i) = B(i,j)", "unroll(loop=j, factor=1)"),
      "invalid [illegal-directive]: factor is 1; at least 2 iterations are written one after the other");
  EXPECT_EQ(reason_of("y(i) = B(i,j)", "unroll(loop=j, factor=65)"),
            "invalid [illegal-directive]: loop `j` is unrolled 65 times; at most 64 are written");
}

TEST(UnrollErrors, FactorsOfLoopsAroundEachOther) {
  const std::string product = "A(i,k) = B(i,j) * C(j,k)";
  const std::string error =
      "invalid [illegal-directive]: loop `i` and the loops inside it are unrolled to more than 256 copies of "
      "statements";
  const auto unrolled = [&](int i, int j, int k) {
    return reason_of(product, "unroll(loop=i, factor=" + std::to_string(i) + "); unroll(loop=j, factor=" +
                                  std::to_string(j) + "); unroll(loop=k, factor=" + std::to_string(k) + ")");
  };
  EXPECT_EQ(unrolled(64, 2, 3), error);
  EXPECT_EQ(unrolled(64, 64, 64), error);
  EXPECT_EQ(unrolled(16, 4, 4).substr(0, 9), "no error:");
}

TEST(LoopFuseErrors, NegativeNumbersOfLoops) {
  const auto problem = problem::build(test_support::paper_kernel("K4").text).value();
  const auto tree = apply(Trace{{LoopFuse{{}, 2, true, -1}}}, problem);
  ASSERT_FALSE(tree.ok());
  EXPECT_EQ(tree.error().message, "fuse is -1; it is a number of loops, at least 0");
}

TEST(SplitErrors, SizesAndPlaces) {
  EXPECT_EQ(reason_of("y(i) = B(i,j)", "split(loop=j, factor=1)"),
            "invalid [illegal-directive]: factor is 1; a block holds at least 2 values");
  EXPECT_EQ(reason_of("y(i) = B(i,j)", "divide(loop=j, parts=1)"),
            "invalid [illegal-directive]: parts is 1; a loop is divided into at least 2");
  EXPECT_EQ(
      reason_of("y(i) = B(i,j)", "split(loop=k, factor=4)"),
      "invalid [illegal-directive]: the section at path {} has no loop `k` of its own above its branches");
  EXPECT_EQ(reason_of("y(i) = B(i,j)", "split(loop=i, factor=4, outer=j)"),
            "invalid [illegal-directive]: outer is `j`, but the blocks of `i` can stand around `i` or a loop "
            "outside "
            "it in the section at path {}");
  EXPECT_EQ(
      reason_of("y(i) = B(i,j)", "split(loop=j, factor=4, outer=i)"),
      "invalid [illegal-directive]: blocks of the entries of `B(i,j)` over `j` stand outside loop `i`, which "
      "leads to these entries");
  EXPECT_EQ(reason_of("y(i) = B(i,j)", "split(loop=i, factor=4); split(loop=i, factor=4)"),
            "invalid [illegal-directive]: the section at path {} runs in blocks already");
  EXPECT_EQ(
      reason_of("y(i) = max(j)(B(i,j))", "split(loop=j, factor=4, outer=i)"),
      "invalid [illegal-directive]: blocks of the entries of `B(i,j)` over `j` stand outside loop `i`, which "
      "leads to these entries");
  EXPECT_EQ(reason_of("T(i) = B(i,j); y(i) = T(i) * c(i)",
                      "split(path={1}, loop=i, factor=4); share(nest=0, loops={i})"),
            "invalid [illegal-directive]: the tree runs in blocks of `i`; share loops first and make blocks "
            "afterwards");
}

TEST(BoundErrors, ExtentsAndIndices) {
  EXPECT_EQ(reason_of("y(i) = B(i,j)", "bound(loop=k, extent=4)"),
            "invalid [illegal-directive]: the tree has no loop `k`");
  EXPECT_EQ(reason_of("y(i) = B(i,j)", "bound(loop=i, extent=0)"),
            "invalid [illegal-directive]: extent is 0; the least is 1");
}

TEST(CollapseErrors, LoopsThatAreNotOne) {
  EXPECT_EQ(reason_of("y(i) = B(i,j)", "collapse(loop=i)"),
            "invalid [illegal-directive]: loops `i` and `j` are one loop where both run over all values, and "
            "`j` runs "
            "over the entries of `B(i,j)`; rows that hold most of the entries are split automatically");
  EXPECT_EQ(reason_of("A(i,j,k) = c(i,j,k)", "collapse(loop=j)"),
            "invalid [illegal-directive]: loop `j` stands inside loop `i`; only the two outermost loops "
            "become one for "
            "the threads");
  EXPECT_EQ(reason_of("a(i) = c(i)", "collapse(loop=i)"),
            "invalid [illegal-directive]: no loop stands directly inside loop `i`");
  EXPECT_EQ(reason_of("a(i) = c(i,j)", "collapse(loop=i); parallelize(loop=i, races=none)"),
            "invalid [illegal-directive]: iterations of loop `i` write the same elements of `a(i)`: "
            "races=none is for "
            "loops over an index of what they write; private or atomics keep the threads apart");
}

TEST(CollapseErrors, SparseResults) {
  problem::ProblemText text;
  text.expression = "A(i,l,k) = c(i,l,k)";
  text.formats = {{"A", "dense,dense,compressed"}};
  const auto tree = apply(parse("collapse(loop=i)").value(), problem::build(text).value());
  ASSERT_FALSE(tree.ok());
  EXPECT_EQ(
      tree.error().message,
      "the pairs of values of loops `i` and `l` are shared out in any pieces, and `A(i,l,k)` is appended to "
      "by whole iterations of loop `i`");
}

TEST(PosErrors, LoopsThatWalkNoListTogether) {
  EXPECT_EQ(
      reason_of("y(i) = B(i,j)", "pos(loop=k)"),
      "invalid [illegal-directive]: the section at path {} has no loop `k` of its own above its branches");
  EXPECT_EQ(reason_of("y(i) = B(i,j)", "pos(loop=i)"),
            "invalid [illegal-directive]: loop `i` walks the entries of no sparse operand, so there are no "
            "positions; collapse is for loops over all values");
  EXPECT_EQ(reason_of("y(i) = B(i,j) * B(i,k)", "pos(loop=k)"),
            "invalid [illegal-directive]: loops `i` to `k` walk the entries of `B(i,j)` and of `B(i,k)`; "
            "positions are those of one operand alone");
  EXPECT_EQ(reason_of("y(k,j) = c(k,i) * B(i,j)", "reorder(order={k,i,j}); pos(loop=j)"),
            "invalid [illegal-directive]: no list of entries is walked by loops `k` to `j`: level 0 of "
            "`B(i,j)` is walked by loop `i`, not by loop `k`");
}

TEST(PosErrors, LoopsThatRunOverMoreThanEntries) {
  const std::string everywhere =
      "invalid [illegal-directive]: loop `j` runs over more than the entries of `B(i,j)`: what it computes "
      "is "
      "not zero where none is stored";
  EXPECT_EQ(reason_of("y(i) = sum(j)(c(i,j) + B(i,j))", "pos(loop=j)"), everywhere);
  EXPECT_EQ(reason_of("y(i) = max(j)(B(i,j))", "pos(loop=j)"), everywhere);
}

TEST(PosErrors, RacesAndOtherManners) {
  EXPECT_EQ(reason_of("y(i) = B(i,j) * x(j)", "pos(loop=j); parallelize(loop=i, races=none)"),
            "invalid [illegal-directive]: iterations of loop `i` write the same elements of `y(i)`: "
            "races=none is for loops over an index of what they write; private or atomics keep the threads "
            "apart");
  const auto of_formats = [](const std::string& expression, std::map<std::string, std::string> formats,
                             const std::string& trace) {
    problem::ProblemText text;
    text.expression = expression;
    text.formats = std::move(formats);
    const std::string rendered =
        support::render(apply(parse(trace).value(), problem::build(text).value()).error());
    return rendered.substr(0, rendered.find('\n'));
  };
  EXPECT_EQ(of_formats("A(i,j) = c(i) * B(i,j)", {{"A", "csr"}, {"B", "csr"}}, "pos(loop=j)"),
            "invalid [illegal-directive]: pieces of a row would append to it in any order, and `A(i,j)` is "
            "appended to in order: its rows are split automatically");
  EXPECT_EQ(of_formats("y(i) = B(i,j,k)", {{"B", "dense,dense,compressed"}}, "collapse(loop=i); pos(loop=k)"),
            "invalid [illegal-directive]: loop `i` is collapsed; its entries are shared out or its pairs of "
            "values, not both");
  EXPECT_EQ(
      of_formats("y(i) = B(i,j,k)", {{"B", "dense,dense,compressed"}}, "pos(loop=k)"),
      "invalid [illegal-directive]: no list of entries is walked by loops `i` to `k`: `B(i,j,k)` is stored "
      "dense,dense,compressed:0,1,2, and entries are shared out below a dense or compressed level, over "
      "compressed ones");
  EXPECT_EQ(
      of_formats("y(i) = B(i,i)", {{"B", "csr"}}, "pos(loop=i)"),
      "invalid [illegal-directive]: no list of entries is walked by loop `i`: level 0 of `B(i,i)` is dense");
  EXPECT_EQ(
      of_formats("a(i) = c(i,k); y(k) = a(i) * c(i,k) * B(k,j)", {{"B", "csr"}},
                 "reorder(path={1}, order={i,k,j}); pos(path={1}, loop=j)"),
      "invalid [illegal-directive]: no list of entries is walked by loops `i` to `j`: level 0 of `B(k,j)` is "
      "walked by loop `k`, not by loop `i`");
}

TEST(MaskErrors, IntermediatesThatAreReadElsewhere) {
  const auto of = [](const std::string& expression, const std::string& trace) {
    problem::ProblemText text;
    text.expression = expression;
    text.formats = {{"B", "csr"}};
    if (expression.find("E(") != std::string::npos) text.formats["E"] = "csr";
    const auto tree = apply(parse(trace).value(), problem::build(text).value());
    if (tree.ok()) return "no error: " + concrete_notation::print(*tree);
    const std::string rendered = support::render(tree.error());
    return rendered.substr(0, rendered.find('\n'));
  };
  const std::string refused = "invalid [illegal-directive]: ";
  const std::string once = "T(i,j) = C(i,k) * D(k,j); A(i,j) = B(i,j) * T(i,j)";
  EXPECT_EQ(of(once, "mask(tensor=S, by={B})"),
            refused +
                "`S` is no intermediate; only what a statement before the last defines is computed where "
                "it is read");
  EXPECT_EQ(of("A(i,l) = B(i,j) * C(j,l)", "mask(tensor=T, by={B})"),
            refused +
                "`T` is no intermediate; only what a statement before the last defines is computed where "
                "it is read");
  EXPECT_EQ(of(once, "mask(tensor=T, by={})"),
            refused + "`by` names no operand whose entries `T` is computed at");
  EXPECT_EQ(of(once, "mask(tensor=T, by={B}); mask(tensor=T, by={B})"), refused + "`T` is masked already");
  EXPECT_EQ(of(once, "mask(tensor=T, by={B,C})"), refused + "no reading of `T` needs the entries of `C`");
  EXPECT_EQ(of("T(i,j) = C(i,k) * D(k,j); A(i,j) = B(i,j) + T(i,j)", "mask(tensor=T, by={B})"),
            refused + "`T(i,j)` is read where no entry of `B` with its indices decides whether it counts");
  EXPECT_EQ(of("T(i,j) = C(i,k) * D(k,j); A(i,l) = B(i,l) * T(i,l)", "mask(tensor=T, by={B})"),
            refused +
                "`T(i,j)` is read as `T(i,l)`, masked by `B(i,l)`; define it with the indices that it is "
                "read with");
  EXPECT_EQ(of("min-plus: T(i,j) = C(i,k) * D(k,j); A(i,j) = B(i,j) * T(i,j) + E(i,j) * T(i,j)",
               "mask(tensor=T, by={B,E})"),
            refused +
                "the readings of `T` are masked by several operands, and under min-plus there is no union "
                "of their entries");
  EXPECT_EQ(of(once, "share(nest=0, loops={i}); mask(tensor=T, by={B})"),
            refused + "`mask` stands before all other directives but `store`: they work on what it leads to");
}

TEST(DirectiveErrors, Precompute) {
  const auto of = [](const std::string& expression, const std::string& trace) {
    problem::ProblemText text;
    text.expression = expression;
    text.formats = {{"B", "csr"}};
    const auto tree = apply(parse(trace).value(), problem::build(text).value());
    if (tree.ok()) return "no error: " + concrete_notation::print(*tree);
    const std::string rendered = support::render(tree.error());
    return rendered.substr(0, rendered.find('\n'));
  };
  const std::string refused = "invalid [illegal-directive]: ";
  const std::string one = "S(i,c) = B(i,j) * log(P(c,j))";
  const auto none_of = [&](const std::string& number, const std::string& count) {
    return refused + "there is no call " + number + " to precompute: the program has " + count +
           " whose operands are dense, and whose indices one of them has";
  };
  EXPECT_EQ(of(one, "precompute(calls={1})"), none_of("1", "1"));
  // Neither sparse elements, nor a matrix of all pairs, nor cheap calls, nor calls that nothing repeats.
  EXPECT_EQ(of("S(i,c) = exp(B(i,j)) * P(c,j)", "precompute(calls={0})"), none_of("0", "0"));
  EXPECT_EQ(of("S(i,c) = B(i,j) * exp(p(c) + q(j))", "precompute(calls={0})"), none_of("0", "0"));
  EXPECT_EQ(of("S(i,c) = B(i,j) * pow(P(c,j), 2)", "precompute(calls={0})"), none_of("0", "0"));
  EXPECT_EQ(of("T(i,j) = P(i,c) * Q(c,j); S(i,k) = B(i,j) * exp(T(i,j)) * R(j,k)", "precompute(calls={0})"),
            none_of("0", "0"));
  EXPECT_EQ(of("S(c,j) = exp(P(c,j)) + B(c,j)", "precompute(calls={0})"), none_of("0", "0"));
  const std::string once = refused + "`precompute` names each call once, and at least one";
  EXPECT_EQ(of(one, "precompute(calls={0,0})"), once);
  EXPECT_EQ(of(one, "precompute(calls={})"), once);
  EXPECT_EQ(
      of(one, "reorder(path={}, order={i,j,c}); precompute(calls={0})"),
      refused +
          "`precompute` stands before all other directives but `store` and `mask`: they work on what it "
          "leads to");
}

TEST(DirectiveErrors, NewLoopsComeBeforeAnnotations) {
  EXPECT_EQ(apply_error("parallelize(loop=i, races=none); reorder(order={l,i,j,k})"),
            "invalid [illegal-directive]: `reorder` makes new loops and drops the annotations of the present "
            "ones; it comes "
            "before parallelize, unroll, bound, collapse, pos, threads, group, launch, stage, merge_path and "
            "gather\n"
            "  --> schedule:1:43\n"
            "  | parallelize(path={}, loop=i, races=none); reorder(path={}, order={l,i,j,k})\n"
            "  |                                           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
}

TEST(GatherErrors, TablesThatGatherNothing) {
  const auto of = [](const std::string& statement, const std::map<std::string, std::string>& formats,
                     const std::string& trace) {
    problem::ProblemText text;
    text.expression = statement;
    text.formats = formats;
    const auto tree = apply(parse(trace).value(), problem::build(text).value());
    return tree.ok() ? concrete_notation::print(*tree)
                     : tree.error().message.substr(0, tree.error().message.find('\n'));
  };
  const std::map<std::string, std::string> all{{"A", "csr"}, {"B", "csr"}, {"C", "csr"}};
  EXPECT_EQ(
      of("A(i,j) = B(i,k) * C(k,j)", all, "gather(storage=hash)"),
      "forall(i, where(forall(j, A(i,j) += t1(j)), forall(k, forall(j, t1(j) += B(i,k) * C(k,j))), hash))");
  EXPECT_EQ(of("A(i,j) = B(i,k) * C(k,j)", {{"B", "csr"}, {"C", "csr"}}, "gather(storage=hash)"),
            "`A(i,j)` is dense: its elements are written where they belong, and nothing is gathered");
  EXPECT_EQ(of("A(i,j) = B(i,j) * C(i,j)", all, "gather(storage=hash)"),
            "`A(i,j)` is appended to in the order of its entries, and nothing is gathered");
  EXPECT_EQ(
      of("A(i,j) = B(k,i) * C(k,j)", {{"A", "dcsr"}, {"B", "csr"}, {"C", "csr"}}, "gather(storage=hash)"),
      "temporary `t1(i,j)` is in a hash table and stands in no loop: one that all threads write is an "
      "array");
  EXPECT_EQ(
      of("A(i,j,l) = B(i,k) * C(k,j,l)", {{"A", "csf"}, {"B", "csr"}, {"C", "csf"}}, "gather(storage=hash)"),
      "temporary `t1(j,l)` is in a hash table and gathers 2 levels of `A(i,j,l)`; a table holds the "
      "coordinates of one: loops further out append the others in order");
  const auto wrong = parse("gather(storage=tree)");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(support::render(wrong.error()),
            "invalid [trace-syntax]: argument `storage` is `dense` or `hash`, not `tree`\n"
            "  --> schedule:1:16\n"
            "  | gather(storage=tree)\n"
            "  |                ^~~~");
}

TEST(ShareErrors, LoopsThatCannotBeShared) {
  const std::string separate = "loopfuse(path={}, loc=2, pol=left, fuse=0); ";
  const auto reason = [&](const std::string& directive) {
    const std::string text = apply_error(separate + directive);
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(
      reason("share(nest=1, loops={i})"),
      "invalid [illegal-directive]: nest is 1, but the tree has 2 nests, counted from 0 in the order in "
      "which they run, and one that shares needs a next one");
  EXPECT_EQ(reason("share(nest=0, loops={l})"),
            "invalid [illegal-directive]: the nest of `t1(i,k)` has no loop `l`");
  EXPECT_EQ(reason("share(nest=0, loops={i,i})"), "invalid [illegal-directive]: loop `i` is listed twice");
  EXPECT_EQ(reason("share(nest=0, loops={k,j})"),
            "invalid [illegal-directive]: the nest of `A(i,l)` has no loop `j`");
  EXPECT_EQ(apply_error("share(nest=0, loops={})"),
            "invalid [illegal-directive]: nest is 0, but the tree has 1 nest, counted from 0 in the order in "
            "which they run, and one that shares needs a next one\n"
            "  --> schedule:1:1\n"
            "  | share(nest=0, loops={})\n"
            "  | ^~~~~~~~~~~~~~~~~~~~~~~");
}

TEST(DistributeErrors, SectionsThatAreNoSumOfTermsApart) {
  const auto reason = [](const std::string& expression, const std::string& directive) {
    problem::ProblemText text;
    text.expression = expression;
    text.formats = {{"B", "csr"}};
    const auto tree = apply(parse(directive).value(), problem::build(text).value());
    return tree.ok() ? "no error: " + concrete_notation::print(*tree) : support::render(tree.error());
  };
  EXPECT_EQ(reason("A(i,j) = B(i,j) + C(i,j)", "distribute(path={}, depth=3)"),
            "invalid [illegal-directive]: depth is 3 but the section has 2 loops\n"
            "  --> schedule:1:1\n"
            "  | distribute(path={}, depth=3)\n"
            "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(
      reason("A(i,j) = B(i,j) * C(i,j)", "distribute(path={}, depth=1)"),
      "invalid [illegal-directive]: the section computes `B(i,j) * C(i,j)`, which is no sum of terms that "
      "may be computed apart\n"
      "  --> schedule:1:1\n"
      "  | distribute(path={}, depth=1)\n"
      "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(
      reason("A(i,j) = exp(B(i,j)) - 1", "distribute(path={}, depth=1)"),
      "invalid [illegal-directive]: the section computes `exp(B(i,j)) - 1`, which is no sum of terms that "
      "may be computed apart\n"
      "  --> schedule:1:1\n"
      "  | distribute(path={}, depth=1)\n"
      "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(
      reason("y(i) = max(j)(B(i,j) + C(i,j))", "distribute(path={}, depth=1)"),
      "invalid [illegal-directive]: the section folds with `max=`, and only a sum is distributed over its "
      "terms\n"
      "  --> schedule:1:1\n"
      "  | distribute(path={}, depth=1)\n"
      "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(
      reason("A(i,j) = B(i,j) + C(i,j)", "distribute(path={}, depth=1); reorder(path={2}, order={j})"),
      "invalid [illegal-directive]: path {2} has the step 2; the section at {} is a sum of terms 0 to 1\n"
      "  --> schedule:1:31\n"
      "  | distribute(path={}, depth=1); reorder(path={2}, order={j})\n"
      "  |                               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(reason("A(i,j) = B(i,j) + C(i,j)", "distribute(path={}, depth=1); sequence(order={1,0})"),
            "invalid [illegal-directive]: `A(i,j)` is computed term by term; share and order nests first and "
            "distribute afterwards\n"
            "  --> schedule:1:31\n"
            "  | distribute(path={}, depth=1); sequence(order={1,0})\n"
            "  |                               ^~~~~~~~~~~~~~~~~~~~~");
}

TEST(SequenceErrors, OrdersThatCannotRun) {
  const std::string separate = "loopfuse(path={}, loc=2, pol=left, fuse=0); ";
  const auto reason = [&](const std::string& directive) {
    const std::string text = apply_error(separate + directive);
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(reason("sequence(order={0,0})"),
            "invalid [illegal-directive]: order is no permutation of the tree's nests, 0 to 1");
  EXPECT_EQ(reason("sequence(order={1,0})"),
            "invalid [illegal-directive]: the nest of `A(i,l)` reads `t1` and must run after its nest");
}

}  // namespace
}  // namespace schaas::schedule
