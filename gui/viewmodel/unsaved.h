#pragma once

#include <filesystem>
#include <optional>

#include "gui/viewmodel/source.h"

/// Unsaved what-ifs, kept on the disk so that neither a crash nor closing the window loses them.
/// Each process has one file, which is written under another name and then renamed.
namespace debubble::gui {

class UnsavedFolder {
public:
    explicit UnsavedFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// Keeps the text of this process. Throws WorldError.
    void keep(const ScenarioText& source) const;
    void forget() const;

    /// The newest text that a process which no longer runs has left. Damaged files are passed over
    /// and removed.
    std::optional<ScenarioText> find_left() const;
    /// Removes all texts that processes which no longer run have left.
    void forget_left() const;

private:
    std::filesystem::path own_file() const;
    std::filesystem::path folder_;
};

}  // namespace debubble::gui
