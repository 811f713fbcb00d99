"""Work that stops at something outside: what bars the agent is told first, and the hand that it takes last."""

import pytest

from ralph.analysis import analyze_text


@pytest.mark.parametrize(
    "text",
    [
        (
            "The certificate of the test server has expired, so every upload ends with 403. I finished the "
            "client, and its 12 tests pass. The acceptance test has to wait. Please renew the certificate "
            "and start me again."
        ),
        (
            "There is no printer on this machine, and the label sheet has to be checked on paper. The layout "
            "is done and its tests pass.\n\nWhat would help: somebody who prints `out/labels.pdf` and "
            "measures the first row."
        ),
        (
            "`vault.kdbx` isn't in the repository. The reader is written and tested with a vault of my own; "
            "I can't import the real entries without the file."
        ),
        (
            "Same as in the loop before: `make` is not permitted, so nothing can be compiled. All four "
            "modules are written.\n\nRequired from you, one of:\n- allow `make`\n- compile on your side"
        ),
        (
            "The account of the map service was suspended. I added the cache and its tests. As soon as it is "
            "open again, the rest takes an hour."
        ),
    ],
)
def test_what_bars_the_work_first_and_a_hand_last_is_blocked_whatever_was_finished(text: str) -> None:
    analysis = analyze_text(text, task="Print the labels and check them")
    assert analysis.state == "blocked"
    assert analysis.question


@pytest.mark.parametrize(
    "text",
    [
        (
            "Fixed the login: the token had expired and nobody renewed it. It is renewed at each request "
            "now. All tests pass. Please restart the service once."
        ),
        (
            "The mirror was not reachable at first, so I took the packages from the cache. The upgrade is "
            "done, and all tests pass."
        ),
        (
            "Whoever is locked out is told so now, and whom to ask. Without a manager an admin has to "
            "approve. All tests pass, and the task is complete."
        ),
        "All done: accounts can be suspended by an admin, and who is suspended sees why. Someone should read the mail.",
        "Proof mode is in. While it is on, changes are rejected, and only an administrator can end it. Tests pass.",
        "Not there yet: 40 of the files are refused by the printer. I'm going to look at these one by one.",
        "Nothing is blocked at the moment. Pages 1-4 are printed. Please look at them if you like.",
        (
            "All 40 letters are printed and checked; everything in the task is done. The old printer is not "
            "available any more. If you need another copy, please ask the office."
        ),
    ],
)
def test_finished_work_that_speaks_of_the_same_things_is_not(text: str) -> None:
    assert analyze_text(text, task="Mend the login").state != "blocked"


def test_a_choice_that_is_asked_for_remains_a_question() -> None:
    text = (
        "The old register is missing from the export. I can build the report from the new one, or leave it out. "
        "Which one do you prefer?"
    )
    assert analyze_text(text).state == "question"


def test_a_hand_may_be_asked_for_as_a_question() -> None:
    text = "No access to the bucket so far: it answers `AccessDenied`. Could someone grant me read access to it?"
    assert analyze_text(text).state == "blocked"


@pytest.mark.parametrize(
    "text",
    [
        "打印机的驱动找不到，标签没法验证。排版已经完成，测试全部通过。请把驱动装到这台机器上，然后重新启动循环。",
        "測試帳號已被鎖定，登入後的頁面都進不去。腳本已寫好。麻煩把帳號解鎖，完成後告訴我。",
        "El certificado ha caducado. El cliente está terminado. Hace falta que el titular lo renueve.",
        "Das Testkonto ist gesperrt. Das Skript ist fertig. Bitte das Konto freischalten und mich neu starten.",
    ],
)
def test_in_every_language(text: str) -> None:
    assert analyze_text(text, task="Labels").state == "blocked"


@pytest.mark.parametrize(
    "text",
    [
        "The printer page is missing from the menu so far; the other four are in. I'll continue with it next.",
        "El menú está. Faltan la impresora y el pie de página; después sigo con ellos.",
        "Das Menü steht, es fehlt die Druckseite. Danach mache ich mit den Tests weiter.",
        "修复了令牌过期后页面空白的问题，请在部署后清一次缓存。全部测试通过。",
    ],
)
def test_what_is_missing_from_the_work_bars_nobody(text: str) -> None:
    assert analyze_text(text, task="Menu").state != "blocked"


