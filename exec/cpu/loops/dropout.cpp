#include "exec/cpu/loops/elements.h"

#include <algorithm>

#include "exec/cpu/vectorise.h"

namespace debubble::exec::loops {

namespace {

constexpr std::int64_t kBlocks = 32;  ///< more than compilers unroll before they vectorise
constexpr std::int64_t kWords = 4 * kBlocks;

/// The words of kBlocks successive blocks of a stream: philox() of random_stream.h, a lane for
/// each block.
DEBUBBLE_INLINE inline void words_of(const RandomStream& stream, std::uint64_t first_block,
                                     std::uint32_t* words) {
    std::uint32_t c0[kBlocks], c1[kBlocks], c2[kBlocks], c3[kBlocks];
    for (std::int64_t l = 0; l < kBlocks; ++l) {
        const std::uint64_t index = first_block + static_cast<std::uint64_t>(l);
        c0[l] = static_cast<std::uint32_t>(index);
        c1[l] = static_cast<std::uint32_t>(index >> 32);
        c2[l] = static_cast<std::uint32_t>(stream.id);
        c3[l] = static_cast<std::uint32_t>(stream.id >> 32);
    }
    auto key0 = static_cast<std::uint32_t>(stream.seed);
    auto key1 = static_cast<std::uint32_t>(stream.seed >> 32);
    for (int round = 0; round < kPhiloxRounds; ++round) {
        for (std::int64_t l = 0; l < kBlocks; ++l) {
            const std::uint64_t first = kPhiloxFactor0 * c0[l];
            const std::uint64_t second = kPhiloxFactor1 * c2[l];
            c0[l] = static_cast<std::uint32_t>(second >> 32) ^ c1[l] ^ key0;
            c1[l] = static_cast<std::uint32_t>(second);
            c2[l] = static_cast<std::uint32_t>(first >> 32) ^ c3[l] ^ key1;
            c3[l] = static_cast<std::uint32_t>(first);
        }
        key0 += kPhiloxStep0;
        key1 += kPhiloxStep1;
    }
    for (std::int64_t l = 0; l < kBlocks; ++l) {
        words[4 * l] = c0[l];
        words[4 * l + 1] = c1[l];
        words[4 * l + 2] = c2[l];
        words[4 * l + 3] = c3[l];
    }
}

}  // namespace

void drop_run(const Dropout& dropout, std::uint64_t element, std::int64_t count, const float* from,
              float* to) {
    const std::uint32_t threshold = dropout.threshold();
    const auto scale = static_cast<float>(dropout.scale());
    vectorised([=]() DEBUBBLE_INLINE {
        std::uint32_t words[kWords];
        std::int64_t done = 0;
        while (done < count) {
            const std::uint64_t next = element + static_cast<std::uint64_t>(done);
            const auto skipped = static_cast<std::int64_t>(next % 4);
            words_of(dropout.stream, next / 4, words);
            const std::int64_t run = std::min(count - done, kWords - skipped);
            const std::uint32_t* word = words + skipped;
            for (std::int64_t i = 0; i < run; ++i) {
                const float scaled = from[done + i] * scale;
                to[done + i] = word[i] < threshold ? 0.F : scaled;
            }
            done += run;
        }
    });
}

}  // namespace debubble::exec::loops
