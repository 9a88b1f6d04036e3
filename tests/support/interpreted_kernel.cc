#include "tests/support/interpreted_kernel.h"

#include <array>
#include <mutex>
#include <optional>
#include <utility>

#include "compiler/loop_ir/uses.h"

// Puts interpreted code behind the C functions of a descriptor. The functions are instances of templates by
// the number of the phase and find the living kernel in a variable, as the ABI passes no context. Each call
// makes its frame: extents, lets, and a view of each array with the number of its elements. Scratch arrays
// lie in the workspace one behind the other, after the number of slots of hash tables.
namespace schaas::test_support {
namespace {

using loop_ir::Match;

constexpr std::size_t most_phases = 24;

std::int64_t bytes_of(loop_ir::Element element, const ValueArithmetic& arithmetic) {
  switch (element) {
    case loop_ir::Element::value:
      return arithmetic.bytes();
    case loop_ir::Element::index32:
      return 4;
    case loop_ir::Element::index64:
      return 8;
    case loop_ir::Element::byte:
      return 1;
  }
  return 8;
}

std::int64_t padded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

std::int64_t entries_above(const schaas_tensor& tensor, int level) {
  return level == 0 ? 1 : tensor.levels[level - 1].entries;
}

/// Elements of a level's coordinates.
std::int64_t coordinates_of(const schaas_tensor& tensor, int level) {
  const schaas_level& one = tensor.levels[level];
  const bool of_parents = one.format == SCHAAS_LEVEL_SINGLETON ||
                          one.format == SCHAAS_LEVEL_SINGLETON_NONUNIQUE || one.format == SCHAAS_LEVEL_BANDED;
  return of_parents ? entries_above(tensor, level) : one.entries;
}

std::int32_t fold_number(operators::Monoid monoid) {
  switch (monoid) {
    case operators::Monoid::sum:
      return SCHAAS_FOLD_SUM;
    case operators::Monoid::product:
      return SCHAAS_FOLD_PRODUCT;
    case operators::Monoid::minimum:
      return SCHAAS_FOLD_MIN;
    case operators::Monoid::maximum:
      return SCHAAS_FOLD_MAX;
    case operators::Monoid::logical_or:
      return SCHAAS_FOLD_OR;
    case operators::Monoid::logical_and:
      return SCHAAS_FOLD_AND;
  }
  return SCHAAS_FOLD_NONE;
}

}  // namespace

struct InterpretedKernel::State {
  explicit State(loop_ir::Kernel given) : kernel(std::move(given)), names(kernel) {}

  struct PhaseCode {
    IndexCode range;
    std::vector<IndexCode> work;
    StatementCode body, numeric, partial, fix_up;
    IndexCode carry_elements;
  };
  struct Call {
    const schaas_tensor* const* args = nullptr;
    void* const* shared = nullptr;
    void* workspace = nullptr;
    void* carry = nullptr;
    std::int64_t begin = 0, end = 0, first = 0, last = 0;
    std::int64_t capacity = SCHAAS_FIRST_PLACES;
  };

  void make_code();
  void make_descriptor();
  Frame frame_of(const Call& call) const;
  ArrayView view_of(const loop_ir::Array& array, std::size_t number, const Call& call, Frame& frame,
                    std::int64_t& offset) const;
  std::int32_t run(const StatementCode& code, const Call& call);
  std::int64_t evaluate(const IndexCode& code, const Call& call) const {
    Frame frame = frame_of(call);
    return code(frame);
  }
  std::int64_t workspace_bytes(const Call& call) const;

  const loop_ir::Kernel kernel;
  ExpressionCode names;
  std::vector<std::size_t> extents;
  std::vector<std::pair<std::size_t, IndexCode>> lets;
  std::map<std::size_t, IndexCode> counts;  ///< of arrays of the kernel's own, by array
  std::size_t capacity = 0, begin = 0, end = 0, first = 0, last = 0;
  bool tables = false;
  std::vector<PhaseCode> phases;

  std::vector<schaas_phase> abi_phases;
  std::vector<schaas_counter> counters;
  std::vector<schaas_copy> copies;
  std::vector<std::vector<std::int32_t>> copy_modes;
  std::vector<schaas_shared> shared;
  schaas_kernel_descriptor descriptor{};

  mutable std::mutex mutex;
  InterpretedWork work;
  std::string error;
};

/// The functions of descriptors.
struct InterpretedCalls {
  using State = InterpretedKernel::State;
  static inline State* living = nullptr;

