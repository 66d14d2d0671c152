"""
Topics of documents
===================

A document is a row of counts of words. Documents of one topic draw their words from one
distribution: the family "dirichlet-multinomial". The documents here are real and need no
network: what scikit-learn's own classes say of themselves.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.utils.discovery import all_estimators

from dpmlite import MAPDPM

# %%
# Each estimator's docstring is a document; the module that it is from is its topic, which the model
# is not told.

estimators = [estimator for _, estimator in all_estimators()]
texts = [estimator.__doc__.partition("Examples\n")[0] for estimator in estimators]
modules = np.array([estimator.__module__.split(".")[1] for estimator in estimators])
words = CountVectorizer(
    stop_words="english", token_pattern="[a-z]{4,}", max_df=0.5, min_df=4, max_features=1000
)
X = words.fit_transform(texts)
print(X.shape[0], "documents,", X.shape[1], "words,", len(set(modules)), "modules")

# %%
# The counts are a sparse matrix, and stay one.

model = MAPDPM(component="dirichlet-multinomial", random_state=0).fit(X)
agreement = adjusted_mutual_info_score(modules, model.labels_)
print(model.n_clusters_, f"topics, agreement with the modules {agreement:.2f}")

# %%
# The words that tell most of a topic: frequent in it, and rarer elsewhere.

share = np.asarray(X.sum(axis=0)).ravel() / X.sum()
names = words.get_feature_names_out()
for k in range(12):
    telling = np.argsort(-model.means_[k] * np.log(model.means_[k] / share))[:5]
    members, counts = np.unique(modules[model.labels_ == k], return_counts=True)
    print(f"{model.counts_[k]:3} {', '.join(names[telling]):52} {members[counts.argmax()]}")

# %%
# Which module is in which topic. Large modules, such as the linear models, have several topics;
# nearly every topic is of one module.

kept = [module for module in sorted(set(modules)) if (modules == module).sum() >= 5]
table = np.array(
    [np.bincount(model.labels_[modules == m], minlength=model.n_clusters_) for m in kept]
)
figure, axes = plt.subplots(figsize=(9.0, 4.4), layout="constrained")
image = axes.imshow(table, cmap="Blues", aspect="auto")
axes.set_yticks(range(len(kept)), kept)
axes.set_xlabel("topic, the largest first")
figure.colorbar(image, label="documents")

# %%
# A new text has probabilities of topics, and a log density that says how unusual it is.

new = words.transform(["grow a tree: each split lowers the impurity of its leaf nodes"])
print("topic", model.predict(new)[0])
