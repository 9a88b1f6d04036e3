#pragma once
#include "compiler/frontier/frontier.h"

/// A frontier under tighter constraints from one under relaxed constraints, without a search.
namespace schaas::frontier {

/// True when it is proven that every size `tighter` allows is allowed by `relaxed`. Both are the same
/// statement under the same names. Each constraint of the relaxed problem is denied (in whole numbers)
/// together with the constraints of the tighter one: no sizes must be left.
bool implies(const problem::Problem& tighter, const problem::Problem& relaxed, const Options& options,
             const support::Cancellation& cancellation);

/// True when `compute` folds the space of the problem as it stands: nothing is listed, copied or rewritten
/// first.
bool is_folded(const problem::Problem& problem);

/// True when the frontier of `relaxed`, searched with `options`, may stand for the whole space of `tighter`.
/// `implies` must hold, and the same temporaries be so small that they count nothing. Else a schedule that
/// was dropped for its memory could now be on the frontier. The space must be folded (`is_folded`), and no
/// constraint of `tighter` an equality. There classes of different costs tie, and one that was removed could
/// be the one that stays.
bool stands_for_space(const problem::Problem& relaxed, const problem::Problem& tighter,
                      const Options& options, const support::Cancellation& cancellation);

/// The frontier of `problem` out of the survivors of a relaxed problem that stands for its space. Sound: a
/// schedule that was removed there needs, at every size allowed there, no less time and no less memory than
/// some survivor; the sizes allowed here are among those. So only survivors need to be compared again, under
/// the tighter constraints, and their members to be listed. The answer is that of a search, survivor by
/// survivor and trace by trace. The counts of the space are those of `relaxed`: they do not depend on
/// constraints. Errors: exhausted (cancelled, deadline); invalid [contradiction].
support::Result<Frontier> tighten(const problem::Problem& problem, const Frontier& relaxed,
                                  const Options& options, const Progress& progress,
                                  const support::Cancellation& cancellation);

}  // namespace schaas::frontier
