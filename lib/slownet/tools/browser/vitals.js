// Runs before a page's own scripts, in a world of its own, after web-vitals; the numbers are read from there after the load.
globalThis.slownet = {vitals: {}, tasks: []};
for (const name of ["TTFB", "FCP", "LCP", "CLS", "INP"])
  webVitals["on" + name](metric => { slownet.vitals[name] = metric.value; }, {reportAllChanges: true});
new PerformanceObserver(list => {
  for (const each of list.getEntries()) slownet.tasks.push([each.startTime, each.duration]);
}).observe({type: "longtask", buffered: true});
