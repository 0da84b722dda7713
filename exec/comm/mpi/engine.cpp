#include "exec/comm/mpi/engine.h"

#define OMPI_SKIP_MPICXX 1
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstring>

namespace debubble::exec::mpi {

namespace {

using namespace std::chrono_literals;

constexpr int kControlTag = 0;
constexpr int kFirstDataTag = 1;
constexpr int kDataTags = 32000;           ///< MPI grants 32767
constexpr std::size_t kSmall = 4096;       ///< bytes that travel with their announcement
constexpr std::size_t kLargest = 1 << 30;  ///< bytes of one MPI call, whose counts are int
constexpr auto kGoodbye = 10s;

enum class Word : std::int32_t { Announce, Ask, Fail, Goodbye };

struct Header {
    Word word{};
    std::int32_t reserved = 0;
    Place place{};
    Terms terms{};
    std::uint64_t id = 0;
    std::uint64_t texts[2] = {};  ///< lengths: description (or sentence), content
    std::uint64_t inlined = 0;    ///< bytes of the piece behind the texts
};

std::vector<std::byte> pack(Header header, const std::string& first, const std::string& second,
                            std::span<const std::byte> inlined) {
    header.texts[0] = first.size();
    header.texts[1] = second.size();
    header.inlined = inlined.size();
    std::vector<std::byte> message(sizeof header + first.size() + second.size() + inlined.size());
    std::byte* end = message.data();
    const auto add = [&](const void* bytes, std::size_t size) {
        if (size > 0) std::memcpy(end, bytes, size);
        end += size;
    };
    add(&header, sizeof header);
    add(first.data(), first.size());
    add(second.data(), second.size());
    add(inlined.data(), inlined.size());
    return message;
}

int tag_of(std::uint64_t id) {
    return kFirstDataTag + static_cast<int>(id % kDataTags);
}

}  // namespace

struct Engine::Announcement {
    int peer = 0;
    Header header;
    std::string description;
    std::string content;
    std::vector<std::byte> inlined;
};

struct Engine::Transfer {
    std::vector<MPI_Request> requests;
    std::vector<std::byte> message;        ///< of a control message, which the engine owns
    std::shared_ptr<Operation> operation;  ///< whose piece it is, if it is one
    std::size_t expected = 0;              ///< bytes to receive
};

Engine::Engine() {
    thread_ = std::thread([this] { run(); });
    Lock lock(mutex_);
    bell_.wait(lock, [&] { return up_ || failure_; });
    if (!up_) {
        lock.unlock();
        thread_.join();
        throw WorldError(*failure_);
    }
}

Engine::~Engine() {
    {
        const Lock lock(mutex_);
        closing_ = true;
    }
    errand_.notify_all();
    thread_.join();
}

void Engine::run() {
    int provided = 0;
    const int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    {
        const Lock lock(mutex_);
        if (error != MPI_SUCCESS || provided < MPI_THREAD_FUNNELED) {
            failure_ = "MPI does not start, or not with threads";
        } else {
            MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
            MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
            up_ = true;
        }
    }
    bell_.notify_all();
    if (!up_) return;
    auto pause = 0us;  // grows while nothing happens: a rank that computes needs the core
    Lock lock(mutex_);
    while (!closing_) {
        if (step()) {
            pause = 0us;
        } else {
            pause = std::min<std::chrono::microseconds>(pause + 5us, 100us);
            errand_.wait_for(lock, pause);
        }
    }
    lock.unlock();
    say_goodbye();
    MPI_Finalize();
}

/// Everybody answers the others until all have said that they need nothing more.
void Engine::say_goodbye() {
    Lock lock(mutex_);
    if (untold_) tell_failure();
    for (int peer = 0; peer < ranks_; ++peer) {
        if (peer != rank_) post(peer, pack({Word::Goodbye}, "", "", {}));
    }
    const Deadline deadline = within(kGoodbye);
    while (goodbyes_ < ranks_ - 1 || !transfers_.empty()) {
        if (failure_ && Clock::now() > deadline) break;  // else the others are still at work
        if (!step()) errand_.wait_for(lock, 100us);
    }
    if (goodbyes_ < ranks_ - 1 || !transfers_.empty())
        MPI_Abort(MPI_COMM_WORLD, 3);  // a rank is gone: no orderly end
}

bool Engine::step() {
    if (untold_) tell_failure();
    if (failure_) fresh_.clear();  // their buffers may be gone
    bool progress = !fresh_.empty();
    for (const auto& operation : std::exchange(fresh_, {})) begin_phase(operation);
    while (take_message()) progress = true;
    return finish_transfers() || progress;
}

void Engine::start(const std::shared_ptr<Operation>& operation) {
    {
        const Lock lock(mutex_);
        if (failure_) return;
        fresh_.push_back(operation);
    }
    errand_.notify_all();
}

void Engine::begin_phase(const std::shared_ptr<Operation>& operation) {
    Operation& op = *operation;
    for (;; ++op.phase) {
        if (op.phase == op.phases.size()) {
            op.done = true;
            op.when.end = Clock::now();
            if (op.when.begin == Clock::time_point{}) op.when.begin = op.when.end;
            bell_.notify_all();
            return;
        }
        const Operation::Phase& phase = op.phases[op.phase];
        if (phase.begin) phase.begin();
        if (!phase.out.empty() || !phase.in.empty()) break;
    }
    const Operation::Phase& phase = op.phases[op.phase];
    op.open = static_cast<int>(phase.out.size() + phase.in.size());
    op.missing.clear();
    for (const Piece& piece : phase.out) op.missing.push_back(piece.peer);
    for (const Piece& piece : phase.in) op.missing.push_back(piece.peer);
    Place place = op.place;
    if (place.kind < 0) place.kind -= static_cast<std::int32_t>(op.phase);

    for (const Piece& piece : phase.out) {
        Header header{Word::Announce, 0, place, op.terms, next_id_++};
        const bool small = piece.bytes.size() <= kSmall;
        // A message that travels with its announcement is on its way from now on.
        if (small && op.terms.pattern == local::Pattern::Message) op.when.begin = Clock::now();
        post(piece.peer, pack(header, op.description, op.content,
                              small ? piece.bytes : std::span<std::byte>{}));
        offered_[header.id] = {operation, piece};
    }
    for (const Piece& piece : phase.in) {
        const Meeting meeting{piece.peer, place};
        if (const auto found = announced_.find(meeting); found != announced_.end()) {
            Announcement announcement = std::move(found->second);
            announced_.erase(found);
            match({operation, piece}, std::move(announcement));
        } else {
            expected_[meeting] = {operation, piece};
        }
    }
}

void Engine::accept(Announcement&& announcement) {
    const Meeting meeting{announcement.peer, announcement.header.place};
    if (const auto found = expected_.find(meeting); found != expected_.end()) {
        Incoming incoming = std::move(found->second);
        expected_.erase(found);
        match(incoming, std::move(announcement));
    } else {
        announced_.emplace(meeting, std::move(announcement));
    }
}

void Engine::match(const Incoming& incoming, Announcement&& announcement) {
    if (failure_) return;
    Operation& op = *incoming.operation;
    if (!(announcement.header.terms == op.terms)) {
        return fail_locked(fmt::format("rank {} takes {} for {}, rank {} takes {} for {}",
                                       announcement.peer, announcement.description,
                                       announcement.content, rank_, op.description, op.content),
                           true);
    }
    Header ask{Word::Ask};
    ask.id = announcement.header.id;
    const std::span<std::byte> target = incoming.piece.bytes;
    if (target.size() > kSmall) {
        move(false, incoming.piece, tag_of(ask.id), incoming.operation);
        post(announcement.peer, pack(ask, "", "", {}));
    } else {
        if (!target.empty()) std::memcpy(target.data(), announcement.inlined.data(), target.size());
        post(announcement.peer, pack(ask, "", "", {}));
        met(op, announcement.peer);
        piece_done(incoming.operation);
    }
}

void Engine::piece_done(const std::shared_ptr<Operation>& operation) {
    if (--operation->open > 0 || failure_) return;
    ++operation->phase;
    begin_phase(operation);
}

bool Engine::take_message() {
    int arrived = 0;
    MPI_Message handle;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, kControlTag, MPI_COMM_WORLD, &arrived, &handle, &status);
    if (!arrived) return false;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    std::vector<std::byte> message(static_cast<std::size_t>(size));
    MPI_Mrecv(message.data(), size, MPI_BYTE, &handle, MPI_STATUS_IGNORE);
    Announcement got;
    got.peer = status.MPI_SOURCE;
    std::memcpy(&got.header, message.data(), sizeof(Header));
    const char* text = reinterpret_cast<const char*>(message.data()) + sizeof(Header);
    got.description.assign(text, got.header.texts[0]);
    got.content.assign(text + got.header.texts[0], got.header.texts[1]);
    got.inlined.assign(message.end() - static_cast<std::ptrdiff_t>(got.header.inlined),
                       message.end());
    switch (got.header.word) {
        case Word::Announce: accept(std::move(got)); break;
        case Word::Fail: fail_locked(got.description, false); break;
        case Word::Goodbye: ++goodbyes_; break;
        case Word::Ask: serve(got); break;
    }
    return true;
}

