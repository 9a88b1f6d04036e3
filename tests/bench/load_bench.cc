// How many questions schaasd answers: warm look-ups by 1, 8 and 64 clients at once, a cold storm of new
// problems, and a long mixed load whose memory, descriptors and children are watched. Server and clients
// share this machine.
//
//     load_bench [--seconds 5] [--clients 1,8,64] [--storm 500] [--soak 0]      prints what it measured, one
//     line each
#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
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

#include "schaas/v1/schaas.grpc.pb.h"
#include "tests/support/temporary_directory.h"

namespace {

using namespace schaas;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// A schaasd of its own.
class Server {
 public:
  explicit Server(const std::string& folder) : address_("unix:" + folder + "/socket") {
    pid_ = fork();
    if (pid_ == 0) {
      const std::string data = folder + "/data";
      execl(SCHAAS_BINARY_DIR "/schaasd", "schaasd", "--data-dir", data.c_str(), "--listen", address_.c_str(),
            "--log-level", "error", nullptr);
      _exit(127);
    }
  }
  ~Server() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// A connection that is shared with no other.
  std::unique_ptr<v1::Scheduler::Stub> connect() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto channel = grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(), arguments);
    if (!channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(20)))
      std::fprintf(stderr, "no answer from schaasd\n"), std::exit(1);
    return v1::Scheduler::NewStub(channel);
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
bool schedule(v1::Scheduler::Stub& stub, const v1::ScheduleRequest& request, std::atomic<long>& compiled,
              std::atomic<long>& refused) {
  for (;;) {
    grpc::ClientContext context;
    const auto reader = stub.Schedule(&context, request);
    for (v1::ScheduleEvent event; reader->Read(&event);) {
      if (event.has_done()) compiled += event.done().compiled();
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
      const auto stub = server.connect();
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
  schedule(*server.connect(), request, compiled, refused);
  v1::LookupRequest lookup;
  *lookup.mutable_problem() = request.problem();
  for (const int count : clients) {
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
      const auto stub = server.connect();
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

void soak(const Server& server, double seconds) {
  std::atomic<bool> stop{false};
  std::atomic<long> requests{0}, compiled{0}, refused{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&, c] {
      std::mt19937 random(static_cast<unsigned>(c));
      auto stub = server.connect();
      while (!stop) {
        const unsigned die = random() % 1000;
        if (die == 0) stub = server.connect();
        // Now and then something new, of a hundred problems; mostly what is known.
        const std::string factor = std::to_string(die < 5 ? 10'000 + random() % 100 : 10'000);
        schedule(*stub, asked("A(i,k) = " + factor + " * B(i,j) * C(j,k)"), compiled, refused);
        ++requests;
      }
    });
  }
  const auto start = Clock::now();
  for (int part = 0; part <= 10; ++part) {
    const auto until = start + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(seconds * (part == 0 ? 0.1 : part) / 10));
    std::this_thread::sleep_until(until);
    char when[16];
    std::snprintf(when, sizeof when, "%.0f s", since(start));
    print_taken(when, server.taken());
  }
  stop = true;
  for (auto& client : clients) client.join();
  std::this_thread::sleep_for(std::chrono::seconds(2));
  print_taken("after", server.taken());
  std::printf("soak      %ld requests, %ld compilations, %ld told to come again\n", requests.load(),
              compiled.load(), refused.load());
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 5, soaking = 0;
  int problems = 500;
  std::vector<int> clients = {1, 8, 64};
  for (int a = 1; a + 1 < argc; a += 2) {
    const std::string option = argv[a];
    if (option == "--seconds") seconds = std::atof(argv[a + 1]);
    if (option == "--soak") soaking = std::atof(argv[a + 1]);
    if (option == "--storm") problems = std::atoi(argv[a + 1]);
    if (option == "--clients") {
      clients.clear();
      std::istringstream list(argv[a + 1]);
      for (std::string one; std::getline(list, one, ',');) clients.push_back(std::atoi(one.c_str()));
    }
  }
  const test_support::TemporaryDirectory folder;
  const Server server(folder.path());
  if (seconds > 0) warm_all(server, clients, seconds);
  if (problems > 0) storm(server, problems);
  if (soaking > 0) soak(server, soaking);
  return 0;
}
