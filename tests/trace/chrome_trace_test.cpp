#include "trace/io/trace_formats.h"

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "base/file.h"
#include "schedule/generators/generators.h"
#include "schedule/lower.h"
#include "tests/trace/trace_of.h"
#include "trace/io/json_cursor.h"

namespace debubble {
namespace {

using testing::HasSubstr;

std::string chrome(const Trace& trace) {
    std::ostringstream out;
    write_chrome_trace(trace, out);
    return out.str();
}

Instant at(std::int64_t ns) {
    return Instant{Duration{ns}};
}

/// Every kind of action, two replicas, odd nanoseconds, every field in use.
Trace every_action() {
    const MicroBatch mb{7, {}};
    const MicroBatch slice{7, std::int16_t{2}};
    const Compute forward{Pass::Forward, Stage{1}, mb};
    const std::vector<std::pair<Lane, Action>> rows{
        {Lane::Compute, forward},
        {Lane::Compute, Compute{Pass::BackwardInput, Stage{2}, slice}},
        {Lane::Compute, Compute{Pass::BackwardWeight, Stage{2}, slice}},
        {Lane::Compute, Recompute{Stage{1}, mb}},
        {Lane::Compute, Overlap{forward, {Pass::Backward, Stage{3}, mb}}},
        {Lane::Send, Send{{Message::Kind::Activation, Stage{1}, mb}, Rank{5}}},
        {Lane::Recv, Recv{{Message::Kind::Gradient, Stage{2}, slice}, Rank{4}}},
        {Lane::Collective, Unshard{Stage{1}}},
        {Lane::Collective, Reshard{Stage{1}}},
        {Lane::Collective, ReduceGrad{Stage{1}}},
        {Lane::Collective, TiedGradReduce{Stage{1}}},
        {Lane::Copy, Offload{Stage{1}, mb}},
        {Lane::Copy, Reload{Stage{1}, mb}},
        {Lane::Collective, GradNorm{}},
        {Lane::Compute, OptimizerStep{}},
    };
    Trace trace;
    trace.header = {TraceSource::Executed, "a \"quoted\"\n\u00e9 name", "cafe", 2, 3, 4, 6, false};
    std::int64_t begin = -17;
    for (const auto& [lane, action] : rows) {
        trace.spans.push_back({Rank{3}, 1, lane, action, at(begin), at(begin + 1'234'567'890'123),
                               Duration{lane == Lane::Compute ? 11 : 0}, Bytes{begin + 17}});
        begin += 1'000'000'007;
    }
    trace.spans[0].exposed_parts =
        trace.exposed_parts.number({Duration{4}, {}, Duration{7}, {}, {}, {}});
    trace.pair_parts = {
        {Rank{3}, 1, Lane::Compute, PairStep::Outside, forward, {}, at(-16), at(-3)},
        {Rank{3},
         1,
         Lane::Collective,
         PairStep::Combine,
         {Pass::Backward, Stage{3}, mb},
         7,
         at(2),
         at(2)},
        {Rank{3},
         1,
         Lane::Compute,
         PairStep::ExpertWeights,
         {Pass::Backward, Stage{3}, mb},
         7,
         at(2),
         at(4)},
        {Rank{3}, 1, Lane::Collective, PairStep::Dispatch, forward, 6, at(3), at(1'000'000'001)}};
    trace.memory = {{at(-5), Bytes{1LL << 40}, Rank{3}, MemoryClass::Activations},
                    {at(9'007'199'254'740'991), Bytes{3}, Rank{3}, MemoryClass::Workspace},
                    {at(0), Bytes{}, Rank{5}, MemoryClass::Buffers}};
    trace.peaks = {
        {at(3), {Bytes{1}, Bytes{2}, Bytes{3}, Bytes{4}, Bytes{5}, Bytes{6}}, "1F7", "gelu"}};
    return trace;
}

Trace pipeline() {
    PipelineCosts costs = unit_costs(std::chrono::milliseconds(10));
    costs.link = std::chrono::microseconds(301);
    return trace_of(generate("interleaved-1f1b", {4, 2, 8}), costs);
}

TEST(ChromeTrace, GivesTheSameTraceBack) {
    EXPECT_EQ(read_chrome_trace(chrome(every_action()), "t.json"), every_action());
    EXPECT_EQ(read_chrome_trace(chrome(pipeline()), "t.json"), pipeline());
    EXPECT_EQ(read_chrome_trace(chrome({}), "t.json"), Trace{});
}

Trace with_program() {
    Trace trace = pipeline();
    trace.program = lower(generate("interleaved-1f1b", {4, 2, 8}), {});
    trace.header.program_hash = program_hash(trace.program);
    trace.header.step_time = Duration{123'456'789};
    trace.header.sends_block = true;
    trace.header.copies_block = true;
    trace.header.reductions_block = true;
    trace.header.clock_error = {Duration{1'200}, Duration{34}};
    trace.header.cores_per_thread = 2.0 / 3;
    return trace;
}

TEST(ChromeTrace, GivesTheProgramAndTheStepTimeBack) {
    EXPECT_EQ(read_chrome_trace(chrome(with_program()), "t.json"), with_program());
}

TEST(ChromeTrace, LeavesOutAProgramThatCsvCannotHold) {
    Trace trace = pipeline();
    trace.program.ranks.resize(2);  // a row without actions
    EXPECT_EQ(read_chrome_trace(chrome(trace), "t.json"), pipeline());
}

TEST(ChromeTrace, IsReadBackWhateverTheWhiteSpaceAndTheOrderOfKeys) {
    const auto json = nlohmann::json::parse(chrome(pipeline()));  // sorts the keys
    EXPECT_EQ(read_chrome_trace(json.dump(), "t.json"), pipeline());
    EXPECT_EQ(read_chrome_trace(json.dump(4), "t.json"), pipeline());
}

TEST(ChromeTrace, IsJsonWhoseSlicesNeverOverlapOnOneThread) {
    const auto json = nlohmann::json::parse(chrome(every_action()));
    std::map<int, double> free;
    for (const auto& event : json["traceEvents"]) {
        if (event["ph"] != "X") continue;
        const double begin = event["ts"];
        const int thread = event["tid"];
        EXPECT_LE(free.contains(thread) ? free[thread] : begin, begin + 1e-4);
        free[thread] = begin + event["dur"].get<double>();
    }
    EXPECT_GE(free.size(), 15U) << "all of them overlap";
}

TEST(ChromeTrace, DrawsAnArrowFromEverySendToItsRecv) {
    const Trace trace = pipeline();
    const auto json = nlohmann::json::parse(chrome(trace));
    const auto begins_slice = [&](const nlohmann::json& arrow) {
        return std::ranges::any_of(json["traceEvents"], [&](const auto& e) {
            return e["ph"] == "X" && e["tid"] == arrow["tid"] && e["ts"] == arrow["ts"];
        });
    };
    std::set<int> tails;
    std::set<int> heads;
    for (const auto& event : json["traceEvents"]) {
        if (event["ph"] != "s" && event["ph"] != "f") continue;
        auto& ends = event["ph"] == "s" ? tails : heads;
        EXPECT_TRUE(ends.insert(event["id"].get<int>()).second);
        EXPECT_TRUE(begins_slice(event));
    }
    const auto recvs = std::ranges::count(trace.spans, Lane::Recv, &Span::lane);
    EXPECT_EQ(static_cast<std::ptrdiff_t>(tails.size()), recvs);
    EXPECT_EQ(tails, heads);
}

TEST(ChromeTrace, WritesTimeInMicrosecondsToTheNanosecond) {
    Trace trace;
    trace.spans.push_back({Rank{0},
                           0,
                           Lane::Compute,
                           Compute{Pass::Forward, Stage{0}, {0, {}}},
                           at(1'234'567),
                           at(1'234'570),
                           {},
                           {}});
    EXPECT_THAT(chrome(trace), HasSubstr("\"ts\":1234.567,\"dur\":0.003,"));
}

std::string error_of(const std::string& text) {
    try {
        read_chrome_trace(text, "t.json");
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

const std::string kHeader =
    R"("debubble":{"version":1,"source":"executed","scenario":"s","program_hash":"","tensor":1,)"
    R"("context":1,"data":1,"pipeline":1,"folded":true,"peaks":[]})";
const std::string kProcess =
    R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"rank 0","rank":0,"replica":0}})";

std::string trace_with(const std::string& event) {
    return "{" + kHeader + ",\"traceEvents\":[\n" + kProcess + ",\n" + event + "\n]}\n";
}

std::string slice(const std::string& cat, const std::string& args) {
    return R"({"ph":"X","name":"x","cat":")" + cat + R"(","pid":1,"args":{)" + args + "}}";
}

TEST(ChromeTrace, LocatesWhatIsWrong) {
    const std::string good = R"("action":"0F0","begin_ns":0,"end_ns":5)";
    ASSERT_EQ(error_of(trace_with(slice("compute", good))), "no error");
    const std::vector<std::pair<std::string, std::string>> rejects{
        {slice("compute", R"("action":"0F0","begin_ns":5,"end_ns":0)"),
         "\"end_ns\" is before \"begin_ns\""},
        {slice("compute", R"("action":"0F0","begin_ns":0.5,"end_ns":1)"),
         "\"begin_ns\" must be a whole number from -9007199254740992 to 9007199254740992"},
        {slice("compute", R"("action":"0F0","begin_ns":0,"end_ns":18446744073709551615)"),
         "\"end_ns\" must be a whole number"},
        {slice("compute", R"("action":"0F0","begin_ns":0)"), "\"end_ns\" is missing"},
        {slice("compute", R"("action":"nonsense","begin_ns":0,"end_ns":1)"),
         "\"action\" is not an action: "},
        {slice("compute", R"("action":3,"begin_ns":0,"end_ns":1)"), "\"action\" must be a string"},
        {slice("send", R"("action":"0SEND_F0","begin_ns":0,"end_ns":1)"), "\"peer\" is missing"},
        {slice("compute", good + R"(,"exposed_ns":6)"),
         "\"exposed_ns\" must be a whole number from 0 to 5"},
        {slice("compute", good + R"(,"exposed_ns":4,"exposed_by_ns":{"tp":1,"ep":2})"),
         "the parts of \"exposed_by_ns\" do not add up to \"exposed_ns\""},
        {slice("compute", good + R"(,"on_core_ns":-1)"),
         "\"on_core_ns\" must be a whole number from 0"},
        {slice("compute", good + R"(,"bytes":-1)"), "\"bytes\" must be a whole number from 0"},
        {slice("pair compute", good + R"(,"layer":3,"step":"lunch")"),
         "\"step\" is not a step of a layer"},
        {slice("pair compute", good + R"(,"layer":3)"), "\"step\" is missing"},
        {slice("kitchen", good), "\"cat\" must be compute, send, recv, collective or copy"},
        {R"({"ph":"X","cat":"compute","pid":2,"args":{}})", "\"pid\" was not named"},
        {R"({"ph":"C","name":"memory: magic","pid":1,"at_ns":0,"args":{"bytes":1}})",
         "\"name\" is not a class of memory"},
        {R"({"pid":1})", "\"ph\" is missing"},
        {"7", "expected an object"},
        {"{\"ph\":nil}", "not valid JSON"},
    };
    for (const auto& [event, message] : rejects)
        EXPECT_THAT(error_of(trace_with(event)),
                    testing::StartsWith("t.json:3:1: error: " + message))
            << event;
}

TEST(ChromeTrace, KnowsTheSourcesOfTimes) {
    auto json = nlohmann::json::parse(chrome(with_program()));
    auto& source = json["debubble"]["source"];
    const auto source_of = [&] { return read_chrome_trace(json.dump(), "t.json").header.source; };
    for (const auto known : {TraceSource::Simulated, TraceSource::Executed, TraceSource::Replayed,
                             TraceSource::Profiled}) {
        source = name_of(known);
        EXPECT_EQ(source_of(), known);
    }
    source = "";
    EXPECT_EQ(source_of(), std::nullopt) << "not stated";
    source = "guessed";
    EXPECT_THAT(error_of(json.dump()),
                HasSubstr("\"source\" must be simulated, executed, replayed or profiled"));
}

TEST(ChromeTrace, RefusesAProgramThatIsNone) {
    auto json = nlohmann::json::parse(chrome(with_program()));
    auto& program = json["debubble"]["program"];
    const auto good = program;
    program["csv"] = "0F0\n1F0\n2F0\nwhat\n";
    EXPECT_THAT(error_of(json.dump()), HasSubstr("\"program\" is not a program: "));
    program = good;
    program["placement"] = "0\n";
    EXPECT_THAT(error_of(json.dump()), HasSubstr("\"program\" is not a program: "));
    program = good;
    program["placement"] = "0,7\n1,6\n2,5\n3,4\n";
    EXPECT_THAT(error_of(json.dump()), HasSubstr("\"program\" "));
    program = good;
    json["debubble"]["program_hash"] = "cafe";
    EXPECT_THAT(error_of(json.dump()),
                HasSubstr("\"program\" does not have the hash that \"program_hash\" says"));
    program = 3;
    EXPECT_THAT(error_of(json.dump()), HasSubstr("\"program\" must be an object"));
}

TEST(ChromeTrace, ListsAllMistakesUpToTwenty) {
    std::string events = "7";
    for (int i = 0; i < 2; ++i) events += ",\n7";
    const std::string error = error_of(trace_with(events));
    for (const char* place : {"t.json:3:1:", "t.json:4:1:", "t.json:5:1:"})
        EXPECT_THAT(error, HasSubstr(place));
    for (int i = 0; i < 100; ++i) events += ",\n7";
    EXPECT_EQ(std::ranges::count(error_of(trace_with(events)), '^'), 20);
}

TEST(ChromeTrace, SaysWhenItIsSomebodyElsesTrace) {
    EXPECT_EQ(error_of(R"({"traceEvents":[{"ph":"i","name":"x"}]})"),
              "t.json: error: no \"debubble\" header: this trace was not written by debubble\n");
    EXPECT_EQ(error_of("[]"), "t.json:1:1: error: a trace must be a JSON object\n  []\n  ^\n");
    EXPECT_THAT(error_of(""), HasSubstr("t.json:1:1: error: a trace must be a JSON object"));
}

TEST(ChromeTrace, SurvivesBeingCutAnywhere) {
    const std::string whole = chrome(every_action());
    for (std::size_t length = 0; length + 2 < whole.size(); length += 3)
        EXPECT_THROW(read_chrome_trace(whole.substr(0, length), "t.json"), InputError) << length;
}

TEST(ChromeTrace, SurvivesAnyByteChanged) {
    const std::string whole = chrome(every_action());
    for (std::size_t i = 0; i < whole.size(); i += 29) {
        for (const char c : {'\0', '9', '-', '"', '{', '\\', '\xff'}) {
            std::string changed = whole;
            changed[i] = c;
            try {
                read_chrome_trace(changed, "t.json");
            } catch (const InputError&) {
            }
        }
    }
}

TEST(ChromeTrace, SurvivesDeepNestingAndEndlessLines) {
    EXPECT_THAT(error_of(trace_with(std::string(1'000'000, '['))), HasSubstr("not closed"));
    const std::string line = error_of(trace_with(std::string(1'000'000, ' ') + "7"));
    EXPECT_LT(line.size(), 1000U);
    EXPECT_THAT(line, HasSubstr("expected an object (at byte "));
}

TEST(JsonCursor, WalksOverValuesWithoutParsingThem) {
    JsonCursor cursor(R"( [ "a,]\"", {"b":[1,{}]}, -1.5e3 ] )");
    EXPECT_TRUE(cursor.take('['));
    EXPECT_EQ(cursor.value(), R"("a,]\"")");
    EXPECT_TRUE(cursor.take(','));
    EXPECT_EQ(cursor.value(), R"({"b":[1,{}]})");
    EXPECT_TRUE(cursor.take(','));
    EXPECT_EQ(cursor.value(), "-1.5e3");
    EXPECT_FALSE(cursor.value());
    EXPECT_TRUE(cursor.take(']'));
    EXPECT_TRUE(cursor.at_end());
}

TEST(TraceCsv, WritesARowPerSpanAndPerSample) {
    Trace trace = every_action();
    std::erase_if(trace.spans, [](const Span& s) { return s.lane != Lane::Send; });
    std::ostringstream spans;
    write_trace_csv(trace, spans);
    EXPECT_EQ(spans.str(),
              "rank,replica,lane,action,peer,begin_ns,end_ns,exposed_ns,bytes\n"
              "3,1,send,1SEND_F7,5,5000000018,1239567890141,0,5000000035\n");
    std::ostringstream memory;
    write_memory_csv(trace, memory);
    EXPECT_EQ(memory.str(),
              "rank,at_ns,class,bytes\n3,-5,activations,1099511627776\n"
              "3,9007199254740991,workspace,3\n5,0,buffers,0\n");
}

std::string in_temporary_folder(const std::string& name) {
    return (std::filesystem::path(testing::TempDir()) / name).string();
}

TEST(EveryTraceFormat, IsKnownByItsEndingAndByItsFirstCharacters) {
    const Trace trace = every_action();
    for (const TraceFormat& format : trace_formats()) {
        const std::string name = "step" + std::string(format.ending);
        EXPECT_EQ(trace_format_named(name), &format);
        const std::string text = trace_text(trace, name);
        for (const TraceFormat& other : trace_formats())
            EXPECT_EQ(other.begins(text), &other == &format) << format.ending << other.ending;
        EXPECT_THAT(trace_endings(), HasSubstr(std::string(format.ending)));
    }
    EXPECT_EQ(trace_format_named("step"), nullptr);
    EXPECT_EQ(trace_text(trace, "-"), chrome(trace));
}

TEST(EveryTraceFormat, IsReadByItsContentWhateverTheFileIsCalled) {
    const Trace trace = every_action();
    const std::string file = in_temporary_folder("every_trace_format.txt");
    for (const TraceFormat& format : trace_formats()) {
        write_file(file, trace_text(trace, std::string(format.ending)));
        if (format.read != nullptr) {
            EXPECT_EQ(read_trace(file).spans, trace.spans) << format.ending;
            continue;
        }
        try {
            read_trace(file);
            ADD_FAILURE() << format.ending << " was read";
        } catch (const InputError& error) {
            EXPECT_THAT(error.what(), HasSubstr("can be written but not read"));
        }
    }
    std::filesystem::remove(file);
}

}  // namespace
}  // namespace debubble
