#include "sim/memory/memory_play.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/cancelled.h"
#include "base/overloaded.h"
#include "models/pass_turns.h"
#include "sim/memory/memory_events.h"
#include "sim/memory/memory_log.h"
#include "sim/memory/pair_memory.h"
#include "sim/memory/rank_stages.h"

namespace debubble::sim {
namespace {

using models::Step;

constexpr int kComputesBeyondPeak = 6;

std::string_view kernel_after(const models::PassSteps& pass, std::size_t step) {
    for (std::size_t i = step; i < pass.steps.size(); ++i)
        if (pass.steps[i].kind == Step::Kind::Run) return pass.kernels[pass.steps[i].index].name;
    return {};
}

/// True if levels follow from the computes alone.
bool moves_what_passes_hold(const Action& action) {
    return std::holds_alternative<Offload>(action) || std::holds_alternative<Reload>(action) ||
           std::holds_alternative<Recompute>(action) || std::holds_alternative<Reshard>(action);
}

/// The length of the list up to the point where the rank is fullest by summed levels of its passes,
/// and a little more.
std::size_t played_part(const RankStages& stages, const ActionList& list,
                        const std::vector<MemoryEvent>& events) {
    if (std::ranges::any_of(list, moves_what_passes_hold)) return list.size();
    Bytes level;
    Bytes fullest;
    std::size_t end = 0;
    int beyond = 0;
    std::optional<std::uint32_t> last;
    const auto change = [&](const Allocation& of, std::int64_t sign) {
        if (of.held == Held::Unreduced || of.held == Held::Gradients)
            level += Bytes{sign * of.bytes.count};
    };
    for (const MemoryEvent& event : events) {
        if (const auto* allocation = std::get_if<Allocation>(&event.what)) {
            change(*allocation, 1);
        } else if (const auto* release = std::get_if<Release>(&event.what)) {
            change(std::get<Allocation>(events[release->allocation].what), -1);
        } else if (const auto* runs = std::get_if<PassRuns>(&event.what)) {
            const PassMemory& pass = stages.memory_of(runs->pass);
            if (last != event.action && ++beyond <= kComputesBeyondPeak) end = event.action + 1;
            last = event.action;
            if (level + pass.peak_above > fullest) {
                fullest = level + pass.peak_above;
                beyond = 0;
                end = event.action + 1;
            }
            level += pass.held_after;
        }
    }
    return end;
}

struct Named {
    std::string_view name;
    std::string_view op;
};
Named named(Held held) {
    switch (held) {
        case Held::Received: return {"received", "message"};
        case Held::Sent: return {"sent", "message"};
        case Held::Gathered:
        case Held::Unreduced: return {"gathered", "unshard"};
        case Held::Gradients: return {"gradients", "backward"};
    }
    return {};
}

using AtStage = std::pair<Stage, MicroBatch>;

/// Requests from a MemoryLog the memory of a rank's events and of the steps of its passes.
class AllocatorPlayer {
public:
    AllocatorPlayer(const RankStages& stages, const ActionList& list, Rank rank, MemoryLog& log,
                    const RowsThatCame& rows)
        : stages_(stages), list_(list), rank_(rank), log_(log), rows_(rows) {
        for (const Action& action : list)
            if (const auto* again = std::get_if<Recompute>(&action))
                recomputed_.insert(again->stage);
        const MemoryByClass level = stages.static_memory(rank);
        for (std::size_t c = 0; c < kMemoryClasses; ++c)
            if (level[c].count > 0)
                log_.allocate(level[c], static_cast<MemoryClass>(c), "static", "static");
    }

    /// Plays the events of the first `actions`, and then the optimizer.
    void play(const std::vector<MemoryEvent>& events, std::size_t actions) {
        handles_.assign(events.size(), MemoryLog::kNone);
        for (std::size_t i = 0; i < events.size() && events[i].action < actions; ++i) {
            action_ = &list_[events[i].action];
            log_.now_in(action_);
            std::visit(Overloaded{
                           [&](const Allocation& a) { handles_[i] = allocate(a); },
                           [&](const Release& r) { release(handles_[r.allocation]); },
                           [&](const PassRuns& runs) { run(runs); },
                           [&](const SavedLeaves& s) { offload(key_of(s.forward)); },
                           [&](const SavedReturns& s) { reload(key_of(s.forward)); },
                           [](const OptimizerRuns&) {},
                       },
                       events[i].what);
        }
        finish();
    }

private:
    /// Frees everything still in flight, then plays the optimizer.
    void finish() {
        log_.now_in(nullptr);
        hold({});
        for (auto& [key, handles] : passes_)
            for (int& handle : handles) release(handle);
        for (int& handle : handles_)
            if (handle != gradients_) release(handle);
        const Bytes gradients = stages_.gradients_in_backward(rank_);
        if (gradients_ == MemoryLog::kNone && gradients.count > 0)
            allocate({{}, Held::Gradients, MemoryClass::Gradients, gradients});
        const Bytes transient = stages_.optimizer_transient(rank_);
        if (transient.count > 0)
            log_.allocate(transient, MemoryClass::Workspace, "temporaries", "optimizer step");
    }

