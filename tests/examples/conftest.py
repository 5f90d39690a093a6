collect_ignore = ["plain"]  # test_examples.py runs it in a copy of the shop
