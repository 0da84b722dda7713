#include "gui/viewmodel/sweep/first_grid.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "scenarios/edit.h"
#include "scenarios/lacking_schedule.h"
#include "scenarios/read_scenario.h"

namespace debubble::gui {
namespace {

constexpr int kMostTensor = 8;
constexpr int kMostPipeline = 16;
constexpr int kMostExpert = 64;
constexpr std::int64_t kLongSequence = 8192;  ///< tokens from which context parallelism is tried

constexpr std::string_view kOfAnyScenario =
    "parallel.tensor: [1, 2, 4, 8]\n"
    "parallel.pipeline: [1, 2, 4, 8]\n"
    "training.micro_batch: [1, 2, 4]\n"
    "schedule: [1f1b, gpipe, zb-h1]\n";

std::optional<scenarios::Scenario> parsed(const ScenarioText& source) {
    try {
        return scenarios::parse_scenario(source.text, source.file);
    } catch (const std::exception&) {  // its mistakes are shown beside its fields
        return std::nullopt;
    }
}

/// The scenario with its GPUs as replicas of one rank and the smallest batch: what it says of its
/// network and machine, whatever its cut.
std::optional<scenarios::Scenario> uncut(ScenarioText source) {
    const auto set = [&](const char* key, const char* value) {
        source.text = scenarios::with_key(source.text, source.file, {key, value});
    };
    // Key by key: an included file may have degrees of its own.
    set("parallel",
        "{tensor: 1, pipeline: 1, context: 1, expert: 1, stages_per_rank: 1, partition: uniform, "
        "sequence: false, zero_stage: 0, data: auto}");
    set("schedule", "1f1b");
    set("training.global_batch", "~");
    set("training.micro_batches", "1");
    set("training.micro_batch", "1");
    return parsed(source);
}

int whole_at(const ScenarioText& source, const char* key, int otherwise) {
    const auto written = scenarios::written_at(source.text, source.file, key);
    int value = otherwise;
    if (written) std::from_chars(written->data(), written->data() + written->size(), value);
    return std::max(value, 1);
}

/// The samples of a step: the written number, or what follows from the rest; where the cut is
/// impossible, from its degrees.
int batch_of(const ScenarioText& source, int gpus) {
    if (const auto as_written = parsed(source)) return as_written->training.global_batch;
    const int ranks = whole_at(source, "parallel.tensor", 1) *
                      whole_at(source, "parallel.pipeline", 1) *
                      whole_at(source, "parallel.context", 1);
    const int replicas = std::max(gpus / ranks, 1);
    return whole_at(source, "training.global_batch",
                    replicas * whole_at(source, "training.micro_batch", 1) *
                        whole_at(source, "training.micro_batches", 1));
}

std::vector<int> sizes_up_to(int most) {
    std::vector<int> powers;
    for (int n = 1; n <= most; n *= 2) powers.push_back(n);
    return powers;
}

class Lines {
public:
    explicit Lines(const ScenarioText& source) : source_(source) {}