    void run(const PassRuns& runs) {
        const Compute& c = runs.pass;
        const bool pairs = stages_.pairs_layers() && std::holds_alternative<Overlap>(*action_);
        if (pairs && c.pass == Pass::Forward) {  // it waits for its backward
            beside_ = c;
            return;
        }
        if (beside_) {
            const Compute forward = *std::exchange(beside_, std::nullopt);
            pair(forward, c);
            after(forward, runs.again);
        } else {
            pass(c);
        }
        after(c, runs.again);
    }
    void after(const Compute& c, bool again) {
        if (!again && c.pass == Pass::Forward && recomputed_.contains(c.stage))
            keep_input_only(key_of(c));
        if (c.pass == Pass::Backward || c.pass == Pass::BackwardWeight) passes_.erase(key_of(c));
    }

    int allocate(const Allocation& a) {
        const auto [name, op] = named(a.held);
        const int handle = log_.allocate(a.bytes, a.held_as, name, op);
        if (a.held == Held::Gradients) gradients_ = handle;
        return handle;
    }
    int allocate(const AtStage& of, std::size_t index, std::string_view op) {
        const models::Tensor& tensor = graph_of(of).tensors[index];
        return log_.allocate(bytes_of(of, index), tensor.held_as, tensor.name, op);
    }
    Bytes bytes_of(const AtStage& of, std::size_t index) {
        const models::Tensor& tensor = graph_of(of).tensors[index];
        if (!rows_ || !tensor.routed) return tensor.bytes;
        const int layer = layers_of_routed(graph_of(of)).at(static_cast<int>(index));
        return Bytes{rows_(of.first, of.second, layer, tensor.routed->which) *
                     tensor.routed->row_bytes};
    }
    /// The layer of each tensor of routed rows, which is used in no other.
    const std::map<int, int>& layers_of_routed(const models::StageGraph& graph) {
        std::map<int, int>& layers = layers_of_routed_[&graph];
        if (!layers.empty()) return layers;
        for (const models::Operator& op : graph.operators)
            for (const auto* uses :
                 {&op.forward_uses, &op.backward_input_uses, &op.backward_weight_uses})
                for (const int tensor : *uses)
                    if (op.layer && graph.tensors[static_cast<std::size_t>(tensor)].routed)
                        layers[tensor] = *op.layer;
        return layers;
    }
    void release(int& handle) { log_.free(std::exchange(handle, MemoryLog::kNone)); }

    void offload(const AtStage& key) {
        std::vector<int>& handles = passes_[key];
        for (std::size_t tensor = 0; tensor < handles.size(); ++tensor) {
            if (handles[tensor] == MemoryLog::kNone || seen_later(key, tensor)) continue;
            release(handles[tensor]);
            offloaded_[key].push_back(tensor);
        }
    }
    void reload(const AtStage& key) {
        std::vector<int>& handles = passes_[key];
        for (const std::size_t tensor : offloaded_[key])
            handles[tensor] = allocate(key, tensor, "reload");
        offloaded_.erase(key);
    }

    static AtStage key_of(const Compute& c) { return {c.stage, c.micro_batch}; }
    const models::StageGraph& graph_of(const AtStage& of) const {
        return stages_.graph(of.first, of.second.slice.value_or(0));
    }
    bool seen_later(const AtStage& of, std::size_t tensor) const {
        return graph_of(of).tensors[tensor].slices == models::Across::Seen;
    }
    /// Keeps the input, and the tensors that later slices read.
    void keep_input_only(const AtStage& of) {
        const models::StageGraph& graph = graph_of(of);
        std::vector<int>& handles = passes_[of];
        for (std::size_t tensor = 0; tensor < handles.size(); ++tensor) {
            const bool is_input = graph.input && static_cast<int>(tensor) == *graph.input;
            if (!is_input && !seen_later(of, tensor)) release(handles[tensor]);
        }
    }
    /// One of two passes that take turns, part by part of their layers.
    class Turn {
    public:
        Turn(AllocatorPlayer& player, const Compute& c)
            : player_(player),
              key_(player.key_of(c)),
              steps_(player.stages_.steps(c)),
              at_(steps_, player.stages_.held_during(c)),
              turns_(models::turns_of(steps_)) {
            player_.passes_[key_].resize(player_.graph_of(key_).tensors.size(), MemoryLog::kNone);
        }
        void beside(const Turn& other) { other_ = &other; }

