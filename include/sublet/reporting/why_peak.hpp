// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_WHY_PEAK_HPP
#define SUBLET_REPORTING_WHY_PEAK_HPP

/// Explains the peak of a pool: which buffers are live there, which steps define and last use them, and what
/// the peak would be without each of them.
///
///     bytes                            without b the peak is the maximum of
///       │      ┌─┐                         the levels before b begins,
///       │   ┌──┘ └──┐   ┌──┐               the peak less the bytes of b,
///       │───┘       └───┘  └──             the levels after b ends
///       └─────[==b==)──────────
///                                position
///
/// Every listed buffer is live at the peak, so without it the highest level inside its live range is the peak
/// less its bytes. Levels outside its live range do not change; prefix and suffix maxima give them for all
/// buffers in one sweep, without planning again.

#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/reporting/detail/table_cell.hpp>
#include <sublet/reporting/names.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// The peak of a pool, and what is live there.
struct peak_reason {
    /// One of the buffers that are live at the peak.
    struct buffer {
        buffer_id buffer = no_buffer; ///< its number in the plan
        value_id root = no_value;     ///< the value that names it
        step_id producer = no_step;  ///< the first to define one of its values; `no_step`: an input
        step_id last_user = no_step; ///< the step of the last touch; `no_step`: held beyond it, an output
        live_range life;             ///< the positions at which it is live
        byte_count bytes = 0;        ///< its size
        byte_count peak_without = 0; ///< the pool's peak without this buffer
    };

    pool_id pool = 0;                            ///< the pool that is meant
    position_id position = 0;                    ///< the first with the most live bytes of the pool
    std::uint32_t positions = 0;                 ///< how many the program has
    std::uint32_t later_peaks = 0;               ///< how many later positions have as many live bytes
    step_id step = no_step;                      ///< the program's step at that position
    byte_count bytes = 0;                        ///< live there
    byte_count arena_bytes = 0;                  ///< size of the pool's arena in the plan
    std::vector<peak_reason::buffer> alive = {}; ///< live there, the largest first, equal ones by root
};

/// The peak of one pool of a plan, and the buffers live there. The plan may be invalid; it is not checked.
///
/// Ensures:    `bytes` is the sum of those of `alive`; a pool without buffers has a peak of 0 bytes. Steps
///             have the program's numbers, positions are those of `plan.order`. A buffer that is live before
///             its first def is an input. There is no last user if the live range extends beyond the last
///             touch, as the role of a buffer may require.
/// Complexity: O(steps + buffers + touches) time and memory, and O(k log k) for k buffers live at the peak.
/// Throws:     precondition_error if the plan is of another program, a live range ends after the last step,
///             the order does not name every node once, or the bytes live at once exceed 64 bits.
[[nodiscard]] peak_reason why_peak(snapshot const& p, memory_plan const& plan, pool_id pool = 0);

/// How much of it is written, and with which names.
struct why_peak_options {
    names_of<value_id> names = {}; ///< of values; default: their numbers
    names_of<step_id> steps = {};  ///< of steps; default: "step 7"
    std::size_t rows = 20;         ///< at most; one line sums up the rest
    char const* unit = nullptr;    ///< behind sizes that are no bytes: "qubits"; default: bytes
};

/// Writes it as a table for people, one row per buffer.
///
///     192 B alive at position 2 of 5 (and at 1 more), while edges runs; arena 192 B
///       bytes      %  value  defined by  last used by  peak without it  saves
///        96 B  50.00  b      blur        edges                   192 B    0 B
///        64 B  33.33  a      load        sharpen                 160 B   32 B
///       and 1 more: 32 B
///
/// Ensures:    columns are as wide as their widest cell; a name of more than 40 characters is cut in the
///             middle. Control characters are dropped and bytes that are not UTF-8 become '?'. Percents are
///             of the peak, rounded to hundredths.
/// Complexity: O(output); the name of a value is asked for once per row, that of a step twice, and once for
/// the
///             position.
/// Throws:     whatever the stream and the names throw, std::bad_alloc.
template <detail::text_stream Stream>
Stream& write_why_peak(Stream& out, peak_reason const& reason, why_peak_options const& options = {})
{
    using detail::table_cell;
    detail::plain_text<Stream> text{out, options.unit};
    auto write_cell = [&](table_cell const& cell) {
        for (char c : cell.text) text << c;
    };
    if (reason.pool != 0) text << "pool " << reason.pool << ": ";
    detail::write_bytes(text, reason.bytes);
    text << " alive at position " << reason.position << " of " << reason.positions;
    if (reason.later_peaks != 0) text << " (and at " << reason.later_peaks << " more)";
    if (reason.step != no_step) {
        table_cell step;
        detail::write_step(step, options.steps, reason.step, "");
        text << ", while ";
        write_cell(step);
        text << " runs";
    }
    text << "; arena ";
    detail::write_bytes(text, reason.arena_bytes);
    text << '\n';

    enum column : std::size_t { bytes, percent, value, producer, last_user, without, saves, columns };
    static constexpr char const* headings[] = {
        "bytes", "%", "value", "defined by", "last used by", "peak without it", "saves"};
    std::size_t const rows = detail::smaller(options.rows, reason.alive.size());
    std::vector<table_cell> cells(rows == 0 ? 0 : (rows + 1) * columns);
    for (std::size_t c = 0; c != detail::smaller<std::size_t>(cells.size(), columns); ++c)
        cells[c] << (c == bytes && options.unit != nullptr ? options.unit : headings[c]);
    byte_count rest = reason.bytes;
    for (std::size_t i = 0; i != rows; ++i) {
        peak_reason::buffer const& b = reason.alive[i];
        table_cell* const row = &cells[(i + 1) * columns];
        auto write_count = [&](column c, byte_count count) {
            detail::plain_text<table_cell> digits{row[c], options.unit};
            detail::write_bytes(digits, count);
        };
        write_count(bytes, b.bytes);
        detail::write_percent(row[percent], b.bytes, reason.bytes);
        detail::write_name(row[value], options.names, b.root);
        detail::write_step(row[producer], options.steps, b.producer, "(input)");
        detail::write_step(row[last_user], options.steps, b.last_user,
                           b.life.last >= reason.positions ? "(output)" : "(none)");
        write_count(without, b.peak_without);
        write_count(saves, reason.bytes - b.peak_without);
        rest -= b.bytes;
    }

    std::size_t width[columns] = {};
    for (std::size_t i = 0; i != cells.size(); ++i)
        width[i % columns] = detail::larger(width[i % columns], cells[i].characters);
    for (std::size_t i = 0; i != cells.size(); ++i) {
        std::size_t const c = i % columns;
        bool const is_name = c == value || c == producer || c == last_user;
        text << "  ";
        if (is_name) write_cell(cells[i]);
        for (std::size_t n = cells[i].characters; n != width[c]; ++n) text << ' ';
        if (!is_name) write_cell(cells[i]);
        if (c + 1 == columns) text << '\n';
    }
    if (rows != reason.alive.size()) {
        text << "  and " << reason.alive.size() - rows << " more: ";
        detail::write_bytes(text, rest);
        text << '\n';
    }
    return out;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/reporting/impl/why_peak.ipp>
#endif

#endif
