#include "compiler/problem/copies.h"

#include <algorithm>
#include <utility>

#include "compiler/support/result.h"

// Re-layouts as tensors of the problem. A copy has a name and a format of its own, and accesses that are read
// from it bear its name. So every later pass sees an operand like any other. A copy keeps the indices of the
// accesses that it serves, for its shape and its costs.
namespace schaas::problem {
namespace {

using index_notation::Access;

/// The request is for this access: for all of its tensor, or for one alone.
bool reads(const CopyRequest& request, const Access& access) {
  return access.tensor == request.tensor && (!request.at || access.indices == *request.at);
}

template <class Change>
/// Changes the accesses that statements read; targets stay.
void change_reads(Problem& problem, const Change& change) {
  for (auto& statement : problem.intermediates)
    statement.value = index_notation::with_accesses(statement.value, change);
  problem.statement.value = index_notation::with_accesses(problem.statement.value, change);
}

bool is_taken(const std::string& name, const Problem& problem) {
  const auto indices = problem.indices();
  const auto defines = [&](const auto& statement) { return statement.result.tensor == name; };
  return problem.formats.count(name) != 0 ||
         std::find(indices.begin(), indices.end(), name) != indices.end() ||
         std::any_of(problem.intermediates.begin(), problem.intermediates.end(), defines);
}

/// "C_1_0", "C_0_1_located": costs find the copy of a schedule by its name.
std::string name_of(const CopyRequest& request, const Problem& problem) {
  std::string name = request.tensor;
  for (const int mode : request.order) name += "_" + std::to_string(mode);
  if (request.locates) name += "_located";
  return free_name(std::move(name), problem);
}

/// Returns the copy that serves the request, new when there is none.
Copy& copy_for(const CopyRequest& request, Problem& problem) {
  for (Copy& copy : problem.copies) {
    if (copy.tensor == request.tensor && copy.locates == request.locates &&
        problem.formats.at(copy.name).mode_order == request.order)
      return copy;
  }
  const std::string name = name_of(request, problem);
  problem.formats.emplace(
      name, format::copy_format(problem.formats.at(request.tensor), request.order, request.locates));
  problem.copies.push_back({name, request.tensor, {}, request.locates});
  return problem.copies.back();
}

}  // namespace

std::string free_name(std::string name, const Problem& problem) {
  while (is_taken(name, problem)) name += "_";
  return name;
}

Problem with_copy_beside(const Problem& problem, const CopyRequest& request) {
  Problem out = problem;
  Copy& copy = copy_for(request, out);
  for (const Access& access : problem.reads()) {
    if (reads(request, access) &&
        std::find(copy.reads.begin(), copy.reads.end(), access.indices) == copy.reads.end())
      copy.reads.push_back(access.indices);
  }
  SCHAAS_CHECK(!copy.reads.empty(), "a copy of " + request.tensor + " that nothing reads");
  return out;
}

Problem with_copy(const Problem& problem, const CopyRequest& request) {
  Problem out = with_copy_beside(problem, request);
  const std::string name = copy_for(request, out).name;
  change_reads(out, [&](Access access) {
    if (reads(request, access)) access.tensor = name;
    return access;
  });
  return out;
}

Problem without_copies(const Problem& problem) {
  if (problem.copies.empty() && problem.without_precomputed.empty()) return problem;
  Problem out = problem;
  if (!problem.without_precomputed.empty()) {
    out.statement = problem.without_precomputed.back();
    out.intermediates.assign(problem.without_precomputed.begin(), problem.without_precomputed.end() - 1);
    out.without_precomputed.clear();
  }
  change_reads(out, [&](Access access) {
    if (const Copy* copy = problem.copy_named(access.tensor)) access.tensor = copy->tensor;
    return access;
  });
  for (const Copy& copy : problem.copies) out.formats.erase(copy.name);
  out.copies.clear();
  return out;
}

}  // namespace schaas::problem
