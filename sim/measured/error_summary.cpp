#include "sim/measured/accuracy_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "text/document.h"

namespace debubble::sim {
namespace {

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::string value_of(const MeasuredComparison& row, const std::string& key) {
    if (key == "table") return row.step.table;
    if (key == "gpu") return row.gpu.empty() ? "(not predicted)" : row.gpu;
    const text::NodePtr value = text::at(row.step.scenario, key);
    if (!value) return "(not given)";
    return value->is(text::Node::Kind::Scalar) ? value->scalar : text::to_flow(*value);
}

/// The fields in which rows of the same job are equal.
std::string job_of(const MeasuredComparison& row) {
    std::string job;
    for (const char* key : {"model", "cluster", "gpus", "nodes", "training.global_batch",
                            "training.seq_length", "training.precision", "framework.release"})
        job += value_of(row, key) + '\n';
    const text::NodePtr framework = text::at(row.step.scenario, "framework");
    const bool scalar = framework && framework->is(text::Node::Kind::Scalar);
    return job + value_of(row, scalar ? "framework" : "framework.base");
}

}  // namespace

ErrorSummary summarize(std::vector<double> errors) {
    ErrorSummary summary;
    summary.rows = errors.size();
    if (errors.empty()) return summary;
    summary.bias = mean(errors);
    for (double& error : errors) error = std::abs(error);
    std::ranges::sort(errors);
    summary.mean = mean(errors);
    const std::size_t half = errors.size() / 2;
    summary.median = errors.size() % 2 == 1 ? errors[half] : (errors[half - 1] + errors[half]) / 2;
    summary.worst = errors.back();
    return summary;
}

AccuracySummary summarize(const std::vector<const MeasuredComparison*>& rows) {
    AccuracySummary summary;
    summary.rows = rows.size();
    std::vector<double> time;
    std::vector<double> null_model;
    std::vector<double> others;
    std::vector<double> memory;
    std::vector<double> held;
    std::vector<double> activations;
    for (const MeasuredComparison* row : rows) {
        const MeasuredStep& step = row->step;
        if (!row->unsaid) ++summary.said;
        if (step.step_s || step.tokens_per_s_per_gpu || step.tflops_per_gpu || step.is_part())
            ++summary.time_rows;
        if (step.peak && step.peak->kind != MeasuredPeak::Kind::Unknown) ++summary.memory_rows;
        if (row->memory) memory.push_back(row->memory->error());
        if (row->held) held.push_back(row->held->error());
        if (row->activations) activations.push_back(row->activations->error());
        if (!row->time) continue;
        time.push_back(row->time->error());
        null_model.push_back(row->null_s / row->time->measured - 1);
        if (row->null_of_others_s)
            others.push_back(*row->null_of_others_s / row->time->measured - 1);
    }
    summary.time = summarize(std::move(time));
    summary.null_model = summarize(std::move(null_model));
    summary.null_of_others = summarize(std::move(others));
    summary.memory = summarize(std::move(memory));
    summary.held = summarize(std::move(held));
    summary.activations = summarize(std::move(activations));
    return summary;
}

std::vector<AccuracyOf> accuracy_by(const std::vector<MeasuredComparison>& rows,
                                    const std::string& key) {
    std::vector<std::string> values;
    std::map<std::string, std::vector<const MeasuredComparison*>> parts;
    for (const MeasuredComparison& row : rows) {
        std::string value = value_of(row, key);
        auto& part = parts[value];
        if (part.empty()) values.push_back(std::move(value));
        part.push_back(&row);
    }
    std::vector<AccuracyOf> all;
    for (const std::string& value : values) all.push_back({value, summarize(parts[value])});
    return all;
}

std::vector<CutGroup> cut_groups(const std::vector<MeasuredComparison>& rows) {
    std::vector<std::string> jobs;
    std::map<std::string, CutGroup> groups;
    for (const MeasuredComparison& row : rows) {
        if (!row.time || row.step.is_part()) continue;
        std::string job = job_of(row);
        CutGroup& group = groups[job];
        if (group.rows.empty()) jobs.push_back(std::move(job));
        group.rows.push_back(&row);
        if (!group.chosen || row.time->predicted < group.chosen->time->predicted)
            group.chosen = &row;
        if (!group.best || row.time->measured < group.best->time->measured) group.best = &row;
    }
    std::vector<CutGroup> all;
    for (const std::string& job : jobs)
        if (groups[job].rows.size() > 1) all.push_back(std::move(groups[job]));
    return all;
}

}  // namespace debubble::sim
