#include "sim/uneven/drawn_memory.h"

#include "sim/memory/pass_memory.h"
#include "sim/uneven/draw.h"

namespace debubble::sim {

PipelineRows::PipelineRows(const scenarios::Scenario& scenario, const LoadedStages& stages,
                           DrawnPipeline pipeline, int stage_count) {
    const Draw draw(scenario, pipeline);
    const int micro_batches = scenario.training.micro_batches;
    for (Stage stage{0}; stage.index < stage_count; ++stage.index) {
        auto& of_stage = shares_.emplace_back(micro_batches);
        for (int mb = 0; mb < micro_batches; ++mb)
            for (const LayerRows& rows : stages.rows(stage))
                of_stage[mb].push_back(rows.share(draw.load(rows.layer(), mb)));
    }
}

DrawnMemoryModel::DrawnMemoryModel(const scenarios::Scenario& scenario, const LoadedStages& stages,
                                   DrawnPipeline pipeline, const MemoryModel& even, int stage_count)
    : scenario_(scenario),
      stages_(stages),
      even_(even),
      rows_(scenario, stages, pipeline, stage_count) {}

PassMemory DrawnMemoryModel::compute(const Compute& c) const {
    PassMemory memory = played(c, false);
    if (c.pass != Pass::Forward) return memory;
    const PassMemory even = even_.compute(c);
    memory.stays = even.stays;
    if (stages_.runs_again(c.stage)) memory.held_after = even.held_after;
    return memory;
}

PassMemory DrawnMemoryModel::recompute(const Recompute& r) const {
    const Compute forward{Pass::Forward, r.stage, r.micro_batch};
    PassMemory memory = played(forward, true);
    const Bytes there{-stages_.input_of(forward).count};
    memory.held_after += there;
    memory.peak_above += there;
    memory.at_peak[MemoryClass::Activations] += there;
    return memory;
}

PassMemory DrawnMemoryModel::overlap(const Overlap& o) const {
    if (scenario_.schedule.pairs_layers && o.first.pass == Pass::Forward)
        return pair_memory(pieces(o.first), pieces(o.second));
    return at_once(compute(o.first), compute(o.second));
}

std::vector<Bytes> DrawnMemoryModel::sizes(const Compute& c) const {
    std::vector<Bytes> sizes;
    const std::vector<models::Tensor>& tensors = stages_.graph(c).tensors;
    sizes.reserve(tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i)
        sizes.push_back(bytes_of(c.stage, c.micro_batch, i).value_or(tensors[i].bytes));
    return sizes;
}

PassMemory DrawnMemoryModel::played(const Compute& c, bool again) const {
    const std::vector<Bytes> bytes = sizes(c);
    return play(stages_.graph(c), stages_.even().steps(c), {}, again, stages_.even().held_during(c),
                &bytes);
}

PassPieces DrawnMemoryModel::pieces(const Compute& c) const {
    const std::vector<Bytes> bytes = sizes(c);
    return pieces_of(stages_.graph(c), stages_.even().steps(c), {}, stages_.even().held_during(c),
                     &bytes);
}

}  // namespace debubble::sim
