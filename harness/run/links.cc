#include "harness/run/links.h"

#include <algorithm>

#include "harness/measure/bandwidth.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// The whole tournament is played so often: what a link takes now says little of what it takes in a minute,
// and two of as many passes may be such that others are slow (interval_of_median()).
constexpr std::int64_t passes = 12, iterations_of_a_pass = 4;

struct Played {
  Process& process;
  std::int64_t bytes;

  // What each of these pairs took while all of them sent; false where the program did not say.
  bool play(const std::vector<RankPair>& pairs, std::vector<LinkTimes>& all) const {
    const auto said = process.limit({link_in_words(pairs), bytes, iterations_of_a_pass});
    const auto* clocks = std::get_if<std::vector<Clocked>>(&said);
    if (!clocks) return false;
    for (const RankPair& pair : pairs) {
      auto at = std::ranges::find(all, pair, &LinkTimes::link);
      if (at == all.end()) at = all.insert(all.end(), {pair, {}});
      at->passes.push_back(samples({clocks->at(pair.a), clocks->at(pair.b)}, 1).nanoseconds);
    }
    return true;
  }
};

}  // namespace

void clock_links(const Case& c, Subject& subject, std::int64_t every, LinksTimed& all) {
  const auto fails = [&](std::string why) { all = {{}, {}, std::move(why)}; };
  const Work moved = work(c);
  const auto bytes = static_cast<std::int64_t>(goes_round(moved) ? moved.bytes : 0);
  if (bytes == 0) return fails("it has no size: of a reshard it is known what goes over a link");
  if (std::string why = make_known(c, subject).failed; !why.empty()) return fails(std::move(why));
  const Played game{process_of(subject), bytes};
  const auto rounds = tournament(devices(c.mesh), every);
  std::int64_t played = 0;
  for (std::int64_t pass = 0; pass < passes; ++pass)
    for (const auto& round : rounds) {
      bool said = game.play(round, all.at_once);
      for (const RankPair& pair : round) said = said && game.play({pair}, all.alone);
      if (!said) return fails("its ranks time no links");
      all.seen(++played, passes * std::ssize(rounds));
    }
  if (all.alone.empty()) return fails("one rank has no link");
  const auto unseen = [](const LinkTimes& one) {
    return std::ranges::any_of(one.passes, &std::vector<double>::empty);
  };
  if (std::ranges::any_of(all.alone, unseen) || std::ranges::any_of(all.at_once, unseen))
    return fails("a link took no time by its clock, which is too coarse");
  if (const auto other = no_pass_on_other_data(c, subject)) fails(not_timed(*other));
}

Record record_of_links(const Case& c, Subject& subject, const std::vector<LinkFigure>& figures) {
  Record record;
  record.line = print(c);
  record.verdict.status = Status::pass;
  say_who(record, subject);
  Repetition& of = record.bench.emplace();
  of.stop = "links", of.links = figures, of.places = process_of(subject).hello()->places;
  return record;
}

}  // namespace plumb
