// SPDX-License-Identifier: BSL-1.0

// plan_model MODEL: plans the memory of a neural network's values. Reads the file, plans, checks the
// plan with the library's checker, prints what it needs, and draws or runs it on request.

#include "program.hpp"

#include "../written_file.hpp"
#include "any_batch.hpp"
#include "arguments.hpp"
#include "choose_order.hpp"
#include "model_file.hpp"
#include "network.hpp"
#include "print_advice.hpp"
#include "read_onnx.hpp"
#include "read_tflite.hpp"
#include "run_modes.hpp"
#include "summary.hpp"
#include "tflm_plan.hpp"
#include "timed_plan.hpp"

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
                timed_plan const& timed, std::string_view title)
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
                              .options = &options};
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

/// By the contents of the file: its ending may be any.
network read_model(arguments const& args)
{
    std::string bytes = contents_of(args.model);
    if (is_tflite(bytes)) {
        bool const is_micro = !args.tflm.empty();
        return read_tflite(args.model, bytes,
                           {.pairs = args.pairs,
                            .views = !is_micro || args.in_place, // otherwise off stops only pairs
                            .plans_inputs = is_micro});
    }
    if (!args.tflm.empty())
        throw input_error(args.model + ": is no TensorFlow Lite file, and option --tflm is about these only");
    return read_onnx(args.model, parse_onnx(args.model, std::move(bytes)), args.pairs);
}

int run_any_batch(arguments const& args, network const& net, std::vector<sublet::node_id> const& order,
                  std::ostream& out, std::ostream& err)
{
    sublet::planned_symbolic const planned = plan_any_batch(net, args, order);
    auto name_of = [&](auto v) -> auto& { return net.values[v].name; };
    if (!planned && (planned.error().what == sublet::fault::used_undefined ||
                     planned.error().what == sublet::fault::write_moved))
        throw input_error((args.order.empty() ? args.model : args.order) + ": " +
                          explain(planned.error(), net, order, name_of));
    if (!planned)
        err << "plan_model: " << args.model << ": " << explain(planned.error(), net, order, name_of) << '\n';
    if (!args.quiet) print(out, args.model, net, planned, args.json);
    return planned.report().is_checked && bool(planned) ? 0 : 1;
}

int run(arguments const& args, std::ostream& out, std::ostream& err)
{
    network const net = read_model(args);
    plan_settings wanted{args.alignment, args.in_place, {},          args.concurrent,
                         args.slots,     args.handoffs, args.workers};
    chosen_order const chosen = choose_order(args.order, net, wanted);
    std::vector<sublet::node_id> const& order = wanted.order = chosen.order;

    if (args.max_batch != 0) return run_any_batch(args, net, order, out, err);

    if (args.capacity != 0) {
        std::ostringstream advice;
        bool const fits = print_advice(advice, args.model, net, wanted, args.capacity);
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
    if (!args.quiet)
        for (std::string const& remark : net.remarks) err << "plan_model: " << remark << '\n';
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
        write_if_asked(args.svg, [&](auto& to) {
            sublet::write_svg(to, planned, {.names = name_of, .kinds = kind_of, .title = title});
        });
        write_if_asked(args.trace, [&](auto& to) { sublet::write_trace(to, planned, {.names = name_of}); });
    }
    write_if_asked(args.html, [&](auto& to) { write_page(to, args, net, wanted, timed, title); });
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
