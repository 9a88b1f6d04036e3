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
  return summed_operands(*program, formats);
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

TEST(SummedOperands, NeedLoopTreesWithOneLoopForEachIndex) {
  for (const char* tree : {"", "i", "ij", "ijk", "i<j,>", "i<jk,l>", "row column<inner,other>"})
    EXPECT_TRUE(loops_once(tree)) << tree;
  for (const char* tree : {"ii", "i<j,j>", "i<kl,jl>", "i[j,kj]", "i:48<ij,ik>", "row column<inner,row>"})
    EXPECT_FALSE(loops_once(tree)) << tree;
}

}  // namespace
}  // namespace schaas::client
