#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "schaas/expression.h"

namespace schaas::client {

/// Extents of indices, each with its source: options, files, arrays. FROSTT files state no extents, only the
/// largest coordinate they use, so they give lower bounds.
class Extents {
 public:
  /// `source` is for messages: "`-d k=64`", "C.npy (mode 2 of `C(i,k)`)". Errors: invalid [extent-conflict],
  /// naming both.
  support::Result<void> bind(const std::string& index, std::int64_t extent, const std::string& source);
  void at_least(const std::string& index, std::int64_t extent);

  /// Returns the extent that was bound; lower bounds do not count.
  std::optional<std::int64_t> bound(const std::string& index) const;
  /// Returns the extent that was bound, or else the largest lower bound.
  std::optional<std::int64_t> known(const std::string& index) const;
  /// Indices that run over the same values: what is known of one holds for the other. Errors: invalid
  /// [extent-conflict].
  support::Result<void> link(const std::vector<std::pair<std::string, std::string>>& pairs);
  /// Every index of the program with its extent, bound or else the largest lower bound. Errors: invalid
  /// [missing-extent]; `way_out` ends its message, told the index.
  support::Result<std::map<std::string, std::int64_t>> all(
      const Program& program, const std::function<std::string(const std::string&)>& way_out) const;

 private:
  struct Bound {
    std::int64_t extent;
    std::string source;
  };
  std::map<std::string, Bound> bound_;
  std::map<std::string, std::int64_t> least_;
};

}  // namespace schaas::client
