"""The lines that test runners print, recognised by their shape, and replies that hold nothing else.

Every pattern is matched at the beginning of a line, with bounded repetition. A line is tried only against the runners
of which it holds a mark: prose holds few marks, so that it costs next to nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick

from ralph.system.text import pattern

_REACH = 300  # characters of a line in which a mark has to stand, and which are read to judge what is no runner's
_LONGEST = 600  # characters of a line that are matched
_HITS = 1000  # marks examined from the beginning, and as many from the end


class _Runner(NamedTuple):
    """The lines of one runner, or of a family of runners.

    Attributes:
        marks: strings of which each line holds at least one; a line break counts as one too.
        lines: patterns for the beginning of a line after white space, in the syntax of `re.VERBOSE`.
    """

    marks: Sequence[str]
    lines: str


_TICKS = "✓✔✗✕✘✖❯×√↓●○∅"
_TIME = r"[\d.,]{1,9}\s?(?:m?s|seconds)"
_N = r"\d{1,7}"
_PYTEST = rf"{_N}\s(?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|subtests\spassed)"
_SOURCE = r"\S{1,200}[._-](?:test|spec|cy)\.[cm]?[jt]sx?"
_TESTED = r"(?:tests?|specs?|test\scases?|checks|assertions|scenarios)\s(?:passed|failed|passing|failing)"
_PROGRAMS = r"""(?:vitest|jest|mocha|pytest|ava|karma|playwright\stest|cypress\srun|phpunit|rspec|nextest|gotestsum
    |unittest|pest|bats|tap|jasmine|ctest|tox|nox|shellspec)"""

_RUNNERS = (
    _Runner(  # pytest
        (
            *(" passed", " failed", " skipped", " deselected", " xfailed", "test session", "= FAILURES", "= ERRORS"),
            *("= PASSES", "short test summary", "warnings summary", "slowest ", "tests ran", "collected", "collecting"),
            *(".py::", "%]", "rootdir: ", " -- Python ", "plugins: ", "cachedir: ", "configfile: ", "- coverage: "),
            *("_ coverage: ", "usage: pytest", "file or directory not", "conftest", "bringing up nodes"),
            *("INTERNALERROR>", "Captured std", "Captured log", "___", "!!!", "E   ", ".py:", ": error:", "Stmts"),
            *("workers [", "named pytest", "PASSED ", "FAILED ", "ERROR ", "SKIPPED ", "XFAIL "),
            *(f"{digit} {what}" for digit in range(10) for what in ("error", "warning")),
        ),
        rf"""(?:={{1,200}}\s)?{_PYTEST}(?:,\s{_PYTEST}){{0,9}}\sin\s[\d.]{{1,9}}\s?s | no\stests\sran\sin\s
        |={{2,200}}\s(?:test\ssession\sstarts|FAILURES|ERRORS|PASSES|short\stest\ssummary|warnings\ssummary|slowest\s
            |no\stests\sran|{_PYTEST})
        |collected\s{_N}\sitems? | collecting\s\.\.\. | (?:no\stests|{_N}(?:/{_N})?\stests?)\scollected
        |(?:\[gw\d{{1,3}}\]\s(?:\[\s{{0,2}}\d{{1,3}}%\]\s)?(?:[A-Z]{{4,8}}\s)?)?\S{{1,200}}\.py::\S
        |(?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN)\s(?:\S{{1,200}}\.py\b|\[\d)
        |(?:\S{{1,200}}\.py\s)?[.FEsxXR]{{1,300}}\s{{1,200}}\[\s{{0,2}}\d{{1,3}}%\]
        |[_-]{{3,200}}\s(?:\S[^\n]{{0,200}}\s_{{3,200}}$|Captured\s(?:stdout|stderr|log)\s)
        |!{{3,200}}\s[^\n]{{0,200}}\s!{{3,200}}$
        |E\s{{3,200}}\S | \S{{1,200}}\.py:\d{{1,6}}:\s(?:in\s|\w{{0,80}}(?:Error|Exception|Failed|Exit)\b)
        |(?:\S{{1,100}}\s){{0,3}}\S{{0,60}}pytest:\serror:
        |rootdir:\s | platform\s\w{{1,20}}\s--\sPython\s | plugins:\s\S{{1,40}}-\d | cachedir:\s | configfile:\s
        |[-_=]{{3,200}}\scoverage:\s | ERROR:\s(?:usage:\spytest|file\sor\sdirectory\snot\sfound)
        |ImportError\swhile\sloading\sconftest | bringing\sup\snodes | \d{{1,3}}\sworkers\s\[\d
        |INTERNALERROR> | Name\s{{2,80}}Stmts\s | \S{{1,200}}:\sNo\smodule\snamed\s['"]?pytest""",
    ),
    _Runner(  # unittest, Django, doctest, tox
        (
            *("Ran ", "FAILED (", "OK (", "FAIL: ", "ERROR: ", "NO TESTS RAN", " test(s).", " tests in ", "\ntest_"),
            *(" test_", "\ttest_", "Test Failed", "passed and ", "had failures", "all tests:", "commands["),
            *("congratulations :)", "evaluation failed :(", ": OK", ": FAIL ", "test database for alias"),
            *("Failed example:",),
        ),
        rf"""Ran\s{_N}\stests?\sin\s | FAILED\s\((?:failures|errors|skipped|unexpected) | OK\s\((?:skipped|expected)
        |(?:FAIL|ERROR):\s\w{{1,100}}\s\([\w.]{{1,200}}\) | test\w{{0,100}}\s\([\w.]{{1,200}}\)(?:\s\.\.\.|$)
        |NO\sTESTS\sRAN | Found\s{_N}\stest\(s\)\. | (?:Creating|Destroying)\stest\sdatabase\sfor
        |{_N}\stests?\sin\s{_N}\sitems?\. | \*{{3}}Test\sFailed\*{{3}}\s\d | {_N}\spassed\sand\s{_N}\sfailed\.
        |{_N}\sitems?\s(?:had\sfailures|passed\sall\stests): | Failed\sexample:$
        |congratulations\s:\) | evaluation\sfailed\s:\( | [\w.-]{{1,40}}:\scommands\[\d{{1,3}}\]>\s[^\n]{{0,60}}test
        |[\w.-]{{1,40}}:\s(?:OK|FAIL)\s[^\n]{{0,20}}\(\d""",
    ),
    _Runner(  # jest, vitest
        (
            *("PASS", "FAIL", "SKIP", "RUNS ", "Test Suite", "Tests:", "Tests ", "Snapshots", "Test Files", "Start at"),
            *("Duration", "Ran all test", "RUN ", "DEV ", "⎯⎯", "stdout | ", "stderr | ", "No tests found"),
            *("No test files found", "No test found", "Coverage report", "All files", "Test failed", "script `test"),
            *_TICKS,
        ),
        rf"""(?:PASS|FAIL|SKIP)[\s:]\s{{0,4}}\S | (?:PASSED|FAILED|SKIPPED)\s{{1,4}}\S | RUNS\s{{1,3}}\S
        |Test\sSuites?: | Snapshots:?\s{{1,8}}\d
        |Tests:?\s{{1,12}}(?:{_N}\s(?:failed|passed|skipped|todo|total|pending|risky|incomplete)|no\stests)
        |Test\sFiles\s{{1,4}}(?:\d|no\s) | Start\sat\s{{1,4}}\d\d:
        |Duration\s{{1,4}}[\d.]{{1,9}}m?s | Ran\sall\stest\ssuites | (?:RUN|DEV)\s{{1,3}}v\d | ⎯{{3}}
        |[{_TICKS}]\s(?:\S{{1,200}}\s(?:>|›)\s|[^\n]{{1,250}}?\s(?:\({_N}\stests?\b|\({_TIME}\)))
        |[{_TICKS}]\s[^\n]{{1,250}}?(?:(?<!\sin)\s\d[\d.]{{0,8}}ms|\s\[{_TIME}\]|\s{{2,200}}\d[\d.]{{0,8}}s)$
        |[{_TICKS}]\s(?:[^\n]{{1,200}}?\s›\s|Test\ssuite\sfailed\sto\srun) | (?:stdout|stderr)\s\|\s\S
        |No\stests?\s(?:files?\s)?found\b
        |●\sValidation\sError | %\sCoverage\sreport\sfrom | All\sfiles\s{{1,80}}\|
        |(?:npm\s(?:error|ERR!)\s|\s?ELIFECYCLE\s{{1,3}})(?:Test\sfailed|Lifecycle\sscript\s`test)""",
    ),
    _Runner(  # mocha, jasmine, karma, ava, cypress, playwright
        (
            *(" passing", " failing", " specs", " spec,", "Executed ", " SUCCESS", "TOTAL: ", " passed", " failed"),
            *(" flaky", " skipped", " did not run", " worker", "] ›", ".spec.", ".test.", ".cy.", "(Run ", "(Results)"),
            *("│ ", "specs passed", "with seed", "No tests found", "Couldn't find", " -  "),
            *(f" - {digit}" for digit in range(10)),
        ),
        rf"""{_N}\s(?:passing|failing)(?:\s\(|$) | {_N}\sspecs?,\s\d | Randomized\swith\sseed\s\d
        |(?:\S[^\n:]{{0,100}}:\s)?Executed\s{_N}\sof\s\d | TOTAL:\s{_N}\s(?:SUCCESS|FAILED)
        |{_N}\s(?:tests?|known\sfailures?|uncaught\sexceptions?)\s(?:passed|failed|skipped)$
        |Running\s{_N}\stests?\susing\s\d | {_N}\s(?:passed\s\({_TIME}|(?:failed|flaky|did\snot\srun)$)
        |(?:[{_TICKS}]|ok|x|-)\s{{1,4}}{_N}\s(?:\[|\S{{1,200}}:\d) | {_N}\)\s\[[\w\s-]{{1,40}}\]\s›\s
        |\[{_N}/{_N}\]\s(?:\[|\S{{1,200}}:\d) | \[[\w\s-]{{1,40}}\]\s›\s | \((?:Run\s(?:Starting|Finished)|Results)\)
        |│\s(?:Tests|Passing|Failing|Pending|Spec\sRan|Screenshots):\s | [{_TICKS}]\s{{1,4}}All\sspecs\spassed
        |[{_TICKS}]\s{{1,4}}(?:{_N}\sof\s{_N}\sfailed|No\stests\sfound|Couldn't\sfind)
        |(?:[{_TICKS}]\s{{1,4}}|{_N}\)\s)?{_SOURCE}(?::$|\s[›>]\s)""",
    ),
    _Runner(  # TAP, node:test, bats
        (
            *("ok - ", "1..", "TAP version", "# Subtest:", "# tests", "# pass", "# fail", "# suites", "# cancelled"),
            *("# skip", "# todo", "# duration_ms", "ℹ ", "TEST COMPLETE", "failing tests:", "Asserts:", "# { total"),
            *("# time=",),
            *(f"ok {digit}" for digit in range(1, 10)),
        ),
        rf"""(?:not\s)?ok\s(?:\d|-\s) | 1\.\.{_N}(?:\s|$) | TAP\sversion\s1 | \#\sSubtest:\s | \#\s\{{\stotal:
        |[\#ℹ]\s(?:tests|pass|fail|suites|cancelled|skipped|skip|todo|duration_ms|time)[\s=]{{1,4}}\d
        |✖\sfailing\stests: | \#\sTEST\sCOMPLETE | Asserts:\s{{1,4}}\d""",
    ),
    _Runner(  # bun, deno
        (
            *("bun test v", " pass\n", " fail\n", "expect() calls", " across ", "(pass) ", "(fail) ", "(skip) "),
            *("tests from ", "test from ", "ok | ", "FAILED | ", "... ok", "... FAILED", "... ignored"),
        ),
        rf"""bun\stest\sv\d | {_N}\s(?:pass|fail)$ | {_N}\sexpect\(\)\scalls | Ran\s{_N}\stests?\sacross\s
        |\((?:pass|fail|skip|todo)\)\s\S | running\s{_N}\stests?\sfrom\s | (?:ok|FAILED)\s\|\s{_N}\spassed
        |\S[^\n]{{0,200}}?\s\.\.\.\s(?:ok|FAILED|ignored)\s\(\d""",
    ),
    _Runner(  # go test, gotestsum, Ginkgo
        (
            *("=== ", "--- PASS", "--- FAIL", "--- SKIP", "--- BENCH", "ok  ", "ok\t", "FAIL\t", "[no test"),
            *("(cached)", "coverage: ", '"Action":"', "DONE ", "Benchmark", "no tests to run", "Running Suite:"),
            *(" Specs in ", "! -- ", "Ginkgo ran", "✓  ", "✖  ", "∅  ", "[build failed]"),
        ),
        rf"""===\s(?:RUN|PAUSE|CONT|NAME|FAIL:|SKIP:|Failed$|Skipped$) | ---\s(?:PASS|FAIL|SKIP|BENCH):\s
        |(?:ok|FAIL|\?|[✓✖∅])\s{{1,8}}[\w./@-]{{1,200}}\s{{1,8}}(?:[\d.]{{1,9}}s\b|\([\d.]{{1,9}}m?s|\(cached\)|\[\w)
        |coverage:\s[\d.]{{1,6}}%\sof\sstatements | \{{"(?:Time|Action)":"[^\n]{{0,250}}?"(?:Test|Package|ImportPath)":"
        |DONE\s{_N}\stests? | Benchmark\w{{1,100}}(?:-\d{{1,3}})?\s{{1,40}}\d | testing:\swarning:\sno\stests\sto\srun
        |Running\sSuite:\s | Ran\s{_N}\sof\s{_N}\sSpecs | (?:SUCCESS|FAIL)!\s--\s\d | Ginkgo\sran\s\d""",
    ),
    _Runner(  # cargo test, nextest, forge
        (
            *("running ", "... ok", "... FAILED", "... ignored", "... bench", "test result:", "Doc-tests", "unittests"),
            *("Running tests/", " stdout ----", "error: test", "test) due", "Recipe `test", "`test` profile"),
            *("Finished test ", "Summary [", "PASS [", "tests across ", "Suite result:", "Nextest run", "[PASS] "),
            *("[FAIL", " tests for ", " test for ", " test suite"),
        ),
        rf"""running\s{_N}\stests?$ | test\s\S[^\n]{{0,200}}?\s\.\.\.\s(?:ok|FAILED|ignored|bench:) | test\sresult:\s
        |Doc-tests\s\w | Running\s(?:unittests|tests/\S{{1,200}})\s[^\n]{{0,200}}\( | ----\s\S{{1,200}}\sstdout\s----
        |error:\s(?:test\s(?:run\s)?failed|could\snot\scompile\s[^\n]{{1,100}}\stest\)
            |Recipe\s`test) | Finished\s(?:`test`\sprofile|test\s\[) | Nextest\srun
        |Starting\s{_N}\stests?\sacross | Summary\s\[\s{{0,6}}[\d.]{{1,9}}s\]\s | Suite\sresult:\s
        |Ran\s{_N}\stests?\s(?:for|suites?\b) | \[(?:PASS\]|FAIL[\]:.])[^\n]{{0,200}}?\w\([^\n]{{0,80}}\)""",
    ),
    _Runner(  # ctest, googletest, Catch2, doctest for C++, Boost, Meson, Bazel
        (
            *("Test project ", "Start  ", " Test #", " Test  ", "Total Test time", "tests passed,", "tests FAILED"),
            *("No tests were", "[=====", "[-----", "[  PASSED", "[  FAILED", "[ RUN", "[       OK", "[  SKIPPED"),
            *("FAILED TEST", "tests passed (", "test cases", "assertions:", "[doctest]", "No errors detected"),
            *("is detected in", "are detected in", "main() from", "Google Test filter", "Ok: ", "Expected Fail:"),
            *("PASSED in", "FAILED in", "FAILED TO BUILD", "out of ", " OK ", " FAIL ", "//"),
        ),
        rf"""Test\sproject\s\S | Start\s{{1,6}}{_N}:\s | {_N}/{_N}\sTest\s{{1,6}}\#\d | \d{{1,3}}%\stests\spassed,
        |Total\sTest\stime | The\sfollowing\stests\sFAILED | No\stests\swere\sfound | All\stests\spassed\s\(
        |\[(?:[=-]{{10}}|\s{{2}}PASSED\s{{2}}|\s{{2}}FAILED\s{{2}}|\sRUN\s{{6}}|\s{{7}}OK\s|\s{{2}}SKIPPED\s)\]
        |{_N}\sFAILED\sTESTS? | Running\smain\(\)\sfrom | Note:\sGoogle\sTest\sfilter | test\scases:\s{{1,8}}\d
        |assertions:\s{{1,8}}\d | \[doctest\]\s | \*\*\*\s(?:No\serrors\sdetected|{_N}\sfailures?\s)
        |Running\s{_N}\stest\scases? | //\S{{1,200}}\s{{1,200}}(?:\(cached\)\s)?(?:PASSED|FAILED|TIMEOUT|NO\sSTATUS)
        |Executed\s{_N}\sout\sof\s{_N}\stests? | (?:Ok|Expected\sFail):\s{{1,20}}{_N}$
        |{_N}/{_N}\s\S[^\n]{{0,200}}?\s{{2,80}}(?:OK|FAIL|SKIP|TIMEOUT)\s{{1,20}}[\d.]{{1,9}}s""",
    ),
    _Runner(  # swift test, xcodebuild, Flutter and Dart
        (
            *("Test Suite '", "Test Case '", "Test case '", "Executed ", "Test run ", "Testing Library", "** TEST "),
            *(": All tests", ": Some tests", "tests passed!", "tests failed.", "◇ ", "✔ ", "✘ ", "↳ "),
            *(f" +{digit}" for digit in range(10)),
        ),
        rf"""Test\s(?:Suite|[Cc]ase)\s' | Executed\s{_N}\stests?,\swith | \*\*\sTEST\s(?:SUCCEEDED|FAILED|EXECUTE)
        |(?:[◇✔✘↳]\s{{1,3}})?(?:Test\srun\s(?:started|with)|Testing\sLibrary\sVersion)
        |[◇✔✘]\s(?:Test|Suite)\s[^\n]{{1,200}}?\s(?:started\.|passed\safter|failed\safter|recorded\san\sissue)
        |\d\d:\d\d\s\+{_N}(?:\s[~-]{_N}){{0,2}}: | (?:All\stests\spassed!|Some\stests\sfailed\.)$""",
    ),
    _Runner(  # Gradle, Maven, sbt
        (
            *(":test", "Test\n", "Test ", " PASSED\n", " FAILED\n", " SKIPPED\n", "tests completed", "test completed"),
            *("failing tests", "T E S T S", "Tests run:", "tests run:", "Running ", "test failures"),
            *("Tests: succeeded", "Run completed", "All tests passed", "*** FAILED", "Passed: Total", "Failed: Total"),
        ),
        rf"""(?:\[\w{{4,7}}\]\s{{0,3}})?(?:>\sTask\s:(?:\S{{1,100}}:)?\w{{0,30}}[tT]est\w{{0,20}}(?:\s|$)
            |T\sE\sS\sT\sS
        |\S[^\n>]{{0,150}}?\s>\s[^\n]{{1,200}}?\s(?:PASSED|FAILED|SKIPPED)$ | {_N}\stests?\scompleted\b
        |There\s(?:were\sfailing\stests|are\stest\sfailures) | Tests\srun:\s\d | Total\snumber\sof\stests\srun:
        |Running\s[\w.$]{{1,150}}(?:Tests?|IT|Spec|TestCase)$ | Tests:\ssucceeded\s\d | Run\scompleted\sin\s
        |All\stests\spassed\.$ | (?:Passed|Failed):\sTotal\s\d | -\s[^\n]{{1,200}}?\*{{3}}\sFAILED\s\*{{3}})""",
    ),
    _Runner(  # dotnet, NUnit, Pester
        (
            *("Failed: ", "Test run for", "Starting test exec", "test files matched", "Total tests:", "Test Run "),
            *(" ms]", " s]", "Test summary:", "Test Execution", "VSTest", "[xUnit.net", "Test Count:"),
            *("Overall result:", "Tests Passed:", "Tests completed in", "Discovery found"),
        ),
        rf"""(?:Passed|Failed|Skipped)!\s{{1,4}}-\sFailed:\s | Test\srun\sfor\s\S | Starting\stest\sexecution
        |A\stotal\sof\s{_N}\stest\sfiles | Total\stests:\s | Test\sRun\s(?:Successful|Failed|Aborted|Summary)
        |(?:Passed|Failed|Skipped)\s\S[^\n]{{0,250}}?\[(?:<\s)?[\d.,]{{1,9}}\sm?s\] | Test\ssummary:\stotal:
        |Microsoft\s\(R\)\sTest\sExecution | VSTest\sversion | \[xUnit\.net\s | Test\sCount:\s\d | Overall\sresult:\s
        |Tests\sPassed:\s\d | Tests\scompleted\sin\s | Discovery\sfound\s\d""",
    ),
    _Runner(  # PHPUnit, Pest, RSpec, minitest, ExUnit, hspec, ShellSpec, Robot Framework, cucumber, busted
        (
            *("PHPUnit ", "OK (", "OK, but", "FAILURES!", "ERRORS!", "WARNINGS!", "Assertions: ", "There was 1 ", "%)"),
            *("There were ", "Memory: ", "assertions", "examples", "example,", "with seed", "rspec ./"),
            *("Failed examples:", "Run options:", "# Running", " runs, ", " tests, ", " test, ", " doctest", "propert"),
            *("ExUnit", ") test ", "PASS |", "FAIL |", "SKIP |", " scenario", " steps (", " steps passed"),
            *("features passed", "feature passed", "successes /", "success /"),
        ),
        rf"""PHPUnit\s\d | OK\s\({_N}\stests?, | OK,\sbut\s | (?:FAILURES|ERRORS|WARNINGS)!$
        |Tests:\s{_N},\sAssertions: | There\s(?:was|were)\s{_N}\s(?:failure|error|warning|risky|skipped)[^\n]{{0,20}}:$
        |[.FEWRSIDN]{{1,100}}\s{{1,80}}{_N}\s/\s{_N}\s\( | Time:\s[\d:.]{{1,12}}\w{{0,3}},\sMemory:
        |(?:{_N}\s(?:doctests?|propert(?:y|ies)|tests?|runs?|examples?|specs?|assertions?),\s){{1,4}}{_N}\s
            (?:failures?|assertions?|passed|failed|errors?)
        |Randomized\swith\sseed\s\d | rspec\s\./\S
        |Failed\sexamples:$ | Run\soptions:\s | \#\sRunning | Running\sExUnit\swith | {_N}\)\stest\s
        |\S[^\n]{{0,200}}?\|\s(?:PASS|FAIL|SKIP)\s\|$ | {_N}\s(?:scenarios?|steps?)\s\(\d
        |{_N}\s(?:features?|rules?|scenarios?|steps?)\spassed,\s | {_N}\ssuccess(?:es)?\s/\s\d""",
    ),
    _Runner(  # EUnit, Common Test, tasty, cabal, Alcotest, OUnit, testthat, prove, Julia, Clojure, Elm, Zig
        (
            *("EUnit", "tests passed", "test passed", "Skipped: ", "TEST COMPLETE", "Test suite ", "test suites ("),
            *("tests failed (", "Testing `", "[OK] ", "[FAIL] ", "Test Successful", "tests run.", "Ran: ", "Cases: "),
            *("| WARN", "══ ", "── Fail", "✔ |", "✖ |", "Test failures", "All tests successful", "Tests=", "Result: "),
            *(".t ..", "Test Summary:", "tests containing", "lein test", "TEST RUN ", "Build Summary:"),
        ),
        rf"""={{3,80}}\sEUnit\s={{3,80}} | (?:===>\s)?Performing\sEUnit | All\s{_N}\stests?\spassed
        |Failed:\s{_N}\.\s{{1,4}}Skipped:\s | Testing\s\S{{1,100}}:\s(?:Starting\stest|TEST\sCOMPLETE)
        |(?:\S{{1,60}}>\s)?Test\ssuite\s\S{{1,100}}(?::\s(?:RUNNING|PASS|FAIL)|\s(?:passed|failed)$)
        |{_N}\sof\s{_N}\stest\ssuites\s\( | {_N}\sout\sof\s{_N}\stests\sfailed\s\( | Testing\s`
        |\[(?:OK|FAIL)\]\s{{4,20}}\S | Test\sSuccessful\sin | {_N}\sfailures?!\sin\s | Ran:\s{_N}\stests\sin
        |FAILED:\sCases:\s\d | \[\sFAIL\s{_N}\s\|\sWARN | ══\s(?:Testing|Results|Failed\stests) | ──\sFail
        |[✔✖]\s\|[\s\d]{{1,30}}\| | Error:\sTest\sfailures | All\stests\ssuccessful\.$ | Files=\d{{1,6}},\sTests=\d
        |Result:\s(?:PASS|FAIL|NOTESTS)$ | \S{{1,200}}\.t\s\.{{2,80}}\s | Test\sSummary:\s{{1,80}}\|
        |Ran\s{_N}\stests\scontaining | lein\stest\s | TEST\sRUN\s(?:PASSED|FAILED|INCOMPLETE)
        |Build\sSummary:\s[^\n]{{0,80}}tests\spassed""",
    ),
    _Runner(  # scripts of one's own
        (
            *("checks passed", "checks failed", "assertions passed", "scenarios passed", " Passed", " PASSED"),
            *(" Tests", "Passed: ", "passed: ", "ASSED: ", "Passed, ", "passed, ", "LL TESTS PASSED", "PASS\n"),
            *("FAIL\n", "PASSED\n", "FAILED\n"),
            *(
                f" {what} {how}"
                for what in ("tests", "test", "specs", "cases")
                for how in ("passed", "failed", "passing")
            ),
        ),
        rf"""(?i:[\W_]{{0,80}}(?:(?:results?|summary|total|tests?|test\sresults?|final\sresults?)[:\s]\s?|all\s)?
            {_N}(?:\s?(?:/|of|out\sof)\s?{_N})?\s{_TESTED}
            (?:[,;|\s&]{{1,4}}(?:and\s)?{_N}\s(?:tests?\s)?(?:passed|failed|passing|failing|skipped|total)){{0,4}}
            (?:\sin\s[\d.]{{1,9}}\s?m?s\w{{0,6}})?[\W_]{{0,80}}$
        |[\W_]{{0,80}}(?:(?:test\s)?(?:results?|summary|tests?)[:\s]\s{{0,4}})?{_N}(?:/{_N})?\s
            passed[,;|/\s]{{1,4}}{_N}\sfailed\b
        |[\W_]{{0,80}}(?:(?:test\s)?(?:results?|summary|total)[:\s]\s{{0,4}}(?:{_N}[,;|\s]{{1,4}})?)?
            passed:\s{{0,12}}{_N}(?:[,;|/\s]{{1,4}}failed:\s{{0,12}}\d|$)
        |[\W_]{{0,80}}all\stests\spassed[\W_]{{0,80}}$)
        |[\w(\['"][^\n]{{0,200}}?[\s:.](?:PASS|FAIL)(?:ED)?$""",
    ),
    _Runner(  # the commands themselves, as npm and shells echo them, and their failure to start
        (
            *("\n> ", "\n$ ", "\n+ ", 'script: "test', "vitest:", "jest:", "mocha:", "pytest:", "phpunit:", "rspec:"),
            *("not found: ", "no such command", "Running test ", "Task test ", "] Err"),
        ),
        rf"""[>$]\s\S{{1,150}}(?:@\S{{1,60}})?\s(?:pre|post)?test(?::\S{{1,60}})?(?:\s/\S{{0,200}})?$
        |[>$+]\s(?:[A-Z_]{{1,40}}=\S{{1,80}}\s){{0,4}}(?:(?:npx|bunx|uv|poetry|bundle|pdm|hatch|pnpm|yarn|npm|python3?|node
            |cross-env|c8|nyc)\s(?:--?\S{{1,60}}\s|run\s|exec\s|-m\s){{0,6}})?(?:\S{{0,80}}/)?{_PROGRAMS}(?:\s|$)
        |[>$+]\s(?:npm|pnpm|yarn|bun|go|cargo|swift|make|just|task|dotnet|mix|flutter|dart|deno|\./gradlew|gradle|mvn|sbt
            |rake|zig|forge|lein|dune|cabal|stack|rebar3|php\sartisan|node\s--test|python\s-m)\s
            (?:run\s|-\S{{1,60}}\s){{0,3}}(?:tests?|unittest|check|runtest|eunit)(?::\S{{1,60}})?(?:\s|$)
        |>\snx\srun\s\S{{1,60}}:test | •\sRunning\stest\s | Task\stest\s
        |make(?:\[\d\])?:\s\*\*\*\s\[[^\n]{{0,60}}\b(?:test|check)\]\s
        |npm\s(?:error|ERR!)\sMissing\sscript:\s["']test
        |(?:\S{{1,60}}\s){{0,3}}(?:line\s\d{{1,4}}:\s|\d{{1,4}}:\s)?{_PROGRAMS}:\s(?:command\s)?not\sfound
        |(?:\S{{1,60}}\s)?command\snot\sfound:\s{_PROGRAMS} | error:\sno\ssuch\scommand:\s`(?:nextest|test)""",
    ),
)

# Monorepo tools write package and task in front of each line. A possessive group fails on Python 3.11.2 (Debian 12).
_PREFIX = r"(?:\S{1,60}:test(?::\S{1,30})?:\s)?[ \t]{0,40}+"
_Shapes = Sequence[re.Pattern[str]]


def _shapes_by_mark() -> dict[str, _Shapes]:
    found: dict[str, list[re.Pattern[str]]] = {}
    for runner in _RUNNERS:
        shape = pattern(f"{_PREFIX}(?:{runner.lines})", re.VERBOSE)
        for mark in dict.fromkeys(runner.marks):
            found.setdefault(mark, []).append(shape)
    return dict(found)


# Each mark with the distance from its end back to its last character in the text itself (the text is searched between
# two added line breaks), and with the shapes that it may belong to.
_SOUGHT = tuple((mark, 3 if mark.endswith("\n") else 2, shapes) for mark, shapes in _shapes_by_mark().items())
_AUTOMATON = AhoCorasick([mark for mark, _, _ in _SOUGHT], store_patterns=False)


def find_runner_lines(text: str) -> set[int]:
    """Return the positions in `text` at which lines begin that a test runner has printed."""
    hits = _AUTOMATON.find_matches_as_indexes(f"\n{text}\n", overlapping=True)
    if len(hits) > 2 * _HITS:
        hits = hits[:_HITS] + hits[-_HITS:]
    found: set[int] = set()
    tried: set[tuple[int, re.Pattern[str]]] = set()
    start = stop = 0
    line = ""
    for mark, _, end in hits:
        _, behind, shapes = _SOUGHT[mark]
        within = end - behind
        if not start <= within < stop:
            start = text.rfind("\n", within - _REACH if within > _REACH else 0, within) + 1 if within > 0 else 0
            stop = text.find("\n", start, start + _LONGEST)
            line = text[start : stop if stop >= 0 else start + _LONGEST].rstrip()
        if start in found or within > start + _REACH:
            continue
        for shape in shapes:
            if (start, shape) not in tried and shape.match(line):
                found.add(start)
                break
            tried.add((start, shape))
    return found


_LINES = 1000  # lines read from the beginning, and as many from the end
_HEAD, _TAIL = 3, 4  # most unknown lines before and after a framed run
_NEAR = 6  # A part of a run has a runner's line among so many last ones, or one in ten.

_FENCE = pattern(r"\s{0,8}(?:```|~~~)")
# Output of other tools, source text, and the marks of a report.
_FOREIGN = pattern(
    r"""diff\s--git\s | (?:\+\+\+|---)\s[ab]/ | index\s[0-9a-f]{7,40}\.\. | commit\s[0-9a-f]{40} | On\sbranch\s
    |Changes\s(?:to\sbe\scommitted|not\sstaged) | Untracked\sfiles:
    |\[\S{1,80}\s(?:\(root-commit\)\s)?[0-9a-f]{7,40}\]\s
    |\s{0,3}[0-9a-f]{7,40}(?:\s|\.\.)\S | To\s(?:https?://|git@)\S | \s\d{1,6}\sfiles?\schanged
    |total\s\d{1,9}$ | [dl-][rwxsStT-]{9}[.+@]?\s
    |(?:import|from|export|def|class|async|func|fn|pub|use|package|const|let|var|describe|it|test)\b[^\n]{0,200}[;:{(,]$
    |\#{2,6}\s | \#\s[A-Z][a-z] | \s{0,4}(?:[-*]|\d{1,2}[.)])\s(?:\*\*|\[[ xX]\]\s) | \*\*\w""",
    re.VERBOSE,
)
# How an agent writes about its work, and no runner about its own.
_VOICE = pattern(
    r"""(?-i:\b(?:I|We)(?:'ve|'ll|'m|'re)?\s[a-z])
    |\b(?:let\sme|let's|implement(?:ed|s|ation)|refactored|looks\sgood|as\sexpected
        |(?:added|fixed|created|updated|changed|rewrote|removed|moved)\s(?:the|an?|all|new|it|this|both|\d|`)
        |(?:all|the)\s(?:\w{1,20}\s)?tests\s(?:are\s)?(?:pass|green)\w{0,3}
        |(?:task|story|work|feature|everything)\s(?:is|are|done))\b
    |^\W{0,6}(?:added|fixed|created|updated|rewrote|removed|moved|wired|wrote|implemented)\s\w
    |^\W{0,4}(?:all\s)?(?:done|finished|completed?|ready|next|summary)\b[^\n]{0,80}[.!:]$
    |[我已]|完成|修[復复正]|新增|實作|实现""",
    re.VERBOSE | re.IGNORECASE,
)
_ANNOUNCED = pattern(
    r"""(?:(?:first|now|next|ok|okay),?\s)?(?:let\sme|let's|i'll|i\swill|i|i'm|we)?\s?(?:now\s)?
    (?:run|ran|running|rerun|re-run|execute)\w{0,4}\s
    (?:\S{1,20}\s){0,4}(?:tests?|suite|specs?|pytest|jest|vitest)\b[^\n]{0,40}[:.]$""",
    re.VERBOSE | re.IGNORECASE,
)
# What follows, up to the runner's next line, was printed by the tested program.
_CAPTURED = pattern(r"-{3,200}\sCaptured\s|std(?:out|err)\s\|\s|----\s\S{1,200}\sstdout\s")
_SENTENCE = pattern(r"[\"'(*_]{0,3}[A-Z\u3400-\u9fff](?:\S{1,60}\s){3}[^\n]{0,300}[.!?:。！？：]$")
# What a tested program itself prints, and no report on work: a phase, costs, the sizes of a build, calls of tools.
_PRINTED = pattern(
    r"(?:Story|Phase):\s\S{1,80}$ | (?:Cost|Done|Total):\s[^\n]{0,200}(?:\$\d|✓) | \s?[⏳💭⚡]\s | \+\s{2}"
    r"|[\w-]{1,40}\srun(?:\s\|\s[^\n]{1,80})?$ | (?:ESM|CJS|DTS|IIFE)\s(?:⚡|Build\s|\S{1,120}\s+[\d.]{1,9}\s[KM]?B$)",
    re.VERBOSE,
)
# What stands in a run between the runner's own lines.
_FILLING = pattern(
    r"""\s{2,} | \t | \s?(?:
      [E>]\s | at\s | \$\s | [=\-_─━═⎯*~.\#]{3,} | [│┃|┌└├┐┘┤┬┴┼╭╰╮╯╔╚║] | [\[\](){}"'<,;]
    | [✓✔✗✕✘✖❯×√↓●○∅▶◼◇✅❌⚠⏭★·•→↳⚡🌈🎉ℹ] | [-+]\s?(?:[Ee]xpected|[Rr]eceived|actual|[\[\]{}"'0-9<(])
    | (?i:(?:npm|yarn|pnpm|bun|warn(?:ing)?|info|error|err|debug|note|notice|hint|help|fatal|panic|log|caused\sby)
        (?:\s?[:!\[]|\s(?:err!|warn|error|notice|run|exec|test|command|visit)\b))
    | [\w.]{0,80}(?:Error|Exception|Warning|Failure)\b | Traceback\s
    | (?:Compil|Finish|Runn|Build|Download|Updat|Lock|Check|Resolv|Fetch|Install|Creat|Start|Collect|Load|Generat
        |Execut|Connect|Apply|Migrat|Stopp|Process|Wait)(?:ing|ed)\b
    | \d{4}-\d\d-\d\d | \d{1,2}:\d\d | \S{1,200}:\d{1,6}(?:[:,)\s]|$) | Exit\scode\s\d | exit\sstatus\s
    | \d{1,6}\sactionable\stasks? | Cached:\s | Time:\s
    | [\w./@-]{1,120}\.(?:py|[cm]?[jt]sx?|go|rs|rb|java|kt|swift|php|exs?|dart|c|cc|cpp|h|cs)\b
    | \d{1,6}(?:\s\||\)\s|%|\s(?:pending|skipped|todo)$) | [.FEsxX]{4,}$ | [^\s.!。！]{1,200}$)""",
    re.VERBOSE,
)


class _Line(NamedTuple):
    """A line that is not empty.

    Attributes:
        runner: a runner printed it.
        fenced: it stands in a code fence.
        captured: the tested program printed it.
    """

    text: str
    runner: bool
    fenced: bool
    captured: bool

    @property
    def is_foreign(self) -> bool:
        """True if the line is about something other than tests."""
        if self.runner or self.captured:
            return False
        return bool(_FOREIGN.match(self.text) or (_VOICE.search(self.text) and not _ANNOUNCED.match(self.text)))

    @property
    def is_plausible(self) -> bool:
        """True if a test run may print the line."""
        return self.runner or self.captured or bool(_FILLING.match(self.text) or _ANNOUNCED.match(self.text))


def is_only_tests(text: str, begins: AbstractSet[int]) -> bool:
    """Return True if a text is the output of tests and nothing else.

    A line is a runner's; or it fills a run (stack traces, coverage, warnings, build output); or it is about something
    else (a diff, source text, a report on work); or it is unknown. A run that is framed by a runner's lines may hold
    nearly anything; of a part of a run most lines have to be known, and above a summary alone all of them.

    Args:
        text: without colours; of a long text the first and the last 1000 lines are read.
        begins: positions at which the lines of a test runner begin.
    """
    lines = _lines(text, begins)
    own = [index for index, line in enumerate(lines) if line.runner]
    if not own:
        return False
    lines[own[-1] :] = [line._replace(captured=False) for line in lines[own[-1] :]]  # it may have ended there
    unknown = [index for index, line in enumerate(lines) if not line.is_plausible]
    early, late = sum(index < own[0] for index in unknown), sum(index > own[-1] for index in unknown)
    framed = len(own) > 1 and early <= _HEAD and late <= _TAIL and early + late <= len(own)
    told = [line for line in lines if not _PRINTED.match(line.text) and (line.is_foreign or not line.is_plausible)]
    if own[-2:] == [len(lines) - 2, len(lines) - 1] and not told:
        return True
    enough = len(own) * 10 >= len(lines) or own[-1] >= len(lines) - _NEAR
    piece = enough and len(unknown) * 5 <= len(lines) * 2
    if not (framed or piece) or _has_foreign_frame(lines, own):
        return False
    foreign = sum(lines[index].is_foreign for index in unknown)
    return (framed and foreign * 10 <= len(lines)) or (piece and not foreign)


def _has_foreign_frame(lines: Sequence[_Line], own: Sequence[int]) -> bool:
    """Return True if lines around a run are about something else; around a fenced run: all that are not fenced."""
    fenced = lines[own[0]].fenced
    spoken = [line for line in lines if not line.fenced] if fenced else [lines[0], lines[-1]]
    around = (*lines[: own[0]], *lines[own[-1] + 1 :], *(spoken if fenced else ()))
    if any(line.is_foreign for line in around):
        return True
    return any(_SENTENCE.match(line.text) for line in spoken if not line.is_plausible)


def _lines(text: str, begins: AbstractSet[int]) -> list[_Line]:
    """Return the lines that are neither empty nor fences; of many the first and the last."""
    all_lines = text.split("\n")
    if len(all_lines) <= 2 * _LINES:
        return list(_read(all_lines, begins, 0))
    last = all_lines[-_LINES:]
    at = len(text) - sum(map(len, last)) - len(last) + 1
    return [*_read(all_lines[:_LINES], begins, 0), *_read(last, begins, at)]


def _read(lines: Iterable[str], begins: AbstractSet[int], at: int) -> Iterator[_Line]:
    fenced = captured = False
    for line in lines:
        shown = line[:_REACH].rstrip()
        if _FENCE.match(shown):
            fenced, captured = not fenced, False
        elif shown:
            runner = at in begins
            yield _Line(shown, runner, fenced, captured and not runner)
            captured = _CAPTURED.match(shown) is not None if runner else captured
        at += len(line) + 1
