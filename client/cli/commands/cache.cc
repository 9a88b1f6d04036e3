#include <memory>

#include "client/cli/command_line.h"
#include "client/cli/figures.h"
#include "client/cli/problem_options.h"
#include "client/cli/table.h"
#include "schaas/json.h"

// schaas cache list|show|verify|pin|unpin|quarantine|lift|gc: what the server's database and binary store
// hold. Keys may be shortened to a beginning that only one has, as tables show them shortened; the server
// finds the whole key.
namespace schaas::cli {
namespace {

/// The line of the canonical problem that people recognise: the statement.
std::string statement_of(const std::string& canonical) {
  const std::size_t begin = canonical.find('\n') + 1;  // after "schaas-problem 1"
  return canonical.substr(begin, canonical.find('\n', begin) - begin);
}

Json entry_json(const client::CacheEntry& entry) {
  return {{"key", entry.key},
          {"created", entry.created},
          {"frontier", entry.frontier},
          {"kernels", entry.kernels},
          {"pinned", entry.pinned == client::Pinned::yes},
          {"number", entry.number},
          {"canonical", entry.canonical}};
}

support::Result<Answer> list(const ServerOptions& options, const client::CacheRange& range) {
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options));
  SCHAAS_ASSIGN_OR_RETURN(const auto entries, connection.list_cache(range));
  Answer answer;
  answer.json = {{"entries", Json::array()}};
  Table table;
  table.header = {"key", "created", "frontier", "kernels", "problem"};
  table.right = {2, 3};
  for (const auto& entry : entries) {
    answer.json["entries"].push_back(entry_json(entry));
    table.rows.push_back({short_key(entry.key), entry.created, std::to_string(entry.frontier),
                          std::to_string(entry.kernels), statement_of(entry.canonical)});
  }
  const bool is_part = range.after != 0 || range.limit != 0;
  answer.text = !entries.empty() ? print(table) : is_part ? "no more problems\n" : "the database is empty\n";
  if (range.limit != 0 && entries.size() == range.limit)
    answer.text += "the next ones: --after " + std::to_string(entries.back().number) + "\n";
  return answer;
}

/// Returns the one key that begins with the prefix. Errors: invalid [unknown-key], [ambiguous-key].
support::Result<std::string> only_key(const std::vector<std::string>& keys, const std::string& prefix,
                                      const std::string& none, const std::string& note) {
  if (keys.size() == 1) return keys.front();
  if (keys.empty()) return support::noting(support::invalid("unknown-key", none + " `" + prefix + "`"), note);
  auto ambiguous =
      support::invalid("ambiguous-key", "`" + prefix + "` begins " + std::to_string(keys.size()) +
                                            " keys; more characters are needed");
  for (std::size_t n = 0; n < keys.size() && n < 5; ++n)
    ambiguous = support::noting(std::move(ambiguous), keys[n]);
  return ambiguous;
}

/// Keys that a prefix is looked up among; more are not told apart.
constexpr std::uint64_t max_keys = 100;

/// Returns the full key for a prefix of it.
support::Result<std::string> find_key(client::Connection& connection, const std::string& prefix) {
  SCHAAS_ASSIGN_OR_RETURN(const auto entries, connection.list_cache({.prefix = prefix, .limit = max_keys}));
  std::vector<std::string> keys;
  for (const auto& entry : entries) keys.push_back(entry.key);
  return only_key(keys, prefix, "no stored problem has the key", "`schaas cache list` shows the keys");
}

// Shows one problem with its kernels.
support::Result<Answer> show(const ServerOptions& options, const std::string& prefix) {
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options));
  SCHAAS_ASSIGN_OR_RETURN(const std::string key, find_key(connection, prefix));
  const auto found = connection.cached_problem(key);
  // Another client may have removed the problem since its key came.
  if (!found.ok() && found.error().code == "not-stored")
    return support::invalid("unknown-key", "the stored problem `" + key + "` has just been removed");
  if (!found.ok()) return found.error();
  const client::CacheEntry& entry = *found;
  Answer answer;
  answer.json = entry_json(entry);
  answer.json["kernel"] = Json::array();
  answer.text = entry.canonical + (entry.canonical.empty() || entry.canonical.back() != '\n' ? "\n" : "");
  answer.text += "\nkey      " + entry.key + "\ncreated  " + entry.created + "\nfrontier " +
                 counted(entry.frontier, "schedule", "schedules") + "\n\n";
  Table table;
  table.header = {"kernel", "isa", "bytes", "sha256", "trace"};
  table.right = {2};
  for (const auto& kernel : entry.kernel) {
    answer.json["kernel"].push_back(kernel);
    table.rows.push_back({short_key(kernel.kernel_key), kernel.isa, std::to_string(kernel.digest.bytes),
                          short_key(kernel.digest.sha256), kernel.trace});
  }
  answer.text += print(table);
  return answer;
}

// Has the server compare every binary with its digest; damaged ones are dropped there.
support::Result<Answer> verify_binaries(const ServerOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options));
  SCHAAS_ASSIGN_OR_RETURN(const auto found, connection.verify_cache());
  Answer answer;
  answer.json = {{"checked", found.checked}, {"damaged", found.damaged}, {"missing", found.missing}};
  answer.text = counted(found.checked, "binary", "binaries") +
                " read and compared with their digests: " + std::to_string(found.damaged.size()) +
                " damaged, " + std::to_string(found.missing) + " missing\n";
  for (const auto& digest : found.damaged) answer.text += "  dropped " + digest + "\n";
  if (!found.damaged.empty() || found.missing > 0)
    answer.text += "they are compiled again when next asked for\n";
  return answer;
}

