#include "schedule/generators/alternation.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "schedule/generators/writer.h"

namespace debubble {
namespace {

std::vector<Turn> looped_turns(const PipelineShape& shape, int rank, int group, bool last_first) {
    std::vector<Turn> turns;
    turns.reserve(static_cast<std::size_t>(shape.stages_per_rank) * shape.micro_batches);
    for (int first = 0; first < shape.micro_batches; first += group) {
        const int end = first + std::min(group, shape.micro_batches - first);
        for (int i = 0; i < shape.stages_per_rank; ++i) {
            const int chunk = last_first ? shape.stages_per_rank - 1 - i : i;
            for (int mb = first; mb < end; ++mb)
                turns.push_back({chunk * shape.ranks + rank, {mb, {}}});
        }
    }
    return turns;
}

int whole_rounds(const PipelineShape& shape) {
    return std::max(1, shape.micro_batches / shape.ranks);
}

}  // namespace

std::vector<Turn> looped_forwards(const PipelineShape& shape, int rank, int group) {
    return looped_turns(shape, rank, group, false);
}

std::vector<Turn> looped_backwards(const PipelineShape& shape, int rank, int group) {
    return looped_turns(shape, rank, group, true);
}

void write(const Alternation& alternation, ActionList& actions) {
    const auto& [forwards, backwards, warm_up, weight_delay] = alternation;
    assert(forwards.size() == backwards.size() && "every forward has its backward");
    const int turns = static_cast<int>(forwards.size());
    const int ahead = std::min(warm_up, turns);

    RankWriter list(actions);
    const auto add = [&](Pass pass, const Turn& turn) {
        list.add(pass, turn.stage, turn.micro_batch);
    };
    for (int i = 0; i < ahead; ++i) add(Pass::Forward, forwards[i]);
    for (int i = 0; i < turns; ++i) {
        if (ahead + i < turns) add(Pass::Forward, forwards[ahead + i]);
        add(weight_delay ? Pass::BackwardInput : Pass::Backward, backwards[i]);
        if (weight_delay && i >= *weight_delay)
            add(Pass::BackwardWeight, backwards[i - *weight_delay]);
    }
    if (!weight_delay) return;
    for (int i = std::max(0, turns - *weight_delay); i < turns; ++i)
        add(Pass::BackwardWeight, backwards[i]);
}

int pytorch_group(const PipelineShape& shape) {
    return shape.micro_batches / whole_rounds(shape);
}

std::optional<std::string> pytorch_group_reason(const PipelineShape& shape) {
    const int rounds = whole_rounds(shape);
    if (shape.micro_batches % rounds == 0) return std::nullopt;
    return fmt::format(
        "{} microbatches on {} ranks make {} rounds, which must divide the microbatches",
        shape.micro_batches, shape.ranks, rounds);
}

PipelineShape padded_to_groups(PipelineShape shape, int group) {
    const int missing = (group - shape.micro_batches % group) % group;
    shape.micro_batches += missing;
    return shape;
}

Schedule without_missing(Schedule padded, int micro_batches) {
    padded.shape.micro_batches = micro_batches;
    for (ActionList& rank : padded.ranks)
        std::erase_if(rank, [&](const Action& action) {
            bool missing = false;
            for_each_compute(action, [&](const Compute& compute) {
                missing = compute.micro_batch.index >= micro_batches;
            });
            return missing;
        });
    return padded;
}

}  // namespace debubble
