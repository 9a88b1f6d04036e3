// Access control: tokens, scopes and quotas, TLS and client certificates, and listen addresses.
#include "server/auth/access_control.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "compiler/support/digest.h"
#include "schaas/connection.h"
#include "schaas/v1/admin.pb.h"
#include "schaas/v1/jobs.pb.h"
#include "schaas/v1/schaas.pb.h"
#include "server/daemon/daemon.h"
#include "tests/service/certificates.h"
#include "tests/support/temporary_directory.h"

namespace schaas::server {
namespace {

using client::Connection;
using client::ConnectOptions;
using testing::HasSubstr;

std::string line_of(const std::string& name, const std::string& token, const std::string& settings) {
  return name + " " + support::digest_of(token).sha256 + " " + settings + "\n";
}

// ---- the table of methods ----

TEST(Methods, RequireAScopeEach) {
  std::set<std::string> known;
  for (const Method& method : methods::all)
    EXPECT_TRUE(known.insert(std::string(method.path)).second) << method.path;
  std::set<std::string> served;
  for (const auto* file :
       {v1::ScheduleRequest::descriptor()->file(), v1::SubmitJobRequest::descriptor()->file(),
        v1::BackupRequest::descriptor()->file()}) {
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m)
        served.insert(file->service(s)->method(m)->full_name());
    }
  }
  EXPECT_EQ(known, served);
}

// ---- the tokens file ----

class Tokens : public testing::Test {
 protected:
  std::string write(const std::string& text, unsigned mode = 0600) {
    std::ofstream(path_) << text;
    chmod(path_.c_str(), mode);
    return path_;
  }
  std::string refusal(const std::string& text) { return support::render(read_tokens(write(text)).error()); }

  test_support::TemporaryDirectory directory_;
  std::string path_ = directory_ / "tokens";
};

TEST_F(Tokens, AreReadOnePerLine) {
  const auto tokens = read_tokens(write(
      "# who may use it\n\n" + line_of("ci@build", "t1", "scopes=read,schedule") +
      line_of("group", "t2", "scopes=precompute queued=100 requests-per-minute=60 concurrent=2  # fair")));
  ASSERT_TRUE(tokens.ok()) << support::render(tokens.error());
  ASSERT_EQ(tokens->size(), 2u);
  EXPECT_EQ((*tokens)[0].name, "ci@build");
  EXPECT_EQ((*tokens)[0].scopes, (std::vector<Scope>{Scope::read, Scope::schedule}));
  EXPECT_EQ((*tokens)[0].quotas, Quotas{});
  EXPECT_EQ((*tokens)[1].sha256, support::digest_of("t2").sha256);
  EXPECT_EQ((*tokens)[1].quotas, (Quotas{60, 2, 100}));
}

TEST_F(Tokens, AllowTheirScopesOnly) {
  const auto tokens =
      read_tokens(write(line_of("a", "1", "scopes=read") + line_of("b", "2", "scopes=admin")));
  const std::set<Scope> every = {Scope::any,        Scope::read,   Scope::schedule,
                                 Scope::precompute, Scope::report, Scope::admin};
  for (const Scope scope : every) {
    EXPECT_EQ((*tokens)[0].allows(scope), scope == Scope::any || scope == Scope::read);
    EXPECT_TRUE((*tokens)[1].allows(scope));
  }
}

TEST_F(Tokens, ReportWrongLines) {
  const std::string digest(64, '0');
  EXPECT_EQ(refusal("# first\na " + digest + " scopes=reed\n"),
            "invalid [tokens]: unknown scope `reed`; known are read, schedule, precompute, report, admin; "
            "did you mean "
            "`read`?\n  --> " +
                path_ + ":2:1\n  | a " + digest + " scopes=reed\n  | " +
                std::string(78, '^').replace(1, 77, 77, '~'));
  EXPECT_THAT(refusal("a secret scopes=read\n"),
              HasSubstr("the token of `a` must be given by its SHA-256, 64 lower-case hexadecimal digits"));
  EXPECT_THAT(refusal("a/b " + digest + " scopes=read\n"),
              HasSubstr("`a/b` is no name of a token; expected 1 to 64 letters, digits and `-_.@`"));
  EXPECT_THAT(refusal("a " + digest + "\n"), HasSubstr("`a` may do nothing: it has no scopes=..."));
  EXPECT_THAT(refusal("a " + digest + " scopes=read queued=many\n"),
              HasSubstr("`queued=many`: expected a positive number"));
  EXPECT_THAT(
      refusal("a " + digest + " scopes=read speed=1\n"),
      HasSubstr("unknown setting `speed`; known are scopes, requests-per-minute, concurrent, queued"));
  EXPECT_THAT(refusal("a " + digest + " scopes=read\nb " + digest + " scopes=read\n"),
              HasSubstr("this token is there twice"));
  EXPECT_EQ(support::render(read_tokens(write("", 0620)).error()),
            "invalid [tokens]: others than its owner may write the tokens file `" + path_ +
                "`\n  note: `chmod go-w " + path_ + "`");
  EXPECT_EQ(support::render(read_tokens(path_ + "?").error()),
            "invalid [tokens]: the tokens file `" + path_ + "?` cannot be read");
}

