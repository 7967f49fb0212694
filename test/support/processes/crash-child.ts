/**
 * A node that reports its state in a file beside the data, or saves until it is killed, or both, one after the other.
 * Run by the crash tests: `crash-child.ts <data folder> <step as JSON …>`.
 */
import { models, operation } from '../judges/crash-model.ts';
import type { Step } from '../judges/crash-rounds.ts';
import { seeded } from '../judges/random.ts';
import {
  changesOf,
  connectionUid,
  environmentWith,
  originOf,
  pagesOf,
  readable,
  recordsIn,
  startNode,
  streamOf,
  tell,
  tellAll,
} from './node-child.ts';

/** Calls of one model that its owner may have to decide at a time. */
const callsAhead = 50;

async function write({ seed, round, next }: Step): Promise<never> {
  const { writer } = node.services.records;
  await node.services.vault.create(connectionUid);
  const loops = models.map(async (model, at) => {
    const stream = streamOf(model, environmentUid);
    const origin = originOf(`write-${model}`, round);
    for (let index = next[at] ?? 0; ; index += 1) {
      const { kind, records } = operation(seeded(seed + index * models.length + at));
      await writer[kind](stream, origin, records);
      tell({ acknowledged: model, index });
      // On a busy machine owners fall far behind, and with them the points at which they die.
      if (index % callsAhead === 0) await writer.barrier(stream, origin);
    }
  });
  return Promise.race(loops);
}

async function tellHeld({ round, told }: Step): Promise<void> {
  tellAll(folder, await Promise.all(models.map((model, at) => read(model, round, told[at] ?? 0))));
  tell({ told: true });
}

/**
 * As the attempt that wrote, so that its refused changes are reported as well.
 * @param from the first reported change
 */
async function read(model: string, round: number, from: number) {
  const stream = streamOf(model, environmentUid);
  const { failures } = await readable(node, stream, originOf(`write-${model}`, round));
  const records = (await pagesOf(node, stream, { limit: 37 })).flatMap(recordsIn);
  const changes = (await changesOf(node, stream)).slice(from).map((change) => ({
    seq: change.stream_seq,
    id: change.record_id,
    action: change.action,
    hash: change.payload_hash,
    eventId: change.event_id,
  }));
  return { model, records, changes, failures };
}

const [folder = '', ...texts] = process.argv.slice(2);
const steps = texts.map((text) => JSON.parse(text) as Step);
const node = await startNode(folder);
// Payloads are sealed in every second run.
const isSealed = (steps[0]?.seed ?? 0) % 2 === 1;
const environmentUid = await environmentWith(node, isSealed ? 'sealed' : 'plain');
for (const step of steps) {
  if (step.does === 'tell') await tellHeld(step);
  else {
    tell({ writes: true });
    await write(step);
  }
}
await node[Symbol.asyncDispose]();
