// SPDX-License-Identifier: BSL-1.0

/// Smallest last takes vertices from buckets by the neighbours that are left; largest cardinality first by
/// those that are taken, and each vertex extends the clique of its last neighbour before it, which gives
/// the bounds. DSATUR has a tournament tree of saturations.

#include <sublet/impl/config.hpp>
#include <sublet/sharing/detail/coloring.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

// --- slot set --------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL void slot_set::insert(slot_id s)
{
    if (s / 64 >= words_.size()) words_.resize(s / 64 + std::size_t{1});
    words_[s / 64] |= std::uint64_t{1} << s % 64;
}

SUBLET_DECL slot_id slot_set::lowest_free(slot_id from) const
{
    std::size_t w = from / 64;
    if (w >= words_.size()) return from;
    std::uint64_t free = ~words_[w] & ~std::uint64_t{0} << from % 64;
    while (free == 0) {
        if (++w == words_.size()) return slot_id::of(64 * w);
        free = ~words_[w];
    }
    return slot_id::of(64 * w + static_cast<std::size_t>(std::countr_zero(free)));
}

// --- coloring orders -------------------------------------------------------------------------------------

/// A bucket priority queue with decrease-key by one.
class bucket_queue {
public:
    /// Complexity: O(vertices + the largest number), and O(1) for every operation, amortised.
    explicit bucket_queue(table<value_id, std::uint32_t> numbers)
        : number_(std::move(numbers)), next_(number_.size()), previous_(number_.size())
    {
        for (std::uint32_t n : number_) lowest_ = larger<std::size_t>(lowest_, n);
        first_ = std::vector<value_id>(lowest_ + 1, no_value);
        for (auto v = value_id::of(number_.size()); v-- != 0;) link(v); // the lowest id first
    }

    [[nodiscard]] bool contains(value_id v) const { return number_[v] != taken; }

    struct entry {
        value_id vertex;
        std::uint32_t number;
    };
    /// Of the lowest number the vertex decreased last, else the lowest id.
    [[nodiscard]] entry take_lowest()
    {
        while (first_[lowest_] == no_value) ++lowest_; // at most once per number and per decrease
        entry const result{first_[lowest_], static_cast<std::uint32_t>(lowest_)};
        unlink(result.vertex);
        number_[result.vertex] = taken;
        return result;
    }
    void lower(value_id v)
    {
        unlink(v);
        --number_[v];
        link(v);
    }

private:
    static constexpr std::uint32_t taken = ~std::uint32_t{0};

    void link(value_id v)
    {
        value_id& first = first_[number_[v]];
        if (first != no_value) previous_[first] = v;
        next_[v] = first;
        previous_[v] = no_value;
        first = v;
        lowest_ = smaller<std::size_t>(lowest_, number_[v]);
    }
    void unlink(value_id v)
    {
        (previous_[v] == no_value ? first_[number_[v]] : next_[previous_[v]]) = next_[v];
        if (next_[v] != no_value) previous_[next_[v]] = previous_[v];
    }

    table<value_id, std::uint32_t> number_;
    table<value_id, value_id> next_, previous_; // in the list of its number
    std::vector<value_id> first_;               // by number
    std::size_t lowest_ = 0;                    // no number is lower
};

SUBLET_DECL smallest_last_order smallest_last(csr_graph const& g)
{
    table<value_id, std::uint32_t> degrees;
    for (node_id v = 0; v != g.rows(); ++v) degrees.push_back(static_cast<std::uint32_t>(g[v].size()));
    bucket_queue queue(std::move(degrees));
    smallest_last_order result;
    result.order.resize(g.rows());
    for (std::size_t i = g.rows(); i-- != 0;) {
        auto const [v, degree] = queue.take_lowest();
        result.order[i] = v;
        result.degeneracy = larger(result.degeneracy, degree);
        for (value_id w : values_next_to(g, v))
            if (queue.contains(w)) queue.lower(w);
    }
    return result;
}

SUBLET_DECL std::vector<value_id> largest_cardinality_first(csr_graph const& g)
{
    std::uint32_t most = 0; // maximum degree: the number of a vertex without ordered neighbours
    for (node_id v = 0; v != g.rows(); ++v) most = larger(most, static_cast<std::uint32_t>(g[v].size()));
    bucket_queue queue(table<value_id, std::uint32_t>(g.rows(), most));
    std::vector<value_id> order(g.rows());
    for (value_id& v : order) {
        v = queue.take_lowest().vertex;
        for (value_id w : values_next_to(g, v))
            if (queue.contains(w)) queue.lower(w);
    }
    return order;
}

// --- cliques ---------------------------------------------------------------------------------------------

