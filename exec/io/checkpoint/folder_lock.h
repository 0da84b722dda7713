#pragma once

#include <filesystem>

namespace debubble::exec {

/// A folder of checkpoints that one run at a time saves in; it is made if it is not there, and then
/// goes again if nothing was saved. Throws WorldError if it cannot be made, or while another
/// process has it. A lock ends with its process; file systems that know none give none.
class FolderLock {
public:
    explicit FolderLock(const std::filesystem::path& folder);
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

private:
    std::filesystem::path path_;
    bool made_;
    int folder_ = -1;
};

}  // namespace debubble::exec
