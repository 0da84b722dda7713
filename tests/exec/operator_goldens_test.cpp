#include <cmath>

#include "exec/core/stage/rope_table.h"
#include "exec/cpu/reference/activation.h"
#include "exec/cpu/reference/attention.h"
#include "exec/cpu/reference/cross_entropy.h"
#include "exec/cpu/reference/embedding.h"
#include "exec/cpu/reference/layer_norm.h"
#include "exec/cpu/reference/linear.h"
#include "exec/cpu/reference/patches.h"
#include "exec/cpu/reference/rms_norm.h"
#include "exec/cpu/reference/rope.h"
#include "tests/exec/goldens.h"
#include "tests/exec/tensors.h"

/// Every operator beside PyTorch in float64: forward and gradients within 1e-5 of the
/// largest element.
namespace debubble::exec::reference {
namespace {

const Goldens& goldens() {
    static const Goldens all("operators");
    return all;
}

/// The tensors of one case, and fresh ones to compute them into.
struct Golden {
    std::string name;

    bool has(const std::string& part) const { return goldens().has(name + "." + part); }
    const Tensor& tensor(const std::string& part) const { return goldens()[name + "." + part]; }
    View<float> operator[](const std::string& part) const { return tensor(part).as<float>(); }
    View<const std::int32_t> integers(const std::string& part) const {
        return tensor(part).as<std::int32_t>();
    }
    Tensor like(const std::string& part) const { return Tensor(tensor(part).shape()); }
    void expect(const std::string& part, const Tensor& computed) const {
        const double error = relative_difference(computed, tensor(part));
        EXPECT_LT(error, 1e-5) << name << "." << part;
        record_error(name + "." + part, error);
    }
};

TEST(PyTorch, AgreesOnLinear) {
    for (const auto& [name, layout] : {std::pair("linear", WeightLayout::OutputsInputs),
                                       std::pair("conv1d", WeightLayout::InputsOutputs)}) {
        const Golden golden{name};
        const Tensor y = golden.like("y"), dx = golden.like("x");
        const Tensor dweight = golden.like("weight"), dbias = golden.like("bias");
        linear_forward(layout, golden["x"], golden["weight"], golden["bias"], y.as<float>());
        linear_backward_input(layout, golden["d_y"], golden["weight"], dx.as<float>(),
                              Write::Overwrite);
        linear_backward_weight(layout, golden["x"], golden["d_y"], dweight.as<float>(),
                               dbias.as<float>());
        golden.expect("y", y);
        golden.expect("d_x", dx);
        golden.expect("d_weight", dweight);
        golden.expect("d_bias", dbias);
    }
}

TEST(PyTorch, AgreesOnLayerNorm) {
    const Golden golden{"layer_norm"};
    const Tensor y = golden.like("y"), dx = golden.like("x"), statistics({5, 2});
    const Tensor dweight = golden.like("weight"), dbias = golden.like("bias");
    layer_norm_forward(1e-5, golden["x"], golden["weight"], golden["bias"], y.as<float>(),
                       statistics.as<float>());
    layer_norm_backward_input(golden["d_y"], golden["x"], golden["weight"], statistics.as<float>(),
                              dx.as<float>(), Write::Overwrite);
    layer_norm_backward_weight(golden["d_y"], golden["x"], statistics.as<float>(),
                               dweight.as<float>(), dbias.as<float>());
    golden.expect("y", y);
    golden.expect("d_x", dx);
    golden.expect("d_weight", dweight);
    golden.expect("d_bias", dbias);
}

TEST(PyTorch, AgreesOnRmsNorm) {
    const Golden golden{"rms_norm"};
    const Tensor y = golden.like("y"), dx = golden.like("x"), statistics({5});
    const Tensor dweight = golden.like("weight");
    rms_norm_forward(1e-6, golden["x"], golden["weight"], y.as<float>(), statistics.as<float>());
    rms_norm_backward_input(golden["d_y"], golden["x"], golden["weight"], statistics.as<float>(),
                            dx.as<float>(), Write::Overwrite);
    rms_norm_backward_weight(golden["d_y"], golden["x"], statistics.as<float>(),
                             dweight.as<float>());
    golden.expect("y", y);
    golden.expect("d_x", dx);
    golden.expect("d_weight", dweight);
}

TEST(PyTorch, AgreesOnActivations) {
    for (const auto& [name, kind] :
         {std::pair("gelu", Nonlinearity::Gelu), std::pair("gelu_tanh", Nonlinearity::GeluTanh),
          std::pair("relu", Nonlinearity::Relu)}) {
        const Golden golden{name};
        const Tensor y = golden.like("y"), dx = golden.like("x");
        activation_forward(kind, golden["x"], y.as<float>());
        activation_backward_input(kind, golden["d_y"], golden["x"], dx.as<float>());
        golden.expect("y", y);
        golden.expect("d_x", dx);
    }
    const Golden golden{"swiglu"};
    const Tensor y = golden.like("y"), dgate = golden.like("gate"), dup = golden.like("up");
    swiglu_forward(golden["gate"], golden["up"], y.as<float>());
    swiglu_backward_input(golden["d_y"], golden["gate"], golden["up"], dgate.as<float>(),
                          dup.as<float>());
    golden.expect("y", y);
    golden.expect("d_gate", dgate);
    golden.expect("d_up", dup);
}

TEST(PyTorch, AgreesOnRope) {
    const Golden golden{"rope"};
    const Tensor cosines({9, 4}), sines({9, 4});
    rope_table(10000, cosines.as<float>(), sines.as<float>());
    const Tensor y = golden.tensor("x").clone(), dx = golden.tensor("d_y").clone();
    rope_forward(0, cosines.as<float>(), sines.as<float>(), y.as<float>());
    rope_backward_input(0, cosines.as<float>(), sines.as<float>(), dx.as<float>());
    golden.expect("y", y);
    golden.expect("d_x", dx);
}

TEST(PyTorch, AgreesOnAttention) {
    for (const std::string kind : {"", "_full", "_grouped", "_slice", "_blocks"}) {
        const Golden golden{"attention" + kind};
        const Tensor out = golden.like("y"), dq = golden.like("q");
        const Tensor dk = golden.like("k"), dv = golden.like("v");
        const Shape& shape = out.shape();
        const Tensor log_sum({shape[0], shape[2], shape[1]});
        const std::int64_t first_query = golden["k"].shape[1] - shape[1];
        const Attention how{kind != "_full", first_query, 1 / std::sqrt(8.0), {}};
        attention_forward(how, golden["q"], golden["k"], golden["v"], out.as<float>(),
                          log_sum.as<float>());
        attention_backward_input(how, golden["d_y"], golden["q"], golden["k"], golden["v"],
                                 out.as<float>(), log_sum.as<float>(), dq.as<float>(),
                                 dk.as<float>(), dv.as<float>());
        golden.expect("y", out);
        golden.expect("d_q", dq);
        golden.expect("d_k", dk);
        golden.expect("d_v", dv);
    }
}

TEST(PyTorch, AgreesOnEmbeddings) {
    const Golden token{"token_embedding"};
    const Tensor y = token.like("y"), dtable = token.like("table");
    token_embedding_forward(token.integers("tokens"), 0, token["table"], y.as<float>());
    token_embedding_backward_weight(token.integers("tokens"), 0, token["d_y"], dtable.as<float>());
    token.expect("y", y);
    token.expect("d_table", dtable);

    const Golden position{"position_embedding"};
    const Tensor sum = position.like("y"), dpositions = position.like("table");
    position_embedding_forward(2, position["x"], position["table"], sum.as<float>());
    position_embedding_backward_weight(2, position["d_y"], dpositions.as<float>());
    position.expect("y", sum);
    position.expect("d_table", dpositions);
}

TEST(PyTorch, AgreesOnPatchEmbedding) {
    const Golden golden{"patch_embedding"};
    constexpr auto kLayout = WeightLayout::OutputsInputs;
    const Tensor cut({2, 6, 48}), patches({2, 6, 6}), dpatches({2, 6, 6}), y = golden.like("y");
    const Tensor dweight = golden.like("weight"), dbias = golden.like("bias");
    const Tensor dtoken = golden.like("class_token"), dpositions = golden.like("positions");
    cut_patches(4, golden["images"], cut.as<float>());
    linear_forward(kLayout, cut.as<float>(), golden["weight"], golden["bias"], patches.as<float>());
    class_token_forward(patches.as<float>(), golden["class_token"], golden["positions"],
                        y.as<float>());
    class_token_backward_input(golden["d_y"], dpatches.as<float>());
    class_token_backward_weight(golden["d_y"], dtoken.as<float>(), dpositions.as<float>());
    linear_backward_weight(kLayout, cut.as<float>(), dpatches.as<float>(), dweight.as<float>(),
                           dbias.as<float>());
    golden.expect("y", y);
    golden.expect("d_weight", dweight);
    golden.expect("d_bias", dbias);
    golden.expect("d_class_token", dtoken);
    golden.expect("d_positions", dpositions);
}

TEST(PyTorch, AgreesOnCrossEntropyWithAnIgnoredIndex) {
    const Golden golden{"cross_entropy"};
    const Tensor dlogits = golden.tensor("logits").clone(), scratch({3, 9});
    const auto targets = golden.integers("targets");
    const auto counted = static_cast<double>(counted_targets(targets, -100));
    const double sum = cross_entropy({.gradient_scale = 1 / counted}, targets, dlogits.as<float>(),
                                     scratch.as<float>());
    EXPECT_NEAR(sum / counted, golden["y"][0], 1e-5 * golden["y"][0]);
    golden.expect("d_logits", dlogits);
}

}  // namespace
}  // namespace debubble::exec::reference
