#include "sim/grid/first_grid.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "scenarios/check/framework_checks.h"
#include "scenarios/read/edit.h"
#include "scenarios/read/read_scenario.h"
#include "text/document_readers.h"

namespace debubble::sim {
namespace {

// What the grid reaches: `left_out` says what lies beyond (docs/decisions/0061).
constexpr int kMostTensor = 8;
constexpr int kMostPipeline = 16;
constexpr int kMostExpert = 64;
constexpr int kMostContext = 32;
constexpr int kMicroBatch = 4;  ///< tried whatever it holds
constexpr int kMostMicroBatch = 16;
constexpr std::int64_t kTokensAtOnce = 16'384;  ///< from which kernels gain little by more
constexpr std::int64_t kLongSequence = 8192;    ///< tokens from which context parallelism is tried

constexpr std::string_view kOfAnyScenario =
    "parallel.tensor: [1, 2, 4, 8]\n"
    "parallel.pipeline: [1, 2, 4, 8]\n"
    "training.micro_batch: [1, 2, 4]\n"
    "schedule: [1f1b, gpipe, zb-h1]\n";

struct Source {
    std::string text;
    std::string file;
};

std::optional<scenarios::Scenario> parsed(const Source& source) {
    try {
        return scenarios::parse_scenario(source.text, source.file);
    } catch (const std::exception&) {  // its mistakes are shown beside its fields
        return std::nullopt;
    }
}

/// The scenario with its GPUs as replicas of one rank and the smallest batch: what it says of its
/// network and machine, whatever its cut.
std::optional<scenarios::Scenario> uncut(Source source) {
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

int whole_at(const Source& source, const char* key, int otherwise) {
    const auto written = scenarios::written_at(source.text, source.file, key);
    int value = otherwise;
    if (written) std::from_chars(written->data(), written->data() + written->size(), value);
    return std::max(value, 1);
}

/// The samples of a step: the written number, or what follows from the rest; where the cut is
/// impossible, from its degrees.
int batch_of(const Source& source, int gpus) {
    if (const auto as_written = parsed(source)) return as_written->training.global_batch;
    const int ranks = whole_at(source, "parallel.tensor", 1) *
                      whole_at(source, "parallel.pipeline", 1) *
                      whole_at(source, "parallel.context", 1);
    const int replicas = std::max(gpus / ranks, 1);
    return whole_at(source, "training.global_batch",
                    replicas * whole_at(source, "training.micro_batch", 1) *
                        whole_at(source, "training.micro_batches", 1));
}

/// The degrees up to `most` that divide a number.
std::vector<int> divisors(int of, int most) {
    std::vector<int> degrees;
    for (int n = 1; n <= std::min(of, most); ++n)
        if (of % n == 0) degrees.push_back(n);
    return degrees;
}

/// The numbers and the one that is written, so that the plan as it is written is among the others.
std::vector<int> with_written(std::vector<int> numbers, const Source& source, const char* key) {
    const int written = whole_at(source, key, numbers.front());
    const auto place = std::ranges::lower_bound(numbers, written);
    if (place == numbers.end() || *place != written) numbers.insert(place, written);
    return numbers;
}

/// A word of YAML in single quotes.
std::string in_quotes(std::string_view words) {
    std::string text = "'";
    for (const char letter : words)
        text += letter == '\'' ? std::string("\'\'") : std::string(1, letter);
    return text + "'";
}

class Lines {
public:
    Lines(const Source& source, std::span<const std::string> fixed)
        : source_(source), fixed_(fixed) {}

    bool is_written(const char* key) const {
        return scenarios::written_at(source_.text, source_.file, key).has_value();
    }
    bool is_fixed(std::string_view key) const {
        return std::ranges::any_of(fixed_, [&](const std::string& one) {
            return one == key || key.starts_with(one + '.') ||
                   one.starts_with(std::string(key) + '.');
        });
    }
    void line(std::string_view key, const std::string& values) {
        if (!is_fixed(key)) text_ += fmt::format("{}: [{}]\n", key, values);
    }
    /// The written one is among them.
    void degrees(const char* key, const std::vector<int>& values) {
        const std::vector<int> all = with_written(values, source_, key);
        if (all.size() > 1) line(key, fmt::format("{}", fmt::join(all, ", ")));
    }
    /// Sets a key that is written, since its value belongs to another cut.
    void instead(const char* key, const char* value) {
        if (is_written(key)) line(key, value);
    }
    /// Sets a key that nobody has chosen.
    void unless_written(const char* key, const char* value) {
        if (!is_written(key)) line(key, value);
    }
    void leave_out(std::string clause) { left_out_.push_back(std::move(clause)); }
    FirstGrid done(const std::vector<std::string>& conditions) {
        text_ += "where:\n";
        for (const std::string& one : conditions) text_ += fmt::format("  - {}\n", in_quotes(one));
        return {std::move(text_), std::move(left_out_)};
    }

private:
    const Source& source_;
    std::span<const std::string> fixed_;
    std::string text_;
    std::vector<std::string> left_out_;
};

/// Whether the layers are cut evenly into stages of so many ranks and chunks, or may be unevenly.
bool is_cut_into(const scenarios::Scenario& scenario, bool balanced, int ranks, int chunks) {
    const int layers = scenario.model.layers.count();
    return balanced ? ranks * chunks <= layers : layers % (ranks * chunks) == 0;
}

/// The schedules that the framework's software has, interleaved ones with the chunks that the
/// layers divide into.
std::string schedules_of(const scenarios::Scenario& scenario, const std::vector<int>& pipeline,
                         bool balanced) {
    std::vector<std::string> words{"1f1b"};
    const auto has = [&](const char* name) {
        scenarios::Scenario with = scenario;
        with.schedule.name = name;
        return pipeline.size() > 1 && scenarios::lacking_schedule(with).empty();
    };
    const auto with_chunks = [&](const char* name, std::initializer_list<int> all) {
        for (const int chunks : all)
            if (std::ranges::any_of(pipeline, [&](int ranks) {
                    return ranks > 1 && is_cut_into(scenario, balanced, ranks, chunks);
                }))
                words.push_back(fmt::format("{{name: {}, stages_per_rank: {}}}", name, chunks));
    };
    if (has("interleaved-1f1b")) with_chunks("interleaved-1f1b", {2, 3, 4, 5, 6, 8, 10, 20});
    if (scenario.model.has_experts() && has("combined-1f1b")) with_chunks("combined-1f1b", {2, 4});
    for (const char* name : {"zb-h1", "zb-v", "dualpipe", "dualpipe-v"})
        if (has(name)) words.emplace_back(name);
    return fmt::format("{}", fmt::join(words, ", "));
}

/// What the backward computes again: nothing, whole layers, and modules that hold much for their
/// time; what is written, too.
std::string recomputations_of(const Source& source, const scenarios::Scenario& scenario) {
    const models::Layers& layers = scenario.model.layers;
    const bool latent = layers.most<models::Attention>([](const models::Attention& attention) {
        return std::int64_t{attention.latent.has_value()};
    }) > 0;
    std::vector<std::string> words{"none"};
    if (scenario.training.attention != models::AttentionKernel::Flash)
        words.emplace_back("selective");
    if (latent) words.emplace_back("{modules: [mla_up_proj]}");
    const std::string first = latent ? "mla_up_proj, layernorm" : "layernorm";
    if (scenario.model.has_experts()) {
        words.push_back(fmt::format("{{modules: [{}, moe_act]}}", first));
        words.push_back(fmt::format("{{modules: [{}, moe]}}", first));
    } else if (layers.first<models::DenseMlp>() != nullptr) {
        words.push_back(fmt::format("{{modules: [{}]}}", first));
        words.push_back(fmt::format("{{modules: [{}, mlp]}}", first));
    }
    words.emplace_back("full");
    const auto written =
        scenarios::written_at(source.text, source.file, "training.recompute").value_or("none");
    if (written != "auto" && std::ranges::find(words, written) == words.end())
        words.push_back(written);
    return fmt::format("{}", fmt::join(words, ", "));
}

/// The degrees of parallelism, and the conditions that keep them within the GPUs.
std::vector<std::string> add_cuts(Lines& lines, const scenarios::Scenario& scenario,
                                  const std::vector<int>& pipeline) {
    const int gpus = scenario.gpus;
    const int node = std::min(gpus, scenario.cluster.gpus_per_node);
    const bool splits = !scenario.model.sees_images();  // a ViT's class token is on every rank
    lines.degrees("parallel.tensor", divisors(node, kMostTensor));
    if (gpus > kMostTensor)
        lines.leave_out(fmt::format("tensor parallelism beyond {} GPUs of a node",
                                    std::min(node, kMostTensor)));
    lines.degrees("parallel.pipeline", pipeline);
    if (gpus > kMostPipeline)
        lines.leave_out(fmt::format(
            "pipelines of more than {} ranks{}", kMostPipeline,
            pipeline.back() > kMostPipeline ? fmt::format(" but for {}", pipeline.back()) : ""));
    lines.unless_written("parallel.sequence", splits ? "true" : "false");
    std::string cut = "parallel.tensor * parallel.pipeline";
    const auto times_long = scenario.training.seq_length / kLongSequence;
    if (splits && times_long >= 1 && gpus > 1) {
        const std::int64_t each = scenario.model.has_experts() ? 2 : 4;
        const int most = static_cast<int>(std::min<std::int64_t>(kMostContext, each * times_long));
        lines.degrees("parallel.context", divisors(gpus, most));
        cut += " * parallel.context";
        if (gpus > most)
            lines.leave_out(fmt::format("context parallelism over more than {} ranks", most));
    } else {
        lines.degrees("parallel.context", {1});
        if (splits && gpus > 1)
            lines.leave_out(fmt::format("context parallelism, for sequences of less than {} tokens",
                                        kLongSequence));
    }
    std::vector<std::string> conditions{fmt::format("{} <= {}", cut, gpus)};
    const auto* experts = scenario.model.layers.first<models::Experts>();
    if (experts != nullptr && gpus > 1) {
        const int most = std::min(int(experts->count), kMostExpert);
        lines.degrees("parallel.expert", divisors(gpus, most));
        lines.instead("parallel.expert_tensor", "1");
        conditions.push_back(fmt::format("parallel.expert * parallel.pipeline <= {}", gpus));
        if (std::min(int(experts->count), gpus) > kMostExpert)
            lines.leave_out(fmt::format("experts over more than {} ranks", kMostExpert));
    } else {
        lines.instead("parallel.expert", "1");
    }
    return conditions;
}

/// ZeRO-1, and without a pipeline also ZeRO-2 and ZeRO-3, which would reduce gradients or gather
/// parameters for every microbatch of a stage: torchtitan trains dense networks so, and no other
/// software of the profiles. What is written is tried with every pipeline.
void add_sharding(Lines& lines, std::vector<std::string>& conditions, const Source& source,
                  const scenarios::Scenario& scenario) {
    if (lines.is_fixed("parallel.zero_stage")) return;
    const auto written = scenarios::written_at(source.text, source.file, "parallel.zero_stage");
    lines.line("parallel.zero_stage", written == "0" ? "0, 1, 2, 3" : "1, 2, 3");
    if (scenario.framework.name.starts_with("pytorch") && !scenario.model.has_experts()) return;
    conditions.push_back(
        fmt::format("parallel.zero_stage == 1 or parallel.pipeline == 1{}",
                    written ? " or parallel.zero_stage == " + *written : std::string()));
    for (const char* stage : {"2", "3"})
        if (written != stage) lines.leave_out(fmt::format("ZeRO-{} with a pipeline", stage));
}

/// Powers of two of samples, as many as are worth their memory.
void add_micro_batches(Lines& lines, int batch, std::int64_t tokens) {
    const auto most = static_cast<int>(
        std::clamp<std::int64_t>(kTokensAtOnce / tokens, kMicroBatch, kMostMicroBatch));
    std::vector<int> sizes{1};
    while (2 * sizes.back() <= std::min(batch, most)) sizes.push_back(2 * sizes.back());
    lines.degrees("training.micro_batch", sizes);
    if (batch > most) lines.leave_out(fmt::format("microbatches of more than {} samples", most));
}

/// Those of a `sweep:` without keys.
std::vector<std::string> written_conditions(const Source& source) {
    const auto written = scenarios::written_at(source.text, source.file, "sweep.where");
    if (!written) return {};
    const text::NodePtr where = text::parse_yaml(*written, source.file);
    if (where->is(text::Node::Kind::Scalar)) return {where->scalar};
    std::vector<std::string> conditions;
    for (const text::NodePtr& one : where->items) conditions.push_back(one->scalar);
    return conditions;
}

/// Replicas outside of the pipeline, where a pipeline fits into a node: its messages then stay
/// there, and gradients cross nodes instead. Precondition: the first condition is that of
/// add_cuts().
void add_orders(Lines& lines, std::vector<std::string>& conditions,
                const scenarios::Scenario& scenario) {
    const int node = scenario.cluster.gpus_per_node;
    if (scenario.gpus <= node || lines.is_fixed("parallel.order") ||
        lines.is_written("parallel.order"))
        return;
    lines.line("parallel.order", "tp-cp-ep-dp-pp, tp-cp-ep-pp-dp");
    const std::string ranks_of_replica =
        conditions.front().substr(0, conditions.front().find(" <="));
    conditions.push_back(
        fmt::format("parallel.order == 'tp-cp-ep-dp-pp' or (parallel.pipeline > 1 and {} <= {})",
                    ranks_of_replica, node));
    lines.leave_out("orders of ranks other than tp-cp-ep-dp-pp and, within a node, tp-cp-ep-pp-dp");
}

FirstGrid grid_of(const Source& source, const scenarios::Scenario& scenario,
                  std::span<const std::string> fixed) {
    Lines lines(source, fixed);
    const int layers = scenario.model.layers.count();
    const std::vector<int> pipeline = with_written(
        divisors(scenario.gpus, std::min(layers, kMostPipeline)), source, "parallel.pipeline");
    const std::string cut =
        scenarios::written_at(source.text, source.file, "parallel.partition").value_or("");
    const bool evenly = std::ranges::all_of(pipeline, [&](int n) { return layers % n == 0; });
    const bool balanced = cut == "balanced" || cut.starts_with('[') || !evenly;
    std::vector<std::string> conditions = add_cuts(lines, scenario, pipeline);
    lines.instead("parallel.data", "auto");
    for (const char* of_one_cut : {"parallel.shard", "parallel.stages_per_rank", "parallel.layout"})
        lines.instead(of_one_cut, "~");
    if (balanced && cut != "balanced") lines.line("parallel.partition", "balanced");
    add_sharding(lines, conditions, source, scenario);
    add_orders(lines, conditions, scenario);
    const int batch = batch_of(source, scenario.gpus);
    lines.unless_written("training.global_batch", std::to_string(batch).c_str());
    lines.instead("training.micro_batches", "~");
    add_micro_batches(lines, batch, scenario.training.seq_length);
    lines.line("training.recompute", recomputations_of(source, scenario));
    lines.line("schedule", schedules_of(scenario, pipeline, balanced));
    if (pipeline.size() > 1 && !lines.is_fixed("schedule"))
        conditions.emplace_back("parallel.pipeline > 1 or schedule == '1f1b'");
    lines.leave_out("orders of passes, recomputation and offload other than those in the grid");
    std::ranges::copy(written_conditions(source), std::back_inserter(conditions));
    return lines.done(conditions);
}

}  // namespace

FirstGrid first_grid(const std::string& text, const std::string& file,
                     std::span<const std::string> fixed) {
    const Source source{text, file};
    try {
        const auto scenario = uncut(source);
        if (scenario) return grid_of(source, *scenario, fixed);
    } catch (const InputError&) {  // not YAML
    }
    return {std::string(kOfAnyScenario), {}};
}

bool has_grid(const std::string& text, const std::string& file) {
    const auto written = scenarios::entries_at(text, file, "sweep");
    if (written.size() == 1 && written.front().first == "where") return false;
    return !scenarios::ScenarioTemplate(text, file).sweep().keys.empty();
}

MadeGrid made_grid(std::string text, const std::string& file,
                   std::span<const scenarios::Override> set) {
    const std::string written = text;
    std::vector<std::string> keys;
    for (const scenarios::Override& change : set) {
        text = scenarios::with_key(text, file, change);
        keys.push_back(change.first);
    }
    // What no cut mends is a mistake of the scenario, and told where it was written.
    if (!uncut({text, file}))
        (void)scenarios::parse_scenario(written, file, {set.begin(), set.end()});
    FirstGrid first = first_grid(text, file, keys);
    return {Grid(scenarios::with_block(text, file, "sweep", first.lines), file, {}),
            std::move(first.left_out)};
}

}  // namespace debubble::sim
