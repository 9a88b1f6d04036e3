#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "schaas/product.h"

namespace schaas::cli {

/// How many values each index takes, and who said so: `-d` and files. FROSTT files do not know their extents,
/// only the largest coordinate they use, so they give lower bounds.
class Extents {
 public:
  /// `source` is for messages: "`-d k=64`", "C.npy (mode 2 of `C(i,k)`)". Errors: invalid [extent-conflict],
  /// naming both.
  support::Result<void> bind(const std::string& index, std::int64_t extent, const std::string& source);
  void at_least(const std::string& index, std::int64_t extent);

  /// What was bound; lower bounds do not count.
  std::optional<std::int64_t> bound(const std::string& index) const;
  /// Every index of the product with its extent, bound or else the largest lower bound. Errors: invalid
  /// [missing-extent].
  support::Result<std::map<std::string, std::int64_t>> all(const client::Product& product) const;

 private:
  struct Bound {
    std::int64_t extent;
    std::string source;
  };
  std::map<std::string, Bound> bound_;
  std::map<std::string, std::int64_t> least_;
};

/// Indices of a product in order of first appearance: result first.
std::vector<std::string> indices_of(const client::Product& product);
/// "B(i,j)"
std::string print(const client::Product::Access& access);

}  // namespace schaas::cli
