"""A shop whose checkout asks its database for one article after the other, or for all of them in one query."""

import os

import psycopg2
import redis
from flask import Flask, request

app = Flask(__name__)
carts = redis.Redis(os.environ.get("CACHE", "cache"))
carts.ping()  # connects before the first reader comes; both connections are kept
database = psycopg2.connect(host=os.environ.get("DATABASE", "db"), dbname="shop", user="shop")


def one_by_one(cursor, articles):
    total = 0
    for article in articles:
        cursor.execute("UPDATE stock SET sold = sold + 1 WHERE article = %s RETURNING price", (article,))
        total += cursor.fetchone()[0]
    return total


def batched(cursor, articles):
    cursor.execute("UPDATE stock SET sold = sold + 1 WHERE article = ANY(%s) RETURNING price", (articles,))
    return sum(price for (price,) in cursor)


@app.get("/checkout")
def checkout():
    articles = [int(article) for article in carts.lrange("cart", 0, -1)]
    sell = batched if request.args.get("batched") == "1" else one_by_one
    with database, database.cursor() as cursor:  # a transaction: all articles are sold, or none
        total = sell(cursor, articles)
    return {"articles": len(articles), "total": total}


@app.get("/health")
def health():
    return "ok\n"
