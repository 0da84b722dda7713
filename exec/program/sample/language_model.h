#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "exec/core/arena.h"
#include "exec/core/device.h"
#include "exec/core/kernels.h"
#include "exec/core/tensor.h"
#include "exec/io/checkpoint/piece_source.h"
#include "exec/program/sample/saved_network.h"
#include "models/graph/graph.h"

/// A trained network that computes what may follow a text.
namespace debubble::exec {

/// The weights of a whole network on one rank, in fp32 and at first on the host, by their stored
/// names. Those of an operator are contiguous, as StageParameters requires.
class NetworkWeights {
public:
    /// `whole`: a stage with embedding, all layers and head. Throws InputError as load() does.
    NetworkWeights(const models::StageGraph& whole, const PieceSource& source);
    static Bytes size(const models::StageGraph& whole);

    /// Moves the weights into the memory in which these kernels compute. Earlier views become
    /// invalid.
    void move_to(Kernels& kernels, Arena& arena);

    const TensorView& of(const models::Parameter& parameter) const;
    const TensorView& of(const models::Buffer& buffer) const;

private:
    Tensor memory_;
    ArenaTensor on_device_;
    std::map<std::string, TensorView> views_;
};

/// A trained network that computes what may follow a text. It computes in fp32 and keeps keys and
/// values, so a call runs only the tokens that the text has beyond that of the call before. Once a
/// text is longer than the window, every token moves, and all of it is run. One thread uses it.
class LanguageModel {
public:
    /// `kernels`, and their device (nullptr: the processor), must outlive this object. Throws
    /// InputError for a network that continues no text, such as a Vision Transformer, and where the
    /// weights are missing or damaged.
    LanguageModel(const SavedNetwork& network, Kernels& kernels, Device* device = nullptr);
    ~LanguageModel();

    /// The number of tokens that it sees at once: no more than it was trained on.
    std::int64_t window() const;
    std::int64_t vocab() const;

    /// Logits [vocab] of the token after `tokens`, of which the network sees the last window().
    /// There must be at least one, and each must be in the vocabulary. Valid until the next call.
    std::span<const float> logits(std::span<const std::int32_t> tokens);

private:
    struct Body;
    std::unique_ptr<Body> body_;
};

}  // namespace debubble::exec
