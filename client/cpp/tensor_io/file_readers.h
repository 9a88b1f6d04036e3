#pragma once
#include "client/cpp/platform/number_text.h"
#include "client/cpp/tensor_io/file_source.h"
#include "client/cpp/tensor_io/line_reader.h"
#include "schaas/tensor_files.h"

/// One reader per kind of file; read() picks.
namespace schaas::client {

support::Result<TensorData> read_matrix_market(FileSource source, const ReadOptions& options);
support::Result<TensorData> read_frostt(FileSource source, const ReadOptions& options);
support::Result<TensorData> read_npy(FileSource source, const ReadOptions& options);
support::Result<TensorData> read_npz(FileSource source, const ReadOptions& options);

/// invalid [extent-mismatch] when a file's extents are not what the caller knows.
support::Result<void> check_extents(const std::string& path, const std::vector<std::int64_t>& found,
                                    const std::vector<std::int64_t>& wanted);

/// The diagnostic for a word that is no number of the kind expected (`what`: "a row index").
support::Diagnostic bad_number(NumberError error, std::string_view word, const std::string& what);
/// `word` in backquotes, shortened, unprintable bytes as \xNN.
std::string quoted(std::string_view word);

}  // namespace schaas::client
