#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace schaas::support {

/// Name of a schedule or class in an answer: "s2", "g3", "r17".
struct ScheduleId {
  enum class Kind { entry, gpu, removal } kind = Kind::entry;
  std::uint64_t number = 0;  ///< counts from 1
};
/// Reads an id of at most 18 digits; none: the text is no id.
std::optional<ScheduleId> parse_schedule_id(const std::string& text);
/// The text is the id of an entry of a frontier: "s2".
bool is_entry_id(const std::string& text);
/// The text is the id of a schedule for a GPU: "g3".
bool is_gpu_id(const std::string& text);
std::string print(const ScheduleId& id);

}  // namespace schaas::support
