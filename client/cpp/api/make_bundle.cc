#include <algorithm>
#include <set>

#include "client/cpp/api/bundle_state.h"
#include "client/cpp/platform/client_version.h"
#include "client/cpp/remote/bundle_file.h"
#include "client/cpp/tensor_io/file_sink.h"
#include "compiler/support/instruction_set.h"
#include "proto/kernel_abi.h"
#include "schaas/host.h"

// Makes bundles. The server is asked for each instruction set and width of positions, each binary is
// downloaded once, and the file is written at the end. Each answer is checked as a reader will check it, so a
// file that was written can be opened. Measurements are left out, as they are of this host, and so are
// removed classes, which runs do not need.
namespace schaas::client {
namespace {

// Without a wish: all instruction sets of this processor's family that the server compiles for.
std::vector<std::string> isas_for(const BundleRequest& request, const ServerInfo& info) {
  std::vector<std::string> isas;
  for (const std::string& isa : request.isas) isas.push_back(isa_for(isa));
  if (!isas.empty()) return isas;
  const auto is_x86 = [](const std::string& isa) {
    const support::InstructionSet* found = support::find_instruction_set(isa);
    return found != nullptr && found->x86;
  };
  if (!is_x86(host_isa())) return {host_isa()};
  std::copy_if(info.isas.begin(), info.isas.end(), std::back_inserter(isas), is_x86);
  return isas;
}

/// Lists the widths of positions to make; a problem without positions has one.
std::vector<std::string> widths_for(const ProblemText& problem) {
  if (problem.position_bits != "auto") return {problem.position_bits};
  const bool sparse = std::any_of(problem.formats.begin(), problem.formats.end(), [](const auto& given) {
    return given.second.find_first_not_of("dense, :0123456789") != std::string::npos;
  });
  return sparse ? std::vector<std::string>{"32", "64"} : std::vector<std::string>{"32"};
}

class Maker {
 public:
  Maker(Connection& connection, const BundleRequest& request,
        const std::function<void(const ScheduleEvent&)>& listener)
      : connection_(connection), request_(request), listener_(listener) {}

  support::Result<BundleSummary> make(const std::string& path) {
    SCHAAS_ASSIGN_OR_RETURN(const ServerInfo info, connection_.info());
    header_.made_by = "schaas " + client_version();
    header_.abi_version = SCHAAS_KERNEL_ABI_VERSION;
    header_.server = "schaasd " + info.version + ", " + info.toolchain;
    header_.created = utc_now();
    header_.binaries = true;
    for (const std::string& bits : widths_for(request_.problem)) {
      for (const std::string& isa : isas_for(request_, info)) SCHAAS_RETURN_IF_ERROR(add(bits, isa, path));
    }
    SCHAAS_ASSIGN_OR_RETURN(FileSink sink, FileSink::create(path));
    const std::string text = bundle_text(header_, binaries_);
    sink.write(std::string_view(text));
    SCHAAS_RETURN_IF_ERROR(sink.close());
    summary_.bytes = text.size();
    return std::move(summary_);
  }

 private:
  support::Result<void> add(const std::string& bits, const std::string& isa, const std::string& path) {
    ScheduleRequest request;
    request.problem = request_.problem;
    request.problem.position_bits = bits;
    request.search = request_.search;
    request.isa = isa;
    request.kernels = request_.kernels;
    request.traces = request_.traces;
    SCHAAS_ASSIGN_OR_RETURN(ScheduleAnswer answer,
                            connection_.schedule(request, [this](const ScheduleEvent& event) {
                              if (listener_) listener_(event);
                              return true;
                            }));
    if (answer.kernels.empty())
      return support::internal("no-kernel", "the server answered without a kernel for " + isa);
    BundledAnswer bundled{request.problem, isa, answer.frontier, answer.kernels, connection_.public_key()};
    bundled.frontier.removals.clear();
    bundled.frontier.measurements.clear();  // measured on this host
    for (const KernelInfo& kernel : answer.kernels) SCHAAS_RETURN_IF_ERROR(add_binary(kernel));
    header_.answers.push_back(bundled);
    SCHAAS_RETURN_IF_ERROR(check_answer(bundled, path));
    summary_.answers.push_back(std::move(bundled));
    summary_.failures.insert(summary_.failures.end(), answer.failures.begin(), answer.failures.end());
    return {};
  }

  support::Result<void> add_binary(const KernelInfo& kernel) {
    if (!known_.insert(kernel.digest.sha256).second) return {};
    SCHAAS_ASSIGN_OR_RETURN(std::string binary, connection_.download(kernel));
    binaries_.push_back(std::move(binary));
    return {};
  }

  Connection& connection_;
  const BundleRequest& request_;
  const std::function<void(const ScheduleEvent&)>& listener_;
  AnswerFile header_;
  std::vector<std::string> binaries_;
  std::set<std::string> known_;
  BundleSummary summary_;
};

}  // namespace

support::Result<BundleSummary> make_bundle(Connection& connection, const BundleRequest& request,
                                           const std::string& path,
                                           const std::function<void(const ScheduleEvent&)>& listener) {
  return Maker(connection, request, listener).make(path);
}

}  // namespace schaas::client
