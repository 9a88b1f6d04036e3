#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/loop_ir/lane_form.h"
#include "compiler/loop_ir/nodes.h"
#include "compiler/loop_ir/parser.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/loop_ir/verifier.h"

namespace schaas::loop_ir {
namespace {

/// Every statement and expression once.
constexpr const char* everything = R"(kernel f32 arguments 4 {
  extent n_i = argument 0 mode 0
  extent n_k = argument 2 mode 1 required 64
  let s: index = (n_i * n_k)
  array A: value = values 0 written
  array B_pos1: index32 = positions 1 level 1
  array B_crd1: index32 = coordinates 1 level 1
  array B: value = values 1
  array C_pos1: index64 = positions 2 level 1
  array C_crd1: index64 = coordinates 2 level 1
  array w: value = workspace count n_k written
  array w_2: value = shared 0 count s written
  phase range n_i parallel balance 1 level 1 {
    for i in begin .. end {
      let o: index = (i * 64)
      for lanes k in 0 .. 64 {
        sum t
        for pj in B_pos1[i] .. B_pos1[(i + 1)] {
          let v: value = B[pj]
          t += (v * w_2[(o + k)])
        }
        w[k] = t
      }
    }
  }
  phase range B_pos1[1] {
    clear w count n_k
    for b in 0 .. n_k by 48 {
      let b_end: index = min((b + 48), n_k)
    }
    merge j at p over B_crd1 in begin .. end, q over C_crd1 in search(C_crd1, C_pos1[0], C_pos1[1], B_crd1[begin]) .. C_pos1[1] {
      for simd k in 0 .. n_k {
        A[((j * n_k) + k)] += (w[k] + B[p])
      }
      w[q] = zero
      w[(q + -3)] = zero
    }
  }
}
)";

TEST(LoopIr, TextRoundTrips) {
  const auto kernel = parse(everything);
  ASSERT_TRUE(kernel.ok()) << support::render(kernel.error());
  EXPECT_EQ(everything, print(*kernel));
  const auto verified = verify(*kernel);
  EXPECT_TRUE(verified.ok()) << support::render(verified.error());
}

TEST(LoopIr, EqualityIsStructural) {
  const auto a = parse(everything);
  const auto b = parse(everything);
  for (std::size_t n = 0; n < a->phases.size(); ++n) EXPECT_TRUE(equal(a->phases[n].body, b->phases[n].body));
  EXPECT_FALSE(equal(a->phases[0].body, b->phases[1].body));
}

TEST(LoopIr, ExpressionsFoldIntegers) {
  EXPECT_EQ("7", print(add(integer(3), integer(4))));
  EXPECT_EQ("12", print(multiply(integer(3), integer(4))));
  EXPECT_EQ("i", print(add(integer(0), name("i"))));
  EXPECT_EQ("i", print(multiply(name("i"), integer(1))));
  EXPECT_EQ("(i + 1)", print(add(name("i"), integer(1))));
}

TEST(LoopIr, ParserPointsAtTheFirstError) {
  const auto text_of = [](const std::string& text) {
    const auto kernel = parse(text);
    return kernel.ok() ? "no error" : support::render(kernel.error());
  };
  EXPECT_EQ(
      "invalid [loops-syntax]: expected `f64` or `f32` but found `f16`\n"
      "  --> loops:1:8\n"
      "  | kernel f16\n"
      "  |        ^~~",
      text_of("kernel f16"));
  EXPECT_EQ(
      "invalid [loops-syntax]: expected `+` or `*` but found `-`\n"
      "  --> loops:2:19\n"
      "  | let s: index = (a - b)\n"
      "  |                   ^",
      text_of("kernel f64 arguments 1 {\nlet s: index = (a - b)\n}"));
  EXPECT_EQ(
      "invalid [loops-syntax]: expected a number below 2^63 but found `9223372036854775808`\n"
      "  --> loops:1:41\n"
      "  | kernel f64 arguments 1 { let s: index = 9223372036854775808 }\n"
      "  |                                         ^~~~~~~~~~~~~~~~~~~",
      text_of("kernel f64 arguments 1 { let s: index = 9223372036854775808 }"));
  EXPECT_EQ(
      "invalid [loops-syntax]: expected `extent`, `let`, `array`, `phase` or `}` but found the end of the "
      "text\n"
      "  --> loops:1:25\n"
      "  | kernel f64 arguments 1 {\n"
      "  |                         ^",
      text_of("kernel f64 arguments 1 {"));
}

