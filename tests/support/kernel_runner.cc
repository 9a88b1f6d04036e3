#include "tests/support/kernel_runner.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <thread>
#include <type_traits>
#include <utility>

#include "tests/support/typed_number.h"

// A runtime for kernels by the rules of proto/kernel_abi.h, which is all that it shares with
// client/cpp/runtime. It is as strict as the ABI allows. Buffers have guard bytes, hash tables start with two
// slots, and arrays start as NaN where a kernel must write them. Ranges are cut at random, empty ones
// included, shuffled, and run by two threads that keep their scratch memory. Rows are split at random
// positions too. Error codes, writes behind an array and impossible counts are reported; values are compared
// by the caller.
namespace schaas::test_support {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t guard = 64;
constexpr unsigned char guard_byte = 0xA5;

/// Zeroed, aligned, and followed by a guard that tells a write behind the end.
class Buffer {
 public:
  explicit Buffer(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    const std::size_t all = (bytes_ + guard + alignment - 1) / alignment * alignment;
    data_.reset(static_cast<unsigned char*>(std::aligned_alloc(alignment, all)));
    std::memset(data_.get(), 0, bytes_);
    std::memset(data_.get() + bytes_, guard_byte, guard);
  }
  void* data() const { return data_.get(); }
  void clear() const { std::memset(data_.get(), 0, bytes_); }
  bool intact() const {
    return std::all_of(data_.get() + bytes_, data_.get() + bytes_ + guard,
                       [](unsigned char byte) { return byte == guard_byte; });
  }

 private:
  struct Free {
    void operator()(void* data) const { std::free(data); }
  };
  std::size_t bytes_;
  std::unique_ptr<unsigned char, Free> data_;
};

/// Iterations [begin, end), or of the one iteration `begin` the positions [first, last).
struct Piece {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t first = -1;
  std::int64_t last = -1;
};

/// Cuts [0, range) at up to five random points; equal points give empty pieces.
std::vector<Piece> cut(std::int64_t range, Cuts cuts, std::mt19937_64& random) {
  std::vector<std::int64_t> bounds{0, range};
  if (cuts == Cuts::random) {
    const auto count = random() % 6;
    for (std::size_t n = 0; n < count; ++n) {
      bounds.push_back(std::uniform_int_distribution<std::int64_t>(0, range)(random));
    }
  }
  std::sort(bounds.begin(), bounds.end());
  std::vector<Piece> pieces;
  for (std::size_t n = 0; n + 1 < bounds.size(); ++n) pieces.push_back({bounds[n], bounds[n + 1]});
  return pieces;
}

/// State shared by the two threads of a run, and the workspace of each.
struct Run {
  const schaas_kernel_descriptor& kernel;
  const schaas_tensor* const* arguments;
  std::vector<Buffer> shared;
  std::vector<void*> shared_data;
  std::vector<Buffer> workspaces;
  std::vector<std::int64_t> places{0, 0};  ///< capacity of the tables in each workspace
  bool values_alone = false;               ///< the result has its structure
  std::int32_t flags = 0;                  ///< 1: values are stored so
};

/// Folds two values with the monoid of the ABI.
double folded(std::int32_t fold, double a, double b) {
  switch (fold) {
    case SCHAAS_FOLD_SUM:
      return a + b;
    case SCHAAS_FOLD_PRODUCT:
      return a * b;
    case SCHAAS_FOLD_MIN:
      return std::min(a, b);
    case SCHAAS_FOLD_MAX:
      return std::max(a, b);
    case SCHAAS_FOLD_OR:
      return a != 0 || b != 0 ? 1 : 0;
    default:
      return a != 0 && b != 0 ? 1 : 0;
  }
}

/// Folds integers as kernels do: sums and products wrap around.
template <class Integer>
void fold_integers(std::int32_t fold, void* into, const void* from, std::int64_t n) {
  using Unsigned = std::make_unsigned_t<Integer>;
  Integer& a = static_cast<Integer*>(into)[n];
  const Integer b = static_cast<const Integer*>(from)[n];
  if (fold == SCHAAS_FOLD_SUM)
    a = static_cast<Integer>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  else if (fold == SCHAAS_FOLD_PRODUCT)
    a = static_cast<Integer>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
  else if (fold == SCHAAS_FOLD_MIN || fold == SCHAAS_FOLD_MAX)
    a = fold == SCHAAS_FOLD_MIN ? std::min(a, b) : std::max(a, b);
  else
    a = static_cast<Integer>(folded(fold, static_cast<double>(a != 0), static_cast<double>(b != 0)));
}

/// Folds element n of `from` into that of `into`, both of this value type.
void fold_element(std::int32_t type, std::int32_t fold, void* into, const void* from, std::int64_t n) {
  if (type == SCHAAS_I64) return fold_integers<std::int64_t>(fold, into, from, n);
  if (type == SCHAAS_I32) return fold_integers<std::int32_t>(fold, into, from, n);
  const auto a = read_complex_number(into, type, n), b = read_complex_number(from, type, n);
  const bool complex = a.imag() != 0 || b.imag() != 0;
  if (complex && (fold == SCHAAS_FOLD_SUM || fold == SCHAAS_FOLD_PRODUCT))
    return write_complex_number(into, type, n, fold == SCHAAS_FOLD_SUM ? a + b : a * b);
  const auto number = [&](std::complex<double> x) { return complex ? (x != 0.0 ? 1.0 : 0.0) : x.real(); };
  write_number(into, type, n, folded(fold, number(a), number(b)));
}

/// Returns the identity of a monoid of the ABI.
double identity(std::int32_t fold) {
  if (fold == SCHAAS_FOLD_MIN || fold == SCHAAS_FOLD_MAX)
    return (fold == SCHAAS_FOLD_MIN ? 1 : -1) * std::numeric_limits<double>::infinity();
  return fold == SCHAAS_FOLD_PRODUCT || fold == SCHAAS_FOLD_AND ? 1 : 0;
}

/// Private array that a task of a reducing phase writes instead of the target.
class OwnTarget {
 public:
  OwnTarget(const Run& run, const schaas_phase& phase)
      : type_(run.arguments[0]->value_type),
        elements_(elements(run, phase)),
        values_(elements_ * static_cast<std::int64_t>(value_bytes(type_))),
        result_(*run.arguments[0]),
        arguments_(run.arguments, run.arguments + run.kernel.argument_count),
        shared_(run.shared_data) {
    for (std::int64_t n = 0; n < elements_; ++n) set(values_.data(), n, identity(phase.fold));
    if (phase.fold_target < 0) {
      target_ = result_.values;
      result_.values = values_.data();
      arguments_[0] = &result_;
    } else {
      target_ = shared_[static_cast<std::size_t>(phase.fold_target)];
      shared_[static_cast<std::size_t>(phase.fold_target)] = values_.data();
    }
  }
  const schaas_tensor* const* arguments() const { return arguments_.data(); }
  void* const* shared() const { return shared_.data(); }
  bool intact() const { return values_.intact(); }
  void fold(std::int32_t monoid) const {
    for (std::int64_t n = 0; n < elements_; ++n) fold_element(type_, monoid, target_, values_.data(), n);
  }

