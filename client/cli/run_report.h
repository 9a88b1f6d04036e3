#pragma once
#include <optional>
#include <string>
#include <vector>

#include "client/cli/answer.h"
#include "client/cli/verify.h"
#include "schaas/choose.h"
#include "schaas/kernel.h"
#include "schaas/operands.h"

namespace schaas::cli {

/// Everything `schaas run` found out.
struct RunFacts {
  std::string expression;
  std::string target;
  client::ValueType value_type = client::ValueType::f64;
  client::Program program;
  const client::Operands* operands = nullptr;
  client::Sizes sizes;
  client::Machine machine;
  client::Choice choice;
  std::string server_address, server_notice;
  bool server_started = false;
  int threads = 1;
  std::string device;               ///< the GPU that ran it; "": the processor
  std::int64_t result_entries = 0;  ///< stored by the result
  std::int64_t scratch_bytes =
      0;  ///< temporaries as allocated: all threads together, shared ones, what threads fold into
  std::vector<client::CopiedOperand> copies;  ///< operands that the kernel reads as copies in another storage
  std::vector<std::string> arguments;         ///< by argument: its name
  std::string kernel_format;  ///< the result by its kernel, where it is stored in another format; else ""
  double store_seconds = 0;   ///< to bring it there, once
  std::vector<double> run_seconds;  ///< at least one
  double read_seconds = 0, pack_seconds = 0, first_result_seconds = 0;
  std::uint64_t seed = 1;
  std::optional<Verification> verification;
  std::string written;  ///< the file of -o
};

double median(std::vector<double> values);

/// One screen for people and the JSON object of docs/command_line.md.
support::Result<Answer> report(const RunFacts& facts);

}  // namespace schaas::cli
