#include "schaas/json.h"

#include <nlohmann/json.hpp>

// Frontiers and kernels as JSON, for the program's `--json` and for tools. Members keep their order; names
// are external and stay.
namespace schaas::client {

using Json = nlohmann::ordered_json;

void to_json(Json& json, const FrontierEntry& entry) {
  Json weights = Json::array();
  for (const auto& term : entry.time_terms) weights.push_back(term.weight);
  json = {{"id", entry.id},           {"trace", entry.trace},           {"tree", entry.tree},
          {"time", entry.time},       {"memory", entry.memory},         {"access", std::move(weights)},
          {"members", entry.members}, {"loop_trees", entry.loop_trees}, {"code", entry.code},
          {"wins", entry.wins}};
}

void to_json(Json& json, const Counts& counts) {
  const auto left = [](const std::string& count) { return count.empty() ? Json() : Json(count); };
  json = {{"space", counts.space},
          {"stage1", left(counts.stage1)},
          {"stage2", left(counts.stage2)},
          {"stage3", left(counts.stage3)}};
}

void to_json(Json& json, const GpuSchedule& schedule) {
  json = {{"id", schedule.id},       {"entry", schedule.entry},
          {"point", schedule.point}, {"trace", schedule.trace},
          {"tree", schedule.tree},   {"deterministic", !schedule.nondeterministic}};
}

void to_json(Json& json, const Removal& removal) {
  json = {{"id", removal.id}, {"time", removal.time}, {"memory", removal.memory},
          {"by", removal.by}, {"kind", removal.kind}, {"argument", removal.argument}};
}

void to_json(Json& json, const KernelInfo& kernel) {
  json = {{"id", kernel.id},
          {"kernel_key", kernel.kernel_key},
          {"trace", kernel.trace},
          {"tree", kernel.tree},
          {"time", kernel.time},
          {"memory", kernel.memory},
          {"isa", kernel.isa},
          {"baseline", kernel.baseline},
          {"sha256", kernel.digest.sha256},
          {"bytes", kernel.digest.bytes},
          {"compile_seconds", kernel.compile_seconds}};
}

void to_json(Json& json, const Measured& measured) {
  json = {
      {"id", measured.id}, {"trace", measured.trace}, {"seconds", measured.seconds}, {"runs", measured.runs}};
}

}  // namespace schaas::client
