#include "compiler/codegen/cuda_printer.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "compiler/codegen/argument_checks.h"
#include "compiler/codegen/c_expressions.h"
#include "compiler/codegen/c_statements.h"
#include "compiler/codegen/c_text.h"
#include "compiler/codegen/runtime.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/support/result.h"

// Prints one text for nvcc, NVRTC and emulation on the host. The device half has a function for each phase;
// the host half, in C, checks arguments, fills parameters and counts blocks. A thread takes ranges in a
// grid-stride loop, so that fewer blocks than ranges may be launched, as scratch allows. Threads are rounded
// up to whole warps, since groups fold by shuffles in which each of their threads takes part; threads beyond
// the range have an empty one. Positions lie on the device, so the host evaluates sizes by numbers of
// entries. With 32-bit positions, extents have 32 bits, too, so that an address takes one multiplication.
namespace schaas::codegen {
namespace {

using loop_ir::Array;
using loop_ir::ExpressionPtr;
using loop_ir::Match;

std::string text_of(std::int64_t number) { return std::to_string(number); }

class CudaPrinter {
 public:
  CudaPrinter(const loop_ir::Kernel& kernel, const KernelLabel& label)
      : kernel_(kernel),
        label_(label),
        expressions_(kernel),
        own_name_(label.symbol != "schaas_kernel"),
        prefix_(own_name_ ? label.symbol + "_" : "schaas_") {
    for (const auto& array : kernel.arrays)
      has_scratch_ = has_scratch_ || std::holds_alternative<loop_ir::Scratch>(array.origin);
  }

  std::string run() {
    out_.comment(label_.banner);
    print_declarations();
    print_parameters();
    out_.directive("#if defined(__CUDACC__) || defined(SCHAAS_EMULATION)");
    print_device_prologue();
    for (std::size_t phase = 0; phase < kernel_.phases.size(); ++phase) print_device(phase);
    out_.directive("#endif");
    out_.raw("\n");
    out_.directive("#if !defined(__CUDACC_RTC__)");  // NVRTC has no host
    print_check();
    for (std::size_t phase = 0; phase < kernel_.phases.size(); ++phase) print_host(phase);
    print_shared_bytes();
    print_workspace_bytes();
    print_descriptor();
    out_.directive("#endif");
    return out_.text();
  }

 private:
  void print_declarations();
  void print_parameters();
  void print_device_prologue();
  void print_device(std::size_t phase);
  void print_thread_range(const loop_ir::ThreadMapping& mapping);
  void print_arrays(const loop_ir::Uses& uses, const loop_ir::ThreadMapping& mapping);
  void print_staged(const Array& array, const loop_ir::ThreadMapping& mapping);
  void print_check();
  void print_host(std::size_t phase);
  void print_launch(std::size_t phase);
  void print_shared_bytes();
  void print_workspace_bytes();
  void print_descriptor();
  std::string print_copies();
  void print_sizes(loop_ir::Uses uses, bool on_device);
  std::string index(const std::string& name) const;
  void print_host_sizes(const std::vector<ExpressionPtr>& expressions);
  std::string entries(const ExpressionPtr& expression) const;
  std::string on_host(const ExpressionPtr& expression) const;
  const Array* array_named(const std::string& name) const;
  std::string padded(const Array& array, const std::string& count) const;

