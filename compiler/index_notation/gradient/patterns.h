#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/index_notation/gradient/quotient_terms.h"
#include "compiler/index_notation/gradient/steps.h"

namespace schaas::index_notation {

/// 1 where a sparse operand has a value, else 0: `B(i,j) != 0`.
Expression mask_of(const Access& base);

/// Entries outside of which tensors of a program are zero: those of its sparse operands. An intermediate
/// whose terms all have such a factor is zero outside of that one's entries, too.
class Patterns {
 public:
  /// `sparse`: names of operands.
  Patterns(const std::vector<Step>& steps, const std::set<std::string>& sparse);

  /// The access to the sparse operand at whose entries an access lies; none: it may have a value anywhere.
  std::optional<Access> base_of(const Access& access) const;
  /// True when a factor of the term is zero wherever the sparse operand's element is.
  bool has_factor(const QuotientTerm& term, const Access& base) const;

 private:
  struct Pattern {
    std::string base;
    std::vector<std::size_t> modes;  ///< mode m of the base is mode modes[m] of the tensor
  };
  void define(const Step& step);
  std::vector<Access> bases_of(const QuotientTerm& term) const;

  std::map<std::string, Pattern> patterns_;
  std::set<std::string> sparse_;
};

}  // namespace schaas::index_notation
