#include "client/cpp/tensor_io/compression.h"

#include <bzlib.h>
#include <dlfcn.h>
#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "client/cpp/platform/dynamic_library.h"

// Streams of gzip (RFC 1952), bzip2, and xz behind one interface. The three libraries are loaded when a file
// first needs one: a program that reads plain files depends on none. Headers of the libraries give the types
// of their functions, so a wrong signature does not compile. A file is a sequence of members; a decompressor
// tells where one ends, and the next bytes begin another one.
namespace schaas::client {
namespace {

using support::Result;

constexpr struct KnownCompression {
  Compression compression;
  const char *name, *ending, *library, *package;
  std::string_view magic;
} known_ones[] = {
    {Compression::gzip, "gzip", ".gz", "libz.so.1", "zlib1g", "\x1f\x8b"},
    {Compression::bzip2, "bzip2", ".bz2", "libbz2.so.1.0", "libbz2-1.0", "BZh"},
    {Compression::xz, "xz", ".xz", "liblzma.so.5", "liblzma5",
     std::string_view("\xfd"
                      "7zXZ\0",
                      6)},
};

const KnownCompression& known(Compression compression) {
  return *std::find_if(std::begin(known_ones), std::end(known_ones),
                       [&](const KnownCompression& one) { return one.compression == compression; });
}

/// A library's functions; it stays loaded.
class Functions {
 public:
  explicit Functions(Compression compression) : handle_(open_library(known(compression).library)) {}

  template <class Function>
  void find(Function*& function, const char* name) {
    void* const symbol = handle_ == nullptr ? nullptr : dlsym(handle_, name);
    complete_ = complete_ && symbol != nullptr;
    function = reinterpret_cast<Function*>(symbol);
  }
  bool complete() const { return complete_; }

 private:
  void* const handle_;
  bool complete_ = true;
};

support::Diagnostic no_library(Compression compression, const std::string& path) {
  const KnownCompression& one = known(compression);
  return support::noting(
      support::unsupported("compression-library", path + " is compressed with " + one.name +
                                                      ", and the library " + one.library +
                                                      " is not installed"),
      std::string("on Debian: apt-get install ") + one.package + "; or decompress the file first");
}

support::Diagnostic no_memory(const std::string& path) {
  return support::exhausted("memory", path + ": there is not enough memory to (de)compress it");
}

// ---- gzip. The functions inflateInit2 and deflateInit2 are macros over those with an underscore, which take
// the version and the size of the stream.

struct Zlib {
  Zlib() {
    Functions library(Compression::gzip);
    library.find(inflate_init, "inflateInit2_");
    library.find(inflate_reset, "inflateReset");
    library.find(inflate, "inflate");
    library.find(inflate_end, "inflateEnd");
    library.find(deflate_init, "deflateInit2_");
    library.find(deflate, "deflate");
    library.find(deflate_end, "deflateEnd");
    complete = library.complete();
  }
  static const Zlib& get() {
    static const Zlib loaded;
    return loaded;
  }
  bool complete = false;
  decltype(&::inflateInit2_) inflate_init = nullptr;
  decltype(&::inflateReset) inflate_reset = nullptr;
  decltype(&::inflate) inflate = nullptr;
  decltype(&::inflateEnd) inflate_end = nullptr;
  decltype(&::deflateInit2_) deflate_init = nullptr;
  decltype(&::deflate) deflate = nullptr;
  decltype(&::deflateEnd) deflate_end = nullptr;
};

// Windows of 2^15 bytes; 16 more stand for the header of gzip, a negative sign for none.
constexpr int gzip_window = 15 + 16, raw_window = -15;

// zlib and bzip2 count in 32 bits; callers go on with what was left over.
uInt at_most(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::size_t{1} << 30));
}

class GzipDecompressor : public Decompressor {
 public:
  GzipDecompressor(const std::string& path, int window) : path_(path) {
    ok_ = Zlib::get().inflate_init(&stream_, window, ZLIB_VERSION, sizeof stream_) == Z_OK;
  }
  ~GzipDecompressor() override { Zlib::get().inflate_end(&stream_); }

