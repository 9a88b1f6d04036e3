#include "schaas/selections.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/format/walked_modes.h"
#include "compiler/index_notation/equations.h"

// Bounds become coordinates when extents are known: negative ones count from the end, those of ranges are
// clamped, as in numpy. The extent of an index that runs through a range is the number of its coordinates. A
// range of an intermediate may need another range's first, so binding goes round until nothing new is learnt.
namespace schaas::client {
namespace {

using index_notation::Bound;
using index_notation::IndexOperand;
using index_notation::Range;

support::Result<std::int64_t> value_of(const Bound& bound, const Selections::Parameters& parameters) {
  if (const auto* number = std::get_if<std::int64_t>(&bound)) return *number;
  const auto& name = std::get<std::string>(bound);
  const auto found = parameters.find(name);
  if (found != parameters.end()) return found->second;
  return support::invalid("missing-operand", "no number is given for `" + name + "`, which bounds a range");
}

std::string text_of(const IndexOperand& selection) {
  return "`" + print(selection.index, selection.range) + "`";
}

bool is_whole(const Range& range) { return range == Range{}; }

/// A bound of numpy's slices: counted from the end when negative, then clamped.
std::int64_t clamped(std::int64_t bound, std::int64_t extent, std::int64_t least, std::int64_t most) {
  return std::clamp(bound < 0 ? bound + extent : bound, least, most);
}

}  // namespace

std::string range_source(const IndexOperand& selection, std::int64_t extent) {
  return "the range " + text_of(selection) + " of extent " + std::to_string(extent);
}

support::Result<std::int64_t> parameter_of(const std::string& name, double value) {
  constexpr double exact = 9007199254740992.0;  // 2^53
  if (std::nearbyint(value) == value && std::fabs(value) <= exact) return static_cast<std::int64_t>(value);
  return support::invalid("range", "`" + name + "` is " + std::to_string(value) +
                                       ": expected a whole number, which bounds a range");
}

support::Result<SelectedCoordinates> selected_coordinates(const IndexOperand& selection, std::int64_t extent,
                                                          const Selections::Parameters& parameters) {
  const Range& range = selection.range;
  if (range.is_fixed) {
    SCHAAS_ASSIGN_OR_RETURN(const std::int64_t given, value_of(*range.begin, parameters));
    const std::int64_t coordinate = given < 0 ? given + extent : given;
    if (coordinate >= 0 && coordinate < extent) return SelectedCoordinates{coordinate, 1, 1};
    return support::invalid("coordinate-range", "the coordinate " + std::to_string(given) + " of index `" +
                                                    selection.coordinate + "` is outside of its extent " +
                                                    std::to_string(extent));
  }
  std::int64_t step = 1;
  if (range.step) {
    SCHAAS_ASSIGN_OR_RETURN(step, value_of(*range.step, parameters));
  }
  if (step == 0) return support::invalid("range", "the step of " + text_of(selection) + " is 0");
  step = std::clamp(step, -extent - 1, extent + 1);
  const std::int64_t least = step > 0 ? 0 : -1, most = step > 0 ? extent : extent - 1;
  std::int64_t begin = step > 0 ? 0 : extent - 1, end = step > 0 ? extent : -1;
  if (range.begin) {
    SCHAAS_ASSIGN_OR_RETURN(begin, value_of(*range.begin, parameters));
    begin = clamped(begin, extent, least, most);
  }
  if (range.end) {
    SCHAAS_ASSIGN_OR_RETURN(end, value_of(*range.end, parameters));
    end = clamped(end, extent, least, most);
  }
  const std::int64_t distance = step > 0 ? end - begin : begin - end, stride = step > 0 ? step : -step;
  return SelectedCoordinates{begin, step, distance > 0 ? (distance + stride - 1) / stride : 0};
}

support::Result<Selections> Selections::of(const Program& program,
                                           const std::map<std::string, std::string>& formats,
                                           const std::string& text) {
  Selections out;
  const auto walked_level = [&](const Access& access, std::size_t mode) {
    const auto given = formats.find(access.tensor);
    return given == formats.end()
               ? std::nullopt
               : format::walked_level(given->second, static_cast<int>(access.indices.size()),
                                      static_cast<int>(mode));
  };
  SCHAAS_ASSIGN_OR_RETURN(auto selected, index_notation::selected_program(program, walked_level, text));
  out.selected_ = selected ? *std::move(selected) : index_notation::SelectedProgram{program, {}, {}};
  return out;
}

void Selections::apply_to(std::string& expression, std::map<std::string, std::string>& formats) const {
  if (empty()) return;
  expression = print(program());
  for (const IndexOperand& each : selected_.selections)
    formats[each.tensor] = index_notation::selection_format(each);
}

bool Selections::is_selection(const std::string& tensor) const {
  return std::any_of(selected_.selections.begin(), selected_.selections.end(),
                     [&](const IndexOperand& each) { return each.tensor == tensor; });
}

support::Result<void> Selections::bind(Extents& extents, const Parameters& parameters) const {
  const auto links = linked_indices(program());
  for (std::size_t round = 0; round <= selected_.selections.size(); ++round) {
    SCHAAS_RETURN_IF_ERROR(extents.link(links));
    for (const IndexOperand& each : selected_.selections) {
      if (each.index.empty()) continue;
      // An equation is square where nothing tells one of its extents.
      if (each.is_equation &&
          extents.known(each.coordinate).has_value() == extents.known(each.index).has_value())
        continue;
      if (is_whole(each.range)) {
        SCHAAS_RETURN_IF_ERROR(extents.link({{each.coordinate, each.index}}));
        continue;
      }
      const auto extent = extents.known(each.coordinate);
      if (!extent) continue;
      SCHAAS_ASSIGN_OR_RETURN(const auto selected, selected_coordinates(each, *extent, parameters));
      SCHAAS_RETURN_IF_ERROR(extents.bind(each.index, selected.count, range_source(each, *extent)));
    }
  }
  return extents.link(links);
}

support::Result<std::map<std::string, CooTensor>> Selections::tensors(const Extents& extents,
                                                                      const Parameters& parameters) const {
  std::map<std::string, CooTensor> made;
  for (const IndexOperand& each : selected_.selections) {
    const auto extent = extents.known(each.coordinate);
    if (!extent)
      return support::invalid(
          "missing-extent", "index `" + each.coordinate +
                                "` has no extent: no operand has it; give the extent of `" + each.coordinate +
                                "`");
    SCHAAS_ASSIGN_OR_RETURN(const auto selected, selected_coordinates(each, *extent, parameters));
    std::int64_t columns = selected.count, entries = selected.count;
    if (each.is_equation) {
      columns = extents.known(each.index).value_or(*extent);
      entries = std::min(columns, *extent);
    }
    CooTensor tensor;
    std::vector<std::int64_t> coordinates, indices;
    for (std::int64_t n = 0; n < entries; ++n) {
      coordinates.push_back(selected.begin + n * selected.step);
      indices.push_back(n);
    }
    tensor.values.assign(coordinates.size(), program().semiring->one);
    tensor.extents = {*extent};
    tensor.coordinates = {std::move(coordinates)};
    if (!each.index.empty()) {
      const auto at = each.coordinate_first ? 1 : 0;
      tensor.extents.insert(tensor.extents.begin() + at, columns);
      tensor.coordinates.insert(tensor.coordinates.begin() + at, std::move(indices));
    }
    made.emplace(each.tensor, std::move(tensor));
  }
  return made;
}

}  // namespace schaas::client
