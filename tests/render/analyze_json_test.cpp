#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "libgraphkit/render/analyze/json.h"
#include "tests/render/sample_report.h"

namespace graphkit {

namespace {

std::string JsonText(const Report& report) {
  std::ostringstream out;
  RenderJson(report, SampleTrace(), out);
  return out.str();
}

}  // namespace

TEST_CASE("the JSON of a report holds every figure, in a fixed order") {
  CHECK(JsonText(SampleReport()) == R"json({
  "schema": "graphkit-analyze",
  "version": 1,
  "device": "soft",
  "complete": true,
  "incomplete_because": [],
  "unknown_memory": null,
  "program": "build/workloads/fork_join",
  "graphs": [
    {
      "id": 0,
      "name": "step",
      "origin": "capture",
      "nodes": 3,
      "edges": 3,
      "nodes_by_type": {
        "kernel": 2,
        "memcpy": 1
      },
      "programmatic_edges": 1,
      "launch_completion_edges": 0,
      "cross_stream_edges": 2,
      "critical_path_nodes": 3,
      "critical_path_ns": 0,
      "width": 2,
      "streams": 2,
      "blocks": 2,
      "early_launches": [],
      "unknown_memory": null,
      "total_bytes": 5242880,
      "peak_live_bytes": 5242880,
      "deferred_bytes": 1048576,
      "lower_bound_bytes": 4194304,
      "lower_bound_exact": true,
      "plan_bytes": 4194304,
      "peak_blocks": [
        1,
        0
      ],
      "lower_bound_blocks": [
        1
      ],
      "pools": [
        {
          "pool": null,
          "blocks": 2,
          "total_bytes": 5242880,
          "peak_live_bytes": 5242880,
          "lower_bound_bytes": 4194304,
          "lower_bound_exact": true
        }
      ],
      "pinned_bytes": 512,
      "pinned_blocks": 1,
      "recorded_extent_bytes": 0,
      "never_freed_bytes": 1048576,
      "never_freed_blocks": 1,
      "reuse_bytes": 1048576,
      "execs": 0,
      "destroyed": false,
      "exec_memory": null,
      "reuse": [
        {
          "earlier": 0,
          "later": 1,
          "bytes": 1048576,
          "assumes": "torch-streams"
        }
      ]
    }
  ],
  "findings": [
    {
      "check": "never-freed-block",
      "severity": "error",
      "message": "block 1 of 1 MiB is never freed",
      "advice": "free it on its stream before the capture ends, or allocate it outside",
      "bytes": 1048576,
      "graph": 0,
      "nodes": [],
      "blocks": [
        1
      ],
      "streams": [],
      "assumes": "order",
      "file": "step.cu",
      "line": 42,
      "function": "step()",
      "about": "allocated in the capture",
      "also": [],
      "evidence": [
        {
          "text": "allocated in the capture",
          "nodes": [],
          "edges": [],
          "blocks": [
            1
          ],
          "stack": [
            {
              "function": "cudaMallocAsync",
              "file": "libcudart.so.13",
              "line": 0,
              "library": true
            },
            {
              "function": "_Z4stepv",
              "file": "step.cu",
              "line": 42,
              "library": false
            }
          ]
        }
      ]
    }
  ],
  "finding_groups": [
    [
      [
        0
      ]
    ]
  ],
  "driver_memory": {
    "asked_bytes": 0,
    "segment_used_bytes": 0,
    "segment_free_bytes": 0,
    "graph_node_bytes": 0,
    "input_bytes": 0,
    "not_attributed_bytes": 0
  },
  "memory_moments": {
    "peak_reserved": {
      "record": 0,
      "reserved_bytes": 5242880,
      "segments": 0,
      "in_use_bytes": 5242880,
      "allocated_bytes": 5242880,
      "requested_bytes": 5242880,
      "blocks": 2
    },
    "peak_in_use": {
      "record": 0,
      "reserved_bytes": 5242880,
      "segments": 0,
      "in_use_bytes": 5242880,
      "allocated_bytes": 5242880,
      "requested_bytes": 5242880,
      "blocks": 2
    },
    "peak_allocated": {
      "record": 0,
      "reserved_bytes": 5242880,
      "segments": 0,
      "in_use_bytes": 5242880,
      "allocated_bytes": 5242880,
      "requested_bytes": 5242880,
      "blocks": 2
    },
    "peak_requested": {
      "record": 0,
      "reserved_bytes": 5242880,
      "segments": 0,
      "in_use_bytes": 5242880,
      "allocated_bytes": 5242880,
      "requested_bytes": 5242880,
      "blocks": 2
    },
    "end": {
      "record": 12,
      "reserved_bytes": 5242880,
      "segments": 0,
      "in_use_bytes": 5242880,
      "allocated_bytes": 5242880,
      "requested_bytes": 5242880,
      "blocks": 2
    }
  },
  "exec_memory": null,
  "joins": {
    "captured_blocks": 4,
    "joined": 1,
    "without_stream": 0,
    "without_stack": 1,
    "library_only": 1,
    "untouched": 1,
    "unread": 0
  },
  "totals": {
    "graphs": 1,
    "nodes": 3,
    "edges": 3,
    "blocks": 2,
    "segments": 0,
    "launches": 2,
    "allocated_bytes": 5242880,
    "notes": 0,
    "warnings": 0,
    "errors": 1,
    "changes": {
      "exec_updates": 0,
      "node_params": 0,
      "nodes_enabled": 0,
      "nodes_disabled": 0,
      "nodes_updatable": 0
    }
  }
}
)json");
}

TEST_CASE("bytes that are no UTF-8 become replacement characters") {
  Report report = SampleReport();
  report.program =
      "a\xff"
      "b";
  CHECK(JsonText(report).find("\"program\": \"a\xef\xbf\xbd"
                              "b\"") != std::string::npos);
}

}  // namespace graphkit
