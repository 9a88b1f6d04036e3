#include "client/cli/operands.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/support/nearest_name.h"
#include "schaas/extents.h"
#include "schaas/fill.h"

// Operands from the command line: read from files, or filled where no file is given. Files are read in two
// rounds. Matrix Market and NumPy files have extents; FROSTT files may leave theirs open, so they are read
// last and held to the extents that are known then. A file of unknown kind counts as one of these. At the end
// every index has an extent, or the message names the option that gives it.
namespace schaas::cli {
namespace {

using client::Access;
using client::Operand;
using client::Operands;
using client::Program;

support::Diagnostic unknown(const std::string& kind, const std::string& option, const std::string& name,
                            const std::vector<std::string>& known) {
  return support::invalid("unknown-" + kind, "`" + option + "`: there is no " + kind + " `" + name +
                                                 "` in the expression" + support::did_you_mean(name, known));
}

/// `n x 1` where a vector is expected, `1 x 1` where a scalar is: drops modes of extent 1 so that the order
/// fits.
void drop_unit_modes(client::TensorData& data, std::size_t order) {
  const auto& extents = client::extents_of(data);
  if (extents.size() != order + 1 && (order > 0 || extents.size() != 2)) return;
  const auto unit = std::find(extents.rbegin(), extents.rend(), 1);
  if (unit == extents.rend()) return;
  const auto mode = extents.rend() - unit - 1;
  if (auto* sparse = std::get_if<client::CooTensor>(&data)) {
    sparse->extents.erase(sparse->extents.begin() + mode);
    sparse->coordinates.erase(sparse->coordinates.begin() + mode);
  } else {
    auto& dense = std::get<client::DenseTensor>(data);
    dense.extents.erase(dense.extents.begin() + mode);
  }
  // An `n x 1 x 1` tensor needs more than one step.
  if (client::extents_of(data).size() > order) drop_unit_modes(data, order);
}

// Reads a file in the order that its access has.
support::Result<client::TensorData> read_one(const std::string& path, const Access& access,
                                             std::vector<std::int64_t> extents, client::ValueType type,
                                             ProgressLine& progress) {
  client::ReadOptions options;
  options.value_type = type;
  options.extents = std::move(extents);
  options.progress = [&](std::uint64_t done, std::uint64_t of) {
    progress.show("reading " + path, done, of);
  };
  SCHAAS_ASSIGN_OR_RETURN(client::TensorData data, client::read(path, options));
  drop_unit_modes(data, access.indices.size());
  const auto order = client::extents_of(data).size();
  if (order != access.indices.size()) {
    return support::invalid("file-rank", "`" + access.tensor + "` has " +
                                             std::to_string(access.indices.size()) + " indices in `" +
                                             print(access) + "`, but " + path + " holds a tensor of order " +
                                             std::to_string(order));
  }
  return data;
}

std::string default_format(const client::TensorData& data) {
  if (std::holds_alternative<client::DenseTensor>(data)) return "dense";
  const std::size_t order = client::extents_of(data).size();
  return order == 0 ? "dense" : order == 1 ? "compressed" : order == 2 ? "csr" : "csf";
}

support::Result<format::TensorFormat> parse_format(const std::string& text, int order,
                                                   const std::string& tensor) {
  return format::parse(format::without_blocks(text), order, tensor);
}

bool has_compressed_level(const format::TensorFormat& format) { return !format.all_dense(); }

int position_bits(const Operand& operand) {
  if (!has_compressed_level(operand.format)) return 32;
  if (const auto* sparse = std::get_if<client::CooTensor>(&operand.data)) {
    return client::position_bits_for(*sparse, operand.format);
  }
  return std::get<client::DenseTensor>(operand.data).size() > std::numeric_limits<std::int32_t>::max() ? 64
                                                                                                       : 32;
}

std::string not_given(const std::string& index) {
  return "no file given with -t uses it; add `-d " + index + "=N`";
}

/// Reads every file once; those that know their extents first, so that FROSTT files can be held to them.
class Reader {
 public:
  Reader(const TensorArguments& arguments, const client::Selections& selections, ProgressLine& progress)
      : arguments_(arguments),
        selections_(selections),
        program_(selections.program()),
        operands_(read_by(program_)),
        progress_(progress) {}

