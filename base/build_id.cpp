#include "base/build_id.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include <elf.h>
#include <link.h>

namespace debubble {
namespace {

constexpr std::size_t kDigits = 40;

std::string digits_of(std::string_view bytes) {
    constexpr const char* kHexadecimal = "0123456789abcdef";
    std::string digits;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        digits += kHexadecimal[byte / 16];
        digits += kHexadecimal[byte % 16];
    }
    return digits.substr(0, kDigits);
}

/// The build id in the notes; empty if they have none.
std::string_view build_id_among(std::string_view notes) {
    const auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
    ElfW(Nhdr) head;
    while (notes.size() >= sizeof head) {
        std::memcpy(&head, notes.data(), sizeof head);
        notes.remove_prefix(sizeof head);
        const std::size_t before = padded(head.n_namesz);
        if (notes.size() < before + head.n_descsz) break;
        const std::string_view owner = notes.substr(0, head.n_namesz);
        if (head.n_type == NT_GNU_BUILD_ID && owner == std::string_view("GNU", 4))
            return notes.substr(before, head.n_descsz);
        notes.remove_prefix(std::min(notes.size(), before + padded(head.n_descsz)));
    }
    return {};
}

/// Finds the build id of the program itself, which is the first of the loaded objects.
int find_build_id(dl_phdr_info* program, std::size_t /*size*/, void* found) {
    for (int i = 0; i < program->dlpi_phnum; ++i) {
        const auto& segment = program->dlpi_phdr[i];
        if (segment.p_type != PT_NOTE) continue;
        const auto* notes = reinterpret_cast<const char*>(program->dlpi_addr + segment.p_vaddr);
        const std::string_view id = build_id_among({notes, segment.p_memsz});
        if (!id.empty()) *static_cast<std::string*>(found) = digits_of(id);
    }
    return 1;
}

/// FNV-1a of 64 bits.
std::string hash_of_program() {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    std::uint64_t hash = 0xcbf29ce484222325;
    for (char c; file.get(c);) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return digits_of({reinterpret_cast<const char*>(&hash), sizeof hash});
}

}  // namespace

const BuildId& build_id() {
    static const BuildId id = [] {
        std::string digits;
        dl_iterate_phdr(find_build_id, &digits);
        if (digits.empty()) digits = hash_of_program();
        BuildId filled{};
        std::ranges::copy(digits, filled.begin());
        return filled;
    }();
    return id;
}

std::string short_form(const BuildId& id) {
    constexpr std::size_t kShown = 12;
    std::string text(id.begin(), kShown);
    const auto is_digit = [](char c) { return ('0' <= c && c <= '9') || ('a' <= c && c <= 'f'); };
    std::ranges::replace_if(text, std::not_fn(is_digit), '?');
    return text;
}

}  // namespace debubble
