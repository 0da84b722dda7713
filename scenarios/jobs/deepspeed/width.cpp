#include <memory>

#include "base/diagnostic.h"
#include "models/architecture_reader.h"
#include "scenarios/jobs/deepspeed/deepspeed.h"
#include "text/document_readers.h"
#include "text/shipped_files.h"

namespace debubble::jobs {
namespace {

/// The network that the command line gives.
std::optional<models::Architecture> given_model(const Reading& job,
                                                const std::filesystem::path& folder) {
    const auto source = std::make_shared<const text::SourceText>(
        text::SourceText{(folder / "imported scenario").string(), ""});
    const text::SourcePosition place{source, 1, 1};
    try {
        text::NodePtr root;
        for (const auto& [key, value] : job.all_given())
            if (key == "model" || key.starts_with("model."))
                root = text::with_value(root, key, text::parse_yaml_value(value, place), place);
        const text::NodePtr model = root ? root->get("model") : nullptr;
        if (!model) return {};
        text::ShippedFiles shipped;
        text::Mistakes mistakes;
        const models::Architecture read = models::read_architecture(model, shipped, mistakes);
        if (mistakes.count() == 0) return read;
    } catch (const InputError&) {  // the scenario's check says it better
    }
    return {};
}

}  // namespace

std::optional<std::int64_t> width_of_given_model(const Reading& job,
                                                 const std::filesystem::path& folder) {
    const auto model = given_model(job, folder);
    return model ? std::optional<std::int64_t>(model->hidden) : std::nullopt;
}

std::int64_t layers_of_given_model(const Reading& job, const std::filesystem::path& folder) {
    const auto model = given_model(job, folder);
    return model ? model->layers.count() : 0;
}

}  // namespace debubble::jobs
