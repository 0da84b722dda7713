#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <list>
#include <mutex>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/build_id.h"
#include "base/diagnostic.h"
#include "exec/comm/processes/engine.h"

namespace debubble::exec::mpi {

namespace {

using namespace std::chrono_literals;

constexpr int kControlTag = 0;
constexpr int kFirstDataTag = 1;
constexpr int kDataTags = 32000;           ///< number of tags; MPI grants at least 32767
constexpr std::size_t kLargest = 1 << 30;  ///< most bytes of one MPI call, whose counts are int

int tag_of(std::uint64_t id) {
    return kFirstDataTag + static_cast<int>(id % kDataTags);
}

class MpiWire final : public processes::Wire {
public:
    MpiWire() {
        int provided = 0;
        const int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
        if (error != MPI_SUCCESS || provided < MPI_THREAD_FUNNELED)
            throw WorldError("MPI cannot be initialised, or does not support threads");
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
        check_builds();
    }

    int rank() const override { return rank_; }
    int ranks() const override { return ranks_; }

    void post(int peer, std::vector<std::byte> message) override {
        Transfer& transfer = transfers_.emplace_back();
        transfer.message = std::move(message);
        MPI_Isend(transfer.message.data(), static_cast<int>(transfer.message.size()), MPI_BYTE,
                  peer, kControlTag, MPI_COMM_WORLD, &transfer.requests.emplace_back());
    }
    void move_out(int peer, std::uint64_t id, std::span<const std::byte> bytes,
                  Ticket ticket) override {
        Transfer& transfer = transfers_.emplace_back();
        transfer.ticket = ticket;
        for_pieces(bytes.size(), [&](std::size_t at, int size) {
            MPI_Isend(bytes.data() + at, size, MPI_BYTE, peer, tag_of(id), MPI_COMM_WORLD,
                      &transfer.requests.emplace_back());
        });
    }
    void move_in(int peer, std::uint64_t id, std::span<std::byte> bytes, Ticket ticket) override {
        Transfer& transfer = transfers_.emplace_back();
        transfer.ticket = ticket;
        transfer.expected = bytes.size();
        for_pieces(bytes.size(), [&](std::size_t at, int size) {
            MPI_Irecv(bytes.data() + at, size, MPI_BYTE, peer, tag_of(id), MPI_COMM_WORLD,
                      &transfer.requests.emplace_back());
        });
    }
    /// Empty messages end the receives.
    void refuse(int peer, std::uint64_t id, std::size_t bytes) override {
        Transfer& transfer = transfers_.emplace_back();
        for_pieces(bytes, [&](std::size_t, int) {
            MPI_Isend(nullptr, 0, MPI_BYTE, peer, tag_of(id), MPI_COMM_WORLD,
                      &transfer.requests.emplace_back());
        });
    }
    // An MPI operation that has started ends only when the other rank does its part.
    void abandon() override {}

    bool step(Listener& listener) override {
        bool progress = false;
        while (take_message()) progress = true;
        progress = hand_over(listener) || progress;
        progress = finish_transfers(listener) || progress;
        if (progress) pause_ = 0us;
        return progress;
    }
    bool idle() const override { return transfers_.empty() && messages_.empty(); }

    /// The pause grows while nothing happens, since a rank that computes needs the core.
    void rest() override {
        pause_ = std::min<std::chrono::microseconds>(pause_ + 5us, 100us);
        std::unique_lock lock(mutex_);
        errand_.wait_for(lock, pause_, [&] { return woken_; });
        woken_ = false;
    }
    void wake() override {
        {
            const std::lock_guard lock(mutex_);
            woken_ = true;
        }
        errand_.notify_all();
    }
    void end() override { MPI_Finalize(); }
    void break_off(const std::string& sentence) override {
        processes::say_error(sentence);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }

private:
    struct Transfer {
        std::vector<MPI_Request> requests;
        std::vector<std::byte> message;  ///< the message, which this object owns
        std::optional<Ticket> ticket;    ///< ticket of a move
        std::size_t expected = 0;        ///< bytes to receive
    };

