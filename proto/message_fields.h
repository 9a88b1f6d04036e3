#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "proto/fields.h"

/// Values to messages of Protocol Buffers and back, by their lists of fields. Templates know messages by
/// their accessors alone, so they serve the full and the lite runtime.
namespace schaas::answers {

template <class Message, class T>
void write_message(const T& from, Message& to);
template <class Message, class T>
[[nodiscard]] bool read_message(const Message& from, T& to);

/// Visitor that sets the fields of one message.
template <class Message>
class MessageWriter {
 public:
  explicit MessageWriter(Message& message) : message_(message) {}

  template <class Get, class Set, class Mutable, class T>
  void operator()(const Field<Get, Set, Mutable>& field, const T& value) {
    if constexpr (std::is_same_v<T, Texts>) {
      field.mutable_field(message_).insert(value.begin(), value.end());
    } else if constexpr (is_vector<T>) {
      for (const auto& one : value) write(one, *field.mutable_field(message_).Add());
    } else if constexpr (std::is_enum_v<T> || is_plain<T>) {
      using Wire = std::remove_cvref_t<decltype(field.get(message_))>;
      if constexpr (std::is_enum_v<T> && std::is_same_v<Wire, std::string>)
        field.set(message_, WireNames<T>::names[static_cast<std::size_t>(value)]);
      else if constexpr (std::is_enum_v<T>)
        field.set(message_, static_cast<Wire>(static_cast<int>(value) + WireNames<T>::first));
      else
        field.set(message_, static_cast<Wire>(value));
    } else {
      write(value, field.mutable_field(message_));
    }
  }

 private:
  template <class T, class To>
  static void write(const T& from, To& to) {
    if constexpr (is_plain<T>)
      to = from;
    else
      write_message(from, to);
  }

  Message& message_;
};

/// Visitor that takes the fields of one message. Numbers beyond the range of a member become its largest.
template <class Message>
class MessageReader {
 public:
  explicit MessageReader(const Message& message) : message_(message) {}

  template <class Get, class Set, class Mutable, class T>
  void operator()(const Field<Get, Set, Mutable>& field, T& value) {
    const auto& wire = field.get(message_);
    if constexpr (std::is_same_v<T, Texts>) {
      value = {wire.begin(), wire.end()};
    } else if constexpr (is_vector<T>) {
      value.clear();
      for (const auto& one : wire) read(one, value.emplace_back());
    } else {
      read(wire, value);
    }
  }
  /// No enumeration had an unknown value where it must have a known one.
  bool known() const { return known_; }

 private:
  template <class From, class T>
  void read(const From& from, T& to) {
    if constexpr (std::is_enum_v<T>) {
      read_enum(from, to);
    } else if constexpr (std::is_same_v<T, int>) {
      to = static_cast<int>(std::min<std::uint64_t>(from, std::numeric_limits<int>::max()));
    } else if constexpr (is_plain<T>) {
      to = from;
    } else {
      known_ = read_message(from, to) && known_;
    }
  }
  template <class From, class Enum>
  void read_enum(const From& from, Enum& to) {
    constexpr int first = WireNames<Enum>::first;
    const auto& names = WireNames<Enum>::names;
    std::int64_t value = 0;
    if constexpr (std::is_same_v<From, std::string>)
      value = std::find(names.begin(), names.end(), from) - names.begin();
    else
      value = std::int64_t{from} - first;
    if (value >= 0 && value < static_cast<std::int64_t>(names.size()))
      to = static_cast<Enum>(value);
    else if constexpr (first == 0)
      to = WireNames<Enum>::otherwise;
    else
      known_ = false;
  }

  const Message& message_;
  bool known_ = true;
};

/// Sets the fields of an empty message.
template <class Message, class T>
void write_message(const T& from, Message& to) {
  MessageWriter writer(to);
  fields(writer, from);
}
template <class Message, class T>
Message to_message(const T& from) {
  Message to;
  write_message(from, to);
  return to;
}

/// Fills in a value; false when an enumeration without a default has an unknown value.
template <class Message, class T>
bool read_message(const Message& from, T& to) {
  MessageReader reader(from);
  fields(reader, to);
  return reader.known();
}

}  // namespace schaas::answers