void Engine::serve(const Announcement& ask) {
    const auto found = offered_.find(ask.header.id);
    Incoming offer = std::move(found->second);
    offered_.erase(found);
    const std::size_t size = offer.piece.bytes.size();
    if (size <= kSmall) {
        met(*offer.operation, ask.peer);
        return piece_done(offer.operation);
    }
    if (failure_) {  // the bytes may be gone; empty messages end the receives
        for (std::size_t at = 0; at < size; at += kLargest) {
            Transfer& transfer = transfers_.emplace_back();
            MPI_Isend(nullptr, 0, MPI_BYTE, ask.peer, tag_of(ask.header.id), MPI_COMM_WORLD,
                      &transfer.requests.emplace_back());
        }
        return;
    }
    move(true, offer.piece, tag_of(ask.header.id), offer.operation);
}

void Engine::met(Operation& operation, int peer) {
    std::erase(operation.missing, peer);
    const bool on_its_way = operation.when.begin != Clock::time_point{};
    if (operation.missing.empty() && operation.phase == 0 && !on_its_way)
        operation.when.begin = Clock::now();
}

void Engine::post(int peer, std::vector<std::byte> message) {
    Transfer& transfer = transfers_.emplace_back();
    transfer.message = std::move(message);
    MPI_Isend(transfer.message.data(), static_cast<int>(transfer.message.size()), MPI_BYTE, peer,
              kControlTag, MPI_COMM_WORLD, &transfer.requests.emplace_back());
}