        void run_outside() {
            const bool first = next_ == 0 && layer_ == 0 && !began_;
            began_ = true;
            run_to(first ? turns_.before : turns_.end);
        }
        bool begin_layer() {
            in_layer_ = layer_ < turns_.layers.size();
            if (in_layer_) ++layer_;
            part_ = 0;
            return in_layer_;
        }
        void compute() { run_if(models::TurnPart::Computes); }
        void exchange() { run_if(models::TurnPart::Asks); }
        void weights() { run_if(models::TurnPart::Weights); }
        void finish_layer() {
            while (in_layer_ && part_ < parts().size()) run_to(parts()[part_++].end);
        }

    private:
        const std::vector<models::TurnSteps>& parts() const {
            return turns_.layers[layer_ - 1].parts;
        }
        void run_if(models::TurnPart part) {
            if (in_layer_ && part_ < parts().size() && parts()[part_].part == part)
                run_to(parts()[part_++].end);
        }
        void run_to(std::size_t end) {
            player_.run_steps(key_, steps_, next_, end, [&](std::size_t step) {
                if (steps_.steps[step].kind == Step::Kind::Free) return;
                level_ = at_.at(step);
                MemoryByClass both = level_;
                for (std::size_t k = 0; k < kMemoryClasses; ++k) both[k] += other_->level_[k];
                player_.hold(both);
            });
            next_ = end;
        }

        AllocatorPlayer& player_;
        AtStage key_;
        const models::PassSteps& steps_;
        HeldAtSteps at_;
        models::PassTurns turns_;
        const Turn* other_ = nullptr;
        MemoryByClass level_{};
        std::size_t next_ = 0;  ///< step
        std::size_t layer_ = 0;
        std::size_t part_ = 0;
        bool began_ = false;
        bool in_layer_ = false;
    };
    /// A forward and a backward whose layers run side by side, in the order of pair_memory().
    void pair(const Compute& first, const Compute& second) {
        Turn forward(*this, first);
        Turn backward(*this, second);
        forward.beside(backward);
        backward.beside(forward);
        models::take_turns(forward, backward);
        hold({});
    }
    /// A pass, with the memory that is gathered and reduced during it.
    void pass(const Compute& c) {
        const AtStage key = key_of(c);
        passes_[key].resize(graph_of(key).tensors.size(), MemoryLog::kNone);
        const models::PassSteps& steps = stages_.steps(c);
        const HeldByPlace held = stages_.held_during(c);
        const std::size_t end = steps.steps.size();
        if (held == HeldByPlace{}) return run_steps(key, steps, 0, end, [](std::size_t) {});
        const HeldAtSteps at(steps, held);
        std::optional<std::size_t> now;
        run_steps(key, steps, 0, end, [&](std::size_t step) {
            if (steps.steps[step].kind == Step::Kind::Free || at.level_at(step) == now) return;
            now = at.level_at(step);
            hold(at.at(step));
        });
        // The embeddings and the head, of which no other unit is the owner, stay for the backward.
        MemoryByClass stays{};
        if (c.pass == Pass::Forward && now) {
            const auto parameters = static_cast<std::size_t>(MemoryClass::Parameters);
            stays[parameters] = held[static_cast<std::size_t>(PassPlace::After)][parameters];
        }
        hold(stays);
    }
    /// Changes what is gathered and not reduced: what came last goes first.
    void hold(const MemoryByClass& level) {
        for (std::size_t k = 0; k < kMemoryClasses; ++k) {
            std::vector<HeldPart>& parts = held_[k];
            Bytes sum;
            for (const HeldPart& part : parts) sum += part.bytes;
            while (sum > level[k]) {
                sum -= parts.back().bytes;
                log_.free(parts.back().handle);
                parts.pop_back();
            }
            if (sum == level[k]) continue;
            const Bytes more = level[k] - sum;
            const Allocation made{{}, Held::Gathered, static_cast<MemoryClass>(k), more};
            parts.push_back({allocate(made), more});
        }
    }
    /// Runs the steps [begin, end) and calls `before` ahead of each.
    template <class Before>
    void run_steps(const AtStage& key, const models::PassSteps& pass, std::size_t begin,
                   std::size_t end, const Before& before) {
        const models::StageGraph& graph = graph_of(key);
        std::vector<int>& handles = passes_[key];
        for (std::size_t i = begin; i < end; ++i) {
            before(i);
            const Step& step = pass.steps[i];
            if (step.kind == Step::Kind::Run) continue;
            const models::Tensor& tensor = graph.tensors[step.index];
            if (step.kind == Step::Kind::Free) {
                release(handles[step.index]);
                continue;
            }
            if (tensor.slices != models::Across::Summed) {
                int& handle = handles[step.index];
                if (handle == MemoryLog::kNone)
                    handle =
                        allocate(key, static_cast<std::size_t>(step.index), kernel_after(pass, i));
                continue;
            }
            AtStage of = key;
            const int slice = key.second.slice.value_or(0);
            for (int s = 0; s <= slice; ++s) {
                if (key.second.slice) of.second.slice = static_cast<std::int16_t>(s);
                int& handle = passes_[of][step.index];
                if (handle == MemoryLog::kNone)
                    handle =
                        allocate(of, static_cast<std::size_t>(step.index), kernel_after(pass, i));
            }
        }
    }

