#include "libgraphkit/analysis/launches/collectives.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "libgraphkit/analysis/launches/collective_steps.h"
#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/model/names.h"

namespace graphkit {
namespace {

// A rank of a communicator: a trace, and what the communicator is there.
struct Member {
  uint32_t trace = 0;
  CommunicatorId communicator;
  uint32_t rank = 0;
};
using Members = std::vector<Member>;  // by rank, each once

std::string FileOf(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));  // of none: 0
}

// "all_reduce of 1024 bf16", "broadcast of 8 fp32 from root 1".
std::string TextOf(const Collective& what) {
  const bool typed = what.type != ElementType::kByte;
  std::string text = std::string(NameOf(what.kind)) + " of " + std::to_string(what.count) + " " +
                     (typed ? std::string(NameOf(what.type)) : "bytes");
  if (what.peer < 0) return text;
  if (what.kind == CollectiveKind::kSend) return text + " to rank " + std::to_string(what.peer);
  if (IsMessage(what.kind)) return text + " from rank " + std::to_string(what.peer);
  return text + " with root " + std::to_string(what.peer);
}

struct Comparison {
  std::vector<RankDifference> Compare() {
    std::map<uint64_t, std::map<uint32_t, Member>> by_key;
    for (uint32_t i = 0; i < traces.size(); ++i) {
      const std::vector<Communicator>& all = traces[i].collectives->communicators;
      for (size_t c = 0; c < all.size(); ++c) {
        if (all[c].key == 0 || all[c].ranks < 2) continue;
        by_key[all[c].key].try_emplace(all[c].rank, Member{i, CommunicatorId(c), all[c].rank});
      }
    }
    for (const auto& [key, members] : by_key) {
      if (members.size() < 2) continue;
      for (const auto& [rank, member] : members) communicators[key].push_back(member);
    }
    for (const auto& [key, members] : communicators) {
      const size_t before = differences.size();
      CompareWithUsual(members);
      CompareMessages(members);
      if (differences.size() == before) CompareWaits(members);
    }
    for (const auto& [one, other] : std::set(pairs)) CompareAcross(one, other);
    return std::move(differences);
  }

  const RankCollectives& Of(const Member& member) const {
    return *traces[member.trace].collectives;
  }

  // Among many traces, two ranks of one: its own analysis has that.
  bool IsKnown(const Member& a, const Member& b) const {
    return a.trace == b.trace && traces.size() > 1;
  }

  // The executed operations, or the captured ones where nothing was executed.
  StepsCompared CompareTwo(uint32_t one, uint32_t other, const CollectiveFilter& filter_one,
                           const CollectiveFilter& filter_other) const {
    const RankCollectives &a = *traces[one].collectives, &b = *traces[other].collectives;
    const bool works = a.works && b.works;
    const CollectiveSteps executed_a(a, a.executed, works, filter_one);
    const CollectiveSteps executed_b(b, b.executed, works, filter_other);
    StepsCompared compared;
    if (executed_a.empty() && executed_b.empty()) {
      compared =
          CompareSteps({a, a.captured, works, filter_one}, {b, b.captured, works, filter_other});
    } else {
      compared = CompareSteps(executed_a, executed_b);
    }
    const auto& order = compared.order;
    const bool cut =
        order && ((!order->a && !traces[one].complete) || (!order->b && !traces[other].complete));
    if (cut) compared.order.reset();
    return compared;
  }

  // Counts what all ranks of some communicators run, under their numbers among those of both.
  static CollectiveFilter AllRanks(const std::map<CommunicatorId, CommunicatorId>& shared) {
    return [shared](const Collective& what) -> std::optional<Collective> {
      const auto found = shared.find(what.communicator);
      if (found == shared.end() || IsMessage(what.kind)) return std::nullopt;
      Collective key = what;
      key.communicator = found->second;
      return key;
    };
  }

  StepsCompared CompareMembers(const Member& a, const Member& b) const {
    return CompareTwo(a.trace, b.trace, AllRanks({{a.communicator, CommunicatorId(0u)}}),
                      AllRanks({{b.communicator, CommunicatorId(0u)}}));
  }

