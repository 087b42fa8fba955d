// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_PLACEMENT_INPUTS_HPP
#define SUBLET_BENCH_PLACEMENT_INPUTS_HPP

/// Placement problems: random ones of any size, and variants of a given one.
///
///     dissection      a rectangle cut without       nested     +-----------------+   buffers of the first
///     +-------+---+   waste: at a position some     +-------+  |   +---------+   |   half are used again
///     +--+----+   |   neighbours end, and others    |       |  |   |  +---+  |   |   in the second half
///     |  |    |---|   begin at their offsets        +-------+  +---+--+---+--+---+
///
/// The same numbers give the same problem on every machine. The files have no gaps, pins and pools, and these
/// functions ignore them.

#include "../test/random_source.hpp"

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

using sublet::byte_count;
using sublet::placement_problem;
using sublet::position_id;

template <class Item>
void shuffle(std::vector<Item>& items, random_source& roll)
{
    for (std::size_t i = items.size(); i > 1; --i)
        std::swap(items[i - 1], items[roll.below(static_cast<std::uint32_t>(i))]);
}

/// `n` buffers that fill `positions` times `bytes` without a gap, in random order. The number of live buffers
/// is about the mean lifetime, if both axes are scaled to the same length. Throws: std::runtime_error if
/// there is no space for so many.
inline placement_problem draw_dissection(std::size_t n, std::uint32_t seed, position_id positions = 100,
                                         byte_count bytes = 1024)
{
    struct tile {
        position_id birth;
        byte_count begin, end;
    };
    random_source roll{std::mt19937(seed)};
    placement_problem result;
    std::vector<tile> alive{{0, 0, bytes}}; // from the lowest offset up
    std::size_t created = 0, target_alive = 1;
    while (target_alive * target_alive < n) ++target_alive;
    // Ends `ends` tiles from `at` on, and begins `begins` tiles at their offsets.
    auto replace = [&](std::size_t at, std::size_t ends, std::size_t begins, position_id now) {
        auto const first = alive.begin() + static_cast<std::ptrdiff_t>(at);
        auto const last = first + static_cast<std::ptrdiff_t>(ends);
        byte_count const begin = first->begin, end = (last - 1)->end;
        for (auto t = first; t != last; ++t)
            if (t->birth != now) result.buffers.push_back({{t->birth, now}, t->end - t->begin});
        std::vector<byte_count> cuts{begin, end};
        for (std::size_t more = std::min<byte_count>(begins, end - begin) - 1; more != 0;) {
            byte_count const cut = begin + roll.below(static_cast<std::uint32_t>(end - begin));
            if (std::find(cuts.begin(), cuts.end(), cut) != cuts.end()) continue;
            cuts.push_back(cut);
            --more;
        }
        std::sort(cuts.begin(), cuts.end());
        std::vector<tile> new_tiles;
        for (std::size_t i = 0; i + 1 != cuts.size(); ++i) new_tiles.push_back({now, cuts[i], cuts[i + 1]});
        created += new_tiles.size();
        alive.insert(alive.erase(first, last), new_tiles.begin(), new_tiles.end());
    };
    replace(0, 1, std::min(target_alive, n), 0);
    std::size_t const initial_count = created;
    while (created < n) {
        position_id const now =
            1 + static_cast<position_id>((positions - 1) * (created - initial_count) / (n - initial_count));
        std::size_t ends = 1 + roll.below(3), begins = 1 + roll.below(3);
        if (ends == 1 && begins == 1) begins = 2; // a tile must not be replaced by an equal one
        if (alive.size() < target_alive ? begins < ends : begins > ends) std::swap(begins, ends);
        ends = std::min(ends, alive.size());
        begins = std::min(begins, n - created);
        std::vector<std::size_t> places; // tiles that may end now
        for (; places.empty() && ends != 0; ends -= places.empty())
            for (std::size_t at = 0, old = 0; at != alive.size(); ++at) {
                old = alive[at].birth < now ? old + 1 : 0;
                if (old >= ends) places.push_back(at + 1 - ends);
            }
        if (places.empty()) throw std::runtime_error("a dissection has no room for so many buffers");
        byte_count const drawn =
            roll.below(static_cast<std::uint32_t>(bytes)); // so that wide ones are cut first
        auto at = places.begin();
        while (at + 1 != places.end() && alive[*at + ends - 1].end <= drawn) ++at;
        replace(*at, ends, begins, now);
    }
    for (tile const& t : alive) result.buffers.push_back({{t.birth, positions}, t.end - t.begin});
    shuffle(result.buffers, roll);
    return result;
}

