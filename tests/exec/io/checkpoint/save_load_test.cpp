#include <csignal>
#include <fstream>
#include <functional>

#include <sys/resource.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "exec/io/checkpoint/checkpoint.h"
#include "exec/io/checkpoint/piece_source.h"
#include "tests/exec/support/checkpoint_run.h"
#include "tests/exec/support/scratch_folder.h"
#include "tests/models/change_layers.h"

namespace debubble::exec {
namespace {

using models::Architecture;
using testing::ElementsAre;
using testing::HasSubstr;

std::string first_mistake(const auto& call) {
    try {
        call();
    } catch (const InputError& error) {
        return error.diagnostics().front().where.file + ": " + error.diagnostics().front().message;
    }
    return "none";
}

TEST(Checkpoint, AnyLayoutLoadsAnyOther) {
    const Cut cuts[] = {{1, 1, 1}, {2, 1, 1}, {1, 4, 1}, {1, 1, 3}, {2, 2, 2}, {1, 2, 5}};
    for (const Cut& saved : cuts) {
        const ScratchFolder folder;
        save(folder.path(), small_gpt(), saved, 7);
        const Checkpoint checkpoint = open_checkpoint(folder.path() / "step_7");
        EXPECT_NO_THROW(verify(checkpoint.pieces));
        for (const Cut& loaded : cuts) expect_loads(checkpoint, small_gpt(), loaded);
    }
}

TEST(Checkpoint, AFlippedByteIsNamed) {
    const ScratchFolder folder;
    save(folder.path(), small_gpt(), {}, 1);
    const auto step = folder.path() / "step_1";
    const Checkpoint good = open_checkpoint(step);
    const StoredPiece& piece = good.pieces.tensors.at({"parameter", "h.1.ln_2.bias"}).pieces[0];
    const std::string file = piece.file;
    std::string bytes = read_file(file);
    const std::string intact = bytes;
    bytes[bytes.size() - 5] ^= 1;  // in the last tensor, whichever that is
    write_file(file, bytes);
    EXPECT_THAT(
        first_mistake([&] { verify(open_checkpoint(step).pieces); }),
        testing::AllOf(HasSubstr(file), HasSubstr("is damaged"), HasSubstr("first_moment/")));
    EXPECT_THROW(expect_loads(open_checkpoint(step), small_gpt(), {}), InputError);
    bytes = intact;
    bytes[intact.find("h.1.ln_2.bias") + 2] = '0';  // in the header
    write_file(file, bytes);
    EXPECT_NE(first_mistake([&] { open_checkpoint(step); }), "none");
    write_file(file, intact.substr(0, intact.size() - 1));
    EXPECT_NE(first_mistake([&] { open_checkpoint(step); }), "none");
    write_file(file, intact);
    EXPECT_NO_THROW(verify(open_checkpoint(step).pieces));
    std::string manifest = read_file(step / "manifest.json");
    const std::size_t at = manifest.find("\"step\": 1");
    manifest[at + 8] = '2';
    write_file(step / "manifest.json", manifest);
    EXPECT_THAT(first_mistake([&] { open_checkpoint(step); }),
                HasSubstr("the manifest is damaged"));
}

TEST(Checkpoint, NoFlippedByteGoesUnnoticed) {
    const ScratchFolder folder;
    save(folder.path(), small_gpt(), {}, 1);
    const auto step = folder.path() / "step_1";
    for (const auto& entry : std::filesystem::directory_iterator(step)) {
        const std::string intact = read_file(entry.path());
        const std::size_t stride = intact.size() > 4096 ? intact.size() / 200 : 1;
        for (std::size_t at = 0; at < intact.size(); at += stride) {
            std::string bytes = intact;
            bytes[at] ^= static_cast<char>(1 << at % 8);
            std::ofstream(entry.path(), std::ios::binary) << bytes;
            EXPECT_THROW(verify(open_checkpoint(step).pieces), InputError) << entry << " at " << at;
        }
        std::ofstream(entry.path(), std::ios::binary) << intact;
    }
    EXPECT_NO_THROW(verify(open_checkpoint(step).pieces));
}

TEST(Checkpoint, KeepsTheLatestAndWhatIsNotItsOwn) {
    const ScratchFolder folder;
    const auto steps = [&] {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
            names.push_back(entry.path().filename());
        return names;
    };
    for (const std::int64_t step : {1, 2, 3, 20}) save(folder.path(), small_gpt(), {}, step);
    CheckpointWriter(folder.path(), 4, 1);  // never completed
    write_file(folder.path() / "step_2" / "notes.txt", "mine");
    save(folder.path(), small_gpt(), {2, 1, 1}, 5, 2);
    EXPECT_THAT(steps(), testing::UnorderedElementsAre("step_2", "step_3", "step_5", "step_20"));
    EXPECT_THAT(std::distance(std::filesystem::directory_iterator(folder.path() / "step_2"), {}),
                1);
    EXPECT_NO_THROW(open_checkpoint(folder.path() / "step_5"));
    EXPECT_NO_THROW(open_checkpoint(folder.path() / "step_3"));
    EXPECT_NO_THROW(open_checkpoint(folder.path() / "step_20"));  // perhaps another run's
}

TEST(Checkpoint, AStepSavedAgainReplacesTheFirst) {
    const ScratchFolder folder;
    save(folder.path(), small_gpt(), {1, 2, 2}, 5);
    const Checkpoint before = open_checkpoint(folder.path() / "step_5");
    save(folder.path(), small_gpt(), {2, 1, 1}, 5);
    const Checkpoint after = open_checkpoint(folder.path() / "step_5");
    expect_loads(before, small_gpt(), {});  // its files are mapped, though no name leads to them
    expect_loads(after, small_gpt(), {});
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path() / "step_5"), {}), 3);
}

