#include "schedule/generators/search/building_block.h"

#include <algorithm>

namespace debubble {
namespace {

/// The four ways through the V in the order in which a microbatch takes them.
struct Way {
    int row;    ///< index into BuildingBlock::start
    bool down;  ///< from rank 0 to p-1
};
constexpr std::array<Way, 4> kWays{{{0, true}, {1, false}, {3, true}, {2, false}}};

constexpr bool is_forward(int row) {
    return row < 2;
}

constexpr int kWeights = 4;  ///< the row of the weight passes, of both chunks in turn

class Grid {
public:
    Grid(const OrderProblem& problem, const BuildingBlock& block, int live_limit,
         bool places_weights)
        : ranks_(problem.shape.ranks),
          micro_batches_(problem.shape.micro_batches),
          split_(problem.splits_backward),
          places_weights_(places_weights),
          live_limit_(live_limit),
          rows_(ranks_) {
        for (const auto& row : block.start)
            for (const int start : row) end_ = std::max(end_, start);
        end_ += (BuildingBlock::kPeriod + 2) * micro_batches_ + 2;
        passes_.reserve(static_cast<std::size_t>(ranks_) * micro_batches_ * 6);
        for (int rank = 0; rank < ranks_; ++rank) {
            rows_[rank].busy.assign(end_, 0);
            rows_[rank].live_change.assign(end_, 0);
            for (int row = 0; row < kWeights; ++row)
                rows_[rank].placed[row].reserve(micro_batches_);
            rows_[rank].placed[kWeights].reserve(places_weights_ ? 2 * micro_batches_ : 0);
            rows_[rank].backwards.reserve(2 * micro_batches_);
            repeat(rank, block.start[rank]);
        }
    }

    std::vector<StepOrder> squeezed() {
        for (const PassAt& pass : passes_by_unit()) move_forward(pass);
        std::vector<StepOrder> order;
        for (int rank = 0; rank < ranks_; ++rank) order.push_back(order_of(rank));
        return order;
    }

private:
    struct PassAt {
        int unit, rank, row, mb;
    };
    struct RankRows {
        std::vector<char> busy;                  ///< by unit, true if a pass occupies it
        std::vector<int> live_change;            ///< by unit, changes from the passes that have
                                                 ///< been moved
        int live = 0;                            ///< sum of these changes
        int changed_end = 0;                     ///< first unit after the last of these changes
        std::array<std::vector<int>, 5> placed;  ///< unit of each pass, by row and number
        std::vector<int> backwards;              ///< units of the backwards of both chunks, sorted
    };

    int units(int row) const { return row == 2 || row == 3 ? (split_ ? 1 : 2) : 1; }
    bool frees(int row) const { return places_weights_ ? row == kWeights : !is_forward(row); }
    /// Where W has no unit of its own, it is taken to follow I at once.
    int freed_after(int row) const { return units(row) - 1 + (split_ && !places_weights_ ? 1 : 0); }

    void put(int rank, int row, int mb, int unit) {
        passes_.push_back({unit, rank, row, mb});
        RankRows& at = rows_[rank];
        for (int i = 0; i < units(row); ++i) at.busy[unit + i] = 1;
    }

    /// The passes ordered by unit, those of one unit in the order of placing.
    std::vector<PassAt> passes_by_unit() const {
        std::vector<int> place(end_ + 1, 0);
        for (const PassAt& pass : passes_) ++place[pass.unit + 1];
        for (int unit = 0; unit < end_; ++unit) place[unit + 1] += place[unit];
        std::vector<PassAt> sorted(passes_.size());
        for (const PassAt& pass : passes_) sorted[place[pass.unit]++] = pass;
        return sorted;
    }

    /// Every microbatch's passes, a period apart, and each weight pass in the
    /// first unit that they leave free.
    void repeat(int rank, const std::array<int, 4>& start) {
        std::vector<int> backwards;
        for (int row = 0; row < 4; ++row) {
            for (int mb = 0; mb < micro_batches_; ++mb) {
                put(rank, row, mb, start[row] + BuildingBlock::kPeriod * mb);
                if (!is_forward(row)) backwards.push_back(passes_.back().unit);
            }
        }
        if (places_weights_) {
            std::sort(backwards.begin(), backwards.end());
            int unit = 0;
            for (int i = 0; i < 2 * micro_batches_; ++i) {
                unit = std::max(unit, backwards[i] + 1);
                while (rows_[rank].busy[unit]) ++unit;
                put(rank, kWeights, i, unit);
            }
        }
    }

    /// The end of the passes that must run before `pass`, as far as they have been placed.
    int earliest(const PassAt& pass) const {
        const RankRows& at = rows_[pass.rank];
        int unit = pass.mb > 0 ? at.placed[pass.row][pass.mb - 1] + 1 : 0;
        if (pass.row == kWeights) return std::max(unit, at.backwards[pass.mb] + 1);
        const auto after = [&](int rank, int row) {
            unit = std::max(unit, rows_[rank].placed[row][pass.mb] + units(row));
        };
        constexpr std::array<int, 4> kTurnsFrom{-1, 0, 3, 1};
        const bool down = pass.row == 0 || pass.row == 3;
        const int before = down ? pass.rank - 1 : pass.rank + 1;
        if (before >= 0 && before < ranks_)
            after(before, pass.row);
        else if (pass.row != 0)
            after(pass.rank, kTurnsFrom[pass.row]);
        return unit;
    }

