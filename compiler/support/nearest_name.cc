#include "compiler/support/nearest_name.h"

#include <algorithm>

// Suggestions by optimal string alignment distance: Levenshtein's, with swaps of neighbours. Its table takes
// time and memory by the product of both lengths. Names of more than 64 bytes, which may come from a request,
// are not considered.
namespace schaas::support {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      // d[i][j]: distance between the first i bytes of a and the first j of b.
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

bool same_but_for_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return a != b && std::equal(a.begin(), a.end(), b.begin(), b.end(),
                              [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& known) {
  constexpr std::size_t max_considered = 64;
  if (name.size() > max_considered) return std::nullopt;
  const auto other_case = std::find_if(
      known.begin(), known.end(), [&](const std::string& other) { return same_but_for_case(name, other); });
  if (other_case != known.end()) return *other_case;
  // One edit for three characters; an edit of every character would be no typing error but another word.
  std::size_t best = std::max<std::size_t>(1, name.size() / 3) + 1;
  std::optional<std::string> nearest;
  for (const auto& other : known) {
    if (other.size() > max_considered || other == name) continue;
    const std::size_t distance = edit_distance(name, other);
    if (distance < best && distance < other.size()) {
      best = distance;
      nearest = other;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  const auto nearest = nearest_name(name, known);
  return nearest ? "; did you mean `" + *nearest + "`?" : "";
}

}  // namespace schaas::support
