// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DRIVER_HPP
#define SUBLET_PLACEMENT_DRIVER_HPP

/// Who says when a search is over, and on which threads its tasks run.
///
///     search ──► stop(best, bound, nodes)?     a clock, a stop request, a progress line
///            ──► run(7, task)                  task(0) ... task(6), one after the other or at once
///
/// The searches themselves count nodes and know no clock and no thread. All that makes one run different from
/// the next is behind this door, and `steady`, the driver that has nothing behind it, costs nothing.
///
/// Tasks that run at once still give the answer of tasks in turn: of those that succeed the one with the
/// lowest number wins, and who has a higher number than a success may give up.

#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace sublet {

/// A search asks it every few hundred nodes whether to go on, and has it run independent tasks.
///
/// Semantics:     `stop` may be called by several tasks at once; once true it stays true. `best` is the
///                lowest height found (`no_limit`: none), no height below `bound` is possible, `nodes` are
///                those of the calling task. `run` calls task(i) once for each i below `tasks` and returns
///                after the last. `lowest` holds a number, at first the highest: `offer` lowers it to another
///                if that is lower, `get` reads it, both from several tasks at once.
/// Ordinary model: steady.
template <class D>
concept search_driver = requires(D& driver, typename D::lowest& number, byte_count bytes, std::uint64_t nodes,
                                 std::size_t tasks, void (*task)(std::size_t)) {
                            typename D::lowest;
                            number.offer(std::uint32_t{0});
                            {
                                number.get()
                                } -> std::same_as<std::uint32_t>;
                            {
                                driver.stop(bytes, bytes, nodes)
                                } -> std::same_as<bool>;
                            driver.run(tasks, task);
                        };

/// Never stops anybody, and runs one task after the other.
struct steady {
    struct lowest {
        std::uint32_t number = ~std::uint32_t{0};
        constexpr void offer(std::uint32_t other) noexcept { number = smaller(number, other); }
        [[nodiscard]] constexpr std::uint32_t get() const noexcept { return number; }
    };
    static constexpr bool stop(byte_count, byte_count, std::uint64_t) noexcept { return false; }
    template <class Task>
    static constexpr void run(std::size_t tasks, Task&& task)
    {
        for (std::size_t i = 0; i != tasks; ++i) task(i);
    }
};

static_assert(search_driver<steady>);

} // namespace sublet

#endif
