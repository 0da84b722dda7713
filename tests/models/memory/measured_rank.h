#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "models/graph/graph.h"
#include "models/memory/allocator.h"
#include "models/memory/static_memory.h"
#include "schedule/generators/generators.h"

/// Plays the last pipeline rank's step of a measured run through the allocator.
namespace debubble::models {

inline constexpr std::int64_t kMiB = 1 << 20;

/// cuBLAS keeps a workspace for each of two threads, TransformerEngine one of its own; in MiB.
constexpr Bytes workspaces(double cublas, double engine) {
    return Bytes{static_cast<std::int64_t>((2 * cublas + engine) * (1 << 20))};
}
inline constexpr Bytes kWorkspacesA100 = workspaces(8.125, 4);
inline constexpr Bytes kWorkspacesHopper = workspaces(32, 32);
inline constexpr Bytes kWorkspacesBlackwell = workspaces(8.125, 32);

struct MeasuredRun {
    Architecture model;
    Execution how;
    StaticPolicy policy;
    std::string schedule = "1f1b";
    PipelineShape shape;
    int stream_buffers = 0;  ///< of the pipeline's communication, each one boundary tensor
};

struct Played {
    MemoryUsage usage;
    Bytes fixed;          ///< between two steps
    std::string at_peak;  ///< the action and the operator's tensor allocated at the peak
};

class RankPlayer {
public:
    RankPlayer(const MeasuredRun& run, int rank);
    Played play(const ActionList& actions);

private:
    void pass(const Compute& compute);
    void hold_optimizer(Bytes& whole);
    void take(Bytes bytes, const std::string& what);

    struct StagePlan {
        StageGraph graph;
        PassSteps forward, backward;
    };
    const MeasuredRun& run_;
    std::map<int, StagePlan> stages_;
    std::map<std::tuple<int, int, int>, int> live_;  ///< stage, microbatch, tensor -> handle
    CachingAllocator allocator_;
    Bytes peak_;
    std::string at_peak_;
    Bytes gradients_;
    Bytes step_;
    std::vector<Bytes> moments_;  ///< two of each, made by the first step
};

inline RankPlayer::RankPlayer(const MeasuredRun& run, int rank) : run_(run) {
    const int stages = run.shape.stages();
    const int layers = run.model.layers.count() / stages;
    StaticMemory fixed;
    for (int v = 0; v < run.shape.stages_per_rank; ++v) {
        const int stage = v * run.shape.ranks + rank;
        StageGraph graph = build_stage(run.model, run.how,
                                       {stage * layers, layers, stage == 0, stage == stages - 1});
        const StaticMemory more = static_memory(graph, run.policy);
        // workspaces, dummy gradients and the gather buffer serve all chunks: the last has them all
        for (std::size_t i = 0; i < kMemoryClasses; ++i) {
            const bool shared = i == static_cast<std::size_t>(MemoryClass::Buffers);
            fixed.held[i] = shared ? more.held[i] : fixed.held[i] + more.held[i];
        }
        gradients_ += more.gradients_in_backward;
        step_ += more.optimizer_step;
        PassSteps forward = forward_steps(graph), backward = backward_steps(graph);
        stages_.emplace(stage,
                        StagePlan{std::move(graph), std::move(forward), std::move(backward)});
    }
    hold_optimizer(fixed.held[static_cast<std::size_t>(MemoryClass::Optimizer)]);
    for (const Bytes bytes : fixed.held) take(bytes, "static");
    take(stages_.begin()->second.graph.boundary_bytes() * run.stream_buffers, "pipeline buffers");
}

/// Megatron-LM's distributed optimizer holds main parameters in pieces from the start,
/// and from the first step on two moments of the same sizes; others are taken as a whole.
inline void RankPlayer::hold_optimizer(Bytes& whole) {
    if (run_.policy.zero_stage != 1 || !run_.policy.main_parameters) return;
    whole = {};
    for (const auto& [stage, plan] : stages_) {
        for (const bool experts : {false, true}) {
            const int shards = experts ? run_.policy.expert_shards : run_.policy.shards;
            for (const std::int64_t elements :
                 optimizer_pieces(plan.graph, shards, megatron_bucket_elements(shards), experts)) {
                take(Bytes{4 * elements}, "main parameters");
                moments_.push_back(Bytes{4 * elements});
            }
        }
    }
}

inline void RankPlayer::take(Bytes bytes, const std::string& what) {
    allocator_.allocate(bytes);
    if (allocator_.usage().allocated > peak_) {
        peak_ = allocator_.usage().allocated;
        at_peak_ = what;
    }
}

inline void RankPlayer::pass(const Compute& compute) {
    const StagePlan& plan = stages_.at(compute.stage.index);
    const bool forward = compute.pass == Pass::Forward;
    for (const Step& step : (forward ? plan.forward : plan.backward).steps) {
        if (step.kind == Step::Kind::Run) continue;
        const auto key = std::tuple(compute.stage.index, compute.micro_batch.index, step.index);
        if (step.kind == Step::Kind::Allocate) {
            const Tensor& tensor = plan.graph.tensors[step.index];
            live_[key] = allocator_.allocate(tensor.bytes);
            if (allocator_.usage().allocated > peak_) {
                peak_ = allocator_.usage().allocated;
                at_peak_ = to_text(Action{compute}) + " " + tensor.name;
            }
        } else {
            allocator_.free(live_.at(key));
            live_.erase(key);
        }
    }
}

inline Played RankPlayer::play(const ActionList& actions) {
    const auto step = [&] {
        for (const Action& action : actions) {
            if (const auto* compute = std::get_if<Compute>(&action)) pass(*compute);
        }
    };
    if (!moments_.empty()) step();
    for (const Bytes bytes : moments_) {
        take(bytes, "moments");
        take(bytes, "moments");
    }
    const Bytes fixed = allocator_.usage().allocated;
    step();
    if (step_.count + gradients_.count > 0) take(gradients_ + step_, "optimizer");
    return {allocator_.usage(), fixed, at_peak_};
}

inline Played play_last_rank(const MeasuredRun& run) {
    const Schedule schedule = generate(run.schedule, run.shape);
    const int rank = run.shape.ranks - 1;
    return RankPlayer(run, rank).play(schedule.ranks[rank]);
}

}  // namespace debubble::models