/// No file may be longer, as if the disk were full.
class FullDisk {
public:
    explicit FullDisk(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FullDisk() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, signal_);
    }

private:
    rlimit before_{};
    void (*signal_)(int);
};

TEST(Checkpoint, ADiskThatIsFullLeavesWhatWasThere) {
    const ScratchFolder folder;
    save(folder.path(), small_gpt(), {}, 1, 1);
    for (const rlim_t bytes : {0, 100, 20'000}) {
        const FullDisk disk(bytes);
        EXPECT_THROW(save(folder.path(), small_gpt(), {}, 2, 1), WorldError) << bytes;
        EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "step_2")) << bytes;
    }
    const LatestCheckpoint latest = latest_checkpoint(folder.path(), CheckedBy::Data);
    ASSERT_TRUE(latest.checkpoint);
    expect_loads(*latest.checkpoint, small_gpt(), {});
    EXPECT_THROW(save("/proc/nowhere", small_gpt(), {}, 2), WorldError);
}

TEST(Checkpoint, WhatIsMissingIsNamed) {
    const ScratchFolder folder;
    save(folder.path(), small_gpt(), {}, 1);
    Checkpoint checkpoint = open_checkpoint(folder.path() / "step_1");
    const PieceSource whole = checkpoint.pieces;
    checkpoint.pieces.name = "run";
    const auto mistake = [&] {
        return first_mistake([&] { expect_loads(checkpoint, small_gpt(), {}); });
    };
    checkpoint.pieces.tensors.erase({"first_moment", "ln_f.bias"});
    EXPECT_EQ(mistake(), "run: has no 'first_moment' of 'ln_f.bias' [24]");
    checkpoint.pieces = whole;
    checkpoint.pieces.name = "run";
    StoredTensor& tensor = checkpoint.pieces.tensors.at({"parameter", "wpe.weight"});
    tensor.pieces[0].box.extent = {3, 24};
    EXPECT_EQ(mistake(),
              "run: the elements [3:7, 0:24] of the 'parameter' of 'wpe.weight' [7, 24] are in no "
              "file");
    tensor.shape = {8, 24};
    EXPECT_EQ(mistake(), "run: has a 'parameter' of 'wpe.weight' of shape [8, 24], not [7, 24]");
}

TEST(Checkpoint, AnotherModelIsToldWithBothSides) {
    const ScratchFolder folder;
    save(folder.path(), small_gpt(), {}, 1);
    const Checkpoint checkpoint = open_checkpoint(folder.path() / "step_1");
    EXPECT_NO_THROW(check_same_network(checkpoint, small_gpt()));
    Architecture other = small_gpt();
    other.name = "large";
    other.vocab = 50257;
    set_layer_count(other, 12);
    EXPECT_EQ(first_mistake([&] { check_same_network(checkpoint, other); }),
              (folder.path() / "step_1").string() +
                  ": a checkpoint of another model: this one is of 'small', but the run needs one "
                  "of 'large'; they have layers 2 and 12, vocab 29 and 50257");
}

TEST(Checkpoint, TheLatestCompleteOneIsFound) {
    const ScratchFolder folder;
    EXPECT_FALSE(latest_checkpoint(folder.path() / "none", CheckedBy::Data).checkpoint);
    for (const std::int64_t step : {9, 10, 100}) save(folder.path(), small_gpt(), {}, step);
    const CheckpointWriter interrupted(folder.path(), 200, 1);
    RankMemory memory(small_gpt(), {}, 0);
    std::vector<Piece> pieces;
    for (const WantedPiece& piece : memory.pieces()) pieces.push_back(piece);
    interrupted.write_rank(0, pieces);
    std::filesystem::create_directories(folder.path() / "step_0300");
    const auto latest = [&](CheckedBy by) { return latest_checkpoint(folder.path(), by); };
    const LatestCheckpoint found = latest(CheckedBy::Data);
    ASSERT_TRUE(found.checkpoint);
    EXPECT_EQ(found.checkpoint->manifest.training.step, 100);
    EXPECT_THAT(found.passed_over,
                ElementsAre("step_200 is passed over: " + (folder.path() / "step_200").string() +
                            ": not a complete checkpoint: it has no manifest.json"));
    const std::string file = found.checkpoint->pieces.tensors.begin()->second.pieces[0].file;
    std::string bytes = read_file(file);
    bytes.back() ^= 1;
    write_file(file, bytes);
    EXPECT_EQ(latest(CheckedBy::Headers).checkpoint->manifest.training.step, 100);
    EXPECT_EQ(latest(CheckedBy::Data).checkpoint->manifest.training.step, 10);
    EXPECT_EQ(latest(CheckedBy::Data).passed_over.size(), 2u);
}

