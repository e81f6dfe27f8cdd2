#include "corpus/byte_source.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/line_source.h"

namespace rnnsearch::corpus {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kInputBytes = 1 << 18;

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw Error("corpus: cannot read {}: {}", path, why);
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FileHandle = std::unique_ptr<std::FILE, CloseFile>;

class PlainSource : public ByteSource {
 public:
  PlainSource(const fs::path& path, std::uint64_t size, FileHandle file)
      : ByteSource(path, size), file_(std::move(file)) {}

  std::size_t read(std::span<char> buffer) override {
    const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file_.get());
    if (std::ferror(file_.get())) refuse(path(), std::strerror(errno));
    position_ += count;
    return count;
  }
  std::uint64_t position() const override { return position_; }

 private:
  FileHandle file_;
  std::uint64_t position_ = 0;
};

/// Base class of the three decompressors; it reads the compressed bytes.
class CompressedSource : public ByteSource {
 protected:
  CompressedSource(const fs::path& path, std::uint64_t size, FileHandle file)
      : ByteSource(path, size), plain_(path, size, std::move(file)), input_(kInputBytes) {}

  /// The next compressed bytes; empty at the end of the file.
  std::span<char> next_input() { return std::span(input_).first(plain_.read(input_)); }
  [[noreturn]] void fail_damaged(std::string_view kind, std::string_view reason) const {
    refuse(path(), fmt::format("its {} data is damaged ({}); fetch or compress it again", kind, reason));
  }
  [[noreturn]] void fail_truncated(std::string_view kind) const {
    refuse(path(), fmt::format("its {} data is truncated; fetch or compress it again", kind));
  }

 public:
  std::uint64_t position() const override { return plain_.position(); }

 private:
  PlainSource plain_;
  std::vector<char> input_;
};

class GzipSource : public CompressedSource {
 public:
  GzipSource(const fs::path& path, std::uint64_t size, FileHandle file)
      : CompressedSource(path, size, std::move(file)) {
    if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) refuse(path, "no memory for zlib");
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  std::size_t read(std::span<char> buffer) override {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream_.avail_out = static_cast<uInt>(buffer.size());
    while (stream_.avail_out == buffer.size()) {
      if (stream_.avail_in == 0 && !was_full_) {
        const std::span<char> input = next_input();
        if (input.empty()) {
          if (!between_members_) fail_truncated("gzip");
          return 0;
        }
        stream_.next_in = reinterpret_cast<Bytef*>(input.data());
        stream_.avail_in = static_cast<uInt>(input.size());
      }
      while (between_members_ && stream_.avail_in > 0 && *stream_.next_in == 0) {  // zero padding, as on tapes
        ++stream_.next_in;
        --stream_.avail_in;
      }
      if (stream_.avail_in == 0 && !was_full_) continue;
      if (between_members_ && inflateReset(&stream_) != Z_OK) fail_damaged("gzip", "zlib cannot be reset");
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
        fail_damaged("gzip", stream_.msg ? stream_.msg : "zlib rejects it");
      }
      between_members_ = status == Z_STREAM_END;
      was_full_ = !between_members_ && stream_.avail_out == 0;
    }
    return buffer.size() - stream_.avail_out;
  }

 private:
  z_stream stream_{};
  bool between_members_ = false;
  bool was_full_ = false;  // the last output buffer was full, so zlib may have more output without more input
};

class ZstdSource : public CompressedSource {
 public:
  ZstdSource(const fs::path& path, std::uint64_t size, FileHandle file)
      : CompressedSource(path, size, std::move(file)), stream_(ZSTD_createDStream()) {
    if (!stream_) refuse(path, "no memory for zstd");
  }

  std::size_t read(std::span<char> buffer) override {
    ZSTD_outBuffer output{buffer.data(), buffer.size(), 0};
    while (output.pos == 0) {
      if (input_.pos == input_.size && !was_full_) {
        const std::span<char> bytes = next_input();
        if (bytes.empty()) {
          if (expected_ != 0) fail_truncated("zstd");
          return 0;
        }
        input_ = {bytes.data(), bytes.size(), 0};
      }
      expected_ = ZSTD_decompressStream(stream_.get(), &output, &input_);
      if (ZSTD_getErrorCode(expected_) == ZSTD_error_frameParameter_windowTooLarge) {
        refuse(path(),
               "it was compressed with a larger window than the decoder allows (zstd --long); compress it again "
               "without --long");
      }
      if (ZSTD_isError(expected_)) fail_damaged("zstd", ZSTD_getErrorName(expected_));
      was_full_ = expected_ != 0 && output.pos == output.size;
    }
    return output.pos;
  }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  std::size_t expected_ = 1;  // 0 when a frame is complete
  bool was_full_ = false;     // the last output buffer was full, so zstd may have more output without more input
};

