#include "sim/memory/allocator/built_graphs.h"

#include "base/memo.h"

namespace debubble::sim {
namespace {

constexpr std::size_t kMostGraphsKept = 256;
/// Of all of them together; some kB for each.
constexpr std::size_t kMostGraphOperatorsKept = 30'000;

}  // namespace

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

std::shared_ptr<const models::StageGraph> BuiltGraphs::get(const models::StageContent& content,
                                                           int slice) const {
    static auto& graphs = *new Memo<Key, const models::StageGraph>(
        kMostGraphsKept, kMostGraphOperatorsKept,
        [](const models::StageGraph& graph) { return graph.operators.size(); });
    Key key{content, execution_, experts_, model_};
    key.execution.slice = slice;
    return graphs.get(key, [&] {
        return std::make_unique<const models::StageGraph>(
            models::build_stage(*model_, key.execution, content, experts_));
    });
}

}  // namespace debubble::sim
