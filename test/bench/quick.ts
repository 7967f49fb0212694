import { contact } from './payloads.ts';
import { withFolder } from './measure.ts';
import { decided, newOrigin, readable, startNode } from './node.ts';
await withFolder(async (folder) => {
  await using node = await startNode(folder, 'plain');
  const all = Array.from({ length: 200 }, (_, b) =>
    Array.from({ length: 1000 }, (_x, i) => contact(b * 1000 + i)),
  );
  const s = await node.newStream();
  const o = newOrigin();
  const { writer } = node.running.services.records;
  const t = performance.now();
  const r = () => Math.round(200_000 / ((performance.now() - t) / 1000));
  for (const b of all) await writer.save(s, o, b);
  const ack = r();
  const a = await decided(node, s, o);
  const d = r();
  await readable(node, a);
  console.log({ ack, decided: d, readable: r() });
});
