#include "scenarios/jobs/torchtitan/torchtitan.h"

#include <algorithm>

#include <fmt/format.h>

#include "scenarios/jobs/read/script_settings.h"
#include "text/mapping_reader.h"

namespace debubble::jobs {
namespace {

std::int64_t titan_degree(Reading& job, const char* key, const char* name) {
    const std::int64_t value = job.in.whole(name, 1, kMostDegree).value_or(1);
    if (value > 1 && key != nullptr) job.set(key, value, job.in.find(name));
    return value;
}

TitanCut read_titan_cut(Reading& job, std::int64_t layers) {
    Settings& in = job.in;
    TitanCut cut;
    cut.layers = layers;
    cut.tensor = titan_degree(job, "parallel.tensor", "parallelism.tensor_parallel_degree");
    cut.pipeline = titan_degree(job, "parallel.pipeline", "parallelism.pipeline_parallel_degree");
    cut.context = titan_degree(job, "parallel.context", "parallelism.context_parallel_degree");
    const std::int64_t replicate =
        titan_degree(job, nullptr, "parallelism.data_parallel_replicate_degree");
    const std::int64_t shard =
        in.whole("parallelism.data_parallel_shard_degree", -1, kMostDegree).value_or(-1);
    World world;
    world.per_replica = cut.tensor * cut.pipeline * cut.context;
    world.product =
        fmt::format("tensor {} x pipeline {} x context {}", cut.tensor, cut.pipeline, cut.context);
    if (shard > 0) {
        world.of_job = world.per_replica * replicate * shard;
        world.launcher = fmt::format("data {} x {}", replicate, shard);
        world.from = in.find("parallelism.data_parallel_shard_degree");
    } else {
        read_launcher(job, world);
        world.otherwise = fmt::format(
            "how many GPUs? data_parallel_shard_degree -1 uses all that remain; {} x replicas {}, "
            "{}, is the minimum; give a multiple by --set gpus=N",
            world.product, replicate, world.per_replica * replicate);
    }
    settle_cluster(job);
    cut.data = settle_world(job, world);
    if (cut.tensor > 1)
        job.set("parallel.sequence", true, in.find("parallelism.tensor_parallel_degree"),
                "torchtitan always uses sequence parallelism with tensor parallelism");
    const std::int64_t sharded =
        shard > 0 ? shard : std::max<std::int64_t>(cut.data.value_or(0) / replicate, 1);
    cut.shards = sharded * cut.context > 1;
    if (cut.shards) {
        job.set("parallel.zero_stage", std::int64_t{3},
                in.find("parallelism.data_parallel_shard_degree"), "fully_shard");
        if (replicate > 1)
            job.set("parallel.shard", sharded * cut.context,
                    in.find("parallelism.data_parallel_shard_degree"));
        job.set("parallel.wrap", std::string(cut.pipeline > 1 ? "stage" : "layer"));
    }
    const auto expert = in.whole("parallelism.expert_parallel_degree", 1, kMostDegree);
    const auto expert_tensor =
        in.whole("parallelism.expert_tensor_parallel_degree", 1, kMostDegree);
    if (expert && *expert > 1) {
        job.set("parallel.expert", *expert, in.find("parallelism.expert_parallel_degree"));
        job.set("parallel.expert_tensor", expert_tensor.value_or(1),
                in.find("parallelism.expert_tensor_parallel_degree"));
    }
    return cut;
}

void read_reshard(Reading& job, const TitanCut& cut) {
    const std::string word =
        job.in.word("parallelism.fsdp_reshard_after_forward").value_or("default");
    const Setting* const from = job.in.find("parallelism.fsdp_reshard_after_forward");
    if (!cut.shards) return;
    if (word == "never" || (word == "default" && cut.pipeline > 1))
        job.set("parallel.reshard", false, from,
                word == "default"
                    ? "fsdp_reshard_after_forward keeps gathered parameters with a pipeline"
                    : "");
}

/// The dialect of 2026-08 counts tokens.
void read_tokens(Reading& job, const TitanCut& cut, std::int64_t length) {
    Settings& in = job.in;
    const char* const per_rank = "training.num_tokens_per_microbatch_per_dp_rank";
    const auto tokens = in.whole(per_rank, 1, kMost);
    const auto step = in.whole("training.num_tokens_per_train_step", -1, 1'000'000'000'000);
    const auto parts = in.whole("parallelism.num_pp_microbatches", 1, kMost);
    if (!tokens || length <= 0) return;
    const std::int64_t samples = std::max<std::int64_t>(*tokens / length, 1);
    const std::int64_t micro =
        cut.pipeline > 1 ? std::max<std::int64_t>(samples / parts.value_or(1), 1) : samples;
    job.set("training.micro_batch", micro, in.find(per_rank),
            cut.pipeline > 1 ? fmt::format("in {} pipeline microbatches (num_pp_microbatches)",
                                           parts.value_or(1))
                             : "");
    if (cut.pipeline > 1 && parts.value_or(1) < cut.pipeline)
        job.note(
            fmt::format("{} microbatches pass through a pipeline of {} ranks; num_pp_microbatches "
                        "gives how many",
                        parts.value_or(1), cut.pipeline));
    if (step && *step > 0)
        job.set("training.global_batch", std::max<std::int64_t>(*step / length, 1),
                in.find("training.num_tokens_per_train_step"));
    else if (cut.data)
        job.set("training.global_batch", samples * *cut.data, in.find(per_rank),
                fmt::format("{} samples x data {}", samples, *cut.data));
}

void read_titan_batches(Reading& job, const TitanCut& cut) {
    Settings& in = job.in;
    const auto local = in.whole("training.local_batch_size", 1, kMost);
    const auto older = in.whole("training.batch_size", 1, kMost);
    const auto global = in.whole("training.global_batch_size", -1, kMost);
    const auto length = in.whole("training.seq_len", 1, kMost);
    const auto context = in.whole("training.max_context_length", 1, kMost);
    const auto part = in.whole("parallelism.pipeline_parallel_microbatch_size", 1, kMost);
    const auto parts = in.whole("parallelism.num_pp_microbatches", 1, kMost);
    const std::int64_t of_rank = local.value_or(older.value_or(8));
    const Setting* const from =
        in.find(local ? "training.local_batch_size" : "training.batch_size");
    const std::int64_t tokens = length.value_or(context.value_or(2048));
    job.set("training.seq_length", tokens,
            in.find(length ? "training.seq_len" : "training.max_context_length"),
            length || context ? "" : "the default");
    if (in.has("training.num_tokens_per_microbatch_per_dp_rank"))
        return read_tokens(job, cut, tokens);
    const bool given = global && *global > 0;
    const std::int64_t all = given ? *global : of_rank * cut.data.value_or(1);
    if (cut.data) {
        job.set("training.global_batch", all, given ? in.find("training.global_batch_size") : from,
                given ? "" : fmt::format("local batch {} x data {}", of_rank, *cut.data));
        if (given && all % (of_rank * *cut.data) != 0)
            job.refuse(
                *in.find("training.global_batch_size"),
                fmt::format("a global batch of {} is not a multiple of local batch {} x data "
                            "{}",
                            all, of_rank, *cut.data));
        else if (cut.pipeline > 1 && all > of_rank * *cut.data)
            job.note(
                fmt::format("torchtitan runs the whole schedule {} times per step, with a flush in "
                            "between; one schedule of all microbatches is planned",
                            all / (of_rank * *cut.data)));
    }
    const std::int64_t micro = cut.pipeline == 1 ? of_rank
                               : parts           ? std::max<std::int64_t>(of_rank / *parts, 1)
                                                 : part.value_or(1);
    job.set("training.micro_batch", micro,
            cut.pipeline == 1 ? from
            : parts           ? in.find("parallelism.num_pp_microbatches")
                              : in.find("parallelism.pipeline_parallel_microbatch_size"),
            cut.pipeline > 1 && !part && !parts ? "the default of pipeline_parallel_microbatch_size"
                                                : "");
}

std::string titan_recipe(Reading& job, const Setting*& from) {
    Settings& in = job.in;
    for (const char* key : {"model.converters", "model.print_after_conversion"})
        for (const std::string& converter : in.words(key)) {
            from = in.find(key);
            const bool experts_only =
                converter.find("grouped_mm") != std::string::npos && in.words(key).size() == 1;
            if (experts_only)
                job.note(*from, "only the experts' GEMMs are in 8 bits there; all are planned so");
            if (converter.find("float8") != std::string::npos) {
                for (const char* name :
                     {"quantize.linear.float8.recipe_name", "float8.recipe_name"})
                    if (const auto recipe = in.word(name)) {
                        from = in.find(name);
                        if (recipe->find("rowwise") != std::string::npos) return "fp8-rowwise";
                    }
                return "fp8-current";
            }
            if (converter.find("mx") != std::string::npos) return "mxfp8";
        }
    return {};
}

void read_titan_precision(Reading& job, const TitanCut& cut) {
    Settings& in = job.in;
    const bool narrow = in.word("training.dtype").value_or("float32") == "bfloat16";
    const std::string param = in.word("training.mixed_precision_param").value_or("bfloat16");
    const std::string reduce = in.word("training.mixed_precision_reduce").value_or("float32");
    const Setting* from = in.find(narrow ? "training.dtype" : "training.mixed_precision_param");
    const std::string recipe = titan_recipe(job, from);
    std::string word = narrow ? "pure-bf16" : param == "float32" ? "fp32" : "bf16";
    if (!recipe.empty()) {
        word = recipe;
        for (const char* name : {"quantize.linear.float8.enable_fsdp_float8_all_gather",
                                 "float8.enable_fsdp_float8_all_gather"})
            if (in.is_on(name) && cut.shards && recipe == "fp8-current")
                word = fmt::format("{{base: {}, param_gather: fp8}}", recipe);
    }
    job.set("training.precision", word, from,
            from == nullptr ? "fp32 parameters, gathered in bf16" : "");
    if (reduce == "bfloat16" && cut.shards)
        job.set("framework.grad_reduce_dtype", std::string("bf16"),
                in.find("training.mixed_precision_reduce"));
}

void read_titan_recompute(Reading& job, const TitanCut& cut) {
    Settings& in = job.in;
    const std::string mode = in.word("activation_checkpoint.mode").value_or("selective");
    const std::string option = in.word("activation_checkpoint.selective_ac_option").value_or("2");
    const Setting* const from = in.find("activation_checkpoint.mode");
    if (mode == "full" || mode == "none") {
        job.set("training.recompute", mode, from);
    } else if (mode == "selective" && option == "op") {
        job.set("training.recompute", std::string("selective-op"), from);
    } else if (mode == "selective") {
        const auto every = number_of(option);
        const std::int64_t n =
            every && *every >= 1 && *every < 1000 ? static_cast<std::int64_t>(*every) : 2;
        const std::int64_t of_stage =
            std::max<std::int64_t>(cut.layers / std::max<std::int64_t>(cut.pipeline, 1), 1);
        if (n == 1)
            job.set("training.recompute", std::string("full"), from);
        else
            job.set("training.recompute",
                    fmt::format("{{method: block, layers: {}}}",
                                std::max<std::int64_t>(of_stage / n, 1)),
                    from, fmt::format("every {} layers", n));
        if (n > 1)
            job.note(
                fmt::format("one layer in {} is recomputed; the same number of layers at the "
                            "beginning of a stage is planned",
                            n));
    } else {
        job.note(*from, fmt::format("the mode '{}' is planned as selective-op", mode));
        job.set("training.recompute", std::string("selective-op"), from);
    }
}

void read_titan_software(Reading& job, const TitanCut& cut) {
    Settings& in = job.in;
    job.set("framework.base", std::string(cut.shards ? "pytorch-fsdp2" : "pytorch-eager"), nullptr,
            "torchtitan");
    const std::string kind = in.word("optimizer.implementation").value_or("fused");
    const Setting* const from = in.find("optimizer.implementation");
    job.set("framework.optimizer",
            std::string(kind == "fused"     ? "fused-adam"
                        : kind == "foreach" ? "foreach-adam"
                                            : "per-tensor-adam"),
            from, from == nullptr ? "the default" : "");
    job.set("framework.reduces_by_layer", true);
    job.set("framework.vocabulary_multiple", std::int64_t{1});
    if (in.is_on("parallelism.enable_async_tensor_parallel"))
        job.set("framework.tensor_overlap", true,
                in.find("parallelism.enable_async_tensor_parallel"));
    if (cut.context > 1) {
        const std::string method =
            in.word("parallelism.context_parallel_rotate_method").value_or("allgather");
        job.set("framework.context_communication",
                std::string(method == "alltoall" ? "all-to-all" : "all-gather"),
                in.find("parallelism.context_parallel_rotate_method"));
    }
    if (const auto backend = in.word("parallelism.expert_parallel_comm_backend"))
        job.set("framework.dispatcher",
                std::string(*backend == "deepep" || *backend == "hybridep" ? *backend : "alltoall"),
                in.find("parallelism.expert_parallel_comm_backend"));
    if (in.is_on("training.enable_cpu_offload")) {
        job.set("training.offload_optimizer", true, in.find("training.enable_cpu_offload"));
        job.note(*in.find("training.enable_cpu_offload"),
                 "parameters are also offloaded to the host, which is not modelled");
    }
    const bool compiles = in.is_on("compile.enable");
    const auto compiled = [&](std::string_view component) {
        const std::vector<std::string> words = in.words("compile.components");
        return compiles &&
               (words.empty() || std::ranges::any_of(words, [&](const std::string& word) {
                    return word.find(component) != std::string::npos;
                }));
    };
    if (compiled("loss") && !job.in.has("config"))
        job.set("framework.loss", std::string("compiled"),
                in.find(in.has("compile.components") ? "compile.components" : "compile.enable"),
                "torch.compile of the loss");
    if (compiled("model"))
        job.note(*in.find("compile.enable"),
                 "torch.compile is on: --set framework.base=pytorch-compile plans it without "
                 "sharded parameters");
}

void read_titan_optimizer(Reading& job) {
    Settings& in = job.in;
    const auto rate = in.real("optimizer.lr");
    const std::string name = in.word("optimizer.name").value_or("AdamW");
    if (name != "AdamW" && name != "Adam")
        job.note(*in.find("optimizer.name"),
                 fmt::format("the optimizer '{}' is planned as AdamW", name));
    if (rate && *rate >= 0 && *rate < 1e6)
        job.set("training.optimizer",
                fmt::format("{{name: {}, lr: {}}}", name == "Adam" ? "adam" : "adamw", *rate),
                in.find("optimizer.lr"));
    if (const auto norm = in.real("training.max_norm"); norm && *norm > 0 && *norm < 1e9)
        job.set_real("training.clip_norm", *norm, in.find("training.max_norm"));
}

/// Settings of the model that nobody knows, and adapters.
bool is_of_network(std::string_view name) {
    constexpr std::string_view kOfNoNetwork[] = {"model.hf_assets_path", "model.tokenizer_path",
                                                 "model.print_after_conversion"};
    return name.starts_with("lora.") || name.starts_with("peft.") ||
           (name.starts_with("model.") &&
            std::ranges::find(kOfNoNetwork, name) == std::end(kOfNoNetwork));
}

/// The parts of a configuration, of which only some change a plan.
void sort_titan_left(Reading& job) {
    constexpr std::string_view kTitanPlans[] = {"parallelism.", "training.",
                                                "activation_checkpoint."};
    constexpr std::string_view kTitanSilent[] = {
        "training.steps",
        "training.dataset",
        "training.dataset_path",
        "training.seed",
        "training.deterministic",
        "training.gc_freq",
        "training.gc_debug",
        "training.data_parallel",
        "parallelism.disable_loss_parallel",
        "parallelism.pipeline_parallel_split_points",
        "training.dataloader",
        "training.debug_moe_force_load_balance",
        "activation_checkpoint.early_stop",
        "activation_checkpoint.preserve_rng_state",
        "activation_checkpoint.per_op_sac_force_recompute_mm_shapes_by_fqns"};
    for (const Setting* const setting : job.in.left()) {
        const bool plans = std::ranges::any_of(
            kTitanPlans, [&](std::string_view part) { return setting->name.starts_with(part); });
        const bool silent =
            std::ranges::find(kTitanSilent, setting->name) != std::end(kTitanSilent);
        if (is_of_network(setting->name) && !job.has_model())
            job.refuse_network(
                *setting, "it is not a known setting of torchtitan, and may make another network");
        else if (plans && !silent)
            job.note(fmt::format("{} is not a known setting of torchtitan; it is ignored",
                                 origin_of(*setting)),
                     Harm::Unknown);
        else
            job.count_silent();
    }
}

}  // namespace

void read_torchtitan(Reading& job) {
    if (add_titan_configuration(job))
        job.note(
            "named configurations are those of torchtitan b5bcd76c6; CUDA graphs, which are on by "
            "default, are not modelled");
    else
        job.note(
            "torchtitan's flavors and defaults are those of v0.2.2; files of this dialect ended on "
            "2026-02-23");
    const std::int64_t layers = read_titan_model(job);
    const TitanCut cut = read_titan_cut(job, layers);
    read_reshard(job, cut);
    read_titan_schedule(job, cut);
    read_titan_batches(job, cut);
    read_titan_precision(job, cut);
    read_titan_recompute(job, cut);
    job.set("training.attention", std::string("flash"));
    read_titan_optimizer(job);
    read_titan_software(job, cut);
    sort_titan_left(job);
}

}  // namespace debubble::jobs