  // Each with the first rank; where most differ from that, with the first of them.
  void CompareWithUsual(const Members& members) {
    std::vector<StepsCompared> best;
    size_t usual = 0, least = members.size() + 1;
    for (size_t tries = 0, candidate = 0; tries < 2; ++tries) {
      std::vector<StepsCompared> compared(members.size());
      size_t differ = 0, first = candidate;
      for (size_t i = 0; i < members.size(); ++i) {
        if (i == candidate) continue;
        compared[i] = CompareMembers(members[candidate], members[i]);
        if (!compared[i].order && !compared[i].size) continue;
        if (differ++ == 0) first = i;
      }
      if (differ < least) least = differ, usual = candidate, best = std::move(compared);
      if (2 * differ < members.size()) break;
      candidate = first;
    }
    for (size_t i = 0; i < members.size(); ++i) {
      if (i == usual || IsKnown(members[usual], members[i])) continue;
      pairs.insert({members[usual].trace, members[i].trace});
      Report(members[usual], members[i], best[i]);
    }
  }

  void Report(const Member& usual, const Member& here, const StepsCompared& compared) {
    const Communicator& communicator = Of(here).communicators[here.communicator.index()];
    const std::string on = " on communicator " + HexText(communicator.key) + " of " +
                           std::to_string(communicator.ranks) + " ranks";
    if (compared.size) ReportSize(usual, here, *compared.size, on);
    if (compared.order) ReportOrder(usual, here, *compared.order, on);
  }

  void ReportSize(const Member& usual, const Member& here, const StepDifference& at,
                  const std::string& on) {
    Add("collective-size", usual, here, at,
        RankText(here) + " runs " + Told(here, at.b) + " as operation " +
            std::to_string(at.index + 1) + on + ", where " + RankText(usual) + " runs " +
            Told(usual, at.a),
        "give all ranks of a communicator the same count, type and root");
  }

  void ReportOrder(const Member& usual, const Member& here, const StepDifference& at,
                   const std::string& on) {
    const std::string place = " as operation " + std::to_string(at.index + 1) + on;
    std::string text = RankText(here) + " runs ";
    if (!at.b) {
      text += std::to_string(at.index) + " operations" + on + " and no more, where " +
              RankText(usual) + " goes on with " + Told(usual, at.a);
    } else if (!at.a) {
      text += Told(here, at.b) + place + ", where " + RankText(usual) + " runs no more";
    } else {
      text +=
          Told(here, at.b) + place + ", where " + RankText(usual) + " runs " + Told(usual, at.a);
      if (at.a->captured != at.b->captured && at.a->key.kind == at.b->key.kind) {
        text += at.a->captured ? " in a graph" : " outside of graphs";
      }
    }
    Add("collective-order", usual, here, at, std::move(text),
        "issue the operations of a communicator in one order on all of its ranks, in graphs and "
        "in their launches");
  }

  // The sends of each rank with the receives of the rank that they go to.
  void CompareMessages(const Members& members) {
    for (const Member& from : members) {
      for (const Member& to : members) {
        if (Exchanges(from, to) && !IsKnown(from, to)) CompareMessages(from, to);
      }
    }
  }

  bool Exchanges(const Member& from, const Member& to) const {
    const auto has = [&](const Member& member, CollectiveKind kind, uint32_t peer) {
      return PeersOf(member).contains({kind, static_cast<int32_t>(peer)});
    };
    return has(from, CollectiveKind::kSend, to.rank) ||
           has(to, CollectiveKind::kReceive, from.rank);
  }

  using Peers = std::set<std::pair<CollectiveKind, int32_t>>;
  const Peers& PeersOf(const Member& member) const {
    const auto [known, is_new] = known_peers.try_emplace({member.trace, member.communicator});
    if (!is_new) return known->second;
    for (const RankProgram& program : Of(member).programs) {
      for (const RankOperation& operation : program.operations) {
        const Collective& what = operation.what;
        if (what.communicator == member.communicator && IsMessage(what.kind)) {
          known->second.insert({what.kind, what.peer});
        }
      }
    }
    return known->second;
  }

