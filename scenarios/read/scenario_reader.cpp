#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "models/architecture_reader.h"
#include "scenarios/cluster/reader.h"
#include "scenarios/read/draft.h"
#include "scenarios/read/read_scenario.h"
#include "scenarios/read/scenario_tree.h"
#include "scenarios/software/reader.h"

namespace debubble::scenarios {
namespace {

using text::described;
using text::Fields;
using text::Form;
using text::free_text;
using text::Mistakes;
using text::NodePtr;
using text::read_fields;
using text::whole;

constexpr std::string_view kDefaultFramework = "megatron-2024";
constexpr std::string_view kDemanded[] = {"model", "cluster"};
constexpr const char* kScenarioFolder = "scenarios";

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
    scenario.given = from.given;
    scenario.given.merge(keys_given_in(*root));
}

/// Applies the keys of `parallel` that describe the framework's behaviour.
void apply_knobs(Draft& draft) {
    Framework& framework = draft.scenario.framework;
    if (draft.overlap_communication) framework.overlap_grad_reduce = *draft.overlap_communication;
    if (framework.recompute && !draft.training.has("recompute"))
        draft.scenario.training.recompute = *framework.recompute;
    const Parallel& parallel = draft.scenario.parallel;
    if (framework.grad_reduce_dtype && parallel.communication_dtype &&
        *framework.grad_reduce_dtype != *parallel.communication_dtype)
        draft.parallel.complain(
            "communication_dtype",
            "framework.grad_reduce_dtype also gives a communication type; give only one of them");
    if (draft.bucket_mb) framework.grad_bucket = Bytes{std::int64_t{*draft.bucket_mb} << 20};
}

/// The keys that other functions read.
text::Part elsewhere() {
    return text::part({});
}

/// The keys of the scenario itself. The forms of its parts are described below.
const Fields<Draft>& own_fields() {
    static const std::string kDefaultSchedule = ScheduleChoice{}.name;
    static const Fields<Draft> kFields{
        {"name", free_text([](Draft& draft) -> decltype(auto) { return (draft.scenario.name); }),
         "The name of the scenario in reports.", "mine", "the file's name"},
        {"description",
         free_text([](Draft& draft) -> decltype(auto) { return (draft.scenario.description); }),
         "A one-sentence description of the scenario.", "GPT-2 XL on one node", "none"},
        {"include",
         text::part({Form{text::ShippedForm{kScenarioFolder}},
                     Form{text::ListForm{{Form{text::ShippedForm{kScenarioFolder}}}, {}}}}),
         "Scenarios whose values apply where this file gives no other.", "gpt2-xl", "none"},
        {"model", elsewhere(),
         "The network: a name of the zoo, a file, a Hugging Face config.json, or a map.",
         "gpt2-xl"},
        {"cluster", elsewhere(), "The machines: a shipped cluster, a file, or a map.",
         "dgx-a100-80gb"},
        {"nodes", whole(&Draft::nodes, 1, kMostGpus, "nodes"), "The number of nodes.", "8",
         "as needed by gpus or parallel, else cluster.nodes"},
        {"gpus", whole(&Draft::gpus, 1, kMostGpus, "GPUs"), "The total number of GPUs.", "16",
         "nodes x cluster.gpus_per_node; more if experts need more"},
        {"parallel", elsewhere(), "How the model and the batch are distributed over GPUs.",
         "{tensor: 2, pipeline: 4}", "data parallelism over all GPUs"},
        {"schedule", elsewhere(), "The pipeline schedule: a name or a map.", "zb-h1",
         kDefaultSchedule},
        {"training", elsewhere(), "The batch, the data types and the options of a training run.",
         "{global_batch: 64, micro_batch: 2}", "the defaults of its keys"},
        {"framework", elsewhere(),
         "The software's behaviour: a shipped profile, a file, or a map with a base.",
         "{base: megatron-2024, loss: chunked}", kDefaultFramework},
        {"imbalance", text::custom(read_imbalance, imbalance_forms()),
         "Uneven loads and slow ranks: steps are drawn, and the median one is shown.",
         "{ranks: {3: 1.04}, jitter: 0.02}", "none: all loads are even"},
        {"reliability", text::part(reliability_forms()),
         "Failures of a run of weeks, their cost and its checkpoints: a shipped profile, a file, "
         "or a map with a base.",
         "{base: llama3-2024, spares: 16}", "none: no failures"},
        {"price", text::custom(read_price, price_forms()), "The price of a run.",
         "{gpu_hour: 2.5 USD}", "none: no cost is reported"},
        {"energy", text::custom(read_energy, energy_forms()),
         "Energy from the power of machines (cluster.node_power).", "{pue: 1.1, co2: 0.4}",
         "the defaults of its keys"},
        {"published", text::custom(read_published, published_forms()),
         "Published figures of this job, which `debubble list scenarios` compares with the "
         "prediction. They do not affect any prediction.",
         "{tflops_per_gpu: 400, source: 'arXiv:2407.21783, table 4'}", "none"},
        {"sweep", elsewhere(), "A grid of scenarios for `debubble sweep` and `search`.",
         "{parallel.tensor: [1, 2, 4]}", "none"}};
    return kFields;
}

/// The forms of the keys that other functions read.
std::vector<Form> forms_of_part(std::string_view key, Draft& fresh) {
    const auto shipped_or_map = [](const char* folder, std::vector<text::Key> keys,
                                   const char* base) {
        keys.insert(keys.begin(), text::base_key(folder, base));
        return std::vector{Form{text::ShippedForm{folder}}, Form{text::MapForm{std::move(keys)}}};
    };
    if (key == "model") {
        auto forms = shipped_or_map("models/zoo", models::architecture_keys(), "llama3-8b");
        forms.push_back(Form{text::ForeignForm{"model_type", "Hugging Face's config.json"}});
        return forms;
    }
    if (key == "cluster")
        return shipped_or_map("scenarios/clusters", cluster_keys(), "dgx-a100-80gb");
    if (key == "framework")
        return shipped_or_map("scenarios/frameworks", framework_keys(), "megatron-2024");
    if (key == "parallel") return {Form{text::MapForm{parallel_keys(fresh)}}};
    if (key == "training") return {Form{text::MapForm{training_keys(fresh)}}};
    if (key == "sweep") return sweep_forms();
    std::vector<text::Key> keys = schedule_keys(fresh);
    return {keys.front().forms.front(), Form{text::MapForm{std::move(keys)}}};
}

}  // namespace

