#pragma once

#include <cstdint>

#include "models/read/architecture_words.h"
#include "models/read/layer_keys.h"
#include "text/fields.h"

/// The tables by which a layer's keys are read. Private to the folder: users see layer_reader.h.
namespace debubble::models {

/// The target of a layer's keys, and the values on which defaults depend.
struct LayerFile {
    LayerKeys keys;
    Positions positions = Positions::None;
    std::int64_t hidden = 1;
};

inline auto of_keys(auto LayerKeys::*member) {
    return [member](LayerFile & file) -> auto& {
        return file.keys.*member;
    };
}

/// Keys of the attention, to be read before those of the MLP.
const text::Fields<LayerFile>& attention_fields();
const text::Fields<LayerFile>& mlp_fields();
/// Sizes of recurrent layers.
const text::Fields<LayerFile>& recurrent_fields();

}  // namespace debubble::models
