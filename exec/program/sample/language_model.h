#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "exec/core/device.h"
#include "exec/core/kernels.h"
#include "exec/program/sample/saved_network.h"

namespace debubble::exec {

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
