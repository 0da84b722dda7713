#include <limits>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/io/checkpoint/manifest.h"
#include "models/architecture_reader.h"
#include "text/document_readers.h"
#include "text/mapping_reader.h"

namespace debubble::exec {
namespace {

using text::MappingReader;
using text::Mistakes;
using text::NodePtr;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr int kMostRanks = 1'000'000;
constexpr int kMostLayers = 1'000'000;

void read_layout(const NodePtr& map, CheckpointLayout& out, Mistakes& mistakes) {
    MappingReader in(map, "layout", mistakes);
    in.whole("ranks", out.ranks, 1, kMostRanks);
    in.whole("pipeline", out.pipeline, 1, kMostRanks);
    in.whole("tensor", out.tensor, 1, kMostRanks);
    in.whole("context", out.context, 1, kMostRanks);
    in.whole("data", out.data, 1, kMostRanks);
    in.whole("zero", out.zero, 0, 3);
    in.flag("sequence_parallel", out.sequence_parallel);
    in.text("schedule", out.schedule);
    in.wholes("layers", out.layers, 0, kMostLayers);
    in.finish();
}

void read_data(const NodePtr& map, DataPosition& out, Mistakes& mistakes) {
    MappingReader in(map, "data", mistakes);
    in.whole("epoch", out.epoch, 0, kMost);
    in.whole("sample", out.sample, 0, kMost);
    in.whole("samples_seen", out.samples_seen, 0, kMost);
    in.whole("tokens_seen", out.tokens_seen, 0, kMost);
    in.finish();
}

void read_loss_scale(const NodePtr& map, LossScaleState& out, Mistakes& mistakes) {
    MappingReader in(map, "loss_scale", mistakes);
    in.real("scale", out.scale, 0, std::numeric_limits<double>::max());
    in.whole("good_steps", out.good_steps, 0, kMost);
    in.whole("hysteresis_left", out.hysteresis_left, 0, std::numeric_limits<int>::max());
    in.whole("skipped_steps", out.skipped_steps, 0, kMost);
    in.finish();
}

void read_training(const NodePtr& map, TrainingState& out, Mistakes& mistakes) {
    MappingReader in(map, "training", mistakes);
    in.demand("step");
    in.whole("step", out.step, 0, kMost);
    in.whole("optimizer_steps", out.optimizer_steps, 0, kMost);
    in.whole("schedule_steps", out.schedule_steps, 0, kMost);
    in.real("learning_rate", out.learning_rate, 0, std::numeric_limits<double>::max());
    in.whole("seed", out.seed, 0, kMost);
    if (const NodePtr data = in.value("data")) read_data(data, out.data, mistakes);
    if (const NodePtr scale = in.value("loss_scale"))
        read_loss_scale(scale, out.loss_scale, mistakes);
    in.finish();
}

void read_settings(const NodePtr& map, std::map<std::string, std::string>& out,
                   Mistakes& mistakes) {
    MappingReader in(map, "settings", mistakes);
    for (const text::Node::Entry& entry : in.mapping()->entries) in.text(entry.key, out[entry.key]);
}

void read_files(const NodePtr& list, std::vector<RankFile>& out, Mistakes& mistakes) {
    for (const NodePtr& item : list->items) {
        MappingReader in(item, "file", mistakes);
        RankFile& file = out.emplace_back();
        for (const char* key : {"name", "bytes", "header_sha256"}) in.demand(key);
        in.text("name", file.name);
        in.whole("bytes", file.bytes, 0, kMost);
        in.text("header_sha256", file.header_sha256);
        in.finish();
    }
}

}  // namespace

Manifest parse_manifest(std::string text, const std::string& file) {
    const NodePtr root = text::parse_json(text, file);
    Mistakes mistakes;
    MappingReader in(root, "manifest", mistakes);
    std::string format;
    std::string seal;
    for (const char* key : {"sha256", "format", "training", "model", "files"}) in.demand(key);
    mistakes.throw_if_any();
    if (in.text("format", format) && format != kManifestFormat)
        in.complain("format", "not a checkpoint of this version: '" + format + "'");
    mistakes.throw_if_any();
    if (in.text("sha256", seal) && !seal_holds(std::move(text), seal))
        in.complain("sha256", "the manifest is damaged: this is not the SHA-256 of its text");
    mistakes.throw_if_any();
    Manifest manifest;
    in.text("program_sha256", manifest.program_sha256);
    read_training(in.value("training"), manifest.training, mistakes);
    if (const NodePtr layout = in.value("layout")) read_layout(layout, manifest.layout, mistakes);
    if (const NodePtr model = in.value("model"))
        manifest.architecture = models::read_own_architecture(model, mistakes);
    if (const NodePtr settings = in.value("settings"))
        read_settings(settings, manifest.settings, mistakes);
    if (const NodePtr files = in.value("files")) read_files(files, manifest.files, mistakes);
    in.finish();
    mistakes.throw_if_any();
    return manifest;
}

void check_reads_back(const Manifest& manifest) {
    const auto refuse = [](const std::string& why) {
        throw InputError(
            fmt::format("a checkpoint of this training could not be read back: {}; it can be "
                        "trained without 'training.checkpoint'",
                        why));
    };
    Manifest read;
    std::string mistake;
    try {
        read = parse_manifest(manifest_json(manifest), "manifest.json");
    } catch (const InputError& error) {
        mistake = error.diagnostics().front().message;
    }
    if (!mistake.empty()) refuse(mistake);
    // Texts that are not UTF-8 are written with replaced bytes.
    read.architecture.name = manifest.architecture.name;
    read.architecture.source = manifest.architecture.source;
    if (read.architecture != manifest.architecture)
        refuse("it would be read as another network than the one that is trained");
}

}  // namespace debubble::exec
