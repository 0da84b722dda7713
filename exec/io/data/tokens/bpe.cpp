#include "exec/io/data/tokens/bpe.h"

#include <queue>
#include <tuple>

namespace debubble::exec {
namespace {

std::uint64_t key_of(std::int32_t left, std::int32_t right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 |
           static_cast<std::uint32_t>(right);
}

/// A token of a word that is being merged, in a list.
struct Symbol {
    std::int32_t token;
    std::int32_t previous;
    std::int32_t next;  ///< index of the next symbol; kEnd after the last
    bool is_gone = false;
};
constexpr std::int32_t kEnd = -1;

/// A merge of the symbol at `left` with its next. It is outdated once either has changed.
struct Candidate {
    std::int32_t rank;
    std::int32_t left;
    bool operator>(const Candidate& other) const {
        return std::tie(rank, left) > std::tie(other.rank, other.left);
    }
};

}  // namespace

BytePairs::BytePairs(const std::array<std::int32_t, 256>& byte_tokens,
                     std::span<const Merge> merges)
    : byte_tokens_(byte_tokens) {
    std::int32_t rank = 0;
    for (const Merge& merge : merges)
        rules_.insert_or_assign(key_of(merge.left, merge.right), Rule{rank++, merge.result});
}

const BytePairs::Rule* BytePairs::rule_of(std::int32_t left, std::int32_t right) const {
    const auto found = rules_.find(key_of(left, right));
    return found == rules_.end() ? nullptr : &found->second;
}

std::size_t BytePairs::encode(std::string_view word, std::vector<std::int32_t>& tokens) const {
    std::vector<Symbol> symbols(word.size());
    for (std::size_t i = 0; i < word.size(); ++i) {
        const std::int32_t token = byte_tokens_[static_cast<unsigned char>(word[i])];
        if (token == kNoToken) return i;
        const auto at = static_cast<std::int32_t>(i);
        symbols[i] = {token, at - 1, i + 1 == word.size() ? kEnd : at + 1};
    }

    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
    const auto consider = [&](std::int32_t left) {
        if (left == kEnd || symbols[left].next == kEnd) return;
        const Rule* rule = rule_of(symbols[left].token, symbols[symbols[left].next].token);
        if (rule) candidates.push({rule->rank, left});
    };
    for (std::int32_t i = 0; i < std::ssize(symbols); ++i) consider(i);

    while (!candidates.empty()) {
        const Candidate best = candidates.top();
        candidates.pop();
        Symbol& left = symbols[best.left];
        if (left.is_gone || left.next == kEnd) continue;
        Symbol& right = symbols[left.next];
        const Rule* rule = rule_of(left.token, right.token);
        if (!rule || rule->rank != best.rank) continue;
        left.token = rule->result;
        right.is_gone = true;
        left.next = right.next;
        if (left.next != kEnd) symbols[left.next].previous = best.left;
        consider(left.previous);
        consider(best.left);
    }
    for (const Symbol& symbol : symbols)
        if (!symbol.is_gone) tokens.push_back(symbol.token);
    return word.size();
}

}  // namespace debubble::exec
