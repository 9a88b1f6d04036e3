#include "client/cli/job_file.h"

#include <algorithm>
#include <functional>
#include <map>

#include "client/cli/answer.h"
#include "compiler/support/nearest_name.h"
#include "schaas/host.h"

// Files of problems for precomputation: JSON objects one after the other, or lists of them, with comments in
// lines of their own. A member that is a list stands for alternatives: an object is all combinations of its
// members' values. The number of requests is bounded while they multiply, not afterwards.
namespace schaas::cli {
namespace {

using client::ScheduleRequest;
using support::Result;
using Texts = std::vector<std::string>;

constexpr std::size_t max_requests = 10'000;

support::Diagnostic wrong(const std::string& what) { return support::invalid("job-file", what); }

/// A text, or a list of texts that is not empty.
Result<Texts> texts_of(const Json& value, const std::string& member) {
  if (value.is_string()) return Texts{value.get<std::string>()};
  Texts out;
  if (value.is_array()) {
    for (const auto& one : value) {
      if (!one.is_string()) return wrong("`" + member + "` holds " + one.dump() + "; expected texts");
      out.push_back(one.get<std::string>());
    }
  }
  if (out.empty())
    return wrong("`" + member + "` is " + value.dump() + "; expected a text or a list of texts");
  return out;
}

// Returns the cases of `constraints`: a list of lists is one case each, a list of texts is a single case.
Result<std::vector<Texts>> cases_of(const Json& value) {
  std::vector<Texts> cases;
  if (value.is_array() && !value.empty() && value.front().is_array()) {
    for (const auto& one : value) {
      if (one.is_array() && one.empty()) {
        cases.emplace_back();
        continue;
      }
      SCHAAS_ASSIGN_OR_RETURN(Texts texts, texts_of(one, "constraints"));
      cases.push_back(std::move(texts));
    }
    return cases;
  }
  if (value.is_array() && value.empty()) return std::vector<Texts>{{}};
  SCHAAS_ASSIGN_OR_RETURN(Texts texts, texts_of(value, "constraints"));
  return std::vector<Texts>{std::move(texts)};
}

/// Requests with every combination of what was multiplied so far.
class Combinations {
 public:
  Combinations() {
    ScheduleRequest first;
    first.isa = client::host_isa();
    requests_.push_back(std::move(first));
  }

  /// Each request once with each value.
  template <class Value>
  Result<void> multiply(const std::vector<Value>& values,
                        const std::function<void(ScheduleRequest&, const Value&)>& set) {
    // Compared before the requests are made.
    if (requests_.size() * values.size() > max_requests)
      return wrong("more than " + std::to_string(max_requests) + " requests");
    std::vector<ScheduleRequest> out;
    for (const auto& request : requests_) {
      for (const auto& value : values) {
        out.push_back(request);
        set(out.back(), value);
      }
    }
    requests_ = std::move(out);
    return {};
  }
  std::vector<ScheduleRequest> take() { return std::move(requests_); }

