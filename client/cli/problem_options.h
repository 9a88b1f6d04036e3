#pragma once
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "compiler/support/result.h"
#include "schaas/session.h"

namespace schaas::cli {

/// The options that say what is to be computed, shared by `run`, `schedule` and `emit`.
struct ProblemOptions {
  std::string expression;
  std::vector<std::string> formats;  ///< NAME=FORMAT
  std::vector<std::string> constraints;
  std::string value_type = "f64";
  std::string profile = "default";
  std::string space = "none";
  std::string positions = "auto";
};
void add_to(CLI::App& command, ProblemOptions& options);

/// The texts for the server. Errors: invalid [option-syntax], [given-twice].
support::Result<client::ProblemText> problem_text(const ProblemOptions& options);

/// The options that bound the search, shared by `run`, `schedule`, `emit` and `plot`.
void add_to(CLI::App& command, client::SearchOptions& options);

/// Which server, and how it is known to be that: shared by all commands.
struct ServerOptions {
  std::string address;
  std::string key;
  std::string tls_ca, tls_cert, tls_key;
  std::string token_file;
};
void add_to(CLI::App& command, ServerOptions& options);
/// Connects, starting the private server when none is configured.
support::Result<client::Connection> connect(const ServerOptions& options);
/// The same as a session.
support::Result<client::Session> open_session(const ServerOptions& options);

}  // namespace schaas::cli
