#include "sim/report/report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/explain/communication.h"
#include "sim/network/group.h"
#include "trace/statistics.h"

namespace debubble::sim {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const MemoryByClass& held) {
    Json out = Json::object();
    for (std::size_t c = 0; c < kMemoryClasses; ++c)
        out[std::string(name_of(static_cast<MemoryClass>(c)))] = held[c].count;
    return out;
}

Json json_of(const std::optional<double>& figure) {
    return figure ? Json(*figure) : Json(nullptr);
}

Json word_json(const std::string& word) {
    return word.empty() ? Json(nullptr) : Json(word);
}

Json json_of(const std::optional<MemoryRange>& range) {
    if (!range) return nullptr;
    return {{"low", range->low.count},
            {"high", range->high.count},
            {"share", kResidualShare},
            {"rows", range->from.rows},
            {"framework", word_json(range->from.framework)},
            {"network", word_json(range->from.network)}};
}

Json json_of(const std::optional<StepRange>& range) {
    if (!range) return nullptr;
    const ClassResiduals& from = range->from;
    return {{"low", range->low_s},
            {"high", range->high_s},
            {"share", kResidualShare},
            {"rows", from.rows},
            {"framework", word_json(from.steps.framework)},
            {"gpu", word_json(from.steps.gpu)},
            {"precision", word_json(from.steps.precision)},
            {"sharding", word_json(from.steps.sharding)},
            {"length", word_json(from.steps.length)},
            {"of_relative", from.of_relative}};
}

Json json_of(const AnchoredFigures& anchored) {
    Json json{{"anchor", anchored.anchor},
              {"differs", anchored.carry.differs},
              {"keys", anchored.keys},
              {"pairs", anchored.carry.pairs},
              {"time_ratio", json_of(anchored.time_ratio)},
              {"memory_ratio", json_of(anchored.memory_ratio)}};
    if (anchored.time_ratio)
        json.update({{"step_time_s", anchored.step_time_s},
                     {"low_s", anchored.low_s},
                     {"high_s", anchored.high_s},
                     {"tokens_per_s", anchored.tokens_per_s}});
    if (anchored.parts)
        json["parts"] = Json{{"compute_ratio", anchored.parts->compute},
                             {"exposed_ratio", anchored.parts->exposed},
                             {"idle_ratio", anchored.parts->idle}};
    if (anchored.allocator_ratio) json["allocator_ratio"] = *anchored.allocator_ratio;
    if (anchored.memory_ratio) json["memory_bytes"] = anchored.needs.count;
    return json;
}

Json json_of(const ChosenRecompute& chosen) {
    return {{"recompute", chosen.words}, {"choices", chosen.choices}, {"fits", chosen.fitting > 0}};
}

Json json_of(const PackedFigures& packed) {
    Json groups = Json::object();
    for (const auto& [ranks, count] : packed.groups) groups[fmt::format("{}", ranks)] = count;
    Json json = {{"micro_batches", packed.micro_batches},
                 {"groups_by_ranks", std::move(groups)},
                 {"filled", packed.filled},
                 {"waiting", packed.waiting},
                 {"tokens", packed.tokens}};
    if (packed.static_p50_s)
        json["static"] = {{"p50_step_time_s", *packed.static_p50_s},
                          {"p95_step_time_s", *packed.static_p95_s},
                          {"micro_batches", packed.static_micro_batches},
                          {"times_as_long", packed.static_times_as_long}};
    return json;
}

Json json_of(const DrawnMemoryFigures& memory) {
    return {{"draws", memory.draws},
            {"p50_bytes", memory.p50.count},
            {"fits_quantile", memory.quantile},
            {"quantile_bytes", memory.at_quantile.count},
            {"max_bytes", memory.most.count}};
}

Json json_of(const UnevenSteps& steps) {
    Json slow = Json::array();
    for (const SlowRank& rank : steps.slow)
        slow.push_back({{"rank", rank.rank.index},
                        {"factor", rank.factor},
                        {"step_without_s", rank.without_s},
                        {"cost", rank.cost}});
    Json json = {{"draws", steps.drawn.size()},        {"even_step_time_s", steps.even_s},
                 {"p50_step_time_s", steps.p50_s},     {"p95_step_time_s", steps.p95_s},
                 {"mean_step_time_s", steps.mean_s()}, {"slow_ranks", std::move(slow)}};
    if (steps.packed)
        json["packing"] = json_of(*steps.packed);
    else
        json["pipelines"] = steps.pipelines;
    return json;
}

Json json_of(const RankPrediction& rank) {
    Json stages = Json::array();
    for (const Stage stage : rank.stages) stages.push_back(stage.index);
    return {
        {"rank", rank.rank.index},
        {"stage_ids", std::move(stages)},
        {"busy_s", rank.busy_s},
        {"idle_s", rank.idle_s},
        {"exposed_comm_s", rank.exposed_comm_s},
        {"optimizer_s", rank.optimizer_s},
        {"peak_memory_bytes", rank.peak_memory.count},
        {"reserved_memory_bytes", rank.reserved ? Json(rank.reserved->count) : Json(nullptr)},
        {"peak_op", rank.peak_op},
        {"memory", json_of(rank.memory)},
    };
}

