#include "client/cli/problem_options.h"

#include <cstdio>

#include "client/cli/display.h"
#include "client/cli/named_values.h"
#include "schaas/expression.h"

// Options that several commands share: the problem, the limits of the search, the server. They are checked by
// the server or by problem_text(), not by the parser, so that messages are the same from everywhere.
namespace schaas::cli {

void add_to(CLI::App& command, ProblemOptions& options) {
  command.add_option("EXPR", options.expression, "The statement, e.g. 'A(i,l) = B(i,j) * C(j,k) * D(k,l)'")
      ->required();
  command
      .add_option("-f,--format", options.formats,
                  "Format of a tensor by name or levels: B=csr, B=dense,compressed:1,0 (default: dense)")
      ->type_name("NAME=FORMAT")
      ->allow_extra_args(false);
  command
      .add_option("-c,--constraint", options.constraints,
                  "What is known of extents and nonzeros: '8 <= k <= 256', 'density(B) <= 1e-3'")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  command.add_option("--dtype", options.value_type, "Type of the values")
      ->capture_default_str()
      ->type_name(choices(client::value_type_names()));
  command
      .add_option("--profile", options.profile,
                  "Rules of the search: the sound ones, or those of the SparseAuto paper")
      ->capture_default_str()
      ->type_name(choices({"default", "sparseauto"}));
  command
      .add_option("--space", options.space,
                  "What to search beyond the plain space: none, all, or some of shorter-fusion, "
                  "stored-producers, row-blocks, copies, free-copies, with commas; all leaves the copies out")
      ->capture_default_str()
      ->type_name("NAMES");
  command.add_option("--positions", options.positions, "Bits of positions and coordinates")
      ->capture_default_str()
      ->type_name(choices({"auto", "32", "64"}));
}

support::Result<client::ProblemText> problem_text(const ProblemOptions& options) {
  client::ProblemText text;
  SCHAAS_ASSIGN_OR_RETURN(text.formats, parse_named(options.formats, {"-f", "NAME", "FORMAT", "-f B=csr"}));
  text.constraints = options.constraints;
  const auto type = client::value_type_named(options.value_type);
  if (!type)
    return support::invalid("value-type",
                            "`--dtype " + options.value_type + "`: expected " + client::value_type_choices());
  text.value_type = *type;
  text.expression = client::with_semiring_of(options.expression, *type);
  text.position_bits = options.positions;
  text.profile = options.profile;
  text.space = options.space;
  return text;
}

void add_to(CLI::App& command, client::SearchOptions& options) {
  command
      .add_option("--memory-depth", options.memory_depth,
                  "Search only schedules whose temporaries have at most N indices (default: any)")
      ->check(CLI::Range(1, 16).description(""))
      ->type_name("N");
  command
      .add_option("--max-temporary", options.max_temporary_bytes,
                  "Drop schedules whose temporaries provably hold more at every allowed size: 1000000, 64MiB "
                  "(default: 64GiB as f64)")
      ->transform(CLI::AsSizeValue(false).description(""))
      ->type_name("SIZE");
  command
      .add_option("--budget", options.seconds,
                  "Let the search take so long; then parts of the space stand for the whole (default: 150)")
      ->check(CLI::Range(0.001, 3600.0).description(""))
      ->type_name("SECONDS");
}

// Adds the options by which a server is found and trusted.
void add_to(CLI::App& command, ServerOptions& options) {
  command
      .add_option(
          "--server", options.address,
          "Address of the server, unix:PATH or HOST:PORT (default: $SCHAAS_SERVER, else a private one)")
      ->type_name("ADDRESS");
  command
      .add_option(
          "--server-key", options.key,
          "The key the server must have, or a file with it (default: $SCHAAS_SERVER_KEY, else what is "
          "known of the server)")
      ->type_name("KEY");
  const auto file = [&command](const char* name, std::string& value, const char* help) {
    command.add_option(name, value, help)->type_name("FILE");
  };
  file("--tls-ca", options.tls_ca,
       "TLS: certificate authority of the server (PEM), or `system` (default: $SCHAAS_TLS_CA, else no TLS)");
  file("--tls-cert", options.tls_cert, "TLS: this client's certificate (PEM; default: $SCHAAS_TLS_CERT)");
  file("--tls-key", options.tls_key, "TLS: its private key (PEM; default: $SCHAAS_TLS_KEY)");
  file("--token-file", options.token_file, "The token for the server (default: $SCHAAS_TOKEN_FILE)");
}

namespace {

client::ConnectOptions connect_options(const ServerOptions& options) {
  client::ConnectOptions connect;
  connect.server = options.address;
  connect.server_key = options.key;
  connect.tls_ca = options.tls_ca;
  connect.tls_cert = options.tls_cert;
  connect.tls_key = options.tls_key;
  connect.token_file = options.token_file;
  // A busy server is waited for; the line says why nothing happens.
  connect.busy = [](double seconds) {
    if (display().quiet) return;
    std::fprintf(stderr, "the server is busy; asking again in %.1f s\n", seconds);
  };
  return connect;
}

}  // namespace

support::Result<client::Connection> connect(const ServerOptions& options) {
  return client::Connection::open(connect_options(options));
}

support::Result<client::Session> open_session(const ServerOptions& options) {
  return client::Session::open(connect_options(options));
}

}  // namespace schaas::cli
