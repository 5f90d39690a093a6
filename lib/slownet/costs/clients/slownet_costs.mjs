// Times the operations of a client program of an entry: await operation("connect", async () => ...).
export const SERVER = process.env.SERVER;

export async function operation(name, work) {
  const at = (performance.timeOrigin + performance.now()) / 1000;
  const began = performance.now();
  const result = await work();
  console.log(`slownet-cost ${name} ${((performance.now() - began) / 1000).toFixed(6)} ${at.toFixed(6)}`);
  return result;
}
