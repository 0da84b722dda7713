#include "exec/io/checkpoint/checkpoint.h"

#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "exec/io/checkpoint/step_folder.h"
#include "exec/io/mapped_file.h"
#include "models/read/architecture_words.h"
#include "models/read/layer_keys.h"

namespace debubble::exec {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLongestManifest = 1 << 20;

template <class E>
std::string_view spelled(E value, const auto& words) {
    for (const auto& [name, meaning] : words)
        if (meaning == value) return name;
    return {};
}

/// Collects the differences, as "layers 12 and 24".
struct Differences {
    std::vector<std::string> found;

    template <class T>
    void compare(std::string_view what, const T& stored, const T& wanted) {
        if (stored != wanted) found.push_back(fmt::format("{} {} and {}", what, stored, wanted));
    }
};

}  // namespace

Checkpoint open_checkpoint(const fs::path& folder) {
    const fs::path path = folder / kManifestName;
    std::error_code unreadable;  // read_file has the sentence for it
    if (fs::is_directory(folder, unreadable) && !fs::exists(path, unreadable) && !unreadable)
        throw bad_file(folder,
                       fmt::format("not a complete checkpoint: it has no {}", kManifestName));
    Checkpoint checkpoint{
        folder, parse_manifest(read_file(path, kLongestManifest), path.string()), {}};
    checkpoint.pieces.name = folder.string();
    for (const RankFile& file : checkpoint.manifest.files)
        add_rank_file(folder, file, checkpoint.pieces);
    return checkpoint;
}

LatestCheckpoint latest_checkpoint(const fs::path& run_folder, CheckedBy checked_by) {
    LatestCheckpoint latest;
    for (const StepFolder& step : step_folders(run_folder)) {
        try {
            Checkpoint checkpoint = open_checkpoint(step.path);
            if (checked_by == CheckedBy::Data) verify(checkpoint.pieces);
            latest.checkpoint = std::move(checkpoint);
            return latest;
        } catch (const InputError& error) {
            const Diagnostic& first = error.diagnostics().front();
            latest.passed_over.push_back(fmt::format("{} is passed over: {}: {}",
                                                     step.path.filename().string(),
                                                     first.where.file, first.message));
        }
    }
    return latest;
}

namespace {

/// The keys of the first layers that differ.
void compare_layers(Differences& differ, const models::Layers& stored,
                    const models::Layers& wanted) {
    for (int layer = 0; layer < stored.count(); ++layer) {
        if (stored[layer] == wanted[layer]) continue;
        const models::LayerKeys a = models::keys_of(stored[layer]);
        const models::LayerKeys b = models::keys_of(wanted[layer]);
        differ.compare("mixer", spelled(a.mixer, models::kMixers),
                       spelled(b.mixer, models::kMixers));
        differ.compare("mlp", a.mlp, b.mlp);
        differ.compare("heads", a.heads, b.heads);
        differ.compare("kv_heads", a.kv_heads, b.kv_heads);
        differ.compare("head_dim", a.head_dim, b.head_dim);
        differ.compare("ffn", a.ffn, b.ffn);
        differ.compare("experts", a.experts, b.experts);
        differ.compare("experts_per_token", a.experts_per_token, b.experts_per_token);
        differ.compare("activation", spelled(a.activation, models::kActivations),
                       spelled(b.activation, models::kActivations));
        differ.compare("rotary positions", a.rotary, b.rotary);
        differ.compare("linear_bias", a.linear_bias, b.linear_bias);
        differ.compare("rope_theta", a.rope_theta, b.rope_theta);
        return;
    }
}

}  // namespace

void check_same_network(const Checkpoint& checkpoint, const models::Architecture& wanted) {
    const models::Architecture& stored = checkpoint.manifest.architecture;
    Differences differ;
    differ.compare("family", spelled(stored.family, models::kFamilies),
                   spelled(wanted.family, models::kFamilies));
    differ.compare("layers", stored.layers.count(), wanted.layers.count());
    differ.compare("hidden", stored.hidden, wanted.hidden);
    if (stored.layers.count() == wanted.layers.count())
        compare_layers(differ, stored.layers, wanted.layers);
    differ.compare("vocab", stored.vocab, wanted.vocab);
    differ.compare("max_positions", stored.max_positions, wanted.max_positions);
    differ.compare("norm", spelled(stored.norm, models::kNorms),
                   spelled(wanted.norm, models::kNorms));
    differ.compare("learned_positions", stored.learned_positions, wanted.learned_positions);
    differ.compare("tied_embedding", stored.tied_embedding, wanted.tied_embedding);
    differ.compare("norm_eps", stored.norm_eps, wanted.norm_eps);
    differ.compare("patch_size", stored.patch_size.value_or(0), wanted.patch_size.value_or(0));
    differ.compare("channels", stored.channels.value_or(0), wanted.channels.value_or(0));
    if (differ.found.empty()) return;
    throw bad_file(checkpoint.folder,
                   fmt::format("a checkpoint of another model: this one is of '{}', but the run "
                               "needs one of '{}'; they have {}",
                               stored.name, wanted.name, fmt::join(differ.found, ", ")));
}

}  // namespace debubble::exec
