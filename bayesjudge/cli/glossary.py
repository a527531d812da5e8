"""What words on a screen mean: terms, cautions and assumptions."""

#: In lower case; what a screen, a page or the help says without explaining it there.
TERMS = {
    "prevalence": "The share of outputs that people would pass. The judge's pass rate is not it: "
    "the judge passes some bad outputs and fails some good ones.",
    "calibration": "How the items that people labelled were chosen (the label design). It decides "
    "which estimate is right, and the data alone do not show it: random, by_truth, separate, "
    "by_verdict or known_propensity.",
    "label design": "How the labelled items were chosen; see calibration.",
    "random": "Label design: the labelled items are a random sample of these items.",
    "systematic": "A systematic sample takes every fourth item, say. It counts as random if the "
    "order of the items has nothing to do with how good they are, or with the judge.",
    "by_truth": "Label design: a fixed number of good and of bad items was labelled: labels "
    "tell how the judge errs, and not how many items are good.",
    "separate": "Label design: labels come from another data set or run of the same judge, where "
    "good items may be more or less common.",
    "by_verdict": "Label design: a fixed number of the judge's passes and of its fails was "
    "labelled.",
    "known_propensity": "Label design: each item was labelled with a known probability, which "
    "--propensity names.",
    "by_generator": "Label design of a panel: whole generators are labelled, others not at all.",
    "label shift": "Good items are more or less common among the labelled items than among the "
    "others.",
    "sensitivity": "Share of good outputs that the judge passes.",
    "specificity": "Share of bad outputs that the judge fails.",
    "ppv": "Share of good outputs among those that the judge passes (positive predictive value).",
    "npv": "Share of bad outputs among those that the judge fails (negative predictive value); "
    "what it is short of 1 is good outputs that the judge missed.",
    "interval": "With the probability that is named beside it (95 % by default), the true number "
    "lies in it: of a credible interval given data, model and prior; a confidence interval holds "
    "the truth in that share of repeated studies.",
    "credible interval": "With its probability, given data, model and prior, the true number lies "
    "in it.",
    "confidence interval": "In that share of repeated studies it holds the true number.",
    "wilson": "A confidence interval of a share that stays between 0 and 1, also of few items.",
    "equal-tailed": "A credible interval with as much probability below as above it.",
    "highest density": "The shortest credible interval.",
    "boundary-extended": "An equal-tailed credible interval of which an end is moved to 0 or 1 if "
    "the data do not exclude it: without that it would never hold 0 or 1 themselves.",
    "width": "Upper end of the interval less its lower end.",
    "people only": "Labels of a random sample, without the judge.",
    "half good, half bad": "As many outputs that people call good as ones that they call bad are "
    "labelled: they tell how the judge errs, and its verdicts on the others the share.",
    "adaptive": "Labels are shared out between good and bad outputs as shortens the interval most.",
    "prior": "What was assumed of a number before the data were seen; flat: every value is as "
    "likely as any other.",
    "bayesian (exact)": "Posterior by numerical integration: no sampling, no Monte Carlo error.",
    "bayesian (exact), effective counts": "Posterior by integration, with counts divided by the "
    "design effect, since rows that share an item tell less than independent ones.",
    "bayesian (nuts)": "Posterior by sampling (the No-U-Turn sampler of PyMC).",
    "r-hat": "Compares chains of a sampler; above 1.01 they have not reached the same "
    "distribution, and the numbers are not to be trusted.",
    "effective draws": "How many independent draws the sampler's draws are worth.",
    "judge's pass rate": "What the judge says, uncorrected.",
    "judge's mean score": "What the judge says on average, uncorrected; in a table of shares "
    "rescaled, so that the ends of its scale are 0 and 1.",
    "judge's shares": "What the judge says, uncorrected.",
    "human labels only": "The labelled items alone, without the judge.",
    "difference (ppi++)": "The judge's rate on all items, corrected by how far it is off on the "
    "labelled ones, with the weight on the judge that makes the interval shortest "
    "(prediction-powered inference).",
    "difference (ppi)": "The judge's rate on all items, corrected by how far it is off on the "
    "labelled ones, with full weight on the judge.",
    "difference (isotonic)": "The same, with scores turned into shares of passes by a rising "
    "curve that was fitted to the labels.",
    "isotonic": "A rising curve that turns scores into shares of passes, fitted to the labels.",
    "confusion": "Share of each verdict among outputs that people put into one class.",
    "rogan-gladen": "The judge's pass rate on the items without a label, solved for the prevalence "
    "with sensitivity and specificity as the labels show them; with few labels it is far off. Its "
    "interval is Lang and Reiczigel's.",
    "post-stratified": "Labels of the judge's passes and of its fails, each a sample of its kind, "
    "weighed by how often it passes: right if the verdict decided what was labelled.",
    "conditional calibration": "Share of good outputs among passes and among fails, applied to "
    "the judge's verdicts on the other items.",
    "propensity-weighted difference": "Each label counts as many items as its probability of "
    "being labelled says.",
    "binned scores": "Mean label in each bin of the judge's score, weighed by the bins' shares.",
    "stratum": "A part of the items, such as a topic; estimates are combined by the strata's "
    "shares.",
    "pooling": "How far several systems share what labels tell of the judge: separate, partial, "
    "full.",
    "design effect": "How many times as wide (squared) an interval gets since rows share items.",
    "generator": "What made the outputs: a model, or a model with a prompt.",
    "panel mean": "Share of the judges' votes that are passes, uncorrected.",
    "voting": "One verdict an item by a rule of the votes, such as most of them.",
    "truth given votes": "Regression of the labels on the votes, applied to unlabelled items and "
    "corrected by the labelled ones.",
    "dawid-skene": "Model in which each judge has a sensitivity and a specificity and votes do "
    "not depend on each other once the truth is given.",
    "logit shift": "How far the panel is off on labelled generators, carried over to the others.",
    "difference estimator": "The panel's mean, corrected by how far it is off on labelled items.",
    "at the normal quantile": "With 1.96 standard errors for an interval of 95 %, as of many data.",
    "half-width": "Half the width of an interval: the number after ±.",
    "calls by components of variance": "Calls that an item needs so that the scatter of its scores "
    "averages out.",
    "random-effects anova": "Splits the variance of scores over items, judges and repeats.",
    "all answers alike": "Each answer as an independent draw, whichever judge gave it.",
    "item score": "An item's mean score.",
    "mean score": "Mean score of people, or of all items.",
    "item sd": "How far items differ in their mean scores (standard deviation).",
    "judge sd": "How far judges differ in height (standard deviation).",
    "item judge sd": "How far judges differ from item to item (standard deviation).",
    "repeat sd": "How far one judge's answers on one item scatter (standard deviation).",
    "repeat noise": "How far scores move if the judge is asked again and nothing was changed.",
    "mean shift": "Mean change of the scores, with its sign.",
    "effective repeats": "Independent answers that tell as much as those that were given.",
    "dirichlet posterior": "Exact posterior of a mean of scores on a scale with few values.",
    "rms shift": "Root mean square of the changes of scores: the typical size of a change.",
    "variance parts": "Shifts split into what is systematic and what repeating the judge gives.",
    "dirichlet, prior worst": "Posterior of the RMS shift that supposes one more shift as large "
    "as the scale allows.",
    "dirichlet, worst case": "Posterior of the RMS shift that supposes one more shift as large as "
    "the scale allows.",
    "shift": "Score after a change less the score before it.",
    "share moved": "Share of scores that a change moved by more than a limit of yours.",
    "certificate": "A promise about released scores: with the stated probability, no change moves "
    "them further than the tolerance. It says by how much scores must shrink for that.",
    "alpha": "Shrinkage factor of released scores; 1 releases them as they are.",
    "shrinkage factor": "Scores are released at this part of their distance from a centre fixed "
    "beforehand (alpha): less of it leaves less to move, and less to tell apart.",
    "tail": "Basis of a certificate (--basis, the default): how often changes move a score beyond "
    "the tolerance, at the upper end of what the measured ones allow.",
    "predictive": "Basis of a certificate (--basis): a promise of the next change of these kinds, "
    "with the probability taken over the changes measured and the next one together.",
    "batch": "All items changed at once (--design batch), rather than one at a time (item).",
    "perturbation": "A change that should not matter, such as format or order.",
    "judge less people": "How much more the judge gives than people on average, on the people's "
    "scale: its bias. Above 0 it is too lenient, below 0 too strict.",
    "win rate": "An answer's share of the points: 1 for a win, a half for a tie. Over both "
    "presentation orders the place has no part in it.",
    "consistency": "Share of pairs with the same winner in both presentation orders, or a tie in "
    "both: repetition stability of a judge, apart from primacy and recency.",
    "shares of pairs": "How often the two verdicts on a pair, one in each order, name the same "
    "winner, the same place, or a tie in one of them.",
    "primacy": "Share of pairs in which the answer shown first wins twice.",
    "recency": "Share of pairs in which the answer shown second wins twice.",
    "position preference": "How much more often the first place wins than the second, over all "
    "verdicts, ties included: above 0 if the first place is preferred (primacy), below 0 if the "
    "second is (recency).",
    "tie in one order": "Share of pairs with a tie in one presentation order and a winner in the "
    "other.",
    "best": "Probability, or share of resamples, in which a judge does best.",
    "self-contradiction": "Asked twice about one item, the judge gives two different verdicts: how "
    "often, on average over items. Not to be confused with errors: a judge may repeat an error.",
    "self-consistency": "How often two calls about one item give the same verdict: one less the "
    "self-contradiction.",
    "contradict": "A judge contradicts itself if two calls about one item give different verdicts "
    "(self-contradiction). Data contradict an assumption if a caution says so.",
    "majority": "The verdict of more than half of an odd number of calls about one item.",
    "flip": "A verdict, of one call or of a majority, flips if it is another one when the calls "
    "are made again. More calls make a majority flip less often, but for items that pass and fail "
    "about as often.",
    "stable verdict": "One that seldom flips; see flip.",
    "alternative annotator test": "Whether a judge agrees with annotators as well as another "
    "annotator does, item by item (Calderon et al. 2025).",
    "alternative annotator posterior": "The same question as a probability.",
    "winning rate": "Share of annotators that the judge could stand in for.",
    "advantage probability": "Probability that the judge is at least as close to the other "
    "annotators as the one it stands in for.",
    "passes": "Probability that the judge stands in for half of the annotators.",
    "endorsement": "Share of people who would accept an option, whether or not they chose it.",
    "response set": "All options that a rater would accept; a forced choice is one of them.",
    "as counted": "Agreement of a judge with people as the table shows it; intervals by "
    "resampling items.",
    "answer by answer": "How often one answer of a judge is what a person chose, or accepts, "
    "averaged over items. One choice an item is enough; intervals by a Bayesian bootstrap.",
    "matched": "How often a person chose what the judge chose.",
    "accepted": "How often a person's response set holds what the judge chose.",
    "mean endorsement": "Share of raters who accept an option, averaged over items.",
    "hard": "Ratings of an item as the option that most chose; written h.",
    "soft": "Ratings of an item as shares of the options chosen; written s.",
    "hrs": "Options that enough raters would accept (response sets with a cutoff).",
    "srs": "Share of raters who would accept each option (response sets).",
    "h/h": "Of agreement: the option that most people chose, held against the one that most of the "
    "judge's answers chose (hard, hard). The first letter is how people's ratings of an item are "
    "summed up, the second how the judge's are; see hard, soft, hrs and srs.",
    "s/s": "Shares of the options that people chose, held against the judge's shares (soft, soft).",
    "h/hrs": "The option that a judge chose most, held against those that enough people would "
    "accept; see coverage.",
    "srs/srs": "Share of people who would accept each option, held against the judge's shares.",
    "hrs/hrs": "Options that enough people would accept, held against those of the judge.",
    "tracking": "How far a judge's answers move with people's from item to item: 1 answers each "
    "item as people do, 0 answers all items alike.",
    "judges tracking people": "A model in which a judge's answers to an item are a mixture of "
    "people's and its own; see tracking.",
    "response sets, judges tracking people": "A model of what raters would accept, from response "
    "sets or choices, in which a judge's answers mix people's and its own; see tracking.",
    "stands in": "A judge stands in for an annotator if it agrees with the others at least as well "
    "as that one does, less epsilon: a person costs more.",
    "epsilon": "By how much the judge may agree less with the others than the annotator that it "
    "stands in for, since a person costs more: 0.1 for crowd workers, 0.15 for skilled people, 0.2 "
    "for experts (Calderon et al. 2025).",
    "published test": "The alternative annotator test: for each annotator a t test, and the false "
    "discovery rate over annotators held. A posterior probability asks for less.",
    "as fitted": "Agreement as the fitted model has it of the raters who answered, beside that as "
    "counted.",
    "hit rate": "Share of items on which the judge chooses what most people do.",
    "cohen kappa": "Agreement beyond what chance gives; 1 is perfect, 0 is chance.",
    "fleiss kappa": "Agreement of several raters beyond what chance gives.",
    "scott pi": "Agreement beyond chance if both sides use the options equally often.",
    "krippendorff alpha": "Agreement beyond chance, with missing ratings.",
    "kl human judge": "Kullback-Leibler divergence of the judge's shares from people's.",
    "kl judge human": "Kullback-Leibler divergence of people's shares from the judge's.",
    "cross entropy human judge": "Mean surprise at people's choices under the judge's shares.",
    "cross entropy judge human": "Mean surprise at the judge's choices under people's shares.",
    "js divergence": "Jensen-Shannon divergence: how far two distributions of answers are apart.",
    "mse": "Mean squared difference of the judge's and people's shares.",
    "coverage": "Of ratings: share of items on which the judge's choice is one that people accept. "
    "Of intervals: how often they hold the truth.",
    "recall": "Of ratings: share of the options that people accept that the judge accepts too. Of "
    "a detector: its sensitivity.",
    "precision": "Share of the options that the judge accepts that people accept too.",
    "predictive efficiency": "How many options the judge accepts on average.",
    "binary cross entropy": "Mean surprise at what people accept under the judge's shares.",
    "decision consistency": "Share of items that judge and people put on the same side of the "
    "cutoff.",
    "prevalence bias": "Share of items above the cutoff by the judge less that by people.",
    "item effect": "Items differ in difficulty, for all systems alike.",
    "icc": "Correlation of the truths of two outputs for one item.",
    "population": "Estimates are about the process that the items come from, not these very items.",
    "jeffreys": "A prior that says even less than a flat one near 0 and 1; labels by verdict have "
    "it by default.",
    "dawid-skene with a shared item effect": "Dawid-Skene, but judges may err on the same items: "
    "each item is harder or easier for all judges, so that votes agree also where they are wrong.",
    "shared item effect": "Items differ in how hard they are for all judges at once, so that "
    "judges err on the same ones.",
    "item effects": "Items differ in difficulty, for all systems alike; the model learns how much, "
    "so that rows that share an item do not count as independent.",
    "ppi++": "Prediction-powered inference: the judge's rate on all items, corrected by how far it "
    "is off on the labelled ones, with the weight on the judge that makes the interval shortest.",
    "ppi": "Prediction-powered inference with full weight on the judge.",
    "paired difference": "Difference of two systems on the items that both answered, by the "
    "difference estimator. Of scores it is that of the differences, item by item: it need not be "
    "the difference of the two means, which are of all items of each system.",
    "paired": "Compared item by item, which cancels how hard an item is; see paired difference.",
    "judge's difference": "Difference of two systems as the judge sees it, uncorrected.",
    "rms": "Root mean square: the typical size of a change, up or down. Changes of +3 and -3 have "
    "mean 0 and RMS 3.",
    "root mean square": "The typical size of a change, up or down; see RMS.",
    "components of variance": "How much of the scatter of scores comes from items, judges and "
    "asking again.",
    "normal quantile": "How many standard errors an interval reaches to either side: 1.96 at 95 %.",
    "points": "Of shares, hundredths: from 50 % to 53 % are 3 points. Of scores, units of the "
    "scale.",
    "dirichlet": "Exact posterior of a mean of values on a scale, however they are distributed.",
    "laplace": "A normal distribution around the most probable values of a model's numbers: what "
    "sampling would give, nearly, at once.",
    "classes": "Shares of more than two kinds of answer; what follows names the method.",
    "quoted": "The method whose number is in the first sentence, with why it was chosen; the row "
    "marked > in the table. The others stand below it or under --details.",
    "exact": "Computed by numerical integration: no sampling, no Monte Carlo error.",
    "judge": "What gave the verdicts or scores, mostly a language model; as a column of a table, "
    "its own rate, uncorrected.",
    "vote": "One judge's verdict on one output.",
    "verdict": "What the judge said of an output: pass or fail.",
    "truth": "What people said of an output.",
    "label": "What a person said of an output; a labelled item is one that a person judged.",
    "item": "What was judged: a prompt, a question, a document. Several systems may have an "
    "output for it.",
    "output": "One answer of one system to one item.",
    "system": "What made the outputs: a model, or a model with a prompt; in a panel: generator.",
    "unparsed": "A verdict that could not be read: an empty cell, or an answer that is neither "
    "pass nor fail.",
    "target": "The items that an estimate is about: these very ones (items), or the process that "
    "they come from (population).",
    "gate": "A decision by a threshold: pass (exit code 0) or fail (1) if that is sure enough, "
    "else unknown (3). Numbers that mean nothing, such as those of a contradiction, are unknown.",
    "decision": "What a gate says of a threshold: pass, fail or unknown (see gate).",
    "clopper-pearson": "Limits as if one good item less, or one more, had been seen: each holds "
    "with the stated probability or more for any number of labels, so that they lie further out "
    "than those of the posterior.",
    "margin": "By how much a system may be worse than the baseline before the gate fails it.",
    "at every look": "However often one looks, a false pass or a false fail has no more than the "
    "stated probability: a confidence sequence.",
    "confidence sequence": "Limits that hold at all numbers of labels at once, so that one may "
    "look after each label, and stop.",
    "passport": "What labels told of a judge's errors, in a small file for later runs.",
    "overdispersion": "How far a judge's error rates may move from run to run: the larger, the "
    "fewer labels a passport is worth to a later run.",
    "drift": "A change from one version of a judge to the next.",
    "power": "The probability with which a change, or a difference, of some size would be seen; of "
    "a plan for a gate, the chance that it passes if what is assumed is true.",
    "agreement": "Share of items on which judge and person say the same. Sensitivity and "
    "specificity are its two parts: of good outputs, and of bad ones.",
    "kappa": "Agreement beyond chance; see Cohen kappa and Fleiss kappa.",
    "alt-test": "Whether a judge can stand in for a person: how often it agrees with the other "
    "annotators at least as well as one left out does.",
    "share of good outputs": "The share of outputs that people would pass (prevalence).",
    "scale": "The lowest and highest value that a score can have, or all values.",
    "scatter": "How far scores of one item differ when the judge is asked again.",
    "neighbour": "The same text changed in a way that should not matter, with its score.",
    "rerun": "The unchanged text judged once more: how far its score moves is the judge's noise.",
    "errs more": "Both error rates of a judge, added, are larger; the probability is that of the "
    "labelled items, pair by pair.",
    "errs least": "The judge with the largest sum of sensitivity and specificity. The probability "
    "beside it is that it errs less than the judge that comes nearest to it; from .9 on it "
    "probably errs least, and below that it is not decided.",
    "prevalence shift": "How far a corrected share moves if a new judge's verdicts take the old "
    "one's place and the old calibration stays: the bias that a new calibration would remove. The "
    "outputs, and the share that people would pass, stay what they are.",
    "better with probability": "Probability that the first system's share is the larger one: of a "
    "Bayesian method the posterior one, given model and prior; of a difference from pairs (PPI++) "
    "by the t distribution of its interval.",
    "best with probability": "Posterior probability that the system is the best of all, given "
    "model and prior.",
    "probably": "Said of a lead with a probability from .9 to .975 (from there on it is said "
    "without). Of simulated systems 89 of 100 that were probably better were better, and 99 of 100 "
    "without the word; 84 and 98 if systems differ by less than labels tell.",
    "may or may not": "The probability of a lead is less than .9.",
    "may or may not be better": "The probability that the first system is better is less than .9.",
    "trust": "Of judges: no other errs less with a probability of .9 or more; both error rates "
    "added.",
    "otherwise": "A further method claims something else: its interval excludes 0 where the "
    "quoted one holds it, or the other way round.",
    "compared item by item": "The difference is averaged over items that both systems answered; "
    "how hard an item is cancels in it. Each share is estimated by itself, so that their "
    "difference is another number.",
    "labels alone": "The share of good outputs among the labelled ones, without the judges.",
    "without an interval": "A number of which the method does not say how sure it is; it is not "
    "compared with the quoted one.",
    "not counted": "Of other methods: left out of how far they differ, since they say much less.",
    "differ by at most": "The largest distance of another method's number from the quoted one.",
    "outliers": "Shifts far larger than the rest; with them normal intervals cover too little.",
    "taken as normal": "1.96 standard errors to each side for an interval of 95 %.",
    "noise of calls": "How far the scores of one item scatter when the judge is asked again.",
    "calls an item needs": "How often the judge must be asked about one item until the mean of "
    "its scores is known to the wanted half-width, on average over items.",
    "± of an item's mean now": "Half-width of an item's mean score with the calls that were made.",
    "± if asked without end": "What is left of the half-width after endless calls of these judges, "
    "since other judges would have other means.",
    "judges needed, asked once": "How many judges, asked once each, give the wanted half-width.",
    "two calls differ": "Two calls about one item give different verdicts: how often, on average "
    "over items (self-contradiction).",
    "items with both verdicts": "Share of items that got a pass and a fail in the calls made; it "
    "rises with the number of calls.",
    "majority flips": "How often the majority of so many calls is another one when all are made "
    "again.",
    "majority atypical": "How often the majority of so many calls is not the verdict that most of "
    "endless calls about the item would give.",
    "most of endless calls": "The verdict that more than half of the calls about an item would "
    "give if the judge were asked without end.",
    "calls until majority holds": "Fewest calls, an odd number, of which the majority flips as "
    "seldom as wanted: at most 5 % of the time, or --flips-at-most. A dash: more than 101.",
    "extrapolation": "What a fitted distribution says of more calls than were made; the further "
    "beyond, the less it is checked by data.",
    "effective number of items": "Independent items that would tell as much as these do: Wilson's "
    "interval of a mean over items is that of a share of so many.",
    "few measurements allowed for": "Of a promise of the next change: part of the probability is "
    "kept for measured changes that are not typical, and one more is supposed that moved a score "
    "as far as the scale allows. The bound is then among the largest shifts measured, or beyond.",
    "few measurements": "See few measurements allowed for.",
    "typical move": "The root mean square of the shifts of single scores, up or down: a size that "
    "many moves have. An average shift near 0 may hide large ones.",
    "at most": "Of a move with a probability: no larger in that share of cases, and far more than "
    "the typical move.",
    "outside the interval": "Of another method: its number is not one of those that the quoted "
    "interval holds. The methods assume different things; --details says which the data "
    "contradict.",
    "share no item": "No item has outputs of both systems, so that they are compared as "
    "independent samples, and not item by item.",
    "design": "How labelled items were chosen (see calibration); of a change, whether items were "
    "changed one at a time or all together (--design).",
    "unknown": "Of a gate: neither a pass nor a fail is sure enough with these labels (exit code "
    "3); --unknown says what a job makes of it.",
    "would decide": "What a gate still needs: how many labels would make it pass or fail, and with "
    "what chance if the share is as estimated.",
    "one-sided": "A limit that the number exceeds (or stays below) with the stated probability. "
    "Two of them at .95 are the ends of a 90 % interval.",
    "exit code": "What a command tells the shell: 0 is success or a pass, 1 a fail, 2 a mistake in "
    "the command or data, 3 unknown.",
    "judges' mean": "Share of all the judges' votes that are passes, uncorrected.",
    "together": "Of judges: how often the verdict that all votes make the likelier one is right, "
    "by the model, if their errors are independent.",
    "leaving one out": "By how much judges are right less often together without that one.",
    "held-out labels": "Labels that a model was not shown, to see how well it predicts them.",
    "far wider": "An interval that leaves nearly every value open; such a method is not compared "
    "with the quoted one.",
    "sampled since": "A sampled model's answer that came after the formulas'; the quoted method "
    "stays.",
    "closed form": "A formula: nothing is sampled.",
    "posterior mode": "The most probable values of a model's numbers.",
    "share of resamples": "Share of bootstrap resamples of the items in which it is so.",
    "rank": "Place among the systems, 1 the best; its interval holds for each by itself, and not "
    "for all at once.",
    "auto": "--model: the model that the labels allow.",
    "vote regression": "--model vote_regression (VoteRegression): regression of the labels on the "
    "votes, applied to unlabelled items; see Truth given votes.",
    "correlated": "--model correlated (Correlated): Dawid-Skene with a shared item effect, so "
    "that judges may err on the same items.",
    "bias pooling": "--model bias_pooling (BiasPooling): how far the panel is off, as labelled "
    "generators tell; without labels it is the prior's, and the intervals are as wide as that.",
    "nuts": "A way to compute an estimate from a model by drawing values that fit the data (the "
    "No-U-Turn sampler). It is slower than a formula, and can do models that have none.",
    "posterior": "Which values of a number fit the data, and how well: from it come the estimate "
    "and its interval.",
    "rate": "A share: of items, outputs or answers of which something is true.",
    "good": "Of an output: people would pass it.",
    "bad": "Of an output: people would not pass it.",
    "plan": "The command that counts labels before they are bought: for an interval of a width, "
    "or for a gate that is likely to pass.",
    "noise": "What changes a score though nothing that counts was changed: judging the same "
    "output again, or numbers added to released scores (a certificate allows them).",
    "expected": "Of a plan: the width of the posterior's interval, averaged over simulated data.",
    "error": "Behind ±: the error of simulating, one standard error; an error of a judge is a "
    "good output failed or a bad one passed.",
    "±": "One standard error of simulating, beside a simulated number; beside a mean, half of "
    "its interval.",
    "strategy": "Of a plan: how the items that people label are chosen.",
    "chance": "Of a gate: the posterior probability that the threshold is met; of a plan: how "
    "often a gate with so many labels would decide.",
    "threshold": "What a gate holds the number against: --at-least or --at-most.",
    "limits": "Of a gate: ends that hold with its probability each; the lower one decides on a "
    "pass, the upper one on a fail.",
    "estimate": "A number computed from data, with its interval.",
    "outcome": "What a gate decides: pass, fail, or unknown if the interval holds the threshold.",
    "value": "The estimate itself; low and high are the ends of its interval.",
    "low": "Lower end of the interval.",
    "high": "Upper end of the interval.",
    "method": "What computed the number; --details names what each assumes.",
    "other methods": "Further estimates of the same number, for comparison; the one marked > is "
    "the one to quote.",
    "caution": "A named warning: something in the data that speaks against the number or against "
    "how it was computed.",
    "assumption": "What a method takes to be true; a caution that contradicts it is named beside "
    "it.",
    "tolerance": "How far a released score may move; a certificate promises that it moves no "
    "further.",
    "units": "Of a tolerance: score points, or fractions of the scale's range.",
    "failure probability": "Probability with which a promise may fail.",
    "draws": "Samples of the posterior; the sampler's chains give so many each.",
    "chains": "Runs of the sampler from different starts: if they disagree, it has not converged.",
    "seed": "Where random numbers start: the same seed, the same draws.",
    "score": "A number that a judge gives.",
    "edges": "Where bins of the score begin.",
    "bins of the score": "Ranges of the score that are treated as one verdict each.",
    "propensity": "Probability with which an item was to be labelled, known beforehand.",
    "rows": "Rows of the table; one item may have several.",
    "labelled": "Items with a label of people.",
    "unlabelled": "Items without a label of people: the judge's verdicts on them are corrected.",
    "labels chosen": "How the labelled items were chosen; see calibration.",
    "missing": "What has no verdict, vote or score.",
    "missing votes": "Share of votes that are not there or could not be read.",
    "distinct patterns": "How many different combinations of votes and label there are; items "
    "alike are counted together.",
    "model": "What generates the data if its assumptions hold; its posterior is sampled or "
    "computed.",
    "data": "The file that was read.",
    "class": "One of the answers that people and the judge can give, if they are more than pass "
    "and fail.",
    "source": "Who gave a rating: people, or a judge; of a method, the article that it is from.",
    "option": "One of the answers that a rater can choose.",
    "choice": "The one option that a rater picked.",
    "answer": "What a rater, or a judge, said of an item.",
    "cutoff": "Share of raters from which an option counts as endorsed.",
    "definition": "Of agreement: how a judge's answers are turned into a number, and held "
    "against people's.",
    "advantage": "By how much a judge agrees with the others better than the annotator it would "
    "replace.",
    "normal": "An interval that takes the estimate's error as normal: right with many labels.",
    "t": "An interval by Student's distribution: as the normal one, and wider with few items.",
    "student prediction": "An interval for one more value, by Student's distribution.",
    "log-normal": "An interval that takes the logarithm's error as normal, so that its ends are "
    "above 0.",
    "chi-squared": "An interval of a spread, right if the scatter is normal.",
    "lang-reiczigel": "A confidence interval of the prevalence corrected for the judge's errors, "
    "which keeps its coverage with few labels (Lang & Reiczigel 2014).",
    "adjusted delta method": "A confidence interval of Rogan and Gladen's correction with a "
    "label of each kind added, so that it has one with few labels.",
    "penalised wald": "A normal interval around a posterior mode.",
    "modified large sample": "A confidence interval of a sum of variances that is right with few "
    "items too.",
    "aggregation": "An interval added up from those of single options.",
    "bootstrap": "An interval by resampling items with replacement.",
    "panel": "Several judges who vote on the same items; the command that tells how reliable "
    "each is.",
    "repeats": "Calls of a judge on the same output; the command that tells how many are worth it.",
    "bias": "How much a change that should not matter moves scores; the command that measures "
    "it. Of a judge of scores: how much more it gives than people.",
    "ratings": "Answers of raters where several can be right; the command that says which judge "
    "agrees with people.",
    "doctor": "The command that looks at a file and proposes lines to paste, each of which has "
    "been run.",
    "explain": "The command that says what a word means.",
    "demo": "The command that shows an answer on simulated data, beside the truth.",
}

