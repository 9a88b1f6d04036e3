#include "compiler/lower/lower.h"

#include <gtest/gtest.h>

#include "compiler/concrete_notation/checks/verifier.h"
#include "compiler/concrete_notation/parser.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/loop_ir/verifier.h"
#include "tests/unit/compiler/kernel_run.h"

// Lowering of hand-written trees. Most kernels are compiled, run on random operands and compared with the
// dense oracle (kernel_run.h). Extents lie on both sides of register widths, tiles and specialised sizes, so
// that remainder loops run. Values cannot show which transformations were applied. Other tests therefore read
// the printed loop IR, for a schedule that needs a pass and one that must not have it. Each call names its
// seed.
namespace schaas {
namespace {

using testing::check_tree;
using testing::RunCase;

struct Text {
  std::string expression;
  std::map<std::string, std::string> formats;
  std::vector<std::string> constraints;
  std::string value_type = "f64";
  std::string position_bits = "32";
};

RunCase make_case(const Text& text, const std::map<std::string, std::int64_t>& extents) {
  auto built = problem::build(
      {text.expression, text.formats, text.constraints, text.value_type, text.position_bits, "default"});
  EXPECT_TRUE(built.ok()) << support::render(built.error());
  return RunCase{*built, extents, 0.3};
}

TEST(Lower, MatrixTimesVector) {
  const auto run = make_case({"A(i) = B(i,j) * C(j)", {{"B", "csr"}}, {}}, {{"i", 13}, {"j", 17}});
  EXPECT_EQ("", check_tree("forall(i, forall(j, A(i) += B(i,j) * C(j)))", run, 1));
}

/// Four entries of a row at a time, then what is left.
TEST(Lower, DotProductsOfManyEntriesAtEveryLength) {
  for (const int k : {1, 2, 3, 5, 8, 9, 16, 31, 64}) {
    for (const int j : {1, 3, 4, 9, 40}) {
      if (k != 9 && j != 9 && j != 3 + k % 2) continue;  // each kernel is compiled, which takes its time
      const auto run = make_case({"A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", {{"B", "csr"}}, {}},
                                 {{"i", 7}, {"j", j}, {"k", k}, {"l", k}});
      EXPECT_EQ("", check_tree("forall(i, forall(j, where(forall(l, A(i,l) += t1 * E(j,l)), "
                               "forall(k, t1 += B(i,j) * C(i,k) * D(j,k)))))",
                               run, 3))
          << j << " " << k;
    }
  }
}

TEST(Lower, DenseProductsAtEveryLength) {
  for (const int i : {1, 3, 4, 5, 8, 11}) {
    const auto run = make_case({"A(i,k) = B(i,j) * C(j,k)", {}, {}}, {{"i", i}, {"j", 9}, {"k", 13}});
    EXPECT_EQ("", check_tree("forall(i, forall(j, forall(k, A(i,k) += B(i,j) * C(j,k))))", run, 4)) << i;
  }
}

TEST(Lower, SparseTimesDenseAtEveryRowLength) {
  for (const int k : {1, 2, 3, 4, 5, 7, 8, 15, 31, 32, 33, 47, 64, 79}) {
    const auto run =
        make_case({"A(i,k) = B(i,j) * C(j,k)", {{"B", "csr"}}, {}}, {{"i", 7}, {"j", 11}, {"k", k}});
    EXPECT_EQ("", check_tree("forall(i, forall(j, forall(k, A(i,k) += B(i,j) * C(j,k))))", run, 2)) << k;
  }
}

TEST(Lower, ColumnwiseLoopsOverCsc) {
  const auto run =
      make_case({"A(i,k) = B(i,j) * C(j,k)", {{"B", "csc"}}, {}}, {{"i", 7}, {"j", 11}, {"k", 9}});
  EXPECT_EQ("", check_tree("forall(j, forall(i, forall(k, A(i,k) += B(i,j) * C(j,k))))", run, 3));
  EXPECT_EQ("", check_tree("forall(k, forall(j, forall(i, A(i,k) += B(i,j) * C(j,k))))", run, 4));
}

TEST(Lower, ScalarTemporaryBetweenTwoRows) {  // SparseAuto kernel 1: ij<k,l>
  const auto run = make_case({"A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", {{"B", "csr"}}, {}},
                             {{"i", 9}, {"j", 10}, {"k", 13}, {"l", 21}});
  EXPECT_EQ("", check_tree("forall(i, forall(j, where(forall(l, A(i,l) += t1 * E(j,l)), "
                           "forall(k, t1 += B(i,j) * C(i,k) * D(j,k)))))",
                           run, 5));
}

TEST(Lower, RowTemporaryStaysInRegisters) {  // A = B C D with T(k)
  const auto run = make_case({"A(i,l) = B(i,j) * C(j,k) * D(k,l)", {{"B", "csr"}}, {}},
                             {{"i", 9}, {"j", 10}, {"k", 37}, {"l", 21}});
  const std::string tree =
      "forall(i, where(forall(k, forall(l, A(i,l) += t1(k) * D(k,l))), forall(j, forall(k, t1(k) += B(i,j) * "
      "C(j,k)))))";
  EXPECT_EQ("", check_tree(tree, run, 6));
}

TEST(Lower, RowsOfALargeOperandAreAskedForAhead) {  // more than LARGE_BYTES of the printed code
  const auto fused = make_case({"A(i,l) = B(i,j) * C(j,k) * D(k,l)", {{"B", "csr"}}, {}},
                               {{"i", 2}, {"j", 30'000}, {"k", 16}, {"l", 2}});
  EXPECT_EQ("", check_tree("forall(i, where(forall(k, forall(l, A(i,l) += t1(k) * D(k,l))), "
                           "forall(j, forall(k, t1(k) += B(i,j) * C(j,k)))))",
                           fused, 60));
  const auto fibers = make_case({"A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", {{"B", "csf"}}, {}},
                                {{"i", 2}, {"j", 2}, {"k", 60'000}, {"l", 9}});
  EXPECT_EQ("", check_tree("forall(i, forall(j, where(forall(l, A(i,l) += t1(l) * C(j,l)), "
                           "forall(k, forall(l, t1(l) += B(i,j,k) * D(k,l))))))",
                           fibers, 61));
}

TEST(Lower, ReductionOverTwoCompressedLevels) {  // MTTKRP with a fused row temporary
  const auto run = make_case({"A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", {{"B", "csf"}}, {}},
                             {{"i", 9}, {"j", 10}, {"k", 8}, {"l", 43}});
  EXPECT_EQ("", check_tree("forall(i, forall(j, where(forall(l, A(i,l) += t1(l) * C(j,l)), "
                           "forall(k, forall(l, t1(l) += B(i,j,k) * D(k,l))))))",
                           run, 7));
  EXPECT_EQ("", check_tree("forall(i, forall(j, forall(k, forall(l, A(i,l) += B(i,j,k) * C(j,l) * D(k,l)))))",
                           run, 8));
}

TEST(Lower, TemporaryTouchedOnlyAtSparseCoordinatesIsCleanedAgain) {
  const auto run = make_case({"A(i,l) = B(i,j) * C(j,k) * D(i,j) * E(j,l)", {{"B", "csr"}, {"D", "csr"}}, {}},
                             {{"i", 9}, {"j", 30}, {"k", 8}, {"l", 5}});
  const std::string tree =
      "forall(i, where(forall(j, forall(l, A(i,l) += t1(j) * D(i,j) * E(j,l))), forall(j, forall(k, t1(j) += "
      "B(i,j) * "
      "C(j,k)))))";
  EXPECT_EQ("", check_tree(tree, run, 9));
}

TEST(Lower, PhasesPassSharedTemporaries) {
  const auto run = make_case({"A(i,l) = B(i,j) * C(j,k) * D(k,l)", {{"B", "csr"}}, {}},
                             {{"i", 9}, {"j", 10}, {"k", 7}, {"l", 21}});
  EXPECT_EQ("", check_tree("where(forall(i, forall(j, forall(l, A(i,l) += B(i,j) * t1(j,l)))), "
                           "forall(j, forall(k, forall(l, t1(j,l) += C(j,k) * D(k,l)))))",
                           run, 10));
  EXPECT_EQ("", check_tree("where(forall(i, forall(k, forall(l, A(i,l) += t1(i,k) * D(k,l)))), "
                           "forall(k, forall(i, forall(j, t1(i,k) += B(i,j) * C(j,k)))))",
                           run, 11));
}

TEST(Lower, ScalarCrossesPhases) {
  const auto run =
      make_case({"A(i) = B(i,j) * C(j) * D(k)", {{"B", "csr"}}, {}}, {{"i", 9}, {"j", 10}, {"k", 30}});
  EXPECT_EQ("", check_tree("where(forall(i, forall(j, A(i) += B(i,j) * C(j) * t1)), forall(k, t1 += D(k)))",
                           run, 12));
}

TEST(Lower, ScalarResult) {
  const auto run = make_case({"a = B(i,j) * C(j) * D(i)", {{"B", "dcsr"}}, {}}, {{"i", 9}, {"j", 10}});
  EXPECT_EQ("", check_tree("forall(i, forall(j, a += B(i,j) * C(j) * D(i)))", run, 13));
}

TEST(Lower, IntersectionOfSparseOperands) {
  const auto two =
      make_case({"A(i) = B(i,j) * C(i,j)", {{"B", "csr"}, {"C", "csr"}}, {}}, {{"i", 9}, {"j", 40}});
  EXPECT_EQ("", check_tree("forall(i, forall(j, A(i) += B(i,j) * C(i,j)))", two, 14));
  const auto three =
      make_case({"A(i,j) = B(i,j) * C(i,j) * D(i,j)", {{"B", "dcsr"}, {"C", "dcsr"}, {"D", "dcsr"}}, {}},
                {{"i", 25}, {"j", 8}});
  EXPECT_EQ("", check_tree("forall(i, forall(j, A(i,j) += B(i,j) * C(i,j) * D(i,j)))", three, 15));
}

TEST(Lower, DenseLevelBelowACompressedOne) {
  const auto run = make_case({"A(i,k) = B(i,j,k) * C(j,k)", {{"B", "dense,compressed,dense"}}, {}},
                             {{"i", 9}, {"j", 12}, {"k", 19}});
  EXPECT_EQ("", check_tree("forall(i, forall(j, forall(k, A(i,k) += B(i,j,k) * C(j,k))))", run, 16));
}

TEST(Lower, DenseTensorsInAnyModeOrder) {
  const auto run = make_case(
      {"A(i,j,k) = B(i,l,k) * C(l,j)",
       {{"A", "dense,dense,dense:1,2,0"}, {"B", "dense,dense,dense:2,0,1"}, {"C", "dense,dense:1,0"}},
       {}},
      {{"i", 5}, {"j", 6}, {"k", 7}, {"l", 8}});
  EXPECT_EQ("",
            check_tree("forall(i, forall(j, forall(k, forall(l, A(i,j,k) += B(i,l,k) * C(l,j)))))", run, 17));
  EXPECT_EQ("",
            check_tree("forall(l, forall(k, forall(j, forall(i, A(i,j,k) += B(i,l,k) * C(l,j)))))", run, 18));
}

TEST(Lower, SinglePrecisionAndWidePositions) {
  const auto run = make_case({"A(i,k) = B(i,j) * C(j,k)", {{"B", "dcsr"}}, {}, "f32", "64"},
                             {{"i", 20}, {"j", 11}, {"k", 61}});
  EXPECT_EQ("", check_tree("forall(i, forall(j, forall(k, A(i,k) += B(i,j) * C(j,k))))", run, 19));
}

TEST(Lower, FixedExtentBecomesAConstant) {
  const auto run =
      make_case({"A(i,k) = B(i,j) * C(j,k)", {{"B", "csr"}}, {"k == 64"}}, {{"i", 5}, {"j", 11}, {"k", 64}});
  const std::string tree = "forall(i, forall(j, forall(k, A(i,k) += B(i,j) * C(j,k))))";
  EXPECT_EQ("", check_tree(tree, run, 20));
  const auto kernel = lower::lower(*concrete_notation::parse(tree), run.problem);
  ASSERT_TRUE(kernel.ok());
  EXPECT_NE(std::string::npos, loop_ir::print(*kernel).find("for vector k in 0 .. 64"));
}

/// Returns the specialised extents and sizes of each phase.
std::vector<std::string> specialisations_of(const Text& text, const std::string& tree,
                                            const lower::PassList& passes = lower::all_passes()) {
  const auto run = make_case(text, {});
  const auto kernel = lower::lower(*concrete_notation::parse(tree), run.problem, {.passes = passes});
  EXPECT_TRUE(kernel.ok());
  std::vector<std::string> found;
  for (const auto& phase : kernel->phases) {
    std::string all;
    if (phase.specialised) {
      for (const auto& extent : phase.specialised->extents) all += extent + " ";
      for (const auto& extent : phase.specialised->singles) all += "single " + extent + " ";
      for (const auto size : phase.specialised->sizes) all += std::to_string(size) + " ";
    }
    found.push_back(all);
  }
  return found;
}

TEST(Lower, SpecialisesForCommonExtents) {
  const std::string expression = "A(i,l) = B(i,j) * C(j,k) * D(k,l)";
  const std::string tree =
      "forall(i, where(forall(k, forall(l, A(i,l) += T(k) * D(k,l))), forall(j, forall(k, T(k) += B(i,j) * "
      "C(j,k)))))";
  using Phases = std::vector<std::string>;
  const auto specialisations = [&](const std::vector<std::string>& constraints,
                                   const lower::PassList& passes = lower::all_passes()) {
    return specialisations_of({expression, {{"B", "csr"}}, constraints}, tree, passes);
  };
  EXPECT_EQ(Phases{"n_l n_k 1 8 16 32 "}, specialisations({}));
  EXPECT_EQ(Phases{"n_l n_k 16 32 "}, specialisations({"10 <= k <= 256", "l <= 100"}));
  EXPECT_EQ(Phases{"n_l 1 8 16 32 "}, specialisations({"k == 16"}));
  EXPECT_EQ(Phases{""}, specialisations({"k <= 10", "l >= 12"}));
  EXPECT_EQ(Phases{""}, specialisations({}, lower::baseline_passes()));
  // Extents of sparse levels are large, those of dense levels below are not.
  EXPECT_EQ(Phases{""},
            specialisations_of({"A(i,j) = B(i,j) * C(j) * D(j)", {{"B", "csr"}}, {}},
                               "forall(i, where(forall(j, A(i,j) += T(j) * D(j)), forall(j, T(j) += "
                               "B(i,j) * C(j))))"));
  EXPECT_EQ(Phases{"n_k 1 8 16 32 "},
            specialisations_of({"A(i,k) = B(i,j,k) * C(j)", {{"B", "dense,compressed,dense"}}, {}},
                               "forall(i, forall(j, forall(k, A(i,k) += B(i,j,k) * C(j))))"));
  for (const int k : {1, 7, 8, 16, 17, 32}) {
    for (const int l : {8, 16, 32}) {
      const auto run = make_case({expression, {{"B", "csr"}}, {}}, {{"i", 9}, {"j", 11}, {"k", k}, {"l", l}});
      EXPECT_EQ("", check_tree(tree, run, 24)) << k << " " << l;
    }
  }
}

TEST(Lower, SpecialisesForScalarLoopsThatRunOnce) {
  const std::string expression = "A(i,l,m) = B(i,j,k) * C(j,l) * D(k,m)";
  const std::string tree =
      "forall(i, forall(j, forall(l, forall(k, forall(m, A(i,l,m) += B(i,j,k) * C(j,l) * D(k,m))))))";
  const auto specialisations = [&](const std::vector<std::string>& constraints) {
    return specialisations_of({expression, {{"B", "csf"}}, constraints}, tree);
  };
  using Phases = std::vector<std::string>;
  EXPECT_EQ(Phases{"n_m single n_l 1 8 16 32 "}, specialisations({}));
  EXPECT_EQ(Phases{"n_m 1 8 16 32 "}, specialisations({"l >= 2"}));
  EXPECT_EQ(Phases{"n_m 8 16 32 "}, specialisations({"m >= 2"}));
  for (const auto& [l, m] : std::vector<std::pair<int, int>>{{1, 1}, {9, 1}, {1, 8}, {2, 3}}) {
    const auto run =
        make_case({expression, {{"B", "csf"}}, {}}, {{"i", 9}, {"j", 7}, {"k", 8}, {"l", l}, {"m", m}});
    EXPECT_EQ("", check_tree(tree, run, 40)) << l << " " << m;
  }
}

TEST(Lower, SpecialisesSumsForLongerRows) {
  const std::string expression = "A(i,j) = B(i,j) * C(i,k) * D(j,k)";
  const std::string tree = "forall(i, forall(j, forall(k, A(i,j) += B(i,j) * C(i,k) * D(j,k))))";
  const auto specialisations = [&](const std::vector<std::string>& constraints) {
    return specialisations_of({expression, {{"A", "csr"}, {"B", "csr"}}, constraints}, tree);
  };
  using Phases = std::vector<std::string>;
  EXPECT_EQ((Phases{"", "n_k 1 8 16 32 64 128 "}), specialisations({}));
  EXPECT_EQ((Phases{"", "n_k 64 "}), specialisations({"33 <= k <= 100"}));
  for (const int k : {1, 16, 63, 64, 65, 128, 130}) {
    const auto run =
        make_case({expression, {{"A", "csr"}, {"B", "csr"}}, {}}, {{"i", 9}, {"j", 11}, {"k", k}});
    EXPECT_EQ("", check_tree(tree, run, 40)) << k;
  }
}

TEST(Lower, RowsWithoutEntriesAreCleared) {
  const auto printed = [](const std::string& expression, const std::string& tree) {
    const auto kernel = lower::lower(*concrete_notation::parse(tree),
                                     make_case({expression, {{"B", "csr"}}, {}}, {}).problem);
    EXPECT_TRUE(kernel.ok());
    return loop_ir::print(*kernel);
  };
  const std::string product = "A(i,l) = B(i,j) * C(j,k) * D(k,l)";
  const std::string rows =
      "forall(i, where(forall(k, forall(l, A(i,l) += T(k) * D(k,l))), forall(j, forall(k, T(k) += B(i,j) * "
      "C(j,k)))))";
  const std::string text = printed(product, rows);
  EXPECT_NE(std::string::npos, text.find("let some: index = (B_pos1[i] < B_pos1[(i + 1)])")) << text;
  EXPECT_NE(std::string::npos,
            text.find("if (some == 0) {\n        fill A from (i * n_l) count n_l with 0.0"))
      << text;
  for (const int extent : {1, 4, 17}) {
    const auto run =
        make_case({product, {{"B", "csr"}}, {}}, {{"i", 9}, {"j", 3}, {"k", extent}, {"l", extent + 1}});
    EXPECT_EQ("", check_tree(rows, run, 40));
  }
  // Clearing saves nothing: no sum runs without entries.
  EXPECT_EQ(std::string::npos,
            printed("A(i,k) = B(i,j) * C(j,k)", "forall(i, forall(j, forall(k, A(i,k) += B(i,j) * C(j,k))))")
                .find("some"));
}

TEST(Lower, AddsNumericBodiesForKeptStructure) {
  const auto values = [](const Text& text, const std::string& tree,
                         const lower::PassList& passes = lower::all_passes()) {
    const auto kernel =
        lower::lower(*concrete_notation::parse(tree), make_case(text, {}).problem, {.passes = passes});
    EXPECT_TRUE(kernel.ok());
    const std::string printed = loop_ir::print(*kernel);
    const auto begin = printed.find("  numeric {\n");
    return begin == std::string::npos ? "" : printed.substr(begin);
  };
  const Text sddmm{"A(i,j) = B(i,j) * C(i,k) * D(j,k)", {{"A", "csr"}, {"B", "csr"}}, {}};
  const std::string tree = "forall(i, forall(j, forall(k, A(i,j) += B(i,j) * C(i,k) * D(j,k))))";
  const std::string alone = values(sddmm, tree);
  EXPECT_NE(std::string::npos, alone.find("A["));
  EXPECT_EQ(std::string::npos, alone.find("A_crd1["));
  EXPECT_EQ(std::string::npos, alone.find("A_pos1["));
  EXPECT_EQ("", values(sddmm, tree, lower::baseline_passes()));
  // Short rows are flattened to one list, in groups of four entries with their rows.
  const auto count = [&](const std::string& words, const std::string& in) {
    std::size_t found = 0;
    for (auto at = in.find(words); at != std::string::npos; at = in.find(words, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(2U, count("fill rows from", alone));
  EXPECT_EQ(5U, count("(first + rows[", alone));
  EXPECT_EQ(0U, count("fill rows from", values({"A(i,j) = B(i,j) * C(i,j)", {{"A", "csr"}, {"B", "csr"}}, {}},
                                               "forall(i, forall(j, A(i,j) += B(i,j) * C(i,j)))")));
  // A workspace takes most of the time.
  EXPECT_EQ("", values({"A(i,k) = B(i,j) * C(j,k)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}}, {}},
                       "forall(i, where(forall(k, A(i,k) += T(k)), forall(j, forall(k, T(k) += B(i,j) * "
                       "C(j,k)))))"));
  EXPECT_EQ("", values({"A(i,j) = B(i,k) * C(k,j)", {{"B", "csr"}}, {}},
                       "forall(i, forall(k, forall(j, A(i,j) += B(i,k) * C(k,j))))"));
}

/// Returns the lines of the kernel's text with these words.
std::vector<std::string> lines_with(const std::string& words, const Text& text, const std::string& tree,
                                    const lower::PassList& passes) {
  const auto kernel = lower::lower(*concrete_notation::parse(tree), make_case(text, {}).problem,
                                   {.passes = passes, .verify = true});
  EXPECT_TRUE(kernel.ok() && loop_ir::verify(*kernel).ok());
  std::vector<std::string> found;
  std::istringstream lines(loop_ir::print(*kernel));
  for (std::string line; std::getline(lines, line);) {
    if (line.find(words) != std::string::npos) found.push_back(line);
  }
  return found;
}

TEST(Lower, PrefetchesGathersBesideOtherWorkAndBelowOtherEntries) {
  // Returns the loops with a prefetch distance.
  const auto prefetching = [](const Text& text, const std::string& tree,
                              const lower::PassList& passes = lower::all_passes()) {
    std::string found;
    for (const auto& line : lines_with(" prefetch 16 {", text, tree, passes))
      found += line.substr(line.find("for "), line.find(" in ") - line.find("for ")) + ";";
    return found;
  };
  const Text fused{"A(i,l) = B(i,j) * C(j,k) * D(k,l)", {{"B", "csr"}}, {}};
  const std::string rows =
      "forall(i, where(forall(k, forall(l, A(i,l) += t1(k) * D(k,l))), "
      "forall(j, forall(k, t1(k) += B(i,j) * C(j,k)))))";
  EXPECT_EQ("for pj;for pj_2;", prefetching(fused, rows));  // a row, and a range of a split one
  EXPECT_EQ("", prefetching(fused, rows, lower::baseline_passes()));
  // Only entries: the processor runs ahead to the next loads.
  EXPECT_EQ("", prefetching({"A(i,k) = B(i,j) * C(j,k)", {{"B", "csr"}}, {}},
                            "forall(i, forall(j, forall(k, A(i,k) += B(i,j) * C(j,k))))"));
  // Fibers below another level's entries.
  EXPECT_EQ("for pk;", prefetching({"A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", {{"B", "csf"}}, {}},
                                   "forall(i, forall(j, where(forall(l, A(i,l) += t1(l) * C(j,l)), "
                                   "forall(k, forall(l, t1(l) += B(i,j,k) * D(k,l))))))"));
}

TEST(Lower, ExpandsRowsOfFewTerms) {
  const auto words = [](const std::string& what, const Text& text, const std::string& tree,
                        const lower::PassList& passes = lower::all_passes()) {
    std::string found;
    for (const auto& line : lines_with(what, text, tree, passes))
      found += line.substr(line.find_first_not_of(' ')) + ";";
    return found;
  };
  const std::map<std::string, std::string> all{{"A", "csr"}, {"B", "csr"}, {"C", "csr"}};
  const Text product{"A(i,k) = B(i,j) * C(j,k)", all, {}};
  const std::string rows =
      "forall(i, where(forall(k, A(i,k) += t1(k)), forall(j, forall(k, t1(k) += B(i,j) * C(j,k)))))";
  EXPECT_EQ("expand C_crd1 C in C_pos1[j_2] .. C_pos1[(j_2 + 1)] times v to t_list values t count n_2;",
            words("expand ", product, rows));
  EXPECT_EQ("compress t_list values t count n_2;", words("compress ", product, rows));
  EXPECT_EQ("set terms = (terms + (C_pos1[(j_2 + 1)] - C_pos1[j_2]));", words("set terms", product, rows));
  EXPECT_EQ(
      "supernode pj_2 to B_pos1[(i_2 + 1)] rows B_crd1 times B and 1.0 of C_pos1 C_crd1 C into w set w_set;",
      words("supernode ", product, rows));
  for (const char* what : {"expand ", "supernode "})
    EXPECT_EQ("", words(what, product, rows, lower::baseline_passes()));
  const Text likeliest{"max-times: A(i,k) = B(i,j) * C(j,k)", all, {}};
  const std::string likeliest_rows =
      "forall(i, where(forall(k, A(i,k) max= t1(k)), forall(j, forall(k, t1(k) max= B(i,j) * C(j,k)))))";
  EXPECT_EQ("compress t_list values t count n_2 with max of multiply;",
            words("compress ", likeliest, likeliest_rows));
  EXPECT_EQ("", words("supernode ", likeliest, likeliest_rows)) << "supernodes multiply and add";
  // Factors of the row, and signs.
  const Text scaled{"A(i,k) = s(i) * B(i,j) * C(j,k)", all, {}};
  const std::string by_factor =
      "forall(i, where(forall(k, A(i,k) += t1(k)), forall(j, forall(k, t1(k) += s(i) * B(i,j) * C(j,k)))))";
  EXPECT_NE("", words("expand ", scaled, by_factor));
  EXPECT_NE("", words("supernode ", scaled, by_factor));
  const Text sum{"A(i,j) = B(i,j) - C(i,j)", all, {}};
  const std::string terms =
      "forall(i, where(forall(j, A(i,j) += t1(j)), terms(forall(j, t1(j) += B(i,j)), forall(j, t1(j) += "
      "-C(i,j)))))";
  EXPECT_EQ(
      "expand B_crd1 B in B_pos1[i_2] .. B_pos1[(i_2 + 1)] times 1.0 to t_list values t count n_2;"
      "expand C_crd1 C in C_pos1[i_2] .. C_pos1[(i_2 + 1)] times -1.0 to t_list values t count n_2;",
      words("expand ", sum, terms));
  EXPECT_EQ("", words("supernode ", sum, terms));  // no loop over rows that are added
  // More than entries and what is known before them; a dense row, which counting would go through, too.
  EXPECT_EQ("", words("expand ", {"A(i,k) = B(i,j) * C(j,k) * d(k)", all, {}},
                      "forall(i, where(forall(k, A(i,k) += t1(k)), forall(j, forall(k, t1(k) += B(i,j) * "
                      "C(j,k) * d(k)))))"));
  EXPECT_EQ("", words("expand ", {"A(i,k) = B(i,j) * C(j,k)", {{"A", "csr"}, {"C", "csr"}}, {}}, rows));
}

TEST(Lower, PrefetchesNextRowsOfDenseProducts) {
  const auto prefetches = [](const Text& text, const std::string& tree,
                             const lower::PassList& passes = lower::all_passes()) {
    std::string found;
    for (const auto& line : lines_with("prefetch ", text, tree, passes)) {
      if (!line.ends_with('{'))
        found += line.substr(line.find("prefetch ")) + ";";  // no loop that prefetches entries
    }
    return found;
  };
  const Text hadamard{"A(i,l) = B(i,k) * C(k,j) * D(k,j) * E(j,l)", {{"B", "csr"}}, {}};
  const std::string product_first =
      "where(forall(i, forall(k, forall(l, A(i,l) += B(i,k) * t1(k,l)))), "
      "forall(k, forall(j, forall(l, t1(k,l) += C(k,j) * D(k,j) * E(j,l)))))";
  EXPECT_EQ("prefetch C[(o_2 + ((n_j + j) * 6))];prefetch D[(o_3 + ((n_j + j) * 6))];",
            prefetches(hadamard, product_first));
  EXPECT_EQ("", prefetches(hadamard, product_first, lower::baseline_passes()));
  // Once for each operand, though the product is of its rows with themselves.
  EXPECT_EQ("prefetch C[(o_2 + ((n_j + j) * 6))];",
            prefetches({"A(i,l) = C(i,j) * C(i,j) * E(j,l)", {}, {}},
                       "forall(i, forall(j, forall(l, A(i,l) += C(i,j) * C(i,j) * E(j,l))))"));
  // Rows of a thread-private temporary are in cache; columns are not contiguous.
  EXPECT_EQ("", prefetches({"A(i,l) = B(i,j) * C(j,k) * D(k,l)", {{"B", "csr"}}, {}},
                           "forall(i, where(forall(k, forall(l, A(i,l) += t1(k) * D(k,l))), "
                           "forall(j, forall(k, t1(k) += B(i,j) * C(j,k)))))"));
  EXPECT_EQ("", prefetches({"A(i,l) = C(j,i) * E(j,l)", {}, {}},
                           "forall(i, forall(j, forall(l, A(i,l) += C(j,i) * E(j,l))))"));
  // Short rows arrive in time.
  EXPECT_EQ("", prefetches({"A(i,l) = C(i,j) * E(j,l)", {}, {"j == 32"}},
                           "forall(i, forall(j, forall(l, A(i,l) += C(i,j) * E(j,l))))"));
  EXPECT_EQ("prefetch C[(o_2 + ((33 + j) * 6))];",
            prefetches({"A(i,l) = C(i,j) * E(j,l)", {}, {"j == 33"}},
                       "forall(i, forall(j, forall(l, A(i,l) += C(i,j) * E(j,l))))"));
}

TEST(Lower, PacksFactorsBeforeTheirProducts) {
  const Text hadamard{"A(i,l) = B(i,k) * C(k,j) * D(k,j) * E(j,l)", {{"B", "csr"}}, {}};
  const std::string product_first =
      "where(forall(i, forall(k, forall(l, A(i,l) += B(i,k) * t1(k,l)))), "
      "forall(k, forall(j, forall(l, t1(k,l) += C(k,j) * D(k,j) * E(j,l)))))";
  EXPECT_EQ(6U, lines_with("] = (C[(o_2", hadamard, product_first, lower::all_passes()).size());
  EXPECT_EQ(6U, lines_with("+= (rows[", hadamard, product_first, lower::all_passes()).size());
  EXPECT_TRUE(lines_with("rows", hadamard, product_first, lower::baseline_passes()).empty());
  // One operand: there is nothing to pack.
  EXPECT_TRUE(lines_with("rows", {"A(i,l) = C(i,j) * E(j,l)", {}, {}},
                         "forall(i, forall(j, forall(l, A(i,l) += C(i,j) * E(j,l))))", lower::all_passes())
                  .empty());
  for (const std::int64_t rows : {5, 6, 23}) {
    const auto run = make_case(hadamard, {{"i", 9}, {"k", rows}, {"j", 11}, {"l", 37}});
    EXPECT_EQ("", check_tree(product_first, run, 51));
  }
}

TEST(Lower, ComputesReferencedRowsOnly) {
  const auto phases = [](const Text& text, const std::string& tree) {
    std::string found;
    for (const auto& line : lines_with("phase range", text, tree, lower::all_passes())) {
      const auto over = line.find(" over ");
      found +=
          over == std::string::npos ? "all;" : line.substr(over + 6, line.find(" parallel") - over - 6) + ";";
    }
    return found;
  };
  const Text matrices{"A(i,l) = B(i,j) * C(j,k) * D(k,l)", {{"B", "csr"}}, {}};
  const std::string first =
      "where(forall(i, forall(j, forall(l, A(i,l) += B(i,j) * t1(j,l)))), "
      "forall(j, forall(k, forall(l, t1(j,l) += C(j,k) * D(k,l)))))";
  EXPECT_EQ("B_ref1;all;", phases(matrices, first));
  EXPECT_EQ("all;all;", phases({matrices.expression, {}, {}}, first));
  EXPECT_EQ("B_ref2;all;",
            phases({"A(i,j,m) = B(i,j,k) * C(k,l) * D(l,m)", {{"B", "csf"}}, {}},
                   "where(forall(i, forall(j, forall(k, forall(m, A(i,j,m) += B(i,j,k) * t1(k,m))))), "
                   "forall(k, forall(l, forall(m, t1(k,m) += C(k,l) * D(l,m)))))"));
  // The phase does not own a row for each coordinate, or sums into rows.
  EXPECT_EQ("all;all;", phases({"A(i,l) = B(i,j) * C(k,j) * D(k,l)", {{"B", "csr"}}, {}},
                               "where(forall(i, forall(j, forall(l, A(i,l) += B(i,j) * t1(j,l)))), "
                               "forall(k, forall(j, forall(l, t1(j,l) += C(k,j) * D(k,l)))))"));
  // Referenced rows are not cleared: their start is undefined.
  EXPECT_EQ(1U, lines_with("stored written", matrices, first, lower::all_passes()).size());
  for (const std::int64_t columns : {1, 7, 400}) {
    const auto run = make_case(matrices, {{"i", 6}, {"j", columns}, {"k", 5}, {"l", 19}});
    SCOPED_TRACE(columns);
    EXPECT_EQ("", check_tree(first, run, 61));
  }
}

TEST(Lower, ExtentsOfOneAndZeroLengthRows) {
  const auto run = make_case({"A(i,l) = B(i,j) * C(j,k) * D(k,l)", {{"B", "csr"}}, {}},
                             {{"i", 1}, {"j", 1}, {"k", 1}, {"l", 1}});
  EXPECT_EQ(
      "", check_tree(
              "forall(i, where(forall(k, forall(l, A(i,l) += t1(k) * D(k,l))), forall(j, forall(k, t1(k) += "
              "B(i,j) * C(j,k)))))",
              run, 21));
}

TEST(Lower, BlocksOfRowsOfEveryLength) {
  const std::string tree =
      "where(forall(i, forall(k, forall(l, A(i,l) += t1(i,k) * D(k,l)))), "
      "forall(i, forall(j, forall(k, t1(i,k) += B(i,j) * C(j,k)))))";
  for (const std::string format : {"csr", "dcsr"}) {
    for (const std::int64_t rows : {1, 7, 8, 41}) {
      const auto run = make_case({"A(i,l) = B(i,j) * C(j,k) * D(k,l)", {{"B", format}}, {}},
                                 {{"i", rows}, {"j", 9}, {"k", 5}, {"l", 17}});
      SCOPED_TRACE(format + " " + std::to_string(rows));
      EXPECT_EQ("", check_tree("blocks(i, 8, " + tree + ")", run, 31));
    }
  }
}

TEST(Lower, BlocksOfTheEntriesOfARow) {
  const auto run = make_case({"A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", {{"B", "csr"}}, {}},
                             {{"i", 12}, {"j", 40}, {"k", 6}, {"l", 9}});
  EXPECT_EQ("", check_tree("forall(i, blocks(j, 3, where(forall(j, forall(l, A(i,l) += t1(j) * E(j,l))), "
                           "forall(j, forall(k, t1(j) += B(i,j) * C(i,k) * D(j,k))))))",
                           run, 32));
}

/// A row that every block adds to, with its vector loop outside the loop over the block, is not stored to.
TEST(Lower, EveryBlockAddsToARow) {
  const auto run = make_case({"A(i,m) = B(i,j) * C(i,k) * D(j,k) * E(j,l) * F(l,m)", {{"B", "csr"}}, {}},
                             {{"i", 5}, {"j", 30}, {"k", 6}, {"l", 9}, {"m", 7}});
  EXPECT_EQ("",
            check_tree("forall(i, where(forall(l, forall(m, A(i,m) += t1(l) * F(l,m))), blocks(j, 2, "
                       "where(forall(j, forall(l, t1(l) += t2(j) * E(j,l))), forall(j, forall(k, t2(j) += "
                       "B(i,j) * C(i,k) * D(j,k)))))))",
                       run, 33));
}

/// A temporary of blocks holds one block; it is stored to, not cleared and added to.
TEST(Lower, TemporariesOfBlocksHoldOneBlock) {
  const auto run = make_case({"A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", {{"B", "csr"}}, {}},
                             {{"i", 2}, {"j", 2}, {"k", 2}, {"l", 2}});
  const auto kernel =
      lower::lower(*concrete_notation::parse(
                       "forall(i, blocks(j, 8, where(forall(j, forall(l, A(i,l) += t1(j) * E(j,l))), "
                       "forall(j, forall(k, t1(j) += B(i,j) * C(i,k) * D(j,k))))))"),
                   run.problem);
  ASSERT_TRUE(kernel.ok());
  const std::string text = loop_ir::print(*kernel);
  EXPECT_NE(std::string::npos, text.find("scratch count 8 written")) << text;
  EXPECT_EQ(std::string::npos, text.find("clear")) << text;
}

/// Stores a wide row of a single block; clears and adds to other rows.
TEST(Lower, StoresSingleBlocksOfRows) {
  const auto run = make_case({"A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", {{"B", "csr"}}, {}},
                             {{"i", 20}, {"j", 20}, {"k", 3}, {"l", 41}});
  const std::string tree =
      "forall(i, blocks(j, 4, where(forall(j, forall(l, A(i,l) += t1(j) * E(j,l))), "
      "forall(j, forall(k, t1(j) += B(i,j) * C(i,k) * D(j,k))))))";
  EXPECT_EQ("", check_tree(tree, run, 46));
  const auto kernel = lower::lower(*concrete_notation::parse(tree), run.problem);
  ASSERT_TRUE(kernel.ok());
  const std::string text = loop_ir::print(*kernel);
  for (const char* part : {"let one: index = and((32 < n_l), and((B_pos1[i] < B_pos1[(i + 1)]), "
                           "(B_pos1[(i + 1)] <= (B_pos1[i] + 4))))",
                           "if one {", "if (one == 0) {\n        fill A from (i * n_l) count n_l with 0.0",
                           "A[(o_2 + l)] = t_2", "A[(o_2 + l_2)] += t_4"})
    EXPECT_NE(std::string::npos, text.find(part)) << part << "\n" << text;
}

// ---- lists of coordinates: a level that is not unique is walked by ranges

TEST(Lower, CoordinateListsAreWalkedRowByRow) {
  for (const char* bits : {"32", "64"}) {
    const auto vector =
        make_case({"A(i) = B(i,j) * C(j)", {{"B", "coo"}}, {}, "f64", bits}, {{"i", 13}, {"j", 17}});
    EXPECT_EQ("", check_tree("forall(i, forall(j, A(i) += B(i,j) * C(j)))", vector, 41));
  }
  const auto columns =
      make_case({"A(i,k) = B(i,j) * C(j,k)", {{"B", "coo:1,0"}}, {}}, {{"i", 7}, {"j", 11}, {"k", 9}});
  EXPECT_EQ("", check_tree("forall(j, forall(i, forall(k, A(i,k) += B(i,j) * C(j,k))))", columns, 42));
  EXPECT_EQ("", check_tree("forall(k, forall(j, forall(i, A(i,k) += B(i,j) * C(j,k))))", columns, 43));
}

TEST(Lower, BranchesStandBetweenTheLevelsOfAList) {
  const auto run = make_case({"A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", {{"B", "coo"}}, {}},
                             {{"i", 9}, {"j", 10}, {"k", 13}, {"l", 21}});
  EXPECT_EQ("", check_tree("forall(i, forall(j, where(forall(l, A(i,l) += t1 * E(j,l)), "
                           "forall(k, t1 += B(i,j) * C(i,k) * D(j,k)))))",
                           run, 44));
  EXPECT_EQ("",
            check_tree("forall(i, where(forall(j, forall(l, A(i,l) += t1(j) * E(j,l))), forall(j, forall(k, "
                       "t1(j) += B(i,j) * C(i,k) * D(j,k)))))",
                       run, 45));
  EXPECT_EQ("", check_tree("forall(i, blocks(j, 3, where(forall(j, forall(l, A(i,l) += t1(j) * E(j,l))), "
                           "forall(j, forall(k, t1(j) += B(i,j) * C(i,k) * D(j,k))))))",
                           run, 46));
}

TEST(Lower, ListsOfThreeCoordinates) {
  const auto run = make_case({"A(i,j) = B(i,k,l) * C(k,j) * D(l,j)", {{"B", "coo"}}, {}},
                             {{"i", 6}, {"j", 9}, {"k", 7}, {"l", 8}});
  EXPECT_EQ("", check_tree("forall(i, forall(k, forall(l, forall(j, A(i,j) += B(i,k,l) * C(k,j) * D(l,j)))))",
                           run, 47));
  const auto below =
      make_case({"A(i,j) = B(i,k,l) * C(k,j) * D(l,j)", {{"B", "dense,compressed(nonunique),singleton"}}, {}},
                {{"i", 6}, {"j", 9}, {"k", 7}, {"l", 8}});
  EXPECT_EQ("",
            check_tree("forall(i, forall(k, where(forall(j, A(i,j) += t1(j) * C(k,j)), forall(l, forall(j, "
                       "t1(j) += B(i,k,l) * D(l,j))))))",
                       below, 48));
  const auto blocks =
      make_case({"A(i,j) = B(i,k,l) * C(k,l,j)", {{"B", "compressed(nonunique),singleton,dense"}}, {}},
                {{"i", 6}, {"j", 9}, {"k", 7}, {"l", 8}});
  EXPECT_EQ("", check_tree("forall(i, forall(k, forall(l, forall(j, A(i,j) += B(i,k,l) * C(k,l,j)))))",
                           blocks, 49));
}

TEST(Lower, ListsAreMergedWithOtherLevels) {
  for (const char* other : {"csr", "dcsr", "coo"}) {
    const auto run =
        make_case({"A(i) = B(i,j) * C(i,j)", {{"B", "coo"}, {"C", other}}, {}}, {{"i", 20}, {"j", 15}});
    EXPECT_EQ("", check_tree("forall(i, forall(j, A(i) += B(i,j) * C(i,j)))", run, 50)) << other;
    const auto turned =
        make_case({"A(i) = C(i,j) * B(i,j)", {{"B", "coo"}, {"C", other}}, {}}, {{"i", 20}, {"j", 15}});
    EXPECT_EQ("", check_tree("forall(i, forall(j, A(i) += C(i,j) * B(i,j)))", turned, 51)) << other;
  }
}

TEST(Lower, ListsHaveNoBlocksOfRepeatedCoordinates) {
  const auto run = make_case({"A(i) = B(i,j) * C(j)", {{"B", "coo"}}, {}}, {{"i", 5}, {"j", 5}});
  const auto tree = concrete_notation::parse("blocks(i, 2, forall(i, forall(j, A(i) += B(i,j) * C(j))))");
  const auto legal = concrete_notation::verify(*tree, run.problem);
  ASSERT_FALSE(legal.ok());
  EXPECT_EQ("there are no blocks of `i`: `B(i,j)` holds its coordinates several times",
            legal.error().message);
}

TEST(Lower, ListsOfCoordinatesAreAppendedTo) {
  for (const std::string other : {"csr", "coo", "dcsr"}) {
    const auto run = make_case({"A(i,j) = B(i,j) * C(i,j)", {{"A", "coo"}, {"B", "csr"}, {"C", other}}, {}},
                               {{"i", 20}, {"j", 15}});
    EXPECT_EQ("", check_tree("forall(i, forall(j, A(i,j) += B(i,j) * C(i,j)))", run, 52)) << other;
  }
  const auto turned =
      make_case({"A(i,j) = B(j,i)", {{"A", "coo:1,0"}, {"B", "coo"}}, {}}, {{"i", 9}, {"j", 8}});
  EXPECT_EQ("", check_tree("forall(j, forall(i, A(i,j) += B(j,i)))", turned, 53));
}

TEST(Lower, AssemblesCoordinateListsInWorkspaces) {
  const auto run = make_case({"A(i,j) = B(i,k) * C(k,j)", {{"A", "coo"}, {"B", "csr"}, {"C", "csr"}}, {}},
                             {{"i", 12}, {"j", 15}, {"k", 9}});
  EXPECT_EQ("", check_tree("forall(i, where(forall(j, A(i,j) += t1(j)), "
                           "forall(k, forall(j, t1(j) += B(i,k) * C(k,j)))))",
                           run, 54));
}

// Loops over the occupied elements of an inner workspace are walked again to clear the outer one.
TEST(Lower, ClearsWorkspacesByWalkingAgain) {
  for (const std::string b :
       {"compressed,compressed,compressed", "compressed,compressed(nonunique),singleton"}) {
    const auto run =
        make_case({"A = B(i,j,m) * D(l,i,k) * E(l,m,k)", {{"B", b}, {"D", "csf"}, {"E", "csf"}}, {}},
                  {{"i", 6}, {"j", 5}, {"k", 7}, {"l", 4}, {"m", 9}});
    EXPECT_EQ("",
              check_tree("forall(l, where(forall(m, forall(k, A += t1(m,k) * E(l,m,k))), forall(i, "
                         "where(forall(m, forall(k, t1(m,k) += t2(m) * D(l,i,k))), forall(j, forall(m, t2(m) "
                         "+= B(i,j,m)))))))",
                         run, 55));
  }
}

// Threads are coarsened over columns, except where columns share one temporary.
TEST(Lower, KeepsLoopsOverColumnsOfOneTemporary) {
  const auto run = make_case(
      {"A(m,j,l) = B(j) * C(m,l) * D", {{"A", "dense,dense,dense:2,1,0"}, {"C", "compressed,dense:1,0"}}, {}},
      {{"m", 3}, {"j", 32}, {"l", 3}});
  const auto coarsened = [&](const std::string& inside) {
    const auto tree = concrete_notation::parse("forall(j threads 3, forall(l threads 4, " + inside + "))");
    EXPECT_TRUE(tree.ok());
    const auto kernel = lower::lower(*tree, run.problem);
    EXPECT_TRUE(kernel.ok());
    return loop_ir::print(*kernel).find("column_end == ") != std::string::npos;
  };
  EXPECT_TRUE(coarsened("forall(m, A(m,j,l) += B(j) * C(m,l) * D)"));
  EXPECT_FALSE(
      coarsened("blocks(m, 3, where(forall(m, A(m,j,l) += D * t1(m)), forall(m, t1(m) += B(j) * C(m,l))))"));
}

TEST(Lower, DoesNotSortUnorderedTables) {
  const std::string tree =
      "forall(i, where(forall(j, A(i,j) += t1(j)), forall(k, forall(j, t1(j) += B(i,k) * C(k,j))), hash))";
  for (const std::string last : {"compressed", "compressed(unordered)"}) {
    const auto run =
        make_case({"A(i,j) = B(i,k) * C(k,j)", {{"A", "dense," + last}, {"B", "csr"}, {"C", "csr"}}, {}},
                  {{"i", 12}, {"j", 15}, {"k", 9}});
    EXPECT_EQ("", check_tree(tree, run, 56));
    const auto kernel = lower::lower(*concrete_notation::parse(tree), run.problem);
    const bool sorts = loop_ir::print(*kernel).find("sort ") != std::string::npos;
    EXPECT_EQ(last == "compressed", sorts);
  }
}

TEST(Lower, ListsBetweenOtherLevelsAreAppendedTo) {
  const auto run =
      make_case({"A(i,j,k,l) = B(i,j,k) * C(k,l)",
                 {{"A", "compressed,compressed(nonunique),singleton,compressed"}, {"B", "csf"}, {"C", "csr"}},
                 {}},
                {{"i", 5}, {"j", 6}, {"k", 7}, {"l", 4}});
  EXPECT_EQ(
      "", check_tree("forall(i, forall(j, forall(k, forall(l, A(i,j,k,l) += B(i,j,k) * C(k,l)))))", run, 55));
}

TEST(Lower, NothingIsWrittenToBitmaps) {
  auto run = make_case({"A(i,j) = B(i,j) * C(i,j)", {{"B", "csr"}}, {}}, {{"i", 5}, {"j", 5}});
  run.problem.formats.at("A") = *format::parse("bitmap", 2, "A");  // build() asks for a list
  const auto kernel =
      lower::lower(*concrete_notation::parse("forall(i, forall(j, A(i,j) += B(i,j) * C(i,j)))"), run.problem);
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(
      "unsupported [level-format]: the result `A` is stored as dense,bitmap:0,1, and no kernel writes bitmap "
      "levels: declare `A` dense, csr or csf and convert it",
      support::render(kernel.error()));
}

TEST(Lower, BitmapsHaveNoBlocksOfEntries) {
  const auto run =
      make_case({"A(i) = B(i,j) * C(j)", {{"B", "csr"}, {"C", "bitmap"}}, {}}, {{"i", 5}, {"j", 5}});
  const auto tree = concrete_notation::parse("forall(i, blocks(j, 2, forall(j, A(i) += B(i,j) * C(j))))");
  const auto legal = concrete_notation::verify(*tree, run.problem);
  ASSERT_FALSE(legal.ok());
  EXPECT_EQ("there are no blocks of `j`: `C(j)` has no list of its coordinates, but a bitmap",
            legal.error().message);
}

TEST(Lower, SparseResultsAreNotUpdatedNorMadeInBlocks) {
  const auto run =
      make_case({"A(i,j) += B(i,j) * C(i,j)", {{"A", "csr"}, {"B", "csr"}}, {}}, {{"i", 5}, {"j", 5}});
  const auto kernel =
      lower::lower(*concrete_notation::parse("forall(i, forall(j, A(i,j) += B(i,j) * C(i,j)))"), run.problem);
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(
      "unsupported [sparse-result]: the result `A` has the sparse format dense,compressed:0,1 and is "
      "updated; "
      "only dense results are: declare `A` dense, or write `=` and add `A` of before as an operand with a "
      "name "
      "of its own",
      support::render(kernel.error()));
  const auto blocked = make_case({"A(i,j) = B(i,k) * C(k,j)", {{"A", "csr"}, {"B", "csr"}}, {}},
                                 {{"i", 5}, {"j", 5}, {"k", 5}});
  const auto in_blocks =
      lower::lower(*concrete_notation::parse("blocks(i, 2, forall(i, forall(j, forall(k, A(i,j) += B(i,k) * "
                                             "C(k,j)))))"),
                   blocked.problem);
  ASSERT_FALSE(in_blocks.ok());
  EXPECT_EQ(
      "unsupported [sparse-result]: the result `A` has the sparse format dense,compressed:0,1 and the "
      "schedule "
      "runs in blocks; take a schedule without `block`, or declare `A` dense",
      support::render(in_blocks.error()));
}

}  // namespace
}  // namespace schaas