  support::Result<Operands> read() {
    for (const auto& [index, extent] : arguments_.extents) {
      SCHAAS_RETURN_IF_ERROR(
          extents_.bind(index, extent, "`-d " + index + "=" + std::to_string(extent) + "`"));
    }
    SCHAAS_RETURN_IF_ERROR(read_files(false));
    SCHAAS_RETURN_IF_ERROR(selections_.bind(extents_, arguments_.bounds));
    SCHAAS_RETURN_IF_ERROR(read_files(true));
    SCHAAS_RETURN_IF_ERROR(selections_.bind(extents_, arguments_.bounds));
    Operands operands;
    SCHAAS_ASSIGN_OR_RETURN(operands.extents, extents_.all(program_, not_given));
    SCHAAS_ASSIGN_OR_RETURN(selected_, selections_.tensors(extents_, arguments_.bounds));
    SCHAAS_RETURN_IF_ERROR(assemble(operands));
    SCHAAS_ASSIGN_OR_RETURN(operands.blocks,
                            client::Blocks::of(program_, format_texts(operands, arguments_)));
    SCHAAS_ASSIGN_OR_RETURN(operands.kernel_extents, operands.blocks.extents(operands.extents));
    return operands;
  }

 private:
  // `frostt` tells the round.
  support::Result<void> read_files(bool frostt) {
    for (const auto& access : operands_) {
      const auto file = arguments_.files.find(access.tensor);
      if (file == arguments_.files.end() || data_.count(access.tensor)) continue;
      SCHAAS_ASSIGN_OR_RETURN(const auto kind, client::kind_of(file->second));
      if ((kind == client::FileKind::frostt || kind == client::FileKind::by_content) != frostt) continue;
      SCHAAS_ASSIGN_OR_RETURN(
          auto data, read_one(file->second, access, frostt ? known(access) : std::vector<std::int64_t>(),
                              arguments_.value_type, progress_));
      SCHAAS_RETURN_IF_ERROR(bind(access.tensor, file->second, client::extents_of(data), frostt));
      data_.emplace(access.tensor, std::move(data));
    }
    return {};
  }

  std::vector<std::int64_t> known(const Access& access) const {
    std::vector<std::int64_t> extents;
    for (const auto& index : access.indices) extents.push_back(extents_.bound(index).value_or(-1));
    const bool none =
        std::all_of(extents.begin(), extents.end(), [](std::int64_t extent) { return extent < 0; });
    return none ? std::vector<std::int64_t>() : extents;
  }

  // Extents of FROSTT files are lower bounds: the largest coordinates.
  support::Result<void> bind(const std::string& tensor, const std::string& file,
                             const std::vector<std::int64_t>& extents, bool frostt) {
    for (const auto& access : operands_) {
      if (access.tensor != tensor) continue;
      for (std::size_t mode = 0; mode < std::min(extents.size(), access.indices.size()); ++mode) {
        const std::string& index = access.indices[mode];
        if (frostt) {
          extents_.at_least(index, extents[mode]);
        } else {
          SCHAAS_RETURN_IF_ERROR(
              extents_.bind(index, extents[mode],
                            file + " (mode " + std::to_string(mode + 1) + " of `" + print(access) + "`)"));
        }
      }
    }
    return {};
  }

