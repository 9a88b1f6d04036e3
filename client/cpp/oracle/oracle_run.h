#pragma once
#include <memory>
#include <vector>

#include "client/cpp/oracle/oracle_program.h"
#include "client/cpp/oracle/sparse_lookup.h"
#include "client/cpp/tensor/sort_entries.h"
#include "schaas/expression.h"

namespace schaas::client {

/// Everything one evaluation reads.
struct OracleInput {
  const Semiring* semiring = nullptr;
  const OracleProgram* program = nullptr;
  const SortedEntries* driver = nullptr;  ///< null: no sparse operand
  std::vector<const DenseTensor*> factors;
  std::vector<StridedAccess> accesses;  ///< by factor
  StridedAccess result;
  struct Lookup {
    const SparseLookup* table;
    std::vector<int> depth_of_mode;  ///< driver depth (0-based) of each of its modes
  };
  std::vector<Lookup> lookups;
  /// Computes magnitudes of terms instead of values: the sum of their absolute values; where the semiring's
  /// sum selects a term, a bound of the finite numbers that make one up.
  bool magnitudes = false;
};

/// Adds the product, as the semiring does, to `result` (f64, row major). Uses the OpenMP team.
void run_oracle(const OracleInput& input, double* result);

}  // namespace schaas::client