SUBLET_DECL clique_bound find_cliques(csr_graph const& interference,
                                      table<value_id, byte_count> const& bytes)
{
    std::vector<value_id> const order = largest_cardinality_first(interference);
    table<value_id, std::uint32_t> rank(order.size());
    for (std::size_t i = 0; i != order.size(); ++i) rank[order[i]] = static_cast<std::uint32_t>(i);

    // The vertices that extend the clique of u, as a list, so that the clique is marked only once.
    table<value_id, value_id> first_child(order.size(), no_value), next_child = first_child;
    csr_rows<std::uint32_t, value_id> cliques;
    table<value_id, std::uint32_t> row_of(order.size()); // in cliques
    auto close = [&](value_id v) {
        cliques.append(v);
        row_of[v] = static_cast<std::uint32_t>(cliques.rows());
        cliques.close_row();
    };
    for (value_id v : order) {
        value_id last = no_value;
        for (value_id w : values_next_to(interference, v))
            if (rank[w] < rank[v] && (last == no_value || rank[last] < rank[w])) last = w;
        if (last == no_value) {
            if (bytes[v] != 0) close(v);
        } else {
            next_child[v] = first_child[last];
            first_child[last] = v;
        }
    }

    clique_bound bound;
    std::vector<byte_count> at_least, sizes; // at_least: by slot, the largest slot first
    table<value_id, value_id> marked_by(order.size(), no_value);
    for (value_id u : order) {
        if (bytes[u] == 0) continue;
        auto const clique = [&] { return cliques[row_of[u]]; };
        std::size_t const size = clique().size();
        for (value_id w : clique()) marked_by[w] = u;
        bool grows = false;
        for (value_id v = first_child[u]; v != no_value; v = next_child[v]) {
            for (value_id w : values_next_to(interference, v))
                if (marked_by[w] == u) cliques.append(w);
            close(v);
            grows = grows || cliques[row_of[v]].size() > size;
        }
        if (grows) continue; // the larger clique gives the same bound or a better one
        sizes.clear();
        for (value_id w : clique()) sizes.push_back(bytes[w]);
        std::sort(sizes.begin(), sizes.end());
        if (at_least.size() < size) at_least.resize(size, 0);
        for (std::size_t i = 0; i != size; ++i) at_least[i] = larger(at_least[i], sizes[size - 1 - i]);
        if (bound.clique.size() < size) bound.clique.assign(clique().begin(), clique().end());
    }
    std::sort(bound.clique.begin(), bound.clique.end());
    for (byte_count slot : at_least) bound.bytes = checked_add(bound.bytes, slot);
    return bound;
}

// --- dsatur ----------------------------------------------------------------------------------------------

/// Tournament tree: the largest of keys that change at any time.
class tournament {
public:
    /// Complexity: O(keys.size()), and O(log keys.size()) for a changed key, mostly less.
    explicit tournament(std::vector<std::uint64_t> keys)
        : key_(std::move(keys)), size_(std::bit_ceil(key_.size() + 1))
    {
        key_.resize(size_, 0);
        winner_.resize(2 * size_);
        for (std::size_t player = 0; player != size_; ++player)
            winner_[size_ + player] = static_cast<std::uint32_t>(player);
        for (std::size_t match = size_ - 1; match != 0; --match) winner_[match] = play(match);
    }
    [[nodiscard]] std::uint64_t operator[](std::uint32_t player) const { return key_[player]; }
    /// Of equal keys the lowest index.
    [[nodiscard]] std::uint32_t winner() const { return winner_[1]; }

    void change(std::uint32_t player, std::uint64_t key)
    {
        key_[player] = key;
        for (std::size_t match = (size_ + player) / 2; match != 0; match /= 2) {
            std::uint32_t const now = play(match);
            if (now != player && now == winner_[match]) return; // lost before and now: no match above changes
            winner_[match] = now;
        }
    }

private:
    std::uint32_t play(std::size_t match) const
    {
        std::uint32_t const a = winner_[2 * match], b = winner_[2 * match + 1];
        return key_[a] < key_[b] ? b : a;
    }

    std::vector<std::uint64_t> key_;
    std::size_t size_;
    std::vector<std::uint32_t> winner_; // of match i, below match i / 2; from size_ on the leaves
};

SUBLET_DECL table<value_id, slot_id> color_by_saturation(csr_graph const& g,
                                                         std::vector<value_id> const& vertices,
                                                         table<value_id, slot_id> slot_of)
{
    // Key of an uncoloured vertex: {saturation + 1, uncoloured neighbours}; of others 0.
    constexpr std::uint64_t one_slot = std::uint64_t{1} << 32;
    std::vector<std::uint64_t> keys(g.rows(), 0);
    for (value_id v : vertices) keys[v] = one_slot;
    for (value_id v : vertices)
        for (value_id w : values_next_to(g, v)) keys[w] += keys[w] != 0;
    tournament uncolored(std::move(keys));

    struct own_bits {
        std::size_t first_word, neighbors;
    };
    table<value_id, own_bits> bits_of(g.rows()); // in `taken`, a bit for each slot up to `neighbors`
    std::size_t words = 0;
    for (value_id v = 0; v != g.rows(); ++v) {
        bits_of[v] = {words, values_next_to(g, v).size()};
        words += bits_of[v].neighbors / 64 + 1;
    }
    std::vector<std::uint64_t> taken(words, 0);
    // What v's key gains when a neighbour takes s.
    auto take = [&](slot_id s, value_id v) -> std::uint64_t {
        own_bits const own = bits_of[v];
        if (s > own.neighbors) return 0;
        std::uint64_t& word = taken[own.first_word + s / 64];
        std::uint64_t const before = word;
        word |= std::uint64_t{1} << s % 64;
        return word != before ? one_slot : 0;
    };

    for (value_id v : vertices) {
        std::uint64_t key = uncolored[v];
        for (value_id w : values_next_to(g, v)) key += take(slot_of[w], v);
        uncolored.change(v, key);
    }
    for (value_id v = uncolored.winner(); uncolored[v] != 0; v = uncolored.winner()) {
        std::size_t const first_word = bits_of[v].first_word;
        std::size_t word = first_word;
        while (taken[word] == ~std::uint64_t{0}) ++word;
        auto const bit = static_cast<std::size_t>(std::countr_one(taken[word]));
        auto const s = slot_id::of((word - first_word) * 64 + bit);
        slot_of[v] = s;
        uncolored.change(v, 0);
        for (value_id w : values_next_to(g, v))
            if (std::uint64_t const key = uncolored[w]; key != 0) uncolored.change(w, key - 1 + take(s, w));
    }
    return slot_of;
}

} // namespace sublet::detail
