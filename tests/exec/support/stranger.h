#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace debubble::exec {

/// Whether a program listens at that address of this host.
inline bool can_connect(int socket, std::uint32_t address, int port) {
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_addr.s_addr = htonl(address);
    there.sin_port = htons(static_cast<std::uint16_t>(port));
    return ::connect(socket, reinterpret_cast<sockaddr*>(&there), sizeof there) == 0;
}

/// Somebody who connects and knows nothing of the job.
class Stranger {
public:
    explicit Stranger(int port, std::uint32_t address = INADDR_LOOPBACK)
        : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        EXPECT_TRUE(can_connect(socket_, address, port));
        const timeval patience{20, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    }
    ~Stranger() { ::close(socket_); }
    Stranger(const Stranger&) = delete;
    Stranger& operator=(const Stranger&) = delete;

    template <class Word>
    void say(const Word& word) const {
        EXPECT_EQ(::send(socket_, &word, sizeof word, MSG_NOSIGNAL),
                  static_cast<ssize_t>(sizeof word));
    }
    template <class Word>
    Word hear() const {
        Word word;
        EXPECT_EQ(::recv(socket_, &word, sizeof word, MSG_WAITALL),
                  static_cast<ssize_t>(sizeof word));
        return word;
    }
    std::string hear_text(std::size_t size) const {
        std::string text(size, ' ');
        text.resize(static_cast<std::size_t>(
            std::max<ssize_t>(::recv(socket_, text.data(), size, MSG_WAITALL), 0)));
        return text;
    }

private:
    int socket_;
};

}  // namespace debubble::exec
