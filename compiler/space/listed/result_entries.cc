#include "compiler/space/listed/result_entries.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <tuple>

#include "compiler/concrete_notation/loop_order.h"
#include "compiler/concrete_notation/semantics.h"
#include "compiler/cost/iteration_space.h"
#include "compiler/index_notation/printer.h"
#include "compiler/schedule/replay/apply.h"

// Entries of a sparse result, found from a schedule's nests without running them. Iteration spaces
// (cost/iteration_space.h) are followed from temporary to reader. A temporary is known as a scalar or a
// listed vector inside a loop, or as the result's workspace. An array that a phase leaves holds every
// element. Spaces are unions of sets of operands. One is within another when each of its sets contains a set
// of the other, whatever the operands store.
namespace schaas::space {
namespace {

using cost::IterationSpace;
using index_notation::Access;
using schedule::Nests;

/// Bit n of a set stands for an entry of operand n, and bit n + first_part for one whose outer coordinates
/// alone are bound. With more operands than that no bit stands for a part.
constexpr int first_part = 32;

constexpr const char* in_part_suffix = " in part";

bool has_parts(const cost::Operands& operands) { return operands.size() <= first_part; }

int operand_of(int bit, const cost::Operands& operands) {
  return has_parts(operands) ? bit % first_part : bit;
}

/// One of the operands is walked along the index.
bool restricts(cost::OperandSet set, const std::string& index, const cost::Operands& operands) {
  for (; set != 0; set &= set - 1)
    if (concrete_notation::is_walked(operands.at(operand_of(std::countr_zero(set), operands)), index,
                                     operands.problem()))
      return true;
  return false;
}

/// In each way to be needed, some operand is walked along the index.
bool restricted(const IterationSpace& space, const std::string& index, const cost::Operands& operands) {
  return std::all_of(space.begin(), space.end(),
                     [&](cost::OperandSet way) { return restricts(way, index, operands); });
}

class Entries {
 public:
  Entries(const Nests& nests, const problem::Problem& problem)
      : nests_(nests), problem_(problem), operands_(problem) {}

  /// Follows the nests in their order; the last one writes the result, and so do all terms of a sum.
  ResultEntries run() {
    const Access& result = problem_.statement.result;
    IterationSpace space;
    const auto lists = met_lists();
    for (std::size_t n = 0; n < nests_.size(); ++n) {
      const auto& leaf = nests_[n].leaf();
      if (n + 1 == nests_.size() || leaf.target.tensor == result.tensor) {
        space = cost::unite(space, met(n, lists ? nests_[n].loops.size() : loops_over_target(nests_[n])));
        continue;
      }
      if (lists && lists->count(n) > 0) {
        known_.try_emplace(leaf.target.tensor, met(n, nests_[n].loops.size()));
        continue;
      }
      // As for an accumulator (lower/analysis/occupancy.cc), which `or` has, too.
      if (concrete_notation::start_value(leaf.monoid, problem_) != problem_.semiring->zero) continue;
      const std::vector<std::size_t> own = own_modes(n);
      const bool decides = is_workspace(leaf.target.tensor) || decides_entries(n, own);
      const std::size_t shared = shared_with_readers(n);
      const auto written = met(n, decides ? std::max(loops_over_target(nests_[n]), shared) : shared);
      if (decides && !is_workspace(leaf.target.tensor)) {
        if (own.size() > 1) continue;
        if (own.size() == 1 &&
            !(is_listed(n, own.front()) && restricted(written, leaf.target.indices[own.front()], operands_)))
          continue;
      }
      const auto [temporary, first] = known_.try_emplace(leaf.target.tensor, written);
      if (!first) temporary->second = cost::unite(temporary->second, written);  // terms of a sum
    }
    ResultEntries out{points_of(space)};
    const auto& format = problem_.formats.at(result.tensor);
    for (std::size_t level = 1; level < format.levels.size(); ++level) {
      const auto& index = result.indices[static_cast<std::size_t>(format.mode_order[level])];
      out.filled |= format::is_sparse(format.levels[level]) && !restricted(space, index, operands_);
    }
    return out;
  }

 private:
  std::vector<std::set<std::string>> points_of(const IterationSpace& space) const {
    std::vector<std::set<std::string>> points;
    for (cost::OperandSet way : space) {
      auto& names = points.emplace_back();
      for (; way != 0; way &= way - 1) {
        const int bit = std::countr_zero(way);
        Access read = operands_.at(operand_of(bit, operands_));
        // Schedules with and without copies are compared by the originals.
        if (const problem::Copy* copy = problem_.copy_named(read.tensor)) read.tensor = copy->tensor;
        const bool in_part = has_parts(operands_) && bit >= first_part;
        names.insert(index_notation::print(read) + (in_part ? in_part_suffix : ""));
      }
    }
    std::sort(points.begin(), points.end());
    return points;
  }