#: Cautions by name: what they say on a screen, in general.
CAUTIONS = {
    "accuracy-by-the-model": "How often consensus labels are right is the model's own word, which "
    "is too high if judges err together; some 20 labels would measure it.",
    "all-labelled": "Every item has a label, so that the judge adds nothing.",
    "assumed-tracking": "How a judge moves with people from item to item rests on an assumed "
    "form, so that intervals may be too narrow.",
    "average-over-measurements": "The probability that a promise holds is an average over what "
    "might have been measured; given these measurements it can be lower.",
    "bad-resamples": "Some resamples of the bootstrap have no estimate; they count as 0 for the "
    "lower and as 1 for the upper end.",
    "choices-stand-in": "Raters picked one option; which others they would accept is not known.",
    "clipped": "The formula gave a number outside its range, which is shown at the end of the "
    "range: data are few, or an assumption fails.",
    "clustered-neighbours": "Changed scores come in groups, and tell less than as many single "
    "ones.",
    "contradiction": "Labels, verdicts and the declared label design can hardly occur together: "
    "check how labels were chosen, and the data.",
    "copied-repeats": "Repeats of one item are all alike, as if returned from a cache.",
    "cut-at-the-scale": "An interval of a mean score would reach beyond the scale and is cut at "
    "its end. How many calls an item needs does not rest on it.",
    "dependent-judges": "Judges err on the same items: their agreement is not independent "
    "evidence.",
    "design-effect": "Rows share items, and tell less than as many independent ones; intervals "
    "are widened.",
    "design-mismatch": "The method needs labels that were chosen another way.",
    "empty-bin": "A range of the judge's scores has no label, so that nothing is known of what "
    "such scores mean.",
    "empty-class": "One class has no label, so that nothing is known of it but the prior. Labels "
    "on one verdict of the judge alone bound the share and do not tell it.",
    "untested-rates": "All labels come from another run: that the judge errs here as it did there "
    "cannot be told without labels of this one.",
    "empty-stratum": "A method has no answer in some strata, and so none for all of them together.",
    "error-rates-differ": "The judge errs more on some systems than on others.",
    "error-rates-unknown": "A judge voted on no labelled item that is good, or on none that is "
    "bad, and is left out.",
    "errors-do-not-cancel": "The judge passes more bad outputs than it fails good ones, or the "
    "other way round, so that its own rate is off. Of scores: the judge's mean on the labelled "
    "items is not the human one.",
    "estimation-error-ignored": "The measured RMS shift is taken as exact; with few changed "
    "scores such a promise is often broken.",
    "few-annotators": "Too few people rated for their differences to be known.",
    "few-effective-draws": "The sampler's draws are worth few independent ones: sample longer.",
    "few-items": "Too few items for the formula to hold well; its interval may be too short.",
    "few-labelled-items": "Too few labelled items for the formula to hold well; label more, or "
    "quote the Bayesian method.",
    "few-neighbours": "Few changed scores were measured; a rare large shift may not be among them.",
    "few-ratings": "Few ratings an item: what most people say of it is uncertain.",
    "grouped-scores": "Scores were too many to keep each: those without a label are counted in "
    "narrow ranges of the scale; their mean stays what it is.",
    "heavy-tailed-shifts": "A few shifts are much larger than the rest, so that methods that "
    "assume normal shifts give intervals that are too short.",
    "grades-as-names": "Grades are taken as names without an order: agreement counts a near grade "
    "like a far one.",
    "inverted-judge": "The judge fails good outputs more often than bad ones: is a column coded "
    "the other way round?",
    "judge-drift": "The judge errs differently than when the labels were made.",
    "judges-pooled": "Answers of several judges are treated as those of one; if judges differ, "
    "the interval is too short.",
    "labels-contradict": "A generator's own labels, a random sample, would be very rare if the "
    "method's share of it were right; do not use its numbers.",
    "label-shift": "Good items are more or less common among the labelled ones than elsewhere, so "
    "that they are no random sample.",
    "majority-contradicted": "On many labelled items most judges say the opposite of people: "
    "without labels a model would be wrong about which class is which.",
    "missing-rejudgements": "Scores of changed items, or of the unchanged ones that they are "
    "compared with, are missing and were left out.",
    "missing-scores": "Some answers have no score.",
    "missing-verdicts": "Some items have no verdict of some judge.",
    "more-repeats-than-usual": "An item has more scores than the others: perhaps two items share "
    "a name, and differences between them are taken for shifts.",
    "near-duplicates": "Some judges vote alike on nearly every item; they tell no more than one.",
    "negative-variance": "A part of the variance was estimated as less than 0 and is shown as 0: "
    "it is small, or data are few.",
    "no-agreement": "Agreement could not be counted; the text says why.",
    "no-anova": "The variance of scores could not be split; the text says why.",
    "no-better-than-chance": "The labels do not exclude a judge that guesses; its verdicts then "
    "tell nothing.",
    "no-enumeration": "There are too many items to count every possible number of good ones; "
    "sampling has an answer.",
    "no-exact-posterior": "The exact posterior could not be computed; the text says why, and "
    "other methods have an answer.",
    "no-interval": "There are too few data for an interval.",
    "no-labels": "Nobody labelled an item: the number rests on the model alone.",
    "no-majority": "On some items no option was chosen by most people; they tell little about "
    "agreement with the majority.",
    "no-quadrature": "Numerical integration cannot be trusted here; sampling has an answer.",
    "no-response-sets": "People named one option each; who would accept others is not known.",
    "no-score": "No answer to some items could be read as a score; they are left out.",
    "no-unlabelled": "There are no items without a label, so that the judge's verdicts add "
    "nothing by this method.",
    "no-votes": "No judge voted on a generator's items, so that nothing is known of it.",
    "not-computed": "A formula needs data that are not there; the text says which.",
    "not-beta": "How often items pass a call differs in another way than a Beta distribution has "
    "it: flips of majorities of more calls than were made may be off.",
    "not-converged": "The sampler's chains disagree; its numbers are not to be used.",
    "not-identified": "Different values fit these data equally well: the number rests on the "
    "prior.",
    "not-mixed": "The random walk behind this exact posterior has not settled; do not use its "
    "numbers.",
    "off-exact": "Sampled numbers differ from those of an exact calculation by more than chance: "
    "believe neither.",
    "order-effect": "Later answers to one item differ from earlier ones.",
    "other-systems": "Labels come from other systems than the items asked about, and judges treat "
    "systems differently; label some items of this one.",
    "outside-labelled-range": "Some scores lie beyond those of the labelled items; what they mean "
    "is a guess. Label some.",
    "outside-simplex": "The formula gave a share below 0 or above 1: the judge tells classes "
    "apart poorly, or labels are few.",
    "pass-rate-out-of-range": "The judge passes more or fewer items than its error rates on the "
    "labels allow: perhaps the labels were not chosen as declared. A gate is then unknown, unless "
    "labels are on a random part of the same items.",
    "polarity": "A judge answers the opposite of what people do: perhaps it was asked the "
    "opposite question.",
    "population-only": "A method estimates the process that the items come from, and has no "
    "interval for these very items.",
    "position-bias": "The judge prefers the answer in one place.",
    "prior-data-conflict": "The data are surprising under the prior.",
    "propensity-mismatch": "The number of labelled items is not what the stated probabilities of "
    "being labelled would give.",
    "quadrature": "Numerical integration is too coarse for these items; the text says with how "
    "many points to repeat it.",
    "repeat-noise-unknown": "Nothing was judged twice unchanged, so that the judge's own noise is "
    "part of the shifts.",
    "repeat-noise-guessed": "Nothing was judged twice unchanged: the noise is told by what the "
    "shifts of an item share, or by the prior.",
    "reruns-move": "Scores move although nothing was changed: the judge does not repeat itself.",
    "rests-on-a-model": "The number holds if the model does; labels do not check it.",
    "rests-on-priors": "The data tell little, and the prior decides.",
    "same-labels": "Labels are the same whatever the system: these look like judges, or prompts of "
    "one, that saw the same outputs. Their prevalence is one number, and what differs is how often "
    "they err (bayesjudge panel).",
    "several-judges": "Several judges gave scores, which are treated as one.",
    "several-maxima": "Chains of the sampler stay at answers far apart: an average over them "
    "means nothing. Take constant noise.",
    "shared-name": "One name has far more answers than is usual: perhaps two items share it, and "
    "their answers are taken as repeats of one.",
    "shifts-together": "Items that one change moves are moved by others too, which the sampled "
    "model leaves out: its RMS shifts are some per cent off. Give it one change at a time.",
    "slow-mixing": "The sampler moved slowly: sample longer.",
    "stale-calibration": "Judge, prompt or rubric is not the one that the labels were made with: "
    "it may err differently. Label some items anew.",
    "stops-early": "A published method is computed as published, though its search for the best "
    "fit ends too early.",
    "stratum-priors": "Each stratum has a prior of its own, and together the priors would move "
    "the overall number; sampling, in which strata share priors, has an answer.",
    "stray-choices": "Some raters chose an option that they do not accept by their own response "
    "set; these choices and sets are counted apart.",
    "subsampled": "Averages over items were computed from some of each item's ratings, drawn at "
    "random, to save time.",
    "ties-at-the-cutoff": "On some items people are split exactly at the cutoff; which side they "
    "count for changes the number.",
    "too-few-nodes": "Numerical integration is too coarse for these votes; the text says what to "
    "do.",
    "too-few-votes": "Votes are too few to tell judges apart.",
    "transport": "The judge passes more or fewer items than labels from elsewhere allow: it errs "
    "differently here. Label some of these items.",
    "undefined": "The formula is 0 divided by 0 for these data: people and judge each said one "
    "thing.",
    "unpaired": "Two results are compared as if they were of different items; on the same items "
    "their difficulty would cancel, and the interval be shorter.",
    "unpaired-outputs": "Some outputs are in one log only and were left out.",
    "unparsed-answers": "Some answers of the judge could not be read as a score.",
    "unparsed-verdicts": "Some verdicts could not be read; what was done with them changes the "
    "number.",
    "unrated-items": "Some sources did not rate every item; judges are compared on the items that "
    "all rated.",
    "unscored": "Some items have no score and were left out: right if they are as good as the "
    "others.",
    "unsigned": "Only the sizes of the shifts are known, not their direction.",
    "votes-out-of-range": "Votes are not what the judges' error rates allow.",
    "weak-judge": "The labels do not exclude that the judge guesses: sensitivity plus specificity "
    "is not clearly above 1. Its verdicts then add next to nothing to the labels.",
    "zero-width": "All data agree, and the formula gives an interval of width 0, which is too "
    "short.",
}

