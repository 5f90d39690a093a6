/* Finds the entries of the page of errors that a printed line may have come from: best first.
   What changes from time to time stands as <...> in an entry; the texts between have to stand in the line, in their order. */
(() => {
  const LEAST = 6; // letters that an entry has to share with a line in which something of it was replaced
  const MOST = 20;
  const box = document.getElementById("error-search");
  const said = document.getElementById("error-count");
  const shown = document.getElementById("error-found");
  const plain = (text) => text.toLowerCase().replace(/\s+/g, " ").trim();
  const sections = [...document.querySelectorAll("article section section")];
  const entries = [...document.querySelectorAll("article section section dt")].map((dt) => {
    const text = plain(dt.textContent);
    return { dt, dd: dt.nextElementSibling, text, parts: text.split(/<[^>]*>/).map((part) => part.trim()).filter(Boolean) };
  });

  function score(entry, line) {
    if (entry.text.includes(line)) return line.length + 1 / entry.text.length;
    let at = 0;
    let found = 0;
    for (const part of entry.parts) {
      at = line.indexOf(part, at);
      if (at < 0) return 0;
      at += part.length;
      found += part.length;
    }
    return found >= LEAST ? found : 0;
  }

  function search() {
    const line = plain(box.value).replace(/^slownet: /, "");
    const found = line ? entries.map((entry) => [score(entry, line), entry]).filter(([points]) => points > 0) : [];
    found.sort(([a], [b]) => b - a);
    shown.replaceChildren(...found.slice(0, MOST).flatMap(([, { dt, dd }]) => [dt.cloneNode(true), dd.cloneNode(true)]));
    for (const section of sections) section.hidden = Boolean(line);
    said.textContent = line ? `${found.length || "No"} ${found.length === 1 ? "message" : "messages"}` : `${entries.length} messages`;
  }

  box.addEventListener("input", search);
  search();
})();
