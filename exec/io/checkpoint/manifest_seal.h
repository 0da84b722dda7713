#pragma once

#include <string>
#include <string_view>

/// How a manifest vouches for itself: its key "sha256" holds the hash of the text in which
/// that value is all zeros. Private to the folder.
namespace debubble::exec {

inline constexpr std::string_view kManifestFormat = "debubble-checkpoint-1";
inline constexpr std::string_view kOpenSeal =
    "0000000000000000000000000000000000000000000000000000000000000000";

/// With the hash in the place of the first open seal.
std::string sealed(std::string text);
/// Is `seal`, which stands in the text, the hash of the rest?
bool seal_holds(std::string text, std::string_view seal);

}  // namespace debubble::exec
