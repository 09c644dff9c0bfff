#include "actors/workloads/data_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "actors/workloads/limits.hpp"

namespace tandem::actors {

namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

bool is_gzip(std::string_view bytes) {
  return bytes.size() >= 2 && static_cast<unsigned char>(bytes[0]) == 0x1F &&
         static_cast<unsigned char>(bytes[1]) == 0x8B;
}

class Inflater {
 public:
  Inflater() { ready_ = ::inflateInit2(&stream_, MAX_WBITS + 16) == Z_OK; }  // 16: gzip only
  ~Inflater() {
    if (ready_) ::inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  Result<std::string> run(std::string& packed, std::string_view name) {
    if (!ready_) return fail(ErrorCode::resource_exhausted, "{}: no memory to unpack it", name);
    stream_.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream_.avail_in = static_cast<uInt>(packed.size());
    std::string plain;
    for (;;) {
      const std::size_t begin = plain.size();
      if (begin >= kDataFileBytes) {
        return fail(ErrorCode::resource_exhausted, "{}: unpacks to more than {} bytes", name, kDataFileBytes);
      }
      plain.resize(begin + kChunkBytes);
      stream_.next_out = reinterpret_cast<Bytef*>(plain.data() + begin);
      stream_.avail_out = static_cast<uInt>(kChunkBytes);
      const int status = ::inflate(&stream_, Z_NO_FLUSH);
      plain.resize(plain.size() - stream_.avail_out);
      if (status == Z_STREAM_END) {
        if (stream_.avail_in == 0) return plain;
        if (::inflateReset(&stream_) != Z_OK) return damaged(packed, name);  // a further member follows
        continue;
      }
      if (status == Z_OK && (stream_.avail_in > 0 || stream_.avail_out == 0)) continue;
      if (status == Z_OK || status == Z_BUF_ERROR) {
        return fail(ErrorCode::data_loss, "{}: cut short: the gzip data ends after {} bytes, before its end mark", name,
                    packed.size());
      }
      return damaged(packed, name);
    }
  }

 private:
  tl::unexpected<Error> damaged(const std::string& packed, std::string_view name) const {
    return fail(ErrorCode::data_loss, "{}: damaged gzip data near byte {}{}{}", name, packed.size() - stream_.avail_in,
                stream_.msg != nullptr ? ": " : "", stream_.msg != nullptr ? stream_.msg : "");
  }

  z_stream stream_{};
  bool ready_ = false;
};

}  // namespace

Result<std::string> unpack(std::string bytes, std::string_view name) {
  if (!is_gzip(bytes)) return bytes;
  static_assert(kDataFileBytes <= std::numeric_limits<uInt>::max());
  return Inflater().run(bytes, name);
}

Result<std::string> read_data_file(const FileSystem& files, const std::string& path) {
  auto bytes = files.read_file(path, kDataFileBytes);
  if (!bytes) return bytes;
  return unpack(std::move(*bytes), path);
}

}  // namespace tandem::actors
