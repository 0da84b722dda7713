#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// Byte-level byte-pair encoding (Sennrich, Haddow, Birch 2016, "Neural Machine Translation
/// of Rare Words with Subword Units"; Radford et al. 2019, GPT-2, over bytes).
namespace debubble::exec {

inline constexpr std::int32_t kNoToken = -1;

/// Two neighbouring tokens that become one.
struct Merge {
    std::int32_t left = 0;
    std::int32_t right = 0;
    std::int32_t result = 0;
};

/// The rules that turn a word's bytes into tokens.
class BytePairs {
public:
    /// `byte_tokens`: the token of each byte, or kNoToken. `merges`: earlier ones come first.
    BytePairs(const std::array<std::int32_t, 256>& byte_tokens, std::span<const Merge> merges);

    /// Appends the word's tokens: among all neighbours that can be merged, the leftmost pair of the
    /// earliest rule is merged, until none can be. Time n log n. Returns the index of the first
    /// byte that has no token, or word.size().
    std::size_t encode(std::string_view word, std::vector<std::int32_t>& tokens) const;

private:
    struct Rule {
        std::int32_t rank;
        std::int32_t result;
    };
    const Rule* rule_of(std::int32_t left, std::int32_t right) const;

    std::array<std::int32_t, 256> byte_tokens_;
    std::unordered_map<std::uint64_t, Rule> rules_;
};

}  // namespace debubble::exec
