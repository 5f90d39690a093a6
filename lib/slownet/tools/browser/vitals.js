// Runs before a page's own scripts, in a world of its own; the numbers are read from there after the load.
// What each number is: https://web.dev/articles/vitals. Times are milliseconds after the navigation began.
globalThis.slownet = {vitals: {}, tasks: []};
(() => {
  const vitals = slownet.vitals;
  const observe = (type, each, more) =>
    new PerformanceObserver(list => list.getEntries().forEach(each)).observe({type, buffered: true, ...more});

  // A page that is in the background paints when it comes to the front: what is painted after it was hidden says nothing.
  let hidden = document.visibilityState === "hidden" ? 0 : Infinity;
  addEventListener("visibilitychange", event => {
    if (document.visibilityState === "hidden") hidden = Math.min(hidden, event.timeStamp);
  }, true);

  // Time to first byte: of the last answer, after redirects.
  observe("navigation", entry => {
    if (entry.responseStart > 0) vitals.TTFB = entry.responseStart;
  });

  // First and largest contentful paint. Chromium itself ends the latter at the first input.
  observe("paint", entry => {
    if (entry.name !== "first-contentful-paint" || entry.startTime >= hidden) return;
    vitals.FCP = entry.startTime;
    vitals.CLS = shifts.worst;  // a page that paints and does not shift has 0, not nothing
  });
  observe("largest-contentful-paint", entry => {
    if (entry.startTime < hidden) vitals.LCP = entry.startTime;
  });

  // Cumulative layout shift: the worst window of shifts that are less than a second apart and within five seconds.
  const shifts = {worst: 0, sum: 0, first: 0, last: 0};
  observe("layout-shift", entry => {
    if (entry.hadRecentInput) return;
    const joins = shifts.sum > 0 && entry.startTime - shifts.last < 1000 && entry.startTime - shifts.first < 5000;
    if (!joins) [shifts.sum, shifts.first] = [0, entry.startTime];
    shifts.sum += entry.value;
    shifts.last = entry.startTime;
    shifts.worst = Math.max(shifts.worst, shifts.sum);
    if (vitals.FCP !== undefined) vitals.CLS = shifts.worst;
  });

  // Interaction to next paint: the longest interaction, without one of each 50. Events of one interaction share an id.
  const KEPT = 10, OF_EACH = 50, longest = new Map();
  const interaction = entry => {
    if (!entry.interactionId) return;
    longest.set(entry.interactionId, Math.max(entry.duration, longest.get(entry.interactionId) || 0));
    const sorted = [...longest].sort((one, other) => other[1] - one[1]);
    sorted.slice(KEPT).forEach(([id]) => longest.delete(id));
    const at = Math.min(sorted.length - 1, KEPT - 1, Math.floor(performance.interactionCount / OF_EACH));
    vitals.INP = sorted[at][1];
  };
  observe("event", interaction, {durationThreshold: 40});
  observe("first-input", interaction);

  // Tasks that block the page's thread for 50 ms and more.
  observe("longtask", entry => slownet.tasks.push([entry.startTime, entry.duration]));
})();
