#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "scenarios/jobs/read/formats.h"
#include "scenarios/jobs/read/python_files.h"
#include "text/document_readers.h"

/// The YAML of `accelerate launch`; defaults of accelerate 16cb6eb8, utils/dataclasses.py.
namespace debubble::jobs {
namespace {

using text::Node;
using text::NodePtr;

void read_accelerate_types(Reading& job, bool sharded) {
    Settings& in = job.in;
    const std::string word = in.word("mixed_precision").value_or("no");
    const Setting* const from = in.find("mixed_precision");
    if (word == "bf16" || word == "fp16")
        job.set(
            "training.precision", word, from,
            sharded ? "fp32 parameters, gathered in 16 bits" : "fp32 parameters under autocast");
    else if (word == "fp8")
        job.set("training.precision", std::string("fp8-current"), from);
    else
        job.set("training.precision", std::string("fp32"), from, "no mixed_precision");
}

/// Batches are the script's; the gradient is accumulated over microbatches.
void read_accelerate_batches(Reading& job, std::optional<std::int64_t> data) {
    const auto steps = job.in.whole("gradient_accumulation_steps", 1, kMost);
    const auto micro = job.given_whole("training.micro_batch");
    if (!micro)
        job.ask(
            "how many samples does a microbatch have? The script determines it; give them by --set "
            "training.micro_batch=N");
    else if (data && !job.given("training.global_batch"))
        job.set("training.global_batch", batch_of(*micro, *data, steps.value_or(1)),
                job.in.find("gradient_accumulation_steps"),
                "micro batch x data x accumulation steps");
}

struct Sizes {
    std::int64_t tensor = 1, context = 1, replicate = 1, shard = 0;
};

std::optional<std::int64_t> size(Reading& job, const char* name) {
    return job.in.whole(std::string("parallelism_config_") + name, 1, kMostDegree);
}

Sizes read_sizes(Reading& job) {
    Sizes sizes;
    sizes.tensor = size(job, "tp_size").value_or(1);
    sizes.replicate = size(job, "dp_replicate_size").value_or(1);
    sizes.shard = size(job, "dp_shard_size").value_or(0);
    const std::int64_t context = size(job, "cp_size").value_or(1);
    const std::int64_t heads = size(job, "sp_size").value_or(1);
    sizes.context = context * heads;
    if (sizes.tensor > 1)
        job.set("parallel.tensor", sizes.tensor, job.in.find("parallelism_config_tp_size"));
    if (sizes.context > 1) {
        const Setting* const from =
            job.in.find(context > 1 ? "parallelism_config_cp_size" : "parallelism_config_sp_size");
        job.set("parallel.context", sizes.context, from);
        const std::string way =
            job.in.word("parallelism_config_cp_comm_strategy").value_or("allgather");
        job.set("framework.context_communication",
                std::string(heads > 1 || way == "alltoall" ? "all-to-all" : "all-gather"), from);
    }
    return sizes;
}

/// FULL_SHARD and its like, by name or number; the word of FSDP2 is reshard_after_forward.
void read_fsdp(Reading& job, const Sizes& sizes, std::optional<std::int64_t> data) {
    Settings& in = job.in;
    const std::int64_t version = in.whole("fsdp_version", 1, 2).value_or(1);
    const std::string word = in.word("fsdp_sharding_strategy").value_or("FULL_SHARD");
    const Setting* const from = in.find("fsdp_sharding_strategy");
    const bool hybrid = word == "HYBRID_SHARD" || word == "4" || word == "HYBRID_SHARD_ZERO2" ||
                        word == "5" || word == "_HYBRID_SHARD_ZERO2";
    const bool two =
        word == "SHARD_GRAD_OP" || word == "2" || word.ends_with("ZERO2") || word == "5";
    const bool none = word == "NO_SHARD" || word == "3";
    const std::int64_t stage = none ? 0 : two ? 2 : 3;
    if (stage > 0) job.set("parallel.zero_stage", stage, from, from == nullptr ? "FSDP" : "");
    if (stage == 3) job.set("parallel.wrap", std::string("layer"));
    const std::string reshard = in.word("fsdp_reshard_after_forward").value_or("true");
    if (version == 2 && reshard == "false" && stage == 3)
        job.set("parallel.reshard", false, in.find("fsdp_reshard_after_forward"));
    if (sizes.replicate > 1 && data)
        job.set("parallel.shard",
                std::max<std::int64_t>(*data / sizes.replicate, 1) * sizes.context,
                in.find("parallelism_config_dp_shard_size"));
    else if (hybrid)
        job.note(
            *from,
            "it shards inside a node: give the number of GPUs per node by --set parallel.shard=N");
    job.set("framework.base", std::string(version == 2 ? "pytorch-fsdp2" : "pytorch-fsdp1"),
            in.find("fsdp_version"));
    if (version == 1)  // the profile has Composer's loss
        job.set("framework.loss", std::string("eager-pytorch"), in.find("fsdp_version"));
    if (in.is_on("fsdp_offload_params"))
        job.set("training.offload_optimizer", true, in.find("fsdp_offload_params"));
    job.set("training.recompute",
            std::string(in.is_on("fsdp_activation_checkpointing") ? "full" : "none"),
            in.find("fsdp_activation_checkpointing"));
}

void read_megatron_lm(Reading& job, std::int64_t& tensor, std::int64_t& pipeline,
                      std::int64_t& context) {
    Settings& in = job.in;
    tensor = in.whole("megatron_lm_tp_degree", 1, kMostDegree).value_or(1);
    pipeline = in.whole("megatron_lm_pp_degree", 1, kMostDegree).value_or(1);
    const auto given = in.whole("megatron_lm_context_parallel_size", 1, kMostDegree);
    context = given.value_or(2);
    if (!given) job.note("megatron_lm_context_parallel_size is absent, so accelerate uses 2");
    if (tensor > 1) job.set("parallel.tensor", tensor, in.find("megatron_lm_tp_degree"));
    if (pipeline > 1) job.set("parallel.pipeline", pipeline, in.find("megatron_lm_pp_degree"));
    if (context > 1)
        job.set("parallel.context", context, in.find("megatron_lm_context_parallel_size"));
    if (in.is_on("megatron_lm_sequence_parallelism") && tensor > 1)
        job.set("parallel.sequence", true, in.find("megatron_lm_sequence_parallelism"));
    if (in.is_on("megatron_lm_use_distributed_optimizer"))
        job.set("parallel.zero_stage", std::int64_t{1},
                in.find("megatron_lm_use_distributed_optimizer"));
    const std::optional<bool> recompute = in.flag("megatron_lm_recompute_activations");
    job.set("training.recompute", std::string(recompute && !*recompute ? "none" : "full"),
            in.find("megatron_lm_recompute_activations"),
            recompute ? "" : "absent, so accelerate recomputes everything");
    job.set("framework.base", std::string("megatron-2026"), nullptr, "Megatron-LM");
}

void sort_accelerate_left(Reading& job) {
    constexpr std::string_view kNamed[] = {"fsdp_cpu_ram_efficient_loading_", "parallelism_config_",
                                           "fp8_config", "megatron_lm_num_micro"};
    for (const Setting* const setting : job.in.left())
        if (std::ranges::any_of(
                kNamed, [&](std::string_view part) { return setting->name.starts_with(part); }))
            job.note(fmt::format("{} is not a known setting of accelerate; it is ignored",
                                 origin_of(*setting)),
                     Harm::Unknown);
        else
            job.count_silent();
}

/// The JSON that deepspeed_config_file names, beside the job, with the launcher's processes.
bool read_deepspeed_file(const JobText& text, Reading& job) {
    const Setting* const file = job.in.find("deepspeed_config_file");
    if (file == nullptr) return false;
    const std::filesystem::path path = text.file.parent_path() / file->value->scalar;
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) {
        job.refuse(*file, fmt::format("the file '{}' does not exist", path.string()));
        return true;
    }
    const JobText json{read_file(path, text::kLongestDocument), path, text.folder};
    const Setting* const processes = job.in.find("num_processes");
    Settings settings;
    add_deepspeed(json, settings);
    if (processes != nullptr) settings.add(*processes);
    for (std::size_t i = 0; i < job.in.left().size(); ++i) job.count_silent();
    settings.mistakes = job.in.mistakes;
    job.in = std::move(settings);
    read_deepspeed(json, job);
    return true;
}

/// The keys of deepspeed_config as those of DeepSpeed's own file.
void read_deepspeed_keys(const JobText& text, Reading& job) {
    constexpr std::pair<std::string_view, std::string_view> kNames[] = {
        {"zero_stage", "zero_optimization.stage"},
        {"offload_optimizer_device", "zero_optimization.offload_optimizer.device"},
        {"offload_param_device", "zero_optimization.offload_param.device"}};
    Settings settings;
    for (Setting setting : job.in.all()) {
        for (const auto& [name, other] : kNames)
            if (setting.name == name) setting.name = other;
        if (setting.name == "mixed_precision" &&
            (setting.value->scalar == "bf16" || setting.value->scalar == "fp16")) {
            setting.name = setting.value->scalar + ".enabled";
            setting.value = text::make_scalar("true", setting.value->place);
        }
        settings.add(std::move(setting));
    }
    settings.mistakes = job.in.mistakes;
    job.in = std::move(settings);
    read_deepspeed(text, job, false);
}

}  // namespace

