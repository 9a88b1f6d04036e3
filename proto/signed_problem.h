#pragma once
#include <string>

/// The signed text of an answer: part of the wire contract, made by the server when it answers, made again
/// where the answer is read from a file.
namespace schaas {

/// Stands for the problem in the user's own texts and names, and for its key, so that neither can be
/// exchanged in a file. Every text is preceded by its length. `ProblemText`: the compiler's.
template <class ProblemText>
std::string signed_problem_text(const ProblemText& asked, const std::string& problem_key) {
  std::string out = "schaas-signed-problem 1\n";
  const auto add = [&](const std::string& text) { out += std::to_string(text.size()) + " " + text + "\n"; };
  add(problem_key);
  add(asked.expression);
  add(std::to_string(asked.formats.size()));
  for (const auto& [tensor, format] : asked.formats) {
    add(tensor);
    add(format);
  }
  add(std::to_string(asked.constraints.size()));
  for (const auto& constraint : asked.constraints) add(constraint);
  for (const std::string* text : {&asked.value_type, &asked.position_bits, &asked.profile, &asked.space})
    add(*text);
  return out;
}

}  // namespace schaas