  template <std::size_t phase, StatementCode State::PhaseCode::*code>
  static std::int32_t run(const schaas_tensor* const* args, void* const* shared, void* workspace,
                          std::int64_t begin, std::int64_t end) {
    return begin >= end
               ? SCHAAS_OK
               : living->run(living->phases[phase].*code, {args, shared, workspace, nullptr, begin, end});
  }
  template <std::size_t phase>
  static std::int64_t range(const schaas_tensor* const* args) {
    return living->evaluate(living->phases[phase].range, {args});
  }
  template <std::size_t phase>
  static double work(const schaas_tensor* const* args) {
    double product = 1;
    for (const auto& factor : living->phases[phase].work)
      product *= static_cast<double>(living->evaluate(factor, {args}));
    return product;
  }
  template <std::size_t phase>
  static std::int32_t partial(const schaas_tensor* const* args, void* const* shared, void* workspace,
                              std::int64_t iteration, std::int64_t first, std::int64_t last, void* carry) {
    return living->run(living->phases[phase].partial,
                       {args, shared, workspace, carry, iteration, iteration + 1, first, last});
  }
  template <std::size_t phase>
  static std::int64_t carry_elements(const schaas_tensor* const* args) {
    return living->evaluate(living->phases[phase].carry_elements, {args});
  }
  template <std::size_t phase>
  static std::int32_t fix_up(const schaas_tensor* const* args, void* const* shared, std::int64_t iteration,
                             const void* carry) {
    return living->run(living->phases[phase].fix_up,
                       {args, shared, nullptr, const_cast<void*>(carry), iteration, iteration + 1});
  }
  static std::int64_t shared_bytes(const schaas_tensor* const* args, std::int32_t slot) {
    const auto& arrays = living->kernel.arrays;
    for (std::size_t n = 0; n < arrays.size(); ++n) {
      const auto* shared = std::get_if<loop_ir::Shared>(&arrays[n].origin);
      if (shared != nullptr && shared->slot == slot)
        return bytes_of(arrays[n].element, living->names.arithmetic()) *
               living->evaluate(living->counts.at(n), {args});
    }
    return 0;
  }
  static std::int64_t workspace_bytes(const schaas_tensor* const* args) {
    return living->workspace_bytes({args});
  }
  static std::int64_t table_bytes(const schaas_tensor* const* args, std::int64_t places) {
    State::Call call{args};
    call.capacity = places;
    return living->workspace_bytes(call);
  }

