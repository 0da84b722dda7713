#pragma once

#include <filesystem>

namespace debubble::exec {

/// A folder of checkpoints in which one run at a time saves. It is made if it does not exist, and
/// then removed again if nothing was saved. Throws WorldError if it cannot be made, or while
/// another process holds it. A lock ends with its process; on file systems without locks there is
/// none.
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
