#include "schaas/bounds.h"

#include <algorithm>

#include "client/cpp/platform/natural.h"
#include "compiler/support/nearest_name.h"

// Constraints at real sizes. Both sides are sums of products of up to 24 extents, which overflow 64 bits:
// they are compared as numbers of any size (platform/natural.h). The text of the constraint and the sizes
// found are put together on the way, in the user's names. A factor that the problem does not have is a fault
// of the server's answer, not of the tensors.
namespace schaas::client {
namespace {

using Factor = Constraint::Factor;

support::Diagnostic damaged_constraint(const Factor& factor) {
  const std::string levels = "," + std::to_string(factor.levels) + ")";
  return support::internal(
      "server-internal",
      "the server's answer has a constraint on `" +
          (factor.kind == Factor::Kind::extent ? factor.name : "nnz(" + factor.name + levels) +
          "`, which the problem does not have");
}

/// A constraint: its text in the user's names, the values of what it speaks of, and of both sides.
class ConstraintCheck {
 public:
  ConstraintCheck(const Frontier& frontier, const Sizes& sizes) : frontier_(frontier), sizes_(sizes) {}

  support::Result<void> check(const Constraint& constraint) {
    Natural left, right;
    SCHAAS_RETURN_IF_ERROR(add(constraint.left, left));
    text_ += " <= ";
    SCHAAS_RETURN_IF_ERROR(add(constraint.right, right));
    if (left <= right) return {};
    return support::noting(
        support::invalid("bound-violated", "the tensors break `" + text_ + "`: " + found_ +
                                               ", so it would say " + left.decimal() +
                                               " <= " + right.decimal()),
        "a schedule is the best, and a kernel made, for the sizes that the constraints (-c) allow");
  }

 private:
  support::Result<void> add(const std::vector<Constraint::Monomial>& sum, Natural& total) {
    if (sum.empty()) text_ += "0";
    const char* separator = "";
    for (const auto& monomial : sum) {
      text_ += separator;
      separator = " + ";
      SCHAAS_ASSIGN_OR_RETURN(const Natural product, value_of(monomial));
      total += product;
    }
    return {};
  }

  support::Result<Natural> value_of(const Constraint::Monomial& monomial) {
    Natural product(monomial.coefficient);
    const bool has_number = monomial.coefficient != 1 || monomial.factors.empty();
    if (has_number) text_ += std::to_string(monomial.coefficient);
    const char* times = has_number ? "*" : "";
    for (const Factor& factor : monomial.factors) {
      for (unsigned n = 0; n < factor.exponent; ++n) {
        text_ += times;
        times = "*";
        SCHAAS_ASSIGN_OR_RETURN(const std::uint64_t value,
                                factor.kind == Factor::Kind::extent ? extent(factor) : entries(factor));
        product = product * Natural(value);
      }
    }
    return product;
  }

  support::Result<std::uint64_t> extent(const Factor& factor) {
    const auto user = frontier_.user_indices.find(factor.name);
    if (user == frontier_.user_indices.end()) return damaged_constraint(factor);
    const auto known = sizes_.extents.find(user->second);
    if (known == sizes_.extents.end()) {
      return support::invalid("unknown-size", "no extent is known for index `" + user->second + "`" +
                                                  support::did_you_mean(user->second, sizes_.extents));
    }
    return note(user->second, known->second);
  }

  support::Result<std::uint64_t> entries(const Factor& factor) {
    const int levels = factor.levels;
    const auto user = frontier_.user_tensors.find(factor.name);
    if (user == frontier_.user_tensors.end()) return damaged_constraint(factor);
    const auto known = sizes_.entries.find(user->second);
    if (known == sizes_.entries.end()) {
      return support::invalid("unknown-size", "no entry counts are known for `" + user->second + "`" +
                                                  support::did_you_mean(user->second, sizes_.entries));
    }
    // A scalar has no levels and one value.
    if (levels == 0 && known->second.empty()) return note("nnz(" + user->second + ",0)", 1);
    if (levels < 1 || levels > static_cast<int>(known->second.size())) return damaged_constraint(factor);
    return note("nnz(" + user->second + "," + std::to_string(levels) + ")",
                known->second[static_cast<std::size_t>(levels - 1)]);
  }

  // Notes each fact once: an extent may occur many times.
  std::uint64_t note(const std::string& symbol, std::int64_t value) {
    text_ += symbol;
    const std::string fact = symbol + " is " + std::to_string(value);
    if (std::find(facts_.begin(), facts_.end(), fact) == facts_.end()) {
      found_ += (facts_.empty() ? "" : ", ") + fact;
      facts_.push_back(fact);
    }
    // Extents and numbers of entries are not negative (Sizes).
    return static_cast<std::uint64_t>(value);
  }

  const Frontier& frontier_;
  const Sizes& sizes_;
  std::string text_, found_;
  std::vector<std::string> facts_;
};

}  // namespace

support::Result<void> check_bounds(const Frontier& frontier, const Sizes& sizes) {
  for (const Constraint& constraint : frontier.constraints)
    SCHAAS_RETURN_IF_ERROR(ConstraintCheck(frontier, sizes).check(constraint));
  return {};
}

}  // namespace schaas::client