def test_the_end_may_say_that_the_agent_stops_and_what_it_lacks() -> None:
    text = (
        "The rehearsal is complete and went through in nine minutes; the runbook is written.\n\n"
        "The move itself has to be made on the live host, which I cannot reach. I'm stopping here."
    )
    assert analyze_text(text, task="Move the shop to the new host").state == "blocked"
    assert analyze_text("Ich kann ohne den API-Schlüssel nicht weitermachen.").state == "blocked"
    assert analyze_text("All tasks are done and all tests pass. I'm stopping here.").state == "done"
    report = "All tasks are done. One flag isn't available in the old version. Start me again after its release."
    assert analyze_text(report).state == "done"


@pytest.mark.parametrize(
    ("text", "blocked"),
    [
        ("The proofs can't be printed. Both printers belong to other teams. The layout is pushed.", True),
        ("The proofs can't be printed in colour, so I set them in grey. The layout is pushed.", False),
        ("The proofs can't be printed yet. Next I'll look for the driver.", False),
        ("- Grey proofs can't show the margins\n- They save a third of the ink\n\nProofs are grey by default.", False),
        ("The printer asks for a badge now and guests can't print until they have one. The manual says so.", False),
        ("error: unable to reach the printer", False),
    ],
)
def test_what_cannot_be_done_stops_the_work_where_it_is_said_first_and_nothing_is_claimed(
    text: str, blocked: bool
) -> None:
    assert (analyze_text(text, task="Print the proofs").state == "blocked") is blocked


def test_what_is_barred_after_all_is_done_stops_nothing() -> None:
    text = (
        "All tasks in the plan are done, and the build is green. The live host isn't reachable from here, so the "
        "roll-out has to be done by someone with access."
    )
    assert analyze_text(text).state == "done"


def test_a_hand_is_asked_for_at_the_end_by_what_the_agent_needs() -> None:
    text = (
        "The index is written, and its tests pass. I can't build it, because the share isn't mounted here.\n\n"
        "What I'd need from you is the mount. After that I can check the figures."
    )
    assert analyze_text(text, task="Build the index of the archive").state == "blocked"


@pytest.mark.parametrize(
    ("task", "text"),
    [
        (
            "Print the labels of the bay",
            (
                "The label sheet is laid out and all 14 tests pass. Printing it is where I have to stop: the "
                "plotter wants a badge at its panel.\n\nThe sheet has the new logo, both addresses and the code of "
                "the bay. A second page lists the bays by floor, and a third one those that are closed, each with "
                "the reason and the person who closed it. Bays without a number come last, and a bay that has two "
                "of them is told on the first page. The cutter marks stand a hair further out than they did on the "
                "old sheet.\n\nPlease hold a badge to the panel; then one run will do."
            ),
        ),
        (
            "Import the codes of the carrier",
            (
                "I can't finish the import until the carrier opens its port for us.\n\nOn our side the parser is "
                "complete and its 51 tests are green.\n\nThe run against their system can't begin before that."
            ),
        ),
        (
            "Publish the package",
            (
                "The registry doesn't answer, on five tries. The manifest is written.\n\n"
                "Could you restart it, or copy the packages to a share?"
            ),
        ),
        ("Move the records", "Still waiting for approval (third pass).\n\nThe plan hasn't changed; it is saved."),
        ("Mover la base", "Sigo esperando permiso para la base. El plan está escrito y probado; no ha cambiado."),
        (
            "Corregir el buscador",
            "## Detenido: no hay permiso de escritura\n\nLeí el código, encontré el fallo y preparé la solución.",
        ),
        (
            "迁移数据库",
            "当前状态：阻塞\n\n已写好迁移脚本，本地测试全部通过。测试库没有权限建表。\n\n需要您协助：加上权限。",
        ),
        (
            "接入短信",
            "短信接口已接好，12 个测试全部通过。真实发送只能停在这里：验证码在同事手机上。\n\n请把验证码给我。",
        ),
        (
            "Vorlage hochladen",
            (
                "Die Vorlage ist fertig, 9 Tests sind grün. Beim Hochladen muss ich hier aufhören: das Zertifikat "
                "liegt auf einer Karte.\n\nBitte die Karte einlegen und mich neu starten."
            ),
        ),
    ],
)
def test_what_the_agent_has_to_stop_at_or_waits_for_is_blocked_beside_finished_work(task: str, text: str) -> None:
    assert analyze_text(text, task=task).state == "blocked"


