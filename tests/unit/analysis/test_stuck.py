"""Loops that go in circles, and errors made comparable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.analysis import AnalysisContext, Past, ResponseAnalyzer, Stuck, analyze_text, detect_stuck_loop
from ralph.analysis.metrics import error_signature, failure_signature
from ralph.cli.reply import Question, judge
from ralph.errors import UsageError
from ralph.pipeline.evaluate import Rules
from ralph.status import StatusMissing
from ralph.types.output import Failed, Output, ToolCall
from ralph.verifiers import command

ERROR = "TypeError: x at /w/{0}.py:{0}"
LONG = "The server answers with the page, the page shows a list of names, and every name leads to a form. " * 4


# covers: S1-43, S1-44, S1-45, S1-46, S1-47, S1-48
def test_the_same_error_three_times() -> None:
    found = detect_stuck_loop([ERROR.format(number) for number in range(3)])
    assert found.detected
    assert found.repeated_patterns == ("typeerror: x at path",)
    assert found.error_frequency == {"typeerror: x at path": 3}
    assert found.confidence == 100


@pytest.mark.parametrize(
    "history", [[], ["a: b"] * 2, ["one", "two", "three", "four"], ["same", *"abcd", "same", "same"]]
)
def test_errors_that_do_not_repeat_enough(history: list[str]) -> None:
    found = detect_stuck_loop(history)
    assert not found.detected
    assert found.repeated_patterns == ()


def _loop(texts: list[str], progressed: bool | None = None, errors: tuple[str, ...] = ()) -> Stuck:
    past = tuple(Past(text=text, progressed=progressed, error_signatures=errors) for text in texts[:-1])
    context = AnalysisContext(past=past, progressed=progressed, errors=errors)
    return ResponseAnalyzer().analyze(Output(text=texts[-1]), StatusMissing(), context).stuck


def test_three_equal_outputs_are_stuck_unless_the_workspace_moves() -> None:
    assert _loop(["Working on it."] * 3).repeated_patterns == ("repeated output",)
    assert not _loop(["Working on it."] * 2).detected
    assert not _loop(["Working on it."] * 3, progressed=True).detected


def test_progress_between_equal_replies_ends_their_repetition() -> None:
    assert _after_progress(still=4) == ("repeated output",)
    assert _after_progress(still=2) == ()


def _after_progress(still: int) -> tuple[str, ...]:
    """What repeats after an iteration that progressed and some that did not, all with the same words."""
    past = tuple(Past(text="Working on it.", progressed=moved) for moved in (True, *[None] * (still - 1)))
    context = AnalysisContext(past=past)
    return ResponseAnalyzer().analyze(Output(text="Working on it."), StatusMissing(), context).stuck.repeated_patterns


def test_who_reports_work_and_asks_at_its_end_does_not_wait() -> None:
    asks = "Shall I go on with the next one? Or which part should come first?"
    parts = ("the lexer", "the parser", "the printer")
    assert not _told(*(f"I implemented {part} and fixed its tests. {asks}" for part in parts)).detected
    assert _told(*(f"I could begin with {part}. {asks}" for part in parts)).repeated_patterns == (
        "waiting for a person",
    )


def _working(allowed: int, denied: int, progressed: bool | None) -> Stuck:
    """Three turns with as many tool calls, that ask at their end."""
    output, asks = Output(tool_calls=ToolCall.unnamed(allowed, denied)), "Which of the two orders do you want?"
    texts = [f"The tables of the {part} are next to it. {asks}" for part in ("lexer", "parser", "printer")]
    past = tuple(
        Past(text=text, state="question", denied=denied > 0, busy=output.busy, progressed=progressed)
        for text in texts[:2]
    )
    last = output.model_copy(update={"text": texts[2]})
    return ResponseAnalyzer().analyze(last, StatusMissing(), AnalysisContext(past=past, progressed=progressed)).stuck


def test_who_used_many_tools_with_an_effect_that_nobody_knows_has_not_waited() -> None:
    assert not _working(16, 4, None).detected
    assert _working(9, 0, None).repeated_patterns == ("waiting for a person",)
    assert _working(5, 15, None).repeated_patterns == ("waiting for a person", "permission denied")
    assert "waiting for a person" in _working(16, 4, False).repeated_patterns


def _told(*texts: str) -> Stuck:
    return analyze_text(texts[-1], previous=texts[:-1]).stuck


def test_near_identical_outputs_are_stuck() -> None:
    assert _loop([f"Pass {number}. {LONG}" for number in range(3)]).detected
    assert not _loop(["read_file(a)", "read_file(b)", "read_file(c)"]).detected


@pytest.mark.parametrize(
    ("window", "repeats", "no_progress", "named"),
    [(0, 3, 3, "window=0"), (5, 0, 3, "repeats=0"), (5, 3, -1, "no_progress=-1")],
)
def test_repetition_is_sought_in_one_iteration_at_least(
    window: int, repeats: int, no_progress: int, named: str
) -> None:
    with pytest.raises(UsageError, match=rf"{named} is not valid"):
        ResponseAnalyzer(window=window, repeats=repeats, no_progress=no_progress)


def test_one_iteration_is_enough_to_seek_in() -> None:
    analyzer = ResponseAnalyzer(window=1, repeats=1, no_progress=1)
    context = AnalysisContext(progressed=False)
    assert analyzer.analyze(Output(text="Hello."), StatusMissing(), context).stuck.detected


@pytest.mark.parametrize("errors", [(), ("a: b",)])
def test_what_a_caller_counts_into_a_result_is_in_no_other_one(errors: tuple[str, ...]) -> None:
    _loop(["Wrote it."], errors=errors).error_frequency["mine"] = 7
    _loop(["Wrote it.", "And the other one."]).error_frequency["mine"] = 7

    assert "mine" not in _loop(["Wrote it."], errors=errors).error_frequency
    assert "mine" not in _loop(["Wrote it.", "And the other one."]).error_frequency


def test_no_progress_three_times_is_stuck() -> None:
    found = _loop(["One thing.", "Another one.", "A third."], progressed=False)
    assert found.repeated_patterns == ("no progress",)
    assert found.confidence == 100


def test_errors_alone_do_not_stop_a_loop_whose_replies_differ() -> None:
    found = _loop(["One thing.", "Another one.", "A third."], errors=("same error",))
    assert not found.detected
    assert found.repeated_patterns == ("same error",)
    assert found.error_frequency == {"same error": 3}


# covers: S1-60, S1-61
def test_a_test_only_loop_is_stuck() -> None:
    replies = [f"Tests: {number} passed, 9 total" for number in (7, 8, 9)]
    analysis = analyze_text(replies[-1], previous=replies[:-1])
    assert (analysis.stuck.detected, analysis.stuck.repeated_patterns) == (True, ("test-only loop",))
    assert analysis.stuck.evidence[0].why == "3 iterations in a row only ran tests"
    assert (analysis.completion.detected, analysis.completion.test_only) == (False, True)
    told = judge(Question(text=replies[-1], previous=tuple(replies[:-1])), Rules()).as_json()
    assert (told["should_exit"], told["exit_reason"]) == (True, "test_saturation")


def test_an_error_history_from_outside_counts() -> None:
    assert analyze_text("", errors=[ERROR.format(number) for number in range(3)]).stuck.detected


def test_a_failure_is_a_signature_and_a_state() -> None:
    def of(failed: Failed):
        return ResponseAnalyzer().analyze(Output(outcome=failed), StatusMissing(), AnalysisContext())

    assert of(Failed(failure="unavailable", status=503)).error_signatures == ("failed:unavailable:503",)
    assert of(Failed(failure="unavailable")).state == "error"
    assert of(Failed(failure="rate_limited")).state == "limited"


def test_rate_limited_iterations_are_no_circle() -> None:
    limited = Output(outcome=Failed(failure="rate_limited"))
    past = tuple(Past(state="limited", progressed=False) for _ in range(4))
    analyzer, context = ResponseAnalyzer(), AnalysisContext(past=past, progressed=False)
    assert not analyzer.analyze(limited, StatusMissing(), context).stuck.detected
    assert not analyzer.analyze(Output(text="On it."), StatusMissing(), context).stuck.detected


def _replies(*texts: str) -> Stuck:
    return analyze_text(texts[-1], previous=texts[:-1]).stuck


def _block(**fields: object) -> str:
    lines = "\n".join(f"{name}: {value}" for name, value in fields.items())
    return f"---RALPH_STATUS---\n{lines}\n---END_RALPH_STATUS---"


def test_one_other_reply_among_equal_ones_breaks_no_circle() -> None:
    same, other = "Everything is finished. 7/7.", "Everything is finished. 7/7. Nothing is left, so end the loop."
    assert _replies(same, other, same, same).repeated_patterns[0] == "repeated output"
    assert not _replies(same, other, "A third thing.", same).detected
    assert not _replies(same, same, same, "Now the parser reads quoted names.").detected


def test_what_repeats_is_shown() -> None:
    said = "The plan is finished. " * 20
    first, *_ = _replies(said, said, said).evidence
    assert first.why == "the same output 3 times"
    assert first.text.startswith("The plan is finished. The plan")
    assert len(first.text) < 200
    nearly = [f"Pass {number}. {LONG}" for number in range(3)]
    assert _replies(*nearly).evidence[0].why == "nearly the same output 3 times"


# The circles of two and more: two rounds of A, B are one; a longer one is often work until its third round.
@pytest.mark.parametrize(
    ("outputs", "circle"),
    [
        ("abab", True),
        ("xxabab", True),
        ("abcabcabc", True),
        ("abcdeabcdeabcde", True),
        ("abcabc", False),
        ("aba", False),
        ("abac", False),
        ("abcbdb", False),
        ("abcdefabcdefabcdef", False),
    ],
)
def test_outputs_in_turns(outputs: str, circle: bool) -> None:
    found = _replies(*(f"Looked at {letter}." for letter in outputs))
    assert ("outputs in turns" in found.repeated_patterns) == found.detected == circle


def test_outputs_in_turns_are_work_where_the_workspace_moves() -> None:
    assert not _loop(["Edited it.", "Ran it."] * 3, progressed=True).detected


DONE = (
    "All three stories are complete. They were finished in a previous session, and I checked that the suite passes.",
    "The task is already complete. Every file is in place and all tests are passing.",
    "Nothing left to do: everything is complete, and the build passes.",
    "As before, the work is already complete and all tests are passing. Please end the loop.",
)


def test_done_already_again_and_again_is_stuck() -> None:
    assert _replies(*DONE[:3]).repeated_patterns == ("already done",)
    assert _replies(*DONE[:2], "Let me look at the log first.", DONE[3]).repeated_patterns == ("already done",)
    assert not _replies(*DONE[:2]).detected
    assert not _loop(list(DONE), progressed=True).detected


def test_a_story_done_in_each_iteration_is_work() -> None:
    stories = [f"Story {number} is complete: {what}. All tests are passing." for number, what in enumerate("abcd")]
    assert not _replies(*stories).detected


@pytest.mark.parametrize(("files", "circle"), [(0, True), (2, False)])
def test_counters_of_the_status_block_count_where_nothing_else_is_known(files: int, circle: bool) -> None:
    told = ("The parser reads names.", "Strings have their quotes.", "Comments are skipped, so the file is whole.")
    block = _block(STATUS="COMPLETE", FILES_MODIFIED=files, TASKS_COMPLETED_THIS_LOOP=files, EXIT_SIGNAL="true")
    found = _replies(*(f"{one} All is complete.\n\n{block}" for one in told))
    assert found.detected is circle
    assert found.repeated_patterns == (("already done", "no progress") if circle else ())


def test_reports_of_one_form_that_count_changes_are_work() -> None:
    block = _block(STATUS="IN_PROGRESS", FILES_MODIFIED=2, EXIT_SIGNAL="false")
    assert not _replies(*(f"Part {number}. {LONG}\n\n{block}" for number in range(5))).detected


def test_the_very_same_reply_is_a_circle_whatever_it_counts() -> None:
    assert _replies(*[f"Fixed it.\n\n{_block(FILES_MODIFIED=3, EXIT_SIGNAL='false')}"] * 3).detected


def test_waiting_for_a_person_in_other_words_each_time_is_stuck() -> None:
    asked = (
        "I cannot proceed without write access to the settings folder.",
        "Still no access: I'm blocked until somebody grants write permission.",
        "Which of the two folders should I use?",
    )
    assert _replies(*asked).repeated_patterns == ("waiting for a person",)
    assert not _replies(*asked[1:]).detected


# Replies that say in other words each time that nothing was moved; by the circle that they make.
@pytest.mark.parametrize(
    ("circle", "replies"),
    [
        (
            "nothing changed",
            (
                "Compared the two designs; no files were changed.",
                "Again I made no edits.",
                "I left all as it is: 0 changes.",
            ),
        ),
        ("nothing changed", ("本輪未更動任何檔案。", "沒有任何變更。", "这一轮没有修改代码。")),
        ("nothing changed", ("Sin cambios en esta vuelta.", "No se han hecho cambios.", "Ningún archivo modificado.")),
        (
            "watching",
            ("The import is still running.", "It's still in progress.", "Still processing; nothing I can add."),
        ),
        ("watching", ("索引仍在运行。", "它还在进行，暂无结果。", "索引正在后台重建。")),
        (
            "watching",
            ("La copia sigue en ejecución.", "Sigue ejecutándose.", "La copia sigue en curso, en segundo plano."),
        ),
        ("the same tests", ("All 31 tests pass.", "Ran the tests: 31 passed, 0 failed.", "31 tests passed again.")),
        (
            "only errors",
            ("API Error: Connection error.", "API Error: 500 Internal server error", "Error: socket hang up"),
        ),
    ],
)
def test_replies_that_move_nothing_are_a_circle_in_whatever_words(circle: str, replies: tuple[str, ...]) -> None:
    assert circle in _replies(*replies).repeated_patterns
    assert not _replies(*replies[:2]).detected
    assert not _loop(list(replies), progressed=True).detected


def test_standing_still_in_several_ways_is_one_circle() -> None:
    found = _replies("Nothing was changed.", "I cannot proceed without write access.", "I'm blocked: no write access.")
    assert found.repeated_patterns == ("waiting for a person",)
    assert found.evidence[0].why == "2 iterations wait for a person and 1 more moved nothing"


# None of these stands still, whatever words they have in common.
@pytest.mark.parametrize(
    "replies",
    [
        [f"Added the {part}. No changes to the public interface." for part in ("lexer", "parser", "printer")],
        [f"{part} work; 45 tests pass." for part in ("Pages", "Filters", "Exports")],
        [f"All {number} tests pass." for number in (45, 52, 60)],
        [f"{part} are made in the background now." for part in ("Thumbnails", "Mails", "Reports")],
        [f"Chapter {number} is proofread." for number in (3, 4, 5, 6)],
        [
            "API Error: Connection error.",
            "Added the export; 4 tests.",
            "API Error: 500",
            "API Error: Connection error.",
        ],
    ],
)
def test_replies_that_tell_of_other_work_each_time_are_no_circle(replies: list[str]) -> None:
    assert not _replies(*replies).detected


def test_how_many_iterations_without_progress_are_a_circle_can_be_raised() -> None:
    told = ("One thing.", "Another one.", "A third.", "Now a fourth.", "This is the fifth.")
    analyzer = ResponseAnalyzer(no_progress=5)
    for count in (4, 5):
        past = tuple(Past(text=text, progressed=False) for text in told[: count - 1])
        context = AnalysisContext(past=past, progressed=False)
        found = analyzer.analyze(Output(text=told[count - 1]), StatusMissing(), context).stuck
        assert found.repeated_patterns == (("no progress",) if count == 5 else ())


def test_a_limit_met_again_and_again_is_told() -> None:
    limited = "You've hit your usage limit. Try again later."
    assert "at a limit" in _replies(limited, limited, limited).repeated_patterns
    assert not _replies("On it.", limited, limited, "On it.").detected


def test_passes_whose_tools_were_all_denied_are_stuck() -> None:
    past = tuple(Past(text=f"Tried {name}.", denied=True) for name in ("an edit", "a shell"))
    denied = Output(text="Tried a copy.", tool_calls=(ToolCall(id="1", name="cp", denied=True),))
    found = ResponseAnalyzer().analyze(denied, StatusMissing(), AnalysisContext(past=past)).stuck
    assert found.repeated_patterns == ("permission denied",)
    moved = ResponseAnalyzer().analyze(denied, StatusMissing(), AnalysisContext(past=past, progressed=True)).stuck
    assert not moved.detected


def test_an_error_whose_place_moves_is_another_error() -> None:
    trace = "$ ruby check.rb\ncheck.rb:{0}: unexpected end of input\n  rows = [1, 2\n         ^"
    assert not _replies(*(trace.format(line) for line in (10, 20, 30, 40))).detected


@pytest.mark.parametrize(
    ("text", "circle"),
    [
        ("The config looks right to me, so I am closing the ticket. " * 12, True),
        ("Looking... Found. " * 30, True),
        ("設定看起來沒有問題，因此我要關閉這張工單。" * 20, True),
        ("Let me look again. " * 5, False),
        ("\n".join(f"- projects/sample/regions/north-1/services/{number}" for number in range(40)), False),
        ("\n".join(f"12:00:{second:02} worker took a job from the queue in 3 ms" for second in range(60)), False),
        ("| name | value |\n| --- | --- |\n" + "| | |\n" * 100, False),
        ("-" * 5000, False),
        ("The rows:\n" + "| the same name | the same value |\n" * 60, False),
        ("The file:\n```\n" + "print the next value of the row and go on with it\n" * 60 + "```\n", False),
        ("```\nx = 1\n```\n" + "I have read the file, so let me read the file again. " * 20, True),
        ("== " * 2000, False),
        (LONG[:99] + "Then another thing entirely is done, and one more after that, with other words. " * 2, False),
    ],
)
def test_a_reply_that_says_one_thing_over_and_over(text: str, circle: bool) -> None:
    assert analyze_text(text).stuck.detected is circle


@given(st.lists(st.sampled_from(["a", "b", DONE[0], LONG, "", "Error: no such file"]), min_size=1, max_size=18))
def test_any_loop_has_a_bounded_answer(texts: list[str]) -> None:
    found = _replies(*texts)
    assert 0 <= found.confidence <= 100
    assert found.detected or found.evidence == () or found.error_frequency
    assert bool(found.evidence) == bool(found.repeated_patterns)
    assert len(texts) > 2 or not found.detected


def test_signatures_are_the_same_for_the_same_error() -> None:
    first = analyze_text("I ran it:\n\n```\nTypeError: 'a' at /home/x/one.py:12 (0x7f3a)\n```\n")
    second = analyze_text("Again:\n\n```\nTypeError: 'a' at /tmp/yy/two.py:990 (0x1234)\n```\n")
    assert first.error_signatures == second.error_signatures != ()


def test_normalised_errors_are_short() -> None:
    assert error_signature("ValueError: 'x' is not 17 in C:\\a\\b.py\n") == "valueerror: x is not in path"
    assert len(error_signature("word " * 1000)) <= 120


def test_failures_have_a_signature() -> None:
    assert failure_signature(Failed(failure="unavailable", status=503)) == "failed:unavailable:503"
    assert failure_signature(Failed(failure="crashed")) == "failed:crashed"


STANDBY = [
    "`PROMPT.md` is fine. Everything is configured. Waiting for your instruction.",
    "I looked at the settings again; they are all there. Ready when you are.",
    "All files are in place, and the plan has its tasks. Awaiting your next instruction.",
    "Nothing is missing in the configuration. Whenever you want, just say so. Standing by.",
]
PHASE = [
    "Phase 1 is complete. All items of PROMPT.md are implemented and tested. Ready for Phase 2.",
    "Phase 1 (the movement) is already complete:\n\n- `sprite.png` ✅\n- `bird.js` ✅\n\nShall I begin the next one?",
    "All of Phase 1 is done, as the tests of `bird.js` and `scene.js` show. Ready for the next phase when you are.",
    "Phase 1 is complete and verified in the browser. Tell me what to adjust.",
]
NO_OP = [
    "Session 8: a no-op. I fixed the state file again. The loop should stop.",
    "This is the second no-op session. I restored the state file and wrote the report. Please stop Ralph.",
    "Another no-op: all 74 stories were done before. I corrected the same states; the loop must be stopped.",
]
CHINESE = [
    "所有配置文件已就绪，等你命令启动。",
    "配置确认没问题，看到你更新了几个文件。等你下一步指令。",
    "都已就绪。等待你的指令。",
]
SPANISH = [
    "Todo está configurado. Quedo a la espera.",
    "La configuración está lista. Esperando tus instrucciones.",
    "Nada que cambiar. A la espera de tus indicaciones.",
]
GERMAN = [
    "Alles ist eingerichtet. Ich warte auf deine Anweisung.",
    "Die Dateien sind da. Bereit für die nächste Phase.",
    "Es fehlt nichts. Warte auf deine Anweisungen.",
]
STANDING_STILL = [
    *((texts, None, "waiting for a person") for texts in (STANDBY, CHINESE, SPANISH, GERMAN)),
    (PHASE, None, "one piece of work"),
    (NO_OP, None, "no-op"),
    (NO_OP, True, "no-op"),
]


@pytest.mark.parametrize(("texts", "progressed", "circle"), STANDING_STILL)
def test_replies_in_different_words_that_stand_still_are_a_circle(
    texts: list[str], progressed: bool | None, circle: str
) -> None:
    last = analyze_loop(texts, progressed)
    assert circle in last.repeated_patterns


def test_replies_that_stand_still_are_none_while_the_workspace_moves() -> None:
    for texts in (STANDBY, PHASE):
        assert not analyze_loop(texts, True).detected


@pytest.mark.parametrize(
    "texts",
    [
        [
            f"Phase {number} is complete. I implemented the next screen. Ready for phase {number + 1}."
            for number in (1, 2, 3)
        ],
        [f"I've added view {number}; all tests pass. Ready when you are." for number in (1, 2, 3, 4)],
        ["Phase 1 is complete.", "Phase 1 and phase 2 are complete.", "Phase 1, phase 2 and phase 3 are complete."],
    ],
)
def test_pieces_of_their_own_and_work_are_no_circle(texts: list[str]) -> None:
    assert not analyze_loop(texts).detected


# Work on things that do nothing by design, in sessions that all change files or of which nothing is known.
NO_OP_PRODUCTS = [
    [
        "I swapped the mailer for a no-op one in the test settings, 14 lines.",
        "Made the tracing client a noop where no collector is set, and wrote two tests for that.",
        "The cache backend has a NullBackend now, which is a no-op, so the importer runs without Redis.",
        "Introduced the no-op payment gateway for the demo shop, with three tests.",
    ],
    [
        "Added a no-op session store for the command line.",
        "A second delete of the same row is a no-op; the test for it passes.",
        "The migration is a no-op run on an up-to-date schema, and says so.",
        "Replaced the noop scheduler: jobs are queued in memory now.",
    ],
    ["我把指标客户端换成了无操作实现。", "新增无操作日志器和它的测试。", "缓存后端现在有一个无操作版本，已提交。"],
    [
        "Añadí la regla: la sesión sin trabajo ahora se omite.",
        "La sesión sin trabajo tiene su prueba; añadí dos casos.",
        "Actualicé la lista: la sesión sin trabajo sale en gris.",
    ],
    [
        "Ein Lauf ohne Änderungen endet jetzt mit Status 0; drei Tests ergänzt.",
        "Ein Lauf ohne Änderungen schreibt kein Protokoll mehr, umgesetzt in `sync.py`.",
        "Die Übersicht zeigt jeden Lauf ohne Änderungen grau; die Vorlage ist überarbeitet.",
    ],
    [
        "Iteration 4 was a no-op for the API, so I implemented the export instead.",
        "Iteration 5: a no-op in the parser is gone, and I added its test.",
        "Another no-op removed from the scheduler; I wrote the queue.",
    ],
]


@pytest.mark.parametrize("progressed", [None, True])
@pytest.mark.parametrize("texts", NO_OP_PRODUCTS)
def test_no_op_as_a_technical_word_is_no_circle(texts: list[str], progressed: bool | None) -> None:
    assert analyze_loop(texts, progressed).repeated_patterns == ()


def test_sessions_called_no_ops_over_changed_files_are_a_circle_only_if_they_ask_for_the_end() -> None:
    idle = [
        "This was a no-op session.",
        "Another no-op: the board shows 40 of 40.",
        "Session 9 summary: no-op, as before.",
    ]
    asking = [f"{text} The loop should end." for text in idle]
    assert not analyze_loop(idle, True).detected
    assert "nothing changed" in analyze_loop(idle).repeated_patterns
    assert analyze_loop(asking, True).repeated_patterns == ("no-op",)


@pytest.mark.parametrize(
    "texts",
    [
        [
            "Wrote the order form and its tests. Ready for the next task.",
            "Fixed the price list. Ready when you are.",
            "Updated the manual, added the index. Standing by.",
        ],
        [
            "I have added the order form. Ready for the next step.",
            "The price list has been implemented. Ready when you are.",
            "Added a footer. Awaiting your next instruction.",
        ],
    ],
)
def test_who_reports_work_of_unknown_effect_does_not_wait(texts: list[str]) -> None:
    assert not analyze_loop(texts).detected


def analyze_loop(texts: list[str], progressed: bool | None = None) -> Stuck:
    """Analyze replies one after the other, as a loop does."""
    analyzer, past = ResponseAnalyzer(), list[Past]()
    for text in texts[:-1]:
        context = AnalysisContext(past=tuple(past), progressed=progressed)
        past.append(Past.of(text, analyzer.analyze(Output(text=text), StatusMissing(), context), progressed=progressed))
    context = AnalysisContext(past=tuple(past), progressed=progressed)
    return analyzer.analyze(Output(text=texts[-1]), StatusMissing(), context).stuck


def test_one_error_behind_different_words_is_one_pattern() -> None:
    errors = [
        "Error: Cannot find module './dist/index.js'",
        "The build still fails: Error: Cannot find module './dist/main.js'",
        "I get the same again: `Error: Cannot find module './lib/b.js'`",
        "Exit code 1\n  throw err;\nError: Cannot find module './dist'",
    ]
    assert {error_signature(error) for error in errors[:3]} == {"error: cannot find module path"}
    assert detect_stuck_loop(errors).repeated_patterns == ("error: cannot find module path",)
    shells = ["bash: foo: command not found", "Again: bash: foo: command not found"]
    assert {error_signature(error) for error in shells} == {"bash: foo: command not found"}
    different = [
        "error: a",
        "error: b",
        "module is not found: x",
        "module is not found: y",
        "fatal: not a git repository",
    ]
    assert len({error_signature(error) for error in different}) == len(different)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            "Error: connect ECONNREFUSED",
            [
                "Once again I get: {}",
                "The deploy fails with: {}",
                "It still fails with: {}",
                "Wieder: {}",
                "Der Build schlägt noch immer fehl mit: {}",
                "Otra vez falla con: {}",
                "又报错：{}",
            ],
        ),
        ("error TS2304: cannot find name 'Cart'", ["The compiler still complains: {}", "Same as before: {}"]),
    ],
)
def test_words_that_lead_to_an_error_are_no_part_of_it(error: str, said: list[str]) -> None:
    assert {error_signature(text.format(error)) for text in said} == {error_signature(error)}


# Failures that are mended one after another, each with the same words behind its name.
APART = [
    ["FAILED tests/test_{}.py::test_sum: AssertionError: assert 1 == 2", "cart", "search", "login"],
    ["FAILED test_shop.py::test_{}: AssertionError: assert 1 == 2", "cart", "search", "login"],
    ["{}.py: SyntaxError: invalid syntax", "cart", "search", "login"],
    ["module {}: missing symbol main", "cart", "search", "login"],
    ["make {} failed: exit status 2", "lint", "test", "docs"],
    ["The {} page › shows a total: Error: expected 3", "cart", "search", "login"],
    ["{}Controller › saves: TypeError: x is undefined", "Cart", "Search", "Login"],
    ["The {} fails with: exit code 1", "build", "deploy", "command"],
]


@pytest.mark.parametrize("errors", APART)
def test_the_same_words_about_another_thing_are_another_error(errors: list[str]) -> None:
    form, *names = errors
    history = [form.format(name) for name in names]
    assert not detect_stuck_loop(history).detected
    assert len(set(map(error_signature, history))) == len(set(map(command.failure_signature, history))) == 3


def test_a_rate_limit_in_between_hides_no_loop() -> None:
    said, limit = (
        "I looked at the parser again, and it is as it was.",
        Past(text="You've hit your limit.", state="limited"),
    )
    past = (Past(text=said), Past(text=said), limit, limit)
    found = ResponseAnalyzer().analyze(Output(text=said), StatusMissing(), AnalysisContext(past=past)).stuck
    assert found.detected
    assert found.repeated_patterns[0] == "repeated output"
