#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "base/overloaded.h"
#include "scenarios/plan/plan.h"
#include "scenarios/read/read_scenario.h"
#include "sim/grid/sweep_row.h"
#include "sim/plan/plan_words.h"
#include "sim/predict.h"
#include "sim/report/plan_json.h"
#include "sim/report/report.h"

namespace debubble::sim {
namespace {

using scenarios::Override;
using scenarios::Scenario;

/// A value or two of each form that a key may have.
void add_values(const text::Form& form, std::vector<std::string>& values) {
    using namespace text;
    const auto quantity = [](Quantity of) -> std::string {
        switch (of) {
            case Quantity::Bytes: return "3 GiB";
            case Quantity::Rate: return "7 GB/s";
            case Quantity::Duration: return "3 ms";
            case Quantity::FlopRate: return "50 TFLOP/s";
            case Quantity::Power: return "200 W";
            case Quantity::Span: return "7 min";
            case Quantity::Count: return "3B";
        }
        return {};
    };
    std::visit(Overloaded{[&](const WholeForm& f) {
                              for (const std::int64_t value : {2, 8})
                                  if (value >= f.least && value <= f.most)
                                      values.push_back(std::to_string(value));
                          },
                          [&](const RealForm& f) {
                              for (const double value : {0.5, 1.5})
                                  if (value >= f.least && value <= f.most)
                                      values.push_back(fmt::format("{}", value));
                          },
                          [&](const FlagForm&) {
                              values.insert(values.end(), {"true", "false"});
                          },
                          [&](const WordForm& f) {
                              values.insert(values.end(), f.words.begin(), f.words.end());
                          },
                          [&](const QuantityForm& f) { values.push_back(quantity(f.quantity)); },
                          [](const auto&) {}},
               form.is);
}

std::vector<std::string> values_to_try(const std::string& path, const text::Key& key) {
    // Of maps whose examples are of other plans, and of keys whose generators read them as text.
    static const std::map<std::string, std::string> kMore{
        {"imbalance", "{ranks: {1: 1.04}, jitter: 0.02, draws: 3}"},
        {"schedule.delay_wgrad", "true"}};
    std::vector<std::string> values;
    if (const auto more = kMore.find(path); more != kMore.end()) values.push_back(more->second);
    if (!key.example.empty()) values.push_back(key.example);
    for (const text::Form& form : key.forms) add_values(form, values);
    return values;
}

/// All that is printed of a prediction but the scenario's name.
std::string figures_in_text(const Scenario& scenario) {
    const Prediction p =
        predict(scenario, {.keep_trace = false, .explain = false, .play_allocator = false})
            .prediction;
    const PlanFigures figures(p);
    std::string text = figures.schedule_hash + ' ';
    for (const std::string& name : figure_names())
        if (name != "scenario" && name != "schedule_hash")
            text += fmt::format("{}={} ", name, figures[name]);
    return text + fmt::format("fits={}", p.fits);
}

const std::vector<std::string>& told_plans() {
    static const std::vector<std::string> kPlans{
        "model: {base: llama3-8b, layers: 4}\ncluster: hgx-h100\ngpus: 16\n"
        "parallel: {tensor: 2, pipeline: 2, data: auto, sequence: true, zero_stage: 1}\n"
        "training: {micro_batch: 1, micro_batches: 4, seq_length: 1024}\n"
        "framework: megatron-2026\n",
        "model: {base: qwen3-30b-a3b, layers: 4}\ncluster: hgx-h100\ngpus: 16\n"
        "parallel: {pipeline: 2, data: auto, expert: 4, zero_stage: 3}\n"
        "schedule: {name: combined-1f1b, stages_per_rank: 2}\n"
        "training: {micro_batch: 1, micro_batches: 4, seq_length: 1024}\n"
        "framework: {base: megatron-2026, dispatcher: deepep}\n"};
    return kPlans;
}

/// A key whose other values tell whether two plans are told apart.
void expect_told_apart(const std::string& text, const std::string& path, const text::Key& key,
                       std::set<std::string>& changing) {
    const Scenario plain = scenarios::parse_scenario(text, "plan.yaml");
    const std::string plain_figures = figures_in_text(plain);
    const std::string plain_json = plan_json(plain).dump();
    for (const std::string& value : values_to_try(path, key)) {
        std::optional<Scenario> other;
        std::string figures;
        try {
            other = scenarios::parse_scenario(text, "plan.yaml", {{path, value}});
            figures = figures_in_text(*other);
        } catch (const InputError&) {
            continue;  // not a value of this plan
        } catch (const scenarios::InvalidSchedule&) {
            continue;
        }
        if (figures == plain_figures) continue;
        changing.insert(path);
        EXPECT_NE(plan_json(*other).dump(), plain_json) << path << '=' << value;
        EXPECT_NE(whole_plan_of(*other), whole_plan_of(plain)) << path << '=' << value;
    }
}

TEST(ThePlan, DiffersWhereverFiguresDoWhateverKeyIsChanged) {
    const std::vector<text::Key> keys = scenarios::scenario_keys();
    std::set<std::string> changing;
    for (const text::KeyAt& at : text::flattened(keys)) {
        if (at.path.starts_with("sweep") || at.path.find(text::kAnyPath) != std::string::npos)
            continue;
        for (const std::string& text : told_plans())
            expect_told_apart(text, at.path, *at.key, changing);
    }
    EXPECT_GE(changing.size(), 120u) << "keys that change a figure";
    for (const char* known :
         {"framework.dispatcher", "framework.capacity_factor", "framework.tensor_overlap",
          "training.optimizer", "training.precision", "training.precision.moments", "imbalance",
          "schedule.delay_wgrad", "cluster.network.nic_bandwidth", "model.layers"})
        EXPECT_TRUE(changing.contains(known)) << known;
}

TEST(ThePlan, NamesWhatDiffersFromTheProfile) {
    const Scenario plan = scenarios::parse_scenario(
        told_plans()[1], "plan.yaml",
        {{"framework.capacity_factor", "1.5"},
         {"framework.tensor_overlap", "true"},
         {"training.optimizer", "{name: muon, lr: 0.02}"},
         {"training.precision", "{recipe: fp8-blockwise, moments: bf16}"},
         {"training.seed", "3"},
         {"schedule", "{name: combined-1f1b, stages_per_rank: 2, delay_wgrad: true}"},
         {"imbalance", "{ranks: {1: 1.04}}"},
         {"cluster.network.nic_bandwidth", "200 Gb/s"}});
    EXPECT_EQ(settings_of(plan),
              "megatron-2026 with capacity_factor 1.5, dispatcher deepep, tensor_overlap true; "
              "cluster.network.nic_bandwidth 200 Gb/s, imbalance.ranks.1 1.04, model.layers 4, "
              "schedule.delay_wgrad true, optimizer.name muon, precision.moments bf16");
    const auto json = plan_json(plan);
    EXPECT_EQ(json["given"]["framework.dispatcher"], "deepep");
    EXPECT_EQ(json["given"]["training.precision.moments"], "bf16");
    EXPECT_EQ(json["given"]["training.optimizer.lr"], "0.02");
    EXPECT_NE(report_text(plan, predict(plan)).find("dispatcher deepep"), std::string::npos);
}

}  // namespace
}  // namespace debubble::sim
