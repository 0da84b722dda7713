#include "sim/anchor/anchor.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "base/file.h"
#include "scenarios/read_scenario.h"
#include "scenarios/utilisation.h"
#include "sim/plan_words.h"
#include "sim/predict.h"
#include "sim/report/plan_json.h"
#include "text/json_document_reader.h"
#include "text/mapping_reader.h"
#include "text/shipped_files.h"
#include "text/yaml_document_reader.h"

namespace debubble::sim {
namespace {

namespace fs = std::filesystem;

constexpr double kMostSeconds = 1e6;
constexpr double kMostRate = 1e12;
constexpr double kMostTimes = 1000;
constexpr int kMostPairs = 10'000'000;
/// The plan itself took what it took.
const Carry kItself{"nothing", 0, 1, 1, 1};

bool says_anything(const MeasuredPlan& plan) {
    return plan.step_s || plan.tokens_per_s_per_gpu || plan.tflops_per_gpu || plan.allocated ||
           plan.reserved;
}

MeasuredPlan read_measured(const text::NodePtr& node, text::Mistakes& mistakes) {
    text::MappingReader in(node, "measured", mistakes);
    MeasuredPlan plan;
    std::string log;
    if (in.text("log", log)) plan = read_log(log);
    if (Duration step; in.duration("step_time", step)) plan.step_s = seconds(step);
    if (double rate = 0; in.real("tokens_per_s_per_gpu", rate, 1e-3, kMostRate))
        plan.tokens_per_s_per_gpu = rate;
    if (double rate = 0; in.real("tflops_per_gpu", rate, 1e-3, kMostRate))
        plan.tflops_per_gpu = rate;
    if (Bytes bytes; in.bytes("allocated_memory", bytes)) plan.allocated = bytes;
    if (Bytes bytes; in.bytes("reserved_memory", bytes)) plan.reserved = bytes;
    in.finish();
    if (in.good() && !says_anything(plan))
        in.complain("measured",
                    "'measured' has no figure: step_time, tokens_per_s_per_gpu, tflops_per_gpu, "
                    "allocated_memory, reserved_memory, or a log's lines that have some");
    return plan;
}

std::vector<scenarios::Override> read_overrides(text::MappingReader& in) {
    std::vector<scenarios::Override> overrides;
    const text::NodePtr map = in.value("set");
    if (!map) return overrides;
    if (!map->is(text::Node::Kind::Map)) {
        in.complain("set", "'set' is a map of keys and values, as parallel.tensor: 4");
        return overrides;
    }
    for (const text::Node::Entry& entry : map->entries) {
        if (entry.value->is(text::Node::Kind::Scalar))
            overrides.emplace_back(entry.key, entry.value->scalar);
        else
            in.complain("set", fmt::format("'{}' of 'set' is no word and no number", entry.key));
    }
    return overrides;
}

Anchor read_document(const std::string& text, const std::string& file,
                     const scenarios::Scenario& own) {
    text::Mistakes mistakes;
    text::MappingReader in(text::parse_yaml(text, file), "anchor", mistakes);
    Anchor anchor;
    anchor.scenario = own;
    const std::vector<scenarios::Override> overrides = read_overrides(in);
    const text::NodePtr scenario = in.value("scenario");
    in.demand("measured");
    if (const text::NodePtr measured = in.value("measured"))
        anchor.measured = read_measured(measured, mistakes);
    in.finish();
    mistakes.throw_if_any();
    if (!scenario && !overrides.empty())
        throw InputError(fmt::format("{}: 'set' is of the 'scenario', which the file lacks", file));
    if (!scenario) return anchor;
    if (scenario->is(text::Node::Kind::Map)) {
        anchor.scenario = scenarios::scenario_of_map(scenario, file, overrides);
    } else {
        const fs::path beside = fs::path(file).parent_path() / scenario->scalar;
        anchor.scenario = scenarios::read_scenario(
            fs::is_regular_file(beside) ? beside.string() : scenario->scalar, overrides);
    }
    return anchor;
}

const std::vector<Carry>& shipped_carries() {
    static const std::vector<Carry> kShipped = [] {
        std::vector<Carry> all;
        const auto path = text::data_folder() / "scenarios" / "residuals" / "anchors.json";
        if (!fs::exists(path)) return all;
        text::Mistakes mistakes;
        text::MappingReader in(text::parse_json(read_file(path), path.string()), "carries",
                               mistakes);
        std::string about;
        in.text("about", about);
        if (const text::NodePtr list = in.value("classes"))
            for (const text::NodePtr& node : list->items) {
                text::MappingReader of(node, "class", mistakes);
                Carry carry;
                of.text("differs", carry.differs);
                of.whole("pairs", carry.pairs, 1, kMostPairs);
                of.real("low", carry.low, 1 / kMostTimes, kMostTimes);
                of.real("middle", carry.middle, 1 / kMostTimes, kMostTimes);
                of.real("high", carry.high, 1 / kMostTimes, kMostTimes);
                of.finish();
                all.push_back(carry);
            }
        in.finish();
        mistakes.throw_if_any();
        return all;
    }();
    return kShipped;
}

/// That of the class, else of plans that differ in several ways.
Carry carry_of(const std::string& difference) {
    if (difference == kItself.differs) return kItself;
    const std::vector<Carry>& known = shipped_carries();
    for (const std::string& word : {difference, std::string("several")})
        if (const auto found = std::ranges::find(known, word, &Carry::differs);
            found != known.end())
            return *found;
    return {difference, 0, 1 / kMostTimes, 1, kMostTimes};
}

std::optional<double> measured_step(const Anchor& anchor, const Prediction& prediction) {
    const MeasuredPlan& measured = anchor.measured;
    if (measured.step_s) return measured.step_s;
    const double gpus = anchor.scenario.gpus;
    if (measured.tokens_per_s_per_gpu)
        return prediction.tokens_per_s * prediction.mean_step_s() /
               (*measured.tokens_per_s_per_gpu * gpus);
    if (measured.tflops_per_gpu)
        return scenarios::printed_flops_per_step(anchor.scenario) /
               (*measured.tflops_per_gpu * 1e12 * gpus);
    return std::nullopt;
}

const RankPrediction& fullest(const Prediction& prediction) {
    return *std::ranges::max_element(prediction.ranks, {}, &RankPrediction::needs);
}

/// What no pass makes: of parameters, gradients and optimizer state, at the peak.
double held(const RankPrediction& rank) {
    const auto of = [&](MemoryClass what) {
        return rank.memory[static_cast<std::size_t>(what)].count;
    };
    return static_cast<double>(total(rank.memory).count - of(MemoryClass::Activations) -
                               of(MemoryClass::Workspace));
}

}  // namespace

Anchor read_anchor(const std::string& file_or_line, const scenarios::Scenario& own) {
    if (!fs::is_regular_file(file_or_line)) {
        const MeasuredPlan measured = read_log(file_or_line);
        if (!says_anything(measured))
            throw InputError(fmt::format(
                "--anchor '{}' is no file, and no line that Megatron-LM, torchtitan or Primus "
                "print: give a YAML file with 'measured', a log, or a line such as 'mem 73.3 GiB, "
                "11,600 tps'",
                file_or_line));
        return {own, measured};
    }
    const std::string text = read_file(file_or_line);
    const std::string ending = fs::path(file_or_line).extension().string();
    if (ending == ".yaml" || ending == ".yml") return read_document(text, file_or_line, own);
    const MeasuredPlan measured = read_log(text);
    if (!says_anything(measured))
        throw InputError(
            fmt::format("{}: no line of it has a time or a peak of memory as "
                        "Megatron-LM, torchtitan or Primus print them",
                        file_or_line));
    return {own, measured};
}

AnchoredBy::AnchoredBy(Anchor anchor) : anchor_(std::move(anchor)) {
    const Prediction own = predict(anchor_.scenario, {}).prediction;
    if (const auto step = measured_step(anchor_, own)) time_ratio_ = *step / own.mean_step_s();
    if (own.ranks.empty()) return;
    const RankPrediction& rank = fullest(own);
    const auto& measured = anchor_.measured;
    const auto bytes = measured.reserved ? measured.reserved : measured.allocated;
    if (!bytes) return;
    const double predicted =
        static_cast<double>((measured.reserved ? rank.needs() : rank.peak_memory).count);
    const double above = static_cast<double>(bytes->count) - held(rank);
    if (above > 0 && predicted > held(rank)) memory_ratio_ = above / (predicted - held(rank));
}

AnchoredFigures AnchoredBy::of(const scenarios::Scenario& scenario,
                               const Prediction& prediction) const {
    AnchoredFigures figures;
    figures.anchor = whole_plan_of(anchor_.scenario);
    figures.keys = differing_keys(anchor_.scenario, scenario);
    figures.carry = carry_of(class_of_difference(figures.keys));
    figures.time_ratio = time_ratio_;
    figures.memory_ratio = memory_ratio_;
    const double ratio = time_ratio_.value_or(1);
    figures.step_time_s = ratio * prediction.step_time_s;
    figures.low_s = figures.step_time_s * figures.carry.low;
    figures.high_s = figures.step_time_s * figures.carry.high;
    figures.tokens_per_s = prediction.tokens_per_s / ratio;
    for (const RankPrediction& rank : prediction.ranks) {
        const double above = static_cast<double>(rank.needs().count) - held(rank);
        const Bytes needs{
            static_cast<std::int64_t>(held(rank) + memory_ratio_.value_or(1) * above)};
        figures.needs = std::max(figures.needs, needs);
    }
    return figures;
}

std::vector<std::string> differing_keys(const scenarios::Scenario& one,
                                        const scenarios::Scenario& other) {
    const auto flat = [](const scenarios::Scenario& scenario) {
        auto json = plan_json(scenario);
        json.erase("words");
        json.erase("nodes");  // follows from the number of GPUs
        std::map<std::string, std::string> values;
        auto given = json.at("given");
        json.erase("given");
        const auto flattened = json.flatten();
        for (const auto& [key, value] : flattened.items()) {
            std::string name = key.substr(1);
            std::ranges::replace(name, '/', '.');
            values[name] = value.dump();
        }
        for (const auto& [key, value] : given.items())
            if (key.find('.') != std::string::npos) values.try_emplace(key, value.dump());
        return values;
    };
    const auto a = flat(one);
    const auto b = flat(other);
    std::set<std::string> keys;
    for (const auto& [key, value] : a)
        if (const auto found = b.find(key); found == b.end() || found->second != value)
            keys.insert(key);
    for (const auto& [key, value] : b)
        if (!a.contains(key)) keys.insert(key);
    return {keys.begin(), keys.end()};
}

std::string class_of_difference(const std::vector<std::string>& keys) {
    const auto class_of = [](const std::string& key) -> std::string {
        const auto in = [&](std::string_view start) { return key.starts_with(start); };
        if (in("model")) return "network";
        if (in("cluster")) return "machines";
        if (in("framework")) return "software";
        if (key == "gpus") return "gpus";
        if (in("training.recompute")) return "recompute";
        if (in("training.compute") || in("training.precision")) return "precision";
        if (in("training.")) return "batch";
        if (in("schedule")) return "schedule";
        return "cut";
    };
    // Replicas follow from the number of GPUs and the cut, and the batch is mostly theirs.
    std::set<std::string> classes;
    for (const std::string& key : keys)
        if (key != "parallel.data") classes.insert(class_of(key));
    for (const char* leading : {"gpus", "cut"})
        if (classes.contains(leading)) classes.erase("batch");
    if (classes.empty()) return keys.empty() ? kItself.differs : "gpus";
    return classes.size() == 1 ? *classes.begin() : "several";
}

}  // namespace debubble::sim
