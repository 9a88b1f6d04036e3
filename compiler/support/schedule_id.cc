#include "compiler/support/schedule_id.h"

#include <algorithm>
#include <array>

// Ids are short texts in answers; their letters are the kinds. Eighteen digits fit 64 bits, so reading cannot
// overflow.
namespace schaas::support {
namespace {

/// By kind.
constexpr std::array<char, 3> letters = {'s', 'g', 'r'};
constexpr std::size_t max_digits = 18;

}  // namespace

std::optional<ScheduleId> parse_schedule_id(const std::string& text) {
  if (text.size() < 2 || text.size() > 1 + max_digits) return std::nullopt;
  const auto letter = std::find(letters.begin(), letters.end(), text.front());
  if (letter == letters.end()) return std::nullopt;
  if (text.find_first_not_of("0123456789", 1) != std::string::npos) return std::nullopt;
  return ScheduleId{static_cast<ScheduleId::Kind>(letter - letters.begin()), std::stoull(text.substr(1))};
}

bool is_entry_id(const std::string& text) {
  const auto id = parse_schedule_id(text);
  return id && id->kind == ScheduleId::Kind::entry;
}
bool is_gpu_id(const std::string& text) {
  const auto id = parse_schedule_id(text);
  return id && id->kind == ScheduleId::Kind::gpu;
}

std::string print(const ScheduleId& id) {
  return letters[static_cast<std::size_t>(id.kind)] + std::to_string(id.number);
}

}  // namespace schaas::support