/// The groups of more than one rank, and the placement of the first one of each kind.
Json groups_of(const scenarios::Scenario& scenario) {
    Json json = Json::array();
    for (const PlacedGroup& group : placed_groups(scenario))
        json.push_back({{"group", group.name},
                        {"size", group.at.size},
                        {"nodes", group.at.nodes},
                        {"per_node", group.at.per_node},
                        {"leaves", group.at.leaves}});
    return json;
}

/// Means over the ranks; the exposed seconds sum to the mean of `exposed_comm_s`.
Json communication_of(const Prediction& p) {
    Json json = Json::object();
    const TimeByKind mean = mean_communication(p);
    for (std::size_t k = 0; k < mean.size(); ++k)
        json[std::string(name_of(static_cast<CommunicationKind>(k)))] = {
            {"exposed_s", mean[k].exposed}, {"hidden_s", mean[k].hidden}, {"bytes", mean[k].bytes}};
    double waits = 0;
    for (const RankPrediction& rank : p.ranks) waits += rank.waits_for_links_s;
    if (!p.ranks.empty()) json["pp"]["idle_s"] = waits / static_cast<double>(p.ranks.size());
    return json;
}

Json json_of(const std::vector<ProvenanceNote>& provenance) {
    Json out = Json::array();
    for (const ProvenanceNote& note : provenance)
        out.push_back({{"what", note.what}, {"origin", note.origin}, {"source", note.source}});
    return out;
}

/// Bubbles over all ranks of one pipeline, summing to their idle time; null where the trace was not
/// kept.
Json bubbles_by_cause(const PredictionWithTrace& answer) {
    if (answer.statistics.ranks.empty()) return nullptr;
    const auto sums = idle_by_cause(answer.statistics);
    Duration all{};
    for (const Duration sum : sums) all += sum;
    double idle = 0;
    for (const RankPrediction& rank : answer.prediction.ranks) idle += rank.idle_s;
    const double scale = all.count() > 0 ? idle / seconds(all) : 0;
    Json out = Json::object();
    for (std::size_t c = 0; c < kBubbleCauses; ++c)
        if (sums[c] > Duration{} || !is_rare(static_cast<BubbleCause>(c)))
            out[std::string(name_of(static_cast<BubbleCause>(c)))] = scale * seconds(sums[c]);
    return out;
}

}  // namespace

Json report_json(const PredictionWithTrace& answer) {
    const Prediction& p = answer.prediction;
    Json ranks = Json::array();
    for (const RankPrediction& rank : p.ranks) ranks.push_back(json_of(rank));
    Json json{
        {"scenario", p.scenario},
        {"step_time_s", p.step_time_s},
        {"step_time_range_s", json_of(p.range)},
        {"tokens_per_s", p.tokens_per_s},
        {"samples_per_s", p.samples_per_s},
        {"mfu", json_of(p.mfu)},
        {"mfu_causal", json_of(p.mfu_causal)},
        {"hfu", json_of(p.hfu)},
        {"tflops_per_gpu", p.tflops_per_gpu},
        {"bubble", p.bubble},
        {"span_bubble", p.span_bubble},
        {"makespan_s", p.makespan_s},
        {"idle_by_cause_s", bubbles_by_cause(answer)},
        {"parameters", p.parameters},
        {"replicas", p.replicas},
        {"fits", p.fits},
        {"reason", p.reason.empty() ? Json(nullptr) : Json(p.reason)},
        {"tight", p.tight},
        {"memory_verdict", name_of(p.memory_verdict)},
        {"memory_range_bytes", json_of(p.memory_range)},
        {"memory_limit_bytes", answer.memory_limit.count},
        {"headroom_bytes", p.headroom.count},
        {"memory_left_bytes", p.memory_left.count},
        {"memory_left_of_requested_bytes", p.memory_left_of_requested.count},
        {"groups", groups_of(answer.played)},
        {"communication", communication_of(p)},
        {"ranks", std::move(ranks)},
        {"schedule_hash", p.schedule_hash},
        {"provenance", json_of(p.provenance)},
        {"notes", p.notes},
    };
    if (const PairExchange sum = exchange_of_pairs(answer.trace); sum.exchange > Duration{})
        json["pairs"] = {{"pairs", sum.pairs},
                         {"exchange_s", seconds(sum.exchange)},
                         {"hidden_s", seconds(sum.hidden)},
                         {"beside_products_s", seconds(sum.hidden_under_gemms)}};
    if (p.anchored) json["anchored"] = json_of(*p.anchored);
    if (p.recompute) json["chosen_recompute"] = json_of(*p.recompute);
    if (p.cut)
        json["chosen_partition"] = {{"layers_per_stage", p.cut->layers_per_stage},
                                    {"words", p.cut->words}};
    if (p.uneven) json["uneven_loads"] = json_of(*p.uneven);
    if (p.drawn_memory) json["drawn_memory"] = json_of(*p.drawn_memory);
    if (p.run) json["run"] = run_json(*p.run);
    if (answer.bill) json["bill"] = bill_json(*answer.bill);
    return json;
}

}  // namespace debubble::sim
