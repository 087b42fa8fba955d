// SPDX-License-Identifier: BSL-1.0

/// The cost of an item over all offsets is a step function with borders where its neighbours begin and end.
/// Each item keeps its neighbours sorted by begin and by end, and sorts them again by insertion: few have
/// moved in the meantime. Temperatures are integers, and powers of 2 come from a table, so that the search
/// is the same on every machine.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/penalty_search.hpp>

#include <utility>

// --- sweep -----------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL offset_sweep::offset_sweep(penalty_graph const& graph, std::vector<byte_count> const& offset)
    : graph_(graph), offset_(offset), by_begin_(graph.arcs.size()), by_end_(graph.arcs.size())
{
    for (std::size_t a = 0; a != graph.arcs.size(); ++a)
        by_begin_[a] = by_end_[a] = static_cast<std::uint32_t>(a);
}

SUBLET_DECL std::vector<offset_sweep::piece> const&
offset_sweep::pieces_of(std::uint32_t i, std::vector<std::uint64_t> const& energy)
{
    pieces_.clear();
    penalty_graph::item const& its = graph_.items[i];
    if (its.size > graph_.capacity) return pieces_;
    byte_count const most = graph_.capacity - its.size;
    std::uint32_t const first = graph_.first_arc[i], last = graph_.first_arc[i + 1];
    sort(first, last);
    std::uint32_t begin = first, end = first;
    std::uint64_t sum = 0;
    for (byte_count at = 0;;) {
        byte_count next = no_limit;
        for (; begin != last; ++begin) {
            byte_count const from = offset_[graph_.arcs[by_begin_[begin]].to];
            if (from == no_offset) break; // and so have all behind it
            byte_count const opens = from >= its.size ? from + 1 - its.size : 0;
            if (opens > at) {
                next = opens;
                break;
            }
            sum += energy[by_begin_[begin]];
        }
        for (; end != last; ++end) {
            std::uint32_t const to = graph_.arcs[by_end_[end]].to;
            if (offset_[to] == no_offset) break;
            byte_count const closes = offset_[to] + graph_.items[to].size;
            if (closes > at) {
                next = smaller(next, closes);
                break;
            }
            sum -= energy[by_end_[end]];
        }
        add(its, at, smaller(next - 1, most), sum);
        if (next > most) return pieces_;
        at = next;
    }
}

SUBLET_DECL void offset_sweep::add(penalty_graph::item const& its, byte_count first, byte_count last,
                                   std::uint64_t sum)
{
    if (its.pinned != no_offset) {
        if (its.pinned < first || its.pinned > last) return;
        first = last = its.pinned;
    } else if (its.alignment != 1) {
        first = align_up(first, its.alignment);
        last -= last % its.alignment;
    }
    if (first <= last) pieces_.push_back({first, last, sum});
}

template <class Key>
void sort_by_insertion(std::vector<std::uint32_t>& arcs, std::uint32_t first, std::uint32_t last, Key key)
{
    for (std::uint32_t i = first; i != last; ++i) {
        std::uint32_t const moved = arcs[i];
        byte_count const its = key(moved);
        std::uint32_t to = i;
        for (; to != first && key(arcs[to - 1]) > its; --to) arcs[to] = arcs[to - 1];
        arcs[to] = moved;
    }
}

SUBLET_DECL void offset_sweep::sort(std::uint32_t first, std::uint32_t last)
{
    sort_by_insertion(by_begin_, first, last, [this](std::uint32_t a) { return offset_[graph_.arcs[a].to]; });
    sort_by_insertion(by_end_, first, last, [this](std::uint32_t a) {
        std::uint32_t const to = graph_.arcs[a].to;
        return offset_[to] == no_offset ? no_offset : offset_[to] + graph_.items[to].size;
    });
}

// --- insertion -------------------------------------------------------------------------------------------

SUBLET_DECL penalty_packing priced(penalty_graph const& graph, std::vector<byte_count> offset)
{
    penalty_packing result{std::move(offset), 0, 0};
    for (std::uint32_t i = 0; i != graph.size(); ++i) {
        byte_count const at = result.offset[i];
        result.height = larger(result.height, at + graph.items[i].size);
        for (penalty_graph::arc const& arc : graph.arcs_of(i)) {
            if (arc.to < i || !share_bytes(graph, i, at, arc.to, result.offset[arc.to])) continue;
            if (arc.is_hard()) result.cost = no_limit;
            else if (result.cost != no_limit) result.cost += arc.cost;
        }
    }
    if (result.height > graph.capacity) result.cost = no_limit;
    return result;
}