 private:
  static std::int64_t elements(const Run& run, const schaas_phase& phase) {
    const schaas_tensor& result = *run.arguments[0];
    if (phase.fold_target >= 0)
      return run.kernel.shared_bytes(run.arguments, phase.fold_target) /
             static_cast<std::int64_t>(value_bytes(result.value_type));
    return result.order == 0 ? 1 : result.levels[result.order - 1].entries;
  }
  void set(void* to, std::int64_t n, double value) const { write_number(to, type_, n, value); }

  std::int32_t type_;
  std::int64_t elements_;
  Buffer values_;
  schaas_tensor result_;
  std::vector<const schaas_tensor*> arguments_;
  std::vector<void*> shared_;
  void* target_ = nullptr;
};

/// Reads a position of either width.
std::int64_t position(const schaas_level& level, std::int64_t at) {
  return level.index_bits == 32 ? static_cast<const std::int32_t*>(level.pos)[at]
                                : static_cast<const std::int64_t*>(level.pos)[at];
}

/// Some of the pieces with one of their iterations in up to three parts, some of them empty.
std::vector<Piece> with_parts(const std::vector<Piece>& pieces, const schaas_phase& phase,
                              const schaas_tensor* const* arguments, std::mt19937_64& random) {
  const schaas_level& level = arguments[phase.balance_arg]->levels[phase.balance_level];
  std::vector<Piece> out;
  for (const Piece& piece : pieces) {
    if (piece.begin == piece.end || random() % 3 == 0) {
      out.push_back(piece);
      continue;
    }
    const auto at = std::uniform_int_distribution<std::int64_t>(piece.begin, piece.end - 1)(random);
    std::vector<std::int64_t> borders{position(level, at), position(level, at + 1)};
    for (auto more = random() % 3; more > 0; --more)
      borders.push_back(std::uniform_int_distribution<std::int64_t>(borders[0], borders[1])(random));
    std::sort(borders.begin(), borders.end());
    out.push_back({piece.begin, at});
    for (std::size_t n = 0; n + 1 < borders.size(); ++n)
      out.push_back({at, at + 1, borders[n], borders[n + 1]});
    out.push_back({at + 1, piece.end});
  }
  return out;
}

/// Carry-out array of a partial result.
class OwnCarry {
 public:
  OwnCarry(std::int64_t elements, std::int32_t type, std::int32_t fold)
      : elements_(elements), type_(type), values_(elements * static_cast<std::int64_t>(value_bytes(type))) {
    for (std::int64_t n = 0; n < elements_; ++n) set(n, identity(fold));
  }
  void* data() const { return values_.data(); }
  bool intact() const { return values_.intact(); }
  void fold(std::int32_t monoid, const OwnCarry& other) const {
    for (std::int64_t n = 0; n < elements_; ++n) fold_element(type_, monoid, data(), other.data(), n);
  }

