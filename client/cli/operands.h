#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "client/cli/progress.h"
#include "compiler/support/result.h"
#include "schaas/expression.h"
#include "schaas/kernel_source.h"
#include "schaas/operands.h"
#include "schaas/selections.h"
#include "schaas/tensor.h"

/// The tensors of one `schaas run`: which exist, where their values come from, how they are stored.
namespace schaas::cli {

/// Options of the command line about tensors.
struct TensorArguments {
  std::map<std::string, std::string> files;     ///< -t
  std::map<std::string, std::string> formats;   ///< -f
  std::map<std::string, std::int64_t> extents;  ///< -d
  std::map<std::string, std::int64_t> bounds;   ///< --bound
  client::ValueType value_type = client::ValueType::f64;
  std::uint64_t seed = 1;
};

/// Writes the ranges of a program as selections (schaas/selections.h), `text` with it. Formats that only
/// files tell are those by default. Errors: those of client::parse_program and client::Selections::of.
support::Result<client::Selections> take_ranges(const TensorArguments& arguments, client::ProblemText& text);

/// Names in the arguments that the program does not have. Errors: invalid [unknown-tensor], [unknown-index]
/// (with suggestions), [result-file] (a file for the result), [file-ending].
support::Result<void> check_names(const TensorArguments& arguments, const client::Selections& program);

/// Reads the files, determines extents and formats, and fills tensors without a file. A tensor file with a
/// sparse ending is stored as csr (matrices), compressed (vectors) or csf (higher order) unless -f differs;
/// .npy and Matrix Market arrays are dense. A file with one mode too many, of extent 1, is read as the
/// lower-order tensor (a vector kept as an n x 1 matrix). A 1 x 1 matrix is read as a scalar where one is
/// expected. A tensor without a file is filled from the seed: fully, or at a tenth of its elements where a
/// level is compressed (fill.h). A result that the statement updates is among the tensors: its file, or the
/// semiring's zero. Errors: those of client::read, format::parse and client::Blocks; invalid [file-rank],
/// [extent-conflict], [missing-extent].
support::Result<client::Operands> read_operands(const TensorArguments& arguments,
                                                const client::Selections& program, ProgressLine& progress);

/// For client::pack_all.
client::PackListener show_packing(ProgressLine& progress);

/// The formats the server must be told: every tensor that is not dense in natural order, the result included.
std::map<std::string, std::string> format_texts(const client::Operands& operands,
                                                const TensorArguments& arguments);

}  // namespace schaas::cli
