#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/megatron/flags.h"
#include "scenarios/jobs/megatron/megatron.h"
#include "text/mapping_reader.h"

/// Settings that no key says: those that change no plan, those that do and are named, those that
/// make another network, and those that nobody knows.
namespace debubble::jobs {
namespace {

/// Beginnings and ends of names of paths, data, logs, checkpoints and learning rates, which
/// frameworks on top of Megatron-LM have many of.
constexpr std::array<std::string_view, 34> kSilentParts{
    "*_path",         "*_dir",        "*_file",        "data_*",    "dataset_*",
    "blend*",         "tokenizer_*",  "vocab_*",       "merge_*",   "eod_*",
    "dataloader_*",   "eval_*",       "log_*",         "logging_*", "tensorboard_*",
    "wandb_*",        "one_logger_*", "timing_*",      "save_*",    "load_*",
    "ckpt_*",         "checkpoint_*", "exit_*",        "lr_*",      "warmup*",
    "weight_decay_*", "adam_*",       "distributed_*", "master_*",  "rdzv_*",
    "profile_*",      "mlflow_*",     "hf_*",          "$*"};

bool fits(std::string_view name, std::string_view pattern) {
    if (pattern.starts_with('*')) return name.ends_with(pattern.substr(1));
    return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool is_silent_by_a_part(std::string_view name) {
    return std::ranges::any_of(kSilentParts,
                               [&](std::string_view pattern) { return fits(name, pattern); });
}

/// The name that stands in the job: "no_masked_softmax_fusion" of "--no-masked-softmax-fusion".
std::string name_as_written(const Setting& setting) {
    std::string name = setting.written.substr(setting.written.rfind('.') + 1);
    name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
    std::ranges::replace(name, '-', '_');
    return name;
}

/// The known treatment of a setting by the name of its field, or by the name in the job.
std::optional<FlagFact> fact_of(const Setting& setting) {
    if (const auto fact = flag_fact(setting.name)) return fact;
    return flag_fact(name_as_written(setting));
}

/// Written as the framework has it anyway: false, null, or the default's own value.
bool says_nothing(const Setting& setting) {
    return setting.value->is(text::Node::Kind::Scalar) && setting.known &&
           is_default_of_flag(setting.name, setting.value->scalar);
}

void name_unknown(Reading& job, const Setting& setting, std::string_view tool) {
    std::vector<std::string> known;
    for (const FlagGroup& group : planned_flags())
        for (std::string_view rest = group.names; !rest.empty();) {
            const std::size_t end = std::min(rest.find(' '), rest.size());
            known.emplace_back(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    std::string guess = text::unknown_word("setting", setting.name, known);
    const std::size_t mean = guess.find("; did you mean");
    const std::string hint = mean == std::string::npos ? "" : guess.substr(mean);
    const std::string_view word = network_word_in(setting.name);
    if (!word.empty() && !job.has_model())
        return job.refuse_network(
            setting,
            fmt::format(
                "it is not a known setting of {}, and '{}' in its name suggests another network{}",
                tool, word, hint));
    job.note(fmt::format("{} is not a known setting of {}; it is ignored{}", origin_of(setting),
                         tool, hint),
             Harm::Unknown);
}

/// Settings of which only the beginning or the end of the name is known, which a misspelt one has
/// too: each is named.
void name_by_pattern(Reading& job, const std::vector<const Setting*>& settings) {
    if (settings.empty()) return;
    std::string names;
    for (const Setting* const setting : settings)
        names += (names.empty() ? "" : ", ") + origin_of(*setting);
    job.note(
        fmt::format("{} {} to have no effect on the plan only by a part of the name, as a misspelt "
                    "one would be: {}",
                    settings.size(),
                    settings.size() == 1 ? "setting is assumed" : "settings are assumed", names),
        Harm::Harmless);
}

/// The treatment of a known setting.
void take_known(Reading& job, const Setting& setting, const FlagFact& fact) {
    switch (fact.fate) {
        case FlagFate::Planned:
        case FlagFate::Harmless: return job.count_silent();
        case FlagFate::Noted: return job.note(setting, std::string(fact.reason));
        case FlagFate::NotedOnly:
            return job.note(setting, std::string(fact.reason), Harm::Harmless);
        case FlagFate::Refused:
            if (!job.has_model()) job.refuse_network(setting, std::string(fact.reason));
            return;
    }
}

}  // namespace

void sort_left_settings(Reading& job, std::string_view tool) {
    std::vector<const Setting*> by_pattern;
    const bool slime = is_slime(job.in);
    for (const Setting* const setting : job.in.left()) {
        const bool is_last = job.in.find(setting->name) == setting;
        if (!is_last || says_nothing(*setting)) {
            job.count_silent();
        } else if (const auto fact = fact_of(*setting)) {
            take_known(job, *setting, *fact);
        } else if (slime && sort_slime_flag(job, *setting)) {
            continue;
        } else if (network_word_in(setting->name).empty() && is_silent_by_a_part(setting->name)) {
            job.count_silent();
            if (!setting->name.starts_with('$')) by_pattern.push_back(setting);
        } else {
            name_unknown(job, *setting, tool);
        }
    }
    name_by_pattern(job, by_pattern);
}

}  // namespace debubble::jobs
