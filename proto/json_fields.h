#pragma once
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "proto/fields.h"

/// Values to JSON and back, by their lists of fields. Members that have no list convert by `to_json` and
/// `from_json` of nlohmann's library.
namespace schaas::answers {

using Json = nlohmann::ordered_json;

/// The mapping that Protocol Buffers define: numbers of 64 bits are texts, since JSON numbers are doubles to
/// many readers; values that equal their default are left out, and unknown fields are passed over.
struct MessageJson {
  static constexpr bool is_complete = false;
};
/// Every field is there; integers are numbers.
struct CompleteJson {
  static constexpr bool is_complete = true;
};

template <class V, class T>
concept HasFields = requires(V& visitor, T& value) {
  fields(visitor, value);
};

/// Visitor that appends the fields of one object.
template <class Form>
class JsonWriter {
 public:
  template <class Get, class Set, class Mutable, class T>
  void operator()(const Field<Get, Set, Mutable>& field, const T& value) {
    add(field.name, value);
  }

  template <class T>
  static Json json_of(const T& value) {
    if constexpr (std::is_same_v<T, std::uint64_t> && !Form::is_complete) {
      return std::to_string(value);
    } else if constexpr (is_plain<T> || std::is_same_v<T, Texts>) {
      return value;
    } else if constexpr (is_vector<T>) {
      Json list = Json::array();
      for (const auto& one : value) list.push_back(json_of(one));
      return list;
    } else if constexpr (is_optional<T>) {
      return value ? json_of(*value) : Json();
    } else if constexpr (std::is_enum_v<T>) {
      return WireNames<T>::names[static_cast<std::size_t>(value)];
    } else if constexpr (HasFields<JsonWriter, const T>) {
      JsonWriter writer;
      fields(writer, value);
      return std::move(writer.json_);
    } else {
      return value;
    }
  }

 private:
  template <class T>
  void add(const char* name, const T& value) {
    if constexpr (!Form::is_complete && is_plain<T>) {
      if (value == T()) return;
    } else if constexpr (!Form::is_complete && (is_vector<T> || std::is_same_v<T, Texts>)) {
      if (value.empty()) return;
    }
    json_[name] = json_of(value);
  }

  Json json_ = Json::object();
};

/// Visitor that takes the fields of one object. Throws std::exception on anything unexpected.
template <class Form>
class JsonReader {
 public:
  explicit JsonReader(const Json& json) : json_(json) {
    if (!json.is_object()) throw std::invalid_argument("an object was expected");
  }

  template <class Get, class Set, class Mutable, class T>
  void operator()(const Field<Get, Set, Mutable>& field, T& value) {
    take(field.name, value);
  }

  template <class T>
  static void read(const Json& json, T& value) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string> || std::is_same_v<T, Texts>) {
      value = json.get<T>();
    } else if constexpr (is_vector<T>) {
      if (!json.is_array()) throw std::invalid_argument("a list was expected");
      value.clear();
      for (const Json& one : json) read(one, value.emplace_back());
    } else if constexpr (is_optional<T>) {
      value.reset();
      if (!json.is_null()) read(json, value.emplace());
    } else if constexpr (std::is_enum_v<T>) {
      read_enum(json, value);
    } else if constexpr (std::is_floating_point_v<T>) {
      if (!json.is_number()) throw std::invalid_argument("a number was expected");
      value = json.get<T>();
    } else if constexpr (std::is_integral_v<T>) {
      read_integer(json, value);
    } else if constexpr (HasFields<JsonReader, T>) {
      JsonReader reader(json);
      fields(reader, value);
    } else {
      json.get_to(value);
    }
  }

 private:
  template <class T>
  void take(const char* name, T& value) {
    const auto found = json_.find(name);
    if (found != json_.end()) return read(*found, value);
    if (Form::is_complete) throw std::invalid_argument(std::string("`") + name + "` is missing");
    // An absent field has its default, whatever the value held.
    if constexpr (is_plain<T> || is_vector<T> || std::is_same_v<T, Texts>) {
      value = T();
    } else if constexpr (std::is_enum_v<T>) {
      if constexpr (WireNames<T>::first == 0)
        value = WireNames<T>::otherwise;
      else
        throw std::invalid_argument(std::string("`") + name + "` is missing");
    } else {
      read(Json::object(), value);
    }
  }

  template <class Enum>
  static void read_enum(const Json& json, Enum& value) {
    const auto& names = WireNames<Enum>::names;
    const auto text = json.get<std::string>();
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) throw std::invalid_argument("`" + text + "` is not known");
    value = static_cast<Enum>(found - names.begin());
  }
  /// Accepts numbers and, where they may be texts, texts; refuses what the type cannot hold.
  template <class T>
  static void read_integer(const Json& json, T& value) {
    const auto set = [&](auto number) {
      if (!std::in_range<T>(number)) throw std::invalid_argument("`" + json.dump() + "` is out of range");
      value = static_cast<T>(number);
    };
    if (json.is_number_unsigned()) return set(json.get<std::uint64_t>());
    if (json.is_number_integer()) return set(json.get<std::int64_t>());
    if (!json.is_string() || Form::is_complete) throw std::invalid_argument("an integer was expected");
    const auto text = json.get<std::string>();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      throw std::invalid_argument("`" + text + "` is no number");
  }

  const Json& json_;
};

template <class Form, class T>
Json json_of(const T& value) {
  return JsonWriter<Form>::json_of(value);
}
/// Throws std::exception.
template <class Form, class T>
T value_of(const Json& json) {
  T value{};
  JsonReader<Form>::read(json, value);
  return value;
}

}  // namespace schaas::answers
