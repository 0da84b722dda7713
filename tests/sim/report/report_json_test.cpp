#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "sim/report/report.h"
#include "tests/sim/report/sample_answer.h"

namespace debubble::sim {
namespace {

using sample::answer;
using sample::bubble;
using sample::rank;

TEST(ReportJson, KeepsTheContract) {
    const auto json = report_json(answer(true));
    EXPECT_EQ(json.dump(1), R"({
 "scenario": "tiny",
 "step_time_s": 0.1,
 "step_time_range_s": null,
 "tokens_per_s": 327680.0,
 "samples_per_s": 320.0,
 "mfu": 0.4321,
 "mfu_causal": 0.4012,
 "hfu": 0.4567,
 "tflops_per_gpu": 64.7,
 "bubble": 0.25,
 "span_bubble": 0.2,
 "makespan_s": 0.095,
 "idle_by_cause_s": {
  "warm-up": 0.01,
  "cool-down": 0.01,
  "stage": 0.02,
  "link": 0.0,
  "collective": 0.0,
  "optimizer barrier": 0.0,
  "launch": 0.0
 },
 "parameters": 124439808,
 "replicas": 1,
 "fits": true,
 "reason": null,
 "tight": false,
 "memory_verdict": "fits",
 "memory_range_bytes": null,
 "memory_limit_bytes": 47244640256,
 "headroom_bytes": 0,
 "memory_left_bytes": 0,
 "memory_left_of_requested_bytes": 0,
 "groups": [],
 "communication": {
  "tp": {
   "exposed_s": 0.0,
   "hidden_s": 0.0,
   "bytes": 0.0
  },
  "cp": {
   "exposed_s": 0.0,
   "hidden_s": 0.0,
   "bytes": 0.0
  },
  "ep": {
   "exposed_s": 0.0,
   "hidden_s": 0.0,
   "bytes": 0.0
  },
  "dp": {
   "exposed_s": 0.0,
   "hidden_s": 0.0,
   "bytes": 0.0
  },
  "pp": {
   "exposed_s": 0.0,
   "hidden_s": 0.0,
   "bytes": 0.0,
   "idle_s": 0.0
  },
  "host": {
   "exposed_s": 0.0,
   "hidden_s": 0.0,
   "bytes": 0.0
  }
 },
 "ranks": [
  {
   "rank": 0,
   "stage_ids": [
    0
   ],
   "busy_s": 0.07,
   "idle_s": 0.02,
   "exposed_comm_s": 0.005,
   "optimizer_s": 0.005,
   "peak_memory_bytes": 42949672960,
   "reserved_memory_bytes": null,
   "peak_op": "0F1, gelu",
   "memory": {
    "parameters": 2147483648,
    "gradients": 2147483648,
    "optimizer": 4294967296,
    "activations": 1073741824,
    "buffers": 536870912,
    "workspace": 32749125632
   }
  },
  {
   "rank": 1,
   "stage_ids": [
    1
   ],
   "busy_s": 0.07,
   "idle_s": 0.02,
   "exposed_comm_s": 0.005,
   "optimizer_s": 0.005,
   "peak_memory_bytes": 32212254720,
   "reserved_memory_bytes": null,
   "peak_op": "1F1, gelu",
   "memory": {
    "parameters": 2147483648,
    "gradients": 2147483648,
    "optimizer": 4294967296,
    "activations": 1073741824,
    "buffers": 536870912,
    "workspace": 22011707392
   }
  }
 ],
 "schedule_hash": "abc",
 "provenance": [
  {
   "what": "gpu.peak",
   "origin": "datasheet",
   "source": "NVIDIA A40 datasheet"
  },
  {
   "what": "gpu.gemm_efficiency",
   "origin": "fitted",
   "source": "a table"
  },
  {
   "what": "network.latency",
   "origin": "fitted",
   "source": "a table"
  }
 ],
 "notes": [
  "24 layers on 2 ranks: 12, 12"
 ]
})");
}

TEST(ReportJson, MemoryOfARankSumsToItsPeak) {
    const auto json = report_json(answer(true));
    ASSERT_EQ(json["ranks"].size(), 2U);
    for (const auto& row : json["ranks"]) {
        std::int64_t sum = 0;
        for (const auto& bytes : row["memory"]) sum += bytes.get<std::int64_t>();
        EXPECT_EQ(sum, row["peak_memory_bytes"].get<std::int64_t>());
    }
}

TEST(ReportJson, IsNullWhereAFigureIsUnknown) {
    PredictionWithTrace a = answer(true);
    a.prediction.mfu.reset();
    a.prediction.hfu.reset();
    a.statistics = {};
    const auto json = report_json(a);
    for (const char* key : {"mfu", "hfu", "idle_by_cause_s"}) EXPECT_TRUE(json[key].is_null());
}

/// A pair of 90 ms of which 20 ms are two all-to-alls, and 15 ms of these are overlapped by a
/// compute.

}  // namespace
}  // namespace debubble::sim
