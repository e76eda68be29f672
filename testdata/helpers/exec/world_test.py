import json
import os
import pathlib
import time
import urllib.request


def test_the_simulator_answers():
    with urllib.request.urlopen(os.environ["SNOWGLOBE_DATA_URL"] + "/v1/chains/43114") as answer:
        assert json.load(answer)["chainId"] == os.environ.get("EXPECTED_CHAIN", "43114")


def test_it_takes_long_if_that_is_wanted():
    if "BEGUN" in os.environ:
        pathlib.Path(os.environ["BEGUN"]).touch()
        time.sleep(60)
