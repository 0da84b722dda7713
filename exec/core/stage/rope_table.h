#pragma once

#include <optional>
#include <vector>

#include "exec/core/tensor.h"
#include "models/network/architecture.h"

namespace debubble::exec {

/// The parameters that decide the angles of a layer's rotary positions.
struct RotaryAngles {
    double theta = 10000;
    std::int64_t columns = 2;  ///< rotated columns of a head, two for each angle
    std::optional<models::RopeScaling> scaling = {};
    /// The longest text of the network: `dynamic` scaling changes the angles of longer ones.
    std::int64_t longest = 1;
    friend bool operator==(const RotaryAngles&, const RotaryAngles&) = default;
};

/// The angles of a layer whose positions are rotary.
RotaryAngles angles_of(const models::Attention& attention, std::int64_t max_positions);

/// The angle of each pair at position 1, by transformers' modeling_rope_utils.py: theta^(-2 i /
/// columns), changed by the scaling. `positions`: the length of the text.
std::vector<double> inverse_frequencies(const RotaryAngles& angles, std::int64_t positions);

/// The factor of cosines and sines: yarn's and longrope's, by which longer texts do not blur
/// attention.
double rotary_magnitude(const RotaryAngles& angles);

/// The factor of the scores where yarn is used as DeepSeek does; else 1.
double score_magnitude(const models::Attention& attention);

/// The cosines and sines of rotary position embedding (Su et al. 2021), each [positions, columns /
/// 2], of the angle position * frequency, times the magnitude. For float and double.
template <class T>
void rope_table(const RotaryAngles& angles, View<T> cosines, View<T> sines);

}  // namespace debubble::exec
