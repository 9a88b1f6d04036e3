#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/cost/cost.h"
#include "compiler/frontier/proofs/argument.h"
#include "compiler/frontier/proofs/sizes.h"
#include "compiler/problem/canonical.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::server {

/// Mapping between canonical names and the user's. Answers are rebuilt from canonical values under the user's
/// names, never patched as text. Immutable.
class UserNames {
 public:
  explicit UserNames(const problem::Canonical& canonical);

  /// Returns the canonical problem, with its factor order, in the user's names; costs refer to it.
  const problem::Problem& problem() const { return problem_; }
  /// Returns the problem with its factors as the user wrote them; traces of answers apply to it.
  const problem::Problem& as_written() const { return as_written_; }
  /// Returns the cost variables in names of the request, with the bits of the canonical ones.
  const cost::Variables& variables() const { return variables_; }
  /// Returns the cost variables of `problem()` with copies, in names of the request.
  cost::Variables variables_of(const problem::Problem& users) const;
  /// Returns the kernel arguments in order, result first.
  std::vector<std::string> arguments() const { return arguments_; }

  schedule::Trace to_user(const schedule::Trace& trace) const;
  schedule::Trace to_canonical(const schedule::Trace& trace) const;
  /// Prints the loop tree "ij<k,l>" of a canonical trace.
  support::Result<std::string> tree(const schedule::Trace& trace) const;
  /// Prints the loops of a canonical trace as indented pseudo-code.
  support::Result<std::string> code(const schedule::Trace& trace) const;
  /// Renders an argument of the canonical problem.
  std::string print(const frontier::Argument& argument) const {
    return frontier::print(argument, variables_);
  }
  /// Renders sizes of the canonical problem.
  std::string print(const frontier::Sizes& sizes) const;

 private:
  struct NewNames {
    schedule::NewNames indices, tensors;
  };
  NewNames to_user_, to_canonical_;
  std::map<std::string, std::string> index_, tensor_;
  problem::Problem problem_, as_written_;
  std::vector<int> user_position_,
      canonical_position_;  ///< positions of a contraction's canonical factors in the user's product, and the
                            ///< inverse
  std::map<std::string, std::string> extent_;  ///< the user's name of an index -> one of the request
  cost::Variables variables_;
  std::vector<std::string> arguments_;
};

}  // namespace schaas::server
