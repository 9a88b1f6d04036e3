// The search over the eight kernels of SparseAuto: members, classes, survivors, seconds of every stage and
// peak memory, the papers' stages beside the figures of their tables 3 and 4, and what the solver was asked.
//   build/release/bin/search_bench [K2 ...] [--seven] [--unconstrained] [--list] [--repeat N] [--json FILE]
// Each figure is of a process of its own: from the problem's text to the frontier, the fastest of N (3) runs.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "compiler/frontier/frontier.h"
#include "tests/support/search_oracle.h"
#include "tests/support/sound_stages.h"

using namespace schaas;
using Json = nlohmann::ordered_json;

namespace {

/// SparseAuto, tables 3 and 4: loop trees (pairs) and seconds with 16 threads.
struct PaperRow {
  long members;
  struct {
    long trees, pairs;
  } stages[3];
  double seconds[4];  ///< generation, stages 1 to 3
};
constexpr PaperRow paper_rows[] = {
    {16169, {{1472, 255}, {1, 1}, {1, 1}}, {0.6314, 0.0130, 1.7232, 0.1215}},
    {145448232, {{207129, 18277}, {224, 43}, {8, 3}}, {10740.5, 167.5, 454.1, 1.5}},
    {7426, {{692, 133}, {2, 1}, {2, 1}}, {0.4759, 0.0037, 0.8967, 0.0480}},
    {258, {{128, 34}, {2, 1}, {2, 1}}, {0.0546, 0.0005, 0.0566, 0.0497}},
    {14701776, {{30203, 2541}, {101, 26}, {16, 3}}, {864.3, 71.9, 25.8, 1.5}},
    {2561, {{352, 60}, {3, 1}, {3, 1}}, {0.3046, 0.0062, 0.2382, 0.0500}},
    {109, {{46, 13}, {1, 1}, {1, 1}}, {0.0353, 0.0003, 0.0466, 0.0483}},
    {58127, {{4715, 728}, {5, 2}, {2, 1}}, {4.2, 0.0578, 4.7, 0.1232}},
};

struct Arguments {
  std::vector<std::string> kernels;
  std::string json;
  int repeat = 3;
  bool seven = false, unconstrained = false, list = false;
};

std::string grouped(const std::string& number) {
  std::string text;
  for (std::size_t n = 0; n < number.size(); ++n) {
    if (n > 0 && (number.size() - n) % 3 == 0) text += ',';
    text += number[n];
  }
  return text;
}

std::string pair_text(const Json& trees, const Json& pairs) {
  return grouped(trees.get<std::string>()) + " (" + grouped(pairs.get<std::string>()) + ")";
}

/// Runs `work` in a process of its own; its answer with the peak memory of that process, or an error.
Json in_own_process(const std::function<Json()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return {{"error", "no pipe"}};
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const std::string answer = work().dump();
    const bool written = write(ends[1], answer.data(), answer.size()) == static_cast<ssize_t>(answer.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string answer;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    answer.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  rusage usage{};
  wait4(child, nullptr, 0, &usage);
  Json result = Json::parse(answer, nullptr, false);
  if (result.is_discarded()) return {{"error", "the process ended without an answer"}};
  result["peak_megabytes"] = usage.ru_maxrss / 1024;
  return result;
}

Json survivors_of(const frontier::Frontier& found, const problem::Problem& problem) {
  const cost::Variables variables = cost::variables_of(problem);
  Json all = Json::array();
  for (const frontier::Survivor& one : found.survivors) {
    all.push_back({{"id", one.id},
                   {"time", cost::print_time(one.cost, variables)},
                   {"memory", cost::print_memory(one.cost, variables)},
                   {"members", one.members},
                   {"loop_trees", one.loop_trees},
                   {"trace", schedule::print(one.traces[0])}});
  }
  return all;
}

Json search(const problem::ProblemText& text, bool depth_two) {
  const auto start = std::chrono::steady_clock::now();
  const auto problem = problem::build(text);
  if (!problem.ok()) return {{"error", support::render(problem.error())}};
  frontier::Options options = frontier::options_for(problem->profile);
  options.stage1 = options.stage1 || depth_two;
  const support::Cancellation never;
  const auto found = frontier::compute(*problem, options, {}, never);
  if (!found.ok()) return {{"error", support::render(found.error())}};
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const frontier::Counts& n = found->counts;
  const frontier::Seconds& s = found->seconds;
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  return {
      {"members", n.space},
      {"states", n.states},
      {"stages",
       {{{"trees", n.stage1}, {"classes", number(n.classes_stage1)}},
        {{"trees", n.stage2}, {"classes", number(n.classes_stage2)}},
        {{"trees", n.stage3}, {"classes", number(n.classes_stage3)}}}},
      {"seconds",
       {{"space", s.space}, {"stage1", s.stage1}, {"stage2", s.stage2}, {"stage3", s.stage3}, {"all", wall}}},
      {"proofs",
       {{"witnesses", n.witnesses},
        {"logarithms", n.log_proofs},
        {"solver_pairs", n.solver_pairs},
        {"solver_queries", n.solver_queries},
        {"solver_unknown", n.solver_unknown},
        {"solver_milliseconds", n.solver_milliseconds},
        {"solver_worst_milliseconds", n.solver_worst_milliseconds}}},
      {"complete", found->complete},
      {"survivors", survivors_of(*found, *problem)}};
}

Json fastest(const Arguments& arguments, const problem::ProblemText& text, bool depth_two = false) {
  Json best;
  for (int run = 0; run < arguments.repeat; ++run) {
    Json answer = in_own_process([&] { return search(text, depth_two); });
    if (answer.contains("error")) return answer;
    if (best.is_null() || answer["seconds"]["all"] < best["seconds"]["all"]) best = std::move(answer);
  }
  return best;
}

/// Every cost class of the whole space, nothing pruned.
Json whole_space(const problem::ProblemText& text) {
  const auto start = std::chrono::steady_clock::now();
  const support::Cancellation never;
  space::Space space(problem::build(text).value(), {});
  const auto classes = space.classes(16, never);
  if (!classes.ok()) return {{"error", support::render(classes.error())}};
  return {{"classes", classes->size()},
          {"seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()}};
}

Json sound(const problem::ProblemText& text) {
  const auto found = test_support::sound_after_stage2(problem::build(text).value());
  if (!found.ok()) return {{"error", support::render(found.error())}};
  return {{"classes", found->kept.size()}, {"trees", found->loop_trees}};
}

problem::ProblemText text_of(const test_support::SearchOracle& kernel, const std::string& profile,
                             const Arguments& arguments) {
  problem::ProblemText text = kernel.text(profile);
  if (arguments.unconstrained) text.constraints.clear();
  return text;
}

bool failed(const std::string& name, const Json& answer) {
  if (!answer.contains("error")) return false;
  std::printf("%-5s %s\n", name.c_str(), answer["error"].get<std::string>().c_str());
  return true;
}

void print_survivors(const Json& answer) {
  for (const Json& one : answer["survivors"]) {
    std::printf("      %-4s T = %s | M = %s | %s members, %d trees | %s\n",
                one["id"].get<std::string>().c_str(), one["time"].get<std::string>().c_str(),
                one["memory"].get<std::string>().c_str(), one["members"].get<std::string>().c_str(),
                one["loop_trees"].get<int>(), one["trace"].get<std::string>().c_str());
  }
}

/// The papers' stages: their figures, ours, and what the sound test keeps after their stage 2.
Json published_table(const std::vector<std::pair<test_support::SearchOracle, PaperRow>>& kernels,
                     const Arguments& arguments) {
  std::printf(
      "The papers' stages (--profile sparseauto): loop trees (pairs) and seconds; paper: 16 threads\n");
  std::printf("%-12s %13s %18s %11s %8s  %10s %9s %9s %8s  %s\n", "", "members", "after 1", "after 2",
              "after 3", "generate s", "stage 1 s", "stage 2 s", "stage 3 s", "sound test after 2");
  Json table;
  for (const auto& [kernel, paper] : kernels) {
    const Json ours = fastest(arguments, text_of(kernel, "sparseauto", arguments));
    if (failed(kernel.name, ours)) continue;
    const Json kept = in_own_process([&, &k = kernel] { return sound(text_of(k, "sparseauto", arguments)); });
    const auto paper_pair = [](const auto& stage) {
      return pair_text(std::to_string(stage.trees), std::to_string(stage.pairs));
    };
    const auto our_pair = [&](std::size_t stage) {
      return pair_text(ours["stages"][stage]["trees"], ours["stages"][stage]["classes"]);
    };
    const Json& s = ours["seconds"];
    std::printf("%-5s %-6s %13s %18s %11s %8s  %10.3f %9.3f %9.3f %8.3f\n", kernel.name.c_str(), "paper",
                grouped(std::to_string(paper.members)).c_str(), paper_pair(paper.stages[0]).c_str(),
                paper_pair(paper.stages[1]).c_str(), paper_pair(paper.stages[2]).c_str(), paper.seconds[0],
                paper.seconds[1], paper.seconds[2], paper.seconds[3]);
    std::printf("%-5s %-6s %13s %18s %11s %8s  %10.3f %9.3f %9.3f %8.3f  %d (%d)\n", "", "here",
                grouped(ours["members"].get<std::string>()).c_str(), our_pair(0).c_str(), our_pair(1).c_str(),
                our_pair(2).c_str(), s["space"].get<double>(), s["stage1"].get<double>(),
                s["stage2"].get<double>(), s["stage3"].get<double>(), kept.value("trees", 0),
                kept.value("classes", 0));
    if (arguments.list) print_survivors(ours);
    table[kernel.name] = {{"here", ours},
                          {"paper",
                           {{"members", paper.members},
                            {"trees", {paper.stages[0].trees, paper.stages[1].trees, paper.stages[2].trees}},
                            {"pairs", {paper.stages[0].pairs, paper.stages[1].pairs, paper.stages[2].pairs}},
                            {"seconds", paper.seconds}}},
                          {"sound", kept}};
  }
  return table;
}

void print_default(const std::string& name, const Json& answer, const Json& whole) {
  const Json& s = answer["seconds"];
  std::printf("%-8s %21s %9s %10s %6zu%s  %8.3f %8.3f %8.3f %8.3f %8ld\n", name.c_str(),
              grouped(answer["members"].get<std::string>()).c_str(),
              grouped(std::to_string(answer["states"].get<long>())).c_str(),
              whole.contains("classes") ? grouped(std::to_string(whole["classes"].get<long>())).c_str() : "-",
              answer["survivors"].size(), answer["complete"].get<bool>() ? " " : "+",
              s["space"].get<double>(), s["stage1"].get<double>(), s["stage3"].get<double>(),
              s["all"].get<double>(), answer["peak_megabytes"].get<long>());
}

void print_default_header() {
  std::printf("%-8s %21s %9s %10s %7s  %8s %8s %8s %8s %8s\n", "", "members", "states", "classes", "kept",
              "count s", "pareto s", "proofs s", "all s", "peak MB");
}

/// How the pairs of classes of stage 3 were settled.
void print_proofs(const std::string& name, const Json& answer) {
  const Json& p = answer.at("proofs");
  const auto without = p.at("witnesses").get<double>() + p.at("logarithms").get<double>();
  const auto pairs = without + p.at("solver_pairs").get<double>();
  const auto queries = p.at("solver_queries").get<double>();
  std::printf(
      "%-14s %9.0f pairs: %9.0f by samples, %9.0f in logarithms, %6.2f %% without the solver; %4.0f "
      "queries, mean %.1f ms, worst %.1f ms, %d unknown\n",
      name.c_str(), pairs, p.at("witnesses").get<double>(), p.at("logarithms").get<double>(),
      pairs == 0 ? 100.0 : 100 * without / pairs, queries,
      queries == 0 ? 0.0 : p.at("solver_milliseconds").get<double>() / queries,
      p.at("solver_worst_milliseconds").get<double>(), p.at("solver_unknown").get<int>());
}

void print_all_proofs(const Json& all) {
  std::printf("\nStage 3: how the pairs of classes were settled\n");
  for (const auto& [name, row] : all.at("papers").items()) print_proofs(name + " published", row.at("here"));
  for (const auto& [name, row] : all.at("default").items()) print_proofs(name + " default", row.at("search"));
  if (!all.contains("larger")) return;
  for (const auto& [name, row] : all.at("larger").items()) print_proofs(name, row);
}

/// The default search: the frontier straight from the whole symmetric space.
Json default_table(const std::vector<std::pair<test_support::SearchOracle, PaperRow>>& kernels,
                   const Arguments& arguments) {
  std::printf("\nBy default: the sound frontier of the whole symmetric space\n");
  print_default_header();
  Json table;
  for (const auto& [kernel, paper] : kernels) {
    const problem::ProblemText text = text_of(kernel, "default", arguments);
    const Json answer = fastest(arguments, text);
    if (failed(kernel.name, answer)) continue;
    const Json whole = in_own_process([&] { return whole_space(text); });
    print_default(kernel.name, answer, whole);
    if (arguments.list) print_survivors(answer);
    table[kernel.name] = {{"search", answer}, {"whole_space", whole}};
  }
  return table;
}

/// K2 with one more matrix, and with two.
Json larger_table(const Arguments& arguments) {
  std::printf("\nSix operands%s, whole and with temporaries of at most two indices (2)\n",
              arguments.seven ? " and seven" : "");
  print_default_header();
  Json table;
  const test_support::SearchOracle two = test_support::search_oracle()[1];
  Arguments once = arguments;
  once.repeat = 1;
  for (const bool seven : {false, true}) {
    if (seven && !arguments.seven) continue;
    problem::ProblemText text = text_of(two, "default", arguments);
    text.expression = std::string(seven ? "A(i,o)" : "A(i,n)") +
                      " = B(i,j) * C(i,k) * D(j,k) * E(j,l) * F(l,m) * G(m,n)" + (seven ? " * H(n,o)" : "");
    if (!arguments.unconstrained) {
      text.constraints.emplace_back("8 <= n <= 256");
      if (seven) text.constraints.emplace_back("8 <= o <= 256");
    }
    for (const bool depth_two : {false, true}) {
      const std::string name = std::string(seven ? "seven" : "six") + (depth_two ? "(2)" : "");
      const Json answer = fastest(once, text, depth_two);
      if (failed(name, answer)) continue;
      print_default(name, answer, {});
      if (arguments.list) print_survivors(answer);
      table[name] = answer;
    }
  }
  return table;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  for (int n = 1; n < argc; ++n) {
    const bool more = n + 1 < argc;
    if (std::strcmp(argv[n], "--json") == 0 && more) {
      arguments.json = argv[++n];
    } else if (std::strcmp(argv[n], "--repeat") == 0 && more) {
      arguments.repeat = std::max(1, std::atoi(argv[++n]));
    } else if (std::strcmp(argv[n], "--seven") == 0) {
      arguments.seven = true;
    } else if (std::strcmp(argv[n], "--unconstrained") == 0) {
      arguments.unconstrained = true;
    } else if (std::strcmp(argv[n], "--list") == 0) {
      arguments.list = true;
    } else {
      arguments.kernels.emplace_back(argv[n]);
    }
  }
  std::vector<std::pair<test_support::SearchOracle, PaperRow>> kernels;
  const auto oracle = test_support::search_oracle();
  for (std::size_t n = 0; n < oracle.size(); ++n) {
    const auto& names = arguments.kernels;
    if (names.empty() || std::find(names.begin(), names.end(), oracle[n].name) != names.end())
      kernels.emplace_back(oracle[n], paper_rows[n]);
  }
  Json all;
  all["papers"] = published_table(kernels, arguments);
  all["default"] = default_table(kernels, arguments);
  if (arguments.kernels.empty() || arguments.seven) all["larger"] = larger_table(arguments);
  print_all_proofs(all);
  if (!arguments.json.empty()) {
    std::ofstream file(arguments.json);
    file << all.dump(2) << "\n";
    if (!file) {
      std::fprintf(stderr, "cannot write %s\n", arguments.json.c_str());
      return 1;
    }
  }
  return 0;
}
