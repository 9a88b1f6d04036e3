#include "client/cli/schedule_report.h"

#include <algorithm>
#include <vector>

#include "client/cli/figures.h"
#include "client/cli/table.h"
#include "compiler/support/nearest_name.h"

namespace schaas::cli {
namespace {

Json access_weights(const client::FrontierEntry& entry) {
  Json weights = Json::array();
  for (const auto& term : entry.time_terms) weights.push_back(term.weight);
  return weights;
}

Json entry_json(const client::FrontierEntry& entry) {
  return {{"id", entry.id},           {"trace", entry.trace},           {"tree", entry.tree},
          {"time", entry.time},       {"memory", entry.memory},         {"access", access_weights(entry)},
          {"members", entry.members}, {"loop_trees", entry.loop_trees}, {"code", entry.code}};
}

Json removal_json(const client::Removal& removal) {
  return {{"id", removal.id}, {"time", removal.time}, {"memory", removal.memory},
          {"by", removal.by}, {"kind", removal.kind}, {"argument", removal.argument}};
}

Json json_of(const ScheduleFacts& facts) {
  const auto& frontier = facts.answer.frontier;
  const auto& counts = frontier.counts;
  const auto& spent = frontier.seconds;
  Json json = {{"expression", facts.expression}, {"key", frontier.key}, {"canonical", frontier.canonical}};
  json["counts"] = {{"space", counts.space},
                    {"stage1", counts.stage1},
                    {"stage2", counts.stage2},
                    {"stage3", counts.stage3}};
  json["classes"] = {{"stage1", counts.classes_stage1},
                     {"stage2", counts.classes_stage2},
                     {"stage3", counts.classes_stage3}};
  json["proofs"] = {{"states", counts.states},
                    {"log_proofs", counts.log_proofs},
                    {"witnesses", counts.witnesses},
                    {"solver_queries", counts.solver_queries},
                    {"solver_unknown", counts.solver_unknown},
                    {"solver_pairs", counts.solver_pairs},
                    {"solver_milliseconds", counts.solver_milliseconds},
                    {"solver_worst_milliseconds", counts.solver_worst_milliseconds}};
  json["seconds"] = {{"space", spent.space},
                     {"stage1", spent.stage1},
                     {"stage2", spent.stage2},
                     {"stage3", spent.stage3},
                     {"total", spent.total}};
  json["complete"] = frontier.complete;
  json["frontier"] = Json::array();
  for (const auto& entry : frontier.entries) json["frontier"].push_back(entry_json(entry));
  const auto summaries = std::count_if(frontier.removals.begin(), frontier.removals.end(),
                                       [](const client::Removal& removal) { return removal.summary(); });
  json["removals"] = frontier.removed - static_cast<std::uint64_t>(summaries);
  json["server"] = {
      {"hit", facts.answer.done.hit}, {"seconds", facts.server_seconds}, {"address", facts.server_address}};
  return json;
}

std::string frontier_table(const client::Frontier& frontier) {
  Table table;
  table.header = {"id", "tree", "time", "memory", "members"};
  table.right = {4};
  for (const auto& entry : frontier.entries) {
    table.rows.push_back({entry.id, entry.tree, entry.time, entry.memory, grouped(entry.members)});
  }
  return print(table);
}

std::string indented(const std::string& text, const std::string& margin) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    out += margin + text.substr(begin, end - begin);
    begin = end;
  }
  return out;
}

/// Each schedule as loops.
std::string loops_text(const client::Frontier& frontier) {
  std::string out;
  for (const auto& entry : frontier.entries) {
    out += "\n" + entry.id + "   " + entry.tree + "\n    T = " + entry.time + "\n    M = " + entry.memory +
           "\n" + indented(entry.code, "      ");
  }
  return out;
}

