"""Final messages about a task in words of their own: what sounds like an open end in them, and is none; and what is."""

import pytest

from ralph.analysis import analyze_text


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """The settings reader is one function now. Its schema checks the values, which let me drop three
classes and their tests. All 61 tests pass, and the change is committed.""",
            "Simplify the settings reader",
        ),
        (
            """El servidor de copias está configurado. He añadido la guía paso a paso en `docs/copias.md` y todas
las pruebas pasan.""",
            "Configurar el servidor de copias",
        ),
    ],
)
def test_what_the_work_let_the_agent_do_announces_nothing(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state == "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            "I read the log. The two warnings have nothing to do with the cache.",
            "Fix the cache",
        ),
    ],
)
def test_what_has_nothing_to_do_with_the_work_does_not_end_it(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state != "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """The size guard is in the pipeline. The build fails if a page grows by more than 5 kB, and the
comment says which file it was. I tried it with a big picture, and all other checks pass.""",
            "Guard the size of the pages",
        ),
        (
            """All points of the ticket are covered. The pipeline checks the licences and fails the build when a
package has none that is allowed. I removed one on purpose in order to see that the build fails.""",
            "Check the licences",
        ),
        (
            "覆盖率检查已完成并提交。低于 85% 时构建失败，评论里会列出文件。所有测试通过。",
            "在流水线里加入覆盖率检查",
        ),
    ],
)
def test_a_check_that_is_meant_to_fail_leaves_nothing_open(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state == "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """All points of the ticket are covered. The build fails in the licence step, where a file cannot be
read.""",
            "Check the licences",
        ),
        (
            """The guard is in the pipeline, so that pages stay small. The build fails since then. All points are
covered.""",
            "Guard the size of the pages",
        ),
    ],
)
def test_a_check_that_fails_is_an_open_end(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state != "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """The importer reads semicolons now. 377 passed, 2 failed: the two happen without my change as well,
because there is no mail server here.""",
            "Let the importer read semicolons",
        ),
        (
            """The rounding is fixed: the total adds first and rounds once.

841 examples, 4 failures. The four are in the PDF export and fail on `main` too.""",
            "Fix the rounding of the total",
        ),
    ],
)
def test_tests_that_fail_without_the_change_as_well_are_known_to_fail(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state == "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """The importer reads semicolons now. 375 passed, 4 failed. Two of them fail on main too, the others
come from the new reader.""",
            "Let the importer read semicolons",
        ),
    ],
)
def test_tests_of_which_some_fail_without_the_change_still_fail(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state != "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """All remarks of the review are addressed:

- [x] rename the reader
- [x] test the empty file
- [ ] make it generic: out of scope, as the reviewer says

All checks pass.""",
            "Address the review",
        ),
    ],
)
def test_a_box_that_nobody_is_going_to_tick_leaves_nothing_open(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state == "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """All remarks of the review are addressed:

- [x] rename the reader
- [ ] test the empty file
- [ ] make it generic: out of scope, as the reviewer says

All checks pass.""",
            "Address the review",
        ),
    ],
)
def test_a_box_that_is_open_beside_it_is_left(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state != "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """The login form is done and committed: it locks an account after 5 failed attempts, and says so.
Lint passes.""",
            "Write the login form",
        ),
        (
            """The queue is done. A message is moved aside after 3 failed delivery attempts, and lint is clean.""",
            "Write the queue",
        ),
    ],
)
def test_what_the_work_does_with_failed_attempts_is_no_report_on_tests(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state == "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """The article page shows the stock per warehouse. The numbers come from one query instead of one per
row, and warehouses without stock are hidden. People without the right for it see the sum alone.
On a phone the table becomes cards, and four tests describe it, one for each right.""",
            "Show the stock per warehouse on the article page",
        ),
    ],
)
def test_an_opening_in_the_words_of_the_task_tells_how_things_are(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state == "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """The task is to show the stock per warehouse on the article page. The page reads its numbers from
`stock.sql`, one query for each row. The template has a table with the columns name, price and
stock, and the rights are in `rights.py`.""",
            "Show the stock per warehouse on the article page",
        ),
    ],
)
def test_an_opening_that_says_what_the_task_is_does_not(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state != "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """Found it. The reconnect loop was none: two hooks each opened a socket, and the server closed the
older one, which opened another. The socket now lives in one module, and both hooks subscribe to
it. I left a test that counts the sockets for ten seconds and asserts that there is one.""",
            "Why does the page reconnect all the time? Find out and fix it.",
        ),
    ],
)
def test_a_plain_answer_that_sounds_finished_is_done(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state == "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """Found it. The reconnect loop was none: two hooks each opened a socket, and the server closed the
older one, which opened another. Moving the socket into one module is what I will try.""",
            "Why does the page reconnect all the time? Find out and fix it.",
        ),
        (
            """Got it. Both copies of the scheduler hold the lock: it is taken for five minutes, and the import
takes seven. Now the fix.""",
            "The import runs twice sometimes. Find out why and fix it.",
        ),
    ],
)
def test_a_plain_answer_that_tells_what_comes_next_is_not(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state != "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """Der Link zum Zurücksetzen funktioniert: er gilt eine halbe Stunde, danach werden alle Sitzungen
beendet. Es gibt sieben neue Tests, und die ganze Suite läuft durch. Die Texte der Mail liegen in
`templates/reset`.""",
            "Implementiere das Zurücksetzen des Passworts",
        ),
    ],
)
def test_an_opening_in_the_passive_tells_how_things_are(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state == "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            "三条验收命令都已跑过，输出正常。退款流程在真机上走了一遍，金额一致。本任务的要求都已交付。",
            "小程序退款流程",
        ),
    ],
)
def test_everything_that_is_delivered_is_done(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state == "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """The import takes 17 minutes now, down from 52. The parser reads in chunks, and the inserts go in
batches. Most of the time goes into the search index, which is built for every file by itself.""",
            "Speed up the import to under 10 minutes",
        ),
    ],
)
def test_a_number_that_is_missed_is_not(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state != "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """I looked into it: the health check is already there, answers with the version, and has a test. I
changed nothing.""",
            "Add a health check",
        ),
        (
            "查过了，连接池上限之前就是 50，测试也覆盖到了。这次没有改代码。",
            "把连接池上限调到 50",
        ),
        (
            """He mirado el código y la paginación ya está hecha, con una prueba que la cubre. No he hecho ningún
cambio.""",
            "Añadir paginación al listado",
        ),
    ],
)
def test_what_was_there_before_needs_nothing(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state == "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            "The health check is already there, but it has no test. I changed nothing so far.",
            "Add a health check",
        ),
        (
            "The route is already registered. I have not changed the handler yet.",
            "Add a health check",
        ),
    ],
)
def test_what_was_there_before_in_part_does_not_end_it(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state != "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """Dos de los tres defectos del informe están corregidos. El primero era un desfase de la zona
horaria, y el segundo una comparación con mayúsculas.""",
            "Corrige los tres defectos del informe",
        ),
        (
            """Most of the defects of the report are fixed. The first came from the time zone, and the second
from a comparison. All tests pass.""",
            "Fix the defects of the report",
        ),
    ],
)
def test_some_of_what_the_task_names_is_not_it(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state != "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """Todo el plan está hecho: las nueve casillas están marcadas y las 301 pruebas pasan. No queda nada
pendiente.""",
            "",
        ),
    ],
)
def test_todo_in_spanish_is_the_whole(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state == "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """120 der 214 Aufrufe sind umgestellt, die Konfiguration liegt in einer Datei. Die anderen stecken
in generiertem Code, für den die Vorlage zuständig ist.""",
            "Ersetze das alte Logging",
        ),
    ],
)
def test_a_share_in_german_is_one(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state != "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """jQuery is gone from the product pages and the cart. The admin still loads it for the date picker.
The bundle is 20 kB smaller there.""",
            "Remove the jQuery dependency",
        ),
    ],
)
def test_what_is_still_as_it_was_is_left(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state != "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """Both findings are closed. The upload looks at the content instead of the ending, and the cookie is
bound to the host.""",
            "Close the findings of the audit",
        ),
        (
            """The four points of the request are covered. The list is sorted by date, filtered by region, saved
and printed.""",
            "Do what the request asks for",
        ),
        (
            """Con esto quedan cubiertos los cuatro puntos de la petición: filtro, orden, exportación y aviso por
correo.""",
            "Cubre los puntos de la petición",
        ),
        (
            """Beide Befunde sind behoben. Der Upload prüft den Inhalt statt der Endung, und die Cookies gelten
nur für den Host.""",
            "Behebe die Befunde aus dem Audit",
        ),
        (
            "審查意見都已處理完畢，一則意見一個 commit，CI 全部通過。",
            "處理審查意見",
        ),
    ],
)
def test_all_of_a_number_of_things_is_the_whole(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state == "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """Der erste Befund ist behoben: der Upload prüft den Inhalt statt der Endung. Für den zweiten ist
die Datenbank vorbereitet, und die Maske entsteht danach.""",
            "Behebe die Befunde aus dem Audit",
        ),
        (
            """The first finding of the audit is closed: the upload looks at the content instead of the ending.
The other one concerns the cookie.""",
            "Close the findings of the audit",
        ),
    ],
)
def test_the_first_of_several_is_not(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state != "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """Finding 3: the lock is released in a `finally` now. Finding 5: the query has parameters now. For
both there is a test that failed before. Lint is clean.""",
            "Fix finding 3 and finding 5",
        ),
    ],
)
def test_a_test_that_failed_before_fails_no_more(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state == "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """Finding 3: the lock is released in a `finally` now. Lint is clean. There is a test that failed
before and still does.""",
            "Fix finding 3 and finding 5",
        ),
    ],
)
def test_a_test_that_failed_before_and_still_does_is_left(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state != "done"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            """I see the problem now: the file is created empty and read before it is written. There is a race
between two threads, of which one has no lock.""",
            "Fix the crash on start",
        ),
        (
            """The list takes its filters from the address, and the filter by date is built from two fields. I
have changed nothing in it so far.""",
            "Add a filter by region to the list",
        ),
        (
            """The client sends the token in a header now. The callers build their addresses by hand, though.""",
            "Let the client send the token in a header",
        ),
        (
            "The page loads in 1.8 s without the map. With the map it takes three.",
            "Make the page load in under 2 s",
        ),
    ],
)
def test_what_was_found_or_is_so_anyway_is_no_work(text: str, task: str) -> None:
    assert analyze_text(text, task=task).state != "done"
