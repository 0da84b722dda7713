#include <chrono>
#include <thread>

#include "exec/core/stage/passes/model_stage.h"
#include "exec/cpu/cpu_kernels.h"
#include "tests/exec/support/golden_networks.h"
#include "tests/exec/support/goldens.h"
#include "tests/exec/support/stage_parameters.h"
#include "tests/exec/support/tensors.h"
#include "tests/exec/support/transformer.h"
#include "tests/exec/support/whole_loss.h"

/// Stages of real networks, run pass by pass, against PyTorch and against the network that
/// knows nothing of stages.
namespace debubble::exec {
namespace {

enum class Passes { Fused, Split, SplitLate };

struct StageLayout {
    std::vector<int> layers = {2};  ///< layers of each stage
    Passes passes = Passes::Fused;
    int slices = 1;
    models::Recompute recompute = models::Recompute::None;
    models::LossKernel loss = models::LossKernel::TransformerEngine;
};

class StageOf : public testing::TestWithParam<std::string> {
protected:
    StageOf() {
        counted_ = counted_targets(golden_["targets"]);
        for (const auto& [name, tensor] : golden_.all())
            if (golden_.has("d_" + name)) weights_.emplace(name, tensor.clone());
    }

    models::Execution execution(const StageLayout& layout) const {
        models::Execution how;
        how.micro_batch = golden_["inputs"].shape()[0];
        how.seq_length = GetParam() == "vit" ? 17 : golden_["inputs"].shape()[1];
        how.slices = layout.slices;
        how.compute = models::DataType::Fp32;
        how.recompute = layout.recompute;
        how.kernels.loss = layout.loss;
        how.split_backward = layout.passes != Passes::Fused;
        how.kernels.vocabulary_multiple = 1;
        return how;
    }

    /// The seconds reported of operators and, apart from them, of work for parameters.
    struct Told {
        std::chrono::nanoseconds operators{};
        std::chrono::nanoseconds sharding{};
        int calls = 0;
    };

    /// A step of the whole network, whose parameters take a while at each layer's ends.
    Told run_with_slow(StageParameters& parameters, const models::StageGraph& graph) {
        Told told;
        const std::unique_ptr<Kernels> kernels = make_fixed_order_kernels();
        Arena arena(Bytes{64 << 20});
        StageTools tools{*kernels, arena, parameters};
        tools.on_operator = [&](const models::StageGraph&, const models::Operator&, models::Part,
                                std::chrono::nanoseconds took) {
            told.operators += took;
            ++told.calls;
        };
        tools.on_sharding = [&](std::chrono::nanoseconds took) { told.sharding += took; };
        std::vector<std::unique_ptr<StageRunner>> stages;
        stages.push_back(make_model_stage({graph}, tools));
        StepInputs inputs;
        inputs.gradient_scale = 1;
        inputs.micro_batches = {{golden_["inputs"].view(), golden_["targets"].view(), 0}};
        stages[0]->begin_step(inputs);
        step(stages, {});
        stages[0]->end_step();
        return told;
    }

    void run(const StageLayout& layout) {
        const std::unique_ptr<Kernels> kernels = make_fixed_order_kernels();
        Arena arena(Bytes{64 << 20});
        std::vector<std::unique_ptr<FlatParameters>> parameters;
        std::vector<std::unique_ptr<StageRunner>> stages;
        int first = 0;
        for (std::size_t s = 0; s < layout.layers.size(); ++s) {
            const models::StageContent content{first, layout.layers[s], s == 0,
                                               s + 1 == layout.layers.size()};
            first += layout.layers[s];
            std::vector<models::StageGraph> graphs;
            for (int slice = 0; slice < layout.slices; ++slice) {
                models::Execution how = execution(layout);
                how.slice = slice;
                graphs.push_back(build_stage(golden_network(GetParam()), how, content));
            }
            parameters.push_back(std::make_unique<FlatParameters>(graphs[0], weights_));
            const StageTools tools{*kernels, arena, *parameters.back()};
            stages.push_back(make_model_stage(std::move(graphs), tools));
        }
        const MemoryByClass before = arena.held();
        StepInputs inputs;
        inputs.gradient_scale = 1.0 / static_cast<double>(counted_);
        inputs.micro_batches = {{golden_["inputs"].view(), golden_["targets"].view(), 0}};
        for (const auto& stage : stages) stage->begin_step(inputs);
        step(stages, layout);
        loss_ = stages.back()->loss_total() / static_cast<double>(counted_);
        EXPECT_EQ(arena.held(), before) << "a step leaves memory as it was";
        gradients_.clear();
        for (const auto& held : parameters) held->add_gradients(gradients_);
        for (const auto& stage : stages) stage->end_step();
    }