TEST_F(Tokens, MatchTheirLineWhenNew) {
  const std::string token = make_token();
  EXPECT_EQ(token.size(), 71u);
  EXPECT_NE(token, make_token());
  const std::string text = introduction("me", token);
  EXPECT_THAT(text, HasSubstr("\n" + token + "\n"));
  const auto read = read_tokens(write(text.substr(text.find("\nme ") + 1)));
  ASSERT_TRUE(read.ok()) << support::render(read.error());
  EXPECT_EQ(read->front().sha256, support::digest_of(token).sha256);
}

// ---- authorisation ----

class Authorisation : public Tokens {
 protected:
  std::unique_ptr<AccessControl> open(bool sockets_need_token = false) {
    return AccessControl::open({path_, sockets_need_token, [this] { return now_; }}).value();
  }
  static std::string outcome(const support::Result<AccessControl::AuthorisedRequest>& pass) {
    return pass.ok() ? "in" : support::render(pass.error());
  }
  std::chrono::steady_clock::time_point now_{};
  const std::string far_ = "ipv4:192.0.2.1:4711";
};

TEST_F(Authorisation, AuthorisesEverybodyWithoutTokens) {
  const auto access = AccessControl::open({"", false, AccessControl::steady_clock()}).value();
  EXPECT_EQ(outcome(access->authorise(methods::verify_cache, far_, "")), "in");
}

TEST_F(Authorisation, RequiresATokenOverTheNetwork) {
  write(line_of("reader", "right", "scopes=read"));
  const auto access = open();
  const std::string asks =
      "unreachable [no-token]: this server asks for a token\n  note: get one from its operator and give it "
      "in a file: "
      "schaas --token-file FILE, or SCHAAS_TOKEN_FILE";
  const std::string unknown =
      "unreachable [unknown-token]: this server does not know the token\n  note: it may have been withdrawn: "
      "ask its "
      "operator";
  EXPECT_EQ(outcome(access->authorise(methods::info, far_, "")), asks);
  EXPECT_EQ(outcome(access->authorise(methods::info, far_, "right")), asks) << "not the way it is written";
  EXPECT_EQ(outcome(access->authorise(methods::info, far_, "Bearer ")), unknown);
  EXPECT_EQ(outcome(access->authorise(methods::info, far_, "Bearer wrong")), unknown);
  EXPECT_EQ(outcome(access->authorise(methods::info, far_, "Bearer " + support::digest_of("right").sha256)),
            unknown);
  EXPECT_EQ(outcome(access->authorise(methods::info, far_, "Bearer right")), "in");
  EXPECT_EQ(access->authorise(methods::lookup, far_, "Bearer right")->principal().name, "reader");
  EXPECT_EQ(outcome(access->authorise(methods::schedule, far_, "Bearer right")),
            "unreachable [scope]: the token of `reader` does not allow Schedule, which takes the scope "
            "`schedule`\n  note: "
            "ask the server's operator to add `schedule` to its scopes");
}

TEST_F(Authorisation, ComparesEveryDigitOfATokensDigest) {
  const std::string digest = support::digest_of("right").sha256;
  for (std::size_t changed = 0; changed < digest.size(); ++changed) {
    std::string other = digest;
    other[changed] = other[changed] == '0' ? '1' : '0';
    write("reader " + other + " scopes=read\n");
    EXPECT_THAT(outcome(open()->authorise(methods::info, far_, "Bearer right")), HasSubstr("[unknown-token]"))
        << changed;
  }
}

