#include <cerrno>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "exec/comm/tcp/rendezvous.h"

namespace debubble::exec::tcp {

namespace {

constexpr const char* kFirstLine = "debubble job 1";

}  // namespace

void write_meeting(const std::filesystem::path& file, const Meeting& meeting) {
    const std::string aside = fmt::format("{}.{}", file.string(), ::getpid());
    const std::string text =
        fmt::format("{}\n{}\n{}\n{}\n", kFirstLine, meeting.host, meeting.port, meeting.secret);
    ::unlink(aside.c_str());
    const int descriptor = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const bool written = descriptor >= 0 && ::write(descriptor, text.data(), text.size()) ==
                                                static_cast<ssize_t>(text.size());
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    if (written && std::rename(aside.c_str(), file.c_str()) == 0) return;
    const std::string why = std::strerror(written ? errno : error);
    ::unlink(aside.c_str());
    throw WorldError(
        fmt::format("the rendezvous file {} cannot be written: {}", file.string(), why));
}

std::optional<Meeting> read_meeting(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::string first, port;
    Meeting meeting;
    if (!std::getline(in, first) || first != kFirstLine || !std::getline(in, meeting.host) ||
        !std::getline(in, port) || !std::getline(in, meeting.secret) || in.eof())
        return std::nullopt;
    for (const char digit : port)
        if (digit < '0' || digit > '9' || port.size() > 5) return std::nullopt;
    meeting.port = port.empty() ? 0 : std::stoi(port);
    if (meeting.port < 1 || meeting.port > 0xffff) return std::nullopt;
    return meeting;
}

}  // namespace debubble::exec::tcp