    static MicroBatch slice_of(const StageLayout& layout, int slice) {
        if (layout.slices == 1) return {0, {}};
        return {0, static_cast<std::int16_t>(slice)};
    }

    static void step(const std::vector<std::unique_ptr<StageRunner>>& stages,
                     const StageLayout& layout) {
        for (int slice = 0; slice < layout.slices; ++slice) {
            ArenaTensor edge;
            for (const auto& stage : stages)
                edge = stage->forward(slice_of(layout, slice), std::move(edge));
        }
        for (int slice = layout.slices; slice-- > 0;) {
            const MicroBatch mb = slice_of(layout, slice);
            ArenaTensor edge;
            for (std::size_t s = stages.size(); s-- > 0;) {
                edge = layout.passes == Passes::Fused
                           ? stages[s]->backward(mb, std::move(edge))
                           : stages[s]->backward_input(mb, std::move(edge));
                if (layout.passes == Passes::Split) stages[s]->backward_weight(mb);
            }
            if (layout.passes != Passes::SplitLate) continue;
            for (const auto& stage : stages) stage->backward_weight(mb);
        }
    }

    /// Against the network that knows nothing of stages. Where it multiplies three times and
    /// a stage once (query, key, value), sums differ in their order.
    void expect_the_networks_gradients(double tolerance) const {
        std::map<std::string, Tensor> weights;
        for (const auto& [name, tensor] : weights_) weights.emplace(name, tensor.clone());
        Transformer network(golden_network(GetParam()), std::move(weights));
        const double scale = 1.0 / static_cast<double>(counted_);
        const double loss = network.forward(golden_["inputs"], golden_["targets"], scale) * scale;
        network.backward(Transformer::Order::Fused);
        EXPECT_NEAR(loss_, loss, 1e-6 * loss);
        ASSERT_EQ(gradients_.size(), network.gradients.size());
        for (const auto& [name, gradient] : network.gradients) {
            if (largest_magnitude<float>(gradient.as<float>()) < 1e-6) continue;  // a key's bias
            EXPECT_LT(relative_difference(gradients_.at(name), gradient), tolerance) << name;
        }
    }

    /// Bit for bit, but for `summed_otherwise`.
    void expect_gradients(const std::map<std::string, Tensor>& expected,
                          const std::string& summed_otherwise) const {
        ASSERT_EQ(gradients_.size(), expected.size());
        for (const auto& [name, gradient] : expected) {
            const Tensor& mine = gradients_.at(name);
            if (name == summed_otherwise) {
                EXPECT_LT(relative_difference(mine, gradient), 1e-6) << name;
                continue;
            }
            const auto bytes = static_cast<std::size_t>(gradient.bytes());
            EXPECT_EQ(std::memcmp(mine.view().data, gradient.view().data, bytes), 0)
                << name << " differs by " << relative_difference(mine, gradient);
        }
    }

