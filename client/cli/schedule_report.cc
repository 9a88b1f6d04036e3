#include "client/cli/schedule_report.h"

#include <algorithm>
#include <vector>

#include "client/cli/figures.h"
#include "client/cli/table.h"
#include "schaas/json.h"

// The page of a frontier: stages with counts, schedules with costs and loops, and explanations. Under the
// papers' profile the stages are those of the papers; otherwise proven losers are dropped inside the
// recursion, and fewer stages are shown.
namespace schaas::cli {
namespace {

// Lists the schedules for a GPU; "" unless they were asked for.
std::string gpu_table(const client::Frontier& frontier) {
  if (frontier.gpu.empty()) return "";
  Table table;
  table.header = {"id", "of", "on a GPU", "rounds", "trace"};
  for (const auto& schedule : frontier.gpu) {
    table.rows.push_back({schedule.id, schedule.entry, schedule.point,
                          schedule.nondeterministic ? "nondeterministically" : "the same way",
                          schedule.trace});
  }
  return print(table) + "\n";
}

Json json_of(const ScheduleFacts& facts) {
  const auto& frontier = facts.answer.frontier;
  const auto& counts = frontier.counts;
  const auto& spent = frontier.seconds;
  Json json = {{"expression", facts.expression}, {"key", frontier.key}, {"canonical", frontier.canonical}};
  json["counts"] = counts;
  json["spaces"] = Json::object();
  for (const auto& [name, members] : counts.spaces) json["spaces"][name] = members;
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
  json["limited"] = frontier.limited.empty() ? Json() : Json(frontier.limited);
  json["looser"] = frontier.relaxed_from.empty() ? Json() : Json(frontier.relaxed_from);
  json["frontier"] = frontier.entries;
  json["gpu"] = frontier.gpu;
  // Summaries stand for classes that were never listed one by one.
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
           "\n" + (entry.wins.empty() ? "" : "    " + entry.wins + "\n") + indented(entry.code, "      ");
  }
  return out;
}

// Shows the members and classes that each stage left, and its time.
std::string stages_table(const client::Frontier& frontier, bool papers) {
  const auto& counts = frontier.counts;
  const auto& spent = frontier.seconds;
  const auto number = [](std::uint64_t value) { return grouped(std::to_string(value)); };
  // The papers' stages 1 and 2 go by depths; otherwise proven losers are dropped inside the recursion.
  Table table;
  table.header = {"stage", "members", "classes", "seconds"};
  table.right = {1, 2, 3};
  table.rows = {{"space", grouped(counts.space), "", seconds(spent.space)},
                {papers ? "1 memory depth" : "1 pruned", grouped(counts.stage1),
                 number(counts.classes_stage1), seconds(spent.stage1)}};
  if (papers)
    table.rows.push_back(
        {"2 depth poset", grouped(counts.stage2), number(counts.classes_stage2), seconds(spent.stage2)});
  table.rows.push_back({papers ? "3 papers' test" : "2 proofs", grouped(counts.stage3),
                        number(counts.classes_stage3), seconds(spent.stage3)});
  std::string text = print(table);
  for (const auto& [name, members] : counts.spaces) {
    text += (name == "plain" ? "plain space" : "with " + name) + ": " + grouped(members) + " members\n";
  }
  text += "proofs: " + number(counts.log_proofs) + " in logarithms, " + number(counts.witnesses) +
          " witnesses, " + number(counts.solver_queries) + " solver queries (" +
          number(counts.solver_unknown) + " undecided)\n";
  return text;
}

// Puts the page together: stages, frontier, loops, and what limited the search.
std::string text_of(const ScheduleFacts& facts) {
  const auto& frontier = facts.answer.frontier;
  std::string text = facts.expression + "\nproblem " + frontier.key + "\n\n";
  text += stages_table(frontier, facts.published_stages) + "\n" + frontier_table(frontier) +
          loops_text(frontier) + "\n" + gpu_table(frontier);
  text += facts.answer.done.hit ? "answered from the database in " : "searched; answered in ";
  text += seconds(facts.server_seconds) + "\n";
  if (!frontier.relaxed_from.empty())
    text += "from the stored answer of a problem with relaxed constraints, " + frontier.relaxed_from + "\n";
  if (!frontier.limited.empty()) {
    text += "not complete: " + frontier.limited + "\n";
  } else if (!frontier.complete) {
    text += "A budget ended a stage early: the frontier may hold more schedules than it must.\n";
  }
  return text;
}

Json explanation_json(const client::Explanation& why) {
  Json json = {{"verdict", client::name(why.verdict)},
               {"id", why.id},
               {"trace", why.trace},
               {"tree", why.tree},
               {"code", why.code},
               {"time", why.time},
               {"memory", why.memory}};
  json["by"] = why.by;
  json["kind"] = why.kind;
  json["argument"] = why.argument;
  json["rivals"] = Json::array();
  for (const auto& competitor : why.competitors) {
    Json one = {{"id", competitor.id}, {"sizes", competitor.sizes}};
    if (!competitor.sizes.empty()) {
      one["time"] = competitor.time;
      one["memory"] = competitor.memory;
      one["other_time"] = competitor.other_time;
      one["other_memory"] = competitor.other_memory;
    }
    json["rivals"].push_back(std::move(one));
  }
  return json;
}

// Returns a line like "s3   T = ..., M = ...".
std::string survivor_text(const client::Frontier& frontier, const std::string& id) {
  for (const auto& entry : frontier.entries) {
    if (entry.id == id) return id + "   " + entry.tree + "   T = " + entry.time + ", M = " + entry.memory;
  }
  return id;
}

// Says why a schedule is on the frontier or not, with the argument of its certificate.
std::string verdict_text(const client::Explanation& why, const client::Frontier& frontier) {
  switch (why.verdict) {
    case client::Verdict::survivor:
      return why.competitors.empty() ? "on the frontier, alone\n"
                                     : "on the frontier: it beats each other schedule somewhere\n";
    case client::Verdict::removed:
      return "not on the frontier: at every allowed size this one needs no more time and no more memory\n  " +
             survivor_text(frontier, why.by) + "\n  " + why.kind + ": " + why.argument + "\n";
    case client::Verdict::left_out:
      return "left out by the search\n  " + why.kind + ": " + why.argument + "\n";
    case client::Verdict::open:
      break;
  }
  return "not on the frontier, and nothing is proven: the search was not complete, or the schedule is not "
         "one of the "
         "space\n";
}

// Lists sizes at which the schedule and each competitor are compared.
std::string competitors_text(const client::Explanation& why) {
  Table table;
  table.indent = "  ";
  table.header = {"against", "time", "its time", "memory", "its memory", "sizes"};
  table.right = {1, 2, 3, 4};
  for (const auto& competitor : why.competitors) {
    if (competitor.sizes.empty()) {
      table.rows.push_back({competitor.id, "", "", "", "", "no sizes known"});
    } else {
      table.rows.push_back({competitor.id, rounded(competitor.time), rounded(competitor.other_time),
                            rounded(competitor.memory), rounded(competitor.other_memory), competitor.sizes});
    }
  }
  return why.competitors.empty() ? "" : print(table);
}

std::string explanation_text(const client::Explanation& why, const client::Frontier& frontier) {
  if (why.time.empty())
    return verdict_text(why, frontier);  // classes that a stage dropped without a certificate
  Table table;
  table.rows = {{"schedule", why.id + (why.id.empty() || why.tree.empty() ? "" : "   ") + why.tree}};
  if (!why.trace.empty()) table.rows.push_back({"  trace", why.trace});
  table.rows.push_back({"  time", why.time});
  table.rows.push_back({"  memory", why.memory});
  return print(table) + indented(why.code, "    ") + verdict_text(why, frontier) + competitors_text(why);
}

/// Returns whether the entry is the winner that the certificate names.
bool won_by(const client::Removal& removal, const client::FrontierEntry& entry) {
  return removal.winner == entry.id;
}

// Adds the members of an entry, and the classes that were removed by comparison with it.
void add_entry(const client::Frontier& frontier, const client::FrontierEntry& entry, Answer& answer) {
  answer.json["other_traces"] = entry.other_traces;
  answer.json["removed"] = Json::array();
  answer.json["dropped"] = Json::array();
  answer.text += "members: " + grouped(entry.members) + (entry.members == "1" ? " schedule" : " schedules") +
                 " of this cost, " + counted(entry.loop_trees, "loop tree", "loop trees") + "\n";
  for (const auto& trace : entry.other_traces) answer.text += "  also " + trace + "\n";
  std::string before;
  for (const auto& removal : frontier.removals) {
    if (removal.summary()) {
      answer.json["dropped"].push_back({{"kind", removal.kind}, {"argument", removal.argument}});
      before += "before: " + removal.kind + ": " + removal.argument + "\n";
    }
    if (!won_by(removal, entry)) continue;
    answer.json["removed"].push_back(removal);
    answer.text += "removed: " + removal.id + ": time " + removal.time + ", memory " + removal.memory +
                   "\n  " + removal.kind + ": " + removal.argument + "\n";
  }
  if (answer.json["removed"].empty())
    answer.text += "no cost class was removed by comparison with this one alone\n";
  answer.text += before;
}

}  // namespace

Answer report(const ScheduleFacts& facts) {
  Answer answer;
  answer.text = text_of(facts);
  answer.json = json_of(facts);
  return answer;
}

Answer explain(const ScheduleFacts& facts, const std::string& which,
               const std::vector<client::Explanation>& explanations) {
  const auto& frontier = facts.answer.frontier;
  Answer answer;
  // Names that are ids of the frontier come first, as in the list of schedules.
  for (const auto& entry : frontier.entries) {
    if (entry.id == which) answer.json = entry;
  }
  answer.json["key"] = frontier.key;
  answer.json["explanations"] = Json::array();
  for (const auto& one : explanations) {
    answer.json["explanations"].push_back(explanation_json(one));
    answer.text += (answer.text.empty() ? "" : "\n") + explanation_text(one, frontier);
  }
  for (const auto& entry : frontier.entries) {
    if (entry.id == which) add_entry(frontier, entry, answer);
  }
  return answer;
}

}  // namespace schaas::cli