 private:
  void set(std::int64_t n, double value) const { write_number(data(), type_, n, value); }
  std::int64_t elements_;
  std::int32_t type_;
  Buffer values_;
};

/// Folds the carries of each split iteration and adds them to its row; "" or an error.
std::string combine(const Run& run, const schaas_phase& phase,
                    std::map<std::int64_t, std::vector<const OwnCarry*>>& parts) {
  for (auto& [iteration, carries] : parts) {
    for (const OwnCarry* each : carries) {
      if (!each->intact()) return "a part wrote behind its carry";
      if (each != carries.front()) carries.front()->fold(phase.part_fold, *each);
    }
    if (phase.combine(run.arguments, run.shared_data.data(), iteration, carries.front()->data()) != SCHAAS_OK)
      return "combining failed";
  }
  return "";
}

constexpr std::int64_t first_places = 2;  // tables grow from the smallest

/// Gives a thread new, empty tables of this capacity.
void give_tables(Run& run, std::size_t thread, std::int64_t places) {
  run.workspaces[thread] = Buffer(run.kernel.table_bytes(run.arguments, places));
  *static_cast<std::int64_t*>(run.workspaces[thread].data()) = run.places[thread] = places;
}

/// A phase that counts, with as large tables as it turns out to need.
std::int32_t count_grown(Run& run, const schaas_phase& phase, std::int64_t begin, std::int64_t end,
                         std::size_t thread) {
  while (true) {
    const std::int32_t code =
        phase.run(run.arguments, run.shared_data.data(), run.workspaces[thread].data(), begin, end);
    if (code != SCHAAS_TABLES_FULL) return code;
    if (!run.workspaces[thread].intact()) return SCHAAS_ERROR_ARGUMENT;
    give_tables(run, thread, 2 * run.places[thread]);
  }
}

/// The coordinates that a shared array is to hold.
std::set<std::int64_t> met(const schaas_tensor& tensor, const schaas_shared& array) {
  const schaas_level& level = tensor.levels[array.level];
  std::set<std::int64_t> out;
  for (std::int64_t p = 0; p < level.entries; ++p)
    out.insert(level.index_bits == 32 ? static_cast<const std::int32_t*>(level.crd)[p]
                                      : static_cast<const std::int64_t*>(level.crd)[p]);
  return out;
}

/// Returns the iterations of a phase; of one over referenced coordinates, their number.
std::int64_t range_of(const Run& run, const schaas_phase& phase) {
  if (phase.over == 0) return phase.range(run.arguments);
  const schaas_shared& array = run.kernel.shared[phase.over - 1];
  return static_cast<std::int64_t>(met(*run.arguments[array.argument], array).size());
}

/// A shared array before the first phase, its elements all set so that what reads one too early is found out.
void start_shared(const Run& run, std::int32_t slot, Buffer& buffer) {
  const schaas_shared array =
      run.kernel.shared == nullptr ? schaas_shared{SCHAAS_SHARED_ZERO, -1, -1} : run.kernel.shared[slot];
  buffer.clear();
  if (array.start == SCHAAS_SHARED_STORED)
    std::memset(buffer.data(), 0xff,
                static_cast<std::size_t>(run.kernel.shared_bytes(run.arguments, slot)));  // NaN
  if (array.start != SCHAAS_SHARED_MET) return;
  auto* out = static_cast<std::int64_t*>(buffer.data());
  for (const std::int64_t coordinate : met(*run.arguments[array.argument], array)) *out++ = coordinate;
}

/// Cuts a phase, runs its pieces on one or two threads, and folds private results afterwards.
std::string run_phase(Run& run, int number, Cuts cuts, std::mt19937_64& random) {
  const schaas_phase& phase = run.kernel.phases[number];
  std::vector<Piece> pieces = cut(range_of(run, phase), cuts, random);
  const std::size_t threads = cuts == Cuts::random && phase.parallel != 0 ? 2 : 1;
  if (threads == 2 && phase.part != nullptr) pieces = with_parts(pieces, phase, run.arguments, random);
  if (threads == 2) std::shuffle(pieces.begin(), pieces.end(), random);
  std::deque<OwnTarget> own;
  if (phase.fold != SCHAAS_FOLD_NONE && threads == 2) {
    for (std::size_t n = 0; n < pieces.size(); ++n) own.emplace_back(run, phase);
  }
  std::map<std::int64_t, std::vector<const OwnCarry*>> parts;
  std::deque<OwnCarry> carries;
  std::vector<void*> carry_of(pieces.size(), nullptr);
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    if (pieces[n].first < 0 || phase.carry_elements == nullptr) continue;
    carries.emplace_back(phase.carry_elements(run.arguments), run.arguments[0]->value_type, phase.part_fold);
    carry_of[n] = carries.back().data();
    parts[pieces[n].begin].push_back(&carries.back());
  }
  std::vector<std::int32_t> status(threads, SCHAAS_OK);
  const auto work = [&](std::size_t thread) {
    for (std::size_t n = thread; n < pieces.size(); n += threads) {
      const auto* const* arguments = own.empty() ? run.arguments : own[n].arguments();
      void* const* shared = own.empty() ? run.shared_data.data() : own[n].shared();
      void* workspace = run.workspaces[thread].data();
      const Piece& piece = pieces[n];
      if (run.kernel.table_bytes != nullptr && phase.step == SCHAAS_STEP_COUNT) {
        status[thread] |= count_grown(run, phase, piece.begin, piece.end, thread);
        continue;
      }
      const auto whole = run.values_alone && phase.values != nullptr ? phase.values : phase.run;
      status[thread] |= piece.first < 0 ? whole(arguments, shared, workspace, piece.begin, piece.end)
                                        : phase.part(arguments, shared, workspace, piece.begin, piece.first,
                                                     piece.last, carry_of[n]);
    }
  };
  if (threads == 2) {
    std::thread other(work, 1);
    work(0);
    other.join();
  } else {
    work(0);
  }
  for (const OwnTarget& piece : own) {
    if (!piece.intact()) return "phase " + std::to_string(number) + " wrote behind its target";
    piece.fold(phase.fold);
  }
  if (const std::string error = combine(run, phase, parts); !error.empty()) return error;
  for (const std::int32_t one : status) {
    if (one != SCHAAS_OK) return "phase " + std::to_string(number) + " returned " + std::to_string(one);
  }
  return "";
}

