#pragma once

#include <map>
#include <utility>

#include "exec/comm/tcp/handshake.h"
#include "exec/comm/tcp/job.h"

namespace debubble::exec::tcp {

/// Meets all other ranks: a connection to each, by rank. Throws WorldError.
std::map<int, Socket> meet(asio::io_context& io, const TcpJob& job);

/// What a rendezvous file says. Written aside and renamed, readable by its owner alone.
struct Meeting {
    std::string host;
    int port = 0;
    std::string secret;
};
/// A file that says where to meet, until this is destroyed; it is locked meanwhile.
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
/// Throws WorldError.
[[nodiscard]] WrittenMeeting write_meeting(const std::filesystem::path& file,
                                           const Meeting& meeting);
/// Unset if there is none, it is no such file, or nobody holds it who is to. Throws WorldError if
/// another than this user can have written it, or can read it.
std::optional<Meeting> read_meeting(const std::filesystem::path& file, bool is_held = false);

}  // namespace debubble::exec::tcp
