#include "base/sha256.h"

#include <array>

#include <openssl/evp.h>
#include <openssl/sha.h>

#include "base/diagnostic.h"

namespace debubble {
namespace {

EVP_MD_CTX* digest_context(void* context) {
    return static_cast<EVP_MD_CTX*>(context);
}

void demand(bool done) {
    if (!done) throw WorldError("OpenSSL cannot compute a SHA-256");
}

}  // namespace

void Sha256::Free::operator()(void* context) const {
    EVP_MD_CTX_free(digest_context(context));
}

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
    // A digest that is fetched once saves a lookup among OpenSSL's providers for each sum.
    static const EVP_MD* const kDigest = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    demand(kDigest && context_ &&
           EVP_DigestInit_ex(digest_context(context_.get()), kDigest, nullptr));
}

void Sha256::add(std::string_view bytes) {
    demand(EVP_DigestUpdate(digest_context(context_.get()), bytes.data(), bytes.size()));
}

std::string Sha256::digits() {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    demand(EVP_DigestFinal_ex(digest_context(context_.get()), digest.data(), nullptr));
    std::string text;
    for (const unsigned char byte : digest)
        for (const int digit : {byte / 16, byte % 16}) text += "0123456789abcdef"[digit];
    return text;
}

std::string sha256(std::string_view bytes) {
    Sha256 sum;
    sum.add(bytes);
    return sum.digits();
}

}  // namespace debubble