  /// The number of loops down to the last one over an index of the target.
  static std::size_t loops_over_target(const schedule::Nest& nest) {
    const auto& kept = nest.leaf().target.indices;
    const auto end = std::find_if(nest.loops.rbegin(), nest.loops.rend(), [&](const std::string& index) {
      return std::find(kept.begin(), kept.end(), index) != kept.end();
    });
    return static_cast<std::size_t>(nest.loops.rend() - end);
  }

  /// Entries are appended where two lists along the index of the last nest's sum have a coordinate in common
  /// (lower/analysis/met_lists.h). Returns the nests that make vectors of a list for it; nothing where
  /// entries do not depend on the sum.
  std::optional<std::set<std::size_t>> met_lists() const {
    const std::size_t last = nests_.size() - 1;
    const schedule::Nest& nest = nests_[last];
    const Access& result = problem_.statement.result;
    const auto& format = problem_.formats.at(result.tensor);
    const std::size_t kept = loops_over_target(nest);
    const bool is_last_level =
        kept > 0 && nest.loops.size() == kept + 1 && format::is_sparse(format.levels.back()) &&
        result.indices[static_cast<std::size_t>(format.mode_order.back())] == nest.loops[kept - 1];
    if (!is_last_level || (last > 0 && nests_[last - 1].shared >= kept)) return std::nullopt;
    std::set<std::size_t> producers;
    std::vector<Access> lists;
    if (!add_lists(last, producers, lists, false) || lists.size() != 2) return std::nullopt;
    return producers;
  }

  /// Adds the lists along a nest's last loop, a sum that has terms where all operands are stored; false where
  /// it is of another form. `nested`: the nest makes a temporary.
  bool add_lists(std::size_t number, std::set<std::size_t>& producers, std::vector<Access>& lists,
                 bool nested) const {
    const auto& leaf = nests_[number].leaf();
    const std::string& index = nests_[number].loops.back();
    const auto ways = cost::iteration_space(leaf.value, leaf.monoid, operands_, {});
    if (ways.size() != 1 || leaf.monoid != problem_.semiring->sum) return false;
    for (const Access& read : index_notation::operands(leaf.value)) {
      const auto at = std::find(read.indices.begin(), read.indices.end(), index);
      if (at == read.indices.end()) continue;
      const auto mode = static_cast<std::size_t>(at - read.indices.begin());
      const auto known = problem_.formats.find(read.tensor);
      if (known == problem_.formats.end()) {
        const auto producer = nested ? std::nullopt : vector_along(read.tensor, index);
        const std::size_t before = lists.size();
        if (!producer || !add_lists(*producer, producers, lists, true) || lists.size() != before + 1)
          return false;
        producers.insert(*producer);
        continue;
      }
      const auto& format = known->second;
      const std::size_t level = level_of(format, mode);
      if (format.levels[level] == format::LevelFormat::dense) continue;
      if (format.levels[level] != format::LevelFormat::compressed || level + 1 != format.levels.size())
        return false;
      const auto operand = operands_.number(read);
      if (!operand || (ways.front() >> *operand & 1U) == 0) return false;
      if (std::find(lists.begin(), lists.end(), read) == lists.end()) lists.push_back(read);
    }
    return true;
  }

  static std::size_t level_of(const format::TensorFormat& format, std::size_t mode) {
    const auto at = std::find(format.mode_order.begin(), format.mode_order.end(), static_cast<int>(mode));
    return static_cast<std::size_t>(at - format.mode_order.begin());
  }

  /// Returns the nest that makes the temporary, of which an element of a loop shared with its readers is a
  /// vector along the index.
  std::optional<std::size_t> vector_along(const std::string& temporary, const std::string& index) const {
    std::optional<std::size_t> found;
    for (std::size_t n = 0; n + 1 < nests_.size(); ++n) {
      if (nests_[n].leaf().target.tensor != temporary) continue;
      if (found) return std::nullopt;  // terms of a sum
      found = n;
    }
    if (!found) return std::nullopt;
    const schedule::Nest& nest = nests_[*found];
    const auto own = own_modes(*found);
    const bool is_vector = own.size() == 1 && nest.leaf().target.indices[own.front()] == index &&
                           nest.loops.size() == shared_with_readers(*found) + 1 && nest.loops.back() == index;
    return is_vector ? found : std::nullopt;
  }

