#include "models/memory/free_blocks.h"

#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace debubble::models {
namespace {

/// What a tree of all blocks by size and address finds, and what moves when one is removed.
class Pair {
public:
    void insert(const FreeBlocks::Block& block) {
        tree_.emplace(block.size, block.address, static_cast<int>(block.id));
        if (places_.size() <= static_cast<std::size_t>(block.id)) places_.resize(block.id + 1);
        places_[block.id] = bins_.insert(block);
    }
    void remove(const FreeBlocks::Block& block) {
        tree_.erase({block.size, block.address, static_cast<int>(block.id)});
        const FreeBlocks::Place place = places_[block.id];
        if (const FreeBlocks::Block* moved = bins_.remove(block, place)) places_[moved->id] = place;
    }
    std::optional<int> of_tree(std::int64_t size, std::optional<int> except) const {
        for (auto at = tree_.lower_bound({size, 0, 0}); at != tree_.end(); ++at)
            if (std::get<2>(*at) != except) return std::get<2>(*at);
        return std::nullopt;
    }
    std::optional<int> of_bins(std::int64_t size, std::optional<int> except) const {
        const FreeBlocks::Block* best =
            bins_.best_fit(size, [&](const FreeBlocks::Block& b) { return b.id != except; });
        return best == nullptr ? std::nullopt : std::optional(static_cast<int>(best->id));
    }

private:
    FreeBlocks bins_;
    std::set<std::tuple<std::int64_t, std::int64_t, int>> tree_;
    std::vector<FreeBlocks::Place> places_;
};

TEST(FreeBlocks, FindsWhatATreeBySizeAndAddressFinds) {
    std::mt19937_64 random(3);
    int found = 0, excepted = 0;
    for (int round = 0; round < 60; ++round) {
        // Sizes of a few kinds, as tensors have, or of any power of two up to 2^60 bytes.
        const std::uint64_t kinds = round % 3 == 0 ? 1'000'000 : 1 + random() % 12;
        const auto draw_size = [&] {
            std::mt19937_64 of_kind(random() % kinds);
            const std::uint64_t bits = 1 + of_kind() % (round % 2 == 0 ? 51 : 14);
            return static_cast<std::int64_t>(1 + of_kind() % (std::uint64_t{1} << bits)) * 512;
        };
        Pair pair;
        std::vector<FreeBlocks::Block> there;
        for (int id = 0; id < 700; ++id) {
            if (there.empty() || random() % 3 != 0) {
                there.push_back({draw_size(), id, static_cast<std::int64_t>(random() >> 2U)});
                pair.insert(there.back());
            } else {
                std::swap(there[random() % there.size()], there.back());
                pair.remove(there.back());
                there.pop_back();
            }
            std::optional<int> except;
            if (!there.empty() && random() % 2 == 0)
                except = static_cast<int>(there[random() % there.size()].id);
            const std::int64_t size = draw_size();
            const std::optional<int> best = pair.of_tree(size, except);
            ASSERT_EQ(pair.of_bins(size, except), best) << "of " << size << " bytes";
            found += best ? 1 : 0;
            excepted += best != pair.of_tree(size, {}) ? 1 : 0;
        }
    }
    EXPECT_GT(found, 10'000);
    EXPECT_GT(excepted, 100);
}

TEST(FreeBlocks, HasNothingAtFirstAndAfterAll) {
    FreeBlocks blocks;
    EXPECT_EQ(blocks.best_fit(512), nullptr);
    const FreeBlocks::Place place = blocks.insert({1024, 7, 0});
    ASSERT_NE(blocks.best_fit(512), nullptr);
    EXPECT_EQ(blocks.best_fit(512)->id, 7);
    EXPECT_EQ(blocks.best_fit(1536), nullptr);
    EXPECT_EQ(blocks.best_fit(512, [](const auto&) { return false; }), nullptr);
    EXPECT_EQ(blocks.remove({1024, 7, 0}, place), nullptr);
    EXPECT_EQ(blocks.best_fit(512), nullptr);
}

}  // namespace
}  // namespace debubble::models
