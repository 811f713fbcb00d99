"""Percentages, fractions and counts below the whole: each contradicts a claim of the whole, in every language."""

import pytest

from ralph.analysis.text import read_quantities
from ralph.cli.reply import Question, judge
from ralph.decision.limits import DecisionSettings
from ralph.pipeline.evaluate import Rules

CHECKED = Rules(decision=DecisionSettings(confirm_words=False))
"""Words alone end a run, as where a verifier checks them."""

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
Alles erledigt bis auf die README.
Alles erledigt außer der README.
Alle Aufgaben sind erledigt, lediglich die README fehlt noch.
The task is complete minus the docs.
The task is complete, bar the docs.
Migrated 1,200 of 3,000 files. Migration complete.
Migrated 120000 of 300000 rows. The migration is done.
Completed 8 of the fifteen stories. Task complete.
Task complete. Twenty of thirty pages are converted.
Status: 14/15 ✅. The task is complete.
The task is completed by 95%.
任务完成。十五个故事中完成了八个。
La tarea está completa: ocho de quince historias.
La tarea está completa. Tres cuartas partes de las páginas están listas.
Die Aufgabe ist erledigt: acht von fünfzehn Stories.
All tasks are complete. 13 of 15 acceptance criteria are met.
Todas las tareas están completas. Faltan 3 de 8.
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
- [1/3] Cart: done|- [2/3] Account: done|- [3/3] Search: done||All tasks are complete.
All tasks are complete; two of them were done before this session.
The task is complete. Two of them needed a migration, which is done.
All 15 tasks are complete; 0 of them failed.
The task is complete. Before: 12/15 done. After: 15/15 done.
The task is complete. Previously 3 of 5 stories were complete, now all are.
The task is complete. 100% of stories, 0% left.
The task is complete. 0 of 15 stories remain.
The task is complete. 0 of 45 tests fail.
Alle Aufgaben sind erledigt. 0 von 15 Aufgaben offen.
Todas las tareas están completas. Quedan 0 de 15 tareas.
The task is complete. Errors went down to 0%.
Alle Aufgaben sind erledigt. Der Rabatt von 20 % ist umgesetzt.
Todas las tareas están completas. El descuento del 20 % está implementado.
所有任务已完成。20%折扣功能已实现。
任务已完成，通过率 98%。
全部8个任务已完成，其中3个在本次完成。
All tasks are complete. SLA 99.9% is implemented in the alert rules.
The task is complete. Image quality is set to 80% and done in CI.
The task is complete. Half an hour of work done.
The task is complete. I added a quarter view, and the third quarter report is done.
The task is complete. Half of the work was tests.
The task is complete. About 80% of the work was in the parser.
The task is complete. The 4/4 time signature and 3/4 waltz are implemented.
The task is complete. Added 1/2 cup of sugar to the recipe.
All tasks are complete. 24/30 fps toggle is done.
The task is complete. Finished 5/6 2026.
""".strip().splitlines()


@pytest.mark.parametrize("task", ["", TASK], ids=["no task", "a task"])
def test_a_part_is_not_the_whole(task: str, subtests: pytest.Subtests) -> None:
    for text in PARTIAL:
        with subtests.test(text=text):
            record = judge(Question(text=text, task=task), CHECKED).record
            assert (record.analysis.completion.detected, record.decision.kind) == (False, "continue")
            assert record.analysis.state != "done"


@pytest.mark.parametrize("task", ["", TASK], ids=["no task", "a task"])
def test_the_whole_or_another_measure_contradicts_nothing(task: str, subtests: pytest.Subtests) -> None:
    for text in WHOLE:
        with subtests.test(text=text):
            record = judge(Question(text=text.replace("|", "\n"), task=task), CHECKED).record
            assert (record.analysis.completion.detected, record.decision.kind) == (True, "complete")


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
    "3 of them": [],
    "1,200 of 3,000": [(1200, 3000)],
    "120000 of 300000": [(120000, 300000)],
    "twenty of thirty": [(20, 30)],
    "8 of the fifteen": [(8, 15)],
    "acht von fünfzehn": [(8, 15)],
    "十五个故事中完成了八个": [(8, 15)],
    "5 of the 5": [(5, 5)],
    "v1.2/3, 2026/11/22, 5/6/2026, 24/7, 12:30/45, src/1/2, 3.5/8": [],
    "成功，成本": [],
    "40%/60% split": [],
}


@pytest.mark.parametrize(("text", "expected"), READ.items())
def test_quantities_are_read_in_every_language(text: str, expected: list[tuple[float, int]]) -> None:
    assert [(found.part, found.whole) for found in read_quantities(text)] == expected
