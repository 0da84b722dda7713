#include <algorithm>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "models/read/layer_keys.h"
#include "scenarios/plan/plan.h"
#include "scenarios/read/read_scenario.h"

namespace debubble::scenarios {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kBase = "model: gpt2\ncluster: dgx-a100-80gb\n";

Scenario parse(const std::string& more, const std::vector<Override>& overrides = {}) {
    return parse_scenario(kBase + more, "here.yaml", overrides);
}

std::string mistakes_of(const std::string& more, const std::vector<Override>& overrides = {}) {
    try {
        parse(more, overrides);
    } catch (const InputError& error) {
        return error.what();
    }
    return "none";
}

TEST(Scenario, TheColossalAITutorialIsReadAsItIsWritten) {
    const Scenario s = read_scenario("gpt2-xl");
    EXPECT_EQ(models::keys_of(s.model.layers[0]).heads, 32);
    EXPECT_EQ(s.gpus, 8);
    EXPECT_EQ(s.cluster.nodes, 1);
    EXPECT_EQ(s.parallel.data, 2);
    EXPECT_EQ(s.pipeline_shape(), (PipelineShape{2, 1, 192, 1}));
    EXPECT_EQ(s.training.global_batch, 384);
    EXPECT_TRUE(s.training.precision.loss_scaling);
    EXPECT_EQ(s.training.recompute, models::Recompute::Full);
    EXPECT_EQ(lr_of(s.training.run.optimizer), 1.5e-4);
    EXPECT_EQ(s.framework.point_to_point, PointToPoint::Full);
    EXPECT_EQ(s.framework.name, "megatron-2021");
}

TEST(Scenario, WhatIsNotSaidFollows) {
    const Scenario s = parse("");
    EXPECT_EQ(s.name, "here");
    EXPECT_EQ(s.gpus, 8);
    EXPECT_EQ(s.parallel.data, 8);
    EXPECT_EQ(s.training.global_batch, 8);
    EXPECT_EQ(s.training.seq_length, 1024);
    EXPECT_EQ(s.framework.name, "megatron-2024");
    EXPECT_EQ(parse("parallel: {data: 2}").gpus, 2);
    EXPECT_EQ(parse("gpus: 32").cluster.nodes, 4);
    EXPECT_EQ(parse("gpus: 3\nnodes: 3").cluster.gpus_per_node, 1);
    EXPECT_EQ(parse("gpus: 1\ntraining: {global_batch: 8}").training.micro_batches, 8);
    EXPECT_EQ(parse("gpus: 1\ntraining: {global_batch: 8, micro_batches: 4}").training.micro_batch,
              2);
    EXPECT_EQ(parse("parallel: {pipeline: 2}").parallel.wrap, Wrap::Stage);
}

struct Precise {
    const char* word;
    int bytes;  ///< per parameter: weights, main parameters, gradients, two moments
};

TEST(Scenario, APrecisionIsItsBytesPerParameter) {
    for (const Precise& row :
         {Precise{"bf16", 18},
          {"pure-bf16", 8},
          {"fp16", 18},
          {"fp32", 16},
          {"{compute: bf16, main_params: none, grads: bf16, moments: fp32}", 12},
          {"{base: pure-bf16, moments: fp32}", 12}}) {
        const Precision p =
            parse(std::string("training: {precision: ") + row.word + "}").training.precision;
        EXPECT_EQ(size_of(p.compute) + (p.main_params ? size_of(*p.main_params) : 0) +
                      size_of(p.grads) + 2 * size_of(p.moments),
                  row.bytes)
            << row.word;
    }
}

TEST(Scenario, AMapOnABaseIsLaidOverItDeeply) {
    const Scenario s = parse_scenario(
        "model: gpt2\ncluster: {base: dgx-a100-80gb, gpu: {name: X, memory: 40 GiB}, name: mine,"
        " node_link: {group_efficiency: {2: 0.5}}}\n",
        "here.yaml");
    const Scenario base = parse("");
    EXPECT_EQ(s.cluster.gpu.name, "X");
    EXPECT_EQ(s.cluster.gpu.memory, Bytes{40LL << 30});
    EXPECT_EQ(s.cluster.gpu.sms, base.cluster.gpu.sms);
    EXPECT_EQ(s.cluster.gpu.memory_bandwidth, base.cluster.gpu.memory_bandwidth);
    EXPECT_EQ(s.cluster.node_link.bandwidth, base.cluster.node_link.bandwidth);
    EXPECT_EQ(s.cluster.node_link.group_efficiency,
              (std::map<int, double>{{2, 0.5}, {4, 0.747}, {8, 0.770}}));
}

/// `key:`, `key: ~` and `--set key=null` all say nothing: the key's default holds, or that of the
/// base.
TEST(Scenario, AKeyWithoutAValueIsNotGiven) {
    EXPECT_EQ(parse("training: {steps: ~, epochs: 2}").training.run.epochs, 2);
    EXPECT_EQ(parse("training: {steps: 3, epochs:}").training.run.steps, 3);
    EXPECT_EQ(parse("training: {data: {tokens: t.bin, text: ~}}").training.run.data.tokens,
              "t.bin");
    EXPECT_EQ(parse("schedule: {name: zb-h1, csv: ~}").schedule.name, "zb-h1");
    EXPECT_EQ(parse("schedule: zb-h1", {{"schedule.csv", ""}}).schedule.name, "zb-h1");
    EXPECT_EQ(parse("schedule: zb-h1", {{"schedule", ""}}).schedule.name, "1f1b");
    EXPECT_EQ(parse("parallel: {data: 2}", {{"parallel.data", ""}}).parallel.data,
              parse("").parallel.data);
    EXPECT_EQ(parse("", {{"cluster.gpu.memory", ""}}).cluster.gpu.memory,
              parse("").cluster.gpu.memory);
    EXPECT_EQ(parse("framework: {base: ~, name: own}").framework.name, "own");
    EXPECT_THAT(mistakes_of("training: {steps: 1, epochs: 2}"),
                HasSubstr("give either 'steps' or 'epochs'"));
}

TEST(Scenario, AMemoryLimitIsForAScheduleThatSearchesUnderIt) {
    const auto limits = [](const std::string& text) {
        return parse("parallel: {pipeline: 2}\nschedule: {name: zb-auto, memory_limit: " + text +
                     "}")
            .schedule.memory_limits;
    };
    EXPECT_EQ(limits("3"), std::vector<double>{3});
    EXPECT_EQ(limits("[3, 2.5]"), (std::vector<double>{3, 2.5}));
    EXPECT_THAT(mistakes_of("schedule: {name: zb-auto, memory_limit: []}"),
                HasSubstr("'memory_limit' is empty"));
    EXPECT_THAT(mistakes_of("schedule: {name: zb-h1, memory_limit: 3}"),
                HasSubstr("here.yaml:3:39: error: schedule 'zb-h1' takes no memory limit; zb-auto "
                          "searches under one"));
}

TEST(Scenario, TooFewMicroBatchesForZbH2AreANote) {
    const std::string few =
        "parallel: {pipeline: 4}\nschedule: zb-h2\n"
        "training: {micro_batches: 5}";
    EXPECT_THAT(parse(few).notes, testing::Contains(HasSubstr("zb-h2 fills its warm-up with 7")));
    EXPECT_THAT(parse(few, {{"training.micro_batches", "7"}}).notes,
                testing::Not(testing::Contains(HasSubstr("zb-h2"))));
}

TEST(Scenario, AWordMayBeChangedInPart) {
    const Scenario s = parse("framework: {base: pytorch-eager, ddp_buckets: true}",
                             {{"model.layers", "24"},
                              {"cluster.gpu.memory", "40 GiB"},
                              {"schedule.slices", "1"},
                              {"framework.loss", "unfused"}});
    EXPECT_EQ(s.model.layers.count(), 24);
    EXPECT_EQ(s.model.hidden, 768);
    EXPECT_EQ(s.cluster.gpu.memory.count, 40LL << 30);
    EXPECT_EQ(s.cluster.origins.at("gpu.memory").source, "set in --set");
    EXPECT_EQ(s.cluster.origins.at("gpu.sms").provenance, Provenance::Datasheet);
    EXPECT_TRUE(s.framework.ddp_buckets);
    EXPECT_EQ(s.framework.kernels.loss, models::LossKernel::Unfused);
    EXPECT_EQ(s.framework.name, "pytorch-eager");
}

TEST(Scenario, ExpertsAreCutLikeAllElseUnlessSaid) {
    const auto mixtral = [](std::vector<Override> overrides) {
        return read_scenario("mixtral-8x22b", overrides).parallel;
    };
    EXPECT_EQ(mixtral({}).expert_tensor, 2);
    EXPECT_EQ(mixtral({}).expert_replicas(), 1);
    EXPECT_EQ(mixtral({{"parallel.tensor", "4"}, {"parallel.expert", "4"}}).expert_tensor, 4);
    const Parallel whole = mixtral({{"parallel.expert_tensor", "1"}});
    EXPECT_EQ(whole.expert_tensor, 1);
    EXPECT_EQ(whole.expert_replicas(), 2);
    EXPECT_EQ(read_scenario("gpt2-xl").parallel.expert_tensor, 1);
}

/// Tensor-parallel ranks that have the same whole experts sum their gradients, though there is one
/// replica of all else.
TEST(Scenario, ExpertsOfOneReplicaAreReducedToo) {
    const auto reductions = [](const char* expert_tensor) {
        const Scenario one =
            read_scenario("mixtral-8x22b", {{"nodes", "2"},
                                            {"parallel.expert", "1"},
                                            {"parallel.zero_stage", "0"},
                                            {"parallel.expert_tensor", expert_tensor}});
        EXPECT_EQ(one.parallel.replicas(), 1);
        int count = 0;
        for (const ActionList& list : make_plan(one).program.ranks)
            count += static_cast<int>(std::ranges::count_if(list, [](const Action& action) {
                return std::holds_alternative<ReduceGrad>(action);
            }));
        return count;
    };
    EXPECT_EQ(reductions("2"), 0);
    EXPECT_EQ(reductions("1"), 8);
}

TEST(Scenario, IncludesLieUnderTheFile) {
    const Scenario s = parse_scenario(
        "include: gpt2-xl\nname: mine\ntraining: {recompute: none}\nschedule: gpipe\n", "x.yaml");
    EXPECT_EQ(s.name, "mine");
    EXPECT_TRUE(s.description.empty());
    EXPECT_EQ(s.training.recompute, models::Recompute::None);
    EXPECT_EQ(s.training.micro_batches, 192);
    EXPECT_EQ(s.schedule.name, "gpipe");
}

TEST(Scenario, TheKnobsOfTheViTTutorialHaveTheirMeaning) {
    const Scenario s = parse(
        "parallel: {zero_stage: 1, zero_bucket_size_in_m: 12, cpu_offload: true,\n"
        "           communication_dtype: fp16, overlap_communication: false}\n"
        "training: {precision: fp16, loss_scale: {initial_scale: 65536, min_scale: 1,\n"
        "           growth_factor: 2, backoff_factor: 0.5, growth_interval: 1000, hysteresis: 2,\n"
        "           max_scale: 4294967296}}");
    EXPECT_EQ(s.framework.grad_bucket.count, 12 << 20);
    EXPECT_FALSE(s.framework.overlap_grad_reduce);
    EXPECT_TRUE(s.training.offload_optimizer);
    EXPECT_EQ(s.parallel.communication_dtype, models::DataType::Fp16);
    EXPECT_EQ(s.training.run.loss_scale,
              (LossScaleOptions{65536, 1, 4294967296.0, 2, 0.5, 1000, 2}));
}

TEST(Scenario, WhatAFrameworkSharesAndLaunchesIsRead) {
    const Scenario s = parse(
        "nodes: 2\nparallel: {zero_stage: 3, shard: 8, reshard: false}\n"
        "framework: {base: pytorch-fsdp2, release: torch 2.6, tensor_overlap: true,\n"
        "  dispatcher: deepep, cuda_graphs: [attn, moe_router], grad_reduce_dtype: bf16,\n"
        "  capacity_factor: 1.5, context_communication: a2a+p2p}\n");
    EXPECT_EQ(s.parallel.shards(), 8);
    EXPECT_EQ(s.parallel.copies(), 2);
    EXPECT_FALSE(s.parallel.reshard);
    EXPECT_EQ(s.framework.release, "torch 2.6");
    EXPECT_TRUE(s.framework.tensor_overlap);
    EXPECT_EQ(s.framework.kernels.dispatcher, models::Dispatcher::DeepEp);
    EXPECT_TRUE(s.framework.cuda_graphs.has(GraphScope::Attention));
    EXPECT_FALSE(s.framework.cuda_graphs.has(GraphScope::Moe));
    EXPECT_EQ(s.gradients_on_the_wire(), models::DataType::Bf16);
    EXPECT_EQ(s.framework.capacity_factor, 1.5);
    EXPECT_TRUE(parse("framework: {cuda_graphs: full_iteration}\n")
                    .framework.cuda_graphs.has(GraphScope::Mamba));
}

TEST(Scenario, AnOverrideIsBlamedAsSet) {
    EXPECT_EQ(mistakes_of("", {{"parallel.tensor", "x"}}),
              "--set:1:17: error: 'tensor' must be a whole number, not 'x'\n"
              "  parallel.tensor=x\n                  ^\n");
    EXPECT_THAT(mistakes_of("", {{"parallel.tenser", "2"}}),
                HasSubstr("--set:1:1: error: unknown key 'tenser' of 'parallel'; did you mean "
                          "'tensor'?"));
    EXPECT_THAT(mistakes_of("", {{"schedule", "{name: [}"}}), HasSubstr("--set:1:"));
    EXPECT_THAT(mistakes_of("parallel: {tensor: 2}\n", {{"parallel.tensor.x", "3"}}),
                HasSubstr("--set:1:1: error: 'tensor' must be a whole number, not a map"));
    EXPECT_THAT(mistakes_of("", {{"model", "deepseek-v3"}, {"model.router_groups", "7"}}),
                HasSubstr("--set:1:21: error: 256 experts cannot be divided into 7 equal groups"))
        << "and not at the layers of the zoo's file, which take the value";
    EXPECT_THROW(parse_override("parallel.tensor"), InputError);
    for (const char* empty : {"parallel.tensor=", "schedule=  "})
        EXPECT_THROW(parse_override(empty), InputError) << empty;
    EXPECT_EQ(parse_override("parallel.tensor=null"), (Override{"parallel.tensor", "null"}));
    EXPECT_EQ(parse_override("a=b=c"), (Override{"a", "b=c"}));
}

TEST(Scenario, AnUnevenUniformPartitionIsANote) {
    EXPECT_THAT(
        parse("gpus: 5\nparallel: {pipeline: 5, data: 1}\ntraining: {micro_batches: 5}").notes,
        ElementsAre("stages hold 2, 2, 2, 3, 3 layers"));
}

/// DeepSpeed has no pipelines with ZeRO-3.
TEST(Scenario, LimitsOfStage3ThatChangeNothingAreANote) {
    const auto note = HasSubstr("stage-3 limits");
    const std::string deepspeed = "\nframework: deepspeed";
    EXPECT_THAT(parse("gpus: 8\nparallel: {pipeline: 2, data: 4, zero_stage: 3}" + deepspeed).notes,
                testing::Contains(note));
    EXPECT_THAT(parse("gpus: 4\nparallel: {data: 4, zero_stage: 3}" + deepspeed).notes,
                testing::Not(testing::Contains(note)));
    EXPECT_THAT(parse("gpus: 4\nparallel: {data: 4, zero_stage: 2}" + deepspeed).notes,
                testing::Not(testing::Contains(note)));
}

}  // namespace
}  // namespace debubble::scenarios
