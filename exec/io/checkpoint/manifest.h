#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/core/training/gradient_scale.h"
#include "exec/io/checkpoint/piece_source.h"
#include "models/network/architecture.h"

/// The content of a checkpoint apart from its tensors: all that a resumed run needs to go on as if
/// it had not stopped, and all that sampling or exporting needs.
namespace debubble::exec {

struct RankFile {
    std::string name;  ///< such as "rank_00003-0123456789abcdef.safetensors", in the step's folder
    std::int64_t bytes = 0;
    /// SHA-256 of the bytes before the data. The header holds the hash of every tensor, so this one
    /// covers the whole file.
    std::string header_sha256;
    friend bool operator==(const RankFile&, const RankFile&) = default;
};

/// Writes a rank's file. Its name contains part of the hash, so that no other content is ever
/// overwritten.
RankFile write_rank_file(const std::filesystem::path& folder, int rank,
                         std::span<const Piece> pieces);

/// Adds the file's pieces to the source. Name, length and header are checked here, the data when it
/// is read. Throws InputError.
void add_rank_file(const std::filesystem::path& folder, const RankFile& rank_file,
                   PieceSource& source);

// The content of a checkpoint apart from its tensors: all that a resumed run needs to go on as if
// it had not stopped, and all that sampling or exporting needs.

/// The layout of the run that saved; a run of any other layout may load.
struct CheckpointLayout {
    int ranks = 1;
    int pipeline = 1;
    int tensor = 1;
    int context = 1;
    int data = 1;
    int zero = 0;
    bool sequence_parallel = false;
    std::string schedule;          ///< its name on the command line, such as "zb-h1"
    std::vector<int> layers = {};  ///< of every stage; empty in checkpoints that do not say
    friend bool operator==(const CheckpointLayout&, const CheckpointLayout&) = default;
};

/// The next sample that has not been trained on, whatever the number of readers.
struct DataPosition {
    std::int64_t epoch = 0;
    std::int64_t sample = 0;  ///< place in the epoch's shuffled order
    std::int64_t samples_seen = 0;
    std::int64_t tokens_seen = 0;
    friend bool operator==(const DataPosition&, const DataPosition&) = default;
};

/// Random numbers are counters keyed by the seed, so the seed and the step are their state.
struct TrainingState {
    std::int64_t step = 0;             ///< optimizer steps asked for, skipped ones included
    std::int64_t optimizer_steps = 0;  ///< optimizer steps taken: Adam's t
    std::int64_t schedule_steps = 0;   ///< steps of the learning rate's schedule
    double learning_rate = 0;          ///< learning rate of the last step
    std::int64_t seed = 0;             ///< not negative
    DataPosition data;
    LossScaleState loss_scale;
    friend bool operator==(const TrainingState&, const TrainingState&) = default;
};

struct Manifest {
    TrainingState training;
    CheckpointLayout layout;
    std::string program_sha256;  ///< hash of the Program that the run executed
    models::Architecture architecture;
    /// Other values that the training loop needs on resumption, under its own keys.
    std::map<std::string, std::string> settings;
    std::vector<RankFile> files;
    friend bool operator==(const Manifest&, const Manifest&) = default;
};

/// The manifest as JSON that holds its own SHA-256, so that a changed number is noticed.
std::string manifest_json(const Manifest& manifest);

/// Parses a manifest. Throws InputError, located in `file`.
Manifest parse_manifest(std::string text, const std::string& file);

/// Throws InputError if what is written of the manifest could not be read, or would be read as
/// another network: a checkpoint with it would be lost.
void check_reads_back(const Manifest& manifest);

// The seal of a manifest: its key "sha256" holds the hash of the text in which that value is all
// zeros. Private to the folder.

inline constexpr std::string_view kManifestFormat = "debubble-checkpoint-1";
inline constexpr std::string_view kOpenSeal =
    "0000000000000000000000000000000000000000000000000000000000000000";

/// The text with its hash in place of the first open seal.
std::string sealed(std::string text);
/// Whether `seal`, which is part of the text, is the hash of the rest.
bool seal_holds(std::string text, std::string_view seal);

}  // namespace debubble::exec
