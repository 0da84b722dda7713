#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "models/graph/graph.h"
#include "tests/models/architectures.h"

namespace debubble::models {
namespace {

/// Everything that changes what a stage allocates, in combinations of two.
std::vector<StageGraph> stages() {
    std::vector<StageGraph> graphs;
    const std::vector<Architecture> models = {gpt(4, 256, 8), llama(4, 256, 8, 4, 512, 32000),
                                              vit_base(10), mamba_hybrid(), delta_hybrid()};
    const std::vector<StageContent> contents = {
        {0, 4, true, true}, {0, 2, true, false}, {1, 2, false, false}, {2, 2, false, true}};
    for (const Architecture& model : models) {
        for (const StageContent& content : contents) {
            for (int bits = 0; bits < 96; ++bits) {
                Execution how;
                how.seq_length = model.family == Family::Vit ? 197 : 64;
                how.micro_batch = 2;
                how.attention = bits & 1 ? AttentionKernel::Flash : AttentionKernel::Unfused;
                how.kernels.gradient_accumulation_fusion = bits & 2;
                how.hidden_dropout = how.attention_dropout = bits & 4;
                how.kernels.fused_norm = how.kernels.fused_rope =
                    how.kernels.fused_bias_activation = bits & 8;
                how.kernels.fused_bias_dropout_add = how.kernels.attention_mask_tensor = bits & 8;
                how.kernels.activation_gradient_in_place = bits & 8;
                how.tensor = bits & 16 ? 2 : 1;
                how.sequence_parallel = model.family != Family::Vit;
                how.context = model.family != Family::Vit && bits & 1 ? 2 : 1;
                how.kernels.context_output_copy = bits & 2;
                if (bits & 4) how.kernels.context_communication = ContextCommunication::AllToAll;
                how.recompute = static_cast<Recompute>(bits / 32);
                how.kernels.loss = static_cast<LossKernel>(bits % 5);
                if (model.family == Family::Vit) how.tensor = bits & 16 ? 4 : 1;
                graphs.push_back(build_stage(model, how, content));
            }
        }
    }
    return graphs;
}

/// Plays passes over a set of live tensors; every rule of use is checked.
struct Ledger {
    const StageGraph& graph;
    std::map<int, int> live;
    Bytes held{};

