#include "sim/memory/memory_play.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/cancelled.h"
#include "models/static_memory.h"
#include "scenarios/execution_of.h"
#include "sim/memory/memory_log.h"
#include "sim/memory/pass_memory.h"
#include "sim/memory/sharded_units.h"
#include "sim/memory/static_level.h"

namespace debubble::sim {
namespace {

using models::Step;

constexpr int kComputesBeyondPeak = 6;

/// The stages of a rank with the steps of their passes, built once.
class RankStages {
public:
    RankStages(const scenarios::Scenario& scenario,
               const std::vector<models::StageContent>& contents, const Placement& placement)
        : scenario_(scenario),
          contents_(contents),
          several_holders_(has_several_holders(placement)) {}

    const models::StageGraph& graph(Stage stage, int slice) {
        auto& graph = graphs_[{stage.index, slice}];
        if (!graph) {
            models::Execution execution = scenarios::execution_of(scenario_);
            execution.slice = slice;
            graph = models::build_stage(scenario_.model, execution, contents_[stage.index]);
        }
        return *graph;
    }
    /// What is gathered and reduced inside a pass.
    HeldBeside beside(const Compute& c) {
        if (!scenario_.parallel.shares_gradients()) return {};
        return held_beside(scenario_, units(c.stage), use_of(c.pass, several_holders_));
    }
    /// What it leaves there.
    MemoryByClass left(const Compute& c) {
        if (!scenario_.parallel.shares_gradients()) return {};
        return left_unreduced(scenario_, units(c.stage), use_of(c.pass, several_holders_));
    }
    /// What Unshard adds: all parameters, beside the rank's own part.
    Bytes gathered(Stage stage) {
        if (scenario_.parallel.zero_stage < 3) return {};
        return Bytes{graph(stage, 0).parameter_elements() *
                     models::size_of(scenario_.training.precision.compute)};
    }
    const models::PassSteps& steps(const Compute& c) {
        const int slice = c.micro_batch.slice.value_or(0);
        auto& steps = steps_[{c.stage.index, slice, static_cast<int>(c.pass)}];
        if (!steps) steps = make(graph(c.stage, slice), c.pass);
        return *steps;
    }

private:
    ShardedUnits units(Stage stage) {
        const models::StageGraph& whole = graph(stage, 0);
        return sharded_units(whole, whole.content.layers);
    }
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
    bool several_holders_;
    std::map<std::pair<int, int>, std::optional<models::StageGraph>> graphs_;
    std::map<std::tuple<int, int, int>, std::optional<models::PassSteps>> steps_;
};

models::StaticMemory static_of(const scenarios::Scenario& scenario, RankStages& stages,
                               std::span<const Stage> held) {
    models::ParameterCount elements;
    Stage like = held.front();
    for (const Stage stage : held) {
        elements += stages.graph(stage, 0).parameter_count();
        if (stages.graph(stage, 0).content.head) like = stage;
    }
    return models::static_memory(stages.graph(like, 0), static_policy(scenario), elements);
}

std::string_view kernel_after(const models::PassSteps& pass, std::size_t step) {
    for (std::size_t i = step; i < pass.steps.size(); ++i)
        if (pass.steps[i].kind == Step::Kind::Run) return pass.kernels[pass.steps[i].index].name;
    return {};
}

/// Do levels follow from the computes alone?
bool moves_what_passes_hold(const Action& action) {
    return std::holds_alternative<Offload>(action) || std::holds_alternative<Reload>(action) ||
           std::holds_alternative<Recompute>(action) || std::holds_alternative<Reshard>(action);
}

/// How far into the list the rank is fullest by summed levels, then a little more.
std::size_t played_part(RankStages& stages, const ActionList& list, Bytes born_in_backward) {
    if (std::ranges::any_of(list, moves_what_passes_hold)) return list.size();
    Bytes level;
    Bytes fullest;
    std::size_t end = 0;
    int beyond = 0;
    std::map<const models::PassSteps*, PassMemory> memory;
    std::map<Stage, Bytes> left;  // that waits for its reduction
    for (std::size_t i = 0; i < list.size(); ++i) {
        bool computes = false;
        for_each_compute(list[i], [&](const Compute& c) {
            computes = true;
            if (c.pass != Pass::Forward) level -= std::exchange(left[c.stage], Bytes{});
            const models::PassSteps& steps = stages.steps(c);
            const auto [at, is_new] = memory.try_emplace(&steps);
            if (is_new)
                at->second = play(stages.graph(c.stage, c.micro_batch.slice.value_or(0)), steps, {},
                                  false, stages.beside(c));
            if (level + at->second.peak_above > fullest) {
                fullest = level + at->second.peak_above;
                beyond = 0;
                end = i + 1;
            }
            level += at->second.held_after;
            if (c.pass == Pass::Forward) return;
            level += left[c.stage] = total(stages.left(c));
            if (c.pass != Pass::BackwardInput) level += std::exchange(born_in_backward, Bytes{});
        });
        if (computes && end <= i && ++beyond <= kComputesBeyondPeak) end = i + 1;
    }
    return end;
}

using AtStage = std::pair<Stage, MicroBatch>;

/// Carries out a rank's list on a MemoryLog.
class ListPlayer {
public:
    ListPlayer(RankStages& stages, const ActionList& list, const models::StaticMemory& level,
               MemoryLog& log)
        : stages_(stages), level_(level), log_(log) {
        for (const Action& action : list)
            if (const auto* again = std::get_if<Recompute>(&action))
                recomputed_.insert(again->stage);
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
        for (const auto& [stage, handle] : unsharded_) log_.free(handle);
        for (const auto& [stage, handles] : left_)
            for (const int handle : handles) log_.free(handle);
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
    /// Everything that is not there is made again.
    void add(const Recompute& r) { pass({Pass::Forward, r.stage, r.micro_batch}); }
    void add(const Unshard& u) {
        const Bytes bytes = stages_.gathered(u.stage);
        if (bytes.count == 0) return;
        unsharded_[u.stage] = log_.allocate(bytes, MemoryClass::Parameters, "gathered", "unshard");
    }
    void add(const Reshard& r) {
        const auto at = unsharded_.find(r.stage);
        if (at == unsharded_.end()) return;
        log_.free(at->second);
        unsharded_.erase(at);
    }
    /// The copy runs beside the next compute: only then the tensors can go.
    void add(const Offload& o) { leaving_.emplace_back(o.stage, o.micro_batch); }
    void add(const Reload& r) {
        free_offloaded();
        const AtStage key{r.stage, r.micro_batch};
        const models::StageGraph& graph = graph_of(key);
        std::vector<int>& handles = passes_[key];
        for (const std::size_t tensor : offloaded_[key])
            handles[tensor] = allocate(graph.tensors[tensor], "reload");
        offloaded_.erase(key);
    }
    void add(const ReduceGrad&) {}
    void add(const TiedGradReduce&) {}
    void add(const GradNorm&) {}
    void add(const OptimizerStep&) {}

    int allocate(const models::Tensor& tensor, std::string_view op) {
        return log_.allocate(tensor.bytes, tensor.held_as, tensor.name, op);
    }
    void free_offloaded() {
        for (const auto& key : leaving_) {
            std::vector<int>& handles = passes_[key];
            for (std::size_t tensor = 0; tensor < handles.size(); ++tensor) {
                if (handles[tensor] == MemoryLog::kNone || seen_later(key, tensor)) continue;
                log_.free(handles[tensor]);
                handles[tensor] = MemoryLog::kNone;
                offloaded_[key].push_back(tensor);
            }
        }
        leaving_.clear();
    }

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
        if (!forward)
            for (const int handle : std::exchange(left_[c.stage], {})) log_.free(handle);
        pass(c);
        if (!forward) left_[c.stage] = allocate(stages_.left(c));
        if (forward && recomputed_.contains(c.stage)) keep_input_only({c.stage, c.micro_batch});
        free_sent();
        free_offloaded();
        if (c.pass == Pass::Backward || c.pass == Pass::BackwardWeight) {
            bear_gradients();
            passes_.erase({c.stage, c.micro_batch});
        }
    }
    const models::StageGraph& graph_of(const AtStage& of) {
        return stages_.graph(of.first, of.second.slice.value_or(0));
    }
    bool seen_later(const AtStage& of, std::size_t tensor) {
        return graph_of(of).tensors[tensor].slices == models::Across::Seen;
    }
    /// And what later slices see.
    void keep_input_only(const AtStage& of) {
        const models::StageGraph& graph = graph_of(of);
        std::vector<int>& handles = passes_[of];
        for (std::size_t tensor = 0; tensor < handles.size(); ++tensor) {
            if (static_cast<int>(tensor) == graph.input.value_or(-1)) continue;
            if (seen_later(of, tensor)) continue;
            log_.free(handles[tensor]);
            handles[tensor] = MemoryLog::kNone;
        }
    }
    /// A pass, and beside it what is gathered and reduced.
    void pass(const Compute& c) {
        const AtStage key{c.stage, c.micro_batch};
        passes_[key].resize(graph_of(key).tensors.size(), MemoryLog::kNone);
        const models::PassSteps& steps = stages_.steps(c);
        const HeldBeside held = stages_.beside(c);
        if (held == HeldBeside{}) return run(key, steps, [](std::size_t) {});
        const std::vector<PassPlace> places = places_of(steps);
        std::optional<PassPlace> now;
        std::vector<int> beside;
        run(key, steps, [&](std::size_t step) {
            if (steps.steps[step].kind == Step::Kind::Free || places[step] == now) return;
            now = places[step];
            for (const int handle : beside) log_.free(handle);
            beside = allocate(held[static_cast<std::size_t>(*now)]);
        });
        for (const int handle : beside) log_.free(handle);
    }
    std::vector<int> allocate(const MemoryByClass& beside) {
        std::vector<int> handles;
        for (std::size_t k = 0; k < kMemoryClasses; ++k)
            if (beside[k].count > 0)
                handles.push_back(
                    log_.allocate(beside[k], static_cast<MemoryClass>(k), "gathered", "unshard"));
        return handles;
    }
    /// `before` each step.
    template <class Before>
    void run(const AtStage& key, const models::PassSteps& pass, const Before& before) {
        const models::StageGraph& graph = graph_of(key);
        std::vector<int>& handles = passes_[key];
        for (std::size_t i = 0; i < pass.steps.size(); ++i) {
            before(i);
            const Step& step = pass.steps[i];
            if (step.kind == Step::Kind::Run) continue;
            const models::Tensor& tensor = graph.tensors[step.index];
            if (step.kind == Step::Kind::Free) {
                log_.free(handles[step.index]);
                handles[step.index] = MemoryLog::kNone;
                continue;
            }
            if (tensor.slices != models::Across::Summed) {
                int& handle = handles[step.index];
                if (handle == MemoryLog::kNone) handle = allocate(tensor, kernel_after(pass, i));
                continue;
            }
            AtStage of = key;
            const int slice = key.second.slice.value_or(0);
            for (int s = 0; s <= slice; ++s) {
                if (key.second.slice) of.second.slice = static_cast<std::int16_t>(s);
                int& handle = passes_[of][step.index];
                if (handle == MemoryLog::kNone) handle = allocate(tensor, kernel_after(pass, i));
            }
        }
    }

