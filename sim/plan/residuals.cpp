#include "sim/plan/residuals.h"

#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "models/execution/low_precision.h"
#include "text/document_readers.h"
#include "text/mapping_reader.h"
#include "text/shipped_files.h"

namespace debubble::sim {
namespace {

constexpr int kMostRows = 1'000'000;
constexpr double kMostTimes = 1000;  ///< of the prediction

constexpr std::int64_t kLong = 16'384;
constexpr double kWider = 1.5;  ///< the logarithms of a relative's range
constexpr std::string_view kOwnFramework = "debubble";

constexpr std::array<std::string StepClass::*, 5> kClassWords{
    &StepClass::gpu, &StepClass::framework, &StepClass::precision, &StepClass::sharding,
    &StepClass::length};

std::string sharding_of(const scenarios::Scenario& scenario) {
    const scenarios::Parallel& parallel = scenario.parallel;
    if (scenario.model.has_experts()) return "experts";
    if (parallel.zero_stage == 3 && parallel.replicas() > 1) return "zero-3";
    if (parallel.pipeline > 1) return "pipeline";
    return parallel.tensor > 1 || parallel.context > 1 ? "tensor" : "data";
}

/// The recipe of products, or the type of all.
std::string precision_word(const scenarios::Precision& precision) {
    const bool narrow = precision.recipe != models::Recipe::None;
    return std::string(narrow ? models::name_of(precision.recipe)
                              : models::name_of(precision.compute));
}

ClassResiduals read_class(const text::NodePtr& node, text::Mistakes& mistakes) {
    ClassResiduals of;
    text::MappingReader in(node, "class", mistakes);
    in.text("gpu", of.steps.gpu);
    in.text("framework", of.steps.framework);
    in.text("precision", of.steps.precision);
    in.text("sharding", of.steps.sharding);
    in.text("length", of.steps.length);
    in.whole("rows", of.rows, 1, kMostRows);
    in.real("low", of.low, 1 / kMostTimes, kMostTimes);
    in.real("middle", of.middle, 1 / kMostTimes, kMostTimes);
    in.real("high", of.high, 1 / kMostTimes, kMostTimes);
    for (const char* key : {"gpu", "rows", "low", "middle", "high"}) in.demand(key);
    if (of.low > of.middle || of.middle > of.high)
        in.complain("low", "'low', 'middle' and 'high' must not fall");
    in.finish();
    return of;
}

MemoryResiduals read_memory_class(const text::NodePtr& node, text::Mistakes& mistakes) {
    MemoryResiduals of;
    text::MappingReader in(node, "class of peaks", mistakes);
    in.text("framework", of.framework);
    in.text("network", of.network);
    in.whole("rows", of.rows, 1, kMostRows);
    in.real("low", of.low, 1 / kMostTimes, kMostTimes);
    in.real("middle", of.middle, 1 / kMostTimes, kMostTimes);
    in.real("high", of.high, 1 / kMostTimes, kMostTimes);
    for (const char* key : {"rows", "low", "middle", "high"}) in.demand(key);
    if (of.low > of.middle || of.middle > of.high)
        in.complain("low", "'low', 'middle' and 'high' must not fall");
    in.finish();
    return of;
}

/// Adds what `read` makes of each element of a list.
template <class Class>
void read_classes(text::MappingReader& in, const char* key, std::vector<Class>& classes,
                  Class (*read)(const text::NodePtr&, text::Mistakes&)) {
    const text::NodePtr list = in.value(key);
    if (!list) return;
    if (!list->is(text::Node::Kind::List))
        return in.complain(key, fmt::format("'{}' is a list", key));
    for (const text::NodePtr& node : list->items) classes.push_back(read(node, in.mistakes()));
}

const Residuals& shipped_residuals() {
    static const Residuals kShipped = [] {
        const auto path = text::data_folder() / "scenarios" / "residuals" / "steps.json";
        if (!std::filesystem::exists(path)) return Residuals{};
        return parse_residuals(read_file(path), path.string());
    }();
    return kShipped;
}

void read_relatives(text::MappingReader& in, Residuals& residuals) {
    const text::NodePtr map = in.value("relatives");
    if (!map) return;
    text::MappingReader of(map, "relatives", in.mistakes());
    for (const text::Node::Entry& entry : of.mapping()->entries)
        of.text(entry.key, residuals.relatives[entry.key]);
}

/// Of the steps of its own GPU.
std::optional<ClassResiduals> of_own(StepClass wanted, const std::vector<ClassResiduals>& known) {
    for (const auto given_up : {&StepClass::sharding, &StepClass::precision, &StepClass::framework,
                                &StepClass::length, &StepClass::gpu}) {
        for (const ClassResiduals& of : known)
            if (of.steps == wanted) return of;
        (wanted.*given_up).clear();
    }
    return std::nullopt;
}

}  // namespace

bool StepClass::covers(const StepClass& step) const {
    for (const auto word : kClassWords)
        if (!(this->*word).empty() && this->*word != step.*word) return false;
    return true;
}

std::string StepClass::words() const {
    std::string all;
    for (const auto word : {&StepClass::framework, &StepClass::gpu, &StepClass::precision,
                            &StepClass::sharding, &StepClass::length})
        if (!(this->*word).empty())
            all += fmt::format("{}{}", all.empty() ? "" : ", ", this->*word);
    return all;
}

StepClass class_of(const scenarios::Scenario& scenario) {
    return {
        scenario.framework.name, scenario.cluster.gpu.name,
        precision_word(scenario.training.precision), sharding_of(scenario),
        scenario.training.seq_length >= kLong || scenario.parallel.context > 1 ? "long" : "short"};
}

Residuals parse_residuals(const std::string& text, const std::string& file) {
    text::Mistakes mistakes;
    const text::NodePtr root = text::parse_json(text, file);
    text::MappingReader in(root, "residuals", mistakes);
    Residuals residuals;
    std::string about;
    in.text("about", about);
    in.demand("classes");
    read_classes(in, "classes", residuals.classes, read_class);
    read_classes(in, "memory", residuals.memory, read_memory_class);
    read_relatives(in, residuals);
    in.finish();
    mistakes.throw_if_any();
    return residuals;
}

std::optional<ClassResiduals> residuals_of(const StepClass& step, const Residuals& known) {
    if (const auto own = of_own(step, known.classes)) return own;
    const auto relative = known.relatives.find(step.gpu);
    if (relative == known.relatives.end()) return std::nullopt;
    StepClass like = step;
    like.gpu = relative->second;
    auto found = of_own(like, known.classes);
    if (!found) return std::nullopt;
    found->low = found->middle * std::pow(found->low / found->middle, kWider);
    found->high = found->middle * std::pow(found->high / found->middle, kWider);
    found->of_relative = true;
    return found;
}

std::optional<ClassResiduals> residuals_of(const scenarios::Scenario& scenario) {
    if (scenario.cluster.measured) return std::nullopt;
    return residuals_of(class_of(scenario), shipped_residuals());
}

std::string MemoryResiduals::words() const {
    return framework.empty() ? network : fmt::format("{}, {}", framework, network);
}

std::optional<MemoryResiduals> memory_residuals_of(const scenarios::Scenario& scenario,
                                                   const Residuals& known) {
    if (scenario.cluster.measured || scenario.framework.name == kOwnFramework) return std::nullopt;
    const std::string_view network = scenario.model.has_experts() ? "experts" : "dense";
    const MemoryResiduals* found = nullptr;
    for (const MemoryResiduals& of : known.memory) {
        if (of.network != network) continue;
        if (of.framework == scenario.framework.name) return of;
        if (of.framework.empty()) found = &of;
    }
    return found ? std::optional(*found) : std::nullopt;
}

std::optional<MemoryResiduals> memory_residuals_of(const scenarios::Scenario& scenario) {
    return memory_residuals_of(scenario, shipped_residuals());
}

}  // namespace debubble::sim
