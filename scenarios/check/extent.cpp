#include <algorithm>

#include <fmt/format.h>

#include "models/read/layer_keys.h"
#include "scenarios/check/parts.h"

/// The sequence, and how large a step may be.
namespace debubble::scenarios {

void check_sequence(Draft& draft) {
    const Scenario& s = draft.scenario;
    const std::int64_t length = s.training.seq_length;
    const auto complain = [&](std::string sentence) {
        draft.training.complain("seq_length", std::move(sentence));
    };
    if (s.model.sees_images()) {
        if (length != s.model.max_positions)
            complain(fmt::format(
                "the sequence of a ViT consists of all {} patches and class token, not {}",
                s.model.max_positions, length));
        if (s.parallel.sequence || s.parallel.context > 1 || s.schedule.slices > 1)
            draft.top.complain(
                "parallel",
                "the sequence of a ViT cannot be split: its class token must be on every rank");
        return;
    }
    if (s.model.learned_positions && length > s.model.max_positions)
        complain(fmt::format("{} tokens exceed the {} learned positions", length,
                             s.model.max_positions));
    const std::int64_t cuts = std::int64_t{s.schedule.slices} * s.parallel.context;
    if (length % cuts != 0) {
        complain(fmt::format("{} tokens of a sequence cannot be split into {}", length, cuts));
        return;
    }
    if (s.parallel.context > 1 && length % (2 * cuts) != 0) {
        complain(
            fmt::format("{} tokens of a sequence cannot be split into {}: each context-parallel "
                        "rank has an early and a late chunk",
                        length, 2 * cuts));
        return;
    }
    const std::int64_t tokens = s.training.micro_batch * (length / cuts);
    if (s.parallel.sequence && tokens % s.parallel.tensor != 0)
        complain(fmt::format("{} tokens of the rank cannot be split into {}", tokens,
                             s.parallel.tensor));
}

namespace {

constexpr double kMostHeldBytes = 4e18;  ///< bytes of a step in which every microbatch keeps all
                                         ///< its tensors
constexpr double kMostTokens = 1e9;      ///< tokens of a microbatch
constexpr double kMostScores = 1e17;     ///< scores of a microbatch's attention in one layer

/// A lower bound of the bytes that all forwards of a step make: sums of it must fit in 63 bits.
double made_bytes(const Scenario& s) {
    constexpr double kElements = 64;  // of a layer, per column of its width
    constexpr double kWidth = 4;      // in bytes
    const double tokens = static_cast<double>(s.training.micro_batch) *
                          static_cast<double>(s.training.seq_length) * s.training.micro_batches;
    double layers = 0;
    for (int layer = 0; layer < s.model.layers.count(); ++layer) {
        const models::LayerKeys keys = models::keys_of(s.model.layers[layer]);
        const auto experts = static_cast<double>(std::max<std::int64_t>(1, keys.experts_per_token));
        layers += kElements * static_cast<double>(s.model.hidden) +
                  8 * experts * static_cast<double>(keys.ffn);
        if (s.training.attention == models::AttentionKernel::Unfused)
            layers +=
                4 * static_cast<double>(s.training.seq_length) * static_cast<double>(keys.heads);
    }
    return kWidth * tokens * (layers + 4 * static_cast<double>(s.model.vocab));
}

}  // namespace

void check_extent(Draft& draft) {
    const Scenario& s = draft.scenario;
    const double tokens =
        static_cast<double>(s.training.micro_batch) * static_cast<double>(s.training.seq_length);
    const auto heads = [](const models::Attention& attention) { return attention.heads; };
    const double scores = tokens * static_cast<double>(s.training.seq_length) *
                          static_cast<double>(s.model.layers.most<models::Attention>(heads));
    if (tokens > kMostTokens || scores > kMostScores)
        draft.top.complain(
            "training",
            fmt::format("a microbatch of {} tokens is too large to be planned", tokens));
    const PipelineShape shape = s.pipeline_shape();
    if (shape.computes() > kMostComputes)
        draft.top.complain(
            "training",
            fmt::format("a step of about {:.0f} computes ({} stages x {} microbatches x {} slices, "
                        "forward and both parts of backward) exceeds the limit of {:.0f}",
                        shape.computes(), shape.stages(), shape.micro_batches, shape.slices,
                        kMostComputes));
    if (made_bytes(s) > kMostHeldBytes)
        draft.top.complain(
            "training",
            fmt::format("a step that makes {:.1e} bytes of activations is too large to be planned",
                        made_bytes(s)));
}

}  // namespace debubble::scenarios
