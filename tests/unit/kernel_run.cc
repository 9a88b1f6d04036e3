#include "tests/unit/kernel_run.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

#include "compiler/codegen/c_printer.h"
#include "compiler/concrete_notation/parser.h"
#include "compiler/concrete_notation/verifier.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/loop_ir/verifier.h"
#include "compiler/lower/lower.h"
#include "compiler/toolchain/toolchain.h"
#include "proto/kernel_abi.h"

namespace schaas::testing {
namespace {

using format::LevelFormat;

std::size_t offset_of(const DenseTensor& tensor, const std::vector<std::int64_t>& coordinates) {
  std::size_t offset = 0;
  for (std::size_t mode = 0; mode < coordinates.size(); ++mode) {
    offset = offset * static_cast<std::size_t>(tensor.extents[mode]) + static_cast<std::size_t>(coordinates[mode]);
  }
  return offset;
}

/// Memory of one array: exactly as many bytes as used, so that a sanitizer sees a step outside.
using Bytes = std::vector<char>;

Bytes index_bytes(const std::vector<std::int64_t>& values, int bits) {
  Bytes bytes(values.size() * static_cast<std::size_t>(bits / 8));
  for (std::size_t n = 0; n < values.size(); ++n) {
    const auto narrow = static_cast<std::int32_t>(values[n]);
    if (bits == 32) std::memcpy(bytes.data() + 4 * n, &narrow, 4);
    if (bits == 64) std::memcpy(bytes.data() + 8 * n, &values[n], 8);
  }
  return bytes;
}

struct Packed {
  schaas_tensor tensor{};
  std::vector<std::int64_t> extents;
  std::vector<std::int32_t> mode_order;
  std::vector<schaas_level> levels;
  std::vector<std::unique_ptr<Bytes>> arrays;
  std::vector<double> f64;
  std::vector<float> f32;
};

class Packer {
 public:
  Packer(const DenseTensor& dense, const format::TensorFormat& format, const problem::Problem& problem)
      : dense_(dense), format_(format), problem_(problem), positions_(format.levels.size()), crds_(format.levels.size()) {}

  std::unique_ptr<Packed> run() {
    std::vector<std::int64_t> coordinates(dense_.extents.size());
    for (std::size_t level = 0; level < positions_.size(); ++level) positions_[level].push_back(0);
    fill(0, coordinates);
    auto packed = std::make_unique<Packed>();
    packed->extents = dense_.extents;
    packed->mode_order.assign(format_.mode_order.begin(), format_.mode_order.end());
    std::int64_t entries = 1;
    for (std::size_t level = 0; level < positions_.size(); ++level) {
      schaas_level each{};
      if (format_.levels[level] == LevelFormat::dense) {
        entries *= extent(level);
      } else {
        entries = static_cast<std::int64_t>(crds_[level].size());
        each.format = SCHAAS_LEVEL_COMPRESSED;
        each.index_bits = problem_.position_bits;
        each.pos = keep(*packed, positions_[level]);
        each.crd = keep(*packed, crds_[level]);
      }
      each.entries = entries;
      packed->levels.push_back(each);
    }
    packed->f64 = values_;
    packed->f32.assign(values_.begin(), values_.end());
    const bool f64 = problem_.value_type == problem::ValueType::f64;
    void* values = f64 ? static_cast<void*>(packed->f64.data()) : static_cast<void*>(packed->f32.data());
    packed->tensor = {static_cast<std::int32_t>(format_.levels.size()),
                      f64 ? SCHAAS_F64 : SCHAAS_F32,
                      packed->extents.data(),
                      packed->mode_order.data(),
                      packed->levels.data(),
                      values};
    return packed;
  }

 private:
  std::int64_t extent(std::size_t level) const {
    return dense_.extents[static_cast<std::size_t>(format_.mode_order[level])];
  }

  const void* keep(Packed& packed, const std::vector<std::int64_t>& values) const {
    packed.arrays.push_back(std::make_unique<Bytes>(index_bytes(values, problem_.position_bits)));
    return packed.arrays.back()->data();
  }

  bool any_below(std::size_t level, std::vector<std::int64_t> coordinates) const {
    if (level == format_.levels.size()) return dense_.present[offset_of(dense_, coordinates)];
    for (std::int64_t c = 0; c < extent(level); ++c) {
      coordinates[static_cast<std::size_t>(format_.mode_order[level])] = c;
      if (any_below(level + 1, coordinates)) return true;
    }
    return false;
  }

