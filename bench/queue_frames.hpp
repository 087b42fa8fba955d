// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_QUEUE_FRAMES_HPP
#define SUBLET_BENCH_QUEUE_FRAMES_HPP

/// Random frames of a few queues, as a listing and as a placement problem with one clock for each queue.
///
///     queue 0    0 ───► 2 ─► 3 ──────► 6      each step waits for the one before it in its queue,
///                └────┐      └────┐           and reads up to three textures of the last few steps, of
///     queue 1         1 ─► 4 ───► 5           any queue
///
/// The same numbers give the same frames on every machine.

#include "../test/random_source.hpp"

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/listing.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

struct queue_frame {
    sublet::listing<unsigned> list;
    sublet::placement_problem problem; ///< the same with clocks: buffer i is texture i
};

[[nodiscard]] inline queue_frame draw_queue_frame(std::uint32_t queues, std::uint32_t seed)
{
    struct made {
        std::vector<std::uint32_t> before; // by queue, the steps that precede the step that makes it
        std::vector<std::uint32_t> over;   // by queue, those that precede what is after all its accesses
    };
    random_source roll{std::mt19937(1000 * queues + seed)};
    queue_frame frame;
    frame.problem.clocks.threads = queues;
    std::vector<made> textures;
    std::vector<std::size_t> ends{0}; // by step, one behind the last texture made
    std::vector<std::vector<std::uint32_t>> clock(queues, std::vector<std::uint32_t>(queues, 0));
    std::vector<sublet::listing<unsigned>::step_ref> last(queues);
    std::vector<std::size_t> maker;                // by texture
    std::vector<std::vector<std::uint32_t>> after; // by step, its clock when it is done
    std::uint32_t const steps = 8 + roll.below(25);
    for (std::uint32_t s = 0; s != steps; ++s) {
        std::uint32_t const queue = roll.below(queues);
        auto step = frame.list.step();
        if (last[queue]) step.wait_for(last[queue]);
        std::vector<std::uint32_t> now = clock[queue];
        std::vector<unsigned> reads;
        for (std::uint32_t left = s == 0 ? 0 : roll.below(4); left != 0; --left) {
            std::size_t const from =
                roll.below(6) == 0 ? 0 : ends.size() - std::min<std::size_t>(ends.size(), 6);
            std::size_t const first = ends[from], count = textures.size() - first;
            if (count == 0) continue;
            auto const t = static_cast<unsigned>(first + roll.below(static_cast<std::uint32_t>(count)));
            if (std::find(reads.begin(), reads.end(), t) == reads.end()) reads.push_back(t);
        }
        for (unsigned t : reads) {
            step.read(t);
            for (std::uint32_t q = 0; q != queues; ++q) now[q] = std::max(now[q], after[maker[t]][q]);
        }
        std::vector<std::uint32_t> const before = now;
        now[queue] = clock[queue][queue] + 1;
        for (unsigned t : reads) textures[t].over[queue] = now[queue];
        std::uint32_t const least = s == 0 ? 1 : 0;
        for (std::uint32_t makes = least + roll.below(4 - least); makes != 0; --makes) {
            sublet::byte_count const bytes = roll.below(3) == 0 ? 1 + roll.below(1024) : 32u << roll.below(6);
            step.make(static_cast<unsigned>(textures.size()), {.bytes = bytes});
            frame.problem.buffers.push_back({.life = {}, .size = bytes});
            textures.push_back({before, before});
            textures.back().over[queue] = now[queue];
            maker.push_back(s);
        }
        ends.push_back(textures.size());
        clock[queue] = now;
        after.push_back(now);
        last[queue] = step;
    }
    for (made const& t : textures) {
        auto& [threads, begin, end] = frame.problem.clocks;
        begin.insert(begin.end(), t.before.begin(), t.before.end());
        end.insert(end.end(), t.over.begin(), t.over.end());
    }
    return frame;
}

} // namespace bench

#endif
