#pragma once

#include <optional>
#include <string_view>

/// The time of a release of software, by the year and the month in its name.
namespace debubble::scenarios {

struct Release {
    int year = 0;  ///< of the century: 26
    int month = 0;
    friend auto operator<=>(const Release&, const Release&) = default;
};

/// Of "nemo 26.06.01" and "26.06"; none of "megatron-core dev", which names no month.
std::optional<Release> release_of(std::string_view words);

/// Of "pytorch 2.15.0", "torch 2.15": 2 and 15.
struct PyTorchVersion {
    int major = 0;
    int minor = 0;
    friend auto operator<=>(const PyTorchVersion&, const PyTorchVersion&) = default;
};
std::optional<PyTorchVersion> pytorch_of(std::string_view words);

}  // namespace debubble::scenarios
