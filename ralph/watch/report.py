"""A run as one self-contained page of HTML: no script, nothing loaded, what an agent wrote is text and nothing else."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from html import escape

from ralph.analysis.result import Evidence
from ralph.records.projection import changes_text, describe, usage_text
from ralph.records.record import IterationRecord
from ralph.system.text import duration, one_line, printable
from ralph.watch.report_text import Point, Report

_MOST_TEXT = 20_000
_MOST_FILES = 200
_MOST_ROWS = 200
_MOST_EVIDENCE = 30
_BARS = 240
_WIDE, _HIGH = 480, 96

_STYLE = """
:root { color-scheme: light dark; --ground: #fbfaf7; --raised: #fff; --line: #e3e0d8; --text: #24231f; --soft: #66635a;
  --accent: #1f6652; --good: #1f6652; --good-soft: #dcefe6; --bad: #a5342b; --bad-soft: #f9e6e3; --warn-soft: #f8eed3;
  --mono: ui-monospace, "SF Mono", "DejaVu Sans Mono", Consolas, monospace; }
@media (prefers-color-scheme: dark) { :root { --ground: #171a19; --raised: #1e2221; --line: #343a38; --text: #e6e7e2;
  --soft: #a3a89f; --accent: #7fc9ae; --good: #7fc9ae; --good-soft: #23453a; --bad: #f09a8f; --bad-soft: #4a2722;
  --warn-soft: #3b3117; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text);
  font: 16px/1.5 system-ui, "Segoe UI", Roboto, sans-serif; font-variant-numeric: tabular-nums; }
main { max-width: 1080px; margin: 0 auto; padding: 32px 20px 64px; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 8px 0 6px; letter-spacing: -0.015em; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 36px 0 10px; }
.soft { color: var(--soft); font-size: 0.88rem; overflow-wrap: anywhere; }
.badge { display: inline-block; padding: 3px 12px; border-radius: 99px; font-weight: 600; background: var(--bad-soft);
  color: var(--bad); }
.badge.good { background: var(--good-soft); color: var(--good); }
.badge.open { background: var(--warn-soft); color: var(--text); }
dl.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(120px, 1fr)); gap: 12px; margin: 24px 0 0; }
dl.figures div, .plot { background: var(--raised); border: 1px solid var(--line); border-radius: 10px;
  padding: 10px 14px; }
dl.figures dt { color: var(--soft); font-size: 0.8rem; }
dl.figures dd { margin: 0; font-size: 1.1rem; font-weight: 600; }
dl.rows { display: grid; grid-template-columns: 7rem 1fr; gap: 6px 16px; margin: 0; }
dl.rows dt { color: var(--soft); }
dl.rows dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr)); gap: 12px; }
.plot { margin: 0; }
.plot figcaption { display: flex; justify-content: space-between; gap: 8px; font-size: 0.88rem; margin-bottom: 6px; }
.plot svg { display: block; width: 100%; height: 96px; fill: var(--accent); border-bottom: 1px solid var(--line); }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 0.9rem; }
th { text-align: left; color: var(--soft); font-size: 0.8rem; font-weight: 600; }
th, td { padding: 7px 10px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.n, th.n { text-align: right; white-space: nowrap; }
td.w { min-width: 16rem; overflow-wrap: anywhere; }
td.p { font-family: var(--mono); font-size: 0.84rem; overflow-wrap: anywhere; }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; margin: 8px 0;
  font: 0.86rem/1.5 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; }
mark { background: var(--warn-soft); color: inherit; border-radius: 3px; padding: 0 2px; }
mark.for { background: var(--good-soft); }
mark.against { background: var(--bad-soft); }
.add { color: var(--good); } .del { color: var(--bad); }
details { margin: 10px 0; } summary { cursor: pointer; }
ul { padding-left: 1.2rem; } dd ul { list-style: none; padding-left: 0; font-size: 0.9rem; }
li { margin: 3px 0; overflow-wrap: anywhere; }
@media (max-width: 600px) { body { font-size: 15px; } main { padding: 20px 14px 48px; }
  dl.rows { grid-template-columns: 1fr; gap: 0; } dl.rows dd { margin-bottom: 10px; }
  table.all tr { display: flex; flex-wrap: wrap; gap: 2px 14px; padding: 8px 0; border-bottom: 1px solid var(--line); }
  table.all th { display: none; } table.all td { border: 0; padding: 0; } table.all td.w { flex-basis: 100%; } }
