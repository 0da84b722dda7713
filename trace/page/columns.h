#pragma once

#include <cstdint>
#include <string>

namespace debubble::page {

/// A list of whole numbers of variable length, seven bits a byte, the lowest first (LEB128).
/// Numbers of one kind form a column, which compresses well.
class Column {
public:
    void add(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
        bytes_ += static_cast<char>(value);
        ++count_;
    }
    /// Adds a signed number: 0, -1, 1, -2, ... as 0, 1, 2, 3, ...
    void add_signed(std::int64_t value) {
        const auto twice = static_cast<std::uint64_t>(value) << 1U;
        add(value < 0 ? ~twice : twice);
    }
    std::size_t count() const { return count_; }
    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
    std::size_t count_ = 0;
};

/// The columns of a file, one after another, each preceded by the number of its values.
class Columns {
public:
    void append(const Column& column) {
        Column count;
        count.add(column.count());
        bytes_ += count.bytes();
        bytes_ += column.bytes();
    }
    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

}  // namespace debubble::page
