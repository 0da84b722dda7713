#include "sim/grid/sweep_row.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "sim/explain/communication.h"

namespace debubble::sim {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double number_of(double value) {
    return value;
}
double number_of(const std::optional<double>& value) {
    return value.value_or(kNone);
}
double number_of(Bytes bytes) {
    return static_cast<double>(bytes.count);
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

template <double RankPrediction::*kSeconds>
double mean(const Prediction& p) {
    double sum = 0;
    for (const RankPrediction& rank : p.ranks) sum += rank.*kSeconds;
    return sum / static_cast<double>(p.ranks.size());
}

/// Without a value where the allocator was not simulated.
double reserved(const Prediction& p) {
    const Bytes most = worst(p, &RankPrediction::reserved);
    return most.count > 0 ? number_of(most) : kNone;
}
double left(const Prediction& p) {
    return std::isnan(reserved(p)) ? kNone : number_of(p.memory_left);
}

/// A figure of the whole training; without a value where training.tokens is not given.
double of_run(const Prediction& p, const auto& figure) {
    return p.run ? number_of(figure(*p.run)) : kNone;
}

/// A figure of one kind of communication.
template <CommunicationKind kKind, double KindTime::*kFigure>
double communication(const Prediction& p) {
    return mean_communication(p)[kKind].*kFigure;
}

/// The text of a number in results.csv.
enum class Form : std::uint8_t { Real, Whole, Flag, Verdict };

struct Figure {
    std::string_view name;
    Form form;
    double (*of)(const Prediction&);
};

using enum Form;
constexpr std::array<Figure, PlanFigures::kNumbers> kFigures{
    Figure{"step_time_s", Real, [](const Prediction& p) { return p.step_time_s; }},
    Figure{"tokens_per_s", Real, [](const Prediction& p) { return p.tokens_per_s; }},
    Figure{"samples_per_s", Real, [](const Prediction& p) { return p.samples_per_s; }},
    Figure{"mfu", Real, [](const Prediction& p) { return number_of(p.mfu); }},
    Figure{"mfu_causal", Real, [](const Prediction& p) { return number_of(p.mfu_causal); }},
    Figure{"hfu", Real, [](const Prediction& p) { return number_of(p.hfu); }},
    Figure{"tflops_per_gpu", Real, [](const Prediction& p) { return number_of(p.tflops_per_gpu); }},
    Figure{"bubble", Real, [](const Prediction& p) { return p.bubble; }},
    Figure{"span_bubble", Real, [](const Prediction& p) { return p.span_bubble; }},
    Figure{"makespan_s", Real, [](const Prediction& p) { return p.makespan_s; }},
    Figure{"parameters", Whole,
           [](const Prediction& p) { return static_cast<double>(p.parameters); }},
    Figure{"replicas", Whole, [](const Prediction& p) { return static_cast<double>(p.replicas); }},
    Figure{"peak_memory_bytes", Whole,
           [](const Prediction& p) { return number_of(worst(p, &RankPrediction::peak_memory)); }},
    Figure{"reserved_memory_bytes", Whole, reserved},
    Figure{"memory_left_bytes", Whole, left},
    Figure{"memory_left_of_requested_bytes", Whole,
           [](const Prediction& p) { return number_of(p.memory_left_of_requested); }},
    Figure{"tight", Flag, [](const Prediction& p) { return p.tight ? 1.0 : 0.0; }},
    Figure{"memory_verdict", Verdict,
           [](const Prediction& p) { return static_cast<double>(p.memory_verdict); }},
    Figure{"step_time_low_s", Real,
           [](const Prediction& p) { return p.range ? p.range->low_s : kNone; }},
    Figure{"step_time_high_s", Real,
           [](const Prediction& p) { return p.range ? p.range->high_s : kNone; }},
    Figure{"exposed_comm_s", Real, mean<&RankPrediction::exposed_comm_s>},
    Figure{"optimizer_s", Real, mean<&RankPrediction::optimizer_s>},
    Figure{"idle_s", Real, mean<&RankPrediction::idle_s>},
    Figure{"tp_exposed_s", Real, communication<CommunicationKind::Tensor, &KindTime::exposed>},
    Figure{"tp_hidden_s", Real, communication<CommunicationKind::Tensor, &KindTime::hidden>},
    Figure{"tp_bytes", Real, communication<CommunicationKind::Tensor, &KindTime::bytes>},
    Figure{"cp_exposed_s", Real, communication<CommunicationKind::Context, &KindTime::exposed>},
    Figure{"cp_hidden_s", Real, communication<CommunicationKind::Context, &KindTime::hidden>},
    Figure{"cp_bytes", Real, communication<CommunicationKind::Context, &KindTime::bytes>},
    Figure{"ep_exposed_s", Real, communication<CommunicationKind::Expert, &KindTime::exposed>},
    Figure{"ep_hidden_s", Real, communication<CommunicationKind::Expert, &KindTime::hidden>},
    Figure{"ep_bytes", Real, communication<CommunicationKind::Expert, &KindTime::bytes>},
    Figure{"dp_exposed_s", Real, communication<CommunicationKind::Data, &KindTime::exposed>},
    Figure{"dp_hidden_s", Real, communication<CommunicationKind::Data, &KindTime::hidden>},
    Figure{"dp_bytes", Real, communication<CommunicationKind::Data, &KindTime::bytes>},
    Figure{"pp_exposed_s", Real, communication<CommunicationKind::Pipeline, &KindTime::exposed>},
    Figure{"pp_hidden_s", Real, communication<CommunicationKind::Pipeline, &KindTime::hidden>},
    Figure{"pp_bytes", Real, communication<CommunicationKind::Pipeline, &KindTime::bytes>},
    Figure{"host_exposed_s", Real, communication<CommunicationKind::Host, &KindTime::exposed>},
    Figure{"host_hidden_s", Real, communication<CommunicationKind::Host, &KindTime::hidden>},
    Figure{"host_bytes", Real, communication<CommunicationKind::Host, &KindTime::bytes>},
    Figure{
        "days", Real,
        [](const Prediction& p) { return of_run(p, [](const RunPlan& r) { return r.days(); }); }},
    Figure{"days_p95", Real,
           [](const Prediction& p) {
               return of_run(p, [](const RunPlan& r) { return r.figures.p95_s / 86400; });
           }},
    Figure{"goodput", Real,
           [](const Prediction& p) {
               return of_run(p, [](const RunPlan& r) { return r.figures.goodput(); });
           }},
    Figure{"mttf_h", Real,
           [](const Prediction& p) {
               if (!p.run || p.run->figures.job.failures.sum() <= 0) return kNone;
               return p.run->figures.job.mttf() / 3600;
           }},
    Figure{"save_every_s", Real,
           [](const Prediction& p) {
               return of_run(p, [](const RunPlan& r) {
                   const RunJob& job = r.figures.job;
                   return static_cast<double>(job.save_every) * job.step;
               });
           }},
    Figure{"checkpoint_bytes", Whole,
           [](const Prediction& p) {
               return of_run(p, [](const RunPlan& r) { return r.checkpoint; });
           }},
    Figure{"gpu_hours", Real,
           [](const Prediction& p) {
               return of_run(p, [](const RunPlan& r) { return r.gpu_hours; });
           }},
    Figure{"cost", Real,
           [](const Prediction& p) { return of_run(p, [](const RunPlan& r) { return r.cost; }); }},
    Figure{"energy_mwh", Real,
           [](const Prediction& p) {
               return of_run(p, [](const RunPlan& r) { return r.energy_mwh; });
           }},
    Figure{"co2_t", Real,
           [](const Prediction& p) { return of_run(p, [](const RunPlan& r) { return r.co2_t; }); }},
};

constexpr std::array kWords{&PlanFigures::scenario, &PlanFigures::schedule_hash};
constexpr std::array<std::string_view, 2> kWordNames{"scenario", "schedule_hash"};
constexpr std::size_t kColumns = kFigures.size() + kWords.size();

/// The columns after a row's keys and figures.
constexpr std::array<std::string_view, 7> kBesideFigures{"plan", "schema", "twin_of", "unvalidated",
                                                         "fits", "pareto", "reason"};
constexpr const char* kSchema = "debubble/sweep 2";
constexpr std::array kVerdicts{MemoryVerdict::Fits, MemoryVerdict::DoesNotFit,
                               MemoryVerdict::CannotBeTold};

std::size_t place_of(std::string_view name) {
    return std::ranges::find(kFigures, name, &Figure::name) - kFigures.begin();
}

std::string truth(bool value) {
    return value ? "true" : "false";
}

std::string text_of(double number, Form form) {
    if (std::isnan(number)) return {};
    switch (form) {
        case Real: break;
        case Whole: return fmt::format("{}", static_cast<std::int64_t>(number));
        case Flag: return truth(number != 0);
        case Verdict: return std::string(name_of(kVerdicts[static_cast<std::size_t>(number)]));
    }
    return fmt::format("{}", number);  // the shortest text that reads back as the same number
}

double parse(const std::string& text, Form form) {
    if (text.empty()) return kNone;
    if (form == Flag) return text == "true" ? 1 : 0;
    if (form == Verdict) {
        const auto named = [](MemoryVerdict verdict) { return name_of(verdict); };
        return static_cast<double>(std::ranges::find(kVerdicts, std::string_view(text), named) -
                                   kVerdicts.begin());
    }
    double value = kNone;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

}  // namespace

PlanFigures::PlanFigures(const Prediction& prediction)
    : scenario(prediction.scenario), schedule_hash(prediction.schedule_hash) {
    for (std::size_t i = 0; i < kNumbers; ++i) numbers[i] = kFigures[i].of(prediction);
}

double& PlanFigures::operator[](std::string_view name) {
    return numbers.at(place_of(name));
}
double PlanFigures::operator[](std::string_view name) const {
    return numbers.at(place_of(name));
}

std::size_t PlanFigures::hash() const {
    std::size_t hash = std::hash<std::string>{}(schedule_hash);
    for (const double number : numbers)
        hash = (hash ^ std::bit_cast<std::uint64_t>(number)) * 0x9E3779B97F4A7C15U;
    return hash;
}

bool operator==(const PlanFigures& a, const PlanFigures& b) {
    const auto bits = [](double number) { return std::bit_cast<std::uint64_t>(number); };
    return std::ranges::equal(a.numbers, b.numbers, {}, bits, bits) && a.scenario == b.scenario &&
           a.schedule_hash == b.schedule_hash;
}

bool SweepRow::surely_fits() const {
    return fits && figure("memory_verdict") == static_cast<double>(MemoryVerdict::Fits);
}

double SweepRow::figure(std::string_view name) const {
    return figures ? (*figures)[name] : kNone;
}

std::vector<std::string> figure_names() {
    std::vector<std::string> names;
    for (const Figure& figure : kFigures) names.emplace_back(figure.name);
    names.insert(names.end(), kWordNames.begin(), kWordNames.end());
    return names;
}

std::vector<std::string> csv_columns(std::span<const std::string> keys) {
    std::vector<std::string> columns(keys.begin(), keys.end());
    for (std::string& name : figure_names()) columns.push_back(std::move(name));
    columns.insert(columns.end(), kBesideFigures.begin(), kBesideFigures.end());
    return columns;
}

std::vector<std::string> csv_fields(const SweepRow& row) {
    std::vector<std::string> fields;
    fields.reserve(row.values.size() + kColumns + kBesideFigures.size());
    fields.assign(row.values.begin(), row.values.end());
    if (row.figures) {
        for (std::size_t i = 0; i < kFigures.size(); ++i)
            fields.push_back(text_of(row.figures->numbers[i], kFigures[i].form));
        for (const auto word : kWords) fields.push_back((*row.figures).*word);
    } else {
        fields.resize(fields.size() + kColumns);
    }
    fields.push_back(row.plan.value_or(""));
    fields.emplace_back(kSchema);
    fields.push_back(row.twin_of.value_or(""));
    fields.push_back(row.unvalidated);
    fields.push_back(truth(row.fits));
    fields.push_back(row.pareto ? truth(*row.pareto) : std::string());
    fields.push_back(row.reason);
    return fields;
}

SweepRow row_of_csv(const std::vector<std::string>& fields, std::size_t keys) {
    SweepRow row;
    auto at = fields.begin() + static_cast<std::ptrdiff_t>(keys);
    row.values.assign(fields.begin(), at);
    if (!at->empty()) {
        row.figures.emplace();
        for (std::size_t i = 0; i < kFigures.size(); ++i)
            row.figures->numbers[i] = parse(at[static_cast<std::ptrdiff_t>(i)], kFigures[i].form);
        for (std::size_t i = 0; i < kWords.size(); ++i)
            (*row.figures).*kWords[i] = at[static_cast<std::ptrdiff_t>(kFigures.size() + i)];
    }
    at += kColumns;
    if (!at->empty()) row.plan = *at;
    at += 2;  // and the schema
    if (!at->empty()) row.twin_of = *at;
    ++at;
    row.unvalidated = *at++;
    row.fits = *at++ == "true";
    if (!at->empty()) row.pareto = *at == "true";
    row.reason = *++at;
    return row;
}

bool mark_pareto(std::vector<SweepRow>& rows) {
    struct Candidate {
        double tokens_per_s;
        double peak;
        std::size_t row;
    };
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].fits && !rows[i].twin_of)
            candidates.push_back(
                {rows[i].figure("tokens_per_s"), rows[i].figure("peak_memory_bytes"), i});
    // Fastest first; a row is beaten if a faster one, or an equally fast one before it, holds less.
    std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
        return a.tokens_per_s != b.tokens_per_s ? a.tokens_per_s > b.tokens_per_s : a.peak < b.peak;
    });
    std::vector<bool> unbeaten(rows.size(), false);
    double least = std::numeric_limits<double>::infinity();
    double fastest_with_least = 0;
    for (const Candidate& c : candidates) {
        const bool equal = c.peak == least && c.tokens_per_s == fastest_with_least;
        if (c.peak >= least && !equal) continue;
        least = c.peak;
        fastest_with_least = c.tokens_per_s;
        unbeaten[c.row] = true;
    }
    bool changes = false;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        changes = changes || rows[i].pareto != unbeaten[i];
        rows[i].pareto = unbeaten[i];
    }
    return changes;
}

}  // namespace debubble::sim
