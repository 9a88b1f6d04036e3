#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace schaas::test_support {

/// Damaged and random texts; the same ones for a seed on every machine.
class Mutation {
 public:
  explicit Mutation(std::uint32_t seed) : engine_(seed) {}

  std::size_t below(std::size_t n) { return engine_() % n; }

  std::string bytes() {
    std::string out(below(40), ' ');
    for (char& c : out) c = static_cast<char>(below(256));
    return out;
  }
  // Words of the language in random order: far more of these reach deep into the parsers than random bytes
  // do.
  std::string words() {
    std::string out;
    for (std::size_t n = below(14); n > 0; --n) out += word();
    return out;
  }
  const std::string& word() {
    static const std::vector<std::string> all = {
        "A",          "B",          "C",     "i",       "j",      "k",       "(",          ")",     ",",
        "=",          "*",          "+",     "-",       "/",      "<=",      "<",          ">=",    ">",
        "==",         "|",          "nnz",   "density", "1e-3",   "8",       "0",          "9e18",  "1e18",
        ";",          "[",          "+=",    "max",     ":",      "dense",   "compressed", " ",     "nnz(B)",
        "density(B)", "B(i,j)",     "(i+j)", "0.5",     "where",  "sum(j)(", "max(j)",     "exp(",  "inf",
        "-1",         "min-plus: ", "min=",  "C(j)",    "not(",   "a",       "T(i)",       "; Y =", "T(i) = ",
        "or-and",     "pow(2,",     "!=",    "prod",    "max= c", "^"};
    return all[below(all.size())];
  }
  // Another word for one of the text's: most of these are still programs, if odd ones.
  std::string reworded(const std::string& text) {
    const auto in_word = [&](std::size_t at) {
      return (text[at] >= 'a' && text[at] <= 'z') || (text[at] >= 'A' && text[at] <= 'Z');
    };
    std::size_t begin = below(text.size());
    std::size_t end = begin + 1;
    if (in_word(begin)) {
      while (begin > 0 && in_word(begin - 1)) --begin;
      while (end < text.size() && in_word(end)) ++end;
    }
    return text.substr(0, begin) + word() + text.substr(end);
  }
  std::string damaged(std::string text) {
    for (std::size_t n = 1 + below(3); n > 0 && !text.empty(); --n) {
      const std::size_t at = below(text.size());
      switch (below(5)) {
        case 0:
          text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text.erase(at, 1 + below(4));
          break;
        case 2:
          text.insert(at, words());
          break;
        case 3:
          text.insert(at, text.substr(below(text.size()), below(20)));
          break;
        default:
          std::swap(text[at], text[below(text.size())]);
      }
    }
    return text;
  }
  std::string text(const std::vector<std::string>& good) {
    switch (below(8)) {
      case 0:
        return bytes();
      case 1:
        return words();
      case 2:
      case 3:
        return reworded(good[below(good.size())]);
      default:
        return damaged(good[below(good.size())]);
    }
  }

 private:
  std::mt19937 engine_;
};

}  // namespace schaas::test_support
