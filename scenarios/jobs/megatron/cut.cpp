#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/partition/partition.h"
#include "scenarios/jobs/megatron/megatron.h"
#include "scenarios/jobs/read/script_settings.h"

namespace debubble::jobs {
namespace {

/// ZeRO's stage, by which of the distributed optimizers runs.
void read_sharding(Reading& job, MegatronCut& cut) {
    Settings& in = job.in;
    const bool distributed = in.is_on("use_distributed_optimizer");
    const std::optional<std::string> strategy = in.word("data_parallel_sharding_strategy");
    const Setting* from = in.find("use_distributed_optimizer");
    if (in.is_on("use_megatron_fsdp")) {
        from = in.find("use_megatron_fsdp");
        const std::string word = strategy.value_or("optim_grads_params");
        cut.zero_stage = word == "no_shard"      ? 0
                         : word == "optim"       ? 1
                         : word == "optim_grads" ? 2
                                                 : 3;
        if (strategy) from = in.find("data_parallel_sharding_strategy");
    } else if (in.is_on("use_torch_fsdp2")) {
        from = in.find("use_torch_fsdp2");
        cut.zero_stage = 3;
        cut.fsdp2 = true;
    } else if (distributed) {
        cut.zero_stage = 1;
    } else if (in.is_on("deepspeed")) {  // Megatron-DeepSpeed
        cut.zero_stage = static_cast<int>(in.whole("zero_stage", 0, 3).value_or(0));
        from = in.find("zero_stage");
    }
    const std::optional<std::string> optimizer = in.word("optimizer");
    if (optimizer && optimizer->find("muon") != std::string::npos && cut.zero_stage == 1)
        job.note(*in.find("optimizer"),
                 "with --use-distributed-optimizer Muon's state is distributed layer by layer, "
                 "which is planned as ZeRO-1");
    if (cut.zero_stage > 0)
        job.set("parallel.zero_stage", static_cast<std::int64_t>(cut.zero_stage), from);
    const auto instances = in.whole("num_distributed_optimizer_instances", 1, kMost);
    if (instances && *instances > 1 && cut.data) {
        const std::int64_t replicas = *cut.data * cut.context;
        if (replicas % *instances != 0)
            job.refuse(*in.find("num_distributed_optimizer_instances"),
                       fmt::format("{} instances do not divide {} replicas", *instances, replicas));
        else
            job.set("parallel.shard", replicas / *instances,
                    in.find("num_distributed_optimizer_instances"));
    }
}

std::int64_t degree(Reading& job, const char* key, const char* name) {
    const std::int64_t value = job.in.whole(name, 1, kMostDegree).value_or(1);
    if (value > 1) job.set(key, value, job.in.find(name));
    return value;
}

void read_experts_cut(Reading& job, const MegatronCut& cut) {
    Settings& in = job.in;
    const bool experts = in.whole("num_experts", 0, 4096).value_or(0) > 0;
    const auto expert = in.whole("expert_model_parallel_size", 1, kMostDegree);
    const auto expert_tensor = in.whole("expert_tensor_parallel_size", 1, kMostDegree);
    if (!experts) return;
    if (expert && *expert > 1)
        job.set("parallel.expert", *expert, in.find("expert_model_parallel_size"));
    if (expert_tensor && *expert_tensor != cut.tensor)
        job.set("parallel.expert_tensor", *expert_tensor, in.find("expert_tensor_parallel_size"));
}

/// Weights in more shards than tensor ranks, which are gathered for every layer.
void refuse_weight_shards(Reading& job, const MegatronCut& cut) {
    for (const char* name :
         {"tensor_parallel_num_weight_shards", "expert_tensor_parallel_num_weight_shards"}) {
        const auto shards = job.in.whole(name, 1, kMostDegree);
        if (shards && *shards > cut.tensor)
            job.refuse(*job.in.find(name),
                       fmt::format("weights in {} shards on {} tensor ranks are not supported",
                                   *shards, cut.tensor));
    }
}

}  // namespace

MegatronCut read_megatron_cut(Reading& job, const MegatronDialect& dialect) {
    Settings& in = job.in;
    MegatronCut cut;
    cut.layers = in.whole("num_layers", 1, 10'000).value_or(0);
    cut.tensor = degree(job, "parallel.tensor", "tensor_model_parallel_size");
    cut.pipeline = degree(job, "parallel.pipeline", "pipeline_model_parallel_size");
    cut.context = degree(job, "parallel.context", "context_parallel_size");
    World world;
    world.per_replica = cut.tensor * cut.pipeline * cut.context;
    world.product =
        fmt::format("tensor {} x pipeline {} x context {}", cut.tensor, cut.pipeline, cut.context);
    read_launcher(job, world);
    settle_cluster(job, std::string(dialect.cluster_hint));
    cut.data = settle_world(job, world);
    cut.sequence = in.is_on("sequence_parallel") && cut.tensor > 1;
    if (cut.sequence) job.set("parallel.sequence", true, in.find("sequence_parallel"));
    refuse_weight_shards(job, cut);
    read_sharding(job, cut);
    read_experts_cut(job, cut);
    read_megatron_stages(job, cut);
    if (in.is_on("use_tp_pp_dp_mapping"))
        job.set("parallel.order", std::string("tp-cp-ep-pp-dp"), in.find("use_tp_pp_dp_mapping"));
    return cut;
}

}  // namespace debubble::jobs
