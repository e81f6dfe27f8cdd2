# shellcheck shell=bash disable=SC2034  # run.sh uses what is set here
# The systems of run.sh: their names in the order of the tables, and those that must learn the task.
here=${here:-$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)}

# The replication and its ablations: (a) no path from the encoder's state to the decoder's, (b) a readout without context and word, (c)
# state and readout without the previous word, (d) a state that sees only itself. "-word" systems read the embedding of the previous
# word in place of the previous output vector. Then the notebook's four scores, RNNsearch, and the baseline without attention, a
# traditional seq2seq.
must_learn="replication replication-a replication-b replication-c replication-d replication-word replication-a-word \
replication-b-word replication-d-word notebook notebook-dot notebook-scaled-dot notebook-general RNNsearch"
all_systems="$must_learn seq2seq"
required=99 # percent; the PSA of every round must be higher

options_of() { # SYSTEM: sets `options`
  case $1 in
    RNNsearch) options=(--config "$here/config.ini") ;;
    seq2seq) options=(--config "$here/seq2seq.ini") ;;
    replication*-word) options=(--preset "${1%-word}" --config "$here/replication.ini" --feedback word) ;;
    replication*) options=(--preset "$1" --config "$here/replication.ini") ;;
    *) options=(--preset "$1") ;;
  esac
}