support::Result<Answer> pin(const ServerOptions& options, const std::string& prefix, client::Pinned pinned) {
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options));
  SCHAAS_ASSIGN_OR_RETURN(const std::string key, find_key(connection, prefix));
  SCHAAS_RETURN_IF_ERROR(connection.pin(key, pinned));
  const bool yes = pinned == client::Pinned::yes;
  Answer answer;
  answer.json = {{"key", key}, {"pinned", yes}};
  answer.text = key + (yes ? " is pinned: its kernels stay\n" : " is not pinned any more\n");
  return answer;
}

// Has the server evict now, and tells what was removed.
support::Result<Answer> collect(const ServerOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options));
  SCHAAS_ASSIGN_OR_RETURN(const client::CacheCollection done, connection.collect_cache());
  Answer answer;
  answer.json = {
      {"evicted", done.evicted},     {"orphans", done.orphans},         {"rows", done.rows},
      {"frontiers", done.frontiers}, {"freed_bytes", done.freed_bytes}, {"left_bytes", done.left_bytes}};
  answer.text = "removed " +
                counted(done.evicted, "least recently used binary", "least recently used binaries") + ", " +
                counted(done.orphans, "binary", "binaries") + " of no kernel, " +
                counted(done.rows, "kernel", "kernels") + " without binary, " +
                counted(done.frontiers, "frontier", "frontiers") +
                " of older versions: " + bytes(static_cast<double>(done.freed_bytes)) + " freed, " +
                bytes(static_cast<double>(done.left_bytes)) + " stay\n";
  return answer;
}

support::Result<Answer> quarantine(const ServerOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options));
  SCHAAS_ASSIGN_OR_RETURN(const auto kernels, connection.list_quarantine());
  Answer answer;
  answer.json = {{"kernels", Json::array()}};
  Table table;
  table.header = {"kernel", "since", "why"};
  for (const auto& kernel : kernels) {
    answer.json["kernels"].push_back({{"key", kernel.key}, {"since", kernel.since}, {"why", kernel.why}});
    table.rows.push_back({short_key(kernel.key), kernel.since, kernel.why});
  }
  answer.text = kernels.empty() ? "no kernel is in quarantine\n" : print(table);
  return answer;
}

// Lifts the quarantine of the one kernel whose key begins with the prefix.
support::Result<Answer> lift(const ServerOptions& options, const std::string& prefix) {
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options));
  SCHAAS_ASSIGN_OR_RETURN(const auto kernels, connection.list_quarantine());
  std::vector<std::string> keys;
  for (const auto& kernel : kernels)
    if (kernel.key.starts_with(prefix)) keys.push_back(kernel.key);
  SCHAAS_ASSIGN_OR_RETURN(const std::string key, only_key(keys, prefix, "no kernel in quarantine has the key",
                                                          "`schaas cache quarantine` shows the keys"));
  SCHAAS_RETURN_IF_ERROR(connection.lift_quarantine(key));
  Answer answer;
  answer.json = {{"key", key}};
  answer.text = key + " is compiled and tried again when it is next asked for\n";
  return answer;
}

}  // namespace

void add_cache(CLI::App& program, Action& chosen) {
  struct CacheOptions {
    ServerOptions server;
    std::string key;
    client::CacheRange range;
  };
  auto options = std::make_shared<CacheOptions>();
  CLI::App* cache = program.add_subcommand("cache", "What the server has stored");
  cache->require_subcommand(1);

  CLI::App* list_command = cache->add_subcommand("list", "The stored problems, oldest first");
  list_command->add_option("--limit", options->range.limit, "At most so many (default: all)")->type_name("N");
  list_command->add_option("--after", options->range.after, "Those behind the problem of this number")
      ->type_name("N");
  add_to(*list_command, options->server);
  list_command->callback(
      [options, &chosen] { chosen = [options] { return list(options->server, options->range); }; });

  CLI::App* show_command = cache->add_subcommand("show", "One problem and its kernels");
  show_command->add_option("KEY", options->key, "The key or its beginning")->required();
  add_to(*show_command, options->server);
  show_command->callback(
      [options, &chosen] { chosen = [options] { return show(options->server, options->key); }; });

  CLI::App* verify_command =
      cache->add_subcommand("verify", "Read every binary, compare with its digest, drop damaged ones");
  add_to(*verify_command, options->server);
  verify_command->callback(
      [options, &chosen] { chosen = [options] { return verify_binaries(options->server); }; });

  const auto add_pin = [&](const char* name, const char* description, client::Pinned pinned) {
    CLI::App* command = cache->add_subcommand(name, description);
    command->add_option("KEY", options->key, "The key or its beginning")->required();
    add_to(*command, options->server);
    command->callback([options, &chosen, pinned] {
      chosen = [options, pinned] { return pin(options->server, options->key, pinned); };
    });
  };
  add_pin("pin", "Keep a problem's kernels whatever the size of the cache", client::Pinned::yes);
  add_pin("unpin", "Let them go again", client::Pinned::no);

  CLI::App* quarantine_command =
      cache->add_subcommand("quarantine", "The kernels that failed their trial and are not served");
  add_to(*quarantine_command, options->server);
  quarantine_command->callback(
      [options, &chosen] { chosen = [options] { return quarantine(options->server); }; });

  CLI::App* lift_command = cache->add_subcommand("lift", "Let a kernel in quarantine be tried again");
  lift_command->add_option("KEY", options->key, "The key or its beginning")->required();
  add_to(*lift_command, options->server);
  lift_command->callback(
      [options, &chosen] { chosen = [options] { return lift(options->server, options->key); }; });

  CLI::App* collect_command = cache->add_subcommand(
      "gc", "Remove what no answer needs, and the least recently used above the cache's size");
  add_to(*collect_command, options->server);
  collect_command->callback([options, &chosen] { chosen = [options] { return collect(options->server); }; });
}

}  // namespace schaas::cli
