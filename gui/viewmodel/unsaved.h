#pragma once

#include <filesystem>
#include <optional>

#include "gui/viewmodel/source.h"

/// What-ifs that nobody saved, kept on the disk so that neither a crash nor closing the window
/// loses them. One file per process; written aside and renamed.
namespace debubble::gui {

class UnsavedFolder {
public:
    explicit UnsavedFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// Of this process. Throws WorldError.
    void keep(const ScenarioText& source) const;
    void forget() const;

    /// The newest that a process which is no longer there left. Files that are damaged are
    /// passed over and removed.
    std::optional<ScenarioText> find_left() const;
    /// All that processes which are no longer there left.
    void forget_left() const;

private:
    std::filesystem::path own_file() const;
    std::filesystem::path folder_;
};

}  // namespace debubble::gui
