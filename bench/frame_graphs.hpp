// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_FRAME_GRAPHS_HPP
#define SUBLET_BENCH_FRAME_GRAPHS_HPP

/// Random frame graphs, as renderers plan them again every few milliseconds, and random changes of them.
///
///     pass     0 ─► 1 ─► 2 ─► 3 ─► 4 ...       each makes one to three textures, and reads some of the last
///              └─────────┴────────►            few passes; the first ones are read all along
///
///     change   a pass is added or removed; the size or the pool of a texture is another one
///
/// The same numbers give the same frames on every machine.

#include "../test/random_source.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/listing.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace bench {

class frame_graph {
public:
    using texture = unsigned; ///< a handle: it is the same after a change
    enum class change : std::uint8_t { add, remove, resize, move_pool };

    /// Of two heaps, a texture in four lies in the second, and a pass in four may write over what it reads; of
    /// more, all are as likely, and none may.
    frame_graph(std::size_t passes, std::uint32_t seed, unsigned heaps = 2)
        : roll_{std::mt19937(seed)}, heaps_(heaps)
    {
        while (passes_.size() != passes) insert_pass(passes_.size());
    }

    /// Its passes, with the textures that they make and read.
    [[nodiscard]] sublet::listing<texture> list() const
    {
        sublet::listing<texture> all;
        for (pass const& p : passes_) {
            auto step = all.step();
            for (texture t : p.makes) {
                auto const& [bytes, pool] = textures_.at(t);
                step.make(t, {.bytes = bytes, .alignment = 256, .pool = pool});
            }
            for (texture t : p.reads)
                if (p.is_over && t == p.reads.front()) step.read_early(t).may_overwrite(t, p.makes.front());
                else step.read(t);
        }
        return all;
    }
    [[nodiscard]] std::size_t textures() const { return textures_.size(); }

    /// Changes one thing at random.
    change edit()
    {
        auto const what = static_cast<change>(roll_.below(4));
        std::size_t const at = roll_.below(static_cast<std::uint32_t>(passes_.size()));
        if (what == change::add || passes_.size() < 4) {
            insert_pass(at);
            texture const made = passes_[at].makes.front();
            std::size_t const user = at + 1 + roll_.below(4);
            if (user < passes_.size()) passes_[user].reads.push_back(made);
            return change::add;
        }
        if (what == change::remove) {
            pass const gone = passes_[at];
            passes_.erase(passes_.begin() + static_cast<std::ptrdiff_t>(at));
            for (texture t : gone.makes) {
                textures_.erase(t);
                for (pass& p : passes_) {
                    if (p.is_over && !p.reads.empty() && p.reads.front() == t) p.is_over = false;
                    p.reads.erase(std::remove(p.reads.begin(), p.reads.end(), t), p.reads.end());
                }
            }
            return what;
        }
        texture const t = roll_.one_of(passes_[at].makes);
        if (what == change::resize) textures_[t].first = draw_bytes();
        else textures_[t].second = textures_[t].second == 0u ? 1u : 0u;
        return what;
    }

private:
    struct pass {
        std::vector<texture> makes, reads;
        bool is_over; // the first texture that it makes may be written over the first that it reads
    };

    /// A fraction of 1920 x 1080, of 1 to 16 bytes each.
    sublet::byte_count draw_bytes()
    {
        unsigned const shift = roll_.below(4);
        unsigned const format = roll_.below(5);
        unsigned const layers = 1 + (roll_.below(8) == 0 ? roll_.below(6) : 0u);
        return sublet::byte_count{1920u >> shift} * (1080u >> shift) * (1u << format) * layers;
    }
    void insert_pass(std::size_t at)
    {
        pass p{{}, {}, false};
        unsigned const reads = at == 0 ? 0 : 1 + roll_.below(3);
        for (unsigned i = 0; i != reads; ++i) {
            std::size_t const back =
                roll_.below(12) == 0 ? roll_.below(static_cast<std::uint32_t>(at)) : roll_.below(4);
            texture const t = roll_.one_of(passes_[back < at ? at - 1 - back : 0].makes);
            if (std::find(p.reads.begin(), p.reads.end(), t) == p.reads.end()) p.reads.push_back(t);
        }
        unsigned const makes = 1 + roll_.below(3);
        for (unsigned i = 0; i != makes; ++i) {
            unsigned const pool = heaps_ > 2 ? roll_.below(heaps_) : roll_.below(4) == 0 ? 1 : 0;
            textures_[next_] = {draw_bytes(), pool};
            p.makes.push_back(next_++);
        }
        p.is_over = heaps_ == 2 && !p.reads.empty() && roll_.below(4) == 0;
        passes_.insert(passes_.begin() + static_cast<std::ptrdiff_t>(at), p);
    }

    random_source roll_;
    unsigned heaps_;
    std::vector<pass> passes_; // in the order in which they run
    std::map<texture, std::pair<sublet::byte_count, sublet::pool_id>> textures_;
    texture next_ = 0;
};

/// How many textures of both lie elsewhere.
template <class Planned>
[[nodiscard]] std::size_t moved_textures(Planned const& before, Planned const& now)
{
    std::map<frame_graph::texture, std::pair<sublet::pool_id, sublet::byte_count>> places;
    for (auto [t, pool, offset] : before) places[t] = {pool, offset};
    std::size_t moved = 0;
    for (auto [t, pool, offset] : now)
        if (auto const was = places.find(t); was != places.end())
            moved += was->second != std::pair{pool, offset};
    return moved;
}

} // namespace bench

#endif