TEST(LoopIr, ParserRefusesEndlessNesting) {
  const auto kernel = parse("kernel f64 arguments 1 { let s: index = " + std::string(100000, '('));
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ("nesting", kernel.error().code);
}

struct Wrong {
  const char* body;
  const char* message;
};

class LoopIrVerifier : public ::testing::TestWithParam<Wrong> {};

TEST_P(LoopIrVerifier, NamesWhatIsWrong) {
  const std::string text = std::string(
                               "kernel f64 arguments 2 {\n"
                               "  extent n = argument 0 mode 0\n"
                               "  array A: value = values 0 written\n"
                               "  array B: value = values 1\n"
                               "  array p: index32 = positions 1 level 0\n"
                               "  phase range n {\n") +
                           GetParam().body + "\n  }\n}\n";
  const auto kernel = parse(text);
  ASSERT_TRUE(kernel.ok()) << support::render(kernel.error());
  const auto verified = verify(*kernel);
  ASSERT_FALSE(verified.ok());
  EXPECT_EQ(std::string("internal [loop-ir]: ") + GetParam().message, support::render(verified.error()));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, LoopIrVerifier,
    ::testing::Values(
        Wrong{"A[x] += B[0]", "`x` is used before it is declared"},
        Wrong{"for i in 0 .. n { let i: index = 3 }", "`i` is declared twice"},
        Wrong{"for A in 0 .. n { }", "`A` is declared twice"},
        Wrong{"B[0] = zero", "`B` is stored to but not declared written"},
        Wrong{"A[0] = n", "`n` is an index where the other is needed"},
        Wrong{"A[B[0]] = zero", "`B[0]` is a value where the other is needed"},
        Wrong{"let t: value = B[0] t += B[1]", "`t` is no sum"},
        Wrong{"for i in 0 .. n { sum t } t += B[0]", "`t` is no sum"},
        Wrong{"C[0] = zero", "array `C` is not declared"},
        Wrong{"A[0] = (B[0] + n)", "`n` is an index where the other is needed"},
        Wrong{"merge j at q over p in 0 .. n { }", "`j` merges fewer than two lists"},
        Wrong{"for lanes k in 0 .. n { for i in 0 .. k { } }", "a bound of `i` depends on a lane"},
        Wrong{"for lanes k in 0 .. n { A[(k * 2)] = zero }", "`A` is not stored one element per lane"},
        Wrong{"for lanes k in 0 .. n { A[k] = B[(k * 2)] }", "`B[(k * 2)]` is not one element per lane"},
        Wrong{"sum t for lanes k in 0 .. n { t += B[k] }", "`t` is shared by all lanes"},
        Wrong{"for lanes k in 0 .. n { for lanes l in 0 .. n { } }", "lanes loop `l` inside another"},
        Wrong{"for simd k in 0 .. n by 4 { }", "`k` advances by 4"},
        Wrong{"for k in 0 .. n by 0 { }", "`k` advances by 0"},
        Wrong{"for k in 0 .. min(B[0], n) { }", "`B[0]` is a value where the other is needed"},
        Wrong{"for lanes k in 0 .. n { clear A count n }", "`A` is cleared inside a lanes loop"}));

TEST(LoopIr, LaneForm) {
  const std::set<std::string> varying = {"k", "t"};
  EXPECT_TRUE(is_lane_index(name("k"), "k", varying));
  EXPECT_TRUE(is_lane_index(add(name("o"), name("k")), "k", varying));
  EXPECT_FALSE(is_lane_index(add(name("k"), name("k")), "k", varying));
  EXPECT_FALSE(is_lane_index(name("o"), "k", varying));
  EXPECT_TRUE(is_lane_value(multiply(name("t"), load("B", name("k"))), "k", varying));
  EXPECT_TRUE(is_lane_value(load("B", name("o")), "k", varying));
  EXPECT_FALSE(is_lane_value(name("k"), "k", varying));
}

}  // namespace
}  // namespace schaas::loop_ir
