#pragma once
#include <string>

#include "compiler/lower/emit/facts/emission_facts.h"
#include "compiler/lower/emit/levels/scope.h"

namespace schaas::lower {

/// Writes of a phase by threads: each for itself, and on a GPU in groups or deferred.
class ThreadWrites {
 public:
  explicit ThreadWrites(const EmissionFacts& facts) : facts_(facts) {}

  /// Decides how the threads of a GPU's phase write.
  void open(const NestPtr& nest);
  /// One thread writes each element, or a group that holds all threads of its iteration.
  bool are_exclusive() const;
  /// Returns the statement by which one thread or a group passes a value to an array element.
  loop_ir::StatementPtr stored(const Sink& sink, const std::string& array,
                               const loop_ir::ExpressionPtr& index,
                               const loop_ir::ExpressionPtr& value) const;
  /// Emits the fold of an accumulator among the threads of an iteration; each of them gets it.
  loop_ir::ExpressionPtr folded_in_group(const std::string& sum, operators::Monoid monoid,
                                         Statements& out) const;
  /// Wraps the body of a loop over columns in its deferred updates.
  Body with_deferred(const Body& body) const;
  /// Interleaves the loop: each thread starts at its lane and advances by the number of threads.
  loop_ir::StatementPtr interleaved(const loop_ir::StatementPtr& statement, bool among_groups) const;
  /// Completes the phase for a GPU, to which private copies and weights of the processor do not apply.
  void close(Statements& out, loop_ir::Phase& phase) const;

 private:
  enum class Writing {
    alone,     ///< each for itself
    grouped,   ///< GroupStore
    deferred,  ///< Defer
  };
  Statements with_flush(Statements body) const;

  const EmissionFacts& facts_;
  Writing writing_ = Writing::alone;
  std::string target_array_;    ///< array written by the phase
  loop_ir::Deferred deferred_;  ///< updates that the phase flushes later
};

}  // namespace schaas::lower
