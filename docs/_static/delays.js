/* Sorts the table of the page "what a delay costs" by the column whose head is clicked, or chosen by Enter; once more turns it. */
(() => {
  const table = [...document.querySelectorAll("article table")].find((one) => one.tHead && one.tHead.textContent.includes("next kB"));
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const TRIPS = 2;
  const key = (row, column) => {
    const text = row.cells[column].textContent.trim();
    const number = parseFloat(text.replace(/,/g, ""));
    return Number.isNaN(number) ? [1, text.toLowerCase()] : [0, number];
  };
  const compare = ([kindA, a], [kindB, b]) => kindA - kindB || (a < b ? -1 : a > b ? 1 : 0);

  function sort(column) {
    const turned = heads[column].getAttribute("aria-sort") === "ascending";
    const rows = [...body.rows].sort((a, b) => compare(key(a, column), key(b, column)));
    for (const head of heads) head.removeAttribute("aria-sort");
    heads[column].setAttribute("aria-sort", turned ? "descending" : "ascending");
    body.append(...(turned ? rows.reverse() : rows));
  }

  // What the style sheet needs: the head's word beside each cell where rows are stacked, and the length of a bar of round trips.
  table.classList.add("delays");
  const most = Math.max(...[...body.rows].map((row) => parseFloat(row.cells[TRIPS].textContent) || 0));
  for (const row of body.rows) {
    heads.forEach((head, column) => (row.cells[column].dataset.label = head.textContent));
    row.cells[TRIPS].style.setProperty("--share", (parseFloat(row.cells[TRIPS].textContent) || 0) / most);
  }

  heads.forEach((head, column) => {
    head.tabIndex = 0;
    head.addEventListener("click", () => sort(column));
    head.addEventListener("keydown", (event) => event.key === "Enter" && sort(column));
  });
})();