    RankStages& stages_;
    const models::StaticMemory& level_;
    MemoryLog& log_;
    std::map<AtStage, std::vector<int>> passes_;
    std::map<std::tuple<bool, Stage, MicroBatch>, int> received_;
    std::vector<int> sent_;
    std::set<Stage> recomputed_;  ///< keep their input only until Recompute
    std::map<Stage, int> unsharded_;
    std::map<Stage, std::vector<int>> left_;  ///< gradients that wait for their reduction
    std::vector<AtStage> leaving_;            ///< by copies that have begun
    std::map<AtStage, std::vector<std::size_t>> offloaded_;  ///< tensors
    bool born_ = false;
};

/// Up to the rank's fullest moment.
void play_list(const scenarios::Scenario& scenario, RankStages& stages, const Program& program,
               Rank rank, MemoryLog& log) {
    const ActionList& list = program.ranks[rank.index];
    const models::StaticMemory level =
        static_of(scenario, stages, program.placement.stages_of(rank));
    ListPlayer player(stages, list, level, log);
    const std::size_t end = played_part(stages, list, level.gradients_in_backward);
    for (std::size_t i = 0; i < end; ++i) player.perform(list[i]);
    player.finish();
}

}  // namespace

PlayedMemory play_memory(const scenarios::Scenario& scenario,
                         const std::vector<models::StageContent>& contents, const Program& program,
                         Rank rank, std::size_t largest) {
    RankStages stages(scenario, contents, program.placement);
    MemoryLog log(scenario.framework.allocator);
    play_list(scenario, stages, program, rank, log);
    return log.result(largest);
}

std::vector<Bytes> play_reserved(const scenarios::Scenario& scenario,
                                 const std::vector<models::StageContent>& contents,
                                 const Program& program, const std::stop_token& stop) {
    RankStages stages(scenario, contents, program.placement);
    std::vector<Bytes> reserved;
    for (Rank rank{0}; rank.index < program.placement.ranks(); ++rank.index) {
        give_up_if(stop);
        MemoryLog log(scenario.framework.allocator, MemoryLog::Keeps::Usage);
        play_list(scenario, stages, program, rank, log);
        reserved.push_back(log.usage().peak_reserved);
    }
    return reserved;
}

}  // namespace debubble::sim
