#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/cost/cost.h"
#include "compiler/problem/canonical.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::server {

/// The way from canonical names back to the user's. Answers are rebuilt from canonical values under the
/// user's names, never patched as text. Immutable.
class UserNames {
 public:
  explicit UserNames(const problem::Canonical& canonical);

  /// The canonical problem (its factor order) in the user's names: what costs are told of.
  const problem::Problem& problem() const { return problem_; }
  /// The problem with its factors as the user wrote them: what the traces of an answer apply to.
  const problem::Problem& as_written() const { return as_written_; }
  /// The same bits as the canonical problem's variables.
  const cost::Variables& variables() const { return variables_; }
  /// Kernel arguments in order, result first.
  std::vector<std::string> arguments() const { return arguments_; }

  schedule::Trace to_user(const schedule::Trace& trace) const;
  schedule::Trace to_canonical(const schedule::Trace& trace) const;
  /// "ij<k,l>" of a canonical trace.
  support::Result<std::string> tree(const schedule::Trace& trace) const;
  /// Its loops as indented pseudo-code.
  support::Result<std::string> code(const schedule::Trace& trace) const;
  /// A sentence about costs, word by word: each word that is a canonical index becomes the user's.
  std::string sentence(const std::string& text) const;
  /// What a search or a compilation of the canonical problem returned, its error in the user's names: in
  /// messages and notes each word between backquotes that is a canonical tensor or index.
  template <class T>
  support::Result<T> told(support::Result<T> result) const {
    if (result.ok()) return result;
    return diagnostic(result.error());
  }

 private:
  support::Diagnostic diagnostic(support::Diagnostic canonical) const;
  struct NewNames {
    schedule::NewNames indices, tensors;
  };
  NewNames to_user_, to_canonical_;
  std::map<std::string, std::string> index_, tensor_;
  problem::Problem problem_, as_written_;
  std::vector<int> user_place_, canonical_place_;  ///< of a contraction's canonical factors, of the user's
  cost::Variables variables_;
  std::vector<std::string> arguments_;
};

}  // namespace schaas::server
