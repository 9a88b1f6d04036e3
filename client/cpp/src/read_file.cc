#include <algorithm>
#include <cstdio>
#include <new>

#include "allocate.h"
#include "compiler/support/nearest_name.h"
#include "file_readers.h"
#include "tensor_checks.h"

namespace schaas::client {

support::Result<FileKind> kind_of(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  const std::size_t dot = name.rfind('.');
  const std::string ending = dot == std::string::npos ? "" : name.substr(dot);
  if (ending == ".mtx") return FileKind::matrix_market;
  if (ending == ".tns") return FileKind::frostt;
  if (ending == ".npy") return FileKind::npy;
  const std::string found = ending.empty() ? "no ending" : "the ending `" + ending + "`";
  return support::noting(
      support::invalid("file-ending",
                       path + " has " + found + support::did_you_mean(ending, {".mtx", ".tns", ".npy"})),
      "known are .mtx, .tns and .npy, each also with .gz");
}

const std::vector<std::int64_t>& extents_of(const TensorData& data) {
  return std::visit([](const auto& tensor) -> const std::vector<std::int64_t>& { return tensor.extents; },
                    data);
}

support::Result<TensorData> read(const std::string& path, const ReadOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(const FileKind kind, kind_of(path));
  SCHAAS_ASSIGN_OR_RETURN(FileSource source, FileSource::open(path));
  try {
    switch (kind) {
      case FileKind::matrix_market:
        return read_matrix_market(std::move(source), options);
      case FileKind::frostt:
        return read_frostt(std::move(source), options);
      case FileKind::npy:
        return read_npy(std::move(source), options);
    }
  } catch (const std::bad_alloc&) {
  }
  return support::exhausted("memory", "there is not enough memory to read " + path);
}

support::Result<void> check_extents(const std::string& path, const std::vector<std::int64_t>& found,
                                    const std::vector<std::int64_t>& wanted) {
  if (wanted.empty()) return {};
  bool same = found.size() == wanted.size();
  for (std::size_t m = 0; same && m < found.size(); ++m) same = wanted[m] < 0 || wanted[m] == found[m];
  if (same) return {};
  return support::invalid("extent-mismatch", path + " has shape " + shape_text(found) + ", but " +
                                                 shape_text(wanted) + " is expected");
}

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
  if (error == NumberError::too_large) {
    return support::invalid("file-number",
                            "expected " + what + ", found " + quoted(word) + ", which is too large");
  }
  return support::invalid(
      "file-number", "expected " + what + ", found " + (word.empty() ? "the end of the line" : quoted(word)));
}

}  // namespace schaas::client