/// Turns the counters into places and has the result allocated.
std::string scan(Run& run, const schaas_phase& last_counted, const Allocate& allocate) {
  if (!allocate) return "the kernel counts entries of a result that is there";
  const std::int64_t units = last_counted.range(run.arguments);
  std::vector<std::int64_t> entries;
  for (std::int32_t n = 0; n < run.kernel.counter_count; ++n) {
    const std::int32_t slot = run.kernel.counters[n].shared_slot;
    if (run.kernel.shared_bytes(run.arguments, slot) < (units + 1) * 8) return "a counter is too short";
    auto* counter = static_cast<std::int64_t*>(run.shared_data.at(static_cast<std::size_t>(slot)));
    std::int64_t total = 0;
    for (std::int64_t unit = 0; unit <= units; ++unit) {
      const std::int64_t count = unit < units ? counter[unit] : 0;
      if (count < 0 || count > 1000000)
        return "unit " + std::to_string(unit) + " counts " + std::to_string(count);
      counter[unit] = total;
      total += count;
    }
    entries.push_back(total);
  }
  allocate(entries);
  return "";
}

/// The computing phases once more, now that the result has its structure.
std::string rerun_values(Run& run, Cuts cuts, std::mt19937_64& random) {
  const schaas_tensor& result = *run.arguments[0];
  const double start = run.kernel.writes_all != 0 ? std::nan("") : run.kernel.result_fill;
  for (std::int64_t n = 0; n < result.levels[result.order - 1].entries; ++n) {
    write_number(result.values, result.value_type, n, start);
  }
  for (std::int32_t slot = 0; slot < run.kernel.shared_count; ++slot) {
    const auto* end = run.kernel.counters + run.kernel.counter_count;
    if (std::none_of(run.kernel.counters, end, [&](const auto& each) { return each.shared_slot == slot; }))
      start_shared(run, slot, run.shared[static_cast<std::size_t>(slot)]);
  }
  run.values_alone = true;
  std::string error;
  for (std::int32_t number = 0; number < run.kernel.phase_count && error.empty(); ++number) {
    if (run.kernel.phases[number].step == SCHAAS_STEP_COMPUTE) error = run_phase(run, number, cuts, random);
  }
  return error.empty() ? error : "values alone: " + error;
}

