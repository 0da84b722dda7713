#include "exec/program/sample/saved_network.h"

#include <system_error>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/io/checkpoint/hf/hugging_face.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"

namespace debubble::exec {
namespace fs = std::filesystem;
namespace {

void check_room(const fs::path& folder) {
    std::error_code error;
    if (!fs::exists(folder, error)) return;
    if (!fs::is_directory(folder))
        throw InputError(fmt::format("{} is a file; --out names a folder", folder.string()));
    if (!fs::is_empty(folder))
        throw InputError(
            fmt::format("{} is not empty; none of its files is overwritten", folder.string()));
}

/// The path without a slash at the end.
fs::path plain(const fs::path& folder) {
    const fs::path path = folder.lexically_normal();
    return path.has_filename() ? path : path.parent_path();
}

/// The type of the weights that the optimizer steps: fp32 where there are main parameters.
DataType trained_type(const SavedNetwork& network) {
    const models::Parameter first = models::whole_parameters(network.architecture).front();
    const StoredTensor* stored =
        network.weights.find(kinds::kParameter, stored_name(first), DataType::Fp32);
    if (stored == nullptr || stored->pieces.empty()) return DataType::Fp32;  // load() reports it
    return data_type(stored->pieces.front().type).value_or(DataType::Fp32);
}

/// The tokenizer's files. The path may name one of them, or their folder.
std::vector<fs::path> tokenizer_files(const SavedNetwork& network) {
    const auto found = network.settings.find("data.tokenizer");
    fs::path where = network.folder;
    if (!network.settings.empty()) {
        if (found == network.settings.end() || found->second.empty()) return {};
        where = found->second;
    }
    if (!fs::exists(where))
        throw InputError(fmt::format("{} was trained with the tokenizer {}, which is not there",
                                     network.folder.string(), where.string()));
    if (!fs::is_directory(where) && where.filename() == "vocab.json")
        return {where, where.parent_path() / "merges.txt"};
    if (!fs::is_directory(where)) return {where};
    std::vector<fs::path> files;
    for (const char* name : {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
                             "vocab.json", "merges.txt"})
        if (fs::exists(where / name)) files.push_back(where / name);
    return files;
}

void write(const SavedNetwork& network, DataType type, const std::vector<fs::path>& tokenizer,
           const fs::path& folder) {
    export_hugging_face(network.weights, network.architecture, type, folder);
    for (const fs::path& file : tokenizer) {
        std::error_code error;
        fs::copy_file(file, folder / file.filename(), error);
        if (error)
            throw WorldError(fmt::format("{} cannot be copied to {}: {}", file.string(),
                                         folder.string(), error.message()));
    }
}

}  // namespace

ExportedNetwork export_network(const SavedNetwork& network, std::optional<DataType> type,
                               const fs::path& folder) {
    check_room(folder);
    const std::vector<fs::path> tokenizer = tokenizer_files(network);
    ExportedNetwork exported{type.value_or(trained_type(network)),
                             {"config.json", "model.safetensors"}};
    // A folder of that name appears once all its files are there.
    const fs::path partial = plain(folder).string() + ".partial";
    struct Removed {
        fs::path path;
        ~Removed() {
            std::error_code ignored;
            fs::remove_all(path, ignored);
        }
    };
    if (fs::exists(partial))
        throw InputError(
            fmt::format("{} is in the way: another export, or one that was killed; "
                        "remove it",
                        partial.string()));
    const Removed at_the_end{partial};
    write(network, exported.type, tokenizer, partial);
    std::error_code error;
    fs::rename(partial, plain(folder), error);  // replaces an empty folder
    if (error)
        throw WorldError(fmt::format("{} cannot be renamed to {}: {}", partial.string(),
                                     folder.string(), error.message()));
    for (const fs::path& file : tokenizer) exported.files.push_back(file.filename().string());
    return exported;
}

}  // namespace debubble::exec
