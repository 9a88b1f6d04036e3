#include "server/http/status_page.h"

#include <utility>

#include "compiler/pipeline/pipeline.h"
#include "server/http/fleet_page.h"
#include "server/http/frontier_page.h"
#include "server/http/html.h"

// Pages for people, made on request from the stores; nothing is kept. Every text that comes from a request is
// escaped. Every list has a bound, which keeps pages small on servers with many items.
namespace schaas::server {
namespace {

using html::escaped;
using kernels_cache::JobRow;
using support::Diagnostic;

constexpr const char* html_type = "text/html; charset=utf-8";
constexpr std::size_t jobs_shown = 100, problems_shown = 1000, items_shown = 200, measurements_shown = 500;

HttpResponse page(const std::string& title, const std::string& body) {
  return {200, html_type, html::page(title, body)};
}
// Returns the page of an error: 404 for what is not stored, else 500.
HttpResponse cannot(const Diagnostic& error) {
  const bool unknown = error.code == "unknown-job" || error.code == "not-stored";
  return {unknown ? 404 : 500, html_type,
          html::page("Not shown", "<pre class=\"bad\">" + escaped(support::render(error)) + "</pre>\n")};
}
std::string row(const std::string& name, const std::string& value) {
  return "<tr><th>" + escaped(name) + "</th><td>" + escaped(value) + "</td></tr>\n";
}

// Shows a job with its progress: items that ended, of all.
std::string job_row(const JobRow& job) {
  const std::uint64_t ended = job.done + job.failed + job.cancelled, all = ended + job.waiting + job.running;
  return "<tr><td><a href=\"/jobs/" + escaped(job.id) + "\">" + escaped(job.id) + "</a></td><td>" +
         escaped(job.label) + "</td><td>" + escaped(job.client) + "</td><td><progress max=\"" +
         std::to_string(all) + "\" value=\"" + std::to_string(ended) + "\"></progress> " +
         std::to_string(ended) + " of " + std::to_string(all) + "</td><td class=\"n\">" +
         std::to_string(job.running) + "</td><td class=\"n" + (job.failed > 0 ? " bad" : "") + "\">" +
         std::to_string(job.failed) + "</td><td class=\"n\">" + html::of_seconds(job.seconds) + "</td><td>" +
         escaped(job.created) + "</td></tr>\n";
}

std::string job_table(const std::vector<JobRow>& jobs) {
  std::string rows;
  for (const JobRow& job : jobs) rows += job_row(job);
  if (rows.empty()) return "<p>No jobs.</p>\n";
  return "<table><tr><th>job</th><th>label</th><th>client</th><th>ended</th><th>running</th><th>failed</"
         "th><th>worked"
         "</th><th>accepted</th></tr>\n" +
         rows + "</table>\n";
}

class StatusPage {
 public:
  StatusPage(Stores stores, std::shared_ptr<kernels_cache::JobStore> jobs, std::function<ServerFacts()> facts,
             std::function<bool()> is_ready)
      : stores_(std::move(stores)),
        jobs_(std::move(jobs)),
        facts_(std::move(facts)),
        is_ready_(std::move(is_ready)) {}

  // Shows state, stored amounts and the newest jobs.
  HttpResponse overview() const {
    const ServerFacts facts = facts_();
    const auto rows = stores_.schedules->statistics();
    if (!rows.ok()) return cannot(rows.error());
    const auto bytes = stores_.binaries->bytes();
    if (!bytes.ok()) return cannot(bytes.error());
    const auto jobs = jobs_->jobs(5);
    if (!jobs.ok()) return cannot(jobs.error());
    const std::string table =
        "<table>" + row("state", is_ready_() ? "ready" : "not ready") + row("version", facts.version) +
        row("up", html::of_seconds(facts.uptime_seconds)) + row("compiles with", facts.toolchain) +
        row("stored", std::to_string(rows->problems) + " problems, " + std::to_string(rows->frontiers) +
                          " frontiers, " + std::to_string(rows->kernels) + " kernels, " +
                          html::of_bytes(static_cast<double>(*bytes))) +
        "</table>\n";
    return page("schaasd", table + "<h2>Newest jobs</h2>\n" + job_table(*jobs));
  }

  HttpResponse jobs() const {
    const auto found = jobs_->jobs(jobs_shown);
    return found.ok() ? page("Jobs", job_table(*found)) : cannot(found.error());
  }

  // Shows who works on items; a server without a shared database is alone.
  HttpResponse fleet() const {
    const auto now = kernels_cache::system_clock()->now();
    const auto processes = jobs_->processes(now - counted_time, now - rate_time);
    if (!processes.ok()) return cannot(processes.error());
    const auto items = jobs_->counts();
    if (!items.ok()) return cannot(items.error());
    return page("Fleet", fleet_page(*processes, *items));
  }

