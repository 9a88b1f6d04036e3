#include "client/cli/run_report.h"

#include <algorithm>

#include "client/cli/colour.h"
#include "client/cli/figures.h"
#include "client/cli/table.h"
#include "schaas/json.h"
#include "schaas/tensor_files.h"

// The page of a run, as text and as JSON with the same facts. Numbers for people are rounded, those of the
// JSON are not.
namespace schaas::cli {
namespace {

/// Infinite errors (a value where none may be) have no JSON number.
Json number_or_infinite(double value) { return value < 1e300 ? Json(value) : Json("infinite"); }

std::string store(const client::Operand& operand, const RunFacts& facts) {
  const auto entries = facts.sizes.entries.find(operand.name);
  if (entries == facts.sizes.entries.end()) return "";
  return grouped(std::to_string(entries->second.back())) + " entries";
}

bool is_sparse(const format::TensorFormat& format) { return !format.all_dense(); }

/// "1,234 entries, density 0.0012" of a result with compressed levels.
std::string result_store(const RunFacts& facts, const std::vector<std::int64_t>& extents) {
  if (!is_sparse(facts.operands->result_format)) return "";
  double elements = 1;
  for (const std::int64_t extent : extents) elements *= static_cast<double>(extent);
  std::string text = grouped(std::to_string(facts.result_entries)) + " entries";
  if (elements > 0) text += ", density " + rounded(static_cast<double>(facts.result_entries) / elements);
  return text;
}

std::string source_of(const client::Operand& operand, const RunFacts& facts) {
  if (!operand.file.empty()) return operand.file;
  return operand.source.empty() ? "filled, seed " + std::to_string(facts.seed) : operand.source;
}

// Lists the tensors with formats, shapes, and where they came from or went.
std::string tensors_text(const RunFacts& facts) {
  Table table;
  table.indent = "  ";
  // An updated result stands among the operands, and is listed last, as the result.
  const auto& result = facts.program.result();
  std::string before;
  for (const auto& operand : facts.operands->tensors) {
    if (operand.name == result.tensor) {  // an updated result is listed last
      before = operand.file.empty() ? ", updated" : ", updated from " + operand.file;
      continue;
    }
    table.rows.push_back({operand.name, operand.format_text, shape(client::extents_of(operand.data)),
                          store(operand, facts), source_of(operand, facts)});
  }
  std::vector<std::int64_t> extents;
  for (const auto& index : result.indices) extents.push_back(facts.sizes.extents.at(index));
  table.rows.push_back({result.tensor, facts.operands->result_format_text, shape(extents),
                        result_store(facts, extents),
                        (facts.written.empty() ? "the result" : "written to " + facts.written) + before});
  return print(table);
}

// Tells where the answer came from: a file, the cache, the server's database, or a search.
std::string origin(const RunFacts& facts) {
  const auto& done = facts.choice.answer.done;
  if (const std::string bundle = "bundle:"; facts.server_address.starts_with(bundle))
    return "from " + facts.server_address.substr(bundle.size());
  if (facts.choice.answer.kept) return "from this machine's cache: its server is gone";
  std::string text = done.hit ? "from the database in " : "searched and compiled in ";
  if (facts.choice.wait_ended) {
    text =
        facts.choice.answer.frontier.partial ? "still being searched after " : "still being compiled after ";
  }
  text += seconds(facts.choice.server_seconds);
  if (done.compiled > 0) {
    text +=
        ", " + counted(done.compiled, "kernel", "kernels") + " compiled in " + seconds(done.compile_seconds);
  }
  return text + (facts.server_started ? " (private server started)" : "");
}

// Tells how many schedules can win, or why that is not known.
std::string frontier_text(const RunFacts& facts) {
  const auto& frontier = facts.choice.answer.frontier;
  if (frontier.entries.empty()) return "not searched: --schedule names one schedule";
  if (frontier.partial) {
    return "not known yet: the best of " + counted(facts.choice.answer.kernels.size(), "kernel", "kernels") +
           " that had come runs (--wait); the search goes on for the next run";
  }
  std::string text = counted(frontier.entries.size(), "schedule", "schedules") + " can win";
  if (!frontier.counts.space.empty()) text += ", of " + grouped(frontier.counts.space) + " in the space";
  return text + (frontier.complete ? "" : " (a budget ended the search early)");
}

// Costs of the chosen kernel at the real sizes.
struct Values {
  double time = 0, memory_elements = 0;
};
support::Result<Values> values_of(const client::KernelInfo& kernel, const client::Sizes& sizes, int threads) {
  Values values;
  SCHAAS_ASSIGN_OR_RETURN(values.time, client::evaluate(kernel.time_terms, sizes, threads));
  SCHAAS_ASSIGN_OR_RETURN(values.memory_elements,
                          client::memory_elements(kernel.memory_terms, sizes, threads));
  return values;
}

std::string verification_text(const RunFacts& facts) {
  if (!facts.verification) return "not asked for (--verify)";
  const auto& found = *facts.verification;
  return (found.passed ? "" : painted(Ink::bad, "WRONG: ")) + grouped(std::to_string(found.checked)) +
         " values compared with the oracle in " + seconds(found.seconds) + ", largest relative error " +
         rounded(found.max_relative_error);
}

std::string run_text(const RunFacts& facts) {
  std::string text = seconds(median(facts.run_seconds));
  if (facts.run_seconds.size() > 1) {
    text += " (median of " + std::to_string(facts.run_seconds.size()) + ", best " +
            seconds(*std::min_element(facts.run_seconds.begin(), facts.run_seconds.end())) + ")";
  }
  const std::string where = facts.device.empty()
                                ? counted(static_cast<std::size_t>(facts.threads), "thread", "threads")
                                : facts.device + ", with the values' way there and back";
  text += " on " + where;
  if (facts.choice.kernel.baseline) text += ", by a baseline kernel (--wait 60 waits for the full one)";
  return text + "; first result after " + seconds(facts.first_result_seconds);
}

// Puts the page together: tensors, then the choice with its costs, then the run.
std::string text_of(const RunFacts& facts, const Values& values) {
  const auto& kernel = facts.choice.kernel;
  Table table;
  const auto& key = facts.choice.answer.frontier.key;
  if (!key.empty()) table.rows.push_back({"problem", short_key(key) + ", " + origin(facts)});
  table.rows.push_back({"frontier", frontier_text(facts)});
  table.rows.push_back({"schedule", kernel.id + "   " + kernel.tree});
  table.rows.push_back({"  trace", kernel.trace});
  table.rows.push_back({"  time", kernel.time + "   = " + rounded(values.time) + " weighted trips"});
  table.rows.push_back({"  memory", kernel.memory + "   = " +
                                        bytes(static_cast<double>(facts.scratch_bytes)) +
                                        " allocated for all threads"});
  for (const auto& copy : facts.copies) {
    table.rows.push_back({"  copy", facts.arguments.at(static_cast<std::size_t>(copy.argument)) + " as " +
                                        copy.format + ", " + bytes(static_cast<double>(copy.bytes)) +
                                        ", made in " + seconds(copy.seconds)});
  }
  if (!facts.kernel_format.empty()) {
    table.rows.push_back({"  result", "written as " + facts.kernel_format + ", then stored as " +
                                          facts.operands->result_format_text + " in " +
                                          seconds(facts.store_seconds)});
  }
  table.rows.push_back({"  because", facts.choice.reason});
  for (const auto& measured : facts.choice.measured) {
    table.rows.push_back({"  measured", measured.id + "   " + seconds(measured.seconds) + ", median of " +
                                            counted(static_cast<std::size_t>(measured.runs), "run", "runs")});
  }
  table.rows.push_back({"run", run_text(facts)});
  table.rows.push_back({"verified", verification_text(facts)});
  return facts.expression + "\n" + tensors_text(facts) + print(table);
}

// Evaluates all entries of the frontier at the real sizes, as the selection did.
support::Result<Json> frontier_json(const RunFacts& facts) {
  Json frontier = Json::array();
  const auto& entries = facts.choice.answer.frontier.entries;
  if (entries.empty()) return frontier;
  SCHAAS_ASSIGN_OR_RETURN(const auto selection, client::select(entries, facts.sizes, facts.machine));
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const auto& entry = entries[e];
    SCHAAS_ASSIGN_OR_RETURN(const double time,
                            client::evaluate(entry.time_terms, facts.sizes, facts.threads));
    SCHAAS_ASSIGN_OR_RETURN(const double memory,
                            client::memory_elements(entry.memory_terms, facts.sizes, facts.threads));
    Json one = entry;
    one["time_here"] = time;
    one["predicted_here"] = selection.evaluated[e].predicted;
    one["memory_elements_here"] = memory;
    frontier.push_back(std::move(one));
  }
  return frontier;
}

Json sizes_json(const RunFacts& facts) {
  Json nonzeros = Json::object();
  for (const auto& [tensor, entries] : facts.sizes.entries) nonzeros[tensor] = entries.back();
  if (is_sparse(facts.operands->result_format))
    nonzeros[facts.program.result().tensor] = facts.result_entries;
  return nonzeros;
}

// The members are documented in docs/command_line.md; their names are external.
support::Result<Json> json_of(const RunFacts& facts, const Values& values) {
  const auto& kernel = facts.choice.kernel;
  const auto& done = facts.choice.answer.done;
  Json json = {
      {"expression", facts.expression}, {"key", facts.choice.answer.frontier.key}, {"target", facts.target}};
  json["chosen"] = {{"id", kernel.id},
                    {"trace", kernel.trace},
                    {"tree", kernel.tree},
                    {"time_cost", kernel.time},
                    {"memory_cost", kernel.memory},
                    {"time_here", values.time},
                    {"memory_elements_here", values.memory_elements},
                    {"scratch_bytes", facts.scratch_bytes},
                    {"isa", kernel.isa},
                    {"kernel_key", kernel.kernel_key},
                    {"reason", facts.choice.reason},
                    {"baseline", kernel.baseline},
                    {"final", !facts.choice.wait_ended}};
  json["copies"] = Json::array();
  for (const auto& copy : facts.copies) {
    json["copies"].push_back({{"of", facts.arguments.at(static_cast<std::size_t>(copy.argument))},
                              {"format", copy.format},
                              {"bytes", copy.bytes},
                              {"seconds", copy.seconds}});
  }
  json["stored"] = nullptr;
  if (!facts.kernel_format.empty())
    json["stored"] = {{"format", format::print(facts.operands->result_format)},
                      {"written_as", facts.kernel_format},
                      {"seconds", facts.store_seconds}};
  SCHAAS_ASSIGN_OR_RETURN(json["frontier"], frontier_json(facts));
  json["gpu"] = facts.choice.answer.frontier.gpu;
  json["extents"] = facts.sizes.extents;
  json["nnz"] = sizes_json(facts);
  json["dtype"] = client::name(facts.value_type);
  json["positions"] = facts.operands->position_bits;
  json["threads"] = facts.threads;
  json["device"] = facts.device.empty() ? Json() : Json(facts.device);
  json["run_seconds"] = {{"min", *std::min_element(facts.run_seconds.begin(), facts.run_seconds.end())},
                         {"median", median(facts.run_seconds)},
                         {"repeats", facts.run_seconds.size()}};
  json["first_result_seconds"] = facts.first_result_seconds;
  json["first_kernel_seconds"] = facts.choice.first_kernel_seconds;
  json["compile_seconds"] = done.compile_seconds;
  json["select_seconds"] = facts.choice.select_seconds;
  json["read_seconds"] = facts.read_seconds;
  json["pack_seconds"] = facts.pack_seconds;
  json["measured"] = facts.choice.measured;
  json["verify"] = nullptr;
  if (const auto& found = facts.verification) {
    json["verify"] = {{"checked", found->checked},
                      {"max_relative_error", number_or_infinite(found->max_relative_error)},
                      {"tolerance", found->tolerance},
                      {"passed", found->passed},
                      {"seconds", found->seconds}};
  }
  json["server"] = {{"hit", done.hit},
                    {"seconds", facts.choice.server_seconds},
                    {"compiled", done.compiled},
                    {"address", facts.server_address},
                    {"started", facts.server_started},
                    {"notice", facts.server_notice}};
  json["written"] = facts.written.empty() ? Json() : Json(facts.written);
  return json;
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

support::Result<Answer> report(const RunFacts& facts) {
  SCHAAS_ASSIGN_OR_RETURN(const Values values, values_of(facts.choice.kernel, facts.sizes, facts.threads));
  Answer answer;
  answer.beside_output = client::is_standard_output(facts.written);
  answer.text = text_of(facts, values);
  SCHAAS_ASSIGN_OR_RETURN(answer.json, json_of(facts, values));
  if (facts.verification && !facts.verification->passed) {
    answer.failure = support::internal(
        "wrong-result", "schedule `" + facts.choice.kernel.id + "` (" + facts.choice.kernel.trace +
                            ") gives a wrong result: largest relative error " +
                            rounded(facts.verification->max_relative_error) + ", allowed " +
                            rounded(facts.verification->tolerance));
  }
  return answer;
}

}  // namespace schaas::cli
