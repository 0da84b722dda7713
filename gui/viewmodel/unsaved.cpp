#include "gui/viewmodel/unsaved.h"

#include <charconv>
#include <csignal>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "base/file.h"

namespace debubble::gui {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kPrefix = "unsaved-";
constexpr std::size_t kLongest = std::size_t{4} << 20U;

/// The process number in a name such as "unsaved-123.json"; nothing for any other name.
std::optional<int> process_of(const fs::path& file) {
    const std::string stem = file.stem().string();
    if (file.extension() != ".json" || !stem.starts_with(kPrefix)) return std::nullopt;
    int process = 0;
    const char* end = stem.data() + stem.size();
    const auto read = std::from_chars(stem.data() + kPrefix.size(), end, process);
    if (read.ec != std::errc{} || read.ptr != end || process <= 0) return std::nullopt;
    return process;
}

bool is_alive(int process) {
    return ::kill(process, 0) == 0 || errno == EPERM;
}

std::vector<fs::path> files_left(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (const auto process = process_of(entry.path()); process && !is_alive(*process))
            files.push_back(entry.path());
    return files;
}

std::optional<ScenarioText> read(const fs::path& file) {
    try {
        const auto json = nlohmann::json::parse(read_file(file, kLongest));
        return ScenarioText{json.at("text"), json.at("file")};
    } catch (const std::exception&) {  // damaged: it holds nothing that could be restored
        return std::nullopt;
    }
}

}  // namespace

fs::path UnsavedFolder::own_file() const {
    return folder_ / fmt::format("{}{}.json", kPrefix, ::getpid());
}

void UnsavedFolder::keep(const ScenarioText& source) const {
    const nlohmann::json json{{"file", source.file}, {"text", source.text}};
    write_file(own_file(),
               json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n');
}

void UnsavedFolder::forget() const {
    std::error_code ignored;
    fs::remove(own_file(), ignored);
}

std::optional<ScenarioText> UnsavedFolder::find_left() const {
    std::optional<ScenarioText> newest;
    fs::file_time_type newest_time{};
    for (const fs::path& file : files_left(folder_)) {
        std::error_code error;
        const auto time = fs::last_write_time(file, error);
        auto source = read(file);
        if (!source) {
            fs::remove(file, error);
        } else if (!newest || time > newest_time) {
            newest = std::move(source);
            newest_time = time;
        }
    }
    return newest;
}

void UnsavedFolder::forget_left() const {
    for (const fs::path& file : files_left(folder_)) {
        std::error_code ignored;
        fs::remove(file, ignored);
    }
}

}  // namespace debubble::gui
