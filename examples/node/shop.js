// A shop whose pages are made from the stock that another host keeps.
//
//   node shop.js stock           answers with the number of each article
//   node shop.js web             answers with a page of five articles, asked for one after the other
//   node shop.js web at-once     the same page; the five are asked for at the same time
import http from "node:http";

const ARTICLES = [0, 1, 2, 3, 4];
const keeping = new http.Agent({ keepAlive: true });

async function stock(article) {
  return new Promise((resolve, reject) => {
    http
      .get(`http://db:8000/${article}`, { agent: keeping }, async (answer) => resolve((await answer.toArray()).join("")))
      .on("error", reject);
  });
}

async function oneAfterTheOther() {
  const numbers = [];
  for (const article of ARTICLES) numbers.push(await stock(article));
  return numbers;
}

const atOnce = () => Promise.all(ARTICLES.map(stock));

async function page(find) {
  const numbers = await find();
  return numbers.map((number, article) => `article ${article}: ${number} in stock\n`).join("");
}

const [role, how] = process.argv.slice(2);
const answer = role === "stock" ? (path) => String(path.length) : () => page(how === "at-once" ? atOnce : oneAfterTheOther);
http
  .createServer(async (request, response) => {
    try {
      response.end(await answer(request.url));
    } catch (error) {
      response.writeHead(502).end(`${error.message}\n`);
    }
  })
  .listen(8000);
