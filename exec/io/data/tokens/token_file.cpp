#include "exec/io/data/tokens/token_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <charconv>
#include <cstring>
#include <ostream>

#include <fmt/format.h>

#include "base/file.h"
#include "base/sha256.h"
#include "exec/io/mapped_file.h"

namespace debubble::exec {
namespace {

static_assert(std::endian::native == std::endian::little, "token files are little-endian");

/// The meaning of the 256 words of the header.
struct Header {
    static constexpr std::size_t kWords = 256;
    enum Word { Magic = 0, Version = 1, Tokens = 2, TokensHigh = 3, Origin = 8, Digest = 16 };
    std::array<std::uint32_t, kWords> words{};

    std::uint64_t tokens() const { return words[Tokens] | std::uint64_t{words[TokensHigh]} << 32; }
    std::string digits(Word first) const {
        std::string text;
        for (int i = 0; i < 8; ++i) text += fmt::format("{:08x}", words[first + i]);
        return text;
    }
    void set_digits(Word first, const std::string& text) {
        assert(text.size() == 64 && "a SHA-256 has 64 digits");
        for (int i = 0; i < 8; ++i)
            std::from_chars(&text[8 * i], &text[8 * i] + 8, words[first + i], 16);
    }
};

constexpr std::size_t kHeaderBytes = Header::kWords * sizeof(std::uint32_t);

struct Format {
    std::uint32_t magic;
    std::uint32_t version;
    std::size_t token_bytes;
};
constexpr Format kGpt2{20240520, 1, sizeof(std::uint16_t)};
constexpr Format kLlama3{20240801, 7, sizeof(std::uint32_t)};

Header header_of(std::string_view bytes) {
    Header header;
    std::memcpy(header.words.data(), bytes.data(), kHeaderBytes);
    return header;
}

/// Throws InputError unless the header fits the file.
Format checked_format(const MappedFile& file) {
    const std::size_t bytes = file.bytes().size();
    if (bytes < kHeaderBytes)
        throw bad_file(file.path(), fmt::format("{} bytes are too few for the header of a token "
                                                "file, which has {}",
                                                bytes, kHeaderBytes));
    const Header header = header_of(file.bytes());
    const std::uint32_t magic = header.words[Header::Magic];
    if (magic != kGpt2.magic && magic != kLlama3.magic)
        throw bad_file(file.path(), fmt::format("not a token file of llm.c: it begins with {}, not "
                                                "with {} (uint16) or {} (uint32)",
                                                magic, kGpt2.magic, kLlama3.magic));
    const Format format = magic == kGpt2.magic ? kGpt2 : kLlama3;
    if (header.words[Header::Version] != format.version)
        throw bad_file(file.path(),
                       fmt::format("version {} of a token file that begins with {} is not known; "
                                   "the known version is {}",
                                   header.words[Header::Version], magic, format.version));
    const std::size_t room = bytes - kHeaderBytes;
    if (room % format.token_bytes != 0 || header.tokens() != room / format.token_bytes)
        throw bad_file(file.path(), fmt::format("the header promises {} tokens of {} bytes, but "
                                                "{} bytes follow it",
                                                header.tokens(), format.token_bytes, room));
    return format;
}

}  // namespace

template <class T>
T TokenFile::read(std::int64_t position) const {
    assert(position >= 0 && position < size_ && "no such position");
    T token;
    std::memcpy(&token, map_.bytes().data() + kHeaderBytes + position * sizeof(T), sizeof(T));
    return token;
}
template std::uint16_t TokenFile::read(std::int64_t) const;
template std::uint32_t TokenFile::read(std::int64_t) const;

TokenFile::TokenFile(const std::filesystem::path& path, const std::filesystem::path& made_from)
    : map_(path), source_(made_from.empty() ? path : made_from) {
    const auto format = [&](std::string_view) { return checked_format(map_); };
    wide_ = map_.whole(format).token_bytes == kLlama3.token_bytes;
    size_ = static_cast<std::int64_t>(header_of(map_.bytes()).tokens());
}

template <class T>
std::int64_t TokenFile::first_beyond(std::int64_t vocab, std::int64_t begin,
                                     std::int64_t end) const {
    constexpr std::int64_t kBlock = 4096;  // the maximum of a block is a vectorised loop
    for (; begin < end; begin += kBlock) {
        const std::int64_t stop = std::min(begin + kBlock, end);
        T largest = 0;
        for (std::int64_t i = begin; i < stop; ++i) largest = std::max(largest, read<T>(i));
        if (largest < vocab) continue;
        while (read<T>(begin) < vocab) ++begin;
        return begin;
    }
    return end;
}

std::int64_t TokenFile::first_beyond(std::int64_t vocab, std::int64_t begin,
                                     std::int64_t end) const {
    return wide_ ? first_beyond<std::uint32_t>(vocab, begin, end)
                 : first_beyond<std::uint16_t>(vocab, begin, end);
}

std::vector<std::int64_t> TokenFile::find(std::uint32_t token) const {
    std::vector<std::int64_t> positions;
    for (std::int64_t i = 0; i < size_; ++i)
        if ((*this)[i] == token) positions.push_back(i);
    check_whole();
    return positions;
}

std::string TokenFile::origin() const {
    return header_of(map_.bytes()).digits(Header::Origin);
}

bool TokenFile::is_intact() const {
    Sha256 digest;
    digest.add(map_.bytes().substr(kHeaderBytes));
    check_whole();
    return digest.digits() == header_of(map_.bytes()).digits(Header::Digest);
}

void write_token_file(const std::filesystem::path& path, TokenWidth width,
                      const std::string& origin,
                      const std::function<void(const TokenSink&)>& produce) {
    const Format format = width == TokenWidth::Bits16 ? kGpt2 : kLlama3;
    write_file(path, [&](std::ostream& out) {
        Header header;
        header.words[Header::Magic] = format.magic;
        header.words[Header::Version] = format.version;
        const auto put_header = [&] {
            out.write(reinterpret_cast<const char*>(header.words.data()), kHeaderBytes);
        };
        put_header();
        Sha256 digest;
        std::uint64_t count = 0;
        std::string bytes;
        produce([&](std::span<const std::int32_t> tokens) {
            bytes.clear();
            for (const std::int32_t token : tokens) {
                assert(token >= 0 && (width == TokenWidth::Bits32 || token < 65536) &&
                       "the token does not fit");
                bytes.append(reinterpret_cast<const char*>(&token), format.token_bytes);
            }
            digest.add(bytes);
            out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
            count += tokens.size();
        });
        header.words[Header::Tokens] = static_cast<std::uint32_t>(count);
        header.words[Header::TokensHigh] = static_cast<std::uint32_t>(count >> 32);
        if (!origin.empty()) {
            header.set_digits(Header::Origin, origin);
            header.set_digits(Header::Digest, digest.digits());
        }
        out.seekp(0);
        put_header();
    });
}

}  // namespace debubble::exec
