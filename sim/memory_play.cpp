#include "sim/memory_play.h"

#include <algorithm>
#include <map>
#include <optional>

#include "models/static_memory.h"
#include "scenarios/execution_of.h"
#include "sim/memory_log.h"
#include "sim/pass_memory.h"
#include "sim/static_level.h"

namespace debubble::sim {
namespace {

using models::Step;

constexpr int kComputesBeyondPeak = 6;

/// The stages of a rank with the steps of their passes, built once.
class RankStages {
public:
    RankStages(const scenarios::Scenario& scenario,
               const std::vector<models::StageContent>& contents)
        : scenario_(scenario), contents_(contents) {}

    const models::StageGraph& graph(Stage stage, int slice) {
        auto& graph = graphs_[{stage.index, slice}];
        if (!graph) {
            models::Execution execution = scenarios::execution_of(scenario_);
            execution.slice = slice;
            graph = models::build_stage(scenario_.model, execution, contents_[stage.index]);
        }
        return *graph;
    }
    const models::PassSteps& steps(const Compute& c) {
        const int slice = c.micro_batch.slice.value_or(0);
        auto& steps = steps_[{c.stage.index, slice, static_cast<int>(c.pass)}];
        if (!steps) steps = make(graph(c.stage, slice), c.pass);
        return *steps;
    }

private:
    static models::PassSteps make(const models::StageGraph& graph, Pass pass) {
        switch (pass) {
            case Pass::Forward: return models::forward_steps(graph);
            case Pass::Backward: return models::backward_steps(graph);
            case Pass::BackwardInput: return models::backward_input_steps(graph);
            case Pass::BackwardWeight: return models::backward_weight_steps(graph);
        }
        return {};
    }
    const scenarios::Scenario& scenario_;
    const std::vector<models::StageContent>& contents_;
    std::map<std::pair<int, int>, std::optional<models::StageGraph>> graphs_;
    std::map<std::tuple<int, int, int>, std::optional<models::PassSteps>> steps_;
};

models::StaticMemory static_of(const scenarios::Scenario& scenario, RankStages& stages,
                               std::span<const Stage> held) {
    std::int64_t elements = 0;
    Stage like = held.front();
    for (const Stage stage : held) {
        elements += stages.graph(stage, 0).parameter_elements();
        if (stages.graph(stage, 0).content.head) like = stage;
    }
    return models::static_memory(stages.graph(like, 0), static_policy(scenario), elements);
}

std::string_view kernel_after(const models::PassSteps& pass, std::size_t step) {
    for (std::size_t i = step; i < pass.steps.size(); ++i)
        if (pass.steps[i].kind == Step::Kind::Run) return pass.kernels[pass.steps[i].index].name;
    return {};
}

/// How far into the list the rank is fullest by summed levels, then a little more.
std::size_t played_part(RankStages& stages, const ActionList& list) {
    Bytes level;
    Bytes fullest;
    std::size_t end = 0;
    int beyond = 0;
    std::map<const models::PassSteps*, PassMemory> memory;
    for (std::size_t i = 0; i < list.size(); ++i) {
        bool computes = false;
        for_each_compute(list[i], [&](const Compute& c) {
            computes = true;
            const models::PassSteps& steps = stages.steps(c);
            const auto [at, is_new] = memory.try_emplace(&steps);
            if (is_new)
                at->second = play(stages.graph(c.stage, c.micro_batch.slice.value_or(0)), steps);
            if (level + at->second.peak_above > fullest) {
                fullest = level + at->second.peak_above;
                beyond = 0;
                end = i + 1;
            }
            level += at->second.held_after;
        });
        if (computes && end <= i && ++beyond <= kComputesBeyondPeak) end = i + 1;
    }
    return end;
}

/// Carries out a rank's list on a MemoryLog.
class Player {
public:
    Player(RankStages& stages, const models::StaticMemory& level, MemoryLog& log)
        : stages_(stages), level_(level), log_(log) {
        for (std::size_t c = 0; c < kMemoryClasses; ++c)
            if (level.held[c].count > 0)
                log_.allocate(level.held[c], static_cast<MemoryClass>(c), "static", "static");
    }

