#include "compiler/index_notation/definitions.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/index_notation/extent_classes.h"
#include "compiler/index_notation/lexer.h"
#include "compiler/support/nearest_name.h"

// Statements together: each defines another tensor and reads only what stands before it, so they run in order
// without cycles. Every intermediate is read, and every index has an extent from a tensor that the caller
// passes. Tensors that no statement defines are the arguments.
namespace schaas::index_notation {
namespace {

using support::Diagnostic;
using support::Result;
using support::SourceRange;

class Definitions {
 public:
  Definitions(const Program& program, std::string_view source) : program_(program), source_(source) {}

  Result<void> verify() {
    for (std::size_t n = 0; n < program_.statements.size(); ++n) defined_.emplace(target(n).tensor, n);
    for (std::size_t n = 0; n < program_.statements.size(); ++n) {
      SCHAAS_RETURN_IF_ERROR(once(n));
      SCHAAS_RETURN_IF_ERROR(reads(n));
    }
    SCHAAS_RETURN_IF_ERROR(all_read());
    return extents();
  }

 private:
  const Access& target(std::size_t n) const { return program_.statements[n].result; }
  bool is_last(std::size_t n) const { return n + 1 == program_.statements.size(); }
  Diagnostic fail(Diagnostic d, SourceRange range) const {
    return source_.empty() ? d : support::at(std::move(d), "expression", std::string(source_), range);
  }

  // Checks that a statement defines a new tensor, and that only the last one updates.
  Result<void> once(std::size_t n) const {
    const std::string name = quoted(target(n).tensor);
    if (defined_.at(target(n).tensor) != n) {
      Diagnostic d = support::invalid("redefined", name + " is defined a second time");
      return fail(support::noting(std::move(d),
                                  "each statement defines another tensor; give this one a name "
                                  "of its own"),
                  target(n).range);
    }
    if (is_last(n) || !program_.statements[n].update) return {};
    Diagnostic d = support::invalid("update", name + " is defined here and holds nothing to update");
    return fail(
        support::noting(std::move(d), "`=` defines an intermediate; only the last statement may update"),
        target(n).range);
  }

  // Checks that a statement reads earlier intermediates and arguments only.
  Result<void> reads(std::size_t n) {
    for (const auto& access : operands(program_.statements[n].value)) {
      const std::string name = quoted(access.tensor);
      const auto found = defined_.find(access.tensor);
      if (found == defined_.end()) {
        arguments_.insert(access.tensor);
      } else if (found->second == n) {
        return fail(itself(n), access.range);
      } else if (found->second > n) {
        return fail(
            support::invalid("used-before-definition", name + " is read before statement " +
                                                           std::to_string(found->second + 1) + " defines it"),
            access.range);
      }
      read_.insert(access.tensor);
    }
    return {};
  }
  Diagnostic itself(std::size_t n) const {
    const std::string name = quoted(target(n).tensor);
    if (!is_last(n)) return support::invalid("result-on-right", name + " is read in its own definition");
    Diagnostic d =
        support::invalid("result-on-right", name + " is the result and cannot be an operand as well");
    return support::noting(std::move(d),
                           "to go on from what the result holds, write `+=`, `max=` or another update");
  }

  // An intermediate that nothing reads is mostly a misspelt name, so the nearest argument is suggested.
  Result<void> all_read() const {
    for (std::size_t n = 0; !is_last(n); ++n) {
      if (read_.count(target(n).tensor) != 0) continue;
      const std::string& name = target(n).tensor;
      Diagnostic d = support::invalid("unused", "intermediate " + quoted(name) + " is never read");
      if (const auto near = support::nearest_name(name, {arguments_.begin(), arguments_.end()}))
        d = support::noting(std::move(d), quoted(*near) + " is read and not defined");
      return fail(std::move(d), target(n).range);
    }
    return {};
  }

  // Sizes come with the arguments, so each index must have its extent from one of them.
  Result<void> extents() const {
    // Indices of one class have one extent: it is known when any of them stands on the result or an argument.
    const auto classes = extent_classes(program_.statements);
    std::set<std::string> known;
    const auto add = [&](const Access& access) {
      for (const auto& index : access.indices)
        if (!index.empty()) known.insert(classes.at(index));
    };
    add(program_.statements.back().result);
    for (const auto& statement : program_.statements) {
      for (const auto& access : operands(statement.value)) {
        if (defined_.count(access.tensor) == 0) add(access);
      }
    }
    for (const auto& statement : program_.statements) {
      for (const auto& access : operands(statement.value))
        SCHAAS_RETURN_IF_ERROR(known_extents(access, known, classes));
      SCHAAS_RETURN_IF_ERROR(known_coordinates(statement.value, known, classes));
      SCHAAS_RETURN_IF_ERROR(known_extents(statement.result, known, classes));
    }
    return {};
  }
  Result<void> known_extents(const Access& access, const std::set<std::string>& known,
                             const std::map<std::string, std::string>& classes) const {
    for (std::size_t mode = 0; mode < access.indices.size(); ++mode) {
      const std::string& index = access.indices[mode];
      if (index.empty() || known.count(classes.at(index)) != 0) continue;
      return unknown_extent(index, "it stands on intermediates alone",
                            mode < access.index_ranges.size() ? access.index_ranges[mode] : access.range);
    }
    return {};
  }
  Result<void> known_coordinates(const Expression& value, const std::set<std::string>& known,
                                 const std::map<std::string, std::string>& classes) const {
    if (const auto* coordinate = std::get_if<Coordinate>(&value.node);
        coordinate != nullptr && known.count(classes.at(coordinate->index)) == 0)
      return unknown_extent(coordinate->index, "it stands on no tensor that the caller passes", value.range);
    for (const auto& part : parts(value)) SCHAAS_RETURN_IF_ERROR(known_coordinates(part, known, classes));
    return {};
  }
  Diagnostic unknown_extent(const std::string& index, const std::string& reason, SourceRange range) const {
    Diagnostic d = support::invalid("extent-unknown",
                                    "nothing tells the extent of index " + quoted(index) + ": " + reason);
    return fail(support::noting(std::move(d),
                                "an index must be on the result or on a tensor that no statement defines"),
                range);
  }

  const Program& program_;
  std::string_view source_;
  std::map<std::string, std::size_t> defined_;  // the first statement that does
  std::set<std::string> read_, arguments_;
};

}  // namespace

Result<void> verify_definitions(const Program& program, std::string_view source) {
  return Definitions(program, source).verify();
}

}  // namespace schaas::index_notation
