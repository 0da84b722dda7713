#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/software/framework.h"
#include "text/key.h"
#include "text/shipped_files.h"

/// The framework that the value of a `framework:` key describes, and the release that its name
/// states.
namespace debubble::scenarios {

/// The framework that the value of a `framework:` key describes: the name of a shipped profile, a
/// path, or a map that overrides keys of another ({base: megatron-2024, loss: unfused}). Keys are
/// the fields of Framework. If it adds a mistake, the result has no meaning.
Framework read_framework(const text::NodePtr& value, text::ShippedFiles& shipped,
                         text::Mistakes& mistakes);

/// A profile of scenarios/frameworks/ by its name. Throws InputError if it cannot be read.
Framework shipped_framework(const std::string& name);

/// The description of a framework's keys.
std::vector<text::Key> framework_keys();

// The time of a release of software, by the year and the month in its name.

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
