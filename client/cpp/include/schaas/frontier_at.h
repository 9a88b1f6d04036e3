#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/plot.h"
#include "compiler/support/result.h"
#include "schaas/frontier.h"
#include "schaas/select.h"

/// A frontier at real sizes: what each of its schedules costs there, which of them runs, and a drawing of
/// that.
namespace schaas::client {

struct FrontierAt {
  Sizes sizes;                                  ///< sizes of sparse tensors and indices, for reports
  int threads = 1;                              ///< threads that divide the times
  std::vector<Evaluated> evaluated;             ///< by entry of the frontier
  std::vector<std::optional<double>> measured;  ///< seconds of a run, by entry: at sizes of this class, on
                                                ///< hosts like this one, of its fastest variant
  std::optional<std::size_t> chosen;            ///< the entry that runs; none: another schedule was faster
  std::string reason;                           ///< for the choice, one sentence
};

/// As a binding chooses: by what was measured, else by what is predicted. `sizes` are of all tensors,
/// `told` those of them that go into `FrontierAt::sizes`. Errors: those of select().
support::Result<FrontierAt> frontier_at(const Frontier& frontier, const Sizes& sizes, const Sizes& told,
                                        const Machine& machine, const std::string& isa);

/// Time (weighted trips, shared by the threads) against memory (bytes) of the entries and of what was dropped
/// for them, the chosen one marked; tooltips hold costs, measurements and loops. Errors: those of select().
support::Result<support::Plot> plot(const Frontier& frontier, const FrontierAt& at, const Sizes& sizes,
                                    const Machine& machine, const std::string& title);

}  // namespace schaas::client