void read_accelerate_job(const JobText& text, Reading& job) {
    const std::vector<NodePtr> documents = yaml_documents(text, job);
    if (documents.empty() || !documents.front()->is(Node::Kind::Map))
        throw InputError({{{text.file.string(), 0, 0}, "the file has no map of settings", {}}});
    add_keys(*documents.front(), false, job.in);
    Settings& in = job.in;
    const std::string kind = in.word("distributed_type").value_or("NO");
    if (kind == "DEEPSPEED") {
        if (!read_deepspeed_file(text, job)) read_deepspeed_keys(text, job);
        return;
    }
    Sizes sizes = read_sizes(job);
    std::int64_t pipeline = 1;
    if (kind == "MEGATRON_LM") read_megatron_lm(job, sizes.tensor, pipeline, sizes.context);
    World world;
    world.per_replica = sizes.tensor * pipeline * sizes.context;
    world.product =
        fmt::format("tensor {} x pipeline {} x context {}", sizes.tensor, pipeline, sizes.context);
    if (const auto processes = in.whole("num_processes", 1, kMost)) {
        world.of_job = processes;
        world.from = in.find("num_processes");
        world.launcher = fmt::format("{} processes", *processes);
    }
    if (!job.has_model())
        job.ask(
            "the model is defined in Python; give a config.json, or a name from `debubble list "
            "models`, by --set model=FILE");
    settle_cluster(job);
    const std::optional<std::int64_t> data = settle_world(job, world);
    const bool sharded = kind == "FSDP" || sizes.shard > 1;
    if (sharded) {
        read_fsdp(job, sizes, data);
    } else if (kind != "MEGATRON_LM") {
        job.set("framework.base", std::string("pytorch-eager"), in.find("distributed_type"));
        job.set("framework.ddp_buckets", true, in.find("distributed_type"),
                "DistributedDataParallel");
    }
    job.set("schedule", std::string("1f1b"));
    read_accelerate_types(job, sharded);
    read_accelerate_batches(job, data);
    const bool recomputes = kind == "FSDP" || kind == "MEGATRON_LM";
    if (!recomputes) {
        read_python_training(job);
    } else {
        if (!job.given("training.seq_length"))
            job.ask(
                "how many tokens does a sample have? The script determines it; give them by --set "
                "training.seq_length=N");
        job.set("training.attention", std::string("flash"), nullptr, "the script's");
    }
    sort_accelerate_left(job);
}

}  // namespace debubble::jobs
