#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "client/cpp/remote/answer_json.h"
#include "compiler/support/result.h"

/// The layout of a file of answers (docs/file_formats.md): a line that says what follows and has its digest,
/// the header as JSON, the binaries.
namespace schaas::client {

std::string bundle_text(const AnswerFile& header, const std::vector<std::string>& binaries);

struct BundleHeader {
  AnswerFile header;
  std::size_t end = 0;  ///< beginning of the binaries
};
/// `path` for messages. Nothing of the header is looked at before its digest is right. Errors: invalid
/// [bundle-format] (another file), [bundle-damaged]; unsupported [bundle-version] (of the layout),
/// [bundle-abi] (its kernels cannot run here).
support::Result<BundleHeader> read_bundle_header(std::string_view bytes, const std::string& path);

/// Checks an answer from a file as one from a server: against the problem that it names, and its kernels'
/// signatures against its key. Errors: invalid [bundle-damaged], [answer-mismatch], [answer-signature],
/// [kernel-signature]; those of canonical_form.
support::Result<void> check_answer(BundledAnswer& answer, const std::string& path);

support::Diagnostic damaged_bundle(const std::string& path, const std::string& what);

}  // namespace schaas::client
