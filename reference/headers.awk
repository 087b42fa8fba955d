# SPDX-License-Identifier: BSL-1.0
# Prints what Doxygen reads of a public header; or, with -v essays=1, of several, the text of their pages:
#     awk -v includes=include -f headers.awk include/sublet/core/plan.hpp
#
#   labels of comments           Requires: Ensures: Complexity: Throws: Source: ... become sections
#   indented pictures            become blocks of text or, if they are C++, of code
#   an essay                     is text of the header's page; before a declaration without a comment, the declaration's
#   namespace detail             is left out, and so are private members, bodies, and what only refuses a call
#   a base in namespace detail   its public members stand in the class
#
# A declaration keeps its line, or one of the next, so that warnings name it.

function indent_of(text) { match(text, /^ */); return RLENGTH }
function strip(text) { sub(/^ +/, "", text); sub(/ +$/, "", text); return text }

# --- text -----------------------------------------------------------------------------------------------

# Nothing in prose is a command, a tag or a link of Doxygen's; what is between backticks stays as it is.
function plain(text,    result, part, parts, n)
{
    n = split(text, parts, "`")
    result = ""
    for (part = 1; part <= n; ++part) {
        if (part > 1) {
            result = result "`"
            in_ticks = !in_ticks
        }
        if (!in_ticks) result = result linked(escaped(parts[part]))
        else result = result parts[part]
    }
    return result
}
function escaped(text)
{
    gsub(/\\/, "&&", text)
    gsub(/[<>@#%&]/, "\\\\&", text)
    return text
}
# Names of public headers lead to their pages.
function linked(text,    result, name)
{
    result = ""
    while (match(text, /[a-z_]+(\/[a-z_]+)*[.]hpp/)) {
        name = substr(text, RSTART, RLENGTH)
        result = result substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + RLENGTH)
        if (name ~ /(^|\/)(detail|internal|impl|src|boost)/ || !is_header(name) || found_header ~ /^(sublet|execution)[.]hpp$/)
            result = result name
        else result = result "@ref " page_of(found_header) " \"" name "\""
    }
    return result text
}
function is_header(name,    line, status)
{
    found_header = name
    sub(/^sublet\//, "", found_header)
    if (!(found_header in known)) {
        status = (getline line <(includes "/sublet/" found_header))
        known[found_header] = status > 0
        if (status > 0) close(includes "/sublet/" found_header)
    }
    if (known[found_header]) return 1
    found_header = folder found_header
    if (!(found_header in known)) {
        status = (getline line <(includes "/sublet/" found_header))
        known[found_header] = status > 0
        if (status > 0) close(includes "/sublet/" found_header)
    }
    return known[found_header]
}
function page_of(header)
{
    sub(/[.]hpp$/, "", header)
    gsub(/\//, "_", header)
    return "header_" header
}

# As in test/samples.cmake, which compiles them: a line ends in a semicolon.
function is_code(from, to,    i)
{
    for (i = from; i <= to && text_of[i] !~ /^ *$/; ++i)
        if (text_of[i] ~ /; *(\/\/.*)?$/) return 1
    return 0
}

# Converts lines of a comment, text_of[1 .. n], to those of a comment for Doxygen, each behind `start`.
function convert(n, start,    i, last, line, label, rest, column, in_label)
{
    in_ticks = 0
    in_label = 0
    for (i = 1; i <= n; ++i) {
        line = text_of[i]
        if (line ~ /^ *$/) {
            # A picture begins behind a line without text: its begin stands on that line.
            if (i < n && text_of[i + 1] ~ /^     / && !is_wrapped) {
                for (last = i + 1; last < n && text_of[last + 1] ~ /^(     | *$)/; ++last) {}
                while (text_of[last] ~ /^ *$/) --last
                picture(i + 1, last, start, 1)
                i = last
            } else
                say(start)
            in_label = 0
            continue
        }
        if (i == 1 && line ~ /^     /) {
            for (last = i; last < n && text_of[last + 1] ~ /^(     | *$)/; ++last) {}
            while (text_of[last] ~ /^ *$/) --last
            picture(i, last, start, 0)
            i = last
            continue
        }
        if (match(line, /^ (Requires|Ensures|Complexity|Throws|Sources?|Semantics|Minimal model|Ordinary models?|Not a model): /)) {
            label = strip(substr(line, 1, RLENGTH))
            rest = strip(substr(line, RLENGTH + 1))
            sub(/:$/, "", label)
            in_ticks = 0
            in_label = 1
            # Several models stand on one line.
            column = match(rest, /[.]   +(Minimal|Ordinary) models?: /)
            say_label(start, label, plain(column ? substr(rest, 1, column) : rest))
            if (column) {
                rest = strip(substr(rest, column + 1))
                label = rest
                sub(/:.*/, "", label)
                say_label(start, label, plain(strip(substr(rest, length(label) + 2))))
            }
            continue
        }
        rest = plain(in_label ? strip(line) : line)
        sub(/^ *- /, "\\\\&", rest)
        if (rest ~ /^ *[0-9]+[.] /) sub(/[.]/, "\\\\.", rest)
        if (rest ~ /^\\/) rest = " " rest
        say(start (in_label ? " " : "") rest)
    }
}
function say_label(start, label, text)
{
    if (label == "Requires") say(start " @pre " text)
    else if (label == "Ensures") say(start " @post " text)
    else {
        say(start " @par " label)
        say(start " " text)
    }
}
function picture(from, to, start, behind_blank,    i, kind)
{
    kind = is_code(from, to) ? "cpp" : "unparsed" # not as verbatim: Doxygen 1.9.4 takes one of these in a comment
    if (behind_blank) say(start)
    say(start " @code{." kind "}")
    for (i = from; i <= to; ++i) {
        if (text_of[i] ~ /^ *$/ && is_code(i + 1, to) != (kind == "cpp")) {
            say(start " @endcode")
            picture(i + 1, to, start, 1)
            return
        }
        say(start substr(text_of[i], 5))
    }
    say(start " @endcode")
}
function say(text)
{
    # Newer versions of Doxygen would join these comments.
    if (last_said ~ /\/\/\/</ && text ~ /^ *\/\/\/($|[^<])/) say("")
    last_said = text
    if (is_essay == essays && (is_essay || header !~ /^adapt\//)) print text
    printed += 1 + gsub(/\n/, "", text)
}

# --- comments ---------------------------------------------------------------------------------------------

function read_comment(from,    i)
{
    comment_lines = 0
    for (i = from; lines[i] ~ /^ *\/\/\/($|[^<\/])/; ++i) {
        text_of[++comment_lines] = lines[i]
        sub(/^ *\/\/\//, "", text_of[comment_lines])
    }
    return i
}
function say_comment(indent) { convert(comment_lines, sprintf("%*s///", indent, "")) }
function say_essay(title,    before)
{
    before = printed
    is_essay = 1
    say("/// @addtogroup " page)
    if (title != "") {
        say("/// <h2>" toupper(substr(title, 1, 1)) substr(title, 2) "</h2>")
        say("///")
    }
    convert(comment_lines, "///")
    say("")
    is_essay = 0
    printed = before
}

# --- code ---------------------------------------------------------------------------------------------------

# A line without its comment; strings and characters are blanked.
function code_of(text)
{
    gsub(/\\["'\\]/, "", text)
    gsub(/"[^"]*"/, "\"\"", text)
    gsub(/'[^' ]'/, "0", text)
    sub(/\/\/.*/, "", text)
    sub(/ +$/, "", text)
    return text
}
function balance(text,    open, close_)
{
    open = gsub(/[({[]/, "&", text)
    close_ = gsub(/[)}\]]/, "&", text)
    return open - close_
}

# Finds the end of the statement that begins at `from`: sets header_end and stmt_end, and kind, which is "open" for
# a class, "enum", "body" for a function with a body of several lines, and "plain" for all else.
function find_statement(from,    i, text, depth, indent, head, class)
{
    indent = indent_of(lines[from])
    depth = 0
    head = ""
    for (i = from; i <= count; ++i) {
        text = code_of(lines[i])
        if (depth == 0 && i != from && text ~ /^ *[{]$/ && indent_of(text) == indent) {
            header_end = i - 1
            while (!(lines[i] ~ /^ *[}]/ && indent_of(lines[i]) == indent)) ++i
            stmt_end = i
            kind = "body"
            return
        }
        head = head " " text
        class = head
        sub(/^ *template <.*> +(class|struct|union) /, "class ", class)
        if (depth == 0 && class ~ /^ *(class|struct|union) [a-z_]+[^()=]*[{]$/) {
            header_end = stmt_end = i
            kind = "open"
            return
        }
        if (depth == 0 && text ~ /[{]$/ && head ~ /^ *enum /) {
            header_end = i
            while (lines[i] !~ /^ *};/) ++i
            stmt_end = i
            kind = "enum"
            return
        }
        depth += balance(text)
        if (depth == 0 && !(lines[i + 1] ~ /^ *[{]$/ && indent_of(lines[i + 1]) == indent) &&
            (text ~ /;$/ || text ~ /[)tse&}] *[{].*[}]$/ || text ~ /^ *[{].*[}]$/)) {
            header_end = stmt_end = i
            kind = "plain"
            return
        }
    }
    print file ":" from ": headers.awk finds no end of this" >"/dev/stderr"
    exit_status = 1
    header_end = stmt_end = count
    kind = "plain"
}

function public_code(text,    comment, at)
{
    comment = ""
    if (at = match(text, /\/\/\/< /)) {
        in_ticks = 0
        comment = "///< " plain(substr(text, at + 5))
        text = substr(text, 1, at - 1)
    } else if (match(text, /^ *\/\/\/ /)) {
        in_ticks = 0
        at = RLENGTH
        return substr(text, 1, at) plain(substr(text, at + 1))
    } else if (match(text, / *\/\/ /))
        text = substr(text, 1, RSTART - 1)
    gsub(/(sublet::)?detail::/, "", text)
    if (comment != "" && match(text, /^ *[a-z]+ [a-z_]+ = [^,(){};]+, /)) { # two fields
        at = text
        sub(/[a-z_]+ = .*/, "", at)
        text = substr(text, 1, RLENGTH - 2) "; " comment "\n" at substr(text, RLENGTH + 1)
    }
    return text comment
}

# A concept on one line, or a line for each requirement: clang-format knows no better.
function concept(from, to,    i, text)
{
    text = ""
    for (i = from; i <= to; ++i) {
        if (lines[i] ~ /^ *template/) {
            say(public_code(lines[i]))
            continue
        }
        text = text (text == "" ? "" : " ") strip(public_code(lines[i]))
    }
    gsub(/  +/, " ", text)
    gsub(/! /, "!", text)
    gsub(/>&& /, "> \\&\\& ", text)
    say(text)
}

# --- the header ---------------------------------------------------------------------------------------------

function statement(from, has_comment,    i, text, brace)
{
    find_statement(from)
    text = ""
    for (i = from; i <= header_end; ++i) text = text " " strip(code_of(lines[i]))
    text = strip(text)
    if (kind == "open") {
        if (text ~ /^template <> /) return skip_class(from)
        open_class(from, text)
        return stmt_end + 1
    }
    if (text ~ /^(static_assert|extern|using [a-z_:]*base::|friend (class|struct) |template <[^>]*> friend (class|struct) |friend [a-z_:]+;)/ ||
        text ~ /^template <> / || text ~ /^(template <[^;]*> )?(class|struct) [a-z_]+;$/ || text ~ /^(template <[^(]*> )?[a-z_]+\(.*\) -> / ||
        (!has_comment && is_mechanical(text)))
        return stmt_end + 1
    if (!has_comment && scope_name[scopes] ~ /_device$/ && text ~ as_a_device && text !~ /\/\/\/</)
        say(sprintf("%*s/// As stream_device requires it.", indent_of(lines[from]), ""))
    if (text ~ /concept [a-z_]+ = /) {
        concept(from, header_end)
        return stmt_end + 1
    }
    for (i = from; i <= header_end; ++i) {
        brace = public_code(lines[i])
        if (kind == "body" && brace ~ /^ +: / && brace !~ /[?]/) break # the initializers of a constructor
        say(brace)
    }
    if (kind == "body") say("{}")
    if (kind == "enum")
        for (i = header_end + 1; i <= stmt_end; ++i) say(public_code(lines[i]))
    return stmt_end + 1
}
# What every copy, iterator or exception has needs no comment.
function is_mechanical(text)
{
    return text ~ /^~|= (delete|default);$/ || text ~ /what\(\) const noexcept override/ || text ~ /operator(\+\+|\*|==)\(/ ||
        text ~ /^using (difference_type|value_type|iterator_category|reference|pointer) = / || text ~ /operator=\(/ ||
        text ~ ("^" scope_name[scopes] "\\(" scope_name[scopes] " const& ")
}
function skip_class(from,    i)
{
    i = from
    if (lines[i] !~ /[{][}];$/)
        while (!(lines[i] ~ /^ *[}];/ && indent_of(lines[i]) == indent_of(lines[from]))) ++i
    return i + 1
}
function open_class(from, text,    i)
{
    for (i = from; i <= header_end; ++i) {
        text = public_code(lines[i])
        if (lines[i] ~ base_in_detail) sub(/ : .*/, " {", text)
        say(text)
    }
    ++scopes
    scope_indent[scopes] = indent_of(lines[from])
    is_public[scopes] = text !~ /^ *(template .*)?class /
    match(text, /(class|struct|union) [a-z_]+/)
    scope_name[scopes] = substr(text, RSTART, RLENGTH)
    sub(/.* /, "", scope_name[scopes])
}
# Inserts the public members of a base in namespace detail, from this header or another, behind `public:`.
function insert_base(at, base,    command, path, line, status, is_base, is_listed, n, inserted, i)
{
    command = "grep -rlE '^(class|struct) " base "( |$)' '" includes "/sublet'"
    command | getline path
    close(command)
    while ((status = (getline line <path)) > 0) {
        if (line ~ "^(class|struct) " base " [{]") {
            is_base = 1
            is_listed = line ~ /^struct/
        } else if (is_base && line ~ /^(public|private|protected):/)
            is_listed = line ~ /^public/
        else if (is_base && line ~ /^};/)
            break
        else if (is_base && is_listed && line !~ /^ *using /)
            inserted[++n] = line
    }
    close(path)
    inserted[++n] = ""
    if (lines[at + 1] ~ /^public:/) ++at
    for (i = count; i > at; --i) lines[i + n] = lines[i]
    for (i = 1; i <= n; ++i) lines[at + i] = inserted[i]
    count += n
}

function process(    i, next_, j, blank, title, is_free, indent)
{
    title = ""
    for (i = 1; i <= count;) {
        while (printed < i - 1) say("")
        if (lines[i] ~ /^ *\/\/\/($|[^<\/])/) {
            next_ = read_comment(i)
            indent = indent_of(lines[i])
            if (scopes == 0 || lines[next_] == "") {
                for (j = next_; j <= count && (lines[j] == "" || lines[j] ~ /^namespace sublet(::cuda)? [{]$/); ++j) {}
                if (lines[j] ~ /^namespace sublet::detail/) {
                    i = next_
                    continue
                }
                is_free = lines[j] !~ /^(class|struct|enum|template|\[\[)/ || lines[j] ~ /\/\/\/</
                if (is_free) {
                    say_essay(title)
                    title = ""
                    i = next_
                    continue
                }
                for (blank = next_; blank < j; ++blank)
                    if (lines[blank] != "") enter_namespace(lines[blank])
                next_ = j
            }
            if (is_hidden()) {
                i = next_
                continue
            }
            if (lines[next_] ~ /^ *(public|private|protected):/ || lines[next_] ~ /^ *}/) {
                i = next_
                continue
            }
            say_comment(indent)
            i = statement(next_, 1)
            continue
        }
        if (lines[i] ~ /^\/\/ --- .* ---/) {
            title = lines[i]
            gsub(/^\/\/ -+ | -+$/, "", title)
        }
        if (lines[i] ~ /^ *(\/\/|$)/) {
            ++i
            continue
        }
        if (lines[i] ~ /^#/) {
            while (lines[i] ~ /\\$/) ++i
            ++i
            continue
        }
        if (lines[i] ~ /^namespace ([a-z_]+::)*detail [{]/) {
            while (lines[i] !~ /^[}] \/\/ namespace .*detail/) ++i
            ++i
            continue
        }
        if (lines[i] ~ /^namespace sublet(::cuda)? [{]/) {
            enter_namespace(lines[i])
            ++i
            continue
        }
        if (lines[i] ~ /^namespace /) { # of another library
            while (lines[i] !~ /^[}] \/\/ namespace/) ++i
            ++i
            continue
        }
        if (lines[i] ~ /^[}] \/\/ namespace/) {
            say("/** @} */ }")
            --scopes
            ++i
            continue
        }
        if (lines[i] ~ /^ *(public|private|protected):$/) {
            is_public[scopes] = lines[i] ~ /public/
            if (is_public[scopes]) say(lines[i])
            ++i
            continue
        }
        if (lines[i] ~ /^ *};$/ && indent_of(lines[i]) == scope_indent[scopes]) {
            say(lines[i])
            --scopes
            ++i
            continue
        }
        if (is_hidden()) {
            find_statement(i)
            if (kind == "open") i = skip_class(i)
            else i = stmt_end + 1
            continue
        }
        i = statement(i, 0)
    }
}
function is_hidden() { return scopes > 1 && !is_public[scopes] }
function enter_namespace(line)
{
    ++scopes
    scope_indent[scopes] = -1
    is_public[scopes] = 1
    scope_name[scopes] = ""
    say(line " /** @addtogroup " page)
    say("@{ */")
}

function finish(    i, base)
{
    header = file
    sub(/.*\/include\/sublet\//, "", header)
    sub(/^include\/sublet\//, "", header)
    folder = header
    sub(/[^\/]*$/, "", folder)
    page = page_of(header)
    scopes = printed = 0
    for (i = count; i > 0; --i)
        if (match(lines[i], base_in_detail)) {
            base = substr(lines[i], 1, RLENGTH)
            sub(/.*::/, "", base)
            insert_base(i, base)
        }
    lines[count + 1] = ""
    process()
}

BEGIN {
    essays += 0
    as_a_device = "(make_stream|make_event|destroy_stream|destroy_event|record|wait|allocate|deallocate|fill|copy_to_device|" \
        "copy_from_device|synchronize|is_lost|digest|begin_capture|end_capture|abandon_capture|launch)\\(|using (stream|event)_type = "
    is_essay = 0
    base_in_detail = "^(class|struct) [a-z_]+ : (public )?(sublet::)?detail::[a-z_]+"
}
FNR == 1 {
    if (NR > 1) finish()
    file = FILENAME
}
{ lines[count = FNR] = $0 }
END {
    finish()
    exit exit_status
}
