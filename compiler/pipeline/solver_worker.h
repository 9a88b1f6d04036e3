#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "compiler/frontier/proofs/solver.h"

namespace schaas::pipeline {

struct SolverWorkerOptions {
  std::string program;                              ///< path of schaas-solver
  std::size_t memory_bytes = std::size_t{1} << 30;  ///< address space
  std::chrono::milliseconds start{5000};            ///< until it is ready
  int slowness = 20;  ///< factor by which a query may outlast its limit by the clock
  /// The same in processor time. Z3 counts no steps in its algebra: there one question may hang.
  int processor_slowness = 4;
  std::chrono::milliseconds grace{200};  ///< beyond that, then the process is killed
  int max_failures = 3;                  ///< per search; afterwards every answer is "unknown"
  bool isolated = true;                  ///< the process (toolchain/isolation.h)
  /// Told, in a sentence, of every process that failed. Called on the thread of the search.
  std::function<void(const std::string&)> log;
};

/// Solvers that each keep a process, started at the first question. A hanging process is killed, a crashed
/// one is restarted; every failure is "unknown" and logged. A question that takes too much processor time is
/// "unknown", too, but no failure. Obeys cancellation within 10 ms, also while the
/// process thinks.
frontier::SolverFactory solver_workers(SolverWorkerOptions options);

}  // namespace schaas::pipeline
