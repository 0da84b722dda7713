#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "exec/core/stage/stage_parameters.h"
#include "exec/core/stage/stage_runner.h"
#include "schedule/generators/generators.h"
#include "schedule/lower.h"

/// Stages that do something of their own around the calls that they pass on.
namespace debubble::exec::fake {

inline Program gpipe_of_two() {
    return lower(generate("gpipe", {2, 1, 2, 1}), {});
}

/// Another stage, all of whose calls it passes on.
class Forwarding : public StageRunner {
public:
    explicit Forwarding(std::unique_ptr<StageRunner> inner) : inner_(std::move(inner)) {}
    HostTime communicated() const override { return inner_->communicated(); }
    ArenaTensor edge(Message::Kind kind) override { return inner_->edge(kind); }
    void begin_step(const StepInputs& inputs) override { inner_->begin_step(inputs); }
    void end_step() override { inner_->end_step(); }
    ArenaTensor forward(const MicroBatch& mb, ArenaTensor input) override {
        return inner_->forward(mb, std::move(input));
    }
    ArenaTensor backward(const MicroBatch& mb, ArenaTensor gradient) override {
        return inner_->backward(mb, std::move(gradient));
    }
    ArenaTensor backward_input(const MicroBatch& mb, ArenaTensor gradient) override {
        return inner_->backward_input(mb, std::move(gradient));
    }
    void backward_weight(const MicroBatch& mb) override { inner_->backward_weight(mb); }
    void recompute(const MicroBatch& mb) override { inner_->recompute(mb); }
    void offload(const MicroBatch& mb) override { inner_->offload(mb); }
    void reload(const MicroBatch& mb) override { inner_->reload(mb); }
    double loss_total() const override { return inner_->loss_total(); }
    double correct_total() const override { return inner_->correct_total(); }

private:
    std::unique_ptr<StageRunner> inner_;
};

/// Does what `before` says ahead of every forward, and calls that communication.
class Disturbed final : public Forwarding {
public:
    Disturbed(std::unique_ptr<StageRunner> inner, std::function<void(const MicroBatch&)> before)
        : Forwarding(std::move(inner)), before_(std::move(before)) {}
    HostTime communicated() const override { return communicated_; }
    ArenaTensor forward(const MicroBatch& mb, ArenaTensor input) override {
        const HostTime begin = HostTime::now();
        before_(mb);
        communicated_ += HostTime::now() - begin;
        return Forwarding::forward(mb, std::move(input));
    }

private:
    std::function<void(const MicroBatch&)> before_;
    HostTime communicated_;
};

}  // namespace debubble::exec::fake
