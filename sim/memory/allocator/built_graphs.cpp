#include "sim/memory/allocator/built_graphs.h"

#include "base/memo.h"

namespace debubble::sim {
namespace {

constexpr std::size_t kMostGraphsKept = 256;
/// Of all of them together; some kB for each.
constexpr std::size_t kMostGraphOperatorsKept = 30'000;

models::PassSteps steps_of(const models::StageGraph& graph, Pass pass) {
    switch (pass) {
        case Pass::Forward: return models::forward_steps(graph);
        case Pass::Backward: return models::backward_steps(graph);
        case Pass::BackwardInput: return models::backward_input_steps(graph);
        case Pass::BackwardWeight: return models::backward_weight_steps(graph);
    }
    return {};
}

}  // namespace

const models::PassSteps& BuiltStage::steps(Pass pass) const {
    const auto at = static_cast<std::size_t>(pass);
    std::call_once(planned_[at], [&] { steps_[at] = steps_of(graph_, pass); });
    return steps_[at];
}

struct BuiltGraphs::Key {
    models::StageContent content;
    models::Execution execution;
    models::ExpertParameters experts{};
    std::shared_ptr<const models::Architecture> model;
    friend bool operator==(const Key& a, const Key& b) {
        return a.content == b.content && a.execution == b.execution && a.experts == b.experts &&
               (a.model == b.model || *a.model == *b.model);
    }
};

BuiltGraphs::BuiltGraphs(const models::Architecture& model, const models::Execution& execution,
                         models::ExpertParameters experts)
    : model_(std::make_shared<const models::Architecture>(model)),
      execution_(execution),
      experts_(experts) {}

std::shared_ptr<const BuiltStage> BuiltGraphs::get(const models::StageContent& content,
                                                   int slice) const {
    static auto& stages = *new Memo<Key, const BuiltStage>(
        kMostGraphsKept, kMostGraphOperatorsKept,
        [](const BuiltStage& stage) { return stage.graph().operators.size(); });
    Key key{content, execution_, experts_, model_};
    key.execution.slice = slice;
    return stages.get(key, [&] {
        return std::make_unique<const BuiltStage>(
            models::build_stage(*model_, key.execution, content, experts_));
    });
}

}  // namespace debubble::sim