namespace {

/// The keys of a scenario; those of parts only where `expands` says so of the part's name.
std::vector<text::Key> keys_where(const std::function<bool(std::string_view)>& expands) {
    text::ShippedFiles shipped;
    Mistakes none;
    Draft fresh(text::make_map({}, {}), shipped, none);
    std::vector<text::Key> keys = described(own_fields(), fresh);
    for (text::Key& key : keys) {
        if (key.forms.empty() && expands(key.name)) key.forms = forms_of_part(key.name, fresh);
        key.required = std::ranges::find(kDemanded, key.name) != std::end(kDemanded);
    }
    return keys;
}

}  // namespace

std::vector<text::Key> scenario_keys() {
    return keys_where([](std::string_view) { return true; });
}

std::vector<text::Key> keys_of_plan() {
    return keys_where([](std::string_view part) {
        return part == "parallel" || part == "schedule" || part == "training";
    });
}

Draft::Draft(const NodePtr& root, text::ShippedFiles& books, Mistakes& found)
    : shipped(&books),
      top(root, "", found),
      parallel(or_empty(top.value("parallel"), root), "parallel", found),
      training(or_empty(top.value("training"), root), "training", found) {}

Parts read_parts(const NodePtr& root, text::ShippedFiles& shipped, Mistakes& mistakes) {
    Parts parts;
    text::MappingReader in(root, "scenario", mistakes);
    for (const std::string_view key : kDemanded) in.demand(key);
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
    if (!framework) parts.framework.schedules.reset();  // nobody has said which software it is
    const auto keep_given = [&](const NodePtr& part, const char* key, const char* folder) {
        if (part) parts.given.merge(keys_changed_in(part, key, folder, shipped));
    };
    keep_given(parts.model_node, "model", "models/zoo");
    keep_given(parts.cluster_node, "cluster", "scenarios/clusters");
    keep_given(parts.framework_node, "framework", "scenarios/frameworks");
    return parts;
}

Scenario scenario_of(const NodePtr& root, const std::string& name, text::ShippedFiles& shipped,
                     const Parts* known) {
    Mistakes mistakes;
    if (!root->is(text::Node::Kind::Map)) {
        mistakes.add(root->place, fmt::format("a scenario must be a map, not {}", describe(*root)));
        mistakes.throw_if_any();
    }
    Draft draft(root, shipped, mistakes);
    Scenario& scenario = draft.scenario;
    scenario.name = name;
    read_fields(draft.top, own_fields(), draft);
    fill_parts(draft, known);
    read_reliability(draft);
    read_parallel(draft);
    read_schedule(draft);
    if (scenario.framework.unfused_attention)
        scenario.training.attention = models::AttentionKernel::Unfused;
    read_training(draft);
    draft.top.finish();
    mistakes.throw_if_any();

    scenario.training.seq_length = draft.seq_length.value_or(scenario.model.max_positions);
    apply_knobs(draft);
    settle_gpus(draft);
    mistakes.throw_if_any();
    settle_batches(draft);
    mistakes.throw_if_any();
    check_shards(draft);
    mistakes.throw_if_any();
    check_cuts(draft);
    if (mistakes.empty()) check_schedule(draft);
    if (mistakes.empty()) check_imbalance(draft);
    if (mistakes.empty()) check_packing(draft);
    if (mistakes.empty()) check_reliability(draft);
    mistakes.throw_if_any();
    add_notes(draft);
    return std::move(draft.scenario);
}

}  // namespace debubble::scenarios
