#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>

#include "client/cli/command_line.h"
#include "client/cli/display.h"
#include "client/cli/figures.h"
#include "client/cli/job_file.h"
#include "client/cli/problem_options.h"
#include "client/cli/progress.h"
#include "client/cli/table.h"
#include "compiler/support/digest.h"

// schaas precompute, jobs, watch, cancel, retry: offline precomputation. A job goes on without its client; a
// watch prints what failed and its exit status says so. The same file sent twice is one job, by a key made
// from its text.
namespace schaas::cli {
namespace {

struct JobOptions {
  ServerOptions server;
  std::string file, id, key, label;
  int priority = 0;
  double budget = 0;
  bool detach = false;
};

Json json_of(const client::Job& job) {
  return {{"id", job.id},
          {"label", job.label},
          {"client", job.client},
          {"created", job.created},
          {"priority", job.priority},
          {"budget_seconds", job.budget_seconds},
          {"requests", job.requests()},
          {"waiting", job.waiting},
          {"running", job.running},
          {"done", job.done},
          {"failed", job.failed},
          {"cancelled", job.cancelled},
          {"seconds", job.seconds},
          {"finished", job.finished()}};
}

Json json_of(const client::JobItem& item) {
  return {{"number", item.number}, {"expression", item.expression}, {"state", item.state},
          {"error", item.error},   {"seconds", item.seconds},       {"ended", item.ended}};
}

std::string state_of(const client::Job& job) {
  std::string text =
      std::to_string(job.done) + " of " + counted(job.requests(), "request", "requests") + " done";
  if (job.failed > 0) text += ", " + std::to_string(job.failed) + " failed";
  if (job.cancelled > 0) text += ", " + std::to_string(job.cancelled) + " cancelled";
  if (job.running > 0) text += ", " + std::to_string(job.running) + " running";
  if (job.waiting > 0) text += ", " + std::to_string(job.waiting) + " waiting";
  return text + ", " + seconds(job.seconds) + " of work";
}

Answer answer_of(const client::Job& job) { return {job.id + ": " + state_of(job) + "\n", json_of(job), {}}; }

/// Estimates the time of the remaining items from those that have ended.
std::string left_of(const client::Job& job) {
  const std::uint64_t ended = job.done + job.failed;
  if (ended == 0) return "";
  return ", about " +
         seconds(job.seconds / static_cast<double>(ended) * static_cast<double>(job.waiting + job.running)) +
         " left";
}

// Follows a job to its end. Items are told once each, also over lost connections.
support::Result<Answer> follow(client::Connection& connection, const std::string& id) {
  ProgressLine progress;
  Answer answer;
  std::string failures;
  Json items = Json::array();
  client::JobListener listener;
  listener.item = [&](const client::JobItem& item) {
    items.push_back(json_of(item));
    if (item.state == "failed")
      failures +=
          "  " + std::to_string(item.number + 1) + "  " + item.expression + "\n      " + item.error + "\n";
    return true;
  };
  listener.job = [&](const client::Job& job) {
    progress.show(job.id, job.requests() - job.waiting - job.running, job.requests(), left_of(job));
    return true;
  };
  listener.away = [&](const support::Diagnostic& why, double seconds) {
    progress.clear();
    if (display().quiet) return;
    std::fprintf(stderr, "%s; watching %s goes on in %.1f s\n", why.message.c_str(), id.c_str(), seconds);
  };
  SCHAAS_ASSIGN_OR_RETURN(const client::Job job, connection.watch(id, 0, listener));
  progress.clear();
  answer = answer_of(job);
  answer.text += failures;
  answer.json["items"] = std::move(items);
  if (job.failed > 0) {
    answer.failure =
        support::invalid("job-failed", counted(job.failed, "request", "requests") + " of the job " + job.id +
                                           " failed; `schaas retry " + job.id + "` tries again");
  }
  return answer;
}

/// Derives the idempotency key from the request, so that the same file sent twice is the same job.
std::string key_of(const client::NewJob& job, const std::string& text) {
  return support::digest_of(job.client + "\n" + job.label + "\n" + std::to_string(job.priority) + "\n" +
                            std::to_string(job.budget_seconds) + "\n" + text)
      .sha256;
}

// Submits the problems of a file, and follows the job unless it is to be detached.
support::Result<Answer> precompute(const JobOptions& options) {
  std::ifstream file(options.file, std::ios::binary);
  if (!file) return support::invalid("job-file", "cannot read `" + options.file + "`");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  client::NewJob job;
  SCHAAS_ASSIGN_OR_RETURN(job.requests, parse_job_file(text, options.file));
  job.client = client::user_text();
  job.label = options.label.empty() ? options.file.substr(options.file.rfind('/') + 1) : options.label;
  job.priority = options.priority;
  job.budget_seconds = options.budget;
  job.idempotency_key = options.key.empty() ? key_of(job, text) : options.key;
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options.server));
  SCHAAS_ASSIGN_OR_RETURN(const client::Job accepted, connection.submit(job));
  if (options.detach) return answer_of(accepted);
  return follow(connection, accepted.id);
}

