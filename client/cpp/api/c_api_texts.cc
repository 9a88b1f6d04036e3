#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "client/cpp/api/c_boundary.h"
#include "client/cpp/selection/binding.h"
#include "schaas/format_comparison.h"
#include "schaas/gradient.h"
#include "schaas/json.h"
#include "schaas/selections.h"

// schaas.h: answers as JSON texts, for programs that show or store them. Members keep their order, and
// numbers that JSON does not have become texts. Bytes that are no UTF-8 are replaced: texts of users go
// through.
namespace schaas::client {
namespace {

using Json = nlohmann::ordered_json;

Json frontier_json(const Frontier& frontier) {
  Json json = {{"key", frontier.key},
               {"statement", frontier.statement},
               {"complete", frontier.complete},
               {"partial", frontier.partial},
               {"limited", frontier.limited}};
  json["counts"] = frontier.counts;
  json["entries"] = frontier.entries;
  return json;
}

// Adds the costs at the sizes of a binding; `here` is null where no sizes are known.
void add_here(Json& json, const FrontierHere& here) {
  json["here"] = nullptr;
  if (!here.at) return;
  const FrontierAt& at = *here.at;
  Json nonzeros = Json::object();
  for (const auto& [tensor, entries] : at.sizes.entries)
    if (!entries.empty()) nonzeros[tensor] = entries.back();
  json["here"] = {{"chosen", at.chosen ? Json(here.frontier.entries[*at.chosen].id) : Json()},
                  {"reason", at.reason},
                  {"threads", at.threads},
                  {"extents", at.sizes.extents},
                  {"nonzeros", nonzeros},
                  {"picture", support::svg(here.plot)}};
  for (std::size_t e = 0; e < here.frontier.entries.size(); ++e) {
    const Evaluated& cost = at.evaluated[e];
    json["entries"][e]["here"] = {{"tree", selected_tree(here.frontier.entries[e], cost)},
                                  {"time", cost.time},
                                  {"memory_bytes", cost.memory_bytes},
                                  {"fits", cost.fits},
                                  {"chosen", e == at.chosen},
                                  {"measured_seconds", at.measured[e] ? Json(*at.measured[e]) : Json()}};
  }
}

char* dumped(const Json& json) {
  return text_for_c(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Json access_json(const Access& access) { return {{"name", access.tensor}, {"indices", access.indices}}; }

/// Returns the factors of one statement that is a product of tensors and numbers in ordinary arithmetic, as
/// they stand; else null.
Json factors(const Program& program) {
  const Statement& statement = program.statements.back();
  if (program.statements.size() != 1 || statement.update || program.semiring != &operators::plus_times())
    return nullptr;
  std::vector<Expression> found = {statement.value};
  if (const auto* product = std::get_if<Product>(&statement.value.node)) found = product->factors;
  Json json = Json::array();
  for (const Expression& factor : found) {
    if (const auto* access = std::get_if<Access>(&factor.node)) {
      json.push_back(access_json(*access));
    } else if (const auto* number = std::get_if<Literal>(&factor.node)) {
      json.push_back({{"number", number->value}});
    } else {
      return nullptr;
    }
  }
  return json;
}

/// JSON has no infinities: these are texts.
Json number_json(double number) {
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return number;
}

Json tree(const Expression& expression);

Json trees(const std::vector<Expression>& expressions) {
  Json json = Json::array();
  for (const Expression& each : expressions) json.push_back(tree(each));
  return json;
}

// Expressions are trees; the parser bounds their depth, so recursion is safe.
Json tree(const Expression& expression) {
  if (const auto* access = std::get_if<Access>(&expression.node)) return access_json(*access);
  if (const auto* number = std::get_if<Literal>(&expression.node))
    return {{"number", number_json(number->value)}};
  if (const auto* coordinate = std::get_if<Coordinate>(&expression.node))
    return {{"coordinate", coordinate->index}};
  if (const auto* product = std::get_if<Product>(&expression.node))
    return {{"function", "*"}, {"arguments", trees(product->factors)}};
  if (const auto* call = std::get_if<Call>(&expression.node)) {
    const operators::FunctionFacts& facts = operators::facts(call->function);
    return {{"function", *facts.infix != 0 ? facts.infix : facts.name},
            {"arguments", trees(call->arguments)}};
  }
  const Reduction& reduction = std::get<Reduction>(expression.node);
  return {{"reduction", operators::name(reduction.monoid)},
          {"indices", reduction.indices},
          {"argument", tree(reduction.body.front())}};
}

Json statements(const Program& program) {
  Json json = Json::array();
  for (const Statement& statement : program.statements) {
    json.push_back({{"result", access_json(statement.result)},
                    {"update", statement.update ? Json(operators::name(*statement.update)) : Json()},
                    {"value", tree(statement.value)}});
  }
  return json;
}

/// Ranges of operands whose bounds are numbers: their extents follow from the operands' shapes.
Json ranges_of(const Program& program) {
  Json json = Json::array();
  for (const Access& access : read_by(program)) {
    for (std::size_t mode = 0; mode < access.indices.size(); ++mode) {
      const auto* range = index_notation::mode_range(access, mode);
      if (range == nullptr || range->is_fixed) continue;
      Json one = {{"index", access.indices[mode]}, {"tensor", access.tensor}, {"mode", mode}};
      bool has_name = false;
      const auto add = [&](const char* name, const std::optional<index_notation::Bound>& bound) {
        if (!bound) {
          one[name] = nullptr;
        } else if (const auto* number = std::get_if<std::int64_t>(&*bound)) {
          one[name] = *number;
        } else {
          has_name = true;
        }
      };
      add("begin", range->begin);
      add("end", range->end);
      add("step", range->step);
      if (!has_name) json.push_back(std::move(one));
    }
  }
  return json;
}

// Each operand is listed once, as it is first accessed; ranged modes have the indices of their coordinates.
// The names in bounds are scalar operands.
Json description(const Program& given, const Selections& selections) {
  const Program& program = selections.program();
  Json json = {{"operands", Json::array()}};
  std::vector<std::string> seen;
  std::vector<Access> read = read_by(program);
  for (const std::string& name : selections.parameters()) read.push_back({name, {}});
  for (const Access& access : read) {
    const bool known = std::find(seen.begin(), seen.end(), access.tensor) != seen.end();
    if (known || selections.is_selection(access.tensor)) continue;
    seen.push_back(access.tensor);
    json["operands"].push_back(access_json(access));
  }
  json["result"] = access_json(program.result());
  json["factors"] = selections.empty() ? factors(program) : nullptr;
  json["ranges"] = !selections.empty();
  json["range_extents"] = ranges_of(given);
  json["update"] = program.statements.back().update.has_value();
  json["semiring"] = program.semiring->name;
  json["zero"] = number_json(program.semiring->zero);
  json["statements"] = statements(index_notation::with_selections(given));
  return json;
}

Json description(const schaas_computation& bound) {
  const Computation& computation = *bound.computation;
  Json json = computation.kernel();
  json["reason"] = computation.reason();
  json["threads"] = computation.threads();
  json["device"] = computation.device().empty() ? Json() : Json(computation.device());
  json["copies"] = Json::array();
  for (const auto& copy : computation.copies())
    json["copies"].push_back({{"format", copy.format}, {"bytes", copy.bytes}});
  return json;
}

Json description(const Bundle& bundle) {
  Json json = {{"made_by", bundle.made_by()},
               {"server", bundle.server()},
               {"created", bundle.created()},
               {"answers", Json::array()}};
  for (const BundledAnswer& answer : bundle.answers()) {
    json["answers"].push_back({{"expression", answer.problem.expression},
                               {"formats", answer.problem.formats},
                               {"constraints", answer.problem.constraints},
                               {"value_type", name(answer.problem.value_type)},
                               {"position_bits", answer.problem.position_bits},
                               {"isa", answer.isa}});
  }
  return json;
}

}  // namespace
}  // namespace schaas::client

using namespace schaas::client;  // NOLINT: C names outside of any namespace
using schaas::support::Result;

extern "C" {

int32_t schaas_session_describe(const schaas_session* session, char** json, schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (session == nullptr || json == nullptr) return null_argument(session == nullptr ? "session" : "json");
    Json told = {{"address", session->session.source().address()},
                 {"notice", session->session.source().notice()},
                 {"bundle", nullptr}};
    if (session->bundle) told["bundle"] = description(*session->bundle);
    *json = dumped(told);
    return {};
  });
}

int32_t schaas_kernels_describe(schaas_kernels* kernels, char** json, schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (kernels == nullptr || json == nullptr) return null_argument(kernels == nullptr ? "kernels" : "json");
    SCHAAS_ASSIGN_OR_RETURN(const Frontier frontier, kernels->set.frontier());
    *json = dumped(frontier_json(frontier));
    return {};
  });
}

