#pragma once
#include <random>

#include "compiler/problem/problem.h"

namespace schaas::test_support {

struct RandomProgramOptions {
  int most_statements = 3;
  int depth = 3;               ///< expression depth
  int most_order = 3;          ///< modes of a tensor
  bool sparse_results = true;  ///< false: dense ones only
  bool coordinates = true;     ///< false: no indices as numbers
};

/// A program of the whole language: contractions and sums of terms with implied sums, all operators and
/// functions, reductions over every monoid, where, diagonals, broadcasting, every semiring, intermediates,
/// updates; random level formats and mode orders everywhere. Nearly all are programs that
/// problem::build accepts; some repeat an index where it may not stand or sum ambiguously.
problem::ProblemText random_program_text(const RandomProgramOptions& options, std::mt19937_64& random);

}  // namespace schaas::test_support