@pytest.mark.parametrize(
    ("task", "text", "state"),
    [
        (
            "Implement all stories in plan.md",
            (
                "Story 5 is done, with 31 tests. Paused orders keep their place. I stop here, as the loop takes "
                "one story at a time. Story 6 is ready."
            ),
            "progress",
        ),
        (
            "Convert all the modules",
            (
                "The reader and the writer are done. I have to stop here for this session; the printer comes next. A "
                "locked file is skipped now."
            ),
            "progress",
        ),
        ("Fix the parser", "Fixed the parser. I had to stop the server to measure it. All 30 tests pass.", "done"),
        ("Fix the client", "The client is fixed: where the server doesn't answer it tries the next one.", "done"),
        ("Corregir el reloj", "Detenido el reloj al cerrar, el error ya no se repite. Pasan las 14 pruebas.", "done"),
    ],
)
def test_a_stop_that_the_loop_or_the_work_is_about_bars_nobody(task: str, text: str, state: str) -> None:
    assert analyze_text(text, task=task).state == state


@pytest.mark.parametrize(
    ("task", "text", "state"),
    [
        (
            "Copy the scans",
            (
                "The copy works in a dry run, and its 22 tests are green.\n\nThe real copy is something I can't "
                "do: the "
                "share belongs to another group.\n\nWhat is needed: write access for `scan`. After that it's "
                "one command."
            ),
            "blocked",
        ),
        (
            "Publish the chart",
            "The chart is packed. The token lacks the scope to publish it, and only an org admin can add that.",
            "blocked",
        ),
        (
            "Explain insufficient permissions in the upload dialog",
            (
                "The dialog names the role that lacks and who may give it. Insufficient permissions are told "
                "before the "
                "upload begins, and the text is translated into all four languages."
            ),
            "done",
        ),
    ],
)
def test_what_others_have_to_do_bars_the_work_and_what_the_task_is_about_does_not(
    task: str, text: str, state: str
) -> None:
    assert (analyze_text(text, task=task).state == "blocked") is (state == "blocked")


@pytest.mark.parametrize(
    ("task", "text", "blocked"),
    [
        ("Tell why an account is locked", "A locked account is told so, and somebody in support opens it.", False),
        ("Stop the double booking", "The slot is locked while somebody pays for it. 26 tests, all green.", False),
        (
            "Renew the expired certificate",
            "The certificate has expired. Only the owner can renew it, and I have no access to the mailbox.",
            True,
        ),
    ],
)
def test_what_the_task_is_about_needs_more_to_bar_the_agent(task: str, text: str, blocked: bool) -> None:
    assert (analyze_text(text, task=task).state == "blocked") is blocked


def test_what_is_out_of_the_agents_hands_is_blocked() -> None:
    text = "The request is filed and its 9 tests pass. The rest is out of my hands: somebody has to confirm the mail."
    assert analyze_text(text, task="Order the domain").state == "blocked"
    told = "The order is done. Delays outside my control panel are shown in grey; all 9 tests pass."
    assert analyze_text(told, task="Show delays").state == "done"


@pytest.mark.parametrize(
    "text",
    [
        "If the folder is read-only, the upload now says so. I added it to `upload.py`.",
        "When the request was denied, the client asks again. I wrote it in `client.py`.",
        "I added the page. If I am not allowed to write there, it uses the cache.",
    ],
)
def test_what_the_code_does_where_it_is_hindered_is_no_obstacle_of_the_agents(text: str) -> None:
    analysis = analyze_text(text, task="Build the page")
    assert analysis.state != "blocked"
    assert [piece.text for piece in analysis.evidence if piece.signal == "obstacle"] == []
