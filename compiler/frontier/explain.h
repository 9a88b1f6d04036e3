#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/frontier/frontier.h"
#include "compiler/frontier/proofs/sizes.h"

/// Why a schedule is or is not on a frontier, and where the frontier's schedules win. Every answer is found
/// again from the costs alone and checked exactly; nothing is read from the stored certificates.
/// The problem may be the canonical one or the same under the user's names: costs are numbers of variables.
namespace schaas::frontier {

/// Allowed whole sizes (checked in integers), and what two schedules need there: weighted trips, and elements
/// of temporaries without the free ones. Compared as fractions; here rounded.
struct Witness {
  Sizes sizes;
  double time = 0, memory = 0;              ///< needs of the schedule in question
  double other_time = 0, other_memory = 0;  ///< needs of the other one
  bool serial = false;  ///< neither time nor memory can win: the times are those of the serial terms alone
};

/// Sizes at which a schedule needs strictly less time, memory, or serial time than a survivor.
struct Competitor {
  std::size_t survivor = 0;        ///< position in Frontier::survivors
  std::optional<Witness> witness;  ///< none: none was found, and the contrary was not proven either
};

struct Explanation {
  enum class Verdict {
    survivor,  ///< on the frontier: `competitors` has every other survivor
    removed,   ///< `survivor` is proven to take no more time and no more memory at every allowed size
    left_out,  ///< by a limit or a heuristic of the search: `competitors` says where it would have won
    open,      ///< neither: the search was not complete, or no schedule of the space has this cost
  } verdict = Verdict::open;
  std::size_t survivor = 0;             ///< survivor: its own position; removed: the winner's
  Certificate certificate;              ///< removed, left_out
  std::vector<Competitor> competitors;  ///< survivor, left_out, open
};

/// Answers for one frontier, a few milliseconds each. Not thread-safe. `problem`, `frontier` and
/// `cancellation` must outlive it; `options` are those of the search.
class Explainer {
 public:
  Explainer(const problem::Problem& problem, const Frontier& frontier, const Options& options,
            const support::Cancellation& cancellation);
  ~Explainer();
  /// Explains the cost of any schedule of the space (cost::of its tree). Errors: exhausted (cancelled,
  /// deadline).
  support::Result<Explanation> explain(const cost::Cost& cost);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// The sizes one survivor wins at.
struct Win {
  Sizes sizes;           ///< point at which it leads most clearly
  bool fastest = false;  ///< it is the fastest there; else the fastest of those that need no more memory
  double time = 0;       ///< weighted trips there
  double memory = 0;     ///< elements there, without free temporaries
  std::optional<std::size_t>
      competitor;  ///< the survivor next to it in that order (fastest), or the fastest of all
  /// When it beats the competitor, common terms left out: of time, common factors left out as well,
  /// "j'*k + l*m < j'*k*l"; of memory, when it is not the fastest, "k < j*l elements".
  Argument condition;
  int threads = 1;  ///< above 1: it wins with no fewer threads, and `time` is the time on them
};
/// Returns one per survivor, from samples of the allowed sizes. For survivors that win at none of them the
/// sizes at which they beat each other one are tried while `budget` lasts. Without `sizes` when none were
/// found: there are survivors each other one of which is beaten somewhere, but not all of them at once.
std::vector<Win> wins(const problem::Problem& problem, const Frontier& frontier,
                      const support::Cancellation& budget);

}  // namespace schaas::frontier
