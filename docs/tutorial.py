"""The tutorial again, in Python: a fold of LETOR from its files to a test of significance."""

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from ranksvm import RankSVM, evaluate, load_svmlight, paired_randomization_test, save_model

X, y, qid = load_svmlight("Fold1/train.txt")
test_X, test_y, test_qid = load_svmlight("Fold1/test.txt")

rankers = {
    "standardised": make_pipeline(StandardScaler(), RankSVM()),
    "quantiles": make_pipeline(QuantileTransformer(), RankSVM(pair_weight="ndcg")),
}
per_query = {}
for name, ranker in rankers.items():
    ranker.fit(X, y, ranksvm__qid=qid)
    measured = evaluate(test_y, ranker.predict(test_X), test_qid, "ndcg@10")
    per_query[name] = measured.per_query["ndcg@10"]
    print(f"{name:12} ndcg@10 {measured.mean['ndcg@10']:.4f}")

p_value = paired_randomization_test(*per_query.values(), random_state=0)
print(f"{'p-value':12} {p_value:.1e}")
save_model(rankers["quantiles"], "quantiles.json")
