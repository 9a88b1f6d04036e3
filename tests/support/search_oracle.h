#pragma once
#include <string>
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::test_support {

/// Results of `--profile sparseauto`: table 3 of the papers without the collisions of names in their memo,
/// which also change their trees after stage 1: 207,129, 30,203 and 4,715 for K2, K5 and K8. Pairs after
/// stage 1 are those of all schedules; the papers count the first schedule of each loop tree (255, 18,277,
/// 133, 34, 2,541, 60, 13, 728), which depends on Python's hash seed.
struct PublishedCounts {
  std::string members;
  std::size_t trees_stage1 = 0, pairs_stage1 = 0;
  std::size_t trees_stage2 = 0, pairs_stage2 = 0;
  std::size_t trees_stage3 = 0, pairs_stage3 = 0;
};

/// Facts about the search on the eight kernels of SparseAuto (its table 2, third row corrected) under
/// its clean rules: sizes of the spaces, classes, loop trees after stages 1 and 2, and the sound frontier
/// with sparse costs after stage 2 under the ranges its evaluation uses. B's first level is dense.
struct SearchOracle {
  std::string name;
  std::string expression;
  std::string format_of_b;
  std::string format_of_a;  ///< "" = dense
  std::vector<std::string> constraints;
  std::string as_written, symmetric;
  std::size_t classes = 0;
  std::string trees_stage1, trees_stage2;
  std::size_t survivors = 0;
  std::string survivor_trees;
  PublishedCounts published = {};

  problem::ProblemText text(const std::string& profile) const {
    problem::ProblemText result;
    result.expression = expression;
    result.formats = {{"B", format_of_b}};
    if (!format_of_a.empty()) result.formats["A"] = format_of_a;
    result.constraints = constraints;
    result.profile = profile;
    return result;
  }
};

inline std::vector<SearchOracle> search_oracle() {
  const std::string csr = "dense,compressed";
  const std::string csf = "dense,compressed,compressed";
  const auto matrix = [](const std::string& rows, const std::string& columns, const std::string& most,
                         const std::string& dense, const std::string& sparsest) {
    std::vector<std::string> all{"11000 <= " + rows + " <= " + most, "11000 <= " + columns + " <= " + most,
                                 "1000*nnz(B) < " + rows + "*" + columns,
                                 rows + "*" + columns + " < " + sparsest + "*nnz(B)"};
    for (char index : dense) all.push_back("8 <= " + std::string(1, index) + " <= 256");
    return all;
  };
  const auto tensor = [](const std::string& j, const std::string& k, const std::string& most_j,
                         const std::string& dense) {
    std::vector<std::string> all{"3 <= i <= 2900000", "2048 <= " + j + " <= " + most_j,
                                 "2 <= " + k + " <= 25500000", "100000*nnz(B) < i*" + j + "*" + k,
                                 "i*" + j + "*" + k + " < 10000000000*nnz(B)"};
    for (char index : dense) all.push_back("8 <= " + std::string(1, index) + " <= 256");
    return all;
  };
  std::vector<SearchOracle> kernels = {
      {"K1", "A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", csr, "",
       matrix("i", "j", "1000000", "kl", "1000000"), "18869", "139319", 430, "1484", "1", 1, "1"},
      {"K2", "A(i,m) = B(i,j) * C(i,k) * D(j,k) * E(j,l) * F(l,m)", csr, "",
       matrix("i", "j", "1000000", "klm", "1000000"), "226121906", "1209527396", 67140, "219030", "224", 3,
       "8"},
      {"K3", "A(i,l) = B(i,k) * C(k,j) * D(k,j) * E(j,l)", csr, "",
       matrix("i", "k", "5560000", "jl", "10000000"), "8334", "145644", 190, "735", "2", 1, "2"},
      {"K4", "A(i,l) = B(i,j) * C(j,k) * D(k,l)", csr, "", matrix("i", "j", "5560000", "kl", "10000000"),
       "258", "888", 34, "128", "2", 1, "2"},
      {"K5", "A(l,m,n) = B(i,j,k) * C(i,l) * D(j,m) * E(k,n)", csf, "", tensor("j", "k", "2140000", "lmn"),
       "15099261", "86386269", 4576, "30506", "116", 4, "18"},
      {"K6", "A(i,l,m) = B(i,j,k) * C(j,l) * D(k,m)", csf, "", tensor("j", "k", "2140000", "lm"), "2561",
       "3329", 69, "352", "3", 1, "3"},
      {"K7", "A(i,j,m) = B(i,j,k) * C(k,l) * D(l,m)", csf, "dense,compressed,dense",
       tensor("j", "k", "2140000", "lm"), "109", "617", 15, "46", "1", 1, "1"},
      {"K8", "A(i,m) = B(i,k,l) * C(l,j) * D(k,j) * E(j,m)", csf, "", tensor("k", "l", "2820000", "jm"),
       "67661", "390857", 1242, "5163", "5", 1, "2"},
  };
  const std::vector<PublishedCounts> published = {{"16169", 1472, 268, 1, 1, 1, 1},
                                                  {"145980194", 205935, 19435, 224, 49, 8, 3},
                                                  {"7426", 692, 142, 2, 1, 2, 1},
                                                  {"258", 128, 34, 2, 1, 2, 1},
                                                  {"14741333", 30202, 2540, 96, 24, 16, 3},
                                                  {"2561", 352, 60, 3, 1, 3, 1},
                                                  {"109", 46, 13, 1, 1, 1, 1},
                                                  {"58183", 4743, 737, 5, 2, 2, 1}};
  for (std::size_t n = 0; n < kernels.size(); ++n) kernels[n].published = published[n];
  return kernels;
}

}  // namespace schaas::test_support
