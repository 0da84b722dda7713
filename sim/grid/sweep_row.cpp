#include "sim/grid/sweep_row.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "sim/explain/communication.h"

namespace debubble::sim {
namespace {

std::string text_of(double value) {
    return fmt::format("{}", value);  // the shortest text that reads back as the same number
}
std::string text_of(const std::optional<double>& value) {
    return value ? text_of(*value) : std::string();
}

std::string text_of(Bytes bytes) {
    return fmt::format("{}", bytes.count);
}

Bytes worst(const Prediction& p, Bytes RankPrediction::*held) {
    Bytes worst;
    for (const RankPrediction& rank : p.ranks) worst = std::max(worst, rank.*held);
    return worst;
}

Bytes worst(const Prediction& p, std::optional<Bytes> RankPrediction::*held) {
    Bytes worst;
    for (const RankPrediction& rank : p.ranks)
        worst = std::max(worst, (rank.*held).value_or(worst));
    return worst;
}

std::string mean(const Prediction& p, double RankPrediction::*seconds) {
    double sum = 0;
    for (const RankPrediction& rank : p.ranks) sum += rank.*seconds;
    return text_of(sum / static_cast<double>(p.ranks.size()));
}

std::string reserved(const Prediction& p) {
    const Bytes most = worst(p, &RankPrediction::reserved);
    return most.count > 0 ? text_of(most) : std::string();
}

/// Empty where the allocator was not simulated.
std::string left(const Prediction& p) {
    return reserved(p).empty() ? std::string() : text_of(p.memory_left);
}

struct Figure {
    std::string_view name;
    std::string (*text)(const Prediction&);
};

/// A figure of the whole training; empty where training.tokens is not given.
std::string of_run(const Prediction& p, const auto& figure) {
    return p.run ? text_of(figure(*p.run)) : std::string();
}

/// A figure of one kind of communication.
template <CommunicationKind kKind, double KindTime::*kFigure>
std::string communication(const Prediction& p) {
    return text_of(of_kind(mean_communication(p), kKind).*kFigure);
}

constexpr std::array kFigures{
    Figure{"step_time_s", [](const Prediction& p) { return text_of(p.step_time_s); }},
    Figure{"tokens_per_s", [](const Prediction& p) { return text_of(p.tokens_per_s); }},
    Figure{"samples_per_s", [](const Prediction& p) { return text_of(p.samples_per_s); }},
    Figure{"mfu", [](const Prediction& p) { return text_of(p.mfu); }},
    Figure{"mfu_causal", [](const Prediction& p) { return text_of(p.mfu_causal); }},
    Figure{"hfu", [](const Prediction& p) { return text_of(p.hfu); }},
    Figure{"tflops_per_gpu", [](const Prediction& p) { return text_of(p.tflops_per_gpu); }},
    Figure{"bubble", [](const Prediction& p) { return text_of(p.bubble); }},
    Figure{"span_bubble", [](const Prediction& p) { return text_of(p.span_bubble); }},
    Figure{"makespan_s", [](const Prediction& p) { return text_of(p.makespan_s); }},
    Figure{"parameters", [](const Prediction& p) { return fmt::format("{}", p.parameters); }},
    Figure{"replicas", [](const Prediction& p) { return fmt::format("{}", p.replicas); }},
    Figure{"peak_memory_bytes",
           [](const Prediction& p) { return text_of(worst(p, &RankPrediction::peak_memory)); }},
    Figure{"reserved_memory_bytes", reserved},
    Figure{"memory_left_bytes", left},
    Figure{"memory_left_of_requested_bytes",
           [](const Prediction& p) { return text_of(p.memory_left_of_requested); }},
    Figure{"tight", [](const Prediction& p) { return std::string(p.tight ? "true" : "false"); }},
    Figure{"memory_verdict",
           [](const Prediction& p) { return std::string(name_of(p.memory_verdict)); }},
    Figure{"step_time_low_s",
           [](const Prediction& p) { return p.range ? text_of(p.range->low_s) : std::string(); }},
    Figure{"step_time_high_s",
           [](const Prediction& p) { return p.range ? text_of(p.range->high_s) : std::string(); }},
    Figure{"exposed_comm_s",
           [](const Prediction& p) { return mean(p, &RankPrediction::exposed_comm_s); }},
    Figure{"optimizer_s",
           [](const Prediction& p) { return mean(p, &RankPrediction::optimizer_s); }},
    Figure{"idle_s", [](const Prediction& p) { return mean(p, &RankPrediction::idle_s); }},
    Figure{"tp_exposed_s", communication<CommunicationKind::Tensor, &KindTime::exposed>},
    Figure{"tp_hidden_s", communication<CommunicationKind::Tensor, &KindTime::hidden>},
    Figure{"tp_bytes", communication<CommunicationKind::Tensor, &KindTime::bytes>},
    Figure{"cp_exposed_s", communication<CommunicationKind::Context, &KindTime::exposed>},
    Figure{"cp_hidden_s", communication<CommunicationKind::Context, &KindTime::hidden>},
    Figure{"cp_bytes", communication<CommunicationKind::Context, &KindTime::bytes>},
    Figure{"ep_exposed_s", communication<CommunicationKind::Expert, &KindTime::exposed>},
    Figure{"ep_hidden_s", communication<CommunicationKind::Expert, &KindTime::hidden>},
    Figure{"ep_bytes", communication<CommunicationKind::Expert, &KindTime::bytes>},
    Figure{"dp_exposed_s", communication<CommunicationKind::Data, &KindTime::exposed>},
    Figure{"dp_hidden_s", communication<CommunicationKind::Data, &KindTime::hidden>},
    Figure{"dp_bytes", communication<CommunicationKind::Data, &KindTime::bytes>},
    Figure{"pp_exposed_s", communication<CommunicationKind::Pipeline, &KindTime::exposed>},
    Figure{"pp_hidden_s", communication<CommunicationKind::Pipeline, &KindTime::hidden>},
    Figure{"pp_bytes", communication<CommunicationKind::Pipeline, &KindTime::bytes>},
    Figure{"host_exposed_s", communication<CommunicationKind::Host, &KindTime::exposed>},
    Figure{"host_hidden_s", communication<CommunicationKind::Host, &KindTime::hidden>},
    Figure{"host_bytes", communication<CommunicationKind::Host, &KindTime::bytes>},
    Figure{
        "days",
        [](const Prediction& p) { return of_run(p, [](const RunPlan& r) { return r.days(); }); }},
    Figure{"days_p95",
           [](const Prediction& p) {
               return of_run(p, [](const RunPlan& r) { return r.figures.p95_s / 86400; });
           }},
    Figure{"goodput",
           [](const Prediction& p) {
               return of_run(p, [](const RunPlan& r) { return r.figures.goodput(); });
           }},
    Figure{"mttf_h",
           [](const Prediction& p) {
               if (!p.run || p.run->figures.job.failures.sum() <= 0) return std::string();
               return text_of(p.run->figures.job.mttf() / 3600);
           }},
    Figure{"save_every_s",
           [](const Prediction& p) {
               return of_run(p, [](const RunPlan& r) {
                   const RunJob& job = r.figures.job;
                   return static_cast<double>(job.save_every) * job.step;
               });
           }},
    Figure{"checkpoint_bytes",
           [](const Prediction& p) {
               return of_run(p, [](const RunPlan& r) { return r.checkpoint; });
           }},
    Figure{"gpu_hours",
           [](const Prediction& p) {
               return of_run(p, [](const RunPlan& r) { return r.gpu_hours; });
           }},
    Figure{"cost",
           [](const Prediction& p) { return of_run(p, [](const RunPlan& r) { return r.cost; }); }},
    Figure{"energy_mwh",
           [](const Prediction& p) {
               return of_run(p, [](const RunPlan& r) { return r.energy_mwh; });
           }},
    Figure{"co2_t",
           [](const Prediction& p) { return of_run(p, [](const RunPlan& r) { return r.co2_t; }); }},
    Figure{"scenario", [](const Prediction& p) { return p.scenario; }},
    Figure{"schedule_hash", [](const Prediction& p) { return p.schedule_hash; }},
};

/// The columns after a row's keys and figures, in this order.
constexpr std::array<std::string SweepRow::*, 2> kWords{&SweepRow::twin_of, &SweepRow::unvalidated};
constexpr std::array<std::string_view, 7> kBesideFigures{"plan", "schema", "twin_of", "unvalidated",
                                                         "fits", "pareto", "reason"};
constexpr const char* kSchema = "debubble/sweep 2";

const std::string& figure_text(const SweepRow& row, std::string_view name) {
    const auto at = std::ranges::find(kFigures, name, &Figure::name) - kFigures.begin();
    return row.figures[static_cast<std::size_t>(at)];
}

}  // namespace

bool SweepRow::surely_fits() const {
    return fits && figure_text(*this, "memory_verdict") == name_of(MemoryVerdict::Fits);
}

double SweepRow::figure(std::string_view name) const {
    const std::string& text = figure_text(*this, name);
    double value = std::numeric_limits<double>::quiet_NaN();
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::vector<std::string> figure_names() {
    std::vector<std::string> names;
    for (const Figure& figure : kFigures) names.emplace_back(figure.name);
    return names;
}

std::vector<std::string> figures_of(const Prediction& prediction) {
    std::vector<std::string> texts;
    texts.reserve(kFigures.size());
    for (const Figure& figure : kFigures) texts.push_back(figure.text(prediction));
    return texts;
}

std::vector<std::string> csv_columns(std::span<const std::string> keys) {
    std::vector<std::string> columns(keys.begin(), keys.end());
    for (std::string& name : figure_names()) columns.push_back(std::move(name));
    columns.insert(columns.end(), kBesideFigures.begin(), kBesideFigures.end());
    return columns;
}

std::vector<std::string> csv_fields(const SweepRow& row) {
    std::vector<std::string> fields;
    fields.reserve(row.values.size() + row.figures.size() + kBesideFigures.size());
    fields.assign(row.values.begin(), row.values.end());
    fields.insert(fields.end(), row.figures.begin(), row.figures.end());
    fields.push_back(row.plan);
    fields.emplace_back(kSchema);
    for (const auto word : kWords) fields.push_back(row.*word);
    fields.emplace_back(row.fits ? "true" : "false");
    fields.push_back(row.pareto);
    fields.push_back(row.reason);
    return fields;
}

SweepRow row_of_csv(const std::vector<std::string>& fields, std::size_t keys) {
    SweepRow row;
    const auto figures = fields.begin() + static_cast<std::ptrdiff_t>(keys);
    auto at = fields.end() - static_cast<std::ptrdiff_t>(kBesideFigures.size());
    row.values.assign(fields.begin(), figures);
    row.figures.assign(figures, at);
    row.plan = *at++;
    ++at;  // the schema
    for (const auto word : kWords) row.*word = *at++;
    row.fits = *at++ == "true";
    row.pareto = *at++;
    row.reason = *at;
    return row;
}

void mark_pareto(std::vector<SweepRow>& rows) {
    struct Candidate {
        double tokens_per_s;
        double peak;
        SweepRow* row;
    };
    std::vector<Candidate> candidates;
    for (SweepRow& row : rows) {
        row.pareto = "false";
        if (row.fits && row.twin_of.empty())
            candidates.push_back(
                {row.figure("tokens_per_s"), row.figure("peak_memory_bytes"), &row});
    }
    // Fastest first; a row is beaten if a faster one, or an equally fast one before it, holds less.
    std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
        return a.tokens_per_s != b.tokens_per_s ? a.tokens_per_s > b.tokens_per_s : a.peak < b.peak;
    });
    double least = std::numeric_limits<double>::infinity();
    double fastest_with_least = 0;
    for (const Candidate& c : candidates) {
        const bool equal = c.peak == least && c.tokens_per_s == fastest_with_least;
        if (c.peak >= least && !equal) continue;
        least = c.peak;
        fastest_with_least = c.tokens_per_s;
        c.row->pareto = "true";
    }
}

}  // namespace debubble::sim
