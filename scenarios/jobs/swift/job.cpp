#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/deepspeed/deepspeed.h"
#include "scenarios/jobs/megatron/megatron.h"
#include "scenarios/jobs/read/formats.h"
#include "scenarios/jobs/read/script_settings.h"
#include "scenarios/jobs/read/zoo_names.h"
#include "text/document_readers.h"

/// `megatron sft`, `megatron pt` and their like of modelscope/ms-swift: Megatron-Core's fields as
/// flags with underscores, and a network by its name in the hub (ms-swift's documentation,
/// Megatron-SWIFT command line parameters).
namespace debubble::jobs {
namespace {

using text::Node;

/// Defaults of ms-swift.
void add_swift_defaults(Settings& settings, const text::SourcePosition& place) {
    constexpr std::pair<std::string_view, std::string_view> kDefaults[] = {
        {"micro_batch_size", "1"},
        {"global_batch_size", "16"},
        {"recompute_granularity", "selective"},
        {"use_distributed_optimizer", "true"},
        {"bf16", "true"},
        {"attention_backend", "flash"},
        {"expert_tensor_parallel_size", "1"},
        {"hidden_dropout", "0"},
        {"attention_dropout", "0"},
        {"moe_token_dispatcher_type", "alltoall"},
        {"create_attention_mask_in_dataloader", "false"}};
    for (const auto& [name, value] : kDefaults) {
        Setting setting{std::string(name), std::string(name) + " (ms-swift's default)",
                        text::make_scalar(std::string(value), place), place, true};
        setting.is_default = true;
        settings.add(std::move(setting));
    }
}

/// Low-rank adapters, by Megatron-Core's names of products.
void read_swift_adapters(Reading& job, const Setting& type) {
    Settings& in = job.in;
    constexpr std::string_view kProducts[] = {"linear_qkv", "linear_proj", "linear_fc1",
                                              "linear_fc2"};
    std::vector<std::string> targets;
    for (const std::string& word : in.words("target_modules"))
        if (std::ranges::find(kProducts, word) != std::end(kProducts))
            targets.push_back(word);
        else if (word != "all-linear")
            return job.refuse(*in.find("target_modules"),
                              fmt::format("adapters of '{}' are not supported; use all-linear or "
                                          "linear_qkv, linear_proj, linear_fc1 and linear_fc2",
                                          word));
    if (targets.empty()) targets.assign(std::begin(kProducts), std::end(kProducts));
    job.set("training.lora",
            fmt::format("{{rank: {}, targets: [{}]}}",
                        in.whole("lora_rank", 1, 1'000'000).value_or(8), fmt::join(targets, ", ")),
            &type);
    for (const char* silent : {"lora_alpha", "lora_dropout", "lora_bias", "use_rslora"})
        in.find(silent);
    if (in.has("modules_to_save"))
        job.note(*in.find("modules_to_save"),
                 "fully trained modules in addition to adapters are planned as frozen");
}

/// Heads of other kinds, and trainings with passes of other networks.
void refuse_other_tasks(Reading& job) {
    Settings& in = job.in;
    if (const auto task = in.word("task_type"); task && *task != "causal_lm" && !job.has_model())
        job.refuse_network(*in.find("task_type"),
                           fmt::format("the head of the task '{}' is not supported", *task));
    const auto type = in.word("rlhf_type");
    if (!type) return;
    if (*type == "rm" && !job.has_model())
        return job.refuse_network(*in.find("rlhf_type"),
                                  "a reward model has another head, which is not supported");
    job.note(*in.find("rlhf_type"),
             fmt::format("for '{}' only the update of the trained network is planned, without "
                         "rollouts and passes of a reference, teacher or critic",
                         *type));
}

/// The network with as many depths of multi-token prediction as --mtp_num_layers says.
std::string with_depths(Reading& job, std::string model) {
    const auto depths = job.in.whole("mtp_num_layers", 0, 16);
    if (!depths || *depths == 0) return model;
    if (!model.starts_with('{')) return fmt::format("{{base: {}, mtp_layers: {}}}", model, *depths);
    model.pop_back();
    return fmt::format("{}, mtp_layers: {}}}", model, *depths);
}

void read_swift_network(Reading& job, const std::filesystem::path& folder) {
    Settings& in = job.in;
    refuse_other_tasks(job);
    for (const char* name : {"train_type", "tuner_type"})
        if (const auto type = in.word(name); type && *type == "lora")
            read_swift_adapters(job, *in.find(name));
        else if (type && *type != "full")
            job.refuse(*in.find(name), fmt::format("adapters ('{}') are not supported", *type));
    if (job.has_model() && !in.contains("num_layers"))
        if (const std::int64_t layers = layers_of_given_model(job, folder); layers > 0) {
            Setting setting = in.all().front();
            setting.name = "num_layers";
            setting.value = text::make_scalar(std::to_string(layers), setting.place);
            setting.is_default = true;
            in.add(std::move(setting));
        }
    if (job.has_model() || in.contains("num_layers")) return;
    for (const char* name : {"model", "load", "mcore_model"})
        if (const Setting* const setting = in.find(name);
            setting != nullptr && setting->known && setting->value->is(Node::Kind::Scalar)) {
            if (const auto known = zoo_model_of(setting->value->scalar)) {
                refuse_changes_of_network(job, true);
                job.set("model", with_depths(job, std::string(known->zoo)), setting,
                        "the model of that name");
                Setting layers = *setting;
                layers.name = "num_layers";
                layers.value = text::make_scalar(std::to_string(known->layers), setting->place);
                in.add(std::move(layers));
                return;
            }
            job.ask(fmt::format(
                "the model '{}' is not in the zoo; give its config.json by --set model=FILE",
                setting->value->scalar));
            return;
        }
    job.ask("which model? The command names none; give its config.json by --set model=FILE");
}

}  // namespace

void read_swift_job(const JobText& text, Reading& job) {
    const auto source = text::checked_source(text.text, text.file.string());
    Settings& in = job.in;
    add_swift_defaults(in, {source, 1, 1});
    add_script(source, job);
    in.transform([](Setting& setting) {
        if (setting.name == "max_length") setting.name = "seq_length";
        return true;
    });
    rename_to_fields(in);
    const bool experts = in.has("expert_model_parallel_size");
    read_swift_network(job, text.folder);
    const MegatronDialect dialect{
        .tool = "ms-swift", .framework = "megatron-2026", .names_network = true};
    MegatronCut cut = read_megatron_cut(job, dialect);
    if (const auto expert = in.whole("expert_model_parallel_size", 1, kMostDegree);
        experts && expert && *expert > 1)
        job.set("parallel.expert", *expert, in.find("expert_model_parallel_size"));
    if (const auto tensor = in.whole("expert_tensor_parallel_size", 1, kMostDegree);
        experts && tensor && *tensor != cut.tensor)
        job.set("parallel.expert_tensor", *tensor, in.find("expert_tensor_parallel_size"));
    read_megatron_training(job, dialect, cut);
    read_megatron_framework(job, dialect, cut);
    if (in.is_on("packing"))
        job.note(*in.find("packing"),
                 "samples are packed to max_length from unknown lengths: attention over whole "
                 "samples is planned");
    sort_left_settings(job, dialect.tool);
    note_megatron_refusals(job, dialect, cut);
}

}  // namespace debubble::jobs