  // A code of Z_BUF_ERROR says that no progress was possible, which the caller finds from the step.
  Result<Step> step(std::string_view from, bool, char* to, std::size_t size) override {
    if (!ok_ || (ended_ && Zlib::get().inflate_reset(&stream_) != Z_OK)) return no_memory(path_);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
    stream_.avail_in = at_most(from.size());
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = at_most(size);
    const uInt given = stream_.avail_in, room = stream_.avail_out;
    const int code = Zlib::get().inflate(&stream_, Z_NO_FLUSH);
    ended_ = code == Z_STREAM_END;
    if (code == Z_MEM_ERROR) return no_memory(path_);
    if (!ended_ && code != Z_OK && code != Z_BUF_ERROR)
      return damaged(Compression::gzip, path_,
                     stream_.msg != nullptr ? stream_.msg : "its data are inconsistent");
    return Step{given - stream_.avail_in, room - stream_.avail_out, ended_};
  }

 private:
  const std::string path_;
  z_stream stream_{};
  bool ok_ = false, ended_ = false;
};

/// Encoders fail for lack of memory alone.
void require_memory(bool encoded) {
  if (!encoded) throw std::bad_alloc();
}

class GzipCompressor : public Compressor {
 public:
  // Nothing is compressed before compressor() has found the library complete. Level 6 and memory 8 are zlib's
  // defaults.
  GzipCompressor() {
    constexpr int level = 6, memory = 8;
    require_memory(Zlib::get().deflate_init(&stream_, level, Z_DEFLATED, gzip_window, memory,
                                            Z_DEFAULT_STRATEGY, ZLIB_VERSION, sizeof stream_) == Z_OK);
  }
  ~GzipCompressor() override { Zlib::get().deflate_end(&stream_); }

  void run(std::string_view from, bool finish, std::string& to) override {
    char out[1 << 15];
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
    stream_.avail_in = static_cast<uInt>(from.size());
    // A full output buffer may hide more output; the loop ends with the first one that is not full.
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out);
      stream_.avail_out = sizeof out;
      require_memory(Zlib::get().deflate(&stream_, finish ? Z_FINISH : Z_NO_FLUSH) != Z_STREAM_ERROR);
      to.append(out, sizeof out - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

 private:
  z_stream stream_{};
};

// ---- bzip2

struct Bzip2 {
  Bzip2() {
    Functions library(Compression::bzip2);
    library.find(decompress_init, "BZ2_bzDecompressInit");
    library.find(decompress, "BZ2_bzDecompress");
    library.find(decompress_end, "BZ2_bzDecompressEnd");
    library.find(compress_init, "BZ2_bzCompressInit");
    library.find(compress, "BZ2_bzCompress");
    library.find(compress_end, "BZ2_bzCompressEnd");
    complete = library.complete();
  }
  static const Bzip2& get() {
    static const Bzip2 loaded;
    return loaded;
  }
  bool complete = false;
  decltype(&::BZ2_bzDecompressInit) decompress_init = nullptr;
  decltype(&::BZ2_bzDecompress) decompress = nullptr;
  decltype(&::BZ2_bzDecompressEnd) decompress_end = nullptr;
  decltype(&::BZ2_bzCompressInit) compress_init = nullptr;
  decltype(&::BZ2_bzCompress) compress = nullptr;
  decltype(&::BZ2_bzCompressEnd) compress_end = nullptr;
};

class Bzip2Decompressor : public Decompressor {
 public:
  explicit Bzip2Decompressor(const std::string& path) : path_(path) {}
  ~Bzip2Decompressor() override {
    if (begun_) Bzip2::get().decompress_end(&stream_);
  }

  // The library cannot be reset: each member takes an initialisation of its own.
  Result<Step> step(std::string_view from, bool, char* to, std::size_t size) override {
    if (!begun_ && Bzip2::get().decompress_init(&stream_, 0, 0) != BZ_OK) return no_memory(path_);
    begun_ = true;
    stream_.next_in = const_cast<char*>(from.data());
    stream_.avail_in = at_most(from.size());
    stream_.next_out = to;
    stream_.avail_out = at_most(size);
    const unsigned given = stream_.avail_in, room = stream_.avail_out;
    const int code = Bzip2::get().decompress(&stream_);
    const Step done{given - stream_.avail_in, room - stream_.avail_out, code == BZ_STREAM_END};
    if (code == BZ_MEM_ERROR) return no_memory(path_);
    if (code != BZ_OK && code != BZ_STREAM_END)
      return damaged(Compression::bzip2, path_,
                     code == BZ_DATA_ERROR_MAGIC ? "incorrect header" : "its data are inconsistent");
    if (done.ended) {
      Bzip2::get().decompress_end(&stream_);
      stream_ = {};
      begun_ = false;
    }
    return done;
  }