int32_t schaas_frontier_at(schaas_kernels* kernels, const schaas_operand* operands, int32_t count,
                           const schaas_options* options, char** json, schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (kernels == nullptr || json == nullptr) return null_argument(kernels == nullptr ? "kernels" : "json");
    GivenTensors given;
    SCHAAS_RETURN_IF_ERROR(take(*kernels, operands, count, options, Runs::many, given));
    SCHAAS_ASSIGN_OR_RETURN(
        const FrontierHere here,
        while_telling(given.options.wait.progress, "searching", [&](std::stop_token stop) {
          given.options.wait.stop = stop;
          return kernels->set.frontier_at(given.pointers, given.options);
        }));
    Json told = frontier_json(here.frontier);
    add_here(told, here);
    *json = dumped(told);
    return {};
  });
}

int32_t schaas_parse(const char* expression, char** json, schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (expression == nullptr || json == nullptr)
      return null_argument(expression == nullptr ? "expression" : "json");
    SCHAAS_ASSIGN_OR_RETURN(const Program program, parse_program(expression));
    SCHAAS_ASSIGN_OR_RETURN(const Selections selections, Selections::of(program, {}, expression));
    *json = dumped(description(program, selections));
    return {};
  });
}

int32_t schaas_gradient(const char* expression, const schaas_gradient_options* options, char** program,
                        schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (expression == nullptr || options == nullptr || program == nullptr) {
      return null_argument(expression == nullptr ? "expression" : options == nullptr ? "options" : "program");
    }
    if (options->of == nullptr) return null_argument("of");
    GradientOptions how{options->of, {}, {}, {}};
    if (options->seed != nullptr) how.seed = options->seed;
    if (options->name != nullptr) how.name = options->name;
    for (std::int32_t n = 0; n < options->format_count; ++n)
      how.formats[options->formats[2 * n]] = options->formats[2 * n + 1];
    SCHAAS_ASSIGN_OR_RETURN(const std::string made, gradient(expression, how));
    *program = text_for_c(made);
    return {};
  });
}

