#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "compiler/loop_ir/nodes.h"
#include "compiler/loop_ir/parser.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/vector_form.h"
#include "compiler/loop_ir/verifier.h"

// Loop IR as text, its verifier, and the functions over it: folding of integers, substitution, traversal,
// vector forms. `everything` has each statement and expression once; it must print as it was read.
// LoopIrVerifier has wrong bodies, each with the message that names its fault, so a rule that is no longer
// checked is noticed. The larger rules, of phases, counters and wide loads, have a right kernel beside the
// wrong ones.
namespace schaas::loop_ir {
namespace {

/// Every statement and expression once.
constexpr const char* everything = R"(kernel f32 arguments 4 {
  extent n_i = argument 0 mode 0
  extent n_k = argument 2 mode 1 required 64
  extent n_l = argument 3 mode 0 sparse
  extent n_m = argument 3 mode 1 minimum 8 maximum 256
  let s: index = (n_i * n_k)
  array A: value = values 0 written
  array B_pos1: index32 = positions 1 level 1
  array B_crd1: index32 = coordinates 1 level 1
  array B: value = values 1
  array C_pos1: index64 = positions 2 level 1
  array C_crd1: index64 = coordinates 2 level 1
  array w: value = scratch count n_k written
  array w_2: value = shared 0 count s written
  array e: index64 = shared 1 count (n_i + 1) written
  array A_pos1: index32 = positions 0 level 1 written
  array A_crd1: index32 = coordinates 0 level 1 written
  array B_ref1: index64 = shared 2 count n_i referenced by 1 level 1
  array w_3: value = shared 3 count n_i stored written
  array list: index64 = scratch count n_k written
  array flag: byte = scratch count n_k written
  array t_list: index32 = scratch count 144 written
  array t_values: value = scratch count 144 written
  result fill -inf
  result counter level 1 slot 1
  phase symbolic range n_i parallel {
    for i in begin .. end {
      e[i] = (B_pos1[(i + 1)] - B_pos1[i])
    }
  }
  phase range n_i over B_ref1 parallel {
    for q in begin .. end {
      w_3[B_ref1[q]] = 1.0
    }
  }
  phase range n_k parallel specialised for n_i at 32 fold w_2 max work n_k B_pos1[n_i] {
    for k in begin .. end unroll 4 {
      w_2[k] max= 1.0
      atomic w_2[k] max= 1.0
    }
  }
  phase range n_i parallel balance 1 level 1 specialised for n_i single n_l n_m at 8 16 registers 1 2 4 {
    for i in begin .. end {
      let o: index = (i * 64)
      for vector k in 0 .. 64 {
        sum t
        for pj in B_pos1[i] .. B_pos1[(i + 1)] row i of B_pos1 {
          let v: value = B[pj]
          t += (v * w_2[(o + k)])
        }
        for pj_2 in B_pos1[i] .. B_pos1[(i + 1)] entries of B_crd1 prefetch 16 {
          let j_4: index = B_crd1[pj_2]
          t += w_2[((j_4 * 64) + k)]
          prefetch w_2[(((j_4 + 4) * 64) + k)]
        }
        w[k] = t
      }
    }
  }
  phase range B_pos1[1] {
    fill w from 0 count n_k with 0.0 row
    fill flag from 0 count n_k with 1
    for b in 0 .. n_k by 48 {
      let b_end: index = min((b + 48), n_k)
    }
    counter n_entries = 0
    for b_3 in 0 .. n_k product entries of B_crd1 appends n_entries at at {
      let at: index = n_entries
      for vector k in 0 .. n_i {
        sum t
        for l in 0 .. n_k {
          t += w[l]
        }
        w_2[((b_3 * n_i) + k)] = t
      }
      set n_entries = (at + 1)
    }
    for b_4 in C_pos1[B_pos1[0]] .. C_pos1[B_pos1[1]] {
      let i: index = b_4
      for b_5 in C_pos1[B_pos1[i]] .. C_pos1[B_pos1[(i + 1)]] row i of B_pos1, C_pos1 overruns {
      }
    }
    counter b_remainder = 0
    for b_2 in 0 .. (n_k - 3) by 4 jammed entries of B_crd1 {
      set b_remainder = (b_2 + 4)
    }
    for b_2 in b_remainder .. n_k remainder unroll 2 entries of B_crd1 {
      w[B_crd1[b_2]] = 0.0
    }
    merge j at p over B_crd1 in begin .. end, q over C_crd1 in search(C_crd1, C_pos1[0], C_pos1[1], B_crd1[begin]) .. C_pos1[1] {
      for simd k in 0 .. n_k {
        A[((j * n_k) + k)] += (w[k] + B[p])
      }
      w[q] = 0.0
      w[(q + -3)] = -inf
    }
    counter n = 0
    merge any j_2 at p_2 present h over B_crd1 in begin .. end, q_2 present g over C_crd1 in 0 .. C_pos1[0] {
      let v_2: value = (choose(h, B[p_2], value(j_2)) / where((B[0] < B[1]), 1e-07, 2.5))
      if and(h, not(g), (flag[j_2] == 0)) {
        flag[j_2] = 1
        list[n] = j_2
        set n = (n + 1)
      }
      w[j_2] max= max(v_2, exp(v_2), negate(B[0]))
    }
    merge any j_3 in 0 .. n_k at p_3 present h_2 over B_crd1 in begin .. end {
      max t_2 from 0.0
      t_2 max= choose(h_2, B[p_3], 1.0)
      min t_3
      t_3 min= t_2
      prod t_4
      t_4 *= (t_3 - 1.0)
      or t_5
      t_5 or= (t_4 >= 0.0)
      and t_6
      t_6 and= t_5
      A[p_3] or= t_6
      A[p_3] *= t_6
    }
    merge first j_4 at p_6 over B_crd1 in begin .. end, q_4 over C_crd1 in 0 .. C_pos1[0] {
      set n = 1
    }
    merge i_2 at p_4 until p_5 over B_crd1 in begin .. end {
      for q_3 in p_4 .. p_5 {
        w[q_3] = 1.0
      }
    }
    sort list in 0 .. n
    counter c_2 = 0
    occupy flag of n_k list list count c_2 at 3
    groups near in flag of n_k list list count c_2 from A_crd1[0] to 9 times n
    if near {
      flag[4] = 255
    }
    compact flag of n_k list list count c_2
    counter c_3 = 0
    expand A_crd1 B in begin .. end times 1.0 to t_list values t_values count c_3
    compress t_list values t_values count c_3
    for p_6 in 0 .. n {
      supernode p_6 to (n + 1) rows A_crd1 times B and B[0] of A_pos1 A_crd1 B into w set flag
    }
    A_crd1[0] = list[0]
    A_pos1[1] = n
  }
  numeric {
    A[0] = B[begin]
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

TEST(LoopIr, ResultFillKeepsTheSignOfZero) {
  Kernel kernel;
  kernel.result_fill = -0.0;
  const auto read = parse(print(kernel));
  ASSERT_TRUE(read.ok()) << support::render(read.error());
  EXPECT_TRUE(std::signbit(read->result_fill));
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

TEST(LoopIr, IntegersBeyond64BitsStayUnfolded) {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ("9223372036854775807", print(add(integer(largest - 1), integer(1))));
  EXPECT_EQ("(9223372036854775807 + 1)", print(add(integer(largest), integer(1))));
  EXPECT_EQ("(-9223372036854775807 + -2)", print(add(integer(-largest), integer(-2))));
  EXPECT_EQ("(9223372036854775807 * 2)", print(multiply(integer(largest), integer(2))));
  EXPECT_EQ("(4294967296 * -4294967296)",
            print(multiply(integer(std::int64_t{1} << 32), integer(-(std::int64_t{1} << 32)))));
}

TEST(LoopIr, InitialValuesAreComparedBitByBit) {
  const auto from = [](std::optional<double> initial) {
    return make(Accumulator{"t", operators::Monoid::sum, initial});
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(equal(from(nan), from(nan)));
  EXPECT_TRUE(equal(from(-0.0), from(-0.0)));
  EXPECT_TRUE(equal(from({}), from({})));
  EXPECT_FALSE(equal(from(-0.0), from(0.0)));
  EXPECT_FALSE(equal(from({}), from(0.0)));
}

TEST(LoopIr, SubstitutionReturnsUnchangedSubtrees) {
  const auto element = load("A", name("i"));
  for (const auto& whole :
       {element, add(element, name("j")), choose(name("h"), element, number(0)),
        search("A_crd", integer(0), name("n"), name("i"), Layout::ascending),
        search("A_crd", integer(0), name("n"), name("i"), Layout::distinct), convert(name("i"))}) {
    EXPECT_EQ(whole, substitute(whole, {{"k", integer(1)}})) << print(whole);
    EXPECT_NE(whole, substitute(whole, {{"i", integer(1)}})) << print(whole);
  }
}

TEST(LoopIr, ParserPointsAtTheFirstError) {
  const auto text_of = [](const std::string& text) {
    const auto kernel = parse(text);
    return kernel.ok() ? "no error" : support::render(kernel.error());
  };
  EXPECT_EQ(
      "invalid [loops-syntax]: expected `f64`, `f32`, `i64`, `i32`, `bf16`, `f16`, `i8`, `i16`, `u8`, `u16`, "
      "`u32`, `u64`, `bool`, `c64` or `c128` but found `c32`\n"
      "  --> loops:1:8\n"
      "  | kernel c32\n"
      "  |        ^~~",
      text_of("kernel c32"));
  EXPECT_EQ(
      "invalid [loops-syntax]: expected `+`, `-`, `*`, `/`, `<`, `<=`, `>`, `>=`, `==` or `!=` but found "
      "`%`\n"
      "  --> loops:2:19\n"
      "  | let s: index = (a % b)\n"
      "  |                   ^",
      text_of("kernel f64 arguments 1 {\nlet s: index = (a % b)\n}"));
  EXPECT_EQ(
      "invalid [loops-syntax]: expected what `t` folds with before this but found `B`\n"
      "  --> loops:1:53\n"
      "  | kernel f64 arguments 1 { phase range 1 { max t t += B[0] } }\n"
      "  |                                                     ^",
      text_of("kernel f64 arguments 1 { phase range 1 { max t t += B[0] } }"));
  EXPECT_EQ(
      "invalid [loops-syntax]: expected another number of arguments of `exp` before this but found `}`\n"
      "  --> loops:1:51\n"
      "  | kernel f64 arguments 1 { let s: index = exp(1, 2) }\n"
      "  |                                                   ^",
      text_of("kernel f64 arguments 1 { let s: index = exp(1, 2) }"));
  EXPECT_EQ(
      "invalid [loops-syntax]: expected a number below 2^63 but found `9223372036854775808`\n"
      "  --> loops:1:41\n"
      "  | kernel f64 arguments 1 { let s: index = 9223372036854775808 }\n"
      "  |                                         ^~~~~~~~~~~~~~~~~~~",
      text_of("kernel f64 arguments 1 { let s: index = 9223372036854775808 }"));
  EXPECT_EQ(
      "invalid [loops-syntax]: expected a number that 64 bits can hold but found `-1e999`\n"
      "  --> loops:1:53\n"
      "  | kernel f64 arguments 1 { phase range 1 { max t from -1e999 } }\n"
      "  |                                                     ^~~~~~",
      text_of("kernel f64 arguments 1 { phase range 1 { max t from -1e999 } }"));
  EXPECT_EQ(
      "invalid [loops-syntax]: expected `copy`, `extent`, `let`, `array`, `result`, `phase` or `}` but found "
      "the "
      "end of the text\n"
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
                               "  array f: byte = scratch count n written\n"
                               "  array slots_list: index32 = scratch count n written\n"
                               "  array t_list: index32 = scratch count 144 written\n"
                               "  array t_values: value = scratch count 144 written\n"
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
        Wrong{"B[0] = 0.0", "`B` is stored to but not declared written"},
        Wrong{"A[0] = n", "`n` is an index where the other is needed"},
        Wrong{"A[B[0]] = 0.0", "`B[0]` is a value where the other is needed"},
        Wrong{"let t: value = B[0] t += B[1]", "`t` is no sum"},
        Wrong{"for i in 0 .. n { sum t } t += B[0]", "`t` is no sum"},
        Wrong{"C[0] = 0.0", "array `C` is not declared"},
        Wrong{"A[0] = (B[0] + n)", "`n` is an index where the other is needed"},
        Wrong{"merge j at q over p in 0 .. n { }", "`j` merges fewer than two lists"},
        Wrong{"for vector k in 0 .. n { for i in 0 .. k { } }", "a bound of `i` depends on a lane"},
        Wrong{"for vector k in 0 .. n { A[(k * 2)] = 0.0 }", "`A` is not stored one element per lane"},
        Wrong{"for vector k in 0 .. n { A[k] = B[(k * 2)] }", "`B[(k * 2)]` is not one element per lane"},
        Wrong{"sum t for vector k in 0 .. n { t += B[k] }", "`t` is shared by all lanes"},
        Wrong{"for vector k in 0 .. n { for vector l in 0 .. n { } }", "vector loop `l` inside another"},
        Wrong{"for simd k in 0 .. n by 4 { }", "`k` advances by 4"},
        Wrong{"for k in 0 .. n by 0 { }", "`k` advances by 0"},
        Wrong{"for i in 0 .. n jammed { }", "`i` is jammed, but takes one value at a time"},
        Wrong{"for i in 0 .. n remainder { }", "`i` is a remainder, but does not begin at a counter"},
        Wrong{"for i in (n + 1) .. n by 2 remainder { }",
              "`i` is a remainder, but does not begin at a counter"},
        Wrong{"for i in 0 .. n entries of C { }", "`i` visits entries of `C`, which holds no indices"},
        Wrong{"for i in 0 .. n entries of B { }", "`i` visits entries of `B`, which holds no indices"},
        Wrong{"for i in 0 .. n by 4 interleaved { }",
              "`i` is interleaved, but does not begin at a thread's lane or group"},
        Wrong{"for q in 0 .. n entries of p prefetch 16 { let j: index = p[q] }",
              "`q` prefetches, but does not iterate over entries in a vector loop"},
        Wrong{
            "for vector k in 0 .. n { for q in 0 .. n by 2 entries of p prefetch 8 { let j: index = p[q] } }",
            "`q` prefetches, but does not iterate over entries in a vector loop"},
        Wrong{"for vector k in 0 .. n { for q in 0 .. n entries of p prefetch 16 { let j: index = p[q] } }",
              "`q` prefetches, but does not iterate over entries in a vector loop"},
        Wrong{"for vector k in 0 .. n { for q in 0 .. n entries of p prefetch 16 { } }",
              "`q` prefetches, but does not iterate over entries in a vector loop"},
        Wrong{"let o: index = n for i in 1 .. n along B from o row o { }",
              "`i` does not run along rows of `B`"},
        Wrong{"let o: index = n for i in 0 .. n along p from o row o { }",
              "`i` does not run along rows of `p`"},
        Wrong{"for i in 0 .. n along B from o row n { }", "`o` is used before it is declared"},
        Wrong{"for q in 0 .. n entries of p adds B times 1.0 to A set f "
              "{ let j: index = p[q] A[j] += B[q] }",
              "`q` does not add a row of `B` to `A`"},
        Wrong{"for q in 0 .. n entries of p adds B times 2.0 to A set f "
              "{ let j: index = p[q] f[j] = 255 A[j] += B[q] }",
              "`q` does not add a row of `B` to `A`"},
        Wrong{"for q in 0 .. n entries of p adds B times B[j] to A set f "
              "{ let j: index = p[q] f[j] = 255 A[j] += (B[j] * B[q]) }",
              "`j` is used before it is declared"},
        Wrong{"for i in 0 .. n { for q in p[i] .. n row i of p { } }",
              "`q` does not visit the entries of row `i`"},
        Wrong{"for i in 0 .. n { for q in p[p[i]] .. p[(i + 1)] row i of p { } }",
              "`q` does not visit the entries of row `i`"},
        Wrong{"for i in 0 .. n { for q in B[i] .. B[(i + 1)] row i of B { } }",
              "`B[i]` is a value where the other is needed"},
        Wrong{"for i in 0 .. n { for q in p[i] .. p[(i + 1)] by 4 jammed row i of p { } }",
              "`q` does not visit the entries of row `i`"},
        Wrong{"for q in p[j] .. p[(j + 1)] row j of p { }", "`j` is used before it is declared"},
        Wrong{"for q in 0 .. n overruns { A[q] = 0.0 }",
              "`q` overruns, but does not only store the entries of a row"},
        Wrong{"for i in 0 .. n { for q in p[i] .. p[(i + 1)] row i of p overruns { A[q] += 1.0 } }",
              "`q` overruns, but does not only store the entries of a row"},
        Wrong{"counter c = 0 for q in 0 .. n appends c at a { let a: index = c }",
              "`q` does not append one entry at `c`"},
        Wrong{"counter c = 0 for q in 0 .. n appends c at a { let a: index = c set c = (a + 2) }",
              "`q` does not append one entry at `c`"},
        Wrong{"counter c = 0 for q in 0 .. n appends c at a "
              "{ let a: index = c set c = (a + 1) let b: index = c }",
              "`q` does not append one entry at `c`"},
        Wrong{"for i in 0 .. n product { for k in 0 .. n { for l in 0 .. n { } } }",
              "iterations of `i` are no rows of products"},
        Wrong{"for i in 0 .. n product { for vector k in 0 .. n { A[k] = 0.0 } }",
              "iterations of `i` are no rows of products"},
        Wrong{"for q in 0 .. n { let v: value = B[q] for r in 0 .. n entries of p "
              "adds B times v to A set f factor 2.0 of B at q "
              "{ let k: index = p[r] f[k] = 255 A[k] += (v * B[r]) } }",
              "`q` does more than add rows, or `B` is not their factor"},
        Wrong{"for q in 0 .. n { let v: value = B[q] f[q] = 1 for r in 0 .. n entries of p "
              "adds B times v to A set f factor 1.0 of B at q "
              "{ let k: index = p[r] f[k] = 255 A[k] += (v * B[r]) } }",
              "`q` does more than add rows, or `B` is not their factor"},
        Wrong{"prefetch C[0]", "array `C` is not declared"},
        Wrong{"prefetch B[B[0]]", "`B[0]` is a value where the other is needed"},
        Wrong{"prefetch p[0]", "`p[0]` is an index where the other is needed"},
        Wrong{"for k in 0 .. min(B[0], n) { }", "`n` is an index where the other is needed"},
        Wrong{"for vector k in 0 .. n { fill A from 0 count n with 0.0 }",
              "`A` is filled inside a vector loop"},
        Wrong{"fill A from 0 count n with 0", "`0` is an index where the other is needed"},
        Wrong{"fill f from 0 count n with 0.0", "`0.0` is a value where the other is needed"},
        Wrong{"fill f from 0 count n with 0 row", "`f` is filled as a row but holds no values"},
        Wrong{"f[0] += 1", "`f` holds no values to fold into"},
        Wrong{"sort f in 0 .. n", "`f` is sorted but holds bytes"},
        Wrong{"sort p in 0 .. n", "`p` is stored to but not declared written"},
        Wrong{"sort A in 0 .. n", "`0` is an index where the other is needed"},
        Wrong{"counter c = 0 occupy A of n list slots_list count c at 0",
              "`0` is an index where the other is needed"},
        Wrong{"counter c = 0 occupy slots_list of n list slots_list count c at 0",
              "`slots_list` is occupied but holds no bytes"},
        Wrong{"counter c = 0 occupy f of n list f count c at 0", "`f` is a list but holds bytes"},
        Wrong{"counter c = 0 occupy f of n list p count c at 0", "`p` is stored to but not declared written"},
        Wrong{"counter c = 0 occupy f of n list slots_list count c at B[0]",
              "`B[0]` is a value where the other is needed"},
        Wrong{"occupy f of n list slots_list count n at 0", "`n` is no counter"},
        Wrong{"groups g in f of n list slots_list count n from 0 to 1 times 2", "`n` is no counter"},
        Wrong{"counter c = 0 groups g in f of n list slots_list count c from 0 to B[0] times 2",
              "`B[0]` is a value where the other is needed"},
        Wrong{"counter c = 0 groups n in f of n list slots_list count c from 0 to 1 times 2",
              "`n` is declared twice"},
        Wrong{"compact f of n list slots_list count n", "`n` is no counter"},
        Wrong{"counter c = 0 compact f of B[0] list slots_list count c",
              "`B[0]` is a value where the other is needed"},
        Wrong{"counter c = 0 for vector k in 0 .. n { compact f of n list slots_list count c }",
              "`f` is occupied or compacted inside a vector loop"},
        Wrong{"counter c = 0 for simd k in 0 .. n { occupy f of n list slots_list count c at k }",
              "`c` counts in a loop whose iterations have no order"},
        Wrong{"compress t_list values t_values count n", "`n` is no counter"},
        Wrong{"counter c = 0 compress t_list values A count c",
              "`A` is no array of the workspace of 144 elements"},
        Wrong{"counter c = 0 compress slots_list values t_values count c",
              "`slots_list` is no array of the workspace of 144 elements"},
        Wrong{"counter c = 0 compress t_values values t_values count c",
              "`0` is an index where the other is needed"},
        Wrong{"counter c = 0 for vector k in 0 .. n { compress t_list values t_values count c }",
              "`t_list` has terms of one lane"},
        Wrong{"counter c = 0 expand p B in 0 .. n times 1 to t_list values t_values count c",
              "`1` is an index where the other is needed"},
        Wrong{"counter c = 0 expand p p in 0 .. n times 1.0 to t_list values t_values count c",
              "`p[0]` is an index where the other is needed"},
        Wrong{"counter c = 0 expand f B in 0 .. n times 1.0 to t_list values t_values count c",
              "`f` and `t_list` differ in their width"},
        Wrong{"counter c = 0 expand p B in 0 .. B[0] times 1.0 to t_list values t_values count c",
              "`B[0]` is a value where the other is needed"},
        Wrong{"for q in 0 .. n { supernode q to n rows p times B and 1.0 of p p B into A set p }",
              "`p` is stored to but not declared written"},
        Wrong{"for q in 0 .. n { supernode q to n rows p times B and 1.0 of p p B into A set slots_list }",
              "`slots_list` is occupied but holds no bytes"},
        Wrong{"supernode x to n rows p times B and 1.0 of p p B into A set f", "`x` is no loop's variable"},
        Wrong{"counter c = 0 supernode c to n rows p times B and 1.0 of p p B into A set f",
              "`c` is no loop's variable"},
        Wrong{"for simd k in 0 .. n { supernode k to n rows p times B and 1.0 of p p B into A set f }",
              "rows are added in a loop whose iterations have no order"},
        Wrong{"for q in 0 .. n { supernode q to n rows p times B and 1.0 of f p B into A set f }",
              "`f` and `p` differ in their width"},
        Wrong{"for q in 0 .. n { supernode q to n rows p times B and 1.0 of p p p into A set f }",
              "`p[0]` is an index where the other is needed"},
        Wrong{"for vector k in 0 .. n { if B[k] { } }", "`B[k]` decides for a lane"},
        Wrong{"for vector k in 0 .. n { if (k < 3) { } }", "`(k < 3)` decides for a lane"},
        Wrong{"if n { let t: index = n } A[t] = 0.0", "`t` is used before it is declared"},
        Wrong{"set n = 3", "`n` is no counter"},
        Wrong{"counter c = B[0]", "`B[0]` is a value where the other is needed"},
        Wrong{"counter c = 0 for simd k in 0 .. n { set c = k }",
              "`c` counts in a loop whose iterations have no order"},
        Wrong{"A[0] = (1.0 + n)", "`n` is an index where the other is needed"},
        Wrong{"let t: index = max(n, 1.0)", "`1.0` is a value where the other is needed"},
        Wrong{"let t: index = exp(n)", "`exp` of indices"},
        Wrong{"let t: value = value(B[0])", "`B[0]` is a value where the other is needed"},
        Wrong{"let t: index = value(n)", "`value(n)` is a value where the other is needed"},
        Wrong{"let t: index = abs(n)", "`abs` of indices"},
        Wrong{"let t: value = choose(B[0], 1.0, 2.0)", "`B[0]` is a value where the other is needed"},
        Wrong{"let t: value = choose(n, 1.0, 2)", "`2` is an index where the other is needed"},
        Wrong{"merge any j at q over p in 0 .. n, r present h over p in 0 .. n { }",
              "`q` may be absent and has no name for it"},
        Wrong{"merge j at q over p in 0 .. n, r present h over p in 0 .. n { }", "`r` is never absent"},
        Wrong{"merge any j at q present h over p in 0 .. n { }", "`j` merges fewer than two lists"},
        Wrong{"merge j at q until q over p in 0 .. n { }", "`q` is declared twice"},
        Wrong{"merge j in 0 .. n at q over p in 0 .. n { }", "`j` runs over a range but intersects lists"},
        Wrong{"merge any j at q present h over p in 0 .. n, r present g over f in 0 .. n { }",
              "`f` is merged but holds no indices"},
        Wrong{"merge any j in 0 .. n at q present h over p in 0 .. n { let h: index = 2 }",
              "`h` is declared twice"},
        Wrong{"merge any j in 0 .. n at q present h over p in 0 .. n { } A[h] = 0.0",
              "`h` is used before it is declared"}));

std::string verdict(const std::string& declarations, const std::string& phases) {
  const auto kernel =
      parse("kernel f64 arguments 2 {\n  extent n = argument 0 mode 0\n" + declarations + phases + "}\n");
  if (!kernel.ok()) return support::render(kernel.error());
  const auto verified = verify(*kernel);
  return verified.ok() ? "right" : support::render(verified.error());
}

TEST(LoopIr, VerifierKnowsWhatMayBeDeclared) {
  const auto declared = [](const std::string& array) { return verdict("array x: " + array + "\n", ""); };
  EXPECT_EQ("right", declared("index64 = coordinates 0 level 1 written"));
  EXPECT_EQ("right", declared("index64 = shared 0 count (n + 1) written"));
  EXPECT_EQ("internal [loop-ir]: `x` holds an operand's indices and is written",
            declared("index64 = coordinates 1 level 1 written"));
  EXPECT_EQ("internal [loop-ir]: `x` has the wrong element type", declared("byte = positions 0 level 1"));
  EXPECT_EQ("internal [loop-ir]: `x` has the wrong element type", declared("index32 = values 0"));
  EXPECT_EQ("internal [loop-ir]: the size of `x` depends on an array",
            verdict("array p: index32 = positions 1 level 0\narray x: byte = scratch count p[0]\n", ""));
}

TEST(LoopIr, VerifierTakesIdentifiersAlone) {
  auto kernel = parse("kernel f64 arguments 1 {\n  extent n = argument 0 mode 0\n}\n").value();
  EXPECT_TRUE(verify(kernel).ok());
  for (const std::string name : {"n-1", "n;", "n ", "n\n", "1n", ""}) {
    kernel.arrays = {{name, Element::value, Scratch{loop_ir::name("n")}, true}};
    const auto verified = verify(kernel);
    ASSERT_FALSE(verified.ok()) << name;
    EXPECT_EQ("internal [loop-ir]: `" + name + "` is no identifier", support::render(verified.error()));
  }
}

TEST(LoopIr, VerifierKnowsWhatIsMet) {
  const auto declared = [](const std::string& array) {
    return verdict("array x: " + array + "\n", "phase range n over x { }\n");
  };
  EXPECT_EQ("right", declared("index64 = shared 0 count n referenced by 1 level 1"));
  EXPECT_EQ("internal [loop-ir]: `x` has the wrong element type",
            declared("index32 = shared 0 count n referenced by 1 level 1"));
  const std::string written = "internal [loop-ir]: `x` holds what an operand meets and is written";
  EXPECT_EQ(written, declared("index64 = shared 0 count n referenced by 1 level 1 written"));
  EXPECT_EQ(written, declared("index64 = shared 0 count n referenced by 0 level 1"));
  EXPECT_EQ("internal [loop-ir]: `x` belongs to an argument that does not exist",
            declared("index64 = shared 0 count n referenced by 2 level 1"));
  EXPECT_EQ("internal [loop-ir]: a phase over `x`, which is no list of referenced coordinates",
            declared("index64 = shared 0 count n stored written"));
}

TEST(LoopIr, VerifierChecksSpecialisedExtents) {
  const auto fixed = [](const std::string& specialised) {
    return verdict("extent m = argument 1 mode 0 required 8\nlet s: index = (n * 2)\n",
                   "phase range n specialised for " + specialised + " { }\n");
  };
  EXPECT_EQ("right", fixed("n at 1 8 64"));
  const std::string no_extent = "is no extent to specialise, or specialised twice";
  for (const std::string name : {"m", "s", "begin", "k"})
    EXPECT_EQ("internal [loop-ir]: `" + name + "` " + no_extent, fixed(name + " at 8"));
  EXPECT_EQ("internal [loop-ir]: `n` " + no_extent, fixed("n n at 8"));
  EXPECT_EQ("internal [loop-ir]: `n` " + no_extent, fixed("n single n at 8"));
  EXPECT_EQ("internal [loop-ir]: `s` " + no_extent, fixed("n single s at 8"));
  const std::string none = "internal [loop-ir]: specialisation of no extent, or for no size";
  EXPECT_EQ(none, fixed("at 8"));
  EXPECT_EQ(none, fixed("n at"));
  EXPECT_EQ(none, fixed("n at 0 8"));
  EXPECT_EQ("internal [loop-ir]: specialised sizes that do not ascend", fixed("n at 16 8"));
  EXPECT_EQ("internal [loop-ir]: specialised sizes that do not ascend", fixed("n at 8 8"));
  EXPECT_EQ("right", fixed("n at 8 registers 1 2 3 4 6 8"));
  const std::string steps =
      "internal [loop-ir]: specialisation for registers by steps other than powers of two, or from other "
      "bounds";
  for (const std::string bounds : {"0", "3", "1 1", "2 1", "1 3", "1 2 5"})
    EXPECT_EQ(steps, fixed("n at 8 registers " + bounds)) << bounds;
  EXPECT_EQ("internal [loop-ir]: specialisation of a phase for a GPU",
            fixed("n at 8 mapping grain 1 per_item 1 group 1 tile 1 block 256"));
}

TEST(LoopIr, AlignedPhasesRoundTrip) {
  const std::string text = R"(kernel f32 arguments 2 {
  extent n = argument 1 mode 0
  array A: value = values 0 written
  array B: value = values 1
  phase range n parallel mapping grain 1 per_item 1 group 1 tile 1 block 256 aligned 4 extents n arrays B {
    if aligned {
      for i in begin .. end {
        let a: value = B[(i * n)] wide 2
        let b: value = B[((i * n) + 1)]
        let e: value = (a + b) group 8 sum
        A[i] = e
      }
    }
  }
}
)";
  const auto kernel = parse(text);
  ASSERT_TRUE(kernel.ok()) << support::render(kernel.error());
  EXPECT_EQ(text, print(*kernel));
  const auto verified = verify(*kernel);
  EXPECT_TRUE(verified.ok()) << support::render(verified.error());
}

TEST(LoopIr, VerifierChecksWideLoads) {
  const auto wide = [](const std::string& aligned, const std::string& load) {
    return verdict("array A: value = values 0 written\narray B: value = values 1\n",
                   "phase range n mapping grain 1 per_item 1 group 1 tile 1 block 256" + aligned +
                       " { if aligned { " + load + " } }\n");
  };
  const std::string four = " aligned 4 extents n arrays B";
  const std::string next = " let b: value = B[1]";
  EXPECT_EQ("right", wide(four, "let a: value = B[0] wide 2" + next));
  EXPECT_EQ("right", wide(four, "let a: value = B[n] wide 2 let b: value = B[(n + 1)]"));
  EXPECT_EQ("internal [loop-ir]: `a` is wide but no load", wide(four, "let a: value = 1.0 wide 2" + next));
  EXPECT_EQ("internal [loop-ir]: `B` is loaded 2 values wide but not known to be aligned",
            wide(" aligned 3 extents n arrays B", "let a: value = B[0] wide 2" + next));
  EXPECT_EQ("internal [loop-ir]: `A` is loaded 2 values wide but not known to be aligned",
            wide(four, "let a: value = A[0] wide 2" + next));
  const std::string others =
      "internal [loop-ir]: `a` is 2 values wide, and the next lets do not load the others";
  EXPECT_EQ(others, wide(four, "let a: value = B[0] wide 2 let b: value = B[2]"));
  EXPECT_EQ(others, wide(four, "let a: value = B[0] wide 2 let b: value = A[1]"));
  EXPECT_EQ(others, wide(four, "let b: value = B[1] let a: value = B[0] wide 2"));
  EXPECT_EQ("internal [loop-ir]: `m` is no extent that may be aligned",
            wide(" aligned 4 extents m arrays B", ""));
  EXPECT_EQ("internal [loop-ir]: `C` is no array of values that may be aligned",
            wide(" aligned 4 extents n arrays C", ""));
  EXPECT_EQ("internal [loop-ir]: `a` is folded by a group of threads that there are not",
            verdict("", "phase range n { let a: value = 1.0 group 8 sum }\n"));
  EXPECT_EQ("internal [loop-ir]: `A` is written by a group of threads that there are not",
            verdict("array A: value = values 0 written\n", "phase range n { group 8 sum A[0] += 1.0 }\n"));
  EXPECT_EQ("internal [loop-ir]: an alignment to single values", wide(" aligned 1 extents n arrays B", ""));
}

TEST(LoopIr, GroupsOfAnIterationRoundTripAndAreChecked) {
  const auto groups = [&](const std::string& mapping) {
    return verdict("", "phase range n mapping grain 1 per_item 8 group " + mapping +
                           " { for k in lane_group .. n by 4 interleaved { let o: index = k } }\n");
  };
  EXPECT_EQ("right", groups("8 tile 1 block 256 groups 4"));
  EXPECT_EQ("internal [loop-ir]: a thread mapping that no GPU has", groups("4 tile 1 block 256 groups 4"));
  EXPECT_EQ("internal [loop-ir]: a thread mapping that no GPU has", groups("1 tile 1 block 256 groups 4"));
  EXPECT_EQ("internal [loop-ir]: `lane_group` is used before it is declared", groups("8 tile 1 block 256"));
}

TEST(LoopIr, StagedEntriesRoundTripAndAreChecked) {
  const std::string arrays =
      "array A: value = values 0 written\narray B: value = values 1\narray s: value = staged 32 written\n";
  const auto staged = [&](const std::string& mapping, const std::string& what) {
    return verdict(arrays, "phase range n mapping grain 1 per_item 1 group 1 tile 1 block 256" + mapping +
                               " { if staged { " + what + " } }\n");
  };
  const std::string columns = " columns n grain 1 stage 32", copy = "stage 32 from 0 count n to s of B";
  EXPECT_EQ("right", staged(columns, copy));
  EXPECT_EQ("internal [loop-ir]: entries are staged by other threads",
            staged(columns, "stage 16 from 0 count n to s of B"));
  EXPECT_EQ("internal [loop-ir]: entries are staged by threads that do not have columns of one row",
            staged(" stage 32", copy));
  EXPECT_EQ("internal [loop-ir]: `B` is no staged array",
            staged(columns, "stage 32 from 0 count n to B of B"));
  EXPECT_EQ("internal [loop-ir]: `s` cannot stage elements of `A`",
            staged(columns, "stage 32 from 0 count n to s of A"));
  const std::string text =
      "kernel f32 arguments 2 {\n  extent n = argument 0 mode 0\n  array B: value = values 1\n"
      "  array s: value = staged 32 written\n"
      "  phase range n mapping grain 1 per_item 1 group 1 tile 1 block 256 columns n grain 1 stage 32 {\n"
      "    stage 32 from 0 count n to s of B\n  }\n}\n";
  const auto kernel = parse(text);
  ASSERT_TRUE(kernel.ok()) << support::render(kernel.error());
  EXPECT_EQ(text, print(*kernel));
  EXPECT_TRUE(equal(kernel->phases[0].body, parse(text)->phases[0].body));
}

TEST(LoopIr, VerifierKnowsWhenTheResultIsThere) {
  const std::string arrays =
      "array A: value = values 0 written\narray c: index64 = shared 0 count (n + 1) written\n";
  const std::string counter = arrays + "result counter level 0 slot 0\n";
  const std::string count = "phase symbolic range n { for i in begin .. end { c[i] = 1 } }\n";
  const std::string compute = "phase range n { for i in begin .. end { A[i] = 1.0 } }\n";
  EXPECT_EQ("right", verdict(counter, count + compute));
  EXPECT_EQ("internal [loop-ir]: phases count without counters, or none does",
            verdict(arrays, count + compute));
  EXPECT_EQ("internal [loop-ir]: phases count without counters, or none does", verdict(counter, compute));
  EXPECT_EQ("internal [loop-ir]: nothing is computed after counting", verdict(counter, count));
  EXPECT_EQ("internal [loop-ir]: `A` is used before the result is allocated",
            verdict(counter, compute + count + compute));
  EXPECT_EQ("internal [loop-ir]: the counter of level 0 has no shared array of index64",
            verdict("array c: value = shared 0 count n\nresult counter level 0 slot 0\n", ""));
  EXPECT_EQ("internal [loop-ir]: counters are not in level order",
            verdict(counter + "result counter level 0 slot 0\n", count + compute));
}

TEST(LoopIr, VerifierChecksNumericBodies) {
  const std::string arrays =
      "array A: value = values 0 written\narray A_crd0: index32 = coordinates 0 level 0 written\n"
      "array c: index64 = shared 0 count (n + 1) written\nresult counter level 0 slot 0\n";
  const std::string count = "phase symbolic range n { for i in begin .. end { c[i] = 1 } }\n";
  const std::string compute = "phase range n { for i in begin .. end { A[i] = 1.0 A_crd0[i] = i } } numeric ";
  EXPECT_EQ("right", verdict(arrays, count + compute + "{ for i in begin .. end { A[i] = 1.0 } }\n"));
  EXPECT_EQ("internal [loop-ir]: `A_crd0` is stored to in a numeric body",
            verdict(arrays, count + compute + "{ for i in begin .. end { A_crd0[i] = i } }\n"));
  EXPECT_EQ("internal [loop-ir]: a numeric body of a phase that is symbolic or for a GPU",
            verdict(arrays, "phase symbolic range n { } numeric { }\nphase range n { }\n"));
}

TEST(LoopIr, TraversalVisitsEveryStatementInOrder) {
  const auto kernel = parse(everything);
  ASSERT_TRUE(kernel.ok());
  std::size_t visited = 0, loops = 0;
  for (const auto& phase : kernel->phases) {
    for_each_statement(phase.body, [&](const StatementPtr& each) {
      ++visited;
      if (is_any<For, Merge>(each)) ++loops;
    });
    EXPECT_TRUE(any_of(phase.body, [&](const StatementPtr& each) { return each == phase.body; }));
    EXPECT_FALSE(any_of(phase.body, [](const StatementPtr&) { return false; }));
  }
  EXPECT_GT(visited, loops);
  EXPECT_GT(loops, 3U);
}

TEST(LoopIr, TraversalKeepsUnchangedStatementsAndFlattensBlocks) {
  const auto store = make(Store{"A", integer(0), Write::set, number(1)});
  const auto loop = make(For{"i", integer(0), integer(3), Shape::scalar, store});
  const auto all = block({store, loop});
  EXPECT_EQ(all, map_children(all, [](const StatementPtr& each) { return each; }));
  EXPECT_EQ(store, map_children(store, [](const StatementPtr&) -> StatementPtr { return nullptr; }));
  const auto twice = [&](const StatementPtr& each) { return each == store ? block({store, store}) : each; };
  EXPECT_EQ(3U, statements_of(map_children(all, twice)).size());
  const auto changed = map_children(loop, twice);
  EXPECT_EQ(2U, statements_of(as<For>(changed)->body).size());
  EXPECT_EQ("i", as<For>(changed)->variable);
}

TEST(LoopIr, RecognisesVectorForms) {
  const std::set<std::string> varying = {"k", "t"};
  EXPECT_TRUE(is_vector_index(name("k"), "k", varying));
  EXPECT_TRUE(is_vector_index(add(name("o"), name("k")), "k", varying));
  EXPECT_FALSE(is_vector_index(add(name("k"), name("k")), "k", varying));
  EXPECT_FALSE(is_vector_index(name("o"), "k", varying));
  EXPECT_TRUE(is_vector_value(multiply(name("t"), load("B", name("k"))), "k", varying));
  EXPECT_TRUE(is_vector_value(load("B", name("o")), "k", varying));
  EXPECT_FALSE(is_vector_value(name("k"), "k", varying));
}

}  // namespace
}  // namespace schaas::loop_ir
