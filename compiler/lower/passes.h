#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/names.h"
#include "compiler/lower/analysis/nest.h"
#include "compiler/support/result.h"

/// The passes of lowering as a table (passes.cc), which alone knows their order.
namespace schaas::lower {

enum class Machine { cpu, gpu };

/// One pass: a rewrite of the numbered tree before emission, or of the kernel after it. No pass is needed for
/// correctness: a kernel computes the same without it.
struct Pass {
  /// Rewrites the tree itself and tells whether it changed something.
  using OnNest = bool (*)(NestTree&);
  using OnKernel = loop_ir::Kernel (*)(loop_ir::Kernel);
  using OnKernelWithNames = loop_ir::Kernel (*)(loop_ir::Kernel, Names&);

  std::string_view name;
  std::variant<OnNest, OnKernel, OnKernelWithNames> run;
  std::string_view rewrites;              ///< noun phrase: the code it applies to
  std::vector<std::string_view> needs{};  ///< passes that make such code; it does not apply without them
  std::vector<std::string_view>
      after{};             ///< passes before it where both run; others may be exchanged with it
  std::string_view why{};  ///< reason for `after`
  std::string_view keeps = "everything else";  ///< properties of the code that later passes may rely on
  Machine machine = Machine::cpu;
  bool baseline = false;  ///< also part of baseline kernels, which compile fast
};

/// Passes in the order in which they run.
using PassList = std::vector<const Pass*>;

/// Name of the step between passes on trees and those on kernels. It cannot be left out.
inline constexpr std::string_view emission = "emission";

/// Every pass, in the order of the table.
PassList all_passes();
/// The passes of baseline kernels.
PassList baseline_passes();
/// Returns the pass with this name, or null.
const Pass* find_pass(std::string_view name);
/// Reads a selection: names separated by commas, `all`, `baseline`, and with a `-` before it what is left
/// out. The selection starts empty, or with all passes when it is empty or its first word has a `-`. With
/// `last`, leaves out the passes after this one or after `emission`. Errors: invalid [pass].
support::Result<PassList> parse_passes(std::string_view text, std::string_view last = {});
/// Every pass comes after those that the table wants before it.
bool is_in_order(const PassList& passes);

bool rewrites_nest(const Pass& pass);  ///< else it rewrites the kernel

}  // namespace schaas::lower
