#pragma once

#include <filesystem>
#include <span>

#include "exec/core/pieces/piece.h"
#include "exec/io/checkpoint/manifest.h"

namespace debubble::exec {

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

}  // namespace debubble::exec