  void CompareMessages(const Member& from, const Member& to) {
    const auto filter = [](const Member& member, CollectiveKind kind,
                           uint32_t peer) -> CollectiveFilter {
      return [=, id = member.communicator](const Collective& what) -> std::optional<Collective> {
        if (what.communicator != id || what.kind != kind) return std::nullopt;
        if (what.peer != static_cast<int32_t>(peer)) return std::nullopt;
        Collective key = what;
        key.communicator = CommunicatorId(0u);
        key.kind = CollectiveKind::kSend;
        key.peer = -1;
        return key;
      };
    };
    const StepsCompared compared =
        CompareTwo(from.trace, to.trace, filter(from, CollectiveKind::kSend, to.rank),
                   filter(to, CollectiveKind::kReceive, from.rank));
    Report(from, to, compared);
  }

  // Of ranks that run what fits: whether each gets to it.
  void CompareWaits(const Members& members) {
    const bool works = std::ranges::all_of(members, [&](const Member& m) { return Of(m).works; });
    const bool executed =
        std::ranges::any_of(members, [&](const Member& m) { return !Of(m).executed.empty(); });
    std::vector<WaitingRank> ranks;
    for (const Member& member : members) {
      const RankCollectives& own = Of(member);
      const auto filter = [&member](const Collective& what) {
        return what.communicator == member.communicator ? std::optional(what) : std::nullopt;
      };
      ranks.push_back({member.rank, {own, executed ? own.executed : own.captured, works, filter}});
    }
    const auto waits = FindDeadlock(ranks);
    if (!waits) return;
    const Member &usual = members[waits->second.rank], &here = members[waits->first.rank];
    if (IsKnown(usual, here)) return;
    const auto step = [](const RankWait& wait) {
      return CollectiveStep{wait.operation->what, wait.program->graph.valid(), wait.operation};
    };
    const StepDifference at{.a = step(waits->second),
                            .b = step(waits->first),
                            .program_a = waits->second.program,
                            .program_b = waits->first.program};
    Add("collective-order", usual, here, at,
        RankText(here) + " waits in " + Told(here, at.b) + " for " + RankText(usual) +
            ", which waits in " + Told(usual, at.a) + ": neither goes on",
        "let one of the two receive before it sends, or put both calls into one ncclGroupStart and "
        "ncclGroupEnd");
  }

  // Operations of several communicators that both traces have.
  void CompareAcross(uint32_t one, uint32_t other) {
    std::vector<uint64_t> keys;
    std::map<CommunicatorId, CommunicatorId> shared_one, shared_other;
    for (const auto& [key, members] : communicators) {
      const Member *a = Only(members, one), *b = Only(members, other);
      if (a == nullptr || b == nullptr) continue;
      const CommunicatorId shared(keys.size());
      shared_one[a->communicator] = shared;
      shared_other[b->communicator] = shared;
      keys.push_back(key);
    }
    if (keys.size() < 2) return;
    const bool known = std::ranges::any_of(differences, [&](const RankDifference& found) {
      const bool of_these = found.trace == one || found.trace == other;
      return of_these && found.finding.check == "collective-order";
    });
    if (known) return;
    const StepsCompared compared =
        CompareTwo(one, other, AllRanks(shared_one), AllRanks(shared_other));
    if (!compared.order || !compared.order->a || !compared.order->b) return;
    ReportAcross(one, other, *compared.order, keys);
  }

  // A trace's only rank of a communicator.
  static const Member* Only(const Members& members, uint32_t trace) {
    const Member* only = nullptr;
    for (const Member& member : members) {
      if (member.trace != trace) continue;
      if (only != nullptr) return nullptr;
      only = &member;
    }
    return only;
  }

  void ReportAcross(uint32_t one, uint32_t other, const StepDifference& at,
                    const std::vector<uint64_t>& keys) {
    const auto on = [&](const CollectiveStep& step) {
      return " on communicator " + HexText(keys[step.key.communicator.index()]);
    };
    const Member usual{one, {}, 0}, here{other, {}, 0};
    Add("collective-order", usual, here, at,
        FileOf(traces[other].name) + " issues " + Told(here, at.b) + on(*at.b) + " as operation " +
            std::to_string(at.index + 1) + " on the communicators that both have, where " +
            FileOf(traces[one].name) + " issues " + Told(usual, at.a) + on(*at.a),
        "issue the operations of all communicators in one order on all ranks: NCCL may wait for "
        "ever otherwise");
    differences.back().finding.severity = Severity::kWarning;
  }

