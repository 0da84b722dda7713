#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "scenarios/jobs/deepspeed/deepspeed.h"
#include "scenarios/jobs/megatron/megatron.h"
#include "scenarios/jobs/neox/neox.h"
#include "scenarios/jobs/read/formats.h"
#include "scenarios/jobs/shell/value.h"
#include "text/document_readers.h"

/// Configurations of EleutherAI/gpt-neox (ea7aefd8, megatron/neox_arguments and model/), whose
/// layers are Megatron-LM's of 2020 under DeepSpeed: its settings are read under Megatron's names.
namespace debubble::jobs {
namespace {

namespace fs = std::filesystem;
using text::Node;
using text::NodePtr;

/// Names of GPT-NeoX and of the DeepSpeed settings in its file, with Megatron-LM's and those that
/// finish_deepspeed() reads.
constexpr std::pair<std::string_view, std::string_view> kNeoxNames[] = {
    {"model_parallel_size", "tensor_model_parallel_size"},
    {"pipe_parallel_size", "pipeline_model_parallel_size"},
    {"pipe_partition_method", "neox_partition_method"},
    {"num_kv_heads", "num_query_groups"},
    {"rotary_pct", "rotary_percent"},
    {"rotary_emb_base", "rotary_base"},
    {"no_weight_tying", "untie_embeddings_and_output_weights"},
    {"train_micro_batch_size_per_gpu", "micro_batch_size"},
    {"batch_size", "micro_batch_size"},
    {"train_batch_size", "global_batch_size"},
    {"zero_optimization.stage", "zero_stage"},
    {"zero_optimization.overlap_comm", "deepspeed_overlap_comm"},
    {"zero_optimization.reduce_bucket_size", "deepspeed_bucket"},
    {"zero_optimization.offload_optimizer.device", "deepspeed_offload"},
    {"data_types.grad_accum_dtype", "deepspeed_grad_dtype"},
    {"fp16.enabled", "fp16"},
    {"bf16.enabled", "bf16"},
    {"optimizer.type", "optimizer"},
    {"optimizer.params.lr", "lr"},
    {"gradient_clipping", "clip_grad"},
    {"use_bias_in_mlp", "bias_linear"}};

/// Defaults of GPT-NeoX that differ from Megatron-LM's.
constexpr std::pair<std::string_view, std::string_view> kNeoxDefaults[] = {
    {"deepspeed", "true"},
    {"hidden_dropout", "0"},
    {"attention_dropout", "0"},
    {"rope_fusion", "false"},
    {"bias_gelu_fusion", "false"},
    {"bias_dropout_fusion", "false"},
    {"gradient_accumulation_fusion", "false"},
    {"create_attention_mask_in_dataloader", "false"},
    {"clip_grad", "1.0"},
    {"weight_decay", "0.1"},
    {"tokenizer_type", "GPT2BPETokenizer"}};

NodePtr word_of_file(std::string_view word, const text::SourcePosition& place) {
    return text::make_scalar(std::string(word), place);
}

bool is_configuration(std::string_view name) {
    return name.ends_with(".yml") || name.ends_with(".yaml") || name.ends_with(".json");
}

/// The files that `deepy.py train.py -d FOLDER A.yml B.yml` names, beside the script, in a folder
/// above it, or in FOLDER there; deepy.py adds ".yml" to names without an ending.
std::vector<NodePtr> named_documents(const JobText& text, Reading& job) {
    const ShellScript script =
        follow_script(text::checked_source(text.text, text.file.string()), job.started);
    std::vector<NodePtr> documents;
    std::error_code error;
    for (const ShellCommand& command : script.commands) {
        const auto start = std::ranges::find_if(
            command.words, [](const ShellText& word) { return word.text.ends_with("deepy.py"); });
        fs::path folder;
        for (auto word = start; word != command.words.end(); ++word) {
            const bool before = word != command.words.begin();
            if (before &&
                (std::prev(word)->text == "-d" || std::prev(word)->text == "--conf_dir")) {
                folder = word->text;
                continue;
            }
            if (word->text.starts_with('-') || word->text.ends_with(".py")) continue;
            const fs::path name = is_configuration(word->text) ? word->text : word->text + ".yml";
            fs::path found;
            fs::path above = fs::absolute(text.file, error).parent_path();
            for (int up = 0; up < 6 && found.empty(); ++up, above = above.parent_path())
                for (const fs::path& path : {above / folder / name, above / name})
                    if (found.empty() && fs::is_regular_file(path, error)) found = path;
            if (found.empty())
                job.mistakes().add(
                    script.place(word->offset()),
                    fmt::format(
                        "'{}' is not in the script's folder or a parent folder; put it there",
                        name.string()));
            else
                documents.push_back(
                    yaml_document(read_file(found, text::kLongestDocument), found.string(), job));
        }
    }
    job.mistakes().throw_if_any();
    return documents;
}

/// The documents of the job as deepy.py merges its files: a key may stand in one of them alone.
void add_neox_documents(const JobText& text, Reading& job) {
    std::vector<NodePtr> documents = is_configuration(text.file.string())
                                         ? yaml_documents(text, job)
                                         : named_documents(text, job);
    std::erase_if(documents, [](const NodePtr& one) { return !one->is(Node::Kind::Map); });
    if (documents.empty())
        throw InputError({{{text.file.string(), 0, 0}, "the file has no map of settings", {}}});
    std::map<std::string, text::SourcePosition> first;
    for (const NodePtr& document : documents) {
        Settings found;
        add_keys(*document, true, found);
        for (Setting setting : found.all()) {
            std::ranges::replace(setting.name, '-', '_');
            const auto [before, fresh] = first.emplace(setting.name, setting.place);
            if (!fresh)
                job.refuse(setting,
                           fmt::format("{} is also given in line {} of '{}', but GPT-NeoX accepts "
                                       "each setting from only one file",
                                       setting.written, before->second.line,
                                       fs::path(before->second.source->file).filename().string()));
            job.in.add(std::move(setting));
        }
    }
    job.mistakes().throw_if_any();
}

void add_neox_setting(Reading& job, std::string_view name, std::string_view value,
                      const Setting& from) {
    Setting setting = from;
    setting.name = name;
    setting.value = word_of_file(value, from.place);
    job.in.add(std::move(setting));
}

/// Settings that mean one of Megatron-LM's by their value.
void settle_neox_words(Reading& job) {
    Settings& in = job.in;
    const auto add = [&](const char* name, std::string_view field, std::string_view value) {
        const Setting from = *in.find(name);
        add_neox_setting(job, field, value, from);
    };
    if (const auto precision = in.word("precision")) {
        constexpr std::pair<std::string_view, std::string_view> kWords[] = {
            {"fp16", "fp16"}, {"bfloat16", "bf16"}, {"fp32", ""}};
        const auto* const known = std::ranges::find(
            kWords, *precision, &std::pair<std::string_view, std::string_view>::first);
        if (known == std::end(kWords))
            job.refuse(*in.find("precision"),
                       fmt::format("the precision '{}' is not fp16, bfloat16 or fp32", *precision));
        else if (!known->second.empty())
            add("precision", known->second, "true");
    }
    if (in.is_on("checkpoint_activations")) {
        add("checkpoint_activations", "recompute_granularity", "full");
        if (const auto layers = in.whole("checkpoint_num_layers", 1, 10'000);
            layers && *layers > 1) {
            add("checkpoint_num_layers", "recompute_num_layers", std::to_string(*layers));
            add("checkpoint_num_layers", "recompute_method", "uniform");
        }
    }
    if (const auto width = in.whole("sliding_window_width", 1, kMost))
        add("sliding_window_width", "window_size", fmt::format("({},0)", *width - 1));
    // The tokenizer of GPT-NeoX-20B and Pythia has 50277 tokens.
    const std::string file = in.word("vocab_file").value_or("");
    if (in.word("tokenizer_type") == "HFTokenizer" && !in.has("vocab_size") &&
        file.find("20B_tokenizer") != std::string::npos)
        add("vocab_file", "vocab_size", "50277");
    if (in.word("tokenizer_type") == "HFGPT2Tokenizer" && !in.has("vocab_size"))
        add("tokenizer_type", "vocab_size", "50257");
    if (const auto type = in.word("optimizer")) {
        std::string lower = *type;
        std::ranges::transform(lower, lower.begin(),
                               [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        if (lower.starts_with("onebit"))
            job.refuse(*in.find("optimizer"), "1-bit optimizers are not modelled");
        else
            add("optimizer", "optimizer", lower.starts_with("cpu_") ? "adam" : lower);
    }
}

void rename_neox(Settings& settings, const text::SourcePosition& place) {
    settings.transform([](Setting& setting) {
        for (const auto& [name, field] : kNeoxNames)
            if (setting.name == name) {
                setting.name = field;
                break;
            }
        // 0 ranks of a pipeline are a model without DeepSpeed's pipeline around it.
        if (setting.name == "pipeline_model_parallel_size" &&
            setting.value->is(Node::Kind::Scalar) && setting.value->scalar == "0")
            setting.value = word_of_file("1", setting.place);
        return true;
    });
    for (const auto& [name, value] : kNeoxDefaults) {
        if (settings.contains(name)) continue;
        Setting setting{std::string(name), std::string(name) + " (GPT-NeoX's default)",
                        word_of_file(value, place), place, true};
        setting.is_default = true;
        settings.add(std::move(setting));
    }
}

/// Layers of every stage: DeepSpeed balances embedding, a function, the layers, a function, norm
/// and head by names that fit (model/gpt2_model.py, init_specs).
void read_neox_partition(Reading& job, const std::filesystem::path& folder) {
    Settings& in = job.in;
    const std::string method = in.word("neox_partition_method").value_or("type:transformer|mlp");
    const Setting* const from = in.find("neox_partition_method");
    auto layers = in.whole("num_layers", 1, 10'000);
    if (job.has_model()) layers = layers_of_given_model(job, folder);
    const auto stages = in.whole("pipeline_model_parallel_size", 1, kMostDegree);
    if (!layers || *layers == 0 || !stages || *stages == 1) return;
    if (!method.starts_with("type:"))
        return job.note(
            *from, "only a partition by layer types is supported; the layers are shared evenly");
    const std::string head =
        in.is_on("untie_embeddings_and_output_weights") ? "parallellinearpipe" : "embeddingpipe";
    const std::string partition =
        partition_by_types(method.substr(5), {"embeddingpipe", "_pre_transformer_block"},
                           "paralleltransformerlayerpipe",
                           {"_post_transformer_block", "normpipe", head}, *layers, *stages);
    job.set("parallel.partition", partition, from,
            from == nullptr ? "type:transformer|mlp, GPT-NeoX's default" : "");
}

/// The samples of a step where the file has a microbatch's and steps alone.
void read_neox_batch(Reading& job) {
    Settings& in = job.in;
    const auto steps = in.whole("gradient_accumulation_steps", 1, kMost);
    const auto micro = job.given("training.micro_batch") ? job.given_whole("training.micro_batch")
                                                         : in.whole("micro_batch_size", 1, kMost);
    const std::int64_t ranks = in.whole("tensor_model_parallel_size", 1, kMostDegree).value_or(1) *
                               in.whole("pipeline_model_parallel_size", 1, kMostDegree).value_or(1);
    const std::optional<std::int64_t> gpus = neox_gpus(job);
    if (in.has("global_batch_size") || !micro || !gpus || *gpus % ranks != 0) return;
    job.set("training.global_batch", batch_of(*micro, *gpus / ranks, steps.value_or(1)),
            in.find("gradient_accumulation_steps"), "micro batch x data x accumulation steps");
}

}  // namespace

std::optional<std::int64_t> neox_gpus(Reading& job) {
    if (job.given("gpus")) return job.given_whole("gpus");
    const auto nodes = job.in.whole("num_nodes", -1, kMost);
    const auto each = job.in.whole("num_gpus", 1, kMost);
    if (each) return *each * std::max<std::int64_t>(nodes.value_or(1), 1);
    return {};
}

void read_neox_job(const JobText& text, Reading& job) {
    add_neox_documents(text, job);
    const text::SourcePosition place =
        job.in.all().empty() ? text::SourcePosition() : job.in.all().front().place;
    rename_neox(job.in, place);
    settle_neox_words(job);
    check_neox(job);
    if (!job.has_model())
        settle_neox_network(job);
    else
        settle_neox_attention(job, layers_of_given_model(job, text.folder));
    job.mistakes().throw_if_any();
    for (const char* name :
         {"deepspeed_overlap_comm", "deepspeed_bucket", "deepspeed_offload", "deepspeed_grad_dtype",
          "neox_partition_method", "gradient_accumulation_steps", "fp32_allreduce"})
        job.in.find(name);  // which are read after Megatron-LM's, and so are not unknown to it
    read_megatron(job, {.tool = "GPT-NeoX", .framework = "megatron-2021"});
    finish_deepspeed(job);
    if (!job.has_model()) finish_neox_network(job);
    read_neox_partition(job, text.folder);
    read_neox_batch(job);
    if (job.in.is_on("fp32_allreduce"))
        job.set("framework.grad_reduce_dtype", std::string("fp32"), job.in.find("fp32_allreduce"));
}

}  // namespace debubble::jobs
