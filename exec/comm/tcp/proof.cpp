#include "exec/comm/tcp/handshake_words.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::exec::tcp {

Nonce fresh_nonce() {
    Nonce nonce;
    if (RAND_bytes(nonce.data(), static_cast<int>(nonce.size())) != 1)
        throw WorldError("OpenSSL provides no random numbers");
    return nonce;
}

Proof prove(const std::string& secret, std::span<const std::byte> bytes) {
    Proof proof;
    unsigned length = 0;
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    if (!HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), data, bytes.size(),
              proof.data(), &length) ||
        length != proof.size())
        throw WorldError("OpenSSL cannot compute an HMAC");
    return proof;
}

bool same(const Proof& a, const Proof& b) {
    return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string fresh_secret() {
    std::string digits;
    for (const std::uint8_t byte : fresh_nonce()) digits += fmt::format("{:02x}", byte);
    return digits;
}

}  // namespace debubble::exec::tcp
