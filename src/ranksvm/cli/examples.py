"""The examples at the end of each ``--help``, by command; the tests run them."""

from __future__ import annotations

EXAMPLES = {
    "ranksvm": (
        "ranksvm demo",
        "ranksvm train train.csv model.json",
        "ranksvm predict model.json test.csv scores.txt",
        "ranksvm evaluate test.csv model.json",
    ),
    "ranksvm train": (
        "ranksvm train train.csv model.json",
        "ranksvm train train.csv model.json -C 10 --scale standard --validation test.csv",
        "ranksvm train train.svm model.json --kernel rbf --scale standard --max-memory 1G",
    ),
    "ranksvm predict": (
        "ranksvm predict model.json test.csv scores.txt",
        "ranksvm predict model.json test.csv --top 3",
    ),
    "ranksvm evaluate": (
        "ranksvm evaluate test.csv model.json",
        "ranksvm evaluate test.csv scores.txt --metrics ndcg@10,map,mrr",
        "ranksvm evaluate test.csv model.json --compare scores.txt --metrics ndcg@10",
    ),
    "ranksvm pack": ("ranksvm pack train.svm train.rsvm", "ranksvm train train.rsvm model.json"),
    "ranksvm run": ("ranksvm run train.cfg",),
    "ranksvm cv": (
        "ranksvm cv train.csv --Cs 0.01,0.1,1,10",
        "ranksvm cv train.csv model.json --auto --metric ndcg@10",
        "ranksvm cv train.csv model.json --metric ndcg@10 --one-standard-error --plot cv.png",
    ),
    "ranksvm path": (
        "ranksvm path train.svm path.csv --kernel rbf --gamma 0.5",
        "ranksvm path train.svm --kernel rbf --validation test.svm --plot path.png",
    ),
    "ranksvm report": (
        "ranksvm report model.json test.csv report.html",
        "ranksvm report model.json test.csv report.html --train train.csv",
    ),
    "ranksvm demo": ("ranksvm demo", "ranksvm demo folder"),
    "ranksvm info": ("ranksvm info model.json", "ranksvm info model.json --weights weights.txt"),
    "ranksvm convert": (
        "ranksvm convert model.json model.txt --to liblinear",
        "ranksvm convert model.json model.sql --to sql",
    ),
    "ranksvm plot": (
        "ranksvm plot coefficients model.json weights.png",
        "ranksvm plot ndcg test.csv model.json ndcg.svg --title nDCG",
    ),
    "ranksvm plot coefficients": ("ranksvm plot coefficients model.json weights.png -n 10",),
    "ranksvm plot effects": ("ranksvm plot effects model.json effects.png --data test.csv",),
    "ranksvm plot importance": ("ranksvm plot importance model.json test.csv importance.png",),
    "ranksvm plot scores": ("ranksvm plot scores test.csv model.json scores.png",),
    "ranksvm plot ndcg": (
        "ranksvm plot ndcg test.csv model.json scores.txt ndcg.png --names model,scores",
    ),
    "ranksvm plot queries": (
        "ranksvm plot queries test.csv model.json scores.txt queries.pdf --size 6x4",
    ),
    "ranksvm explain": (
        "ranksvm explain model.json test.csv --rows 3",
        "ranksvm explain model.json test.csv --query 2 --pair 1 2",
    ),
}
