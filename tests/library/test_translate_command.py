"""The commands translate, translate train and pronounce, as a reader types them."""

import os
import signal
import subprocess
import sys
import time

import pytest

from course_lib.__main__ import main
from course_lib.apps.translate.command import translator
from course_lib.apps.translate.corpora import CORPORA, SHARES
from course_lib.apps.translate.run import measure
from course_lib.data.number_names import number_names
from course_lib.data.splits import split
from course_lib.pretrained.checkpoints import TRAINED


@pytest.fixture
def pairs_file(tmp_path):
    """Number names to 99 as a reader's own corpus, with three bad lines among them."""
    lines = [f"{english}\t{german}" for english, german in number_names(range(100))]
    lines[5:5] = ["no tab here", "a\tb\tc", ""]
    lines.append(lines[0])
    path = tmp_path / "numbers.tsv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def run(*arguments):
    """Run the command line in this process; return its exit status."""
    return main([str(argument) for argument in arguments])


def test_a_file_of_pairs_becomes_a_translator_in_a_folder(pairs_file, tmp_path, capsys):
    out = tmp_path / "mine"
    assert run("translate", "train", pairs_file, "--out", out, "--steps", 30) == 0
    told = capsys.readouterr().err
    assert "line 6 skipped: 0 tabs, expected one" in told
    assert "line 7 skipped: 2 tabs, expected one" in told
    assert "pairs: 100; lines skipped: 2, repeated: 1" in told
    assert "step 30: validation loss" in told
    assert " -> " in told
    assert run("translate", "--model", out, "twenty one", "seven") == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    card = (out / "card.md").read_text()
    for word in ("data:", "split:", "recipe:", "seed 0", "budget:", "validation:"):
        assert word in card


def test_the_same_command_again_does_not_train_again(pairs_file, tmp_path, capsys):
    command = ("translate", "train", pairs_file, "--out", tmp_path / "x", "--steps", 20)
    assert run(*command) == 0
    weights = (tmp_path / "x" / "model.safetensors").read_bytes()
    capsys.readouterr()
    assert run(*command) == 0
    assert "step 20" not in capsys.readouterr().err
    assert (tmp_path / "x" / "model.safetensors").read_bytes() == weights


def test_a_folder_with_another_run_is_left_alone(pairs_file, tmp_path, capsys):
    out = tmp_path / "x"
    assert run("translate", "train", pairs_file, "--out", out, "--steps", 20) == 0
    assert run("translate", "train", pairs_file, "--out", out, "--steps", 30) == 1
    assert "holds a run with other settings (n_steps)" in capsys.readouterr().err


def test_words_can_be_the_units_of_the_targets(pairs_file, tmp_path, capsys):
    text = pairs_file.read_text(encoding="utf-8").replace("|", " ")
    pairs_file.write_text(text, encoding="utf-8")
    out = tmp_path / "x"
    options = ("--out", out, "--steps", 20, "--target-units", "words")
    assert run("translate", "train", pairs_file, *options) == 0
    assert "zwanzig" in translator(str(out)).target.words


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no pair"),
        (b"one\teins", "holds one source only"),
        ("ä\tb\nc\td".encode("latin-1"), "perhaps latin-1"),
        (b"\x00\x01\x02", "line 1: 0 tabs"),
    ],
)
def test_a_file_that_cannot_be_used_gets_one_sentence(
    tmp_path, capsys, content, message
):
    path = tmp_path / "bad.tsv"
    path.write_bytes(content)
    assert run("translate", "train", path, "--out", tmp_path / "x") == 1
    told = capsys.readouterr().err
    assert message in told
    assert "Traceback" not in told
    assert not (tmp_path / "x").exists()


def test_two_lines_are_enough_to_try(tmp_path, capsys):
    path = tmp_path / "two.tsv"
    path.write_text("a\tb\nc\td\n", encoding="utf-8")
    options = ("--out", tmp_path / "x", "--steps", 3)
    assert run("translate", "train", path, *options) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["translate", "--model", "none", "x"], "neither a folder nor one of"),
        (["translate", "train", "no such.tsv"], "cannot be read"),
    ],
)
def test_what_is_not_there_is_named(capsys, arguments, message):
    assert run(*arguments) == 1
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_a_killed_run_ends_where_an_unbroken_one_does(pairs_file, tmp_path):
    def command(out):
        code = (
            "import functools, sys; from course_lib.apps.translate import corpora\n"
            "from course_lib.__main__ import main\n"
            "corpora.Recipe = functools.partial(corpora.Recipe, check_every=20)\n"
            "sys.exit(main())"
        )
        options = ["--out", str(tmp_path / out), "--steps", "45"]
        return [
            *(sys.executable, "-c", code),
            *("translate", "train", str(pairs_file), *options),
        ]

    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    quiet = {"stderr": subprocess.DEVNULL, "env": environment}
    subprocess.run(command("whole"), check=True, timeout=300, **quiet)
    with subprocess.Popen(command("cut"), **quiet) as process:
        deadline = time.monotonic() + 240
        while not (tmp_path / "cut" / "training.pt").exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    assert not (tmp_path / "cut" / "model.safetensors").exists()
    subprocess.run(command("cut"), check=True, timeout=300, **quiet)
    whole, cut = (tmp_path / name / "model.safetensors" for name in ("whole", "cut"))
    assert cut.read_bytes() == whole.read_bytes()


