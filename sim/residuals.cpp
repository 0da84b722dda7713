#include "sim/residuals.h"

#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "models/low_precision.h"
#include "text/json_document_reader.h"
#include "text/mapping_reader.h"
#include "text/shipped_files.h"

namespace debubble::sim {
namespace {

constexpr int kMostRows = 1'000'000;
constexpr double kMostTimes = 1000;  ///< of the prediction

constexpr std::array<std::string StepClass::*, 4> kWords{
    &StepClass::gpu, &StepClass::framework, &StepClass::precision, &StepClass::sharding};

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

const std::vector<ClassResiduals>& shipped_residuals() {
    static const std::vector<ClassResiduals> kShipped = [] {
        const auto path = text::data_folder() / "scenarios" / "residuals" / "steps.json";
        if (!std::filesystem::exists(path)) return std::vector<ClassResiduals>{};
        return parse_residuals(read_file(path), path.string());
    }();
    return kShipped;
}

}  // namespace

bool StepClass::covers(const StepClass& step) const {
    for (const auto word : kWords)
        if (!(this->*word).empty() && this->*word != step.*word) return false;
    return true;
}

std::string StepClass::words() const {
    std::string all;
    for (const auto word :
         {&StepClass::framework, &StepClass::gpu, &StepClass::precision, &StepClass::sharding})
        if (!(this->*word).empty())
            all += fmt::format("{}{}", all.empty() ? "" : ", ", this->*word);
    return all;
}

StepClass class_of(const scenarios::Scenario& scenario) {
    return {scenario.framework.name, scenario.cluster.gpu.name,
            precision_word(scenario.training.precision), sharding_of(scenario)};
}

std::vector<ClassResiduals> parse_residuals(const std::string& text, const std::string& file) {
    text::Mistakes mistakes;
    const text::NodePtr root = text::parse_json(text, file);
    text::MappingReader in(root, "residuals", mistakes);
    std::vector<ClassResiduals> classes;
    std::string about;
    in.text("about", about);
    in.demand("classes");
    if (const text::NodePtr list = in.value("classes")) {
        if (!list->is(text::Node::Kind::List)) in.complain("classes", "'classes' is a list");
        for (const text::NodePtr& node : list->items) classes.push_back(read_class(node, mistakes));
    }
    in.finish();
    mistakes.throw_if_any();
    return classes;
}

std::optional<ClassResiduals> residuals_of(const StepClass& step,
                                           const std::vector<ClassResiduals>& known) {
    StepClass wanted = step;
    for (const auto given_up :
         {&StepClass::sharding, &StepClass::precision, &StepClass::framework, &StepClass::gpu}) {
        for (const ClassResiduals& of : known)
            if (of.steps == wanted) return of;
        (wanted.*given_up).clear();
    }
    return std::nullopt;
}

std::optional<ClassResiduals> residuals_of(const scenarios::Scenario& scenario) {
    if (scenario.cluster.measured) return std::nullopt;
    return residuals_of(class_of(scenario), shipped_residuals());
}

}  // namespace debubble::sim
