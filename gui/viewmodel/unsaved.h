#pragma once

#include <filesystem>
#include <vector>

#include "gui/viewmodel/source.h"

/// Unsaved what-ifs, kept on the disk so that neither a crash nor closing the window loses them.
/// Each window has one file, which is written under another name and then renamed, and a lock file,
/// which the kernel unlocks when the window's process ends, also by a crash or a reboot.
namespace debubble::gui {

class UnsavedFolder {
public:
    explicit UnsavedFolder(std::filesystem::path folder);
    /// The kept text stays, and is offered as one that is left.
    ~UnsavedFolder();
    UnsavedFolder(const UnsavedFolder&) = delete;
    UnsavedFolder& operator=(const UnsavedFolder&) = delete;

    /// Keeps the text of this window. Throws WorldError.
    void keep(const ScenarioText& source);
    void forget();

    struct Left {
        ScenarioText source;
        std::filesystem::path file;  ///< the file that contains it
    };
    /// The texts of windows that no longer run, the newest first. Damaged files are skipped and
    /// removed.
    std::vector<Left> find_left() const;
    /// Removes one of them; the others stay.
    static void forget_left(const Left& left);

private:
    void unlock();

    std::filesystem::path folder_;
    std::filesystem::path own_file_;
    int lock_ = -1;  ///< descriptor of the lock's file, while a text is kept
};

}  // namespace debubble::gui
