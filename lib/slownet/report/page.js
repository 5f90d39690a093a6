// Values of a chart on hover, and by the arrow keys where it has the focus.
for (const plot of document.querySelectorAll(".plot")) {
  const svg = plot.querySelector("svg"), tip = plot.querySelector(".tip");
  const marks = [...svg.querySelectorAll(".mark")];
  let at = -1;
  const place = (mark) => {
    const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
    return [mark.dataset.x * scale, mark.dataset.y * scale];
  };
  const show = (next) => {
    if (marks[at]) marks[at].classList.remove("here");
    at = next;
    const mark = marks[at];
    tip.textContent = mark ? mark.dataset.says : "";
    tip.classList.toggle("shown", Boolean(mark));
    if (!mark) return;
    mark.classList.add("here");
    const [x, y] = place(mark), width = svg.getBoundingClientRect().width;
    tip.style.left = `${Math.min(Math.max(x - tip.offsetWidth / 2, 0), Math.max(0, width - tip.offsetWidth))}px`;
    tip.style.top = `${y - tip.offsetHeight - 12}px`;
  };
  const nearest = (event) => {
    const box = svg.getBoundingClientRect();
    let best = -1, least = 40;
    marks.forEach((mark, index) => {
      const [x, y] = place(mark), gap = Math.hypot(event.clientX - box.left - x, event.clientY - box.top - y);
      if (gap < least) [best, least] = [index, gap];
    });
    return best;
  };
  plot.addEventListener("pointermove", (event) => show(nearest(event)));
  plot.addEventListener("pointerleave", () => show(-1));
  plot.addEventListener("blur", () => show(-1));
  plot.addEventListener("keydown", (event) => {
    const last = marks.length - 1;
    const to = { ArrowRight: Math.min(at + 1, last), ArrowLeft: Math.max(at - 1, 0), Home: 0, End: last, Escape: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    show(to);
  });
}