  // Makes each operand once, as it is first accessed. The width of positions is common to all.
  support::Result<void> assemble(Operands& operands) {
    for (const auto& access : operands_) {
      const auto same = [&](const Operand& operand) { return operand.name == access.tensor; };
      if (std::any_of(operands.tensors.begin(), operands.tensors.end(), same)) continue;
      SCHAAS_ASSIGN_OR_RETURN(auto operand, one_operand(access, operands.extents));
      operands.position_bits = std::max(operands.position_bits, position_bits(operand));
      operands.tensors.push_back(std::move(operand));
    }
    const auto given = arguments_.formats.find(program_.result().tensor);
    if (given != arguments_.formats.end()) operands.result_format_text = given->second;
    SCHAAS_ASSIGN_OR_RETURN(
        operands.result_format,
        parse_format(operands.result_format_text, static_cast<int>(program_.result().indices.size()),
                     program_.result().tensor));
    return {};
  }

  // Takes the data of a file, or fills an operand, and gives it its format.
  support::Result<Operand> one_operand(const Access& access, const std::map<std::string, std::int64_t>& all) {
    Operand operand;
    operand.name = access.tensor;
    std::vector<std::int64_t> extents;
    for (const auto& index : access.indices) extents.push_back(all.at(index));
    if (const auto selected = selected_.find(access.tensor); selected != selected_.end()) {
      operand.source = "a selection";
      operand.data = std::move(selected->second);
      operand.format_text = arguments_.formats.at(access.tensor);
      SCHAAS_ASSIGN_OR_RETURN(
          operand.format, parse_format(operand.format_text, static_cast<int>(extents.size()), operand.name));
      return operand;
    }
    const auto read = data_.find(access.tensor);
    if (read == data_.end() && access.tensor == program_.result().tensor) {
      SCHAAS_ASSIGN_OR_RETURN(operand.data, zeros(extents));
    } else if (read == data_.end()) {
      progress_.show("filling " + access.tensor);
      SCHAAS_ASSIGN_OR_RETURN(operand.data, filled(access.tensor, extents));
    } else {
      operand.data = std::move(read->second);
      operand.file = arguments_.files.at(access.tensor);
      if (auto* sparse = std::get_if<client::CooTensor>(&operand.data))
        sparse->extents = extents;  // FROSTT: now known
    }
    const auto given = arguments_.formats.find(access.tensor);
    const std::string by_default =
        access.tensor == program_.result().tensor ? "dense" : default_format(operand.data);
    operand.format_text = given == arguments_.formats.end() ? by_default : given->second;
    SCHAAS_ASSIGN_OR_RETURN(
        operand.format, parse_format(operand.format_text, static_cast<int>(extents.size()), operand.name));
    return operand;
  }

  // An update reads its result before it is written.
  static std::vector<Access> read_by(const Program& program) {
    std::vector<Access> accesses = client::operands(program);
    if (program.statements.back().update) accesses.push_back(program.result());
    return accesses;
  }

  /// Fills an updated result that has no file with the zero of the semiring.
  support::Result<client::TensorData> zeros(const std::vector<std::int64_t>& extents) const {
    SCHAAS_ASSIGN_OR_RETURN(client::DenseTensor dense, client::zeros(extents, arguments_.value_type));
    if (program_.semiring->zero != 0) {
      for (std::int64_t e = 0; e < dense.size(); ++e) dense.set(e, program_.semiring->zero);
    }
    return client::TensorData(std::move(dense));
  }

  /// Values for a tensor without a file: every one, or some when its format is for few.
  support::Result<client::TensorData> filled(const std::string& name,
                                             const std::vector<std::int64_t>& extents) const {
    const auto given = arguments_.formats.find(name);
    if (given != arguments_.formats.end()) {
      SCHAAS_ASSIGN_OR_RETURN(const auto format,
                              parse_format(given->second, static_cast<int>(extents.size()), name));
      if (has_compressed_level(format)) {
        SCHAAS_ASSIGN_OR_RETURN(client::TensorData sparse,
                                client::fill_sparse(name, extents, arguments_.seed, arguments_.value_type));
        return sparse;
      }
    }
    SCHAAS_ASSIGN_OR_RETURN(client::TensorData dense,
                            client::fill(name, extents, arguments_.seed, arguments_.value_type));
    return dense;
  }