  void fill(std::size_t level, std::vector<std::int64_t>& coordinates) {
    if (level == format_.levels.size()) {
      const std::size_t offset = offset_of(dense_, coordinates);
      values_.push_back(dense_.present[offset] ? dense_.values[offset] : 0);
      return;
    }
    const bool compressed = format_.levels[level] == LevelFormat::compressed;
    for (std::int64_t c = 0; c < extent(level); ++c) {
      coordinates[static_cast<std::size_t>(format_.mode_order[level])] = c;
      if (compressed && !any_below(level + 1, coordinates)) continue;
      if (compressed) crds_[level].push_back(c);
      fill(level + 1, coordinates);
    }
    if (compressed) positions_[level].push_back(static_cast<std::int64_t>(crds_[level].size()));
  }

  const DenseTensor& dense_;
  const format::TensorFormat& format_;
  const problem::Problem& problem_;
  std::vector<std::vector<std::int64_t>> positions_;
  std::vector<std::vector<std::int64_t>> crds_;
  std::vector<double> values_;
};

/// 64-byte aligned zeros, as the ABI promises.
class Buffer {
 public:
  explicit Buffer(std::int64_t bytes) : memory_(static_cast<std::size_t>(bytes) + 64) {}
  void* data() {
    void* start = memory_.data();
    std::size_t space = memory_.size();
    return std::align(64, memory_.size() - 64, start, space);
  }

