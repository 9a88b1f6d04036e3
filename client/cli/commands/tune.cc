#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <thread>

#include "client/cli/command_line.h"
#include "client/cli/figures.h"
#include "client/cli/problem_options.h"

// schaas tune: measures on this machine what a file lists, or one part of it, as `schaas run --tune` does.
// Each line holds the words of a run, so a line is read by the options of that command. A line that fails is
// told and the others are measured; servers keep what was measured, so a part may be done again.
namespace schaas::cli {
namespace {

using support::Result;

struct TuneOptions {
  ServerOptions server;
  std::string file, part = "1/1";
  bool exclusive = false;
};

/// The share of the lines: every `count`-th, from the `number`-th on.
struct Part {
  std::size_t number = 1, count = 1;
};

Result<Part> parse_part(const std::string& text) {
  Part part;
  int read = 0;
  const bool fits = std::sscanf(text.c_str(), "%zu/%zu%n", &part.number, &part.count, &read) == 2 &&
                    static_cast<std::size_t>(read) == text.size();
  if (fits && part.number >= 1 && part.number <= part.count) return part;
  return support::invalid("part",
                          "`--part " + text + "` is no part; expected NUMBER/COUNT, as 1/16 to 16/16");
}

/// Returns the lines that hold runs, without comments and empty ones.
Result<std::vector<std::string>> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin != std::string::npos && line[begin] != '#') lines.push_back(line);
  }
  if (!lines.empty()) return lines;
  return support::invalid("tune-file", "`" + path + "` cannot be read, or lists no run");
}

/// Refuses a machine on which others work: what is measured there is no measurement.
Result<void> check_alone() {
  std::ifstream file("/proc/loadavg");
  double load = 0;
  const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
  // Half a processor is what a machine at rest has at most.
  if (!(file >> load) || load < 0.5) return {};
  return support::noting(
      support::exhausted("not-alone", "the load of this machine is " + rounded(load) + " of " +
                                          counted(processors, "processor", "processors") +
                                          ": others work beside what would be measured"),
      "take the whole node (sbatch --exclusive), wait, or leave --exclusive out");
}

/// Runs the command that a line holds, with what every line has in common.
Result<Answer> run_line(const std::string& line, const TuneOptions& options) {
  CLI::App program("schaas");
  Action action;
  add_run(program, action);
  std::vector<std::string> words = CLI::detail::split_up("run " + line + " --tune");
  if (options.exclusive) words.push_back("--tune-exclusive");
  const ServerOptions& server = options.server;
  const std::pair<const char*, const std::string*> common[] = {
      {"--server", &server.address},    {"--server-key", &server.key},  {"--tls-ca", &server.tls_ca},
      {"--tls-cert", &server.tls_cert}, {"--tls-key", &server.tls_key}, {"--token-file", &server.token_file}};
  for (const auto& [option, value] : common)
    if (!value->empty()) words.insert(words.end(), {option, *value});
  std::reverse(words.begin(), words.end());  // as the library takes them
  try {
    program.parse(words);
  } catch (const CLI::ParseError& error) {
    return command_line_error(program, error);
  }
  return action();
}

Result<Answer> tune(const TuneOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(const Part part, parse_part(options.part));
  SCHAAS_ASSIGN_OR_RETURN(const auto lines, lines_of(options.file));
  Answer answer;
  answer.json = {{"part", options.part}, {"runs", Json::array()}};
  std::size_t measured = 0, failed = 0;
  for (std::size_t n = part.number - 1; n < lines.size(); n += part.count) {
    if (options.exclusive && measured == 0) SCHAAS_RETURN_IF_ERROR(check_alone());
    const auto ran = run_line(lines[n], options);
    ++(ran.ok() ? measured : failed);
    answer.text += lines[n] + "\n";
    answer.text += ran.ok() ? ran->text : support::render(ran.error()) + "\n";
    Json one = ran.ok() ? ran->json : error_object(ran.error());
    answer.json["runs"].push_back({{"line", lines[n]}, {"result", std::move(one)}});
  }
  answer.text += counted(measured, "run", "runs") + " measured of part " + options.part + "\n";
  answer.json["measured"] = measured;
  answer.json["failed"] = failed;
  if (failed > 0)
    answer.failure =
        support::invalid("tune-failed", counted(failed, "run", "runs") + " could not be measured");
  return answer;
}

}  // namespace

void add_tune(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<TuneOptions>();
  CLI::App* command = program.add_subcommand(
      "tune", "Measure on this machine what a file lists, one line with the words of `schaas run` for each");
  command
      ->add_option("FILE", options->file,
                   "Lines such as: 'A(i,k) = B(i,j) * C(j,k)' -f B=csr -t B=matrix.mtx -d k=64")
      ->required();
  command
      ->add_option("--part", options->part,
                   "Which part of the lines, of how many: 3/16 takes every sixteenth from the third")
      ->capture_default_str()
      ->type_name("NUMBER/COUNT");
  command->add_flag("--exclusive", options->exclusive,
                    "Refuse where others work on this machine; other measurements do not replace these");
  add_to(*command, options->server);
  command->callback([options, &chosen] { chosen = [options] { return tune(*options); }; });
}

}  // namespace schaas::cli