TEST_F(Authorisation, NeedsNoTokenOnThePrivateSocket) {
  write(line_of("reader", "right", "scopes=read"));
  EXPECT_EQ(outcome(open()->authorise(methods::verify_cache, "unix:/run/s", "")), "in");
  EXPECT_THAT(outcome(open(true)->authorise(methods::verify_cache, "unix:/run/s", "")),
              HasSubstr("[no-token]"));
  EXPECT_THAT(outcome(open()->authorise(methods::verify_cache, "ipv4:127.0.0.1:1", "")),
              HasSubstr("[no-token]"));
}

TEST_F(Authorisation, EnforcesQuotas) {
  write(line_of("group", "g", "scopes=read requests-per-minute=2") +
        line_of("pair", "p", "scopes=read concurrent=2"));
  const auto access = open();
  EXPECT_EQ(outcome(access->authorise(methods::info, far_, "Bearer g")), "in");
  EXPECT_EQ(outcome(access->authorise(methods::info, far_, "Bearer g")), "in");
  EXPECT_EQ(
      outcome(access->authorise(methods::info, far_, "Bearer g")),
      "exhausted [quota-requests]: `group` has made more than 2 requests in a minute\n  note: retry in 30 s");
  now_ += std::chrono::seconds(20);
  EXPECT_THAT(outcome(access->authorise(methods::info, far_, "Bearer g")), HasSubstr("retry in 10 s"));
  now_ += std::chrono::seconds(10);
  EXPECT_EQ(outcome(access->authorise(methods::info, far_, "Bearer g")), "in");

  auto first = access->authorise(methods::info, far_, "Bearer p");
  {
    const auto second = access->authorise(methods::info, far_, "Bearer p");
    EXPECT_EQ(outcome(access->authorise(methods::info, far_, "Bearer p")),
              "exhausted [quota-concurrent]: `pair` has 2 requests running, which is its limit\n  note: "
              "retry when one of them has ended");
  }
  EXPECT_EQ(outcome(access->authorise(methods::info, far_, "Bearer p")), "in");
}

TEST_F(Authorisation, RevokesTokensOnReloadAndKeepsThemWhenTheFileIsWrong) {
  write(line_of("old", "o", "scopes=read"));
  const auto access = open();
  write(line_of("new", "n", "scopes=read"));
  EXPECT_EQ(outcome(access->authorise(methods::info, far_, "Bearer o")), "in");
  ASSERT_TRUE(access->reload().ok());
  EXPECT_THAT(outcome(access->authorise(methods::info, far_, "Bearer o")), HasSubstr("[unknown-token]"));
  write("nonsense");
  EXPECT_FALSE(access->reload().ok());
  EXPECT_EQ(outcome(access->authorise(methods::info, far_, "Bearer n")), "in");
}

TEST_F(Authorisation, ChecksRunningRequestsAgain) {
  write(line_of("reader", "r", "scopes=read requests-per-minute=1"));
  const auto access = open();
  const auto again = [&](const std::string& peer) {
    const auto checked = access->authorise_again(methods::watch_job, peer, "Bearer r");
    return checked.ok() ? "in" : support::render(checked.error());
  };
  for (int n = 0; n < 3; ++n) EXPECT_EQ(again(far_), "in") << "it is no request of its own";
  write(line_of("reader", "r", "scopes=report"));
  ASSERT_TRUE(access->reload().ok());
  EXPECT_THAT(again(far_), HasSubstr("[scope]"));
  write(line_of("reader", "another", "scopes=read"));
  ASSERT_TRUE(access->reload().ok());
  EXPECT_THAT(again(far_), HasSubstr("[unknown-token]"));
  EXPECT_EQ(again("unix:/run/s"), "in");
}

// ---- over the wire ----

class TransportSecurity : public testing::Test {
 protected:
  void SetUp() override {
    ours_.issue("server");
    ours_.issue("client");
    ours_.issue("late", -1);
    ours_.issue("elsewhere", 1, "DNS:schaas.example,IP:192.0.2.1");
    others_.issue("server");
    others_.issue("client");
    setenv("XDG_CONFIG_HOME", directory_.path().c_str(), 1);
  }
  void TearDown() override { unsetenv("XDG_CONFIG_HOME"); }

