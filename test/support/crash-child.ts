/**
 * A node that saves until it is killed, or that tells what it holds. Run by the crash tests:
 * `crash-child.ts write <data folder> <seed> <round> <next operation of each model …>` and
 * `crash-child.ts tell <data folder> <seed> <round>`, which writes a file beside the data.
 */
import { models, operation } from './crash-model.ts';
import {
  changesOf,
  connectionUid,
  originOf,
  pagesOf,
  readable,
  recordsIn,
  startNode,
  streamOf,
  tell,
  tellAll,
} from './node-child.ts';
import { seeded } from './random.ts';
import type { WholeNode } from './whole-node.ts';

async function write(
  node: WholeNode,
  seed: number,
  round: number,
  next: readonly number[],
): Promise<void> {
  const { writer } = node.services.records;
  await node.services.vault.create(connectionUid);
  const loops = models.map(async (model, at) => {
    for (let index = next[at] ?? 0; ; index += 1) {
      const { kind, records } = operation(seeded(seed + index * models.length + at));
      await writer[kind](streamOf(model), originOf(`write-${model}`, round), records);
      tell({ acknowledged: model, index });
    }
  });
  await Promise.all(loops);
}

/** As the attempt that wrote, so that what was refused to it is told as well. */
async function read(node: WholeNode, model: string, round: number) {
  const stream = streamOf(model);
  const { failures } = await readable(node, stream, originOf(`write-${model}`, round));
  const records = (await pagesOf(node, stream, { limit: 37 })).flatMap(recordsIn);
  const changes = (await changesOf(node, stream)).map((change) => ({
    seq: change.stream_seq,
    id: change.record_id,
    action: change.action,
    hash: change.payload_hash,
    eventId: change.event_id,
  }));
  return { model, records, changes, failures };
}

const [mode, folder = '', seed = '0', round = '1', ...next] = process.argv.slice(2);
const node = await startNode(folder);
tell({ ready: true });
if (mode === 'tell') {
  tellAll(folder, await Promise.all(models.map((model) => read(node, model, Number(round)))));
  await node[Symbol.asyncDispose]();
} else {
  await write(node, Number(seed), Number(round), next.map(Number));
}
