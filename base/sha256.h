#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace debubble {

/// SHA-256 of the bytes, as 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

/// The same of bytes that come piece by piece.
class Sha256 {
public:
    Sha256();
    void add(std::string_view bytes);
    /// Of all that was added. Nothing may be added after it.
    std::string digits();

private:
    struct Free {
        void operator()(void* context) const;
    };
    std::unique_ptr<void, Free> context_;
};

}  // namespace debubble
