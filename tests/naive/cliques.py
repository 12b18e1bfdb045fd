"""The greedy partition into cliques, written for reading; and every partition there is."""

from __future__ import annotations

from itertools import combinations


def grow_cliques(near: list[set[int]], order: list[int], k: int) -> list[set[int]]:
    """Cliques in the order they were formed; `near[v]` holds v and its neighbours."""
    cliques: list[set[int]] = []
    free = set(order)
    for seed in order:
        if seed not in free:
            continue
        grown = [seed]
        for v in order:
            if len(grown) < k and v in free and v not in grown and set(grown) <= near[v]:
                grown.append(v)
        if len(grown) == k:
            cliques.append(set(grown))
            free -= set(grown)
    for v in order:
        if v in free:
            fitting = [clique for clique in cliques if clique <= near[v]]
            if fitting:
                fitting[0].add(v)
    return cliques


def seek_cliques(near: list[set[int]], k: int) -> tuple[list[int], list[bool]]:
    """The largest clique found that each is in, and who asked; `near[v]` holds v as well."""
    size = [1] * len(near)
    asked = [False] * len(near)
    for v in range(len(near)):
        if size[v] >= k:
            continue
        asked[v] = True
        if len(near[v]) < k:
            continue
        grown = [v]
        for w in sorted(near[v] - {v}):
            if set(grown) <= near[w]:
                grown.append(w)
        for w in grown:
            size[w] = max(size[w], len(grown))
    return size, asked


def components(near: list[set[int]]) -> list[set[int]]:
    """Connected components in the order of their first vertices."""
    found: list[set[int]] = []
    for v in range(len(near)):
        if any(v in component for component in found):
            continue
        component = {v}
        while True:
            grown = set().union(*(near[w] for w in component))
            if grown == component:
                break
            component = grown
        found.append(component)
    return found


def decomposable(near: list[set[int]], vertices: frozenset[int], k: int) -> bool:
    """Tell by trying everything whether vertices can be partitioned into cliques of ≥ k."""
    if not vertices:
        return True
    first = min(vertices)
    others = sorted((near[first] & vertices) - {first})
    for size in range(k - 1, len(others) + 1):
        for more in combinations(others, size):
            clique = {first, *more}
            near_all = all(clique <= near[v] for v in clique)
            if near_all and decomposable(near, vertices - clique, k):
                return True
    return False
