#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "exec/core/device.h"
#include "exec/core/kernels.h"
#include "exec/program/sample/saved_network.h"

namespace debubble::exec {

/// A trained network that says what may follow a text. It computes in fp32 and keeps keys and
/// values: a call runs what the text has beyond that of the call before. Once a text is longer
/// than the window every token has moved, and all of it runs. One thread uses it.
class LanguageModel {
public:
    /// `kernels`, and the device whose they are (nullptr: the processor), must outlive it. Throws
    /// InputError for a network that continues no text, as a
    /// Vision Transformer, and where the weights are missing or damaged.
    LanguageModel(const SavedNetwork& network, Kernels& kernels, Device* device = nullptr);
    ~LanguageModel();

    /// Tokens that it sees at once: no more than it was trained on.
    std::int64_t window() const;
    std::int64_t vocab() const;

    /// Logits [vocab] of what follows the tokens, of which it sees the last window(). At least
    /// one token, each of the vocabulary. Valid until the next call.
    std::span<const float> logits(std::span<const std::int32_t> tokens);

private:
    struct Body;
    std::unique_ptr<Body> body_;
};

}  // namespace debubble::exec
