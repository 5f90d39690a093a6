#!/bin/sh
# Question: does a fixed seed of Hypothesis lead to the same examples when the program has imported one more module, which no test uses?
#
# Schedules of faults are searched with Hypothesis, and a seed is written down so that the search can be repeated elsewhere.
# Guess, written before: yes. @seed(7), no database, no other option and the same strategy decide what is drawn.
#
# What came, with Hypothesis 6.170.17 of PyPI: "200 examples: 200 alike when run twice, 36 alike when one more module is imported".
# Literals in the source of imported modules that do not come from site-packages are drawn now and then (since 6.131), so which
# modules have been imported decides, too. Both modules below hold integers only; neither is used. With no module beside the script
# both runs are equal. Fails if that changes.
#
# Installs the package in a temporary folder.
set -eu
folder=$(mktemp -d)
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check hypothesis==6.170.17
cat > drawn.py <<'EOF'
import sys

if sys.argv[1:]:
    import ports  # noqa: F401

from hypothesis import HealthCheck, given, seed, settings, strategies


@seed(7)
@settings(max_examples=200, database=None, suppress_health_check=list(HealthCheck))
@given(strategies.integers(0, 100_000))
def draw(number):
    print(number)


draw()
EOF
echo 'PORTS = (1883, 5432, 6379, 8080, 27017)' > ports.py
venv/bin/python drawn.py > once
venv/bin/python drawn.py > twice
venv/bin/python drawn.py import > imported
alike() { paste "$1" "$2" | awk '$1 == $2 { n++ } END { print n + 0 }'; }
seen="$(wc -l < once) examples: $(alike once twice) alike when run twice, $(alike once imported) alike when one more module is imported"
echo "$seen"
[ "$(alike once twice)" = 200 ]
[ "$(alike once imported)" -lt 200 ]
