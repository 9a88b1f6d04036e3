#include "schaas/bundle.h"

#include <algorithm>
#include <map>
#include <new>
#include <set>
#include <utility>

#include "client/cpp/api/bundle_state.h"
#include "client/cpp/remote/bundle_file.h"
#include "client/cpp/remote/server_key.h"
#include "client/cpp/tensor_io/file_source.h"

// Bundles: a file of answers with their kernels. All of it is read and compared when it is opened. The header
// and each binary must have their digests, each answer its problem and signature, and nothing may follow.
// Later calls find everything in memory and fail for no reason of the file. `binaries` are views into
// `bytes`, so the state is shared and never copied.
namespace schaas::client {
namespace {

// Grows by a mebibyte at a time: a compressed file or a pipe does not tell its size.
support::Result<std::string> whole_file(const std::string& path) {
  SCHAAS_ASSIGN_OR_RETURN(FileSource source, FileSource::open(path));
  std::string bytes;
  std::size_t filled = 0;
  do {
    bytes.resize(filled + (std::size_t{1} << 20));
    SCHAAS_ASSIGN_OR_RETURN(const std::size_t more,
                            source.read(bytes.data() + filled, bytes.size() - filled));
    filled += more;
    if (more == 0) break;
  } while (true);
  bytes.resize(filled);
  return bytes;
}

support::Result<void> read_binaries(Bundle::State& state, std::size_t at) {
  const std::string_view bytes = state.bytes;
  for (const BundledAnswer& answer : state.header.answers) {
    for (const KernelInfo& kernel : answer.kernels) {
      const support::Digest& digest = kernel.digest;
      if (state.binaries.count(digest.sha256) != 0) continue;
      // `at` never passes the end, so the difference does not wrap around.
      if (bytes.size() - at < digest.bytes) {
        return damaged_bundle(state.path, "it ends after " + std::to_string(bytes.size()) +
                                              " bytes, within the kernel " + kernel.id + " for " +
                                              answer.isa);
      }
      const std::string_view binary = bytes.substr(at, digest.bytes);
      if (support::digest_of(binary) != digest) {
        return damaged_bundle(state.path,
                              "its kernel " + kernel.id + " for " + answer.isa + " is not what was written");
      }
      state.binaries.emplace(digest.sha256, binary);
      at += digest.bytes;
    }
  }
  if (at == bytes.size()) return {};
  return damaged_bundle(state.path, std::to_string(bytes.size() - at) + " bytes follow its end");
}

support::Result<std::shared_ptr<const Bundle::State>> read_state(const std::string& path) {
  auto state = std::make_shared<Bundle::State>();
  state->path = path;
  state->address = "bundle:" + path;
  SCHAAS_ASSIGN_OR_RETURN(state->bytes, whole_file(path));
  SCHAAS_ASSIGN_OR_RETURN(BundleHeader read, read_bundle_header(state->bytes, path));
  state->header = std::move(read.header);
  for (BundledAnswer& answer : state->header.answers) SCHAAS_RETURN_IF_ERROR(check_answer(answer, path));
  if (state->header.answers.empty() || !state->header.binaries)
    return damaged_bundle(path, "it holds no kernels");
  SCHAAS_RETURN_IF_ERROR(read_binaries(*state, read.end));
  return std::shared_ptr<const Bundle::State>(std::move(state));
}

// The file names the key that signed it, which anybody could write: whose key it must be, the user says.
support::Result<void> check_signer(const Bundle::State& state, const std::string& server_key) {
  SCHAAS_ASSIGN_OR_RETURN(const auto expected, wanted_key(server_key));
  if (!expected) return {};
  for (const BundledAnswer& answer : state.header.answers) {
    if (answer.public_key == expected->text()) continue;
    return support::noting(
        support::unreachable("bundle-key", "the kernels of " + state.path + " are signed by " +
                                               answer.public_key + ", expected " + expected->text()),
        "nothing of it was loaded; ask who gave it to you for one that this server made");
  }
  return {};
}

}  // namespace

support::Result<Bundle> Bundle::open(const std::string& path, const std::string& server_key) {
  try {
    SCHAAS_ASSIGN_OR_RETURN(auto state, read_state(path));
    SCHAAS_RETURN_IF_ERROR(check_signer(*state, server_key));
    return Bundle(std::move(state));
  } catch (const std::bad_alloc&) {
    return support::exhausted("memory", "there is not enough memory to read " + path);
  }
}

const std::string& Bundle::path() const { return state_->path; }
const std::string& Bundle::made_by() const { return state_->header.made_by; }
const std::string& Bundle::server() const { return state_->header.server; }
const std::string& Bundle::created() const { return state_->header.created; }
const std::vector<BundledAnswer>& Bundle::answers() const { return state_->header.answers; }
std::shared_ptr<KernelSource> Bundle::source() const { return source_of(state_); }

// A width of 0 takes the first answer of any width.
support::Result<KernelSet> Bundle::kernels(int position_bits, KernelSetOptions options) const {
  const std::string wanted = std::to_string(position_bits);
  for (const BundledAnswer& answer : state_->header.answers) {
    if (position_bits != 0 && answer.problem.position_bits != wanted) continue;
    return KernelSet::open(Session(source()), answer.problem, std::move(options));
  }
  return not_in_bundle(*state_, "positions of " + wanted + " bits are");
}

}  // namespace schaas::client
