#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

/// How two processes show each other that they belong to one job without saying its secret.
namespace debubble::exec::tcp {

using Nonce = std::array<std::uint8_t, 16>;
using Proof = std::array<std::uint8_t, 32>;  ///< HMAC-SHA-256 (RFC 2104)

Nonce fresh_nonce();

/// `bytes` under the secret.
Proof prove(const std::string& secret, std::span<const std::byte> bytes);

/// Takes as long for every proof.
bool same(const Proof& a, const Proof& b);

/// 128 bits that nobody guesses, in hexadecimal digits.
std::string fresh_secret();

}  // namespace debubble::exec::tcp