int32_t schaas_computation_describe(const schaas_computation* computation, char** json,
                                    schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (computation == nullptr || json == nullptr)
      return null_argument(computation == nullptr ? "computation" : "json");
    *json = dumped(description(*computation));
    return {};
  });
}

int32_t schaas_tune(schaas_kernels* kernels, const schaas_operand* operands, int32_t count,
                    const schaas_options* options, char** json, schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (kernels == nullptr || json == nullptr) return null_argument(kernels == nullptr ? "kernels" : "json");
    GivenTensors given;
    SCHAAS_RETURN_IF_ERROR(take(*kernels, operands, count, options, Runs::many, given));
    SCHAAS_ASSIGN_OR_RETURN(
        const Tuning tuning,
        while_telling(given.options.wait.progress, "measuring", [&](std::stop_token stop) {
          given.options.wait.stop = stop;
          return kernels->set.tune(given.pointers, given.options);
        }));
    Json found = {{"fastest", tuning.fastest}, {"measured", tuning.measured}};
    *json = dumped(found);
    return {};
  });
}

int32_t schaas_compare_formats(schaas_kernels* kernels, const schaas_operand* operands, int32_t count,
                               const schaas_options* options, const char* operand, const char* const* formats,
                               int32_t format_count, double measure_seconds, char** json,
                               schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (kernels == nullptr || json == nullptr) return null_argument(kernels == nullptr ? "kernels" : "json");
    if (operand == nullptr) return null_argument("operand");
    GivenTensors given;
    SCHAAS_RETURN_IF_ERROR(take(*kernels, operands, count, options, Runs::many, given));
    FormatComparisonOptions comparison;
    comparison.seconds = measure_seconds;
    comparison.search = kernels->options;
    comparison.bind = given.options;
    comparison.bind.wait.progress = {};
    for (int32_t f = 0; formats != nullptr && f < format_count; ++f)
      comparison.formats.push_back(formats[f] == nullptr ? "" : formats[f]);
    SCHAAS_ASSIGN_OR_RETURN(
        const auto figures,
        while_telling(given.options.wait.progress, "measuring", [&](std::stop_token stop) {
          comparison.bind.wait.stop = stop;
          return compare_formats(kernels->session, kernels->set.problem(), operand, given.pointers,
                                 comparison);
        }));
    const Json found = {{"formats", formats_json(figures)}};
    *json = dumped(found);
    return {};
  });
}

}  // extern "C"
