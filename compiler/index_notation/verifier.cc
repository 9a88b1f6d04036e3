#include "compiler/index_notation/verifier.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/index_notation/lexer.h"
#include "compiler/index_notation/printer.h"
#include "compiler/support/limits.h"
#include "compiler/support/nearest_name.h"

namespace schaas::index_notation {
namespace {

using support::Diagnostic;
using support::Limits;
using support::Result;
using support::SourceRange;

class Verifier {
 public:
  Verifier(const Assignment& assignment, std::string_view source)
      : result_(assignment.result),
        operands_(operands(assignment.value)),
        statement_(assignment),
        source_(source) {}

  Result<void> verify() const {
    SCHAAS_RETURN_IF_ERROR(accesses());
    SCHAAS_RETURN_IF_ERROR(counts());
    for (const auto& operand : operands_) {
      if (operand.tensor == result_.tensor) {
        return fail(
            support::invalid("result-on-right",
                             "`" + result_.tensor + "` is the result and cannot be an operand as well"),
            operand.range);
      }
    }
    return result_indices();
  }

 private:
  Diagnostic fail(Diagnostic d, SourceRange range) const {
    return source_.empty() ? d : support::at(std::move(d), "expression", std::string(source_), range);
  }
  static SourceRange range_of(const Access& access, std::size_t mode) {
    return mode < access.index_ranges.size() ? access.index_ranges[mode] : access.range;
  }

  Result<void> accesses() const {
    std::map<std::string, const Access*> first;
    std::vector<const Access*> all = {&result_};
    for (const auto& operand : operands_) all.push_back(&operand);
    for (const Access* access : all) {
      SCHAAS_RETURN_IF_ERROR(one(*access));
      const Access& before = *first.emplace(access->tensor, access).first->second;
      if (before.indices.size() != access->indices.size()) {
        return fail(
            support::invalid("rank-mismatch", "`" + access->tensor + "` is used as `" + print(*access) +
                                                  "` but has " + std::to_string(before.indices.size()) +
                                                  (before.indices.size() == 1 ? " index" : " indices") +
                                                  " in `" + print(before) + "`"),
            access->range);
      }
    }
    return {};
  }

  // A tree prints as forall(i, ...) and where(..., ...), so its words are no names.
  static bool is_reserved(const std::string& name) {
    return name == "forall" || name == "blocks" || name == "where";
  }
  Diagnostic reserved(const std::string& name, SourceRange range) const {
    return fail(support::invalid("reserved-name",
                                 "`" + name + "` is a word of the schedule language and cannot be a name"),
                range);
  }

  Result<void> one(const Access& access) const {
    if (is_reserved(access.tensor)) {
      const std::uint32_t begin = access.range.begin;
      return reserved(access.tensor, {begin, begin + static_cast<std::uint32_t>(access.tensor.size())});
    }
    for (std::size_t mode = 0; mode < access.indices.size(); ++mode) {
      if (is_reserved(access.indices[mode])) return reserved(access.indices[mode], range_of(access, mode));
    }
    if (access.indices.size() > Limits::order) {
      return fail(
          support::unsupported("order-too-high",
                               "`" + access.tensor + "` has " + std::to_string(access.indices.size()) +
                                   " indices; at most " + std::to_string(Limits::order) + " are supported"),
          access.range);
    }
    for (std::size_t mode = 0; mode < access.indices.size(); ++mode) {
      const auto begin = access.indices.begin();
      const auto here = begin + static_cast<std::ptrdiff_t>(mode);
      if (std::find(begin, here, *here) == here) continue;
      return fail(support::unsupported("diagonal", quoted(print(access)) + " repeats index " + quoted(*here) +
                                                       "; diagonals are not supported yet, each index of an "
                                                       "access must be another"),
                  range_of(access, mode));
    }
    return {};
  }

  Result<void> counts() const {
    if (operands_.size() > Limits::factors) {
      return fail(
          support::unsupported("too-many-factors", "the product has " + std::to_string(operands_.size()) +
                                                       " operands; at most " +
                                                       std::to_string(Limits::factors) + " are supported"),
          operands_[Limits::factors].range);
    }
    const auto indices = index_variables(statement_);
    if (indices.size() > Limits::indices) {
      return fail(
          support::unsupported("too-many-indices", "the expression has " + std::to_string(indices.size()) +
                                                       " indices; at most " +
                                                       std::to_string(Limits::indices) + " are supported"),
          statement_.range);
    }
    return {};
  }

  Result<void> result_indices() const {
    std::set<std::string> bound;
    for (const auto& operand : operands_) bound.insert(operand.indices.begin(), operand.indices.end());
    for (std::size_t mode = 0; mode < result_.indices.size(); ++mode) {
      const std::string& index = result_.indices[mode];
      if (bound.count(index) != 0) continue;
      return fail(support::invalid("result-index-unbound",
                                   "index `" + index + "` of the result is not an index of any operand" +
                                       support::did_you_mean(index, {bound.begin(), bound.end()})),
                  range_of(result_, mode));
    }
    return {};
  }

  const Access& result_;
  std::vector<Access> operands_;
  const Assignment& statement_;
  std::string_view source_;
};

}  // namespace

Result<void> verify(const Assignment& assignment, std::string_view source) {
  return Verifier(assignment, source).verify();
}

}  // namespace schaas::index_notation
