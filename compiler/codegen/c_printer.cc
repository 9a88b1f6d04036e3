#include "compiler/codegen/c_printer.h"

#include <optional>
#include <string>
#include <vector>

#include "compiler/codegen/argument_checks.h"
#include "compiler/codegen/c_expressions.h"
#include "compiler/codegen/c_prefetch.h"
#include "compiler/codegen/c_statements.h"
#include "compiler/codegen/c_text.h"
#include "compiler/codegen/runtime.h"
#include "compiler/codegen/value_declarations.h"
#include "compiler/codegen/versions.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/support/contains.h"

// Prints a kernel: prologue, functions of each phase, sizes of buffers, descriptor. The statements of a
// phase stand once, in an always-inlined function whose parameters are the arrays, specialised extents and
// the prefetch flag. Each version calls it with what it knows of the extents (versions.h).
// Arrays are parameters since GCC trusts `restrict` on parameters only. Only names that lowering made are
// printed; the label's strings are escaped.
namespace schaas::codegen {
namespace {

using loop_ir::Array;
using loop_ir::Element;
using loop_ir::Match;

std::string number(int value) { return std::to_string(value); }

/// SCHAAS_FLAG_* of proto/kernel_abi.h.
constexpr int streams_flag = 1, gathers_flag = 2;

/// SCHAAS_FOLD_* of proto/kernel_abi.h.
int fold_code(operators::Monoid monoid) {
  switch (monoid) {
    case operators::Monoid::sum:
      return 1;
    case operators::Monoid::product:
      return 2;
    case operators::Monoid::minimum:
      return 3;
    case operators::Monoid::maximum:
      return 4;
    case operators::Monoid::logical_or:
      return 5;
    case operators::Monoid::logical_and:
      return 6;
  }
  return 0;
}

/// A C function that runs statements of a phase.
struct CFunction {
  std::string name;
  std::string parameters, arguments;  ///< with types, and without
  std::vector<std::string> guards;    ///< lines before all others
  std::vector<std::string> lines;     ///< before the statements
  loop_ir::StatementPtr body;
};

class KernelPrinter {
 public:
  KernelPrinter(const loop_ir::Kernel& kernel, const KernelLabel& label)
      : kernel_(kernel),
        label_(label),
        expressions_(kernel),
        prefix_(label.symbol == "schaas_kernel" ? "" : label.symbol + "_") {}

  std::string run() {
    out_.comment(label_.banner);
    print_prologue();
    for (std::size_t phase = 0; phase < kernel_.phases.size(); ++phase) print_phase(phase);
    print_shared_bytes();
    print_workspace_bytes();
    print_descriptor();
    return out_.text();
  }

 private:
  void print_prologue();
  void print_phase(std::size_t phase);
  void print_range(std::size_t phase);
  void print_work(std::size_t phase);
  void print_row_split(std::size_t phase);
  void print_function(const CFunction& function, const loop_ir::Specialisation& specialisation = {});
  void print_body(const CFunction& function, const std::vector<std::string>& known);
  std::string row_split_entries(std::size_t phase) const;
  int slot_of(const std::string& array) const;
  void print_checks();
  void print_sizes(loop_ir::Uses uses, const std::vector<std::string>& known = {});
  void print_extent(const loop_ir::Extent& extent);
  void print_arrays(const loop_ir::Uses& uses);
  std::string declaration(const Array& array) const;
  static bool is_declared(const Array& array, const loop_ir::Uses& uses);
  void print_array(const Array& array);
  void print_scratch(const loop_ir::Uses& uses);
  void print_last_positions(const loop_ir::Uses& uses);
  void print_prefetch(const std::set<std::string>& prefetched, const std::vector<std::string>& known);
  void print_shared_bytes();
  void print_workspace_bytes();
  bool has_tables() const;
  void print_copies();
  void print_shared();
  void print_descriptor();
  int shared_count() const;
  std::string padded(const Array& array, const loop_ir::ExpressionPtr& count) const;

