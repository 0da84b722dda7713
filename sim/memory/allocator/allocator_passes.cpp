#include "sim/memory/allocator/allocator_player.h"
#include "sim/memory/pair_memory.h"

/// The passes of an AllocatorPlayer, alone and beside each other.
namespace debubble::sim {
namespace {

using models::Step;

std::string_view kernel_after(const models::PassSteps& pass, std::size_t step) {
    for (std::size_t i = step; i < pass.steps.size(); ++i)
        if (pass.steps[i].kind == Step::Kind::Run) return pass.kernels[pass.steps[i].index].name;
    return {};
}

}  // namespace

template <class Before>
void AllocatorPlayer::run_steps(const AtStage& key, const models::PassSteps& pass,
                                std::size_t begin, std::size_t end, const Before& before) {
    const models::StageGraph& graph = graph_of(key);
    std::vector<int>& handles = passes_[key];
    const auto allocate_if_new = [&](const AtStage& of, int& handle, std::size_t i) {
        if (handle != MemoryLog::kNone) return;
        const int index = pass.steps[i].index;
        const models::Tensor& tensor = graph.tensors[index];
        const std::string_view op = log_.records() ? kernel_after(pass, i) : std::string_view();
        handle = log_.allocate(bytes_of(of, graph, index), tensor.held_as, tensor.name, op);
    };
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
            allocate_if_new(key, handles[step.index], i);
            continue;
        }
        AtStage of = key;
        const int slice = key.second.slice.value_or(0);
        for (int s = 0; s <= slice; ++s) {
            if (key.second.slice) of.second.slice = static_cast<std::int16_t>(s);
            allocate_if_new(of, passes_[of][step.index], i);
        }
    }
}

/// One of two passes that take turns, part by part of their layers.
class AllocatorPlayer::Turn {
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
    const std::vector<models::TurnSteps>& parts() const { return turns_.layers[layer_ - 1].parts; }
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
void AllocatorPlayer::pair(const Compute& first, const Compute& second) {
    Turn forward(*this, first);
    Turn backward(*this, second);
    forward.beside(backward);
    backward.beside(forward);
    models::take_turns(forward, backward);
    hold({});
}

/// Two passes that are at their greatest levels at once: what one of them has gathered is gone when
/// the other gathers.
void AllocatorPlayer::at_once(const Compute& first, const Compute& second) {
    struct Side {
        AtStage key;
        const models::PassSteps& steps;
        HeldAtSteps held;
        std::size_t fullest = 0;  ///< end of the steps up to its greatest level
        MemoryByClass level{};
    };
    const auto side_of = [&](const Compute& c) {
        const AtStage key = key_of(c);
        const models::StageGraph& graph = graph_of(key);
        std::vector<int>& handles = passes_[key];
        handles.resize(graph.tensors.size(), MemoryLog::kNone);
        const models::PassSteps& steps = stages_.steps(c);
        Side side{key, steps, HeldAtSteps(steps, stages_.held_during(c))};
        Bytes level, most;
        for (std::size_t i = 0; i < steps.steps.size(); ++i) {
            const Step& step = steps.steps[i];
            if (step.kind == Step::Kind::Free)
                level += Bytes{-bytes_of(key, graph, step.index).count};
            else if (step.kind == Step::Kind::Allocate && handles[step.index] == MemoryLog::kNone)
                level += bytes_of(key, graph, step.index);
            if (step.kind == Step::Kind::Free) continue;
            if (level + total(side.held.at(i)) <= most) continue;
            most = level + total(side.held.at(i));
            side.fullest = i + 1;
            side.level = side.held.at(i);
        }
        return side;
    };
    Side one = side_of(first), other = side_of(second);
    const auto nothing = [](std::size_t) {};
    run_steps(one.key, one.steps, 0, one.fullest, nothing);
    run_steps(other.key, other.steps, 0, other.fullest, nothing);
    hold(total(one.level) < total(other.level) ? other.level : one.level);
    run_steps(one.key, one.steps, one.fullest, one.steps.steps.size(), nothing);
    run_steps(other.key, other.steps, other.fullest, other.steps.steps.size(), nothing);
    hold({});
}

/// A pass, with the memory that is gathered and reduced during it.
void AllocatorPlayer::pass(const Compute& c) {
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
    if (c.pass == Pass::Forward && now) stays[MemoryClass::Parameters] = held.parameters_left();
    hold(stays);
}

}  // namespace debubble::sim
