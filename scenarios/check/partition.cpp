#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/network/layers.h"
#include "models/partition/partition.h"
#include "scenarios/check/parts.h"

/// The stages into which the layers are cut.
namespace debubble::scenarios {

namespace {

/// The reason why a stage cannot begin or end there, or hold so much; empty if it can.
std::string unfit_stage(const models::Architecture& model,
                        const std::vector<models::StageContent>& stages) {
    for (const models::StageContent& stage : stages)
        if (stage.layers > models::kMostLayersOfAStage)
            return fmt::format("{} layers exceed the {} that a stage may hold", stage.layers,
                               models::kMostLayersOfAStage);
    const std::size_t features = model.tower ? model.tower->deepstack.size() : 0;
    if (stages.size() > 1 && std::cmp_less(stages.front().layers, features))
        return fmt::format(
            "features of the vision tower are added after the first {} layers, which must be in "
            "its stage, the first; that stage has {}",
            features, stages.front().layers);
    for (const models::StageContent& stage : stages)
        if (stage.first_layer > 0 && stage.layers > 0 &&
            models::shares_choice(model.layers[stage.first_layer]))
            return fmt::format(
                "a stage begins with layer {}, which reuses the keys selected by an earlier layer "
                "and must be in its stage",
                stage.first_layer);
    return {};
}

}  // namespace

void check_partition(Draft& draft) {
    const Scenario& s = draft.scenario;
    const int stages = s.pipeline_shape().stages();
    if (!draft.mistakes().empty() && !draft.layout.empty()) return;  // it has been complained of
    try {
        if (s.parallel.partition == Partition::Explicit) {
            const std::string unfit =
                unfit_stage(s.model, models::explicit_stages(s.parallel.layers_per_stage,
                                                             s.model.layers.count(), stages));
            if (!unfit.empty()) throw InputError(unfit);
            return;
        }
        const auto parts = models::begun_at_choices(
            models::uniform_stages(s.model.layers.count(), s.parallel.pipeline,
                                   s.parallel.stages_per_rank),
            s.model.layers);
        const std::string unfit = unfit_stage(s.model, parts);
        if (!unfit.empty()) throw InputError(unfit);
        const std::string note = models::uneven_note(parts);
        if (!note.empty() && s.parallel.partition == Partition::Uniform)
            draft.scenario.notes.push_back(note);
    } catch (const InputError& error) {
        const bool list = s.parallel.partition == Partition::Explicit;
        const std::string_view key = draft.layout.empty() ? "partition" : "layout";
        draft.parallel.complain(list ? key : "pipeline", error.diagnostics().front().message);
    }
}

/// The layout's units are those of the model. Its layers of multi-token prediction are the model's
/// where that names none: published configurations of models leave them to the training.
void check_layout_of_model(Draft& draft) {
    if (draft.layout.empty()) return;
    models::Architecture& model = draft.scenario.model;
    const auto complain = [&](std::string sentence) {
        draft.parallel.complain("layout", std::move(sentence));
    };
    const int layers = models::layers_of(draft.layout);
    if (layers != model.layers.count())
        complain(fmt::format("the layout has {} layers (t), but the model has {}", layers,
                             model.layers.count()));
    const int predictions = models::predictions_of(draft.layout);
    if (model.mtp_layers > 0 && predictions != model.mtp_layers)
        complain(
            fmt::format("the layout has {} layers of multi-token prediction (m), but the model {}",
                        predictions, model.mtp_layers));
    if (predictions > 0 && (model.sees_images() || model.learned_positions))
        complain(
            "multi-token prediction (m) is not supported for images or with learned positions");
    model.mtp_layers = std::max(model.mtp_layers, predictions);
}

}  // namespace debubble::scenarios