    /// The earliest unit, from `earliest` on, after which fewer than the limit stay alive up to
    /// `pass`. Changes before the pass come from passes that have been moved, and are undone one by
    /// one; between the last of them and the pass nothing changes.
    int earliest_with_room(const PassAt& pass, int earliest) const {
        const RankRows& at = rows_[pass.rank];
        if (pass.unit <= earliest) return pass.unit;
        int live = at.live;
        int room = at.changed_end;
        while (room > pass.unit) live -= at.live_change[--room];
        if (live >= live_limit_) return pass.unit;
        while (room > earliest && live < live_limit_) live -= at.live_change[--room];
        return std::max(room, earliest);
    }

    void change_live(RankRows& at, int unit, int change) {
        at.live_change[unit] += change;
        at.live += change;
        at.changed_end = std::max(at.changed_end, unit + 1);
    }

    void move_forward(const PassAt& pass) {
        RankRows& at = rows_[pass.rank];
        const int length = units(pass.row);
        int unit = earliest(pass);
        if (is_forward(pass.row)) unit = earliest_with_room(pass, unit);
        const auto fits = [&](int from) {
            for (int i = from; i < from + length; ++i)
                if (at.busy[i] && (i < pass.unit || i >= pass.unit + length)) return false;
            return true;
        };
        while (unit < pass.unit && !fits(unit)) ++unit;
        unit = std::min(unit, pass.unit);

        for (int i = 0; i < length; ++i) at.busy[pass.unit + i] = 0;
        for (int i = 0; i < length; ++i) at.busy[unit + i] = 1;
        if (is_forward(pass.row))
            change_live(at, unit, 1);
        else if (frees(pass.row))
            change_live(at, unit + freed_after(pass.row), -1);
        at.placed[pass.row].push_back(unit);
        if (!is_forward(pass.row) && pass.row != kWeights)
            at.backwards.insert(std::upper_bound(at.backwards.begin(), at.backwards.end(), unit),
                                unit);
    }

    /// A weight pass belongs to the earliest backward that still lacks its own.
    StepOrder order_of(int rank) const {
        constexpr std::int8_t kNothing = -1;
        std::vector<std::int8_t> row_at(end_, kNothing);  // no two passes share a unit
        for (int row = 0; row <= kWeights; ++row)
            for (const int unit : rows_[rank].placed[row])
                row_at[unit] = static_cast<std::int8_t>(row);
        StepOrder order;
        std::vector<std::uint8_t> waiting;
        std::size_t weights = 0;
        order.reserve(passes_.size() / ranks_);
        waiting.reserve(2 * micro_batches_);
        for (const std::int8_t row : row_at) {
            if (row == kNothing) continue;
            const auto chunk = static_cast<std::uint8_t>(row % 2);
            if (row == kWeights) {
                order.push_back({Pass::BackwardWeight, waiting[weights++]});
            } else if (is_forward(row)) {
                order.push_back({Pass::Forward, chunk});
            } else {
                order.push_back({split_ ? Pass::BackwardInput : Pass::Backward, chunk});
                waiting.push_back(chunk);
            }
        }
        return order;
    }

    int ranks_;
    int micro_batches_;
    bool split_;
    bool places_weights_;
    int live_limit_;
    int end_ = 0;
    std::vector<RankRows> rows_;
    std::vector<PassAt> passes_;
};

}  // namespace

std::optional<BuildingBlock> lay_block(int ranks, const BlockStrides& strides, int backward_units) {
    constexpr int kPeriod = BuildingBlock::kPeriod;
    BuildingBlock block{std::vector<std::array<int, 4>>(ranks)};
    std::vector<unsigned> used(ranks, 0);  // a bit per unit of the period
    const std::array<int, 4> turn{0, 1, strides.before_backward, strides.before_return};
    int unit = 0;
    for (std::size_t way = 0; way < kWays.size(); ++way) {
        const int length = is_forward(kWays[way].row) ? 1 : backward_units;
        for (int i = 0; i < ranks; ++i) {
            const int rank = kWays[way].down ? i : ranks - 1 - i;
            unit += i == 0 ? turn[way] : strides.way[way];
            const auto bits = [&] {
                unsigned mask = 0;
                for (int u = 0; u < length; ++u) mask |= 1U << ((unit + u) % kPeriod);
                return mask;
            };
            const int last = unit + kPeriod;
            while (unit < last && (used[rank] & bits()) != 0) ++unit;
            if (unit == last) return std::nullopt;
            used[rank] |= bits();
            block.start[rank][kWays[way].row] = unit;
        }
    }
    return block;
}

std::vector<StepOrder> squeeze(const OrderProblem& problem, const BuildingBlock& block,
                               int live_limit, bool places_weights) {
    return Grid(problem, block, live_limit, places_weights).squeezed();
}

}  // namespace debubble
