#include <gmock/gmock.h>

#include "exec/core/training/trained_stage.h"
#include "exec/cpu/cpu_kernels.h"
#include "scenarios/plan/derived.h"
#include "scenarios/plan/plan.h"
#include "tests/exec/support/training_job.h"

/// The communication that a stage asks of its replicas while a pass computes, and the waits for it.
namespace debubble::exec {
namespace {

using testing::ElementsAre;
using Lines = std::vector<std::string>;

class NotedRequest final : public Request {
public:
    NotedRequest(Lines& lines, std::string_view label) : lines_(lines), label_(label) {}
    Interval wait(Deadline) override {
        lines_.push_back("wait for " + label_);
        return {};
    }

private:
    Lines& lines_;
    std::string label_;
};

/// One of two ranks, whose other one is always there.
class NotingCommunicator final : public Communicator {
public:
    explicit NotingCommunicator(Lines& lines) : lines_(lines) {}
    int rank() const override { return 0; }
    std::span<const int> ranks() const override { return ranks_; }
    Pending send(const Channel&, ConstBuffer, std::string_view label) override {
        return note("send", label);
    }
    Pending receive(const Channel&, Buffer, std::string_view label) override {
        return note("receive", label);
    }
    Pending all_reduce(Buffer, Reduction, std::string_view label) override {
        return note("all-reduce", label);
    }
    Pending all_gather(ConstBuffer, Buffer, std::string_view label) override {
        return note("gather", label);
    }
    Pending reduce_scatter(ConstBuffer, Buffer, Reduction, std::string_view label) override {
        return note("reduce", label);
    }
    Pending all_to_all(std::span<const ConstBuffer>, std::span<const Buffer>,
                       std::string_view label) override {
        return note("exchange", label);
    }
    Pending reduce_scatter_uneven(std::span<const ConstBuffer>, Buffer, Reduction,
                                  std::string_view label) override {
        return note("reduce pieces", label);
    }
    Pending broadcast(Buffer, int, std::string_view label) override {
        return note("broadcast", label);
    }
    Pending barrier(std::string_view label) override { return note("barrier", label); }
    std::unique_ptr<Communicator> group(std::span<const int>) override { return nullptr; }
    void abort(const std::string&) override {}

private:
    Pending note(const std::string& what, std::string_view label) {
        lines_.push_back(what + " " + std::string(label));
        return std::make_unique<NotedRequest>(lines_, label);
    }
    Lines& lines_;
    std::vector<int> ranks_{0, 1};
};

/// A whole network of two layers on one of two replicas.
class Overlap : public testing::Test {
protected:
    TrainedStage& stage(const std::string& parallel, const std::string& schedule = "1f1b") {
        Layout layout{parallel, "gpt2", schedule};
        layout.training = "dropout: 0";
        const scenarios::Scenario scenario = scenario_of(layout);
        const models::StageGraph graph = models::build_stage(
            scenario.model, scenarios::execution_of(scenario), {0, 2, true, true});
        StagePlace place;
        place.replicas = &replicas_;
        stage_ = std::make_unique<TrainedStage>(graph, state_policy(scenario, 2), place, *kernels_,
                                                arena_);
        return *stage_;
    }
    /// Goes through a pass; one that adds to gradients does so in every layer.
    void pass(const PassOrder& order, bool adds, PassReads reads = PassReads::Parameters) {
        stage_->begin_pass(order, reads);
        for (const std::optional<int>& layer : order) {
            stage_->open(layer);
            lines_.push_back(layer ? "compute layer " + std::to_string(*layer) : "compute end");
            if (adds) add_to_gradients(layer, &layer == &order.front());
            stage_->close(layer);
        }
        stage_->end_pass();
    }
    Lines taken() { return std::exchange(lines_, {}); }
    std::size_t units_with_gradients() const {
        return static_cast<std::size_t>(std::ranges::count_if(
            stage_->units(),
            [](const UnitState& unit) { return static_cast<bool>(unit.gradients()); }));
    }

