/**
 * A node with a model that has a typed topic. Run by the crash test of typed topics: `typed-child.ts write <data
 * folder> <seed> <round>` opts in and saves until it is killed; `typed-child.ts settle <data folder> <seed> <round>`
 * ends once the typed topic has every change, and reports the live records.
 */
import { environmentByName } from '#modules/access/environments/queries.ts';
import { createIntegration } from '#modules/connections/integrations/handlers.ts';
import { findIntegration } from '#modules/connections/integrations/queries.ts';
import { addressOf, topicOf } from '#modules/extensions/typed-topics/names.ts';
import {
  typedProgressTopic,
  type TypedTopicProgress,
} from '#modules/extensions/typed-topics/progress.ts';
import { typedTopicsGroup } from '#modules/extensions/typed-topics/publishing/shared.ts';
import { enableTypedTopic } from '#modules/extensions/typed-topics/routes.ts';
import { functionRef } from '#modules/functions/functions/entity.ts';
import { recordsTopic } from '#modules/records/model/events.ts';
import type { Stream } from '#modules/records/model/stream.ts';
import { aFunction } from '../fakes/a-function.ts';
import { models, operation } from '../judges/crash-model.ts';
import { seeded } from '../judges/random.ts';
import { aProvider } from '../worlds/control.ts';
import { eventually } from '../worlds/crm-world.ts';
import {
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
import type { WholeNode } from './whole-node.ts';

const system = { actor: 'system' };
const integrationKey = 'crm';

async function prepare(node: WholeNode): Promise<Stream[]> {
  const { control, vault } = node.services;
  await vault.create(connectionUid);
  const { uid: environmentUid } = environmentByName(control, 'dev')!;
  if (findIntegration(control, environmentUid, integrationKey) === null) {
    const wanted = { environmentUid, uniqueKey: integrationKey, provider: aProvider() };
    await createIntegration(node.services, wanted, system);
  }
  const shape = {
    type: 'object',
    properties: { id: { type: 'string' }, value: { type: 'integer' } },
  };
  const definitions = Object.fromEntries(models.map((model) => [model, shape]));
  const parts = {
    ...aFunction,
    environmentUid,
    integrationKey,
    kind: 'sync',
    name: 'tested',
    models,
    jsonSchema: { definitions },
    bundle: '',
    contentHash: 'one',
  } as const;
  await control.execute(
    functionRef(environmentUid, integrationKey, 'sync', 'tested'),
    { type: 'Deploy', parts },
    system,
  );
  return models.map((model) => streamOf(model, environmentUid));
}

async function optIn({ services }: WholeNode, streams: readonly Stream[]): Promise<void> {
  for (const { environmentUid, model } of streams) {
    await enableTypedTopic(services, { environmentUid, integrationKey, model }, {}, system);
  }
}

/** Operations of each model, one after the other. */
async function write(
  node: WholeNode,
  streams: Stream[],
  { seed, round, from, to }: { seed: number; round: number; from: number; to: number },
): Promise<void> {
  const { writer } = node.services.records;
  const loops = streams.map(async (stream, at) => {
    for (let n = from; n < to; n++) {
      const { kind, records } = operation(seeded(seed + 1000 * round + models.length * n + at));
      await writer[kind](stream, originOf(`write-${round}`, 1), records);
    }
  });
  await Promise.all(loops);
}

/** Whether the backfill of the partition has ended: the position alone does not say so. */
async function isFilled(node: WholeNode, model: string, partition: number): Promise<boolean> {
  const codec = await node.schemas.codec<TypedTopicProgress>(typedProgressTopic);
  const topic = topicOf(addressOf('dev', integrationKey, model), 1);
  let isLive = false;
  for await (const batch of node.log.read({ topic: typedProgressTopic, partition, offset: 0 })) {
    for (const { key, value } of batch.messages) {
      if (key === topic) isLive = value !== null && codec.decode(value).is_live;
    }
  }
  return isLive;
}

async function settle(node: WholeNode, streams: Stream[], round: number) {
  const told = [];
  for (const stream of streams) {
    const { partition, offset } = await readable(node, stream, originOf(`settle-${round}`, 1));
    const isWhole = async () => {
      const at = (await node.log.committed(typedTopicsGroup, recordsTopic)).get(partition) ?? 0;
      return at >= offset && (await isFilled(node, stream.model, partition));
    };
    await eventually(isWhole, (whole) => whole);
    const records = (await pagesOf(node, stream, { limit: 100 })).flatMap(recordsIn);
    const live = records.filter(({ _svc_metadata: { deleted_at: deleted } }) => deleted === null);
    told.push({ model: stream.model, live });
  }
  return told;
}

const [mode, folder = '', seed = '0', round = '1'] = process.argv.slice(2);
const node = await startNode(folder, { SVC_ROLES: 'api,owner,projector,webhooks' });
const streams = await prepare(node);
const before = 40;
const writing = { seed: Number(seed), round: Number(round) };
// Something for the backfill to read.
if (mode === 'write') await write(node, streams, { ...writing, from: 0, to: before });
tell({ ready: true });
await optIn(node, streams);
if (mode === 'settle') {
  tellAll(folder, await settle(node, streams, Number(round)));
  await node[Symbol.asyncDispose]();
} else await write(node, streams, { ...writing, from: before, to: Infinity });
