#include "exec/io/checkpoint/manifest.h"

#include "base/sha256.h"

namespace debubble::exec {

std::string sealed(std::string text) {
    const std::string seal = sha256(text);
    return text.replace(text.find(kOpenSeal), seal.size(), seal);
}

bool seal_holds(std::string text, std::string_view seal) {
    const std::size_t at = text.find(seal);
    if (seal.size() != kOpenSeal.size() || at == std::string::npos) return false;
    const std::string said(seal);
    return sha256(text.replace(at, said.size(), kOpenSeal)) == said;
}

}  // namespace debubble::exec
