#pragma once
#include <string>
#include <vector>

#include "compiler/frontier/frontier.h"
#include "compiler/lower/pass_runner.h"
#include "compiler/problem/canonical.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/cancellation.h"
#include "compiler/support/digest.h"
#include "compiler/toolchain/toolchain.h"

/// THE entrance to the compiler: the stages in order. Everything here speaks canonical names.
namespace schaas::pipeline {

/// Bumped whenever lowering or code generation changes what a trace compiles to: part of every kernel key.
inline constexpr int code_version = 93;
/// Bumped whenever the search changes what it returns: part of every stored frontier.
inline constexpr int search_version = 50;

enum class Language { trace, tree, loops, c, cuda };
support::Result<Language> parse_language(const std::string& text);

using PassOptions = lower::PassOptions;
using PassList = lower::PassList;
using PassRemark = lower::Remark;
/// Reads a selection of lowering's passes (lower::parse_passes). Errors: invalid [pass], also for traces and
/// trees, which are printed before lowering.
support::Result<PassList> parse_passes(const std::string& passes, const std::string& last, Language language);

/// The source text of one schedule in one of its forms, lowered by `passes`.
support::Result<std::string> emit(const problem::Problem& problem, const schedule::Trace& trace,
                                  Language language, const std::string& isa, const PassOptions& passes = {});

/// Identity of a compiled kernel: problem key, trace, target, toolchain, code_version. Hexadecimal SHA-256.
std::string kernel_key(const problem::Canonical& canonical, const schedule::Trace& trace,
                       const toolchain::Target& target, const toolchain::Toolchain& toolchain);

/// Trace -> tree -> loop IR -> C -> shared object. Returns the binary's bytes.
support::Result<std::string> compile(const problem::Canonical& canonical, const schedule::Trace& trace,
                                     const toolchain::Target& target, toolchain::Toolchain& toolchain,
                                     const support::Cancellation& cancellation);

}  // namespace schaas::pipeline
