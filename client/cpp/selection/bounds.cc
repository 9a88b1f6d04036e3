#include "schaas/bounds.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "client/cpp/platform/natural.h"
#include "compiler/support/nearest_name.h"

// Constraints come as the lines `where 1000*nnz(B,2) <= i*j` of the problem's canonical text. They are sums
// of products of whole numbers, extents and counts, nothing else.
namespace schaas::client {
namespace {

support::Diagnostic damaged(std::string_view line) {
  return support::internal("server-internal", "the server's answer has the constraint `" +
                                                  std::string(line.substr(0, 200)) +
                                                  "`, which is not in its normal form");
}

template <class Value>
std::vector<std::string> names_of(const std::map<std::string, Value>& map) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map) names.push_back(name);
  return names;
}

std::vector<std::string_view> split(std::string_view text, std::string_view by) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find(by)) != std::string_view::npos; text.remove_prefix(end + by.size()))
    parts.push_back(text.substr(0, end));
  parts.push_back(text);
  return parts;
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// A constraint: its text in the user's names, the values of what it speaks of, and of both sides.
class Evaluation {
 public:
  Evaluation(const Frontier& frontier, const Sizes& sizes) : frontier_(frontier), sizes_(sizes) {}

  support::Result<void> check(std::string_view line) {
    const auto sides = split(line, " <= ");
    if (sides.size() != 2) return damaged(line);
    Natural left, right;
    SCHAAS_RETURN_IF_ERROR(add(sides[0], line, left));
    text_ += " <= ";
    SCHAAS_RETURN_IF_ERROR(add(sides[1], line, right));
    if (left <= right) return {};
    return support::noting(
        support::invalid("bound-violated", "the tensors break `" + text_ + "`: " + found_ +
                                               ", so it would say " + left.decimal() +
                                               " <= " + right.decimal()),
        "a schedule is the best, and a kernel made, for the sizes that the constraints (-c) allow");
  }

 private:
  support::Result<void> add(std::string_view sum, std::string_view line, Natural& total) {
    const char* separator = "";
    for (const auto term : split(sum, " + ")) {
      text_ += separator;
      separator = " + ";
      Natural product(1);
      const char* times = "";
      for (const auto factor : split(term, "*")) {
        text_ += times;
        times = "*";
        SCHAAS_ASSIGN_OR_RETURN(const std::uint64_t value, value_of(factor, line));
        product = product * Natural(value);
      }
      total += product;
    }
    return {};
  }

  support::Result<std::uint64_t> value_of(std::string_view factor, std::string_view line) {
    std::uint64_t number = 0;
    if (read_number(factor, number)) {
      text_ += factor;
      return number;
    }
    if (factor.substr(0, 4) == "nnz(" && factor.back() == ')') {
      const auto words = split(factor.substr(4, factor.size() - 5), ",");
      int levels = 0;
      if (words.size() != 2 || !read_number(words[1], levels)) return damaged(line);
      return entries(std::string(words[0]), levels, line);
    }
    return extent(std::string(factor), line);
  }

  support::Result<std::uint64_t> extent(const std::string& canonical, std::string_view line) {
    const auto user = frontier_.user_indices.find(canonical);
    if (user == frontier_.user_indices.end()) return damaged(line);
    const auto known = sizes_.extents.find(user->second);
    if (known == sizes_.extents.end()) {
      return support::invalid("unknown-size",
                              "no extent is known for index `" + user->second + "`" +
                                  support::did_you_mean(user->second, names_of(sizes_.extents)));
    }
    return note(user->second, known->second);
  }

  support::Result<std::uint64_t> entries(const std::string& canonical, int levels, std::string_view line) {
    const auto user = frontier_.user_tensors.find(canonical);
    if (user == frontier_.user_tensors.end()) return damaged(line);
    const auto known = sizes_.entries.find(user->second);
    if (known == sizes_.entries.end()) {
      return support::invalid("unknown-size",
                              "no entry counts are known for `" + user->second + "`" +
                                  support::did_you_mean(user->second, names_of(sizes_.entries)));
    }
    // A scalar has no levels and one value.
    if (levels == 0 && known->second.empty()) return note("nnz(" + user->second + ",0)", 1);
    if (levels < 1 || levels > static_cast<int>(known->second.size())) return damaged(line);
    return note("nnz(" + user->second + "," + std::to_string(levels) + ")",
                known->second[static_cast<std::size_t>(levels - 1)]);
  }

  std::uint64_t note(const std::string& symbol, std::int64_t value) {
    text_ += symbol;
    const std::string fact = symbol + " is " + std::to_string(value);
    if (std::find(facts_.begin(), facts_.end(), fact) == facts_.end()) {
      found_ += (facts_.empty() ? "" : ", ") + fact;
      facts_.push_back(fact);
    }
    return static_cast<std::uint64_t>(value);
  }

  const Frontier& frontier_;
  const Sizes& sizes_;
  std::string text_, found_;
  std::vector<std::string> facts_;
};

}  // namespace

support::Result<void> check_bounds(const Frontier& frontier, const Sizes& sizes) {
  constexpr std::string_view word = "where ";
  for (const auto line : split(frontier.canonical, "\n")) {
    if (line.substr(0, word.size()) != word) continue;
    SCHAAS_RETURN_IF_ERROR(Evaluation(frontier, sizes).check(line.substr(word.size())));
  }
  return {};
}

}  // namespace schaas::client
