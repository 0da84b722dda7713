#include "exec/program/sample/saved_network.h"

#include <utility>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/io/checkpoint/checkpoint.h"
#include "exec/io/checkpoint/hf/hugging_face.h"
#include "exec/io/data/tokens/tokenizer.h"
#include "text/quantity.h"

namespace debubble::exec {
namespace fs = std::filesystem;
namespace {

SavedNetwork from_checkpoint(Checkpoint checkpoint, std::vector<std::string> notes) {
    const DataPosition& data = checkpoint.manifest.training.data;
    SavedNetwork network{std::move(checkpoint.folder),
                         std::move(checkpoint.manifest.architecture),
                         std::move(checkpoint.pieces),
                         std::move(checkpoint.manifest.settings),
                         {},
                         std::move(notes)};
    if (data.samples_seen > 0 && data.tokens_seen >= data.samples_seen)
        network.trained_length = data.tokens_seen / data.samples_seen;
    return network;
}

const std::string* find(const std::map<std::string, std::string>& settings, const char* key) {
    const auto found = settings.find(key);
    return found == settings.end() || found->second.empty() ? nullptr : &found->second;
}

/// The path of the tokenizer; empty for bytes.
std::string tokenizer_path(const SavedNetwork& network, const std::string& asked) {
    if (asked == "bytes") return "";
    if (!asked.empty()) return asked;
    if (const std::string* path = find(network.settings, "data.tokenizer")) return *path;
    if (const std::string* tokens = find(network.settings, "data.tokens"))
        throw InputError(
            fmt::format("{} was trained on {}, and the tokenizer of those tokens is not known; "
                        "name it with --tokenizer",
                        network.folder.string(), *tokens));
    for (const char* name : {"tokenizer.json", "vocab.json"})
        if (fs::exists(network.folder / name)) return network.folder.string();
    return "";
}

}  // namespace

SavedNetwork open_saved_network(const fs::path& folder) {
    if (!fs::exists(folder)) throw InputError(fmt::format("{} does not exist", folder.string()));
    if (!fs::is_directory(folder))
        throw InputError(fmt::format("{} is a file; a checkpoint is a folder", folder.string()));
    if (fs::exists(folder / "manifest.json")) return from_checkpoint(open_checkpoint(folder), {});
    if (fs::exists(folder / "config.json")) {
        HuggingFaceModel model = open_hugging_face(folder);
        std::vector<std::string> notes;
        if (auto note = note_of_untaken(model.weights, model.architecture))
            notes.push_back(std::move(*note));
        return {folder,          std::move(model.architecture), std::move(model.weights), {}, {},
                std::move(notes)};
    }
    LatestCheckpoint latest = latest_checkpoint(folder, CheckedBy::Data);
    if (latest.checkpoint)
        return from_checkpoint(std::move(*latest.checkpoint), std::move(latest.passed_over));
    std::string sentence = fmt::format(
        "{} holds no complete checkpoint (manifest.json in it, or in a folder step_N of it) and "
        "no Hugging Face model (config.json)",
        folder.string());
    for (const std::string& damage : latest.passed_over) sentence += "\n" + damage;
    throw InputError(sentence);
}

NetworkTokenizer tokenizer_of(const SavedNetwork& network, const std::string& asked) {
    const std::string path = tokenizer_path(network, asked);
    const std::int64_t vocab = network.architecture.vocab;
    NetworkTokenizer found{make_tokenizer(path), {}};
    // A model of 256 tokens may have read bytes, which then hold no end-of-text.
    if (!path.empty() && found.tokenizer->vocab() > vocab)
        throw InputError(
            fmt::format("{} has {} tokens, and does not fit the vocabulary of {} that {} has", path,
                        found.tokenizer->vocab(), vocab, network.folder.string()));
    found.end_of_text = found.tokenizer->end_of_text();
    if (const std::string* chosen = find(network.settings, "data.end_of_text"))
        if (const auto token = text::parse_whole(*chosen))
            found.end_of_text = static_cast<std::int32_t>(*token);
    if (found.end_of_text && *found.end_of_text >= vocab) found.end_of_text.reset();
    return found;
}

}  // namespace debubble::exec