  /// The points that the nest's first loops meet; what sums below them find does not matter. Leaves out
  /// operands that are sparse along other loops alone. Operands that the sums below walk with others are met
  /// in part. Loops i, j, k of `B(i,k) * C(j,k)` over coo append where row i of B and row j of C have
  /// entries.
  IterationSpace met(std::size_t number, std::size_t loops) const {
    const schedule::Nest& nest = nests_[number];
    const auto end = nest.loops.begin() + static_cast<std::ptrdiff_t>(loops);
    cost::OperandSet below = 0, in_part = 0;
    for (const Access& read : index_notation::operands(nest.leaf().value)) {
      const auto operand = operands_.number(read);
      if (!operand) continue;
      const auto bit = cost::OperandSet{1} << *operand;
      const bool is_met = std::any_of(nest.loops.begin(), end, [&](const std::string& index) {
        return restricts(bit, index, operands_);
      });
      const bool is_part = is_met && meets_others_below(read, nest, end);
      if (is_part && has_parts(operands_)) in_part |= bit;
      if (!is_met || is_part) below |= bit;
    }
    IterationSpace out;
    for (const cost::OperandSet way :
         cost::iteration_space(nest.leaf().value, nest.leaf().monoid, operands_, known_))
      out = cost::unite(out, {(way & ~below) | (way & in_part) << first_part});
    return out;
  }

  /// A loop of the nest from `end` on walks the operand and another one, or a temporary with entries.
  bool meets_others_below(const Access& read, const schedule::Nest& nest,
                          std::vector<std::string>::const_iterator end) const {
    const auto reads = index_notation::operands(nest.leaf().value);
    const auto meets = [&](const Access& other, const std::string& index) {
      const bool has = std::find(other.indices.begin(), other.indices.end(), index) != other.indices.end();
      return has && !(other == read) &&
             (known_.count(other.tensor) != 0 || concrete_notation::is_walked(other, index, problem_));
    };
    return std::any_of(end, nest.loops.end(), [&](const std::string& index) {
      return concrete_notation::is_walked(read, index, problem_) &&
             std::any_of(reads.begin(), reads.end(),
                         [&](const Access& other) { return meets(other, index); });
    });
  }

  /// The number of loops that the nest shares with all readers of its temporary.
  std::size_t shared_with_readers(std::size_t number) const {
    std::size_t shared = nests_[number].shared;
    const std::size_t last = schedule::last_reader(nests_, number);
    for (std::size_t n = number; n < last; ++n) shared = std::min(shared, nests_[n].shared);
    return shared;
  }

  /// The modes of the nest's temporary over which readers have loops of their own.
  std::vector<std::size_t> own_modes(std::size_t number) const {
    const auto& loops = nests_[number].loops;
    const auto end = loops.begin() + static_cast<std::ptrdiff_t>(shared_with_readers(number));
    const auto& indices = nests_[number].leaf().target.indices;
    std::vector<std::size_t> modes;
    for (std::size_t mode = 0; mode < indices.size(); ++mode)
      if (std::find(loops.begin(), end, indices[mode]) == end) modes.push_back(mode);
    return modes;
  }

  /// Entries may depend on which elements of the temporary are written over these modes. They do not where
  /// only the last nest reads it, inside loops that both have, and by indices below the result's sparse
  /// levels.
  bool decides_entries(std::size_t number, const std::vector<std::size_t>& modes) const {
    if (shared_with_readers(number) == 0) return true;
    const std::string& tensor = nests_[number].leaf().target.tensor;
    for (std::size_t n = number + 1; n < nests_.size(); ++n) {
      for (const Access& read : index_notation::operands(nests_[n].leaf().value)) {
        if (read.tensor != tensor) continue;
        const bool is_last = n + 1 == nests_.size();
        if (!is_last || std::any_of(modes.begin(), modes.end(),
                                    [&](std::size_t mode) { return is_appended(read.indices[mode]); }))
          return true;
      }
    }
    return false;
  }

  /// The index belongs to a level of the result that is sparse or above a sparse one.
  bool is_appended(const std::string& index) const {
    const Access& result = problem_.statement.result;
    const auto& format = problem_.formats.at(result.tensor);
    for (std::size_t level = 0; level < format.levels.size(); ++level) {
      if (result.indices[static_cast<std::size_t>(format.mode_order[level])] != index) continue;
      return std::any_of(format.levels.begin() + static_cast<std::ptrdiff_t>(level), format.levels.end(),
                         format::is_sparse);
    }
    return false;
  }

