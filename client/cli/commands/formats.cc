#include <memory>
#include <optional>

#include "client/cli/command_line.h"
#include "client/cli/figures.h"
#include "client/cli/problem_options.h"
#include "client/cli/progress.h"
#include "client/cli/table.h"
#include "client/cli/tensor_options.h"
#include "schaas/format_comparison.h"

// schaas formats: measures a statement with one operand stored in each of several formats, and says which one
// takes the least time, conversion included.
namespace schaas::cli {
namespace {

struct FormatsOptions {
  ProblemOptions problem;
  client::SearchOptions search;
  ServerOptions server;
  TensorOptions tensors;
  std::string of;
  std::vector<std::string> candidates;
  std::optional<double> uses;
  double seconds = 2;
  int threads = 0;
};

/// The operand that --of names, or the only sparse one.
support::Result<std::string> compared_operand(const FormatsOptions& options,
                                              const client::Operands& operands) {
  std::vector<std::string> names, sparse;
  for (const auto& operand : operands.tensors) {
    names.push_back(operand.name);
    if (!operand.format.all_dense()) sparse.push_back(operand.name);
    if (operand.name == options.of) return options.of;
  }
  std::string known;
  for (const auto& name : names) known += (known.empty() ? "`" : ", `") + name + "`";
  if (!options.of.empty())
    return support::invalid("unknown-tensor",
                            "`--of " + options.of + "` is no operand; operands are " + known);
  if (sparse.size() == 1) return sparse.front();
  return support::noting(
      support::invalid("command-line", "`schaas formats` compares formats of one operand, and " +
                                           counted(sparse.size(), "is", "are") + " sparse here"),
      "name it: `--of NAME`, one of " + known);
}

/// "after 12 runs", from which on a format takes less time than the operand's own.
std::string paying(const std::vector<client::FormatFigures>& figures, std::size_t format) {
  if (format == 0) return "as it is";
  const auto uses = client::uses_to_pay(figures, format);
  if (!uses) return "never";
  return "after " + counted(static_cast<std::uint64_t>(*uses) + 1, "run", "runs");
}

std::string table_of(const FormatsOptions& options, const std::vector<client::FormatFigures>& figures) {
  Table table;
  table.header = {"format", "in memory", "conversion", "a run", "pays off", "loops"};
  if (options.uses) table.header.insert(table.header.begin() + 4, rounded(*options.uses) + " runs");
  table.indent = "  ";
  table.right = {1, 2, 3};
  std::string refused;
  for (std::size_t n = 0; n < figures.size(); ++n) {
    const client::FormatFigures& one = figures[n];
    if (one.error) {
      refused += "  " + one.format + ": " + one.error->message + "\n";
      continue;
    }
    table.rows.push_back({one.format, bytes(static_cast<double>(one.bytes)),
                          n == 0 ? "" : seconds(one.convert_seconds), seconds(one.run_seconds),
                          paying(figures, n), one.tree});
    if (options.uses)
      table.rows.back().insert(table.rows.back().begin() + 4, seconds(one.seconds(*options.uses)));
  }
  if (options.uses) table.right.push_back(4);
  return print(table) + refused;
}

Answer answer_of(const FormatsOptions& options, const client::ProblemText& text, const std::string& operand,
                 const std::vector<client::FormatFigures>& figures) {
  // Used for ever, the time of a run alone decides.
  constexpr double for_ever = 1e18;
  const std::string& best = figures[client::best_format(figures, options.uses.value_or(for_ever))].format;
  Answer answer;
  answer.text = text.expression + "   " + operand + " as\n" + table_of(options, figures) +
                (options.uses ? "least time for so many runs: " : "fastest to run: ") + best + "\n";
  answer.json = {{"expression", text.expression},
                 {"operand", operand},
                 {"uses", options.uses ? Json(*options.uses) : Json()},
                 {"best", best},
                 {"formats", client::formats_json(figures)}};
  return answer;
}

support::Result<Answer> compare(const FormatsOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(client::ProblemText text, problem_text(options.problem));
  SCHAAS_ASSIGN_OR_RETURN(TensorArguments arguments, tensor_arguments(options.tensors, text.value_type));
  SCHAAS_ASSIGN_OR_RETURN(const client::Selections program, take_ranges(arguments, text));
  arguments.formats = text.formats;
  SCHAAS_RETURN_IF_ERROR(check_names(arguments, program));
  ProgressLine progress;
  SCHAAS_ASSIGN_OR_RETURN(client::Operands operands, read_operands(arguments, program, progress));
  progress.clear();
  SCHAAS_ASSIGN_OR_RETURN(const std::string operand, compared_operand(options, operands));
  SCHAAS_ASSIGN_OR_RETURN(const client::Session session, open_session(options.server));
  if (text.position_bits != "auto") operands.position_bits = text.position_bits == "32" ? 32 : 64;
  text.position_bits = std::to_string(operands.position_bits);
  text.formats = format_texts(operands, arguments);
  SCHAAS_ASSIGN_OR_RETURN(client::Packed packed, client::pack_all(operands, program.program(),
                                                                  text.value_type, show_packing(progress)));
  progress.clear();
  std::map<std::string, client::PackedTensor*> given;
  for (const auto& one : operands.tensors) given[one.name] = &packed.tensors.at(one.name);

  client::FormatComparisonOptions comparison;
  comparison.formats = options.candidates;
  comparison.seconds = options.seconds;
  comparison.search.search = options.search;
  comparison.bind.threads = options.threads;
  for (const auto& [index, extent] : operands.extents) comparison.bind.extents[index] = extent;
  comparison.progress = [&](std::size_t ready, std::size_t of) {
    progress.show(ready < of ? "compiling for a format of " + operand : "measuring", ready, of);
  };
  SCHAAS_ASSIGN_OR_RETURN(const auto figures,
                          client::compare_formats(session, text, operand, given, comparison));
  progress.clear();
  return answer_of(options, text, operand, figures);
}

}  // namespace

void add_format_comparison(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<FormatsOptions>();
  CLI::App* command = program.add_subcommand(
      "formats", "Measure a statement with an operand stored in each of several formats");
  add_to(*command, options->problem);
  add_to(*command, options->search);
  add_to(*command, options->tensors);
  command->add_option("--of", options->of, "The operand (default: the only sparse one)")->type_name("NAME");
  command
      ->add_option("--candidate", options->candidates,
                   "A format to compare, may be repeated: --candidate csc (default: all usual ones)")
      ->type_name("FORMAT")
      ->allow_extra_args(false);
  command
      ->add_option("--uses", options->uses,
                   "How often the operand is used: the conversion counts once beside so many runs")
      ->check(CLI::Range(0.0, 1e18).description(""))
      ->type_name("N");
  command->add_option("--measure-seconds", options->seconds, "How long is measured, all formats together")
      ->check(CLI::Range(0.0, 86400.0).description(""))
      ->capture_default_str()
      ->type_name("SECONDS");
  command->add_option("--threads", options->threads, "Threads (default: all processors of this process)")
      ->check(CLI::Range(1, 4096).description(""))
      ->type_name("N");
  add_to(*command, options->server);
  command->callback([options, &chosen] { chosen = [options] { return compare(*options); }; });
}

}  // namespace schaas::cli
