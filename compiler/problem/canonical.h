#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::problem {

/// A problem without its names and, for contractions, without its factor order. Renaming tensors or indices,
/// reordering factors or rewriting constraints gives the same `problem`, `text` and `key`. Result A, operands
/// B, C, ... and indices i, j, k, ... in order of first appearance in the product, sparse operands first.
/// Under Profile::sparseauto the factor order is part of the meaning and stays as written. Of a problem that
/// is no contraction the statements stay as written; intermediates are named like operands. docs/cache_key.md
/// argues each ingredient.
struct Canonical {
  Problem problem;
  std::string text;                                ///< print(problem)
  std::string key;                                 ///< SHA-256 of `text`, hexadecimal
  std::map<std::string, std::string> user_tensor;  ///< canonical name -> the user's name
  std::map<std::string, std::string> user_index;
  /// Canonical index -> one of the request that has its extent: `user_index`, but for indices that a rewrite
  /// added (rewrites/distributed_sums.h), whose names the user does not know.
  std::map<std::string, std::string> user_extent;
  std::vector<int>
      user_positions;  ///< for a contraction: position in the user's product of each canonical factor
  std::string asked;   ///< print of the problem as given: the user's names and order of factors
};

/// `expression`: the request's; without it every index is taken to be the user's. `problem` must be built (or
/// read back): constraints in the form problem.h says. About 0.1 ms; docs/cache_key.md says what it costs at
/// worst. Thread-safe. No errors.
Canonical canonicalize(const Problem& problem, std::string_view expression = {});

}  // namespace schaas::problem
