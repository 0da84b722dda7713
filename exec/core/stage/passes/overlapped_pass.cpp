#include "exec/core/stage/passes/pass_run.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace debubble::exec {
namespace {

using models::Part;

/// A pass that stops at the ends of layers and at their all-to-alls.
class PassInParts final : public OverlappedPass {
public:
    PassInParts(StageParts& parts, const PassAsked& asked, std::function<void()> at_end)
        : run_(parts, asked), at_end_(std::move(at_end)) {
        const models::StageGraph& graph = parts.slice_of(asked.micro_batch).graph;
        for (std::size_t i = 0; i < asked.runs.size(); ++i)
            if (const auto layer = graph.operators[asked.runs[i].op].layer) {
                if (layers_.empty() || layers_.back().number != *layer)
                    layers_.push_back({*layer, i, i});
                layers_.back().end = i + 1;
            }
    }
    void run_outside() override {
        const bool first = next_layer_ == 0 && !layers_.empty();
        while (!run_.is_over() && (!first || done_ < layers_.front().begin)) step();
    }
    std::optional<int> begin_layer() override {
        if (next_layer_ == layers_.size()) return std::nullopt;
        return layers_[next_layer_++].number;
    }
    void compute() override {
        while (!layer_is_done() && !at_all_to_all() && !weights_come()) step();
    }
    bool weights() override {
        const std::size_t before = done_;
        while (!layer_is_done() && weights_come()) step();
        return done_ > before;
    }
    bool all_to_all() override {
        if (layer_is_done() || !at_all_to_all()) return false;
        run_.ask();
        done_ = run_.position();
        return true;
    }
    Interval await() override { return run_.await(); }
    bool layer_is_done() const override { return done_ >= layers_[next_layer_ - 1].end; }
    bool all_to_all_is_next() const override { return !layer_is_done() && at_all_to_all(); }
    ArenaTensor finish() override {
        ArenaTensor result = run_.end();
        if (at_end_) at_end_();
        return result;
    }

private:
    struct Layer {
        int number = 0;
        std::size_t begin = 0;  ///< of its runs
        std::size_t end = 0;
    };
    void step() {
        run_.next();
        done_ = run_.position();
    }
    bool weights_come() const { return run_.coming_part() == Part::Weight; }
    bool at_all_to_all() const {
        const auto* moved = run_.coming().as<op::Dispatch>();
        return moved != nullptr && moved->kind == op::Dispatch::Kind::Exchange;
    }

    PassRun run_;
    std::function<void()> at_end_;
    std::vector<Layer> layers_;
    std::size_t next_layer_ = 0;
    std::size_t done_ = 0;  ///< runs
};

}  // namespace

std::unique_ptr<OverlappedPass> overlapped_pass(StageParts& parts, const PassAsked& asked,
                                                std::function<void()> at_end) {
    return std::make_unique<PassInParts>(parts, asked, std::move(at_end));
}

}  // namespace debubble::exec
