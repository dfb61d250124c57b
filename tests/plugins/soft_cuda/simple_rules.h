// The rules of captures, graphs and graph memory once more, as simply as they can be told: sets of
// numbers, searched in full each time. Nothing here is shared with the software device; the random
// programs compare the two.
//
// Each function is one call. It returns the error that the documentation asks for and changes the
// state only as far as the call does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace rules {

// Errors by their CUDA numbers.
enum Error {
  kOk = 0,
  kInvalidValue = 1,
  kIllegalState = 401,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureMerge = 902,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCaptureIsolation = 905,
  kCapturedEvent = 907,
  kFails = -1,  // some error
};

enum class Type { kEmpty, kHost, kAlloc, kFree, kChild, kRecord };
enum Mode { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };

constexpr int kNone = -1;
using Nodes = std::set<int>;

struct Node {
  Type type;
  Nodes after;          // direct dependencies
  int allocation = -1;  // of kAlloc and kFree: the number of the allocation
  bool gone = false;
  bool cycle_inside = false;  // of kChild
};

struct Graph {
  std::vector<Node> nodes;
  bool gone = false;
  int capture = kNone;         // the capture that records into it
  int execs = 0;               // that exist
  bool instantiated = false;   // at least once
  std::set<int> freed_inside;  // allocations
};

struct Exec {
  int graph;   // that it was made of
  Graph copy;  // as it was then
  bool gone = false;
};

struct Stream {
  int capture = kNone;
  Nodes set;    // the nodes that the next one will follow
  Nodes given;  // those of them that an update put there
};

struct Event {
  bool recorded = false;
  int capture = kNone;  // recorded in this capture, maybe over
  Nodes set;
};

struct Capture {
  int graph;
  int origin;
  Mode mode;
  bool valid = true;
  bool over = false;
  Nodes let_go;  // taken out of a stream's set by an update, or cut off: not to be joined
  Nodes left;    // ends of destroyed streams: to be joined
};

// Of a node. Where a graph has freed an address before, a later allocation may have it again.
struct Allocation {
  int graph;
  int place;  // the number of its address
};

struct World {
  std::vector<Stream> streams;
  std::vector<Event> events;
  std::vector<Capture> captures;
  std::vector<Graph> graphs;
  std::vector<Exec> execs;
  std::vector<Allocation> allocations;
  std::set<int> live;  // places whose allocation was launched and not freed
  Mode thread_mode = kGlobal;

  // Captures.
  Error Begin(int stream, Mode mode, int into, const Nodes& after);  // into kNone: a new graph
  Error End(int stream, int* graph);                                 // kNone: failed
  Error Record(int event, int stream);
  Error Wait(int stream, int event);
  Error Query(int event);
  Error Update(int stream, bool add, const Nodes& nodes);
  Error Unsafe();  // a call that capturing forbids
  Error Synchronize(int stream);
  Error Work(int stream, Type type, int allocation = -1);
  Error FreeAsync(int stream, int allocation);
  void LeaveStream(int stream);  // it is destroyed

  // Graphs.
  Error AddNode(int graph, Type type, const Nodes& after, int allocation = -1);
  Error AddEdge(int graph, int from, int to);
  Error RemoveEdge(int graph, int from, int to);
  Error DestroyNode(int graph, int node);
  Error Clone(int graph);
  Error AddChild(int graph, int child, const Nodes& after);
  Error Instantiate(int graph, int* exec);
  Error DestroyGraph(int graph);
  Error Launch(int exec);

  bool HasMemory(const Graph& graph) const;
  bool HasCycle(const Graph& graph) const;
  bool IsBefore(const Graph& graph, int first, int second) const;  // by a path of edges
  bool AnyCapture() const;
  bool IsBehind(int stream, int allocation) const;  // of the graph that the stream captures into

 private:
  void Over(int capture);
  bool CanFree(const Graph& graph, int number, int allocation) const;
};

}  // namespace rules
