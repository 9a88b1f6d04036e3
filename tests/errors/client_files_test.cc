// Wrong files: each with the whole text that a user sees.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "schaas/tensor_files.h"
#include "tests/support/gzip.h"
#include "tests/support/temporary_directory.h"

namespace schaas::client {
namespace {

namespace fs = std::filesystem;
using test_support::gzip;

std::string npy(const std::string& dictionary, const std::string& data, char version = 1) {
  std::string text("\x93NUMPY", 6);
  text += version;
  text += '\0';
  text += static_cast<char>(dictionary.size() & 0xff);
  text += static_cast<char>(dictionary.size() >> 8);
  if (version > 1) text += std::string(2, '\0');
  return text + dictionary + data;
}

class WrongFiles : public ::testing::Test {
 protected:
  // What reading `content` under `name` says, the folder left out.
  std::string message(const std::string& name, const std::string& content,
                      std::vector<std::int64_t> extents = {}) {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return message_of(name, std::move(extents));
  }
  std::string message_of(const std::string& name, std::vector<std::int64_t> extents = {}) {
    ReadOptions options;
    options.extents = std::move(extents);
    return shortened(read((folder_ / name).string(), options));
  }
  template <class T>
  std::string shortened(const support::Result<T>& result) {
    if (result.ok()) return "it was read";
    std::string text = support::render(result.error());
    const std::string prefix = folder_.string() + "/";
    for (std::size_t at; (at = text.find(prefix)) != std::string::npos;) text.erase(at, prefix.size());
    return text;
  }
  test_support::TemporaryDirectory directory_;
  const fs::path folder_ = directory_.path();
};

const std::string general = "%%MatrixMarket matrix coordinate real general\n";

// ---- the file itself

TEST_F(WrongFiles, missing_with_a_similar_name) {
  std::ofstream(folder_ / "cora.mtx") << general;
  EXPECT_EQ(message_of("coar.mtx"),
            "invalid [file-missing]: there is no file coar.mtx; did you mean `cora.mtx`?");
}
TEST_F(WrongFiles, missing) {
  EXPECT_EQ(message_of("a.mtx"), "invalid [file-missing]: there is no file a.mtx");
}
TEST_F(WrongFiles, missing_folder) {
  EXPECT_EQ(message_of("data/a.mtx"),
            "invalid [file-missing]: there is no file data/a.mtx: its folder does not exist");
}
TEST_F(WrongFiles, folder) {
  fs::create_directory(folder_ / "a.mtx");
  EXPECT_EQ(message_of("a.mtx"), "invalid [file-is-directory]: a.mtx is a folder, not a file");
}
TEST_F(WrongFiles, empty) { EXPECT_EQ(message("a.mtx", ""), "invalid [file-empty]: a.mtx is empty"); }
TEST_F(WrongFiles, unknown_ending) {
  EXPECT_EQ(
      message("a.mtz", "x"),
      "invalid [file-ending]: a.mtz has the ending `.mtz`; did you mean `.mtx`?\n"
      "  note: known are .mtx, .tns, .npy and .npz, each also with .gz, .bz2 or .xz; `-` is standard input "
      "or output");
}
TEST_F(WrongFiles, no_ending) {
  EXPECT_EQ(
      message("matrix", "x"),
      "invalid [file-ending]: matrix has no ending\n"
      "  note: known are .mtx, .tns, .npy and .npz, each also with .gz, .bz2 or .xz; `-` is standard input "
      "or output");
}
TEST_F(WrongFiles, truncated_gzip) {
  const std::string whole = gzip(general + "2 2 1\n1 1 1\n");
  EXPECT_EQ(message("a.mtx.gz", whole.substr(0, whole.size() - 5)),
            "invalid [gzip-damaged]: a.mtx.gz is a damaged gzip file: it ends early (truncated?)");
}
TEST_F(WrongFiles, gzip_with_a_wrong_checksum) {
  std::string whole = gzip(general + "2 2 1\n1 1 1\n");
  whole[whole.size() - 6] = static_cast<char>(whole[whole.size() - 6] ^ 1);
  EXPECT_EQ(message("a.mtx.gz", whole),
            "invalid [gzip-damaged]: a.mtx.gz is a damaged gzip file: incorrect data check");
}
TEST_F(WrongFiles, gzip_followed_by_garbage) {
  EXPECT_EQ(message("a.tns.gz", gzip("1 1 1\n") + "garbage"),
            "invalid [gzip-damaged]: a.tns.gz is a damaged gzip file: incorrect header check");
}

// ---- Matrix Market: header and size line

TEST_F(WrongFiles, mtx_without_banner) {
  EXPECT_EQ(message("a.mtx", "3 3 1\n1 1 1\n"),
            "invalid [mtx-header]: expected `%%MatrixMarket matrix coordinate real general` or the like, "
            "found another "
            "first line\n"
            "  --> a.mtx:1:1\n"
            "  | 3 3 1\n"
            "  | ^");
}
TEST_F(WrongFiles, mtx_of_binary_data) {
  EXPECT_EQ(message("a.mtx", std::string("\x7f"
                                         "ELF\0\1\2",
                                         7)),
            "invalid [mtx-header]: expected `%%MatrixMarket matrix coordinate real general` or the like, "
            "found binary "
            "data\n"
            "  --> a.mtx:1:1\n"
            "  |  ELF   \n"
            "  | ^");
}
TEST_F(WrongFiles, mtx_misspelt_format) {
  EXPECT_EQ(message("a.mtx", "%%MatrixMarket matrix cordinate real general\n"),
            "invalid [mtx-header]: expected a format (coordinate or array), found `cordinate`; did you mean "
            "`coordinate`?\n"
            "  --> a.mtx:1:23\n"
            "  | %%MatrixMarket matrix cordinate real general\n"
            "  |                       ^~~~~~~~~");
}
TEST_F(WrongFiles, mtx_header_without_symmetry) {
  EXPECT_EQ(message("a.mtx", "%%MatrixMarket matrix coordinate real\n1 1 0\n"),
            "invalid [mtx-header]: expected a symmetry (general, symmetric or skew-symmetric), found the end "
            "of the "
            "line\n"
            "  --> a.mtx:1:38\n"
            "  | %%MatrixMarket matrix coordinate real\n"
            "  |                                      ^");
}
TEST_F(WrongFiles, mtx_complex_without_an_imaginary_part) {
  EXPECT_EQ(message("a.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2.5\n"),
            "invalid [file-number]: expected a value, found the end of the line\n"
            "  --> a.mtx:3:8\n"
            "  | 1 1 2.5\n"
            "  |        ^");
}
TEST_F(WrongFiles, mtx_hermitian) {
  EXPECT_EQ(message("a.mtx", "%%MatrixMarket matrix coordinate real hermitian\n"),
            "invalid [mtx-symmetry]: hermitian matrices are complex; real ones are symmetric\n"
            "  --> a.mtx:1:39\n"
            "  | %%MatrixMarket matrix coordinate real hermitian\n"
            "  |                                       ^~~~~~~~~");
}
TEST_F(WrongFiles, mtx_array_pattern) {
  EXPECT_EQ(message("a.mtx", "%%MatrixMarket matrix array pattern general\n"),
            "invalid [mtx-header]: an array cannot be a pattern: it has nothing but values\n"
            "  --> a.mtx:1:29\n"
            "  | %%MatrixMarket matrix array pattern general\n"
            "  |                             ^~~~~~~");
}
TEST_F(WrongFiles, mtx_ends_before_its_size) {
  EXPECT_EQ(message("a.mtx", general + "% nothing else\n"),
            "invalid [mtx-size]: a.mtx ends before its size line `rows columns entries`");
}
TEST_F(WrongFiles, mtx_size_without_entries) {
  EXPECT_EQ(message("a.mtx", general + "3 3\n"),
            "invalid [mtx-size]: expected the number of entries, found the end of the line\n"
            "  --> a.mtx:2:4\n"
            "  | 3 3\n"
            "  |    ^");
}
TEST_F(WrongFiles, mtx_size_that_overflows) {
  EXPECT_EQ(
      message("a.mtx", general + "3 99999999999999999999 1\n"),
      "invalid [mtx-size]: expected the number of columns, found `99999999999999999999`, which is too large\n"
      "  --> a.mtx:2:3\n"
      "  | 3 99999999999999999999 1\n"
      "  |   ^~~~~~~~~~~~~~~~~~~~");
}
TEST_F(WrongFiles, mtx_negative_size) {
  EXPECT_EQ(message("a.mtx", general + "-3 3 1\n"),
            "invalid [mtx-size]: the number of rows is negative\n"
            "  --> a.mtx:2:1\n"
            "  | -3 3 1\n"
            "  | ^~");
}
TEST_F(WrongFiles, mtx_array_whose_size_overflows) {
  EXPECT_EQ(message("a.mtx", "%%MatrixMarket matrix array real general\n5000000000 5000000000\n"),
            "invalid [mtx-size]: 5000000000 x 5000000000 values do not fit in 63 bits\n"
            "  --> a.mtx:2:1\n"
            "  | 5000000000 5000000000\n"
            "  | ^~~~~~~~~~~~~~~~~~~~~");
}
TEST_F(WrongFiles, mtx_symmetric_but_not_square) {
  EXPECT_EQ(message("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 4 0\n"),
            "invalid [mtx-size]: a symmetric matrix must be square, found 3 rows and 4 columns\n"
            "  --> a.mtx:2:1\n"
            "  | 3 4 0\n"
            "  | ^~~~~");
}

// ---- Matrix Market: entries

TEST_F(WrongFiles, mtx_index_zero) {
  EXPECT_EQ(message("a.mtx", general + "3 3 1\n0 1 1.5\n"),
            "invalid [coordinate-range]: row index 0 is below 1: indices start at 1\n"
            "  --> a.mtx:3:1\n"
            "  | 0 1 1.5\n"
            "  | ^");
}
TEST_F(WrongFiles, mtx_index_beyond) {
  EXPECT_EQ(message("a.mtx", general + "3 3 1\n\n% comment\n  2  14  1.5\r\n"),
            "invalid [coordinate-range]: column index 14 is beyond the 3 columns\n"
            "  --> a.mtx:5:6\n"
            "  |   2  14  1.5\n"
            "  |      ^~");
}
TEST_F(WrongFiles, mtx_index_that_overflows) {
  EXPECT_EQ(
      message("a.mtx", general + "3 3 1\n1 9223372036854775808 1\n"),
      "invalid [file-number]: expected a column index, found `9223372036854775808`, which is too large\n"
      "  --> a.mtx:3:3\n"
      "  | 1 9223372036854775808 1\n"
      "  |   ^~~~~~~~~~~~~~~~~~~");
}
TEST_F(WrongFiles, mtx_index_that_is_no_integer) {
  EXPECT_EQ(message("a.mtx", general + "3 3 1\n1.0 1 1\n"),
            "invalid [file-number]: expected a row index, found `1.0`\n"
            "  --> a.mtx:3:1\n"
            "  | 1.0 1 1\n"
            "  | ^~~");
}
TEST_F(WrongFiles, mtx_value_that_is_no_number) {
  EXPECT_EQ(message("a.mtx", general + "3 3 1\n1 1 1,5\n"),
            "invalid [file-number]: expected a value, found `1,5`\n"
            "  --> a.mtx:3:5\n"
            "  | 1 1 1,5\n"
            "  |     ^~~");
}
TEST_F(WrongFiles, mtx_value_that_overflows) {
  EXPECT_EQ(message("a.mtx", general + "3 3 1\n1 1 1e999\n"),
            "invalid [file-number]: expected a value, found `1e999`, which is too large\n"
            "  --> a.mtx:3:5\n"
            "  | 1 1 1e999\n"
            "  |     ^~~~~");
}
TEST_F(WrongFiles, mtx_value_missing) {
  EXPECT_EQ(message("a.mtx", general + "3 3 1\n1 1\n"),
            "invalid [file-number]: expected a value, found the end of the line\n"
            "  --> a.mtx:3:4\n"
            "  | 1 1\n"
            "  |    ^");
}
TEST_F(WrongFiles, mtx_extra_word) {
  EXPECT_EQ(message("a.mtx", general + "3 3 1\n1 1 1 7\n"),
            "invalid [file-entry]: expected `row column value`, found one more word `7`\n"
            "  --> a.mtx:3:7\n"
            "  | 1 1 1 7\n"
            "  |       ^");
}
TEST_F(WrongFiles, mtx_pattern_with_values) {
  EXPECT_EQ(message("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 1 1\n"),
            "invalid [file-entry]: expected `row column`, found one more word `1`\n"
            "  --> a.mtx:3:5\n"
            "  | 1 1 1\n"
            "  |     ^");
}
TEST_F(WrongFiles, mtx_truncated) {
  EXPECT_EQ(message("a.mtx", general + "3 3 4\n1 1 1\n2 2 1\n"),
            "invalid [too-few-entries]: the header promises 4 entries, the file has 2 (truncated?)\n"
            "  --> a.mtx:2:5\n"
            "  | 3 3 4\n"
            "  |     ^");
}
TEST_F(WrongFiles, mtx_with_a_claim_no_memory_could_hold) {
  EXPECT_EQ(message("a.mtx", general + "1000000000 1000000000 900000000000000000\n1 1 1\n"),
            "invalid [too-few-entries]: the header promises 900000000000000000 entries, the file has 1 "
            "(truncated?)\n"
            "  --> a.mtx:2:23\n"
            "  | 1000000000 1000000000 900000000000000000\n"
            "  |                       ^~~~~~~~~~~~~~~~~~");
}
TEST_F(WrongFiles, mtx_with_too_many_entries) {
  EXPECT_EQ(message("a.mtx", general + "3 3 1\n1 1 1\n2 2 1\n"),
            "invalid [too-many-entries]: the header promises 1 entries, this is one more\n"
            "  --> a.mtx:4:1\n"
            "  | 2 2 1\n"
            "  | ^~~~~");
}
TEST_F(WrongFiles, mtx_array_truncated) {
  EXPECT_EQ(message("a.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n"),
            "invalid [too-few-entries]: the header promises 4 values, the file has 3 (truncated?)\n"
            "  --> a.mtx:2:1\n"
            "  | 2 2\n"
            "  | ^~~");
}
TEST_F(WrongFiles, mtx_array_with_too_many_values) {
  EXPECT_EQ(message("a.mtx", "%%MatrixMarket matrix array real general\n1 1\n1 2\n"),
            "invalid [too-many-entries]: the header promises 1 values, this is one more\n"
            "  --> a.mtx:3:3\n"
            "  | 1 2\n"
            "  |   ^");
}
TEST_F(WrongFiles, mtx_with_both_triangles) {
  EXPECT_EQ(message("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 1\n1 2 1\n"),
            "invalid [mtx-triangle]: a symmetric file stores one triangle, but this entry is on the other "
            "side of the "
            "diagonal than earlier ones\n"
            "  --> a.mtx:4:1\n"
            "  | 1 2 1\n"
            "  | ^~~~~");
}
TEST_F(WrongFiles, mtx_with_a_skew_diagonal) {
  EXPECT_EQ(message("a.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 3\n"),
            "invalid [mtx-triangle]: the diagonal of a skew-symmetric matrix is 0\n"
            "  --> a.mtx:3:1\n"
            "  | 1 1 3\n"
            "  | ^~~~~");
}
TEST_F(WrongFiles, mtx_with_binary_entries) {
  EXPECT_EQ(message("a.mtx", general + "3 3 1\n" + std::string("1\0 1 1\n", 7)),
            "invalid [file-binary]: expected a row index, found binary data `1\\x00`\n"
            "  --> a.mtx:3:1\n"
            "  | 1  1 1\n"
            "  | ^~");
}
TEST_F(WrongFiles, line_without_end) {
  EXPECT_EQ(
      message("a.mtx", general + std::string(70000, '1')),
      "invalid [file-binary]: a.mtx:2 is longer than 65536 bytes: this is no text file of tensor entries");
}
TEST_F(WrongFiles, mtx_of_another_shape) {
  EXPECT_EQ(message("a.mtx", general + "3 4 0\n", {3, -1}), "it was read");
  EXPECT_EQ(message("a.mtx", general + "3 4 0\n", {-1, 3}),
            "invalid [extent-mismatch]: a.mtx has shape 3x4, but ?x3 is expected");
}

// ---- FROSTT

TEST_F(WrongFiles, tns_without_entries) {
  EXPECT_EQ(message("a.tns", "# nothing\n"),
            "invalid [file-empty]: a.tns has no entries, so its order and extents are unknown\n"
            "  note: give its extents to read it as a tensor of zeros");
}
TEST_F(WrongFiles, TnsBeyondItsExtents) {
  EXPECT_EQ(message("a.tns", "# schaas extents 3 4\n1 5 2\n"),
            "invalid [coordinate-range]: coordinate 5 of mode 2 is beyond the extent 4\n"
            "  --> a.tns:2:3\n"
            "  | 1 5 2\n"
            "  |   ^");
  EXPECT_EQ(message("a.tns", "# schaas extents 3 4\n1 5\n"),
            "invalid [extent-mismatch]: this tensor has 1 modes, but 2 are expected\n"
            "  --> a.tns:2:1\n"
            "  | 1 5\n"
            "  | ^~~");
  EXPECT_EQ(message("a.tns", "# schaas extents 3 x\n"),
            "invalid [file-number]: expected extent 2, found `x`\n"
            "  --> a.tns:1:20\n"
            "  | # schaas extents 3 x\n"
            "  |                    ^");
  EXPECT_EQ(message("a.tns", "# schaas extents 3 4\n", {3, 5}),
            "invalid [extent-mismatch]: a.tns has shape 3x4, but 3x5 is expected");
}
TEST_F(WrongFiles, IntegersThatF64DoesNotHold) {
  EXPECT_EQ(
      message("a.mtx", "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 9007199254740993\n"),
      "invalid [file-number]: expected a value, found `9007199254740993`, an integer that f64 cannot hold "
      "exactly\n"
      "  --> a.mtx:3:5\n"
      "  | 1 1 9007199254740993\n"
      "  |     ^~~~~~~~~~~~~~~~");
  const std::uint64_t large[] = {(std::uint64_t{1} << 53) + 1};
  EXPECT_EQ(message("a.npy", npy("{'descr': '<u8', 'fortran_order': False, 'shape': (1,)}",
                                 std::string(reinterpret_cast<const char*>(large), 8))),
            "invalid [file-number]: a.npy holds 9007199254740993, an integer that f64 cannot hold exactly");
}
TEST_F(WrongFiles, DamagedBzip2AndXz) {
  EXPECT_EQ(message("a.mtx", "BZh9 and nothing else"),
            "invalid [bzip2-damaged]: a.mtx is a damaged bzip2 file: its data are inconsistent");
  EXPECT_EQ(message("a.mtx", std::string("\xfd"
                                         "7zXZ\0",
                                         6)),
            "invalid [xz-damaged]: a.mtx is a damaged xz file: it ends early (truncated?)");
}
TEST_F(WrongFiles, ArchivesThatAreNone) {
  EXPECT_EQ(
      message("a.npz", "no archive"),
      "invalid [npz-damaged]: a.npz is a damaged .npz file: it has no list of its members (truncated?)");
  std::string empty("PK\x05\x06", 4);
  empty += std::string(18, '\0');
  EXPECT_EQ(
      message("a.npz", empty),
      "invalid [npz-structure]: a.npz holds no sparse matrix of scipy: it has the members ; expected those "
      "of scipy.sparse.save_npz, or a single array");
}
TEST_F(WrongFiles, tns_of_one_word) {
  EXPECT_EQ(message("a.tns", "17\n"),
            "invalid [tns-line]: expected coordinates and a value, found a single word\n"
            "  --> a.tns:1:1\n"
            "  | 17\n"
            "  | ^~");
}
TEST_F(WrongFiles, tns_of_too_many_modes) {
  EXPECT_EQ(message("a.tns", "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 2.5\n"),
            "unsupported [tns-line]: this tensor has 17 modes; at most 16 are supported\n"
            "  --> a.tns:1:1\n"
            "  | 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 2.5\n"
            "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
}
TEST_F(WrongFiles, tns_with_a_short_line) {
  EXPECT_EQ(message("a.tns", "1 2 3 1.5\n1 2 3\n"),
            "invalid [file-number]: expected a value, found the end of the line\n"
            "  --> a.tns:2:6\n"
            "  | 1 2 3\n"
            "  |      ^");
}
TEST_F(WrongFiles, tns_with_a_long_line) {
  EXPECT_EQ(message("a.tns", "1 2 1.5\n1 2 3 4\n"),
            "invalid [file-entry]: expected 2 coordinates and a value as in the first entry, found one more "
            "word `4`\n"
            "  --> a.tns:2:7\n"
            "  | 1 2 3 4\n"
            "  |       ^");
}
TEST_F(WrongFiles, tns_coordinate_zero) {
  EXPECT_EQ(message("a.tns", "1 2 1.5\n1 0 3\n"),
            "invalid [coordinate-range]: coordinate 0 of mode 2 is below 1: coordinates start at 1\n"
            "  --> a.tns:2:3\n"
            "  | 1 0 3\n"
            "  |   ^");
}
TEST_F(WrongFiles, tns_coordinate_beyond_the_given_extent) {
  EXPECT_EQ(message("a.tns", "1 2 1.5\n9 1 3\n", {8, -1}),
            "invalid [coordinate-range]: coordinate 9 of mode 1 is beyond the extent 8\n"
            "  --> a.tns:2:1\n"
            "  | 9 1 3\n"
            "  | ^");
}
TEST_F(WrongFiles, tns_of_another_order) {
  EXPECT_EQ(message("a.tns", "1 2 1.5\n", {8, 8, 8}),
            "invalid [extent-mismatch]: this tensor has 2 modes, but 3 are expected\n"
            "  --> a.tns:1:1\n"
            "  | 1 2 1.5\n"
            "  | ^~~~~~~");
}
TEST_F(WrongFiles, tns_with_words) {
  EXPECT_EQ(message("a.tns", "1 2 1.5\n1 b 3\n"),
            "invalid [file-number]: expected coordinate 2, found `b`\n"
            "  --> a.tns:2:3\n"
            "  | 1 b 3\n"
            "  |   ^");
}

// ---- NumPy

TEST_F(WrongFiles, npy_without_magic) {
  EXPECT_EQ(message("a.npy", "PK\x03\x04 zipped arrays"),
            "invalid [npy-header]: a.npy is no NumPy file: it does not start with \\x93NUMPY");
}
TEST_F(WrongFiles, npy_of_an_unknown_version) {
  EXPECT_EQ(message("a.npy", npy("{}", "", 9)),
            "invalid [npy-header]: a.npy is no NumPy file: format version 9 is unknown");
}
TEST_F(WrongFiles, npy_with_a_header_beyond_the_file) {
  EXPECT_EQ(message("a.npy", std::string("\x93NUMPY\x01\x00\xff\x7f{}", 12)),
            "invalid [npy-header]: a.npy is no NumPy file: its header would be 32767 bytes long");
}
TEST_F(WrongFiles, npy_with_a_broken_dictionary) {
  EXPECT_EQ(message("a.npy", npy("{'descr' '<f8'}", "")),
            "invalid [npy-header]: the header is no NumPy dictionary: expected `:`\n"
            "  --> a.npy:1:10\n"
            "  | {'descr' '<f8'}\n"
            "  |          ^");
}
TEST_F(WrongFiles, npy_without_a_shape) {
  EXPECT_EQ(message("a.npy", npy("{'descr': '<f8', 'fortran_order': False}", "")),
            "invalid [npy-header]: the header has no 'shape'\n"
            "  --> a.npy:1:1\n"
            "  | {'descr': '<f8', 'fortran_order': False}\n"
            "  | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~");
}
TEST_F(WrongFiles, npy_of_wide_numbers) {
  EXPECT_EQ(
      message("a.npy", npy("{'descr': '<f16', 'fortran_order': False, 'shape': (1,)}", "12345678")),
      "unsupported [npy-type]: elements of type `<f16` are not supported; booleans, integers of 8 to 64 "
      "bits, f2, f4, f8, c8 and c16 are\n"
      "  --> a.npy:1:11\n"
      "  | {'descr': '<f16', 'fortran_order': False, 'shape': (1,)}\n"
      "  |           ^~~~~~");
}
TEST_F(WrongFiles, npy_with_a_negative_extent) {
  EXPECT_EQ(message("a.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", "")),
            "invalid [npy-header]: the header is no NumPy dictionary: expected an extent\n"
            "  --> a.npy:1:52\n"
            "  | {'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}\n"
            "  |                                                    ^");
}
TEST_F(WrongFiles, npy_whose_size_overflows) {
  EXPECT_EQ(message("a.npy",
                    npy("{'descr': '<f8', 'fortran_order': False, 'shape': (5000000000, 5000000000)}", "")),
            "invalid [npy-size]: a.npy has shape 5000000000x5000000000 of 8-byte elements, but that many do "
            "not fit in "
            "63 bits");
}
TEST_F(WrongFiles, npy_larger_than_its_file) {
  EXPECT_EQ(message("a.npy",
                    npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000)}", "12345678")),
            "invalid [npy-size]: a.npy has shape 1000000x1000000 of 8-byte elements, but the file has only "
            "87 bytes");
}
TEST_F(WrongFiles, npy_truncated) {
  EXPECT_EQ(
      message("a.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}", "0123456789ab")),
      "invalid [npy-size]: a.npy has shape 2x2 of 4-byte elements, but the data end after 12 bytes");
}
TEST_F(WrongFiles, npy_with_more_data_than_its_shape) {
  EXPECT_EQ(
      message("a.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", "123456789")),
      "invalid [npy-size]: a.npy has shape 1 of 8-byte elements, but there are bytes after the last one");
}

// ---- writing

TEST_F(WrongFiles, writing_into_a_missing_folder) {
  EXPECT_EQ(shortened(write((folder_ / "no/a.mtx").string(), *zeros({2, 2}, ValueType::f64))),
            "invalid [file-unwritable]: no/a.mtx cannot be written: No such file or directory");
}
TEST_F(WrongFiles, writing_a_third_order_tensor_as_a_matrix) {
  EXPECT_EQ(shortened(write((folder_ / "a.mtx").string(), *zeros({2, 2, 2}, ValueType::f64))),
            "invalid [file-order]: a.mtx: a Matrix Market file holds a matrix, this tensor has 3 modes; .tns "
            "and .npy "
            "hold any");
}
TEST_F(WrongFiles, writing_a_scalar_as_frostt) {
  EXPECT_EQ(shortened(write((folder_ / "a.tns").string(), *zeros({}, ValueType::f64))),
            "invalid [file-order]: a.tns: a .tns file cannot hold a scalar; .mtx and .npy can");
}

}  // namespace
}  // namespace schaas::client
