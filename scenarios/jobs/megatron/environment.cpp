#include <fmt/format.h>

#include "scenarios/jobs/megatron/megatron.h"

/// Rules of Megatron-LM d98e8a64dd about environment variables combined with flags
/// (megatron/training/arguments.py, validate_args, and
/// core/distributed/distributed_data_parallel_config.py).
namespace debubble::jobs {
namespace {

constexpr std::string_view kPlaceOfArguments = "megatron/training/arguments.py, validate_args";
constexpr std::string_view kPlaceOfBuffers =
    "megatron/core/distributed/distributed_data_parallel_config.py, __post_init__";

/// The value of a variable that the job sets or --env gives.
std::optional<std::string> variable_of(Reading& job, const std::string& name) {
    if (const Setting* const setting = job.in.find("$" + name);
        setting != nullptr && setting->known && setting->value->is(text::Node::Kind::Scalar))
        return setting->value->scalar;
    const auto given = job.started.environment.find(name);
    if (given == job.started.environment.end()) return {};
    return given->second;
}

bool has_expandable_segments(Reading& job) {
    for (const char* name :
         {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"})
        if (const auto value = variable_of(job, name);
            value && value->find("expandable_segments:True") != std::string::npos)
            return true;
    return false;
}

}  // namespace

void note_environment_refusals(Reading& job, const MegatronDialect& dialect,
                               const MegatronCut& cut) {
    Settings& in = job.in;
    if (dialect.is_bridge || dialect.is_primus) return;  // which set the variables themselves
    const auto refuse = [&](const char* name, const std::string& sentence, std::string_view place) {
        if (const Setting* const setting = in.find(name))
            job.note(*setting,
                     fmt::format("Megatron-LM would refuse this: {} ({})", sentence, place),
                     Harm::Refused);
    };
    const auto connections = variable_of(job, "CUDA_DEVICE_MAX_CONNECTIONS");
    for (const char* name : {"use_torch_fsdp2", "use_megatron_fsdp"})
        if (in.is_on(name) && connections == "1")
            refuse(name, "it needs CUDA_DEVICE_MAX_CONNECTIONS other than 1", kPlaceOfArguments);
    const bool cut_within = cut.tensor > 1 || cut.context > 1;
    const std::string cluster = job.given("cluster").value_or("");
    const bool before_blackwell =
        cluster.find("h100") != std::string::npos || cluster.find("a100") != std::string::npos ||
        cluster.find("h200") != std::string::npos || cluster.find("h800") != std::string::npos;
    const bool exempt = in.is_on("use_megatron_fsdp") || in.is_on("use_torch_fsdp2") ||
                        in.is_on("overlap_moe_expert_parallel_comm");
    if (cut_within && before_blackwell && !exempt && connections && *connections != "1")
        refuse(cut.tensor > 1 ? "tensor_model_parallel_size" : "context_parallel_size",
               fmt::format("before Blackwell it needs CUDA_DEVICE_MAX_CONNECTIONS 1, not {}",
                           *connections),
               kPlaceOfArguments);
    if (!has_expandable_segments(job)) return;
    if (in.is_on("nccl_ub"))
        refuse("nccl_ub", "NCCL user buffers do not support expandable segments before torch 2.11",
               kPlaceOfBuffers);
    if (in.word("cuda_graph_impl") == "transformer_engine" &&
        variable_of(job, "NCCL_GRAPH_REGISTER") != "0")
        refuse("cuda_graph_impl",
               "TransformerEngine's graphs with expandable segments need NCCL_GRAPH_REGISTER=0",
               kPlaceOfArguments);
}

}  // namespace debubble::jobs
