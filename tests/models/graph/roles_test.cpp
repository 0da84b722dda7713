#include <map>
#include <optional>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "models/architecture_reader.h"
#include "tests/models/change_layers.h"
#include "tests/models/graph/role_promises.h"

/// Roles against the lists that the steps are made of, and against shapes by the letters of the
/// literature: a role that points at another tensor is noticed.
namespace debubble::models {
namespace {

std::string words(const StageGraph& graph, const Uses& uses) {
    std::string text;
    for (const auto& [tensor, use] : uses) {
        text += graph.tensors[tensor].name + ":";
        text.append(use.passes.begin(), use.passes.end());
        for (const std::int64_t bytes : use.bytes) text += " " + std::to_string(bytes);
        text += "; ";
    }
    return text;
}

void check(const StageGraph& graph, const std::string& what) {
    std::map<int, int> made;
    std::map<int, int> opened;  // values that a branch without a norm has opened
    if (graph.input) made[*graph.input] = *graph.input_gradient;
    for (const Operator& op : graph.operators) {
        const Promise promise = promise_of(graph, op);
        const Uses roles = promised(graph, promise), lists = listed(graph, op);
        EXPECT_TRUE(roles == lists) << what << ", " << op.name << "\n"
                                    << words(graph, roles) << "\n"
                                    << words(graph, lists);
        for (const auto& [value, gradient] : promise.reads) {
            ASSERT_TRUE(made.contains(value))
                << what << ", " << op.name << " reads " << graph.tensors[value].name;
            if (opened.contains(value) && opened[value] == gradient) continue;
            EXPECT_EQ(made[value], gradient) << what << ", " << op.name << " takes the gradient of "
                                             << graph.tensors[value].name << " elsewhere";
        }
        made.insert(promise.makes.begin(), promise.makes.end());
        if (op.as<op::OpenBranch>()) opened = promise.branches;
    }
}

/// Ways to carry a network out that give its operators other tensors.
struct Way {
    const char* name;
    void (*change)(Execution&);
    std::vector<ShardingOverride> table = {};
};

std::vector<Way> ways() {
    return {
        {"as it is", [](Execution&) {}},
        {"routers that add to the loss",
         [](Execution& how) { how.router_terms = {.balance = true, .z = true}; }},
        {"routers that balance sequences",
         [](Execution& how) { how.router_terms = {.balance = true, .by_sequence = true}; }},
        {"nothing fused",
         [](Execution& how) {
             how.attention = AttentionKernel::Unfused;
             how.kernels.gradient_accumulation_fusion = how.kernels.fused_bias_activation = false;
             how.kernels.fused_bias_dropout_add = how.kernels.fused_rope = how.kernels.fused_norm =
                 false;
             how.kernels.loss = LossKernel::EagerPyTorch;
         }},
        {"as the executor does",
         [](Execution& how) {
             how.kernels.packed_attention = how.kernels.activation_gradient_in_place = true;
             how.kernels.fp32_query_gradient = how.kernels.embedding_gradient_tensor = false;
             how.kernels.loss = LossKernel::TransformerEngine;
         }},
        {"dropout with masks",
         [](Execution& how) {
             how.hidden_dropout = how.attention_dropout = true;
             how.attention = AttentionKernel::Unfused;
             how.recompute = Recompute::Selective;
         }},
        {"a loss over chunks", [](Execution& how) { how.kernels.loss = LossKernel::Chunked; }},
        {"another fused loss",
         [](Execution& how) { how.kernels.loss = LossKernel::MegatronFused; }},
        {"a loss in fp32", [](Execution& how) { how.kernels.loss = LossKernel::EagerFp32; }},
        {"a loss in fp32 of a cut vocabulary",
         [](Execution& how) {
             how.tensor = 2;
             how.kernels.loss = LossKernel::EagerFp32;
         }},
        {"a compiled loss", [](Execution& how) { how.kernels.loss = LossKernel::Compiled; }},
        {"a split backward", [](Execution& how) { how.split_backward = true; }},
        {"plain PyTorch", [](Execution& how) { how.kernels.attention_copies = true; }},
        {"weights in the activation",
         [](Execution& how) { how.kernels.weighted_experts_activation = true; }},
        {"tensor parallelism", [](Execution& how) { how.tensor = 2; }},
        {"sequence parallelism",
         [](Execution& how) {
             how.tensor = 2;
             how.sequence_parallel = true;
         }},
        {"gathered and kept",
         [](Execution& how) {
             how.tensor = 2;
             how.sequence_parallel = how.kernels.keeps_gathered = true;
         }},
        {"sequence parallelism over chunks",
         [](Execution& how) {
             how.tensor = 2;
             how.sequence_parallel = true;
             how.kernels.loss = LossKernel::Chunked;
         }},
        {"slices",
         [](Execution& how) {
             how.slices = 4;
             how.slice = 2;
         }},
        {"a ring", [](Execution& how) { how.context = 2; }},
        {"gathered keys",
         [](Execution& how) {
             how.context = 2;
             how.kernels.context_communication = ContextCommunication::AllGather;
         }},
        {"gathered keys of slices",
         [](Execution& how) {
             how.context = how.slices = 2;
             how.kernels.context_communication = ContextCommunication::AllGather;
         }},
        {"exchanged heads",
         [](Execution& how) {
             how.context = 2;
             how.kernels.context_communication = ContextCommunication::AllToAll;
         }},
        {"exchanged heads and a ring",
         [](Execution& how) {
             how.context = 4;
             how.context_inner = 2;
             how.kernels.context_communication = ContextCommunication::TwoLevel;
         }},
        {"cut the other way",
         [](Execution& how) { how.tensor = 2; },
         {{"*.c_attn.*", Sharding::Row},
          {"*.c_proj.weight", Sharding::Column},
          {"wte.weight", Sharding::Column},
          {"wpe.weight", Sharding::Column}}},
        {"ranks that share experts",
         [](Execution& how) {
             how.tensor = how.expert = how.expert_tensor = 2;
             how.sequence_parallel = true;
         }},
    };
}

/// A stage of two layers with both ends, or what else the network is cut into; none where it cannot
/// be cut so.
std::optional<StageGraph> stage_of(Architecture model, const Way& way,
                                   const StageContent& content = {0, 2, true, true}) {
    Layers both(model.layers[0], 1);
    both.append(model.layers[model.layers.count() - 1]);
    model.layers = both;
    model.sharding.insert(model.sharding.end(), way.table.begin(), way.table.end());
    Execution how;
    how.micro_batch = 2;
    how.seq_length = model.family == Family::Vit ? model.max_positions : 64;
    way.change(how);
    try {
        return build_stage(model, how, content);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

/// The network with that many depths of multi-token prediction, if it can have them.
/// Without a vision tower, whose operators are those of another network's layers.
Architecture predicting(Architecture model, int depth) {
    model.tower.reset();
    if (!model.learned_positions && !model.sees_images()) model.mtp_layers = depth;
    return model;
}

TEST(Roles, AreTheTensorsThatThePassesOfEveryShippedModelUse) {
    for (const Way& way : ways()) {
        int built = 0;
        for (const std::string& name : zoo())
            for (const int depth : {0, 2}) {
                const std::optional<StageGraph> graph =
                    stage_of(predicting(read_model(name), depth), way);
                if (!graph) continue;
                ++built;
                check(*graph, name + " by " + way.name);
            }
        EXPECT_GT(built, 0) << way.name;
    }
}

/// The stage with the predictions and its last layer, one with the predictions alone, and the
/// head's.
std::vector<StageContent> predictions_apart() {
    return {{1, 1, false, false, Predictions::Here, true},
            {2, 0, false, false, Predictions::Here, false},
            {2, 0, false, true, Predictions::Before, false}};
}

TEST(Roles, AreTheTensorsThatPassesUseWherePredictionsAreInAnotherStageThanTheLoss) {
    int built = 0;
    for (const Way& way : ways())
        for (const char* model : {"qwen3-8b", "deepseek-v3", "llama3.2-1b"})
            for (const int depth : {1, 3})
                for (const StageContent& content : predictions_apart()) {
                    const auto graph = stage_of(predicting(read_model(model), depth), way, content);
                    if (!graph) continue;
                    ++built;
                    check(*graph, std::string(model) + " apart by " + way.name);
                    const Bytes streams = graph->boundary_bytes() * (1 + depth);
                    EXPECT_EQ(content.head ? graph->input_bytes() : graph->output_bytes(), streams);
                    const auto& edge = content.head ? graph->input : graph->output;
                    EXPECT_EQ(graph->tensors[static_cast<std::size_t>(*edge)].bytes, streams);
                }
    EXPECT_GT(built, 50);
}

TEST(Roles, CoverEveryKind) {
    std::set<std::size_t> seen;
    for (const Way& way : ways())
        for (const char* model :
             {"gpt2-medium", "mixtral-8x7b", "vit-base", "qwen3-8b", "deepseek-v3", "gemma-2-9b",
              "olmo2-7b", "llama4-scout", "nemotron-h-8b", "qwen3-next-80b-a3b", "glm-5"})
            if (const auto graph = stage_of(predicting(read_model(model), 1), way))
                for (const Operator& op : graph->operators) seen.insert(op.roles.index());
    for (const StageContent& content : predictions_apart()) {
        const auto graph = stage_of(predicting(read_model("qwen3-8b"), 1), ways().front(), content);
        ASSERT_TRUE(graph);
        for (const Operator& op : graph->operators) seen.insert(op.roles.index());
    }
    EXPECT_EQ(seen.size(), std::variant_size_v<Roles>);
}

TEST(Roles, ThatPointAtAnotherTensorAreNoticed) {
    StageGraph graph = *stage_of(read_model("mixtral-8x7b"), {"as it is", [](Execution&) {}});
    const auto noticed = [&](Operator op) {
        const Promise promise = promise_of(graph, op);
        return promised(graph, promise) != listed(graph, op);
    };
    int wrong = 0;
    for (const Operator& op : graph.operators) {
        EXPECT_FALSE(noticed(op)) << op.name;
        Operator other = op;
        if (auto* norm = std::get_if<op::Norm>(&other.roles))
            std::swap(norm->y.tensor, norm->statistics);
        else if (auto* core = std::get_if<op::Attention>(&other.roles))
            std::get<op::FlashKernel>(core->kernel).log_sum_exp = core->out.tensor;
        else if (auto* router = std::get_if<op::Router>(&other.roles))
            std::swap(router->logits, router->logits_gradient);
        else if (auto* sum = std::get_if<op::Combine>(&other.roles))
            sum->weighed->weights.tensor = sum->rows.tensor;
        else
            continue;
        EXPECT_TRUE(noticed(other)) << op.name;
        ++wrong;
    }
    EXPECT_GT(wrong, 8);
}

}  // namespace
}  // namespace debubble::models
