#include <nlohmann/json.hpp>

#include "sim/measured/accuracy_report.h"

namespace debubble::sim {
namespace {

using Json = nlohmann::ordered_json;

/// Errors in percent.
Json json_of(const ErrorSummary& errors, std::size_t rows, const ErrorSummary* null_model) {
    const auto figure = [&](double share) {
        return errors.rows == 0 ? Json(nullptr) : Json(100 * share);
    };
    Json out{{"rows", rows},
             {"said", errors.rows},
             {"mape", figure(errors.mean)},
             {"median", figure(errors.median)},
             {"max", figure(errors.worst)},
             {"bias", figure(errors.bias)}};
    if (null_model != nullptr) out["null_mape"] = figure(null_model->mean);
    return out;
}

Json json_of(const AccuracySummary& summary) {
    Json time = json_of(summary.time, summary.time_rows, &summary.null_model);
    time["null_of_others_mape"] =
        summary.null_of_others.rows == 0 ? Json(nullptr) : Json(100 * summary.null_of_others.mean);
    return {{"time", std::move(time)},
            {"memory", json_of(summary.memory, summary.memory_rows, nullptr)},
            {"held", json_of(summary.held, summary.held.rows, nullptr)},
            {"activations", json_of(summary.activations, summary.activations.rows, nullptr)}};
}

Json json_of(const MeasuredComparison& row) {
    Json out{{"table", row.step.table},
             {"line", row.step.line},
             {"row", row.step.row},
             {"said", !row.unsaid}};
    if (row.unsaid) out["reason"] = *row.unsaid;
    if (!row.chosen.empty()) out["chosen"] = row.chosen;
    if (!row.unsaid) out["fits"] = row.fits;
    if (!row.unsaid && !row.step.is_part()) out["memory_verdict"] = name_of(row.memory_verdict);
    if (!row.unsaid && !row.step.is_part())
        out["class"] = {{"framework", row.like->framework},
                        {"gpu", row.like->gpu},
                        {"precision", row.like->precision},
                        {"sharding", row.like->sharding},
                        {"length", row.like->length}};
    if (row.time) {
        out["measured_s"] = row.time->measured;
        out["predicted_s"] = row.time->predicted;
        out["error"] = 100 * row.time->error();
        out["null_s"] = row.null_s;
        if (row.null_of_others_s) out["null_of_others_s"] = *row.null_of_others_s;
    }
    if (row.memory) {
        out["measured_gib"] = row.memory->measured;
        out["predicted_gib"] = row.memory->predicted;
        out["memory_error"] = 100 * row.memory->error();
    }
    const auto keep = [&](const std::string& name, const std::optional<Compared>& figure) {
        if (!figure) return;
        out["measured_" + name + "_gib"] = figure->measured;
        out["predicted_" + name + "_gib"] = figure->predicted;
    };
    keep("held", row.held);
    keep("activations", row.activations);
    return out;
}

Json json_of(const CutGroup& group) {
    Json rows = Json::array();
    for (const MeasuredComparison* row : group.rows) rows.push_back(row->step.row);
    return {{"rows", std::move(rows)},
            {"chosen", group.chosen->step.row},
            {"best", group.best->step.row},
            {"regret", 100 * group.regret()}};
}

}  // namespace

std::string to_json(const AccuracyReport& report) {
    std::vector<const MeasuredComparison*> all;
    for (const MeasuredComparison& row : report.rows) all.push_back(&row);
    Json out{{"schema", "debubble/validate-cost"}, {"version", 2}, {"tables", report.tables}};
    out.update(json_of(summarize(all)));
    out["by"] = Json::object();
    for (const std::string& key : report.by) {
        Json& parts = out["by"][key] = Json::object();
        for (const AccuracyOf& part : accuracy_by(report.rows, key))
            parts[part.value] = json_of(part.summary);
    }
    out["groups"] = Json::array();
    for (const CutGroup& group : cut_groups(report.rows)) out["groups"].push_back(json_of(group));
    out["rows"] = Json::array();
    for (const MeasuredComparison& row : report.rows) out["rows"].push_back(json_of(row));
    return out.dump(2) + '\n';
}

}  // namespace debubble::sim
