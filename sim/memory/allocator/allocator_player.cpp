#include "sim/memory/allocator/allocator_player.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/overloaded.h"
#include "sim/memory/alike_ranks.h"

namespace debubble::sim {
namespace {

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

}  // namespace

AllocatorPlayer::AllocatorPlayer(const RankStages& stages, const ActionList& list, Rank rank,
                                 MemoryLog& log, const BytesOfTensors& bytes)
    : stages_(stages), list_(list), rank_(rank), log_(log), bytes_(bytes) {
    for (const Action& action : list)
        if (const auto* again = std::get_if<Recompute>(&action)) recomputed_.insert(again->stage);
    const MemoryByClass level = stages.static_memory(rank);
    for (std::size_t c = 0; c < kMemoryClasses; ++c)
        if (level[c].count > 0)
            log_.allocate(level[c], static_cast<MemoryClass>(c), "static", "static");
}

AllocatorPlayer::AllocatorPlayer(const AllocatorPlayer& other, const Placement& placement,
                                 const ActionList& list, Rank rank, MemoryLog& log)
    : stages_(other.stages_),
      list_(list),
      rank_(rank),
      log_(log),
      bytes_(other.bytes_),
      held_(other.held_),
      handles_(other.handles_),
      gradients_(other.gradients_),
      beside_(other.beside_) {
    const auto mine = [&](Stage stage) { return counterpart(placement, stage, other.rank_, rank); };
    for (const auto& [key, handles] : other.passes_)
        passes_.emplace(AtStage{mine(key.first), key.second}, handles);
    for (const auto& [key, tensors] : other.offloaded_)
        offloaded_.emplace(AtStage{mine(key.first), key.second}, tensors);
    if (beside_) beside_->pass.stage = mine(beside_->pass.stage);
}

void AllocatorPlayer::play(const std::vector<MemoryEvent>& events, std::size_t actions) {
    handles_.assign(events.size(), MemoryLog::kNone);
    for (std::size_t i = 0; i < events.size() && events[i].action < actions; ++i) apply(events, i);
    finish();
}

void AllocatorPlayer::play_in_time(const std::vector<MemoryEvent>& events,
                                   std::span<const std::uint32_t> order, std::size_t played) {
    step_with(events, order.subspan(play_events(events, order, 0, played)));
}

std::size_t AllocatorPlayer::play_events(const std::vector<MemoryEvent>& events,
                                         std::span<const std::uint32_t> order, std::size_t from,
                                         std::size_t to) {
    in_time_ = true;
    handles_.resize(events.size(), MemoryLog::kNone);
    for (std::size_t i = from; i < to; ++i) {
        if (std::holds_alternative<OptimizerRuns>(events[order[i]].what)) return i;
        apply(events, order[i]);
    }
    return std::max(from, to);
}

void AllocatorPlayer::apply(const std::vector<MemoryEvent>& events, std::size_t index) {
    action_ = &list_[events[index].action];
    log_.now_in(action_);
    std::visit(Overloaded{
                   [&](const Allocation& a) { handles_[index] = allocate(a); },
                   [&](const Release& r) { release(handles_[r.allocation]); },
                   [&](const PassRuns& runs) { run(runs); },
                   [&](const SavedLeaves& s) { offload(key_of(s.forward)); },
                   [&](const SavedReturns& s) { reload(key_of(s.forward)); },
                   [](const OptimizerRuns&) {},
               },
               events[index].what);
}

void AllocatorPlayer::step_with(const std::vector<MemoryEvent>& events,
                                std::span<const std::uint32_t> rest) {
    log_.now_in(nullptr);
    std::vector<std::uint32_t> gone;        // allocations that are freed before the step
    std::vector<bool> made(events.size());  // those that are made and still there
    for (const std::uint32_t index : rest) {
        const auto& what = events[index].what;
        if (std::holds_alternative<OptimizerRuns>(what)) break;
        if (std::holds_alternative<Allocation>(what)) made[index] = true;
        if (const auto* r = std::get_if<Release>(&what)) {
            gone.push_back(r->allocation);
            made[r->allocation] = false;
        }
    }
    const Bytes transient = stages_.optimizer_transient(rank_);
    const bool asks = transient.count > 0 || std::ranges::find(made, true) != made.end();
    if (!asks && !log_.records()) return;  // to free alone takes no memory from the device
    hold({});
    for (auto& [key, handles] : passes_)
        for (int& handle : handles) release(handle);
    for (const std::uint32_t allocation : gone) release(handles_[allocation]);
    for (std::uint32_t index = 0; index < made.size(); ++index)
        if (made[index]) handles_[index] = allocate(std::get<Allocation>(events[index].what));
    if (transient.count > 0)
        log_.allocate(transient, MemoryClass::Workspace, "temporaries", "optimizer step");
}

/// Frees everything still in flight, then plays the optimizer.
void AllocatorPlayer::finish() {
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

void AllocatorPlayer::run(const PassRuns& runs) {
    const bool overlaps = std::holds_alternative<Overlap>(*action_);
    const bool pairs =
        overlaps && stages_.pairs_layers() && (beside_ || runs.pass.pass == Pass::Forward);
    if (!pairs && !(overlaps && in_time_)) {
        pass(runs.pass);
        return after(runs.pass, runs.again);
    }
    if (!beside_) {  // it waits for the other pass
        beside_ = runs;
        return;
    }
    const PassRuns first = *std::exchange(beside_, std::nullopt);
    if (pairs)
        pair(first.pass, runs.pass);
    else
        at_once(first.pass, runs.pass);
    after(first.pass, first.again);
    after(runs.pass, runs.again);
}

void AllocatorPlayer::after(const Compute& c, bool again) {
    if (!again && c.pass == Pass::Forward && recomputed_.contains(c.stage))
        keep_input_only(key_of(c));
    if (c.pass == Pass::Backward || c.pass == Pass::BackwardWeight) passes_.erase(key_of(c));
}

int AllocatorPlayer::allocate(const Allocation& a) {
    const auto [name, op] = named(a.held);
    const int handle = log_.allocate(a.bytes, a.held_as, name, op);
    if (a.held == Held::Gradients) gradients_ = handle;
    return handle;
}

int AllocatorPlayer::allocate(const AtStage& of, std::size_t index, std::string_view op) {
    const models::StageGraph& graph = graph_of(of);
    const models::Tensor& tensor = graph.tensors[index];
    return log_.allocate(bytes_of(of, graph, index), tensor.held_as, tensor.name, op);
}

void AllocatorPlayer::offload(const AtStage& key) {
    std::vector<int>& handles = passes_[key];
    for (std::size_t tensor = 0; tensor < handles.size(); ++tensor) {
        if (handles[tensor] == MemoryLog::kNone || seen_later(key, tensor)) continue;
        release(handles[tensor]);
        offloaded_[key].push_back(tensor);
    }
}

void AllocatorPlayer::reload(const AtStage& key) {
    std::vector<int>& handles = passes_[key];
    for (const std::size_t tensor : offloaded_[key])
        handles[tensor] = allocate(key, tensor, "reload");
    offloaded_.erase(key);
}

/// Keeps the input, and the tensors that later slices read.
void AllocatorPlayer::keep_input_only(const AtStage& of) {
    const models::StageGraph& graph = graph_of(of);
    std::vector<int>& handles = passes_[of];
    for (std::size_t tensor = 0; tensor < handles.size(); ++tensor) {
        const bool is_input = graph.input && static_cast<int>(tensor) == *graph.input;
        if (!is_input && !seen_later(of, tensor)) release(handles[tensor]);
    }
}

/// Changes what is gathered and not reduced: what came last goes first.
void AllocatorPlayer::hold(const MemoryByClass& level) {
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

}  // namespace debubble::sim