TEST(Checkpoint, TheManifestKeepsEverything) {
    Manifest manifest = manifest_of(small_gpt(), 123456789012);
    manifest.training.optimizer_steps = 5;
    manifest.training.schedule_steps = 6;
    manifest.training.learning_rate = 0.1 + 0.2;
    manifest.training.seed = 1234;
    manifest.training.data = {1, 2, 3, 4};
    manifest.training.loss_scale = {65536, 7, 2, 9};
    manifest.layout = {8, 2, 2, 1, 2, 3, true, "zb-h1", {5, 7, 0, 1}};
    manifest.program_sha256 = std::string(64, 'a');
    manifest.settings = {{"data", "a \"quoted\"\npath"}, {"optimizer", "adamw"}};
    manifest.files = {{"rank_00000-1.safetensors", 5, std::string(64, 'b')}};
    manifest.architecture.norm_eps = 1.0 / 3;
    manifest.architecture.sharding = {{"h.*.mlp.c_fc.*", models::Sharding::Replicated}};
    EXPECT_EQ(parse_manifest(manifest_json(manifest), "manifest.json"), manifest);
}

/// The sentence about a manifest that could not be read back; empty if it could.
std::string why_lost(const Manifest& manifest) {
    try {
        check_reads_back(manifest);
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

TEST(Checkpoint, ThatCouldNotBeReadBackIsSaidBeforeItIsSaved) {
    Manifest manifest = manifest_of(small_gpt(), 1);
    EXPECT_EQ(why_lost(manifest), "");
    // These networks are none that a file describes: no reader makes them.
    Manifest unreadable = manifest;
    unreadable.architecture.vocab = 0;
    EXPECT_THAT(why_lost(unreadable), HasSubstr("'vocab' must be at least 1, not 0"));
    EXPECT_THAT(why_lost(unreadable), HasSubstr("trained without 'training.checkpoint'"));
    // What a layer has, a file tells: such a network is read back as it is.
    const auto changed = [&](const std::function<void(models::Attention&)>& change) {
        Manifest told = manifest;
        told.architecture.layers = told.architecture.layers.changed(
            [&](models::Layer& layer) { change(std::get<models::Attention>(layer.mixer)); });
        EXPECT_NE(told.architecture, manifest.architecture);
        return why_lost(told);
    };
    EXPECT_EQ(changed([](models::Attention& of) { of.value_dim += 1; }), "");
    EXPECT_EQ(changed([](models::Attention& of) { of.output_bias = false; }), "");
    EXPECT_EQ(changed([](models::Attention& of) { of.value_norm = true; }), "");
    EXPECT_THAT(changed([](models::Attention& of) { of.latent.emplace(); }),
                HasSubstr("latent attention needs the family deepseek"));
}

TEST(Checkpoint, ThatIsCutWhileItIsLoadedIsSaid) {
    const ScratchFolder folder;
    save(folder.path(), small_gpt(), {}, 1);
    const Checkpoint checkpoint = open_checkpoint(folder.path() / "step_1");
    const auto file = checkpoint.pieces.files.front()->path();
    std::filesystem::resize_file(file, 5000);
    EXPECT_THROW(verify(checkpoint.pieces), FileCut);
    try {
        expect_loads(checkpoint, small_gpt(), {});
        ADD_FAILURE() << "it was loaded";
    } catch (const FileCut& error) {
        EXPECT_THAT(error.what(), HasSubstr(file.string() + ": was cut to 5000 bytes"));
    }
}

/// Whether this process has mapped a file of the folder.
bool has_mapped(const std::filesystem::path& folder) {
    std::ifstream maps("/proc/self/maps");
    const std::string all(std::istreambuf_iterator<char>(maps), {});
    return all.find(folder.string()) != std::string::npos;
}

TEST(SharedPieces, AreLetGoOnceEveryReaderHasRead) {
    const ScratchFolder folder;
    save(folder.path(), small_gpt(), {}, 1);
    const auto step = folder.path() / "step_1";
    const SharedPieces shared(open_checkpoint(step).pieces, 3);
    int pieces = 0;
    const auto read = [&] {
        shared.read([&](const PieceSource& source) {
            verify(source);
            pieces += static_cast<int>(source.tensors.size());
        });
    };
    EXPECT_THROW(shared.read([](const PieceSource&) { throw InputError("it is not to be read"); }),
                 InputError);
    read();
    read();
    EXPECT_TRUE(has_mapped(folder.path()));
    read();
    EXPECT_FALSE(has_mapped(folder.path()));
    EXPECT_EQ(pieces, 3 * static_cast<int>(open_checkpoint(step).pieces.tensors.size()));
}

}  // namespace
}  // namespace debubble::exec
