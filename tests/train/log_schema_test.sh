#!/usr/bin/env bash
# src/train/log.schema.json describes every line of log.jsonl: a log with each event is valid by Debian's jsonschema, also when no member
# is allowed that the schema does not name; the schema refuses lines that it should refuse; times do not run backwards; the scores of a
# validation are those of evaluate.
# shellcheck disable=SC2046  # what train_arguments prints is split into the arguments of a command
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
for python in python3 /usr/bin/python3 ""; do
  [[ -n $python ]] || { echo "skipped: no python3 has jsonschema (pipelines/install.sh tests)" >&2; exit 77; }
  if "$python" -c 'import jsonschema' 2>/dev/null; then break; fi
done
make_corpus

"$RNNSEARCH" $(train_arguments run 0) 2>run.log &
job=$!
until_caught $job 1
while kill -0 $job 2>/dev/null && (($(lines_of_log run) < 10)); do sleep 0.005; done
kill -TERM $job
wait $job && fail "a training without a limit ended with 0 after TERM"
grep -q 'no limit is set (--max-updates, .*Ctrl-C or SIGTERM stops it with a checkpoint' run.log || fail "no line about limits: $(<run.log)"
"$RNNSEARCH" $(train_arguments run $(($(newest_update run) + 10))) 2>>run.log
"$RNNSEARCH" $(train_arguments adapted 3) --initial-model run --initial-optimizer --best-metric ter 2>/dev/null
"$RNNSEARCH" evaluate --hypotheses dev=adapted/validation/update-00000003.txt --corpus corpus.h5 --set dev --chrf --ter --json - >scores.json 2>/dev/null
# gradients that are not finite
"$RNNSEARCH" train --corpus corpus.h5 --run diverged --max-updates 40 --validate-every 2 --embedding 8 --state 8 --alignment 8 --maxout 8 \
  --optimizer sgd --learning-rate 1e25 --clip-norm 0 --max-skipped 5 --log-every 1 --threads 1 2>diverged.log &&
  fail "a training that diverged ended with 0"

"$python" - "$SOURCE/src/train/log.schema.json" {run,adapted,diverged}/log.jsonl <<'END' || fail "see above"
import copy, json, sys
from jsonschema import Draft202012Validator

schema = json.load(open(sys.argv[1]))
Draft202012Validator.check_schema(schema)
strict = copy.deepcopy(schema)  # nothing beyond what the schema names
for event in strict["oneOf"][:-1]:
    definition = strict["$defs"][event["$ref"].split("/")[-1]]
    definition["properties"].update({name: True for name in ("update", "time", "schema")})
    definition["additionalProperties"] = False
strict["oneOf"].pop()
validator = Draft202012Validator(strict)

seen = set()
for path in sys.argv[2:]:
    times = []
    for number, line in enumerate(open(path), 1):
        record = json.loads(line)
        errors = [error.message for deep in validator.iter_errors(record) for error in deep.context or [deep]
                  if "was expected" not in error.message]
        assert validator.is_valid(record), (path, number, line, errors)
        assert list(record)[:4] == ["event", "update", "time", "schema"], line
        seen.add(record["event"])
        times.append(record["time"])
        if record["event"] == "update":
            an_update = record
expected = {event["$ref"].split("/")[-1] for event in strict["oneOf"]}
assert seen == expected, (seen, expected)

[validation] = [json.loads(line) for line in open("adapted/log.jsonl") if '"event":"validation"' in line]
[system] = json.load(open("scores.json"))["systems"]
for name, score in ("bleu", system["all"]["bleu"]), ("chrf", system["chrF"]["score"]), ("ter", system["TER"]["score"]):
    assert validation[name] == score > 0, (name, score, validation)

validator = Draft202012Validator(schema)
assert validator.is_valid(dict(an_update, later_figure=1)) and validator.is_valid(dict(an_update, event="later"))
for wrong in ({"time": "2026-11-23 17:11:08"}, {"time": 1795454468}, {"schema": 1}, {"update": -1}, {"seconds": -1}, {"pairs": 1.5},
              {"loss_per_word": "nan"}, {"event": None}, {"event": "stop"}):
    assert not validator.is_valid(dict(an_update, **wrong)), wrong
for member in an_update:
    assert not validator.is_valid({name: value for name, value in an_update.items() if name != member}), member
END
