#pragma once

#include "text/document.h"

namespace debubble::models {

/// Networks whose `layers` are a list, each element with its parts as maps:
///
///     layers:
///       - {count: 3, attention: {kind: mla, heads: 128, key_rank: 512, ...}, mlp: {kind: dense}}
///       - {count: 58, attention: {kind: mla, ...}, mlp: {kind: moe, experts: 256, ...}}
///     mtp: 1
///
/// The same network by the reader's own keys: `layer_groups`, their number as `layers`, and
/// `mtp_layers`. Maps without such a list are returned as they are.
text::NodePtr with_layer_groups(const text::NodePtr& map, text::Mistakes& mistakes);

}  // namespace debubble::models
