#include "sim/commands/published_plans.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "scenarios/plan/derived.h"
#include "scenarios/read/read_scenario.h"
#include "sim/predict.h"
#include "text/document_readers.h"
#include "text/shipped_files.h"
#include "text/wording.h"

namespace debubble::sim {
namespace {

constexpr std::string_view kFolder = "scenarios";
constexpr std::string_view kTitle = "published plan";

/// The scenarios whose file has the key itself: a grid that includes one has no published figure.
std::vector<std::string> published_names() {
    std::vector<std::string> names;
    for (const std::string& name : text::shipped_names(kFolder)) {
        const auto file = text::data_folder() / kFolder / (name + ".yaml");
        const auto published = text::read_yaml(file)->get("published");
        if (published && !published->is(text::Node::Kind::Null)) names.push_back(name);
    }
    return names;
}

double published_seconds(const scenarios::Scenario& scenario) {
    const scenarios::Published& published = *scenario.published;
    if (published.step) return seconds(*published.step);
    if (published.tokens_per_s_per_gpu)
        return static_cast<double>(scenario.training.global_batch) *
               static_cast<double>(scenario.training.seq_length) /
               (*published.tokens_per_s_per_gpu * scenario.gpus);
    return scenarios::printed_flops_per_step(scenario) /
           (*published.tflops_per_gpu * 1e12 * scenario.gpus);
}

PublishedPlan compare_published(const std::string& name) {
    const scenarios::Scenario scenario = scenarios::read_scenario(name);
    PredictOptions options;
    options.keep_trace = options.hash_program = options.explain = false;
    const Prediction prediction = predict(scenario, options).prediction;
    return {name,
            scenario.published->source,
            published_seconds(scenario),
            prediction.step_time_s,
            prediction.fits,
            prediction.memory_left};
}

/// In tenths, and not negative where it rounds to zero.
double percent_of(const PublishedPlan& plan) {
    return std::round(1000 * plan.difference()) / 10 + 0.0;
}

std::string memory_text(const PublishedPlan& plan) {
    if (plan.fits) return fmt::format("{} GiB left", text::gib_text(plan.left));
    return fmt::format("{} GiB too large", text::gib_text(Bytes{-plan.left.count}));
}

}  // namespace

std::vector<PublishedPlan> published_plans() {
    std::vector<PublishedPlan> plans;
    for (const std::string& name : published_names()) plans.push_back(compare_published(name));
    return plans;
}

std::string to_text(const std::vector<PublishedPlan>& plans) {
    if (plans.empty()) return {};
    std::size_t width = kTitle.size();
    for (const PublishedPlan& plan : plans) width = std::max(width, plan.name.size());
    std::string out = fmt::format("{:<{}}  {:>9}  {:>9}  {:>8}  {:<18}  {}\n", kTitle, width,
                                  "published", "predicted", "", "memory", "source");
    for (const PublishedPlan& plan : plans) {
        const std::string row = fmt::format(
            "{:<{}}  {:>9}  {:>9}  {:>+6.1f} %  {:<18}  ", plan.name, width,
            fmt::format("{:.3f} s", plan.published_s), fmt::format("{:.3f} s", plan.predicted_s),
            percent_of(plan), memory_text(plan));
        out += row + text::shortened(plan.source, text::kReportColumns - row.size()) + '\n';
    }
    return out;
}

}  // namespace debubble::sim