  support::Result<std::unique_ptr<Daemon>> open(DaemonOptions options) {
    options.data_directory = directory_ / "data";
    options.drain = std::chrono::seconds(1);
    if (options.listen.empty()) options.listen = {"127.0.0.1:0"};
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(logged_);
    return Daemon::start(options, std::make_shared<spdlog::logger>("test", sink));
  }
  void start(const DaemonOptions& options) {
    auto daemon = open(options);
    ASSERT_TRUE(daemon.ok()) << support::render(daemon.error());
    daemon_ = std::move(daemon).value();
  }
  TlsFiles tls(bool mutual = false) const {
    return {ours_.certificate("server"), ours_.key("server"), mutual ? ours_.authority() : ""};
  }
  std::string refusal(const DaemonOptions& options) {
    const auto daemon = open(options);
    return daemon.ok() ? "started" : support::render(daemon.error());
  }
  ConnectOptions to_server(const std::string& authority = "", const std::string& certificate = "",
                           const std::string& key = "") const {
    ConnectOptions options;
    options.server = daemon_->addresses().front();
    options.tls_ca = authority;
    options.tls_cert = certificate;
    options.tls_key = key;
    options.call_limit = std::chrono::seconds(20);
    return options;
  }
  static std::string outcome(const ConnectOptions& options) {
    const auto connection = Connection::open(options);
    return connection.ok() ? "connected" : support::render(connection.error());
  }

  test_support::TemporaryDirectory directory_;
  test::Certificates ours_{"ours"}, others_{"others"};
  std::ostringstream logged_;
  std::unique_ptr<Daemon> daemon_;
};

TEST_F(TransportSecurity, RequiresTlsBeyondLoopback) {
  DaemonOptions options;
  options.listen = {"0.0.0.0:0"};
  EXPECT_EQ(refusal(options),
            "invalid [insecure-listen]: `0.0.0.0:0` can be reached from other machines, and there is no "
            "TLS\n  note: give "
            "--tls-cert and --tls-key, and --tokens or --tls-client-ca to say who may use it; or listen on "
            "127.0.0.1 (ssh "
            "can bring others there); --insecure-tcp listens all the same, where everybody is trusted");
  options.insecure_tcp = true;
  EXPECT_EQ(refusal(options), "started");
  EXPECT_THAT(logged_.str(), HasSubstr("without TLS: traffic can be read and modified"));
  EXPECT_THAT(logged_.str(), HasSubstr("any client that reaches it is authorised"));
  options.insecure_tcp = false;
  options.tls = tls();
  EXPECT_EQ(refusal(options), "started");
}

TEST_F(TransportSecurity, RefusesMismatchedFilesAtTheStart) {
  DaemonOptions options;
  options.tls = {ours_.certificate("server"), "", ""};
  EXPECT_EQ(refusal(options),
            "invalid [tls]: TLS needs both a certificate (--tls-cert) and its key (--tls-key)");
  options.tls.key = ours_.key("client");
  EXPECT_EQ(refusal(options), "invalid [tls]: the key `" + options.tls.key +
                                  "` is not that of the certificate `" + options.tls.certificate + "`");
  options.tls = {ours_.certificate("late"), ours_.key("late"), ""};
  EXPECT_EQ(refusal(options), "invalid [tls]: the certificate `" + options.tls.certificate + "` has expired");
  options.tls = {ours_.key("server"), ours_.key("server"), ""};
  EXPECT_EQ(refusal(options),
            "invalid [tls]: the certificate `" + options.tls.certificate + "` is no certificate in PEM");
  options.tls = {ours_.certificate("server"), ours_.certificate("server"), ""};
  chmod(options.tls.key.c_str(), 0600);
  EXPECT_EQ(refusal(options), "invalid [tls]: the key `" + options.tls.key +
                                  "` is no private key in PEM, without a passphrase");
  options.tls = tls();
  options.tls.client_ca = "/nonexistent.pem";
  EXPECT_EQ(refusal(options), "invalid [tls]: the authority of clients `/nonexistent.pem` cannot be read");
  options.tls = tls();
  chmod(options.tls.key.c_str(), 0644);
  EXPECT_EQ(refusal(options), "invalid [tls]: others than its owner may read or write the key `" +
                                  options.tls.key + "`\n  note: `chmod 600 " + options.tls.key + "`");
}

TEST_F(TransportSecurity, AuthenticatesServersByCertificate) {
  DaemonOptions options;
  options.tls = tls();
  start(options);
  EXPECT_EQ(outcome(to_server(ours_.authority())), "connected");
  EXPECT_THAT(outcome(to_server(others_.authority())),
              HasSubstr("unreachable [tls-failed]: this client and the server at "));
  EXPECT_THAT(outcome(to_server()), HasSubstr("unreachable [server-down]"));
  EXPECT_THAT(outcome(to_server("/nonexistent.pem")),
              HasSubstr("invalid [tls-file]: the authority of the server `/nonexistent.pem` cannot be read"));
}

