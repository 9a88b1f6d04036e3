#include "compiler/concrete_notation/copies/locating_copies.h"

#include <algorithm>
#include <utility>

#include "compiler/problem/copies.h"

// One pass over the pairs of accesses of the problem with its copies. A located copy replaces one that lists
// coordinates. Whether it pays is for costs to say: a merge of two lists that is done once is
// cheaper than a copy.
namespace schaas::concrete_notation {
namespace {

using index_notation::Access;
using problem::CopyRequest;
using problem::Problem;
using Set = std::vector<CopyRequest>;

const format::TensorFormat* format_of(const Access& access, const Problem& problem) {
  const auto known = problem.formats.find(access.tensor);
  return known == problem.formats.end() ? nullptr : &known->second;
}

const std::string& index_at(std::size_t level, const Access& access, const format::TensorFormat& format) {
  return access.indices[static_cast<std::size_t>(format.mode_order[level])];
}

/// The access has the index at a sparse level below its first one.
bool has_below(const Access& access, const std::string& index, const Problem& problem) {
  const auto* format = format_of(access, problem);
  if (format == nullptr) return false;
  for (std::size_t level = 1; level < format->levels.size(); ++level)
    if (format::is_sparse(format->levels[level]) && index_at(level, access, *format) == index) return true;
  return false;
}

/// A copy with a dense first level would have sparse levels below it: other ones would hold all elements.
bool may_locate(const format::TensorFormat& format) {
  return format::lists_first(format) &&
         std::any_of(format.levels.begin() + 1, format.levels.end(), format::is_sparse);
}

bool is_sought(const Access& access, const std::vector<Access>& reads, const Problem& problem) {
  const auto* format = format_of(access, problem);
  if (format == nullptr || !may_locate(*format)) return false;
  return std::any_of(reads.begin(), reads.end(), [&](const Access& other) {
    return !(other == access) && has_below(other, index_at(0, access, *format), problem);
  });
}

/// Returns the request that `access` reads its copy by; null: it reads an operand as it is stored.
CopyRequest* request_of(const Access& access, Set& set, const Problem& problem) {
  const problem::Copy* copy = problem.copy_named(access.tensor);
  if (copy == nullptr) return nullptr;
  const auto& order = problem.formats.at(copy->name).mode_order;
  const auto found = std::find_if(set.begin(), set.end(), [&](const CopyRequest& request) {
    return request.tensor == copy->tensor && request.order == order &&
           (!request.at || *request.at == access.indices);
  });
  return found == set.end() ? nullptr : &*found;
}

/// All accesses of the tensor have these indices.
bool is_read_alone(const Access& access, const std::vector<Access>& reads) {
  return std::all_of(reads.begin(), reads.end(), [&](const Access& other) {
    return other.tensor != access.tensor || other.indices == access.indices;
  });
}

}  // namespace

Set with_locating_copies(const Set& set, const Problem& problem) {
  if (problem.profile != problem::Profile::standard) return set;
  Problem copied = problem;
  for (const CopyRequest& request : set) copied = problem::with_copy(copied, request);
  const auto reads = copied.reads();
  Set out = set, added;
  for (const Access& access : reads) {
    if (!is_sought(access, reads, copied)) continue;
    if (CopyRequest* known = request_of(access, out, copied)) {
      known->locates = true;
      continue;
    }
    if (copied.copy_named(access.tensor) != nullptr) continue;
    CopyRequest request{access.tensor, std::nullopt, copied.formats.at(access.tensor).mode_order, true};
    if (!is_read_alone(access, reads)) request.at = access.indices;
    if (std::find(added.begin(), added.end(), request) == added.end()) added.push_back(std::move(request));
  }
  out.insert(out.end(), added.begin(), added.end());
  return out;
}

std::vector<Set> also_locating(const std::vector<Set>& sets, const Problem& problem) {
  std::vector<Set> out;
  for (const Set& set : sets) {
    out.push_back(set);
    Set located = with_locating_copies(set, problem);
    if (located != set) out.push_back(std::move(located));
  }
  return out;
}

}  // namespace schaas::concrete_notation
