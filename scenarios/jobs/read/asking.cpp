#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/jobs/read/reading.h"

/// Values known only when a job starts, asked for by name; and values of the command line, which
/// stand for those of the job wherever it is read.
namespace debubble::jobs {
namespace {

/// Keys of a scenario that say one to one what a setting says.
constexpr std::pair<std::string_view, std::string_view> kAnswers[] = {
    {"model.layers", "num_layers"},
    {"model.hidden", "hidden_size"},
    {"model.heads", "num_attention_heads"},
    {"model.ffn", "ffn_hidden_size"},
    {"parallel.tensor", "tensor_model_parallel_size"},
    {"parallel.pipeline", "pipeline_model_parallel_size"},
    {"parallel.context", "context_parallel_size"},
    {"parallel.expert", "expert_model_parallel_size"},
    {"parallel.expert_tensor", "expert_tensor_parallel_size"},
    {"training.micro_batch", "micro_batch_size"},
    {"training.global_batch", "global_batch_size"},
    {"training.seq_length", "seq_length"},
    {"gpus", "nnodes"},
    {"gpus", "nproc_per_node"},
    {"gpus", "num_nodes"},
    {"gpus", "gpus_per_node"},
    {"parallel.tensor", "parallelism.tensor_parallel_degree"},
    {"parallel.pipeline", "parallelism.pipeline_parallel_degree"},
    {"parallel.context", "parallelism.context_parallel_degree"},
    {"parallel.expert", "parallelism.expert_parallel_degree"}};

bool is_launch(std::string_view setting) {
    return setting == "nnodes" || setting == "nproc_per_node" || setting == "num_nodes" ||
           setting == "gpus_per_node" || setting.ends_with("_model_parallel_size");
}

/// "$3"
bool is_argument(std::string_view name) {
    return name.size() > 1 && name[0] == '$' && name[1] >= '0' && name[1] <= '9';
}

std::string_view key_of(std::string_view setting) {
    for (const auto& [key, name] : kAnswers)
        if (name == setting) return key;
    return {};
}

}  // namespace

void Reading::take_answers() {
    for (const auto& [key, value] : given_)
        for (const auto& [answered, name] : kAnswers)
            if (key == answered && key != "gpus" && !value.empty()) {
                const std::string words = fmt::format("--set {}={}", key, value);
                const text::SourcePosition place{
                    std::make_shared<const text::SourceText>(
                        text::SourceText{"the command line", words, 1}),
                    1, 1};
                in.answer({std::string(name), "--set " + key, text::make_scalar(value, place),
                           place, true});
            }
}

void Reading::ask_for_unknown() {
    struct Lack {
        std::vector<std::string> uses;
        std::set<std::string> keys;
        std::set<std::string> bare;  ///< uses that no key answers
    };
    std::map<std::string, Lack> lacks;
    for (const Setting& setting : in.unknown) {
        const std::string_view key = key_of(setting.name);
        if (setting.lacks.empty())
            mistakes().add(
                setting.place,
                fmt::format(
                    "{} is known only when the job starts; write its value into the file{}",
                    setting.written,
                    key.empty() ? std::string() : fmt::format(" or give --set {}=VALUE", key)));
        for (const std::string& name : setting.lacks) {
            Lack& lack = lacks[name];
            lack.uses.push_back(fmt::format("{} in line {}", setting.written, setting.place.line));
            if (!key.empty()) lack.keys.emplace(key);
        }
    }
    if (lacks.empty() && questions_.empty() && mistakes().empty()) return;
    // Arguments choose what is trained; output of programs mostly chooses how it starts.
    bool chosen = false;
    std::string others;
    for (const auto& [name, places] : deciding_) {
        const bool argument = is_argument(name);
        chosen = chosen || argument;
        if (argument || lacks.contains(name))
            for (const std::string& where : places) lacks[name].uses.push_back(where);
        else if (name.find_first_of("$`") == std::string::npos)
            others += fmt::format("{}{} ({})", others.empty() ? "" : ", ", name, places.front());
    }
    if (!others.empty())
        mistakes().add(fmt::format(
            "{}: conditions also depend on unknown variables; set them by --env NAME=VALUE: {}",
            job_, others));
    if (lacks.empty()) return;
    std::erase_if(questions_, [&](const Question& question) {
        return !question.settings.empty() &&
               (chosen || std::ranges::any_of(in.unknown, [&](const Setting& setting) {
                    return std::ranges::find(question.settings, setting.name) !=
                               question.settings.end() ||
                           (question.settings.front() == "gpus" && is_launch(setting.name));
                }));
    });
    std::vector<std::string> arguments;
    std::vector<std::string> variables;
    std::set<std::string> settings;
    for (const auto& [name, lack] : lacks) {
        const std::string uses = fmt::format("{}", fmt::join(lack.uses, ", "));
        const bool argument = is_argument(name);
        if (argument)
            arguments.push_back(fmt::format("{} ({})", name, uses));
        else if (name.find_first_of("$`") == std::string::npos)
            variables.push_back(fmt::format("{} ({})", name, uses));
        else
            mistakes().add(fmt::format(
                "{}: {} is known only when a program has run ({}); write its value into the file{}",
                job_, name, uses,
                lack.keys.empty() ? std::string()
                                  : fmt::format(", or give --set {}=VALUE",
                                                fmt::join(lack.keys, "=VALUE --set "))));
        if (!argument && name.find_first_of("$`") == std::string::npos)
            settings.insert(lack.keys.begin(), lack.keys.end());
    }
    if (!arguments.empty()) {
        std::string words;
        for (int i = 1; i <= std::min(most_arguments_, 12); ++i) words += fmt::format(" ARG{}", i);
        mistakes().add(
            fmt::format("{}: arguments are known only when the job starts: {}; give them "
                        "in their order after --, as in `debubble import {} --{}`",
                        job_, fmt::join(arguments, ", "), job_, words.empty() ? " ARG..." : words));
    }
    if (!variables.empty()) {
        std::string words;
        for (const auto& [name, lack] : lacks)
            if (name.find_first_of("$`") == std::string::npos)
                words += fmt::format(" --env {}=VALUE", name);
        mistakes().add(fmt::format(
            "{}: variables are known only when the job starts: {}; give{}{}", job_,
            fmt::join(variables, ", "), words,
            settings.empty() ? std::string()
                             : fmt::format(" (or by --set: {})", fmt::join(settings, ", "))));
    }
}

}  // namespace debubble::jobs