 private:
  const std::string path_;
  bz_stream stream_{};
  bool begun_ = false;
};

class Bzip2Compressor : public Compressor {
 public:
  Bzip2Compressor() {
    constexpr int blocks_of_100_kb = 9;
    require_memory(Bzip2::get().compress_init(&stream_, blocks_of_100_kb, 0, 0) == BZ_OK);
  }
  ~Bzip2Compressor() override { Bzip2::get().compress_end(&stream_); }

  void run(std::string_view from, bool finish, std::string& to) override {
    char out[1 << 15];
    stream_.next_in = const_cast<char*>(from.data());
    stream_.avail_in = static_cast<unsigned>(from.size());
    // BZ_FINISH_OK says that output is left, BZ_STREAM_END that none is.
    int code = BZ_RUN_OK;
    do {
      stream_.next_out = out;
      stream_.avail_out = sizeof out;
      code = Bzip2::get().compress(&stream_, finish ? BZ_FINISH : BZ_RUN);
      to.append(out, sizeof out - stream_.avail_out);
    } while (finish ? code == BZ_FINISH_OK : stream_.avail_in > 0 && code == BZ_RUN_OK);
  }

 private:
  bz_stream stream_{};
};

// ---- xz

struct Lzma {
  Lzma() {
    Functions library(Compression::xz);
    library.find(decoder, "lzma_stream_decoder");
    library.find(encoder, "lzma_easy_encoder");
    library.find(code, "lzma_code");
    library.find(end, "lzma_end");
    complete = library.complete();
  }
  static const Lzma& get() {
    static const Lzma loaded;
    return loaded;
  }
  bool complete = false;
  decltype(&::lzma_stream_decoder) decoder = nullptr;
  decltype(&::lzma_easy_encoder) encoder = nullptr;
  decltype(&::lzma_code) code = nullptr;
  decltype(&::lzma_end) end = nullptr;
};

// Decodes all streams as one member: liblzma goes on behind the end of a stream by itself.
class XzDecompressor : public Decompressor {
 public:
  explicit XzDecompressor(const std::string& path) : path_(path) {
    // No limit of memory: a file that needs too much fails with LZMA_MEM_ERROR.
    ok_ = Lzma::get().decoder(&stream_, std::numeric_limits<std::uint64_t>::max(), LZMA_CONCATENATED) ==
          LZMA_OK;
  }
  ~XzDecompressor() override { Lzma::get().end(&stream_); }

  Result<Step> step(std::string_view from, bool last, char* to, std::size_t size) override {
    if (!ok_) return no_memory(path_);
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(from.data());
    stream_.avail_in = from.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(to);
    stream_.avail_out = size;
    const lzma_ret code = Lzma::get().code(&stream_, last ? LZMA_FINISH : LZMA_RUN);
    if (code == LZMA_MEM_ERROR) return no_memory(path_);
    if (code != LZMA_OK && code != LZMA_STREAM_END && code != LZMA_BUF_ERROR)
      return damaged(Compression::xz, path_,
                     code == LZMA_FORMAT_ERROR    ? "incorrect header"
                     : code == LZMA_OPTIONS_ERROR ? "it needs a newer liblzma"
                                                  : "its data are inconsistent");
    return Step{from.size() - stream_.avail_in, size - stream_.avail_out, code == LZMA_STREAM_END};
  }

 private:
  const std::string path_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ok_ = false;
};

class XzCompressor : public Compressor {
 public:
  XzCompressor() {
    require_memory(Lzma::get().encoder(&stream_, LZMA_PRESET_DEFAULT, LZMA_CHECK_CRC64) == LZMA_OK);
  }
  ~XzCompressor() override { Lzma::get().end(&stream_); }

