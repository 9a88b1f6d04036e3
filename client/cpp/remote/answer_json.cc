#include "client/cpp/remote/answer_json.h"

#include <algorithm>

#include "proto/answer_fields.h"
#include "proto/json_fields.h"

// Files of answers have the JSON mapping of the message schaas.v1.Bundle. It is written by lists of fields,
// so that libschaas.so needs no protocol library (docs/decisions/0004); those of answers are in proto. A file
// may come from anybody. The reader checks types and ranges of numbers; is_sound() checks the numbers by
// which selection indexes arrays. Exceptions of the JSON library end in answers_of_json().
namespace schaas::answers {

template <>
struct WireNames<client::ValueType> {
  static constexpr int first = 0;
  static constexpr auto otherwise = client::ValueType::f64;
  static inline const std::vector<std::string> names = operators::value_type_names();
};

}  // namespace schaas::answers

namespace schaas::client {

using answers::MessageJson;

template <class V, Of<ProblemText> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(expression, expression);
  SCHAAS_FIELD(formats, formats);
  SCHAAS_FIELD(constraints, constraints);
  SCHAAS_FIELD(value_type, value_type);
  SCHAAS_FIELD(position_bits, position_bits);
  SCHAAS_FIELD(profile, profile);
  SCHAAS_FIELD(space, space);
}
template <class V, Of<SearchOptions> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(memory_depth, memory_depth);
  SCHAAS_FIELD(max_temporary_bytes, max_temporary_bytes);
  SCHAAS_FIELD(seconds, seconds);
}
template <class V, Of<BundledAnswer> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(problem, problem);
  SCHAAS_FIELD(isa, isa);
  SCHAAS_FIELD(frontier, frontier);
  SCHAAS_FIELD(kernels, kernels);
  SCHAAS_FIELD(public_key, public_key);
}
template <class V, Of<AnswerFile> X>
void fields(V& v, X& x) {
  SCHAAS_FIELD(made_by, made_by);
  SCHAAS_FIELD(abi_version, abi_version);
  SCHAAS_FIELD(server, server);
  SCHAAS_FIELD(created, created);
  SCHAAS_FIELD(answers, answers);
  SCHAAS_FIELD(binaries, binaries);
}

namespace {

/// The code is of loops that the nest has.
bool has_sound_code(const Nest& nest) {
  const Nest::Code& code = nest.code;
  const auto is_loop = [&](int loop) {
    return loop >= 0 && static_cast<std::size_t>(loop) < nest.loops.size();
  };
  return code.tile >= 0 && (code.tile == 0 || is_loop(code.tile_loop)) &&
         (code.kept == 0 || is_loop(code.kept));
}

// Trips are extents or fibers; lists occur in cost terms alone. A nest's loops are bits of 32-bit masks, and
// its first access is its target.
bool has_sound_numbers(const Nest& nest) {
  const auto is_counted = [](const Nest::Loop& loop) {
    return loop.trips.kind == Variable::Kind::extent || loop.trips.kind == Variable::Kind::fiber;
  };
  return std::all_of(nest.loops.begin(), nest.loops.end(), is_counted) && nest.loops.size() <= 32 &&
         nest.shared >= 0 && static_cast<std::size_t>(nest.shared) <= nest.loops.size() &&
         !nest.accesses.empty() && has_sound_code(nest);
}

/// Every phase has its nests, and the loops that it shares out.
bool has_sound_numbers(const GpuSchedule& schedule) {
  std::size_t phases = 0;
  for (const Nest& nest : schedule.nests) {
    if (!has_sound_numbers(nest)) return false;
    if (nest.shared == 0) ++phases;
    if (phases == 0 || phases > schedule.phases.size()) return false;
    const GpuPhase& phase = schedule.phases[phases - 1];
    const auto shared_out = (phase.columns ? 1 : 0) + std::int64_t{phase.rows};
    if (phase.rows < 0 || phase.rows > 32 || shared_out > static_cast<std::int64_t>(nest.loops.size()))
      return false;
  }
  // Thread mappings lie far below the bound; selection divides by these numbers.
  const auto is_number = [](int n) { return n >= 1 && n <= 1024; };
  return phases == schedule.phases.size() &&
         std::all_of(schedule.phases.begin(), schedule.phases.end(), [&](const GpuPhase& phase) {
           return is_number(phase.columns_take) && is_number(phase.take) && is_number(phase.share) &&
                  is_number(phase.width) && is_number(phase.side_by_side) && is_number(phase.block) &&
                  is_number(phase.stage + 1);
         });
}

}  // namespace

std::string json_of(const AnswerFile& file) { return answers::json_of<MessageJson>(file).dump(); }

std::string json_of(const ProblemText& problem, const SearchOptions& search) {
  return answers::json_of<MessageJson>(problem).dump() + answers::json_of<MessageJson>(search).dump();
}

support::Result<AnswerFile> answers_of_json(std::string_view json) {
  try {
    return answers::value_of<MessageJson, AnswerFile>(answers::Json::parse(json));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return support::invalid("answer-json", error.what());
  }
}

bool is_sound(const Frontier& frontier) {
  const auto nests_are_sound = [](const Variant& variant) {
    return std::all_of(variant.nests.begin(), variant.nests.end(),
                       [](const Nest& nest) { return has_sound_numbers(nest); });
  };
  return std::all_of(frontier.entries.begin(), frontier.entries.end(),
                     [&](const FrontierEntry& entry) {
                       return std::all_of(entry.variants.begin(), entry.variants.end(), nests_are_sound);
                     }) &&
         std::all_of(frontier.gpu.begin(), frontier.gpu.end(),
                     [](const GpuSchedule& schedule) { return has_sound_numbers(schedule); });
}

}  // namespace schaas::client
