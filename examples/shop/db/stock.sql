\set ON_ERROR_STOP on
CREATE ROLE shop LOGIN;
CREATE DATABASE shop OWNER shop;
\connect shop
CREATE TABLE stock (article int PRIMARY KEY, price int NOT NULL, sold int NOT NULL);
INSERT INTO stock SELECT article, 100 * article, 0 FROM generate_series(1, 1000) AS article;
ALTER TABLE stock OWNER TO shop;
