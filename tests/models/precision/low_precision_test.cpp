#include "models/execution/low_precision.h"

#include <cmath>

#include <gtest/gtest.h>

#include "models/graph/operator_runs.h"
#include "models/memory/static_memory.h"
#include "tests/models/architectures.h"
#include "tests/models/held_bytes.h"

namespace debubble::models {
namespace {

constexpr Recipe kRecipes[] = {Recipe::Fp8Delayed, Recipe::Fp8Current, Recipe::Fp8Blockwise,
                               Recipe::Fp8Rowwise, Recipe::MxFp8,      Recipe::NvFp4};

/// A Llama with layers of 64 tokens, hidden 256, FFN 1024.
Architecture network() {
    return llama(4, 256, 8, 4, 1024, 32000);
}

Execution how(Recipe recipe, bool transposes = true) {
    Execution execution;
    execution.seq_length = 64;
    execution.low_precision.recipe = recipe;
    execution.low_precision.transposes = transposes;
    return execution;
}

StageGraph stage(const Execution& execution) {
    return build_stage(network(), execution, {0, 4, true, true});
}

/// All kernels of a forward and its backward.
std::vector<Kernel> kernels(const StageGraph& graph) {
    std::vector<Kernel> all = forward_steps(graph).kernels;
    for (const Kernel& kernel : backward_steps(graph).kernels) all.push_back(kernel);
    return all;
}

TEST(LowPrecision, ProductsOfLayersAreNarrowInAllThreeDirectionsAndNoOthersAre) {
    for (const Recipe recipe : kRecipes) {
        int narrow = 0;
        for (const Kernel& kernel : kernels(stage(how(recipe))))
            if (const auto* product = std::get_if<Gemm>(&kernel.work)) {
                EXPECT_EQ(product->operands, kernel.layer ? operands_of(recipe) : Narrow::None)
                    << kernel.name;
                EXPECT_EQ(product->element_bytes, 2) << kernel.name;
                narrow += product->operands != Narrow::None ? 1 : 0;
            }
        EXPECT_EQ(narrow, 4 * 4 * 3);  // layers x (qkv, proj, fc1, fc2) x three directions
    }
}

TEST(LowPrecision, LeavesTheRouterOfExpertsInTheComputeType) {
    Architecture model = network();
    change_layers(model, [](LayerKeys& keys) {
        keys.experts = 4;
        keys.experts_per_token = 2;
    });
    const StageGraph graph = build_stage(model, how(Recipe::MxFp8, false), {0, 4, true, true});
    for (const Kernel& kernel : kernels(graph))
        if (const auto* product = std::get_if<Gemm>(&kernel.work)) {
            const bool routes = kernel.name.starts_with("experts.router");
            EXPECT_EQ(product->operands == Narrow::None, routes || !kernel.layer) << kernel.name;
        }
}

TEST(LowPrecision, LayersAtTheEndsStayWideWhereTheyAreAskedTo) {
    Execution execution = how(Recipe::Fp8Current);
    execution.low_precision.wide_first = {0, 1};
    execution.low_precision.wide_last = {2, 4};
    for (const Kernel& kernel : kernels(stage(execution))) {
        const auto* product = std::get_if<Gemm>(&kernel.work);
        if (product == nullptr) continue;
        EXPECT_EQ(product->operands != Narrow::None, kernel.layer == 1) << kernel.name;
    }
}

TEST(LowPrecision, WithoutARecipeNothingChanges) {
    Execution plain;
    plain.seq_length = 64;
    EXPECT_EQ(kernels(stage(plain)), kernels(stage(how(Recipe::None))));
}

/// Elements that casts of a layer's forward and backward read, by the letters of the literature.
TEST(LowPrecision, EveryInputAndOutputGradientIsCastOnce) {
    const std::int64_t tokens = 64, h = 256, q = 256, kv = 128, f = 1024, layers = 4;
    const std::int64_t inputs = h + q + h + f;
    const std::int64_t outputs = (q + 2 * kv) + h + 2 * f + h;
    for (const Recipe recipe : {Recipe::Fp8Blockwise, Recipe::MxFp8, Recipe::NvFp4}) {
        std::int64_t read = 0, written = 0;
        for (const Kernel& kernel : kernels(stage(how(recipe, false))))
            if (const auto* cast = std::get_if<Traffic>(&kernel.work);
                cast != nullptr && cast->pace > 1 && cast->written.count > 0) {
                read += cast->read.count;
                written += cast->written.count;
            }
        // The projection's input, which attention keeps, is cast a second time in the backward.
        EXPECT_EQ(read, 2 * layers * tokens * (inputs + outputs + q));
        const std::int64_t both = layers * tokens * (inputs + outputs);
        EXPECT_NEAR(static_cast<double>(written),
                    static_cast<double>(2 * narrow_bytes(operands_of(recipe), both)), 4.0 * 4 * 16)
            << name_of(recipe);
    }
}

/// The two norms' results and fc2's input are kept in the narrow type instead of 2 bytes; the
/// projection's input is attention's result, which stays.
TEST(LowPrecision, KeepsInputsOfProductsInTheirColumnwiseCopyAlone) {
    const std::int64_t tokens = 64, h = 256, f = 1024, layers = 4;
    const std::int64_t wide = held_after_forward(stage(how(Recipe::None)));
    for (const Recipe recipe : {Recipe::Fp8Current, Recipe::MxFp8, Recipe::NvFp4}) {
        const Narrow type = operands_of(recipe);
        EXPECT_EQ(wide - held_after_forward(stage(how(recipe))),
                  layers * (2 * tokens * (2 * h + f) - 2 * narrow_bytes(type, tokens * h) -
                            narrow_bytes(type, tokens * f)))
            << name_of(recipe);
    }
}

TEST(LowPrecision, OfTorchaoKeepsAsMuchAsWithoutARecipe) {
    Execution execution = how(Recipe::Fp8Current);
    execution.low_precision.keeps_casts = false;
    EXPECT_EQ(held_after_forward(stage(execution)), held_after_forward(stage(how(Recipe::None))));
}

TEST(LowPrecision, FreesWhatItAllocatesUnderEveryCut) {
    for (const Recipe recipe : kRecipes)
        for (const bool sequence : {false, true})
            for (const bool keeps : {false, true})
                for (const bool split : {false, true}) {
                    Execution execution = how(recipe);
                    execution.tensor = 2;
                    execution.sequence_parallel = sequence;
                    execution.low_precision.keeps_casts = keeps;
                    execution.split_backward = split;
                    expect_to_free_what_it_allocates(stage(execution), split);
                }
}

/// Megatron-LM's sequence parallelism: what is gathered has the bytes of what was cast.
TEST(LowPrecision, GathersOfSequenceParallelismCarryTheCastTensor) {
    const auto gathered = [](Recipe recipe) {
        Execution execution = how(recipe);
        execution.tensor = 2;
        execution.sequence_parallel = true;
        const StageGraph graph = build_stage(network(), execution, {0, 4, false, false});
        std::int64_t bytes = 0;
        for (const Kernel& kernel : kernels(graph))
            if (const auto* exchange = std::get_if<Collective>(&kernel.work);
                exchange != nullptr && exchange->kind == Collective::Kind::AllGather)
                bytes += exchange->bytes.count;
        return bytes;
    };
    const std::int64_t wide = gathered(Recipe::None);
    EXPECT_EQ(gathered(Recipe::Fp8Current), wide / 2);
    EXPECT_EQ(gathered(Recipe::Fp8Rowwise), wide);  // torchao casts after the gather
    // The input twice by one copy, the output's gradient once by two.
    const std::int64_t tensors = wide / 2;  // in elements: inputs twice, gradients once
    EXPECT_EQ(gathered(Recipe::MxFp8), (tensors + tensors / 3) * 33 / 32);
}

TEST(LowPrecision, DelayedScalesAreReducedOnceInEveryPass) {
    for (const Recipe recipe : kRecipes) {
        const StageGraph graph = stage(how(recipe));
        for (const PassSteps& pass : {forward_steps(graph), backward_steps(graph)}) {
            std::int64_t reductions = 0;
            for (const Kernel& kernel : pass.kernels) {
                const auto* exchange = std::get_if<Collective>(&kernel.work);
                if (exchange != nullptr && exchange->group == Collective::Group::Data) ++reductions;
            }
            EXPECT_EQ(reductions, recipe == Recipe::Fp8Delayed ? 1 : 0) << name_of(recipe);
        }
    }
}

TEST(LowPrecision, WeightsHoldWhatTheirTypesSay) {
    struct Row {
        Recipe recipe;
        bool transposes;
        bool narrow_parameters;
        double held, gathered;
    };
    // TransformerEngine d0067d0; Megatron-LM d98e8a6, param_and_grad_buffer.py.
    for (const Row& row : {Row{Recipe::None, true, false, 2, 2},
                           {Recipe::Fp8Delayed, true, false, 4, 2},
                           {Recipe::Fp8Delayed, true, true, 2, 1},
                           {Recipe::Fp8Current, false, false, 3, 2},
                           {Recipe::Fp8Current, false, true, 1, 1},
                           {Recipe::MxFp8, false, false, 4 + 1.0 / 16, 2},
                           {Recipe::MxFp8, false, true, 2 + 1.0 / 16, 2},
                           {Recipe::NvFp4, false, false, 3 + 1.0 / 8, 2},
                           {Recipe::NvFp4, false, true, 1 + 1.0 / 8, 0.5625}}) {
        LowPrecision narrow = how(row.recipe, row.transposes).low_precision;
        narrow.narrow_parameters = row.narrow_parameters;
        EXPECT_DOUBLE_EQ(weight_bytes(narrow, 2), row.held) << name_of(row.recipe);
        EXPECT_DOUBLE_EQ(gathered_weight_bytes(narrow, 2), row.gathered) << name_of(row.recipe);
    }
}

TEST(LowPrecision, StaticMemoryIsTheSumByHand) {
    const std::int64_t h = 256, q = 256, kv = 128, f = 1024;
    const std::int64_t weights = 4 * (h * (q + 2 * kv) + q * h + 3 * h * f);
    for (const Recipe recipe : kRecipes) {
        const StageGraph graph = stage(how(recipe));
        EXPECT_EQ(graph.parameter_count().narrow(), weights);
        const auto held = [&](const StageGraph& of) {
            return total(static_memory(of, {}).held).count;
        };
        const double more = weight_bytes(graph.execution.low_precision, 2) - 2;
        EXPECT_EQ(held(graph) - held(stage(how(Recipe::None))),
                  std::llround(more * static_cast<double>(weights)))
            << name_of(recipe);
    }
}

/// Megatron-LM's --use-precision-aware-optimizer: 6 + 12 / DP becomes 6 + 6 / DP.
TEST(LowPrecision, APrecisionAwareOptimizerHoldsSixBytes) {
    const StageGraph graph = stage(how(Recipe::None));
    StaticPolicy policy;
    policy.zero_stage = 1;
    policy.shards = 8;
    policy.moments = DataType::Bf16;
    policy.remainders = true;
    const auto elements = static_cast<double>(graph.parameter_elements());
    EXPECT_NEAR(static_cast<double>(total(static_memory(graph, policy).held).count) / elements,
                6 + 6.0 / 8, 1e-4);
    policy.moments = DataType::Fp8;
    EXPECT_NEAR(static_cast<double>(total(static_memory(graph, policy).held).count) / elements,
                6 + 4.0 / 8, 1e-4);
}

}  // namespace
}  // namespace debubble::models
