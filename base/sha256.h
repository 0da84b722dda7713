#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace debubble {

/// SHA-256 of the bytes, as 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

/// The SHA-256 of bytes that arrive in parts.
class Sha256 {
public:
    Sha256();
    void add(std::string_view bytes);
    /// The digits of all bytes that were added. Nothing may be added afterwards.
    std::string digits();

private:
    struct Free {
        void operator()(void* context) const;
    };
    std::unique_ptr<void, Free> context_;
};

}  // namespace debubble
