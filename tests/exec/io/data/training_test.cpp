#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "exec/io/data/training_data.h"
#include "scenarios/read/read_scenario.h"
#include "tests/exec/support/data_files.h"
#include "tests/support/source_folder.h"

namespace debubble::exec {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

/// A small GPT that trains on `data`, the inside of a YAML map. Paths are of the folder.
scenarios::Scenario scenario(const Folder& folder, const std::string& data, int vocab = 257) {
    const std::string text = fmt::format(R"(
model: {{name: tiny, family: gpt2, layers: 1, hidden: 8, heads: 1, vocab: {}, max_positions: 4}}
cluster: dgx-a100-40gb
gpus: 2
parallel: {{data: 2}}
training:
  global_batch: 4
  micro_batch: 1
  seq_length: 4
  precision: fp32
  seed: 3
  data: {{{}}}
)",
                                         vocab, data);
    return scenarios::parse_scenario(text, (folder / "scenario.yaml").string());
}

std::string refusal(const Folder& folder, const std::string& data, int vocab = 257) {
    return sentence_of<InputError>([&] { open_training_data(scenario(folder, data, vocab)); });
}

std::vector<std::int32_t> first_inputs(const Batches& batches) {
    Batch batch = batches.micro_batch();
    batches.fill({0, 1, 1}, batch);
    const auto view = batch.inputs.as<std::int32_t>();
    return {view.begin(), view.end()};
}

TEST(TrainingData, IsDealtAsTheScenarioSays) {
    const Folder folder;
    folder.with("a.txt", "0000111122223333.");
    folder.with("b.txt", "abcde");
    const TrainingData data = open_training_data(scenario(folder, "text: a.txt, eval: b.txt"));
    EXPECT_EQ(data.train.data().samples(), 4);
    EXPECT_EQ(data.train.deal().micro_batches(), 2);
    EXPECT_THAT(first_inputs(data.train), ElementsAre('3', '3', '3', '3'));
    ASSERT_TRUE(data.eval);
    EXPECT_EQ(data.eval->counted(0), 4);
    EXPECT_EQ(data.ignore_index, -100);
}

TEST(TrainingData, ReadsTokensAndJsonLinesToo) {
    const Folder folder;
    write_tokens(folder, "a.bin", {1, 2, 3, 4, 5});
    EXPECT_THAT(first_inputs(open_training_data(scenario(folder, "tokens: a.bin", 6)).train),
                ElementsAre(1, 2, 3, 4));
    folder.with("a.jsonl", "{\"text\": \"ab\"}\n{\"text\": \"c\"}\n");
    const TrainingData padded = open_training_data(
        scenario(folder, "jsonl: a.jsonl, pack: false, pad_token: 7, ignore_index: -1"));
    EXPECT_THAT(first_inputs(padded.train), ElementsAre('c', 7, 7, 7));
    EXPECT_EQ(padded.train.counted(0), 2 * (2 + 1));
    EXPECT_EQ(padded.ignore_index, -1);
}

std::vector<std::int32_t> inputs_of(const Batches& batches, std::int64_t sample) {
    Batch batch = batches.data().batch_of(1);
    batches.data().read(sample, 0, batch);
    const auto view = batch.inputs.as<std::int32_t>();
    return {view.begin(), view.end()};
}

TEST(TrainingData, EndsJsonLinesWithTheTokenThatIsAskedFor) {
    const Folder folder;
    folder.with("a.jsonl", "{\"text\": \"abc\"}\n{\"text\": \"de\"}\n{\"text\": \"fg\"}\n");
    const auto opened = [&](const std::string& data) {
        return open_training_data(scenario(folder, "jsonl: a.jsonl, " + data)).train;
    };
    const Batches packed = opened("end_of_text: 88");
    EXPECT_THAT(inputs_of(packed, 0), ElementsAre('a', 'b', 'c', 'X'));
    EXPECT_THAT(inputs_of(packed, 1), ElementsAre('d', 'e', 'X', 'f'));
    const Batches padded = opened("end_of_text: 88, pack: false");
    EXPECT_EQ(padded.data().samples(), 3);
    EXPECT_THAT(inputs_of(padded, 0), ElementsAre('a', 'b', 'c', 'X'));
    EXPECT_THAT(inputs_of(padded, 1), ElementsAre('d', 'e', 'X', 'X'));
    EXPECT_EQ(padded.data().counted(1), 2) << "e and the end are learnt, the padding is not";
    EXPECT_THAT(inputs_of(opened("pack: true"), 0), ElementsAre('a', 'b', 'c', 256));
    EXPECT_THAT(refusal(folder, "jsonl: a.jsonl, end_of_text: 257"),
                EndsWith("'data.end_of_text' is 257, but the model's vocabulary ends at 256\n"));
    EXPECT_EQ(refusal(folder, "jsonl: a.jsonl, end_of_text: 10", 256), "")
        << "a vocabulary of bytes needs no token of its own between texts";
}