  const loop_ir::Kernel& kernel_;
  const KernelLabel& label_;
  const CExpressions expressions_;
  const std::string prefix_;  ///< prefix of every definition but the exported one
  CText out_;
};

void KernelPrinter::print_prologue() {
  const auto& type = operators::facts(kernel_.value_type);
  const auto narrow = expressions_.narrow_types();
  // Kernels that are compiled as one unit share the prologue.
  const auto once = [&](const std::string& what, const std::string& declarations) {
    const std::string guard = "SCHAAS_KERNEL_" + what;
    out_.raw("#ifndef " + guard + "\n#define " + guard + "\n" + declarations + "#endif\n\n");
  };
  out_.raw("#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n");
  once("PROLOGUE", std::string(abi_declarations()) + "\n" + value_declarations(type.type) +
                       std::string(vector_declarations()));
  const bool is_complex = operators::is_complex(type.type);
  if (is_complex) once("COMPLEX", std::string(complex_declarations()));
  if (!narrow.empty())
    once("NARROW", std::string(is_complex ? complex_narrow_declarations() : narrow_declarations()));
  for (const auto stored : narrow)
    once(std::string("NARROW_") + operators::name(stored), stored_declarations(stored));
  if (expressions_.needs_functions()) {
    const bool f64 = type.part == loop_ir::ValueType::f64;
    const std::string math = f64 ? "#define MATH(name) name\n" : "#define MATH(name) name##f\n";
    once("FUNCTIONS", is_complex ? math + std::string(complex_function_declarations())
                                 : (type.is_integer ? "" : math) + std::string(function_declarations()) +
                                       std::string(vector_function_declarations()) +
                                       (type.is_integer ? "" : std::string(exponential_declarations())));
  }
  if (expressions_.needs_atomics()) once("ATOMICS", std::string(atomic_declarations()));
  if (expressions_.needs_find()) once("FIND", std::string(find_declarations()));
  if (expressions_.needs_merges()) once("MERGE", std::string(merge_declarations()));
  if (expressions_.needs_runs()) once("RUNS", std::string(run_declarations()));
  if (expressions_.needs_sort()) once("SORT", std::string(sort_declarations()));
  if (!expressions_.coordinates_beyond_rows().empty()) once("PREFETCH", std::string(prefetch_declarations()));
  if (!expressions_.streaming_target().empty()) once("STREAMS", std::string(streaming_store_declarations()));
  if (expressions_.needs_eight()) once("GATHERS", std::string(gather_declarations()));
  if (expressions_.needs_occupancy()) once("OCCUPANCY", std::string(occupancy_declarations()));
  if (expressions_.needs_coordinates()) once("COORDINATES", std::string(coordinate_declarations()));
  if (!expressions_.terms().empty()) once("TERMS", std::string(term_declarations()));
  for (const auto& arithmetic : expressions_.terms())
    once("TERMS_" + CExpressions::terms_name(arithmetic), expressions_.term_functions(arithmetic));
  if (expressions_.needs_supernodes()) once("SUPERNODES", std::string(supernode_declarations()));
}

void KernelPrinter::print_extent(const loop_ir::Extent& extent) {
  out_.line("const int64_t " + extent.name + " = args[" + number(extent.argument) + "]->extents[" +
            number(extent.mode) + "];");
}

/// Prints extents and lets that `uses` needs, directly or through other lets; extents in `known` are
/// parameters.
void KernelPrinter::print_sizes(loop_ir::Uses uses, const std::vector<std::string>& known) {
  // Backwards: a let uses earlier ones alone.
  for (auto let = kernel_.lets.rbegin(); let != kernel_.lets.rend(); ++let) {
    if (uses.names.count(let->name) > 0) loop_ir::collect_uses(let->value, uses);
  }
  for (const auto& extent : kernel_.extents) {
    if (uses.names.count(extent.name) > 0 && !support::contains(known, extent.name)) print_extent(extent);
  }
  for (const auto& let : kernel_.lets) {
    if (uses.names.count(let.name) == 0) continue;
    out_.line("const int64_t " + let.name + " = " + expressions_.print(let.value) + ";");
  }
}

std::string KernelPrinter::declaration(const Array& array) const {
  return (array.written ? "" : "const ") + expressions_.stored_type(array) + "* restrict " + array.name;
}

bool KernelPrinter::is_declared(const Array& array, const loop_ir::Uses& uses) {
  return uses.arrays.count(array.name) > 0 && !std::holds_alternative<loop_ir::Scratch>(array.origin);
}

void KernelPrinter::print_array(const Array& array) {
  const auto level = [](int argument, int number_of_level, const char* field) {
    return "args[" + number(argument) + "]->levels[" + number(number_of_level) + "]." + field;
  };
  const bool made_here = array.written && array.element != Element::value;  // the ABI's pointers are const
  const std::string source = std::visit(
      Match{
          [&](const loop_ir::ArgumentValues& x) { return "args[" + number(x.argument) + "]->values"; },
          [&](const loop_ir::Positions& x) { return level(x.argument, x.level, "pos"); },
          [&](const loop_ir::Coordinates& x) { return level(x.argument, x.level, "crd"); },
          [](const loop_ir::Shared& x) { return "shared[" + number(x.slot) + "]"; },
          [](const loop_ir::Scratch&) { return std::string(); },
          [](const loop_ir::CarryOut&) { return std::string("(void*)carry"); },
          [](const loop_ir::Staged&) { return std::string(); },
      },
      array.origin);
  const std::string cast = made_here ? "(void*)" : "";
  out_.line(declaration(array) + " = " + cast + source + ";");
}

void KernelPrinter::print_arrays(const loop_ir::Uses& uses) {
  for (const auto& array : kernel_.arrays) {
    if (is_declared(array, uses)) print_array(array);
  }
}

/// Prints the last position of coordinates that are read beyond a row's end.
void KernelPrinter::print_last_positions(const loop_ir::Uses& uses) {
  for (const auto& array : kernel_.arrays) {
    if (uses.arrays.count(array.name) == 0 || expressions_.coordinates_beyond_rows().count(array.name) == 0)
      continue;
    const auto& coordinates = std::get<loop_ir::Coordinates>(array.origin);
    out_.line("const int64_t " + array.name + "_last = args[" + number(coordinates.argument) + "]->levels[" +
              number(coordinates.level) + "].entries - 1;");
  }
}

/// Prints the test for an array large enough to prefetch.
void KernelPrinter::print_prefetch(const std::set<std::string>& prefetched,
                                   const std::vector<std::string>& known) {
  std::string large;
  loop_ir::Uses uses;
  for (const auto& array : kernel_.arrays) {
    if (prefetched.count(array.name) == 0) continue;
    const auto* values = std::get_if<loop_ir::ArgumentValues>(&array.origin);
    const auto* shared = std::get_if<loop_ir::Shared>(&array.origin);
    if (shared) loop_ir::collect_uses(shared->count, uses);
    large += large.empty() ? "" : " || ";
    large += values   ? "is_large(args[" + number(values->argument) + "])"
             : shared ? expressions_.print(shared->count) + " * (int64_t)sizeof(value) > LARGE_BYTES"
                      : "0";  // thread-private: stays in cache
  }
  print_sizes(uses, known);
  out_.line("const int prefetch = " + large + ";");
}

/// Returns the bytes of an array, rounded up to whole cache lines.
std::string KernelPrinter::padded(const Array& array, const loop_ir::ExpressionPtr& count) const {
  if (array.element == Element::value) return "PADDED(" + expressions_.print(count) + ")";
  return std::string("PADDED_OF(") + CExpressions::c_type(array.element) + ", " + expressions_.print(count) +
         ")";
}

/// Prints the scratch arrays. Each has its own offset, the same in every phase, so that zeros left by one
/// phase stay.
void KernelPrinter::print_scratch(const loop_ir::Uses& uses) {
  // The scratch begins with the capacity of the tables, where there are some.
  std::string offset = has_tables() ? "64" : "0";
  if (has_tables()) out_.line("UNUSED const int64_t capacity = *(const int64_t*)workspace;");
  for (const auto& array : kernel_.arrays) {
    const auto* workspace = std::get_if<loop_ir::Scratch>(&array.origin);
    if (!workspace) continue;
    if (uses.arrays.count(array.name) > 0) {
      const std::string type = CExpressions::c_type(array.element);
      out_.line(type + "* restrict " + array.name + " = (" + type + "*)((char*)workspace + (" + offset +
                "));");
    }
    offset += " + " + padded(array, workspace->count);
  }
}

/// Prints the check of the arguments: value type, position width, fixed extents.
void KernelPrinter::print_checks() {
  out_.open("static int " + prefix_ + "check(const schaas_tensor* const* args)");
  std::string wrong;
  for (const auto& condition : wrong_arguments(kernel_))
    wrong += (wrong.empty() ? "" : " ||\n      ") + condition;
  out_.line("return !(" + (wrong.empty() ? std::string("0") : wrong) + ");");
  out_.close("}\n");
}

void KernelPrinter::print_phase(std::size_t phase) {
  if (phase == 0) print_checks();
  const auto& printed = kernel_.phases[phase];
  const auto print = [&](const std::string& what, const loop_ir::StatementPtr& body) {
    loop_ir::Specialisation specialisation = printed.specialised.value_or(loop_ir::Specialisation{});
    if (printed.numeric && body != printed.numeric) specialisation.registers.clear();
    print_function(
        {prefix_ + what + std::to_string(phase),
         "const schaas_tensor* const* args, void* const* shared, void* workspace, int64_t begin, int64_t end",
         "args, shared, workspace, begin, end",
         {"if (!" + prefix_ + "check(args)) return 1;", "if (begin >= end) return 0;"},
         {"(void)shared, (void)workspace;"},
         body},
        specialisation);
  };
  print("phase_", printed.body);
  if (printed.numeric) print("numeric_", printed.numeric);
  print_range(phase);
  if (printed.fold) print_work(phase);
  if (printed.row_split) print_row_split(phase);
}

/// Prints the statements once, in an always-inlined function of the arrays, the specialised extents and the
/// prefetch flag, then the versions that call it. GCC trusts `restrict` on parameters only:
/// without it, loads would stay inside loops that store to another array.
void KernelPrinter::print_function(const CFunction& function, const loop_ir::Specialisation& specialisation) {
  const std::vector<std::string> known = specialised_extents(specialisation);
  const auto prefetched = prefetched_arrays(function.body);
  loop_ir::Uses uses;
  loop_ir::collect_uses(function.body, uses);
  VersionedFunction versioned{function.name, function.parameters, function.arguments, known,
                              !prefetched.empty()};
  for (const auto& array : kernel_.arrays) {
    if (!is_declared(array, uses)) continue;
    versioned.parameters += ", " + declaration(array);
    versioned.arguments += ", " + array.name;
  }
  out_.comment(loop_ir::print(function.body));
  open_versioned(out_, versioned);
  print_body(function, known);
  const auto calls = print_versions(out_, versioned, specialisation);
  out_.open("static int32_t " + function.name + "(" + function.parameters + ")");
  for (const auto& each : function.guards) out_.line(each);
  print_arrays(uses);
  for (const auto& extent : kernel_.extents) {
    if (support::contains(known, extent.name)) print_extent(extent);
  }
  if (!prefetched.empty()) print_prefetch(prefetched, known);
  for (const auto& call : calls) out_.line(call);
  out_.close("}\n");
}

/// Prints the declarations the statements use, besides `known`, the statements, and the end of the function.
void KernelPrinter::print_body(const CFunction& function, const std::vector<std::string>& known) {
  for (const auto& each : function.lines) out_.line(each);
  loop_ir::Uses uses;
  loop_ir::collect_uses(function.body, uses);
  loop_ir::Uses sizes = uses;
  for (const auto& array : kernel_.arrays) {  // offsets depend on the sizes of earlier arrays
    if (const auto* workspace = std::get_if<loop_ir::Scratch>(&array.origin)) {
      loop_ir::collect_uses(workspace->count, sizes);
    }
  }
  print_sizes(sizes, known);
  print_scratch(uses);
  print_last_positions(uses);
  const bool streams = uses.arrays.count(expressions_.streaming_target()) > 0;
  // The client passes the flags after the last shared array.
  const std::string flags = "*(const int32_t*)shared[" + number(shared_count()) + "]";
  if (streams) out_.line("const int streams = " + flags + " & " + number(streams_flag) + ";");
  if (expressions_.gathers_by_instruction(function.body))
    out_.line("const int gathers = VECTOR_BYTES == 64 && (" + flags + " & " + number(gathers_flag) +
              ") != 0;");
  for (const auto& [variable, positions] : expressions_.loops_with_equal_rows(function.body))
    print_equal_row_counters(out_, variable, positions);
  CStatements(out_, expressions_, Dialect::c, label_.blocks).print(function.body);
  if (streams) out_.line("if (streams) STREAM_FENCE;");
  out_.line("return 0;");
  out_.close("}\n");
}

/// Prints the functions of row splitting.
void KernelPrinter::print_row_split(std::size_t phase) {
  const auto& row_split = *kernel_.phases[phase].row_split;
  const std::string id = std::to_string(phase);
  print_function({prefix_ + "partial_" + id,
                  "const schaas_tensor* const* args, void* const* shared, void* workspace, int64_t begin, "
                  "int64_t first, int64_t last, void* carry",
                  "args, shared, workspace, begin, first, last, carry",
                  {"if (!" + prefix_ + "check(args)) return 1;"},
                  {"(void)shared, (void)workspace, (void)carry;", "const int64_t end = begin + 1;"},
                  row_split.partial});
  if (row_split.carry_out.empty()) return;
  print_function({prefix_ + "fix_up_" + id,
                  "const schaas_tensor* const* args, void* const* shared, int64_t begin, const void* carry",
                  "args, shared, begin, carry",
                  {},
                  {"(void)shared;"},
                  row_split.fix_up});
  out_.open("static int64_t " + prefix_ + "carry_elements_" + id + "(const schaas_tensor* const* args)");
  out_.line("(void)args;");
  for (const auto& array : kernel_.arrays) {
    if (array.name != row_split.carry_out) continue;
    const auto& count = std::get<loop_ir::CarryOut>(array.origin).count;
    loop_ir::Uses uses;
    loop_ir::collect_uses(count, uses);
    print_sizes(uses);
    out_.line("return " + expressions_.print(count) + ";");
  }
  out_.close("}\n");
}

/// Returns the row-splitting fields of the descriptor.
std::string KernelPrinter::row_split_entries(std::size_t phase) const {
  const auto& row_split = kernel_.phases[phase].row_split;
  if (!row_split) return "0, 0, 0, 0";
  const std::string id = std::to_string(phase);
  const std::string part = prefix_ + "partial_" + id + ", ";
  const std::string monoid = number(fold_code(row_split->monoid));
  if (row_split->carry_out.empty()) return part + "0, 0, " + monoid;
  return part + prefix_ + "carry_elements_" + id + ", " + prefix_ + "fix_up_" + id + ", " + monoid;
}

/// Prints the function that returns the number of iterations of a phase.
void KernelPrinter::print_range(std::size_t phase) {
  const auto& range = kernel_.phases[phase].range;
  loop_ir::Uses uses;
  loop_ir::collect_uses(range, uses);
  out_.open("static int64_t " + prefix_ + "range_" + std::to_string(phase) +
            "(const schaas_tensor* const* args)");
  out_.line("(void)args;");
  print_sizes(uses);
  print_arrays(uses);
  out_.line("return " + expressions_.print(range) + ";");
  out_.close("}\n");
}

/// Computes in floating point: the product of many extents overflows integers.
void KernelPrinter::print_work(std::size_t phase) {
  loop_ir::Uses uses;
  std::string product = "1.0";
  for (const auto& factor : kernel_.phases[phase].fold->work) {
    loop_ir::collect_uses(factor, uses);
    product += " * (double)" + expressions_.print(factor);
  }
  out_.open("static double " + prefix_ + "work_" + std::to_string(phase) +
            "(const schaas_tensor* const* args)");
  out_.line("(void)args;");
  print_sizes(uses);
  print_arrays(uses);
  out_.line("return " + product + ";");
  out_.close("}\n");
}

/// Returns the slot of a shared array; -1: another array.
int KernelPrinter::slot_of(const std::string& array) const {
  for (const auto& each : kernel_.arrays) {
    const auto* shared = std::get_if<loop_ir::Shared>(&each.origin);
    if (shared && each.name == array) return shared->slot;
  }
  return -1;
}

int KernelPrinter::shared_count() const {
  int count = 0;
  for (const auto& array : kernel_.arrays)
    count += std::holds_alternative<loop_ir::Shared>(array.origin) ? 1 : 0;
  return count;
}

/// Prints the function that returns the size of each shared array.
void KernelPrinter::print_shared_bytes() {
  out_.open("static int64_t " + prefix_ + "shared_bytes(const schaas_tensor* const* args, int32_t which)");
  out_.line("(void)args;");
  loop_ir::Uses uses;
  for (const auto& array : kernel_.arrays) {
    if (const auto* shared = std::get_if<loop_ir::Shared>(&array.origin))
      loop_ir::collect_uses(shared->count, uses);
  }
  print_sizes(uses);
  print_arrays(uses);
  out_.open("switch (which)");
  for (const auto& array : kernel_.arrays) {
    if (const auto* shared = std::get_if<loop_ir::Shared>(&array.origin)) {
      out_.line("case " + number(shared->slot) + ": return " + padded(array, shared->count) + ";");
    }
  }
  out_.line("default: return 0;");
  out_.close();
  out_.close("}\n");
}

/// The scratch has hash tables, and begins with their capacity.
bool KernelPrinter::has_tables() const {
  loop_ir::Uses uses;
  for (const auto& array : kernel_.arrays) {
    if (const auto* workspace = std::get_if<loop_ir::Scratch>(&array.origin))
      loop_ir::collect_uses(workspace->count, uses);
  }
  return uses.names.count("capacity") > 0;
}

void KernelPrinter::print_workspace_bytes() {
  const bool tables = has_tables();
  out_.open("static int64_t " + prefix_ + (tables ? "table_bytes" : "workspace_bytes") +
            "(const schaas_tensor* const* args" + (tables ? ", int64_t capacity)" : ")"));
  out_.line("(void)args;");
  loop_ir::Uses uses;
  std::string total = tables ? "64" : "0";
  for (const auto& array : kernel_.arrays) {
    if (const auto* workspace = std::get_if<loop_ir::Scratch>(&array.origin)) {
      loop_ir::collect_uses(workspace->count, uses);
      total += " + " + padded(array, workspace->count);
    }
  }
  print_sizes(uses);
  out_.line("return " + total + ";");
  out_.close();
  if (tables) {
    out_.open("static int64_t " + prefix_ + "workspace_bytes(const schaas_tensor* const* args)");
    out_.line("return " + prefix_ + "table_bytes(args, 1024);");  // SCHAAS_FIRST_PLACES
    out_.close();
  }
  out_.raw("\n");
}

/// Prints the table of copies, if there are any: the argument and the order of its modes.
void KernelPrinter::print_copies() {
  if (kernel_.copies.empty()) return;
  std::string entries;
  for (std::size_t n = 0; n < kernel_.copies.size(); ++n) {
    const auto& copy = kernel_.copies[n];
    const std::string modes = prefix_ + "copy_modes_" + std::to_string(n);
    std::string list;
    for (const int mode : copy.mode_order) list += (list.empty() ? "" : ", ") + number(mode);
    out_.line("static const int32_t " + modes + "[] = {" + list + "};");
    entries +=
        (n > 0 ? ", {" : "{") + number(copy.of) + ", " + modes + ", " + number(copy.locates ? 1 : 0) + "}";
  }
  out_.line("static const schaas_copy " + prefix_ + "copies[] = {" + entries + "};");
}

/// Prints the initial state of each shared array, by slot.
void KernelPrinter::print_shared() {
  if (shared_count() == 0) return;
  std::vector<std::string> entries(static_cast<std::size_t>(shared_count()));
  for (const auto& array : kernel_.arrays) {
    if (const auto* shared = std::get_if<loop_ir::Shared>(&array.origin))
      entries[static_cast<std::size_t>(shared->slot)] =
          shared->referenced
              ? "{2, " + number(shared->referenced->argument) + ", " + number(shared->referenced->level) + "}"
              : std::string(shared->stored ? "{1, -1, -1}" : "{0, -1, -1}");
  }
  out_.open("static const schaas_shared " + prefix_ + "shared[] =");
  for (const auto& entry : entries) out_.line(entry + ",");
  out_.close("};");
}

void KernelPrinter::print_descriptor() {
  out_.open("static const schaas_phase " + prefix_ + "phases[] =");
  for (std::size_t n = 0; n < kernel_.phases.size(); ++n) {
    const auto& phase = kernel_.phases[n];
    const std::string id = std::to_string(n);
    out_.line("{" + prefix_ + "phase_" + id + ", " + prefix_ + "range_" + id + ", " +
              (phase.parallel ? "1" : "0") + ", " + number(phase.balance_argument) + ", " +
              number(phase.balance_level) + ", " + (phase.step == loop_ir::Step::symbolic ? "1" : "0") +
              ", " +
              (phase.fold ? number(fold_code(phase.fold->monoid)) + ", " +
                                number(slot_of(phase.fold->array)) + ", " + prefix_ + "work_" + id
                          : "0, -1, 0") +
              ", " + row_split_entries(n) + ", " + (phase.numeric ? prefix_ + "numeric_" + id : "0") + ", " +
              number(phase.over.empty() ? 0 : 1 + slot_of(phase.over)) + "},");
  }
  out_.close("};");
  out_.raw("\n");
  if (!kernel_.counters.empty()) {
    out_.open("static const schaas_counter " + prefix_ + "counters[] =");
    for (const auto& each : kernel_.counters) {
      out_.line("{" + number(each.level) + ", " + number(each.slot) + "},");
    }
    out_.close("};");
    out_.raw("\n");
  }
  print_copies();
  print_shared();
  const std::string fixed = print_fixed_extents(kernel_, prefix_, out_);
  out_.line("extern const schaas_kernel_descriptor " + label_.symbol + ";");
  out_.open("__attribute__((visibility(\"default\"))) const schaas_kernel_descriptor " + label_.symbol +
            " =");
  // The fields of schaas_kernel_descriptor in order; the first is the version of the ABI.
  out_.line("13, " + number(kernel_.arguments) + ", " + std::to_string(kernel_.phases.size()) + ", " +
            number(shared_count()) + ", " + prefix_ + "phases, " + prefix_ + "shared_bytes, " + prefix_ +
            "workspace_bytes,");
  out_.line(c_literal(label_.key) + ",");
  out_.line(c_literal(label_.problem) + ",");
  out_.line(c_literal(label_.schedule) + ",");
  out_.line(c_literal(label_.isa) + ",");
  out_.line(std::to_string(kernel_.counters.size()) + ", " +
            (kernel_.counters.empty() ? "0" : prefix_ + "counters") + ", " +
            CExpressions::real(kernel_.result_fill) + ", " + (kernel_.writes_all ? "1" : "0") + ",");
  out_.line(std::to_string(kernel_.copies.size()) + ", " +
            (kernel_.copies.empty() ? "0" : prefix_ + "copies") + ", " +
            (has_tables() ? prefix_ + "table_bytes" : "0") + ", " +
            number(static_cast<int>(kernel_.appends)) + ", " +
            number((expressions_.streaming_target().empty() ? 0 : streams_flag) +
                   (expressions_.needs_gathers() ? gathers_flag : 0)) +
            ", " + (shared_count() == 0 ? "0" : prefix_ + "shared") + ", " + fixed + ",");
  out_.close("};");
}

}  // namespace

std::string print_c(const loop_ir::Kernel& kernel, const KernelLabel& label) {
  return KernelPrinter(kernel, label).run();
}

}  // namespace schaas::codegen