    /// The check precedes everything else, since only the same build knows the format of the rest.
    void check_builds() const {
        const BuildId mine = build_id();
        std::vector<BuildId> all(static_cast<std::size_t>(ranks_));
        MPI_Allgather(mine.data(), static_cast<int>(mine.size()), MPI_CHAR, all.data(),
                      static_cast<int>(mine.size()), MPI_CHAR, MPI_COMM_WORLD);
        const auto other =
            std::ranges::find_if(all, [&](const BuildId& id) { return id != all[0]; });
        if (other == all.end()) return;
        MPI_Finalize();
        const std::string sentence = fmt::format(
            "rank {} runs build {} of debubble, and rank 0 runs build {}: all ranks of a job must "
            "run the same build",
            other - all.begin(), short_form(*other), short_form(all[0]));
        if (rank_ == 0) throw WorldError(sentence);
        throw Aborted(sentence);  // all ranks have the sentence; one of them prints it
    }

    struct Message {
        int from = 0;
        std::vector<std::byte> bytes;
        MPI_Request request{};
    };

    template <class Visitor>
    static void for_pieces(std::size_t bytes, const Visitor& visit) {
        for (std::size_t at = 0; at < bytes; at += kLargest)
            visit(at, static_cast<int>(std::min(kLargest, bytes - at)));
    }

    /// Starts to receive one message; its sender may stop in the middle of it.
    bool take_message() {
        int arrived = 0;
        MPI_Message handle;
        MPI_Status status;
        MPI_Improbe(MPI_ANY_SOURCE, kControlTag, MPI_COMM_WORLD, &arrived, &handle, &status);
        if (!arrived) return false;
        int size = 0;
        MPI_Get_count(&status, MPI_BYTE, &size);
        Message& message = messages_.emplace_back();
        message.from = status.MPI_SOURCE;
        message.bytes.resize(static_cast<std::size_t>(size));
        MPI_Imrecv(message.bytes.data(), size, MPI_BYTE, &handle, &message.request);
        return true;
    }

    /// Hands over the messages that are whole, in the order of their senders.
    bool hand_over(Listener& listener) {
        bool progress = false;
        std::set<int> held_up;
        for (auto message = messages_.begin(); message != messages_.end();) {
            int arrived = 0;
            if (!held_up.contains(message->from))
                MPI_Test(&message->request, &arrived, MPI_STATUS_IGNORE);
            if (!arrived) {
                held_up.insert(message->from);
                ++message;
                continue;
            }
            const Message whole = std::move(*message);
            message = messages_.erase(message);
            listener.on_message(whole.from, whole.bytes);
            progress = true;
        }
        return progress;
    }

    bool finish_transfers(Listener& listener) {
        bool progress = false;
        for (auto transfer = transfers_.begin(); transfer != transfers_.end();) {
            int finished = 0;
            std::vector<MPI_Status> statuses(transfer->requests.size());
            MPI_Testall(static_cast<int>(statuses.size()), transfer->requests.data(), &finished,
                        statuses.data());
            if (!finished) {
                ++transfer;
                continue;
            }
            std::size_t received = 0;
            for (const MPI_Status& status : statuses) {
                int size = 0;
                if (transfer->expected > 0) MPI_Get_count(&status, MPI_BYTE, &size);
                received += static_cast<std::size_t>(size);
            }
            const std::optional<Ticket> ticket = transfer->ticket;
            const bool whole = received == transfer->expected;
            transfer = transfers_.erase(transfer);
            progress = true;
            if (ticket) listener.on_moved(*ticket, whole);
        }
        return progress;
    }

    int rank_ = 0;
    int ranks_ = 0;
    std::list<Message> messages_;  ///< messages in flight, in the order of their arrival
    std::list<Transfer> transfers_;
    std::chrono::microseconds pause_{};
    std::mutex mutex_;
    std::condition_variable errand_;
    bool woken_ = false;
};

/// The name from the environment of the process: MPI itself knows it only once all ranks have come.
std::string name_of_this_process() {
    for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
        if (const char* rank = std::getenv(variable)) return fmt::format("rank {}", rank);
    return "this process";
}

}  // namespace

/// The function that exec/comm/mpi.cpp finds in the module.
extern "C" __attribute__((visibility("default"))) Communicator* debubble_mpi_join(
    std::chrono::nanoseconds patience) {
    const auto open = [] { return std::make_unique<MpiWire>(); };
    return processes::join_world(open, {.for_others = patience}, name_of_this_process()).release();
}

}  // namespace debubble::exec::mpi
