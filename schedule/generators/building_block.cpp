#include "schedule/generators/building_block.h"

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

class Grid {
public:
    Grid(const OrderProblem& problem, const BuildingBlock& block, int live_limit)
        : ranks_(problem.shape.ranks),
          micro_batches_(problem.shape.micro_batches),
          backward_units_(problem.splits_backward ? 1 : 2),
          live_limit_(live_limit),
          placed_(static_cast<std::size_t>(ranks_) * micro_batches_) {
        for (const auto& row : block.start)
            for (const int start : row) end_ = std::max(end_, start);
        end_ += BuildingBlock::kPeriod * micro_batches_ + 4;
        busy_.assign(ranks_, std::vector<char>(end_, 0));
        live_.assign(ranks_, std::vector<int>(end_, 0));
        for (int rank = 0; rank < ranks_; ++rank) repeat(rank, block.start[rank]);
    }

    std::vector<StepOrder> squeezed() {
        std::stable_sort(passes_.begin(), passes_.end(),
                         [](const PassAt& a, const PassAt& b) { return a.unit < b.unit; });
        for (const PassAt& pass : passes_) move_forward(pass);
        return order();
    }

private:
    struct PassAt {
        int unit, rank, row, mb;
    };

    int units(int row) const { return is_forward(row) ? 1 : backward_units_; }
    /// When the activation is gone: W is taken to follow I at once.
    int freed_after(int unit) const { return unit + (backward_units_ == 1 ? 2 : 1); }

    void repeat(int rank, const std::array<int, 4>& start) {
        for (int row = 0; row < 4; ++row) {
            for (int mb = 0; mb < micro_batches_; ++mb) {
                const int unit = start[row] + BuildingBlock::kPeriod * mb;
                passes_.push_back({unit, rank, row, mb});
                for (int i = 0; i < units(row); ++i) busy_[rank][unit + i] = 1;
                if (is_forward(row))
                    ++live_[rank][unit];
                else
                    --live_[rank][freed_after(unit)];
            }
        }
        for (int unit = 1; unit < end_; ++unit) live_[rank][unit] += live_[rank][unit - 1];
    }

    /// The end of what must have run before `pass`, as far as it has been placed.
    int earliest(const PassAt& pass) const {
        int unit = pass.mb > 0 ? at(pass.rank, pass.mb - 1)[pass.row] + 1 : 0;
        const auto after = [&](int rank, int row) {
            unit = std::max(unit, at(rank, pass.mb)[row] + units(row));
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

    void move_forward(const PassAt& pass) {
        std::vector<char>& busy = busy_[pass.rank];
        std::vector<int>& live = live_[pass.rank];
        const int length = units(pass.row);
        int unit = earliest(pass);
        if (is_forward(pass.row)) {
            int room = pass.unit;
            while (room > unit && live[room - 1] < live_limit_) --room;
            unit = room;
        }
        const auto fits = [&](int at) {
            for (int i = at; i < at + length; ++i)
                if (busy[i] && (i < pass.unit || i >= pass.unit + length)) return false;
            return true;
        };
        while (unit < pass.unit && !fits(unit)) ++unit;
        unit = std::min(unit, pass.unit);

        for (int i = 0; i < length; ++i) busy[pass.unit + i] = 0;
        for (int i = 0; i < length; ++i) busy[unit + i] = 1;
        if (is_forward(pass.row))
            for (int i = unit; i < pass.unit; ++i) ++live[i];
        else
            for (int i = freed_after(unit); i < freed_after(pass.unit); ++i) --live[i];
        at(pass.rank, pass.mb)[pass.row] = unit;
    }

    std::vector<StepOrder> order() const {
        const Pass backward = backward_units_ == 1 ? Pass::BackwardInput : Pass::Backward;
        std::vector<StepOrder> ranks(ranks_);
        std::vector<std::pair<int, Step>> steps;
        for (int rank = 0; rank < ranks_; ++rank) {
            steps.clear();
            for (int mb = 0; mb < micro_batches_; ++mb)
                for (std::uint8_t row = 0; row < 4; ++row)
                    steps.push_back({at(rank, mb)[row],
                                     {is_forward(row) ? Pass::Forward : backward,
                                      static_cast<std::uint8_t>(row % 2)}});
            std::sort(steps.begin(), steps.end());
            for (const auto& [unit, step] : steps) ranks[rank].push_back(step);
        }
        return ranks;
    }

    std::array<int, 4>& at(int rank, int mb) {
        return placed_[static_cast<std::size_t>(rank) * micro_batches_ + mb];
    }
    const std::array<int, 4>& at(int rank, int mb) const {
        return placed_[static_cast<std::size_t>(rank) * micro_batches_ + mb];
    }

    int ranks_;
    int micro_batches_;
    int backward_units_;
    int live_limit_;
    int end_ = 0;
    std::vector<std::array<int, 4>> placed_;  ///< by rank and microbatch, the unit of each row
    std::vector<std::vector<char>> busy_;     ///< by rank and unit
    std::vector<std::vector<int>> live_;      ///< by rank and unit
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
                               int live_limit) {
    return Grid(problem, block, live_limit).squeezed();
}

}  // namespace debubble
