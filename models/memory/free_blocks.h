#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

namespace debubble::models {

/// The free blocks of an allocator's pool, in bins of an eighth of a power of two (Masmano et al.
/// 2004, "TLSF: a new dynamic memory allocator for real-time systems"). Unlike there the best fit
/// is exact, as all blocks of a bin are looked at: a pool has some tens of blocks, and to read the
/// few of one bin takes less time than to keep them in order. What a full bin has no room for is in
/// a tree. Defined here, since an allocator does little else.
class FreeBlocks {
public:
    /// In this order a processor does not read two members at once which have just been written one
    /// by one, for which it would have to wait.
    struct Block {
        std::int64_t size = 0;     ///< a multiple of 512 bytes, greater than 0
        std::int64_t id = 0;       ///< by which the owner knows it
        std::int64_t address = 0;  ///< decides between blocks of one size

        friend bool operator<(const Block& a, const Block& b) {
            return a.size != b.size ? a.size < b.size : a.address < b.address;
        }
    };
    /// Where a block is, until the owner is told that it moves.
    struct Place {
        std::uint32_t bin = 0;
        std::uint32_t index = 0;
    };

    Place insert(const Block& block) {
        assert(block.size >= kGranule && "a free block has at least 512 bytes");
        const std::uint32_t bin = bin_of(block.size);
        if (bin >= bins_.size()) bins_.resize(bin + 1);
        std::vector<Block>& blocks = bins_[bin];
        if (blocks.size() == kMostInBin) {
            tree_.insert(block);
            return {bin, kInTree};
        }
        occupied_[bin / kBinsPerWord] |= std::uint64_t{1} << bin % kBinsPerWord;
        blocks.push_back(block);
        return {bin, static_cast<std::uint32_t>(blocks.size() - 1)};
    }

    /// The block that lies in that place from now on, or null.
    const Block* remove(const Block& block, Place place) {
        if (place.index == kInTree) {
            tree_.erase(block);
            return nullptr;
        }
        std::vector<Block>& blocks = bins_[place.bin];
        if (place.index + 1 < blocks.size()) {
            blocks[place.index] = blocks.back();
            blocks.pop_back();
            return &blocks[place.index];
        }
        blocks.pop_back();
        if (blocks.empty())
            occupied_[place.bin / kBinsPerWord] &= ~(std::uint64_t{1} << place.bin % kBinsPerWord);
        return nullptr;
    }

    /// The smallest block of at least this size, and of those the one at the lowest address; null
    /// if there is none.
    const Block* best_fit(std::int64_t size) const {
        return best_fit(size, [](const Block&) { return true; });
    }
    /// The same of those that `admits` is true for.
    const Block* best_fit(std::int64_t size, const auto& admits) const {
        const Block* best = nullptr;
        for (std::size_t bin = first_occupied(bin_of(size)); best == nullptr && bin < bins_.size();
             bin = first_occupied(bin + 1))
            best = best_of(bins_[bin], size, admits);
        if (tree_.empty()) return best;
        auto other = tree_.lower_bound({size, 0, 0});
        while (other != tree_.end() && !admits(*other)) ++other;
        const bool better = other != tree_.end() && (best == nullptr || *other < *best);
        return better ? &*other : best;
    }

private:
    static constexpr std::int64_t kGranule = 512;
    static constexpr std::size_t kMostInBin = 32;
    static constexpr std::uint32_t kInTree = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::size_t kBinsPerWord = 64;
    static constexpr std::size_t kWords = 8;

    /// Sizes of one bin are larger than those of the bin before.
    static std::uint32_t bin_of(std::int64_t size) {
        constexpr unsigned kPartBits = 3;
        constexpr unsigned kParts = 1U << kPartBits;
        const std::uint64_t units = static_cast<std::uint64_t>(size) / kGranule;
        if (units < kParts) return static_cast<std::uint32_t>(units);
        const auto power = static_cast<unsigned>(std::bit_width(units)) - 1;
        return power * kParts + static_cast<unsigned>(units >> (power - kPartBits) & (kParts - 1));
    }

    /// Without branches that depend on sizes, which cannot be predicted: one that is too small
    /// counts as one that is too large.
    static const Block* best_of(const std::vector<Block>& bin, std::int64_t size,
                                const auto& admits) {
        std::uint64_t least = std::numeric_limits<std::int64_t>::max();
        std::int64_t lowest = 0;
        const Block* best = nullptr;
        for (const Block& block : bin) {
            const auto beyond = static_cast<std::uint64_t>(block.size - size);
            const bool smaller = (beyond < least) | ((beyond == least) & (block.address < lowest));
            const bool better = smaller & admits(block);
            least = better ? beyond : least;
            lowest = better ? block.address : lowest;
            best = better ? &block : best;
        }
        return best;
    }

    /// The first bin from here on that has blocks, or one after all of them.
    std::size_t first_occupied(std::size_t from) const {
        std::size_t word = from / kBinsPerWord;
        if (word >= kWords) return from;
        std::uint64_t bins = occupied_[word] & ~std::uint64_t{0} << from % kBinsPerWord;
        while (bins == 0) {
            if (++word == kWords) return kWords * kBinsPerWord;
            bins = occupied_[word];
        }
        return word * kBinsPerWord + static_cast<std::size_t>(std::countr_zero(bins));
    }

    std::vector<std::vector<Block>> bins_;          ///< up to the last one that was ever used
    std::array<std::uint64_t, kWords> occupied_{};  ///< a bit for each bin
    std::set<Block> tree_;
};

}  // namespace debubble::models
