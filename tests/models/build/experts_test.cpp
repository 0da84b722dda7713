#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "base/diagnostic.h"
#include "models/architecture_reader.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "models/memory/static_memory.h"
#include "tests/models/architectures.h"
#include "tests/models/held_bytes.h"

/// Mixtures of experts against closed forms: parameters as published, saved tensors and volumes of
/// communication as written out by hand.
namespace debubble::models {
namespace {

/// T tokens, t ranks, k of E experts: every extent another number.
constexpr std::int64_t kTokens = 96, kHidden = 64, kFfn = 40, kExperts = 8, kPerToken = 3;

Architecture small_mixture() {
    Architecture model = llama(4, kHidden, 8, 4, kFfn, 512);
    change_layers(model, [](LayerKeys& keys) {
        keys.experts = kExperts;
        keys.experts_per_token = kPerToken;
    });
    return model;
}

Execution on(int tensor, int expert, int expert_tensor) {
    Execution how;
    how.seq_length = kTokens;
    how.tensor = tensor;
    how.sequence_parallel = tensor > 1;
    how.expert = expert;
    how.expert_tensor = expert_tensor;
    return how;
}

StageGraph inner_layers(const Execution& how, int layers) {
    return build_stage(small_mixture(), how, {1, layers, false, false});
}

/// What the forward of one layer leaves for its backward.
std::int64_t saved_of_a_layer(const Execution& how) {
    const auto left = [&](int layers) { return held_after_forward(inner_layers(how, layers)); };
    return left(2) - left(1);
}

double gemm_flops(const std::vector<Kernel>& kernels, const std::string& of) {
    double sum = 0;
    for (const Kernel& kernel : kernels)
        if (kernel.name.starts_with(of)) sum += flops(kernel);
    return sum;
}

std::vector<std::string> collectives(const std::vector<Kernel>& kernels) {
    std::vector<std::string> found;
    for (const Kernel& kernel : kernels)
        if (const auto* work = std::get_if<Collective>(&kernel.work);
            work && kernel.name.starts_with("experts"))
            found.push_back(kernel.name + " " + std::to_string(work->bytes.count));
    return found;
}

TEST(Experts, OfMixtralAreAsManyAsPublished) {
    const Architecture small = read_model("mixtral-8x7b");
    EXPECT_EQ(parameter_count(small), 46'702'792'704);
    EXPECT_EQ(active_parameter_count(small), 12'879'925'248);
    const Architecture large = read_model("mixtral-8x22b");
    EXPECT_EQ(parameter_count(large), 140'620'634'112);
    EXPECT_EQ(active_parameter_count(large), 39'152'031'744);
    EXPECT_EQ(active_parameter_count(read_model("llama3-8b")),
              parameter_count(read_model("llama3-8b")));
}

TEST(Experts, OfARankAreItsShare) {
    const std::int64_t expert = 3 * kHidden * kFfn;
    EXPECT_EQ(inner_layers(on(1, 1, 1), 1).parameter_count().expert, kExperts * expert);
    EXPECT_EQ(inner_layers(on(2, 4, 2), 1).parameter_count().expert, kExperts / 4 * expert / 2);
    EXPECT_EQ(inner_layers(on(2, 4, 1), 1).parameter_count().expert, kExperts / 4 * expert);
    // All else is cut as without experts, and the router is on every rank.
    const std::int64_t attention = kHidden * (2 * kHidden + 2 * kHidden / 2);
    EXPECT_EQ(inner_layers(on(2, 4, 2), 1).parameter_count().dense,
              attention / 2 + 2 * kHidden + kExperts * kHidden);
}

TEST(Experts, SaveWhatRowsLeave) {
    for (const Execution& how :
         {on(1, 1, 1), on(1, 4, 1), on(2, 8, 2), on(2, 2, 2), on(4, 8, 1), on(1, 2, 2)}) {
        const std::int64_t own = kTokens / how.tensor;
        const std::int64_t routed = own * kPerToken;
        const std::int64_t rows = routed * how.expert_tensor;
        const std::int64_t q = kHidden / how.tensor, kv = q / 2, heads = 8 / how.tensor;
        const std::int64_t stream = 4 * 2 * own * kHidden + 2 * 4 * own;
        const std::int64_t attention =
            2 * kTokens * (q + 2 * kv) + 2 * kTokens * q + 4 * kTokens * heads;
        const std::int64_t f = kFfn / how.expert_tensor;
        const std::int64_t experts = 2 * rows * kHidden + 2 * rows * 2 * f + 2 * rows * f;
        const std::int64_t back = 2 * routed * kHidden + 4 * own * kExperts;
        EXPECT_EQ(saved_of_a_layer(how), stream + attention + experts + back)
            << how.tensor << " " << how.expert << " " << how.expert_tensor;
    }
}

TEST(Experts, ExchangeTheirRowsTwiceAndGatherThemWhereTheyAreCut) {
    const StageGraph graph = inner_layers(on(2, 4, 2), 1);
    const std::int64_t routed = kTokens / 2 * kPerToken * kHidden * 2;
    const std::string exchanged = " " + std::to_string(4 * routed);
    const std::string gathered = " " + std::to_string(2 * routed);
    EXPECT_THAT(collectives(forward_steps(graph).kernels),
                testing::ElementsAre("experts.dispatch" + exchanged, "experts.gather" + gathered,
                                     "experts.scatter" + gathered, "experts.return" + exchanged));
    EXPECT_THAT(
        collectives(backward_steps(graph).kernels),
        testing::ElementsAre("experts.return.dx" + exchanged, "experts.scatter.dx" + gathered,
                             "experts.gather.dx" + gathered, "experts.dispatch.dx" + exchanged));
    const StageGraph alone = inner_layers(on(1, 1, 1), 1);
    EXPECT_THAT(collectives(forward_steps(alone).kernels), testing::IsEmpty());
}

TEST(Experts, ComputeEachTokenKTimesOverAllRanks) {
    const double whole = 2.0 * kTokens * kPerToken * 3 * kHidden * kFfn;
    for (const Execution& how : {on(1, 1, 1), on(1, 8, 1), on(2, 8, 2), on(2, 4, 1)}) {
        const StageGraph graph = inner_layers(how, 1);
        // So many ranks share one sequence, and each context or data rank brings its own.
        const double sum = gemm_flops(forward_steps(graph).kernels, "experts.fc") * how.tensor;
        EXPECT_DOUBLE_EQ(sum, whole) << how.tensor << " " << how.expert;
        EXPECT_DOUBLE_EQ(gemm_flops(backward_steps(graph).kernels, "experts.fc") * how.tensor,
                         2 * whole);
    }
    Architecture mixture = small_mixture(), dense = mixture;
    change_layers(dense, [](LayerKeys& keys) {
        keys.experts = 0;
        keys.ffn = kPerToken * kFfn;
    });
    EXPECT_DOUBLE_EQ(
        model_flops_per_sample(mixture, kTokens) - model_flops_per_sample(dense, kTokens),
        6.0 * mixture.layers.count() * kTokens * kHidden * kExperts);
}

TEST(Experts, AreFullerWhereTheRouterDoesNotBalance) {
    Execution how = on(2, 4, 2);
    const std::int64_t balanced = saved_of_a_layer(how);
    how.expert_load = 1.5;
    const std::int64_t rows = kTokens * kPerToken / 2;  // more, of both halves of the experts
    EXPECT_EQ(saved_of_a_layer(how) - balanced, rows * 2 * (kHidden + 3 * kFfn / 2))
        << "what goes back is as much as was sent";
}

/// A rank that shares with nobody gets its own rows, and no token sends one rank more rows than it
/// has experts.
TEST(Experts, AreNeverFullerThanTokensCanMakeThem) {
    const auto rows = [](Execution how, double load) {
        how.expert_load = load;
        return inner_layers(how, 1).tensors;
    };
    const auto same = [](const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
        return std::ranges::equal(a, b, {}, &Tensor::bytes, &Tensor::bytes);
    };
    EXPECT_TRUE(same(rows(on(1, 1, 1), 1), rows(on(1, 1, 1), 4)));
    EXPECT_TRUE(same(rows(on(1, 2, 1), 2), rows(on(1, 2, 1), 9)));
    // One expert of a rank is one of the three of a token: 8 x 1 / 3.
    EXPECT_TRUE(same(rows(on(1, 8, 1), 8.0 / 3), rows(on(1, 8, 1), 4000)));
    EXPECT_FALSE(same(rows(on(1, 8, 1), 2.6), rows(on(1, 8, 1), 4000)));
}

TEST(Experts, WeighedInTheirActivationKeepNoRowsThatComeBack) {
    Execution how = on(2, 4, 2);
    const std::int64_t when_they_come = saved_of_a_layer(how);
    how.kernels.weighted_experts_activation = true;
    const std::int64_t routed = kTokens / 2 * kPerToken;
    const std::int64_t weights = 4 * 2 * routed;  // of each row, beside the activation's input
    EXPECT_EQ(when_they_come - saved_of_a_layer(how), 2 * routed * kHidden - weights);
}

TEST(Experts, GiveBackWhatTheyTakeHoweverTheBackwardGoes) {
    for (const Recompute recompute : {Recompute::None, Recompute::Full})
        for (const bool split : {false, true}) {
            Execution how = on(2, 4, 2);
            how.kernels.weighted_experts_activation = split;
            how.recompute = recompute;
            how.split_backward = split;
            expect_to_free_what_it_allocates(inner_layers(how, 2), split);
        }
}

/// Bytes of kernels that are no products, both ways.
std::int64_t moved(const Architecture& model, const Execution& how) {
    std::int64_t sum = 0;
    const StageGraph graph = build_stage(model, how, {1, 1, false, false});
    for (const PassSteps& pass : {forward_steps(graph), backward_steps(graph)})
        for (const Kernel& kernel : pass.kernels)
            if (std::holds_alternative<Traffic>(kernel.work)) sum += traffic(kernel).count;
    return sum;
}

/// Of an output's element 4 + (6 + 4) + (4 + 4) + (4 + 2) bytes forward and (2 + 4) + (4 + 2) +
/// (2 + 2) + (4 + 4) + (4 + 4) + 4 backward; of an input's two copies of 2 + 2, and backward (4 +
/// 2) + (2 + 2).
TEST(EagerExperts, MoveWhatTheirBiasesAndClampsDo) {
    const auto added = [](const Architecture& model, double pace) {
        Execution plain = on(1, 4, 1);
        plain.kernels.weighted_experts_activation = true;
        Execution eager = plain;
        eager.kernels.eager_experts = true;
        eager.kernels.eager_pace = pace;
        return moved(model, eager) - moved(model, plain);
    };
    const Architecture gpt_oss = read_model("gpt-oss-20b");
    const std::int64_t rows = kTokens * 4, hidden = 2880, ffn = 2880;
    EXPECT_EQ(added(gpt_oss, 1), rows * (hidden * (28 + 36) + 2 * ffn * (8 + 10)));
    EXPECT_EQ(added(gpt_oss, 2), added(gpt_oss, 1)) << "a pace changes no bytes";
    EXPECT_EQ(added(small_mixture(), 1), 0) << "no biases and nothing clamped";
}

/// Megatron-Core's eager kernels sum rows by scatter_add, which reads each and what it is added to,
/// and find them by the map of tokens and experts.
TEST(Experts, AreSortedByPyTorchsKernelsWithoutAFusedOne) {
    Execution fused = on(1, 4, 1);
    fused.kernels.weighted_experts_activation = true;
    Execution eager = fused;
    eager.kernels.eager_permutation = true;
    const std::int64_t rows = 2 * kTokens * kPerToken * kHidden;
    const std::int64_t tokens = 2 * kTokens * kHidden;
    const std::int64_t map = kTokens * kExperts;
    const std::int64_t finding = 2 * map + (map + 8) + (9 * map + 8 * kTokens * kPerToken) +
                                 2 * 4 * map + (map + 8) + (5 * map + 4 * kTokens * kPerToken);
    // Forward the unpermutation, and backward the permutation, add rows instead of copying them.
    const std::int64_t adding = (tokens + 3 * rows) - (rows + tokens);
    EXPECT_EQ(moved(small_mixture(), eager) - moved(small_mixture(), fused), finding + 2 * adding);
    for (const Dispatcher sends_tokens : {Dispatcher::DeepEp, Dispatcher::HybridEp}) {
        fused.kernels.dispatcher = eager.kernels.dispatcher = sends_tokens;
        EXPECT_EQ(moved(small_mixture(), eager), moved(small_mixture(), fused));
    }
}

/// DeepEP and HybridEP sort what arrives, and before they send and after they have summed nothing.
TEST(Experts, AreSortedOnceWhereTokensAreSent) {
    Execution rows = on(1, 4, 1);
    rows.kernels.weighted_experts_activation = true;
    Execution tokens = rows;
    tokens.kernels.dispatcher = Dispatcher::DeepEp;
    const std::int64_t row = 2 * kHidden;
    const std::int64_t map = kTokens * kExperts * (4 + 1);
    EXPECT_EQ(moved(small_mixture(), rows) - moved(small_mixture(), tokens),
              (2 * kTokens * kPerToken * row - map) + 3 * (kTokens * (kPerToken + 1) * row - map));
    Execution mapped = tokens;
    mapped.kernels.dispatcher = Dispatcher::HybridEp;
    EXPECT_EQ(moved(small_mixture(), mapped) - moved(small_mixture(), tokens),
              4 * kTokens * (kExperts + 1))
        << "the map of all ranks is scanned once";
}

/// A byte for each expert and token of the four ranks, before the forward's exchange alone.
TEST(Experts, AreMappedForHybridEpBeforeTheForward) {
    Execution how = on(1, 4, 1);
    how.kernels.dispatcher = Dispatcher::HybridEp;
    int forward = 0, backward = 0;
    const auto gathers = [](const std::vector<Kernel>& kernels) {
        int count = 0;
        for (const Kernel& kernel : kernels) {
            const auto* work = std::get_if<Collective>(&kernel.work);
            if (work == nullptr || work->kind != Collective::Kind::AllGather) continue;
            EXPECT_EQ(work->bytes.count, 4 * kTokens * kExperts);
            ++count;
        }
        return count;
    };
    for (const Operator& op : build_stage(small_mixture(), how, {0, 1, false, false}).operators) {
        forward += gathers(op.forward);
        backward += gathers(op.backward_input) + gathers(op.backward_weight);
    }
    EXPECT_EQ(forward, 1);
    EXPECT_EQ(backward, 0);
}

TEST(Experts, AreShardedOverTheRanksThatHaveThem) {
    const StageGraph graph = inner_layers(on(2, 4, 2), 2);
    StaticPolicy policy;
    policy.zero_stage = 1;
    policy.shards = 8;
    policy.expert_shards = 2;
    const ParameterCount count = graph.parameter_count();
    const double bytes = static_cast<double>(count.dense) * (6 + 12.0 / 8) +
                         static_cast<double>(count.expert) * (6 + 12.0 / 2);
    EXPECT_NEAR(static_cast<double>(total(static_memory(graph, policy).held).count), bytes, 24);
}

/// LatentMoE: a product before the exchange and one after it, so that rows and experts have the
/// narrower width, and the router and shared experts the hidden one.
TEST(Experts, ReadANarrowerValueWhereTheLayerHasOne) {
    const Architecture model = read_model("nemotron-3-super");
    Execution how = on(1, 8, 1);
    const StageGraph graph = build_stage(model, how, {1, 1, false, false});
    std::int64_t rows = 0;
    for (const Operator& op : graph.operators) {
        if (const auto* experts = op.as<op::ExpertProducts>()) {
            EXPECT_TRUE(experts->inputs == 1024 || experts->outputs == 1024);
            EXPECT_TRUE(experts->inputs == 2688 || experts->outputs == 2688);
        }
        if (op.as<op::Permute>() != nullptr) rows = graph.tensors[op.forward_uses[1]].bytes.count;
    }
    EXPECT_EQ(rows, 2 * kTokens * 22 * 1024);
    const ParameterCount count = graph.parameter_count();
    EXPECT_EQ(count.expert, 512 / 8 * 2 * 1024 * 2688);
    EXPECT_EQ(count.dense, 4096 + 4096 * 512 + 2 * 4096 * 1024 + 2 * 4096 * 5376);
}

std::int64_t bytes_of_tensor(const StageGraph& graph, const std::string& name) {
    const auto found = std::ranges::find(graph.tensors, name, &Tensor::name);
    return found == graph.tensors.end() ? 0 : found->bytes.count;
}

/// Bytes that a pass's kernels of the router read and write.
std::int64_t router_traffic(const std::vector<Kernel>& kernels) {
    std::int64_t sum = 0;
    for (const Kernel& kernel : kernels) sum += traffic(kernel).count;
    return sum;
}

TEST(Experts, OfRoutersInFp32HaveLogitsTwiceAsWide) {
    const auto of = [](RouterDtype dtype, DataType compute) {
        Architecture model = small_mixture();
        change_layers(model, [&](LayerKeys& keys) {
            keys.router = Router::Sigmoid;
            keys.router_dtype = dtype;
        });
        Execution how = on(1, 1, 1);
        how.compute = compute;
        return build_stage(model, how, {1, 1, false, false});
    };
    const StageGraph narrow = of(RouterDtype::Compute, DataType::Bf16);
    const StageGraph wide = of(RouterDtype::Fp32, DataType::Bf16);
    constexpr std::int64_t kLogits = kTokens * kExperts, kGate = kExperts * kHidden;
    EXPECT_EQ(bytes_of_tensor(narrow, "experts.router.logits"), 2 * kLogits);
    EXPECT_EQ(bytes_of_tensor(wide, "experts.router.logits"), 4 * kLogits);
    // A sigmoid router keeps them for its backward.
    EXPECT_EQ(held_after_forward(wide) - held_after_forward(narrow), 2 * kLogits);
    EXPECT_EQ(bytes_of_tensor(wide, "d.experts.router.in"), 4 * kTokens * kHidden);
    EXPECT_EQ(bytes_of_tensor(wide, "experts.router.tokens"), 4 * kTokens * kHidden);
    EXPECT_EQ(bytes_of_tensor(wide, "experts.router.gate"), 4 * kGate);
    EXPECT_EQ(bytes_of_tensor(wide, "d.experts.router.gate"), 4 * kGate);
    const auto router = [](const StageGraph& graph) {
        return *std::ranges::find_if(
            graph.operators, [](const Operator& op) { return op.as<op::Router>() != nullptr; });
    };
    // The product writes two more bytes of a logit, and the choice reads them.
    EXPECT_EQ(router_traffic(router(wide).forward) - router_traffic(router(narrow).forward),
              2 * 2 * kLogits);
    EXPECT_GT(router_traffic(router(wide).backward_input),
              router_traffic(router(narrow).backward_input));
    // A training in fp32 has nothing to widen.
    EXPECT_EQ(held_after_forward(of(RouterDtype::Fp32, DataType::Fp32)),
              held_after_forward(of(RouterDtype::Compute, DataType::Fp32)));
    EXPECT_EQ(bytes_of_tensor(of(RouterDtype::Fp32, DataType::Fp32), "experts.router.tokens"), 0);
}

TEST(Experts, AreRefusedInWordsWhereTheyCannotBeCut) {
    const auto refusal = [](const Architecture& model, const Execution& how) -> std::string {
        try {
            build_stage(model, how, {0, 1, false, false});
        } catch (const InputError& error) {
            return error.what();
        }
        return "built";
    };
    using testing::HasSubstr;
    EXPECT_THAT(refusal(small_mixture(), on(1, 3, 1)),
                HasSubstr("8 experts cannot be split into 3"));
    EXPECT_THAT(refusal(small_mixture(), on(1, 1, 7)),
                HasSubstr("40 columns of an expert cannot be split into 7"));
    Execution whole = on(2, 2, 2);
    whole.sequence_parallel = false;
    EXPECT_THAT(refusal(small_mixture(), whole), HasSubstr("need sequence parallelism"));
    EXPECT_THAT(refusal(llama(4, 64, 8, 4, 40, 512), on(1, 2, 1)),
                HasSubstr("the model has no experts to distribute"));
    Architecture gpt2 = gpt(4, 64, 8);
    change_layers(gpt2, [](LayerKeys& keys) { keys.experts = 4; });
    EXPECT_THAT(refusal(gpt2, on(1, 1, 1)), HasSubstr("experts need the family llama"));
}

}  // namespace
}  // namespace debubble::models
