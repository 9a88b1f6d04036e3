#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "client/cli/colour.h"
#include "client/cli/command_line.h"
#include "client/cli/figures.h"
#include "client/cli/problem_options.h"
#include "client/cli/table.h"
#include "compiler/support/instruction_set.h"
#include "proto/kernel_abi.h"
#include "schaas/fill.h"
#include "schaas/gpu.h"
#include "schaas/host.h"
#include "schaas/kernel_set.h"
#include "schaas/rates.h"

// schaas doctor: whether everything that a run needs is there, and what to do where it is not. Each check
// finds one fact, and gives a remedy where the fact is bad. A product is searched, compiled, and run, since
// nothing less shows that kernels work.
namespace schaas::cli {
namespace {

/// A check, its finding, and a remedy when the finding is bad.
struct Check {
  std::string name;
  enum class Verdict { good, advice, bad } verdict = Verdict::good;
  std::string found, advice;
};
const char* word(Check::Verdict verdict) {
  return verdict == Check::Verdict::good ? "ok" : verdict == Check::Verdict::advice ? "note" : "PROBLEM";
}

Ink ink_of(Check::Verdict verdict) {
  return verdict == Check::Verdict::good     ? Ink::good
         : verdict == Check::Verdict::advice ? Ink::careful
                                             : Ink::bad;
}

/// Checks that kernels for a GPU would be compiled and run.
Check check_gpu(client::Connection& server) {
  const auto gpu = client::Gpu::open();
  if (!gpu.ok()) return {"gpu", Check::Verdict::good, "none in reach: kernels run on the processor", ""};
  Check check{"gpu", Check::Verdict::good,
              gpu->name() + ", sm_" + std::to_string(gpu->architecture()) + ", " +
                  bytes(static_cast<double>(gpu->memory_bytes())),
              ""};
  // The least schedule for a GPU that the server must be able to compile.
  client::ScheduleRequest request;
  request.problem.expression = "y(i) = B(i,j) * x(j)";
  request.problem.formats = {{"B", "csr"}};
  request.problem.position_bits = "32";
  request.isa = support::gpu_isa;
  request.traces = {"threads(loop=i, each=1)"};
  request.traces_only = true;
  const auto answer = server.schedule(request);
  if (answer.ok() && !answer->kernels.empty()) return check;
  check.verdict = Check::Verdict::advice;
  check.found += ", but the server compiles no kernels for it";
  check.advice = "install the CUDA toolkit, nvcc or the library NVRTC, where schaasd runs";
  if (!answer.ok()) check.advice += "; it says: " + answer.error().message;
  return check;
}

// Checks that the user may write to the data directory, and nobody else.
Check check_data_directory(const std::string& directory) {
  Check check{"data directory", Check::Verdict::good, directory, ""};
  struct stat status {};
  if (stat(directory.c_str(), &status) != 0) {
    check.verdict = Check::Verdict::advice;
    check.found += " is not there";
    check.advice = "a private server or `schaas calibrate` makes it; set XDG_DATA_HOME to put it elsewhere";
  } else if (access(directory.c_str(), R_OK | W_OK | X_OK) != 0) {
    check.verdict = Check::Verdict::bad;
    check.found += " may not be written";
    check.advice = "chown or chmod it, or set XDG_DATA_HOME";
  } else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    check.verdict = Check::Verdict::advice;
    check.found += " may be written by others";
    check.advice = "chmod go-w " + directory;
  }
  return check;
}

/// Checks the client's cache, which is used only when no other user may write there.
Check check_cache(const std::string& directory) {
  Check check{"client cache", Check::Verdict::good, directory, ""};
  std::error_code error;
  std::uintmax_t held = 0;
  for (std::filesystem::recursive_directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    if (std::error_code gone; at->is_regular_file(gone)) held += at->file_size(gone);
  }
  struct stat status {};
  if (directory.empty() || stat(directory.c_str(), &status) != 0) {
    check.found += " is empty";
  } else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 || status.st_uid != geteuid()) {
    check.verdict = Check::Verdict::advice;
    check.found += " belongs to others or may be written by them, so it is not used";
    check.advice = "chmod go-w " + directory + ", or set XDG_CACHE_HOME";
  } else {
    check.found += " holds " + bytes(static_cast<double>(held));
  }
  return check;
}

Check check_versions(const client::ServerInfo& info) {
  Check check{"versions", Check::Verdict::good,
              "server " + info.version + ", kernel ABI " + std::to_string(info.abi_version), ""};
  if (info.abi_version != SCHAAS_KERNEL_ABI_VERSION) {
    check.verdict = Check::Verdict::bad;
    check.found += "; this program runs ABI " + std::to_string(SCHAAS_KERNEL_ABI_VERSION);
    check.advice = "install client and server of one version; a private server is replaced by stopping it (" +
                   std::string("it ends by itself when idle)");
  }
  return check;
}

Check check_isolation(const client::ServerInfo& info) {
  Check check{"isolation", Check::Verdict::good, "compilers are kept from " + info.isolation, ""};
  if (info.isolation == "files, signals, network") return check;
  check.verdict = Check::Verdict::advice;
  check.advice = "the server's kernel does not offer the rest: Linux 6.12 has all of it";
  // Landlock restricts files from Linux 5.13 on, signals from 6.12 on.
  return check;
}

Check check_instructions(const client::ServerInfo& info) {
  const std::string isa = client::host_isa();
  Check check{"instructions", Check::Verdict::good, "this processor runs " + isa, ""};
  const bool known = std::find(info.isas.begin(), info.isas.end(), isa) != info.isas.end();
  if (known) return check;
  check.verdict = Check::Verdict::bad;
  check.found += ", which the server does not compile for";
  check.advice = "use a server on a machine of this kind, or `--isa generic`";
  return check;
}

