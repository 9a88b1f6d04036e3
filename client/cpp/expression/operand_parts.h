#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/format/tensor_format.h"
#include "compiler/index_notation/selections.h"
#include "schaas/expression.h"

namespace schaas::client {

/// A part of an operand that is read where it lies (tensor/tensor_part.h), an operand of its own.
struct OperandPart {
  std::string name;             ///< name of the part
  std::string tensor;           ///< the operand
  std::string written;          ///< the access, for messages
  format::TensorFormat format;  ///< the operand's, without a type of values
  std::size_t mode = 0;         ///< the mode that is read in part, which is stored first
  /// Its range and the index that runs through it, for selected_coordinates(); `tensor` is empty.
  index_notation::IndexOperand selection;
};

/// A program whose operands are read in part where that needs no selection: `B(i(2:5),j)` becomes
/// `B_part(i,j)`. The range has step 1 or is one coordinate; the mode is the one that is stored first.
struct ProgramOfParts {
  Program program;
  std::vector<OperandPart> parts;
  std::map<std::string, std::string> formats;  ///< those given, and those of the parts
};

/// `formats`: texts by tensor, dense where there is none. A scalar, and what a statement writes, stay.
ProgramOfParts with_operand_parts(const Program& program, const std::map<std::string, std::string>& formats);

}  // namespace schaas::client