    /// One of the allocations that hold what is gathered and not reduced.
    struct HeldPart {
        int handle = MemoryLog::kNone;
        Bytes bytes;
    };

    const RankStages& stages_;
    const ActionList& list_;
    Rank rank_;
    MemoryLog& log_;
    const RowsThatCame& rows_;
    std::map<const models::StageGraph*, std::map<int, int>> layers_of_routed_;
    std::array<std::vector<HeldPart>, kMemoryClasses> held_;
    std::set<Stage> recomputed_;                  ///< stages that keep only their input until
                                                  ///< Recompute
    std::vector<int> handles_;                    ///< by event: handle of the Allocation's memory
    std::map<AtStage, std::vector<int>> passes_;  ///< handles by tensor
    std::map<AtStage, std::vector<std::size_t>> offloaded_;  ///< tensors on the host
    int gradients_ = MemoryLog::kNone;
    const Action* action_ = nullptr;
    std::optional<Compute> beside_;  ///< the forward of a pair, until its backward runs
};

/// Plays the list up to the rank's fullest moment. Leaves its events in `events`.
void play_list(const RankStages& stages, const Program& program, Rank rank, MemoryLog& log,
               std::vector<MemoryEvent>& events, const RowsThatCame& rows = {}) {
    const ActionList& list = program.ranks[rank.index];
    events = memory_events(program, stages.index(), rank, stages, std::move(events));
    const std::size_t played = rows ? list.size() : played_part(stages, list, events);
    AllocatorPlayer(stages, list, rank, log, rows).play(events, played);
}

}  // namespace

PlayedMemory play_memory(const scenarios::Scenario& scenario,
                         const std::vector<models::StageContent>& contents, const Program& program,
                         Rank rank, std::size_t largest, const RowsThatCame& rows) {
    const RankStages stages(scenario, contents, program, RankStages::Names::OfEachStage);
    MemoryLog log(scenario.framework.allocator);
    std::vector<MemoryEvent> events;
    play_list(stages, program, rank, log, events, rows);
    PlayedMemory played = log.result(largest);
    played.peak_reserved += stages.on_collective_streams(rank);
    return played;
}

std::vector<Bytes> play_reserved(const scenarios::Scenario& scenario,
                                 const std::vector<models::StageContent>& contents,
                                 const Program& program, const std::stop_token& stop) {
    const RankStages stages(scenario, contents, program, RankStages::Names::OfOneAlike);
    std::vector<Bytes> reserved;
    std::vector<MemoryEvent> events;
    for (Rank rank{0}; rank.index < program.placement.ranks(); ++rank.index) {
        give_up_if(stop);
        MemoryLog log(scenario.framework.allocator, MemoryLog::Keeps::Usage);
        play_list(stages, program, rank, log, events);
        reserved.push_back(log.usage().peak_reserved + stages.on_collective_streams(rank));
    }
    return reserved;
}

}  // namespace debubble::sim
