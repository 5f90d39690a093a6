"""Plain words of compose files: what compose's own library (compose-go 2.16.2) makes of them in an environment."""

import pytest

from slownet.compose import parser, reader, scalars
from slownet.model.errors import ComposeError


def environment(text: str) -> dict[str, str]:
    found = parser.parse(f"{text}\n", "compose.yaml")[0]
    return {name: scalars.text(value) for name, value in found.items()}


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("1e6", "1e+06"),
        ("1234567.5", "1.2345675e+06"),
        ("0.00001", "1e-05"),
        ("123456.0", "123456"),
        ("1000000.0", "1e+06"),
        ("0.0001", "0.0001"),
        ("-1e6", "-1e+06"),
        ("1e5", "100000"),
        ("2024-01-01 10:00:00", "2024-01-01 10:00:00 +0000 UTC"),
        ("2024-01-01t10:00:00z", "2024-01-01t10:00:00z"),
        ("2024-01-01 10:00:00Z", "2024-01-01 10:00:00Z"),
        ("2024-01-01T1:2:3Z", "2024-01-01 01:02:03 +0000 UTC"),
        ("2024-01-01T10:00", "2024-01-01T10:00"),
        ("2024-01-01T10:00:00", "2024-01-01T10:00:00"),
        ("24-01-01", "24-01-01"),
        ("2024-1-31", "2024-01-31 00:00:00 +0000 UTC"),
        ("2024-02-30", "2024-02-30"),
        ("2024-01-01T10:00:00-05:30", "2024-01-01 10:00:00 -0530 -0530"),
        ("2024-01-01T10:00:00.123456789Z", "2024-01-01 10:00:00.123456789 +0000 UTC"),
        ("2024-01-01 10:00:00.5", "2024-01-01 10:00:00.5 +0000 UTC"),
        ("0001-01-01", "0001-01-01 00:00:00 +0000 UTC"),
        ("2024-1-1T10:00:00Z", "2024-01-01 10:00:00 +0000 UTC"),
        ("2024-01-01T25:00:00Z", "2024-01-01T25:00:00Z"),
        ("2024-01-01T10:00:00.100Z", "2024-01-01 10:00:00.1 +0000 UTC"),
        ("2024-01-01T10:00:00+00:00", "2024-01-01 10:00:00 +0000 UTC"),
        ("2024-01-01T10:00:00,5Z", "2024-01-01 10:00:00.5 +0000 UTC"),
        ("2024-01-01T10:00:00+01:00", "2024-01-01 10:00:00 +0100 +0100"),
        ("2024-01-01T10:00:00+0100", "2024-01-01T10:00:00+0100"),
        ("-1.", "-1"),
        ("1.e3", "1000"),
        (".e3", ".e3"),
        ("0b", "0b"),
        ("+0x1F", "31"),
        ("-0x1F", "-31"),
        ("-0o17", "-15"),
        ("-017", "-15"),
        ("0X1F", "31"),
        ("0B11", "3"),
        ("0O17", "15"),
        ("9223372036854775808", "9223372036854775808"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("-9223372036854775809", "-9.223372036854776e+18"),
        ("1_", "1"),
        ("_1", "_1"),
        ("0_1", "1"),
        ("1e", "1e"),
        ("089", "89"),
        ("0777", "511"),
        ("0x", "0x"),
        ("0xFFFFFFFFFFFFFFFFFF", "0xFFFFFFFFFFFFFFFFFF"),
        ("1.5_5", "1.55"),
        ("1e+3_0", "1e+30"),
        ("1e21", "1e+21"),
        ("1e20", "1e+20"),
        ("18446744073709551616", "1.8446744073709552e+19"),
        ("-0b11", "-3"),
        ("0b2", "0b2"),
        ("1e1000", "1e1000"),
        ("0x1G", "0x1G"),
        ("0o8", "0o8"),
        ("08", "8"),
        ("0x_1", "1"),
        ("1__0", "10"),
        ("1_0.5", "10.5"),
        ("-0", "-0"),
        ("+.5", "0.5"),
        ("3.14159", "3.14159"),
        ("123456789012345678901234567890", "1.2345678901234568e+29"),
        ("100000.5", "100000.5"),
        ("999999.5", "999999.5"),
        ("0.00012345", "0.00012345"),
        ("0.000012345", "1.2345e-05"),
        ("12345678.9", "1.23456789e+07"),
        ("5e-324", "5e-324"),
        (".5_5", "0.55"),
        ("0.1", "0.1"),
        ("1e15", "1e+15"),
        ("2024-01-01T10:00:00.Z", "2024-01-01T10:00:00.Z"),
    ],
)
def test_a_plain_word_is_what_compose_makes_of_it(word, shown):
    assert environment(f"A: {word}") == {"A": shown}


@pytest.mark.parametrize("word", ["'2024-01-01'", "!!str 2024-01-01", "2024-01-01-rc1", "${NOPE:-2024-01-01}"])
def test_a_date_in_quotes_or_with_more_is_a_text(word):
    assert not isinstance(parser.parse(f"A: {word}\n", "c.yaml")[0]["A"], scalars.Date)


def project(tmp_path, lines: str):
    file = tmp_path / "compose.yaml"
    file.write_text(f"services:\n  web:\n    image: nginx\n{lines}")
    return reader.read([file])


@pytest.mark.parametrize("where", ["environment", "labels", "sysctls"])
def test_a_date_among_texts_and_numbers_is_written_out(tmp_path, where):
    project(tmp_path, f"    {where}:\n      net.x: 2024-01-01\n")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("    hostname: 2024-01-01\n", "services.web.hostname is the date 2024-01-01, not a text, .*:4:5: put it in quotes"),
        ("    command: [echo, 2024-01-01]\n", "the date 2024-01-01, not a text, .*:4:21: put it in quotes"),
        ("    environment: [2024-01-01]\n", "the date 2024-01-01, not a text"),
        ("    environment:\n      2024-01-01: x\n", "the key 2024-01-01 is not a text to compose, .*:5:7: put it in quotes"),
        ("    environment:\n      1: x\n", "the key 1 is not a text to compose"),
        ("    environment:\n      true: x\n", "the key true is not a text to compose"),
        ("    environment:\n      ~: x\n", "the key ~ is not a text to compose"),
        ("    environment:\n      A: .nan\n", ".nan is not a number that compose takes, .*: put it in quotes"),
        ("    environment:\n      A: !!timestamp soon\n", "'soon' is not a date"),
    ],
)
def test_what_compose_refuses_is_one_line_with_its_place(tmp_path, lines, message):
    with pytest.raises(ComposeError, match=message):
        project(tmp_path, lines)
