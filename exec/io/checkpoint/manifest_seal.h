#pragma once

#include <string>
#include <string_view>

/// The seal of a manifest: its key "sha256" holds the hash of the text in which that value is all
/// zeros. Private to the folder.
namespace debubble::exec {

inline constexpr std::string_view kManifestFormat = "debubble-checkpoint-1";
inline constexpr std::string_view kOpenSeal =
    "0000000000000000000000000000000000000000000000000000000000000000";

/// The text with its hash in place of the first open seal.
std::string sealed(std::string text);
/// Whether `seal`, which is part of the text, is the hash of the rest.
bool seal_holds(std::string text, std::string_view seal);

}  // namespace debubble::exec