 private:
  std::vector<ScheduleRequest> requests_;
};

/// Members that are texts.
const std::map<std::string, void (*)(ScheduleRequest&, const std::string&)>& text_members() {
  static const std::map<std::string, void (*)(ScheduleRequest&, const std::string&)> members = {
      {"expression",
       [](ScheduleRequest& request, const std::string& text) { request.problem.expression = text; }},
      {"positions",
       [](ScheduleRequest& request, const std::string& text) { request.problem.position_bits = text; }},
      {"profile", [](ScheduleRequest& request, const std::string& text) { request.problem.profile = text; }},
      {"space", [](ScheduleRequest& request, const std::string& text) { request.problem.space = text; }},
      {"isa", [](ScheduleRequest& request, const std::string& text) { request.isa = text; }}};
  return members;
}

Result<void> add_formats(const Json& value, Combinations& combinations) {
  if (!value.is_object())
    return wrong("`formats` is " + value.dump() + "; expected an object, {\"B\": \"csr\"}");
  for (const auto& [tensor, formats] : value.items()) {
    SCHAAS_ASSIGN_OR_RETURN(const Texts texts, texts_of(formats, "formats." + tensor));
    SCHAAS_RETURN_IF_ERROR(combinations.multiply<std::string>(
        texts, [&tensor = tensor](ScheduleRequest& request, const std::string& text) {
          request.problem.formats[tensor] = text;
        }));
  }
  return {};
}

Result<void> add_value_types(const Json& value, Combinations& combinations) {
  SCHAAS_ASSIGN_OR_RETURN(const Texts texts, texts_of(value, "dtype"));
  std::vector<client::ValueType> types;
  for (const std::string& text : texts) {
    const auto type = client::value_type_named(text);
    if (!type) return wrong("`dtype` is `" + text + "`; expected " + client::value_type_choices());
    types.push_back(*type);
  }
  return combinations.multiply<client::ValueType>(
      types,
      [](ScheduleRequest& request, const client::ValueType& type) { request.problem.value_type = type; });
}

// Multiplies the requests by the alternatives of one member.
Result<void> add_member(const std::string& name, const Json& value, Combinations& combinations) {
  if (const auto member = text_members().find(name); member != text_members().end()) {
    SCHAAS_ASSIGN_OR_RETURN(const Texts texts, texts_of(value, name));
    return combinations.multiply<std::string>(texts, member->second);
  }
  if (name == "formats") return add_formats(value, combinations);
  if (name == "dtype") return add_value_types(value, combinations);
  if (name == "constraints") {
    SCHAAS_ASSIGN_OR_RETURN(const auto cases, cases_of(value));
    return combinations.multiply<Texts>(
        cases, [](ScheduleRequest& request, const Texts& one) { request.problem.constraints = one; });
  }
  // Traces are one list, not alternatives.
  if (name == "traces") {
    SCHAAS_ASSIGN_OR_RETURN(const Texts traces, texts_of(value, name));
    return combinations.multiply<Texts>(
        {traces}, [](ScheduleRequest& request, const Texts& all) { request.traces = all; });
  }
  if (name == "kernels") {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > 64)
      return wrong("`kernels` is " + value.dump() + "; expected a number up to 64");
    return combinations.multiply<std::uint32_t>(
        {value.get<std::uint32_t>()},
        [](ScheduleRequest& request, const std::uint32_t& number) { request.kernels = number; });
  }
  Texts known = {"formats", "dtype", "constraints", "kernels", "traces"};
  for (const auto& [text, set] : text_members()) known.push_back(text);
  return wrong("unknown member `" + name + "`" + support::did_you_mean(name, known));
}

Result<std::vector<ScheduleRequest>> requests_of(const Json& object) {
  if (!object.is_object()) return wrong(object.dump() + "; expected an object with an `expression`");
  Combinations combinations;
  for (const auto& [name, value] : object.items())
    SCHAAS_RETURN_IF_ERROR(add_member(name, value, combinations));
  if (!object.contains("expression")) return wrong(object.dump() + " has no `expression`");
  return combinations.take();
}

// Comments become blanks.
std::string without_comments(const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::size_t first = text.find_first_not_of(" \t", begin);
    if (first < end && text[first] == '#') {
      out.append(end - begin, ' ');  // positions in messages stay
    } else {
      out.append(text, begin, end - begin);
    }
    if (end < text.size()) out += '\n';
    begin = end + 1;
  }
  return out;
}

// Returns the objects one after the other. Each value is cut out by its brackets first, so that a message can
// name the line in which it begins.
Result<std::vector<Json>> values_in(const std::string& text) {
  std::vector<Json> values;
  std::size_t begin = text.find_first_not_of(" \t\r\n");
  while (begin < text.size()) {
    // One value ends where its last bracket closes; texts in it may hold brackets.
    int depth = 0;
    bool quoted = false;
    std::size_t end = begin;
    for (; end < text.size(); ++end) {
      const char c = text[end];
      if (quoted) {
        // An escaped character cannot end a text.
        if (c == '\\') ++end;
        quoted = c != '"' || end >= text.size();
      } else if (c == '"') {
        quoted = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if ((c == '}' || c == ']') && --depth <= 0) {
        break;
      }
    }
    const std::string part = text.substr(begin, std::min(end, text.size() - 1) - begin + 1);
    Json value = Json::parse(part, nullptr, false);
    if (value.is_discarded()) {
      const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
      return wrong("what begins in line " + std::to_string(line) + " is not JSON");
    }
    if (value.is_array()) {
      for (auto& one : value) values.push_back(std::move(one));
    } else {
      values.push_back(std::move(value));
    }
    begin = text.find_first_not_of(" \t\r\n,", end + 1);
  }
  return values;
}

}  // namespace

Result<std::vector<ScheduleRequest>> parse_job_file(const std::string& text, const std::string& path) {
  const auto in_file = [&](const support::Diagnostic& error) {
    return wrong("`" + path + "`: " + error.message);
  };
  const auto values = values_in(without_comments(text));
  if (!values.ok()) return in_file(values.error());
  std::vector<ScheduleRequest> all;
  for (const Json& value : *values) {
    auto requests = requests_of(value);
    if (!requests.ok()) return in_file(requests.error());
    all.insert(all.end(), requests->begin(), requests->end());
  }
  if (all.empty()) return wrong("`" + path + "` holds no requests");
  if (all.size() > max_requests)
    return wrong("`" + path + "` holds " + std::to_string(all.size()) + " requests; a job takes " +
                 std::to_string(max_requests));
  return all;
}

}  // namespace schaas::cli
