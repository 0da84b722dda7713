#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

/// The names in a run's folder. Private to exec/checkpoint.
namespace debubble::exec {

inline constexpr const char* kManifestName = "manifest.json";

struct StepFolder {
    std::int64_t step = 0;
    std::filesystem::path path;
};
std::filesystem::path step_folder(const std::filesystem::path& run_folder, std::int64_t step);
/// The folders of steps, highest step first; other names are left alone. Empty if there is no such
/// folder.
std::vector<StepFolder> step_folders(const std::filesystem::path& run_folder);

/// The file by which write_rank tells commit of its rank file, until commit has put it into the
/// manifest.
std::filesystem::path rank_note(const std::filesystem::path& step_folder, int rank);

/// Removes the files that a checkpoint writer made and `kept` does not name.
void remove_own_files(const std::filesystem::path& step_folder,
                      const std::vector<std::string_view>& kept);
/// Removes a step, its manifest first, so that the rest is not taken for a checkpoint. Files that
/// this program did not write stay, and the folder with them.
void remove_step(const std::filesystem::path& step_folder);

}  // namespace debubble::exec
