#include "client/cpp/remote/bundle_file.h"

#include <charconv>

#include "client/cpp/remote/question.h"
#include "compiler/support/digest.h"
#include "proto/kernel_abi.h"

// A bundle's text: one line with the layout, the header's length, and its digest; the header as JSON; the
// binaries. A reader looks at nothing before its length and its digest are right. Digests find damage, not
// malice: signatures do that (check_answer).
namespace schaas::client {
namespace {

constexpr std::string_view magic = "schaas bundle ";
constexpr int layout = 2;
// Two numbers and a digest are shorter.
constexpr std::size_t max_first_line = 128;

/// "schaas bundle LAYOUT BYTES SHA256"
struct FirstLine {
  std::uint64_t layout = 0, bytes = 0;
  std::string_view sha256;
  std::size_t end = 0;
};

// Takes a number and the blank behind it.
bool take_number(std::string_view& text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() + text.size() || *end != ' ') return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

support::Diagnostic other_layout(const std::string& path, std::uint64_t found) {
  return support::noting(
      support::unsupported("bundle-version", path + " has layout " + std::to_string(found) +
                                                 ", this program reads layout " + std::to_string(layout)),
      "read it with the version of schaas that made it, or make it again with `schaas bundle`");
}

// The line ends with a digest of 64 digits and a newline.
support::Result<FirstLine> read_first_line(std::string_view bytes, const std::string& path) {
  if (!bytes.starts_with(magic)) {
    return support::invalid("bundle-format",
                            path + " is no bundle: it does not begin with `" + std::string(magic) + "`");
  }
  FirstLine line;
  std::string_view rest = bytes.substr(magic.size(), max_first_line);
  if (!take_number(rest, line.layout)) return damaged_bundle(path, "its first line cannot be read");
  if (line.layout != layout) return other_layout(path, line.layout);
  if (!take_number(rest, line.bytes) || rest.size() < 65 || rest[64] != '\n' ||
      !support::is_sha256_hex(rest.substr(0, 64)))
    return damaged_bundle(path, "its first line cannot be read");
  line.sha256 = rest.substr(0, 64);
  line.end = static_cast<std::size_t>(rest.data() - bytes.data()) + 65;
  return line;
}

support::Result<void> check_abi(const AnswerFile& header, const std::string& path) {
  if (header.abi_version == SCHAAS_KERNEL_ABI_VERSION) return {};
  return support::noting(
      support::unsupported("bundle-abi", path + " has kernels of ABI version " +
                                             std::to_string(header.abi_version) + ", made by " +
                                             header.made_by + "; this program runs version " +
                                             std::to_string(SCHAAS_KERNEL_ABI_VERSION)),
      "make it again with `schaas bundle` of this version");
}

}  // namespace

support::Diagnostic damaged_bundle(const std::string& path, const std::string& what) {
  return support::noting(support::invalid("bundle-damaged", path + " is damaged: " + what),
                         "copy it anew, or make it again with `schaas bundle`");
}

std::string bundle_text(const AnswerFile& header, const std::vector<std::string>& binaries) {
  const std::string json = json_of(header) + '\n';
  const auto digest = support::digest_of(json);
  std::string text = std::string(magic) + std::to_string(layout) + ' ' + std::to_string(digest.bytes) + ' ' +
                     digest.sha256 + '\n' + json;
  for (const std::string& binary : binaries) text += binary;
  return text;
}

support::Result<BundleHeader> read_bundle_header(std::string_view bytes, const std::string& path) {
  SCHAAS_ASSIGN_OR_RETURN(const FirstLine line, read_first_line(bytes, path));
  // `line.end` lies inside the bytes, so the difference does not wrap around.
  if (bytes.size() - line.end < line.bytes) {
    return damaged_bundle(path, "it ends after " + std::to_string(bytes.size()) +
                                    " bytes, within its header of " + std::to_string(line.bytes));
  }
  const std::string_view json = bytes.substr(line.end, line.bytes);
  if (support::digest_of(json).sha256 != line.sha256)
    return damaged_bundle(path, "its header is not what was written");
  auto header = answers_of_json(json);
  if (!header.ok()) return damaged_bundle(path, "its header cannot be read: " + header.error().message);
  BundleHeader read{std::move(header).value(), line.end + line.bytes};
  SCHAAS_RETURN_IF_ERROR(check_abi(read.header, path));
  return read;
}

// An answer from a file is checked as one from the network. The problem's canonical form is derived here, and
// the answer must agree with it.
support::Result<void> check_answer(BundledAnswer& answer, const std::string& path) {
  const auto key = support::PublicKey::parse(answer.public_key);
  if (!key.ok()) return damaged_bundle(path, "it does not say who signed it");
  if (!is_sound(answer.frontier)) return damaged_bundle(path, "a schedule has loops that no schedule has");
  SCHAAS_ASSIGN_OR_RETURN(const problem::Canonical asked, canonical_form(answer.problem));
  SCHAAS_RETURN_IF_ERROR(check_frontier(answer.frontier, asked, file_at(path)));
  SCHAAS_RETURN_IF_ERROR(check_problem_signature(answer.problem, answer.frontier, *key, file_at(path)));
  for (KernelInfo& kernel : answer.kernels) {
    if (!support::is_sha256_hex(kernel.digest.sha256)) return damaged_bundle(path, "a kernel has no digest");
    kernel.problem_key = asked.key;
    SCHAAS_RETURN_IF_ERROR(check_signature(kernel, *key, file_at(path)));
    kernel.hit = true;
  }
  answer.frontier.hit = true;
  return {};
}

}  // namespace schaas::client