 private:
  std::vector<char> memory_;
};

class Loaded {
 public:
  explicit Loaded(const std::string& binary) {
    std::string path = (std::filesystem::temp_directory_path() / "schaas-test-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) return;
    const std::string file = path + "/kernel.so";
    std::ofstream(file, std::ios::binary) << binary;
    handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    std::filesystem::remove_all(path);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  ~Loaded() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  const schaas_kernel_descriptor* kernel() const {
    return handle_ == nullptr ? nullptr
                              : static_cast<const schaas_kernel_descriptor*>(dlsym(handle_, SCHAAS_KERNEL_SYMBOL));
  }

 private:
  void* handle_ = nullptr;
};

std::string run_phases(const schaas_kernel_descriptor& kernel, const std::vector<const schaas_tensor*>& args,
                       void* workspace, int pieces) {
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<void*> shared;
  for (int which = 0; which < kernel.shared_count; ++which) {
    buffers.push_back(std::make_unique<Buffer>(kernel.shared_bytes(args.data(), which)));
    shared.push_back(buffers.back()->data());
  }
  for (int n = 0; n < kernel.phase_count; ++n) {
    const schaas_phase& phase = kernel.phases[n];
    const std::int64_t range = phase.range(args.data());
    const int parts = phase.parallel ? pieces : 1;
    for (int part = parts - 1; part >= 0; --part) {
      const int status = phase.run(args.data(), shared.data(), workspace, range * part / parts, range * (part + 1) / parts);
      if (status != 0) return "phase " + std::to_string(n) + " returned " + std::to_string(status);
    }
  }
  return "";
}

}  // namespace

std::map<std::string, DenseTensor> random_operands(const RunCase& run, std::mt19937_64& random) {
  std::uniform_real_distribution<double> value(0.5, 1.5);
  std::uniform_real_distribution<double> chance(0, 1);
  std::map<std::string, DenseTensor> operands;
  const auto tensors = run.problem.tensors();
  for (std::size_t n = 1; n < tensors.size(); ++n) {
    DenseTensor dense;
    std::size_t size = 1;
    for (const auto& index : run.problem.indices_of(tensors[n])) {
      dense.extents.push_back(run.extents.at(index));
      size *= static_cast<std::size_t>(dense.extents.back());
    }
    const bool sparse = !run.problem.formats.at(tensors[n]).all_dense();
    for (std::size_t e = 0; e < size; ++e) {
      dense.values.push_back(value(random) * (chance(random) < 0.5 ? -1 : 1));
      dense.present.push_back(!sparse || chance(random) < run.density);
      if (!dense.present.back()) dense.values.back() = 0;
    }
    operands[tensors[n]] = std::move(dense);
  }
  return operands;
}

std::vector<double> brute_force(const RunCase& run, const std::map<std::string, DenseTensor>& operands) {
  const auto& statement = run.problem.statement;
  const auto names = index_notation::index_variables(statement);
  DenseTensor result;
  std::size_t size = 1;
  for (const auto& index : statement.result.indices) {
    result.extents.push_back(run.extents.at(index));
    size *= static_cast<std::size_t>(result.extents.back());
  }
  result.values.assign(size, 0);
  std::map<std::string, std::int64_t> at;
  const auto place = [&](const DenseTensor& tensor, const index_notation::Access& access) {
    std::vector<std::int64_t> coordinates;
    for (const auto& index : access.indices) coordinates.push_back(at[index]);
    return offset_of(tensor, coordinates);
  };
  const std::function<void(std::size_t)> visit = [&](std::size_t depth) {
    if (depth < names.size()) {
      for (at[names[depth]] = 0; at[names[depth]] < run.extents.at(names[depth]); ++at[names[depth]]) visit(depth + 1);
      return;
    }
    double product = 1;
    for (const auto& access : run.problem.operands()) {
      const auto& tensor = operands.at(access.tensor);
      product *= tensor.values[place(tensor, access)];
    }
    result.values[place(result, statement.result)] += product;
  };
  visit(0);
  return result.values;
}

std::string compile_and_check(const loop_ir::Kernel& kernel, const RunCase& run, std::mt19937_64& random) {
  const std::string source = codegen::print_c(kernel, {"key", "schedule", "x86-64-v3", "problem"});
  static const auto toolchain = toolchain::make_c_toolchain({});
  const auto binary = toolchain->compile_c(source, {}, support::Cancellation());
  if (!binary.ok()) return support::render(binary.error()) + "\n" + source;
  const Loaded loaded(*binary);
  if (loaded.kernel() == nullptr) return "the kernel does not load";

  const auto operands = random_operands(run, random);
  const auto expected = brute_force(run, operands);
  const std::string& result_name = run.problem.statement.result.tensor;
  std::vector<std::unique_ptr<Packed>> packed;
  std::vector<const schaas_tensor*> args;
  for (const auto& name : run.problem.tensors()) {
    DenseTensor dense;
    if (name == result_name) {
      for (const auto& index : run.problem.indices_of(name)) dense.extents.push_back(run.extents.at(index));
      dense.values.assign(expected.size(), 0);
      dense.present.assign(expected.size(), true);
    } else {
      dense = operands.at(name);
    }
    packed.push_back(Packer(dense, run.problem.formats.at(name), run.problem).run());
    args.push_back(&packed.back()->tensor);
  }
  Buffer workspace(loaded.kernel()->workspace_bytes(args.data()));
  for (int repeat = 1; repeat <= 2; ++repeat) {  // the kernel adds: the second run doubles the result
    const std::string failure = run_phases(*loaded.kernel(), args, workspace.data(), run.pieces);
    if (!failure.empty()) return failure;
    const bool f64 = run.problem.value_type == problem::ValueType::f64;
    DenseTensor shape;
    shape.extents = packed[0]->extents;
    double largest = 0;
    for (const double e : expected) largest = std::max(largest, std::abs(e));
    // Stored order of the result -> row-major order, through its packed coordinates.
    const auto& order = run.problem.formats.at(result_name).mode_order;
    std::vector<std::int64_t> coordinates(order.size());
    std::size_t stored = 0;
    std::string difference;
    const std::function<void(std::size_t)> visit = [&](std::size_t level) {
      if (level < order.size()) {
        const auto mode = static_cast<std::size_t>(order[level]);
        for (coordinates[mode] = 0; coordinates[mode] < shape.extents[mode]; ++coordinates[mode]) visit(level + 1);
        return;
      }
      const double found = f64 ? packed[0]->f64[stored] : static_cast<double>(packed[0]->f32[stored]);
      ++stored;
      const double wanted = repeat * expected[offset_of(shape, coordinates)];
      if (!(std::abs(found - wanted) <= (f64 ? 1e-12 : 1e-4) * std::max(1.0, largest)) && difference.empty()) {
        difference = "run " + std::to_string(repeat) + ": element " + std::to_string(stored - 1) + " is " +
                     std::to_string(found) + ", expected " + std::to_string(wanted) + "\n" + loop_ir::print(kernel);
      }
    };
    visit(0);
    if (!difference.empty()) return difference;
  }
  return "";
}

std::string check_tree(const std::string& tree, const RunCase& run, std::uint64_t seed) {
  const auto parsed = concrete_notation::parse(tree);
  if (!parsed.ok()) return support::render(parsed.error());
  const auto legal = concrete_notation::verify(*parsed, run.problem);
  if (!legal.ok()) return support::render(legal.error());
  const auto kernel = lower::lower(*parsed, run.problem);
  if (!kernel.ok()) return support::render(kernel.error());
  const auto verified = loop_ir::verify(*kernel);
  if (!verified.ok()) return support::render(verified.error()) + "\n" + loop_ir::print(*kernel);
  std::mt19937_64 random(seed);
  const auto failure = compile_and_check(*kernel, run, random);
  return failure.empty() ? "" : "seed " + std::to_string(seed) + ": " + failure;
}

}  // namespace schaas::testing
