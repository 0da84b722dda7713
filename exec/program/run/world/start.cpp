#include "exec/program/run/world/start.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/io/checkpoint/checkpoint.h"
#include "exec/io/checkpoint/hf/hugging_face.h"
#include "exec/io/checkpoint/hf/layout.h"
#include "exec/io/checkpoint/step_folder.h"

namespace debubble::exec {

namespace {

namespace fs = std::filesystem;

bool is_checkpoint(const fs::path& folder) {
    return fs::exists(folder / "manifest.json");
}

Checkpoint latest_in(const fs::path& folder, std::vector<std::string>& notes) {
    LatestCheckpoint latest = latest_checkpoint(folder, CheckedBy::Data);
    std::ranges::move(latest.passed_over, std::back_inserter(notes));
    if (!latest.checkpoint)
        throw InputError(fmt::format("{} holds no complete checkpoint", folder.string()));
    return std::move(*latest.checkpoint);
}

void check_goes_on(const Checkpoint& checkpoint, const scenarios::Scenario& scenario,
                   const TrainingOptions& options) {
    check_same_network(checkpoint, scenario.model);
    const TrainingState& was = checkpoint.manifest.training;
    const std::string name = checkpoint.folder.string();
    if (was.seed != static_cast<std::int64_t>(options.seed))
        throw InputError(fmt::format("{} was trained with seed {}, and the scenario says {}", name,
                                     was.seed, options.seed));
    if (was.data.samples_seen != was.step * scenario.training.global_batch)
        throw InputError(
            fmt::format("{} has seen {} samples in {} steps, which are not steps of {} samples",
                        name, was.data.samples_seen, was.step, scenario.training.global_batch));
}

/// Throws if the folder has only damaged checkpoints, as was just found: a run does not start over
/// them. A checkpoint that was not saved to its end does not count.
void check_begins(const fs::path& folder, const std::vector<std::string>& damages) {
    for (const StepFolder& step : step_folders(folder))
        if (is_checkpoint(step.path))
            throw InputError(
                fmt::format("{} holds no checkpoint that is whole ({}); --resume auto starts no "
                            "training from scratch",
                            folder.string(), damages.front()));
}

void note_earlier(const fs::path& folder, std::vector<std::string>& notes) {
    for (const StepFolder& step : step_folders(folder)) {
        if (!is_checkpoint(step.path)) continue;
        notes.push_back(
            fmt::format("{} belongs to an earlier training: of all checkpoints in its folder, "
                        "sample, export and a later resume take the one with the most steps",
                        step.path.string()));
        return;
    }
}

/// Loads weights alone. If a ViT's weights have no classifier that fits, it is initialised at
/// random, and a note says so.
std::vector<std::string> load_weights(const PieceSource& weights,
                                      const scenarios::Scenario& scenario, RankTraining& training) {
    std::vector<WantedPiece> wanted = training.pieces_to_load(Wanted::Weights);
    std::vector<std::string> notes;
    if (scenario.model.sees_images()) {
        for (const Mismatch& mismatch : mismatches(weights, wanted)) {
            if (!is_head(mismatch.tensor)) continue;
            std::erase_if(
                wanted, [&](const WantedPiece& piece) { return piece.tensor == mismatch.tensor; });
            notes.push_back(sentence(mismatch) + ": it is initialised at random");
        }
    }
    load(weights, wanted);
    return notes;
}

}  // namespace

Start open_start(const scenarios::Scenario& scenario, const TrainingOptions& options,
                 const std::string& resume, int ranks) {
    Start start;
    if (resume == "auto") {
        if (options.checkpoint) {
            LatestCheckpoint latest = latest_checkpoint(options.checkpoint->dir, CheckedBy::Data);
            start.notes = std::move(latest.passed_over);
            start.resume = std::move(latest.checkpoint);
            if (!start.resume) check_begins(options.checkpoint->dir, start.notes);
        }
    } else if (resume == "never") {
        if (options.checkpoint) note_earlier(options.checkpoint->dir, start.notes);
    } else {
        if (!fs::exists(resume))
            throw InputError(fmt::format(
                "--resume: {} does not exist; it can be auto, never or a folder", resume));
        start.resume =
            is_checkpoint(resume) ? open_checkpoint(resume) : latest_in(resume, start.notes);
    }
    if (start.resume) {
        check_goes_on(*start.resume, scenario, options);
        start.notes.push_back(fmt::format("going on after step {} of {}", start.first_step(),
                                          start.resume->folder.string()));
        start.pieces.emplace(std::exchange(start.resume->pieces, {}), ranks);
        return start;
    }
    if (options.init_from.empty()) return start;
    const fs::path from = options.init_from;
    if (!fs::exists(from))
        throw InputError(fmt::format("init_from: {} does not exist", from.string()));
    PieceSource weights;
    if (fs::exists(from / "config.json")) {
        weights = open_hugging_face(from).weights;
        if (auto note = note_of_untaken(weights, scenario.model))
            start.notes.push_back(std::move(*note));
    } else {
        weights =
            (is_checkpoint(from) ? open_checkpoint(from) : latest_in(from, start.notes)).pieces;
    }
    start.notes.push_back(fmt::format("weights of {}", from.string()));
    start.pieces.emplace(std::move(weights), ranks);
    return start;
}

std::vector<std::string> load_start(const Start& start, const scenarios::Scenario& scenario,
                                    RankTraining& training) {
    std::vector<std::string> notes;
    if (!start.pieces) return notes;
    start.pieces->read([&](const PieceSource& source) {
        if (start.resume)
            load(source, training.pieces_to_load(Wanted::Everything));
        else
            notes = load_weights(source, scenario, training);
    });
    training.loaded();
    if (!start.resume) return notes;
    const TrainingState& was = start.resume->manifest.training;
    training.step->restore(was.optimizer_steps, was.loss_scale);
    return notes;
}

namespace {

/// The manifest of a checkpoint but for what the training has counted and its files.
Manifest manifest_of(const scenarios::Scenario& scenario, int ranks) {
    const scenarios::Parallel& parallel = scenario.parallel;
    Manifest manifest;
    manifest.layout = {
        ranks,         parallel.pipeline,   parallel.tensor,   parallel.context,
        parallel.data, parallel.zero_stage, parallel.sequence, scenario.schedule.name};
    manifest.architecture = scenario.model;
    manifest.settings = settings_of(scenario.training.run);
    manifest.settings["scenario"] = scenario.name;
    return manifest;
}

}  // namespace

void check_checkpoints(const scenarios::Scenario& scenario, int ranks) {
    check_reads_back(manifest_of(scenario, ranks));
}

std::string save_checkpoint(const SaveRequest& request, RankTraining& training,
                            Communicator& world) {
    const scenarios::Scenario& scenario = request.scenario;
    const CheckpointOptions& where = *request.options.checkpoint;
    const CheckpointWriter writer(where.dir, request.step, world.size());
    writer.write_rank(world.rank(), training.pieces_to_save());
    const std::string label = fmt::format("the checkpoint of step {}", request.step);
    world.barrier(label)->wait(within(request.patience));
    if (world.rank() == 0) {
        Manifest manifest = manifest_of(scenario, world.size());
        TrainingState& state = manifest.training;
        state.step = request.step;
        state.optimizer_steps = state.schedule_steps = training.step->steps_taken();
        state.learning_rate = request.lr;
        state.seed = static_cast<std::int64_t>(request.options.seed);
        const std::int64_t samples = request.batches.data().samples();
        state.data.samples_seen = request.step * scenario.training.global_batch;
        state.data.epoch = state.data.samples_seen / samples;
        state.data.sample = state.data.samples_seen % samples;
        state.data.tokens_seen = state.data.samples_seen * scenario.training.seq_length;
        state.loss_scale = training.step->loss_scale_state();
        manifest.layout.layers = request.layers;
        manifest.program_sha256 = request.program_hash;
        manifest.settings[kDataOfRun] = request.data;
        writer.commit(std::move(manifest), where.keep);
    }
    world.barrier(label)->wait(within(request.patience));
    return writer.folder().string();
}

}  // namespace debubble::exec
