#include <fmt/format.h>

#include "models/architecture_reader.h"
#include "scenarios/cluster_reader.h"
#include "scenarios/draft.h"
#include "scenarios/framework_reader.h"
#include "scenarios/scenario_tree.h"

namespace debubble::scenarios {
namespace {

using text::Mistakes;
using text::NodePtr;

constexpr std::string_view kDefaultFramework = "megatron-2024";

void read_optional(text::MappingReader& in, std::string_view key, std::optional<int>& out) {
    int value = 0;
    if (in.whole(key, value, 1, kMostGpus)) out = value;
}

/// Stands in for a part that is not written: its mistakes are reported at the scenario.
NodePtr or_empty(NodePtr part, const NodePtr& root) {
    return part ? part : text::make_map({}, root->place);
}

/// Takes each part from `known` where the tree shares its node, else reads it.
void fill_parts(Draft& draft, const Parts* known) {
    const NodePtr& root = draft.top.mapping();
    Scenario& scenario = draft.scenario;
    Parts parts;
    const bool shared = known != nullptr && known->model_node == root->get("model") &&
                        known->cluster_node == root->get("cluster") &&
                        known->framework_node == root->get("framework");
    if (!shared) parts = read_parts(root, *draft.shipped, draft.mistakes());
    const Parts& from = shared ? *known : parts;
    scenario.model = from.model;
    scenario.cluster = from.cluster;
    scenario.framework = from.framework;
    for (const std::string_view key : {"model", "cluster", "framework"}) draft.top.value(key);
}

/// Applies the keys of `parallel` that describe the framework's behaviour.
void apply_knobs(Draft& draft) {
    Framework& framework = draft.scenario.framework;
    if (draft.overlap_communication) framework.overlap_grad_reduce = *draft.overlap_communication;
    if (draft.bucket_mb) framework.grad_bucket = Bytes{std::int64_t{*draft.bucket_mb} << 20};
}

}  // namespace

Draft::Draft(const NodePtr& root, text::ShippedFiles& books, Mistakes& found)
    : shipped(&books),
      top(root, "", found),
      parallel(or_empty(top.value("parallel"), root), "parallel", found),
      training(or_empty(top.value("training"), root), "training", found) {}

Parts read_parts(const NodePtr& root, text::ShippedFiles& shipped, Mistakes& mistakes) {
    Parts parts;
    text::MappingReader in(root, "scenario", mistakes);
    in.demand("model");
    in.demand("cluster");
    parts.model_node = root->get("model");
    parts.cluster_node = root->get("cluster");
    parts.framework_node = root->get("framework");
    const NodePtr framework = in.value("framework");
    if (in.value("model"))
        parts.model = models::read_architecture(parts.model_node, shipped, mistakes);
    if (in.value("cluster")) parts.cluster = read_cluster(parts.cluster_node, shipped, mistakes);
    parts.framework = read_framework(
        framework ? framework : text::make_scalar(std::string(kDefaultFramework), {}), shipped,
        mistakes);
    return parts;
}

Scenario scenario_of(const NodePtr& root, const std::string& name, text::ShippedFiles& shipped,
                     const Parts* known) {
    Mistakes mistakes;
    if (!root->is(text::Node::Kind::Map)) {
        mistakes.add(root->place, fmt::format("a scenario is a map, not {}", describe(*root)));
        mistakes.throw_if_any();
    }
    Draft draft(root, shipped, mistakes);
    Scenario& scenario = draft.scenario;
    scenario.name = name;
    draft.top.text("name", scenario.name);
    draft.top.text("description", scenario.description);
    read_optional(draft.top, "gpus", draft.gpus);
    read_optional(draft.top, "nodes", draft.nodes);
    draft.top.value("sweep");
    fill_parts(draft, known);
    read_parallel(draft);
    read_schedule(draft);
    read_training(draft);
    draft.top.finish();
    mistakes.throw_if_any();

    scenario.training.seq_length = draft.seq_length.value_or(scenario.model.max_positions);
    apply_knobs(draft);
    settle_gpus(draft);
    mistakes.throw_if_any();
    settle_batches(draft);
    mistakes.throw_if_any();
    check_cuts(draft);
    if (mistakes.empty()) check_schedule(draft);
    mistakes.throw_if_any();
    add_notes(draft);
    return std::move(draft.scenario);
}

}  // namespace debubble::scenarios
