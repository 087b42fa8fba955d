// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_DETAIL_HTML_PAGE_HPP
#define SUBLET_REPORTING_DETAIL_HTML_PAGE_HPP

/// The elements and the style of the page, the same for all plans; html_script.hpp has its program.
///
///     html_head  title  html_style  html_body  title  html_main  data  html_script
///
/// The policy in the head refuses whatever the page does not hold itself. Colours are named once, for light
/// and dark; the script reads those that it draws with.

namespace sublet::detail {

inline constexpr char const* html_head = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'">
<title>)html";

inline constexpr char const* html_style = R"html(</title>
<style>
:root { --page: #fff; --plot: #f3f3ef; --grid: #dededa; --text: #22262b; --soft: #565b63; --line: #c9ccd1;
 --live: #a9b4c4; --arena: #3b4048; --peak: #b3261e; --mark: #0b57d0; --panel: #f7f7f5; --label: #1d2126 }
@media (prefers-color-scheme: dark) {
 :root { --page: #16181c; --plot: #22252b; --grid: #363a42; --text: #e6e8eb; --soft: #a9afb8; --line: #454a53;
  --live: #56616f; --arena: #d5d8dd; --peak: #ff7a70; --mark: #8ab4f8; --panel: #1d2025 }
}
* { box-sizing: border-box }
[hidden] { display: none !important }
body { margin: 0 auto; padding: 14px 18px 0; max-width: 1800px; background: var(--page); color: var(--text);
 font: 13px/1.45 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif }
h1 { margin: 0; font-size: 18px }
h2 { margin: 22px 0 4px; font-size: 15px }
p { margin: 2px 0 }
.soft, .summary { color: var(--soft) }
.summary b { color: var(--text); font-weight: 600 }
.tools { display: flex; flex-wrap: wrap; gap: 6px 8px; align-items: center; margin: 10px 0 6px }
.tools .space { flex: 1 }
button, input { font: inherit; color: var(--text); background: var(--panel); border: 1px solid var(--line);
 border-radius: 5px; padding: 2px 8px; min-height: 26px }
button { cursor: pointer }
button:hover { border-color: var(--soft) }
input { width: 16em; max-width: 60vw; background: var(--page) }
:focus-visible { outline: 2px solid var(--mark); outline-offset: 1px }
kbd { font: inherit; border: 1px solid var(--line); border-radius: 3px; padding: 0 4px; color: var(--text) }
.keys { margin: 0 0 6px; color: var(--soft) }
.kinds { display: flex; flex-wrap: wrap; gap: 2px 12px; align-items: center; margin: 0 0 8px; padding: 0;
 border: 0; max-height: 7.2em; overflow: auto }
.kinds legend { float: left; margin-right: 12px; padding: 0; color: var(--soft) }
.kinds label { display: inline-flex; gap: 4px; align-items: center; white-space: nowrap; cursor: pointer }
.kinds input { width: auto; min-height: 0; margin: 0 }
.kinds i { width: 11px; height: 11px; border-radius: 2px; outline: 1px solid rgb(128 128 128 / .35) }
.kinds button { min-height: 0; padding: 0 7px }
.frame { position: relative }
canvas { display: block; width: 100%; cursor: crosshair; touch-action: pan-y; border-radius: 4px }
canvas.dragged { cursor: grabbing }
.tip { position: absolute; z-index: 2; max-width: 26em; padding: 4px 8px; border: 1px solid var(--line);
 border-radius: 5px; background: var(--page); pointer-events: none; overflow-wrap: anywhere;
 box-shadow: 0 2px 8px rgb(0 0 0 / .25) }
.tip b { display: block }
.details { position: sticky; bottom: 0; z-index: 1; margin: 8px -18px 0; padding: 7px 18px 9px;
 min-height: 92px; background: var(--panel); border: solid var(--line); border-width: 1px 0 }
.details h2 { display: inline; margin: 0; font-size: 14px; overflow-wrap: anywhere }
.details dl { display: flex; flex-wrap: wrap; gap: 2px 22px; margin: 3px 0 2px }
.details dl div { display: flex; gap: 6px }
.details dt { color: var(--soft) }
.details dd { margin: 0; overflow-wrap: anywhere }
.spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.tables { padding-bottom: 30px }
.scroll { overflow-x: auto }
table { border-collapse: collapse; margin: 6px 0 }
caption { text-align: left; white-space: nowrap; color: var(--soft); padding-bottom: 3px }
th, td { text-align: left; padding: 2px 14px 2px 0; border-bottom: 1px solid var(--grid);
 vertical-align: top }
thead th { font-weight: 600; white-space: nowrap }
tbody th { font-weight: 400 }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
tbody button { border: 0; background: none; padding: 0; min-height: 0; color: var(--mark); text-align: left;
 overflow-wrap: anywhere }
tbody button:hover { text-decoration: underline }
@media print { .tools, .keys, .tip { display: none } .details { position: static } }
</style>
</head>
)html";

inline constexpr char const* html_body = R"html(<body>
<header>
<h1>)html";

inline constexpr char const* html_main = R"html(</h1>
<div id="summary" class="summary"></div>
</header>
<noscript><p>This page draws a memory plan, and needs JavaScript for it.</p></noscript>
<main>
<div class="tools" role="search" aria-label="Buffers by name">
<label for="query">Search</label>
<input id="query" type="search" autocomplete="off" spellcheck="false" placeholder="name of a value"
 aria-describedby="hits">
<button type="button" id="previous" aria-label="Previous hit" title="Previous hit (Shift+Enter)"
>&#x2191;</button>
<button type="button" id="next" aria-label="Next hit" title="Next hit (Enter)">&#x2193;</button>
<output id="hits" class="soft" for="query"></output>
<span class="space"></span>
<button type="button" id="closer" aria-label="Zoom in" title="Zoom in (+)">+</button>
<button type="button" id="farther" aria-label="Zoom out" title="Zoom out (-)">&#x2212;</button>
<button type="button" id="whole" title="All positions and bytes (0)">Show all</button>
<button type="button" id="help" aria-expanded="false" aria-controls="keys">Keys</button>
</div>
<p id="keys" class="keys" hidden><kbd>/</kbd> search, <kbd>Enter</kbd> next hit. In the map: <kbd>arrows</kbd>
to the next buffer in time or in memory, <kbd>Shift</kbd>+<kbd>arrows</kbd> move the picture, <kbd>+</kbd>
<kbd>&#x2212;</kbd> zoom, <kbd>Enter</kbd> zoom to the buffer, <kbd>0</kbd> show all, <kbd>o</kbd> the other
plan, <kbd>n</kbd> <kbd>N</kbd> next and previous hit, <kbd>Escape</kbd> no buffer. Wheel: zoom; with
<kbd>Shift</kbd> only bytes, with <kbd>Ctrl</kbd> or in the curve only time. Drag: move.</p>
<fieldset id="kinds" class="kinds" hidden><legend>Kinds, by bytes &#xd7; positions</legend></fieldset>
<div class="frame">
<canvas id="map" tabindex="0" role="application" aria-roledescription="memory map" aria-label="Memory map"
 aria-describedby="keys"></canvas>
<div id="tip" class="tip" hidden></div>
</div>
<section id="details" class="details" aria-label="Buffer"></section>
<p id="spoken" class="spoken" role="status" aria-live="polite"></p>
<div id="tables" class="tables"></div>
</main>
<script type="application/json" id="data">
)html";

} // namespace sublet::detail

#endif
