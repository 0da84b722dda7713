#include "sim/memory/built_stage.h"

#include "base/memo.h"

namespace debubble::sim {
namespace {

/// Everything that a graph is built of. The members that differ most often come first in the
/// comparison.
struct GraphIngredients {
    models::StageContent content;
    models::Execution execution;
    models::ExpertParameters experts{};
    std::shared_ptr<const models::Architecture> model;
    friend bool operator==(const GraphIngredients& a, const GraphIngredients& b) {
        return a.content == b.content && a.execution == b.execution && a.experts == b.experts &&
               (a.model == b.model || *a.model == *b.model);
    }
};

constexpr std::size_t kMostStagesKept = 768;
/// Of all of them together; some 5 kB for each, with the steps of the passes.
constexpr std::size_t kMostOperatorsKept = 60'000;

}  // namespace

std::shared_ptr<const BuiltStage> built_stage(
    const std::shared_ptr<const models::Architecture>& model, const models::Execution& execution,
    const models::StageContent& content, models::ExpertParameters experts) {
    static auto& known = *new Memo<GraphIngredients, const BuiltStage>(
        kMostStagesKept, kMostOperatorsKept,
        [](const BuiltStage& stage) { return stage.graph().operators.size(); });
    const GraphIngredients of{content, execution, experts, model};
    return known.get(of, [&] {
        return std::make_unique<const BuiltStage>(
            models::build_stage(*of.model, of.execution, of.content, of.experts));
    });
}

}  // namespace debubble::sim
