// Unroll and jam, loop IR before and after; what its kernels compute is checked with all others by the
// oracle.
#include "compiler/lower/unroll_and_jam.h"

#include <gtest/gtest.h>

#include <sstream>

#include "compiler/loop_ir/parser.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/loop_ir/verifier.h"

namespace schaas {
namespace {

constexpr const char* head =
    "kernel f64 arguments 4 {\n"
    "  extent n_i = argument 0 mode 0\n"
    "  extent n_k = argument 2 mode 0\n"
    "  array A: value = values 0 written\n"
    "  array B_pos1: index32 = positions 1 level 1\n"
    "  array B_crd1: index32 = coordinates 1 level 1\n"
    "  array B: value = values 1\n"
    "  array C: value = values 2\n"
    "  array D: value = values 3\n"
    "  array w: value = scratch count n_k written\n"
    "  phase range n_i {\n";

std::string jammed(const std::string& body) {
  std::string indented;
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);) indented += "    " + line + "\n";
  const std::string text = head + indented + "  }\n}\n";
  const auto kernel = loop_ir::parse(text);
  if (!kernel.ok()) return support::render(kernel.error());
  EXPECT_EQ(text, loop_ir::print(*kernel));
  const auto after = lower::unroll_and_jam(*kernel);
  const auto verified = loop_ir::verify(after);
  EXPECT_TRUE(verified.ok()) << support::render(verified.error());
  const std::string printed = loop_ir::print(after);
  const auto again = loop_ir::parse(printed);
  EXPECT_TRUE(again.ok() && printed == loop_ir::print(*again));
  EXPECT_EQ(0U, printed.find(head)) << printed;
  std::string out;
  std::istringstream rest(printed.substr(std::string(head).size()));
  for (std::string line; std::getline(rest, line) && line != "  }";) out += line.substr(4) + "\n";
  return out;
}

TEST(UnrollAndJam, DotProductsWithTheSameRow) {
  EXPECT_EQ(
      "for i in begin .. end {\n"
      "  counter p_remainder_1 = B_pos1[i]\n"
      "  for p in B_pos1[i] .. (B_pos1[(i + 1)] - 3) by 4 {\n"
      "    let j: index = B_crd1[p]\n"
      "    let j_1: index = B_crd1[(p + 1)]\n"
      "    let j_2: index = B_crd1[(p + 2)]\n"
      "    let j_3: index = B_crd1[(p + 3)]\n"
      "    sum t\n"
      "    sum t_1\n"
      "    sum t_2\n"
      "    sum t_3\n"
      "    for simd k in 0 .. n_k {\n"
      "      t += (C[((i * n_k) + k)] * D[((j * n_k) + k)])\n"
      "      t_1 += (C[((i * n_k) + k)] * D[((j_1 * n_k) + k)])\n"
      "      t_2 += (C[((i * n_k) + k)] * D[((j_2 * n_k) + k)])\n"
      "      t_3 += (C[((i * n_k) + k)] * D[((j_3 * n_k) + k)])\n"
      "    }\n"
      "    A[p] = (B[p] * t)\n"
      "    A[(p + 1)] = (B[(p + 1)] * t_1)\n"
      "    A[(p + 2)] = (B[(p + 2)] * t_2)\n"
      "    A[(p + 3)] = (B[(p + 3)] * t_3)\n"
      "    set p_remainder_1 = (p + 4)\n"
      "  }\n"
      "  for p in p_remainder_1 .. B_pos1[(i + 1)] {\n"
      "    let j: index = B_crd1[p]\n"
      "    sum t\n"
      "    for simd k in 0 .. n_k {\n"
      "      t += (C[((i * n_k) + k)] * D[((j * n_k) + k)])\n"
      "    }\n"
      "    A[p] = (B[p] * t)\n"
      "  }\n"
      "}\n",
      jammed("for i in begin .. end {\n"
             "  for p in B_pos1[i] .. B_pos1[(i + 1)] {\n"
             "    let j: index = B_crd1[p]\n"
             "    sum t\n"
             "    for simd k in 0 .. n_k {\n"
             "      t += (C[((i * n_k) + k)] * D[((j * n_k) + k)])\n"
             "    }\n"
             "    A[p] = (B[p] * t)\n"
             "  }\n"
             "}\n"));
}