TEST(TrainingData, RefusesToEndSamplesInsideTexts) {
    const Folder folder;
    folder.with("a.jsonl", "{\"text\": \"aXb\"}\n{\"text\": \"cdeX\"}\n");
    EXPECT_THAT(refusal(folder, "jsonl: a.jsonl, pack: false, end_of_text: 88"),
                HasSubstr("a.jsonl: error: token 88, which 'data.end_of_text' puts after each "
                          "text, is also inside texts (2 times)"));
    EXPECT_EQ(refusal(folder, "jsonl: a.jsonl, end_of_text: 88"), "") << "packed texts are not cut";
    EXPECT_EQ(refusal(folder, "jsonl: a.jsonl, pack: false, end_of_text: 89"), "");
    folder.with("a.jsonl", "{\"text\": \"a<|endoftext|>b\"}\n");
    EXPECT_EQ(refusal(folder, "jsonl: a.jsonl, pack: false"), "");
}

TEST(TrainingData, CutsJsonLinesWithATokenizerThatHasNoEndOfText) {
    const Folder folder;
    auto tokenizer = nlohmann::json::parse(
        read_file(source_folder() / "tests/exec/goldens/tokenizers/gpt2/tokenizer.json"));
    tokenizer["added_tokens"] = nlohmann::json::array();
    auto& vocab = tokenizer["model"]["vocab"];
    vocab["[EOS]"] = vocab["<|endoftext|>"];
    vocab.erase("<|endoftext|>");
    folder.with("tokenizer.json", tokenizer.dump());
    folder.with("a.jsonl", "{\"text\": \"a\"}\n{\"text\": \"bcd\"}\n");
    const int size = static_cast<int>(vocab.size());
    const std::string data = "jsonl: a.jsonl, tokenizer: tokenizer.json";
    EXPECT_THAT(refusal(folder, data, size), HasSubstr("a.jsonl: error: the tokenizer "));
    EXPECT_THAT(refusal(folder, data, size),
                EndsWith("has no <|endoftext|> to separate documents: give the token that "
                         "ends them as 'data.end_of_text'\n"));
    const std::int32_t a = vocab["a"];
    for (const char* pack : {"true", "false"}) {
        const TrainingData cut = open_training_data(scenario(
            folder, fmt::format("{}, end_of_text: 0, pad_token: 1, pack: {}", data, pack), size));
        Batch batch = cut.train.data().batch_of(1);
        cut.train.data().read(0, 0, batch);
        EXPECT_EQ(batch.inputs.as<std::int32_t>().row(0)[0], a) << pack;
        EXPECT_EQ(batch.targets.as<std::int32_t>().row(0)[0], 0) << pack;
    }
}

TEST(TrainingData, ShufflesByTheSeed) {
    const Folder folder;
    std::string text;
    for (int i = 0; i < 200; ++i) text += fmt::format("{:04}", i);
    folder.with("a.txt", text + ".");
    const auto first = [&](const std::string& data, std::int64_t seed) {
        scenarios::Scenario asked = scenario(folder, data);
        asked.training.run.seed = static_cast<std::uint64_t>(seed);
        return first_inputs(open_training_data(asked).train);
    };
    EXPECT_EQ(first("text: a.txt", 1), first("text: a.txt", 2));
    EXPECT_EQ(first("text: a.txt, shuffle: true", 1), first("text: a.txt, shuffle: true", 1));
    EXPECT_NE(first("text: a.txt, shuffle: true", 1), first("text: a.txt, shuffle: true", 2));
}

