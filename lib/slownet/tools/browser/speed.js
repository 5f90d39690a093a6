// How complete a page looks in each picture of its filmstrip, 0 to 1: speedline's progress of histograms, as Lighthouse counts it.
(async frames => {
  const histogram = async jpeg => {
    const bytes = Uint8Array.from(atob(jpeg), letter => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], {type: "image/jpeg"}));
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    context.drawImage(image, 0, 0);
    const {data} = context.getImageData(0, 0, image.width, image.height);
    const found = new Float64Array(3 * 256), share = 4 / data.length;
    for (let at = 0; at < data.length; at += 4)
      for (let colour = 0; colour < 3; colour++) found[256 * colour + data[at + colour]] += share;
    return found;
  };
  const all = [];
  for (const each of frames) all.push(await histogram(each));
  const first = new Float64Array(3 * 256), last = all[all.length - 1];
  for (const white of [255, 511, 767]) first[white] = 1;  // an empty page; the first picture may have another size
  return all.map(each => {
    let matched = 0, total = 0;
    for (let bin = 0; bin < last.length; bin++) {
      const target = Math.abs(last[bin] - first[bin]);
      matched += Math.min(Math.abs(each[bin] - first[bin]), target);
      total += target;
    }
    return total ? matched / total : 1;
  });
})
