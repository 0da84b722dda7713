#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/jobs/torchtitan/torchtitan.h"

namespace debubble::jobs {
namespace {

struct TitanSchedule {
    std::string_view torch;
    std::string_view name;
    bool several;  ///< stages on a rank
};
constexpr TitanSchedule kTitanSchedules[] = {{"GPipe", "gpipe", false},
                                             {"1F1B", "1f1b", false},
                                             {"Interleaved1F1B", "interleaved-1f1b", true},
                                             {"InterleavedZeroBubble", "interleaved-zb", true},
                                             {"LoopedBFS", "looped-bfs", true},
                                             {"ZBVZeroBubble", "zb-v", true},
                                             {"DualPipeV", "dualpipe-v", true}};

std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// Layers of every stage, as lists of module names have them.
std::vector<std::int64_t> named_layers(const Setting& setting) {
    std::vector<std::int64_t> layers;
    for (const text::NodePtr& stage : setting.value->items)
        layers.push_back(std::ranges::count_if(stage->items, [](const text::NodePtr& module) {
            return module->scalar.starts_with("layers.");
        }));
    return layers;
}

void set_titan_partition(Reading& job, const std::vector<std::int64_t>& partition,
                         const Setting* from, std::string why) {
    const bool even = std::ranges::all_of(
        partition, [&](std::int64_t layers) { return layers == partition.front(); });
    if (!even)
        job.set("parallel.partition", fmt::format("[{}]", fmt::join(partition, ", ")), from,
                std::move(why));
}

}  // namespace

void read_titan_schedule(Reading& job, const TitanCut& cut) {
    Settings& in = job.in;
    const std::string word = in.word("parallelism.pipeline_parallel_schedule").value_or("1F1B");
    const Setting* const from = in.find("parallelism.pipeline_parallel_schedule");
    const auto per_stage = in.whole("parallelism.pipeline_parallel_layers_per_stage", 1, 10'000);
    const auto first = in.whole("parallelism.pipeline_parallel_first_stage_less_layers", 0, 1000);
    const auto last = in.whole("parallelism.pipeline_parallel_last_stage_less_layers", 0, 1000);
    const Setting* const modules = in.find("parallelism.module_fqns_per_model_part");
    const Setting* const csv = in.find("parallelism.pipeline_parallel_schedule_csv");
    if (cut.pipeline == 1) {
        job.set("schedule", std::string("1f1b"));
        return;
    }
    const auto* known = std::ranges::find_if(kTitanSchedules, [&](const TitanSchedule& one) {
        return lower_case(std::string(one.torch)) == lower_case(word);
    });
    const bool from_file =
        csv != nullptr && csv->value->is(text::Node::Kind::Scalar) && !csv->value->scalar.empty();
    if (!from_file && known == std::end(kTitanSchedules)) {
        job.refuse(*from, fmt::format("the schedule '{}' is not supported", word));
        return;
    }
    const std::int64_t less = first.value_or(1) + last.value_or(1);
    std::int64_t chunks = from_file || known->several ? 2 : 1;
    if (per_stage && cut.layers > 0) {
        const std::int64_t stages = (cut.layers + less + *per_stage - 1) / *per_stage;
        if (stages % cut.pipeline != 0)
            return job.refuse(
                *in.find("parallelism.pipeline_parallel_layers_per_stage"),
                fmt::format("{} stages cannot be divided among {} ranks", stages, cut.pipeline));
        chunks = stages / cut.pipeline;
    }
    if (modules != nullptr && modules->value->is(text::Node::Kind::List) &&
        !modules->value->items.empty()) {
        const std::vector<std::int64_t> layers = named_layers(*modules);
        chunks = static_cast<std::int64_t>(layers.size()) / cut.pipeline;
        set_titan_partition(job, layers, modules, "");
    } else if (cut.layers > 0) {
        const std::vector<std::int64_t> partition =
            titan_partition(cut.layers, cut.pipeline * chunks, first.value_or(1), last.value_or(1));
        if (partition.empty())
            job.ask(fmt::format("{} layers are too few for {} stages", cut.layers,
                                cut.pipeline * chunks));
        else
            set_titan_partition(job, partition, from,
                                "the embedding and the head count as one layer each");
    }
    if (from_file) {
        job.set("schedule.csv", flow_text(csv->value->scalar), csv);
        if (chunks > 1) job.set("parallel.stages_per_rank", chunks, csv);
    } else if (chunks == 1 && !known->several) {
        job.set("schedule", std::string(known->name), from);
    } else {
        job.set("schedule.name", std::string(known->name), from);
        job.set("schedule.stages_per_rank", chunks, from);
    }
}

}  // namespace debubble::jobs
