#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/concrete_notation/checks/verifier.h"
#include "compiler/concrete_notation/loop_order.h"
#include "compiler/concrete_notation/nodes.h"
#include "compiler/concrete_notation/parser.h"
#include "compiler/concrete_notation/printer.h"
#include "tests/support/problem_of.h"

// Loop trees as text, and the verifier that accepts a tree for a problem. Rules of legality have illegal
// trees, written by hand, with the messages that name the tensor, loop or temporary at fault. Many stand
// beside a legal neighbour, so a verifier that refuses everything fails as well. ProgramVerifier compares
// computed expressions symbolically: reductions, terms of sums, intermediates.
namespace schaas::concrete_notation {
namespace {

using test_support::problem_of;

const problem::Problem& sddmm_spmm() {
  static const problem::Problem problem =
      problem_of("A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", {{"B", "csr"}});
  return problem;
}

const char* const fused =
    "forall(i, forall(j, where(forall(l, A(i,l) += t1 * E(j,l)), forall(k, t1 += B(i,j) * C(i,k) * "
    "D(j,k)))))";

std::string verdict(const std::string& tree, const problem::Problem& problem) {
  const auto statement = parse(tree);
  if (!statement.ok()) return support::render(statement.error());
  const auto result = verify(*statement, problem);
  if (result.ok()) return "legal";
  EXPECT_EQ(result.error().code, "illegal-tree");
  EXPECT_EQ(result.error().family, support::Family::invalid);
  return result.error().message;
}

TEST(ConcreteNotation, PrintsWhatItParsed) {
  const auto statement = parse(fused);
  ASSERT_TRUE(statement.ok()) << support::render(statement.error());
  EXPECT_EQ(print(*statement), fused);
}

TEST(ConcreteNotation, WhiteSpaceIsFree) {
  const auto statement = parse(" forall ( i ,\n\tforall(j,a+=B( i , j )))  ");
  ASSERT_TRUE(statement.ok()) << support::render(statement.error());
  EXPECT_EQ(print(*statement), "forall(i, forall(j, a += B(i,j)))");
}

TEST(ConcreteNotation, EqualityIsStructuralAndIgnoresRanges) {
  const auto a = parse(fused).value();
  EXPECT_TRUE(equal(a, parse("  " + std::string(fused)).value()));
  EXPECT_FALSE(equal(a, parse("forall(i, forall(j, A(i,j) += B(i,j)))").value()));
  EXPECT_FALSE(equal(parse("forall(i, a += b(i))").value(), parse("forall(j, a += b(i))").value()));
  EXPECT_FALSE(equal(parse("forall(i, a += b(i))").value(), parse("forall(i, c += b(i))").value()));
  EXPECT_FALSE(equal(parse("where(a += t, t += b)").value(), parse("where(a += t, t += c)").value()));
}

TEST(ConcreteNotation, SeveralLoopsAtOnceAreOutermostFirst) {
  const auto leaf = parse("a += b(i,j)").value();
  EXPECT_EQ(print(forall(std::vector<std::string>{"i", "j"}, leaf)), "forall(i, forall(j, a += b(i,j)))");
  EXPECT_EQ(forall(std::vector<std::string>{}, leaf), leaf);
}

TEST(ConcreteNotation, ReadsGoesFromTheProducerToTheConsumer) {
  std::vector<std::string> names;
  for (const auto& access : reads(parse(fused).value())) names.push_back(access.tensor);
  EXPECT_THAT(names, testing::ElementsAre("B", "C", "D", "t1", "E"));
}

TEST(ConcreteNotation, LeafIsTheConsumersAssignment) {
  EXPECT_EQ(leaf_of(parse(fused).value()).target.tensor, "A");
}

TEST(LoopTree, IsThePapersShortForm) {
  EXPECT_EQ(print_loop_tree(parse(fused).value()), "ij<k,l>");
  EXPECT_EQ(print_loop_tree(parse("forall(i, forall(j, A(i) += B(i,j)))").value()), "ij");
  EXPECT_EQ(print_loop_tree(parse("a += b").value()), "");
  EXPECT_EQ(print_loop_tree(parse("where(forall(i, A(i) += t1(i)), forall(i, t1(i) += b(i)))").value()),
            "<i,i>");
}

TEST(LoopTree, LongNamesAreSeparated) {
  EXPECT_EQ(
      print_loop_tree(parse("forall(i, forall(col, where(a += t1, forall(k, t1 += B(i,col,k)))))").value()),
      "i col<k,>");
}

TEST(IndentedTree, HasOneLoopTemporaryOrStatementPerLine) {
  EXPECT_EQ(print_indented(parse(fused).value()),
            "for i\n"
            "  for j\n"
            "    t1 = 0\n"
            "    for k\n"
            "      t1 += B(i,j) * C(i,k) * D(j,k)\n"
            "    for l\n"
            "      A(i,l) += t1 * E(j,l)\n");
}

TEST(LoopAnnotation, PrintsInEveryForm) {
  for (const char* text :
       {"forall(i of 64 parallel none collapsed unroll 4, forall(j, A(i,j) += B(i,j)))",
        "forall(i parallel private, A(j) += B(i))", "forall(parallel parallel atomics, A += B(parallel))",
        "blocks(k, in 4, forall(k unroll 2, A(k) += B(k)))", "forall(i of 10000, A(i) += B(i))",
        "forall(i of 9223372036854775807, A(i) += B(i))"}) {
    const auto tree = parse(text);
    ASSERT_TRUE(tree.ok()) << support::render(tree.error());
    EXPECT_EQ(print(*tree), text);
    EXPECT_TRUE(equal(*tree, parse(print(*tree)).value()));
  }
  EXPECT_EQ(print_indented(parse("blocks(k, in 4, forall(k unroll 2, A(k) += B(k)))").value()),
            "for each of 4 parts of k\n"
            "  for k unroll 2\n"
            "    A(k) += B(k)\n");
  EXPECT_EQ(print_loop_tree(parse("blocks(k, in 4, forall(k, A(k) += B(k)))").value()), "k/4k");
  EXPECT_EQ(parse("forall(i parallel some, A(i) += B(i))").error().message,
            "expected `none`, `atomics` or `private` but found `s`");
  EXPECT_EQ(parse("forall(i of 0, A(i) += B(i))").error().message,
            "expected an extent, 1 or more, but found `0`");
  EXPECT_EQ(parse("forall(i of 9223372036854775808, A(i) += B(i))").error().message,
            "expected `,` but found `8`");
  EXPECT_FALSE(
      equal(parse("forall(i, A(i) += B(i))").value(), parse("forall(i unroll 2, A(i) += B(i))").value()));
}

TEST(Blocks, PrintInEveryForm) {
  const std::string text =
      "blocks(i, 48, where(forall(i, forall(k, A(i) += t1(i,k) * C(k))), forall(i, forall(k, t1(i,k) += "
      "B(i,k)))))";
  const auto tree = parse(text).value();
  EXPECT_EQ(print(tree), text);
  EXPECT_EQ(print_loop_tree(tree), "i:48<ik,ik>");
  EXPECT_EQ(print_indented(tree),
            "for each block of 48 i\n"
            "  t1(i,k) = 0\n"
            "  for i\n"
            "    for k\n"
            "      t1(i,k) += B(i,k)\n"
            "  for i\n"
            "    for k\n"
            "      A(i) += t1(i,k) * C(k)\n");
  EXPECT_EQ(parse("blocks(i, 0, a += b)").error().message,
            "expected the size of a block, 1 to 9999, but found `0`");
}

TEST(Terms, PrintInEveryForm) {
  const std::string text =
      "forall(i, where(forall(j, A(i,j) += t(j)), terms(forall(k, forall(j, t(j) += B(i,k) * C(k,j))), "
      "forall(j, t(j) += D(i,j)))))";
  const auto tree = parse(text).value();
  EXPECT_EQ(print(tree), text);
  EXPECT_EQ(print_loop_tree(tree), "i<[kj,j],j>");
  EXPECT_EQ(print_indented(tree),
            "for i\n"
            "  t(j) = 0\n"
            "  for k\n"
            "    for j\n"
            "      t(j) += B(i,k) * C(k,j)\n"
            "  for j\n"
            "    t(j) += D(i,j)\n"
            "  for j\n"
            "    A(i,j) += t(j)\n");
  EXPECT_FALSE(equal(tree, parse("terms(a += b, a += c)").value()));
  EXPECT_TRUE(equal(parse("terms(a += b, a += c)").value(), parse("terms(a+=b,a+=c)").value()));
  EXPECT_FALSE(equal(parse("terms(a += b, a += c)").value(), parse("terms(a += b, a += c, a += d)").value()));
  EXPECT_EQ(parse("terms(a += b)").error().message, "expected `,` and another term but found `)`");
}

TEST(TreeText, ErrorsPointAtThePlace) {
  EXPECT_EQ(support::render(parse("forall(i, A(i) = B(i))").error()),
            "invalid [tree-syntax]: expected `+=` but found `=`\n"
            "  --> tree:1:16\n"
            "  | forall(i, A(i) = B(i))\n"
            "  |                ^");
  EXPECT_EQ(support::render(parse("forall(i A(i) += B(i))").error()),
            "invalid [tree-syntax]: expected `,` but found `A`\n"
            "  --> tree:1:10\n"
            "  | forall(i A(i) += B(i))\n"
            "  |          ^");
  EXPECT_EQ(parse("").error().message,
            "expected `forall`, `blocks`, `where`, `terms` or an assignment but found the end of the text");
  EXPECT_EQ(parse("a += ").error().message, "expected an expression but found the end of the text");
  EXPECT_EQ(parse("a += b)").error().message, "expected the end of the tree but found `)`");
  EXPECT_EQ(parse("a(1) += b").error().message, "expected an index variable but found `1`");
  EXPECT_EQ(parse("where(a += b; c += d)").error().message, "expected `,` but found `;`");
}

TEST(TreeText, DeepNestingIsRefused) {
  std::string text;
  for (int n = 0; n < 65; ++n) text += "forall(i, ";
  text += "a += b" + std::string(65, ')');
  const auto result = parse(text);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "nesting");
  EXPECT_EQ(result.error().message, "the tree is nested deeper than 64 levels");
  EXPECT_TRUE(parse(text.substr(10, text.size() - 11)).ok());
}

TEST(Verifier, AcceptsTheFusedTree) { EXPECT_EQ(verdict(fused, sddmm_spmm()), "legal"); }

TEST(Verifier, AcceptsSeparateNestsAndNestedTemporaries) {
  const auto four = problem_of("A(i,l) = B(i,j) * C(j,k) * D(k,l)", {{"B", "csr"}});
  EXPECT_EQ(verdict("where(forall(i, forall(j, forall(l, A(i,l) += B(i,j) * t1(j,l)))), "
                    "forall(j, forall(k, forall(l, t1(j,l) += C(j,k) * D(k,l)))))",
                    four),
            "legal");
  EXPECT_EQ(verdict("forall(i, where(where(forall(k, forall(l, A(i,l) += t2(k) * D(k,l))), "
                    "forall(k, forall(j, t2(k) += t1(j) * C(j,k)))), forall(j, t1(j) += B(i,j))))",
                    four),
            "legal");
}

TEST(Verifier, AProducerMayBeRepeatedInALoopItDoesNotNeed) {
  const auto two = problem_of("A(i) = B(j) * C(i)", {});
  EXPECT_EQ(verdict("forall(i, where(A(i) += t1 * C(i), forall(j, t1 += B(j))))", two), "legal");
}

TEST(Verifier, EveryOperandIsUsedExactlyOnce) {
  const auto two = problem_of("A(i) = B(i,j) * C(j)", {});
  EXPECT_EQ(verdict("forall(i, forall(j, A(i) += B(i,j)))", two), "`C(j)` is not used anywhere in the tree");
  EXPECT_EQ(verdict("forall(i, forall(j, A(i) += B(i,j) * C(j) * C(j)))", two),
            "`C(j)` is used more often than in `A(i) = B(i,j) * C(j)`");
  EXPECT_EQ(verdict("forall(i, forall(j, A(i) += B(i,j) * C(i)))", two),
            "`C(i)` is not an operand of `A(i) = B(i,j) * C(j)`");
  EXPECT_EQ(verdict("forall(i, forall(j, B(i,j) += A(i) * C(j)))", two),
            "`A(i)` is not an operand of `A(i) = B(i,j) * C(j)`");
}

TEST(Verifier, AnOperandThatIsThereTwiceIsUsedTwice) {
  const auto square = problem_of("a = B(i) * B(i)", {});
  EXPECT_EQ(verdict("forall(i, a += B(i) * B(i))", square), "legal");
  EXPECT_EQ(verdict("forall(i, a += B(i))", square), "`B(i)` is not used anywhere in the tree");
}

TEST(Verifier, LoopsAreTheProblemsAndBoundOnce) {
  const auto two = problem_of("A(i) = B(i,j) * C(j)", {});
  EXPECT_EQ(verdict("forall(i, A(i) += B(i,j) * C(j))", two),
            "index `j` of `B(i,j)` is not bound by a loop above it");
  EXPECT_EQ(verdict("forall(j, A(i) += B(i,j) * C(j))", two),
            "index `i` of `A(i)` is not bound by a loop above it");
  EXPECT_EQ(verdict("forall(i, forall(j, forall(i, A(i) += B(i,j) * C(j))))", two),
            "loop `i` stands inside another loop `i`");
  EXPECT_EQ(verdict("forall(i, forall(j, forall(k, A(i) += B(i,j) * C(j))))", two),
            "loop `k` is over no index of `A(i) = B(i,j) * C(j)`");
}

TEST(Verifier, SparseLevelsAreReachedInStorageOrder) {
  const auto csr = problem_of("A(i) = B(i,j) * C(j)", {{"B", "csr"}});
  EXPECT_EQ(verdict("forall(j, forall(i, A(i) += B(i,j) * C(j)))", csr),
            "`B(i,j)` is stored dense,compressed:0,1: loop `i` must be outside loop `j`");
  const auto csc = problem_of("A(i) = B(i,j) * C(j)", {{"B", "csc"}});
  EXPECT_EQ(verdict("forall(j, forall(i, A(i) += B(i,j) * C(j)))", csc), "legal");
}

TEST(Verifier, OrderIsCheckedAcrossTheBranch) {
  EXPECT_EQ(verdict("forall(j, forall(i, where(forall(l, A(i,l) += t1 * E(j,l)), "
                    "forall(k, t1 += B(i,j) * C(i,k) * D(j,k)))))",
                    sddmm_spmm()),
            "`B(i,j)` is stored dense,compressed:0,1: loop `i` must be outside loop `j`");
}

TEST(Verifier, ASparseResultIsWrittenInOrderAboveItsSums) {
  const auto ttm =
      problem_of("A(i,j,m) = B(i,j,k) * C(k,m)", {{"A", "dense,compressed,dense"}, {"B", "csf"}});
  EXPECT_EQ(verdict("forall(i, forall(j, forall(k, forall(m, A(i,j,m) += B(i,j,k) * C(k,m)))))", ttm),
            "legal");
  const auto sum = problem_of("A(i,m) = B(i,k) * C(k,m)", {{"A", "csr"}});
  EXPECT_EQ(verdict("forall(i, forall(k, forall(m, A(i,m) += B(i,k) * C(k,m))))", sum),
            "`A(i,m)` is stored dense,compressed:0,1 and `k` is summed: loop `m` must be outside loop `k`");
  EXPECT_EQ(verdict("forall(m, forall(i, forall(k, A(i,m) += B(i,k) * C(k,m))))", sum),
            "`A(i,m)` is stored dense,compressed:0,1: loop `i` must be outside loop `m`");
  EXPECT_EQ(verdict("forall(i, forall(m, forall(k, A(i,m) += B(i,k) * C(k,m))))", sum), "legal");
}

TEST(Verifier, BlocksHoldLoopsOverTheirIndex) {
  const auto two = problem_of("A(i) = B(i,k) * C(k) * D(i,k)", {{"B", "csr"}});
  const auto tree = [](const std::string& consumer, const std::string& producer) {
    return "blocks(i, 48, where(" + consumer + ", " + producer + "))";
  };
  const std::string consumer = "forall(i, forall(k, A(i) += t1(i,k) * C(k) * D(i,k)))";
  const std::string producer = "forall(i, forall(k, t1(i,k) += B(i,k)))";
  EXPECT_EQ(verdict(tree(consumer, producer), two), "legal");
  EXPECT_EQ(verdict(tree("forall(k, forall(i, A(i) += t1(i,k) * C(k) * D(i,k)))", producer), two), "legal");
  EXPECT_EQ(verdict(tree(consumer, "forall(k, t1(i,k) += B(i,k))"), two),
            "inside the blocks of `i` every way to an assignment must pass a loop over `i`");
  EXPECT_EQ(verdict("blocks(l, 48, " + tree(consumer, producer) + ")", two),
            "blocks of `l` are of no index of `A(i) = B(i,k) * C(k) * D(i,k)`");
  EXPECT_EQ(verdict("forall(i, " + tree(consumer, producer) + ")", two),
            "blocks of `i` stand inside a loop `i`");
}

TEST(Verifier, BlocksOfAMergedIndexAreOfCoordinates) {
  const auto merged = problem_of("A(i) = B(i,j) * C(i,j) * D(j)", {{"B", "csr"}, {"C", "csr"}});
  EXPECT_EQ(verdict("forall(i, blocks(j, 8, where(forall(j, A(i) += t1(j) * D(j)), "
                    "forall(j, t1(j) += B(i,j) * C(i,j)))))",
                    merged),
            "legal");
  EXPECT_EQ(
      verdict("blocks(j, 8, forall(i, where(forall(j, A(i) += t1(j) * D(j)), "
              "forall(j, t1(j) += B(i,j) * C(i,j)))))",
              merged),
      "blocks of the entries of `B(i,j)` over `j` stand outside loop `i`, which leads to these entries");
}

TEST(Verifier, SumsComeAfterEveryFactorThatHasTheIndex) {
  const auto four = problem_of("A(i,l) = B(i,j) * C(j,k) * D(k,l)", {});
  EXPECT_EQ(verdict("forall(i, where(forall(k, forall(l, A(i,l) += t1 * D(k,l))), "
                    "forall(j, forall(k, t1 += B(i,j) * C(j,k)))))",
                    four),
            "loop `k` around `t1` sums over `k` before `D(k,l)` has been multiplied in");
  EXPECT_EQ(verdict("forall(i, where(forall(j, forall(l, A(i,l) += t1(j,l) * B(i,j))), "
                    "forall(j, forall(k, forall(l, t1(j,l) += C(j,k) * D(k,l))))))",
                    four),
            "legal");
}

TEST(Verifier, NothingIsSummedTwice) {
  const auto two = problem_of("A(i) = B(i,j) * C(i)", {});
  EXPECT_EQ(verdict("forall(i, where(forall(j, A(i) += t1 * C(i)), forall(j, t1 += B(i,j))))", two),
            "loop `j` around `A(i)` sums over `j`, which has been summed before");
}

TEST(Verifier, ResultIndicesAreNeverSummed) {
  const auto two = problem_of("A(i) = B(i) * C(i)", {});
  EXPECT_EQ(verdict("where(forall(i, A(i) += t1 * C(i)), forall(i, t1 += B(i)))", two),
            "loop `i` around `t1` sums over an index of the result `A(i)`");
}

TEST(Verifier, TemporariesAreProducedOnceAndReadOnceByTheirConsumer) {
  const auto three = problem_of("A(i) = B(i) * C(i) * D(i)", {});
  EXPECT_EQ(verdict("forall(i, where(A(i) += C(i) * D(i), t1 += B(i)))", three),
            "temporary `t1` is read 0 times by the consumer of its `where` instead of once");
  EXPECT_EQ(verdict("forall(i, where(A(i) += t1 * t1 * D(i), t1 += B(i) * C(i)))", three),
            "temporary `t1` is read 2 times by the consumer of its `where` instead of once");
  EXPECT_EQ(verdict("forall(i, where(A(i) += t1 * D(i), where(t1 += t1 * C(i), t1 += B(i))))", three),
            "temporary `t1` has two producers");
  EXPECT_EQ(verdict("forall(i, A(i) += B(i) * C(i) * D(i) * t9)", three),
            "temporary `t9` is read where no `where` above has produced it");
  EXPECT_EQ(verdict("forall(i, where(A(i) += t1 * C(i) * D(i), t1 += t1 * B(i)))", three),
            "temporary `t1` is read where no `where` above has produced it");
}

TEST(Verifier, TemporariesPassIndicesBoundInsideTheirWhere) {
  const auto three = problem_of("A(i,j) = B(i,j) * C(i) * D(j)", {});
  EXPECT_EQ(
      verdict("forall(i, where(forall(j, A(i,j) += t1(i,j) * D(j)), forall(j, t1(i,j) += B(i,j) * C(i))))",
              three),
      "index `i` of temporary `t1(i,j)` is bound outside its `where`, so every value of it is zeroed but one "
      "is used");
  EXPECT_EQ(verdict("where(forall(i, forall(j, A(i,j) += t1(j,i) * D(j))), "
                    "forall(i, forall(j, t1(i,j) += B(i,j) * C(i))))",
                    three),
            "temporary `t1(i,j)` is read as `t1(j,i)`");
  EXPECT_EQ(
      verdict("forall(i, where(forall(j, A(i,j) += t1(j,j) * D(j)), forall(j, t1(j,j) += B(i,j) * C(i))))",
              three),
      "temporary `t1(j,j)` has index `j` twice");
}

TEST(Verifier, WritesTheResultAndNoOperand) {
  const auto two = problem_of("A(i) = B(i) * C(i)", {});
  EXPECT_EQ(verdict("forall(i, t1(i) += B(i) * C(i))", two), "the tree computes `t1(i)` instead of `A(i)`");
  EXPECT_EQ(verdict("forall(i, where(A(i) += B(i) * C(i), B(i) += B(i)))", two),
            "`B(i)` is used more often than in `A(i) = B(i) * C(i)`");
  EXPECT_EQ(verdict("forall(i, B(i) += B(i) * C(i))", two), "the tree writes the operand `B(i)`");
}

TEST(TreeText, AssignmentsFoldWithAnyMonoidAnyExpression) {
  const std::string text =
      "forall(i, where(Y(i) += relu(t1) / (c(i) + 2), forall(j, t1 max= where(B(i,j) > 0,B(i,j),-1))))";
  const auto tree = parse(text);
  ASSERT_TRUE(tree.ok()) << support::render(tree.error());
  EXPECT_EQ(print(*tree), text);
  for (const std::string sign : {"+=", "*=", "max=", "min=", "or=", "and="})
    EXPECT_EQ(print(parse("a " + sign + " b").value()), "a " + sign + " b");
  EXPECT_FALSE(equal(parse("a += b").value(), parse("a max= b").value()));
  EXPECT_EQ(print_indented(*tree),
            "for i\n"
            "  t1 = -infinity\n"
            "  for j\n"
            "    t1 max= where(B(i,j) > 0,B(i,j),-1)\n"
            "  Y(i) += relu(t1) / (c(i) + 2)\n");
  EXPECT_EQ(support::render(parse("forall(i, A(i) += B(i) + )").error()),
            "invalid [tree-syntax]: expected a tensor, a number, a function or `(`, found the end of the "
            "expression\n"
            "  --> tree:1:26\n"
            "  | forall(i, A(i) += B(i) + )\n"
            "  |                          ^");
}

TEST(ProgramVerifier, ComparesWhatIsComputed) {
  const auto scaled = problem_of("Y(i) = max(j)(B(i,j)) / c(i)", {{"B", "csr"}});
  EXPECT_EQ(verdict("forall(i, where(Y(i) += t1 / c(i), forall(j, t1 max= B(i,j))))", scaled), "legal");
  EXPECT_EQ(
      verdict("where(forall(i, Y(i) += t1(i) / c(i)), forall(i, forall(j, t1(i) max= B(i,j))))", scaled),
      "legal");
  EXPECT_EQ(verdict("forall(i, where(Y(i) += t1 / c(i), forall(j, t1 min= B(i,j))))", scaled),
            "the tree computes `min(j)(B(i,j)) / c(i)` for `Y(i)` instead of `max(j)(B(i,j)) / c(i)`");
  EXPECT_EQ(verdict("forall(i, where(Y(i) max= t1 / c(i), forall(j, t1 max= B(i,j))))", scaled),
            "`Y(i)` is written with `max=` instead of `+=`");
  EXPECT_EQ(verdict("forall(i, forall(j, Y(i) max= B(i,j) / c(i)))", scaled),
            "the tree computes `max(j)(B(i,j) / c(i))` for `Y(i)` instead of `max(j)(B(i,j)) / c(i)`");
}

TEST(ProgramVerifier, TermsAddUpToTheSum) {
  const auto problem = problem_of("A(i,j) = B(i,j) - C(i,j) + D(i,j)", {{"B", "csr"}});
  const std::string first = "forall(i, terms(forall(j, A(i,j) += B(i,j)), ";
  EXPECT_EQ(verdict(first + "forall(j, A(i,j) += D(i,j) - C(i,j))))", problem), "legal");
  EXPECT_EQ(verdict(first + "forall(j, A(i,j) += -C(i,j)), forall(j, A(i,j) += D(i,j))))", problem), "legal");
  EXPECT_EQ(
      verdict(first + "forall(j, A(i,j) += C(i,j)), forall(j, A(i,j) += D(i,j))))", problem),
      "the tree computes `B(i,j) + C(i,j) + D(i,j)` for `A(i,j)` instead of `-C(i,j) + B(i,j) + D(i,j)`");
  EXPECT_EQ(verdict("forall(i, forall(j, terms(A(i,j) += B(i,j) - C(i,j), A(j,i) += D(i,j))))", problem),
            "the terms of one sum write `A(i,j)` and `A(j,i)`");
  EXPECT_EQ(verdict(first + "forall(j, A(i,j) max= D(i,j) - C(i,j))))", problem),
            "a term is folded into `A(i,j)` with `max=`; terms are added");
  const auto sums = problem_of("y(i) = B(i,j) * x(j) + B(i,j) * z(j)", {{"B", "csr"}});
  EXPECT_EQ(
      verdict("forall(i, terms(forall(j, y(i) += B(i,j) * x(j)), forall(j, y(i) += B(i,j) * z(j))))", sums),
      "legal");
  EXPECT_EQ(verdict("forall(i, forall(j, y(i) += B(i,j) * x(j) + B(i,j) * z(j)))", sums), "legal");
  const auto sparse = problem_of("A(i,j) = B(i,j) + C(i,j)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}});
  EXPECT_EQ(
      verdict("forall(i, terms(forall(j, A(i,j) += B(i,j)), forall(j, A(i,j) += C(i,j))))", sparse),
      "every term of a sum appends to level `j` of the sparse result `A(i,j)`, which is appended to once "
      "and in order");
  EXPECT_EQ(verdict("forall(i, forall(j, terms(A(i,j) += B(i,j), A(i,j) += C(i,j))))", sparse), "legal");
  const auto product = problem_of("A(i,j) = B(i,j) * C(i,j)", {{"B", "csr"}});
  EXPECT_EQ(verdict("forall(i, forall(j, terms(A(i,j) += B(i,j), A(i,j) += C(i,j))))", product),
            "`terms` stand in a tree of `A(i,j) = B(i,j) * C(i,j)`, which is no sum");
}

/// A sum of sums has the value of its terms' sums, also as a factor.
TEST(ProgramVerifier, SumsAreDistributedOverTerms) {
  const auto factor = problem_of("y(i) = b(i) * sum(j)(B(i,j) + C(i,j))", {{"B", "csr"}});
  EXPECT_EQ(verdict("forall(i, forall(j, y(i) += b(i) * (B(i,j) + C(i,j))))", factor), "legal");
  EXPECT_EQ(
      verdict("forall(i, where(y(i) += b(i) * t1, terms(forall(j, t1 += B(i,j)), forall(j, t1 += C(i,j)))))",
              factor),
      "legal");
  EXPECT_EQ(
      verdict("forall(i, where(y(i) += b(i) * t1, terms(forall(j, t1 += B(i,j)), t1 += b(i))))", factor),
      "the tree computes `b(i) * b(i) + sum(j)(B(i,j) * b(i))` for `y(i)` instead of "
      "`sum(j)(B(i,j) * b(i)) + sum(j)(C(i,j) * b(i))`");
}

TEST(ProgramVerifier, IntermediatesAreComputedAsWritten) {
  const auto two = problem_of("T(i,k) = B(i,j) * C(j,k); A(i,l) = exp(T(i,k)) * D(k,l)", {});
  const std::string consumer = "forall(i, forall(l, forall(k, A(i,l) += exp(T(i,k)) * D(k,l))))";
  EXPECT_EQ(
      verdict("where(" + consumer + ", forall(i, forall(k, forall(j, T(i,k) += B(i,j) * C(j,k)))))", two),
      "legal");
  EXPECT_EQ(verdict("where(" + consumer + ", forall(i, forall(k, forall(j, T(i,k) += B(i,j)))))", two),
            "the tree computes `sum(j)(B(i,j))` for `T(i,k)` instead of `sum(j)(B(i,j) * C(j,k))`");
  EXPECT_EQ(verdict("forall(i, forall(k, where(forall(l, A(i,l) += exp(T) * D(k,l)), "
                    "forall(j, T += B(i,j) * C(j,k)))))",
                    two),
            "legal");
  EXPECT_EQ(verdict(consumer, two), "temporary `T(i,k)` is read where no `where` above has produced it");
}

}  // namespace
}  // namespace schaas::concrete_notation
