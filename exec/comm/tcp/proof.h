#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

/// The proofs by which two processes show each other that they belong to one job without sending
/// its secret.
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

}  // namespace debubble::exec::tcp