std::string load_error(const char* what) {
  const char* reason = dlerror();
  return std::string(what) + ": " + (reason ? reason : "unknown reason");
}

}  // namespace

support::Result<LoadedKernel> LoadedKernel::load(const std::string& bytes, const std::string& symbol) {
  const char* directory = std::getenv("TMPDIR");
  std::string path = std::string(directory && *directory ? directory : "/tmp") + "/schaas-test-XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) return support::internal("load", "no temporary file");
  const bool written = write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  close(file);
  void* library = written ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  unlink(path.c_str());
  if (!library) return support::internal("load", load_error("the kernel does not load"));
  LoadedKernel out;
  out.library_ = std::shared_ptr<void>(library, [](void* loaded) { dlclose(loaded); });
  return out.sibling(symbol);
}

support::Result<LoadedKernel> LoadedKernel::sibling(const std::string& symbol) const {
  LoadedKernel out = *this;
  out.descriptor_ = static_cast<const schaas_kernel_descriptor*>(dlsym(library_.get(), symbol.c_str()));
  if (!out.descriptor_) return support::internal("load", load_error("the object has no kernel"));
  if (out.descriptor_->abi_version != SCHAAS_KERNEL_ABI_VERSION) {
    return support::internal("load",
                             "the kernel has ABI version " + std::to_string(out.descriptor_->abi_version));
  }
  return out;
}

std::string run(const schaas_kernel_descriptor& kernel, const std::vector<const schaas_tensor*>& arguments,
                Cuts cuts, std::mt19937_64& random, const Allocate& allocate) {
  if (kernel.argument_count != static_cast<std::int32_t>(arguments.size())) {
    return "the kernel takes " + std::to_string(kernel.argument_count) + " arguments, not " +
           std::to_string(arguments.size());
  }
  Run state{kernel, arguments.data(), {}, {}, {}};
  for (std::int32_t which = 0; which < kernel.shared_count; ++which) {
    state.shared.emplace_back(kernel.shared_bytes(arguments.data(), which));
    start_shared(state, which, state.shared.back());
    state.shared_data.push_back(state.shared.back().data());
  }
  state.flags = static_cast<std::int32_t>(random() % 4);  // SCHAAS_FLAG_*
  state.shared_data.push_back(&state.flags);
  const std::int64_t bytes = kernel.workspace_bytes ? kernel.workspace_bytes(arguments.data()) : 0;
  for (std::size_t thread = 0; thread < 2; ++thread) {
    state.workspaces.emplace_back(bytes);
    if (kernel.table_bytes != nullptr) give_tables(state, thread, first_places);
  }
  bool counted = false;
  for (std::int32_t number = 0; number < kernel.phase_count; ++number) {
    const bool counting = kernel.phases[number].step == SCHAAS_STEP_COUNT;
    std::string error;
    if (counted && !counting) {
      error = scan(state, kernel.phases[number - 1], allocate);
      for (std::size_t thread = 0; kernel.table_bytes != nullptr && thread < 2; ++thread)
        give_tables(state, thread, std::max(state.places[0], state.places[1]));
    }
    if (error.empty()) error = run_phase(state, number, cuts, random);
    if (!error.empty()) return error;
    counted = counting;
  }
  const auto* end = kernel.phases + kernel.phase_count;
  const bool again =
      std::any_of(kernel.phases, end, [](const schaas_phase& phase) { return phase.values != nullptr; });
  if (again && random() % 2 == 0) {
    if (std::string error = rerun_values(state, cuts, random); !error.empty()) return error;
  }
  for (const auto* buffers : {&state.shared, &state.workspaces}) {
    for (const Buffer& buffer : *buffers) {
      if (!buffer.intact()) return "the kernel wrote behind a shared array or workspace";
    }
  }
  return "";
}

}  // namespace schaas::test_support
