#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exec/core/kernels.h"
#include "exec/core/tensor.h"
#include "models/network/architecture.h"
#include "models/read/layer_keys.h"

namespace debubble::exec {

/// A whole network made of the operators of fixed order, on one rank and without a schedule: the
/// result that the executor's stages must have. Each operator of the forward leaves its
/// backward_input and its backward_weight on a tape.
class Transformer {
public:
    /// Weights under Hugging Face's names.
    Transformer(const models::Architecture& model, std::map<std::string, Tensor> weights);

    /// `inputs` are tokens [samples, rows], or images of a ViT. Returns the sum of the losses
    /// over the targets that count, and leaves the logits.
    double forward(const Tensor& inputs, const Tensor& targets, double gradient_scale);

    enum class Order { Fused, InputsThenWeights };
    /// Adds into the gradients.
    void backward(Order order);
    void zero_gradients();

    std::map<std::string, Tensor> weights;
    std::map<std::string, Tensor> gradients;
    Tensor logits;

private:
    struct Value {
        Tensor data;
        Tensor gradient;
        explicit Value(const Shape& shape) : data(shape), gradient(shape) {}
    };
    using Handle = std::shared_ptr<Value>;
    struct Step {
        std::function<void()> input;
        std::function<void()> weight;
    };

    Handle embed(const Tensor& tokens);
    Handle embed_patches(const Tensor& images);
    Handle norm(const Handle& x, const std::string& name);
    Handle linear(const Handle& x, const std::string& name, std::int64_t outputs);
    Handle attention_part(const Handle& x, int layer);
    std::vector<Handle> heads(const Handle& x, int layer);
    void rotate(const Handle& x);
    Handle mlp_part(const Handle& x, int layer);
    Handle swiglu(const Handle& gate, const Handle& up);
    /// Every expert sees every token; those of others weigh nothing.
    Handle experts(const Handle& x, const std::string& block);
    Handle add(const Handle& x, const Handle& branch);
    Handle first_row(const Handle& x);
    void done(
        std::function<void()> input, std::function<void()> weight = [] {});

    View<float> weight(const std::string& name) const;  ///< empty if the model has none
    View<float> gradient(const std::string& name) const;

    models::Architecture model_;
    models::LayerKeys keys_;            ///< of all layers
    std::shared_ptr<Kernels> kernels_;  ///< shared, so that a copy of the network can be made
    std::vector<Step> tape_;
    Tensor cosines_, sines_;
};

}  // namespace debubble::exec