// The check at the start refuses such a file, so it is written while the server runs.
TEST_F(TransportSecurity, RejectsExpiredCertificates) {
  const std::string certificate = directory_ / "c.pem", key = directory_ / "c.key";
  const auto install = [&](const std::string& name) {
    const auto all = std::filesystem::copy_options::overwrite_existing;
    std::filesystem::copy_file(ours_.key(name), key, all);
    std::filesystem::copy_file(ours_.certificate(name), certificate, all);
  };
  install("server");
  DaemonOptions options;
  options.tls = {certificate, key, ""};
  start(options);
  EXPECT_EQ(outcome(to_server(ours_.authority())), "connected");
  install("late");
  const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::string refused;
  // Connections that are made while the pair is exchanged may be closed.
  while (refused.find("tls-failed") == std::string::npos && std::chrono::steady_clock::now() < patience) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    refused = outcome(to_server(ours_.authority()));
  }
  EXPECT_THAT(refused, HasSubstr("unreachable [tls-failed]"));
  EXPECT_THAT(refused, HasSubstr("certificate verify failed"));
}

TEST_F(TransportSecurity, RejectsCertificatesOfOtherNames) {
  DaemonOptions options;
  options.tls = {ours_.certificate("elsewhere"), ours_.key("elsewhere"), ""};
  start(options);
  const std::string refused = outcome(to_server(ours_.authority()));
  EXPECT_THAT(refused, HasSubstr("unreachable [tls-failed]"));
  EXPECT_THAT(refused, HasSubstr("Peer name 127.0.0.1 is not in peer certificate"));
}

TEST_F(TransportSecurity, AuthenticatesClientsByCertificate) {
  DaemonOptions options;
  options.tls = tls(true);
  start(options);
  const std::string authority = ours_.authority();
  EXPECT_EQ(outcome(to_server(authority, ours_.certificate("client"), ours_.key("client"))), "connected");
  for (const auto& wrong :
       {to_server(authority), to_server(authority, others_.certificate("client"), others_.key("client")),
        to_server(authority, ours_.certificate("late"), ours_.key("late"))})
    EXPECT_THAT(outcome(wrong), HasSubstr("unreachable ["));  // TLS 1.3 reports a closed socket only
  EXPECT_THAT(outcome(to_server(authority, ours_.certificate("client"))),
              HasSubstr("a certificate without its key"));
}

