#pragma once

#include <array>

/// Words of the rooms below the window that it shows in its own language. They are looked up by
/// what those rooms say, so that lupdate does not see them in the code that shows them; a test
/// holds that none is missing here.
namespace debubble::gui {

struct DynamicWord {
    const char* context;
    const char* text;
};
#define DEBUBBLE_SAID(context, text) \
    DynamicWord {                    \
        context, text                \
    }

inline constexpr std::array kDynamicWords{
    DEBUBBLE_SAID("causes", "warm-up"),
    DEBUBBLE_SAID("causes", "cool-down"),
    DEBUBBLE_SAID("causes", "waits for a stage"),
    DEBUBBLE_SAID("causes", "waits for a link"),
    DEBUBBLE_SAID("causes", "waits for a group"),
    DEBUBBLE_SAID("causes", "optimizer barrier"),
    DEBUBBLE_SAID("causes", "host late"),
    DEBUBBLE_SAID("causes", "uneven load"),
    DEBUBBLE_SAID("kinds", "tensor parallel"),
    DEBUBBLE_SAID("kinds", "context parallel"),
    DEBUBBLE_SAID("kinds", "expert parallel"),
    DEBUBBLE_SAID("kinds", "data parallel"),
    DEBUBBLE_SAID("kinds", "pipeline"),
    DEBUBBLE_SAID("kinds", "copies to the host"),
    DEBUBBLE_SAID("classes", "parameters"),
    DEBUBBLE_SAID("classes", "gradients"),
    DEBUBBLE_SAID("classes", "optimizer"),
    DEBUBBLE_SAID("classes", "activations"),
    DEBUBBLE_SAID("classes", "buffers"),
    DEBUBBLE_SAID("classes", "workspace"),
    DEBUBBLE_SAID("parts", "compute"),
    DEBUBBLE_SAID("parts", "exposed communication"),
    DEBUBBLE_SAID("parts", "optimizer"),
    DEBUBBLE_SAID("parts", "idle: warm-up"),
    DEBUBBLE_SAID("parts", "idle: cool-down"),
    DEBUBBLE_SAID("parts", "idle: waits for a stage"),
    DEBUBBLE_SAID("parts", "idle: waits for a link"),
    DEBUBBLE_SAID("parts", "idle: waits for a group"),
    DEBUBBLE_SAID("parts", "idle: optimizer barrier"),
    DEBUBBLE_SAID("parts", "idle: host late"),
    DEBUBBLE_SAID("parts", "idle: uneven load"),
    DEBUBBLE_SAID("formula", "the fourth root of device^4 + host^4, less the device's own time"),
    DEBUBBLE_SAID("formula", "gathered and reduced between replicas, as far as nothing hides it"),
    DEBUBBLE_SAID("proposals", "attention"),
    DEBUBBLE_SAID("proposals", "recompute"),
    DEBUBBLE_SAID("proposals", "CUDA graphs"),
    DEBUBBLE_SAID("proposals", "tensor overlap"),
    DEBUBBLE_SAID("proposals", "sequence parallelism"),
    DEBUBBLE_SAID("proposals", "dispatcher"),
    DEBUBBLE_SAID("proposals", "ZeRO"),
    DEBUBBLE_SAID("proposals", "global batch"),
    DEBUBBLE_SAID("proposals", "stages per rank"),
    DEBUBBLE_SAID("proposals", "partition"),
    DEBUBBLE_SAID("proposals", "schedule"),
    DEBUBBLE_SAID("sweep", "tokens/s"),
    DEBUBBLE_SAID("sweep", "step time"),
    DEBUBBLE_SAID("sweep", "MFU"),
    DEBUBBLE_SAID("sweep", "MFU, causal"),
    DEBUBBLE_SAID("sweep", "TFLOP/s per GPU"),
    DEBUBBLE_SAID("sweep", "bubble"),
    DEBUBBLE_SAID("sweep", "exposed"),
    DEBUBBLE_SAID("sweep", "peak memory [GiB]"),
    DEBUBBLE_SAID("sweep", "left [GiB]"),
    DEBUBBLE_SAID("sweep", "left of requested [GiB]"),
};

#undef DEBUBBLE_SAID

}  // namespace debubble::gui