    void perform(const Action& action) {
        log_.now_in(&action);
        std::visit([&](const auto& a) { add(a); }, action);
    }
    /// The optimizer, once everything in flight is done with.
    void finish() {
        log_.now_in(nullptr);
        for (const auto& [key, handles] : passes_)
            for (const int handle : handles) log_.free(handle);
        for (const auto& [message, handle] : received_) log_.free(handle);
        free_sent();
        bear_gradients();
        if (level_.optimizer_step.count > 0)
            log_.allocate(level_.optimizer_step, MemoryClass::Workspace, "temporaries",
                          "optimizer step");
    }

private:
    void add(const Compute& c) { compute(c); }
    void add(const Overlap& o) {
        compute(o.first);
        compute(o.second);
    }
    void add(const Recv& r) {
        const bool forward = r.message.kind == Message::Kind::Activation;
        const Stage consumer{r.message.producer.index + (forward ? 1 : -1)};
        received_[{forward, consumer, r.message.micro_batch}] = message(consumer, "received");
    }
    void add(const Send& s) { sent_.push_back(message(s.message.producer, "sent")); }
    template <class Other>
    void add(const Other&) {}

    int message(Stage stage, std::string_view name) {
        return log_.allocate(stages_.graph(stage, 0).boundary_bytes(), MemoryClass::Activations,
                             name, "message");
    }
    void free_sent() {
        for (const int handle : sent_) log_.free(handle);
        sent_.clear();
    }
    /// Gradients that have no buffer of their own come with the first backward.
    void bear_gradients() {
        if (!born_ && level_.gradients_in_backward.count > 0)
            log_.allocate(level_.gradients_in_backward, MemoryClass::Gradients, "gradients",
                          "backward");
        born_ = true;
    }

    void compute(const Compute& c) {
        const bool forward = c.pass == Pass::Forward;
        const auto arrived = received_.find({forward, c.stage, c.micro_batch});
        if (c.pass != Pass::BackwardWeight && arrived != received_.end()) {
            log_.free(arrived->second);  // it is the pass's input now
            received_.erase(arrived);
        }
        const models::StageGraph& graph = stages_.graph(c.stage, c.micro_batch.slice.value_or(0));
        std::vector<int>& handles = passes_[{c.stage, c.micro_batch}];
        handles.resize(graph.tensors.size(), MemoryLog::kNone);
        run(graph, stages_.steps(c), handles);
        free_sent();
        if (c.pass == Pass::Backward || c.pass == Pass::BackwardWeight) {
            bear_gradients();
            passes_.erase({c.stage, c.micro_batch});
        }
    }
    void run(const models::StageGraph& graph, const models::PassSteps& pass,
             std::vector<int>& handles) {
        for (std::size_t i = 0; i < pass.steps.size(); ++i) {
            const Step& step = pass.steps[i];
            if (step.kind == Step::Kind::Run) continue;
            int& handle = handles[step.index];
            if (step.kind == Step::Kind::Free) {
                log_.free(handle);
                handle = MemoryLog::kNone;
                continue;
            }
            const models::Tensor& tensor = graph.tensors[step.index];
            handle =
                log_.allocate(tensor.bytes, tensor.held_as, tensor.name, kernel_after(pass, i));
        }
    }

    RankStages& stages_;
    const models::StaticMemory& level_;
    MemoryLog& log_;
    std::map<std::pair<Stage, MicroBatch>, std::vector<int>> passes_;
    std::map<std::tuple<bool, Stage, MicroBatch>, int> received_;
    std::vector<int> sent_;
    bool born_ = false;
};

}  // namespace

PlayedMemory play_memory(const scenarios::Scenario& scenario,
                         const std::vector<models::StageContent>& contents, const Program& program,
                         Rank rank, std::size_t largest) {
    RankStages stages(scenario, contents);
    const ActionList& list = program.ranks[rank.index];
    const models::StaticMemory level =
        static_of(scenario, stages, program.placement.stages_of(rank));
    MemoryLog log(scenario.framework.allocator);
    Player player(stages, level, log);
    const std::size_t end = played_part(stages, list);
    for (std::size_t i = 0; i < end; ++i) player.perform(list[i]);
    player.finish();
    return log.result(largest);
}

}  // namespace debubble::sim