    bool is_written(const char* key) const {
        return scenarios::written_at(source_.text, source_.file, key).has_value();
    }
    void line(std::string_view key, const std::string& values) {
        text_ += fmt::format("{}: [{}]\n", key, values);
    }
    void degrees(std::string_view key, const std::vector<int>& values) {
        if (values.size() > 1) line(key, fmt::format("{}", fmt::join(values, ", ")));
    }
    /// Sets a key that is written, since its value belongs to another cut.
    void instead(const char* key, const char* value) {
        if (is_written(key)) line(key, value);
    }
    /// Sets a key that nobody has chosen.
    void unless_written(const char* key, const char* value) {
        if (!is_written(key)) line(key, value);
    }
    void conditions(const std::vector<std::string>& all) {
        text_ += "where:\n";
        for (const std::string& one : all) text_ += fmt::format("  - {}\n", one);
    }
    std::string done() { return std::move(text_); }

private:
    const ScenarioText& source_;
    std::string text_;
};

/// The schedules that the framework's software has, interleaved ones with the chunks that the
/// layers divide into.
std::string schedules_of(const scenarios::Scenario& scenario, const std::vector<int>& pipeline) {
    std::vector<std::string> words{"1f1b"};
    const auto has = [&](const char* name) {
        scenarios::Scenario with = scenario;
        with.schedule.name = name;
        return scenarios::lacking_schedule(with).empty();
    };
    const int layers = scenario.model.layers.count();
    if (pipeline.size() > 1 && has("interleaved-1f1b"))
        for (const int chunks : {2, 3, 4, 5, 6, 8, 10}) {
            const bool divides = std::ranges::any_of(
                pipeline, [&](int ranks) { return ranks > 1 && layers % (ranks * chunks) == 0; });
            if (divides)
                words.push_back(
                    fmt::format("{{name: interleaved-1f1b, stages_per_rank: {}}}", chunks));
        }
    for (const char* name : {"zb-h1", "zb-v", "dualpipe-v"})
        if (pipeline.size() > 1 && has(name)) words.emplace_back(name);
    return fmt::format("{}", fmt::join(words, ", "));
}

/// The degrees of parallelism, and the conditions that keep them within the GPUs.
std::vector<std::string> add_cuts(Lines& lines, const scenarios::Scenario& scenario,
                                  const std::vector<int>& pipeline) {
    const int gpus = scenario.gpus;
    lines.degrees("parallel.tensor",
                  sizes_up_to(std::min({gpus, scenario.cluster.gpus_per_node, kMostTensor})));
    lines.degrees("parallel.pipeline", pipeline);
    std::string cut = "parallel.tensor * parallel.pipeline";
    if (scenario.training.seq_length >= kLongSequence && gpus > 1) {
        lines.line("parallel.context", "1, 2");
        cut += " * parallel.context";
    } else {
        lines.instead("parallel.context", "1");
    }
    std::vector<std::string> conditions{fmt::format("{} <= {}", cut, gpus)};
    const auto* experts = scenario.model.layers.first<models::Experts>();
    if (experts != nullptr && gpus > 1) {
        lines.degrees("parallel.expert",
                      sizes_up_to(std::min({gpus, int(experts->count), kMostExpert})));
        conditions.push_back(fmt::format("parallel.expert * parallel.pipeline <= {}", gpus));
    } else {
        lines.instead("parallel.expert", "1");
    }
    return conditions;
}

std::string grid_of(const ScenarioText& source, const scenarios::Scenario& scenario) {
    Lines lines(source);
    const std::vector<int> pipeline =
        sizes_up_to(std::min({scenario.gpus, scenario.model.layers.count(), kMostPipeline}));
    std::vector<std::string> conditions = add_cuts(lines, scenario, pipeline);
    lines.instead("parallel.data", "auto");
    for (const char* of_one_cut : {"parallel.shard", "parallel.stages_per_rank", "parallel.layout"})
        lines.instead(of_one_cut, "~");
    if (scenarios::written_at(source.text, source.file, "parallel.partition")
            .value_or("")
            .starts_with('['))
        lines.line("parallel.partition", "balanced");
    lines.unless_written("parallel.sequence", "true");
    lines.unless_written("parallel.zero_stage", "1");
    lines.unless_written("training.global_batch",
                         std::to_string(batch_of(source, scenario.gpus)).c_str());
    lines.instead("training.micro_batches", "~");
    lines.line("training.micro_batch", "1, 2, 4");
    const bool keeps_scores = scenario.training.attention != models::AttentionKernel::Flash;
    lines.line("training.recompute", keeps_scores ? "none, selective, full" : "none, full");
    lines.line("schedule", schedules_of(scenario, pipeline));
    if (pipeline.size() > 1) conditions.emplace_back("parallel.pipeline > 1 or schedule == '1f1b'");
    lines.conditions(conditions);
    return lines.done();
}

}  // namespace

std::string first_grid(const ScenarioText& source) {
    try {
        const auto scenario = uncut(source);
        return scenario ? grid_of(source, *scenario) : std::string(kOfAnyScenario);
    } catch (const InputError&) {  // not YAML
        return std::string(kOfAnyScenario);
    }
}

}  // namespace debubble::gui
