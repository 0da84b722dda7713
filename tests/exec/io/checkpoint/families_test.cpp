#include <cmath>

#include <gtest/gtest.h>

#include "exec/cpu/cpu_kernels.h"
#include "exec/io/checkpoint/hugging_face.h"
#include "models/graph.h"
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

TEST_P(GoldenFamily, HasTransformersLossAndGradients) {
    const auto& [name, kernels] = GetParam();
    const HuggingFaceModel model = open_hugging_face(golden_network_folder(name));
    const Goldens golden("hugging_face/" + name + "/expected");
    const Trained trained =
        train_once(model.architecture, named_weights(model.architecture, model.weights),
                   golden["inputs"], golden["targets"], *make_cpu_kernels(kernels, 1));
    const double loss = golden["loss"].as<float>()[0];
    EXPECT_NEAR(trained.loss, loss, 1e-5 * loss);
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

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const std::string& network : golden_families())
        for (const char* kernels : {"fixed-order", "auto"}) all.push_back({network, kernels});
    return all;
}

INSTANTIATE_TEST_SUITE_P(Networks, GoldenFamily, testing::ValuesIn(cases()), [](const auto& each) {
    return each.param.network + (each.param.kernels == "auto" ? "_auto" : "_fixed_order");
});

}  // namespace
}  // namespace debubble::exec
