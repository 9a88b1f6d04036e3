#pragma once
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/cost/cost.h"

namespace schaas::frontier {

/// A sum of cost terms inside an argument.
struct Sum {
  enum class Kind { time, memory } kind = Kind::time;
  std::vector<cost::Term> terms;
  bool operator==(const Sum&) const = default;
};
Sum time_sum(std::vector<cost::Term> terms);
Sum memory_sum(std::vector<cost::Term> terms);

/// A sentence about costs. The costs in it are terms: `print` renders them in the names of a problem with
/// these variables, the canonical one or the same in a user's names.
class Argument {
 public:
  using Part = std::variant<std::string, Sum>;

  Argument() = default;
  Argument(std::string text) { *this << std::move(text); }
  Argument(const char* text) : Argument(std::string(text)) {}
  explicit Argument(std::vector<Part> parts) : parts_(std::move(parts)) {}

  Argument& operator<<(std::string text);
  Argument& operator<<(const char* text) { return *this << std::string(text); }
  Argument& operator<<(Sum sum);
  Argument& operator<<(const Argument& other);

  const std::vector<Part>& parts() const { return parts_; }
  bool empty() const { return parts_.empty(); }
  bool operator==(const Argument&) const = default;

 private:
  std::vector<Part> parts_;
};

std::string print(const Argument& argument, const cost::Variables& variables);

/// Returns the argument with the terms of each sum replaced by `change` of them.
Argument with_terms(const Argument& argument,
                    const std::function<std::vector<cost::Term>(const std::vector<cost::Term>&)>& change);

}  // namespace schaas::frontier
