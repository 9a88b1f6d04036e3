#include "server/storage/stored_frontier.h"

#include <cstdint>
#include <utility>

#include "proto/answer_fields.h"
#include "proto/json_fields.h"

// A frontier as one JSON object, in canonical names (docs/decisions/0010). Costs are the bits of their terms,
// whose meaning follows from the canonical problem; trees and sentences are made again when they are shown.
// The lists of fields below are the form, for the writer and for the reader.
// Nothing that is read is trusted: types and ranges are checked here, traces are parsed, and callers apply
// them again. Anything unexpected makes the row a miss, never a crash. The reader is fuzzed.
namespace schaas::answers {

template <>
struct WireNames<frontier::Certificate::Kind> {
  static constexpr int first = 1;
  static constexpr std::array names = {"depth",  "depth-poset", "termwise", "log-proof",
                                       "solver", "published",   "volume"};
};

}  // namespace schaas::answers

namespace schaas::cost {

template <class V, answers::Of<Cost> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(time, time);
  SCHAAS_FIELD(memory, memory);
}

}  // namespace schaas::cost

namespace schaas::concrete_notation {

template <class V, answers::Of<LeafCode> X>
void fields(V& v, X& x) {
  client::code_fields(v, x);
}

}  // namespace schaas::concrete_notation

namespace schaas::schedule {

static void to_json(answers::Json& json, const Trace& trace) { json = print(trace); }
static void from_json(const answers::Json& json, Trace& trace) {
  auto parsed = parse(json.get<std::string>());
  if (!parsed.ok()) throw std::invalid_argument(parsed.error().message);
  trace = std::move(parsed).value();
}

}  // namespace schaas::schedule

namespace schaas::frontier {

template <class V, answers::Of<Variant> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(trace, trace);
  SCHAAS_FIELD(code, code);
}
template <class V, answers::Of<Survivor> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(id, id);
  SCHAAS_FIELD(cost, cost);
  SCHAAS_FIELD(members, members);
  SCHAAS_FIELD(loop_trees, loop_trees);
  SCHAAS_FIELD(traces, traces);
  SCHAAS_FIELD(variants, variants);
}
/// The winner is null where a limit removed the class.
template <class V, answers::Of<Removal> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(cost, cost);
  SCHAAS_FIELD(kind, certificate.kind);
  SCHAAS_FIELD(winner, certificate.winner);
  SCHAAS_FIELD(argument, certificate.argument);
}
template <class V, answers::Of<Counts> X>
void fields(V& v, X& x) {
  client::count_fields(v, x);
}
template <class V, answers::Of<Seconds> X>
void fields(V& v, X& x) {
  client::second_fields(v, x);
}
template <class V, answers::Of<Frontier::Proof> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(kind, kind);
  SCHAAS_FIELD(winner, winner);
  SCHAAS_FIELD(loser, loser);
}
template <class V, answers::Of<Frontier> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(complete, complete);
  SCHAAS_FIELD(limited, limited);
  SCHAAS_FIELD(proofs, proofs);
  SCHAAS_FIELD(more_proofs, more_proofs);
  SCHAAS_FIELD(survivors, survivors);
  SCHAAS_FIELD(counts, counts);
  SCHAAS_FIELD(seconds, seconds);
  SCHAAS_FIELD(removals, removals);
  SCHAAS_FIELD(relaxed_from, relaxed_from);
  SCHAAS_FIELD(code_version, code_version);
}

// Writes a sentence as its parts: texts, and sums of terms that are printed in each user's names.
static void to_json(answers::Json& json, const Argument& argument) {
  json = answers::Json::array();
  for (const auto& part : argument.parts()) {
    if (const auto* text = std::get_if<std::string>(&part)) {
      json.push_back(*text);
    } else {
      const auto& sum = std::get<Sum>(part);
      json.push_back({{sum.kind == Sum::Kind::time ? "time" : "memory", sum.terms}});
    }
  }
}
static void from_json(const answers::Json& json, Argument& argument) {
  argument = {};
  for (const answers::Json& part : json) {
    if (part.is_string()) {
      argument << part.get<std::string>();
    } else {
      const bool is_time = part.contains("time");
      auto terms = answers::value_of<answers::CompleteJson, std::vector<cost::Term>>(
          part.at(is_time ? "time" : "memory"));
      argument << (is_time ? time_sum(std::move(terms)) : memory_sum(std::move(terms)));
    }
  }
}

}  // namespace schaas::frontier

namespace schaas::server {
namespace {

using answers::CompleteJson;
using frontier::Frontier;
using support::Result;

// On disk: never reuse a number.
constexpr std::uint64_t format_version = 4;

}  // namespace

const char* kind_name(frontier::Certificate::Kind kind) {
  return answers::WireNames<frontier::Certificate::Kind>::names.at(static_cast<std::size_t>(kind));
}

std::string print_frontier(const Frontier& f) {
  answers::Json json = {{"version", format_version}};
  json.update(answers::json_of<CompleteJson>(f));
  return json.dump();
}

Result<Frontier> parse_frontier(std::string_view text) {
  try {
    const auto json = answers::Json::parse(text);
    if (json.at("version") != format_version)
      return support::internal("stored-frontier",
                               "format version " + json.at("version").dump() + " is not known");
    auto frontier = answers::value_of<CompleteJson, Frontier>(json);
    // A class without a trace could not be compiled.
    for (const frontier::Survivor& survivor : frontier.survivors) {
      if (survivor.traces.empty())
        return support::internal("stored-frontier", "schedule `" + survivor.id + "` has no trace");
      const auto& variants = survivor.variants;
      if (!variants.empty() && variants.front().trace != survivor.traces.front())
        return support::internal("stored-frontier",
                                 "schedule `" + survivor.id + "` is not the first of its variants");
    }
    return frontier;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return support::internal("stored-frontier", std::string("not a stored frontier: ") + error.what());
  }
}

}  // namespace schaas::server
