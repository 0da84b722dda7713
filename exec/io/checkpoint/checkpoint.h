#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/core/pieces/pieces.h"
#include "exec/io/checkpoint/manifest.h"
#include "exec/io/checkpoint/piece_source.h"

/// Checkpoints of a training run: folders step_N, each complete once it has a manifest.
namespace debubble::exec {

struct Checkpoint {
    std::filesystem::path folder;  ///< such as .../step_100
    Manifest manifest;
    PieceSource pieces;
};

/// Throws InputError unless the manifest is whole and every file of it is there with the length and
/// the header that it states. The data is checked as it is loaded.
Checkpoint open_checkpoint(const std::filesystem::path& folder);

struct LatestCheckpoint {
    std::optional<Checkpoint> checkpoint;
    /// a sentence for each newer checkpoint that cannot be used.
    std::vector<std::string> passed_over;
};

/// How checkpoints are checked. By headers: a flipped byte of the data is found only when it is
/// loaded. By data: every byte is read, so that a checkpoint with damaged data is passed over as
/// well.
enum class CheckedBy : std::uint8_t { Headers, Data };

/// The complete checkpoint with the highest step; none if there is no such folder.
LatestCheckpoint latest_checkpoint(const std::filesystem::path& run_folder, CheckedBy checked_by);

/// Throws InputError with both sides of every difference if a network's parameters cannot come from
/// the checkpoint.
void check_same_network(const Checkpoint& checkpoint, const models::Architecture& wanted);

/// Saves one step from several ranks, which are threads or processes that share a file system:
/// every rank calls write_rank, then all meet at a barrier, then one calls commit. Until that
/// returns, the checkpoints that were complete before stay so, an older one of this very step
/// included. Throws WorldError when the disk does not take it.
class CheckpointWriter {
public:
    CheckpointWriter(const std::filesystem::path& run_folder, std::int64_t step, int ranks);

    const std::filesystem::path& folder() const { return folder_; }

    /// Writes the pieces that this rank alone holds; a replicated tensor may be written by several
    /// ranks, but that wastes space. Ranks may write at any time, each from one thread.
    void write_rank(int rank, std::span<const Piece> pieces) const;

    /// Completes the step: its files are those of all ranks, and `manifest.files` is set here.
    /// Then, if `kept` > 0, removes the checkpoints of earlier steps except for the latest kept - 1
    /// complete ones, and all earlier steps that were never completed.
    void commit(Manifest manifest, int kept = 0) const;

private:
    std::filesystem::path run_folder_;
    std::filesystem::path folder_;
    int ranks_;
};

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
