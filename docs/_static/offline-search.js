/* Excerpts in the results of a search in pages that were opened as files: a browser lets no page read another file, so what
   Sphinx's search would read of a page is in page-texts.js, which is loaded here and only for files. */
if (location.protocol === "file:") {
  const texts = new Promise((resolve) => {
    const script = document.createElement("script");
    script.src = "_static/page-texts.js";
    script.onload = () => resolve(window.slownetPageTexts);
    document.head.append(script);
  });
  window.fetch = async (address) => {
    const folder = new URL(".", location.href).pathname;
    const page = (await texts)[decodeURI(new URL(address, location.href).pathname.slice(folder.length))] ?? "";
    return new Response(`<div role="main">${page}</div>`);
  };
}