  template <std::size_t phase>
  static void set(schaas_phase& one) {
    one.run = run<phase, &State::PhaseCode::body>;
    one.range = range<phase>;
    one.work = work<phase>;
    one.part = partial<phase>;
    one.carry_elements = carry_elements<phase>;
    one.combine = fix_up<phase>;
    one.values = run<phase, &State::PhaseCode::numeric>;
  }
  template <std::size_t... phase>
  static std::vector<schaas_phase> functions(std::index_sequence<phase...>) {
    std::vector<schaas_phase> all(sizeof...(phase));
    (set<phase>(all[phase]), ...);
    return all;
  }
};

void InterpretedKernel::State::make_code() {
  const auto declare = [&](const char* name) { return names.declare(name, loop_ir::Type::index).slot; };
  for (const auto& each : kernel.extents) extents.push_back(declare(each.name.c_str()));
  capacity = declare("capacity");
  for (const auto& each : kernel.lets) {
    const auto code = names.index(each.value);
    lets.emplace_back(declare(each.name.c_str()), code);
  }
  for (std::size_t n = 0; n < kernel.arrays.size(); ++n) {
    std::visit(Match{
                   [&](const loop_ir::Shared& x) { counts.emplace(n, names.index(x.count)); },
                   [&](const loop_ir::Scratch& x) { counts.emplace(n, names.index(x.count)); },
                   [&](const loop_ir::CarryOut& x) { counts.emplace(n, names.index(x.count)); },
                   [](const auto&) {},
               },
               kernel.arrays[n].origin);
  }
  begin = declare("begin");
  end = declare("end");
  first = declare("first");
  last = declare("last");
  for (const auto& phase : kernel.phases) {
    PhaseCode code;
    code.range = names.index(phase.range);
    if (phase.fold)
      for (const auto& factor : phase.fold->work) code.work.push_back(names.index(factor));
    code.body = statement_code(phase.body, names);
    if (phase.numeric) code.numeric = statement_code(phase.numeric, names);
    if (phase.row_split) {
      code.partial = statement_code(phase.row_split->partial, names);
      if (!phase.row_split->carry_out.empty()) {
        code.fix_up = statement_code(phase.row_split->fix_up, names);
        code.carry_elements = counts.at(names.array(phase.row_split->carry_out));
      }
    }
    phases.push_back(std::move(code));
  }
}

void InterpretedKernel::State::make_descriptor() {
  const auto functions = InterpretedCalls::functions(std::make_index_sequence<most_phases>());
  if (kernel.phases.size() > most_phases) throw BrokenCode("more phases than the interpreter has functions");
  const auto slot_of = [&](const std::string& array) {
    const auto* shared =
        array.empty() ? nullptr : std::get_if<loop_ir::Shared>(&kernel.arrays[names.array(array)].origin);
    return shared ? shared->slot : -1;
  };
  for (std::size_t n = 0; n < kernel.phases.size(); ++n) {
    const loop_ir::Phase& phase = kernel.phases[n];
    schaas_phase one = functions[n];
    one.parallel = phase.parallel ? 1 : 0;
    one.balance_arg = phase.balance_argument;
    one.balance_level = phase.balance_level;
    one.step = phase.step == loop_ir::Step::symbolic ? SCHAAS_STEP_COUNT : SCHAAS_STEP_COMPUTE;
    one.fold = phase.fold ? fold_number(phase.fold->monoid) : SCHAAS_FOLD_NONE;
    one.fold_target = phase.fold ? slot_of(phase.fold->array) : -1;
    if (!phase.fold) one.work = nullptr;
    if (!phase.row_split) one.part = nullptr;
    if (!phase.row_split || phase.row_split->carry_out.empty()) {
      one.carry_elements = nullptr;
      one.combine = nullptr;
    }
    one.part_fold = phase.row_split ? fold_number(phase.row_split->monoid) : SCHAAS_FOLD_NONE;
    if (!phase.numeric) one.values = nullptr;
    one.over = phase.over.empty() ? 0 : 1 + slot_of(phase.over);
    abi_phases.push_back(one);
  }
  for (const auto& each : kernel.counters) counters.push_back({each.level, each.slot});
  for (const auto& each : kernel.copies)
    copy_modes.emplace_back(each.mode_order.begin(), each.mode_order.end());
  for (std::size_t n = 0; n < kernel.copies.size(); ++n)
    copies.push_back({kernel.copies[n].of, copy_modes[n].data(), kernel.copies[n].locates ? 1 : 0});
  for (const auto& array : kernel.arrays) {
    const auto* one = std::get_if<loop_ir::Shared>(&array.origin);
    if (one == nullptr) continue;
    const auto slot = static_cast<std::size_t>(one->slot);
    if (shared.size() <= slot) shared.resize(slot + 1, {SCHAAS_SHARED_ZERO, -1, -1});
    if (one->referenced)
      shared[slot] = {SCHAAS_SHARED_MET, one->referenced->argument, one->referenced->level};
    else if (one->stored)
      shared[slot].start = SCHAAS_SHARED_STORED;
  }
  descriptor.abi_version = SCHAAS_KERNEL_ABI_VERSION;
  descriptor.argument_count = kernel.arguments;
  descriptor.phase_count = static_cast<std::int32_t>(abi_phases.size());
  descriptor.shared_count = static_cast<std::int32_t>(shared.size());
  descriptor.phases = abi_phases.data();
  descriptor.shared_bytes = InterpretedCalls::shared_bytes;
  descriptor.workspace_bytes = InterpretedCalls::workspace_bytes;
  descriptor.key = descriptor.problem = descriptor.schedule = "";
  descriptor.isa = "interpreter";
  descriptor.counter_count = static_cast<std::int32_t>(counters.size());
  descriptor.counters = counters.data();
  descriptor.result_fill = kernel.result_fill;
  descriptor.writes_all = kernel.writes_all ? 1 : 0;
  descriptor.copy_count = static_cast<std::int32_t>(copies.size());
  descriptor.copies = copies.data();
  descriptor.table_bytes = tables ? InterpretedCalls::table_bytes : nullptr;
  descriptor.appends = static_cast<std::int32_t>(kernel.appends);
  descriptor.shared = shared.data();
}

ArrayView InterpretedKernel::State::view_of(const loop_ir::Array& array, std::size_t number, const Call& call,
                                            Frame& frame, std::int64_t& offset) const {
  const auto writable = [](const void* data) { return const_cast<void*>(data); };
  return std::visit(
      Match{
          [&](const loop_ir::ArgumentValues& x) {
            const schaas_tensor& tensor = *call.args[x.argument];
            return ArrayView{tensor.values, tensor.order == 0 ? 1 : tensor.levels[tensor.order - 1].entries};
          },
          [&](const loop_ir::Positions& x) {
            const schaas_tensor& tensor = *call.args[x.argument];
            return ArrayView{writable(tensor.levels[x.level].pos), entries_above(tensor, x.level) + 1};
          },
          [&](const loop_ir::Coordinates& x) {
            const schaas_tensor& tensor = *call.args[x.argument];
            return ArrayView{writable(tensor.levels[x.level].crd), coordinates_of(tensor, x.level)};
          },
          [&](const loop_ir::Shared& x) {
            return call.shared == nullptr ? ArrayView{}
                                          : ArrayView{call.shared[x.slot], counts.at(number)(frame)};
          },
          [&](const loop_ir::Scratch&) {
            if (call.workspace == nullptr) return ArrayView{};
            ArrayView view{static_cast<char*>(call.workspace) + offset, counts.at(number)(frame)};
            offset += padded(view.count * bytes_of(array.element, names.arithmetic()));
            return view;
          },
          [&](const loop_ir::Staged&) { return ArrayView{}; },
          [&](const loop_ir::CarryOut&) {
            return call.carry == nullptr ? ArrayView{} : ArrayView{call.carry, counts.at(number)(frame)};
          },
      },
      array.origin);
}

Frame InterpretedKernel::State::frame_of(const Call& call) const {
  Frame frame = names.frame();
  for (std::size_t n = 0; n < extents.size(); ++n) {
    const loop_ir::Extent& extent = kernel.extents[n];
    frame.indices[extents[n]] = call.args[extent.argument]->extents[extent.mode];
  }
  for (const auto& [slot, code] : lets) frame.indices[slot] = code(frame);
  frame.indices[capacity] =
      call.workspace != nullptr && tables ? *static_cast<const std::int64_t*>(call.workspace) : call.capacity;
  frame.indices[begin] = call.begin;
  frame.indices[end] = call.end;
  frame.indices[first] = call.first;
  frame.indices[last] = call.last;
  std::int64_t offset = tables ? 64 : 0;
  for (std::size_t n = 0; n < kernel.arrays.size(); ++n)
    frame.arrays[n] = view_of(kernel.arrays[n], n, call, frame, offset);
  return frame;
}

std::int64_t InterpretedKernel::State::workspace_bytes(const Call& call) const {
  Frame frame = frame_of(call);
  std::int64_t total = tables ? 64 : 0;
  for (std::size_t n = 0; n < kernel.arrays.size(); ++n) {
    if (std::holds_alternative<loop_ir::Scratch>(kernel.arrays[n].origin))
      total += padded(counts.at(n)(frame) * bytes_of(kernel.arrays[n].element, names.arithmetic()));
  }
  return total;
}

std::int32_t InterpretedKernel::State::run(const StatementCode& code, const Call& call) {
  Frame frame = frame_of(call);
  std::string broken;
  try {
    code(frame);
  } catch (const BrokenCode& what) {
    broken = what.what();
  }
  const std::lock_guard lock(mutex);
  work.add(frame.work);
  if (!broken.empty()) {
    if (error.empty()) error = broken;
    return SCHAAS_ERROR_ARGUMENT;
  }
  return frame.overflow ? SCHAAS_TABLES_FULL : SCHAAS_OK;
}

InterpretedKernel::InterpretedKernel(loop_ir::Kernel kernel)
    : state_(std::make_unique<State>(std::move(kernel))) {
  if (InterpretedCalls::living != nullptr) throw std::logic_error("two interpreted kernels at a time");
  const auto mentions_capacity = [](const loop_ir::Array& array) {
    const auto* scratch = std::get_if<loop_ir::Scratch>(&array.origin);
    return scratch != nullptr && loop_ir::mentions(scratch->count, {"capacity"});
  };
  for (const auto& array : state_->kernel.arrays) state_->tables = state_->tables || mentions_capacity(array);
  state_->make_code();
  state_->make_descriptor();
  InterpretedCalls::living = state_.get();
}

InterpretedKernel::~InterpretedKernel() { InterpretedCalls::living = nullptr; }

const schaas_kernel_descriptor& InterpretedKernel::descriptor() const { return state_->descriptor; }

InterpretedWork InterpretedKernel::work() const {
  const std::lock_guard lock(state_->mutex);
  return state_->work;
}

std::string InterpretedKernel::error() const {
  const std::lock_guard lock(state_->mutex);
  return state_->error;
}

}  // namespace schaas::test_support
