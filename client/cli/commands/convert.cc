#include <chrono>
#include <memory>
#include <optional>
#include <variant>

#include "client/cli/command_line.h"
#include "client/cli/display.h"
#include "client/cli/figures.h"
#include "client/cli/table.h"
#include "schaas/blocks.h"
#include "schaas/format_comparison.h"
#include "schaas/tensor_files.h"

// schaas convert: a tensor file in another format. Reports its memory, and writes a file whose entries come
// in the order of that format. Without a format the usual ones of that order are tried and compared.
namespace schaas::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct ConvertOptions {
  std::string file, format, output, value_type = "f64";
  double fill = 0;
  std::vector<std::int64_t> extents;
};

/// The tensor in one format.
struct Stored {
  std::string name;
  client::PackedTensor tensor;
  double seconds = 0;
  std::optional<client::PackedTensor> rows{};  ///< matrix in blocks: its rows, for its file
};

client::PackOptions pack_options(const ConvertOptions& options) {
  client::PackOptions how;
  how.name = options.file;
  how.value_type = *client::value_type_named(options.value_type);  // the option is checked
  how.fill_value = options.fill;
  return how;
}

// Packs a matrix in blocks, as kernels take one. Blocks are known by the formats of a statement, so a
// statement that copies the matrix stands in.
support::Result<Stored> store_blocks(const client::TensorData& data, const std::string& name,
                                     const ConvertOptions& options) {
  const auto& extents = client::extents_of(data);
  std::vector<std::string> indices;
  for (std::size_t mode = 0; mode < extents.size(); ++mode) indices.push_back("i" + std::to_string(mode));
  client::Program copying;
  copying.statements.push_back({{"copy", indices}, {client::Access{options.file, indices}}});
  SCHAAS_ASSIGN_OR_RETURN(const auto blocks, client::Blocks::of(copying, {{options.file, name}}));
  const auto* entries = std::get_if<client::CooTensor>(&data);
  const client::CooTensor split = blocks.split(
      options.file,
      entries != nullptr ? *entries : client::to_coo(std::get<client::DenseTensor>(data), options.fill));
  const auto format = blocks.format(options.file, {});
  client::PackOptions how = pack_options(options);
  how.position_bits = client::position_bits_for(split, format);
  const auto start = Clock::now();
  SCHAAS_ASSIGN_OR_RETURN(auto packed, client::pack(split, format, how));
  const std::chrono::duration<double> took = Clock::now() - start;
  // The file gets the matrix in rows, since files hold no blocks.
  SCHAAS_ASSIGN_OR_RETURN(const auto csr, format::parse("csr", 2, options.file));
  SCHAAS_ASSIGN_OR_RETURN(auto rows, blocks.joined(options.file, packed, extents, csr));
  return Stored{name, std::move(packed), took.count(), std::move(rows)};
}

// Packs the tensor in a format and measures the time.
support::Result<Stored> store(const client::TensorData& data, const std::string& name,
                              const ConvertOptions& options) {
  const auto order = static_cast<int>(client::extents_of(data).size());
  if (format::without_blocks(name) != name) return store_blocks(data, name, options);
  SCHAAS_ASSIGN_OR_RETURN(const auto format, format::parse(name, order, options.file));
  client::PackOptions how = pack_options(options);
  if (const auto* entries = std::get_if<client::CooTensor>(&data))
    how.position_bits = client::position_bits_for(*entries, format);
  const auto start = Clock::now();
  auto packed = std::visit([&](const auto& tensor) { return client::pack(tensor, format, how); }, data);
  if (!packed.ok()) return packed.error();
  const std::chrono::duration<double> took = Clock::now() - start;
  return Stored{name, std::move(packed).value(), took.count(), {}};
}

/// The usual formats of the tensor in a file.
std::vector<std::string> formats_of(const client::TensorData& data) {
  const auto& extents = client::extents_of(data);
  if (const auto* entries = std::get_if<client::CooTensor>(&data))
    return client::usual_formats(extents, static_cast<std::int64_t>(entries->entries()));
  return client::usual_formats(extents, client::checked_product(extents).value_or(0));
}

Json levels_json(const client::PackedTensor& tensor) {
  Json levels = Json::array();
  for (const auto& level : tensor.levels()) levels.push_back(level.entries);
  return levels;
}

