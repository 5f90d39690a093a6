/* What a delay costs: search as you type, and a slider that turns round trips into time. Without it the tables are whole. */
(() => {
  const box = document.getElementById("costs-controls");
  if (!box) return;
  box.innerHTML =
    '<label>Search <input type="search" id="costs-search" placeholder="redis, connect, TLS..." autocomplete="off"></label>' +
    '<label>Your round trip <output id="costs-rtt"></output>' +
    '<input type="range" id="costs-slider" min="1" max="300" value="80" aria-describedby="costs-example"></label>' +
    '<p id="costs-example" aria-live="polite"></p>';
  const search = document.getElementById("costs-search");
  const slider = document.getElementById("costs-slider");
  const rows = [...document.querySelectorAll("table.costs:not(.surprises) tbody tr")];
  const operations = rows.flatMap((row) =>
    [...row.querySelectorAll("td > *")].map((node) => {
      const name = (row.cells[0].textContent + " " + node.id).toLowerCase();
      return { node, row, name, text: name + " " + node.textContent.toLowerCase() };
    }),
  );
  const numbers = [...document.querySelectorAll("b[data-trips]")];

  const words = () => search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const time = (ms) => (ms < 1000 ? Math.round(ms) + " ms" : (ms / 1000).toFixed(1) + " s");

  function show() {
    const rtt = Number(slider.value);
    document.getElementById("costs-rtt").textContent = rtt + " ms";
    for (const number of numbers) number.dataset.time = time(rtt * Number(number.dataset.trips));
    const shown = operations.filter(({ node }) => !node.hidden);
    const meant = shown.filter(({ name }) => words().every((word) => name.includes(word))); // not only in the reasons
    const seen = meant.length ? meant : shown;
    const most = seen.reduce((one, { node }) => {
      const trips = Number(node.querySelector("b").dataset.trips);
      return trips > one.trips ? { trips, node } : one;
    }, { trips: -1 });
    document.getElementById("costs-example").textContent = most.node
      ? `Your ${rtt} ms: ${most.node.id} takes ${most.trips} x ${rtt} ms = ${time(most.trips * rtt)}`
      : "Nothing has these words";
  }

  function filter() {
    const asked = words();
    for (const { node, text } of operations) node.hidden = !asked.every((word) => text.includes(word));
    for (const row of rows) row.hidden = !operations.some((one) => one.row === row && !one.node.hidden);
    for (const table of document.querySelectorAll("table.costs:not(.surprises)")) {
      const empty = [...table.tBodies[0].rows].every((row) => row.hidden);
      table.closest("section").hidden = empty;
    }
    for (const table of document.querySelectorAll("table.surprises")) table.closest("section").hidden = asked.length > 0;
    show();
  }

  search.addEventListener("input", filter);
  slider.addEventListener("input", show);
  filter();
})();
