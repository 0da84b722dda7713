#pragma once

#include "exec/cuda/kernels/device.h"

namespace debubble::exec::cuda {

/// The words of exec/core/random_stream.h: word e of a stream is word e mod 4 of block e / 4 of
/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011).
struct PhiloxWords {
    std::uint32_t at[4];
};

__device__ inline PhiloxWords philox(std::uint64_t seed, std::uint64_t stream,
                                     std::uint64_t block) {
    std::uint32_t c[4] = {
        static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
        static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)};
    auto key0 = static_cast<std::uint32_t>(seed);
    auto key1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t first = std::uint64_t{0xD2511F53} * c[0];
        const std::uint64_t second = std::uint64_t{0xCD9E8D57} * c[2];
        c[0] = static_cast<std::uint32_t>(second >> 32) ^ c[1] ^ key0;
        c[1] = static_cast<std::uint32_t>(second);
        c[2] = static_cast<std::uint32_t>(first >> 32) ^ c[3] ^ key1;
        c[3] = static_cast<std::uint32_t>(first);
        key0 += 0x9E3779B9;
        key1 += 0xBB67AE85;
    }
    return {{c[0], c[1], c[2], c[3]}};
}

}  // namespace debubble::exec::cuda
