#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "exec/comm/tcp/rendezvous.h"

namespace debubble::exec::tcp {

namespace {

constexpr const char* kFirstLine = "debubble job 1";
constexpr std::size_t kLongest = 1024;  ///< most bytes of such a file

[[noreturn]] void cannot_be_written(const std::filesystem::path& file, int error) {
    throw WorldError(fmt::format("the rendezvous file {} cannot be written: {}", file.string(),
                                 std::strerror(error)));
}

/// File systems such as vfat or CIFS give all files one owner and mode; NFS may map root to nobody.
[[noreturn]] void cannot_be_kept(const std::filesystem::path& file, const struct stat& status) {
    throw WorldError(
        fmt::format("the file system of the rendezvous file {} cannot keep a secret: a private "
                    "file that user {} writes there belongs to user {} with mode {:o}; name a file "
                    "on another file system, or set "
                    "DEBUBBLE_JOB_SECRET, MASTER_ADDR and MASTER_PORT instead of --rendezvous",
                    file.string(), ::geteuid(), status.st_uid, status.st_mode & 0777));
}

std::string content_of(int descriptor) {
    std::array<char, kLongest> bytes{};
    const ssize_t size = ::read(descriptor, bytes.data(), bytes.size());
    return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

std::optional<MeetingPoint> parse(const std::string& text) {
    std::istringstream in(text);
    std::string first, port;
    MeetingPoint meeting;
    if (!std::getline(in, first) || first != kFirstLine || !std::getline(in, meeting.host) ||
        !std::getline(in, port) || !std::getline(in, meeting.secret) || in.eof())
        return std::nullopt;
    for (const char digit : port)
        if (digit < '0' || digit > '9' || port.size() > 5) return std::nullopt;
    meeting.port = port.empty() ? 0 : std::stoi(port);
    if (meeting.port < 1 || meeting.port > 0xffff) return std::nullopt;
    return meeting;
}

/// A user who can write the file decides where this job meets, and one who can read it can pass for
/// one of its ranks.
void check_is_own(const std::filesystem::path& file, const struct stat& status) {
    if (status.st_uid != ::geteuid())
        throw WorldError(
            fmt::format("the rendezvous file {} belongs to user {} and not to {}, who runs this "
                        "job: name another file",
                        file.string(), status.st_uid, ::geteuid()));
    if ((status.st_mode & 077) != 0)
        throw WorldError(
            fmt::format("the rendezvous file {} holds a secret, and others may read or write it "
                        "(mode {:o}): remove it",
                        file.string(), status.st_mode & 0777));
}

}  // namespace

WrittenMeeting::~WrittenMeeting() {
    if (descriptor_ < 0) return;
    ::unlink(file_.c_str());
    ::close(descriptor_);
}

WrittenMeeting write_meeting(const std::filesystem::path& file, const MeetingPoint& meeting) {
    const std::string aside = fmt::format("{}.{}", file.string(), ::getpid());
    const std::string text =
        fmt::format("{}\n{}\n{}\n{}\n", kFirstLine, meeting.host, meeting.port, meeting.secret);
    ::unlink(aside.c_str());
    const int descriptor = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0) cannot_be_written(file, errno);
    ::flock(descriptor, LOCK_EX | LOCK_NB);  // the lock is free, since nobody else knows the file
    const bool written =
        ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    struct stat status {};
    const bool is_kept = ::fstat(descriptor, &status) == 0 && status.st_uid == ::geteuid() &&
                         (status.st_mode & 077) == 0;
    if (is_kept && written && std::rename(aside.c_str(), file.c_str()) == 0)
        return {file, descriptor};
    const int error = errno;
    ::unlink(aside.c_str());
    ::close(descriptor);
    if (!is_kept) cannot_be_kept(file, status);
    cannot_be_written(file, error);
}

std::optional<MeetingPoint> read_meeting(const std::filesystem::path& file, bool is_held) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return std::nullopt;
    struct stat status {};
    std::string text;
    const bool is_file = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    const bool is_free = is_held && ::flock(descriptor, LOCK_SH | LOCK_NB) == 0;
    if (is_file && !is_free) text = content_of(descriptor);
    ::close(descriptor);
    const auto meeting = parse(text);
    if (meeting) check_is_own(file, status);
    return meeting;
}

}  // namespace debubble::exec::tcp
