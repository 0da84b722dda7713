#pragma once

#include <array>
#include <cstdint>
#include <string_view>

/// Random numbers that are a function of their position, so that the backward can make a mask again
/// and a weight is the same on whichever rank it is made: Philox4x32-10 of Salmon, Moraes, Dror,
/// Shaw 2011, "Parallel Random Numbers: As Easy as 1, 2, 3".
namespace debubble::exec {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

inline constexpr int kPhiloxRounds = 10;
inline constexpr std::uint64_t kPhiloxFactor0 = 0xD2511F53;
inline constexpr std::uint64_t kPhiloxFactor1 = 0xCD9E8D57;
inline constexpr std::uint32_t kPhiloxStep0 = 0x9E3779B9;  ///< the golden ratio
inline constexpr std::uint32_t kPhiloxStep1 = 0xBB67AE85;  ///< the square root of three, minus one

constexpr PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
    for (int round = 0; round < kPhiloxRounds; ++round) {
        const std::uint64_t first = kPhiloxFactor0 * counter[0];
        const std::uint64_t second = kPhiloxFactor1 * counter[2];
        counter = {static_cast<std::uint32_t>(second >> 32) ^ counter[1] ^ key[0],
                   static_cast<std::uint32_t>(second),
                   static_cast<std::uint32_t>(first >> 32) ^ counter[3] ^ key[1],
                   static_cast<std::uint32_t>(first)};
        key[0] += kPhiloxStep0;
        key[1] += kPhiloxStep1;
    }
    return counter;
}

/// One sequence of random words, of 2^64 that a seed has: the words of one parameter, or of one
/// dropout in one step. Word e of it is word e mod 4 of block e / 4.
struct RandomStream {
    std::uint64_t seed = 0;
    std::uint64_t id = 0;

    constexpr PhiloxCounter block(std::uint64_t index) const {
        const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
        const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
        return philox({low(index), high(index), low(id), high(id)}, {low(seed), high(seed)});
    }
    friend bool operator==(const RandomStream&, const RandomStream&) = default;
};

/// The stream of a name, found by its FNV-1a hash of 64 bits.
constexpr RandomStream stream_of(std::uint64_t seed, std::string_view name) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char letter : name) {
        hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
    }
    return {seed, hash};
}

}  // namespace debubble::exec
