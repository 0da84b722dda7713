#pragma once

#include <map>
#include <utility>

#include "exec/comm/tcp/handshake.h"
#include "exec/comm/transports.h"

namespace debubble::exec::tcp {

/// Meets all other ranks. Returns a connection to each, by rank. Throws WorldError.
std::map<int, Socket> meet(asio::io_context& io, const TcpJob& job);

/// The content of a rendezvous file, which is written under another name and then renamed, and
/// which only its owner can read.
struct MeetingPoint {
    std::string host;
    int port = 0;
    std::string secret;
};
/// A file that says where to meet. It exists, and is locked, until this object is destroyed.
class WrittenMeeting {
public:
    WrittenMeeting(std::filesystem::path file, int descriptor)
        : file_(std::move(file)), descriptor_(descriptor) {}
    WrittenMeeting(WrittenMeeting&& other) noexcept
        : file_(std::move(other.file_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
    WrittenMeeting& operator=(WrittenMeeting&&) = delete;
    ~WrittenMeeting();

private:
    std::filesystem::path file_;
    int descriptor_;
};
/// Writes such a file. Throws WorldError.
[[nodiscard]] WrittenMeeting write_meeting(const std::filesystem::path& file,
                                           const MeetingPoint& meeting);
/// The content of the file. Unset if there is no file, if it is not a rendezvous file, or if it
/// should be locked and is not. Throws WorldError if another user can have written it, or can read
/// it.
std::optional<MeetingPoint> read_meeting(const std::filesystem::path& file, bool is_held = false);

}  // namespace debubble::exec::tcp