/// By arc; hard ones cost more than all others.
SUBLET_DECL std::vector<std::uint64_t> exact_energies(penalty_graph const& graph)
{
    std::uint64_t all = 1;
    for (penalty_graph::arc const& arc : graph.arcs)
        if (!arc.is_hard()) all += arc.cost;
    std::vector<std::uint64_t> energy;
    for (penalty_graph::arc const& arc : graph.arcs) energy.push_back(arc.is_hard() ? all : arc.cost);
    return energy;
}

/// The end of the cheapest pieces that comes first.
SUBLET_DECL offset_sweep::piece const* cheapest_of(std::vector<offset_sweep::piece> const& pieces)
{
    offset_sweep::piece const* best = nullptr;
    for (offset_sweep::piece const& p : pieces)
        if (best == nullptr || p.energy < best->energy) best = &p;
    return best;
}

SUBLET_DECL penalty_packing insert_in_orders(penalty_graph const& graph, step_poll const& poll)
{
    std::size_t const n = graph.size();
    std::vector<std::uint64_t> const energy = exact_energies(graph);
    std::uint64_t hard = no_limit;
    for (std::size_t a = 0; a != energy.size(); ++a)
        if (graph.arcs[a].is_hard()) hard = energy[a];
    penalty_packing best;
    for (int order = 0; order != 4; ++order) {
        std::vector<sort_key> keys;
        for (std::uint32_t i = 0; i != n; ++i) {
            std::uint64_t key = order == 0 ? i : 0;
            if (order == 1) key = descending(graph.items[i].size);
            byte_count beside = 0; // bytes of neighbours
            for (penalty_graph::arc const& arc : graph.arcs_of(i)) beside += graph.items[arc.to].size;
            if (order == 2) key = descending(beside);
            if (order == 3) key = descending(graph.arcs_of(i).size());
            if (graph.items[i].pinned != no_offset) key = 0;
            keys.push_back({key, graph.items[i].pinned == no_offset ? 1u : 0u, i});
        }
        sort_by_key(keys);
        std::vector<byte_count> offset(n, no_offset);
        offset_sweep sweep(graph, offset);
        bool is_complete = true;
        for (sort_key const& key : keys) {
            if (poll.stops(64 + 4 * graph.arcs_of(key.id).size())) return best;
            offset_sweep::piece const* const at = cheapest_of(sweep.pieces_of(key.id, energy));
            is_complete = at != nullptr && at->energy < hard;
            if (!is_complete) break;
            offset[key.id] = at->first;
        }
        if (!is_complete) continue;
        penalty_packing now = priced(graph, std::move(offset));
        if (now.cost < best.cost || (now.cost == best.cost && now.height < best.height))
            best = std::move(now);
    }
    return best;
}

SUBLET_DECL void lower_items(penalty_graph const& graph, penalty_packing& packed, step_poll const& poll)
{
    if (packed.offset.empty()) return;
    std::vector<std::uint64_t> const energy = exact_energies(graph);
    offset_sweep sweep(graph, packed.offset);
    bool has_moved = true;
    for (int round = 0; round != 8 && has_moved; ++round) {
        has_moved = false;
        std::vector<sort_key> keys;
        for (std::uint32_t i = 0; i != graph.size(); ++i) keys.push_back({packed.offset[i], 0, i});
        sort_by_key(keys);
        for (sort_key const& key : keys) {
            if (poll.stops(64 + 4 * graph.arcs_of(key.id).size())) break;
            byte_count& at = packed.offset[key.id];
            std::vector<offset_sweep::piece> const& pieces = sweep.pieces_of(key.id, energy);
            std::uint64_t now = 0;
            for (offset_sweep::piece const& p : pieces)
                if (p.first <= at && at <= p.last) now = p.energy;
            for (offset_sweep::piece const& p : pieces)
                if (p.energy <= now) {
                    has_moved = has_moved || p.first < at;
                    at = smaller(at, p.first);
                    break;
                }
        }
    }
    packed = priced(graph, std::move(packed.offset));
}

// --- search ----------------------------------------------------------------------------------------------

/// Energies and temperatures are multiples of a mean cost / 1024.
inline constexpr std::uint64_t mean_energy = 1024;
inline constexpr std::uint64_t hottest = 16000, warm = 4000, coldest = 100;
inline constexpr std::uint64_t temperatures = 160; // about so many in a round

