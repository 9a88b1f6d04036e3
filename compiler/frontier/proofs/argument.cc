#include "compiler/frontier/proofs/argument.h"

#include <utility>

// Sentences in which costs stand as terms. They are rendered last, in the names of whoever reads them.
// Rejected: finished sentences whose words are renamed. With other names of tensors such sentences were
// wrong.
namespace schaas::frontier {

Sum time_sum(std::vector<cost::Term> terms) { return {Sum::Kind::time, std::move(terms)}; }
Sum memory_sum(std::vector<cost::Term> terms) { return {Sum::Kind::memory, std::move(terms)}; }

Argument& Argument::operator<<(std::string text) {
  if (text.empty()) return *this;
  if (!parts_.empty() && std::holds_alternative<std::string>(parts_.back())) {
    std::get<std::string>(parts_.back()) += text;
  } else {
    parts_.emplace_back(std::move(text));
  }
  return *this;
}

Argument& Argument::operator<<(Sum sum) {
  parts_.emplace_back(std::move(sum));
  return *this;
}

Argument& Argument::operator<<(const Argument& other) {
  for (const Part& part : other.parts_) std::visit([&](const auto& one) { *this << one; }, part);
  return *this;
}

std::string print(const Argument& argument, const cost::Variables& variables) {
  std::string out;
  for (const Argument::Part& part : argument.parts()) {
    if (const auto* text = std::get_if<std::string>(&part)) {
      out += *text;
      continue;
    }
    const Sum& sum = std::get<Sum>(part);
    out += sum.kind == Sum::Kind::time ? cost::print_time({sum.terms, {}}, variables)
                                       : cost::print_memory({{}, sum.terms}, variables);
  }
  return out;
}

Argument with_terms(const Argument& argument,
                    const std::function<std::vector<cost::Term>(const std::vector<cost::Term>&)>& change) {
  std::vector<Argument::Part> parts = argument.parts();
  for (Argument::Part& part : parts) {
    if (auto* sum = std::get_if<Sum>(&part)) sum->terms = change(sum->terms);
  }
  return Argument(std::move(parts));
}

}  // namespace schaas::frontier
