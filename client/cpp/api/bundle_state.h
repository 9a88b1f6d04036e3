#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/cpp/remote/answer_json.h"
#include "schaas/bundle.h"

namespace schaas::client {

struct Bundle::State {
  std::string path, address;
  std::string bytes;  ///< contents of the file
  AnswerFile header;
  std::map<std::string, std::string_view> binaries;  ///< by digest, within bytes
};

std::shared_ptr<KernelSource> source_of(std::shared_ptr<const Bundle::State> state);
/// "`what` not in FILE", with what is.
support::Diagnostic not_in_bundle(const Bundle::State& state, const std::string& what);

/// Kernels for one problem serve the other: the same statements, formats, types and widths. Limits of the
/// search take no part: it has been done.
bool same_kernels(const ProblemText& a, const ProblemText& b);

}  // namespace schaas::client