Check check_rates(const std::string& directory) {
  Check check{"calibration", Check::Verdict::good, "stored in " + directory, ""};
  if (std::filesystem::exists(directory + "/rates")) return check;
  check.verdict = Check::Verdict::advice;
  check.found = "selections go by figures of another machine";
  check.advice = "run `schaas calibrate` once";
  return check;
}

/// Searched, compiled, loaded and run, as a user's product would be.
support::Result<std::string> computed(const client::Session& session) {
  client::ProblemText text;
  text.expression = "y(i) = B(i,j) * x(j)";
  text.formats = {{"B", "csr"}};
  text.position_bits = "32";
  SCHAAS_ASSIGN_OR_RETURN(const auto kernels, client::KernelSet::open(session, text));
  client::CooTensor entries{{2, 2}, {{0, 1}, {1, 0}}, {2, 3}}, vector{{2}, {{0, 1}}, {5, 7}};
  SCHAAS_ASSIGN_OR_RETURN(const auto csr, format::parse("csr", 2, "B"));
  SCHAAS_ASSIGN_OR_RETURN(client::PackedTensor b,
                          client::pack(entries, csr, {"B", client::ValueType::f64, 32}));
  SCHAAS_ASSIGN_OR_RETURN(client::PackedTensor x,
                          client::pack(vector, format::dense(1), {"x", client::ValueType::f64, 32}));
  SCHAAS_ASSIGN_OR_RETURN(auto product, kernels.bind({{"B", &b}, {"x", &x}}));
  SCHAAS_RETURN_IF_ERROR(product.run());
  // (0 2; 3 0) * (5, 7) = (14, 15): exact in every order of additions.
  if (product.result().value(0) != 14 || product.result().value(1) != 15)
    return support::internal("wrong-result", "the product of a 2 x 2 matrix is wrong");
  return "a product was compiled and is right (" + product.kernel().isa + ")";
}

Check check_compiler(const client::ServerInfo& info) {
  if (info.compiler_error.empty()) return {"compiler", Check::Verdict::good, info.toolchain, ""};
  return {"compiler", Check::Verdict::bad, info.compiler_error,
          "install gcc, or clang, with the headers of C where schaasd runs"};
}

/// Returns the remedies of the error, else where to look further.
std::string remedy(const support::Diagnostic& error) {
  std::string advice;
  for (const auto& note : error.notes) advice += (advice.empty() ? "" : "; ") + note;
  return advice.empty() ? "the log of schaasd says more; it is in its data directory" : advice;
}

Check check_kernel(const client::Session& session) {
  const auto outcome = computed(session);
  if (outcome.ok()) return {"kernels", Check::Verdict::good, *outcome, ""};
  return {"kernels", Check::Verdict::bad, outcome.error().message, remedy(outcome.error())};
}

// Makes all checks. One product is computed through the session, so a missing compiler shows.
std::vector<Check> examine(const ServerOptions& options) {
  const std::string directory = client::default_data_directory();
  std::vector<Check> checks;
  auto connection = connect(options);
  if (!connection.ok()) {
    checks.push_back({"server", Check::Verdict::bad, connection.error().message, remedy(connection.error())});
    // Without a server no other check is possible.
    return checks;
  }
  const auto server = std::make_shared<client::Connection>(*std::move(connection));
  const client::Session session(server);
  checks.push_back({"server", Check::Verdict::good, server->address(), ""});
  if (const auto info = server->info(); info.ok()) {
    checks.push_back(check_versions(*info));
    checks.push_back(check_compiler(*info));
    checks.push_back({"compiler for GPUs", Check::Verdict::good, info->gpu_toolchain, ""});
    checks.push_back(check_isolation(*info));
    checks.push_back(check_instructions(*info));
  } else {
    checks.push_back(
        {"versions", Check::Verdict::bad, info.error().message, "install client and server of one version"});
  }
  checks.push_back(check_kernel(session));
  checks.push_back(check_gpu(*server));
  checks.push_back(check_data_directory(directory));
  checks.push_back(check_cache(client::default_cache_directory()));
  checks.push_back(check_rates(directory));
  return checks;
}

support::Result<Answer> doctor(const ServerOptions& options) {
  const std::vector<Check> checks = examine(options);
  Answer answer;
  Table table;
  std::size_t problems = 0;
  answer.json = {{"checks", Json::array()}};
  for (const Check& check : checks) {
    if (check.verdict == Check::Verdict::bad) ++problems;
    table.rows.push_back({check.name, painted(ink_of(check.verdict), word(check.verdict)), check.found});
    if (!check.advice.empty()) table.rows.push_back({"", "", "-> " + check.advice});
    answer.json["checks"].push_back({{"name", check.name},
                                     {"verdict", word(check.verdict)},
                                     {"found", check.found},
                                     {"advice", check.advice}});
  }
  answer.json["problems"] = problems;
  answer.text = print(table);
  if (problems > 0)
    answer.failure = support::unreachable("doctor", counted(problems, "problem", "problems") + " found");
  return answer;
}

}  // namespace

void add_doctor(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<ServerOptions>();
  CLI::App* command =
      program.add_subcommand("doctor", "Check everything a run needs, and say what to do where it is not so");
  add_to(*command, *options);
  command->callback([options, &chosen] { chosen = [options] { return doctor(*options); }; });
}

}  // namespace schaas::cli