    Goldens golden_{GetParam()};
    std::int64_t counted_ = 0;
    std::map<std::string, Tensor> weights_;
    std::map<std::string, Tensor> gradients_;
    double loss_ = 0;
};

TEST_P(StageOf, AWholeNetworkHasPyTorchsLossAndGradients) {
    run({});
    EXPECT_NEAR(loss_, golden_["losses"].as<float>()[0], 1e-5 * loss_);
    for (const auto& [name, gradient] : gradients_) {
        const auto key = name.find("key.bias");
        const double scale =
            key == std::string::npos
                ? 1e-30
                : largest_magnitude<float>(
                      golden_["d_" + name.substr(0, key) + "query.bias"].as<float>());
        EXPECT_LT(relative_difference(gradient, golden_["d_" + name], scale), 1e-5) << name;
    }
}

/// Parameters that a pass waits for, as for gathers and reductions.
class SlowParameters final : public StageParameters {
public:
    explicit SlowParameters(StageParameters& fast) : fast_(fast) {}
    TensorView value(int parameter) override { return fast_.value(parameter); }
    TensorView gradient(int parameter) override { return fast_.gradient(parameter); }
    void open(std::optional<int>) override { wait(); }
    void close(std::optional<int>) override { wait(); }
    void end_pass() override { wait(); }
    HostTime communicated() const override { return {waited, {}}; }
    std::chrono::nanoseconds waited{};

private:
    void wait() {
        constexpr std::chrono::milliseconds kLong{5};
        std::this_thread::sleep_for(kLong);
        waited += kLong;
    }
    StageParameters& fast_;
};

TEST_P(StageOf, WhatIsDoneForParametersIsNoOperatorsTime) {
    const models::Architecture model = golden_network(GetParam());
    const models::StageGraph graph =
        build_stage(model, execution({}), {0, model.layers.count(), true, true});
    FlatParameters fast(graph, weights_);
    SlowParameters slow(fast);
    const auto begin = std::chrono::steady_clock::now();
    const Told told = run_with_slow(slow, graph);
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_GT(told.calls, 0);
    EXPECT_GT(slow.waited.count(), 0);
    EXPECT_EQ(told.sharding, slow.waited);
    EXPECT_LE(told.operators + told.sharding, took) << "no time is told twice";
}

TEST_P(StageOf, AWholeNetworkIsTheNetworkThatKnowsNoStages) {
    run({});
    expect_the_networks_gradients(1e-6);
}

TEST_P(StageOf, AnyCutAndAnyBackwardLeavesTheSameBits) {
    run({});
    const std::map<std::string, Tensor> whole = std::move(gradients_);
    for (const std::vector<int>& layers :
         {std::vector{2}, std::vector{1, 1}, std::vector{0, 2}, std::vector{2, 0}}) {
        for (const Passes passes : {Passes::Fused, Passes::Split, Passes::SplitLate}) {
            SCOPED_TRACE(testing::Message()
                         << layers.size() << " stages, the first of " << layers[0]
                         << " layers, passes " << static_cast<int>(passes));
            run({layers, passes});
            // The tied embedding has two gradients where its copies are in two stages.
            expect_gradients(whole, layers.size() > 1 ? "wte.weight" : "");
        }
    }
}

TEST_P(StageOf, RecomputeLeavesTheSameBits) {
    run({});
    const std::map<std::string, Tensor> kept = std::move(gradients_);
    for (const Passes passes : {Passes::Fused, Passes::SplitLate}) {
        run({{2}, passes, 1, models::Recompute::Full});
        expect_gradients(kept, "");
    }
}

TEST_P(StageOf, ALossOverChunksIsTheSame) {
    if (GetParam() == "vit") GTEST_SKIP() << "a classifier has no chunks";
    run({{2}, Passes::Fused, 1, models::Recompute::None, models::LossKernel::Chunked});
    expect_the_networks_gradients(1e-6);
}

TEST_P(StageOf, SlicesOfTheSequenceAddUp) {
    if (GetParam() == "vit") GTEST_SKIP() << "a ViT sees its patches at once";
    for (const models::Recompute recompute : {models::Recompute::None, models::Recompute::Full})
        for (const int slices : {2, 4})
            for (const Passes passes : {Passes::Fused, Passes::Split, Passes::SplitLate}) {
                run({{1, 1}, passes, slices, recompute});
                expect_the_networks_gradients(2e-6);
            }
}

INSTANTIATE_TEST_SUITE_P(Families, StageOf, testing::Values("gpt2", "llama", "mixtral", "vit"));

}  // namespace
}  // namespace debubble::exec
