// Answers as JSON: the form that Protocol Buffers give the same message, and what is refused.
#include "client/cpp/remote/answer_json.h"

#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "schaas/v1/bundle.pb.h"

namespace schaas::client {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using nlohmann::json;

// Gives every field a value of its own, lists two; fields that the client does not keep stay empty. A message
// that holds others of its kind holds them once.
void fill(Message& message, int& next, bool within_its_kind = false) {
  const auto* reflection = message.GetReflection();
  for (int f = 0; f < message.GetDescriptor()->field_count(); ++f) {
    const FieldDescriptor* field = message.GetDescriptor()->field(f);
    const std::string text = field->name() + std::to_string(++next);
    const auto number = static_cast<std::uint32_t>(next);
    for (int copy = 0; copy < (field->is_repeated() ? 2 : 1); ++copy) {
      const bool more = field->is_repeated();
      switch (field->cpp_type()) {
        case FieldDescriptor::CPPTYPE_STRING:
          more ? reflection->AddString(&message, field, text) : reflection->SetString(&message, field, text);
          break;
        case FieldDescriptor::CPPTYPE_DOUBLE:
          reflection->SetDouble(&message, field, number + 0.5);
          break;
        case FieldDescriptor::CPPTYPE_UINT32:
          more ? reflection->AddUInt32(&message, field, number)
               : reflection->SetUInt32(&message, field, number);
          break;
        case FieldDescriptor::CPPTYPE_UINT64:
          reflection->SetUInt64(&message, field, (std::uint64_t{1} << 60) + number);
          break;
        case FieldDescriptor::CPPTYPE_BOOL:
          reflection->SetBool(&message, field, true);
          break;
        case FieldDescriptor::CPPTYPE_ENUM:
          reflection->SetEnumValue(&message, field, 1 + next % 2);
          break;
        case FieldDescriptor::CPPTYPE_MESSAGE: {
          const bool same_kind = field->message_type() == message.GetDescriptor();
          if (!field->is_map() && !(same_kind && within_its_kind))
            fill(*(more ? reflection->AddMessage(&message, field)
                        : reflection->MutableMessage(&message, field)),
                 next, same_kind);
          break;
        }
        default:
          FAIL() << field->full_name() << " has a type that no field had";
      }
    }
  }
}

std::string by_protocol_buffers(const v1::Bundle& bundle) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  EXPECT_TRUE(google::protobuf::util::MessageToJsonString(bundle, &text, options).ok());
  return text;
}

TEST(AnswerJson, EqualsWhatProtocolBuffersWriteOfAllFields) {
  v1::Bundle bundle;
  int next = 0;
  fill(bundle, next);
  for (v1::Answer& each : *bundle.mutable_answers()) each.mutable_problem()->set_value_type("f32");
  v1::Answer& answer = *bundle.mutable_answers(0);
  (*answer.mutable_problem()->mutable_formats())["B"] = "csr";
  (*answer.mutable_frontier()->mutable_user_tensors())["T1"] = "B";
  (*answer.mutable_frontier()->mutable_user_indices())["i1"] = "i";
  const std::string text = by_protocol_buffers(bundle);
  const auto read = answers_of_json(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(json::parse(json_of(*read)), json::parse(text));
}

TEST(AnswerJson, HasEveryTypeOfValues) {
  for (const auto& facts : operators::value_types()) {
    BundledAnswer answer;
    answer.problem.value_type = facts.type;
    const std::string text = json_of(AnswerFile{"schaas", 1, "", "", {answer}, false});
    EXPECT_EQ(json::parse(text)["answers"][0]["problem"].value("value_type", "f64"), facts.name) << text;
    const auto read = answers_of_json(text);
    ASSERT_TRUE(read.ok()) << support::render(read.error());
    EXPECT_EQ(read->answers.front().problem.value_type, facts.type);
  }
}

TEST(AnswerJson, IsReadByProtocolBuffersWhateverIsEmpty) {
  AnswerFile file;
  file.made_by = "schaas \"0.1.0\"";
  file.answers.emplace_back();
  file.answers.front().kernels.emplace_back();
  v1::Bundle bundle;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(json_of(file), &bundle).ok());
  EXPECT_EQ(bundle.made_by(), file.made_by);
  EXPECT_EQ(bundle.answers(0).kernels_size(), 1);
}

TEST(AnswerJson, TakesWhatIsLeftOutForZeroAndPassesOverWhatItDoesNotKnow) {
  const auto read = answers_of_json(
      R"({"new_field": [1], "answers": [{"frontier": {"entries": [{"time_terms": [{}], "loop_trees": 7}]}}]})");
  ASSERT_TRUE(read.ok()) << read.error().message;
  const FrontierEntry& entry = read->answers.at(0).frontier.entries.at(0);
  EXPECT_EQ(entry.time_terms.at(0).weight, 0);
  EXPECT_EQ(entry.loop_trees, 7U);
}

TEST(AnswerJson, RefusesOtherTypesAndUnknownChoices) {
  for (const char* text :
       {"", "[]", "{", R"({"made_by": 1})", R"({"abi_version": "x"})", R"({"abi_version": -1})",
        R"({"answers": {}})", R"({"answers": [1]})", R"({"binaries": "yes"})",
        R"({"answers": [{"frontier": {"entries": [{"time_terms": [{"variables": [{"kind": "NEW"}]}]}]}}]})"})
    EXPECT_FALSE(answers_of_json(text).ok()) << text;
}

TEST(AnswerJson, KnowsFrontiersThatSelectionCannotRelyOn) {
  Frontier frontier;
  frontier.entries.emplace_back().variants.emplace_back().nests.emplace_back();
  EXPECT_FALSE(is_sound(frontier));  // a nest without a target
  Nest& nest = frontier.entries[0].variants[0].nests[0];
  nest.accesses.emplace_back();
  EXPECT_TRUE(is_sound(frontier));
  nest.code.tile = 4;  // of a loop that it has not
  EXPECT_FALSE(is_sound(frontier));
  nest.code = {};
  nest.code.kept = 1;
  EXPECT_FALSE(is_sound(frontier));
  nest.code = {};
  nest.shared = 1;
  EXPECT_FALSE(is_sound(frontier));
  nest.loops.resize(33);
  EXPECT_FALSE(is_sound(frontier));
}

}  // namespace
}  // namespace schaas::client
