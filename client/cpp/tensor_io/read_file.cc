#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "client/cpp/platform/allocate.h"
#include "client/cpp/tensor/tensor_checks.h"
#include "client/cpp/tensor_io/compression.h"
#include "client/cpp/tensor_io/file_readers.h"
#include "compiler/support/nearest_name.h"

// The kind of a tensor file: told by the ending of its name, of streams by the first bytes. Files without a
// known ending are refused, since text of any kind could pass for FROSTT. This file also has the messages
// that all readers share.
namespace schaas::client {

namespace {

/// A pipe, a device or a name of a descriptor: there is no ending to expect.
bool is_stream(const std::string& path) {
  if (path == "-") return true;
  for (const char* folder : {"/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/"})
    if (path.starts_with(folder)) return true;
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

// Enough bytes for the longest mark; a shorter file is looked at as far as it goes.
support::Result<FileKind> kind_of_content(FileSource& source) {
  SCHAAS_ASSIGN_OR_RETURN(const std::string_view first, source.peek(14));
  if (first.starts_with("\x93NUMPY")) return FileKind::npy;
  if (first.starts_with("PK\x03\x04")) return FileKind::npz;
  return first.starts_with("%%") ? FileKind::matrix_market : FileKind::frostt;
}

}  // namespace

bool is_standard_input(const std::string& path) {
  return path == "-" || path == "/dev/stdin" || path == "/dev/fd/0" || path == "/proc/self/fd/0";
}
bool is_standard_output(const std::string& path) {
  return path == "-" || path == "/dev/stdout" || path == "/dev/fd/1" || path == "/proc/self/fd/1";
}

support::Result<FileKind> kind_of(const std::string& path) {
  // The ending of a compression is taken off first, and a dot in a folder's name does not count.
  const std::string name(without_compression(std::string_view(path).substr(path.rfind('/') + 1)));
  const std::size_t dot = name.rfind('.');
  const std::string ending = dot == std::string::npos ? "" : name.substr(dot);
  if (ending == ".mtx") return FileKind::matrix_market;
  if (ending == ".tns") return FileKind::frostt;
  if (ending == ".npy") return FileKind::npy;
  if (ending == ".npz") return FileKind::npz;
  if (is_stream(path)) return FileKind::by_content;
  const std::string found = ending.empty() ? "no ending" : "the ending `" + ending + "`";
  return support::noting(
      support::invalid("file-ending", path + " has " + found +
                                          support::did_you_mean(ending, {".mtx", ".tns", ".npy", ".npz"})),
      "known are .mtx, .tns, .npy and .npz, each also with .gz, .bz2 or .xz; `-` is standard input or "
      "output");
}

const std::vector<std::int64_t>& extents_of(const TensorData& data) {
  return std::visit([](const auto& tensor) -> const std::vector<std::int64_t>& { return tensor.extents; },
                    data);
}

support::Result<TensorData> read(const std::string& path, const ReadOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(FileKind kind, kind_of(path));
  // Readers allocate with exceptions where the size is bounded by the file; the exceptions end here.
  try {
    SCHAAS_ASSIGN_OR_RETURN(FileSource source, FileSource::open(path));
    if (kind == FileKind::by_content) {
      SCHAAS_ASSIGN_OR_RETURN(kind, kind_of_content(source));
    }
    switch (kind) {
      case FileKind::by_content:
      case FileKind::frostt:
        break;
      case FileKind::matrix_market:
        return read_matrix_market(std::move(source), options);
      case FileKind::npy:
        return read_npy(std::move(source), options);
      case FileKind::npz:
        return read_npz(std::move(source), options);
    }
    return read_frostt(std::move(source), options);
  } catch (const std::bad_alloc&) {
  }
  return support::exhausted("memory", "there is not enough memory to read " + path);
}

// A negative extent that is wanted stands for any.
support::Result<void> check_extents(const std::string& path, const std::vector<std::int64_t>& found,
                                    const std::vector<std::int64_t>& wanted) {
  if (wanted.empty()) return {};
  bool same = found.size() == wanted.size();
  for (std::size_t m = 0; same && m < found.size(); ++m) same = wanted[m] < 0 || wanted[m] == found[m];
  if (same) return {};
  return support::invalid("extent-mismatch", path + " has shape " + shape_text(found) + ", but " +
                                                 shape_text(wanted) + " is expected");
}

// Terminals must not get control characters from a file, and messages stay short.
std::string quoted(std::string_view word) {
  constexpr std::size_t longest = 40;
  std::string text = "`";
  for (const char c : word.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      text += c;
      continue;
    }
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
    text += escaped;
  }
  return text + (word.size() > longest ? "...`" : "`");
}

support::Diagnostic bad_number(NumberError error, std::string_view word, const std::string& what) {
  if (word.find('\0') != std::string_view::npos) {
    return support::invalid("file-binary", "expected " + what + ", found binary data " + quoted(word));
  }
  if (error == NumberError::inexact) {
    return support::invalid("file-number", "expected " + what + ", found " + quoted(word) +
                                               ", an integer that f64 cannot hold exactly");
  }
  if (error == NumberError::too_large) {
    return support::invalid("file-number",
                            "expected " + what + ", found " + quoted(word) + ", which is too large");
  }
  return support::invalid(
      "file-number", "expected " + what + ", found " + (word.empty() ? "the end of the line" : quoted(word)));
}

}  // namespace schaas::client