  void run(std::string_view from, bool finish, std::string& to) override {
    char out[1 << 15];
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(from.data());
    stream_.avail_in = from.size();
    do {
      stream_.next_out = reinterpret_cast<std::uint8_t*>(out);
      stream_.avail_out = sizeof out;
      const lzma_ret code = Lzma::get().code(&stream_, finish ? LZMA_FINISH : LZMA_RUN);
      require_memory(code == LZMA_OK || code == LZMA_STREAM_END || code == LZMA_BUF_ERROR);
      to.append(out, sizeof out - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

bool is_loaded(Compression compression) {
  switch (compression) {
    case Compression::gzip:
      return Zlib::get().complete;
    case Compression::bzip2:
      return Bzip2::get().complete;
    case Compression::xz:
      return Lzma::get().complete;
    case Compression::none:
      break;
  }
  return true;
}

}  // namespace

const char* name(Compression compression) {
  return compression == Compression::none ? "none" : known(compression).name;
}

Compression compression_of_content(std::string_view first) {
  for (const KnownCompression& one : known_ones)
    if (first.starts_with(one.magic)) return one.compression;
  return Compression::none;
}

Compression compression_of_name(std::string_view path) {
  for (const KnownCompression& one : known_ones)
    if (path.ends_with(one.ending)) return one.compression;
  return Compression::none;
}

std::string_view without_compression(std::string_view path) {
  const Compression found = compression_of_name(path);
  if (found != Compression::none) path.remove_suffix(std::string_view(known(found).ending).size());
  return path;
}

// Deflate's longest match is 258 bytes, for two bits at least: 1032 bytes of content per byte. The other
// methods have no bound of use.
std::uint64_t max_ratio(Compression compression) {
  constexpr std::uint64_t of_gzip = 1032;
  return compression == Compression::none ? 1 : compression == Compression::gzip ? of_gzip : 0;
}

support::Diagnostic damaged(Compression compression, const std::string& path, const std::string& why) {
  const std::string kind = name(compression);
  return support::invalid(kind + "-damaged", path + " is a damaged " + kind + " file: " + why);
}

Result<std::unique_ptr<Decompressor>> decompressor(Compression compression, const std::string& path) {
  if (!is_loaded(compression)) return no_library(compression, path);
  std::unique_ptr<Decompressor> made;
  if (compression == Compression::gzip) made = std::make_unique<GzipDecompressor>(path, gzip_window);
  if (compression == Compression::bzip2) made = std::make_unique<Bzip2Decompressor>(path);
  if (compression == Compression::xz) made = std::make_unique<XzDecompressor>(path);
  return made;
}

Result<std::unique_ptr<Compressor>> compressor(Compression compression, const std::string& path) {
  if (!is_loaded(compression)) return no_library(compression, path);
  std::unique_ptr<Compressor> made;
  if (compression == Compression::gzip) made = std::make_unique<GzipCompressor>();
  if (compression == Compression::bzip2) made = std::make_unique<Bzip2Compressor>();
  if (compression == Compression::xz) made = std::make_unique<XzCompressor>();
  return made;
}

// Decompresses to exactly `size` bytes. The size comes from the archive and may be a lie: what deflate cannot
// produce is refused before memory is allocated. What comes out must have that size.
Result<std::string> inflated(std::string_view deflated, std::uint64_t size, const std::string& path) {
  if (!is_loaded(Compression::gzip)) return no_library(Compression::gzip, path);
  const auto wrong = [&](const std::string& why) {
    return support::invalid("npz-damaged", path + " is a damaged .npz file: " + why);
  };
  if (size > deflated.size() * max_ratio(Compression::gzip) + 64) return wrong("a size that cannot be");
  GzipDecompressor decompressor(path, raw_window);
  std::string out(size, '\0');
  std::size_t done = 0;
  while (true) {
    char more[1];
    // With a full buffer one more byte is asked for: a stream that is right ends without writing it.
    const bool full = done == size;
    SCHAAS_ASSIGN_OR_RETURN(
        const auto step,
        decompressor.step(deflated, true, full ? more : out.data() + done, full ? sizeof more : size - done));
    if (full && step.written > 0) return wrong("more data than it says");
    deflated.remove_prefix(step.read);
    done += step.written;
    if (step.ended) break;
    if (step.read == 0 && step.written == 0) return wrong("its data end early");
  }
  if (done != size) return wrong("less data than it says");
  return out;
}

}  // namespace schaas::client