@media print { body { background: #fff; } details { display: block; } }
"""


def html_report(report: Report) -> str:
    """Return the report as a page that needs nothing but itself."""
    run = report.run
    sign, outcome = report.headline
    kind = "good" if report.state == "completed" else "open" if report.state in {"running", "paused"} else ""
    allowed = f"'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'"
    policy = f"default-src 'none'; style-src {allowed}; base-uri 'none'; form-action 'none'"
    about = [f"run {run.id}", f"started {run.started_at:%Y-%m-%d %H:%M} UTC", f"in {run.workspace or 'no folder'}"]
    about += [", ".join(run.executors)] if run.executors else []
    about += [report.last.model] if report.last and report.last.model else []
    figures = "".join(f"<div><dt>{_line(label)}</dt><dd>{_line(text)}</dd></div>" for label, text in report.facts)
    body = (
        f'<p><span class="badge {kind}">{sign} {_line(outcome)}</span></p>',
        f"<h1>{_line(run.task, 600)}</h1>",
        f'<p class="soft">{_line(" · ".join(about), 600)}</p>',
        f'<dl class="figures">{figures}</dl>',
        *_section("Why it stopped", _rows(report.reasons)),
        *_section("Iteration by iteration", "".join(_plots(report.points)), "plots"),
        *_section("Iterations", _table(report)),
        *_section("The last reply", _reply(report.last)),
        *_section("From the signals to the decision", _chain(report)),
        *_section("Checks", _checks(report.verified)),
        *_section(f"Changes: {_line(report.changed)}", _files(report)),
        f'<p class="soft">Made by Ralph, {report.made:%Y-%m-%d %H:%M} UTC.</p>',
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{_line(f'{sign} {outcome}: {run.task}', 120)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{chr(10).join(body)}\n</main>\n</body>\n</html>\n"
    )


def _text(text: str, most: int = _MOST_TEXT) -> str:
    """Return untrusted text as the text of an element: without what would hide or turn it."""
    more = f"\n… {len(text) - most:,} more characters" if len(text) > most else ""
    return escape(printable(text[:most], 2 * most) + more)


def _line(text: str, most: int = 200) -> str:
    return escape(one_line(text, most))


def _section(title: str, body: str, kind: str = "") -> Iterator[str]:
    if body:
        yield f'<section>\n<h2>{title}</h2>\n<div class="{kind or "body"}">{body}</div>\n</section>'


def _rows(rows: Sequence[tuple[str, str]]) -> str:
    return f'<dl class="rows">{"".join(f"<dt>{_line(a)}</dt><dd>{_line(b, 700)}</dd>" for a, b in rows)}</dl>' * bool(
        rows
    )


def _plots(points: Sequence[Point]) -> Iterator[str]:
    whole: Callable[[float], str] = "{:,.0f}".format
    dollars: Callable[[float], str] = "${:,.2f}".format
    for name, values, words, top in (
        ("Tokens", [point.tokens for point in points], whole, 0.0),
        ("Cost", [point.cost for point in points], dollars, 0.0),
        ("Time", [point.duration for point in points], duration, 0.0),
        ("Score", [point.score for point in points], "{:.0f} %".format, 100.0),
    ):
        measured = [float(value) for value in values if value is not None]
        if measured:
            yield _plot(name, values, f"most {words(max(measured))}, last {words(measured[-1])}", top)


def _plot(name: str, values: Sequence[float | None], words: str, top: float) -> str:
    size = -(-len(values) // _BARS) or 1
    heights = [max(value or 0.0 for value in values[at : at + size]) for at in range(0, len(values), size)]
    top = top or max(heights) or 1.0
    step = min(_WIDE / len(heights), 40.0)
    drawn = "".join(
        f"M{at * step:.1f} {_HIGH}v-{_HIGH * min(height / top, 1.0):.1f}h{step * 0.8:.1f}V{_HIGH}z"
        for at, height in enumerate(heights)
        if height
    )
    of = f" of {len(values):,} iterations" if len(values) > 1 else ""
    return (
        f'<figure class="plot"><figcaption><b>{name}</b><span class="soft">{words}</span></figcaption>'
        f'<svg viewBox="0 0 {_WIDE} {_HIGH}" preserveAspectRatio="none" role="img" aria-label="{name}{of}: {words}">'
        f'<path d="{drawn}"/></svg></figure>'
    )


def _table(report: Report) -> str:
    shown = [*report.shown][-_MOST_ROWS:]
    if not shown:
        return ""
    left_out = len(report.points) - len(shown)
    before = f'<p class="soft">{left_out:,} earlier iterations are not in this table.</p>' if left_out else ""
    head = '<tr><th class="n">#</th><th>agent</th><th class="n">time</th><th>used</th><th class="n">score</th>'
    head = f'<div class="scroll"><table class="all">{head}<th>changes</th><th>decision</th></tr>'
    rows = "".join(map(_row, shown))
    return f"{before}{head}{rows}</table></div>"


def _row(each: IterationRecord) -> str:
    cells = (
        f'<td class="n">{each.number}</td><td>{_line(each.executor or "none", 60)}</td>',
        f'<td class="n">{duration(each.duration)}</td><td>{_line(usage_text(each.usage))}</td>',
        f'<td class="n">{each.analysis.metrics.completion_score:.0f} %</td><td>{_line(changes_text(each))}</td>',
        f'<td class="w">{_line(describe(each.decision), 400)}</td>',
    )
    return f"<tr>{''.join(cells)}</tr>"


def _reply(last: IterationRecord | None) -> str:
    if last is None or not (last.text or last.partial).strip():
        return ""
    evidence = (*last.analysis.evidence, *last.analysis.stuck.evidence)
    evidence = sorted(evidence, key=lambda piece: -abs(piece.weight))
    told = [*dict.fromkeys((piece.weight, piece.signal, piece.text, piece.why) for piece in evidence)]
    items = "".join(
        f"<li><b>{weight:+g}</b> {_line(signal.replace('_', ' '))}: "
        f"{f'“{_line(text, 80)}” ' if text else ''}{_line(why)}</li>"
        for weight, signal, text, why in told[:_MOST_EVIDENCE]
    )
    body = "".join(_marked(last.text, last.analysis.evidence)) if last.text.strip() else _text(last.partial)
    return f"<pre>{body}</pre><ul>{items}</ul>" if items else f"<pre>{body}</pre>"


def _marked(text: str, evidence: Sequence[Evidence]) -> Iterator[str]:
    """Yield a text with marks on the evidence for completion, against it and for neither; nested one counts once."""
    position, most = 0, min(len(text), _MOST_TEXT)
    for piece in sorted((piece for piece in evidence if piece.end), key=lambda piece: (piece.start, -piece.end)):
        start, end = max(piece.start, position), min(piece.end, most)
        if start >= end:
            continue
        kind = "for" if piece.weight > 0 else "against" if piece.weight < 0 else "told"
        yield _text(text[position:start])
        yield f'<mark class="{kind}" title="{_line(f"{piece.weight:+g} {piece.signal}: {piece.why}")}">'
        yield f"{_text(text[start:end])}</mark>"
        position = end
    yield _text(text[position:], max(most - position, 0))


def _chain(report: Report) -> str:
    rows = "".join(
        f"<dt>{_line(stage.name)}</dt><dd>{_line(stage.conclusion, 400)}"
        + (
            f"<ul>{''.join(f'<li>{mark} {_line(text, 300)}</li>' for mark, text in stage.lines)}</ul>"
            if stage.lines
            else ""
        )
        + "</dd>"
        for stage in report.chain
    )
    return f'<dl class="rows">{rows}</dl>' if rows else ""


def _checks(iteration: IterationRecord | None) -> str:
    if iteration is None or iteration.verification is None:
        return ""
    return "".join(
        f"<details{'' if verdict.passed else ' open'}><summary>{'✓' if verdict.passed else '✗'} "
        f"{_line(verdict.verifier)} {_line(verdict.word)} ({duration(verdict.duration)}), iteration {iteration.number}"
        f"</summary><pre>{_text(verdict.output) or 'no output'}</pre></details>"
        for verdict in iteration.verification.verdicts
    )


def _files(report: Report) -> str:
    if not report.files:
        return f'<p class="soft">{_line(report.unchanged or "Nothing was changed.", 400)}</p>'
    rows = "".join(
        f'<tr><td class="p">{_line(path, 400)}</td>'
        + ('<td class="n" colspan="2">binary</td>' if added is None or removed is None else _lines(added, removed))
        + "</tr>"
        for path, added, removed in report.files[:_MOST_FILES]
    )
    more = len(report.files) - _MOST_FILES
    return f"<table>{rows}</table>{f'<p class=soft>{more:,} more files</p>' if more > 0 else ''}"


def _lines(added: int, removed: int) -> str:
    return f'<td class="n add">+{added:,}</td><td class="n del">−{removed:,}</td>'
