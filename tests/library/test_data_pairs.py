"""Corpora of pairs: number names, dates, and a reader's own file."""

import sys
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from num2words import num2words

from course_lib.data.dates import date_pairs, days
from course_lib.data.number_names import number_names
from course_lib.data.parallel import LONGEST_LINE, SHOWN, read_pairs


@given(st.integers(0, 999_999))
def test_a_german_name_without_its_bars_is_the_one_of_num2words(number):
    ((_, german),) = number_names([number])
    assert german.replace("|", "") == num2words(number, lang="de")


@pytest.mark.parametrize(
    ("number", "english", "german"),
    [
        (0, "zero", "null"),
        (17, "seventeen", "sieb|zehn"),
        (21, "twenty one", "ein|und|zwanzig"),
        (66, "sixty six", "sechs|und|sechzig"),
        (70, "seventy", "siebzig"),
        (101, "one hundred one", "ein|hundert|eins"),
        (12_030, "twelve thousand thirty", "zwölf|tausend|dreißig"),
        (
            999_999,
            "nine hundred ninety nine thousand nine hundred ninety nine",
            "neun|hundert|neun|und|neunzig|tausend|neun|hundert|neun|und|neunzig",
        ),
    ],
)
def test_known_number_names(number, english, german):
    assert number_names([number]) == [(english, german)]


@pytest.mark.parametrize("number", [-1, 1_000_000, 2.0, "7", None])
def test_what_has_no_name_here_is_refused(number):
    with pytest.raises(ValueError, match="whole numbers from 0 to 999,999"):
        number_names([number])


@pytest.mark.parametrize(
    ("call", "package"),
    [(lambda: number_names([1]), "num2words"), (lambda: date_pairs([]), "babel")],
)
def test_a_missing_package_is_named_with_its_command(monkeypatch, call, package):
    for name in ("num2words", "babel", "babel.dates"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ValueError, match=f"pip install {package}=="):
        call()


def test_known_dates_in_chinese():
    day = date(2021, 5, 3)
    assert date_pairs([day] * 5, "zh") == [
        ("Monday, 3 May 2021", "2021年5月3日星期一"),
        ("Monday, May 3, 2021", "2021年5月3日星期一"),
        ("Mon, 3 May 2021", "2021年5月3日星期一"),
        ("3 May 2021", "2021年5月3日"),
        ("May 3, 2021", "2021年5月3日"),
    ]


def test_known_dates_in_german():
    day = date(1999, 12, 31)
    assert date_pairs([day] * 4, "de")[2:] == [
        ("Fri, 31 Dec 1999", "Freitag, 31. Dezember 1999"),
        ("31 December 1999", "31. Dezember 1999"),
    ]


def test_another_language_is_refused():
    with pytest.raises(ValueError, match="'fr'.*'zh', 'de'"):
        date_pairs([], "fr")


def test_dates_need_a_format():
    with pytest.raises(ValueError, match="at least one CLDR pattern"):
        date_pairs([date(2000, 1, 1)], "de", [])


def test_days_are_all_there_once():
    found = days(1999, 2001)
    assert len(found) == len(set(found)) == 365 + 366 + 365
    assert (found[0], found[-1]) == (date(1999, 1, 1), date(2001, 12, 31))


@pytest.mark.parametrize("years", [(0, 5), (2001, 2000), (2000, 9999)])
def test_years_outside_the_calendar_are_refused(years):
    with pytest.raises(ValueError, match="the years were"):
        days(*years)


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "pairs.tsv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_pairs_are_read_in_order_whatever_ends_a_line(write, end, mark):
    text = end.join(["uno\tone", " due \t two", "", "tre\tthree"])
    found = read_pairs(write(mark + text.encode()))
    assert found.pairs == [("uno", "one"), ("due", "two"), ("tre", "three")]
    assert (found.problems, found.n_skipped, found.n_repeated) == ([], 0, 0)


def test_each_bad_line_is_named_by_its_number(write):
    lines = [
        "uno\tone",
        "due two",
        "tre\tthree\t3",
        "\tfour",
        "cinque\t",
        "a\t" + "b" * 9,
    ]
    found = read_pairs(write("\n".join(lines)), longest=8)
    assert found.pairs == [("uno", "one")]
    assert found.problems == [
        (2, "0 tabs, expected one between source and target"),
        (3, "2 tabs, expected one between source and target"),
        (4, "the source is empty"),
        (5, "the target is empty"),
        (6, "the target has 9 characters, at most 8"),
    ]


def test_a_giant_line_is_one_problem_and_what_follows_keeps_its_number(write):
    found = read_pairs(write("a\tb\n" + "x" * (3 * LONGEST_LINE) + "\nc\td\ne\n"))
    assert found.pairs == [("a", "b"), ("c", "d")]
    assert [number for number, _ in found.problems] == [2, 4]
    assert found.problems[0][1] == f"longer than {LONGEST_LINE} characters"


@pytest.mark.parametrize("n", [LONGEST_LINE - 1, LONGEST_LINE, LONGEST_LINE + 1])
def test_lines_near_the_limit_keep_the_count(write, n):
    found = read_pairs(write("x" * n + "\nc\td\ne\n"))
    assert found.pairs == [("c", "d")]
    assert [number for number, _ in found.problems] == [1, 3]


def test_joiners_and_wide_blanks_are_no_reason_to_skip_a_line(write):
    family, persian = "\U0001f469\u200d\U0001f467", "\u0645\u06cc\u200c"
    path = write(f"{family}\tfamily\n{persian}\tI  want\nbon\u00a0!\tgood!\n")
    expected = [(family, "family"), (persian, "I want"), ("bon !", "good!")]
    assert read_pairs(path).pairs == expected


def test_a_repeated_pair_is_kept_once_and_counted(write):
    found = read_pairs(write("a\tb\na\tc\na\tb\na \tb\n"))
    assert found.pairs == [("a", "b"), ("a", "c")]
    assert found.n_repeated == 2


def test_many_problems_are_counted_and_the_first_are_kept(write):
    found = read_pairs(write("a\tb\n" + "no tab\n" * 50))
    assert (len(found.problems), found.n_skipped) == (SHOWN, 50)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no pair"),
        (b"\n\n", "holds no pair"),
        (b"one line", "line 1: 0 tabs"),
        ("a\tb".encode("utf-16"), "perhaps utf-16"),
        ("a\tb".encode("utf-32"), "perhaps utf-32"),
        (b"a\0\tb", "line 1: the source holds a control character"),
        ("é\tb".encode("latin-1"), "perhaps latin-1"),
    ],
)
def test_a_file_without_pairs_is_refused_with_its_reason(write, content, message):
    with pytest.raises(ValueError, match=message):
        read_pairs(write(content))


def test_another_encoding_can_be_named(write):
    path = write("é\tb".encode("latin-1"))
    assert read_pairs(path, encoding="latin-1").pairs == [("é", "b")]
    with pytest.raises(ValueError, match="no encoding 'latin-99'"):
        read_pairs(path, encoding="latin-99")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(ValueError, match="cannot be read"):
        read_pairs(tmp_path)
