#include "client/cpp/selection/binding.h"

#include <algorithm>

#include "client/cpp/tensor/tensor_checks.h"
#include "compiler/support/nearest_name.h"
#include "schaas/extents.h"

// Binds the indices of a program to the extents of tensors in memory, by name. Each index has one extent:
// from the modes of the operands that have it, or from the caller where none has. An update also reads its
// result.
namespace schaas::client {
namespace {

std::vector<std::string> names_of(const std::vector<Access>& accesses) {
  std::vector<std::string> names;
  for (const Access& access : accesses) {
    if (std::find(names.begin(), names.end(), access.tensor) == names.end()) names.push_back(access.tensor);
  }
  return names;
}

// Checks that each operand is given and that nothing else is, with the nearest names in messages.
support::Result<void> check_names(const Program& program, const std::vector<Access>& read,
                                  const std::map<std::string, PackedTensor*>& operands,
                                  const std::map<std::string, std::int64_t>& given) {
  const auto names = names_of(read);
  for (const auto& [name, tensor] : operands) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    if (name == program.result().tensor) {
      return support::invalid("unknown-tensor",
                              "`" + name + "` is the result: only a statement that updates it reads it");
    }
    return support::invalid("unknown-tensor", "there is no operand `" + name + "` in the expression" +
                                                  support::did_you_mean(name, names));
  }
  for (const auto& name : names) {
    if (!operands.count(name))
      return support::invalid("missing-operand", "no tensor is given for `" + name + "`");
  }
  const auto indices = indices_of(program);
  for (const auto& [index, extent] : given) {
    if (std::find(indices.begin(), indices.end(), index) != indices.end()) continue;
    return support::invalid("unknown-index", "there is no index `" + index + "` in the expression" +
                                                 support::did_you_mean(index, indices));
  }
  return {};
}

support::Diagnostic wrong_rank(const Access& access, const PackedTensor& tensor) {
  return support::invalid("operand-rank", "`" + access.tensor + "` has shape " +
                                              tuple_text(tensor.extents()) + ", the expression has `" +
                                              print(access) + "`");
}

}  // namespace

std::vector<Access> read_by(const Program& program) {
  std::vector<Access> accesses = operands(program);
  if (program.statements.back().update) accesses.push_back(program.result());
  return accesses;
}

support::Result<std::map<std::string, std::int64_t>> bound_extents(
    const Program& program, const std::map<std::string, PackedTensor*>& operands,
    const std::map<std::string, std::int64_t>& given) {
  const auto read = read_by(program);
  SCHAAS_RETURN_IF_ERROR(check_names(program, read, operands, given));
  Extents extents;
  for (const Access& access : read) {
    const PackedTensor& tensor = *operands.at(access.tensor);
    if (tensor.order() != static_cast<int>(access.indices.size())) return wrong_rank(access, tensor);
    for (std::size_t mode = 0; mode < access.indices.size(); ++mode) {
      SCHAAS_RETURN_IF_ERROR(
          extents.bind(access.indices[mode], tensor.extents()[mode],
                       "mode " + std::to_string(mode + 1) + " of `" + print(access) + "`"));
    }
  }
  for (const auto& [index, extent] : given)
    SCHAAS_RETURN_IF_ERROR(extents.bind(index, extent, "what is given"));
  SCHAAS_RETURN_IF_ERROR(extents.link(linked_indices(program)));
  return extents.all(program, [](const std::string& index) {
    return "no operand has it; give the extent of `" + index + "`";
  });
}

}  // namespace schaas::client
