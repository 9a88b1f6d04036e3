#include "client/cpp/runtime/argument_check.h"

#include <algorithm>
#include <map>

#include "client/cpp/runtime/kernel_problem.h"
#include "client/cpp/tensor/tensor_checks.h"

// Checks of tensors against the problem text inside a kernel: kernels themselves check nothing. Format, value
// type, and position width decide how a kernel reads the arrays; extents decide how far. Messages say the
// user's names where they are known.
namespace schaas::client {
namespace {

class Check {
 public:
  Check(const KernelProblem& problem, const std::vector<PackedTensor*>& arguments,
        const std::vector<std::string>& names)
      : problem_(problem), arguments_(arguments), names_(names) {}

  support::Result<void> run() {
    if (arguments_.size() != problem_.tensors.size()) {
      return support::invalid("argument-count", "the kernel takes " +
                                                    std::to_string(problem_.tensors.size()) + " tensors, " +
                                                    std::to_string(arguments_.size()) + " were given");
    }
    for (std::size_t a = 0; a < arguments_.size(); ++a) {
      SCHAAS_RETURN_IF_ERROR(check_storage(a));
    }
    for (const auto& access : problem_.accesses) SCHAAS_RETURN_IF_ERROR(check_extents(access));
    return {};
  }

 private:
  const std::string& name(std::size_t a) const { return a < names_.size() ? names_[a] : problem_.tensors[a]; }

  support::Result<void> check_storage(std::size_t a) const {
    const PackedTensor& tensor = *arguments_[a];
    const std::string& canonical = problem_.tensors[a];
    const std::size_t order = problem_.indices_of(a).size();
    if (order != static_cast<std::size_t>(tensor.order())) {
      return support::invalid("argument-format", "`" + name(a) + "` has " + std::to_string(tensor.order()) +
                                                     " modes, the kernel expects " + std::to_string(order));
    }
    SCHAAS_ASSIGN_OR_RETURN(format::TensorFormat wanted,
                            format::parse(problem_.formats.at(canonical), static_cast<int>(order), name(a)));
    const ValueType type = wanted.values.value_or(problem_.value_type);
    wanted.values.reset();
    if (order > 0 && wanted != tensor.format()) {
      return support::invalid("argument-format", "`" + name(a) + "` is stored as " +
                                                     format::print(tensor.format()) +
                                                     ", the kernel expects " + format::print(wanted));
    }
    if (type != tensor.value_type()) {
      return support::invalid("argument-type", "`" + name(a) + "` holds " +
                                                   client::name(tensor.value_type()) +
                                                   " values, the kernel expects " + client::name(type));
    }
    // Without positions their width does not matter.
    const auto& levels = tensor.format().levels;
    const bool counts = !std::all_of(levels.begin(), levels.end(), format::computes_positions);
    if (counts && problem_.position_bits != tensor.position_bits()) {
      return support::invalid("argument-positions", "`" + name(a) + "` has " +
                                                        std::to_string(tensor.position_bits()) +
                                                        "-bit positions, the kernel expects " +
                                                        std::to_string(problem_.position_bits));
    }
    return {};
  }

  // Indices are visited access by access; the first extent of each is kept with its argument, for the
  // message.
  support::Result<void> check_extents(const Access& access) {
    const auto at = std::find(problem_.tensors.begin(), problem_.tensors.end(), access.tensor);
    const std::size_t a = at - problem_.tensors.begin();
    for (std::size_t m = 0; m < access.indices.size(); ++m) {
      const std::int64_t extent = arguments_[a]->extents()[m];
      const auto [known, is_new] = extents_.emplace(access.indices[m], std::pair{extent, a});
      SCHAAS_RETURN_IF_ERROR(check_fixed(access.indices[m], m, a));
      if (is_new || known->second.first == extent) continue;
      return support::invalid("extent-mismatch", "mode " + std::to_string(m + 1) + " of `" + name(a) +
                                                     "` has extent " + std::to_string(extent) +
                                                     ", but the same index has extent " +
                                                     std::to_string(known->second.first) + " in `" +
                                                     name(known->second.second) + "`");
    }
    return {};
  }

  support::Result<void> check_fixed(const std::string& index, std::size_t mode, std::size_t a) const {
    const auto fixed = problem_.fixed.find(index);
    const std::int64_t extent = arguments_[a]->extents()[mode];
    if (fixed == problem_.fixed.end() || fixed->second == extent) return {};
    return support::invalid("extent-bound",
                            "mode " + std::to_string(mode + 1) + " of `" + name(a) + "` has extent " +
                                std::to_string(extent) + ", but the kernel is made for " +
                                std::to_string(fixed->second) + ": take a schedule without this `bound`");
  }

  const KernelProblem& problem_;
  const std::vector<PackedTensor*>& arguments_;
  const std::vector<std::string>& names_;
  std::map<std::string, std::pair<std::int64_t, std::size_t>> extents_;
};

}  // namespace

support::Result<void> check_arguments(const KernelProblem& problem,
                                      const std::vector<PackedTensor*>& arguments,
                                      const std::vector<std::string>& names) {
  return Check(problem, arguments, names).run();
}

namespace {

support::Result<void> check_stored_as(const std::string& given, const format::TensorFormat& format,
                                      ValueType type, const PackedTensor& tensor) {
  if (tensor.format() != format)
    return support::invalid("argument-format", given + " is stored as " + format::print(tensor.format()) +
                                                   ", expected " + format::print(format));
  if (tensor.value_type() != type)
    return support::invalid(
        "argument-type", given + " holds " + name(tensor.value_type()) + " values, expected " + name(type));
  return {};
}

}  // namespace

support::Result<void> check_result(const Access& result, const format::TensorFormat& format, ValueType type,
                                   const std::vector<std::int64_t>& extents, const PackedTensor& given) {
  const std::string text = "the tensor given for the result `" + print(result) + "`";
  if (given.extents() != extents)
    return support::invalid("result-shape", text + " has shape " + tuple_text(given.extents()) +
                                                ", the result has " + tuple_text(extents));
  return check_stored_as(text, format, type, given);
}

support::Result<void> check_updated(const Access& result, const PackedTensor& before,
                                    const PackedTensor& written) {
  return check_stored_as("the operand given for the updated `" + print(result) + "`", written.format(),
                         written.value_type(), before);
}

}  // namespace schaas::client
