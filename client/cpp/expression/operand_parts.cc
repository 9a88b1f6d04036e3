#include "client/cpp/expression/operand_parts.h"

#include <algorithm>
#include <utility>

#include "client/cpp/tensor/tensor_part.h"
#include "compiler/index_notation/rename.h"

// Each access is looked at on its own. Two accesses with one range share a part, so that the search sees one
// operand. Other modes of the access may have ranges as well, which stay for selections.
namespace schaas::client {
namespace {

using index_notation::Range;

bool has_step_one(const Range& range) { return !range.step || *range.step == index_notation::Bound(1); }

class Writer {
 public:
  Writer(const Program& program, const std::map<std::string, std::string>& formats)
      : out_{program, {}, formats}, names_(program) {
    for (const auto& parameter : index_notation::range_parameters(program)) names_.take(parameter);
  }

  ProgramOfParts written() && {
    for (auto& statement : out_.program.statements)
      statement.value = index_notation::with_accesses(
          statement.value, [this](const Access& access) { return in_part(access); });
    for (const OperandPart& part : out_.parts)
      if (!is_read(part.tensor)) out_.formats.erase(part.tensor);
    return std::move(out_);
  }

 private:
  bool is_written(const std::string& tensor) const {
    const auto& all = out_.program.statements;
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& statement) { return statement.result.tensor == tensor; });
  }

  bool is_read(const std::string& tensor) const {
    const auto all = operands(out_.program);
    return std::any_of(all.begin(), all.end(), [&](const Access& access) { return access.tensor == tensor; });
  }

  Access in_part(const Access& access) {
    if (access.ranges.empty() || index_notation::selects(access) || is_written(access.tensor)) return access;
    const auto given = out_.formats.find(access.tensor);
    const auto format = format::parse(given == out_.formats.end() ? "dense" : given->second,
                                      static_cast<int>(access.indices.size()), access.tensor);
    if (!format.ok() || !has_parts(*format)) return access;
    const auto mode = static_cast<std::size_t>(format->mode_order.front());
    const Range* range = index_notation::mode_range(access, mode);
    if (range == nullptr || !has_step_one(*range) || (range->is_fixed && format->order() == 1)) return access;
    Access out = access;
    out.index_ranges.clear();
    out.ranges[mode].reset();
    out.tensor = part(access, mode, *range, *format);
    if (range->is_fixed) {
      out.indices.erase(out.indices.begin() + static_cast<std::ptrdiff_t>(mode));
      out.ranges.erase(out.ranges.begin() + static_cast<std::ptrdiff_t>(mode));
    }
    const auto is_whole = [](const std::optional<Range>& one) { return !one; };
    if (std::all_of(out.ranges.begin(), out.ranges.end(), is_whole)) out.ranges.clear();
    return out;
  }

  // Returns the name of the part, a new one where no access before has the same.
  std::string part(const Access& access, std::size_t mode, const Range& range,
                   const format::TensorFormat& format) {
    for (const OperandPart& known : out_.parts)
      if (known.tensor == access.tensor && known.selection.range == range) return known.name;
    OperandPart made{names_.fresh(access.tensor + "_part"), access.tensor, print(access), format, mode, {}};
    made.format.values.reset();
    made.selection.coordinate = access.tensor + "_mode" + std::to_string(mode + 1);
    made.selection.index = access.indices[mode];
    made.selection.range = range;
    out_.formats[made.name] = format::print(range.is_fixed ? without_first_mode(format) : format);
    out_.parts.push_back(std::move(made));
    return out_.parts.back().name;
  }

  ProgramOfParts out_;
  index_notation::FreshNames names_;
};

}  // namespace

ProgramOfParts with_operand_parts(const Program& program, const std::map<std::string, std::string>& formats) {
  return Writer(program, formats).written();
}

}  // namespace schaas::client
