#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/jobs/megatron/megatron.h"

namespace debubble::jobs {
namespace {

/// Notes a batch that grows while training: the last size is planned.
void read_growth(Reading& job, std::int64_t global) {
    Settings& in = job.in;
    if (const Setting* const steps = in.find("step_batch_size_schedule")) {
        const std::vector<std::string> words = in.words("step_batch_size_schedule");
        const std::size_t colon = words.empty() ? std::string::npos : words.front().find(':');
        const std::string first =
            colon == std::string::npos
                ? "a smaller size"
                : words.front().substr(colon + 1, words.front().find(' ', colon) - colon - 1);
        job.note(*steps,
                 fmt::format("the batch grows from {} to {} in steps; the last one is planned",
                             first, global));
    }
    if (const Setting* const ramp = in.find("rampup_batch_size"))
        job.note(*ramp, fmt::format("the batch grows from {} to {}; the last one is planned",
                                    in.words("rampup_batch_size").empty()
                                        ? "a smaller size"
                                        : in.words("rampup_batch_size").front(),
                                    global));
}

/// The last size of "0:16 2.4B:320 12B:1536".
std::optional<std::int64_t> last_step(Settings& in) {
    const Setting* const steps = in.find("step_batch_size_schedule");
    if (steps == nullptr) return {};
    const std::vector<std::string> words = in.words("step_batch_size_schedule");
    if (words.empty()) return {};
    const std::size_t colon = words.back().rfind(':');
    const auto value = number_of(words.back().substr(colon == std::string::npos ? 0 : colon + 1));
    if (!value || *value < 1 || *value > static_cast<double>(kMost)) return {};
    return static_cast<std::int64_t>(*value);
}

/// slime's microbatches hold as many samples as have this many tokens a GPU.
bool packs_by_tokens(Reading& job) {
    return job.in.is_on("use_dynamic_batch_size") && job.in.has("max_tokens_per_gpu");
}

/// The samples of a microbatch: those of the job, or of slime's dynamic batches the most that have
/// no more than their tokens and divide a replica's share of the step.
std::optional<std::int64_t> micro_batch_of(Reading& job, const MegatronCut& cut,
                                           std::optional<std::int64_t> global) {
    Settings& in = job.in;
    const auto micro = in.whole("micro_batch_size", 1, kMost);
    if (!packs_by_tokens(job) || job.given("training.micro_batch")) return micro;
    const std::int64_t most = in.whole("max_tokens_per_gpu", 1, kMost).value_or(1) * cut.context;
    auto length = in.whole("seq_length", 1, kMost);
    if (const auto given = job.given_whole("training.seq_length")) length = given;
    if (!length || !cut.data) return micro;
    const std::int64_t share = std::max<std::int64_t>(
        job.given_whole("training.global_batch").value_or(global.value_or(1)) / *cut.data, 1);
    std::int64_t made = std::clamp<std::int64_t>(most / *length, 1, share);
    while (share % made != 0) --made;
    const Setting* const from = in.find("max_tokens_per_gpu");
    job.set("training.micro_batch", made, from, fmt::format("of {} tokens each", *length));
    job.note(*from, fmt::format("microbatches of variable-length samples have up to {} tokens; {} "
                                "of {} tokens are planned",
                                most, made, *length));
    return made;
}

/// slime's step where --global-batch-size is absent: the rollouts of its prompts, in equal steps.
std::optional<std::int64_t> rollouts_of_step(Reading& job, const Setting*& from) {
    Settings& in = job.in;
    const auto prompts = in.whole("rollout_batch_size", 1, kMost);
    const auto samples = in.whole("n_samples_per_prompt", 1, kMost);
    const auto steps = in.whole("num_steps_per_rollout", 1, kMost);
    if (!prompts || !samples) return {};
    from = in.find("rollout_batch_size");
    return std::max<std::int64_t>(batch_of(*prompts, *samples, 1) / steps.value_or(1), 1);
}

void read_batches(Reading& job, const MegatronDialect& dialect, MegatronCut& cut) {
    Settings& in = job.in;
    auto global = in.whole("global_batch_size", 1, kMost);
    const Setting* from = in.find("global_batch_size");
    if (!global) global = rollouts_of_step(job, from);
    const auto micro = micro_batch_of(job, cut, global);
    std::string why;
    if (!global) {
        global = last_step(in);
        if (global) from = in.find("step_batch_size_schedule");
    }
    if (!global && micro && cut.data) {
        global = *micro * *cut.data;
        why = "micro batch x data, since --global-batch-size is absent";
    }
    if (!micro && !job.given("training.micro_batch") && !packs_by_tokens(job))
        job.ask(
            "how many samples does a microbatch have? The job has no micro_batch_size; give them "
            "by --set training.micro_batch=N",
            {"micro_batch_size"});
    if (global) {
        job.set("training.global_batch", *global, from, why);
        read_growth(job, *global);
    }
    if (micro && in.has("micro_batch_size"))
        job.set("training.micro_batch", *micro, in.find("micro_batch_size"));
    const std::int64_t taken = job.given_whole("training.micro_batch").value_or(micro.value_or(0));
    const std::int64_t step = job.given_whole("training.global_batch").value_or(global.value_or(0));
    if (taken > 0 && cut.data)
        if (const std::int64_t batches = step / (taken * *cut.data); batches > 0)
            cut.micro_batches = batches;
    settle_megatron_groups(job, cut);
    const std::int64_t share = micro.value_or(1) * cut.data.value_or(1);
    if (global && micro && cut.data && *global % share != 0 && from != nullptr &&
        !job.given("training.global_batch") && !job.given("training.micro_batch"))
        job.refuse(*from, fmt::format("a global batch of {} is not a multiple of micro batch {} x "
                                      "data {}",
                                      *global, *micro, *cut.data));
    if (!job.copy("training.seq_length", "seq_length") && !job.given("training.seq_length") &&
        !dialect.is_bridge)
        job.ask(
            "how many tokens does a sample have? The job has no seq_length; give them by --set "
            "training.seq_length=N",
            {"seq_length"});
}

void read_recompute(Reading& job, const MegatronCut& cut) {
    Settings& in = job.in;
    std::optional<std::string> granularity = in.word("recompute_granularity");
    const Setting* from = in.find("recompute_granularity");
    if (in.is_on("recompute_activations")) {
        granularity = "selective";
        from = in.find("recompute_activations");
    }
    for (const char* name : {"checkpoint_activations", "deepspeed_activation_checkpointing"})
        if (in.is_on(name)) {  // of 2021, and of Megatron-DeepSpeed
            granularity = "full";
            from = nullptr;
            job.note(*in.find(name), "all layers are fully recomputed");
        }
    const std::vector<std::string> modules = in.words("recompute_modules");
    const std::optional<std::string> method = in.word("recompute_method");
    const auto layers = in.whole("recompute_num_layers", 1, 10'000);
    if (granularity == "none") granularity.reset();
    if (granularity && *granularity != "selective" && *granularity != "full") {
        job.refuse(*from, fmt::format("--recompute-granularity must be full or selective, not '{}'",
                                      *granularity));
    } else if (granularity == "selective") {
        const bool core = modules.empty() || modules == std::vector<std::string>{"core_attn"};
        std::vector<std::string> known;
        for (const std::string& module : modules) {
            constexpr std::string_view kModules[] = {
                "core_attn", "moe_act", "layernorm", "mla_up_proj", "mlp", "moe", "shared_experts"};
            if (std::ranges::find(kModules, module) != std::ranges::end(kModules))
                known.push_back(module);
            else
                job.note(*in.find("recompute_modules"),
                         fmt::format("'{}' is not a supported module", module));
        }
        job.set("training.recompute",
                core ? "selective" : fmt::format("{{modules: [{}]}}", fmt::join(known, ", ")),
                core ? from : in.find("recompute_modules"));
    } else if (granularity == "full") {
        const std::int64_t stages = std::max<std::int64_t>(cut.pipeline * cut.chunks, 1);
        const std::int64_t of_stage = (cut.layers + stages - 1) / stages;
        const bool block = method == "block";
        if (method && layers && (block ? *layers < of_stage : *layers > 1))
            job.set("training.recompute",
                    fmt::format("{{method: {}, layers: {}}}", *method, *layers),
                    in.find("recompute_num_layers"));
        else
            job.set("training.recompute", std::string("full"), from,
                    block ? "all layers of every stage" : "");
    } else {
        job.set("training.recompute", std::string("none"), nullptr, "no recompute_granularity");
    }
}

void read_offload(Reading& job) {
    Settings& in = job.in;
    const std::vector<std::string> modules = in.words("offload_modules");
    const auto smallest = in.whole("min_offloaded_tensor_size", 1, 1'000'000'000'000);
    if (in.is_on("fine_grained_activation_offloading") && !modules.empty())
        job.set(
            "training.offload",
            fmt::format("{{modules: [{}]{}}}", fmt::join(modules, ", "),
                        smallest ? fmt::format(", min_offloaded_tensor_size: {}", *smallest) : ""),
            in.find("offload_modules"));
    const auto layers = in.whole("cpu_offloading_num_layers", 0, 10'000);
    const std::optional<bool> offloads = in.flag("cpu_offloading");
    if (layers && *layers > 0 && offloads.value_or(true))
        job.set("training.offload", fmt::format("{{layers: {}}}", *layers),
                in.find("cpu_offloading_num_layers"));
    const auto fraction = in.real("optimizer_offload_fraction");
    if (in.is_on("optimizer_cpu_offload") && fraction.value_or(1) > 0) {
        job.set("training.offload_optimizer", true, in.find("optimizer_cpu_offload"));
        if (fraction && *fraction < 1)
            job.note(
                *in.find("optimizer_offload_fraction"),
                "part of the optimizer state stays on the GPU; all of it is planned on the host");
    }
}

void read_optimizer(Reading& job) {
    Settings& in = job.in;
    const std::string word = in.word("optimizer").value_or("adam");
    const Setting* const from = in.find("optimizer");
    std::string name = word == "sgd"                            ? "sgd"
                       : word.find("muon") != std::string::npos ? "muon"
                                                                : "adamw";
    if (name == "adamw" && word != "adam" && word != "adamw" && from != nullptr)
        job.note(*from, fmt::format("the optimizer '{}' is planned as adamw", word));
    std::string value = "{name: " + name;
    const auto rate = in.real("lr");
    if (rate && *rate >= 0 && *rate < 1e6) value += fmt::format(", lr: {}", *rate);
    const auto decay = in.real("weight_decay");
    if (decay && *decay >= 0 && *decay < 1e6) value += fmt::format(", weight_decay: {}", *decay);
    // core/optimizer/__init__.py: biases and what has one dimension have a factor of 0.
    const bool decays = decay ? *decay > 0 : name != "sgd";
    if (decays) value += ", weight_decay_of: matrices";
    const double beta1 = in.real("adam_beta1").value_or(0.9);
    const double beta2 = in.real("adam_beta2").value_or(0.999);
    const bool sound = beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1;
    if (name == "adamw" && sound && (beta1 != 0.9 || beta2 != 0.999))
        value += fmt::format(", betas: [{}, {}]", beta1, beta2);
    const bool more = value.find(',') != std::string::npos;
    if (more || name != "adamw")
        job.set("training.optimizer", more ? value + "}" : name, rate ? in.find("lr") : from,
                decays ? "Megatron-Core does not decay norms and biases" : "");
    if (const auto clip = in.real("clip_grad"); clip && *clip > 0 && *clip < 1e9)
        job.set_real("training.clip_norm", *clip, in.find("clip_grad"));
}

void read_dropout(Reading& job, const MegatronDialect& dialect) {
    Settings& in = job.in;
    const auto hidden = in.real("hidden_dropout");
    const auto attention = in.real("attention_dropout");
    const double value = hidden.value_or(dialect.is_bridge ? 0.0 : 0.1);
    if (attention && *attention != value)
        job.note(*in.find("attention_dropout"),
                 fmt::format(
                     "attention and hidden values have different dropout; {} is planned for both",
                     value));
    if (value < 0 || value > 0.999) {
        if (hidden) job.refuse(*in.find("hidden_dropout"), "a dropout must be from 0 to 0.999");
        return;
    }
    if (value > 0 && !job.has_model() && !dialect.names_network)
        job.set_real("model.dropout", value, in.find("hidden_dropout"),
                     hidden ? "" : "the default of --hidden-dropout");
    else
        job.set_real("training.dropout", value, in.find("hidden_dropout"));
}

}  // namespace

void read_megatron_training(Reading& job, const MegatronDialect& dialect, MegatronCut& cut) {
    Settings& in = job.in;
    read_batches(job, dialect, cut);
    read_recompute(job, cut);
    const std::optional<std::string> backend = in.word("attention_backend");
    const Setting* const from = in.find("attention_backend");
    // Megatron-Core's own layers have no fused attention (gpt_layer_specs.py).
    const Setting* const layers = in.find("transformer_impl");
    const bool local = in.word("transformer_impl").value_or("") == "local";
    const std::string word = backend.value_or(local ? "local" : "auto");
    const bool unfused = word == "unfused" || word == "local" || word.ends_with("unfused");
    job.set("training.attention", std::string(unfused ? "unfused" : "flash"),
            backend || !local ? from : layers,
            backend || local ? "" : "the default: TransformerEngine uses a fused kernel");
    read_dropout(job, dialect);
    read_offload(job);
    read_optimizer(job);
}

}  // namespace debubble::jobs
