#include "gui/viewmodel/what_if/remedies.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/parallel.h"
#include "gui/viewmodel/timeline/words.h"
#include "gui/viewmodel/what_if/field.h"
#include "gui/viewmodel/what_if/figures.h"
#include "gui/viewmodel/what_if/plan_figures.h"
#include "scenarios/plan/plan.h"
#include "scenarios/read/edit.h"
#include "scenarios/read/read_scenario.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

struct Candidate {
    std::string key;
    std::string value;
    std::string words;
};

/// Changes that allow cuts which use fewer GPUs, or another number of microbatches than written.
std::vector<scenarios::Override> loosening_changes(const ScenarioText& source) {
    std::vector<scenarios::Override> changes;
    const auto written = [&](const char* key) {
        return scenarios::written_at(source.text, source.file, key);
    };
    if (written("parallel.data").value_or("auto") != "auto")
        changes.emplace_back("parallel.data", "auto");
    if (written("training.global_batch") && written("training.micro_batches"))
        changes.emplace_back("training.micro_batches", "~");
    return changes;
}

/// The whole number at a key of the text; `otherwise` if there is none.
int whole_number_at(const ScenarioText& source, const std::string& key, int otherwise) {
    const auto written = scenarios::written_at(source.text, source.file, key);
    if (!written) return otherwise;
    return std::all_of(written->begin(), written->end(),
                       [](char c) { return c >= '0' && c <= '9'; })
               ? std::stoi(*written)
               : otherwise;
}

std::vector<Candidate> candidates_of(const ScenarioText& source) {
    std::vector<Candidate> all{
        {"training.recompute", "selective", said("proposals", "recompute selective")},
        {"training.recompute", "full", said("proposals", "recompute full")},
        {"parallel.zero_stage", "1", said("proposals", "ZeRO 1")},
        {"parallel.zero_stage", "2", said("proposals", "ZeRO 2")},
        {"parallel.zero_stage", "3", said("proposals", "ZeRO 3")},
        {"training.offload_optimizer", "true", said("proposals", "optimizer on the host")},
        {"parallel.data", "auto", said("proposals", "all GPUs that are left as replicas")},
        {"training.micro_batches", "~",
         said("proposals", "as many microbatches as the batch needs")},
        {"schedule", "1f1b", said("proposals", "schedule 1f1b")},
        {"training.micro_batch", "1", said("proposals", "microbatch 1")},
    };
    const auto scale = [&](const char* key, const std::string& words, int now, int factor) {
        const int value = factor > 0 ? now * factor : now / -factor;
        if (value >= 1 && value != now)
            all.push_back({key, std::to_string(value), fmt::format("{} {}", words, value)});
    };
    for (const auto& [key, words] : {std::pair("parallel.tensor", said("proposals", "tensor")),
                                     std::pair("parallel.pipeline", said("proposals", "pipeline")),
                                     std::pair("parallel.context", said("proposals", "context")),
                                     std::pair("parallel.expert", said("proposals", "expert"))}) {
        const int now = whole_number_at(source, key, 1);
        scale(key, words, now, 2);
        scale(key, words, now, -2);
    }
    for (const int factor : {2, 4})
        if (const int micro = whole_number_at(source, "training.micro_batch", 1);
            micro % factor == 0)
            scale("training.micro_batch", said("proposals", "microbatch"), micro, -factor);
    return all;
}

std::string words_of(const Candidate& candidate, const sim::Prediction& then,
                     const std::optional<sim::Prediction>& now) {
    const std::string step =
        now ? filled(said("proposals", "step {:+.1f} %"),
                     100 * (then.step_time_s / now->step_time_s - 1))
            : filled(said("proposals", "step {}"), text::time_text(then.step_time_s));
    return fmt::format("{}: {} GiB, {}", candidate.words, text::gib_text(worst_peak(then)), step);
}

/// Predicts changes, each resulting text once.
class Trial {
public:
    Trial(const ScenarioText& source, const std::optional<sim::Prediction>& now,
          const std::stop_token& stop)
        : source_(source), now_(now), stop_(stop), seen_{source.text} {}

    void predict_change(const std::vector<scenarios::Override>& before,
                        const Candidate& candidate) {
        give_up_if(stop_);
        try {
            Remedy remedy{before, {}, 0};
            if (!candidate.key.empty()) remedy.changes.emplace_back(candidate.key, candidate.value);
            const ScenarioText changed = with_remedy(source_, remedy);
            if (std::ranges::find(seen_, changed.text) != seen_.end()) return;
            seen_.push_back(changed.text);
            const scenarios::Scenario scenario =
                scenarios::parse_scenario(changed.text, changed.file);
            const sim::Prediction then = figures_of_plan(scenario, stop_);
            if (!then.fits) return;
            remedy.words = words_of(candidate, then, now_);
            remedy.step_time_s = then.step_time_s;
            found_.push_back(std::move(remedy));
        } catch (const InputError&) {  // this change makes no possible plan
        } catch (const scenarios::InvalidSchedule&) {
        }
    }
    bool found_any() const { return !found_.empty(); }

    std::vector<Remedy> fastest() {
        std::ranges::stable_sort(found_, {}, &Remedy::step_time_s);
        if (found_.size() > kMostRemedies) found_.resize(kMostRemedies);
        return std::move(found_);
    }

private:
    const ScenarioText& source_;
    const std::optional<sim::Prediction>& now_;
    std::stop_token stop_;
    std::vector<std::string> seen_;
    std::vector<Remedy> found_;
};

}  // namespace

ScenarioText with_remedy(ScenarioText source, const Remedy& remedy) {
    for (const auto& [key, value] : remedy.changes)
        if (value == "~")  // only removes the key: the batch stays without a number of microbatches
            source.text = scenarios::with_key(source.text, source.file, {key, value});
        else
            source = with_change(source, key, value);
    return source;
}

std::vector<Remedy> remedies(const ScenarioText& source, const std::optional<sim::Prediction>& now,
                             const std::stop_token& stop) {
    Trial trial(source, now, stop);
    const std::vector<Candidate> candidates = candidates_of(source);
    for (const Candidate& candidate : candidates) trial.predict_change({}, candidate);
    if (const auto before = loosening_changes(source); !trial.found_any() && !before.empty()) {
        trial.predict_change(before,
                             {{}, {}, said("proposals", "replicas and microbatches as they come")});
        for (Candidate candidate : candidates) {
            candidate.words += ", " + said("proposals", "replicas and microbatches as they come");
            trial.predict_change(before, candidate);
        }
    }
    return trial.fastest();
}

}  // namespace debubble::gui