    void play(const PassSteps& pass) {
        for (const Step& step : pass.steps) {
            if (step.kind == Step::Kind::Run) {
                ASSERT_LT(step.index, static_cast<int>(pass.kernels.size()));
                continue;
            }
            const Tensor& tensor = graph.tensors[step.index];
            int& count = live[step.index];
            if (step.kind == Step::Kind::Allocate) {
                EXPECT_EQ(count, 0) << tensor.name << " is allocated while it lives";
                ++count;
                held += tensor.bytes;
            } else {
                EXPECT_EQ(count, 1) << tensor.name << " is freed while it does not live";
                --count;
                held -= tensor.bytes;
            }
        }
    }
    int alive() const {
        int sum = 0;
        for (const auto& [tensor, count] : live) sum += count;
        return sum;
    }
};

TEST(Steps, FreeEveryTensorThatAFusedBackwardNeeds) {
    for (const StageGraph& graph : stages()) {
        Ledger ledger{graph, {}};
        ledger.play(forward_steps(graph));
        EXPECT_GT(ledger.held.count, 0);
        ledger.play(backward_steps(graph));
        EXPECT_EQ(ledger.alive(), 0);
        EXPECT_EQ(ledger.held, Bytes{});
    }
}

TEST(Steps, FreeEveryTensorThatASplitBackwardNeeds) {
    for (const StageGraph& graph : stages()) {
        Ledger ledger{graph, {}};
        ledger.play(forward_steps(graph));
        const Bytes after_forward = ledger.held;
        ledger.play(backward_input_steps(graph));
        if (graph.execution.recompute == Recompute::None) {
            // linears keep input and output gradient; attention and activations let go
            EXPECT_LT(ledger.held, after_forward + after_forward);
        }
        ledger.play(backward_weight_steps(graph));
        EXPECT_EQ(ledger.alive(), 0);
    }
}

/// What a pass allocates it frees, and frees nothing else.
void expect_to_end_as_it_began(const StageGraph& graph, const PassSteps& pass) {
    std::map<int, int> alive;
    for (const Step& step : pass.steps) {
        if (step.kind == Step::Kind::Run) continue;
        if (graph.tensors[step.index].held_as != MemoryClass::Workspace) continue;
        alive[step.index] += step.kind == Step::Kind::Allocate ? 1 : -1;
    }
    for (const auto& [tensor, count] : alive) EXPECT_EQ(count, 0) << graph.tensors[tensor].name;
}

TEST(Steps, LeaveNoWorkspaceToAnotherPass) {
    std::vector<StageGraph> graphs = stages();
    for (int bits = 0; bits < 16; ++bits) {
        Architecture mixture = llama(4, 64, 8, 4, 40, 512);
        change_layers(mixture, [](LayerKeys& keys) {
            keys.experts = 8;
            keys.experts_per_token = 3;
        });
        Execution how;
        how.seq_length = 96;
        how.tensor = bits & 1 ? 2 : 1;
        how.sequence_parallel = how.kernels.keeps_gathered = bits & 1;
        how.expert = bits & 2 ? 2 : 1;
        how.kernels.weighted_experts_activation = how.split_backward = bits & 4;
        how.kernels.loss = bits & 8 ? LossKernel::Chunked : LossKernel::Unfused;
        graphs.push_back(build_stage(mixture, how, {0, 4, true, true}));
    }
    for (const StageGraph& graph : graphs) {
        expect_to_end_as_it_began(graph, forward_steps(graph));
        expect_to_end_as_it_began(graph, backward_steps(graph));
        expect_to_end_as_it_began(graph, backward_input_steps(graph));
        expect_to_end_as_it_began(graph, backward_weight_steps(graph));
    }
}

TEST(Steps, MakeTheGradientOfAnUngatedNonlinearityInPlace) {
    const auto held_beside_it = [](const Architecture& model, bool in_place) {
        Execution how;
        how.seq_length = 64;
        how.kernels.activation_gradient_in_place = in_place;
        const StageGraph graph = build_stage(model, how, {1, 1, false, false});
        const PassSteps backward = backward_steps(graph);
        Bytes held;
        for (const Step& step : backward.steps) {
            if (step.kind == Step::Kind::Allocate) held += graph.tensors[step.index].bytes;
            if (step.kind == Step::Kind::Free) held -= graph.tensors[step.index].bytes;
            const bool runs = step.kind == Step::Kind::Run;
            if (runs && backward.kernels[step.index].name == "mlp.act.dx") return held;
        }
        throw std::logic_error("no kernel of that name");
    };
    const Architecture gelu = gpt(4, 256, 8), gated = llama(4, 256, 8, 4, 512, 32000);
    const Bytes wide{2 * 64 * 4 * 256};  // bf16, tokens, 4 hidden
    EXPECT_EQ(held_beside_it(gelu, false) - held_beside_it(gelu, true), wide);
    EXPECT_EQ(held_beside_it(gated, true), held_beside_it(gated, false));
}

TEST(Steps, RunNoKernelTwiceButWhatIsRecomputed) {
    for (const StageGraph& graph : stages()) {
        std::size_t forward = 0, in_layers = 0, backward = 0;
        for (const Operator& op : graph.operators) {
            forward += op.forward.size();
            if (op.layer) in_layers += op.forward.size();
            backward += op.backward_input.size() + op.backward_weight.size();
        }
        const bool full = graph.execution.recompute == Recompute::Full;
        EXPECT_EQ(forward_steps(graph).kernels.size(), forward);
        EXPECT_EQ(backward_steps(graph).kernels.size(), backward + (full ? in_layers : 0));
        EXPECT_EQ(backward_input_steps(graph).kernels.size() +
                      backward_weight_steps(graph).kernels.size(),
                  backward + (full ? in_layers : 0));
        std::size_t weight = 0;
        for (const Operator& op : graph.operators) weight += op.backward_weight.size();
        EXPECT_EQ(backward_weight_steps(graph).kernels.size(), weight);
    }
}

TEST(Steps, LetNoTensorOutliveTheEdgesThatTheStageNames) {
    for (const StageGraph& graph : stages()) {
        const PassSteps forward = forward_steps(graph);
        const PassSteps backward = backward_steps(graph);
        if (graph.input) {
            const auto& edge = backward.steps.back();
            EXPECT_EQ(edge.kind, Step::Kind::Free);
            EXPECT_EQ(forward.steps.front(), (Step{Step::Kind::Allocate, *graph.input}));
        }
        if (graph.output) {
            const Step sent{Step::Kind::Free, *graph.output};
            EXPECT_NE(std::find(forward.steps.begin(), forward.steps.end(), sent),
                      forward.steps.end());
            EXPECT_EQ(backward.steps.front().kind, Step::Kind::Allocate);
        }
        EXPECT_EQ(graph.output.has_value(), !graph.content.head);
        EXPECT_EQ(graph.input.has_value(), !graph.content.embedding);
    }
}

/// Communication of one layer, Megatron-LM: without sequence parallelism two
/// all-reduces each way; with it two gathers and two scatters forward, and backward
/// two scatters, two gathers and two more for the weight gradients.
TEST(Steps, CommunicateAsMegatronDoes) {
    for (const bool sequence : {false, true}) {
        Execution how;
        how.tensor = 4;
        how.seq_length = 64;
        how.sequence_parallel = sequence;
        const StageGraph graph = build_stage(gpt(3, 256, 8), how, {1, 1, false, false});
        std::map<Collective::Kind, int> forward, backward;
        const auto count = [](const PassSteps& pass, auto& counts) {
            for (const Kernel& kernel : pass.kernels) {
                if (const auto* c = std::get_if<Collective>(&kernel.work)) {
                    ++counts[c->kind];
                    EXPECT_EQ(c->bytes, Bytes{2 * 64 * 256}) << kernel.name;
                }
            }
        };
        count(forward_steps(graph), forward);
        count(backward_steps(graph), backward);
        using Kind = Collective::Kind;
        const std::map<Kind, int> expected_forward =
            sequence ? std::map<Kind, int>{{Kind::AllGather, 2}, {Kind::ReduceScatter, 2}}
                     : std::map<Kind, int>{{Kind::AllReduce, 2}};
        const std::map<Kind, int> expected_backward =
            sequence ? std::map<Kind, int>{{Kind::AllGather, 4}, {Kind::ReduceScatter, 2}}
                     : std::map<Kind, int>{{Kind::AllReduce, 2}};
        EXPECT_EQ(forward, expected_forward);
        EXPECT_EQ(backward, expected_backward);
    }
}

TEST(Steps, HideABackwardReductionBesideItsWeightGradient) {
    Execution how;
    how.tensor = 2;
    how.seq_length = 64;
    const StageGraph graph = build_stage(gpt(2, 256, 8), how, {0, 2, false, false});
    const PassSteps fused = backward_steps(graph);
    int hidden = 0;
    for (std::size_t i = 0; i + 1 < fused.kernels.size(); ++i) {
        const auto* reduction = std::get_if<Collective>(&fused.kernels[i].work);
        if (!reduction) continue;
        EXPECT_EQ(reduction->hidden_by, 2) << fused.kernels[i].name;  // product and bias gradient
        EXPECT_NE(fused.kernels[i + 1].name.find(".dw"), std::string::npos);
        ++hidden;
    }
    EXPECT_EQ(hidden, 4);
    for (const Kernel& kernel : backward_input_steps(graph).kernels) {
        const auto* reduction = std::get_if<Collective>(&kernel.work);
        EXPECT_EQ(reduction ? reduction->hidden_by : 0, 0) << kernel.name;
    }
}

}  // namespace
}  // namespace debubble::models
