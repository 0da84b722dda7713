#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "exec/cpu/cpu_kernels.h"
#include "exec/program/sample/language_model.h"
#include "exec/program/sample/saved_network.h"
#include "tests/exec/support/checkpoint_run.h"
#include "tests/exec/support/scratch_folder.h"

/// From the checkpoint of a run of many ranks to a folder that transformers loads.
namespace debubble::exec {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr Cut kManyRanks{2, 2, 2};

std::vector<float> logits_of(const SavedNetwork& network) {
    const auto kernels = make_cpu_kernels("fixed-order", 1);
    LanguageModel model(network, *kernels);
    const std::int32_t text[] = {1, 2};
    const std::span<const float> logits = model.logits(text);
    return {logits.begin(), logits.end()};
}

std::string refusal_of(const auto& call) {
    try {
        call();
    } catch (const InputError& error) {
        return error.what();
    }
    return "none";
}

/// Another bit in every byte of the tensors; lengths and headers stay.
void damage(const fs::path& step) {
    for (const auto& entry : fs::directory_iterator(step)) {
        if (entry.path().extension() != ".safetensors") continue;
        std::string bytes = read_file(entry.path());
        std::uint64_t header = 0;
        std::memcpy(&header, bytes.data(), sizeof header);
        for (std::size_t i = sizeof header + header; i < bytes.size(); ++i) bytes[i] ^= 1;
        write_file(entry.path(), bytes);
    }
}

class ExportNetwork : public testing::Test {
protected:
    ExportNetwork() {
        for (const std::int64_t step : {1, 2}) save(run(), small_gpt(), kManyRanks, step);
    }
    fs::path run() const { return folder_.path() / "run"; }
    fs::path out() const { return folder_.path() / "out"; }
    std::string export_mistake(const fs::path& from) const {
        return refusal_of([&] { export_network(open_saved_network(from), {}, out()); });
    }
    ScratchFolder folder_;
};

TEST_F(ExportNetwork, TheExportedNetworkComputesTheSame) {
    const SavedNetwork network = open_saved_network(run());
    const ExportedNetwork exported = export_network(network, {}, out());
    EXPECT_EQ(exported.type, DataType::Fp32);
    const SavedNetwork again = open_saved_network(out().string() + "/");
    EXPECT_EQ(again.architecture.vocab, network.architecture.vocab);
    EXPECT_EQ(logits_of(again), logits_of(network));
}

TEST_F(ExportNetwork, AFolderOfCheckpointsStandsForItsLatest) {
    EXPECT_EQ(open_saved_network(run()).folder.filename(), "step_2");
    EXPECT_EQ(logits_of(open_saved_network(run())),
              logits_of(open_saved_network(run() / "step_2")));
    EXPECT_NE(logits_of(open_saved_network(run())),
              logits_of(open_saved_network(run() / "step_1")));
}

TEST_F(ExportNetwork, ADamagedCheckpointIsNamedAndPassedOver) {
    damage(run() / "step_2");
    const SavedNetwork network = open_saved_network(run());
    EXPECT_EQ(network.folder.filename(), "step_1");
    ASSERT_EQ(network.notes.size(), 1u);
    EXPECT_THAT(network.notes[0], HasSubstr("step_2"));
}

TEST_F(ExportNetwork, NothingIsLeftOfOneThatFailed) {
    damage(run() / "step_2");
    damage(run() / "step_1");
    EXPECT_THAT(export_mistake(run() / "step_2"), HasSubstr("step_2"));
    EXPECT_THAT(export_mistake(run()), HasSubstr("holds no complete checkpoint"));
    EXPECT_THAT(export_mistake(run()), HasSubstr("step_1"));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1) << "only the run";
}

TEST_F(ExportNetwork, NothingIsOverwritten) {
    fs::create_directory(out());
    export_network(open_saved_network(run()), {}, out());  // an empty one may be there
    const std::string config = read_file(out() / "config.json");
    EXPECT_THAT(export_mistake(run()), HasSubstr("is not empty; none of its files is overwritten"));
    EXPECT_EQ(read_file(out() / "config.json"), config);
    fs::remove_all(out());
    write_file(out(), "a file");
    EXPECT_THAT(export_mistake(run()), HasSubstr("is a file"));
    EXPECT_EQ(read_file(out()), "a file");
}

TEST_F(ExportNetwork, TakesTheTokenizerAlong) {
    SavedNetwork network = open_saved_network(run());
    write_file(folder_.path() / "words/tokenizer.json", "{}");
    network.settings["data.tokenizer"] = (folder_.path() / "words/tokenizer.json").string();
    export_network(network, DataType::Bf16, out());
    EXPECT_EQ(read_file(out() / "tokenizer.json"), "{}");
    EXPECT_THAT(read_file(out() / "config.json"), HasSubstr("bfloat16"));
    fs::remove_all(out());
    network.settings["data.tokenizer"] = (folder_.path() / "gone.json").string();
    EXPECT_THAT(refusal_of([&] { export_network(network, {}, out()); }),
                HasSubstr("gone.json, which is not there"));
}

TEST_F(ExportNetwork, SaysWhatIsNoCheckpoint) {
    EXPECT_THAT(export_mistake(folder_.path() / "none"), HasSubstr("none does not exist"));
    write_file(folder_.path() / "file", "");
    EXPECT_THAT(export_mistake(folder_.path() / "file"), HasSubstr("is a file"));
    fs::create_directory(folder_.path() / "empty");
    EXPECT_THAT(export_mistake(folder_.path() / "empty"),
                HasSubstr("holds no complete checkpoint"));
}

}  // namespace
}  // namespace debubble::exec