#: Assumptions by id, as `--json` has them: what is taken for granted, in general.
ASSUMPTIONS = {
    "additive-shift": "A place in the order raises or lowers every answer's score alike.",
    "beta-items": "How often items pass a call differs from item to item as a Beta distribution "
    "has it; only majorities of more than half the calls made rest on it.",
    "better-than-chance": "Judges pass good outputs more often than bad ones.",
    "choice-from-own-set": "Raters choose an option that they accept, in the same way for every "
    "item.",
    "choices-are-endorsements": "Raters who named one option accept no other.",
    "dirichlet-items": "Shares of the response sets differ from item to item as a Dirichlet "
    "distribution has it.",
    "drawn-as-stated": "Labelled items were drawn with the stated probabilities, and none was "
    "left out for what it is.",
    "drawn-judges": "Judges are a sample of those that could have been asked, and items of those "
    "that matter.",
    "effective-counts": "Rows that share items tell as much as a smaller number of independent "
    "rows.",
    "equal-repeat-noise": "Asking again scatters scores as much for every item and variant.",
    "equal-variance": "Scores scatter as much around every item's mean.",
    "errors-cancel": "The judge never errs, or passes as many bad outputs as it fails good ones.",
    "even-prior": "Before the data, every value of the scale counts a little, and as much as any "
    "other.",
    "exchangeable-levels": "Items with the same votes are good as often on a new generator, but "
    "for differences like those between the labelled ones.",
    "exchangeable-bias": "On a new generator the panel is off as it is on the labelled ones.",
    "exchangeable-rates": "Error rates differ from system to system, and those of a new one are "
    "like the others'.",
    "exchangeable-repeats": "The order in which one judge's answers to one item came says nothing.",
    "identical-answers": "Every answer is an independent draw of the same kind, whichever judge "
    "gave it.",
    "independent-errors": "Once the truth of an item is given, one judge's error says nothing "
    "about another's.",
    "independent-given-effect": "Judges err on the same items only because some items are harder "
    "for all of them.",
    "independent-items": "What happens on one item says nothing about another.",
    "independent-neighbours": "Each changed score is a measurement of its own.",
    "independent-pairs": "Each pair of answers is a measurement of its own.",
    "independent-rows": "Each row is a measurement of its own.",
    "items-differ": "Tables that were added share no item.",
    "judges-cutpoints": "Effects are normal on the logit scale, and each judge uses the scale in "
    "its own way.",
    "linear-logits": "Error rates rise or fall with the given columns along a straight line, on "
    "the logit scale.",
    "no-judge-errors": "Judges name the options that they accept, without slips.",
    "no-rater-errors": "People name the options that they accept, without slips.",
    "normal-effects": "How items differ follows a bell curve, on the logit scale.",
    "normal-shifts": "Shifts follow a bell curve around their mean.",
    "random-items": "Items are a random sample of those that matter.",
    "random-labels": "The labelled items are a random sample of all items.",
    "random-labels-by-propensity": "Among items with the same probability of a label, the "
    "labelled ones are a random sample.",
    "random-labels-by-verdict": "Among items with the same verdict, the labelled ones are a "
    "random sample.",
    "random-missing": "Whether a verdict is missing has nothing to do with what it would have "
    "been.",
    "random-set-items": "Items with response sets are a random sample of the items.",
    "rows-are-items": "No column says which item a row is of, and each is taken for an item of "
    "its own.",
    "rule-errors-cancel": "A rule that combines votes makes as many errors of one kind as of the "
    "other.",
    "same-confidence": "The judges together are too sure by the same factor on items with and "
    "without a label.",
    "same-confusions": "The judge confuses classes alike for all systems.",
    "same-error-rates": "Each judge errs as often on every generator.",
    "same-judge": "The judge errs on the labelled items as it does on the others.",
    "same-judges": "Each judge errs on the labelled items as it does on the others.",
    "same-outputs": "Both logs are about the same outputs, so that only the judge differs.",
    "same-question": "People and judges answered the same question with the same options.",
    "same-rates": "The judge errs alike on all systems.",
    "sampled-neighbours": "The changes that were measured are like those that the answer is about.",
    "scattered-variances": "How much scores scatter differs from item to item in the way of a "
    "chi-square distribution.",
    "separate-annotators": "Annotators did not see each other's answers.",
    "separate-shifts": "How one change moves an item's score says nothing about how another does.",
    "shared-cutpoints": "Effects are normal on the logit scale, and judges use the scale alike "
    "but for a shift.",
    "stated-propensities": "Each item was labelled with its stated probability, whatever happened "
    "to the others.",
    "stratum-shares": "Strata are as common among the items that matter as among these.",
    "threshold-carries-over": "A threshold that suits the labelled generators suits the others.",
    "tracking-form": "A judge's answers on an item are a mixture of people's and its own.",
    "whole-generators": "All items of the labelled generators are labelled, or a random sample of "
    "them.",
    "worst-case-prior": "One change more, not measured, moves a score as far as the scale allows.",
}
