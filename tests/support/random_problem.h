#pragma once
#include <random>
#include <vector>

#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"

namespace schaas::test_support {

struct RandomProblemOptions {
  int most_factors = 4;
  int max_indices = 5;
  int most_order = 3;           ///< modes of an operand
  bool dense_operands = false;  ///< true: no compressed level anywhere
  bool sparse_result = false;   ///< true: the result of every third product may have compressed levels
  bool lists = false;           ///< true: every fourth operand, and half of the sparse results, end in a list
  bool repeats = false;         ///< true: every fourth factor reads an earlier tensor again
};

/// A product of 1 to most_factors accesses over random indices with random level formats and mode orders (any
/// operand may be sparse, several may be), a dense result in a random mode order, f64 or f32, 32- or 64-bit
/// positions.
problem::Problem random_problem(const RandomProblemOptions& options, std::mt19937_64& random);
problem::ProblemText random_problem_text(const RandomProblemOptions& options, std::mt19937_64& random);

/// A directive that may be legal: random kind, path, permutation of the `loops` and of `factors` numbers,
/// loc. About half are legal on small trees.
schedule::Directive random_directive(const std::vector<std::string>& loops, int factors,
                                     const schedule::Path& path, std::mt19937_64& random);

/// A legal trace: the copies that the problem needs, now and then one more, and up to `most` directives:
/// draws directives for sections of the tree and keeps those that apply.
schedule::Trace random_trace(const problem::Problem& problem, int most, std::mt19937_64& random);

}  // namespace schaas::test_support