class XzSource : public CompressedSource {
 public:
  XzSource(const fs::path& path, std::uint64_t size, FileHandle file) : CompressedSource(path, size, std::move(file)) {
    // The header of the file says how much memory decoding needs. 1 GiB is more than any preset of xz(1) needs.
    if (lzma_stream_decoder(&stream_, std::uint64_t{1} << 30, LZMA_CONCATENATED) != LZMA_OK) {
      refuse(path, "no memory for xz");
    }
  }
  ~XzSource() override { lzma_end(&stream_); }

  std::size_t read(std::span<char> buffer) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(buffer.data());
    stream_.avail_out = buffer.size();
    while (stream_.avail_out == buffer.size() && !at_end_) {
      bool last = false;
      if (stream_.avail_in == 0) {
        const std::span<char> input = next_input();
        last = input.empty();
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(input.data());
        stream_.avail_in = input.size();
      }
      switch (const lzma_ret status = lzma_code(&stream_, last ? LZMA_FINISH : LZMA_RUN)) {
        case LZMA_OK:
          break;
        case LZMA_STREAM_END:
          at_end_ = true;
          break;
        case LZMA_BUF_ERROR:
          fail_truncated("xz");
        case LZMA_MEMLIMIT_ERROR:
          refuse(path(), "decompressing it takes more than 1 GiB of memory; compress it again with a lower preset");
        default:
          fail_damaged("xz", fmt::format("code {}", static_cast<int>(status)));
      }
    }
    return buffer.size() - stream_.avail_out;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool at_end_ = false;
};

std::unique_ptr<ByteSource> source_of(const fs::path& path) {
  std::error_code reason;
  const fs::file_status status = fs::status(path, reason);
  if (status.type() == fs::file_type::not_found) refuse(path, "there is no such file");
  if (fs::is_directory(status)) refuse(path, "it is a folder, but a text file was expected");
  if (reason) refuse(path, reason.message());
  if (!fs::is_regular_file(status)) {
    refuse(path, "it is not a regular file, but training text is read twice; write it to a file first");
  }
  for (const std::string name = path.filename().string(); const std::string packed : {"", ".gz", ".xz", ".zst"})
    for (const char* markup : {".sgm", ".sgml", ".xml", ".tmx"})
      if (name.ends_with(markup + packed)) refuse(path, "it is markup; data/lines.pl turns it into lines of text");
  FileHandle file(std::fopen(path.c_str(), "rb"));
  if (!file) refuse(path, std::strerror(errno));
  const std::uint64_t size = fs::file_size(path);
  if (size == 0) refuse(path, "it is empty");

  char magic[6] = {};
  const std::size_t count = std::fread(magic, 1, sizeof magic, file.get());
  if (std::ferror(file.get())) refuse(path, std::strerror(errno));
  std::rewind(file.get());
  const std::string_view begin(magic, count);
  const std::string_view unpacker = unpacker_of(begin);
  if (unpacker == "gzip") return std::make_unique<GzipSource>(path, size, std::move(file));
  if (unpacker == "zstd") return std::make_unique<ZstdSource>(path, size, std::move(file));
  if (unpacker == "xz") return std::make_unique<XzSource>(path, size, std::move(file));
  if (!unpacker.empty())
    refuse(path, fmt::format("it is compressed by {}, which is not read here; unpack it first", unpacker));
  return std::make_unique<PlainSource>(path, size, std::move(file));
}

}  // namespace

std::unique_ptr<ByteSource> ByteSource::open(const fs::path& path, Poll poll) {
  std::unique_ptr<ByteSource> source = source_of(path);
  source->poll_ = std::move(poll);
  return source;
}

std::string_view ByteSource::take() {
  if (poll_) poll_();
  taken_.resize(kInputBytes);
  return {taken_.data(), read(taken_)};
}

}  // namespace rnnsearch::corpus