SUBLET_DECL penalty_search::penalty_search(penalty_graph const& graph, std::uint64_t seed,
                                           std::vector<byte_count> const& start, std::uint64_t steps)
    : graph_(graph), offset_(graph.size(), 0), sweep_(graph, offset_), energy_(graph.arcs.size()),
      loose_(graph.arcs.size()), hot_arcs_(graph.size(), 0), place_(graph.size(), 0),
      random_(seed ^ 0x9e3779b97f4a7c15u)
{
    if (random_ == 0) random_ = 1;
    double sum = 0, count = 0;
    for (penalty_graph::arc const& arc : graph.arcs) {
        if (arc.is_hard()) continue;
        sum += static_cast<double>(arc.cost);
        ++count;
    }
    double const mean = sum > 0 ? sum / count : 1;
    for (std::size_t a = 0; a != energy_.size(); ++a) {
        double const exact = static_cast<double>(graph.arcs[a].cost) / mean * mean_energy;
        energy_[a] = graph.arcs[a].is_hard() ? 64 * mean_energy
                                             : 1 + static_cast<std::uint64_t>(exact < 1e9 ? exact : 1e9);
        loose_[a] = graph.arcs[a].is_hard() ? mean_energy : energy_[a];
    }
    for (std::uint32_t i = 0; i != graph.size(); ++i)
        if (graph.items[i].pinned == no_offset) free_.push_back(i);
    std::uint64_t const n = graph.size(), of_move = 8 + graph.arcs.size() / larger<std::uint64_t>(n, 1);
    length_ = smaller(4 * n, 1 + steps / (4 * temperatures * of_move));
    begin(start);
}

SUBLET_DECL void penalty_search::begin(std::vector<byte_count> const& offset)
{
    for (std::uint32_t i = 0; i != graph_.size(); ++i) {
        penalty_graph::item const& its = graph_.items[i];
        byte_count const most = graph_.capacity - smaller(its.size, graph_.capacity);
        if (its.pinned != no_offset) offset_[i] = its.pinned;
        else offset_[i] = offset.empty() ? 0 : smaller(offset[i], most - most % its.alignment);
        hot_arcs_[i] = 0;
    }
    hot_.clear();
    cost_ = 0;
    clashes_ = 0;
    sum_ = 0;
    for (std::uint32_t i = 0; i != graph_.size(); ++i)
        for (std::uint32_t a = graph_.first_arc[i]; a != graph_.first_arc[i + 1]; ++a) {
            std::uint32_t const to = graph_.arcs[a].to;
            if (to > i && share_bytes(graph_, i, offset_[i], to, offset_[to])) count(i, a, true);
        }
}

SUBLET_DECL void penalty_search::begin_round(penalty_packing const& best)
{
    std::uint64_t const n = graph_.size();
    if (rounds_ != 0) {
        length_ += length_ / 2;
        bool const is_valid = clashes_ == 0;
        if (!is_valid) harden();
        if (best.cost != no_limit && (is_valid || rounds_ % 2 == 0)) begin(best.offset);
    }
    bool const is_fresh = best.cost == no_limit || (rounds_ == 0 && length_ == 4 * n);
    temperature_ = is_fresh ? hottest : warm >> (rounds_ % 3);
    left_ = length_;
    ++rounds_;
}

SUBLET_DECL std::uint64_t penalty_search::run(std::uint64_t steps, byte_count goal, search_control& control,
                                              byte_count bound, penalty_packing& best)
{
    step_poll const poll(control, best.cost == no_limit ? no_limit : best.height, bound);
    std::uint64_t done = 0;
    while (!free_.empty() && best.cost > goal && done < steps) {
        if (temperature_ == 0) begin_round(best);
        std::uint64_t const did = move();
        done += did;
        if (clashes_ == 0 && cost_ < best.cost) best = priced(graph_, offset_);
        if (poll.stops(4 * did)) break;
        if (--left_ != 0) continue;
        temperature_ -= temperature_ / 32 + 1;
        left_ = length_;
        if (temperature_ <= coldest) temperature_ = 0;
    }
    return done;
}

/// 2 to the power of -energy / temperature, times 2^16.
SUBLET_DECL std::uint64_t weight_of(std::uint64_t energy, std::uint64_t temperature)
{
    static constexpr std::uint16_t power[] = {65535, 62757, 60097, 57549, 55109, 52773, 50535, 48393,
                                              46341, 44376, 42495, 40693, 38968, 37316, 35734, 34219};
    if (energy >= 16 * temperature) return 0;
    std::uint64_t const sixteenths = 16 * energy / temperature;
    return std::uint64_t{power[sixteenths % 16]} >> sixteenths / 16;
}

SUBLET_DECL std::uint64_t penalty_search::move()
{
    std::uint64_t const draw = random();
    std::uint32_t i = free_[static_cast<std::uint32_t>(below(free_.size()))];
    if ((draw & 3) != 0 && !hot_.empty()) i = hot_[static_cast<std::uint32_t>(below(hot_.size()))];
    if (graph_.items[i].pinned != no_offset) return 1;
    if ((draw & 0x8) == 0) return move_chain(i);
    move_to(i, draw_offset(i, energy_, temperature_));
    return 8 + graph_.arcs_of(i).size();
}