support::Result<Answer> list(const JobOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options.server));
  SCHAAS_ASSIGN_OR_RETURN(const auto jobs, connection.jobs());
  Answer answer;
  answer.json = {{"jobs", Json::array()}};
  Table table;
  table.header = {"job", "created", "client", "done", "failed", "cancelled", "left", "work", "label"};
  table.right = {3, 4, 5, 6, 7};
  for (const auto& job : jobs) {
    answer.json["jobs"].push_back(json_of(job));
    table.rows.push_back({job.id, job.created, job.client, std::to_string(job.done),
                          std::to_string(job.failed), std::to_string(job.cancelled),
                          std::to_string(job.waiting + job.running), seconds(job.seconds), job.label});
  }
  answer.text = jobs.empty() ? "no jobs\n" : print(table);
  return answer;
}

support::Result<Answer> watch(const JobOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options.server));
  return follow(connection, options.id);
}

support::Result<Answer> cancel(const JobOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options.server));
  SCHAAS_ASSIGN_OR_RETURN(const client::Job job, connection.cancel(options.id));
  return answer_of(job);
}

support::Result<Answer> retry(const JobOptions& options) {
  SCHAAS_ASSIGN_OR_RETURN(auto connection, connect(options.server));
  SCHAAS_ASSIGN_OR_RETURN(const client::Job job, connection.retry(options.id));
  return answer_of(job);
}

void add_job_command(CLI::App& program, Action& chosen, const char* name, const char* about, bool takes_job,
                     support::Result<Answer> (*act)(const JobOptions&)) {
  auto options = std::make_shared<JobOptions>();
  CLI::App* command = program.add_subcommand(name, about);
  if (takes_job) command->add_option("JOB", options->id, "Its id: j1")->required();
  add_to(*command, options->server);
  command->callback([options, act, &chosen] { chosen = [options, act] { return act(*options); }; });
}

}  // namespace

void add_jobs(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<JobOptions>();
  CLI::App* command = program.add_subcommand(
      "precompute",
      "Have the server work on the problems of a file, so that their kernels are there when asked for");
  command
      ->add_option("FILE", options->file,
                   "Problems as JSON objects: {\"expression\": \"...\", \"formats\": {\"B\": \"csr\"}}")
      ->required();
  command->add_option("--label", options->label, "What people call the job (default: the file's name)")
      ->type_name("TEXT");
  command->add_option("--priority", options->priority, "Of jobs the higher ones come first")
      ->check(CLI::Range(-100, 100).description(""))
      ->type_name("N");
  command
      ->add_option("--budget", options->budget,
                   "Seconds of work after which the rest is given up (default: none)")
      ->check(CLI::Range(0.0, 1e9).description(""))
      ->type_name("SECONDS");
  command
      ->add_option("--key", options->key,
                   "Sent again with the same key it is the same job (default: made from the file)")
      ->type_name("TEXT");
  command->add_flag("--detach", options->detach, "Do not wait: `schaas watch` does, later");
  add_to(*command, options->server);
  command->callback([options, &chosen] { chosen = [options] { return precompute(*options); }; });

  add_job_command(program, chosen, "jobs", "The server's jobs, newest first", false, list);
  add_job_command(program, chosen, "watch", "Wait for a job and list what failed", true, watch);
  add_job_command(program, chosen, "cancel", "End a job; what it has finished stays", true, cancel);
  add_job_command(program, chosen, "retry", "Work again on what failed or was cancelled of a job", true,
                  retry);
}

}  // namespace schaas::cli
