#include "sim/report/reference/model_table.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "models/counts/counts.h"
#include "models/network/weight_format.h"

namespace debubble::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kLongestByDefault = 131'072;

Json figures_json(const LayerFigures& f) {
    return {{"parameters", f.parameters},
            {"forward_flops", f.forward_flops},
            {"backward_flops", f.backward_flops},
            {"activation_bytes", f.activations.count}};
}

/// The kinds of layers, lettered as layer_order() has them.
Json kinds_json(const models::Architecture& a) {
    Json kinds = Json::array();
    for (const LayerKind& kind : layer_kinds(a))
        kinds.push_back({{"layers", kind.layers}, {"words", kind.words}});
    return kinds;
}

}  // namespace

std::int64_t usual_seq_length(const models::Architecture& architecture) {
    return std::min(architecture.max_positions, kLongestByDefault);
}

nlohmann::ordered_json model_json(const models::Architecture& a, const models::Execution& e,
                                  const std::vector<StageFigures>& table) {
    const ParameterSums sums = parameter_sums(a, e, table);
    Json json{{"schema", "debubble/model"},
              {"version", 1},
              {"model", a.name},
              {"source", a.source},
              {"parameters", sums.published},
              {"padded_parameters", sums.padded},
              {"parameters_of_stages", sums.listed},
              {"active_parameters", models::active_parameter_count(a)},
              {"tower_parameters", models::tower_parameter_count(a)},
              {"parameters_with_towers", sums.published + a.tower_parameters},
              {"left_out", a.left_out},
              {"layer_kinds", kinds_json(a)},
              {"layer_order", layer_order(a)},
              {"seq_length", e.seq_length},
              {"micro_batch", e.micro_batch},
              {"tensor", e.tensor},
              {"model_flops_per_sample", models::model_flops_per_sample(a, e.seq_length)},
              {"stages", Json::array()}};
    for (std::size_t i = 0; i < table.size(); ++i) {
        Json stage{{"stage", i},
                   {"first_layer", table[i].content.first_layer},
                   {"layer_count", table[i].content.layers}};
        stage.update(figures_json(table[i].sum));
        stage["static_memory_bytes"] = table[i].static_memory.count;
        stage["layers"] = Json::array();
        for (const LayerFigures& layer : table[i].layers) {
            Json row{{"layer", layer.layer ? Json(*layer.layer) : Json()}};
            row.update(figures_json(layer));
            stage["layers"].push_back(row);
        }
        json["stages"].push_back(stage);
    }
    return json;
}

}  // namespace debubble::sim