/// The manners of dissections by cuts: from edge to edge, with the pieces in the order of the cuts, so that
/// each comes after what lies below it, or shuffled; and five pieces around one of them, shuffled.
///
///     guillotine  +-----+----+      pinwheel  +--+-------+
///                 |     +----+                |  +---+---+
///                 +-----+    |                |  |   |   |
///                 |     |    |                +--+---+   |
///                 +-----+----+                +------+---+
enum class cut_manner : std::uint8_t { rows, shuffled, pinwheels };

struct named_manner {
    std::string_view name;
    cut_manner manner;
};
inline constexpr named_manner cut_manners[] = {
    {"rows", cut_manner::rows}, {"shuffled", cut_manner::shuffled}, {"pinwheels", cut_manner::pinwheels}};

struct cut_dissection {
    placement_problem problem;
    std::vector<byte_count> offset; ///< of a placement that ends at `bytes`, the lowest that there is
};

/// `n` buffers that fill `positions` times `bytes` without a gap. A piece is cut with a probability that is
/// proportional to its area; no piece has less than `least` bytes. The last pieces of pinwheels, up to three,
/// come from cuts from edge to edge.
///
/// Complexity: O(n^2)
/// Throws:     std::runtime_error if there is no space for so many.
inline cut_dissection draw_cuts(cut_manner manner, std::size_t n, std::uint32_t seed,
                                position_id positions = 1u << 20, byte_count bytes = 1u << 20,
                                byte_count least = 1024)
{
    struct tile {
        position_id first, last;
        byte_count begin, end;
        std::uint64_t area() const { return (last - first) * (end - begin); }
    };
    random_source roll{std::mt19937(seed)};
    std::vector<tile> tiles{{0, positions, 0, bytes}}, cut;
    auto can_cut = [&](tile const& t, bool in_five) {
        bool const is_long = t.last - t.first >= 3, is_high = t.end - t.begin >= 3 * least;
        if (in_five) return is_long && is_high;
        return t.last - t.first >= 2 || t.end - t.begin >= 2 * least;
    };
    auto random_up_to = [&](std::uint64_t most) { // from 1 on
        return 1 + roll.below(static_cast<std::uint32_t>(most));
    };
    while (tiles.size() < n) {
        bool const in_five = manner == cut_manner::pinwheels && n - tiles.size() >= 4;
        std::uint64_t area = 0;
        for (tile const& t : tiles) area += can_cut(t, in_five) ? t.area() : 0;
        if (area == 0) throw std::runtime_error("a dissection has no room for so many buffers");
        std::uint64_t drawn = roll.random();
        drawn = (drawn << 32 | roll.random()) % area;
        std::size_t at = 0;
        for (;; ++at) {
            if (!can_cut(tiles[at], in_five)) continue;
            if (drawn < tiles[at].area()) break;
            drawn -= tiles[at].area();
        }
        tile const t = tiles[at];
        bool const is_long = t.last - t.first >= 2, is_high = t.end - t.begin >= 2 * least;
        if (in_five) {
            position_id const p = random_up_to((t.last - t.first - 1) / 2);
            byte_count const q = least - 1 + random_up_to((t.end - t.begin - least) / 2 - least + 1);
            cut = {{t.first, t.last - p, t.begin, t.begin + q},
                   {t.last - p, t.last, t.begin, t.end - q},
                   {t.first, t.first + p, t.begin + q, t.end},
                   {t.first + p, t.last - p, t.begin + q, t.end - q},
                   {t.first + p, t.last, t.end - q, t.end}};
        } else if (is_high && (!is_long || roll.below(2) == 0)) {
            byte_count const where = t.begin + least - 1 + random_up_to(t.end - t.begin - 2 * least + 1);
            cut = {{t.first, t.last, t.begin, where}, {t.first, t.last, where, t.end}};
        } else {
            position_id const when = t.first + random_up_to(t.last - t.first - 1);
            cut = {{t.first, when, t.begin, t.end}, {when, t.last, t.begin, t.end}};
        }
        tiles.erase(tiles.begin() + static_cast<std::ptrdiff_t>(at));
        tiles.insert(tiles.begin() + static_cast<std::ptrdiff_t>(at), cut.begin(), cut.end());
    }
    if (manner != cut_manner::rows) shuffle(tiles, roll);
    cut_dissection result;
    for (tile const& t : tiles) {
        result.problem.buffers.push_back({{t.first, t.last}, t.end - t.begin});
        result.offset.push_back(t.begin);
    }
    return result;
}

