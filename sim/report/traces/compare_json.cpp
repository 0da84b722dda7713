#include <nlohmann/json.hpp>

#include "sim/report/traces/compare_report.h"

namespace debubble::sim {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json or_null(const std::string& sentence) {
    return sentence.empty() ? Json(nullptr) : Json(sentence);
}

Json step_json(const StepFigures& step) {
    Json idle = Json::object();
    for (std::size_t k = 0; k < kBubbleCauses; ++k)
        if (step.idle_by_cause[k] > Duration{} || !is_rare(static_cast<BubbleCause>(k)))
            idle[std::string(name_of(static_cast<BubbleCause>(k)))] =
                seconds(step.idle_by_cause[k]);
    return {{"step_time_s", seconds(step.step_time)},
            {"makespan_s", seconds(step.makespan)},
            {"bubble", step.bubble},
            {"span_bubble", step.span_bubble},
            {"idle_s", std::move(idle)}};
}

Json rank_json(const RankFigures& rank) {
    Json json = {{"replica", rank.replica},
                 {"busy_s", seconds(rank.busy)},
                 {"exposed_comm_s", seconds(rank.exposed)},
                 {"optimizer_s", seconds(rank.optimizer)},
                 {"idle_s", seconds(rank.idle)},
                 {"place", rank.place}};
    if (!rank.peak) return json;
    json["peak_memory_bytes"] = total(*rank.peak).count;
    for (std::size_t k = 0; k < kMemoryClasses; ++k)
        json["memory"][std::string(name_of(static_cast<MemoryClass>(k)))] = (*rank.peak)[k].count;
    return json;
}

Json rows_json(const std::vector<ErrorRow>& rows) {
    Json list = Json::array();
    for (const ErrorRow& row : rows)
        list.push_back({{"name", row.name},
                        {"count", row.count},
                        {"simulated_s", seconds(row.sum.simulated)},
                        {"executed_s", seconds(row.sum.executed)},
                        {"mean_error", or_null(row.mean_error())},
                        {"bias", or_null(row.bias())}});
    return list;
}

}  // namespace

std::string to_json(const CompareReport& report) {
    const Comparison& c = report.comparison;
    const Compared<Duration> step{c.step.simulated.step_time, c.step.executed.step_time};
    Json json = {{"schema", "debubble/comparison"},
                 {"version", 1},
                 {"scenario", report.headers.executed.scenario},
                 {"schedule_hash", report.headers.executed.program_hash},
                 {"sources",
                  {{"simulated", report.headers.simulated.source_name()},
                   {"executed", report.headers.executed.source_name()}}},
                 {"steps", report.steps},
                 {"busy_machine", or_null(report.busy.executed)},
                 {"step_time_error", or_null(relative_error(step))},
                 {"replayed_step_time_error", nullptr},
                 {"simulated", step_json(c.step.simulated)},
                 {"replayed", nullptr},
                 {"executed", step_json(c.step.executed)}};
    if (report.replayed) {
        json["replayed"] = step_json(*report.replayed);
        json["replayed_step_time_error"] =
            or_null(relative_error({report.replayed->step_time, step.executed}));
    }
    json["ranks"] = Json::array();
    for (const RankComparison& rank : c.ranks)
        json["ranks"].push_back({{"rank", rank.rank.index},
                                 {"simulated", rank_json(rank.figures.simulated)},
                                 {"executed", rank_json(rank.figures.executed)}});
    json["kinds"] = rows_json(c.kinds);
    json["stages"] = rows_json(c.stages);
    json["worst"] = Json::array();
    for (const ActionDifference& d : c.worst)
        json["worst"].push_back({{"rank", d.rank.index},
                                 {"action", to_text(d.action)},
                                 {"simulated_s", seconds(d.length.simulated)},
                                 {"executed_s", seconds(d.length.executed)}});
    json["only_simulated"] = c.unmatched.simulated;
    json["only_executed"] = c.unmatched.executed;
    json["order_checked"] = report.order_checked;
    json["order_violations"] = report.order;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace debubble::sim
