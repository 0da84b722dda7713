#include "gui/viewmodel/what_if/knobs.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "gui/viewmodel/timeline/words.h"
#include "gui/viewmodel/what_if/field.h"
#include "gui/viewmodel/what_if/plan_figures.h"
#include "scenarios/read/edit.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

/// A change that may shorten a part. "*2" and "/2" are relative to the written number.
struct Proposal {
    std::string_view part;
    std::string_view key;
    std::string_view value;
    std::string_view words;  ///< name of the key
};

constexpr Proposal kProposals[] = {
    {"kernels", "training.micro_batch", "*2", "microbatch"},
    {"kernels", "parallel.tensor", "/2", "tensor"},
    {"kernels", "training.attention", "flash", "attention"},
    {"recompute", "training.recompute", "none", "recompute"},
    {"recompute", "training.recompute", "selective", "recompute"},
    {"host", "framework.cuda_graphs", "full_iteration", "CUDA graphs"},
    {"host", "training.micro_batch", "*2", "microbatch"},
    {"exposed_tp", "parallel.tensor", "/2", "tensor"},
    {"exposed_tp", "framework.tensor_overlap", "true", "tensor overlap"},
    {"exposed_tp", "parallel.sequence", "true", "sequence parallelism"},
    {"exposed_cp", "parallel.context", "/2", "context"},
    {"exposed_ep", "parallel.expert", "/2", "expert"},
    {"exposed_ep", "framework.dispatcher", "deepep", "dispatcher"},
    {"exposed_ep", "framework.dispatcher", "hybridep", "dispatcher"},
    {"exposed_dp", "parallel.zero_stage", "0", "ZeRO"},
    {"exposed_dp", "parallel.zero_stage", "1", "ZeRO"},
    {"exposed_dp", "parallel.zero_stage", "2", "ZeRO"},
    {"exposed_dp", "training.global_batch", "*2", "global batch"},
    {"exposed_pp", "parallel.pipeline", "/2", "pipeline"},
    {"exposed_pp", "parallel.stages_per_rank", "/2", "stages per rank"},
    {"exposed_host", "training.offload_optimizer", "false", "optimizer on the host"},
    {"optimizer", "parallel.zero_stage", "1", "ZeRO"},
    {"optimizer", "training.global_batch", "*2", "global batch"},
    {"uneven_stages", "parallel.partition", "balanced", "partition"},
    {"uneven_stages", "parallel.stages_per_rank", "*2", "stages per rank"},
    {"warm_up", "schedule", "zb-h1", "schedule"},
    {"warm_up", "schedule", "zb-v", "schedule"},
    {"warm_up", "parallel.stages_per_rank", "*2", "stages per rank"},
    {"warm_up", "training.micro_batch", "/2", "microbatch"},
    {"warm_up", "parallel.pipeline", "/2", "pipeline"},
    {"collective", "parallel.zero_stage", "1", "ZeRO"},
    {"optimizer_barrier", "schedule", "zb-h1", "schedule"},
};

/// The part whose proposals also apply to this one.
std::string_view part_with_proposals(std::string_view part) {
    return part == "cool_down" || part == "stage" ? "warm_up" : part;
}

/// The value that a proposal writes; nothing if half of the number is not a whole number.
std::optional<std::string> value_of(const Proposal& proposal,
                                    const std::map<std::string, int>& now) {
    const bool more = proposal.value == "*2";
    if (!more && proposal.value != "/2") return std::string(proposal.value);
    const auto found = now.find(std::string(proposal.key));
    const int whole = found == now.end() ? 1 : found->second;
    if (!more && whole % 2 != 0) return std::nullopt;
    return std::to_string(more ? 2 * whole : whole / 2);
}

std::map<std::string, int> numbers_of(const scenarios::Scenario& scenario) {
    return {{"parallel.tensor", scenario.parallel.tensor},
            {"parallel.pipeline", scenario.parallel.pipeline},
            {"parallel.context", scenario.parallel.context},
            {"parallel.expert", scenario.parallel.expert},
            {"parallel.stages_per_rank", scenario.parallel.stages_per_rank},
            {"training.micro_batch", scenario.training.micro_batch},
            {"training.global_batch", scenario.training.global_batch}};
}

/// A change with its prediction. Changes that several parts share are predicted once.
struct PredictedChange {
    scenarios::Override change;
    std::optional<sim::Prediction> then;
};

/// The time per token, by which steps are compared, since a larger batch takes longer and does
/// more.
double per_token(const sim::Prediction& p) {
    return 1 / p.tokens_per_s;
}

std::string words_of(const Proposal& proposal, const std::string& value,
                     const sim::Prediction& then, const sim::Prediction& now) {
    return fmt::format("{} {}: {:+.1f} %", said("proposals", std::string(proposal.words)), value,
                       100 * (per_token(then) / per_token(now) - 1));
}

}  // namespace

std::vector<Knob> knobs_of(const ScenarioText& source, const sim::Bill& bill,
                           const sim::Prediction& now, const std::stop_token& stop) {
    const scenarios::Scenario scenario = scenarios::parse_scenario(source.text, source.file);
    const std::map<std::string, int> numbers = numbers_of(scenario);
    const std::string stages =
        scenarios::written_at(source.text, source.file, "schedule.stages_per_rank")
            ? "schedule.stages_per_rank"
            : "parallel.stages_per_rank";
    std::vector<PredictedChange> tried;
    const auto change_of = [&](const Proposal& proposal) -> std::optional<scenarios::Override> {
        const auto value = value_of(proposal, numbers);
        if (!value) return std::nullopt;
        const std::string key(proposal.key);
        return scenarios::Override{key == "parallel.stages_per_rank" ? stages : key, *value};
    };
    for (const sim::BillPart& part : bill.parts)
        for (const Proposal& proposal : kProposals)
            if (const auto change = change_of(proposal);
                change && proposal.part == part_with_proposals(part.key))
                if (std::ranges::find(tried, *change, &PredictedChange::change) == tried.end())
                    tried.push_back({*change, {}});
    for_each_in_parallel(tried.size(), stop, [&](std::size_t i) {
        const auto& [key, value] = tried[i].change;
        const ScenarioText changed = with_change(source, key, value);
        if (changed.text != source.text) tried[i].then = figures_of_plan(changed, stop);
    });
    std::vector<Knob> knobs;
    for (const sim::BillPart& part : bill.parts) {
        std::optional<Knob> best;
        double least = per_token(now) * 0.999;  // changes without a gain are not knobs
        for (const Proposal& proposal : kProposals) {
            const auto change =
                proposal.part == part_with_proposals(part.key) ? change_of(proposal) : std::nullopt;
            if (!change) continue;
            const auto& then = std::ranges::find(tried, *change, &PredictedChange::change)->then;
            if (!then || !then->fits || per_token(*then) >= least) continue;
            least = per_token(*then);
            best = Knob{part.key, *change, words_of(proposal, change->second, *then, now),
                        then->step_time_s};
        }
        if (best) knobs.push_back(*std::move(best));
    }
    return knobs;
}

}  // namespace debubble::gui