std::string stages_table(const client::Frontier& frontier) {
  const auto& counts = frontier.counts;
  const auto& spent = frontier.seconds;
  const auto number = [](std::uint64_t value) { return grouped(std::to_string(value)); };
  // The papers' stages 1 and 2 go by depths; otherwise proven losers are dropped inside the recursion.
  const bool papers = frontier.canonical.find("\nprofile sparseauto\n") != std::string::npos;
  Table table;
  table.header = {"stage", "left", "classes", "seconds"};
  table.right = {1, 2, 3};
  table.rows = {{"space", grouped(counts.space), "", seconds(spent.space)},
                {papers ? "1 memory depth" : "1 recursion", grouped(counts.stage1),
                 number(counts.classes_stage1), seconds(spent.stage1)},
                {papers ? "2 depth poset" : "2 unused", grouped(counts.stage2), number(counts.classes_stage2),
                 seconds(spent.stage2)},
                {"3 proofs", grouped(counts.stage3), number(counts.classes_stage3), seconds(spent.stage3)}};
  std::string text = print(table);
  text += "proofs: " + number(counts.log_proofs) + " in logarithms, " + number(counts.witnesses) +
          " witnesses, " + number(counts.solver_queries) + " solver queries (" +
          number(counts.solver_unknown) + " undecided)\n";
  return text;
}

std::string text_of(const ScheduleFacts& facts) {
  const auto& frontier = facts.answer.frontier;
  std::string text = facts.expression + "\nproblem " + frontier.key + "\n\n";
  text += stages_table(frontier) + "\n" + frontier_table(frontier) + loops_text(frontier) + "\n";
  text += facts.answer.done.hit ? "answered from the database in " : "searched; answered in ";
  text += seconds(facts.server_seconds) + "\n";
  if (!frontier.complete)
    text += "A budget ended a stage early: the frontier may hold more schedules than it must.\n";
  return text;
}

/// A certificate names its winner by cost.
bool won_by(const client::Removal& removal, const client::FrontierEntry& entry) {
  return removal.by == "T = " + entry.time + ", M = " + entry.memory;
}

}  // namespace

Answer report(const ScheduleFacts& facts) {
  Answer answer;
  answer.text = text_of(facts);
  answer.json = json_of(facts);
  return answer;
}

support::Result<Answer> explain(const ScheduleFacts& facts, const std::string& id) {
  const auto& entries = facts.answer.frontier.entries;
  const auto entry = std::find_if(entries.begin(), entries.end(),
                                  [&](const client::FrontierEntry& one) { return one.id == id; });
  if (entry == entries.end()) {
    std::vector<std::string> ids;
    for (const auto& one : entries) ids.push_back(one.id);
    return support::invalid("unknown-schedule",
                            "`--why " + id + "`: the frontier has no schedule `" + id + "`; it has " +
                                counted(ids.size(), "schedule", "schedules") +
                                (ids.empty() ? "" : ", " + ids.front() + " to " + ids.back()) +
                                support::did_you_mean(id, ids));
  }
  Answer answer;
  answer.json = entry_json(*entry);
  answer.json["key"] = facts.answer.frontier.key;
  answer.json["other_traces"] = entry->other_traces;
  answer.json["removed"] = Json::array();
  answer.json["dropped"] = Json::array();
  Table table;
  table.rows = {{"schedule", entry->id + "   " + entry->tree},
                {"  trace", entry->trace},
                {"  time", entry->time},
                {"  memory", entry->memory},
                {"  members", grouped(entry->members) + " schedules of this cost, " +
                                  counted(entry->loop_trees, "loop tree", "loop trees")}};
  for (const auto& trace : entry->other_traces) table.rows.push_back({"  also", trace});
  answer.text = print(table);
  std::string before;
  for (const auto& removal : facts.answer.frontier.removals) {
    if (removal.summary()) {
      answer.json["dropped"].push_back({{"kind", removal.kind}, {"argument", removal.argument}});
      before += "before: " + removal.kind + ": " + removal.argument + "\n";
    }
    if (!won_by(removal, *entry)) continue;
    answer.json["removed"].push_back(removal_json(removal));
    answer.text += "removed: " + removal.id + ": time " + removal.time + ", memory " + removal.memory +
                   "\n  " + removal.kind + ": " + removal.argument + "\n";
  }
  if (answer.json["removed"].empty())
    answer.text += "no cost class was removed by comparison with this one alone\n";
  answer.text += before;
  return answer;
}

}  // namespace schaas::cli