TEST_F(TransportSecurity, ReloadsChangedCertificates) {
  const std::string certificate = directory_ / "c.pem", key = directory_ / "c.key";
  const auto install = [&](const test::Certificates& from) {
    const auto all = std::filesystem::copy_options::overwrite_existing;
    std::filesystem::copy_file(from.key("server"), key, all);
    std::filesystem::copy_file(from.certificate("server"), certificate, all);
  };
  install(ours_);
  DaemonOptions options;
  options.tls = {certificate, key, ""};
  start(options);
  EXPECT_EQ(outcome(to_server(ours_.authority())), "connected");
  install(others_);
  const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (outcome(to_server(others_.authority())) != "connected") {
    ASSERT_LT(std::chrono::steady_clock::now(), patience);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_THAT(outcome(to_server(ours_.authority())), HasSubstr("[tls-failed]"));
}

TEST_F(TransportSecurity, KeepsTheLastCertificateWhileARenewalIsHalfWritten) {
  const std::string certificate = directory_ / "c.pem", key = directory_ / "c.key";
  const auto text_of = [](const std::string& path) {
    std::ifstream file(path);
    return std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  };
  const auto write = [](const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::trunc) << text;
    chmod(path.c_str(), 0600);
  };
  write(key, text_of(ours_.key("server")));
  write(certificate, text_of(ours_.certificate("server")));
  DaemonOptions options;
  options.tls = {certificate, key, ""};
  start(options);
  const std::string renewed = text_of(others_.certificate("server"));
  write(certificate, renewed.substr(0, renewed.size() / 2));
  std::this_thread::sleep_for(std::chrono::seconds(4));
  EXPECT_EQ(outcome(to_server(ours_.authority())), "connected") << "half a certificate";
  write(certificate, renewed);
  std::this_thread::sleep_for(std::chrono::seconds(4));
  EXPECT_EQ(outcome(to_server(ours_.authority())), "connected") << "a certificate without its key";
  write(key, text_of(others_.key("server")));
  const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (outcome(to_server(others_.authority())) != "connected") {
    ASSERT_LT(std::chrono::steady_clock::now(), patience);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

TEST_F(TransportSecurity, EnforcesScopesOverTheWire) {
  const std::string reader = make_token(), worker = make_token(), other = make_token(), admin = make_token();
  DaemonOptions options;
  options.tls = tls();
  options.tokens = directory_ / "tokens";
  std::ofstream(options.tokens) << line_of("reader", reader, "scopes=read")
                                << line_of("worker", worker, "scopes=precompute,read queued=1")
                                << line_of("other", other, "scopes=precompute,read")
                                << line_of("operator", admin, "scopes=admin");
  start(options);
  const auto with = [&](const std::string& token) {
    ConnectOptions out = to_server(ours_.authority());
    out.token = token;
    return out;
  };
  EXPECT_THAT(outcome(to_server(ours_.authority())),
              HasSubstr("unreachable [no-token]: this server asks for a token"));
  EXPECT_THAT(outcome(with(make_token())), HasSubstr("unreachable [unknown-token]"));
  Connection reading = Connection::open(with(reader)).value();
  client::ScheduleRequest request;
  request.problem.expression = "y(i) = B(i,j) * x(j)";
  request.search_only = true;
  EXPECT_EQ(reading.schedule(request).error().code, "scope");
  EXPECT_EQ(reading.lookup(request.problem).error().code, "not-stored");
  EXPECT_EQ(reading.verify_cache().error().code, "scope");

  Connection working = Connection::open(with(worker)).value();
  Connection another = Connection::open(with(other)).value();
  client::NewJob job;
  job.idempotency_key = "k1";
  job.client = "somebody else";
  job.requests = {request, request};
  EXPECT_EQ(working.submit(job).error().code, "quota-queued");
  job.priority = 1;
  EXPECT_EQ(support::render(another.submit(job).error()),
            "unreachable [scope]: a priority of 1 passes the jobs of others, which takes the scope `admin`; "
            "`other` may ask for at most 0\n  note: lower the priority of your other jobs instead");
  EXPECT_EQ(Connection::open(with(admin)).value().submit(job)->priority, 1);
  job.priority = 0;
  const client::Job theirs = another.submit(job).value();
  EXPECT_EQ(theirs.client, "other") << "nobody passes for another";
  const auto stolen = working.cancel(theirs.id);
  ASSERT_FALSE(stolen.ok());
  EXPECT_EQ(support::render(stolen.error()),
            "unreachable [not-yours]: the job j2 is of `other`, not of `worker`\n  note: its owner, or a "
            "token with the scope "
            "`admin`, may do that");
  EXPECT_TRUE(another.cancel(theirs.id).ok());

  const std::string file = directory_ / "token";
  std::ofstream(file) << reader << "\n";
  chmod(file.c_str(), 0600);
  ConnectOptions from_file = to_server(ours_.authority());
  from_file.token_file = file;
  EXPECT_EQ(outcome(from_file), "connected");
  chmod(file.c_str(), 0644);
  EXPECT_THAT(outcome(from_file), HasSubstr("invalid [token-file]: others than its owner may read or write"));

  daemon_.reset();
  const std::string log = logged_.str();
  EXPECT_THAT(log, HasSubstr("principal=reader"));
  for (const std::string& secret : {reader, worker, other}) {
    EXPECT_EQ(log.find(secret.substr(7)), std::string::npos) << "a token in the log";
    EXPECT_EQ(log.find(support::digest_of(secret).sha256), std::string::npos);
  }
}

TEST_F(TransportSecurity, NeverSendsTokensInClear) {
  ConnectOptions options;
  options.server = "192.0.2.1:8470";
  options.token = "secret";
  EXPECT_EQ(outcome(options),
            "unreachable [token-in-clear]: the token would go to 192.0.2.1:8470 unencrypted, for all on the "
            "way to read\n  "
            "note: use TLS: --tls-ca or SCHAAS_TLS_CA");
}

TEST_F(TransportSecurity, SetsTheModeOfSockets) {
  DaemonOptions options;
  options.listen = {"unix:" + (directory_ / "s")};
  for (const unsigned mode : {0600u, 0660u}) {
    options.socket_mode = mode;
    start(options);
    struct stat status {};
    ASSERT_EQ(stat((directory_ / "s").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, mode);
    daemon_.reset();
  }
}

}  // namespace
}  // namespace schaas::server
