// Kernels of an answer as its events come in.
#include "client/cpp/remote/received_answer.h"

#include <gtest/gtest.h>

namespace schaas::client {
namespace {

KernelInfo kernel(const std::string& id, bool baseline = false) {
  KernelInfo info;
  info.id = id;
  info.baseline = baseline;
  return info;
}

std::string ids(const ScheduleAnswer& answer) {
  std::string out;
  for (const KernelInfo& info : answer.kernels) out += (out.empty() ? "" : " ") + info.id;
  return out;
}

/// An answer whose frontier has the entry s1, with these kernels.
ScheduleAnswer answer_with(const std::vector<std::string>& kernels) {
  ScheduleAnswer answer;
  answer.frontier.entries.emplace_back().id = "s1";
  for (const std::string& id : kernels) answer.kernels.push_back(kernel(id));
  return answer;
}

TEST(ReceivedKernels, ReplaceTheBaselineOfTheirSchedule) {
  std::vector<KernelInfo> kernels;
  add_kernel(kernels, kernel("s1", true));
  add_kernel(kernels, kernel("s2"));
  add_kernel(kernels, kernel("s1"));
  add_kernel(kernels, kernel("s2", true));
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_FALSE(kernels[0].baseline || kernels[1].baseline);
}

TEST(KernelsOfParts, AreDroppedOnceAKernelOfTheWholeFrontierIsThere) {
  ScheduleAnswer answer = answer_with({"p1.1", "s1", "linear", "g1", "p2.3"});
  drop_parts(answer, {"linear"});
  EXPECT_EQ(ids(answer), "s1 linear g1");
}

TEST(KernelsOfParts, StayWhereTheyAreAllThereIs) {
  ScheduleAnswer answer = answer_with({"p1.1", "p1.2"});
  drop_parts(answer, {});
  EXPECT_EQ(ids(answer), "p1.1 p1.2");
}

TEST(KernelsOfParts, StayWhileTheFrontierIsOfAPart) {
  ScheduleAnswer answer = answer_with({"p1.1", "s1"});
  answer.frontier.partial = true;
  drop_parts(answer, {});
  EXPECT_EQ(ids(answer), "p1.1 s1");
}

}  // namespace
}  // namespace schaas::client
