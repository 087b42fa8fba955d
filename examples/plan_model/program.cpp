// SPDX-License-Identifier: BSL-1.0

// plan_model MODEL: plans the memory of a neural network's values. Reads the file, plans, checks the
// plan with the library's checker, prints what it needs, and draws or runs it on request.

#include "program.hpp"

#include "../written_file.hpp"
#include "any_shape.hpp"
#include "arguments.hpp"
#include "choose_order.hpp"
#include "list_values.hpp"
#include "network.hpp"
#include "plan_bodies.hpp"
#include "plan_shapes.hpp"
#include "print_advice.hpp"
#include "read_model.hpp"
#include "run_modes.hpp"
#include "summary.hpp"
#include "tflm_plan.hpp"
#include "timed_plan.hpp"
#include "walk_bodies.hpp"
#include "write_header.hpp"

#include <onnx/onnx_pb.h>

#include <sublet/reporting/csv.hpp>
#include <sublet/reporting/dot.hpp>
#include <sublet/reporting/html.hpp>
#include <sublet/reporting/svg.hpp>
#include <sublet/reporting/trace.hpp>
#include <sublet/reporting/why_peak.hpp>
#include <sublet/sharing/color_intervals.hpp>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plan_model {
namespace {

/// The counterexample in terms of the model.
template <class Names>
std::string explain(sublet::counterexample const& why, network const& net,
                    std::vector<sublet::node_id> const& order, Names name_of)
{
    if (why.what == sublet::fault::used_undefined && why.position() < net.operations.size()) {
        auto const node = order.empty() ? sublet::node_id{+why.position()} : order[why.position()];
        return net.operations[node].label + ", at position " + std::to_string(why.position()) +
               ", uses value " + quoted(name_of(why.value())) + " before it is defined";
    }
    std::ostringstream text;
    text << why;
    auto const other = why.other() == why.value() ? sublet::no_value : why.other();
    for (auto v : {why.value(), other})
        if (v != sublet::no_value) text << " (value " << v << " is " << quoted(name_of(v)) << ')';
    return std::move(text).str();
}

template <class Write>
void write_if_asked(std::string const& file, Write write)
{
    if (!file.empty() && !written::write_file(file, write)) throw input_error(file + ": cannot be written");
}

/// Without a verified plan the comparison stays empty: no unsound plan is run.
std::optional<mode_comparison> run_if_asked(arguments const& args, network const& net,
                                            plan_settings const& wanted, timed_plan const& timed)
{
    if (!args.run) return std::nullopt;
    if (!timed.is_verified()) return mode_comparison{};
    return compare_modes(net, wanted, timed.planned.plan, {.check = args.check, .limit = args.limit});
}

/// The plan, and beside it, if asked for, the one without what was chosen.
void write_page(std::ostream& out, arguments const& args, network const& net, plan_settings const& wanted,
                timed_plan const& timed, std::vector<std::pair<sublet::byte_count, std::size_t>> waits,
                std::vector<std::pair<sublet::byte_count, sublet::byte_count>> costs, std::string_view title)
{
    sublet::snapshot const program = as_program(net);
    sublet::plan_options const options = as_options(net, wanted);
    auto name_of = [&](auto v) -> auto& { return net.values[v].name; };
    auto kind_of = [&](auto v) { return net.kind_of(v); };
    auto label_of = [&](auto op) -> auto& { return net.operations[op].label; };
    sublet::html_options page{.names = name_of,
                              .kinds = kind_of,
                              .steps = label_of,
                              .title = title,
                              .program = &program,
                              .options = &options,
                              .waits_within = std::move(waits),
                              .cost_within = std::move(costs)};
    if (args.before) {
        plan_settings plain = wanted;
        if (wanted.handoffs) plain.handoffs = false, plain.workers = 0;
        else plain.in_place = false, plain.order = {};
        page.before = wanted.handoffs ? "without hand-offs" : "as listed, not in place";
        page.after = wanted.handoffs ? "with hand-offs" : "planned";
        timed_plan const first = plan(net, plain);
        if (first.planned) {
            sublet::write_html(out, first.planned, timed.planned, page);
            return;
        }
    }
    sublet::write_html(out, timed.planned, page);
}

/// The options without which the plan would be another one. An order in a file keeps the name of the file.
header_origin origin_of(arguments const& args, std::string const& file)
{
    namespace fs = std::filesystem;
    std::string settings = "--align " + std::to_string(args.alignment);
    for (given_dimension const& d : args.reading.dimensions)
        settings += " --dim " + in_command(d.where + '=' + std::to_string(d.size));
    for (dimension_range const& d : args.ranges) {
        settings += " --dim " + in_command(d.where + '=' + std::to_string(d.least) + ':' +
                                           std::to_string(d.most) + ':' + std::to_string(d.stride));
        for (std::string const& other : d.also) settings += " --dim " + in_command(other + '=' + d.where);
    }
    for (given_value const& v : args.reading.values)
        settings += " --value " + in_command(v.input + '=' + std::to_string(v.element));
    if (args.reading.inlines_functions) settings += " --inline";
    if (!args.order.empty()) {
        fs::path const order(args.order);
        settings += " --order " + std::string(order.has_parent_path() ? "./" : "") +
                    in_command(order.filename().string());
    }
    settings += std::string(" --in-place ") + (!args.in_place                                    ? "off"
                                               : args.reading.pairs == in_place_pairs::listed    ? "listed"
                                               : args.reading.pairs == in_place_pairs::operators ? "on"
                                                                                                 : "softmax");
    return {fs::path(args.model).filename().string(), settings, fs::path(file).filename().string()};
}

void write_headers(arguments const& args, network const& net, sublet::memory_plan const& plan)
{
    if (!args.has_header()) return;
    header_table const table = as_table(net, plan, args.alignment);
    write_if_asked(args.header, [&](auto& to) { write_cpp_header(to, table, origin_of(args, args.header)); });
    write_if_asked(args.c_header,
                   [&](auto& to) { write_c_header(to, table, origin_of(args, args.c_header)); });
}

/// A network for the ranges of its open dimensions.
int run_any_shape(arguments const& args, std::ostream& out, std::ostream& err)
{
    plan_settings const wanted{args.alignment, args.in_place};
    shaped_network const shaped = read_for_shapes(args.model, args.reading, args.ranges, wanted);
    network const& net = shaped.net;
    chosen_order const chosen = choose_order(args.order, net, wanted);
    shapes_summary const plan = plan_shapes(shaped, args, chosen.order);
    auto name_of = [&](auto v) -> auto& { return net.values[v].name; };
    if (!plan.is_verified &&
        (plan.error.what == sublet::fault::used_undefined || plan.error.what == sublet::fault::write_moved))
        throw input_error((args.order.empty() ? args.model : args.order) + ": " +
                          explain(plan.error, net, chosen.order, name_of));
    if (!args.quiet)
        for (std::string const& what : net.remarks) err << "plan_model: " << what << '\n';
    if (!plan.is_verified)
        err << "plan_model: " << args.model << ": " << explain(plan.error, net, chosen.order, name_of)
            << '\n';
    if (!args.quiet) print(out, args.model, shaped, plan, args.json);
    if (shaped.by_shape != 0 && args.has_header())
        throw input_error(args.model + ": the sizes of " + std::to_string(shaped.by_shape) +
                          " values are no formulas: option --c-header writes functions of formulas");
    if (plan.is_verified)
        write_if_asked(args.c_header, [&](auto& to) {
            write_c_functions(to, plan.plan, name_of, origin_of(args, args.c_header));
        });
    return plan.is_verified ? 0 : 1;
}

/// A header has to hold all of a plan.
void expect_all_sized(arguments const& args, network const& net)
{
    for (unsized_result const& left : net.unsized)
        if (args.has_header() && !left.has_no_bytes)
            throw input_error(args.model + ": value " + quoted(net.values[left.value].name) + ' ' + left.why +
                              ": a header holds whole plans");
}

/// How often to walk, so that all walks together touch about 2^28 bytes.
std::size_t walks_for(sublet::byte_count bytes)
{
    return static_cast<std::size_t>(
        std::clamp<sublet::byte_count>((sublet::byte_count{1} << 28) / (bytes + 1), 1, 64));
}

/// A network with graphs inside, in the order of the file.
int run_with_bodies(arguments const& args, network const& net, plan_settings const& wanted, std::ostream& out,
                    std::ostream& err)
{
    planned_bodies const all = plan_with_bodies(net, wanted);
    sublet::planned_nested const& planned = all.planned;
    auto name_of = [&](auto v) { return all.name_of(v); };
    auto kind_of = [&](auto v) { return all.kind_of(v); };
    auto label_of = [&](auto s) { return all.label_of(s); };
    auto say = [&](std::string const& what) { err << "plan_model: " << args.model << ": " << what << '\n'; };
    if (!planned) {
        std::ostringstream why;
        why << planned.error();
        for (auto v : {planned.error().value(), planned.error().other()})
            if (v != sublet::no_value && v < planned.flat.value_of.size())
                why << " (value " << v << " is " << quoted(name_of(v)) << ')';
        throw input_error(args.model + ": " + std::move(why).str());
    }
    summary s{.model = args.model,
              .lower_bound_bytes = planned.report().lower_bound_bytes,
              .arena_bytes = planned.report().arena_bytes,
              .planning_ms = all.milliseconds,
              .verified = all.is_verified()};
    s.naive_bytes = planned.report().naive_bytes;
    s.buffers = planned.plan.buffers.size();
    s.bodies =
        summary::bodies_facts{all.of.networks.size() - 1, planned.copies.size(), planned.flat.moves.size()};
    for (network const* const each : all.of.networks) {
        s.operations += static_cast<std::size_t>(
            std::count_if(each->operations.begin(), each->operations.end(), [](auto const& op) { return !op.is_border; }));
        s.values += each->results;
        s.left_out += each->unsized.size();
    }
    for (sublet::value_id v = 0; v != planned.flat.first_spare; ++v)
        if (!all.is_copy(v) && planned.plan.buffer_of[v] != sublet::no_buffer && all.base_of(v) == sublet::no_value)
            s.per_value_bytes += std::min(all.value(v).bytes, sublet::no_size - 1 - s.per_value_bytes);
    if (args.run) {
        body_walker walker(all);
        sublet::byte_count const bytes = walker.bytes();
        if (bytes > args.limit)
            throw limit_exceeded("a run keeps each value by itself and in the arena, in " +
                                 std::to_string(bytes) + " bytes, more than the limit of " +
                                 std::to_string(args.limit) + " (see --limit)");
        s.bodies->walks = walker.run(walks_for(bytes));
        if (!s.bodies->walks->is_identical()) say(s.bodies->walks->fault);
    }
    if (!args.quiet)
        for (std::string const& what : net.remarks) err << "plan_model: " << what << '\n';

    std::string const title = std::filesystem::path(args.model).filename().string();
    write_if_asked(args.csv, [&](auto& to) { sublet::write_csv(to, planned, {.names = name_of}); });
    write_if_asked(args.values, [&](auto& to) { list_values(to, all); });
    write_if_asked(args.svg, [&](auto& to) {
        sublet::write_svg(to, planned, {.names = name_of, .kinds = kind_of, .title = title});
    });
    write_if_asked(args.trace, [&](auto& to) { sublet::write_trace(to, planned, {.names = name_of}); });
    write_if_asked(args.html, [&](auto& to) {
        sublet::html_options page{.names = name_of, .kinds = kind_of, .steps = label_of, .title = title};
        if (!args.before) {
            sublet::write_html(to, planned, page);
            return;
        }
        plan_settings plain = wanted;
        plain.in_place = false;
        page.before = "not in place";
        page.after = "planned";
        sublet::write_html(to, plan_with_bodies(net, plain).planned, planned, page);
    });
    write_if_asked(args.dot, [&](auto& to) {
        sublet::write_dot(to, planned.flat.program, {.names = name_of, .steps = label_of, .title = title});
    });
    write_if_asked(args.why_peak, [&](auto& to) {
        sublet::write_why_peak(to, sublet::why_peak(planned.flat.program, planned.plan),
                               {.names = name_of, .steps = label_of});
    });
    if (!args.quiet) print(out, s, args.json);
    return s.is_good() ? 0 : 1;
}

int run(arguments const& args, std::ostream& out, std::ostream& err)
{
    if (!args.ranges.empty()) return run_any_shape(args, out, err);
    network net = read_model(args.model, args.reading);
    expect_all_sized(args, net);
    auto remark = [&] {
        if (args.quiet) return;
        for (std::string const& what : net.remarks) err << "plan_model: " << what << '\n';
    };
    plan_settings wanted{args.alignment, args.in_place, {},          args.concurrent,
                         args.slots,     args.handoffs, args.workers};
    if (has_bodies(net)) {
        // A header describes one order of steps.
        if (!args.concurrent && (args.order.empty() || args.order == "file") && args.capacity == 0 &&
            args.limits.empty() && !args.has_header())
            return run_with_bodies(args, net, wanted, out, err);
        add_scratch(args.model, net, wanted);
    }
    chosen_order const chosen = choose_order(args.order, net, wanted);
    std::vector<sublet::node_id> const& order = wanted.order = chosen.order;

    if (args.capacity != 0) {
        std::ostringstream advice;
        bool const fits = print_advice(advice, args.model, net, wanted, args.capacity);
        remark();
        if (!args.quiet) out << advice.str();
        return fits ? 0 : 1;
    }

    timed_plan const timed = plan(net, wanted);
    sublet::planned_memory const& planned = timed.planned;
    auto name_of = [&](auto v) -> auto& { return net.values[v].name; };

    if (!planned && (planned.error().what == sublet::fault::used_undefined ||
                     planned.error().what == sublet::fault::write_moved))
        throw input_error((args.order.empty() ? args.model : args.order) + ": " +
                          explain(planned.error(), net, order, name_of));
    if (planned.report().naive_bytes == sublet::no_size - 1)
        throw input_error(args.model + ": its values take more bytes together than 64 bits can count");
    pack::offline_offsets const micro =
        args.tflm.empty() || !planned ? pack::offline_offsets() : tflm_offsets(args.tflm, net, planned.plan);
    std::optional<mode_comparison> const ran = run_if_asked(args, net, wanted, timed);
    remark();
    auto say = [&](std::string const& what) { err << "plan_model: " << args.model << ": " << what << '\n'; };
    if (!planned) say(explain(planned.error(), net, order, name_of));
    if (ran && !args.quiet) std::for_each(ran->remarks.begin(), ran->remarks.end(), say);
    if (ran) std::for_each(ran->faults.begin(), ran->faults.end(), say);

    std::string const title = std::filesystem::path(args.model).filename().string();
    auto kind_of = [&](auto v) { return net.kind_of(v); };
    auto life_of = [&](auto b) { return planned.plan.buffers[b].slot_life(); };
    if (planned) {
        write_if_asked(args.csv, [&](auto& to) {
            auto const tensor_of = tensors_by_value(net);
            if (args.tflm.empty()) sublet::write_csv(to, planned, {.names = name_of});
            else
                sublet::write_csv(to, planned,
                                  {.names = [&](auto v) { return std::to_string(tensor_of[v]); }});
        });
        write_if_asked(args.tflm, [&](auto& to) { pack::write_offline_offsets(to, micro); });
        write_if_asked(args.values, [&](auto& to) { list_values(to, net, planned.plan); });
        write_if_asked(args.svg, [&](auto& to) {
            sublet::write_svg(to, planned, {.names = name_of, .kinds = kind_of, .title = title});
        });
        write_if_asked(args.trace, [&](auto& to) { sublet::write_trace(to, planned, {.names = name_of}); });
        if (timed.is_verified()) write_headers(args, net, planned.plan);
    }
    std::vector<std::pair<sublet::byte_count, std::size_t>> waits;
    if (args.waits && planned) waits = waits_against_bytes(net, wanted);
    std::vector<limit_row> costs;
    if (!args.limits.empty() && planned)
        costs = cost_within(net, wanted, planned.report().arena_bytes, args.limits);
    write_if_asked(args.html, [&](auto& to) {
        write_page(to, args, net, wanted, timed, waits, cost_curve(planned.report().arena_bytes, costs),
                   title);
    });
    write_if_asked(args.limits_csv, [&](auto& to) { write_limits(to, costs, has_flops(net)); });
    if (!args.limits.empty()) {
        if (!args.quiet) print_limits(out, costs, has_flops(net));
        auto is_verified = [](limit_row const& row) { return row.is_verified; };
        return timed.is_verified() && std::all_of(costs.begin(), costs.end(), is_verified) ? 0 : 1;
    }
    auto label_of = [&](auto op) -> auto& { return net.operations[op].label; };
    sublet::slot_plan const slots =
        timed.concurrent ? timed.concurrent->slots : sublet::color(planned.plan.buffers.size(), life_of);
    auto slot_of = [&](auto v) {
        auto const b = planned.plan.buffer_of[v];
        return b == sublet::no_buffer ? sublet::no_slot : slots.slot_of[b];
    };
    write_if_asked(args.dot, [&](auto& to) {
        sublet::write_dot(to, as_program(net),
                          {.slots = slot_of,
                           .names = name_of,
                           .steps = label_of,
                           .title = title,
                           .given_without_slot = false});
    });
    write_if_asked(args.why_peak, [&](auto& to) {
        sublet::write_why_peak(to, sublet::why_peak(as_program(net), planned.plan),
                               {.names = name_of, .steps = label_of});
    });
    summary const s{.model = args.model,
                    .operations = net.operations.size(),
                    .values = net.results,
                    .left_out = net.unsized.size(),
                    .buffers = planned.plan.buffers.size(),
                    .per_value_bytes = per_value_bytes(net, planned.plan),
                    .naive_bytes = planned.report().naive_bytes,
                    .lower_bound_bytes = planned.report().lower_bound_bytes,
                    .arena_bytes = planned.report().arena_bytes,
                    .planning_ms = timed.milliseconds + chosen.milliseconds,
                    .verified = timed.is_verified(),
                    .slots = slots.slots,
                    .order = chosen.word,
                    .ordered = chosen.facts,
                    .concurrent = timed.concurrent,
                    .is_cut_short = planned.report().is_cut_short,
                    .handoffs = planned.plan.handoffs.size(),
                    .with_handoffs = args.handoffs,
                    .waits = std::move(waits),
                    .run = ran};
    if (!args.quiet) print(out, s, args.json);
    return s.is_good() ? 0 : 1;
}

} // namespace

int run_program(int count, char const* const* words, std::ostream& out, std::ostream& err)
{
    std::string about;
    try {
        arguments const args = read_arguments(count, words);
        if (args.help) {
            out << usage;
            return 0;
        }
        if (args.version) {
            out << command_line::version_of("plan_model");
            return 0;
        }
        about = args.model + ": ";
        return run(args, out, err);
    } catch (input_error const& e) {
        err << "plan_model: " << e.what() << '\n';
    } catch (std::bad_alloc const&) {
        err << "plan_model: " << about << "out of memory\n";
    } catch (std::length_error const&) {
        err << "plan_model: " << about << "out of memory\n";
    } catch (std::exception const& e) { // an internal error, or sizes beyond 64 bits
        std::string_view says = e.what();
        if (says.starts_with("sublet: ")) says.remove_prefix(8);
        err << "plan_model: " << about << says << '\n';
    }
    return 2;
}

} // namespace plan_model
