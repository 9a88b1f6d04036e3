#include "server/storage/stored_frontier.h"

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

// A frontier as one JSON object, in canonical names (docs/decisions/0010). Costs are the bits of their terms,
// whose meaning follows from the canonical problem; trees and sentences are made again when they are shown.
// Nothing that is read is trusted: types and ranges are checked here, traces are parsed, and callers apply
// them again. Anything unexpected makes the row a miss, never a crash. The reader is fuzzed.
namespace schaas::server {
namespace {

using frontier::Certificate;
using frontier::Frontier;
using Json = nlohmann::ordered_json;
using support::Result;

// On disk: never reuse a number.
constexpr std::uint64_t format_version = 2;

struct KindName {
  Certificate::Kind kind;
  const char* name;
};
constexpr std::array kinds = {
    KindName{Certificate::Kind::depth, "depth"},
    KindName{Certificate::Kind::depth_poset, "depth-poset"},
    KindName{Certificate::Kind::termwise, "termwise"},
    KindName{Certificate::Kind::log_proof, "log-proof"},
    KindName{Certificate::Kind::solver, "solver"},
    KindName{Certificate::Kind::volume, "volume"},
    KindName{Certificate::Kind::published, "published"},
};

Json to_json(const cost::Cost& cost) { return {{"time", cost.time}, {"memory", cost.memory}}; }

Json to_json(const frontier::Survivor& s) {
  Json traces = Json::array();
  for (const auto& trace : s.traces) traces.push_back(schedule::print(trace));
  return {{"id", s.id},
          {"cost", to_json(s.cost)},
          {"members", s.members},
          {"loop_trees", s.loop_trees},
          {"traces", std::move(traces)}};
}

// Writes a sentence as its parts: texts, and sums of terms that are printed in each user's names.
Json to_json(const frontier::Argument& argument) {
  Json parts = Json::array();
  for (const auto& part : argument.parts()) {
    if (const auto* text = std::get_if<std::string>(&part)) {
      parts.push_back(*text);
    } else {
      const auto& sum = std::get<frontier::Sum>(part);
      parts.push_back({{sum.kind == frontier::Sum::Kind::time ? "time" : "memory", sum.terms}});
    }
  }
  return parts;
}

// Writes a removed class with its certificate; null where a limit removed it, not a winner.
Json to_json(const frontier::Removal& r) {
  return {{"cost", to_json(r.cost)},
          {"kind", kind_name(r.certificate.kind)},
          {"winner", r.certificate.winner ? to_json(*r.certificate.winner) : Json()},
          {"argument", to_json(r.certificate.argument)}};
}

Json to_json(const frontier::Counts& c) {
  return {{"spaces", c.spaces},
          {"space", c.space},
          {"stage1", c.stage1},
          {"stage2", c.stage2},
          {"stage3", c.stage3},
          {"states", c.states},
          {"classes_stage1", c.classes_stage1},
          {"classes_stage2", c.classes_stage2},
          {"classes_stage3", c.classes_stage3},
          {"solver_queries", c.solver_queries},
          {"solver_unknown", c.solver_unknown},
          {"log_proofs", c.log_proofs},
          {"witnesses", c.witnesses},
          {"solver_pairs", c.solver_pairs},
          {"solver_milliseconds", c.solver_milliseconds},
          {"solver_worst_milliseconds", c.solver_worst_milliseconds}};
}

Json to_json(const frontier::Seconds& s) {
  return {{"space", s.space},
          {"stage1", s.stage1},
          {"stage2", s.stage2},
          {"stage3", s.stage3},
          {"total", s.total}};
}

// The readers below throw nlohmann::json::exception on anything unexpected; parse_frontier converts it to a
// Diagnostic.

// Returns an unsigned integer. Json's own conversion would accept 2e84, which no integer holds.
std::uint64_t whole(const Json& json) { return json.get_ref<const Json::number_unsigned_t&>(); }

std::vector<cost::Term> read_terms(const Json& json) {
  std::vector<cost::Term> terms;
  for (const Json& term : json) terms.push_back(whole(term));
  return terms;
}

cost::Cost read_cost(const Json& json) {
  return {read_terms(json.at("time")), read_terms(json.at("memory"))};
}

Result<Certificate::Kind> read_kind(const std::string& text) {
  for (const auto& known : kinds) {
    if (text == known.name) return known.kind;
  }
  return support::internal("stored-frontier", "unknown kind of certificate `" + text + "`");
}

// Reads an entry, with its traces parsed; a class without a trace could not be compiled.
Result<frontier::Survivor> read_survivor(const Json& json) {
  frontier::Survivor s;
  s.id = json.at("id");
  s.cost = read_cost(json.at("cost"));
  s.members = json.at("members");
  s.loop_trees = whole(json.at("loop_trees"));
  for (const auto& text : json.at("traces")) {
    auto trace = schedule::parse(text.get<std::string>());
    if (!trace.ok()) return support::internal("stored-frontier", trace.error().message);
    s.traces.push_back(std::move(trace).value());
  }
  if (s.traces.empty()) return support::internal("stored-frontier", "schedule `" + s.id + "` has no trace");
  return s;
}

frontier::Argument read_argument(const Json& json) {
  frontier::Argument argument;
  for (const Json& part : json) {
    if (part.is_string()) {
      argument << part.get<std::string>();
    } else if (part.contains("time")) {
      argument << frontier::time_sum(read_terms(part.at("time")));
    } else {
      argument << frontier::memory_sum(read_terms(part.at("memory")));
    }
  }
  return argument;
}

Result<frontier::Removal> read_removal(const Json& json) {
  frontier::Removal r;
  r.cost = read_cost(json.at("cost"));
  SCHAAS_ASSIGN_OR_RETURN(r.certificate.kind, read_kind(json.at("kind")));
  if (!json.at("winner").is_null()) r.certificate.winner = read_cost(json.at("winner"));
  r.certificate.argument = read_argument(json.at("argument"));
  return r;
}

frontier::Counts read_counts(const Json& json) {
  frontier::Counts c;
  c.spaces = json.at("spaces").get<decltype(c.spaces)>();
  c.space = json.at("space");
  c.stage1 = json.at("stage1");
  c.stage2 = json.at("stage2");
  c.stage3 = json.at("stage3");
  c.states = whole(json.at("states"));
  c.classes_stage1 = whole(json.at("classes_stage1"));
  c.classes_stage2 = whole(json.at("classes_stage2"));
  c.classes_stage3 = whole(json.at("classes_stage3"));
  c.solver_queries = whole(json.at("solver_queries"));
  c.solver_unknown = whole(json.at("solver_unknown"));
  c.log_proofs = whole(json.at("log_proofs"));
  c.witnesses = whole(json.at("witnesses"));
  c.solver_pairs = whole(json.at("solver_pairs"));
  c.solver_milliseconds = json.at("solver_milliseconds");
  c.solver_worst_milliseconds = json.at("solver_worst_milliseconds");
  return c;
}

frontier::Seconds read_seconds(const Json& json) {
  return {json.at("space"), json.at("stage1"), json.at("stage2"), json.at("stage3"), json.at("total")};
}

// Reads the whole object, whose version comes first.
Result<Frontier> read_frontier(const Json& json) {
  if (const std::uint64_t version = whole(json.at("version")); version != format_version) {
    return support::internal("stored-frontier",
                             "format version " + std::to_string(version) + " is not known");
  }
  Frontier f;
  f.complete = json.at("complete");
  f.limited = json.at("limited");
  f.more_proofs = whole(json.at("more_proofs"));
  for (const auto& entry : json.at("proofs")) {
    SCHAAS_ASSIGN_OR_RETURN(const Certificate::Kind kind, read_kind(entry.at(0)));
    f.proofs.push_back({kind, read_terms(entry.at(1)), read_terms(entry.at(2))});
  }
  // May be absent: the frontier was searched.
  f.relaxed_from = json.value("looser", "");
  for (const auto& entry : json.at("survivors")) {
    SCHAAS_ASSIGN_OR_RETURN(frontier::Survivor s, read_survivor(entry));
    f.survivors.push_back(std::move(s));
  }
  for (const auto& entry : json.at("removals")) {
    SCHAAS_ASSIGN_OR_RETURN(frontier::Removal r, read_removal(entry));
    f.removals.push_back(std::move(r));
  }
  f.counts = read_counts(json.at("counts"));
  f.seconds = read_seconds(json.at("seconds"));
  return f;
}

}  // namespace

const char* kind_name(Certificate::Kind kind) {
  for (const auto& known : kinds) {
    if (known.kind == kind) return known.name;
  }
  SCHAAS_CHECK(false, "a kind of certificate without a name");
}

std::string print_frontier(const Frontier& f) {
  Json survivors = Json::array(), removals = Json::array(), proofs = Json::array();
  for (const auto& s : f.survivors) survivors.push_back(to_json(s));
  for (const auto& r : f.removals) removals.push_back(to_json(r));
  for (const auto& p : f.proofs) proofs.push_back({kind_name(p.kind), p.winner, p.loser});
  const Json json = {
      {"version", format_version},   {"complete", f.complete},        {"limited", f.limited},
      {"proofs", std::move(proofs)}, {"more_proofs", f.more_proofs},  {"survivors", std::move(survivors)},
      {"counts", to_json(f.counts)}, {"seconds", to_json(f.seconds)}, {"removals", std::move(removals)},
      {"looser", f.relaxed_from}};
  return json.dump();
}

Result<Frontier> parse_frontier(std::string_view text) {
  try {
    return read_frontier(Json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    return support::internal("stored-frontier", std::string("not a stored frontier: ") + error.what());
  }
}

}  // namespace schaas::server
