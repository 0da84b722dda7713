#include "exec/cpu/loops/optimizer.h"
#include "tests/exec/support/golden_networks.h"
#include "tests/exec/support/goldens.h"
#include "tests/exec/support/tensors.h"
#include "tests/exec/support/transformer.h"
#include "tests/exec/support/whole_loss.h"

namespace debubble::exec {
namespace {

class Network : public testing::TestWithParam<std::string> {
protected:
    Goldens golden_{GetParam()};
    std::int64_t counted_ = counted_targets(golden_["targets"]);

    Transformer network() const {
        std::map<std::string, Tensor> weights;
        for (const auto& [name, tensor] : golden_.all()) {
            if (golden_.has("d_" + name)) weights.emplace(name, tensor.clone());
        }
        return {golden_network(GetParam()), std::move(weights)};
    }
    /// The mean loss.
    double forward(Transformer& transformer) const {
        const double scale = 1.0 / static_cast<double>(counted_);
        return transformer.forward(golden_["inputs"], golden_["targets"], scale) * scale;
    }
    /// The mathematically zero gradient of a key's bias is measured by that of the query's.
    double scale_of(const std::string& name) const {
        const auto key = name.find("key.bias");
        if (key == std::string::npos) return 0;
        const Tensor& query = golden_["d_" + name.substr(0, key) + "query.bias"];
        return largest_magnitude<float>(query.as<float>());
    }
};

TEST_P(Network, HasPyTorchsLogitsLossAndGradients) {
    Transformer transformer = network();
    const double loss = forward(transformer);
    transformer.backward(Transformer::Order::Fused);
    EXPECT_NEAR(loss, golden_["losses"].as<float>()[0], 1e-5 * loss);
    EXPECT_LT(relative_difference(transformer.logits, golden_["logits"]), 1e-5);
    double worst = 0;
    for (const auto& [name, gradient] : transformer.gradients) {
        if (largest_magnitude<float>(golden_["d_" + name].as<float>()) == 0) {
            EXPECT_EQ(largest_magnitude<float>(gradient.as<float>()), 0) << name;
            continue;  // an expert that no token goes to
        }
        const double error = relative_difference(gradient, golden_["d_" + name], scale_of(name));
        EXPECT_LT(error, 1e-5) << name;
        worst = std::max(worst, error);
    }
    record_error("logits", relative_difference(transformer.logits, golden_["logits"]));
    record_error("worst_gradient", worst);
}

TEST_P(Network, FollowsPyTorchThroughTenStepsOfAdamW) {
    Transformer transformer = network();
    AdamOptions adamw{3e-3, 0.9, 0.999, 1e-8, 0.01, true};
    std::map<std::string, Tensor> first, second;
    for (const auto& [name, weight] : transformer.weights) {
        first.emplace(name, Tensor(weight.shape()));
        second.emplace(name, Tensor(weight.shape()));
    }
    double worst = 0;
    for (int step = 1; step <= 10; ++step) {
        const float expected = golden_["losses"].as<float>()[step - 1];
        const double loss = forward(transformer);
        EXPECT_NEAR(loss, expected, 1e-4 * expected) << "step " << step;
        worst = std::max(worst, std::abs(loss / expected - 1));
        transformer.zero_gradients();
        transformer.backward(Transformer::Order::Fused);
        for (auto& [name, weight] : transformer.weights) {
            loops::adam_step(adamw, step, 1, 0, transformer.gradients.at(name).as<float>(),
                             weight.as<float>(), first.at(name).as<float>(),
                             second.at(name).as<float>());
        }
    }
    record_error("worst_loss", worst);
}

void expect_same_gradients(const Transformer& a, const Transformer& b) {
    for (const auto& [name, gradient] : a.gradients) {
        EXPECT_TRUE(same_bits(gradient, b.gradients.at(name))) << name;
    }
}

TEST_P(Network, GivesTheSameBitsWhetherTheBackwardIsFusedOrSplit) {
    Transformer fused = network(), split = network();
    forward(fused);
    fused.backward(Transformer::Order::Fused);
    forward(split);
    split.backward(Transformer::Order::InputsThenWeights);
    expect_same_gradients(fused, split);
}

/// Sample `index` of a tensor that has one per row.
Tensor sample_of(const Tensor& all, std::int64_t index) {
    const Shape& shape = all.shape();
    Tensor one(shape.rank() == 1   ? Shape{1}
               : shape.rank() == 2 ? Shape{1, shape[1]}
                                   : Shape{1, shape[1], shape[2], shape[3]},
               all.type());
    std::copy_n(all.view().data + index * one.bytes(), one.bytes(), one.view().data);
    return one;
}

TEST_P(Network, GivesTheBitsOfOneBatchWhenItsSamplesComeAsMicrobatches) {
    Transformer whole = network(), parts = network();
    forward(whole);
    whole.backward(Transformer::Order::Fused);
    const double scale = 1.0 / static_cast<double>(counted_);
    for (std::int64_t sample = 0; sample < golden_["inputs"].shape()[0]; ++sample) {
        parts.forward(sample_of(golden_["inputs"], sample), sample_of(golden_["targets"], sample),
                      scale);
        parts.backward(Transformer::Order::InputsThenWeights);
    }
    // The tied embedding gathers from both ends of the network, so its order differs.
    const std::string tied = GetParam() == "gpt2" ? "wte.weight" : "";
    for (const auto& [name, gradient] : whole.gradients) {
        if (name == tied) {
            EXPECT_LT(relative_difference(gradient, parts.gradients.at(name)), 1e-6);
        } else {
            EXPECT_TRUE(same_bits(gradient, parts.gradients.at(name))) << name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Network, testing::Values("gpt2", "llama", "mixtral", "vit"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace debubble::exec