  const loop_ir::Kernel& kernel_;
  const KernelLabel& label_;
  const CExpressions expressions_;
  const bool own_name_;
  const std::string prefix_;
  bool has_scratch_ = false;  ///< threads have scratch
  CText out_;
};

/// Prints the ABI, once for all kernels of one text, and the type of values.
void CudaPrinter::print_declarations() {
  out_.raw("#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n");
  out_.raw("#ifndef SCHAAS_GPU_PROLOGUE\n#define SCHAAS_GPU_PROLOGUE\n");
  out_.raw(abi_declarations());
  out_.raw("\n");
  out_.raw(gpu_abi_declarations());
  out_.raw("#endif\n\n");
  out_.raw(std::string("typedef ") + operators::facts(kernel_.value_type).c_type + " value;\n\n");
}

/// Prints the parameters of all phases as one struct.
void CudaPrinter::print_parameters() {
  out_.open("typedef struct " + prefix_ + "parameters");
  for (const auto& array : kernel_.arrays) {
    if (std::holds_alternative<loop_ir::Scratch>(array.origin) ||
        std::holds_alternative<loop_ir::Staged>(array.origin))
      continue;
    out_.line(std::string(array.written ? "" : "const ") + expressions_.stored_type(array) + "* " +
              array.name + ";");
  }
  for (const auto& extent : kernel_.extents) out_.line("int64_t " + extent.name + ";");
  if (has_scratch_) out_.line("char* workspace;");
  out_.line("int64_t range, columns, aligned;");
  out_.close("} " + prefix_ + "parameters;");
  out_.raw("\n");
}

/// Prints the device prologue, first undefining macros that several kernels of one text share.
void CudaPrinter::print_device_prologue() {
  const bool f64 = kernel_.value_type == loop_ir::ValueType::f64;
  out_.raw(device_declarations());
  if (!expressions_.narrow_arrays().empty()) out_.raw(narrow_device_declarations());
  if (expressions_.needs_functions()) {
    out_.raw("#undef UNUSED\n#undef MATH\n#define UNUSED __device__\n");
    out_.raw(f64 ? "#define MATH(name) name\n" : "#define MATH(name) name##f\n");
    out_.raw(function_declarations());
    out_.raw("DEFINE_LIBRARY_EXPONENTIALS\nDEFINE_SIGMOID(value, SELECT_ONE)\n");
  }
  out_.raw(monoid_declarations());
  out_.raw(group_declarations());
  out_.raw("\n");
}

/// Prints the extents and lets that are used, directly or by other lets, of a launch's parameters or, on the
/// host, of its arguments.
void CudaPrinter::print_sizes(loop_ir::Uses uses, bool on_device) {
  for (auto let = kernel_.lets.rbegin(); let != kernel_.lets.rend(); ++let) {
    if (uses.names.count(let->name) > 0) loop_ir::collect_uses(let->value, uses);
  }
  const auto declared = [&](const std::string& name) {
    return "const " + (on_device ? index(name) : "int64_t " + name) + " = ";
  };
  for (const auto& extent : kernel_.extents) {
    if (uses.names.count(extent.name) == 0) continue;
    const std::string argument =
        "args[" + text_of(extent.argument) + "]->extents[" + text_of(extent.mode) + "]";
    out_.line(declared(extent.name) + (on_device ? "parameters." + extent.name : argument) + ";");
  }
  for (const auto& let : kernel_.lets) {
    if (uses.names.count(let.name) > 0) out_.line(declared(let.name) + expressions_.print(let.value) + ";");
  }
}

/// Returns the array, or null where a name is no array of the kernel.
const Array* CudaPrinter::array_named(const std::string& name) const {
  for (const auto& array : kernel_.arrays) {
    if (array.name == name) return &array;
  }
  return nullptr;
}

/// Returns the bytes of an array; the next one begins at a multiple of 16.
std::string CudaPrinter::padded(const Array& array, const std::string& count) const {
  return std::string("((int64_t)(") + count + ") * (int64_t)sizeof(" + CExpressions::c_type(array.element) +
         ") + 15) / 16 * 16";
}

/// Prints memory that the block shares, and the part of it that the thread's group stages entries in.
void CudaPrinter::print_staged(const Array& array, const loop_ir::ThreadMapping& mapping) {
  const std::string type = expressions_.stored_type(array), stage = text_of(mapping.stage),
                    count = text_of(std::get<loop_ir::Staged>(array.origin).count);
  const std::string groups = text_of(mapping.block / mapping.stage);
  out_.line("alignas(16) __shared__ " + type + " " + array.name + "_all[" + groups + " * " + count + "];");
  out_.line(type + "* const " + array.name + " = " + array.name + "_all + threadIdx.x / " + stage + " * " +
            count + ";");
}

/// Prints the arrays: arguments from the parameters, thread-private ones from the thread's scratch.
void CudaPrinter::print_arrays(const loop_ir::Uses& uses, const loop_ir::ThreadMapping& mapping) {
  std::string offset = "0";
  for (const auto& array : kernel_.arrays) {
    const bool used = uses.arrays.count(array.name) > 0;
    const std::string type = expressions_.stored_type(array);
    if (const auto* workspace = std::get_if<loop_ir::Scratch>(&array.origin)) {
      if (used)
        out_.line(type + "* __restrict__ " + array.name + " = (" + type + "*)(own + (" + offset + "));");
      offset += " + " + padded(array, expressions_.print(workspace->count));
    } else if (std::holds_alternative<loop_ir::Staged>(array.origin)) {
      if (used) print_staged(array, mapping);
    } else if (used) {
      out_.line(std::string(array.written ? "" : "const ") + type + "* __restrict__ " + array.name +
                " = parameters." + array.name + ";");
    }
  }
  if (has_scratch_) out_.line("(void)own;");
}

/// Returns the number of threads that have columns of one range; with staging whole groups of them.
std::string column_blocks(const std::string& columns, const loop_ir::ThreadMapping& mapping) {
  const std::int64_t unit = mapping.columns_grain * std::max(mapping.stage, 1);
  const std::string blocks = "(" + columns + " + " + text_of(unit) + " - 1) / " + text_of(unit);
  return mapping.stage == 0 ? blocks : blocks + " * " + text_of(mapping.stage);
}

/// Returns the declaration of an index variable, like "int32_t lane".
std::string CudaPrinter::index(const std::string& name) const {
  return std::string(expressions_.index_type(name)) + " " + name;
}

/// Prints the thread's range and its columns.
void CudaPrinter::print_thread_range(const loop_ir::ThreadMapping& mapping) {
  const std::string tile = text_of(mapping.tile), lanes = text_of(mapping.threads_per_item),
                    threads = text_of(mapping.threads_per_item * mapping.groups),
                    grain = text_of(mapping.grain);
  // Adjacent threads differ in their lane first, then in their group, the range of a tile, and in columns.
  out_.line("const " + index("lane") + " = thread % " + lanes + ";");
  if (mapping.groups > 1)
    out_.line("const " + index("lane_group") + " = thread / " + lanes + " % " + text_of(mapping.groups) +
              ";");
  out_.line("const int64_t side = thread / " + threads + " % " + tile + ";");
  out_.line("int64_t item = thread / " + text_of(mapping.threads_per_item * mapping.groups * mapping.tile) +
            ";");
  if (mapping.columns) {
    out_.line("const int64_t row_tile = quotient(item, column_blocks);");
    out_.line("const " + index("column_begin") + " = (item - row_tile * column_blocks) * " +
              text_of(mapping.columns_grain) + ";");
    out_.line("const " + index("column_end") + " = parameters.columns < column_begin + " +
              text_of(mapping.columns_grain) + " ? parameters.columns : column_begin + " +
              text_of(mapping.columns_grain) + ";");
    out_.line("item = row_tile;");
  }
  out_.line("int64_t first = (item * " + tile + " + side) * " + grain + ", past = first + " + grain + ";");
  out_.line("if (first > parameters.range) first = parameters.range;");
  out_.line("if (past > parameters.range) past = parameters.range;");
  if (mapping.rows) {
    // A range of rows and entries without its rows is one of entries.
    const std::string rows = expressions_.print(mapping.rows);
    for (const std::string bound : {"first", "past"})
      out_.line(bound + " -= rows_merged(" + mapping.merged_positions + ", " + rows +
                ", parameters.range - " + rows + ", " + bound + ");");
  }
  out_.line("const " + index("begin") + " = first, end = past;");
  out_.line("(void)lane, (void)begin, (void)end;");
  if (mapping.stage == 0) return;
  const std::string stage = text_of(mapping.stage), columns = text_of(mapping.columns_grain);
  out_.line("const " + index("staged") + " = column_begin + (" + stage + " - threadIdx.x % " + stage +
            ") * " + columns + " <= parameters.columns;");
  out_.line("(void)staged;");
}

/// Rounds the number of threads up to whole warps, so that groups are complete.
void CudaPrinter::print_device(std::size_t phase) {
  const auto& described = kernel_.phases[phase];
  const loop_ir::ThreadMapping& mapping = *described.mapping;
  loop_ir::Uses uses;
  loop_ir::collect_uses(described.body, uses);
  if (mapping.rows) {
    loop_ir::collect_uses(mapping.rows, uses);
    uses.arrays.insert(mapping.merged_positions);
  }
  loop_ir::Uses sizes = uses;
  for (const auto& array : kernel_.arrays) {
    if (const auto* workspace = std::get_if<loop_ir::Scratch>(&array.origin))
      loop_ir::collect_uses(workspace->count, sizes);
  }
  out_.comment(loop_ir::print(described.body));
  out_.open("extern \"C\" __global__ void __launch_bounds__(" + text_of(mapping.block) + ") " + prefix_ +
            "phase_" + text_of(static_cast<std::int64_t>(phase)) + "(const " + prefix_ +
            "parameters parameters)");
  print_sizes(sizes, true);
  const std::string unit = text_of(mapping.tile) + " * " + text_of(mapping.grain);
  out_.line("const int64_t tiles = (parameters.range + " + unit + " - 1) / (" + unit + ");");
  std::string threads = "tiles * " + text_of(mapping.tile * mapping.threads_per_item * mapping.groups);
  if (mapping.columns) {
    const std::string grain = text_of(mapping.columns_grain);
    out_.line("const int64_t column_blocks = " + column_blocks("parameters.columns", mapping) + ";");
    threads += " * column_blocks";
  }
  out_.line("const int64_t threads = (" + threads + " + 31) / 32 * 32;");
  // Each resident thread has scratch of its own, whichever ranges it takes.
  if (has_scratch_) {
    std::string bytes = "0";
    for (const auto& array : kernel_.arrays) {
      if (const auto* workspace = std::get_if<loop_ir::Scratch>(&array.origin))
        bytes += " + " + padded(array, expressions_.print(workspace->count));
    }
    out_.line("char* const own = parameters.workspace + ((int64_t)blockIdx.x * " + text_of(mapping.block) +
              " + threadIdx.x) * (" + bytes + ");");
  }
  print_arrays(uses, mapping);
  if (described.alignment) out_.line("const int64_t aligned = parameters.aligned;");
  out_.open("for (int64_t thread = (int64_t)blockIdx.x * " + text_of(mapping.block) +
            " + threadIdx.x; thread < threads; thread += (int64_t)gridDim.x * " + text_of(mapping.block) +
            ")");
  print_thread_range(mapping);
  CStatements(out_, expressions_, Dialect::cuda).print(described.body);
  out_.close();
  out_.close();
  out_.raw("\n");
}

/// Returns the number of entries where a size loads positions: at the end of all entries only.
std::string CudaPrinter::entries(const ExpressionPtr& expression) const {
  const auto* load = std::get_if<loop_ir::Load>(&expression->node);
  if (load == nullptr) return "";
  const auto* positions = std::get_if<loop_ir::Positions>(&array_named(load->array)->origin);
  SCHAAS_CHECK(positions != nullptr, "a size that depends on coordinates or values");
  return "args[" + text_of(positions->argument) + "]->levels[" + text_of(positions->level) + "].entries";
}

/// Prints a size without loads of positions, which the host cannot do.
std::string CudaPrinter::on_host(const ExpressionPtr& expression) const {
  if (const auto text = entries(expression); !text.empty()) return text;
  const auto* apply = std::get_if<loop_ir::Apply>(&expression->node);
  if (apply == nullptr) return expressions_.print(expression);
  const std::string op = CExpressions::infix(apply->function);
  SCHAAS_CHECK(!op.empty(), "a size that is no sum or product");
  std::string text;
  for (const auto& part : apply->arguments) text += (text.empty() ? "(" : " " + op + " ") + on_host(part);
  return text + ")";
}

void CudaPrinter::print_host_sizes(const std::vector<ExpressionPtr>& expressions) {
  loop_ir::Uses uses;
  for (const auto& expression : expressions) loop_ir::collect_uses(expression, uses);
  print_sizes(uses, false);
}

/// Prints the check of the arguments: value type, position width, fixed extents.
void CudaPrinter::print_check() {
  out_.open("static int " + prefix_ + "check(const schaas_tensor* const* args)");
  out_.line("(void)args;");
  for (const auto& condition : wrong_arguments(kernel_)) out_.line("if (" + condition + ") return 0;");
  const auto limit = [&](const std::string& count) {
    if (expressions_.has_short_indices())
      out_.line("if (" + count + " > SCHAAS_GPU_MOST_ITERATIONS) return 0;");
  };
  for (const auto& extent : kernel_.extents)
    limit("args[" + text_of(extent.argument) + "]->extents[" + text_of(extent.mode) + "]");
  for (const auto& array : kernel_.arrays) {
    if (const auto* positions = std::get_if<loop_ir::Positions>(&array.origin))
      limit("args[" + text_of(positions->argument) + "]->levels[" + text_of(positions->level) + "].entries");
  }
  out_.line("return 1;");
  out_.close();
  out_.raw("\n");
}

/// Returns the condition under which the tensors are aligned.
std::string alignment_text(const std::optional<loop_ir::Alignment>& alignment) {
  if (!alignment) return "0";
  const std::string width = text_of(alignment->width);
  std::string text;
  const auto also = [&](const std::string& condition) { text += (text.empty() ? "" : " && ") + condition; };
  for (const auto& extent : alignment->extents) also("to->" + extent + " % " + width + " == 0");
  for (const auto& array : alignment->arrays)
    also("(uintptr_t)to->" + array + " % (" + width + " * sizeof(*to->" + array + ")) == 0");
  return text;
}

/// Prints the preparation of a launch: checks, parameters, and the number of blocks, or -1.
void CudaPrinter::print_host(std::size_t phase) {
  const auto& described = kernel_.phases[phase];
  const loop_ir::ThreadMapping& mapping = *described.mapping;
  const std::string id = text_of(static_cast<std::int64_t>(phase));
  out_.open(
      "static int64_t " + prefix_ + "prepare_" + id +
      "(const schaas_tensor* const* args, void* const* shared, void* workspace, int64_t workspace_threads, "
      "void* parameters)");
  out_.line("(void)shared, (void)workspace, (void)workspace_threads;");
  out_.line("if (!" + prefix_ + "check(args)) return -1;");
  out_.line(prefix_ + "parameters* const to = (" + prefix_ + "parameters*)parameters;");
  for (const auto& array : kernel_.arrays) {
    const std::string type =
        std::string(array.written ? "" : "const ") + expressions_.stored_type(array) + "*";
    const std::string source = std::visit(
        Match{
            [](const loop_ir::ArgumentValues& x) { return "args[" + text_of(x.argument) + "]->values"; },
            [](const loop_ir::Positions& x) {
              return "args[" + text_of(x.argument) + "]->levels[" + text_of(x.level) + "].pos";
            },
            [](const loop_ir::Coordinates& x) {
              return "args[" + text_of(x.argument) + "]->levels[" + text_of(x.level) + "].crd";
            },
            [](const loop_ir::Shared& x) { return "shared[" + text_of(x.slot) + "]"; },
            [](const loop_ir::Scratch&) { return std::string(); },
            [](const loop_ir::CarryOut&) { return std::string(); },
            [](const loop_ir::Staged&) { return std::string(); },
        },
        array.origin);
    if (!source.empty()) out_.line("to->" + array.name + " = (" + type + ")" + source + ";");
  }
  for (const auto& extent : kernel_.extents)
    out_.line("to->" + extent.name + " = args[" + text_of(extent.argument) + "]->extents[" +
              text_of(extent.mode) + "];");
  if (has_scratch_) out_.line("to->workspace = (char*)workspace;");
  std::vector<ExpressionPtr> sizes = {described.range};
  if (mapping.columns) sizes.push_back(mapping.columns);
  if (mapping.rows) sizes.push_back(mapping.rows);
  print_host_sizes(sizes);
  out_.line("to->range = " + on_host(described.range) +
            (mapping.rows ? " + " + on_host(mapping.rows) : std::string()) + ";");
  out_.line("to->columns = " + (mapping.columns ? on_host(mapping.columns) : std::string("1")) + ";");
  out_.line("to->aligned = " + alignment_text(described.alignment) + ";");
  const std::string unit = text_of(mapping.tile) + " * " + text_of(mapping.grain);
  const std::string grain = text_of(mapping.columns_grain);
  out_.line("const int64_t threads = (to->range + " + unit + " - 1) / (" + unit + ") * " +
            text_of(mapping.tile * mapping.threads_per_item * mapping.groups) + " * (" +
            column_blocks("to->columns", mapping) + ");");
  out_.line("int64_t blocks = (threads + " + text_of(mapping.block) + " - 1) / " + text_of(mapping.block) +
            ";");
  if (has_scratch_) {
    // Threads take several ranges each where scratch suffices for fewer of them.
    out_.line("const int64_t max_blocks = workspace_threads / " + text_of(mapping.block) + ";");
    out_.line("if (blocks > max_blocks) blocks = max_blocks > 0 ? max_blocks : -1;");
  }
  // The largest grid that a launch accepts.
  out_.line("return blocks < 2147483647 ? blocks : 2147483647;");
  out_.close();
  print_launch(phase);
  out_.raw("\n");
}

/// Prints the launch by the runtime of CUDA or by the emulation; the host half alone has none.
void CudaPrinter::print_launch(std::size_t phase) {
  const std::string id = text_of(static_cast<std::int64_t>(phase));
  const std::string block = text_of(kernel_.phases[phase].mapping->block);
  out_.directive("#if defined(__CUDACC__) || defined(SCHAAS_EMULATION)");
  out_.open("static int32_t " + prefix_ + "launch_" + id +
            "(const void* parameters, int64_t blocks, void* stream)");
  out_.line("(void)stream;");
  const std::string given = "*(const " + prefix_ + "parameters*)parameters";
  out_.directive("#if defined(__CUDACC__)");
  out_.line(prefix_ + "phase_" + id + "<<<(unsigned)blocks, " + block + ", 0, (cudaStream_t)stream>>>(" +
            given + ");");
  out_.line("return (int32_t)cudaPeekAtLastError();");
  out_.directive("#else");
  out_.line("return schaas_emulate(blocks, " + block + ", [&] { " + prefix_ + "phase_" + id + "(" + given +
            "); });");
  out_.directive("#endif");
  out_.close();
  out_.directive("#else");
  out_.directive("#define " + prefix_ + "launch_" + id + " 0");
  out_.directive("#endif");
}

void CudaPrinter::print_shared_bytes() {
  out_.open("static int64_t " + prefix_ + "shared_bytes(const schaas_tensor* const* args, int32_t which)");
  out_.line("(void)args;");
  std::vector<ExpressionPtr> counts;
  for (const auto& array : kernel_.arrays) {
    if (const auto* shared = std::get_if<loop_ir::Shared>(&array.origin)) counts.push_back(shared->count);
  }
  print_host_sizes(counts);
  out_.open("switch (which)");
  for (const auto& array : kernel_.arrays) {
    if (const auto* shared = std::get_if<loop_ir::Shared>(&array.origin))
      out_.line("case " + text_of(shared->slot) + ": return " + padded(array, on_host(shared->count)) + ";");
  }
  out_.line("default: return 0;");
  out_.close();
  out_.close();
  out_.raw("\n");
}

/// Prints the function that returns the bytes of scratch of one thread.
void CudaPrinter::print_workspace_bytes() {
  out_.open("static int64_t " + prefix_ + "workspace_bytes(const schaas_tensor* const* args)");
  out_.line("(void)args;");
  std::vector<ExpressionPtr> counts;
  std::string total = "0";
  for (const auto& array : kernel_.arrays) {
    if (const auto* workspace = std::get_if<loop_ir::Scratch>(&array.origin)) {
      counts.push_back(workspace->count);
      total += " + " + padded(array, on_host(workspace->count));
    }
  }
  print_host_sizes(counts);
  out_.line("return " + total + ";");
  out_.close();
  out_.raw("\n");
}

/// Prints the table of copies; returns its name, or 0 where there are none.
std::string CudaPrinter::print_copies() {
  std::string entries;
  for (std::size_t n = 0; n < kernel_.copies.size(); ++n) {
    const std::string modes = prefix_ + "copy_modes_" + text_of(static_cast<std::int64_t>(n));
    std::string list;
    for (const int mode : kernel_.copies[n].mode_order) list += (list.empty() ? "" : ", ") + text_of(mode);
    out_.line("static const int32_t " + modes + "[] = {" + list + "};");
    entries += (n > 0 ? ", {" : "{") + text_of(kernel_.copies[n].of) + ", " + modes + ", " +
               (kernel_.copies[n].locates ? "1" : "0") + "}";
  }
  if (entries.empty()) return "0";
  out_.line("static const schaas_copy " + prefix_ + "copies[] = {" + entries + "};");
  return prefix_ + "copies";
}

void CudaPrinter::print_descriptor() {
  int shared = 0;
  for (const auto& array : kernel_.arrays)
    shared += std::holds_alternative<loop_ir::Shared>(array.origin) ? 1 : 0;
  out_.open("static const schaas_gpu_phase " + prefix_ + "phases[] =");
  for (std::size_t n = 0; n < kernel_.phases.size(); ++n) {
    const std::string id = text_of(static_cast<std::int64_t>(n));
    out_.line("{\"" + prefix_ + "phase_" + id + "\", " + text_of(kernel_.phases[n].mapping->block) +
              ", (int32_t)sizeof(" + prefix_ + "parameters), " + prefix_ + "prepare_" + id + ", " + prefix_ +
              "launch_" + id + "},");
  }
  out_.close("};");
  const std::string copies = print_copies();
  const std::string fixed = print_fixed_extents(kernel_, prefix_, out_);
  const std::string symbol = own_name_ ? label_.symbol : "schaas_gpu_kernel";
  out_.directive("#ifdef __cplusplus\nextern \"C\"\n#else\nextern\n#endif");
  out_.line("__attribute__((visibility(\"default\"))) const schaas_gpu_descriptor " + symbol + ";");
  out_.open("const schaas_gpu_descriptor " + symbol + " =");
  // The fields of schaas_gpu_descriptor in order; the first is the version of the ABI.
  out_.line("2, " + text_of(kernel_.arguments) + ", " +
            text_of(static_cast<std::int64_t>(kernel_.phases.size())) + ", " + text_of(shared) + ", " +
            prefix_ + "phases, " + prefix_ + "shared_bytes, " + prefix_ + "workspace_bytes,");
  out_.line(c_literal(label_.key) + ",");
  out_.line(c_literal(label_.problem) + ",");
  out_.line(c_literal(label_.schedule) + ",");
  out_.line(CExpressions::real(kernel_.result_fill) + ", " + (kernel_.writes_all ? "1" : "0") + ", " +
            text_of(static_cast<std::int64_t>(kernel_.copies.size())) + ", " + copies + ", " +
            text_of(kernel_.result_entries_of) + ", " + fixed + ",");
  out_.close("};");
}

}  // namespace

std::string print_cuda(const loop_ir::Kernel& kernel, const KernelLabel& label) {
  return CudaPrinter(kernel, label).run();
}

}  // namespace schaas::codegen
