#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// The bytes of a file in sequence, and the values of a JSON text of any length in them.
namespace debubble::profile {

/// The bytes of a file in sequence, unpacked if it is a gzip file. Only a window of the file is in
/// memory, whatever its size.
class ByteSource {
public:
    /// Throws InputError if the file does not exist or is not a regular file.
    explicit ByteSource(std::string file);
    /// The bytes of a text in memory, unchanged, which must outlive this.
    ByteSource(std::string name, std::string_view content);
    ~ByteSource();
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;

    const std::string& file() const { return file_; }
    /// Reads up to `size` bytes, fewer only at the end. Throws InputError with the offset where the
    /// packed data are damaged or end too early.
    std::size_t read(char* to, std::size_t size);

private:
    struct Handle;
    std::string file_;
    std::unique_ptr<Handle> handle_;  ///< nothing for a text in memory
    std::string_view content_;
    std::uint64_t offset_ = 0;  ///< in the unpacked bytes
};

/// Throws InputError for the file, at a byte of its unpacked text.
[[noreturn]] void refuse_at(const std::string& file, std::uint64_t offset,
                            const std::string& sentence);

/// Iterates over the values of a JSON text of any length, of which one value at a time is in
/// memory. Values are checked only for closed strings and balanced brackets; their readers parse
/// them.
class JsonStream {
public:
    /// Number of bytes after a value that may be read although they are not part of it (simdjson
    /// reads ahead).
    static constexpr std::size_t kPadding = 64;

    explicit JsonStream(ByteSource& source);

    std::uint64_t offset() const { return passed_ + at_; }  ///< of the next byte
    std::uint64_t value_offset() const { return value_offset_; }
    bool at_end();
    /// The next byte other than a space; 0 at the end.
    char peek();
    /// Takes `c` if it comes next, and the spaces before it too.
    bool take(char c);
    /// The next value as written, valid until the next call. Throws InputError with the offset if
    /// there is none, it is not closed, or it is too long or nested too deeply.
    std::string_view value();
    [[noreturn]] void refuse(const std::string& sentence) const;

private:
    bool fill();
    std::size_t after_brackets();
    std::size_t after_string(std::size_t from);
    std::size_t after_scalar();
    bool more(std::size_t index);

    ByteSource& source_;
    std::vector<char> buffer_;
    std::size_t at_ = 0;
    std::size_t end_ = 0;
    std::uint64_t passed_ = 0;  ///< bytes before the buffer
    std::uint64_t value_offset_ = 0;
    bool drained_ = false;
};

}  // namespace debubble::profile
