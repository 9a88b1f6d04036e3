#include "schaas/format_comparison.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

// Which format an operand should be stored in, from figures that are given: conversion and run are weighed by
// the number of uses, and a format that does not fit is never the best.
namespace schaas::client {
namespace {

using Texts = std::vector<std::string>;

std::vector<FormatFigures> some_figures() {
  std::vector<FormatFigures> all(4);
  all[0] = {"csr", 100, 0, 3, "ij"};
  all[1] = {"csc", 90, 10, 1, "ji"};
  all[2] = {"coo", 120, 1, 4, "ij"};
  all[3].format = "dense";
  all[3].error = support::exhausted("memory", "too large");
  return all;
}

TEST(BestFormat, weighs_conversion_and_runs_by_uses) {
  const auto figures = some_figures();
  EXPECT_EQ(best_format(figures, 0), 0U);
  EXPECT_EQ(best_format(figures, 4), 0U);
  EXPECT_EQ(best_format(figures, 6), 1U);
  EXPECT_EQ(best_format(figures, 1e18), 1U);
}

TEST(UsesToPay, are_those_that_make_up_for_the_conversion) {
  const auto figures = some_figures();
  EXPECT_EQ(uses_to_pay(figures, 0), std::nullopt);
  EXPECT_EQ(uses_to_pay(figures, 1), 5);
  EXPECT_EQ(uses_to_pay(figures, 2), std::nullopt);
  EXPECT_EQ(uses_to_pay(figures, 3), std::nullopt);
}

TEST(FormatsJson, has_figures_or_the_reason_why_there_are_none) {
  const auto json = formats_json(some_figures());
  EXPECT_EQ(json[1].dump(), R"({"format":"csc","bytes":90,"convert_seconds":10.0,"run_seconds":1.0,)"
                            R"("uses_to_pay":5.0,"tree":"ji"})");
  EXPECT_EQ(json[2]["uses_to_pay"], nullptr);
  EXPECT_EQ(json[3].dump(), R"({"format":"dense","error":{"code":"memory","message":"too large"}})");
}

TEST(UsualFormats, are_those_of_the_order) {
  EXPECT_EQ(usual_formats({}, 1), Texts{"dense"});
  EXPECT_EQ(usual_formats({1000}, 9), Texts{"compressed"});
  EXPECT_EQ(usual_formats({1000}, 10), (Texts{"compressed", "dense"}));
  EXPECT_EQ(usual_formats({1000, 1000}, 100), (Texts{"csr", "csc", "dcsr", "dcsc", "coo"}));
  EXPECT_EQ(usual_formats({9, 9, 9}, 6), (Texts{"csf", "coo", "csf:1,0,2", "csf:2,0,1"}));
  EXPECT_EQ(usual_formats({1LL << 40, 1LL << 40}, 100), (Texts{"csr", "csc", "dcsr", "dcsc", "coo"}))
      << "a number of elements that does not fit";
}

}  // namespace
}  // namespace schaas::client
