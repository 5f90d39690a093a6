"""The kinds of claims, a line for each: `slownet.judge.claim`, hypothesis files and `slownet` itself have them from here."""

from slownet.judge.claim.bounds import bound as bound
from slownet.judge.claim.cell_comparisons import equal as equal
from slownet.judge.claim.cell_comparisons import no_worse_than as no_worse_than
from slownet.judge.claim.cell_comparisons import ratio as ratio
from slownet.judge.claim.combinators import all_of as all_of
from slownet.judge.claim.combinators import any_of as any_of
from slownet.judge.claim.combinators import not_ as not_
from slownet.judge.claim.laws import constant_round_trips as constant_round_trips
from slownet.judge.claim.laws import law as law
from slownet.judge.claim.laws import more_round_trips as more_round_trips
from slownet.judge.claim.laws import published_times as published_times
from slownet.judge.claim.predicted_claims import follows as follows
from slownet.judge.claim.predicted_claims import predicted as predicted
from slownet.judge.claim.predicted_claims import round_trips_between as round_trips_between
from slownet.judge.claim.trends import grows as grows
from slownet.judge.claim.trends import monotone as monotone