  const TensorArguments& arguments_;
  const client::Selections& selections_;
  const Program& program_;
  const std::vector<Access> operands_;  ///< every reading of a tensor that is an argument
  ProgressLine& progress_;
  client::Extents extents_;
  std::map<std::string, client::TensorData> data_;
  std::map<std::string, client::CooTensor> selected_;
};

/// The format that a tensor of this file is stored in unless -f differs; "" where the ending does not tell.
std::string default_format(const std::string& file, std::size_t order) {
  const auto kind = client::kind_of(file);
  if (!kind.ok() || (*kind != client::FileKind::matrix_market && *kind != client::FileKind::frostt))
    return "";
  return order == 1 ? "compressed" : order == 2 ? "csr" : order > 2 ? "csf" : "";
}

}  // namespace

support::Result<client::Selections> take_ranges(const TensorArguments& arguments, client::ProblemText& text) {
  SCHAAS_ASSIGN_OR_RETURN(const Program program, client::parse_program(text.expression));
  std::map<std::string, std::string> formats = text.formats;
  for (const Access& access : client::operands(program)) {
    const auto file = arguments.files.find(access.tensor);
    if (file == arguments.files.end()) continue;
    const std::string format = default_format(file->second, access.indices.size());
    if (!format.empty()) formats.emplace(access.tensor, format);
  }
  SCHAAS_ASSIGN_OR_RETURN(client::Selections selections,
                          client::Selections::of(program, formats, text.expression));
  selections.apply_to(text.expression, text.formats);
  return selections;
}

support::Result<void> check_names(const TensorArguments& arguments, const client::Selections& selections) {
  const Program& program = selections.program();
  const auto tensors = client::arguments(program);
  const auto known = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto from_input = [](const auto& one) { return client::is_standard_input(one.second); };
  if (std::count_if(arguments.files.begin(), arguments.files.end(), from_input) > 1) {
    return support::invalid("standard-input", "standard input is given for several tensors; it holds one");
  }
  for (const auto& [name, file] : arguments.files) {
    if (!known(tensors, name)) return unknown("tensor", "-t " + name + "=" + file, name, tensors);
    if (name == program.result().tensor && !program.statements.back().update) {
      return support::invalid("result-file", "`-t " + name + "=" + file + "`: `" + name +
                                                 "` is the result; to write it to a file use `-o " + file +
                                                 "`");
    }
    SCHAAS_RETURN_IF_ERROR(client::kind_of(file));
  }
  for (const auto& [name, format] : arguments.formats) {
    if (!known(tensors, name)) return unknown("tensor", "-f " + name + "=" + format, name, tensors);
  }
  const auto indices = client::indices_of(program);
  for (const auto& [index, extent] : arguments.extents) {
    if (!known(indices, index))
      return unknown("index", "-d " + index + "=" + std::to_string(extent), index, indices);
  }
  for (const auto& [name, number] : arguments.bounds) {
    if (!known(selections.parameters(), name))
      return unknown("bound", "--bound " + name + "=" + std::to_string(number), name,
                     selections.parameters());
  }
  return {};
}

support::Result<client::Operands> read_operands(const TensorArguments& arguments,
                                                const client::Selections& program, ProgressLine& progress) {
  auto operands = Reader(arguments, program, progress).read();
  progress.clear();
  return operands;
}

client::PackListener show_packing(ProgressLine& progress) {
  return [&progress](const std::string& tensor) { progress.show("packing " + tensor); };
}

std::map<std::string, std::string> format_texts(const client::Operands& operands,
                                                const TensorArguments& arguments) {
  std::map<std::string, std::string> texts = arguments.formats;
  for (const auto& operand : operands.tensors) {
    if (operand.format != format::dense(operand.format.order())) texts[operand.name] = operand.format_text;
  }
  return texts;
}

}  // namespace schaas::cli