/// `n` buffers of two to six sizes, in random order, drawn from a placement that ends at `bytes`: a buffer
/// begins wherever one fits, and lives for up to 512 positions, mostly far less. What lives at once is often
/// less than `bytes`, since sizes leave gaps.
///
///     bytes  +---+-----+---+
///            |   |     +---+---+
///            +---+-+---+ . |   |        no size fits the gaps
///            | . . |   +---+---+
///            +-----+---+
inline placement_problem draw_few_sizes(std::size_t n, std::uint32_t seed, byte_count bytes = 1u << 20)
{
    struct lane {
        byte_count begin, end;
        position_id last;
    };
    random_source roll{std::mt19937(seed)};
    std::vector<byte_count> sizes(2 + seed % 5);
    for (byte_count& size : sizes)
        size = bytes / 100 + roll.below(static_cast<std::uint32_t>(bytes / 10 - bytes / 100));
    std::sort(sizes.begin(), sizes.end());
    placement_problem result;
    std::vector<lane> live, next; // ascending
    for (position_id now = 0; result.buffers.size() < n; ++now) {
        byte_count free = 0; // from here up to the next that is live
        auto fill_up_to = [&](byte_count end) {
            while (end - free >= sizes[0]) {
                std::size_t most = sizes.size();
                while (sizes[most - 1] > end - free) --most;
                byte_count const size = sizes[roll.below(static_cast<std::uint32_t>(most))];
                position_id const last = now + 1 + roll.below(std::uint32_t{1} << roll.below(10));
                result.buffers.push_back({{now, last}, size});
                next.push_back({free, free + size, last});
                free += size;
            }
        };
        next.clear();
        for (lane const& l : live) {
            if (l.last <= now) continue;
            fill_up_to(l.begin);
            next.push_back(l);
            free = l.end;
        }
        fill_up_to(bytes);
        live.swap(next);
    }
    shuffle(result.buffers, roll);
    return result;
}

/// About `n` buffers of a network that is trained by micro-batches, two to six of which are between their
/// forward and backward passes at any time. Half of the results of a forward pass live until its backward
/// pass: a micro-batch begins and ends before the next one, so lifetimes cross, and do not nest.
///
///     forward   1 2 3   4   5   6
///     backward        1   2   3   4 5 6
inline placement_problem draw_micro_batches(std::size_t n, std::uint32_t seed)
{
    random_source roll{std::mt19937(seed)};
    std::size_t const ahead = 2 + seed % 5, steps = 12 * (8 + seed % 5), batches = n / (2 * steps);
    std::vector<byte_count> shapes(5);
    for (byte_count& bytes : shapes) bytes = byte_count{1 + roll.below(64)} << (12 + roll.below(8));
    struct operation {
        byte_count result, gradient;
        bool is_kept;
    };
    std::vector<operation> operations(steps);
    for (operation& o : operations) {
        o.result = shapes[roll.below(5)];
        if (roll.below(8) == 0) o.result = byte_count{64 + roll.below(64)} << (10 + roll.below(10));
        o.gradient = shapes[roll.below(5)];
        o.is_kept = roll.below(2) == 0;
    }
    placement_problem result;
    auto const pass = static_cast<position_id>(steps);
    std::vector<position_id> forward; // by batch: the first position
    position_id now = 0;
    for (std::size_t backward = 0; backward != batches; ++backward, now += pass) {
        for (; forward.size() != std::min(batches, backward + ahead); now += pass) forward.push_back(now);
        for (position_id i = 0; i != pass; ++i) {
            operation const& o = operations[i];
            position_id const at = forward[backward] + i, back = now + pass - 1 - i;
            result.buffers.push_back({{at, o.is_kept ? back + 1 : at + 2 + roll.below(3)}, o.result});
            result.buffers.push_back({{back, back + 2 + roll.below(4)}, o.gradient});
        }
    }
    return result;
}

