#include "exec/core/stage/routing.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace debubble::exec {

namespace {

std::int64_t sum(const std::vector<std::int64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

/// The rows of each rank for each expert.
struct Counts {
    const ExpertRanks& ranks;
    std::span<const std::int32_t> first_rows;
    std::int64_t experts;  ///< of the model
    std::int64_t own;      ///< of a rank

    Counts(const ExpertRanks& of, std::span<const std::int32_t> first)
        : ranks(of),
          first_rows(first),
          experts(static_cast<std::int64_t>(first.size()) / of.count() - 1),
          own(experts / of.sharing_ranks) {}

    std::int64_t rows(int cutting, int sender, std::int64_t begin, std::int64_t end) const {
        const std::int64_t line = (cutting + ranks.cutting_ranks * sender) * (experts + 1);
        const auto at = [&](std::int64_t expert) {
            return std::int64_t{first_rows[line + expert]};
        };
        return at(end) - at(begin);
    }
    /// Rows of a rank for the experts of a sharing rank.
    std::int64_t for_rank(int cutting, int sender, int taker) const {
        return rows(cutting, sender, taker * own, (taker + 1) * own);
    }
    std::int64_t for_expert(int cutting, int sender, std::int64_t expert) const {
        const std::int64_t number = ranks.sharing * own + expert;
        return rows(cutting, sender, number, number + 1);
    }
};

}  // namespace

Routing::Routing(const ExpertRanks& ranks, std::span<const std::int32_t> first_rows) {
    const Counts counts(ranks, first_rows);
    DEBUBBLE_CHECK(counts.own * ranks.sharing_ranks == counts.experts,
                   "ranks share experts evenly");
    for (int peer = 0; peer < ranks.sharing_ranks; ++peer) {
        sent_.push_back(counts.for_rank(ranks.cutting, ranks.sharing, peer));
        taken_.push_back(counts.for_rank(ranks.cutting, peer, ranks.sharing));
    }
    for (int cutting = 0; cutting < ranks.cutting_ranks; ++cutting) {
        std::int64_t rows = 0;
        for (int sender = 0; sender < ranks.sharing_ranks; ++sender)
            rows += counts.for_rank(cutting, sender, ranks.sharing);
        of_cutting_ranks_.push_back(rows);
    }
    routed_ = sum(sent_);
    received_ = sum(taken_);
    at_experts_ = sum(of_cutting_ranks_);

    // Places of the blocks before, in the order of senders.
    std::vector<std::int64_t> places;
    std::int64_t place = 0;
    for (int cutting = 0; cutting < ranks.cutting_ranks; ++cutting)
        for (int sender = 0; sender < ranks.sharing_ranks; ++sender)
            for (std::int64_t expert = 0; expert < counts.own; ++expert) {
                places.push_back(place);
                place += counts.for_expert(cutting, sender, expert);
            }
    first_rows_.push_back(0);
    std::int64_t to = 0;
    for (std::int64_t expert = 0; expert < counts.own; ++expert) {
        for (int cutting = 0; cutting < ranks.cutting_ranks; ++cutting)
            for (int sender = 0; sender < ranks.sharing_ranks; ++sender) {
                const std::int64_t count = counts.for_expert(cutting, sender, expert);
                if (count == 0) continue;
                const std::int64_t block =
                    (std::int64_t{cutting} * ranks.sharing_ranks + sender) * counts.own + expert;
                const std::int64_t from = places[block];
                if (!sorting_.empty() && sorting_.back().from + sorting_.back().count == from)
                    sorting_.back().count += count;
                else
                    sorting_.push_back({from, to, count});
                to += count;
            }
        first_rows_.push_back(to);
    }
}

double Routing::load() const {
    return routed_ == 0 ? 1 : static_cast<double>(received_) / static_cast<double>(routed_);
}

}  // namespace debubble::exec
