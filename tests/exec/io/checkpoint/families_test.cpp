#include <cmath>

#include <gtest/gtest.h>

#include "exec/cpu/cpu_kernels.h"
#include "exec/io/checkpoint/hf/hugging_face.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "tests/exec/support/families.h"
#include "tests/exec/support/goldens.h"
#include "tests/exec/support/scratch_folder.h"
#include "tests/exec/support/tensors.h"
#include "tests/exec/support/whole_network.h"

/// Losses and gradients of networks that transformers saved, against its own:
/// goldens/hugging_face/make_models.py.
namespace debubble::exec {
namespace {

namespace fs = std::filesystem;

/// The gradients lie in a file of the model's own layout.
std::map<std::string, Tensor> golden_gradients(const std::string& name) {
    const ScratchFolder folder;
    const fs::path golden = golden_network_folder(name);
    fs::copy_file(golden / "config.json", folder.path() / "config.json");
    fs::copy_file(golden / "gradients.safetensors", folder.path() / "model.safetensors");
    HuggingFaceModel model = open_hugging_face(folder.path());
    for (auto& [key, tensor] : model.weights.tensors)
        for (StoredPiece& piece : tensor.pieces) piece.plus = 0;  // what a constant adds has none
    return named_weights(model.architecture, model.weights);
}

struct Case {
    std::string network;
    std::string kernels;
    friend void PrintTo(const Case& c, std::ostream* out) { *out << c.network << c.kernels; }
};

class GoldenFamily : public testing::TestWithParam<Case> {};

Trained train_golden(const HuggingFaceModel& model, const Goldens& golden, const Case& c,
                     double mtp_loss_scaling_factor = 0) {
    return train_once(model.architecture, named_weights(model.architecture, model.weights),
                      golden["inputs"], golden["targets"], *make_cpu_kernels(c.kernels, 1),
                      mtp_loss_scaling_factor);
}

void expect_golden_gradients(const HuggingFaceModel& model, const std::string& name,
                             const Trained& trained) {
    const std::map<std::string, Tensor> expected = golden_gradients(name);
    ASSERT_EQ(trained.gradients.size(), models::whole_parameters(model.architecture).size());
    double largest = 0;
    for (const auto& [tensor, gradient] : expected)
        largest = std::max(largest, largest_magnitude<float>(gradient.as<float>()));
    // Some gradients are the rounding of sums that vanish, such as those of the keys' biases.
    for (const auto& [tensor, gradient] : trained.gradients)
        EXPECT_LT(relative_difference(gradient, expected.at(tensor), 1e-2 * largest), 1e-5)
            << tensor;
}

TEST_P(GoldenFamily, HasTransformersLossAndGradients) {
    const std::string& name = GetParam().network;
    const HuggingFaceModel model = open_hugging_face(golden_network_folder(name));
    const Goldens golden("hugging_face/" + name + "/expected");
    const Trained trained = train_golden(model, golden, GetParam());
    const double loss = golden["loss"].as<float>()[0];
    EXPECT_NEAR(trained.loss, loss, 1e-5 * loss);
    expect_golden_gradients(model, name, trained);
}

class GoldenPrediction : public testing::TestWithParam<Case> {};

/// The network of make_mtp.py, and its factor.
TEST_P(GoldenPrediction, HasPyTorchsLossesAndGradients) {
    const std::string& name = GetParam().network;
    const HuggingFaceModel model = open_hugging_face(golden_network_folder(name));
    const Goldens golden("hugging_face/" + name + "/expected");
    const Trained trained = train_golden(model, golden, GetParam(), 0.3);
    const double loss = golden["loss"].as<float>()[0], ahead = golden["ahead"].as<float>()[0];
    EXPECT_NEAR(trained.loss, loss, 1e-5 * loss);
    EXPECT_NEAR(trained.ahead, ahead, 1e-5 * ahead);
    expect_golden_gradients(model, name, trained);
}

std::vector<Case> cases_of(const std::vector<std::string>& networks) {
    std::vector<Case> all;
    for (const std::string& network : networks)
        for (const char* kernels : {"fixed-order", "auto"}) all.push_back({network, kernels});
    return all;
}

std::string name_of_case(const testing::TestParamInfo<Case>& each) {
    return each.param.network + (each.param.kernels == "auto" ? "_auto" : "_fixed_order");
}

INSTANTIATE_TEST_SUITE_P(Networks, GoldenFamily, testing::ValuesIn(cases_of(golden_families())),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Networks, GoldenPrediction,
                         testing::ValuesIn(cases_of({"deepseek_v3_mtp"})), name_of_case);

}  // namespace
}  // namespace debubble::exec
