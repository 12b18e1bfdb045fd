"""What the pages ask the worker for: the settings of each kind of job, as plain JSON values.

=========== ============================================================================
job         ``JobRow.settings``
=========== ============================================================================
``read``    keyword arguments of `starshade.read_ratings` (those given, all text as it was typed:
            ``user_col``, ``item_col``, ``rating_col``, ``day_col``, ``id_col``, ``scale``,
            ``delimiter``, ``format``, ``on_duplicate``, ``users``, ``item_names`` (paths),
            ``wide``, ``header``, ``dates`` (bool), ``attribute_cols``, ``null_values`` (lists)); a
            data set's ``options`` are the same. Empty: as ``options`` say. What is given replaces
            the ``options`` of the data set once it has been read. Of made-up data:
            ``{"like", "n_users", "n_items", "n_ratings", "seed"}``, those given.
``attack``  ``{"attack": NAME, "config": {fields of the attack}, "knowledge": {fields of
            Knowledge}, "targets": N, "seed": N or None}``
``compare`` ``{"methods": [NAME] or None, "ks": [N], "items": "top:N" or None, "eps": x or None,
            "profile": NAME or None, "known": N, "targets": N, "held_out": x, "seed": N or None}``:
            arguments of `starshade.audit.compare.compare`
``release`` ``{"method": NAME, "config": {fields of the method but ``items``}, "items": "top:N" or
            None, "known": [N], "targets": N, "seed": N or None}``; ``known`` and ``targets`` are
            those of the audit
=========== ============================================================================

A setting that was left alone is not in ``config``, so that the class's own default holds.
"""
