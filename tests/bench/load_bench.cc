// How many questions schaasd answers: warm look-ups by 1, 8 and 64 clients at once, a cold storm of new
// problems, and a long mixed load whose memory, descriptors and children are watched. Server and clients
// share this machine.
//
//     load_bench [--seconds 5] [--clients 1,8,64] [--storm 500] [--soak 0] [--rate 500] [--growth 5]
//                [--server ADDRESS]
//
// With --server the warm look-ups go to a server that runs, host:port or unix:/path, which may be a balancer.
// It prints what it measured, one line each. The mixed load is of `rate` requests a second by 8 clients,
// mostly look-ups of 20 problems; some connect anew, download, list, ask for a new problem, or precompute
// three more and watch it. Exit status 1 when a call of it fails, resident memory grows by more than --growth
// percent after the first tenth, or descriptors or children are left when the clients are gone.
#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "schaas/v1/jobs.grpc.pb.h"
#include "schaas/v1/schaas.grpc.pb.h"
#include "tests/support/temporary_directory.h"

namespace {

using namespace schaas;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// A schaasd of its own, the one that stands beside this program, or one that runs.
class Server {
 public:
  struct Running {
    std::string address;
  };
  explicit Server(const Running& running) : address_(running.address), pid_(0) {}
  explicit Server(const std::string& folder) : address_("unix:" + folder + "/socket") {
    const std::string program = fs::read_symlink("/proc/self/exe").parent_path() / "schaasd";
    const std::string data = folder + "/data";
    pid_ = fork();
    if (pid_ == 0) {
      execl(program.c_str(), "schaasd", "--data-dir", data.c_str(), "--listen", address_.c_str(),
            "--log-level", "error", nullptr);
      _exit(127);
    }
  }
  ~Server() {
    if (pid_ == 0) return;
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  struct Calls {
    std::unique_ptr<v1::Scheduler::Stub> scheduler;
    std::unique_ptr<v1::Jobs::Stub> jobs;
  };
  /// A connection that is shared with no other.
  Calls connect() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto channel = grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(), arguments);
    if (!channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(20)))
      std::fprintf(stderr, "no answer from schaasd\n"), std::exit(1);
    return {v1::Scheduler::NewStub(channel), v1::Jobs::NewStub(channel)};
  }

  struct Taken {
    double resident_mib = 0;
    long descriptors = 0, children = 0;
  };
  Taken taken() const {
    const std::string proc = "/proc/" + std::to_string(pid_);
    Taken out;
    double total = 0, resident = 0;
    std::ifstream(proc + "/statm") >> total >> resident;
    out.resident_mib = resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
    std::error_code error;
    out.descriptors = std::distance(fs::directory_iterator(proc + "/fd", error), fs::directory_iterator());
    for (const auto& task : fs::directory_iterator(proc + "/task", error)) {
      std::ifstream children(task.path() / "children");
      for (int child = 0; children >> child;) ++out.children;
    }
    return out;
  }

 private:
  std::string address_;
  pid_t pid_;
};

v1::ScheduleRequest asked(const std::string& expression, std::uint32_t kernels = 1) {
  v1::ScheduleRequest request;
  request.mutable_problem()->set_expression(expression);
  (*request.mutable_problem()->mutable_formats())["B"] = "csr";
  request.set_isa("x86-64-v3");
  request.set_kernels(kernels);
  return request;
}

