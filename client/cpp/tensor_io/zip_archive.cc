#include "client/cpp/tensor_io/zip_archive.h"

#include <algorithm>
#include <array>
#include <optional>

#include "client/cpp/tensor_io/compression.h"

// Zip archives in memory (PKWARE, APPNOTE.TXT, with the zip64 extension), as far as numpy and scipy use them.
// Members are stored or deflated, not encrypted. The archive is read from its directory at the end; each
// member's local header says where its bytes begin. Offsets come from the file: every access goes through a
// check against its size, and a number outside reads as 0.
namespace schaas::client {
namespace {

using support::Result;

constexpr std::uint32_t narrow = 0xffffffff;  ///< stands for a value in the 64-bit extension

/// Little-endian numbers at offsets that are checked.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  // Written so that no sum overflows, whatever the offset is.
  bool has(std::uint64_t at, std::uint64_t size) const {
    return at <= bytes_.size() && size <= bytes_.size() - at;
  }
  std::string_view part(std::uint64_t at, std::uint64_t size) const {
    return has(at, size) ? bytes_.substr(at, size) : std::string_view();
  }
  std::uint64_t number(std::uint64_t at, int width) const {
    std::uint64_t value = 0;
    const std::string_view digits = part(at, static_cast<std::uint64_t>(width));
    for (std::size_t b = digits.size(); b-- > 0;) value = value << 8 | static_cast<unsigned char>(digits[b]);
    return value;
  }
  std::uint32_t u16(std::uint64_t at) const { return static_cast<std::uint32_t>(number(at, 2)); }
  std::uint32_t u32(std::uint64_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
  std::uint64_t u64(std::uint64_t at) const { return number(at, 8); }

 private:
  std::string_view bytes_;
};

struct Directory {
  std::uint64_t count = 0, size = 0, offset = 0;
};

/// The end record stands last, before a comment of at most 64 KiB.
std::optional<Directory> directory_of(std::string_view all) {
  // The end record names the directory, or where its numbers do not fit the zip64 record, which a locator
  // before it names.
  constexpr std::size_t end_bytes = 22;
  const std::size_t at = all.rfind("PK\x05\x06");
  if (at == std::string_view::npos || all.size() - at < end_bytes) return std::nullopt;
  const Bytes bytes(all);
  Directory found{bytes.u16(at + 10), bytes.u32(at + 12), bytes.u32(at + 16)};
  if (at < 20 || bytes.part(at - 20, 4) != "PK\x06\x07") return found;
  const std::uint64_t wide = bytes.u64(at - 12);
  if (bytes.part(wide, 4) != "PK\x06\x06") return std::nullopt;
  return Directory{bytes.u64(wide + 32), bytes.u64(wide + 40), bytes.u64(wide + 48)};
}

// CRC-32 with the reflected polynomial (RFC 1952, section 8), a byte per step by a table.
std::uint32_t checksum_of(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t n = 0; n < 256; ++n) {
      std::uint32_t c = n;
      for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? 0xedb88320 ^ (c >> 1) : c >> 1;
      made[n] = c;
    }
    return made;
  }();
  std::uint32_t crc = ~std::uint32_t{0};
  for (const char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 255] ^ (crc >> 8);
  return ~crc;
}

void append(std::string& to, std::uint64_t value, int width) {
  for (int b = 0; b < width; ++b) to += static_cast<char>(value >> (8 * b) & 255);
}

}  // namespace

support::Diagnostic ZipArchive::damaged(const std::string& why) const {
  return support::invalid("npz-damaged", path_ + " is a damaged .npz file: " + why);
}

Result<ZipArchive> ZipArchive::of(std::string bytes, std::string path) {
  ZipArchive archive(std::move(bytes), std::move(path));
  SCHAAS_RETURN_IF_ERROR(archive.read_directory());
  return archive;
}

