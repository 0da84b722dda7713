#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "models/partition/partition.h"
#include "scenarios/jobs/megatron/megatron.h"
#include "scenarios/jobs/megatron/network.h"

namespace debubble::jobs {
namespace {

/// Layers of every stage of an uneven cut, in the order of the stages: a rank's share is spread
/// over its chunks, and stage s is chunk s / ranks of rank s mod ranks.
void set_partition(Reading& job, const MegatronCut& cut, const std::vector<std::int64_t>& of_rank,
                   const Setting& from) {
    std::vector<std::int64_t> stages;
    for (std::int64_t chunk = 0; chunk < cut.chunks; ++chunk)
        for (const std::int64_t layers : of_rank) {
            if (layers % cut.chunks != 0)
                return job.refuse(
                    from, fmt::format("{} layers of a rank cannot be split into {} chunks", layers,
                                      cut.chunks));
            stages.push_back(layers / cut.chunks);
        }
    job.set("parallel.partition", fmt::format("[{}]", fmt::join(stages, ", ")), &from);
}

/// The first and the last rank have numbers of layers of their own; the rest is shared evenly.
void read_ends(Reading& job, const MegatronCut& cut) {
    Settings& in = job.in;
    const auto first = in.whole("decoder_first_pipeline_num_layers", 0, 10'000);
    const auto last = in.whole("decoder_last_pipeline_num_layers", 0, 10'000);
    const std::int64_t middle = cut.pipeline - (first ? 1 : 0) - (last ? 1 : 0);
    const std::int64_t rest = cut.layers - first.value_or(0) - last.value_or(0);
    const Setting& from =
        *in.find(first ? "decoder_first_pipeline_num_layers" : "decoder_last_pipeline_num_layers");
    if (middle < 0 || rest < 0 || (middle == 0 ? rest != 0 : rest % middle != 0))
        return job.refuse(from,
                          fmt::format("{} layers minus {} cannot be divided among {} other ranks",
                                      cut.layers, cut.layers - rest, middle));
    std::vector<std::int64_t> ranks;
    if (first) ranks.push_back(*first);
    for (std::int64_t i = 0; i < middle; ++i) ranks.push_back(rest / middle);
    if (last) ranks.push_back(*last);
    set_partition(job, cut, ranks, from);
}

/// Embedding and loss count as a layer each: the first and the last stage have one less.
void read_accounts(Reading& job, const MegatronCut& cut, bool embedding, bool loss) {
    Settings& in = job.in;
    const Setting& from = *in.find(embedding ? "account_for_embedding_in_pipeline_split"
                                             : "account_for_loss_in_pipeline_split");
    const std::int64_t units = cut.layers + (embedding ? 1 : 0) + (loss ? 1 : 0);
    const std::int64_t stages = cut.pipeline * cut.chunks;
    if (units % stages != 0)
        return job.refuse(from, fmt::format("{} layers with the embedding or the loss are {} "
                                            "units, which cannot be divided among {} stages",
                                            cut.layers, units, stages));
    std::vector<std::int64_t> layers(stages, units / stages);
    if (embedding) --layers.front();
    if (loss) --layers.back();
    job.set("parallel.partition", fmt::format("[{}]", fmt::join(layers, ", ")), &from);
}

void read_layout(Reading& job, MegatronCut& cut, const Setting& setting) {
    std::string layout;
    if (setting.value->is(text::Node::Kind::List)) {  // a list of stages, each a list of words
        for (const text::NodePtr& stage : setting.value->items) {
            if (!layout.empty()) layout += '|';
            for (const text::NodePtr& unit : stage->items)
                layout += unit->scalar == "embedding" ? 'E'
                          : unit->scalar == "loss"    ? 'L'
                          : unit->scalar == "mtp"     ? 'm'
                                                      : 't';
        }
    } else {
        layout = setting.value->scalar;
    }
    try {
        const auto stages = static_cast<std::int64_t>(models::parse_layout(layout).size());
        if (stages % cut.pipeline != 0)
            return job.refuse(setting, fmt::format("{} stages cannot be divided among {} ranks",
                                                   stages, cut.pipeline));
        cut.chunks = stages / cut.pipeline;
    } catch (const InputError& error) {
        return job.refuse(setting, error.diagnostics().front().message);
    }
    job.set("parallel.layout", flow_text(layout), &setting);
}

/// Stages that the separators of a hybrid pattern cut.
void read_segments(Reading& job, MegatronCut& cut, const HybridPattern& pattern) {
    const auto stages = static_cast<std::int64_t>(pattern.segments.size());
    if (stages % cut.pipeline != 0)
        return job.refuse(*pattern.from, fmt::format("{} stages cannot be divided among {} ranks",
                                                     stages, cut.pipeline));
    cut.chunks = stages / cut.pipeline;
    job.set("parallel.partition", fmt::format("[{}]", fmt::join(pattern.segments, ", ")),
            pattern.from);
}

const Setting* read_chunks(Reading& job, MegatronCut& cut) {
    Settings& in = job.in;
    const auto per_rank = in.whole("num_virtual_stages_per_pipeline_rank", 1, 1024);
    const auto per_stage = in.whole("num_layers_per_virtual_pipeline_stage", 1, 10'000);
    if (per_rank) {
        cut.chunks = *per_rank;
        return in.find("num_virtual_stages_per_pipeline_rank");
    }
    if (!per_stage) return nullptr;
    const Setting* const from = in.find("num_layers_per_virtual_pipeline_stage");
    // Embedding and loss that count as layers count here too.
    const std::int64_t units = cut.layers +
                               (in.is_on("account_for_embedding_in_pipeline_split") ? 1 : 0) +
                               (in.is_on("account_for_loss_in_pipeline_split") ? 1 : 0);
    if (cut.layers > 0 && units % (cut.pipeline * *per_stage) != 0)
        job.refuse(*from, fmt::format("{} layers on {} ranks cannot be split into chunks of {}",
                                      units, cut.pipeline, *per_stage));
    else
        cut.chunks = std::max<std::int64_t>(units / (cut.pipeline * *per_stage), 1);
    return from;
}

/// The schedules of Primus's own pipeline (AMD-AGI/Primus fd1eeab, pipeline_launcher.py) by the
/// names that it has for them, with the chunks per rank that it demands, if it does.
struct PrimusAlgorithm {
    std::string_view name;
    std::string_view schedule;
    std::optional<std::int64_t> chunks = {};
};
constexpr PrimusAlgorithm kPrimusAlgorithms[] = {
    {"1f1b", "1f1b", 1},          {"1f1b-interleaved", "interleaved-1f1b"},
    {"zero-bubble", "zb-h1", 1},  {"zero-bubble-heuristic", "zb-auto", 1},
    {"zbv-formatted", "zb-v", 2}, {"v-half", "v-half", 2},
    {"v-min", "v-min", 2},
};

/// True if the job names a schedule of Primus's own pipeline, which is read here.
bool read_primus_pipeline(Reading& job, const MegatronCut& cut, bool combined) {
    Settings& in = job.in;
    const Setting* const named = in.find("pp_algorithm");
    if (!in.is_on("patch_primus_pipeline") || cut.pipeline == 1) return false;
    const std::string word = named == nullptr ? "1f1b-interleaved" : named->value->scalar;
    const Setting* const from = named == nullptr ? in.find("patch_primus_pipeline") : named;
    const auto* const known = std::ranges::find(kPrimusAlgorithms, word, &PrimusAlgorithm::name);
    if (known == std::end(kPrimusAlgorithms)) {
        job.refuse(*from, fmt::format("Primus's pipeline has no algorithm '{}'", word));
        return true;
    }
    if (known->chunks && *known->chunks != cut.chunks)
        job.refuse(*from, fmt::format("{} needs {} chunks per rank, but the job has {}", word,
                                      *known->chunks, cut.chunks));
    const bool pairs = combined && word == "zbv-formatted";
    if (combined && !pairs)
        job.note(*in.find("overlap_moe_expert_parallel_comm"),
                 "among Primus's pipelines only zbv-formatted pairs a forward with a backward");
    job.set("schedule.name", std::string(pairs ? "combined-zb-v" : known->schedule), from);
    if (cut.chunks > 1) job.set("schedule.stages_per_rank", cut.chunks, from);
    if (word == "zero-bubble-heuristic" && in.has("pp_max_mem"))
        job.note(*in.find("pp_max_mem"), "set it by --set schedule.memory_limit");
    return true;
}

}  // namespace

void read_megatron_stages(Reading& job, MegatronCut& cut) {
    Settings& in = job.in;
    const Setting* from = read_chunks(job, cut);
    const bool embedding = in.is_on("account_for_embedding_in_pipeline_split");
    const bool loss = in.is_on("account_for_loss_in_pipeline_split");
    const HybridPattern pattern =
        in.has("hybrid_layer_pattern") ? hybrid_pattern(job) : HybridPattern{};
    if (pattern.segments.size() > 1) {
        read_segments(job, cut, pattern);
        from = pattern.from;
    } else if (const Setting* const layout = in.find("pipeline_model_parallel_layout")) {
        read_layout(job, cut, *layout);
        from = layout;
    } else if (in.has("decoder_first_pipeline_num_layers") ||
               in.has("decoder_last_pipeline_num_layers")) {
        read_ends(job, cut);
    } else if (embedding || loss) {
        read_accounts(job, cut, embedding, loss);
    }
    if (cut.chunks > 1 && cut.pipeline == 1 && from != nullptr)
        job.refuse(*from, "interleaving needs a pipeline of more than one rank");
    const bool combined = in.is_on("overlap_moe_expert_parallel_comm");
    const bool delayed = in.is_on("delay_wgrad_compute");
    if (read_primus_pipeline(job, cut, combined)) return;
    if (combined && cut.pipeline > 1 && in.is_on("use_megatron_fsdp"))
        job.refuse(
            *in.find("use_megatron_fsdp"),
            "Megatron-FSDP does not support a pipeline with --overlap-moe-expert-parallel-comm");
    if (delayed && !combined)
        job.note(*in.find("delay_wgrad_compute"),
                 "it applies only with --overlap-moe-expert-parallel-comm");
    const auto overlaps = in.flag("overlap_p2p_communication");
    if (overlaps && !*overlaps && cut.chunks > 1 && !combined)
        job.set("framework.point_to_point_blocks", std::string("whole-backward"),
                in.find("overlap_p2p_communication"));
    if (!combined && cut.chunks == 1) {
        job.set("schedule", std::string("1f1b"));
        return;
    }
    job.set("schedule.name", std::string(combined ? "combined-1f1b" : "interleaved-1f1b"),
            combined ? in.find("overlap_moe_expert_parallel_comm") : from);
    if (cut.chunks > 1) job.set("schedule.stages_per_rank", cut.chunks, from);
    if (combined && delayed) job.set("schedule.delay_wgrad", true, in.find("delay_wgrad_compute"));
}

void settle_megatron_groups(Reading& job, const MegatronCut& cut) {
    Settings& in = job.in;
    const char* name = "microbatch_group_size_per_vp_stage";
    if (!in.has(name)) name = "microbatch_group_size_per_virtual_pipeline_stage";
    const auto together = in.whole(name, 1, kMost);
    if (!together || *together == cut.pipeline || cut.chunks == 1) return;
    const std::int64_t batches = cut.micro_batches.value_or(0);
    // PyTorch's rounds are as many as whole groups of the ranks, and share the microbatches.
    const std::int64_t rounds = std::max<std::int64_t>(batches / cut.pipeline, 1);
    const bool same = batches > 0 && batches % rounds == 0 && batches / rounds == *together;
    if (same && !in.is_on("overlap_moe_expert_parallel_comm"))
        return job.set("schedule.rounds", std::string("pytorch"), in.find(name),
                       fmt::format("groups of {}", *together));
    job.note(*in.find(name),
             fmt::format("groups of {} microbatches are planned with {}", *together, cut.pipeline));
}

}  // namespace debubble::jobs
