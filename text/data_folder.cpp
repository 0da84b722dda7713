#include <cstdlib>

#include "text/shipped_files.h"

namespace debubble::text {
namespace fs = std::filesystem;
namespace {

fs::path& folder_of_library() {
    static auto& folder = *new fs::path;
    return folder;
}

}  // namespace

void use_data_folder(const fs::path& folder) {
    folder_of_library() = folder;
}

fs::path data_folder() {
    if (const char* chosen = std::getenv("DEBUBBLE_DATA_DIR"); chosen && *chosen) return chosen;
    if (!folder_of_library().empty()) return folder_of_library();
    std::error_code error;
    // The data is installed along with the program, so its place follows from the program's.
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    const fs::path installed = program.parent_path().parent_path() / "share/debubble";
    if (!error && fs::is_directory(installed / "scenarios", error)) return installed;
    if (fs::is_directory(DEBUBBLE_SOURCE_DATA_DIR, error)) return DEBUBBLE_SOURCE_DATA_DIR;
    return DEBUBBLE_INSTALLED_DATA_DIR;
}

}  // namespace debubble::text
