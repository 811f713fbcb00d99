"""Percentages, fractions and counts below the whole: each contradicts a claim of the whole, in every language."""

import pytest

from ralph.analysis import analyze_text
from ralph.analysis.detectors.objections import read_quantities
from ralph.cli.reply import Question, judge
from ralph.pipeline.evaluate import Rules

TASK = "Build the shop: the cart, the account pages and the search page."

PARTIAL = """
50% complete
5% done
0% complete
99.5% complete
1/5 done
Done (4 of 9)
Done with 2/3 of the migration.
Implementation complete (60%).
8 of 15 stories
8 of 15 stories are complete.
All tasks are complete. 8 of 15 stories.
5/6 passing
All tests passing: 4/9.
Two thirds complete
Half of it is done.
The work is about 80% done.
All core tasks are finished. We are at 80 percent.
完成 50%
90 %完成
七成
已完成七成
已完成 3/8
任务已完成。进度：70%
已完成三分之二
完成了15个故事中的8个
百分之五十完成
3 de 8
3 de 8 tareas completadas
Completado: 3 de 8
Terminado: 40%
La migración está completa al 50 %.
La tarea está completa. Vamos al 50 %.
3 von 8
3 von 8 Aufgaben sind fertig
50 % fertig
Erledigt: 2/5
Zu 80 % erledigt.
Die Aufgabe ist erledigt, zwei von fünf Seiten sind umgestellt.
The task is complete. Account pages and the search page remain.
Die Aufgabe ist erledigt. Offen bleiben die Kontoseiten.
""".strip().splitlines()

WHOLE = """
100% complete. The task is done.
3/3 done. All tasks are complete.
5 of 5 done, the task is complete
All tasks complete: 8/8 stories, 45/45 tests.
All tasks are complete. Coverage: 85%.
The task is complete: test coverage rose from 70% to 85%.
The task is complete. We went from 6/8 to 8/8.
The task is complete. Released 1.2.3 on 5/6/2026.
The task is complete on 1 of 2026.
All tasks are complete, 24/7 support page included.
All work is complete. Python 3/4 compat kept; HTTP/2 enabled.
All tasks complete. CPU use fell by 40 %.
All stories are implemented. It runs 50 % faster.
The task is complete. Opacity is 50% and margin 1/2 rem.
The task is complete; see page 3 of 8 of the spec.
All 15 stories are complete; commit 8 of 15 was squashed.
The discount of 20% is applied at checkout. The task is complete.
The task is complete. The page shows "3 of 8 items done" while loading.
The task is complete. Of the 12 tests, 2 of 12 are skipped because they need a network.
The task is complete. No issues remain.
任务已全部完成,测试覆盖率 85%。
所有任务已完成(8/8)。
Todas las tareas están completas. La cobertura es del 85 %.
El proyecto está terminado: 8 de 8 historias.
Alle Aufgaben sind erledigt. Die Abdeckung liegt bei 85 %.
Das Projekt ist fertig: 8 von 8 Aufgaben.
""".strip().splitlines()


@pytest.mark.parametrize("task", ["", TASK], ids=["no task", "a task"])
def test_a_part_is_not_the_whole(task: str, subtests: pytest.Subtests) -> None:
    for text in PARTIAL:
        with subtests.test(text=text):
            record = judge(Question(text=text, task=task), Rules()).record
            assert (record.analysis.completion.detected, record.decision.kind) == (False, "continue")
            assert record.analysis.state != "done"


@pytest.mark.parametrize("task", ["", TASK], ids=["no task", "a task"])
def test_the_whole_or_another_measure_contradicts_nothing(task: str, subtests: pytest.Subtests) -> None:
    for text in WHOLE:
        with subtests.test(text=text):
            assert analyze_text(text, task=task).completion.detected


# Percentages as shares of 100, and the others as they are written.
READ = {
    "3/8": [(3, 8)],
    "3 out of the 8": [(3, 8)],
    "three of four": [(3, 4)],
    "drei von acht": [(3, 8)],
    "tres de las ocho": [(3, 8)],
    "37,5 %": [(37.5, 100)],
    "百分之三十五": [(35, 100)],
    "七成": [(7, 10)],
    "共 9 个页面，完成了 4 个": [(4, 9)],
    "3 of them": [(3, 4)],
    "5 of the 5": [(5, 5)],
    "v1.2/3, 2026/11/22, 5/6/2026, 24/7, 12:30/45, src/1/2, 3.5/8": [],
    "成功，成本": [],
    "40%/60% split": [],
}


@pytest.mark.parametrize(("text", "expected"), READ.items())
def test_quantities_are_read_in_every_language(text: str, expected: list[tuple[float, int]]) -> None:
    assert [(found.part, found.whole) for found in read_quantities(text)] == expected
