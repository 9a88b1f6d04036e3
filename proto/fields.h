#pragma once
#include <array>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

/// Lists of fields. A struct that leaves the program has one function template `fields(visitor, value)`,
/// which shows each of its members to a visitor under its name on the wire. Every form is a visitor: messages
/// (message_fields.h), JSON (json_fields.h). A reader and a writer of one list cannot differ.
namespace schaas::answers {

/// A field by name and by the accessors of its message; visitors of JSON use the name alone.
template <class Get, class Set, class Mutable>
struct Field {
  const char* name;
  Get get;
  Set set;
  Mutable mutable_field;
};
template <class Get, class Set, class Mutable>
Field(const char*, Get, Set, Mutable) -> Field<Get, Set, Mutable>;

/// Shows the member of `x` to the visitor `v` as the field `wire`.
#define SCHAAS_FIELD(wire, member)                                                            \
  v(::schaas::answers::Field{#wire, [](const auto& m) -> decltype(auto) { return m.wire(); }, \
                             [](auto& m, const auto& to) { m.set_##wire(to); },          \
                             [](auto& m) -> auto& { return *m.mutable_##wire();               \
  }                                                                                           \
  },      \
    x.member)

/// Either constness of T: readers fill in the members that writers read.
template <class X, class T>
concept Of = std::same_as<std::remove_const_t<X>, T>;

/// Names of an enumeration's values on the wire, in order. `first` is the number of the first one there;
/// where it is 0, `otherwise` is the value of an absent or unknown field. The others must be there and known.
template <class Enum>
struct WireNames;

/// Kinds of members.
template <class T>
inline constexpr bool is_plain = std::is_same_v<T, std::string> || std::is_arithmetic_v<T>;
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
using Texts = std::map<std::string, std::string>;

}  // namespace schaas::answers
