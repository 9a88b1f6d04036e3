#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/index_notation/selections.h"
#include "schaas/expression.h"
#include "schaas/extents.h"
#include "schaas/tensor.h"

/// Ranges and fixed coordinates of a program, `B(i(2:5),0)`, for the tensors of a run. Kernels take them as
/// 0-1 operands (compiler/index_notation/selections.h), so one kernel serves all bounds.
namespace schaas::client {

/// Coordinates begin, begin + step, ... of a mode, so many.
struct SelectedCoordinates {
  std::int64_t begin = 0, step = 1, count = 0;
  bool operator==(const SelectedCoordinates&) const = default;
};

class Selections {
 public:
  /// Values of names in bounds.
  using Parameters = std::map<std::string, std::int64_t>;

  /// `formats`: the texts that are known; tensors without one are dense. Errors: those of
  /// index_notation::verify; `text` is the program's.
  static support::Result<Selections> of(const Program& program,
                                        const std::map<std::string, std::string>& formats,
                                        const std::string& text);

  bool empty() const { return selected_.selections.empty(); }
  /// The program that kernels compute, whose operands include the selections.
  const Program& program() const { return selected_.program; }
  const std::vector<std::string>& parameters() const { return selected_.parameters; }
  /// Writes that program and the formats of the selections in place of a request's. Does nothing without
  /// ranges.
  void apply_to(std::string& expression, std::map<std::string, std::string>& formats) const;
  bool is_selection(const std::string& tensor) const;

  /// Binds the indices of ranges to as many coordinates as these have in the extents that are bound. Errors:
  /// invalid [extent-conflict], [coordinate-range], [missing-operand] (a parameter), [range] (a step of 0).
  support::Result<void> bind(Extents& extents, const Parameters& parameters) const;
  /// Returns the selections by name, with the semiring's one at the coordinates that are selected. Errors: as
  /// of bind, and invalid [missing-extent].
  support::Result<std::map<std::string, CooTensor>> tensors(const Extents& extents,
                                                            const Parameters& parameters) const;

 private:
  index_notation::SelectedProgram selected_;
};

/// Returns the coordinates of a range in a mode of so many; those of numpy, a fixed one must be there.
/// Errors: invalid [coordinate-range], [missing-operand], [range].
support::Result<SelectedCoordinates> selected_coordinates(const index_notation::IndexOperand& selection,
                                                          std::int64_t extent,
                                                          const Selections::Parameters& parameters);

/// Returns "the range `i(2:5)` of extent 9", for messages.
std::string range_source(const index_notation::IndexOperand& selection, std::int64_t extent);

/// Returns the whole number that a scalar holds. Errors: invalid [range].
support::Result<std::int64_t> parameter_of(const std::string& name, double value);

}  // namespace schaas::client
