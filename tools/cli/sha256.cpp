#include "tools/cli/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

namespace tandem::tools {

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1) return {};
  std::string text;
  for (unsigned int i = 0; i < length; ++i) text += fmt::format("{:02x}", digest.at(i));
  return text;
}

}  // namespace tandem::tools
