#include "exec/io/checkpoint/manifest.h"

#include <nlohmann/json.hpp>

#include "models/read/architecture_words.h"

namespace debubble::exec {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const CheckpointLayout& layout) {
    Json json{{"ranks", layout.ranks},
              {"pipeline", layout.pipeline},
              {"tensor", layout.tensor},
              {"context", layout.context},
              {"data", layout.data},
              {"zero", layout.zero},
              {"sequence_parallel", layout.sequence_parallel},
              {"schedule", layout.schedule}};
    if (!layout.layers.empty()) json["layers"] = layout.layers;
    return json;
}

Json json_of(const TrainingState& state) {
    return {{"step", state.step},
            {"optimizer_steps", state.optimizer_steps},
            {"schedule_steps", state.schedule_steps},
            {"learning_rate", state.learning_rate},
            {"seed", state.seed},
            {"data",
             {{"epoch", state.data.epoch},
              {"sample", state.data.sample},
              {"samples_seen", state.data.samples_seen},
              {"tokens_seen", state.data.tokens_seen}}},
            {"loss_scale",
             {{"scale", state.loss_scale.scale},
              {"good_steps", state.loss_scale.good_steps},
              {"hysteresis_left", state.loss_scale.hysteresis_left},
              {"skipped_steps", state.loss_scale.skipped_steps}}}};
}

}  // namespace

std::string manifest_json(const Manifest& manifest) {
    Json json;
    json["sha256"] = kOpenSeal;
    json["format"] = kManifestFormat;
    json["training"] = json_of(manifest.training);
    json["layout"] = json_of(manifest.layout);
    json["program_sha256"] = manifest.program_sha256;
    json["model"] = Json::parse(models::architecture_json(manifest.architecture));
    json["settings"] = manifest.settings;
    json["files"] = Json::array();
    for (const RankFile& file : manifest.files)
        json["files"].push_back(
            {{"name", file.name}, {"bytes", file.bytes}, {"header_sha256", file.header_sha256}});
    return sealed(json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace debubble::exec
