#include "gui/viewmodel/what_if/remedies.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/cancelled.h"
#include "base/diagnostic.h"
#include "gui/viewmodel/what_if/field.h"
#include "gui/viewmodel/what_if/figures.h"
#include "scenarios/edit.h"
#include "sim/predict.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

struct Candidate {
    std::string key;
    std::string value;
    std::string words;
};

/// The value that a text gives a whole number; `otherwise` where it gives none.
int whole_at(const ScenarioText& source, const std::string& key, int otherwise) {
    const auto written = scenarios::written_at(source.text, source.file, key);
    if (!written) return otherwise;
    return std::all_of(written->begin(), written->end(),
                       [](char c) { return c >= '0' && c <= '9'; })
               ? std::stoi(*written)
               : otherwise;
}

std::vector<Candidate> candidates_of(const ScenarioText& source) {
    std::vector<Candidate> all{
        {"training.recompute", "selective", "recompute selective"},
        {"training.recompute", "full", "recompute full"},
        {"parallel.zero_stage", "1", "ZeRO 1"},
        {"parallel.zero_stage", "2", "ZeRO 2"},
        {"parallel.zero_stage", "3", "ZeRO 3"},
        {"training.offload_optimizer", "true", "optimizer on the host"},
        {"parallel.data", "auto", "all GPUs that are left as replicas"},
        {"schedule", "1f1b", "schedule 1f1b"},
        {"training.micro_batch", "1", "microbatch 1"},
    };
    const auto scale = [&](const char* key, const char* words, int now, int factor) {
        const int value = factor > 0 ? now * factor : now / -factor;
        if (value >= 1 && value != now)
            all.push_back({key, std::to_string(value), fmt::format("{} {}", words, value)});
    };
    for (const auto& [key, words] :
         {std::pair("parallel.tensor", "tensor"), std::pair("parallel.pipeline", "pipeline"),
          std::pair("parallel.context", "context"), std::pair("parallel.expert", "expert")}) {
        const int now = whole_at(source, key, 1);
        scale(key, words, now, 2);
        scale(key, words, now, -2);
    }
    for (const int factor : {2, 4})
        if (const int micro = whole_at(source, "training.micro_batch", 1); micro % factor == 0)
            scale("training.micro_batch", "microbatch", micro, -factor);
    return all;
}

std::string words_of(const Candidate& candidate, const sim::Prediction& then,
                     const std::optional<sim::Prediction>& now) {
    const std::string step =
        now ? fmt::format("step {:+.1f} %", 100 * (then.step_time_s / now->step_time_s - 1))
            : "step " + text::time_text(then.step_time_s);
    return fmt::format("{}: {} GiB, {}", candidate.words, text::gib_text(worst_peak(then)), step);
}

}  // namespace

std::vector<Remedy> remedies(const ScenarioText& source, const std::optional<sim::Prediction>& now,
                             const std::stop_token& stop) {
    sim::PredictOptions figures;
    figures.keep_trace = false;
    figures.draw_loads = false;
    figures.hash_program = false;
    figures.explain = false;
    figures.only_where_it_decides = true;
    figures.stop = stop;
    std::vector<Remedy> found;
    std::vector<std::string> seen{source.text};
    for (const Candidate& candidate : candidates_of(source)) {
        give_up_if(stop);
        try {
            const ScenarioText changed = with_change(source, candidate.key, candidate.value);
            if (std::ranges::find(seen, changed.text) != seen.end()) continue;
            seen.push_back(changed.text);
            const scenarios::Scenario scenario =
                scenarios::parse_scenario(changed.text, changed.file);
            const sim::Prediction then = sim::predict(scenario, figures).prediction;
            if (!then.fits) continue;
            found.push_back(
                {candidate.key, candidate.value, words_of(candidate, then, now), then.step_time_s});
        } catch (const InputError&) {  // this change makes no plan that can be had
        }
    }
    std::ranges::stable_sort(found, {}, &Remedy::step_time_s);
    if (found.size() > kMostRemedies) found.resize(kMostRemedies);
    return found;
}

}  // namespace debubble::gui
