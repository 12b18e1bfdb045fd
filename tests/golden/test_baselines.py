"""k-Member and Mondrian on Table 1 of Riyana & Natwichai 2018, and near their peers."""

from __future__ import annotations

import numpy as np
import pytest

from starshade.anonymize.baselines import KMember, Mondrian, member_groups, mondrian_groups
from starshade.ratings.select import top_items
from starshade.utility.losses import GeneralizationLoss
from tests.golden import kl
from tests.golden.test_k_likeness import PAPERS, classes, movielens, released


def loss(release, ratings) -> float:
    return GeneralizationLoss().measure(release, ratings).figures["gen_iloss"]


@pytest.mark.parametrize("first", [1, 2, 3, 8, 9, 10])
@pytest.mark.parametrize("seed", range(4))
def test_k_member_from_these_records_ends_in_the_papers_classes(first, seed):
    rest = np.random.default_rng(seed).permutation([i for i in range(10) if i != first - 1])
    groups = member_groups(kl.matrix(), 3, np.array([first - 1, *rest]))
    assert classes(groups) == PAPERS
    assert loss(released("range", kl.ratings(), groups), kl.ratings()) == pytest.approx(0.243)


def test_mondrian_strict():
    groups = mondrian_groups(kl.matrix(), 3)
    assert classes(groups) == {
        frozenset({1, 2, 3}),
        frozenset({4, 5, 6}),
        frozenset({7, 8, 9, 10}),
    }
    assert loss(released("range", kl.ratings(), groups), kl.ratings()) == pytest.approx(0.274)


@pytest.fixture(scope="module")
def top_ten(ml100k_dir):
    return top_items(10).apply(movielens(ml100k_dir))


@pytest.mark.real
@pytest.mark.parametrize(("k", "peer"), [(2, 0.101), (5, 0.279), (10, 0.422), (20, 0.557)])
def test_k_member_loses_about_what_its_peer_loses(top_ten, k, peer):
    found = [loss(KMember(k).anonymize(top_ten, rng=s), top_ten) for s in range(3)]
    assert np.mean(found) == pytest.approx(peer, rel=0.03)


@pytest.mark.real
@pytest.mark.parametrize(("k", "peer"), [(2, 0.168), (5, 0.410), (10, 0.568), (20, 0.679)])
def test_mondrian_loses_about_what_its_peer_loses(top_ten, k, peer):
    """Ours goes on to the next item where the peer may stop."""
    found = loss(Mondrian(k).anonymize(top_ten, rng=0), top_ten)
    assert found == pytest.approx(peer, rel=0.08)
