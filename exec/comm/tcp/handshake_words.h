#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/build_id.h"

/// The structures of a handshake as they are sent, byte for byte, and the proofs in them, by which
/// two processes show each other that they belong to one job without sending its secret. Processors
/// of another byte order see a wrong number and are refused.
namespace debubble::exec::tcp {

using Nonce = std::array<std::uint8_t, 16>;
using Proof = std::array<std::uint8_t, 32>;  ///< HMAC-SHA-256 (RFC 2104)

Nonce fresh_nonce();

/// The proof of `bytes` under the secret.
Proof prove(const std::string& secret, std::span<const std::byte> bytes);

/// Compares two proofs in a time that does not depend on them.
bool same(const Proof& a, const Proof& b);

/// A random secret of 128 bits, in hexadecimal digits.
std::string fresh_secret();

// The structures of a handshake as they are sent, byte for byte. Processors of another byte order
// see a wrong number and are refused.

using Magic = std::array<char, 8>;
inline constexpr Magic kMagic{'d', 'e', 'b', 'u', 'b', 'b', 'l', 'e'};
inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::uint32_t kByteOrder = 0x01020304;
inline constexpr std::uint32_t kLongestRefusal = 300;
/// The reason given to a process that does not know the job's secret.
inline constexpr const char* kOfAnotherJob = "it belongs to another job";

struct Greeting {
    Magic magic = kMagic;
    std::uint32_t version = kVersion;
    std::uint32_t byte_order = kByteOrder;
    BuildId build = build_id();
    Nonce nonce{};
};
struct Hello {
    Magic magic = kMagic;
    std::uint32_t version = kVersion;
    std::uint32_t byte_order = kByteOrder;
    BuildId build = build_id();
    std::uint32_t from = 0, to = 0, ranks = 0;
    std::uint32_t port = 0;
    Nonce nonce{};
    Proof proof{};
};
struct Verdict {
    std::uint32_t accepted = 0;
    std::uint32_t refusal = 0;  ///< bytes of the sentence that follows
    Proof proof{};
};

template <class Word>
bool is_ours(const Word& word) {
    return word.magic == kMagic && word.version == kVersion && word.byte_order == kByteOrder;
}

/// The proof of the caller: all that it says, under the nonce of the rank that is called.
inline Proof proof_of(const std::string& secret, Hello hello, const Nonce& nonce) {
    hello.proof = {};
    std::array<std::byte, sizeof hello + sizeof nonce> bytes;
    std::memcpy(bytes.data(), &hello, sizeof hello);
    std::memcpy(bytes.data() + sizeof hello, nonce.data(), sizeof nonce);
    return prove(secret, bytes);
}
/// The proof of the rank that is called: the caller's own proof, with one more byte so that it
/// cannot be sent back.
inline Proof answer_to(const std::string& secret, const Proof& proof) {
    std::array<std::byte, sizeof proof + 1> bytes{std::byte{1}};
    std::memcpy(bytes.data() + 1, proof.data(), sizeof proof);
    return prove(secret, bytes);
}

}  // namespace debubble::exec::tcp
