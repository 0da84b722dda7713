#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/deepspeed/deepspeed.h"
#include "scenarios/jobs/read/formats.h"
#include "scenarios/jobs/read/script_settings.h"
#include "scenarios/jobs/read/zoo_names.h"

/// NeMo Automodel's YAML (NVIDIA-NeMo/Automodel 36044ad3d): networks of the hub under PyTorch's
/// FSDP2, with pipelines of torch.distributed.pipelining and experts over `ep_size`.
namespace debubble::jobs {
namespace {

using text::Node;
using text::NodePtr;

struct AutomodelSchedule {
    std::string_view word, name;
    bool several;  ///< stages on a rank
};
constexpr AutomodelSchedule kAutomodelSchedules[] = {
    {"1f1b", "1f1b", false},
    {"gpipe", "gpipe", false},
    {"interleaved1f1b", "interleaved-1f1b", true},
    {"loopedbfs", "looped-bfs", true},
    {"interleavedzerobubble", "interleaved-zb", true},
    {"zbvzerobubble", "zb-v", true},
    {"dualpipev", "dualpipe-v", true}};

std::string plain_lower(std::string text) {
    std::erase(text, '_');
    std::erase(text, '-');
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// "none" and "auto" are absence.
std::optional<std::int64_t> degree_of(Reading& job, const char* name) {
    const Setting* const setting = job.in.find(name);
    if (setting == nullptr || !setting->value->is(Node::Kind::Scalar) ||
        setting->value->scalar == "none" || setting->value->scalar == "auto")
        return {};
    return job.in.whole(name, 1, kMostDegree);
}

/// Refuses trainings of other or several networks: speculators, towers, teachers, diffusion.
void refuse_other_recipes(Reading& job) {
    const std::string recipe = job.in.word("recipe").value_or("");
    const std::string last = recipe.substr(recipe.rfind('.') + 1);
    if (last.empty() || last == "TrainFinetuneRecipeForNextTokenPrediction" ||
        last == "BenchmarkingRecipeForNextTokenPrediction" || job.has_model())
        return;
    job.refuse_network(
        *job.in.find("recipe"),
        fmt::format(
            "'{}' trains something other than one causal language model, which is not supported",
            last));
}

/// The network: a name of the hub. Returns its layers; 0 if they are not known.
std::int64_t read_network(Reading& job, const std::filesystem::path& folder) {
    Settings& in = job.in;
    refuse_other_recipes(job);
    for (const char* name : {"peft._target_", "peft.dim"})
        if (const Setting* const peft = in.find(name))
            job.refuse(*peft, "adapters (peft) are not supported");
    if (const Setting* const target = in.find("model._target_");
        target != nullptr && target->value->is(Node::Kind::Scalar) && !job.has_model()) {
        const std::string& word = target->value->scalar;
        for (const std::string_view kind :
             {"ImageTextToText", "Multimodal", "Diffusion", "BiEncoder", "BiCrossEncoder",
              "SequenceClassification", "Retrieval"})
            if (word.find(kind) != std::string::npos)
                job.refuse(*target,
                           fmt::format("'{}' is not a causal language model and is not supported",
                                       word.substr(word.find("NeMo"))));
    }
    for (const char* name : {"model.config.pretrained_model_name_or_path",
                             "model.pretrained_model_name_or_path", "model.config"})
        in.find(name);
    if (job.has_model()) return layers_of_given_model(job, folder);
    for (const char* name : {"model.config.pretrained_model_name_or_path",
                             "model.pretrained_model_name_or_path", "model.config"})
        if (const Setting* const setting = in.find(name);
            setting != nullptr && setting->value->is(Node::Kind::Scalar)) {
            if (const auto known = zoo_model_of(setting->value->scalar)) {
                refuse_changes_of_network(job);
                job.set("model", std::string(known->zoo), setting, "the model of that name");
                return known->layers;
            }
            job.ask(fmt::format(
                "the model '{}' is not in the zoo; give its config.json by --set model=FILE",
                setting->value->scalar));
            return 0;
        }
    job.ask("the model is defined in Python; give one by --set model=NAME or a config.json");
    return 0;
}

struct AutomodelCut {
    std::int64_t tensor = 1;
    std::int64_t pipeline = 1;
    std::int64_t context = 1;
    std::optional<std::int64_t> data = {};  ///< replicas, if they are known
    std::int64_t layers = 0;
};

AutomodelCut read_cut(Reading& job, std::int64_t layers) {
    Settings& in = job.in;
    AutomodelCut cut;
    cut.layers = layers;
    const auto degree = [&](const char* key, const char* name) {
        const std::int64_t value = degree_of(job, name).value_or(1);
        if (value > 1) job.set(key, value, in.find(name));
        return value;
    };
    cut.tensor = degree("parallel.tensor", "distributed.tp_size");
    cut.pipeline = degree("parallel.pipeline", "distributed.pp_size");
    cut.context = degree("parallel.context", "distributed.cp_size");
    World world;
    world.per_replica = cut.tensor * cut.pipeline * cut.context;
    world.product =
        fmt::format("tensor {} x pipeline {} x context {}", cut.tensor, cut.pipeline, cut.context);
    const auto data = degree_of(job, "distributed.dp_size");
    for (const char* name : {"benchmark.num_nodes", "ci.nodes", "slurm.nodes"})
        if (const auto nodes = in.whole(name, 1, kMost); nodes && !world.of_job) {
            constexpr std::int64_t kGpusOfNode = 8;
            const auto each = in.whole("slurm.ntasks_per_node", 1, 1024);
            world.of_job = *nodes * each.value_or(kGpusOfNode);
            world.from = in.find(name);
            world.launcher =
                fmt::format("{} nodes of {} GPUs{}", *nodes, each.value_or(kGpusOfNode),
                            each ? "" : ", which are taken");
        }
    if (data && !world.of_job) {
        world.of_job = *data * world.per_replica;
        world.from = in.find("distributed.dp_size");
        world.launcher = fmt::format("data {}", *data);
    }
    settle_cluster(job);
    cut.data = settle_world(job, world);
    if (cut.tensor > 1 && in.is_on("distributed.sequence_parallel"))
        job.set("parallel.sequence", true, in.find("distributed.sequence_parallel"));
    const std::string strategy = in.word("distributed.strategy").value_or("fsdp2");
    const Setting* const from = in.find("distributed.strategy");
    const auto replicas = degree_of(job, "distributed.dp_replicate_size");
    if (strategy == "fsdp2" || strategy == "megatron_fsdp") {
        job.set("parallel.zero_stage", std::int64_t{3}, from, from == nullptr ? "fsdp2" : "");
        if (replicas && *replicas > 1 && cut.data && *cut.data * cut.context % *replicas == 0)
            job.set("parallel.shard", *cut.data * cut.context / *replicas,
                    in.find("distributed.dp_replicate_size"));
        job.set("parallel.wrap", std::string("layer"));
        if (cut.pipeline > 1 && !in.is_on("distributed.moe.reshard_after_forward"))
            job.set("parallel.reshard", false, in.find("distributed.moe.reshard_after_forward"),
                    "gathered parameters are kept with a pipeline");
    } else if (strategy != "ddp") {
        job.refuse(*from,
                   fmt::format("the strategy '{}' is not supported; use fsdp2 or ddp", strategy));
    }
    if (const auto expert = degree_of(job, "distributed.ep_size"); expert && *expert > 1) {
        job.set("parallel.expert", *expert, in.find("distributed.ep_size"));
        job.set("parallel.expert_tensor", std::int64_t{1});
    }
    return cut;
}

void read_automodel_schedule(Reading& job, const AutomodelCut& cut) {
    Settings& in = job.in;
    if (cut.pipeline == 1) return job.set("schedule", std::string("1f1b"));
    const char* const key = "distributed.pipeline.pp_schedule";
    const std::string word = in.word(key).value_or("1f1b");
    const auto* const known =
        std::ranges::find(kAutomodelSchedules, plain_lower(word), &AutomodelSchedule::word);
    if (known == std::end(kAutomodelSchedules))
        return job.refuse(*in.find(key), fmt::format("the schedule '{}' is not supported", word));
    const auto per_stage = in.whole("distributed.pipeline.layers_per_stage", 1, 10'000);
    const Setting* const from = in.find("distributed.pipeline.layers_per_stage");
    std::int64_t chunks = known->several ? 2 : 1;
    const std::string rounds =
        in.word("distributed.pipeline.round_virtual_stages_to_pp_multiple").value_or("");
    if (per_stage && cut.layers > 0) {
        const std::int64_t stages = (cut.layers + *per_stage - 1) / *per_stage;
        const std::int64_t rest = stages % cut.pipeline;
        const std::int64_t whole = stages - rest + (rest > 0 && rounds == "up" ? cut.pipeline : 0);
        if (rest != 0 && rounds != "up" && rounds != "down")
            return job.refuse(*from, fmt::format("{} stages cannot be divided among {} ranks",
                                                 stages, cut.pipeline));
        chunks = std::max<std::int64_t>(whole / cut.pipeline, 1);
    }
    if (chunks == 1 && !known->several)
        return job.set("schedule", std::string(known->name), in.find(key));
    job.set("schedule.name", std::string(known->name), in.find(key));
    job.set("schedule.stages_per_rank", chunks, from != nullptr ? from : in.find(key));
}

void read_batches(Reading& job, const AutomodelCut& cut) {
    Settings& in = job.in;
    job.copy("training.global_batch", "step_scheduler.global_batch_size");
    const auto local = in.whole("step_scheduler.local_batch_size", 1, kMost);
    const auto part = in.whole("distributed.pipeline.pp_microbatch_size", 1, kMost);
    if (cut.pipeline > 1 && part)
        job.set("training.micro_batch", *part, in.find("distributed.pipeline.pp_microbatch_size"));
    else if (local)
        job.set("training.micro_batch", *local, in.find("step_scheduler.local_batch_size"));
    const auto global = in.whole("step_scheduler.global_batch_size", 1, kMost);
    if (cut.pipeline > 1 && local && global && cut.data && *global > *local * *cut.data)
        job.note(
            fmt::format("the whole schedule runs {} times per step, with a flush in between; one "
                        "schedule of all microbatches is planned",
                        *global / (*local * *cut.data)));
    for (const char* name : {"dataset.seq_len", "dataset.seq_length", "dataset.seq_len_max",
                             "packed_sequence.packed_sequence_size", "dataset.block_size"})
        if (const auto length = in.whole(name, 0, kMost); length && *length > 0) {
            job.set("training.seq_length", *length, in.find(name));
            return;
        }
    if (!job.given("training.seq_length"))
        job.ask(
            "how many tokens does a sample have? The data determine it; give them by --set "
            "training.seq_length=N");
}

void read_software(Reading& job) {
    Settings& in = job.in;
    job.set("framework.base", std::string("pytorch-fsdp2"), nullptr, "NeMo Automodel");
    job.set("framework.vocabulary_multiple", std::int64_t{1});
    const std::string attention = in.word("model.backend.attn").value_or("");
    job.set("training.attention", std::string(attention == "eager" ? "unfused" : "flash"),
            in.find("model.backend.attn"));
    if (const auto dispatcher = in.word("model.backend.dispatcher"))
        job.set("framework.dispatcher",
                std::string(*dispatcher == "deepep" || *dispatcher == "hybridep" ? *dispatcher
                                                                                 : "alltoall"),
                in.find("model.backend.dispatcher"));
    if (in.is_on("model.backend.fake_balanced_gate"))
        job.set("training.router", std::string("balanced"),
                in.find("model.backend.fake_balanced_gate"));
    job.set("training.recompute",
            std::string(in.is_on("distributed.activation_checkpointing") ? "full" : "none"),
            in.find("distributed.activation_checkpointing"));
    job.set("training.precision", std::string("bf16"), nullptr,
            "fp32 parameters, gathered in bf16");
    for (const char* name : {"fp8.enabled", "fp8"})
        if (in.is_on(name)) {
            job.set("training.precision", std::string("fp8-current"), in.find(name));
            break;
        }
    const std::string optimizer = in.word("optimizer._target_").value_or("torch.optim.AdamW");
    if (optimizer.find("Adam") == std::string::npos)
        job.note(*in.find("optimizer._target_"),
                 fmt::format("the optimizer '{}' is planned as AdamW", optimizer));
    job.set("framework.optimizer",
            std::string(optimizer.find("fused_adam") != std::string::npos ? "fused-adam"
                                                                          : "foreach-adam"),
            in.find("optimizer._target_"));
    if (const auto clip = in.real("step_scheduler.max_grad_norm"); clip && *clip > 0)
        job.set_real("training.clip_norm", *clip, in.find("step_scheduler.max_grad_norm"));
}

/// Unknown keys of sections on which a plan depends.
void sort_automodel_left(Reading& job) {
    for (const Setting* const setting : job.in.left()) {
        const bool plans = setting->name.starts_with("distributed.") ||
                           setting->name.starts_with("quantization.") ||
                           setting->name.starts_with("model.config.");
        const bool silent = setting->name.find("_target_") != std::string::npos ||
                            setting->name.starts_with("distributed.pipeline.scale_grads") ||
                            setting->name.starts_with("distributed.pipeline.patch_");
        if (plans && !silent)
            job.note(fmt::format("{} is not a known setting of NeMo Automodel; it is ignored",
                                 origin_of(*setting)));
        else
            job.count_silent();
    }
}

/// Every key by its dotted name, those of maps with a `_target_` too.
void add_all(const Node& map, const std::string& above, Settings& settings) {
    for (const Node::Entry& entry : map.entries) {
        const std::string path = above.empty() ? entry.key : above + "." + entry.key;
        if (entry.value->is(Node::Kind::Null)) continue;
        if (entry.value->is(Node::Kind::Map))
            add_all(*entry.value, path, settings);
        else
            settings.add({path, path, entry.value, entry.place, true});
    }
}

}  // namespace

void read_automodel_job(const JobText& text, Reading& job) {
    const std::vector<NodePtr> documents = yaml_documents(text, job);
    if (documents.empty() || !documents.front()->is(Node::Kind::Map))
        throw InputError({{{text.file.string(), 0, 0}, "the file has no map of sections", {}}});
    add_all(*documents.front(), "", job.in);
    if (const Setting* const allocator = job.in.find("ci.env_vars.PYTORCH_CUDA_ALLOC_CONF")) {
        Setting same = *allocator;
        same.name = "$PYTORCH_CUDA_ALLOC_CONF";
        job.in.add(std::move(same));
    }
    const std::int64_t layers = read_network(job, text.folder);
    const AutomodelCut cut = read_cut(job, layers);
    read_automodel_schedule(job, cut);
    read_batches(job, cut);
    read_software(job);
    sort_automodel_left(job);
}

}  // namespace debubble::jobs
