#include <cstring>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "exec/io/checkpoint/checkpoint.h"
#include "exec/io/checkpoint/hf/hugging_face.h"
#include "exec/io/checkpoint/safetensors.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "tests/exec/support/families.h"
#include "tests/exec/support/goldens.h"
#include "tests/exec/support/scratch_folder.h"
#include "tests/exec/support/tensors.h"
#include "tests/exec/support/transformer.h"
#include "tests/exec/support/whole_network.h"

/// Against models that transformers saved: goldens/hugging_face/make_models.py.
namespace debubble::exec {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

fs::path golden_folder(const std::string& name) {
    return golden_network_folder(name);
}

/// The network's parameters as tensors of their own, and the pieces that fill them.
struct Weights {
    std::map<std::string, Tensor> tensors;
    std::vector<WantedPiece> pieces;
};

Weights weights_for(const models::Architecture& model) {
    Weights weights;
    for (const models::Parameter& parameter : models::whole_parameters(model)) {
        Tensor& tensor = weights.tensors.emplace(parameter.name, Tensor(shape_of(parameter.shape)))
                             .first->second;
        const auto pieces =
            pieces_of(parameter, {}, 0, kinds::kParameter, DataType::Fp32, tensor.view().data);
        weights.pieces.insert(weights.pieces.end(), pieces.begin(), pieces.end());
    }
    return weights;
}

Tensor logits_of(const HuggingFaceModel& model, const Goldens& expected) {
    Transformer network(model.architecture, named_weights(model.architecture, model.weights));
    const std::int64_t samples = expected["inputs"].shape()[0];
    const bool image = model.architecture.family == models::Family::Vit;
    const Tensor targets(image ? Shape{samples} : expected["inputs"].shape(), DataType::Int32);
    network.forward(expected["inputs"], targets, 1);
    return network.logits.clone();
}

void expect_the_logits_of_transformers(const HuggingFaceModel& model, const std::string& golden,
                                       double tolerance = 1e-5) {
    const Goldens expected("hugging_face/" + golden + "/expected");
    const Tensor logits = logits_of(model, expected);
    ASSERT_EQ(logits.view().bytes(), expected["logits"].view().bytes());
    double worst = 0;
    for (std::int64_t i = 0; i < logits.as<float>().size(); ++i)
        worst = std::max(
            worst, std::abs(double{logits.as<float>()[i]} - expected["logits"].as<float>()[i]));
    EXPECT_LT(worst, tolerance * largest_magnitude<float>(expected["logits"].as<float>()));
}

/// Name, type, shape and bits of every tensor of a model, of one file or of several.
std::map<std::string, std::string> contents_of(const fs::path& folder) {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with("model") || !name.ends_with(".safetensors")) continue;
        const SafetensorsFile file = open_safetensors(entry.path());
        EXPECT_EQ(file.header.metadata, (Metadata{{"format", "pt"}}));
        for (const SafetensorsEntry& tensor : file.header.entries)
            found[tensor.name] = std::string(word(tensor.type)) + text(tensor.shape) +
                                 std::string(file.data(tensor));
    }
    return found;
}

class HuggingFace : public testing::TestWithParam<std::string> {};

TEST_P(HuggingFace, ImportedItGivesTheLogitsOfTransformers) {
    expect_the_logits_of_transformers(open_hugging_face(golden_folder(GetParam())), GetParam());
}

/// Exports a golden to an empty folder.
void expect_an_export_as_transformers_saves_it(const std::string& name, const fs::path& folder) {
    const HuggingFaceModel model = open_hugging_face(golden_folder(name));
    export_hugging_face(model.weights, model.architecture, DataType::Fp32, folder);
    EXPECT_EQ(contents_of(folder), contents_of(golden_folder(name)));
    models::Architecture again = open_hugging_face(folder).architecture;
    again.source = model.architecture.source;
    EXPECT_EQ(again, model.architecture);
    const auto class_of = [](const fs::path& where) {
        const std::string config = read_file(where / "config.json");
        const std::size_t at = config.find("\"architectures\"");
        return config.substr(at, config.find(']', at) - at);
    };
    EXPECT_EQ(class_of(folder), class_of(golden_folder(name)));
}

TEST_P(HuggingFace, ExportedItIsWhatTransformersSaves) {
    const ScratchFolder folder;
    expect_an_export_as_transformers_saves_it(GetParam(), folder.path());
    expect_the_logits_of_transformers(open_hugging_face(folder.path()), GetParam());
}

class HuggingFaceFamily : public testing::TestWithParam<std::string> {};

TEST_P(HuggingFaceFamily, ExportedItIsWhatTransformersSaves) {
    const ScratchFolder folder;
    expect_an_export_as_transformers_saves_it(GetParam(), folder.path());
}