  // Shows a job and the items that ended first, up to a bound.
  HttpResponse job(const std::string& id) const {
    const auto found = jobs_->job(id);
    if (!found.ok()) return cannot(found.error());
    const auto items = jobs_->ended(id, 0, items_shown);
    if (!items.ok()) return cannot(items.error());
    std::string rows;
    for (const auto& item : *items) {
      rows += "<tr><td class=\"n\">" + std::to_string(item.number + 1) + "</td><td>" +
              escaped(kernels_cache::name(item.state)) + "</td><td class=\"n\">" +
              html::of_seconds(item.seconds) + "</td><td><code>" + escaped(item.request.substr(0, 300)) +
              "</code></td><td class=\"bad\">" + escaped(item.error) + "</td></tr>\n";
    }
    const std::string ended = rows.empty()
                                  ? ""
                                  : "<h2>Ended</h2>\n<table><tr><th>request</th><th>state</th><th>worked</th>"
                                    "<th>what</th><th>error</th></tr>\n" +
                                        rows + "</table>\n";
    return page("Job " + id, job_table({*found}) + ended);
  }

  // Lists stored problems, newest first, as they were asked and in canonical form.
  HttpResponse problems() const {
    const auto all = stores_.schedules->statistics();
    if (!all.ok()) return cannot(all.error());
    const auto found = stores_.schedules->list(
        {.limit = problems_shown, .order = kernels_cache::ProblemRange::Order::newest_first});
    if (!found.ok()) return cannot(found.error());
    std::string rows;
    for (const kernels_cache::ProblemSummary& problem : *found) {
      const std::string canonical = "<code>" + escaped(statement_of(problem.canonical)) + "</code>";
      const std::string request = "<code>" + escaped(statement_of(problem.asked)) + "</code>";
      const std::string& statement = problem.asked.empty() ? canonical : request;
      rows += "<tr><td>" +
              (problem.schedules == 0
                   ? statement
                   : "<a href=\"/problems/" + escaped(problem.problem_key) + "\">" + statement + "</a>") +
              "</td><td>" + canonical + "</td><td class=\"n\">" + std::to_string(problem.schedules) +
              "</td><td class=\"n\">" + std::to_string(problem.kernels) + "</td><td>" +
              (problem.pinned == kernels_cache::Pinned::yes ? "pinned" : "") + "</td><td>" +
              escaped(problem.created) + "</td></tr>\n";
    }
    if (rows.empty()) return page("Problems", "<p>Nothing is stored.</p>\n");
    return page("Problems", "<p>" + std::to_string(all->problems) + " stored, the newest " +
                                std::to_string(found->size()) +
                                " shown.</p>\n<table><tr><th>as requested</th><th>canonical form</th>"
                                "<th>frontier</th>"
                                "<th>kernels</th><th></th><th>since</th></tr>\n" +
                                rows + "</table>\n");
  }

  // Shows the newest frontier of a problem, with all timings of this code version.
  HttpResponse problem(const std::string& key) const {
    const auto row = stores_.schedules->newest_frontier(key);
    if (!row.ok()) return cannot(row.error());
    if (!row->has_value())
      return cannot(support::invalid("not-stored", "no frontier is stored under the key " + key));
    const auto measurements =
        stores_.schedules->measurements_of(key, "", pipeline::code_version, measurements_shown);
    if (!measurements.ok()) return cannot(measurements.error());
    const auto text = frontier_page(**row, *measurements);
    return text.ok() ? HttpResponse{200, html_type, *text} : cannot(text.error());
  }

 private:
  const Stores stores_;
  const std::shared_ptr<kernels_cache::JobStore> jobs_;
  const std::function<ServerFacts()> facts_;
  const std::function<bool()> is_ready_;
};

}  // namespace

std::vector<HttpRoute> status_routes(Stores stores, std::shared_ptr<kernels_cache::JobStore> jobs,
                                     std::function<ServerFacts()> facts, std::function<bool()> is_ready) {
  const auto status = std::make_shared<const StatusPage>(std::move(stores), std::move(jobs), std::move(facts),
                                                         std::move(is_ready));
  // Patterns match whole paths, so ids and keys need no further check.
  return {{"/", [status](const HttpRequest&) { return status->overview(); }},
          {"/jobs", [status](const HttpRequest&) { return status->jobs(); }},
          {"/jobs/(j[0-9]{1,18})",
           [status](const HttpRequest& request) { return status->job(request.matches[0]); }},
          {"/fleet", [status](const HttpRequest&) { return status->fleet(); }},
          {"/problems", [status](const HttpRequest&) { return status->problems(); }},
          {"/problems/([0-9a-f]{64})",
           [status](const HttpRequest& request) { return status->problem(request.matches[0]); }},
          {"/style.css", [](const HttpRequest&) {
             return HttpResponse{200, "text/css; charset=utf-8", html::style()};
           }}};
}

}  // namespace schaas::server
