#include "trace/profile/formats/json_stream.h"

#include <algorithm>
#include <filesystem>

#include <zlib.h>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "base/file.h"

namespace debubble::profile {

struct ByteSource::Handle {
    gzFile file = nullptr;
    ~Handle() {
        if (file != nullptr) gzclose_r(file);
    }
};

namespace {

constexpr unsigned kPackedWindow = 1U << 18;
/// A packed file of a few megabytes may unpack to any size.
constexpr std::uint64_t kLongestText = std::uint64_t{1} << 38U;

}  // namespace

void refuse_at(const std::string& file, std::uint64_t offset, const std::string& sentence) {
    throw InputError(
        {Diagnostic{{file, 0, 0}, fmt::format("{} (at byte {})", sentence, offset), {}}});
}

ByteSource::ByteSource(std::string file)
    : file_(std::move(file)), handle_(std::make_unique<Handle>()) {
    std::error_code error;
    const auto status = std::filesystem::status(file_, error);
    if (!std::filesystem::exists(status))
        throw InputError(
            {Diagnostic{{file_, 0, 0}, "no such file", {}, Diagnostic::Kind::Mistake}});
    if (!std::filesystem::is_regular_file(status))
        throw InputError({Diagnostic{{file_, 0, 0}, "not a regular file", {}}});
    handle_->file = gzopen(file_.c_str(), "rb");
    if (handle_->file == nullptr)
        throw InputError({Diagnostic{{file_, 0, 0}, "this file cannot be opened", {}}});
    gzbuffer(handle_->file, kPackedWindow);
    note_file_read(file_);
}

ByteSource::ByteSource(std::string name, std::string_view content)
    : file_(std::move(name)), content_(content) {}

ByteSource::~ByteSource() = default;

std::size_t ByteSource::read(char* to, std::size_t size) {
    if (handle_ == nullptr) {
        const std::size_t copied = content_.copy(to, size, offset_);
        offset_ += copied;
        return copied;
    }
    std::size_t got = 0;
    while (got < size) {
        const auto ask = static_cast<unsigned>(std::min<std::size_t>(size - got, 1U << 30));
        const int count = gzread(handle_->file, to + got, ask);
        int error = Z_OK;
        const char* const words = gzerror(handle_->file, &error);
        if (count > 0) {
            got += count;
            offset_ += static_cast<std::uint64_t>(count);
        }
        if (count < 0 || (error != Z_OK && error != Z_STREAM_END))
            refuse_at(file_, offset_,
                      fmt::format("the packed data are damaged or end too early: {}", words));
        if (count == 0) break;
        if (offset_ > kLongestText) refuse_at(file_, offset_, "the text of this file is too long");
    }
    return got;
}

}  // namespace debubble::profile