/// One of the cheapest, by the temperature.
SUBLET_DECL byte_count penalty_search::draw_offset(std::uint32_t i, std::vector<std::uint64_t> const& energy,
                                                   std::uint64_t temperature)
{
    std::vector<offset_sweep::piece> const& pieces = sweep_.pieces_of(i, energy);
    if (pieces.empty()) return offset_[i];
    std::uint64_t least = no_limit, all = 0;
    for (offset_sweep::piece const& p : pieces) least = smaller(least, p.energy);
    weights_.clear();
    for (offset_sweep::piece const& p : pieces) {
        all += weight_of(p.energy - least, temperature);
        weights_.push_back(all);
    }
    std::uint64_t const drawn = below(all);
    std::size_t k = 0;
    while (weights_[k] <= drawn) ++k;
    return (random() & 4) != 0 ? pieces[k].first : pieces[k].last;
}

SUBLET_DECL std::uint64_t penalty_search::move_chain(std::uint32_t i)
{
    constexpr std::size_t longest = 12;
    std::uint64_t const before = sum_;
    std::uint64_t steps = 8 + graph_.arcs_of(i).size();
    auto is_moved = [this](std::uint32_t item) {
        for (chain_link const& link : chain_)
            if (link.item == item) return true;
        return false;
    };
    auto move_one = [&](std::uint32_t item, byte_count to) {
        chain_.push_back({item, offset_[item]});
        move_to(item, to);
    };
    chain_.clear();
    move_one(i, draw_offset(i, loose_, temperature_));
    for (std::size_t at = 0; at != chain_.size(); ++at) {
        std::uint32_t const mover = chain_[at].item;
        for (std::uint32_t a = graph_.first_arc[mover]; a != graph_.first_arc[mover + 1]; ++a) {
            std::uint32_t const other = graph_.arcs[a].to;
            if (!graph_.arcs[a].is_hard() || chain_.size() == longest) continue;
            if (!share_bytes(graph_, mover, offset_[mover], other, offset_[other]) || is_moved(other))
                continue;
            if (graph_.items[other].pinned != no_offset) continue;
            steps += 8 + graph_.arcs_of(other).size();
            move_one(other, draw_offset(other, energy_, coldest));
        }
        steps += graph_.arcs_of(mover).size();
    }
    if (sum_ > before) {
        std::uint64_t const weight = weight_of(sum_ - before, temperature_);
        if (below(65536) >= weight)
            for (std::size_t at = chain_.size(); at != 0; --at)
                move_to(chain_[at - 1].item, chain_[at - 1].from);
    }
    return steps;
}

SUBLET_DECL void penalty_search::move_to(std::uint32_t i, byte_count to)
{
    byte_count const from = offset_[i];
    if (from == to) return;
    offset_[i] = to;
    for (std::uint32_t a = graph_.first_arc[i]; a != graph_.first_arc[i + 1]; ++a) {
        std::uint32_t const other = graph_.arcs[a].to;
        bool const did = share_bytes(graph_, i, from, other, offset_[other]);
        bool const does = share_bytes(graph_, i, to, other, offset_[other]);
        if (did != does) count(i, a, does);
    }
}

SUBLET_DECL void penalty_search::count(std::uint32_t i, std::uint32_t a, bool more)
{
    penalty_graph::arc const& arc = graph_.arcs[a];
    sum_ = more ? sum_ + energy_[a] : sum_ - energy_[a];
    heat(i, more);
    heat(arc.to, more);
    std::uint64_t& sum = arc.is_hard() ? clashes_ : cost_;
    std::uint64_t const by = arc.is_hard() ? 1 : arc.cost;
    sum = more ? sum + by : sum - by;
}

SUBLET_DECL void penalty_search::heat(std::uint32_t i, bool more)
{
    if (more && hot_arcs_[i]++ == 0) {
        place_[i] = static_cast<std::uint32_t>(hot_.size());
        hot_.push_back(i);
    }
    if (!more && --hot_arcs_[i] == 0) {
        hot_[place_[i]] = hot_.back();
        place_[hot_.back()] = place_[i];
        hot_.pop_back();
    }
}

/// Pairs that clash cost twice as much from now on.
SUBLET_DECL void penalty_search::harden()
{
    for (std::uint32_t i : hot_)
        for (std::uint32_t a = graph_.first_arc[i]; a != graph_.first_arc[i + 1]; ++a) {
            std::uint32_t const to = graph_.arcs[a].to;
            bool const is_clash =
                graph_.arcs[a].is_hard() && share_bytes(graph_, i, offset_[i], to, offset_[to]);
            if (is_clash && energy_[a] < mean_energy << 20) energy_[a] *= 2;
        }
    std::vector<byte_count> const now = offset_;
    begin(now);
}

SUBLET_DECL std::uint64_t penalty_search::random()
{
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_ * 0x2545f4914f6cdd1du >> 16;
}

} // namespace sublet::detail
