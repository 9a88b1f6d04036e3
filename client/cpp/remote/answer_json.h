#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/result.h"
#include "schaas/bundled_answer.h"

/// Answers as JSON, in the form that Protocol Buffers give schaas.v1.Bundle (proto/schaas/v1/bundle.proto):
/// names of fields as they are there, numbers of 64 bits as strings, and what is zero or empty left out. A
/// field that is not known is passed over: a newer version wrote it.
namespace schaas::client {

/// A file of answers.
struct AnswerFile {
  std::string made_by;            ///< "schaas 0.1.0"
  std::uint32_t abi_version = 0;  ///< of the kernels: proto/kernel_abi.h
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

/// Whether selection can rely on it: numbers of loops, phases and threads within what schedules have.
bool is_sound(const Frontier& frontier);

}  // namespace schaas::client
