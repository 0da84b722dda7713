#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

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

}  // namespace debubble::profile