TEST(UnrollAndJam, RowsOfADenseProductShareTheLoadsOfTheOther) {
  EXPECT_EQ(
      "counter i_remainder_1 = begin\n"
      "for i in begin .. (end - 5) by 6 {\n"
      "  for vector l in 0 .. n_k {\n"
      "    sum t\n"
      "    sum t_1\n"
      "    sum t_2\n"
      "    sum t_3\n"
      "    sum t_4\n"
      "    sum t_5\n"
      "    for k in 0 .. n_k {\n"
      "      t += (C[((i * n_k) + k)] * D[((k * n_k) + l)])\n"
      "      t_1 += (C[(((i + 1) * n_k) + k)] * D[((k * n_k) + l)])\n"
      "      t_2 += (C[(((i + 2) * n_k) + k)] * D[((k * n_k) + l)])\n"
      "      t_3 += (C[(((i + 3) * n_k) + k)] * D[((k * n_k) + l)])\n"
      "      t_4 += (C[(((i + 4) * n_k) + k)] * D[((k * n_k) + l)])\n"
      "      t_5 += (C[(((i + 5) * n_k) + k)] * D[((k * n_k) + l)])\n"
      "    }\n"
      "    A[((i * n_k) + l)] = t\n"
      "    A[(((i + 1) * n_k) + l)] = t_1\n"
      "    A[(((i + 2) * n_k) + l)] = t_2\n"
      "    A[(((i + 3) * n_k) + l)] = t_3\n"
      "    A[(((i + 4) * n_k) + l)] = t_4\n"
      "    A[(((i + 5) * n_k) + l)] = t_5\n"
      "  }\n"
      "  set i_remainder_1 = (i + 6)\n"
      "}\n"
      "for i in i_remainder_1 .. end {\n"
      "  for vector l in 0 .. n_k {\n"
      "    sum t\n"
      "    for k in 0 .. n_k {\n"
      "      t += (C[((i * n_k) + k)] * D[((k * n_k) + l)])\n"
      "    }\n"
      "    A[((i * n_k) + l)] = t\n"
      "  }\n"
      "}\n",
      jammed("for i in begin .. end {\n"
             "  for vector l in 0 .. n_k {\n"
             "    sum t\n"
             "    for k in 0 .. n_k {\n"
             "      t += (C[((i * n_k) + k)] * D[((k * n_k) + l)])\n"
             "    }\n"
             "    A[((i * n_k) + l)] = t\n"
             "  }\n"
             "}\n"));
}

/// Appends go on in order: the counter is read and set copy after copy, and what is stored follows, array by
/// array.
TEST(UnrollAndJam, PutsReadsOfCountersAfterTheLoops) {
  const std::string after = jammed(
      "for i in begin .. end {\n"
      "  counter q = 0\n"
      "  for p in B_pos1[i] .. B_pos1[(i + 1)] {\n"
      "    let a: index = q\n"
      "    sum t\n"
      "    for simd k in 0 .. n_k {\n"
      "      t += (C[k] * D[((p * n_k) + k)])\n"
      "    }\n"
      "    A[a] = t\n"
      "    set q = (a + 1)\n"
      "  }\n"
      "}\n");
  EXPECT_NE(std::string::npos, after.find("    let a: index = q\n"
                                          "    set q = (a + 1)\n"
                                          "    let a_1: index = q\n"
                                          "    set q = (a_1 + 1)\n"))
      << after;
  EXPECT_NE(std::string::npos, after.find("    A[a] = t\n"
                                          "    A[a_1] = t_1\n"))
      << after;
}

/// Each of these must stay as it is.
TEST(UnrollAndJam, LeavesAlone) {
  const std::vector<std::string> bodies = {
      // the workspace is written and read in the same turn
      "for i in begin .. end {\n"
      "  for simd k in 0 .. n_k {\n"
      "    w[k] = C[((i * n_k) + k)]\n"
      "  }\n"
      "  for simd k in 0 .. n_k {\n"
      "    A[((i * n_k) + k)] += (w[k] * D[k])\n"
      "  }\n"
      "}\n",
      // the inner loop is another one for each value
      "for i in begin .. end {\n"
      "  sum t\n"
      "  for p in B_pos1[i] .. B_pos1[(i + 1)] {\n"
      "    t += (B[p] * C[B_crd1[p]])\n"
      "  }\n"
      "  A[i] = t\n"
      "}\n",
      // nothing is loaded twice: each row of the result has its own row of C
      "for i in begin .. end {\n"
      "  for simd k in 0 .. n_k {\n"
      "    A[((i * n_k) + k)] += C[((i * n_k) + k)]\n"
      "  }\n"
      "}\n",
      // the last value of the inner loop to be stored would be another one
      "for i in begin .. end {\n"
      "  for k in 0 .. n_k {\n"
      "    A[k] = (C[((i * n_k) + k)] * D[k])\n"
      "  }\n"
      "}\n",
      // the counter decides where the inner loop reads
      "for i in begin .. end {\n"
      "  counter q = 0\n"
      "  for p in B_pos1[i] .. B_pos1[(i + 1)] {\n"
      "    let a: index = q\n"
      "    sum t\n"
      "    for simd k in 0 .. n_k {\n"
      "      t += (C[k] * D[((a * n_k) + k)])\n"
      "    }\n"
      "    A[a] = t\n"
      "    set q = (a + 1)\n"
      "  }\n"
      "}\n",
      // by blocks already
      "for i in begin .. end by 48 {\n"
      "  sum t\n"
      "  for simd k in 0 .. n_k {\n"
      "    t += (C[k] * D[((i * n_k) + k)])\n"
      "  }\n"
      "  A[i] = t\n"
      "}\n"};
  for (const auto& body : bodies) EXPECT_EQ(body, jammed(body));
}

}  // namespace
}  // namespace schaas
