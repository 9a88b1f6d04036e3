#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "schaas/tensor.h"

/// Tensor files: Matrix Market, FROSTT text, NumPy arrays, scipy's archives. docs/file_formats.md describes
/// each in full.
namespace schaas::client {

enum class FileKind {
  matrix_market,  ///< .mtx: coordinate or array; real, double, integer, unsigned-integer, pattern; general,
                  ///< symmetric, skew-symmetric
  frostt,         ///< .tns: one entry per line, 1-based coordinates then the value; # comments
  npy,            ///< .npy: dense, format 1.0 to 3.0, C or Fortran order, every real type of numpy to 64 bits
  npz,            ///< .npz of scipy.sparse.save_npz: csr, csc, coo, bsr, dia; or of a single array
  by_content,     ///< "-" (standard input or output), pipes and devices without such an ending: told from the
                  ///< first bytes; written as .mtx, above order 2 as .tns
};

/// By ending: .mtx .tns .npy .npz, also with .gz, .bz2 or .xz after it.
/// Errors: invalid [file-ending] (with what is known).
support::Result<FileKind> kind_of(const std::string& path);
bool is_standard_input(const std::string& path);   ///< "-", /dev/stdin and the like
bool is_standard_output(const std::string& path);  ///< "-", /dev/stdout and the like
/// The kind in which a tensor of this order and type is written there; never by_content. Errors: those of
/// kind_of; invalid [file-order]; those of writing values of the type.
support::Result<FileKind> kind_to_write(const std::string& path, int order, ValueType type);

/// Checks that a file can be created at `path` now, before a long computation. Leaves nothing behind. Errors:
/// those that write has for files that cannot be created.
support::Result<void> check_writable(const std::string& path);

struct ReadOptions {
  /// Extents the caller knows (`-d`): FROSTT files mostly have none of their own, so they are the largest
  /// coordinate when this is empty. Other files must agree. -1 stands for an unknown one.
  std::vector<std::int64_t> extents;
  /// Wanted type of the values. For an integer type, integers of files stay exact, as i64, and a text file
  /// with other numbers is refused.
  ValueType value_type = ValueType::f64;
  /// Called now and then with bytes of the file consumed, and its size.
  std::function<void(std::uint64_t done, std::uint64_t of)> progress;
};

/// Contents of a file: entries, or every value (.npy and Matrix Market `array`).
using TensorData = std::variant<CooTensor, DenseTensor>;
const std::vector<std::int64_t>& extents_of(const TensorData& data);

/// Reads a whole file. Compression is told from the content, never the name. Values are read as double (f4
/// and f2 arrays are f32, and so is the value type of entries of .npz). Integers that double does not hold
/// are refused, but where an integer type is wanted (ReadOptions). Symmetric matrices come back with both
/// triangles. NaN and infinities are values like others. Nothing is allocated on the word of a header that
/// the file could not hold. Every error names the file, and for text the line and column: invalid
/// [file-missing] (similar names in the folder are suggested), [file-is-directory], [file-unreadable],
/// [file-empty], [file-ending], [gzip-damaged], [mtx-header], [mtx-size], [mtx-triangle], [tns-line],
/// [npy-header], [file-number], [file-entry], [coordinate-range], [too-few-entries], [too-many-entries],
/// [file-binary], [extent-mismatch], [npy-size]; unsupported [mtx-field], [mtx-symmetry], [npy-type],
/// [npz-format], [npz-member], [compression-library]; exhausted [memory].
support::Result<TensorData> read(const std::string& path, const ReadOptions& options = {});

/// Writes by ending (`.gz`, `.bz2` and `.xz` compress). A temporary file beside the target is renamed when
/// complete, so a reader never sees half a file; links and the mode of a file stay. "-" is standard output.
/// Numbers are written so that reading gives the same double. dense: .mtx array (order 2; others are invalid
/// [file-order]), .tns what is not the fill value, .npy entries: .mtx coordinate (order 2), .tns, .npz csr
/// (order 2); .npy is written dense, with the fill value between them Errors: invalid [file-ending],
/// [file-order], [file-unwritable]; unsupported [npz-size], [compression-library]; exhausted [memory],
/// [disk-full].
support::Result<void> write(const std::string& path, const DenseTensor& tensor, double fill_value = 0);
support::Result<void> write(const std::string& path, const CooTensor& tensor, double fill_value = 0);
support::Result<void> write(const std::string& path, const PackedTensor& tensor);
/// Any text, written in the same way.
support::Result<void> write_text(const std::string& path, const std::string& text);
/// Removes the temporary files of writes that other threads are at: for a program that ends at once. Nothing
/// is written any more.
void remove_temporary_files();

}  // namespace schaas::client
