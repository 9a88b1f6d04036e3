#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <regex>

#include "compiler/concrete_notation/printer.h"
#include "compiler/frontier/proofs/contradiction.h"
#include "compiler/pipeline/check.h"
#include "compiler/pipeline/variants.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/space/space.h"
#include "server/answers/prepared_problem.h"
#include "server/answers/representatives.h"
#include "server/answers/user_names.h"
#include "server/http/listen_address.h"
#include "server/rpc/status_code.h"
#include "server/storage/data_directory.h"
#include "server/storage/stored_frontier.h"
#include "server/telemetry/log.h"
#include "tests/support/temporary_directory.h"

// Parts of the server that need no running service: listen addresses, the data directory, status codes,
// stored frontiers, names of the user. A stored frontier must come back in every field; texts that are cut or
// altered are refused with a diagnostic. Traces are translated for every order of the factors of one product,
// 20 random members each (seed 7). The tree of a translated trace must be the one that the user's own trace
// gives. An answer that shows a canonical name fails.
namespace schaas::server {
namespace {

namespace fs = std::filesystem;

const support::Cancellation never;

// ---- listen addresses ----

std::string refused(const std::string& text) { return support::render(parse_listen_address(text).error()); }

TEST(ListenAddresses, AreUnixPathsOrHostsWithPorts) {
  EXPECT_EQ(parse_listen_address("unix:/run/schaas.sock")->path, "/run/schaas.sock");
  EXPECT_EQ(parse_listen_address("127.0.0.1:8470")->port, 8470);
  EXPECT_EQ(parse_listen_address("[::1]:0")->host, "[::1]");
  for (const std::string text : {"unix:/run/schaas.sock", "127.0.0.1:8470", "[::1]:0"}) {
    EXPECT_EQ(parse_listen_address(text)->text(), text);
  }
}

TEST(ListenAddresses, RefuseOtherForms) {
  const std::string expected = "expected `unix:/path/to/socket` or `host:port`, such as 127.0.0.1:8470";
  for (const std::string text :
       {"", "localhost", "localhost:", "localhost:http", ":80", "::1:80", "a:123456"}) {
    EXPECT_EQ(refused(text), "invalid [listen]: cannot listen on `" + text + "`: " + expected);
  }
  EXPECT_EQ(refused("a:65536"), "invalid [listen]: cannot listen on `a:65536`: ports go up to 65535");
  EXPECT_EQ(refused("unix:relative"),
            "invalid [listen]: cannot listen on `unix:relative`: expected an absolute path after `unix:`");
  const std::string far = "unix:/" + std::string(120, 'x');
  EXPECT_EQ(refused(far), "invalid [listen]: cannot listen on `" + far +
                              "`: the path has 121 bytes, a socket's may have at most 107");
}

class Socket : public testing::Test {
 protected:
  int bind_socket() {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  test_support::TemporaryDirectory directory_;
  std::string path_ = directory_ / "s";
};

TEST_F(Socket, IsRemovedWhenItsServerIsDead) {
  close(bind_socket());
  ASSERT_TRUE(fs::exists(path_));
  EXPECT_TRUE(clear_stale_socket(path_).ok());
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(Socket, IsKeptWhenItsServerIsAlive) {
  const int fd = bind_socket();
  ASSERT_EQ(listen(fd, 1), 0);
  EXPECT_EQ(support::render(clear_stale_socket(path_).error()),
            "unreachable [socket-in-use]: another server answers at `unix:" + path_ + "`");
  EXPECT_TRUE(fs::exists(path_));
  close(fd);
}

TEST_F(Socket, IsRefusedWhenItIsAFile) {
  std::ofstream(path_) << "precious";
  EXPECT_EQ(support::render(clear_stale_socket(path_).error()),
            "invalid [listen]: cannot listen on `unix:" + path_ +
                "`: there is a file of this name that is no socket");
  EXPECT_TRUE(fs::exists(path_));
}

// ---- data directory ----

TEST(DataDirectories, AreCreatedPrivateWithTheirParents) {
  const test_support::TemporaryDirectory directory;
  const std::string path = directory / "a/b/schaas";
  ASSERT_TRUE(DataDirectory::open(path).ok());
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST(DataDirectories, AreClosedToOthersWhenTheyAreOpened) {
  const test_support::TemporaryDirectory directory;
  const std::string path = directory / "open";
  ASSERT_EQ(mkdir(path.c_str(), 0755), 0);
  ASSERT_EQ(chmod(path.c_str(), 0777), 0);
  ASSERT_TRUE(DataDirectory::open(path).ok());
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST(DataDirectories, MustBelongToTheUser) {
  const test_support::TemporaryDirectory directory;
  const std::string path = directory / "foreign";
  ASSERT_EQ(mkdir(path.c_str(), 0755), 0);
  if (chown(path.c_str(), 65534, 65534) != 0) GTEST_SKIP() << "only a superuser can give a directory away";
  EXPECT_EQ(support::render(DataDirectory::open(path).error()),
            "invalid [data-directory]: the data directory `" + path + "` belongs to another user");
}

TEST(DataDirectories, AreLockedByOneProcess) {
  const test_support::TemporaryDirectory directory;
  const std::string path = directory / "d";
  {
    const auto held = DataDirectory::open(path);
    ASSERT_TRUE(held.ok());
    EXPECT_EQ(support::render(DataDirectory::open(path).error()),
              "unreachable [data-directory-in-use]: the data directory `" + path +
                  "` is in use by another schaasd (process " + std::to_string(getpid()) +
                  ")\n  note: connect to that one, or give this one another --data-dir");
  }
  EXPECT_TRUE(DataDirectory::open(path).ok());
}

TEST(DataDirectories, MustBeDirectories) {
  const test_support::TemporaryDirectory directory;
  std::ofstream(directory / "f") << "x";
  EXPECT_EQ(support::render(DataDirectory::open(directory / "f").error()),
            "invalid [data-directory]: the data directory `" + (directory / "f") + "` is not a directory");
  EXPECT_EQ(support::render(DataDirectory::open(directory / "f/g").error()),
            "invalid [data-directory]: cannot create the data directory `" + (directory / "f/g") +
                "`: Not a directory");
}

TEST(DataDirectories, RefuseNetworkFileSystemsUntouched) {
  const test_support::TemporaryDirectory directory;
  const std::string path = directory / "d";
  const auto far = [](const std::string&) { return kernels_cache::FileSystem{0x65735546, "fuse.sshfs"}; };
  EXPECT_EQ(support::render(DataDirectory::open(path, far).error()),
            "invalid [network-file-system]: `" + directory.path().string() +
                "` lies on a network file system (sshfs), where a database would be damaged sooner or "
                "later\n  note: choose a directory on a local disk: --data-dir DIR, or set XDG_DATA_HOME");
  EXPECT_FALSE(fs::exists(path));
}

TEST(DataDirectories, AreCheckedWithoutBeingCreated) {
  const test_support::TemporaryDirectory directory;
  const std::string path = directory / "a/d";
  EXPECT_TRUE(DataDirectory::check(path).ok());
  EXPECT_FALSE(fs::exists(directory / "a"));
  const auto held = DataDirectory::open(path);
  EXPECT_TRUE(DataDirectory::check(path).ok()) << "also of one that is in use";
}

// ---- log ----

TEST(Logs, RefuseUnknownLevels) {
  EXPECT_EQ(support::render(open_log({"inf", ""}).error()),
            "invalid [log-level]: unknown log level `inf`; expected trace, debug, info, warning, error or "
            "off; did you "
            "mean `info`?");
  EXPECT_EQ(open_log({"info", "/dev/null/x"}).error().code, "log-file");
}

// ---- errors as gRPC status ----

TEST(StatusCodes, FollowTheFamilyAndAFewCodes) {
  using grpc::StatusCode;
  EXPECT_EQ(status_code(support::invalid("syntax", "")), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status_code(support::unsupported("operator", "")), StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(status_code(support::exhausted("states", "")), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(status_code(support::exhausted("deadline", "")), StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(status_code(support::exhausted("cancelled", "")), StatusCode::CANCELLED);
  EXPECT_EQ(status_code(support::internal("internal", "")), StatusCode::INTERNAL);
  EXPECT_EQ(status_code(support::internal("damaged-binary", "")), StatusCode::DATA_LOSS);
  EXPECT_EQ(status_code(support::invalid("unknown-binary", "")), StatusCode::NOT_FOUND);
  EXPECT_EQ(status_code(support::invalid("not-stored", "")), StatusCode::NOT_FOUND);
  EXPECT_EQ(status_code(support::unreachable("x", "")), StatusCode::UNAVAILABLE);
}

// ---- stored frontiers ----

frontier::Frontier full_frontier() {
  frontier::Frontier f;
  frontier::Survivor s;
  s.id = "s1";
  s.cost.time = {cost::make_term(0x3, cost::Access::contiguous),
                 cost::make_term(0x10005, cost::Access::strided)};
  s.cost.memory = {0, 4};
  s.members = "1209527396";
  s.loop_trees = 7;
  s.traces = {schedule::Trace{}, schedule::parse("loopfuse(path={}, loc=1, pol=left)").value()};
  s.variants = {{schedule::Trace{}, {{1, 4, 1, {8, 16}, true, true}, {}}},
                {schedule::parse("loopfuse(path={}, loc=1, pol=left)").value(), {}}};
  f.code_version = 7;
  f.survivors = {s};
  frontier::Removal r;
  r.cost.time = {8};
  r.certificate = {frontier::Certificate::Kind::log_proof, cost::Cost{{3}, {1}},
                   frontier::Argument("at every size ")
                       << frontier::time_sum({3}) << " <= " << frontier::time_sum({8}) << " and "
                       << frontier::memory_sum({1})};
  f.removals = {r};
  f.counts = {"1", "2", "3", "4", 5, 6, 7, 8, 9, 10, 11, 12, 13, 14.5, 15.5, 0, {{"plain", "14"}}};
  f.seconds = {0.1, 0.2, 0.3, 0.4, 1.5};
  f.complete = false;
  f.limited = "a sentence about a budget";
  f.proofs = {{frontier::Certificate::Kind::termwise, {1, 3}, {7, 9}}};
  f.more_proofs = 16;
  return f;
}

TEST(StoredFrontiers, ComeBackInEveryField) {
  const frontier::Frontier f = full_frontier();
  const auto read = parse_frontier(print_frontier(f));
  ASSERT_TRUE(read.ok()) << support::render(read.error());
  ASSERT_EQ(read->survivors.size(), 1u);
  const auto& s = read->survivors[0];
  EXPECT_EQ(s.id, "s1");
  EXPECT_EQ(s.cost, f.survivors[0].cost);
  EXPECT_EQ(s.members, "1209527396");
  EXPECT_EQ(s.loop_trees, 7u);
  EXPECT_EQ(s.traces, f.survivors[0].traces);
  EXPECT_EQ(read->code_version, 7);
  ASSERT_EQ(s.variants.size(), 2u);
  EXPECT_EQ(s.variants[0].code, f.survivors[0].variants[0].code);
  EXPECT_EQ(s.variants[1].trace, f.survivors[0].variants[1].trace);
  ASSERT_EQ(read->removals.size(), 1u);
  EXPECT_EQ(read->removals[0].cost, f.removals[0].cost);
  EXPECT_EQ(read->removals[0].certificate.kind, frontier::Certificate::Kind::log_proof);
  EXPECT_EQ(read->removals[0].certificate.winner, f.removals[0].certificate.winner);
  EXPECT_EQ(read->removals[0].certificate.argument, f.removals[0].certificate.argument);
  EXPECT_FALSE(read->complete);
  EXPECT_EQ(read->limited, "a sentence about a budget");
  ASSERT_EQ(read->proofs.size(), 1u);
  EXPECT_EQ(read->proofs[0].kind, frontier::Certificate::Kind::termwise);
  EXPECT_EQ(read->proofs[0].winner, f.proofs[0].winner);
  EXPECT_EQ(read->proofs[0].loser, f.proofs[0].loser);
  EXPECT_EQ(read->more_proofs, 16u);
  EXPECT_EQ(print_frontier(*read), print_frontier(f));  // counts and seconds with the rest
}

TEST(StoredFrontiers, AreCheckedWhenRead) {
  const std::string good = print_frontier(full_frontier());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    return parse_frontier(text);
  };
  EXPECT_EQ(with("\"version\":4", "\"version\":2").error().message, "format version 2 is not known");
  // Numbers that no integer holds, found by fuzzing.
  for (const char* field : {"version", "states", "more_proofs", "loop_trees", "witnesses"}) {
    const std::string name = "\"" + std::string(field) + "\":";
    for (const char* number : {"2e84", "-1", "0.5", "\"1\"", "[1]"})
      EXPECT_EQ(with(name, name + number + ",\"was\":").error().code, "stored-frontier") << field << number;
  }
  EXPECT_EQ(with("\"time\":[", "\"time\":[1e300,").error().code, "stored-frontier");
  EXPECT_EQ(with("log-proof", "guess").error().message, "not a stored frontier: `guess` is not known");
  EXPECT_EQ(with("\"traces\":[\"linear\",", "\"traces\":[\"nonsense(\",").error().family,
            support::Family::internal);
  EXPECT_EQ(
      with("\"variants\":[{\"trace\":\"linear\"", "\"variants\":[{\"trace\":\"reorder(path={}, order={j})\"")
          .error()
          .message,
      "schedule `s1` is not the first of its variants");
  EXPECT_EQ(with("\"seconds\"", "\"second\"").error().code, "stored-frontier");
  for (std::size_t cut = 0; cut < good.size(); cut += 7) {
    const auto read = parse_frontier(good.substr(0, cut));
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, "stored-frontier");
  }
}

// ---- names and representatives ----

problem::Canonical canonical(const problem::ProblemText& text) {
  return problem::canonicalize(problem::build(text).value());
}

problem::ProblemText renamed_spmm() {
  problem::ProblemText text;
  text.expression = "Out(row,c) = Sparse(row,k) * Dense(k,c)";
  text.formats["Sparse"] = "csr";
  text.constraints = {"8 <= c <= 256"};
  return text;
}

TEST(UserNames, AppearInStatementArgumentsCostsAndTrees) {
  const auto c = canonical(renamed_spmm());
  const UserNames names(c);
  EXPECT_THAT(names.arguments(), testing::UnorderedElementsAre("Out", "Sparse", "Dense"));
  EXPECT_EQ(names.arguments().front(), "Out");
  EXPECT_EQ(names.problem().statement.result.tensor, "Out");
  EXPECT_EQ(names.problem().formats.at("Sparse"), format::parse("csr", 2, "Sparse").value());
  EXPECT_EQ(names.problem().constraints, problem::build(renamed_spmm())->constraints);
  const auto tree = names.tree(schedule::Trace{});
  ASSERT_TRUE(tree.ok());
  for (const std::string index : {"row", "k", "c"}) EXPECT_THAT(*tree, testing::HasSubstr(index));
  // Same bits, other names.
  const auto ours = cost::variables_of(c.problem);
  ASSERT_EQ(names.variables().extents.size(), ours.extents.size());
  for (std::size_t v = 0; v < ours.extents.size(); ++v) {
    EXPECT_EQ(names.variables().extents[v].index, c.user_index.at(ours.extents[v].index));
  }
}

TEST(UserNames, AppearInEveryStatementOfAProgram) {
  problem::ProblemText text;
  text.expression = "min-plus: Tmp(row,c) = G(row,c) + max(k)(G(row,k)); Out(row) += Tmp(row,c) * w(c)";
  text.formats["G"] = "csr";
  text.constraints = {"8 <= c <= 256"};
  const auto c = canonical(text);
  const UserNames names(c);
  EXPECT_EQ(names.problem(), *problem::build(text));
  EXPECT_THAT(names.arguments(), testing::ElementsAre("Out", "G", "w"));
}

TEST(UserNames, RoundTripInTraces) {
  const UserNames names(canonical(renamed_spmm()));
  const auto users = schedule::parse("reorder(path={}, order={k,row,c})").value();
  EXPECT_EQ(names.to_user(names.to_canonical(users)), users);
}

/// Replaces each canonical name of a text by the user's.
std::string told(const problem::Canonical& c, const std::string& text) {
  std::string out;
  const std::regex word("[A-Za-z][A-Za-z0-9]*");
  std::size_t at = 0;
  for (std::sregex_iterator found(text.begin(), text.end(), word), end; found != end; ++found) {
    out += text.substr(at, static_cast<std::size_t>(found->position()) - at);
    const std::string name = found->str();
    const auto& names = c.user_index.count(name) != 0 ? c.user_index : c.user_tensor;
    out += names.count(name) != 0 ? names.at(name) : name;
    at = static_cast<std::size_t>(found->position()) + name.size();
  }
  return out + text.substr(at);
}

// A trace refers to the product as the user wrote it, for every order of the factors. It survives the round
// trip through the canonical product.
TEST(UserNames, ReferToTheFactorsAsWrittenInTraces) {
  std::vector<std::string> factors = {"C(l,j)", "B(i,k,l)", "D(k,j)", "E(j,m)"};
  std::sort(factors.begin(), factors.end());
  std::mt19937_64 random(7);
  int moved = 0;
  do {
    problem::ProblemText text;
    text.expression = "A(i,m) = " + factors[0] + " * " + factors[1] + " * " + factors[2] + " * " + factors[3];
    text.formats["B"] = "csf";
    const auto written = problem::build(text).value();
    const auto c = problem::canonicalize(written);
    const UserNames names(c);
    EXPECT_EQ(names.as_written().statement, written.statement);
    moved += names.problem().statement == written.statement ? 0 : 1;
    space::Space space(written, {}), ours(c.problem, {});
    for (int n = 0; n < 20; ++n) {
      const auto users = space.draw(random).value();
      const std::string code = concrete_notation::print_indented(schedule::apply(users, written).value());
      const auto canonical = names.to_canonical(users);
      EXPECT_EQ(names.code(canonical).value(), code) << schedule::print(users);
      if (users.directives.empty()) continue;  // the default nest of either
      EXPECT_EQ(told(c, concrete_notation::print_indented(schedule::apply(canonical, c.problem).value())),
                code)
          << schedule::print(users);
      const auto drawn = ours.draw(random).value();
      EXPECT_EQ(names.to_canonical(names.to_user(drawn)), drawn);
    }
  } while (std::next_permutation(factors.begin(), factors.end()));
  EXPECT_GT(moved, 12);
}

TEST(UserNames, AppearInArgumentsAndSizes) {
  const auto c = canonical(renamed_spmm());
  const UserNames names(c);
  const std::string first = names.variables().extents.front().index;
  EXPECT_EQ(names.print(frontier::Argument("every i with ") << frontier::time_sum({1}) << " <= k"),
            "every i with " + first + " <= k");
  const std::string ours = cost::variables_of(c.problem).extents.front().index;
  const frontier::Sizes sizes = {{{problem::Symbol::Kind::extent, ours, 0}, 12}};
  EXPECT_EQ(names.print(sizes), first + " = 12");
}

/// Fails as a search and a compilation do, in canonical names.
class FailingProvider final : public KernelProvider {
 public:
  support::Result<FrontierAnswer> frontier(const FrontierQuery& query, const frontier::Progress&,
                                           const support::Cancellation&) override {
    const auto solver = frontier::make_solver({}, never);
    SCHAAS_RETURN_IF_ERROR(frontier::check_satisfiable(query.canonical.problem, *solver, 300));
    return support::internal("unexpected", "some sizes satisfy the constraints");
  }
  support::Result<KernelAnswer> kernel(const KernelQuery& query, const support::Cancellation&) override {
    SCHAAS_RETURN_IF_ERROR(pipeline::check(query.canonical.problem, query.trace));
    return support::exhausted("disk-full", "the disk of `A` is full");
  }
};

TEST(PreparedProblem, TellsErrorsOfTheProviderInTheUsersNames) {
  problem::ProblemText text;
  text.expression = "Out(row,col) += Left(row,mid) * Right(mid,col)";
  text.formats = {{"Out", "csr"}};
  auto prepared = prepare(text, {}, {}, never).value();
  FailingProvider provider;
  const KernelQuery kernel{
      prepared.canonical, schedule::default_trace(prepared.canonical.problem), {}, "", {}, {}};
  const auto unsupported = kernel_of(prepared, provider, kernel, never);
  ASSERT_FALSE(unsupported.ok());
  EXPECT_EQ(unsupported.error().code, "sparse-result");
  EXPECT_THAT(unsupported.error().message, testing::HasSubstr("the result `Out` has the sparse format"));

  text.formats.clear();
  prepared = prepare(text, {}, {}, never).value();
  const auto full = kernel_of(
      prepared, provider,
      {prepared.canonical, schedule::default_trace(prepared.canonical.problem), {}, "", {}, {}}, never);
  EXPECT_EQ(full.error().message, "the disk of `A` is full") << "nobody renames words of a sentence";

  // The solver of the request decided nothing, that of the search does.
  text.constraints = {"10*mid <= col", "2*col <= mid"};
  const auto built = problem::build(text).value();
  prepared = {problem::canonicalize(built), UserNames(problem::canonicalize(built)), {}};
  const auto contradiction = frontier_of(prepared, provider, {prepared.canonical, {}}, {}, never);
  ASSERT_FALSE(contradiction.ok());
  EXPECT_THAT(contradiction.error().notes, testing::UnorderedElementsAre("2*col <= mid", "10*mid <= col"));
}

TEST(Representatives, AreDifferentAndHaveTheLeastMemoryAndTheFastest) {
  const auto c = canonical(renamed_spmm());
  frontier::Frontier f;
  for (int n = 0; n < 10; ++n) {
    frontier::Survivor s;
    s.id = "s" + std::to_string(n + 1);
    s.cost.time = std::vector<cost::Term>(static_cast<std::size_t>(n == 7 ? 1 : 12 - n), cost::Term{1});
    s.cost.memory = std::vector<cost::Term>(static_cast<std::size_t>(n), cost::Term{1});
    f.survivors.push_back(s);
  }
  EXPECT_THAT(representatives(f, c.problem, 0), testing::IsEmpty());
  EXPECT_THAT(representatives(f, c.problem, 1), testing::ElementsAre(7));
  EXPECT_THAT(representatives(f, c.problem, 2), testing::ElementsAre(7, 0));
  const auto all = representatives(f, c.problem, 100);
  EXPECT_THAT(all, testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(representatives({}, c.problem, 3), testing::IsEmpty());
}

TEST(Representatives, LocateRowsWhoseListIsLong) {
  problem::ProblemText text;
  text.expression = "A(i,k) = B(i,j) * C(j,k)";
  for (const std::string tensor : {"A", "B", "C"}) text.formats[tensor] = "coo";
  const auto c = canonical(text);
  const auto found = frontier::compute(c.problem, frontier::options_for(c.problem.profile), {}, never);
  ASSERT_TRUE(found.ok()) << support::render(found.error());
  const auto first = representatives(*found, c.problem, 1);
  ASSERT_EQ(first.size(), 1u);
  // Rows of C are located in a copy: their list would be walked again for every row of B.
  EXPECT_THAT(schedule::print(found->survivors[first.front()].traces.front()),
              testing::HasSubstr("first=dense"));
}

// ---- variants ----

std::vector<std::string> variants(const std::string& expression, const std::string& trace) {
  problem::ProblemText text;
  text.expression = expression;
  text.formats["B"] = "csf";
  const auto prepared = prepare(text, {}, {}, {});
  if (!prepared.ok()) return {support::render(prepared.error())};
  frontier::Survivor survivor;
  survivor.id = "s1";
  survivor.traces = {prepared->names.to_canonical(schedule::parse(trace).value())};
  frontier::Frontier f;
  f.survivors = {survivor};
  pipeline::add_variants(f, prepared->canonical.problem);
  std::vector<std::string> trees;
  for (const auto& variant : named(f, *prepared)->entries.front().variants) trees.push_back(variant.tree);
  return trees;
}

TEST(Variants, SumTheEntriesOfABlockNextToTheRowTheyAddTo) {
  const std::string order = "permute(path={}, factors={1,0,2}); reorder(path={}, order={i,j,k,l,m}); ";
  // The sum over the fibers is inside of the rows of the result.
  EXPECT_THAT(
      variants("A(i,l,m) = B(i,j,k) * C(j,l) * D(k,m)", order + "loopfuse(path={}, loc=1, pol=right)"),
      testing::ElementsAre("ij<km,lm>", "ij:8<jkm,jlm>", "ij:32<jkm,ljm>"));
  // Without a sum, because every fiber has rows of its own,
  EXPECT_THAT(
      variants("A(i,j,l,m) = B(i,j,k) * C(j,l) * D(k,m)", order + "loopfuse(path={}, loc=1, pol=right)"),
      testing::ElementsAre("ij<km,lm>", "ij:8<jkm,jlm>"));
  // and with one row it is next to it already.
  EXPECT_THAT(variants("A(i,l) = B(i,j,k) * C(j,l) * D(k,l)",
                       "permute(path={}, factors={1,0,2}); reorder(path={}, order={i,j,k,l}); "
                       "loopfuse(path={}, loc=1, pol=right)"),
              testing::ElementsAre("ij<kl,l>", "ij:8<jkl,jl>"));
}

}  // namespace
}  // namespace schaas::server
