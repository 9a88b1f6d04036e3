#include <gtest/gtest.h>

#include <random>

#include "compiler/concrete_notation/printer.h"
#include "compiler/schedule/replay/apply.h"
#include "tests/support/kernel_trial.h"
#include "tests/support/remembering_toolchain.h"

// The default nest of whole programs, lowered, compiled, and compared with their value by definition.
namespace schaas {
namespace {

using Formats = std::map<std::string, std::string>;

/// Returns the first error on three random inputs, whole and in ranges; "" without errors. `formats` of
/// tensors that the program has.
std::string check(const std::string& program, const Formats& formats, std::uint64_t seed,
                  const std::string& trace = "linear") {
  problem::ProblemText text;
  text.expression = program;
  for (const auto& [tensor, format] : formats) {
    if (program.find(tensor + "(") != std::string::npos) text.formats[tensor] = format;
  }
  const auto problem = problem::build(text);
  if (!problem.ok()) return support::render(problem.error());
  const test_support::Trials trials(*problem, 3, seed);
  std::mt19937_64 random(seed);
  std::string all;
  for (const auto& failure :
       trials.failures({schedule::parse(trace).value()}, 6, test_support::remembering_toolchain(), random))
    all += "seed " + std::to_string(seed) + ": " + failure + "\n";
  return all;
}

TEST(Programs, SumsOfSparseAndDense) {
  EXPECT_EQ("", check("A(i,j) = B(i,j) + C(i,j)", {{"B", "csr"}, {"C", "csr"}}, 1));
  EXPECT_EQ("", check("A(i,j) = B(i,j) + C(i,j)", {{"B", "csr"}}, 2));
  EXPECT_EQ("", check("A(i,j) = B(i,j) - C(i,j) + D(i,j)", {{"B", "dcsr"}, {"C", "csr"}, {"D", "dcsr"}}, 3));
  EXPECT_EQ("", check("A(i,j) = B(i,j) * C(i,j) + D(i,j)", {{"B", "csr"}, {"C", "csr"}, {"D", "csr"}}, 4));
  EXPECT_EQ("", check("y(i) = b(i) + A(i,j) * x(j)", {{"A", "csr"}}, 5));
}

TEST(Programs, Functions) {
  EXPECT_EQ("", check("A(i,j) = relu(B(i,j)) * 2", {{"B", "csr"}}, 10));
  EXPECT_EQ("", check("A(i,j) = exp(B(i,j))", {{"B", "csr"}}, 11));
  EXPECT_EQ("", check("A(i,j) = max(B(i,j), C(i,j))", {{"B", "csr"}, {"C", "csr"}}, 12));
  EXPECT_EQ("", check("A(i,j) = where(B(i,j) > 0, C(i,j), 0)", {{"B", "csr"}, {"C", "csr"}}, 13));
  EXPECT_EQ("", check("A(i,j) = B(i,j) / (1 + exp(C(i,j)))", {{"B", "csr"}, {"C", "csr"}}, 14));
}

TEST(Programs, Reductions) {
  EXPECT_EQ("", check("Y(i) = max(j)(B(i,j))", {{"B", "csr"}}, 20));
  EXPECT_EQ("", check("Y(i) = max(j)(B(i,j)) / (1 + exp(c(i)))", {{"B", "csr"}}, 21));
  EXPECT_EQ("", check("Y(i,j) = exp(B(i,j) - max(k)(B(i,k)))", {}, 22));
  EXPECT_EQ("", check("A(i,j) = B(i,j) / sum(k)(exp(C(i,k) * D(k,j)))", {{"B", "csr"}}, 23));
  EXPECT_EQ("", check("Y(i) = prod(j)(B(i,j))", {}, 24));
  EXPECT_EQ("", check("Y(i,j) = B(i,j) * sum(k)(C(j,k))", {{"B", "csr"}}, 25));
  EXPECT_EQ("", check("Y(i,j) = B(i,j) + sum(k)(C(j,k))", {{"B", "csr"}}, 26));
}

TEST(Programs, SumsWhoseUnstoredElementsAreCounted) {
  std::uint64_t seed = 200;
  for (const char* rows : {"csr", "coo"}) {
    const Formats formats = {{"B", rows}, {"C", "csr"}, {"T", "csf"}, {"z", "compressed"}};
    for (const char* program : {
             "Y(i) = sum(j)(exp(B(i,j)))",
             "Y(i) = sum(j)(exp(B(i,j) - m(i)))",
             "Y(i) = log(sum(j)(exp(B(i,j) * m(i)))) + m(i)",
             "Y(i) = sum(j)(B(i,j) + 1)",
             "Y(i) = sum(j)((B(i,j) - m(i)) * (B(i,j) - m(i)))",
             "Y(i) = sum(j)(exp(B(i,j)) * m(i) * 2)",
             "Y(i) = sum(j)(where(B(i,j) > 0.5, m(i), q(i)))",
             "Y(i) = sum(j)(where(m(i) > 0.5, exp(B(i,j)), C(i,j)))",
             "Y(i) = sum(j)(exp(B(i,j) - C(i,j)) + z(i))",
             "Y(i) = sum(j)(exp(B(i,j) * C(i,j)))",
             "Y(i) = sum(j)(exp(B(i,j)) * x(j))",
             "Y(i) = sum(j)(exp(B(i,j) + z(j)))",
             "Y(i) = sum(j)(exp(B(i,j)) * j * i)",
             "Y(i) = max(j)(exp(B(i,j)) + j)",
             "Y(i) = min(j)(abs(B(i,j) - j) * q(i))",
             "Y(i) = prod(j)(B(i,j) + j)",
             "Y(i) = max(j,k)(T(i,j,k))",
             "Y(i) = sum(j,k)(exp(T(i,j,k)) + C(i,j))",
             "Y(i) = min(j,k)(T(i,j,k) + x(j))",
             "s = sum(i,j,k)(exp(T(i,j,k)))",
             "s = max(i,j)(B(i,j))",
             "Y(i) = max(j)(B(i,j) + m(i))",
             "Y(i) = min(j)(exp(B(i,j)) * q(i))",
             "Y(i) = prod(j)(2 - B(i,j))",
             "Y(j) = sum(i)(exp(B(i,j)))",
             "Y(j) = sum(i)(abs(B(i,j) - m(j)))",
             "Y(j) = max(i)(abs(B(i,j) - m(j)))",
             "s = sum(i,j)(exp(B(i,j)))",
             "s = sum(i,j,k)(abs(T(i,j,k) - 0.5))",
             "Y(i) = sum(j,k)(exp(T(i,j,k)))",
             "A(i,j) = B(i,j) * exp(C(i,j)) / sum(k)(exp(C(i,k)))",
         })
      EXPECT_EQ("", check(program, formats, seed++)) << program << " with B in " << rows;
  }
}

TEST(Programs, RowsWithCostlyFunctionsRunInBlocks) {
  const Formats formats = {{"B", "csr"}};
  const std::string shared = "share(nest=0, loops={i})", both = "share(nest=1, loops={i}); " + shared;
  EXPECT_EQ("", check("s = sum(i)(log(1 + exp(sum(j)(B(i,j) * x(j)))))", formats, 90));
  EXPECT_EQ("", check("Y(i) = sigmoid(sum(j)(B(i,j) * x(j))) - c(i)", formats, 91));
  EXPECT_EQ("", check("Y(i) max= tanh(max(j)(B(i,j) + c(i)))", formats, 92));
  EXPECT_EQ("", check("z(i) = B(i,j) * x(j); s = sum(i)(exp(z(i)) * z(i))", formats, 93, shared));
  EXPECT_EQ("", check("z(i) = B(i,j) * x(j); p(i) = sigmoid(z(i)) - c(i); g(j) = B(i,j) * p(i)", formats, 94,
                      both));
  EXPECT_EQ("", check("m(i) = max(j)(B(i,j)); n(i) = sum(j)(exp(B(i,j) - m(i))); Y(i) = log(n(i)) + m(i)",
                      formats, 95, both));
  EXPECT_EQ("", check("T(i,k) = B(i,j) * C(j,k); Y(i,k) = exp(T(i,k))", formats, 96, shared));  // a row
}

TEST(Programs, Statements) {
  EXPECT_EQ("", check("T(i,k) = B(i,j) * C(j,k); A(i,l) = T(i,k) * D(k,l)", {{"B", "csr"}}, 30));
  EXPECT_EQ("",
            check("m(i) = max(j)(B(i,j)); E(i,j) = exp(B(i,j) - m(i)); s(i) = E(i,j); A(i,j) = E(i,j) / s(i)",
                  {}, 31));
  EXPECT_EQ("", check("y(i) += A(i,j) * x(j)", {{"A", "csr"}}, 32));
  EXPECT_EQ("", check("y(i) max= sum(j)(A(i,j) * x(j))", {{"A", "csr"}}, 33));
}

TEST(Programs, PrecomputedCalls) {
  const std::vector<std::pair<const char*, const char*>> cases{
      {"S(i,c) = B(i,j) * log(P(c,j) + 1) + p(c)", "precompute(calls={0})"},
      {"S(i,c) = B(i,j) * exp(P(c,j)) * exp(p(c)) + sum(j)(exp(P(c,j)))", "precompute(calls={0,1})"},
      {"S(i,c) = B(i,j) * exp(P(c,j)) * exp(p(c)) + sum(j)(exp(P(c,j)))", "precompute(calls={1})"},
      {"T(i) = B(i,j) * exp(x(j)); A(i,k) = T(i) * tanh(C(i,k)) * exp(q(i))", "precompute(calls={1,0})"},
      {"y(i) = max(j)(B(i,j) + exp(x(j)))", "precompute(calls={0}); reorder(path={1}, order={i,j})"},
      {"y(i) = max(j)(B(i,j) + exp(x(j)))", "store(tensor=B, order={1,0}); precompute(calls={0})"}};
  std::uint64_t seed = 80;
  for (const auto& [program, trace] : cases)
    EXPECT_EQ("", check(program, {{"B", "csr"}}, seed++, trace)) << program << " by " << trace;
}

TEST(Programs, MaskedIntermediates) {
  const Formats csr = {{"B", "csr"}, {"E", "csr"}};
  const std::string product = "T(i,j) = C(i,k) * D(k,j); ";
  const std::string softmax = product + "S(i) = B(i,j) * exp(T(i,j)); A(i,j) = B(i,j) * exp(T(i,j)) / S(i)";
  const std::string either = product + "S(i) = B(i,j) * T(i,j); A(i,j) = E(i,j) * T(i,j) + S(i)";
  int seed = 60;
  for (const char* trace :
       {"linear", "mask(tensor=T, by={B})", "mask(tensor=T, by={B}); share(nest=1, loops={i})",
        "mask(tensor=T, by={B}); share(nest=1, loops={i}); share(nest=0, loops={i})",
        "share(nest=1, loops={i}); share(nest=0, loops={i})", "reorder(path={1,1}, order={i,j})"})
    EXPECT_EQ("", check(softmax, csr, static_cast<std::uint64_t>(seed++), trace));
  for (const char* trace : {"linear", "mask(tensor=T, by={B,E})",
                            "mask(tensor=T, by={B,E}); share(nest=1, loops={i}); share(nest=0, loops={i})"})
    EXPECT_EQ("", check(either, csr, static_cast<std::uint64_t>(seed++), trace));
  for (const char* format : {"dcsr", "csc", "coo", "compressed,dense", "dense,compressed:1,0"}) {
    EXPECT_EQ("", check(softmax, {{"B", format}}, static_cast<std::uint64_t>(seed++)));
    EXPECT_EQ("", check(softmax, {{"B", format}, {"A", "csr"}}, static_cast<std::uint64_t>(seed++)));
  }
  EXPECT_EQ("", check("T(i,j,k) = C(i,l) * D(l,j) * c(k); S(i) = B(i,j,k) * T(i,j,k); A(i,j) = B(i,j,k) * "
                      "relu(T(i,j,k)) * S(i)",
                      {{"B", "csf"}}, 80));
  EXPECT_EQ(
      "", check("min-plus: T(i,j) = C(i,k) * D(k,j); S(i) = B(i,j) * T(i,j); A(i,j) = B(i,j) * T(i,j) * S(i)",
                csr, 81));
  EXPECT_EQ("",
            check("T(i,j) = max(k)(C(i,k) - D(k,j)); S(i) = B(i,j) * T(i,j); A(i,j) = B(i,j) * T(i,j) * S(i)",
                  csr, 82));
}

TEST(Programs, ListsOfEntriesIntoRowsOfSparseResults) {
  std::uint64_t seed = 200;
  for (const char* other : {"csr", "coo", "dcsr", "dense"}) {
    const Formats formats = {{"A", "csr"}, {"B", "coo"}, {"C", other}};
    EXPECT_EQ("", check("A(i,j) = B(i,j)", formats, seed++));
    EXPECT_EQ("", check("A(i,j) = B(i,k) * C(k,j)", formats, seed++));
    EXPECT_EQ("", check("A(i,j) = 2 * B(i,j) + C(i,j)", formats, seed++));
    EXPECT_EQ("", check("A(i,j) = B(i,j) * C(i,j)", formats, seed++));
    EXPECT_EQ("", check("A(i,j) = B(i,j) * B(j,i)", formats, seed++));
    EXPECT_EQ("", check("A(i,j) = B(i,j) / sum(k)(B(i,k))", formats, seed++));
    EXPECT_EQ("", check("A(i,j) = max(k)(B(i,k) * C(k,j))", formats, seed++));
  }
}

TEST(Programs, DenseRowsWithSparseTerms) {
  std::uint64_t seed = 250;
  for (const char* format : {"csr", "dcsr", "coo"}) {
    const Formats formats = {{"B", format}, {"C", format}};
    EXPECT_EQ("", check("Y(i,j) = B(i,j) + D(i,j)", formats, seed++));
    EXPECT_EQ("", check("Y(i,j) = D(i,j) - relu(B(i,j) * C(i,j) - D(i,j))", formats, seed++));
    EXPECT_EQ("", check("Y(i,j) = max(B(i,j) + C(i,j), D(i,j))", formats, seed++));
    EXPECT_EQ("", check("Y(i,j) = exp(B(i,j)) * D(j,i)", formats, seed++));
    EXPECT_EQ("", check("Y(i,j) = where(B(i,j) > 0.5, C(i,j), D(i,j))", formats, seed++));
    EXPECT_EQ("", check("Y(j,i) = B(i,j) + D(i,j)", formats, seed++));
    EXPECT_EQ("", check("min-plus: Y(i,j) = B(i,j) + D(i,j)", formats, seed++));
  }
}

TEST(Programs, PartsThatAreKnownBeforeALoop) {
  const Formats csr = {{"B", "csr"}, {"C", "csr"}};
  EXPECT_EQ("", check("A(i,j) = B(i,j) * (exp(s(i)) / r(i))", csr, 110));
  EXPECT_EQ("", check("A(i,j) = B(i,j) * exp(s(i)) / r(i) + C(i,j) * (1 / r(i)) * abs(q)", csr, 111));
  EXPECT_EQ("", check("Y(i,j) = exp(s(i)) + relu(q)", csr, 112));
  EXPECT_EQ("", check("y(i) = max(j)(B(i,j) * (s(i) - 2 * r(i))) / (1 + exp(s(i)))", csr, 113));
  EXPECT_EQ("", check("A(i,j) = where(s(i) > r(i), B(i,j), C(i,j)) * not(r(i))", csr, 114));
}

TEST(Programs, Blocks) {
  const Formats csr = {{"B", "csr"}, {"C", "csr"}};
  const auto passes = [&](const char* program, const char* trace, std::uint64_t seed) {
    EXPECT_EQ("", check(program, csr, seed, trace));
  };
  passes("y(i) = max(j)(B(i,j))", "split(loop=i, factor=2)", 90);
  passes("y(i) = max(j)(B(i,j))", "split(loop=j, factor=2)", 91);
  passes("y(i) = max(j)(B(i,j)) / c(i)", "split(loop=i, factor=2)", 92);
  passes("A(i,j) = B(i,j) + C(i,j)", "split(loop=j, factor=3)", 93);
  passes("A(i,j) = B(i,j) + C(i,j)", "divide(loop=j, parts=2); unroll(loop=j, factor=2)", 94);
  passes("A(i,j) = B(i,j) * C(i,j) + 1", "divide(loop=j, parts=3)", 95);
  passes("y(i) = B(i,j) * C(i,j) * d(j)", "split(loop=j, factor=2)", 96);
  passes("y(i) = B(i,j) * C(i,j) * D(i,k)",
         "reorder(order={i,j,k}); loopfuse(loc=1, pol=left); block(size=4)", 97);
  passes("T(i,k) = B(i,j) * D(j,k); A(i,l) = exp(T(i,k)) * E(k,l)", "share(nest=0, loops={i}); block(size=3)",
         98);
  passes("T(i,j) = D(i,k) * E(k,j); A(i,j) = B(i,j) * exp(T(i,j))",
         "share(nest=0, loops={i,j}); block(size=2)", 99);
  passes("T(i,j) = D(i,k) * E(k,j); A(i,j) = B(i,j) * T(i,j) + C(i,j)",
         "share(nest=0, loops={i,j}); block(size=2)", 100);
  passes("A(i,k) = B(i,j) * D(j,k) - C(i,k)", "split(loop=k, factor=2)", 101);
}

TEST(Programs, Semirings) {
  EXPECT_EQ("", check("min-plus: D(i,k) = B(i,j) * C(j,k)", {{"B", "csr"}}, 40));
  EXPECT_EQ("", check("or-and: y(i) = B(i,j) * x(j)", {{"B", "csr"}}, 41));
  EXPECT_EQ("", check("max-times: y(i) = B(i,j) * x(j)", {{"B", "csr"}}, 42));
  EXPECT_EQ("", check("min-plus: y(i) = B(i,j) * x(j) + x0(i)", {{"B", "csr"}}, 43));
}

TEST(Programs, DiagonalsAndBroadcasts) {
  EXPECT_EQ("", check("y(i) = A(i,i)", {}, 50));
  EXPECT_EQ("", check("y(i) = A(i,i)", {{"A", "csr"}}, 51));
  EXPECT_EQ("", check("y(i) = A(i,i) * x(i)", {{"A", "dcsr"}}, 52));
  EXPECT_EQ("", check("Y(i,j) = b(i)", {}, 53));
  EXPECT_EQ("", check("s = A(i,i) + 2", {{"A", "csc"}}, 54));
}

TEST(SparseResults, Elementwise) {
  EXPECT_EQ("", check("A(i,j) = 2 * B(i,j)", {{"A", "csr"}, {"B", "csr"}}, 60));
  EXPECT_EQ("", check("A(i,j) = B(i,j) + C(i,j)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}}, 61));
  EXPECT_EQ("", check("A(i,j) = B(i,j) * C(i,j)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}}, 62));
  EXPECT_EQ("", check("A(i,j) = B(i,j) + C(i,j)", {{"A", "dcsr"}, {"B", "dcsr"}, {"C", "csr"}}, 63));
  EXPECT_EQ("", check("A(i,j) = B(i,j) + C(i,j)", {{"A", "csc"}, {"B", "csc"}, {"C", "csc"}}, 64));
  EXPECT_EQ("",
            check("a(i) = b(i) + c(i)", {{"a", "compressed"}, {"b", "compressed"}, {"c", "compressed"}}, 65));
  EXPECT_EQ("", check("a(i) = b(i) * c(i)", {{"a", "compressed"}, {"b", "compressed"}}, 66));
  EXPECT_EQ("", check("A(i,j) = B(i,j)", {{"A", "csr"}, {"B", "dcsr"}}, 67));
  EXPECT_EQ("", check("A(i,j) = B(i,j)", {{"A", "dcsr"}, {"B", "csr"}}, 68));
  EXPECT_EQ("", check("A(i,j,k) = B(i,j,k) + C(i,j,k)", {{"A", "csf"}, {"B", "csf"}, {"C", "csf"}}, 69));
}

/// Vectors written at few coordinates are read there only.
TEST(SparseAccumulators, FactorsOfADenseResult) {
  const std::string three = "A(i,l) = B(i,j) * C(j,k) * D(k,l)";
  const Formats sparse{{"B", "csr"}, {"C", "csr"}};
  const std::string row = "reorder(path={}, order={i,j,k,l}); loopfuse(path={}, loc=2, pol=left)";
  EXPECT_EQ("", check(three, sparse, 90, row));
  EXPECT_EQ("", check("A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", {{"B", "csr"}}, 91,
                      "reorder(path={}, order={i,j,k,l}); loopfuse(path={}, loc=3, pol=left, fuse=1)"));
  EXPECT_EQ("", check(three, {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}, {"D", "csr"}}, 92, row));
  EXPECT_EQ("", check("min-plus: " + three, sparse, 93, row));
  EXPECT_EQ(
      "", check("A(i,m) = B(i,j) * C(j,k) * D(k,l) * E(l,m)", {{"B", "csr"}, {"C", "csr"}, {"D", "csr"}}, 94,
                "reorder(path={}, order={i,j,k,l,m}); loopfuse(path={}, loc=3, pol=left); "
                "loopfuse(path={0}, loc=2, pol=left)"));
}

/// Every term of a sum by itself, whatever is around.
TEST(TermsApart, ComputeSparseAndDenseResults) {
  const Formats dense{{"B", "csr"}, {"C", "csr"}};
  const Formats csr{{"A", "csr"}, {"B", "csr"}, {"C", "csr"}};
  const Formats three_csr{{"A", "csr"}, {"B", "csr"}, {"C", "csr"}, {"D", "csr"}};
  const std::string three = "A(i,j) = B(i,j) - C(i,j) + D(i,j)";
  for (int depth = 0; depth < 3; ++depth) {
    const std::string apart = "distribute(path={}, depth=" + std::to_string(depth) + ")";
    EXPECT_EQ("", check(three, dense, 100, apart)) << apart;
    EXPECT_EQ("", check(three, three_csr, 101, apart)) << apart;
    EXPECT_EQ("", check(three, {{"A", "dcsr"}, {"B", "dcsr"}, {"C", "csr"}, {"D", "dcsr"}}, 102, apart))
        << apart;
    EXPECT_EQ("", check("A(i,j) = B(i,j) + c(i) - 2", {{"A", "csr"}, {"B", "csr"}}, 103, apart)) << apart;
    EXPECT_EQ("", check("min-plus: A(i,j) = B(i,j) + C(i,j)", csr, 104, apart)) << apart;
    EXPECT_EQ("", check("A(i,j) += B(i,j) + C(i,j)", dense, 105, apart)) << apart;
    EXPECT_EQ("", check("y(i) = sum(j)(B(i,j) + C(i,j) * x(j))", dense, 106, apart)) << apart;
    EXPECT_EQ("", check("A(i,j,k) = B(i,j,k) + C(i,j,k)",
                        {{"A", "compressed,compressed,dense"}, {"B", "csf"}, {"C", "csf"}}, 107, apart))
        << apart;
    EXPECT_EQ("", check("A(i,j) = B(i,j) + C(j,i)", {{"B", "csr"}, {"C", "csc"}}, 108, apart)) << apart;
  }
  EXPECT_EQ("", check("A(i,j) = B(i,j) + C(j,i)", {{"B", "csr"}, {"C", "csr"}}, 109,
                      "distribute(path={}, depth=0); reorder(path={1}, order={j,i})"));
  EXPECT_EQ("", check("T(i,j) = B(i,j) + C(i,j); y(i) = T(i,j) * x(j)", dense, 110,
                      "distribute(path={0}, depth=1)"));
  EXPECT_EQ("", check("T(i,j) = B(i,j) + C(i,j); y(i) = T(i,j) * x(j)", dense, 111,
                      "share(nest=0, loops={i,j}); distribute(path={0}, depth=0)"));
  // A term of an index it does not have; one that a statement has a name for.
  for (int depth = 0; depth < 4; ++depth) {
    EXPECT_EQ("", check("A(i,j,k) = sum(m)(B(i,m) * C(m,j) + E(i,j,k))", {{"B", "csr"}}, 112,
                        "distribute(path={}, depth=" + std::to_string(depth) + ")"))
        << depth;
  }
  EXPECT_EQ("", check("max-min: T = B; U(m) = max(l)(C(l)) + (T + D) * (E(m) * F(m)); A(m) = U(m) + G", {},
                      113, "share(nest=2, loops={m}); distribute(path={1,1,1}, depth=0)"));
}

TEST(TermsApart, ProductsAreAddedToTheTarget) {
  const std::string sum = "A(i,j) = B(i,k) * C(k,j) + D(i,j)";
  const std::string apart = "distribute(path={1}, depth=0)";
  const Formats sparse{{"A", "csr"}, {"B", "csr"}, {"C", "csr"}, {"D", "csr"}};
  EXPECT_EQ("", check(sum, sparse, 120));
  EXPECT_EQ("", check(sum, sparse, 121, apart));
  EXPECT_EQ("", check(sum, {{"B", "csr"}}, 122, apart));
  EXPECT_EQ("", check(sum, {{"B", "csr"}, {"C", "csr"}, {"D", "csr"}}, 123, apart));
  EXPECT_EQ("", check("A(i,j) = B(i,k) * C(k,j) - D(i,k) * E(k,j)",
                      {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}, {"D", "csr"}, {"E", "csr"}}, 124));
  EXPECT_EQ("", check("min-plus: " + sum, sparse, 125));
  EXPECT_EQ("", check("y(i) = b(i) - A(i,j) * x(j)", {{"A", "csr"}}, 126, apart));
  EXPECT_EQ("", check("A(i,j) = 3 * B(i,k) * C(k,j) + D(i,j) / 2", sparse, 127));
}

/// The dense term comes first and stores, wherever it stands; one that is transposed or summed does not.
TEST(TermsApart, DenseTermsAreStoredFirst) {
  const Formats rows{{"B", "csr"}, {"C", "csr"}};
  const std::string apart = "distribute(path={}, depth=0)";
  EXPECT_EQ("", check("A(i,j) = B(i,j) + D(i,j)", rows, 150, apart));
  EXPECT_EQ("", check("A(i,j) = D(i,j) - B(i,j)", rows, 151, apart));
  EXPECT_EQ("", check("A(i,j) = B(i,j) + 2 * D(i,j) + C(i,j) + E(i,j)", rows, 152, apart));
  EXPECT_EQ("", check("A(i,j) += B(i,j) + D(i,j)", rows, 153, apart));
  EXPECT_EQ("", check("min-plus: A(i,j) = B(i,j) + D(i,j)", rows, 154, apart));
  EXPECT_EQ("", check("A(i,j) = B(i,j) + D(j,i)", rows, 155, apart + "; reorder(path={1}, order={j,i})"));
  EXPECT_EQ("", check("A(i) = B(i,j) * c(j) + d(i)", rows, 156));
  EXPECT_EQ("", check("A(i,j) = sum(k)(B(i,k) + D(i,k) * E(k,j))", rows, 157, apart));
}

/// A phase over the slots of a table is not split along the rows of another operand.
TEST(Programs, TablesAreNotSplit) {
  EXPECT_EQ("", check("A(k,m) = D(l,k) * C(k) * B(l,m)", {{"B", "csr"}, {"D", "hashed,dense"}}, 140));
  EXPECT_EQ("", check("A(i) = B(i,k,m) * C(k,m) * D(i)", {{"B", "hashed,compressed,dense"}}, 141));
}

/// Several statements compute the dense product at the entries of B, each where it reads it.
TEST(Programs, SumsReadAtTheEntriesOfSomethingSparse) {
  const std::string attention =
      "T(i,j) = C(i,k) * D(k,j); E(i,j) = B(i,j) * exp(T(i,j)); S(i) = E(i,j); A(i,j) = E(i,j) / S(i)";
  EXPECT_EQ("", check(attention, {{"B", "csr"}}, 130));
  EXPECT_EQ("", check(attention, {{"A", "csr"}, {"B", "csr"}}, 131));
  EXPECT_EQ("", check("T(i,j) = C(i,k) * D(k,j); S(i) = B(i,j) / T(i,j); A(i,j) = B(i,j) * T(i,j) * S(i)",
                      {{"A", "dcsr"}, {"B", "dcsr"}}, 132));
  EXPECT_EQ(
      "", check("min-plus: T(i,j) = C(i,k) * D(k,j); S(i) = B(i,j) * T(i,j); A(i,j) = B(i,j) * T(i,j) * S(i)",
                {{"A", "csr"}, {"B", "csr"}}, 133));
}

TEST(SparseResults, Products) {
  EXPECT_EQ("", check("A(i,j) = B(i,k) * C(k,j)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}}, 70));
  EXPECT_EQ("", check("A(i,j) = B(i,k) * C(k,j)", {{"A", "dcsr"}, {"B", "dcsr"}, {"C", "csr"}}, 71));
  EXPECT_EQ("", check("A(i,j) = B(i,k) * C(k,j)", {{"A", "csr"}, {"B", "csc"}, {"C", "csr"}}, 72));
  EXPECT_EQ("", check("A(i,j) = B(i,k) * C(k,j)", {{"A", "csr"}, {"B", "csr"}}, 73));
  EXPECT_EQ("", check("A(i,j) = B(i,j) * C(i,k) * D(k,j)", {{"A", "csr"}, {"B", "csr"}}, 74));
  EXPECT_EQ("", check("A(i,j,m) = B(i,j,k) * C(k,m)", {{"A", "dense,compressed,dense"}, {"B", "csf"}}, 75));
  EXPECT_EQ("", check("A(i,j,m) = B(i,j,k) * C(k,m)", {{"A", "csf"}, {"B", "csf"}, {"C", "csr"}}, 76));
  EXPECT_EQ("", check("A(i,l) = B(i,j,k) * C(j,l) * D(k,l)",
                      {{"A", "csr"}, {"B", "csf"}, {"C", "csr"}, {"D", "csr"}}, 77));
  EXPECT_EQ("", check("a(i) = B(j,i) * c(j)", {{"a", "compressed"}, {"B", "csr"}}, 78));
  EXPECT_EQ("", check("or-and: a(i) = or(j)(B(i,j))", {{"a", "compressed"}}, 80));
  EXPECT_EQ("", check("min-plus: A(i,j) = B(i,k) * C(k,j)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}}, 79));
}

}  // namespace
}  // namespace schaas