/// True when it was answered; what was compiled for it is added. Asks again while the server is busy.
template <class Hear>
bool schedule(v1::Scheduler::Stub& stub, const v1::ScheduleRequest& request, std::atomic<long>& compiled,
              std::atomic<long>& refused, const Hear& hear) {
  for (;;) {
    grpc::ClientContext context;
    const auto reader = stub.Schedule(&context, request);
    for (v1::ScheduleEvent event; reader->Read(&event);) {
      if (event.has_done()) compiled += event.done().compiled();
      hear(event);
    }
    const grpc::Status status = reader->Finish();
    if (status.ok()) return true;
    if (status.error_code() != grpc::StatusCode::RESOURCE_EXHAUSTED) {
      std::fprintf(stderr, "refused: %s\n", status.error_message().c_str());
      return false;
    }
    ++refused;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

bool schedule(v1::Scheduler::Stub& stub, const v1::ScheduleRequest& request, std::atomic<long>& compiled,
              std::atomic<long>& refused) {
  return schedule(stub, request, compiled, refused, [](const v1::ScheduleEvent&) {});
}

double percentile(std::vector<double>& sorted, double part) {
  return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

/// So many clients, each with a connection of its own, for so long.
template <class Call>
void warm(const Server& server, const char* what, int clients, double seconds, const Call& call) {
  std::mutex mutex;
  std::vector<double> all;
  std::atomic<bool> stop{false};
  std::atomic<long> refused{0};
  std::vector<std::thread> threads;
  for (int c = 0; c < clients; ++c) {
    threads.emplace_back([&] {
      const auto stub = server.connect().scheduler;
      std::vector<double> mine;
      while (!stop) {
        const auto start = Clock::now();
        if (!call(*stub)) ++refused;
        mine.push_back(since(start));
      }
      const std::lock_guard lock(mutex);
      all.insert(all.end(), mine.begin(), mine.end());
    });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (auto& thread : threads) thread.join();
  std::sort(all.begin(), all.end());
  std::printf("%-9s %3d clients  %8.0f requests/s  p50 %7.3f ms  p99 %7.3f ms  %ld refused\n", what, clients,
              static_cast<double>(all.size()) / seconds, 1e3 * percentile(all, 0.5),
              1e3 * percentile(all, 0.99), refused.load());
  std::fflush(stdout);
}

void warm_all(const Server& server, const std::vector<int>& clients, double seconds) {
  const auto request = asked("A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", 3);
  std::atomic<long> compiled{0}, refused{0};
  schedule(*server.connect().scheduler, request, compiled, refused);
  v1::LookupRequest lookup;
  *lookup.mutable_problem() = request.problem();
  for (const int count : clients) {
    warm(server, "connect", count, seconds, [&](v1::Scheduler::Stub&) {
      grpc::ClientContext context;
      v1::ServerInfo reply;
      return server.connect().scheduler->Info(&context, v1::InfoRequest(), &reply).ok();
    });
    warm(server, "info", count, seconds, [](v1::Scheduler::Stub& stub) {
      grpc::ClientContext context;
      v1::ServerInfo reply;
      return stub.Info(&context, v1::InfoRequest(), &reply).ok();
    });
    warm(server, "lookup", count, seconds, [&](v1::Scheduler::Stub& stub) {
      grpc::ClientContext context;
      v1::Frontier reply;
      return stub.Lookup(&context, lookup, &reply).ok();
    });
    warm(server, "schedule", count, seconds, [&](v1::Scheduler::Stub& stub) {
      std::atomic<long> made{0}, late{0};
      return schedule(stub, request, made, late) && made == 0;
    });
  }
}

void storm(const Server& server, int problems) {
  std::vector<int> order;
  for (int n = 0; n < problems; ++n) order.insert(order.end(), {n, n});  // each twice
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  std::atomic<std::size_t> next{0};
  std::atomic<long> compiled{0}, refused{0}, answered{0};
  std::atomic<bool> over{false};
  double most = 0;
  std::thread watch([&] {
    for (; !over; std::this_thread::sleep_for(std::chrono::milliseconds(200)))
      most = std::max(most, server.taken().resident_mib);
  });
  const auto start = Clock::now();
  std::vector<std::thread> clients;
  for (int c = 0; c < 48; ++c) {
    clients.emplace_back([&] {
      const auto stub = server.connect().scheduler;
      for (std::size_t at; (at = next++) < order.size();) {
        const std::string factor = std::to_string(order[at] + 2);
        answered +=
            schedule(*stub, asked("A(i,k) = " + factor + " * B(i,j) * C(j,k)"), compiled, refused) ? 1 : 0;
      }
    });
  }
  for (auto& client : clients) client.join();
  over = true;
  watch.join();
  std::printf(
      "storm     %d problems, each asked for twice by 48 clients: %.0f s, %ld answered, %ld compilations, "
      "%ld told to come "
      "again, at most %.0f MiB resident\n",
      problems, since(start), answered.load(), compiled.load(), refused.load(), most);
  std::fflush(stdout);
}

void print_taken(const char* when, const Server::Taken& taken) {
  std::printf("soak      %-9s %7.1f MiB resident, %ld descriptors, %ld children\n", when, taken.resident_mib,
              taken.descriptors, taken.children);
  std::fflush(stdout);
}

/// So many requests a second, of all clients together: each takes the next instant and waits for it.
class Pace {
 public:
  explicit Pace(double rate) : between_(1 / rate) {}
  void wait() {
    std::this_thread::sleep_until(
        start_ + std::chrono::duration_cast<Clock::duration>(between_ * static_cast<double>(next_++)));
  }

 private:
  const Clock::time_point start_ = Clock::now();
  const std::chrono::duration<double> between_;
  std::atomic<long> next_{0};
};

/// What one client of a soak does, one call after the other: of 20 problems that are known, and now and then
/// of new ones, each of which is asked for once.
class MixedClient {
 public:
  struct Counts {
    std::atomic<long> requests{0}, failed{0}, problems{0}, jobs{0}, compiled{0}, refused{0};
  };

  MixedClient(const Server& server, Counts& counts, unsigned seed)
      : server_(server), counts_(counts), random_(seed), calls_(server.connect()) {}

  /// One call, drawn: of 10,000 some 15 are not answered from what is stored.
  void call() {
    const unsigned die = random_() % 10'000;
    counts_.failed += done(die) ? 0 : 1;
    ++counts_.requests;
  }
  /// What is known is made, then each kind of call once.
  void begin() {
    for (int number = 0; number < known; ++number) counts_.failed += told(asked(text(number))) ? 0 : 1;
    for (const unsigned die : ends) {
      counts_.failed += done(die - 1) ? 0 : 1;
      ++counts_.requests;
    }
  }

 private:
  static constexpr int known = 20;
  // A die of 10,000 is thrown: the kind of call is the first whose end is above it, in the order of `done`.
  static constexpr std::array ends = {1u, 9u, 10u, 20u, 50u, 300u, 400u, 500u, 5'000u, 10'000u};

  bool done(unsigned die) {
    if (die < ends[0]) return job();
    if (die < ends[1]) return told(fresh());
    if (die < ends[2]) return listed("");
    if (die < ends[3]) return reconnected();
    if (die < ends[4]) return jobs_listed();
    if (die < ends[5]) return listed(key_);
    if (die < ends[6]) return downloaded();
    if (die < ends[7]) return informed();
    if (die < ends[8]) return told(asked(text(random_() % known)));
    return looked_up();
  }

  static bool fine(const char* what, const grpc::Status& status) {
    if (!status.ok()) std::fprintf(stderr, "%s: %s\n", what, status.error_message().c_str());
    return status.ok();
  }
  static std::string text(long number) {
    return "A(i,k) = " + std::to_string(2 + number) + " * B(i,j) * C(j,k)";
  }
  v1::ScheduleRequest fresh() { return asked(text(known + counts_.problems++)); }

  bool told(const v1::ScheduleRequest& request) {
    return schedule(*calls_.scheduler, request, counts_.compiled, counts_.refused, [this](const auto& event) {
      if (event.has_kernel()) sha256_ = event.kernel().digest().sha256();
      if (event.has_frontier()) key_ = event.frontier().key();
    });
  }
  bool looked_up() {
    v1::LookupRequest request;
    *request.mutable_problem() = asked(text(random_() % known)).problem();
    grpc::ClientContext context;
    v1::Frontier reply;
    return fine("Lookup", calls_.scheduler->Lookup(&context, request, &reply));
  }
  bool downloaded() {
    if (sha256_.empty() && !told(asked(text(0)))) return false;
    v1::DownloadRequest request;
    request.set_sha256(sha256_);
    grpc::ClientContext context;
    const auto reader = calls_.scheduler->Download(&context, request);
    for (v1::DownloadChunk chunk; reader->Read(&chunk);) {
    }
    return fine("Download", reader->Finish());
  }
  bool listed(const std::string& key) {
    v1::ListCacheRequest request;
    request.set_key(key);
    grpc::ClientContext context;
    v1::ListCacheReply reply;
    return fine("ListCache", calls_.scheduler->ListCache(&context, request, &reply));
  }
  bool informed() {
    grpc::ClientContext context;
    v1::ServerInfo reply;
    return fine("Info", calls_.scheduler->Info(&context, v1::InfoRequest(), &reply));
  }
  bool jobs_listed() {
    v1::ListJobsRequest request;
    request.set_limit(10);
    grpc::ClientContext context;
    v1::ListJobsReply reply;
    return fine("List", calls_.jobs->List(&context, request, &reply));
  }
  bool reconnected() {
    calls_ = server_.connect();
    return informed();
  }
  /// Three new problems in a job, which is watched to its end.
  bool job() {
    v1::SubmitJobRequest request;
    request.set_idempotency_key("job " + std::to_string(counts_.jobs++));
    for (int n = 0; n < 3; ++n) *request.add_requests() = fresh();
    v1::Job job;
    grpc::ClientContext submitting, watching;
    if (!fine("Submit", calls_.jobs->Submit(&submitting, request, &job))) return false;
    v1::WatchJobRequest watch;
    watch.set_id(job.id());
    const auto reader = calls_.jobs->Watch(&watching, watch);
    for (v1::JobEvent event; reader->Read(&event);)
      if (event.has_job()) job = event.job();
    if (!fine("Watch", reader->Finish())) return false;
    if (job.done() != 3)
      std::fprintf(stderr, "%s ended with %d of 3 done\n", job.id().c_str(), static_cast<int>(job.done()));
    return job.done() == 3;
  }

  const Server& server_;
  Counts& counts_;
  std::mt19937 random_;
  Server::Calls calls_;
  std::string key_, sha256_;  ///< of the last answer
};

/// What is left when no client is there; what they leave goes within seconds.
Server::Taken alone(const Server& server) {
  std::this_thread::sleep_for(std::chrono::seconds(3));
  return server.taken();
}

/// False when memory grew by more than `allowed` percent after the first tenth, in which the caches fill, or
/// when descriptors or children are left.
bool soak(const Server& server, double seconds, double rate, double allowed) {
  MixedClient::Counts counts;
  MixedClient(server, counts, 0).begin();
  const Server::Taken before = alone(server);
  print_taken("before", before);
  std::atomic<bool> stop{false};
  Pace pace(rate);
  std::vector<std::thread> clients;
  for (unsigned c = 1; c <= 8; ++c) {
    clients.emplace_back([&, c] {
      for (MixedClient client(server, counts, c); !stop; client.call()) pace.wait();
    });
  }
  const auto start = Clock::now();
  double warm = 0, most = 0;
  for (int part = 1; part <= 20; ++part) {
    std::this_thread::sleep_until(start + std::chrono::duration_cast<Clock::duration>(
                                              std::chrono::duration<double>(seconds * part / 20)));
    const Server::Taken taken = server.taken();
    if (part == 2) warm = taken.resident_mib;
    most = std::max(most, taken.resident_mib);
    print_taken((std::to_string(std::lround(since(start))) + " s").c_str(), taken);
  }
  stop = true;
  for (auto& client : clients) client.join();
  const Server::Taken after = alone(server);
  print_taken("after", after);
  const double growth = 100 * (most / warm - 1);
  const bool flat = growth <= allowed;
  const bool tidy = after.descriptors <= before.descriptors && after.children == 0;
  std::printf(
      "soak      %ld requests, %.0f a second, %ld failed, %ld new problems, %ld jobs, %ld compilations, %ld "
      "told "
      "to come again; %.1f %% more memory than after a tenth%s%s\n",
      counts.requests.load(), static_cast<double>(counts.requests) / seconds, counts.failed.load(),
      counts.problems.load(), counts.jobs.load(), counts.compiled.load(), counts.refused.load(), growth,
      flat ? "" : ": TOO MUCH", tidy ? "" : "; descriptors or children ARE LEFT");
  return flat && tidy && counts.failed == 0;
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 5, soaking = 0, rate = 500, allowed = 5;
  int problems = 500;
  std::vector<int> clients = {1, 8, 64};
  std::string running;
  for (int a = 1; a + 1 < argc; a += 2) {
    const std::string option = argv[a];
    if (option == "--seconds") seconds = std::atof(argv[a + 1]);
    if (option == "--soak") soaking = std::atof(argv[a + 1]);
    if (option == "--rate") rate = std::atof(argv[a + 1]);
    if (option == "--growth") allowed = std::atof(argv[a + 1]);
    if (option == "--server") running = argv[a + 1];
    if (option == "--storm") problems = std::atoi(argv[a + 1]);
    if (option == "--clients") {
      clients.clear();
      std::istringstream list(argv[a + 1]);
      for (std::string one; std::getline(list, one, ',');) clients.push_back(std::atoi(one.c_str()));
    }
  }
  if (!running.empty()) return warm_all(Server(Server::Running{running}), clients, seconds), 0;
  const test_support::TemporaryDirectory folder;
  const Server server(folder.path());
  if (seconds > 0) warm_all(server, clients, seconds);
  if (problems > 0) storm(server, problems);
  return soaking > 0 && !soak(server, soaking, rate, allowed) ? 1 : 0;
}
