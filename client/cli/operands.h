#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "client/cli/progress.h"
#include "compiler/format/tensor_format.h"
#include "compiler/support/result.h"
#include "schaas/blocks.h"
#include "schaas/expression.h"
#include "schaas/tensor.h"
#include "schaas/tensor_files.h"

/// The tensors of one `schaas run`: which exist, where their values come from, how they are stored.
namespace schaas::cli {

/// What the command line says about tensors.
struct TensorArguments {
  std::map<std::string, std::string> files;     ///< -t
  std::map<std::string, std::string> formats;   ///< -f
  std::map<std::string, std::int64_t> extents;  ///< -d
  client::ValueType value_type = client::ValueType::f64;
  std::uint64_t seed = 1;
};

/// Names in the arguments that the program does not have. Errors: invalid [unknown-tensor], [unknown-index]
/// (with suggestions), [result-file] (a file for the result), [file-ending].
support::Result<void> check_names(const TensorArguments& arguments, const client::Program& program);

struct Operand {
  std::string name;
  std::string file;             ///< "" when filled from the seed
  std::string format_text;      ///< as given with -f, else the default for what the file holds
  format::TensorFormat format;  ///< of a matrix in blocks csr
  client::TensorData data;
};

struct Operands {
  std::vector<Operand> tensors;                 ///< distinct, in order of first appearance
  std::map<std::string, std::int64_t> extents;  ///< of every index
  format::TensorFormat result_format;
  std::string result_format_text = "dense";              ///< as given with -f
  int position_bits = 32;                                ///< 64 when a tensor needs it
  client::Blocks blocks{};                               ///< matrices in blocks, if there are any
  std::map<std::string, std::int64_t> kernel_extents{};  ///< `extents`, and those of blocks
};

/// Reads the files, settles extents and formats, fills what has no file. A tensor file with a sparse ending
/// is stored as csr (matrices), compressed (vectors) or csf (higher order) unless -f says otherwise; .npy and
/// Matrix Market arrays are dense. A file with one mode too many, of extent 1, is read as the lower-order
/// tensor (a vector kept as an n x 1 matrix), a 1 x 1 matrix as a scalar where one is expected. What has no
/// file is filled from the seed: fully, or at a tenth of its elements when -f gives it a compressed level
/// (fill.h). A result
/// that the statement updates is among the tensors: its file, or the semiring's zero. Errors: those of
/// client::read, format::parse and client::Blocks; invalid [file-rank], [extent-conflict], [missing-extent].
support::Result<Operands> read_operands(const TensorArguments& arguments, const client::Program& program,
                                        ProgressLine& progress);

/// The formats the server must be told: every tensor that is not dense in natural order, the result included.
std::map<std::string, std::string> format_texts(const Operands& operands, const TensorArguments& arguments);

}  // namespace schaas::cli
