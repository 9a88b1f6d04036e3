#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/cpp/oracle/oracle_term.h"
#include "schaas/expression.h"
#include "schaas/oracle.h"

namespace schaas::client {

using OracleTensorPointer = std::shared_ptr<const OracleTensor>;

/// A tensor to compute: at each value of the free indices the fold of the body over all values of the reduced
/// ones. With `wanted` only where that tensor stores something; elsewhere the result may hold anything.
struct OracleFold {
  Monoid fold = Monoid::sum;
  std::vector<std::string> free, reduced;
  const Expression* body = nullptr;
  OracleTensorPointer wanted{};
  std::vector<std::string> wanted_indices{};
};

/// Facts that all steps of one verification share.
struct OracleContext {
  const Semiring* semiring = nullptr;
  ValueType type = ValueType::f64;  ///< type of the arithmetic
  bool narrow = false;              ///< operands are stored in another type
  std::int64_t memory_limit = 0;
  std::map<std::string, std::int64_t> extents;         ///< extents of all indices
  std::map<std::string, OracleOperand> operands;       ///< as given
  std::map<std::string, OracleTensorPointer> tensors;  ///< operands, and intermediates computed already
};

/// Evaluates the fold point by point: only where the body may differ from a constant (oracle_term.h), the
/// rest in closed form. A reduction in the body is a fold of its own, restricted to where it is read; a
/// product of tensors under the semiring is left to evaluate_product when its result fits. Errors: those of
/// evaluate.
support::Result<OracleTensorPointer> evaluate_fold(const OracleFold& fold, const OracleContext& context);

/// The same as a result to compare with.
support::Result<Expected> evaluate_result(const OracleFold& fold, const OracleContext& context);

/// Computing the fold in full is small work; otherwise it should be evaluated where it is read.
bool is_small(const OracleFold& fold, const OracleContext& context);

}  // namespace schaas::client
