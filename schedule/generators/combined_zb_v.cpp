#include <algorithm>

#include <fmt/format.h>

#include "schedule/generators/generator.h"
#include "schedule/generators/shape_needs.h"
#include "schedule/generators/writer.h"

/// Primus's combined 1F1B on a V (AMD-AGI/Primus fd1eeab, primus/core/pipeline_parallel/scheduler,
/// zbv-formatted with overlap_moe_expert_parallel_comm): the handmade ZB-V, whose forwards run as a
/// pair with the backward-input that comes next, so that each hides the exchange of experts of the
/// other. The two are never of one microbatch's stage, and no pair waits for a gradient that is
/// sent while it runs: rank 0, which holds the loss, leaves half of its forwards alone. Weight
/// gradients follow their pair. At most 2p chunks are live, as in ZB-V.
///
///   rank 0  0F0 0F1 0F2 3F0 3I0 3W0 3F1 3I1 3W1 (0F3;0I0)OVERLAP_F_B 0W0 3F2 3I2 3W2 0I1 0W1 3F3
///           3I3 3W3 0I2 0W2 0I3 0W3
///   rank 1  1F0 2F0 1F1 2F1 2I0 2W0 (1F2;1I0)OVERLAP_F_B 1W0 (2F2;2I1)OVERLAP_F_B 2W1
///           (1F3;1I1)OVERLAP_F_B 1W1 (2F3;2I2)OVERLAP_F_B 2W2 1I2 2I3 1I3 1W2 2W3 1W3
///
/// Equals what Primus's function makes with p = 2, m = 4 and p = 4, m = 8.
namespace debubble {
namespace {

constexpr int kDown = 0;  ///< the chunk on the way to the last rank
constexpr int kUp = 1;    ///< the chunk on the way back, whose last stage has the loss

/// A pass, at the number of its turn in a clock that starts at its rank's number.
struct PassInTurn {
    Pass pass;
    int chunk;
    int micro_batch;
};

/// The list of one rank, pass by pass.
class RankOrder {
public:
    RankOrder(const PipelineShape& shape, int rank)
        : ranks_(shape.ranks), micro_batches_(shape.micro_batches), rank_(rank) {
        warm_up();
        while (forwards_[kUp] < micro_batches_) steady_turn();
        cool_down();
    }
    const std::vector<PassInTurn>& passes() const { return passes_; }

private:
    void warm_up() {
        for (int i = 0; i < 2 * (ranks_ - rank_) - 1; ++i) forward(kDown);
        for (int i = 0; i < rank_; ++i) {
            forward(kUp);
            forward(kDown);
        }
        for (int i = rank_; i < ranks_; ++i) {
            forward(kUp);
            whole_backward(kUp);
        }
    }
    void steady_turn() {
        if (forwards_[kDown] < micro_batches_) forward(kDown);
        whole_backward(kDown);
        forward(kUp);
        whole_backward(kUp);
    }
    void cool_down() {
        for (int i = 0; i < rank_; ++i) {
            input(kDown);
            input(kUp);
        }
        for (int i = rank_; i < ranks_; ++i) whole_backward(kDown);
        while (weights_[kUp] < micro_batches_) weight(kUp);
        while (weights_[kDown] < micro_batches_) weight(kDown);
    }
    void whole_backward(int chunk) {
        input(chunk);
        weight(chunk);
    }
    void forward(int chunk) { add(Pass::Forward, chunk, forwards_); }
    void input(int chunk) { add(Pass::BackwardInput, chunk, inputs_); }
    void weight(int chunk) { add(Pass::BackwardWeight, chunk, weights_); }
    void add(Pass pass, int chunk, int (&count)[2]) {
        passes_.push_back({pass, chunk, count[chunk]++});
    }

    int ranks_, micro_batches_, rank_;
    int forwards_[2]{}, inputs_[2]{}, weights_[2]{};
    std::vector<PassInTurn> passes_;
};

class Pairing {
public:
    explicit Pairing(const PipelineShape& shape) : shape_(shape) {
        for (int rank = 0; rank < shape.ranks; ++rank) {
            orders_.emplace_back(shape, rank);
            auto& turns = turn_of_input_.emplace_back(2 * shape.micro_batches);
            const auto& passes = orders_.back().passes();
            for (std::size_t i = 0; i < passes.size(); ++i)
                if (passes[i].pass == Pass::BackwardInput)
                    turns[2 * passes[i].micro_batch + passes[i].chunk] = rank + static_cast<int>(i);
        }
    }

    void write(int rank, ActionList& actions) const {
        const auto& passes = orders_[rank].passes();
        RankWriter list(actions);
        for (std::size_t i = 0; i < passes.size(); ++i) {
            const Compute pass = compute(rank, passes[i]);
            if (i + 1 < passes.size() && may_pair(rank, i))
                list.overlap(pass, compute(rank, passes[++i]));
            else
                list.add(pass.pass, pass.stage.index, pass.micro_batch);
        }
    }

private:
    int stage_of(int rank, int chunk) const {
        return chunk == kDown ? rank : 2 * shape_.ranks - 1 - rank;
    }
    Compute compute(int rank, const PassInTurn& pass) const {
        return {pass.pass, Stage{stage_of(rank, pass.chunk)}, {pass.micro_batch, {}}};
    }

    bool may_pair(int rank, std::size_t at) const {
        const PassInTurn& first = orders_[rank].passes()[at];
        const PassInTurn& second = orders_[rank].passes()[at + 1];
        if (first.pass != Pass::Forward || second.pass != Pass::BackwardInput) return false;
        if (first.chunk == second.chunk && first.micro_batch == second.micro_batch) return false;
        const int stage = stage_of(rank, second.chunk);
        if (stage == 2 * shape_.ranks - 1) return true;
        // Of the stage after it, which sends it its gradient.
        const int sender = stage + 1 < shape_.ranks ? stage + 1 : 2 * shape_.ranks - 2 - stage;
        const int chunk = stage + 1 < shape_.ranks ? kDown : kUp;
        return turn_of_input_[sender][2 * second.micro_batch + chunk] !=
               rank + static_cast<int>(at);
    }

    PipelineShape shape_;
    std::vector<RankOrder> orders_;
    std::vector<std::vector<int>> turn_of_input_;  ///< by rank, microbatch and chunk
};

Reason why_not_combined_zb_v(const PipelineShape& shape, const GeneratorOptions&) {
    if (Reason reason = shape_reason(shape, {.stages_per_rank = 2})) return reason;
    if (shape.micro_batches < 2 * shape.ranks - 1)
        return fmt::format("it needs at least 2 x {} - 1 = {} microbatches, and there are {}",
                           shape.ranks, 2 * shape.ranks - 1, shape.micro_batches);
    return std::nullopt;
}

Schedule combined_zb_v(const PipelineShape& shape, const GeneratorOptions&) {
    Schedule schedule = empty_schedule("combined-zb-v", shape, v_placement(shape.ranks));
    const Pairing pairing(shape);
    for (int rank = 0; rank < shape.ranks; ++rank) pairing.write(rank, schedule.ranks[rank]);
    return schedule;
}

}  // namespace

Generator combined_zb_v_row() {
    return {
        .name = "combined-zb-v",
        .summary = "a handmade ZB-V whose expert all-to-alls overlap in pairs of passes (Primus)",
        .source = "AMD-AGI/Primus zbv_formatted.py, combined_forward_backward",
        .make = combined_zb_v,
        .why_not = why_not_combined_zb_v,
        .splits_backward = true,
        .stages_per_rank = 2,
        .overlaps = true,
        .pairs_layers = true};
}

}  // namespace debubble
