#include "gui/viewmodel/unsaved.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
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

fs::path lock_of(fs::path file) {
    return file.replace_extension(".lock");
}

bool is_kept_text(const fs::path& file) {
    return file.extension() == ".json" && file.filename().string().starts_with(kPrefix);
}

/// Whether the window of this file still runs. A file without a lock has no window.
bool is_held(const fs::path& file) {
    const int lock = ::open(lock_of(file).c_str(), O_RDWR | O_CLOEXEC);
    if (lock < 0) return errno != ENOENT;
    const bool held = ::flock(lock, LOCK_EX | LOCK_NB) != 0;
    ::close(lock);
    return held;
}

std::optional<ScenarioText> read(const fs::path& file) {
    try {
        const auto json = nlohmann::json::parse(read_file(file, kLongest));
        return ScenarioText{json.at("text"), json.at("file")};
    } catch (const std::exception&) {  // a damaged file contains nothing to restore
        return std::nullopt;
    }
}

void remove_kept(const fs::path& file) {
    std::error_code ignored;
    fs::remove(file, ignored);
    fs::remove(lock_of(file), ignored);
}

}  // namespace

/// A unique name. A process number alone may occur again after a reboot.
UnsavedFolder::UnsavedFolder(fs::path folder)
    : folder_(std::move(folder)),
      own_file_(folder_ /
                fmt::format("{}{}-{}.json", kPrefix, ::getpid(),
                            std::chrono::system_clock::now().time_since_epoch().count())) {}

UnsavedFolder::~UnsavedFolder() {
    unlock();
}

void UnsavedFolder::keep(const ScenarioText& source) {
    if (lock_ < 0) {
        std::error_code ignored;  // open() reports it
        fs::create_directories(folder_, ignored);
        lock_ = ::open(lock_of(own_file_).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (lock_ < 0 || ::flock(lock_, LOCK_EX | LOCK_NB) != 0)
            throw WorldError(fmt::format("{} cannot be locked", lock_of(own_file_).string()));
    }
    const nlohmann::json json{{"file", source.file}, {"text", source.text}};
    write_file(own_file_,
               json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n');
}

void UnsavedFolder::forget() {
    std::error_code ignored;
    fs::remove(own_file_, ignored);
    unlock();
}

void UnsavedFolder::unlock() {
    if (lock_ < 0) return;
    std::error_code ignored;
    fs::remove(lock_of(own_file_), ignored);
    ::close(std::exchange(lock_, -1));
}

std::vector<UnsavedFolder::Left> UnsavedFolder::find_left() const {
    std::vector<std::pair<fs::file_time_type, Left>> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_, error)) {
        const fs::path& file = entry.path();
        if (!is_kept_text(file) || is_held(file)) continue;
        std::error_code unknown;  // the time is then the earliest
        if (auto source = read(file))
            found.emplace_back(fs::last_write_time(file, unknown), Left{*std::move(source), file});
        else
            remove_kept(file);
    }
    std::ranges::sort(found, std::ranges::greater{}, [](const auto& left) { return left.first; });
    std::vector<Left> left;
    for (auto& [time, text] : found) left.push_back(std::move(text));
    return left;
}

void UnsavedFolder::forget_left(const Left& left) {
    remove_kept(left.file);
}

}  // namespace debubble::gui
