#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/deepspeed/deepspeed.h"
#include "scenarios/jobs/nanotron/nanotron.h"
#include "scenarios/jobs/read/formats.h"

/// The YAML of huggingface/nanotron (2411b022, config/config.py, trainer.py, helpers.py and
/// models/base.py).
namespace debubble::jobs {
namespace {

struct NanotronCut {
    std::int64_t tensor = 1;
    std::int64_t pipeline = 1;
    std::int64_t context = 1;
    std::optional<std::int64_t> data = {};  ///< replicas, if they are known
};

std::int64_t asked_degree(Reading& job, const char* name, const char* key) {
    if (!job.in.has(name)) {
        job.ask(fmt::format(
            "the job does not give {}, and nanotron has no default for it; set it by --set {}=N",
            name, key));
        return 1;
    }
    const std::int64_t value = job.in.whole(name, 1, kMostDegree).value_or(1);
    if (value > 1) job.set(key, value, job.in.find(name));
    return value;
}

NanotronCut read_nanotron_cut(Reading& job) {
    Settings& in = job.in;
    NanotronCut cut;
    cut.tensor = asked_degree(job, "parallelism.tp", "parallel.tensor");
    cut.pipeline = asked_degree(job, "parallelism.pp", "parallel.pipeline");
    cut.context = in.whole("parallelism.context_parallel_size", 1, kMostDegree).value_or(1);
    if (cut.context > 1)
        job.set("parallel.context", cut.context, in.find("parallelism.context_parallel_size"));
    World world;
    world.per_replica = cut.tensor * cut.pipeline * cut.context;
    world.product =
        fmt::format("tp {} x pp {} x context {}", cut.tensor, cut.pipeline, cut.context);
    if (const auto data = in.whole("parallelism.dp", 1, kMost)) {
        world.of_job = batch_of(*data, world.per_replica, 1);
        world.from = in.find("parallelism.dp");
        world.launcher = fmt::format("{} replicas of {} GPUs", *data, world.per_replica);
    }
    settle_cluster(job);
    cut.data = settle_world(job, world);
    if (const auto expert = in.whole("parallelism.expert_parallel_size", 1, kMostDegree);
        expert && *expert > 1) {
        job.set("parallel.expert", *expert, in.find("parallelism.expert_parallel_size"));
        job.set("parallel.expert_tensor", std::int64_t{1});
        job.note(*in.find("parallelism.expert_parallel_size"),
                 "nanotron would refuse this: its ranks are tp x pp x context x dp, from which "
                 "expert parallelism takes none (nanotron/parallel/context.py)",
                 Harm::Refused);
    }
    const std::string mode = in.word("parallelism.tp_mode").value_or("ALL_REDUCE");
    std::string upper = mode;
    std::ranges::transform(upper, upper.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (upper != "ALL_REDUCE" && upper != "REDUCE_SCATTER")
        job.refuse(*in.find("parallelism.tp_mode"),
                   fmt::format("'{}' is not a mode; use ALL_REDUCE or REDUCE_SCATTER", mode));
    else if (cut.tensor > 1)
        job.set("parallel.sequence", upper == "REDUCE_SCATTER", in.find("parallelism.tp_mode"));
    return cut;
}

/// Layers of every stage as nanotron deals blocks by their cost (models/base.py, build_model);
/// empty if not all ranks get one.
std::vector<std::int64_t> nanotron_stages(const NanotronNetwork& n, std::int64_t ranks) {
    const double layer = static_cast<double>(n.hidden) *
                         static_cast<double>(4 * n.hidden + n.products_of_mlp * n.ffn);
    const double head = static_cast<double>(n.vocab) * static_cast<double>(n.hidden);
    const double all = layer * static_cast<double>(*n.layers) + head;
    std::vector<std::int64_t> stages(ranks, 0);
    std::int64_t rank = 0;
    for (std::int64_t i = 0; i < *n.layers; ++i) {
        ++stages[rank];
        const double share = static_cast<double>(rank + 1) / static_cast<double>(ranks);
        if (layer * static_cast<double>(i + 1) > all * share) ++rank;
    }
    const bool every = rank == ranks - 1;  // the last one may have the head alone
    return every ? stages : std::vector<std::int64_t>();
}

void read_nanotron_schedule(Reading& job, const NanotronCut& cut, NanotronNetwork network) {
    Settings& in = job.in;
    const std::string engine = in.word("parallelism.pp_engine").value_or("afab");
    const Setting* const from = in.find("parallelism.pp_engine");
    if (engine != "1f1b" && engine != "afab")
        return job.refuse(*from, fmt::format("'{}' is not an engine; use 1f1b or afab", engine));
    job.set("schedule", std::string(engine == "1f1b" || cut.pipeline == 1 ? "1f1b" : "gpipe"), from,
            from == nullptr ? "afab, nanotron's default" : "");
    const std::int64_t multiple =
        in.whole("model.make_vocab_size_divisible_by", 1, 1'048'576).value_or(1);
    job.set("framework.vocabulary_multiple", multiple,
            in.find("model.make_vocab_size_divisible_by"));
    if (cut.pipeline == 1 || !network.layers) return;
    const std::int64_t unit = multiple * cut.tensor;
    network.vocab = (network.vocab + unit - 1) / unit * unit;
    std::vector<std::int64_t> stages;
    if (network.vocab > 0) stages = nanotron_stages(network, cut.pipeline);
    const bool deals = !stages.empty();
    for (std::int64_t i = 0; !deals && i < cut.pipeline; ++i)
        stages.push_back(*network.layers / cut.pipeline +
                         (i < *network.layers % cut.pipeline ? 1 : 0));
    if (!deals && network.vocab > 0)
        job.note(
            *in.find("parallelism.pp"),
            fmt::format("nanotron would refuse this: it distributes blocks by cost, which leaves "
                        "some of {} ranks without any (nanotron/models/base.py, build_model)",
                        cut.pipeline),
            Harm::Refused);
    std::string list;
    for (const std::int64_t layers : stages)
        list += (list.empty() ? "" : ", ") + std::to_string(layers);
    job.set("parallel.partition", "[" + list + "]", in.find("parallelism.pp"),
            deals ? "by the cost of layers and head" : "");
}

/// nanotron's own checks (config/config.py, parallel/pipeline_parallel/engine.py).
void note_nanotron_refusals(Reading& job, const NanotronCut& cut) {
    Settings& in = job.in;
    const auto heads = in.whole(nanotron_model_key("num_attention_heads"), 1, kMost);
    const auto groups = in.whole(nanotron_model_key("num_key_value_heads"), 1, kMost);
    const auto steps = in.whole("tokens.batch_accumulation_per_replica", 1, kMost);
    const auto refuse = [&](bool broken, const char* name, const std::string& sentence,
                            std::string_view place) {
        if (broken && in.find(name) != nullptr)
            job.note(*in.find(name),
                     fmt::format("nanotron would refuse this: {} ({})", sentence, place),
                     Harm::Refused);
    };
    constexpr std::string_view kConfig = "nanotron/config/config.py, Config.__post_init__";
    if (heads)
        refuse(*heads % cut.tensor != 0, "parallelism.tp",
               fmt::format("{} heads are not a multiple of {} tensor ranks", *heads, cut.tensor),
               kConfig);
    if (groups)
        refuse(*groups < cut.tensor, "parallelism.tp",
               fmt::format("{} heads of keys and values are fewer than {} tensor ranks", *groups,
                           cut.tensor),
               kConfig);
    if (steps)
        refuse(in.word("parallelism.pp_engine").value_or("") == "1f1b" && *steps < cut.pipeline - 1,
               "parallelism.pp_engine",
               fmt::format("1F1B on {} ranks needs at least {} microbatches, not {}", cut.pipeline,
                           cut.pipeline - 1, *steps),
               "nanotron/parallel/pipeline_parallel/engine.py");
}

void read_nanotron_batch(Reading& job, const NanotronCut& cut) {
    Settings& in = job.in;
    for (const auto& [name, key] : {std::pair{"tokens.sequence_length", "training.seq_length"},
                                    std::pair{"tokens.micro_batch_size", "training.micro_batch"}})
        if (!job.copy(key, name) && !job.given(key))
            job.ask(fmt::format("the job does not give {}; set it by --set {}=N", name, key));
    const auto micro = job.given("training.micro_batch")
                           ? job.given_whole("training.micro_batch")
                           : in.whole("tokens.micro_batch_size", 1, kMost);
    const auto steps = in.whole("tokens.batch_accumulation_per_replica", 1, kMost);
    if (micro && cut.data)
        job.set("training.global_batch", batch_of(*micro, *cut.data, steps.value_or(1)),
                in.find("tokens.batch_accumulation_per_replica"),
                "micro batch x dp x accumulation steps");
    if (const Setting* const stages = in.find("data_stages");
        stages != nullptr && stages->value->is(text::Node::Kind::List))
        for (const text::NodePtr& stage : stages->value->items)
            if (stage->is(text::Node::Kind::Map) && stage->get("sequence_length") &&
                stage->get("sequence_length")->is(text::Node::Kind::Scalar) &&
                number_of(stage->get("sequence_length")->scalar).value_or(0) !=
                    static_cast<double>(in.whole("tokens.sequence_length", 1, kMost).value_or(0)))
                job.note(fmt::format(
                    "a data stage has samples of {} tokens; tokens.sequence_length is planned",
                    stage->get("sequence_length")->scalar));
}

void read_nanotron_types(Reading& job) {
    Settings& in = job.in;
    const std::string type = in.word("model.dtype").value_or("bfloat16");
    const bool wide = in.is_on("optimizer.accumulate_grad_in_fp32");
    const Setting* const from = in.find(wide ? "optimizer.accumulate_grad_in_fp32" : "model.dtype");
    constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
        {"bfloat16", "bf16"}, {"float16", "fp16"}, {"float32", "fp32"}, {"float", "fp32"}};
    const auto* const known =
        std::ranges::find(kTypes, type, &std::pair<std::string_view, std::string_view>::first);
    if (known == std::end(kTypes))
        return job.refuse(
            *in.find("model.dtype"),
            fmt::format("the type '{}' is not supported; bfloat16, float16 and float32 are", type));
    const std::string word(known->second);
    if (wide || word == "fp32") return job.set("training.precision", word, from);
    job.set("training.precision",
            fmt::format("{{base: {0}, grads: {0}, main_params: none, main_grads: none, moments: "
                        "{0}}}",
                        word),
            from, "without accumulate_grad_in_fp32 AdamW reads gradients in the parameters' type");
}

void read_nanotron_optimizer(Reading& job, const NanotronCut& cut) {
    Settings& in = job.in;
    read_nanotron_types(job);
    const std::int64_t stage = in.whole("optimizer.zero_stage", 0, 3).value_or(0);
    const Setting* const from = in.find("optimizer.zero_stage");
    if (stage > 1) job.note(*from, "nanotron shards only the optimizer state at any stage above 0");
    if (stage > 0) job.set("parallel.zero_stage", std::int64_t{1}, from);
    if (stage > 0 && cut.context > 1 && cut.data)
        job.set("parallel.shard", *cut.data, from, "the state is sharded only over dp");
    const std::string name = in.word("optimizer.optimizer_factory.name").value_or("adamW");
    if (name == "sgd")
        job.set("training.optimizer", name, in.find("optimizer.optimizer_factory.name"));
    else if (name != "adamW")
        job.refuse(*in.find("optimizer.optimizer_factory.name"),
                   fmt::format("the optimizer '{}' is not supported; use adamW or sgd", name));
    job.set(
        "framework.optimizer",
        std::string(in.is_on("optimizer.optimizer_factory.torch_adam_is_fused") ? "fused-adam"
                                                                                : "foreach-adam"),
        in.find("optimizer.optimizer_factory.torch_adam_is_fused"));
    if (const auto clip = in.real("optimizer.clip_grad"); clip && *clip > 0)
        job.set_real("training.clip_norm", *clip, in.find("optimizer.clip_grad"));
}

void read_nanotron_software(Reading& job, const NanotronCut& cut) {
    Settings& in = job.in;
    job.set("framework.base", std::string("pytorch-eager"), nullptr, "nanotron");
    job.set("framework.fused_norm", in.flag(nanotron_model_key("_fused_rms_norm")).value_or(true),
            in.find(nanotron_model_key("_fused_rms_norm")), "a Triton kernel");
    job.set("framework.fused_rope", true, nullptr, "flash-attn's");
    job.set("framework.main_grad_buffer", in.is_on("optimizer.accumulate_grad_in_fp32"),
            in.find("optimizer.accumulate_grad_in_fp32"));
    job.set("framework.overlap_param_gather", false, nullptr, "gathered after the step");
    if (cut.data.value_or(0) * cut.context > 1)
        job.set("framework.ddp_buckets", true, nullptr, "DistributedDataParallel");
    const auto bucket = in.whole("model.ddp_bucket_cap_mb", 1, 1'000'000);
    job.set("framework.grad_bucket", fmt::format("{} MiB", bucket.value_or(25)),
            in.find("model.ddp_bucket_cap_mb"));
    const bool async = in.is_on("parallelism.tp_linear_async_communication");
    if (cut.tensor > 1) {
        job.set("framework.overlap_tensor_backward", async,
                in.find("parallelism.tp_linear_async_communication"));
        job.set("framework.keeps_gathered",
                !in.flag("parallelism.tp_recompute_allgather").value_or(true),
                in.find("parallelism.tp_recompute_allgather"));
    }
    job.set("training.recompute",
            std::string(in.is_on("parallelism.recompute_layer") ? "full" : "none"),
            in.find("parallelism.recompute_layer"));
    const std::string name = nanotron_model_key("_attn_implementation");
    const std::string kernel = in.word(name).value_or("flash_attention_2");
    job.set("training.attention", std::string("flash"), in.find(name));
    if (cut.context > 1)
        job.set("framework.context_communication",
                std::string(kernel == "llama3_ring_attention" ? "all-gather" : "p2p"),
                in.find(name));
    if (kernel == "flex_attention") {
        job.set("framework.attention_kernel", std::string("triton"), in.find(name));
        if (const Setting* const mask = in.find(nanotron_model_key("flex_attention_mask")))
            job.note(*mask, "the mask of flex attention is planned as a causal one");
    }
    if (in.is_on(nanotron_model_key("_use_doc_masking")))
        job.note(*in.find(nanotron_model_key("_use_doc_masking")),
                 "samples are packed documents of unknown lengths: attention over whole samples is "
                 "planned");
}

/// Sections of which nothing changes a plan.
constexpr std::string_view kNanotronSilent[] = {
    "general", "checkpoints", "data_stages",     "logging",   "lighteval", "profiler",
    "tokens",  "s3_upload",   "metrics_logging", "tokenizer", "nanoset",   "slurm"};
constexpr std::string_view kNanotronSilentKeys[] = {
    "model.init_method.", "optimizer.learning_rate_scheduler.", "optimizer.optimizer_factory.adam_",
    "optimizer.weight_decay"};

void sort_nanotron_left(Reading& job) {
    const std::string network = nanotron_model_key("");
    for (const Setting* const setting : job.in.left()) {
        const std::string section = setting->name.substr(0, setting->name.find('.'));
        const bool silent = std::ranges::any_of(kNanotronSilentKeys, [&](std::string_view start) {
            return setting->name.starts_with(start);
        });
        if (setting->name.starts_with(network)) {
            if (job.has_model() ||
                is_silent_in_nanotron_network(setting->name.substr(network.size())))
                job.count_silent();
            else
                job.refuse_network(*setting, "nanotron's networks do not have it");
        } else if (silent ||
                   std::ranges::find(kNanotronSilent, section) != std::end(kNanotronSilent)) {
            job.count_silent();
        } else if (section == "doremi") {
            job.note(*setting,
                     "of DoReMi only the training is planned, without the passes of a reference "
                     "network");
        } else {
            job.note(fmt::format("{} is not a known setting of nanotron; it is ignored",
                                 origin_of(*setting)),
                     Harm::Unknown);
        }
    }
}

}  // namespace

void read_nanotron_job(const JobText& text, Reading& job) {
    const text::NodePtr document = yaml_document(text.text, text.file.string(), job);
    if (!document || !document->is(text::Node::Kind::Map))
        throw InputError({{{text.file.string(), 0, 0}, "the file has no map of sections", {}}});
    add_keys(*document, true, job.in);
    NanotronNetwork network = read_nanotron_network(job);
    if (job.has_model()) {
        const std::int64_t layers = layers_of_given_model(job, text.folder);
        network.layers = layers > 0 ? std::optional(layers) : std::nullopt;
    }
    const NanotronCut cut = read_nanotron_cut(job);
    read_nanotron_schedule(job, cut, network);
    read_nanotron_batch(job, cut);
    note_nanotron_refusals(job, cut);
    read_nanotron_optimizer(job, cut);
    read_nanotron_software(job, cut);
    sort_nanotron_left(job);
}

}  // namespace debubble::jobs