TEST_P(HuggingFaceFamily, EveryTensorThatTransformersSavedIsTaken) {
    const HuggingFaceModel model = open_hugging_face(golden_folder(GetParam()));
    EXPECT_EQ(note_of_untaken(model.weights, model.architecture), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Models, HuggingFaceFamily, testing::ValuesIn(golden_networks()),
                         [](const auto& model) { return model.param; });

TEST_P(HuggingFace, HalvesAreConvertedBothWays) {
    const HuggingFaceModel model = open_hugging_face(golden_folder(GetParam()));
    for (const auto& [type, tolerance] :
         {std::pair(DataType::Fp16, 1e-2), std::pair(DataType::Bf16, 1e-1)}) {
        const ScratchFolder folder;
        export_hugging_face(model.weights, model.architecture, type, folder.path());
        expect_the_logits_of_transformers(open_hugging_face(folder.path()), GetParam(), tolerance);
    }
}

INSTANTIATE_TEST_SUITE_P(Models, HuggingFace,
                         testing::Values("gpt2", "llama", "llama_tied", "mixtral", "vit"),
                         [](const auto& model) { return model.param; });

/// The golden with other names, and more tensors.
fs::path variant(const ScratchFolder& folder, const std::string& golden, const auto& rename,
                 const std::vector<NewTensor>& more = {}) {
    const SafetensorsFile file = open_safetensors(golden_folder(golden) / "model.safetensors");
    std::vector<NewTensor> tensors;
    for (const SafetensorsEntry& entry : file.header.entries)
        tensors.push_back({rename(entry.name), entry.type, entry.shape});
    tensors.insert(tensors.end(), more.begin(), more.end());
    const fs::path path = folder.path() / "model.safetensors";
    SafetensorsWriter writer(path, tensors, {});
    for (const SafetensorsEntry& entry : file.header.entries) writer.append(file.data(entry));
    for (const NewTensor& tensor : more) writer.append(std::string(tensor.bytes(), '\1'));
    writer.finish({}, path);
    fs::copy_file(golden_folder(golden) / "config.json", folder.path() / "config.json",
                  fs::copy_options::overwrite_existing);
    return folder.path();
}

std::string without(const std::string& prefix, const std::string& name) {
    return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

TEST(HuggingFaceNames, TheBaseModelsPrefixMayBeAbsent) {
    for (const auto& [golden, prefix] :
         {std::pair("gpt2", "transformer."), {"vit", "vit."}, {"llama_tied", "model."}}) {
        const ScratchFolder folder;
        const auto strip = [&](const std::string& name) { return without(prefix, name); };
        expect_the_logits_of_transformers(open_hugging_face(variant(folder, golden, strip)),
                                          golden);
    }
}

TEST(HuggingFaceNames, WhatIsNoParameterIsPassedOver) {
    const ScratchFolder folder;
    const auto same = [](const std::string& name) { return name; };
    const auto path = variant(folder, "gpt2", same,
                              {{"transformer.h.0.attn.bias", StoredType::U8, {1, 1, 8, 8}},
                               {"transformer.h.0.attn.masked_bias", StoredType::F32, {}},
                               {"lm_head.weight", StoredType::F32, {29, 16}}});
    const HuggingFaceModel model = open_hugging_face(path);
    expect_the_logits_of_transformers(model, "gpt2");
    EXPECT_EQ(note_of_untaken(model.weights, model.architecture), std::nullopt);
}

TEST_P(HuggingFace, EveryTensorOfAModelThatTransformersSavedIsTaken) {
    const HuggingFaceModel model = open_hugging_face(golden_folder(GetParam()));
    EXPECT_EQ(note_of_untaken(model.weights, model.architecture), std::nullopt);
}

TEST(HuggingFaceNames, WhatNobodyTakesIsNamed) {
    const ScratchFolder folder;
    const auto same = [](const std::string& name) { return name; };
    const auto path = variant(folder, "llama_tied", same,
                              {{"model.layers.0.self_attn.q_proj.bias", StoredType::F32, {16}}});
    const HuggingFaceModel model = open_hugging_face(path);
    EXPECT_EQ(note_of_untaken(model.weights, model.architecture),
              fmt::format("1 tensor of {} is not a parameter of the model and not taken: "
                          "model.layers.0.self_attn.q_proj.bias",
                          path.string()));
    std::vector<NewTensor> ten;
    for (int i = 0; i < 10; ++i)
        ten.push_back({fmt::format("model.adapter.{}", i), StoredType::F32, {1}});
    const ScratchFolder other;
    const HuggingFaceModel adapted = open_hugging_face(variant(other, "llama_tied", same, ten));
    EXPECT_EQ(note_of_untaken(adapted.weights, adapted.architecture),
              fmt::format("10 tensors of {} are not a parameter of the model and not taken: "
                          "model.adapter.0, model.adapter.1, model.adapter.2, model.adapter.3, "
                          "model.adapter.4, model.adapter.5, model.adapter.6, model.adapter.7 and "
                          "2 more",
                          other.path().string()));
}

std::string mistake_of(const auto& call) {
    try {
        call();
    } catch (const InputError& error) {
        return error.what();
    }
    return "none";
}

TEST(HuggingFaceNames, TwoTensorsOfOneNameAreRefused) {
    const ScratchFolder folder;
    const auto same = [](const std::string& name) { return name; };
    const auto path = variant(folder, "gpt2", same, {{"wpe.weight", StoredType::F32, {8, 16}}});
    EXPECT_THAT(mistake_of([&] { open_hugging_face(path); }),
                HasSubstr("'wpe.weight' is a second 'wpe.weight', which was "
                          "'transformer.wpe.weight' in "));
}

TEST(HuggingFaceImport, ATensorOfSeveralParametersIsDemandedInItsShape) {
    const std::string qkv = "model.layers.0.self_attn.qkv_proj.weight";
    const auto away = [&](const std::string& name) { return name == qkv ? "gone" : name; };
    const ScratchFolder folder;
    const auto turned = variant(folder, "phi3", away, {{qkv, StoredType::F32, {16, 32}}});
    EXPECT_THAT(mistake_of([&] { open_hugging_face(turned); }),
                HasSubstr("model.safetensors: error: '" + qkv +
                          "' has the shape [16, 32], not [32, 16] as " + turned.string() +
                          "/config.json says"));
    const ScratchFolder other;
    const HuggingFaceModel lacking = open_hugging_face(variant(other, "phi3", away));
    EXPECT_THAT(
        mistake_of([&] { named_weights(lacking.architecture, lacking.weights); }),
        HasSubstr("has no 'parameter' of 'model.layers.0.self_attn.q_proj.weight' [16, 16]"));
}

TEST(HuggingFaceImport, AHeadOfOtherClassesIsReported) {
    HuggingFaceModel model = open_hugging_face(golden_folder("vit"));
    model.architecture.vocab = 10;
    const Weights weights = weights_for(model.architecture);
    const std::vector<Mismatch> found = mismatches(model.weights, weights.pieces);
    EXPECT_THAT(found,
                ElementsAre(Mismatch{"parameter", "classifier.weight", {10, 16}, Dimensions{3, 16}},
                            Mismatch{"parameter", "classifier.bias", {10}, Dimensions{3}}));
    EXPECT_EQ(sentence(found[1]), "has a 'parameter' of 'classifier.bias' of shape [3], not [10]");
    EXPECT_THAT(mistake_of([&] { load(model.weights, weights.pieces); }),
                HasSubstr("'classifier.weight' of shape [3, 16], not [10, 16]"));
}

TEST(HuggingFaceImport, TheWeightsMeetAWantOfMastersToo) {
    const HuggingFaceModel model = open_hugging_face(golden_folder("gpt2"));
    Weights weights = weights_for(model.architecture);
    for (WantedPiece& piece : weights.pieces) piece.kind = kinds::kMain;
    EXPECT_TRUE(mismatches(model.weights, weights.pieces).empty());
    for (WantedPiece& piece : weights.pieces) piece.kind = kinds::kFirstMoment;
    EXPECT_EQ(mismatches(model.weights, weights.pieces).size(), weights.pieces.size());
}

TEST(HuggingFaceImport, SaysWhatIsWrongWithAFolder) {
    const ScratchFolder folder;
    const auto mistake = [&] { return mistake_of([&] { open_hugging_face(folder.path()); }); };
    EXPECT_THAT(mistake(), HasSubstr("config.json: error: no such file"));
    fs::copy_file(golden_folder("llama") / "config.json", folder.path() / "config.json");
    EXPECT_THAT(mistake(), HasSubstr("model.safetensors: error: no such file"));
    write_file(folder.path() / "pytorch_model.bin", "pickle");
    EXPECT_THAT(mistake(), HasSubstr("a Python pickle"));
    const fs::path index = folder.path() / "model.safetensors.index.json";
    write_file(index, R"({"weight_map": {"model.norm.weight": "../model.safetensors"}})");
    EXPECT_THAT(mistake(), HasSubstr("'model.norm.weight' must be in a file of this folder, not in "
                                     "'../model.safetensors'"));
    fs::copy_file(golden_folder("llama") / "model-00001-of-00004.safetensors",
                  folder.path() / "part.safetensors");
    write_file(index, R"({"weight_map": {"model.norm.weight": "part.safetensors"}})");
    EXPECT_THAT(mistake(), HasSubstr("part.safetensors: error: has no tensor 'model.norm.weight', "
                                     "though the index says so"));
}

TEST(HuggingFaceExport, ANetworkThatTransformersDoesNotBuildIsRefused) {
    const HuggingFaceModel model = open_hugging_face(golden_folder("gpt2"));
    models::Architecture other = model.architecture;
    other.norm = models::Norm::RmsNorm;
    other.learned_positions = false;
    const ScratchFolder folder;
    EXPECT_THAT(mistake_of([&] {
                    export_hugging_face(model.weights, other, DataType::Fp32, folder.path());
                }),
                HasSubstr("cannot be exported as GPT2LMHeadModel, which needs LayerNorm, learned "
                          "positions"));
    EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace debubble::exec
