#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/operators/value.h"

/// Operators that plans price and nothing executes. See models/operators/op.h.
namespace debubble::models::op {

/// A part of the newest layers, whose kernels are known by their bytes and products alone.
struct Planned {
    enum class Kind : std::uint8_t {
        HeadGate,       ///< each head of x times the sigmoid of a logit
        Indexer,        ///< scores of all pairs, and the best keys of each token
        Compress,       ///< entries from keys of several tokens
        ChosenScores,   ///< attention over entries in addition to the window
        MixStreams,     ///< the input of a part, of several residual streams
        SpreadStreams,  ///< the streams after a part
        WidenStream,    ///< copies of the embedding as streams, or their collapse
        ChannelDecay,   ///< decays of each channel of a key
        FixedDecay,     ///< Lightning attention's blocks
        SelectiveScan,  ///< Mamba-1's scan and gate
        ScaleNorm,      ///< a norm without a residual
        Copy,
    };
    Kind kind{};
    std::vector<Value> reads;
    std::vector<Value> writes;
};

constexpr std::string_view name_of(Planned::Kind kind) {
    switch (kind) {
        case Planned::Kind::HeadGate: return "head_gate";
        case Planned::Kind::Indexer: return "indexer";
        case Planned::Kind::Compress: return "compress";
        case Planned::Kind::ChosenScores: return "chosen_scores";
        case Planned::Kind::MixStreams: return "mix_streams";
        case Planned::Kind::SpreadStreams: return "spread_streams";
        case Planned::Kind::WidenStream: return "widen_stream";
        case Planned::Kind::ChannelDecay: return "channel_decay";
        case Planned::Kind::FixedDecay: return "fixed_decay";
        case Planned::Kind::SelectiveScan: return "selective_scan";
        case Planned::Kind::ScaleNorm: return "scale_norm";
        case Planned::Kind::Copy: return "copy";
    }
    return {};
}

}  // namespace debubble::models::op
