#pragma once
#include <nlohmann/json_fwd.hpp>

#include "schaas/frontier.h"
#include "schaas/tuning.h"

/// Answers as JSON objects, as the command line and the C interface print them (docs/command_line.md); each
/// adds what it knows beside them. Files of answers have a form of their own (docs/file_formats.md).
namespace schaas::client {

void to_json(nlohmann::ordered_json& json, const FrontierEntry& entry);
/// Members left after each stage; null where a stage knows only classes.
void to_json(nlohmann::ordered_json& json, const Counts& counts);
void to_json(nlohmann::ordered_json& json, const GpuSchedule& schedule);
void to_json(nlohmann::ordered_json& json, const Removal& removal);
void to_json(nlohmann::ordered_json& json, const KernelInfo& kernel);
void to_json(nlohmann::ordered_json& json, const Measured& measured);

}  // namespace schaas::client
