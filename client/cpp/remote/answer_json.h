#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/result.h"
#include "schaas/bundled_answer.h"

/// Answers as JSON, in the form that Protocol Buffers give schaas.v1.Bundle (proto/schaas/v1/bundle.proto).
/// Names of fields are the same, numbers of 64 bits are strings, and zeros and empty values are left out.
/// Unknown fields are ignored: a newer version wrote them.
namespace schaas::client {

/// A file of answers.
struct AnswerFile {
  std::string made_by;            ///< "schaas 0.1.0"
  std::uint32_t abi_version = 0;  ///< version of the kernels: proto/kernel_abi.h
  std::string server;             ///< version and toolchain of the server that compiled them
  std::string created;            ///< UTC, ISO 8601
  std::vector<BundledAnswer> answers;
  bool binaries = false;  ///< the binaries follow, in the order in which `answers` names them first
};

std::string json_of(const AnswerFile& file);
/// Errors: invalid [answer-json]: its message says why.
support::Result<AnswerFile> answers_of_json(std::string_view json);
/// The text by which a problem and how it is searched differ from others.
std::string json_of(const ProblemText& problem, const SearchOptions& search);

/// Selection can rely on the frontier: numbers of loops, phases and threads are within those of schedules.
bool is_sound(const Frontier& frontier);

}  // namespace schaas::client
