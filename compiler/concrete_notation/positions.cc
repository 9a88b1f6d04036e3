#include "compiler/concrete_notation/positions.h"

#include <algorithm>
#include <set>

#include "compiler/concrete_notation/match.h"
#include "compiler/concrete_notation/thread_mapping.h"
#include "compiler/concrete_notation/tree_checks.h"

// Legality of `positions`: loops that threads share as one, over the entries of one operand. A thread's range
// begins and ends at any entry, so whatever happens between entries would be lost or happen twice. Hence no
// other operand extends the loops, and what they compute is zero without the entry. Zeros are found by
// structure: factors, dividends, sums all of whose terms are zero, and temporaries written at entries only.
namespace schaas::concrete_notation {
namespace {

using support::Result;

/// The value is the semiring's zero where the access, or one of `also`, stores nothing.
bool is_zero_without(const index_notation::Expression& value, const index_notation::Access& access,
                     const std::set<std::string>& also, const problem::Problem& problem) {
  const auto zero = [&](const auto& part) { return is_zero_without(part, access, also, problem); };
  if (const auto* read = std::get_if<index_notation::Access>(&value.node))
    return *read == access || also.count(read->tensor) > 0;
  const auto& parts = index_notation::parts(value);
  if (std::holds_alternative<index_notation::Product>(value.node))
    return std::any_of(parts.begin(), parts.end(), zero);
  const auto* call = std::get_if<index_notation::Call>(&value.node);
  // Quotients, signs and differences keep zeros under plus-times only.
  if (call == nullptr || problem.semiring != &operators::plus_times()) return false;
  using operators::Function;
  if (call->function == Function::divide || call->function == Function::negate) return zero(parts.front());
  return (call->function == Function::add || call->function == Function::subtract) &&
         std::all_of(parts.begin(), parts.end(), zero);
}

/// The statement changes its target only at the entries of the access.
bool runs_at_entries(const StatementPtr& statement, const index_notation::Access& access,
                     std::set<std::string> also, const problem::Problem& problem) {
  return match(
      statement->node, [&](const Forall& loop) { return runs_at_entries(loop.body, access, also, problem); },
      [&](const Blocks& blocks) { return runs_at_entries(blocks.body, access, also, problem); },
      [&](const Where& branch) {
        if (runs_at_entries(branch.producer, access, also, problem))
          also.insert(leaf_of(branch.producer).target.tensor);
        return runs_at_entries(branch.consumer, access, also, problem);
      },
      [&](const Terms& sum) {
        return std::all_of(sum.terms.begin(), sum.terms.end(), [&](const StatementPtr& term) {
          return runs_at_entries(term, access, also, problem);
        });
      },
      [&](const Assign& leaf) {
        return leaf.monoid == problem.semiring->sum && is_zero_without(leaf.value, access, also, problem);
      });
}

/// Returns the reason why the loops do not walk the levels of the access, one each from the first; "" when
/// they do.
std::string reason_against(const index_notation::Access& access, const std::vector<std::string>& loops,
                           const problem::Problem& problem) {
  const auto& format = problem.formats.at(access.tensor);
  for (std::size_t level = 0; level < loops.size(); ++level) {
    const auto kind = format.levels[level];
    const std::string& index = access.indices[static_cast<std::size_t>(format.mode_order[level])];
    if (index != loops[level])
      return "level " + std::to_string(level) + " of " + quoted(access) + " is walked by loop " +
             quoted(index) + ", not by loop " + quoted(loops[level]);
    if (kind != format::LevelFormat::compressed && (kind != format::LevelFormat::dense || level > 0))
      return quoted(access) + " is stored " + format::print(format) +
             ", and entries are shared out below a dense or compressed level, over compressed ones";
  }
  if (format.levels[loops.size() - 1] != format::LevelFormat::compressed)
    return "level " + std::to_string(loops.size() - 1) + " of " + quoted(access) + " is dense";
  return "";
}

}  // namespace

std::vector<std::string> loops_of_positions(const Forall& loop) {
  std::vector<std::string> out;
  for (const Forall* at = &loop; at != nullptr && static_cast<int>(out.size()) < loop.annotation.positions;
       at = std::get_if<Forall>(&at->body->node))
    out.push_back(at->index);
  return out;
}

Result<void> check_positions(const Forall& loop, const problem::Problem& problem) {
  if (loop.annotation.positions == 0) return {};
  const auto loops = loops_of_positions(loop);
  if (static_cast<int>(loops.size()) < loop.annotation.positions)
    return illegal("no " + std::to_string(loop.annotation.positions) +
                   " loops stand directly inside each other from loop " + quoted(loop.index) + " on");
  if (loop.annotation.collapsed)
    return illegal("loop " + quoted(loop.index) +
                   " is collapsed; its entries are shared out or its pairs of values, not both");
  std::vector<index_notation::Access> walked;
  for (const auto& access : reads(loop.body)) {
    const bool here = std::any_of(loops.begin(), loops.end(), [&](const std::string& index) {
      return sparse_level(access, index, problem) >= 0;
    });
    if (here) walked.push_back(access);
  }
  const std::string over = loops.size() == 1
                               ? "loop " + quoted(loops.front())
                               : "loops " + quoted(loops.front()) + " to " + quoted(loops.back());
  if (walked.size() > 1)
    return illegal(over + " walk the entries of " + quoted(walked[0]) + " and of " + quoted(walked[1]) +
                   "; positions are those of one operand alone");
  if (walked.empty() || sparse_level(walked.front(), loops.back(), problem) < 0)
    return illegal("loop " + quoted(loops.back()) +
                   " walks the entries of no sparse operand, so there are no positions; collapse is for "
                   "loops over all values");
  if (const auto reason = reason_against(walked.front(), loops, problem); !reason.empty())
    return illegal("no list of entries is walked by " + over + ": " + reason);
  if (!runs_at_entries(loop.body, walked.front(), {}, problem))
    return illegal("loop " + quoted(loops.back()) + " runs over more than the entries of " +
                   quoted(walked.front()) + ": what it computes is not zero where none is stored");
  const auto& target = leaf_of(loop.body).target;
  const auto format = problem.formats.find(target.tensor);
  if (format == problem.formats.end() || format->second.all_dense()) return {};
  // A GPU writes at the entries of a factor instead of appending.
  if (loop.annotation.mapping && entries_of_target(leaf_of(loop.body), problem)) return {};
  return illegal("pieces of a row would append to it in any order, and " + quoted(target) +
                 " is appended to in order: its rows are split automatically");
}

}  // namespace schaas::concrete_notation