/// The same in another order; for odd numbers also with time reversed.
inline placement_problem variant(placement_problem const& original, std::uint32_t number)
{
    random_source roll{std::mt19937(number)};
    placement_problem result = original;
    shuffle(result.buffers, roll);
    position_id end = 0;
    for (placement_problem::buffer const& b : result.buffers) end = std::max(end, b.life.last);
    if (number % 2 == 1)
        for (placement_problem::buffer& b : result.buffers) b.life = {end - b.life.last, end - b.life.first};
    return result;
}

/// Drops 5 % of the buffers, and multiplies each distinct size by a number between 0.7 and 1.3: shows whether
/// a result depends on luck with one file.
inline placement_problem perturbed(placement_problem const& original, std::uint32_t seed)
{
    random_source roll{std::mt19937(seed)};
    std::map<byte_count, byte_count> rescaled;
    for (placement_problem::buffer const& b : original.buffers) rescaled[b.size] = 0;
    for (auto& [size, other] : rescaled)
        other = std::max<byte_count>(1, size * (7'000 + roll.below(6'001)) / 10'000);
    placement_problem result;
    for (placement_problem::buffer b : original.buffers) {
        if (roll.below(20) == 0) continue;
        b.size = rescaled[b.size];
        result.buffers.push_back(b);
    }
    return result;
}

/// `n` buffers: the block repeated in sequence; one in 20 lives on into the next block.
inline placement_problem repeated(placement_problem const& block, std::size_t n)
{
    std::vector<position_id> cuts; // ranks, because large positions would overflow after many blocks
    for (placement_problem::buffer const& b : block.buffers)
        cuts.insert(cuts.end(), {b.life.first, b.life.last});
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    auto rank = [&](position_id at) {
        return static_cast<position_id>(std::lower_bound(cuts.begin(), cuts.end(), at) - cuts.begin());
    };
    random_source roll{std::mt19937(1)};
    placement_problem result;
    auto const span = static_cast<position_id>(cuts.size());
    for (position_id start = 0; result.buffers.size() < n && !block.buffers.empty(); start += span)
        for (placement_problem::buffer b : block.buffers) {
            b.life = {start + rank(b.life.first), start + rank(b.life.last)};
            if (roll.below(20) == 0) b.life.last += span / 2;
            if (result.buffers.size() < n) result.buffers.push_back(b);
        }
    return result;
}

inline constexpr std::string_view placement_families[] = {"random", "nested", "together"};

/// `n` buffers of 4 KiB to 16 MiB, with sizes uniform on a logarithmic scale. Random: short lifetimes, and one
/// in 20 of up to a hundred times the length. Nested: every other lifetime of the first half reaches to its
/// mirror image, as in training. Together: all are live at one position.
inline placement_problem draw_placement(std::string_view family, std::size_t n, std::uint32_t seed = 1)
{
    random_source roll{std::mt19937(seed)};
    placement_problem result;
    auto const count = static_cast<position_id>(n);
    for (position_id i = 0; i != count; ++i) {
        position_id first = i, last = i + 2 + roll.below(4);
        if (family == "random") {
            first = roll.below(count);
            position_id const longest = roll.below(20) == 0 ? 3900 : 39;
            last = first + 1 + roll.below(longest);
        } else if (family == "nested") {
            if (i < count / 2 && roll.below(2) == 0) last = count - i;
        } else if (family == "together") {
            first = roll.below(count);
            last = count + 1 + roll.below(count);
        } else {
            throw std::runtime_error("there is no such family of placement problems");
        }
        byte_count const mantissa = 64 + roll.below(64);
        result.buffers.push_back({{first, last}, mantissa << (6 + roll.below(12))});
    }
    return result;
}

} // namespace bench

#endif
