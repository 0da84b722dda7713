#include "models/operators/mask.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

#include "base/overloaded.h"
#include "models/operators/kernel.h"

namespace debubble::models {
namespace {

/// Keys of the query at `position`, counted one by one.
std::int64_t keys_of(const Mask& mask, std::int64_t position, std::int64_t keys) {
    const auto counted = [&](auto sees) {
        std::int64_t count = 0;
        for (std::int64_t key = 0; key < keys; ++key)
            if (sees(key)) ++count;
        return count;
    };
    return std::visit(
        Overloaded{
            [&](const FullMask&) { return keys; },
            [&](const CausalMask&) { return counted([&](auto key) { return key <= position; }); },
            [&](const WindowMask& w) {
                return counted(
                    [&](auto key) { return key <= position && key > position - w.keys; });
            },
            [&](const ChunkMask& c) {
                return counted([&](auto key) {
                    return key <= position && key / c.tokens == position / c.tokens;
                });
            },
            [&](const TopKMask& k) { return std::min(position + 1, k.keys); }},
        mask);
}

const Mask kMasks[] = {FullMask{},     CausalMask{}, WindowMask{1}, WindowMask{7},
                       WindowMask{99}, ChunkMask{1}, ChunkMask{7},  ChunkMask{16},
                       ChunkMask{99},  TopKMask{1},  TopKMask{7},   TopKMask{99}};

TEST(Masks, HaveAsManyPairsAsTheirQueriesSeeKeys) {
    for (const Mask& mask : kMasks)
        for (const std::int64_t before : {0, 5, 16, 40})
            for (const std::int64_t queries : {1, 8, 33}) {
                const std::int64_t keys = before + queries;
                std::int64_t counted = 0;
                for (std::int64_t q = before; q < keys; ++q) counted += keys_of(mask, q, keys);
                EXPECT_EQ(pairs(mask, static_cast<double>(queries), static_cast<double>(keys),
                                Diagonal::Whole),
                          static_cast<double>(counted))
                    << "mask " << mask.index() << ", " << queries << " after " << before;
            }
}

/// A query that still sees every key up to its own loses half a pair; one whose window is full
/// loses nothing, as its oldest key has taken the other half.
TEST(Masks, LoseHalfAPairForEachQueryThatSeesAllBeforeIt) {
    EXPECT_EQ(pairs(CausalMask{}, 64, 64, Diagonal::Half), 64 * 64 / 2);
    for (const std::int64_t queries : {1, 8, 33}) {
        const auto n = static_cast<double>(queries);
        const auto lost = [&](const Mask& mask) {
            return pairs(mask, n, n, Diagonal::Whole) - pairs(mask, n, n, Diagonal::Half);
        };
        EXPECT_EQ(lost(FullMask{}), 0);
        EXPECT_EQ(lost(CausalMask{}), n / 2);
        EXPECT_EQ(lost(ChunkMask{4}), n / 2);
        EXPECT_EQ(lost(WindowMask{4}), std::min(n, 4.0) / 2);
        EXPECT_EQ(lost(TopKMask{4}), std::min(n, 4.0) / 2);
    }
}

TEST(Masks, OfAKernelAreThoseItWasGiven) {
    for (const Mask& mask : kMasks) {
        FlashAttention work;
        work.queries = 33;
        work.keys = 40;
        set_mask(work, mask);
        EXPECT_EQ(pairs(work), pairs(mask, 33, 40, Diagonal::Half)) << mask.index();
    }
}

TEST(Masks, OfAnAttentionFollowItsKeys) {
    Attention attention;
    EXPECT_EQ(mask_of(attention, false), Mask{FullMask{}});
    EXPECT_EQ(mask_of(attention, true), Mask{CausalMask{}});
    attention.window = 512;
    EXPECT_EQ(mask_of(attention, true), Mask{WindowMask{512}});
    attention.window.reset();
    attention.chunk = 8192;
    EXPECT_EQ(mask_of(attention, true), Mask{ChunkMask{8192}});
    attention.chunk.reset();
    attention.sparse = SparseChoice{};
    attention.sparse->keys = 2048;
    EXPECT_EQ(mask_of(attention, true), Mask{TopKMask{2048}});
}

/// Each token sees the entries that are whole before it, `chosen` at most.
TEST(CompressedEntries, AreCountedTokenByToken) {
    for (const std::int64_t ratio : {1, 4, 128})
        for (const std::int64_t chosen : {0, 3, 1000})
            for (const std::int64_t tokens : {1, 100, 515}) {
                CompressedKeys keys;
                keys.ratio = ratio;
                if (chosen > 0) keys.chosen = chosen;
                std::int64_t counted = 0;
                for (std::int64_t token = 1; token <= tokens; ++token)
                    counted += std::min(token / ratio, chosen > 0 ? chosen : tokens);
                EXPECT_EQ(entries_seen(keys, static_cast<double>(tokens)),
                          static_cast<double>(counted))
                    << ratio << ", " << chosen << " chosen, " << tokens << " tokens";
            }
}

}  // namespace
}  // namespace debubble::models