std::string levels_text(const client::PackedTensor& tensor) {
  std::string text;
  for (const auto& level : tensor.levels())
    text += (text.empty() ? "" : " > ") + grouped(std::to_string(level.entries));
  return text.empty() ? "1" : text;
}

// Reports a row for each format.
Answer answer_of(const ConvertOptions& options, const client::TensorData& data,
                 const std::vector<Stored>& all) {
  Answer answer;
  Table table;
  table.header = {"format", "levels", "entries of each level", "positions", "in memory", "packed in"};
  table.indent = "  ";
  Json formats = Json::array();
  for (const Stored& one : all) {
    table.rows.push_back(
        {one.name, format::print(one.tensor.format()), levels_text(one.tensor),
         one.tensor.format().all_dense() ? "" : std::to_string(one.tensor.position_bits()) + " bits",
         bytes(static_cast<double>(one.tensor.bytes())), seconds(one.seconds)});
    formats.push_back({{"name", one.name},
                       {"format", format::print(one.tensor.format())},
                       {"entries", levels_json(one.tensor)},
                       {"positions", one.tensor.position_bits()},
                       {"bytes", one.tensor.bytes()},
                       {"seconds", one.seconds}});
  }
  answer.text = options.file + "   " + shape(client::extents_of(data)) + "\n" + print(table);
  if (!options.output.empty()) answer.text += "written to " + options.output + "\n";
  answer.beside_output = client::is_standard_output(options.output);
  answer.json = {{"file", options.file},
                 {"extents", client::extents_of(data)},
                 {"formats", formats},
                 {"written", options.output.empty() ? Json() : Json(options.output)}};
  return answer;
}

// The output is checked first: a long conversion must not end at a file that cannot be written.
support::Result<Answer> convert(const ConvertOptions& options) {
  if (!options.output.empty()) {
    SCHAAS_RETURN_IF_ERROR(client::kind_of(options.output));
    SCHAAS_RETURN_IF_ERROR(client::check_writable(options.output));
  }
  client::ReadOptions reading;
  reading.value_type = *client::value_type_named(options.value_type);
  reading.extents = options.extents;
  SCHAAS_ASSIGN_OR_RETURN(const client::TensorData data, client::read(options.file, reading));
  std::vector<std::string> names = formats_of(data);
  if (!options.format.empty()) names = {options.format};
  // A file is written in one format, the first of the usual ones.
  if (options.format.empty() && !options.output.empty()) names.resize(1);
  std::vector<Stored> all;
  for (const auto& name : names) {
    SCHAAS_ASSIGN_OR_RETURN(Stored one, store(data, name, options));
    all.push_back(std::move(one));
  }
  if (!options.output.empty()) {
    const Stored& first = all.front();
    SCHAAS_RETURN_IF_ERROR(client::write(options.output, first.rows ? *first.rows : first.tensor));
  }
  return answer_of(options, data, all);
}

}  // namespace

void add_convert(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* command = program.add_subcommand(
      "convert", "Write a tensor file in another kind and order of entries, or say what formats would take");
  command
      ->add_option("file", options->file,
                   "The tensor: .mtx, .tns, .npy or .npz, also compressed; - is standard input")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("-f", options->format,
                   "Storage format: csc, coo:1,0, bcsr(4,4), dense,compressed:1,0, ... (default: all usual "
                   "ones, or the first "
                   "of them with -o)")
      ->type_name("FORMAT");
  command
      ->add_option("-o,--output", options->output,
                   "Write it, entries in the order of the format, by ending; - is standard output")
      ->type_name("FILE");
  command->add_option("--dtype", options->value_type, "Type of the values in memory")
      ->check(CLI::IsMember(client::value_type_names()).description(""))
      ->capture_default_str()
      ->type_name(choices(client::value_type_names()));
  command
      ->add_option("--fill", options->fill,
                   "Value of every element that the file does not list: inf for a tensor of min-plus")
      ->capture_default_str()
      ->type_name("VALUE");
  command
      ->add_option("-d,--extents", options->extents,
                   "Extents of a .tns file that are larger than its coordinates")
      ->delimiter(',')
      ->type_name("N,N,...");
  command->callback([options, &chosen] { chosen = [options] { return convert(*options); }; });
}

}  // namespace schaas::cli