void Engine::move(bool out, const Piece& piece, int tag, std::shared_ptr<Operation> operation) {
    Transfer& transfer = transfers_.emplace_back();
    ++operation->moving;
    met(*operation, piece.peer);
    transfer.operation = std::move(operation);
    transfer.expected = out ? 0 : piece.bytes.size();
    for (std::size_t at = 0; at < piece.bytes.size(); at += kLargest) {
        const int size = static_cast<int>(std::min(kLargest, piece.bytes.size() - at));
        std::byte* bytes = piece.bytes.data() + at;
        MPI_Request& request = transfer.requests.emplace_back();
        if (out) {
            MPI_Isend(bytes, size, MPI_BYTE, piece.peer, tag, MPI_COMM_WORLD, &request);
        } else {
            MPI_Irecv(bytes, size, MPI_BYTE, piece.peer, tag, MPI_COMM_WORLD, &request);
        }
    }
}

bool Engine::finish_transfers() {
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
        const bool whole = received == transfer->expected;
        const std::shared_ptr<Operation> operation = std::move(transfer->operation);
        transfer = transfers_.erase(transfer);
        progress = true;
        if (!operation) continue;
        --operation->moving;
        if (failure_) bell_.notify_all();
        if (whole) piece_done(operation);  // else its sender has failed and says so
    }
    return progress;
}

void Engine::tell_failure() {
    untold_ = false;
    for (int peer = 0; peer < ranks_; ++peer) {
        if (peer != rank_) post(peer, pack({Word::Fail}, *failure_, "", {}));
    }
}

}  // namespace debubble::exec::mpi
