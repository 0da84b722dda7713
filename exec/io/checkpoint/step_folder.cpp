#include "exec/io/checkpoint/step_folder.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/io/checkpoint/durable_file.h"

namespace debubble::exec {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = "step_";

bool is_own(std::string_view name) {
    const bool aside = name.find(".debubble-tmp-") != name.npos;
    if (name.starts_with(kManifestName)) return aside || name == kManifestName;
    return name.starts_with("rank_") &&
           (aside || name.ends_with(".safetensors") || name.ends_with(".json"));
}

void remove_file(const fs::path& path) {
    std::error_code error;
    fs::remove(path, error);
    if (error)
        throw WorldError(fmt::format("{}: cannot be removed: {}", path.string(), error.message()));
}

std::vector<fs::path> entries_of(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> paths;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        paths.push_back(at->path());
    if (error && error != std::errc::no_such_file_or_directory)
        throw WorldError(fmt::format("{}: cannot be listed: {}", folder.string(), error.message()));
    return paths;
}

}  // namespace

fs::path step_folder(const fs::path& run_folder, std::int64_t step) {
    return run_folder / fmt::format("{}{}", kPrefix, step);
}

std::vector<StepFolder> step_folders(const fs::path& run_folder) {
    std::vector<StepFolder> found;
    for (const fs::path& path : entries_of(run_folder)) {
        const std::string name = path.filename().string();
        StepFolder step{0, path};
        if (!name.starts_with(kPrefix)) continue;
        std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), step.step);
        if (step_folder(run_folder, step.step) == path) found.push_back(std::move(step));
    }
    std::ranges::sort(found, std::greater{}, &StepFolder::step);
    return found;
}

fs::path rank_note(const fs::path& step_folder, int rank) {
    return step_folder / fmt::format("rank_{:05}.json", rank);
}

void remove_own_files(const fs::path& step_folder, const std::vector<std::string_view>& kept) {
    for (const fs::path& path : entries_of(step_folder)) {
        const std::string name = path.filename().string();
        if (is_own(name) && std::ranges::find(kept, name) == kept.end()) remove_file(path);
    }
}

void remove_step(const fs::path& step_folder) {
    remove_file(step_folder / kManifestName);
    sync_folder(step_folder);
    remove_own_files(step_folder, {});
    std::error_code not_empty;
    fs::remove(step_folder, not_empty);
}

}  // namespace debubble::exec
