#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/read/formats.h"
#include "scenarios/jobs/read/python_files.h"
#include "text/document_readers.h"

/// The arguments of Colossal-AI's plugins; defaults of ColossalAI 4f9953be3,
/// booster/plugin/hybrid_parallel_plugin.py.
namespace debubble::jobs {
namespace {

using text::Node;

constexpr std::string_view kPlugins[] = {"HybridParallelPlugin", "MoeHybridParallelPlugin",
                                         "LowLevelZeroPlugin",   "GeminiPlugin",
                                         "TorchDDPPlugin",       "TorchFSDPPlugin"};

/// Adds literal arguments of a call as settings; others are known only when the script runs.
void add_literals(const PythonCall& call, Settings& settings, const std::string& before = {}) {
    for (const PythonArgument& argument : call.arguments) {
        if (!argument.name) continue;
        const bool known = argument.value != nullptr;
        if (known && argument.value->is(Node::Kind::Null)) continue;
        settings.add({before + *argument.name, *argument.name,
                      known ? argument.value : text::make_scalar(argument.written, argument.place),
                      argument.place, known});
    }
}

/// key=value, one a line or apart by blanks or commas.
void add_pairs(const JobText& text, Settings& settings) {
    const auto source = text::checked_source(text.text, text.file.string());
    auto call = std::make_shared<text::SourceText>(
        text::SourceText{source->file, "_(" + source->text + "\n)", 1});
    for (std::size_t i = 2; i < call->text.size(); ++i)  // a line's end is a comma
        if (call->text[i] == '\n') call->text[i] = ',';
    for (const PythonCall& one : python_calls(call)) {
        if (one.name != "_") continue;
        for (PythonArgument argument : one.arguments) {
            if (!argument.name) continue;
            const int column = argument.place.column - 3;
            int line = 1;
            int start = 0;
            for (int i = 0; i < column && i < static_cast<int>(source->text.size()); ++i)
                if (source->text[i] == '\n') {
                    ++line;
                    start = i + 1;
                }
            const text::SourcePosition place{source, line, column - start + 1};
            const bool known = argument.value != nullptr;
            settings.add({*argument.name, *argument.name,
                          text::make_scalar(known && argument.value->is(Node::Kind::Scalar)
                                                ? argument.value->scalar
                                                : argument.written,
                                            place),
                          place, true});
        }
    }
}

struct ColossalCut {
    std::int64_t tensor = 1, pipeline = 1, context = 1, zero = 0;
    std::optional<std::int64_t> data = {};  ///< replicas, if they are known
    bool interleaves = false;
};

/// A model of transformers in the script: its configuration's arguments, with that class's
/// defaults.
void read_colossal_model(Reading& job, const std::vector<PythonCall>& calls) {
    if (job.has_model()) return;
    const auto found = std::ranges::find_if(calls, [](const PythonCall& call) {
        return call.name == "LlamaConfig" || call.name == "GPT2Config";
    });
    if (found == calls.end()) {
        job.ask(
            "the model is defined in Python; give a config.json, or a name from `debubble list "
            "models`, by --set model=FILE");
        return;
    }
    const bool llama = found->name == "LlamaConfig";
    Settings& in = job.in;
    add_literals(*found, in, "config.");
    const auto set = [&](const char* key, const char* name, std::int64_t otherwise) {
        const auto value = in.whole(std::string("config.") + name, 1, kMost);
        job.set(std::string("model.") + key, value.value_or(otherwise),
                in.find(std::string("config.") + name),
                value ? "" : fmt::format("{}'s default", found->name));
        return value.value_or(otherwise);
    };
    job.set("model.family", std::string(llama ? "llama" : "gpt2"));
    set("layers", llama ? "num_hidden_layers" : "n_layer", llama ? 32 : 12);
    set("hidden", llama ? "hidden_size" : "n_embd", llama ? 4096 : 768);
    const std::int64_t heads =
        set("heads", llama ? "num_attention_heads" : "n_head", llama ? 32 : 12);
    if (llama) {
        const auto kv = in.whole("config.num_key_value_heads", 1, kMost);
        if (kv && *kv != heads)
            job.set("model.kv_heads", *kv, in.find("config.num_key_value_heads"));
        set("ffn", "intermediate_size", 11008);
    }
    set("vocab", "vocab_size", llama ? 32000 : 50257);
    set("max_positions", llama ? "max_position_embeddings" : "n_positions", llama ? 2048 : 1024);
    const auto eps = in.real(llama ? "config.rms_norm_eps" : "config.layer_norm_epsilon");
    if (llama || eps)
        job.set_real("model.norm_eps", eps.value_or(1e-6),
                     in.find(llama ? "config.rms_norm_eps" : "config.layer_norm_epsilon"),
                     eps ? "" : "LlamaConfig's default");
    if (const auto theta = in.real("config.rope_theta"))
        job.set_real("model.rope_theta", *theta, in.find("config.rope_theta"));
    if (!llama)
        job.set_real("model.dropout", in.real("config.resid_pdrop").value_or(0.1),
                     in.find("config.resid_pdrop"));
}

ColossalCut read_colossal_cut(Reading& job, std::string_view plugin) {
    Settings& in = job.in;
    ColossalCut cut;
    const auto degree = [&](const char* key, const char* name) {
        const std::int64_t value = in.whole(name, 1, kMostDegree).value_or(1);
        if (value > 1) job.set(key, value, in.find(name));
        return value;
    };
    cut.tensor = degree("parallel.tensor", "tp_size");
    cut.pipeline = degree("parallel.pipeline", "pp_size");
    const std::int64_t ranks = in.whole("sp_size", 1, kMostDegree).value_or(1);
    const bool sequence = in.is_on("enable_sequence_parallelism");
    const std::string mode = in.word("sequence_parallelism_mode").value_or("all_to_all");
    const Setting* const way = in.find("sequence_parallelism_mode");
    if (sequence && (mode == "split_gather" || mode == "ring") && cut.tensor > 1) {
        job.set("parallel.sequence", true, way);
    } else if (ranks > 1 && (mode == "all_to_all" || mode == "ring_attn")) {
        cut.context = ranks;
        job.set("parallel.context", ranks, in.find("sp_size"));
        job.set("framework.context_communication",
                std::string(mode == "ring_attn" ? "p2p" : "all-to-all"), way);
    }
    World world;
    world.per_replica = cut.tensor * cut.pipeline * cut.context;
    world.product = fmt::format("tp_size {} x pp_size {}{}", cut.tensor, cut.pipeline,
                                cut.context > 1 ? fmt::format(" x sp_size {}", cut.context) : "");
    settle_cluster(job);
    cut.data = settle_world(job, world);
    const std::string_view stage_name = plugin == "LowLevelZeroPlugin" ? "stage" : "zero_stage";
    cut.zero = in.whole(stage_name, 0, 3).value_or(plugin == "LowLevelZeroPlugin" ? 1 : 0);
    if (plugin == "GeminiPlugin" || plugin == "TorchFSDPPlugin") cut.zero = 3;
    if (cut.zero > 0)
        job.set("parallel.zero_stage", cut.zero, in.find(stage_name), std::string(plugin));
    if (cut.zero >= 2 && cut.pipeline > 1)
        job.refuse(*in.find("pp_size"), "Colossal-AI supports at most ZeRO-1 with pp_size above 1");
    if (const auto expert = in.whole("ep_size", 1, kMostDegree); expert && *expert > 1)
        job.set("parallel.expert", *expert, in.find("ep_size"));
    if (cut.pipeline > 1 && in.flag("dp_outside").value_or(true))
        job.set("parallel.order", std::string("tp-cp-ep-pp-dp"), in.find("dp_outside"),
                "Colossal-AI has data outside of the pipeline (dp_outside)");
    return cut;
}

void read_colossal_schedule(Reading& job, const ColossalCut& cut) {
    Settings& in = job.in;
    const std::string style = in.word("pp_style").value_or("1f1b");
    const Setting* const from = in.find("pp_style");
    const std::int64_t chunks = in.whole("num_model_chunks", 1, 1024).value_or(1);
    const Setting* const partition = in.find("num_layers_per_stage");
    if (partition != nullptr && partition->value->is(Node::Kind::List))
        job.set("parallel.partition",
                fmt::format("[{}]", fmt::join(in.words("num_layers_per_stage"), ", ")), partition);
    if (cut.pipeline == 1 || style == "1f1b") {
        job.set("schedule", std::string("1f1b"), from);
    } else if (style == "interleaved" || style == "zbv") {
        job.set("schedule.name", std::string(style == "zbv" ? "zb-v" : "interleaved-1f1b"), from);
        job.set("schedule.stages_per_rank", style == "zbv" ? 2 : chunks,
                in.find("num_model_chunks"));
    } else {
        job.refuse(*from,
                   fmt::format("pp_style must be 1f1b, interleaved or zbv, not '{}'", style));
    }
}

void read_colossal_batches(Reading& job, const std::vector<PythonCall>& calls,
                           const ColossalCut& cut) {
    Settings& in = job.in;
    for (const PythonCall& call : calls)
        if (call.name == "prepare_dataloader" || call.name == "DataLoader")
            if (const PythonArgument* const size = call.find("batch_size"))
                in.add({"batch_size", "batch_size",
                        size->value ? size->value : text::make_scalar(size->written, size->place),
                        size->place, size->value != nullptr});
    const auto batch = in.whole("batch_size", 1, kMost);
    const auto micro = in.whole("microbatch_size", 1, kMost);
    const auto count = in.whole("num_microbatches", 1, kMost);
    if (batch && cut.data)
        job.set("training.global_batch", *batch * *cut.data, in.find("batch_size"),
                fmt::format("{} on each of {} replicas", *batch, *cut.data));
    else if (!batch && !job.given("training.global_batch"))
        job.ask(
            "how many samples does a step have? The script's data loader determines it; give them "
            "by --set training.global_batch=N");
    if (cut.pipeline == 1 && batch)
        job.set("training.micro_batch", *batch, in.find("batch_size"));
    else if (micro)
        job.set("training.micro_batch", *micro, in.find("microbatch_size"));
    else if (count && batch)
        job.set("training.micro_batch", std::max<std::int64_t>(*batch / *count, 1),
                in.find("num_microbatches"), fmt::format("{} / {}", *batch, *count));
    else if (!job.given("training.micro_batch"))
        job.ask(
            "how many samples does a microbatch have? The call has neither microbatch_size nor "
            "num_microbatches; give them by --set training.micro_batch=N");
    if (!job.given("training.seq_length"))
        job.ask(
            "how many tokens does a sample have? The script determines it; give them by --set "
            "training.seq_length=N");
}

void read_colossal_training(Reading& job, const std::vector<PythonCall>& calls) {
    Settings& in = job.in;
    const std::string word = in.word("precision").value_or("fp16");
    const Setting* const from = in.find("precision");
    if (word == "fp32")
        job.set("training.precision", word, from);
    else
        job.set("training.precision", fmt::format("{{base: {}, grads: {}}}", word, word), from,
                "gradients have the parameters' type");
    const auto calls_of = [&](std::string_view name) {
        return std::ranges::any_of(calls,
                                   [&](const PythonCall& call) { return call.name == name; });
    };
    job.set("training.recompute",
            std::string(calls_of("gradient_checkpointing_enable") ? "full" : "none"), nullptr,
            calls_of("gradient_checkpointing_enable") ? "gradient_checkpointing_enable()"
                                                      : "no gradient_checkpointing_enable()");
    const bool flash = in.is_on("enable_flash_attention") || in.is_on("enable_all_optimization");
    job.set("training.attention", std::string(flash ? "flash" : "unfused"),
            in.find("enable_flash_attention"));
    if (in.is_on("cpu_offload"))
        job.set("training.offload_optimizer", true, in.find("cpu_offload"));
    const char* kind = calls_of("HybridAdam") || calls_of("FusedAdam") || calls_of("CPUAdam")
                           ? "fused-adam"
                           : "foreach-adam";
    job.set("framework.optimizer", std::string(kind), nullptr,
            calls_of("HybridAdam") ? "HybridAdam" : "");
}

void read_colossal_software(Reading& job, const ColossalCut& cut) {
    Settings& in = job.in;
    job.set("framework.base", std::string("pytorch-eager"), nullptr, "Colossal-AI");
    if (in.is_on("enable_fused_normalization") || in.is_on("enable_all_optimization"))
        job.set("framework.fused_norm", true, in.find("enable_fused_normalization"));
    const auto multiple = in.whole("make_vocab_size_divisible_by", 1, 1 << 20);
    job.set("framework.vocabulary_multiple", multiple.value_or(64),
            in.find("make_vocab_size_divisible_by"), multiple ? "" : "the default");
    const bool overlaps = in.flag("overlap_communication").value_or(true);
    const bool alone = cut.pipeline > 1 && cut.zero == 0;
    job.set("framework.overlap_grad_reduce", overlaps && !alone, in.find("overlap_communication"),
            alone ? "no DDP with pp_size above 1" : "");
    if (alone)
        job.note(
            "gradients are reduced after the pipeline without overlap (no DDP with pp_size above "
            "1)");
    const auto ddp = in.whole("ddp_bucket_cap_mb", 1, 1'000'000);
    const auto zero = in.whole("zero_bucket_size_in_m", 1, 1'000'000);
    if (!overlaps || alone) return;
    const bool fp32 = in.word("precision") == "fp32";
    if (cut.zero > 0)
        job.set("framework.grad_bucket", fmt::format("{} MiB", zero.value_or(12) * (fp32 ? 4 : 2)),
                in.find("zero_bucket_size_in_m"), "Mi elements");
    else
        job.set("framework.grad_bucket", fmt::format("{} MB", ddp.value_or(25)),
                in.find("ddp_bucket_cap_mb"));
}

/// Arguments that change a plan and are in no key of it.
void note_colossal_left(Reading& job) {
    constexpr std::pair<std::string_view, std::string_view> kNoted[] = {
        {"gradient_checkpoint_config",
         "it may recompute a part of the layers; set training.recompute"},
        {"fp8_communication", "8-bit messages are not modelled"},
        {"use_fp8", "8-bit GEMMs are not modelled for it; set training.precision"},
        {"communication_dtype", "gradients are planned to be sent in the parameters' type"},
        {"custom_policy", "a custom policy's changes of layers are not read"},
        {"inner_ring_size", "two-level rings are not modelled"},
        {"overlap_allgather",
         "all-gathers are planned as in the framework's profile; set "
         "framework.overlap_param_gather"}};
    for (const auto& [name, sentence] : kNoted) {
        const Setting* const setting = job.in.find(name);
        if (setting == nullptr || setting->value->is(Node::Kind::Null)) continue;
        const std::string& word = setting->value->scalar;
        if (word == "False" || word == "false" || word == "None") continue;
        job.note(*setting, std::string(sentence));
    }
    if (const auto overlaps = job.in.flag("overlap_p2p"); overlaps && !*overlaps)
        job.note(*job.in.find("overlap_p2p"),
                 "sends are planned to overlap computes; set framework.point_to_point_blocks");
}

void sort_colossal_left(Reading& job) {
    note_colossal_left(job);
    constexpr std::string_view kPlain[] = {"enable_metadata_cache",
                                           "parallel_output",
                                           "enable_jit_fused",
                                           "broadcast_buffers",
                                           "find_unused_parameters",
                                           "check_reduction",
                                           "gradient_as_bucket_view",
                                           "static_graph",
                                           "initial_scale",
                                           "min_scale",
                                           "growth_factor",
                                           "backoff_factor",
                                           "growth_interval",
                                           "hysteresis",
                                           "max_scale",
                                           "max_norm",
                                           "dp_outside",
                                           "make_vocab_size_divisible_by",
                                           "enable_tensor_parallelism",
                                           "ddp_bucket_cap_mb",
                                           "zero_bucket_size_in_m",
                                           "use_async_d2h"};
    for (const Setting* const setting : job.in.left()) {
        const bool plain = std::ranges::find(kPlain, setting->name) != std::end(kPlain) ||
                           setting->name.starts_with("config.");
        if (plain)
            job.count_silent();
        else
            job.note(fmt::format("{} is not a known argument of a supported plugin; it is ignored",
                                 origin_of(*setting)),
                     Harm::Unknown);
    }
}

}  // namespace

void read_colossalai_job(const JobText& text, Reading& job) {
    std::vector<PythonCall> calls;
    if (text.text.find('(') != std::string::npos)
        calls = python_calls(text::checked_source(text.text, text.file.string()));
    const auto plugin = std::ranges::find_if(calls, [](const PythonCall& call) {
        return std::ranges::find(kPlugins, call.name) != std::end(kPlugins);
    });
    std::string name = "HybridParallelPlugin";
    if (plugin != calls.end()) {
        add_literals(*plugin, job.in);
        name = plugin->name;
    } else if (calls.empty()) {
        add_pairs(text, job.in);
    }
    if (plugin == calls.end() && job.in.all().empty())
        throw InputError(
            {{{text.file.string(), 0, 0}, "this file does not call a plugin of Colossal-AI", {}}});
    read_colossal_model(job, calls);
    const ColossalCut cut = read_colossal_cut(job, name);
    read_colossal_schedule(job, cut);
    read_colossal_batches(job, calls, cut);
    read_colossal_training(job, calls);
    read_colossal_software(job, cut);
    sort_colossal_left(job);
}

}  // namespace debubble::jobs