# The course's own translators ------------------------------------------------------


@pytest.mark.parametrize("name", CORPORA)
def test_a_translator_of_our_own_lies_here_with_its_card(name):
    folder = TRAINED / name
    assert (folder / "model.safetensors").stat().st_size <= 4_000_000
    card = (folder / "card.md").read_text()
    for word in ("data:", "split:", "seed 0", "CPU seconds", "licence", "test:"):
        assert word in card
    assert f"translate train {name}" in card


@pytest.mark.parametrize(
    ("text", "german"),
    [
        ("twenty-one", "einundzwanzig"),
        ("Twenty-one", "einundzwanzig"),
        ("twenty one", "einundzwanzig"),
        ("four", "vier"),
        ("one hundred and five", "einhundertfünf"),
        ("nine hundred ninety-nine", "neunhundertneunundneunzig"),
        ("Monday, 3 May 2021", "Montag, 3. Mai 2021"),
        ("may 3, 2021", "3. Mai 2021"),
        ("Tue, Dec 24, 1999", "Dienstag, 24. Dezember 1999"),
        ("2000-02-29", "29. Februar 2000"),
        (" Monday,  3 May 2021 ", "Montag, 3. Mai 2021"),
        ("TWENTY-ONE", "einundzwanzig"),
    ],
)
def test_a_number_or_a_date_is_translated(capsys, text, german):
    assert run("translate", text) == 0
    assert capsys.readouterr().out == f"{german}\n"


def test_a_text_that_cannot_be_read_does_not_keep_others_back(capsys):
    assert run("translate", "seven", "3/4", "eight") == 1
    said = capsys.readouterr()
    assert said.out == "sieben\nacht\n"
    assert "'3/4' was left out: this translator never saw '/'" in said.err
    assert run("pronounce", "cat", "C3PO", "dog") == 1
    said = capsys.readouterr()
    assert said.out == "K AE T\nD AA G\n"
    assert "'C3PO' was left out: words are made of a to z and '" in said.err


@pytest.mark.parametrize("n_beams", [0, -1, 65])
def test_beams_that_no_search_needs_are_refused(capsys, n_beams):
    assert run("translate", "seven", "--beams", n_beams) == 1
    assert f"--beams was {n_beams}" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_gets_one_sentence(pairs_file, capsys):
    assert run("translate", "train", pairs_file, "--out", "/proc/x") == 1
    assert "/proc/x: No such file or directory" in capsys.readouterr().err


def test_two_sources_that_the_hash_puts_into_one_part_are_still_two(tmp_path, capsys):
    names = [f"source {number}" for number in range(400)]
    of_validation = split(names, *SHARES)[1][:2]
    path = tmp_path / "two.tsv"
    path.write_text("\n".join(f"{name}\tx" for name in of_validation))
    options = ("--out", tmp_path / "x", "--steps", 2)
    assert run("translate", "train", path, *options) == 0


def test_a_reader_that_goes_away_gets_no_traceback(tmp_path):
    command = f"{sys.executable} -m course_lib translate seven seven | true"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=120
    )
    assert "Traceback" not in done.stderr


def test_a_number_is_held_out_with_all_its_names():
    training, validation, test = CORPORA["english-german"].parts()
    parts = [{german for _, german in part} for part in (training, validation, test)]
    assert not parts[0] & parts[1]
    assert not parts[0] & parts[2]
    assert not parts[1] & parts[2]
    assert {"four", "thirteen", "ninety", "zero"} <= {source for source, _ in training}


def test_a_model_that_is_no_translator_is_refused(capsys):
    assert run("translate", "--model", TRAINED / "python-source", "x") == 1
    assert "holds a model that is no translator" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["3", "a.m.", "", "'"])
def test_what_is_no_word_cannot_be_pronounced(capsys, word):
    assert run("pronounce", "cat", word) == 1
    assert "words are made of a to z and '" in capsys.readouterr().err


def test_a_typographic_apostrophe_is_one(capsys):
    assert run("pronounce", "don’t", "don't") == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second


def test_a_run_that_cannot_begin_leaves_nothing(pairs_file, tmp_path, capsys):
    out = tmp_path / "x"
    assert run("translate", "train", pairs_file, "--out", out, "--steps", 0) == 1
    assert "--steps was 0" in capsys.readouterr().err
    assert not out.exists()
    assert run("translate", "train", pairs_file, "--out", pairs_file) == 1
    assert "is a file: name another folder" in capsys.readouterr().err


def test_a_name_that_is_taken_needs_a_folder(pairs_file, capsys):
    taken = pairs_file.rename(pairs_file.with_name("pronunciations.tsv"))
    assert run("translate", "train", taken) == 1
    assert "is taken: name a folder with --out" in capsys.readouterr().err


def test_a_word_is_pronounced_from_the_command_line(capsys):
    assert run("pronounce", "transformer", "Letter") == 0
    assert capsys.readouterr().out.splitlines() == [
        "T R AE N S F AO R M ER",
        "L EH T ER",
    ]


@pytest.mark.slow
def test_held_out_words_are_pronounced_as_the_card_says():
    *_, test = CORPORA["pronunciations"].parts()
    found = translator("pronunciations")
    figure = measure(found, test, CORPORA["pronunciations"], most=150)
    assert 0.58 < figure.exact < 0.80
