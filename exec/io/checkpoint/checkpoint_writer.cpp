#include "exec/io/checkpoint/checkpoint.h"

#include <cassert>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "base/file.h"
#include "exec/io/checkpoint/durable_file.h"
#include "exec/io/checkpoint/step_folder.h"

namespace debubble::exec {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLongestNote = 4096;

std::string note_of(const RankFile& file) {
    return nlohmann::ordered_json{
        {"name", file.name}, {"bytes", file.bytes}, {"header_sha256", file.header_sha256}}
        .dump();
}

RankFile read_note(const fs::path& path) try {
    const auto json = nlohmann::json::parse(read_file(path, kLongestNote));
    return {json.at("name"), json.at("bytes"), json.at("header_sha256")};
} catch (const std::exception&) {  // the file was written by this program moments ago
    throw WorldError(
        fmt::format("{}: its rank has saved nothing that can be read here; do all "
                    "ranks share this file system?",
                    path.string()));
}

void remove_older(const fs::path& run_folder, std::int64_t step, int kept) {
    int complete = 1;
    for (const StepFolder& older : step_folders(run_folder)) {
        if (older.step >= step) continue;
        std::error_code unreadable;
        if (complete < kept && fs::exists(older.path / kManifestName, unreadable)) {
            ++complete;
        } else {
            remove_step(older.path);
        }
    }
}

}  // namespace

CheckpointWriter::CheckpointWriter(const fs::path& run_folder, std::int64_t step, int ranks)
    : run_folder_(run_folder), folder_(step_folder(run_folder, step)), ranks_(ranks) {
    assert(step >= 0 && ranks > 0 && "a step of a run");
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error)
        throw WorldError(fmt::format("{}: cannot be made: {}", folder_.string(), error.message()));
}

void CheckpointWriter::write_rank(int rank, std::span<const Piece> pieces) const {
    assert(rank >= 0 && rank < ranks_ && "a rank of the run");
    const RankFile written = write_rank_file(folder_, rank, pieces);
    write_durably(rank_note(folder_, rank), note_of(written));
}

void CheckpointWriter::commit(Manifest manifest, int kept) const {
    assert(step_folder(run_folder_, manifest.training.step) == folder_ && "the writer's step");
    manifest.files.clear();
    for (int rank = 0; rank < ranks_; ++rank)
        manifest.files.push_back(read_note(rank_note(folder_, rank)));
    sync_folder(folder_.parent_path());
    const std::string text = manifest_json(manifest);
    // a manifest that is written can be read.
    parse_manifest(text, (folder_ / kManifestName).string());
    write_durably(folder_ / kManifestName, text);
    std::vector<std::string_view> listed = {kManifestName};
    for (const RankFile& file : manifest.files) listed.push_back(file.name);
    remove_own_files(folder_, listed);
    if (kept > 0) remove_older(run_folder_, manifest.training.step, kept);
}

}  // namespace debubble::exec
