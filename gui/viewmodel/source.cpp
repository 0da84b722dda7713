#include "gui/viewmodel/source.h"

#include <filesystem>

#include "base/file.h"
#include "trace/io/chrome_trace.h"

namespace debubble::gui {
namespace {

/// The longest trace that is read; a step of a million actions takes some 300 bytes for each.
constexpr std::size_t kLongestTrace = std::size_t{2} << 30U;

}  // namespace

Source open_source(const std::string& name_or_path) {
    const std::filesystem::path given = name_or_path;
    if (given.extension() == ".json")
        return TraceFile{read_chrome_trace(read_file(given, kLongestTrace), name_or_path),
                         name_or_path};
    const std::filesystem::path path = scenarios::find_scenario(name_or_path);
    return ScenarioText{read_file(path), path.string()};
}

std::string title_of(const std::string& file) {
    std::string title = std::filesystem::path(file).stem().string();
    if (title.ends_with(".trace")) title.resize(title.size() - 6);
    return title;
}

}  // namespace debubble::gui