// Fields at fixed offsets of a directory entry of 46 bytes; name, extra fields, and comment follow.
Result<void> ZipArchive::read_directory() {
  const auto directory = directory_of(bytes_);
  if (!directory) return damaged("it has no list of its members (truncated?)");
  const Bytes bytes(bytes_);
  std::uint64_t at = directory->offset;
  for (std::uint64_t n = 0; n < directory->count; ++n) {
    constexpr std::uint64_t fixed = 46;
    if (bytes.part(at, 4) != "PK\x01\x02" || !bytes.has(at, fixed))
      return damaged("its list of members ends early");
    Member member{"",
                  bytes.u16(at + 8),
                  bytes.u16(at + 10),
                  bytes.u32(at + 16),
                  bytes.u32(at + 20),
                  bytes.u32(at + 24),
                  bytes.u32(at + 42)};
    const std::uint64_t name = bytes.u16(at + 28), extra = bytes.u16(at + 30), comment = bytes.u16(at + 32);
    if (!bytes.has(at + fixed, name + extra + comment)) return damaged("its list of members ends early");
    member.name = bytes.part(at + fixed, name);
    const std::uint64_t extra_end = at + fixed + name + extra;
    // The zip64 field holds 64-bit forms of those values that are full in the entry, in this order.
    for (std::uint64_t field = at + fixed + name; field + 4 <= extra_end; field += 4 + bytes.u16(field + 2)) {
      if (bytes.u16(field) != 1) continue;
      std::uint64_t wide = field + 4;
      for (std::uint64_t* value : {&member.size, &member.stored, &member.offset}) {
        if (*value != narrow) continue;
        *value = bytes.u64(wide);
        wide += 8;
      }
    }
    members_.push_back(std::move(member));
    at = extra_end + comment;
  }
  return {};
}

std::vector<std::string> ZipArchive::names() const {
  std::vector<std::string> found;
  for (const Member& member : members_) found.push_back(member.name);
  return found;
}

const ZipArchive::Member* ZipArchive::find(const std::string& name) const {
  const auto found =
      std::find_if(members_.begin(), members_.end(), [&](const Member& one) { return one.name == name; });
  return found == members_.end() ? nullptr : &*found;
}

Result<std::string> ZipArchive::content(const std::string& name) const {
  const Member* const member = find(name);
  if (member == nullptr) return damaged("it has no member " + name);
  constexpr std::uint32_t stored = 0, deflated = 8, encrypted = 1;
  if ((member->flags & encrypted) != 0 || (member->method != stored && member->method != deflated))
    return support::unsupported(
        "npz-member", path_ + ": its member " + name + " is encrypted, or not compressed by deflate");
  const Bytes bytes(bytes_);
  constexpr std::uint64_t fixed = 30;
  // The local header repeats the name and may have other extra fields, so the data's begin is computed from
  // it.
  if (!bytes.has(member->offset, fixed) || bytes.part(member->offset, 4) != "PK\x03\x04")
    return damaged("its member " + name + " is not where it should be");
  const std::uint64_t begin = fixed + bytes.u16(member->offset + 26) + bytes.u16(member->offset + 28);
  if (!bytes.has(member->offset + begin, member->stored))
    return damaged("its member " + name + " ends early (truncated?)");
  const std::string_view data = bytes.part(member->offset + begin, member->stored);
  std::string content;
  if (member->method == deflated) {
    SCHAAS_ASSIGN_OR_RETURN(content, inflated(data, member->size, path_));
  } else {
    content = data;
  }
  if (checksum_of(content) != member->checksum)
    return damaged("its member " + name + " has another checksum than it should");
  return content;
}

// Members are stored, not deflated: callers compress the whole file where they want it.
Result<std::string> zip(const std::vector<std::pair<std::string, std::string>>& members,
                        const std::string& path) {
  constexpr std::uint32_t version = 20, year_1980 = 0x21;
  std::string all, directory;
  for (const auto& [name, content] : members) {
    if (all.size() + content.size() + name.size() + 100 >= narrow)
      return support::unsupported("npz-size",
                                  path + " would have more than 4 GiB; .mtx, .tns and .npy files may");
    // Facts that the local header and the directory have in common.
    std::string facts;
    append(facts, version, 2);
    append(facts, 0, 4);  // flags, stored
    append(facts, 0, 2);  // time
    append(facts, year_1980, 2);
    append(facts, checksum_of(content), 4);
    append(facts, content.size(), 4);
    append(facts, content.size(), 4);
    append(facts, name.size(), 2);
    append(facts, 0, 2);  // extra
    directory += "PK\x01\x02";
    append(directory, version, 2);
    directory += facts;
    append(directory, 0, 6);  // comment, disk, attributes
    append(directory, 0, 4);  // attributes
    append(directory, all.size(), 4);
    directory += name;
    all += "PK\x03\x04" + facts + name + content;
  }
  const std::size_t begin = all.size();
  all += directory + "PK\x05\x06";
  append(all, 0, 4);
  append(all, members.size(), 2);
  append(all, members.size(), 2);
  append(all, directory.size(), 4);
  append(all, begin, 4);
  append(all, 0, 2);
  return all;
}

}  // namespace schaas::client
