#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace debubble::exec
