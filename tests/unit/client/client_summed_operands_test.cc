// Which operands of a statement may come in any order, and repeatedly.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "client/cpp/expression/summed_operands.h"

namespace schaas::client {
namespace {

using Names = std::set<std::string>;

Names summed(const std::string& expression,
             const std::map<std::string, std::string>& formats = {{"B", "csr"}}) {
  const auto program = parse_program(expression);
  EXPECT_TRUE(program.ok()) << expression;
  Names names;
  for (const auto& [name, indices] : summed_operands(*program, formats)) names.insert(name);
  return names;
}

TEST(SummedOperands, AreMatricesInProductsWithDenseTensors) {
  const Names just_b{"B"};
  for (const char* expression : {
           "y(i) = B(i,j) * x(j)",
           "y(j) = B(i,j) * x(i)",
           "y(i) += B(i,j) * x(j)",
           "y(i) = B(i,j)",
           "s = B(i,j)",
           "Y(i,k) = -2 * B(i,j) * X(j,k) / d(i)",
           "r(i) = b(i) - B(i,j) * x(j)",
           "s = x(i) * B(i,j) * y(j)",
           "H(i,l) = relu(sum(j,k)(B(i,j) * X(j,k) * W(k,l)))",
           "y(i) = exp(sum(j)(B(i,j) * sum(k)(C(j,k))))",
           "y(i) = sum(j)(C(i,j) * sum(k)(B(j,k) * x(k)))",
       })
    EXPECT_EQ(summed(expression), just_b) << expression;
  EXPECT_EQ(summed("y(i) = B(i,j) * x(j)", {{"B", "csc"}, {"x", "dense"}}), just_b);
  EXPECT_EQ(summed("y(i) = B(i,j,k) * x(j)", {{"B", "dense,dense,compressed"}}), just_b);
}

TEST(SummedOperands, AreNoneWhoseOrderOrRepetitionsShow) {
  for (const char* expression : {
           "A(i,j) = B(i,j)",                     // nothing is summed
           "A(i,j) = 2 * B(i,j) * x(j)",          // nor here
           "y(i) = B(i,j) * B(i,j)",              // not linear
           "y(i) = relu(B(i,j)) * x(j)",          //
           "y(i) = x(j) / B(i,j)",                //
           "y(i) = sum(j)(B(i,j) + x(j))",        // every column counts
           "y(i) = sum(j)(exp(B(i,j)))",          //
           "y(i) = max(j)(B(i,j))",               // another fold
           "y(i) = max(j)(B(i,j) * x(j))",        //
           "y(i) max= B(i,j) * x(j)",             //
           "y(i) = B(i,j) * x(j) + c(j) * z(i)",  // a loop over j may walk both
           "y(i) = relu(sum(j)(B(i,j) * x(j))) + x(i) * sum(j)(x(j))",
           "min-plus: y(i) = B(i,j) * x(j)",     // another sum
           "a = B(i,i)",                         // entries are looked for
           "S(i) = B(i,j); y(i) = S(i) * x(i)",  // several statements
       })
    EXPECT_EQ(summed(expression), Names()) << expression;
  EXPECT_EQ(summed("y(i) = B(i,j) * C(i,j)", {{"B", "csr"}, {"C", "csr"}}), Names()) << "side by side";
  EXPECT_EQ(summed("y(i) = B(i,j) * x(j)", {{"B", "csr"}, {"x", "compressed"}}), Names());
  EXPECT_EQ(summed("y(i) = B(i,j) * x(j)", {{"B", "csr"}, {"y", "compressed"}}), Names());
  for (const char* format : {"coo", "dcsr", "bitmap", "hashed", "banded", "csf", "dense", "dense,nothing"})
    EXPECT_EQ(summed("y(i) = B(i,j) * x(j)", {{"B", format}}), Names()) << format;
}

TEST(SummedOperands, AreSeveralWhereNoneIsMergedWithAnother) {
  const std::map<std::string, std::string> rows{{"B", "csr"}, {"C", "csr"}};
  const Names both{"B", "C"};
  for (const char* expression : {
           "y(i) = B(i,j) * C(j,k) * x(k)",
           "s = x(i) * B(i,j) * C(j,k) * y(k)",
           "y(i) = sum(j)(B(i,j) * x(j)) - sum(k)(C(i,k) * z(k))",
           "Y(i,l) = B(i,j) * C(j,k) * X(k,l)",
       })
    EXPECT_EQ(summed(expression, rows), both) << expression;
  EXPECT_EQ(summed("y(i) = B(i,j) * C(k,j) * x(k)", rows), Names()) << "side by side";
  EXPECT_EQ(summed("y(i) = (B(i,j) + C(i,j)) * x(j)", rows), Names()) << "side by side";
  EXPECT_EQ(summed("y(i) = B(i,j) * C(j,k) * x(k)", {{"B", "csr"}, {"C", "csc"}}), Names()) << "side by side";
  EXPECT_EQ(summed("y(k) = B(i,k) * B(i,j) * x(j)"), Names()) << "one tensor twice";
  EXPECT_EQ(summed("A(i,k) = B(i,j) * C(j,k)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}}), Names());
}

TEST(SummedOperands, NeedOneLeafThatWalksThem) {
  const SummedOperands rows{{"B", {"i", "j"}}, {"C", {"j", "k"}}}, alone{{"B", {"i", "j"}}};
  for (const char* tree : {"<jk,ij>", "ijk", "i<jk,>", "<<jk,ij>,<i,i>>", "<jk,<ij,ii>>", "<jk, ij>"})
    EXPECT_TRUE(takes_any_order(tree, rows)) << tree;
  for (const char* tree :
       {"i<j,jk>", "<ij,jki>", "i<jk,j>", "<ij,<jk,jki>>", "<i,jkk>", "i[j,kj]", "j<kl,jl", "jj>"})
    EXPECT_FALSE(takes_any_order(tree, rows)) << tree;
  EXPECT_TRUE(takes_any_order("<jk,ij>", alone));
  EXPECT_FALSE(takes_any_order("i<jk,jl>", alone)) << "a temporary may have an element for each entry";
  EXPECT_FALSE(takes_any_order("<column row,row column>", {{"B", {"row", "other"}}}));
  EXPECT_TRUE(takes_any_order("<other row,row column>", {{"B", {"row", "column"}}}));
}

TEST(SummedOperands, NeedLoopTreesWithOneLoopForEachIndex) {
  for (const char* tree : {"", "i", "ij", "ijk", "i<j,>", "i<jk,l>", "row column<inner,other>"})
    EXPECT_TRUE(loops_once(tree)) << tree;
  for (const char* tree : {"ii", "i<j,j>", "i<kl,jl>", "i[j,kj]", "i:48<ij,ik>", "row column<inner,row>"})
    EXPECT_FALSE(loops_once(tree)) << tree;
}

}  // namespace
}  // namespace schaas::client
