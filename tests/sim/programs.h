#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "schedule/generators/generators.h"
#include "schedule/lower.h"
#include "sim/engine/cost_model.h"
#include "sim/engine/simulate.h"
#include "tests/schedule/with_offload.h"
#include "tests/schedule/with_recompute.h"

/// Small programs of every generator, and prices that differ in everything.
namespace debubble::sim {

/// Each stage, pass, message and group takes a time of its own.
class DistinctCosts final : public CostModel {
public:
    ComputeCost compute(const Compute& c, Rank) const override {
        constexpr std::array kLength{1000, 2100, 1100, 900};  // F, B, I, W
        ComputeCost cost;
        cost.duration = Duration{kLength[static_cast<std::size_t>(c.pass)] + 13 * c.stage.index +
                                 7 * c.micro_batch.slice.value_or(0)};
        cost.exposed = cost.duration / 10;
        return cost;
    }
    ComputeCost recompute(const Recompute& r, Rank) const override {
        ComputeCost cost;
        cost.duration = Duration{800 + r.stage.index};
        return cost;
    }
    ComputeCost overlap(const Overlap& o, Rank rank) const override {
        ComputeCost cost = compute(o.first, rank);
        cost.duration += compute(o.second, rank).duration / 2;
        return cost;
    }
    Flow transfer(const Message& m, Rank from, Rank) const override {
        Flow flow = wait(70 + 3 * m.producer.index + from.index);
        flow.payload = Bytes{4096};
        return flow;
    }
    Flow unshard(Stage s, Rank) const override { return wait(120 + s.index); }
    Flow reduce_grad(Stage s, std::span<const Rank>) const override { return wait(300 + s.index); }
    Flow tied_grad(Stage, std::span<const Rank>) const override { return wait(210); }
    Flow grad_norm() const override { return wait(45); }
    Flow offload(Stage s, Rank) const override { return wait(160 + s.index); }
    Duration optimizer_step(Rank rank) const override { return Duration{500 + rank.index}; }

private:
    static Flow wait(int nanoseconds) {
        Flow flow;
        flow.latency = Duration{nanoseconds};
        return flow;
    }
};

/// One MiB on every rank, all the time.
class OneMebibyte final : public MemoryModel {
public:
    MemoryByClass static_memory(Rank) const override { return {Bytes{1 << 20}}; }
};

struct NamedProgram {
    std::string name;  ///< generator, shape and lowering
    Program program;
};

/// Every generator on every small shape that it takes, lowered as plain as can be,
/// as ZeRO-2, and as ZeRO-3 with everything that there is.
inline std::vector<NamedProgram> small_programs() {
    std::vector<NamedProgram> programs;
    const auto add = [&](const Schedule& schedule, const char* how, const LowerOptions& options,
                         const std::vector<Stage>& moved = {}) {
        const PipelineShape& s = schedule.shape;
        programs.push_back({schedule.name + " p" + std::to_string(s.ranks) + " v" +
                                std::to_string(s.stages_per_rank) + " m" +
                                std::to_string(s.micro_batches) + " k" + std::to_string(s.slices) +
                                ", " + how,
                            with_recompute(with_offload(lower(schedule, options), moved), moved)});
    };
    for (const Generator& generator : generators())
        for (const int p : {1, 2, 4})
            for (const int v : {1, 2})
                for (const int m : {4, 8})
                    for (const int k : {1, 2}) {
                        const PipelineShape shape{p, v, m, k};
                        if (generator.why_not(shape, {})) continue;
                        const Schedule schedule = generate(generator.name, shape);
                        LowerOptions options;
                        add(schedule, "plain", options);
                        options.data_parallel = true;
                        options.zero_stage = 2;
                        options.optimizer = OptimizerPlacement::PostValidated;
                        add(schedule, "ZeRO-2", options);
                        options.zero_stage = 3;
                        options.shard_by_stage = true;
                        options.receive = ReceivePlacement::Late;
                        options.optimizer = OptimizerPlacement::Synchronized;
                        std::vector<Stage> all;
                        for (int s = 0; s < schedule.stage_count(); ++s) all.push_back(Stage{s});
                        options.tied = {Stage{0}, Stage{schedule.stage_count() - 1}};
                        add(schedule, "everything", options, all);
                    }
    return programs;
}

}  // namespace debubble::sim