  // "rank 1 (rank1.json)".
  std::string RankText(const Member& member) const {
    const std::string file = FileOf(traces[member.trace].name);
    return "rank " + std::to_string(member.rank) + (file.empty() ? "" : " (" + file + ")");
  }

  // "all_reduce of 1024 bf16 (train.py:30)".
  std::string Told(const Member& member, const std::optional<CollectiveStep>& step) const {
    const PlaceFrame& place = Of(member).places[step->operation->place];
    std::string text = TextOf(step->operation->what);
    if (place.line > 0) text += " (" + FileOf(place.file) + ":" + std::to_string(place.line) + ")";
    if (const std::string& body = step->operation->body; !body.empty()) {
      text += " in a conditional's body (" + body + ")";
    }
    return text;
  }

  Evidence EvidenceOf(const Member& member, const std::optional<CollectiveStep>& step,
                      const RankProgram* program, bool own) const {
    const std::string file = FileOf(traces[member.trace].name);
    Evidence evidence{.text =
                          Told(member, step) + " is " + (file.empty() ? "" : "in " + file + " ")};
    const RankOperation& operation = *step->operation;
    if (program->graph) {
      evidence.text += "node " + std::to_string(operation.node.value) + " of graph " +
                       std::to_string(program->graph.value);
      if (!program->name.empty()) evidence.text += " '" + program->name + "'";
    } else {
      evidence.text += "work outside of graphs";
    }
    if (own && operation.node) evidence.nodes = {operation.node};
    return evidence;
  }

  // It isn't known if a conditional's body runs.
  static bool MayNotRun(const std::optional<CollectiveStep>& step) {
    return step && !step->operation->body.empty();
  }

  // The line of an operation, if it is known; of the first one it is all that is known of its
  // stack.
  void AddPlace(const Member& member, const std::optional<CollectiveStep>& step,
                Finding* finding) const {
    const PlaceFrame& line = Of(member).places[step->operation->place];
    if (line == PlaceFrame() || finding->line() == line) return;
    FindingPlace place{.line = line, .about = finding->evidence.back().text};
    if (finding->places.empty()) place.frames = {line};
    finding->places.push_back(std::move(place));
  }

  void Add(const char* check, const Member& usual, const Member& here, const StepDifference& at,
           std::string message, std::string advice) {
    RankDifference found{.trace = here.trace};
    Finding& finding = found.finding;
    finding.logical = "trace";
    finding.check = check;
    finding.severity = MayNotRun(at.a) || MayNotRun(at.b) ? Severity::kWarning : Severity::kError;
    finding.message = std::move(message);
    finding.advice = std::move(advice);
    if (at.b) {
      finding.graph = at.program_b->graph;
      if (finding.graph) finding.logical = "graph " + std::to_string(finding.graph.value);
      if (at.b->operation->node) finding.nodes = {at.b->operation->node};
      finding.evidence.push_back(EvidenceOf(here, at.b, at.program_b, true));
      AddPlace(here, at.b, &finding);
    }
    if (at.a) finding.evidence.push_back(EvidenceOf(usual, at.a, at.program_a, false));
    if (at.a && at.b) AddPlace(usual, at.a, &finding);
    differences.push_back(std::move(found));
  }

  const std::span<const RankTrace> traces;
  std::map<uint64_t, Members> communicators = {};      // by key
  std::set<std::pair<uint32_t, uint32_t>> pairs = {};  // of traces that were compared
  mutable std::map<std::pair<uint32_t, CommunicatorId>, Peers> known_peers = {};
  std::vector<RankDifference> differences = {};
};

}  // namespace

std::vector<RankDifference> CompareCollectives(std::span<const RankTrace> traces) {
  return Comparison{traces}.Compare();
}

std::vector<Finding> CompareOwnRanks(const RankCollectives& collectives, std::string_view check) {
  std::vector<Finding> findings;
  const RankTrace own{.collectives = &collectives};
  for (RankDifference& found : CompareCollectives(std::span(&own, 1))) {
    if (found.finding.check == check) findings.push_back(std::move(found.finding));
  }
  return findings;
}

}  // namespace graphkit
