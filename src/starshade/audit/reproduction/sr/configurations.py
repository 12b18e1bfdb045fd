"""At which points readings of SR differ; the code runs with these values."""

from __future__ import annotations

from starshade.audit.reproduction.configurations import Choice

CHOICES: tuple[Choice, ...] = (
    Choice("items", "movies that are attributes", "all", "all", "all, and the most rated", "§7.1",
           "On all movies no two people rated the same ones, so every curve is flat under Eq. 1."),
    Choice("sensitive", "what is sensitive", None, "the last of the most rated",
           "the last of the most rated", "§7.1",
           "The paper means “ratings on others”; neither data set has any."),
    Choice("nulls", "null against a rating costs", "strict", "strict", "strict, ignore, zero",
           "Eq. 1", "Ours in addition to the paper's R: nothing, or a rating one step below the "
           "scale."),
    Choice("groups", "a record's group", "clique", "ball", "ball", "Def. 2, §5.1",
           "The definition takes all within ε of a record, the search a set pairwise within ε.",
           "Def. 2 against the slicing algorithm"),
    Choice("search", "how neighbours are found", "slicing", "slicing", "tree", "§5.1"),
    Choice("first", "the first attribute", "sorted", "sorted", "sorted", "§5.1, Fig. 1",
           "A slab of side 2ε is read off the sorted order; no record outside it is touched."),
    Choice("pairwise", "a comparison of two records", "whole", "whole",
           "stops at the first difference",
           "§7.2", "The paper's baseline fills a matrix of all distances; ours needs no distance."),
    Choice("everybody", "at ε ≥ R the search is left out", False, False, True, "§7.2",
           "Everybody is proximate then, which is known without a search."),
    Choice("starts", "starts of intervals", "the first ratings, up to the loop's bound",
           "every level of the scale", "every level of the scale", "Alg. 1, line 4",
           "To the letter, the best interval of Table 4 is never tried.", "Alg. 1"),
    Choice("ends", "ends of intervals", None, "closed", "closed", "Alg. 1, lines 6 and 20",
           "With open ends a rating at the start of its interval would be moved up by ε.",
           "Alg. 1, lines 6 and 20"),
    Choice("ties", "intervals that cost the same", None, "seeded", "seeded", "§6.1, Alg. 1",
           "The text draws, the algorithm takes the first: it cannot be both.",
           "Alg. 1 against the text"),
    Choice("partition", "the group that is clipped", "whole", "whole", "cluster", "§6.1",
           "Users who rated the same items; ours splits them into smaller groups."),
    Choice("attribute", "what Fig. 8 predicts", None, "gender, and the best predicted",
           "gender, and the best predicted", "§7.3",
           "The paper names none: gender, and the one that the original predicts best by AUC."),
    Choice("prediction_ks", "k of Fig. 8", None, (5, 20), (5, 20), "§7.3",
           "The paper fixes ε = 2 and names no k."),
    Choice("most", "people in training, and in testing", None, 2000, 2000, "§7.3",
           "Two samples of 2,000 of 943 people cannot be independent: half the people each.",
           "§7.3"),
)  # fmt: skip