    Lines lines_;
    std::size_t most_with_gradients_ = 0;
    NotingCommunicator replicas_{lines_};
    Arena arena_{Bytes{1 << 28}};
    std::unique_ptr<Kernels> kernels_ = make_fixed_order_kernels();
    std::unique_ptr<TrainedStage> stage_;

private:
    void add_to_gradients(std::optional<int> layer, bool is_head) {
        for (const UnitState& unit : stage_->units()) {
            if (unit.unit().layer != layer) continue;
            if (!layer && !unit.unit().tied && unit.unit().head != is_head) continue;
            for (const UnitSlot& slot : unit.unit().slots) (void)stage_->gradient(slot.parameter);
        }
        most_with_gradients_ = std::max(most_with_gradients_, units_with_gradients());
    }
};

const PassOrder kForward{{}, 0, 1, {}};
const PassOrder kBackward{{}, 1, 0, {}};

TEST_F(Overlap, TheNextLayerIsGatheredWhileOneComputes) {
    stage("{data: 2, zero_stage: 3}");
    pass(kForward, false);
    EXPECT_THAT(taken(), ElementsAre("gather wte.weight", "gather embedding", "gather head",
                                     "gather layer 0", "wait for wte.weight", "wait for embedding",
                                     "wait for head", "compute end", "wait for layer 0",
                                     "gather layer 1", "compute layer 0", "wait for layer 1",
                                     "compute layer 1", "compute end"));
    for (const UnitState& unit : stage_->units()) EXPECT_FALSE(unit.values()) << unit.unit().name;
}

TEST_F(Overlap, ALayerIsReducedWhileTheNextComputes) {
    stage("{data: 2, zero_stage: 3}");
    pass(kBackward, true);
    Lines reductions = taken();
    std::erase_if(reductions, [](const std::string& line) { return line.starts_with("gather"); });
    reductions.erase(reductions.begin(), std::ranges::find(reductions, "compute end"));
    EXPECT_THAT(reductions,
                ElementsAre("compute end", "reduce head", "wait for layer 1", "compute layer 1",
                            "wait for head", "reduce layer 1", "wait for layer 0",
                            "compute layer 0", "wait for layer 1", "reduce layer 0", "compute end",
                            "wait for layer 0", "reduce wte.weight", "reduce embedding",
                            "wait for wte.weight", "wait for embedding"));
    EXPECT_EQ(units_with_gradients(), 0);
    EXPECT_LE(most_with_gradients_, 3) << "two layers and what is tied";
}

/// It reads activations: it needs only the shapes of parameters.
TEST_F(Overlap, ABackwardWeightGathersNothing) {
    stage("{data: 2, zero_stage: 3}", "zb-h1");
    pass(kBackward, true, PassReads::NoParameters);
    const Lines lines = taken();
    EXPECT_THAT(lines, testing::Contains("reduce layer 1"));
    EXPECT_THAT(lines, testing::Each(testing::Not(testing::StartsWith("gather"))));

    const auto shape_there = [&](PassReads reads) {
        stage_->begin_pass(kBackward, reads);
        stage_->open(1);
        const UnitState& unit = *std::ranges::find_if(
            stage_->units(), [](const UnitState& one) { return one.unit().layer == 1; });
        const TensorView value = stage_->value(unit.unit().slots.front().parameter);
        EXPECT_EQ(static_cast<bool>(value), reads == PassReads::Parameters);
        stage_->close(1);
        stage_->end_pass();
        return value.shape;
    };
    EXPECT_EQ(shape_there(PassReads::NoParameters), shape_there(PassReads::Parameters));
}

TEST_F(Overlap, TheLastBackwardBeginsWhatReduceGradWillWaitFor) {
    stage("{data: 2, zero_stage: 0}");
    pass(kBackward, true);
    EXPECT_THAT(taken(),
                ElementsAre("compute end", "compute layer 1", "compute layer 0", "compute end"));
    stage_->reduce_in_next_pass();
    pass(kBackward, true);
    EXPECT_THAT(taken(),
                ElementsAre("compute end", "all-reduce head", "compute layer 1",
                            "all-reduce layer 1", "compute layer 0", "all-reduce layer 0",
                            "compute end", "all-reduce wte.weight", "all-reduce embedding"));
    auto under_way = stage_->reduce({&replicas_}, false, "REDUCE_GRAD");
    EXPECT_EQ(under_way.size(), 5);
    EXPECT_TRUE(taken().empty()) << "everything was begun";
    for (UnitReduction& each : under_way) each.request->wait({});
}

TEST_F(Overlap, WhatNoPassHasBegunIsReducedWhenItIsAskedFor) {
    stage("{data: 2, zero_stage: 1}");
    pass(kBackward, true);
    taken();
    EXPECT_EQ(stage_->reduce({&replicas_}, true, "REDUCE_GRAD").size(), 5);
    EXPECT_THAT(taken(), testing::Each("reduce REDUCE_GRAD"));
}

TEST_F(Overlap, ReductionsMakeRoomUnderZero2) {
    stage("{data: 2, zero_stage: 2}");
    stage_->reduce_in_next_pass();
    pass(kBackward, true);
    EXPECT_LE(most_with_gradients_, 3);
    EXPECT_EQ(units_with_gradients(), 2) << "the last, whose reduction is under way";
    for (UnitReduction& each : stage_->reduce({&replicas_}, true, "REDUCE_GRAD"))
        each.request->wait({});
}

}  // namespace
}  // namespace debubble::exec