  /// The last nest does nothing but append the temporary.
  bool is_workspace(const std::string& tensor) const {
    const auto* read = std::get_if<Access>(&nests_.back().leaf().value.node);
    return read != nullptr && read->tensor == tensor;
  }

  /// Readers walk the entries of the nest's temporary, a vector over this mode inside a loop.
  bool is_listed(std::size_t number, std::size_t mode) const {
    if (shared_with_readers(number) == 0) return false;
    const std::size_t last = schedule::last_reader(nests_, number);
    for (std::size_t n = number + 1; n <= last; ++n)
      if (walks_others(nests_[n].leaf(), nests_[number].leaf().target.tensor, mode)) return false;
    return true;
  }

  /// The loop over this mode of the temporary walks other operands, in which it is located.
  bool walks_others(const concrete_notation::Assign& reader, const std::string& tensor,
                    std::size_t mode) const {
    const auto others = cost::iteration_space(reader.value, reader.monoid, operands_, known_);
    for (const Access& read : index_notation::operands(reader.value)) {
      if (read.tensor == tensor && restricted(others, read.indices[mode], operands_)) return true;
    }
    return false;
  }

  const Nests& nests_;
  const problem::Problem& problem_;
  const cost::Operands operands_;
  cost::KnownTemporaries known_;
};

}  // namespace

ResultEntries result_entries(const Nests& nests, const problem::Problem& problem) {
  return Entries(nests, problem).run();
}

support::Result<ResultEntries> result_entries(const schedule::Trace& trace, const problem::Problem& problem) {
  SCHAAS_ASSIGN_OR_RETURN(const auto with_copies, schedule::problem_of(trace, problem));
  SCHAAS_ASSIGN_OR_RETURN(const auto tree, schedule::apply_own(trace, problem));
  SCHAAS_ASSIGN_OR_RETURN(const auto nests, schedule::nests_and_terms_of(tree));
  return result_entries(nests, with_copies);
}

bool has_no_more_entries(const ResultEntries& a, const ResultEntries& b) {
  const auto has_points_of = [&](std::set<std::string> stored) {
    // An entry that is stored is stored in part.
    for (const std::string& name : std::vector<std::string>(stored.begin(), stored.end()))
      stored.insert(name + in_part_suffix);
    return std::any_of(b.points.begin(), b.points.end(), [&](const std::set<std::string>& other) {
      return std::includes(stored.begin(), stored.end(), other.begin(), other.end());
    });
  };
  return (b.filled || !a.filled) && std::all_of(a.points.begin(), a.points.end(), has_points_of);
}

namespace {

/// Orders entries none of which are more than the others: those that fill no level first, then those of the
/// fewest and most restricted points.
bool is_before(const ResultEntries& a, const ResultEntries& b) {
  const auto key = [](const ResultEntries& one) {
    std::size_t operands = 0;
    for (const auto& point : one.points) operands += point.size();
    return std::tuple(one.filled, one.points.size(), ~operands);
  };
  return key(a) != key(b) ? key(a) < key(b) : a.points < b.points;
}

}  // namespace

std::vector<bool> with_fewest_entries(const std::vector<ResultEntries>& schedules) {
  std::vector<const ResultEntries*> distinct;
  for (const ResultEntries& one : schedules) {
    const bool is_new = std::none_of(distinct.begin(), distinct.end(),
                                     [&](const ResultEntries* other) { return *other == one; });
    if (is_new) distinct.push_back(&one);
  }
  const ResultEntries* fewest = nullptr;
  for (const ResultEntries* one : distinct) {
    const bool is_minimal = std::none_of(distinct.begin(), distinct.end(), [&](const ResultEntries* other) {
      return has_no_more_entries(*other, *one) && !has_no_more_entries(*one, *other);
    });
    if (is_minimal && (fewest == nullptr || is_before(*one, *fewest))) fewest = one;
  }
  std::vector<bool> kept;
  for (const ResultEntries& one : schedules) kept.push_back(has_no_more_entries(one, *fewest));
  return kept;
}

void keep_fewest_entries(ListedMembers& listed, const std::vector<ResultEntries>& entries) {
  const std::vector<bool> fewest = with_fewest_entries(entries);
  std::size_t n = 0;
  std::erase_if(listed.members, [&](const ListedMember& member) {
    if (!fewest[n] && member.counted) listed.schedules -= member.schedules;
    return !fewest[n++];
  });
}

}  // namespace schaas::space
