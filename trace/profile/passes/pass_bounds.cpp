#include "trace/profile/passes/found_pass.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace debubble::profile {
namespace {

/// Names of the items of a pass before its first attention (its head), or after its last (its
/// tail).
using Ends = std::vector<std::uint32_t>;

/// Longer ones first, so that an embedding belongs to the forward that has one.
struct LongerFirst {
    bool operator()(const Ends& a, const Ends& b) const {
        return a.size() != b.size() ? a.size() > b.size() : a < b;
    }
};

class PassBounds {
public:
    PassBounds(const StepItems& step, std::vector<FoundPass>& passes)
        : items_(step.items), step_(step), passes_(passes), inside_(longest_inside()) {}

    void find() {
        if (passes_.empty()) return;
        std::vector<std::optional<std::size_t>> begin(passes_.size());
        begin[0] = first_of_step(passes_[0].first_anchor);
        for (std::size_t i = 1; i < passes_.size(); ++i)
            begin[i] = sure(passes_[i - 1], passes_[i]);
        const std::size_t last = last_of_step(passes_.back().last_anchor);
        for (std::size_t i = 0; i < passes_.size(); ++i) {
            if (begin[i]) learn_head(passes_[i], *begin[i]);
            const auto end = i + 1 < passes_.size() ? begin[i + 1] : last + 1;
            if (end) tails_[passes_[i].kind].insert(names(passes_[i].last_anchor + 1, *end));
        }
        for (std::size_t i = 1; i < passes_.size(); ++i)
            if (!begin[i]) begin[i] = likely(passes_[i - 1], passes_[i]);
        for (std::size_t i = 0; i < passes_.size(); ++i) {
            passes_[i].first = *begin[i];
            if (i > 0) passes_[i - 1].last = *begin[i] - 1;
        }
        passes_.back().last = last;
    }

private:
    /// A forward of a later stage begins like one of the first, except for the embedding.
    void learn_head(const FoundPass& pass, std::size_t begin) {
        heads_[pass.kind].insert(names(begin, pass.first_anchor));
        if (!pass.forward() || items_[begin].item_class != KernelClass::Embedding) return;
        while (begin < pass.first_anchor && items_[begin].item_class == KernelClass::Embedding)
            ++begin;
        heads_[pass.kind].insert(names(begin, pass.first_anchor));
    }

    std::size_t first_of_step(std::size_t anchor) const {
        std::int64_t cut = INT64_MIN;
        for (const Exchange& exchange : step_.exchanges)
            if (exchange.blocks && exchange.begin < items_[anchor].begin) cut = exchange.begin;
        for (std::size_t i = 0; i < anchor; ++i)
            if (items_[i].begin >= cut) return i;
        return anchor;
    }

    /// Items after a transfer or the optimizer belong to no pass.
    std::size_t last_of_step(std::size_t anchor) const {
        std::int64_t cut = INT64_MAX;
        for (const Exchange& exchange : step_.exchanges)
            if (exchange.blocks && exchange.begin > items_[anchor].begin)
                cut = std::min(cut, exchange.begin);
        if (!step_.optimizer.empty()) {
            const auto after =
                std::ranges::upper_bound(step_.optimizer, items_[anchor].begin, {}, &Item::begin);
            if (after != step_.optimizer.end()) cut = std::min(cut, after->begin);
        }
        std::size_t last = anchor;
        while (last + 1 < items_.size() && items_[last + 1].begin < cut) ++last;
        return last;
    }

    /// The first item of b if something marks it.
    std::optional<std::size_t> sure(const FoundPass& a, const FoundPass& b) const {
        const std::size_t from = a.last_anchor + 1;
        const std::size_t to = b.first_anchor;
        if (const auto found = after_exchange(a, from, to)) return found;
        if (b.kind == Pass::BackwardWeight) return to;  // its first GEMM is found
        if (a.forward() && !b.forward()) {
            for (std::size_t i = from; i <= to; ++i)
                if (items_[i].engine) return i;
            std::size_t after_loss = 0;
            for (std::size_t i = from; i < to; ++i)
                if (items_[i].item_class == KernelClass::Loss && !items_[i].backward)
                    after_loss = i + 1;
            if (after_loss > 0) return after_loss;
        }
        if (b.forward())
            for (std::size_t i = from; i < to; ++i)
                if (items_[i].item_class == KernelClass::Embedding && !items_[i].backward) return i;
        const Pause longest = longest_pause(from, to);
        if (inside_ && longest.length > *inside_) return longest.before;
        return std::nullopt;
    }

    std::optional<std::size_t> after_exchange(const FoundPass& a, std::size_t from,
                                              std::size_t to) const {
        auto exchange = std::ranges::lower_bound(step_.exchanges, items_[a.last_anchor].begin, {},
                                                 &Exchange::begin);
        for (; exchange != step_.exchanges.end(); ++exchange) {
            if (exchange->begin > items_[to].begin) break;
            if (!exchange->blocks) continue;
            for (std::size_t i = from; i <= to; ++i)
                if (items_[i].begin >= exchange->begin) return i;
        }
        return std::nullopt;
    }

    std::size_t likely(const FoundPass& a, const FoundPass& b) const {
        const std::size_t from = a.last_anchor + 1;
        const std::size_t between = b.first_anchor - from;
        if (const auto known = heads_.find(b.kind); known != heads_.end())
            for (const Ends& head : known->second)
                if (head.size() <= between &&
                    names(b.first_anchor - head.size(), b.first_anchor) == head)
                    return b.first_anchor - head.size();
        if (const auto known = tails_.find(a.kind); known != tails_.end())
            for (const Ends& tail : known->second)
                if (tail.size() <= between && names(from, from + tail.size()) == tail)
                    return from + tail.size();
        return longest_pause(from, b.first_anchor).before;
    }

    Ends names(std::size_t from, std::size_t to) const {
        Ends out;
        for (std::size_t i = from; i < to; ++i) out.push_back(items_[i].name);
        return out;
    }

    struct Pause {
        std::size_t before = 0;  ///< the item after its last
        std::int64_t length = -1;
    };

    Pause longest_pause(std::size_t from, std::size_t to) const {
        Pause best{to, -1};
        std::int64_t free = items_[from - 1].end;
        for (std::size_t i = from; i <= to; ++i) {
            const std::int64_t pause = items_[i].begin - free;
            if (pause > best.length) best = {i, pause};
            free = std::max(free, items_[i].end);
        }
        return best;
    }

    /// The longest pause between two anchors of one pass; nothing where passes have one anchor.
    std::optional<std::int64_t> longest_inside() const {
        std::optional<std::int64_t> out;
        for (const FoundPass& pass : passes_)
            if (pass.first_anchor < pass.last_anchor && pass.kind != Pass::BackwardWeight)
                out = std::max(out.value_or(0),
                               longest_pause(pass.first_anchor + 1, pass.last_anchor).length);
        return out;
    }

    const std::vector<Item>& items_;
    const StepItems& step_;
    std::vector<FoundPass>& passes_;
    std::optional<std::int64_t> inside_;
    std::map<Pass, std::set<Ends, LongerFirst>> heads_;
    std::map<Pass, std::set<Ends, LongerFirst>> tails_;
};

}  // namespace

void bound(const StepItems& step, std::vector<FoundPass>& passes) {
    PassBounds(step, passes).find();
}

}  // namespace debubble::profile