TEST(TrainingData, RefusesWhatDoesNotFitTheModel) {
    const Folder folder;
    folder.with("a.txt", "abc<|endoftext|>de");
    write_tokens(folder, "a.bin", {1, 2, 3, 4, 5});
    EXPECT_THAT(
        refusal(folder, "text: a.txt", 256),
        HasSubstr("a.txt: error: token 3 of 6 is 256, but the model's vocabulary ends at 255\n"));
    EXPECT_EQ(refusal(folder, "text: a.txt", 257), "");
    EXPECT_THAT(refusal(folder, "text: none.txt"), HasSubstr("none.txt: error: no such file\n"));
    EXPECT_THAT(refusal(folder, "text: a.txt, pad_token: 257"),
                EndsWith("'data.pad_token' is 257, but the model's vocabulary ends at 256\n"));
    EXPECT_THAT(refusal(folder, "tokens: a.bin, pack: false"),
                HasSubstr("give 'data.end_of_text' or 'data.tokenizer'\n"));
    EXPECT_EQ(refusal(folder, "tokens: a.bin, pack: false, end_of_text: 3"), "");
    EXPECT_THAT(refusal(folder, "images: ."),
                EndsWith("tiny learns from tokens: give 'training.data' with one of 'tokens', "
                         "'text' and 'jsonl'\n"));
}

/// A small ViT that tells `classes` apart.
scenarios::Scenario vision(const Folder& folder, const std::string& data, int classes = 4) {
    const std::string text = fmt::format(R"(
model: {{name: seer, family: vit, layers: 1, hidden: 8, heads: 1, vocab: {}, image_size: 8,
        patch_size: 4}}
cluster: dgx-a100-40gb
gpus: 1
training: {{global_batch: 4, micro_batch: 2, precision: fp32, data: {{{}}}}}
)",
                                         classes, data);
    return scenarios::parse_scenario(text, (folder / "scenario.yaml").string());
}

TEST(TrainingData, ReadsImagesForAVit) {
    const Folder folder;
    const std::string shapes = (source_folder() / "scenarios/data/shapes").string();
    const std::string paths = fmt::format("images: {0}/train, eval: {0}/eval", shapes);
    const TrainingData data =
        open_training_data(vision(folder, paths + ", mean: [0, 0.5, 1], std: 0.25"));
    EXPECT_THAT(data.classes, ElementsAre("cross", "disc", "square", "triangle"));
    EXPECT_EQ(data.train.micro_batch().inputs.shape(), (Shape{2, 3, 8, 8}));
    EXPECT_EQ(data.train.counted(0), 4);
    EXPECT_EQ(data.eval->steps(1), 8);

    const auto refused = [&](const std::string& keys, int classes = 4) {
        return sentence_of<InputError>([&] { open_training_data(vision(folder, keys, classes)); });
    };
    EXPECT_THAT(refused(paths, 3),
                EndsWith("train: error: 4 classes are too many for seer, which tells 3 apart\n"));
    EXPECT_THAT(refused(paths + ", mean: [0.5, 0.5]"),
                EndsWith("'data.mean' has 2 numbers for images of 3 channels\n"));
    EXPECT_THAT(refused(paths + ", std: [0.5, 0]"),
                HasSubstr("'std' must be a number from 1e-06 to 1e+06, or one for each channel"));
    EXPECT_THAT(refused("text: a.txt"),
                EndsWith("seer learns from images: give 'training.data.images'\n"));
}

TEST(TrainingData, IsShippedForDemonstrations) {
    const Folder folder;
    const std::string tales = (source_folder() / "scenarios/data/tales").string();
    const TrainingData data = open_training_data(
        scenario(folder, fmt::format("text: {0}.txt, eval: {0}-eval.txt, cache: .", tales)));
    EXPECT_GT(data.train.data().samples(), 10'000);
    EXPECT_GT(data.eval->data().samples(), 1'000);
}

}  // namespace
}  // namespace debubble::exec
