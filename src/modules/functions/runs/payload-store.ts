import type { Ports } from '../../../control-plane/ports.ts';
import type { RunBody } from '../../../../streams/values.ts';
import { firstMessage } from '../../../control-plane/consume.ts';
import { GatewayError } from '../../../kernel/errors.ts';
import { partitionOf } from '../../../kernel/partition.ts';
import type { EventLog } from '../../../ports/event-log.ts';
import type { Codec } from '../../../ports/schemas.ts';
import type { Vault } from '../../access/vault/vault.ts';
import type { BodyPlace } from './events.ts';

const topic = 'svc.internal.run-bodies.v1';
/** Cache of bodies written by this process. */
const rememberedBytesMax = 16 * 1024 ** 2;

type BodyPart = 'input' | 'output';

/** The owner of a body: the sealing context. */
export interface BodyOwner {
  readonly runId: string;
  readonly environmentUid: string;
  readonly connectionUid: string;
}

/** Inputs and outputs of runs, sealed under the key of their connection; kept for 7 days. */
export interface PayloadStore {
  /** Durable when it resolves. */
  put(owner: BodyOwner, part: BodyPart, json: string): Promise<{ place: BodyPlace; hash: string }>;
  /** Keyed hash: it detects equal bodies and reveals nothing. */
  hash(json: string): string;
  /** @throws GatewayError `not_found` when the body has expired or the connection's key was destroyed. */
  get(owner: BodyOwner, part: BodyPart, bodyPlace: BodyPlace): Promise<string>;
}

export interface PayloadStoreDeps extends Pick<Ports, 'log' | 'schemas'> {
  readonly vault: Vault;
}

export function createPayloadStore(deps: PayloadStoreDeps): PayloadStore {
  const { log, vault } = deps;
  const opened = Promise.all([deps.schemas.codec<RunBody>(topic), log.partitions(topic)]);
  // The first read gets the error; without a read there is no unhandled rejection.
  opened.catch(() => undefined);
  const remembered = new Remembered();
  const hash = (json: string): string => vault.fingerprint('run-body', json).slice(0, 32);

  return {
    hash,
    async put(owner, part, json) {
      const [codec, partitions] = await opened;
      await vault.ready(owner.connectionUid);
      const context = contextOf(owner, part);
      const value = codec.encode({
        run_id: owner.runId,
        part,
        key_id: owner.connectionUid,
        environment_id: owner.environmentUid,
        body: vault.sealBytes(owner.connectionUid, Buffer.from(json), context),
      });
      const partition = partitionOf(owner.runId, partitions);
      const message = { key: owner.runId, value, headers: { 'content-type': 'application/avro' } };
      const [position] = await log.append([{ topic, partition, messages: [message] }]);
      if (position === undefined) throw new GatewayError('log_unavailable');
      const place = { partition, offset: position.offset };
      remembered.add(place, json);
      return { place, hash: hash(json) };
    },

    async get(owner, part, bodyPlace) {
      const existing = remembered.take(bodyPlace);
      if (existing !== null) return existing;
      const [codec] = await opened;
      const body = await readBody(log, codec, bodyPlace);
      if (body?.run_id !== owner.runId || body.part !== part) throw new GatewayError('not_found');
      await vault.ready(owner.connectionUid);
      return vault.openBytes(owner.connectionUid, body.body, contextOf(owner, part)).toString();
    },
  };
}

const contextOf = (owner: BodyOwner, part: BodyPart): string =>
  `${owner.environmentUid}/${owner.connectionUid}/run-body/${owner.runId}/${part}`;

async function readBody(
  log: EventLog,
  codec: Codec<RunBody>,
  bodyPlace: BodyPlace,
): Promise<RunBody | null> {
  const first = await firstMessage(log, { topic, ...bodyPlace });
  return first?.offset === bodyPlace.offset && first.value !== null
    ? codec.decode(first.value)
    : null;
}

/** The newest bodies up to a size. Each is read once: by the runner, or by the caller that waits for the outcome. */
class Remembered {
  readonly #bodies = new Map<string, string>();
  #size = 0;

  add(bodyPlace: BodyPlace, json: string): void {
    if (json.length > rememberedBytesMax / 4) return;
    this.#bodies.set(nameOf(bodyPlace), json);
    this.#size += json.length;
    for (const [name, body] of this.#bodies) {
      if (this.#size <= rememberedBytesMax) return;
      this.#bodies.delete(name);
      this.#size -= body.length;
    }
  }

  take(bodyPlace: BodyPlace): string | null {
    const name = nameOf(bodyPlace);
    const json = this.#bodies.get(name);
    if (json === undefined) return null;
    this.#bodies.delete(name);
    this.#size -= json.length;
    return json;
  }
}

const nameOf = (bodyPlace: BodyPlace): string => `${bodyPlace.partition}/${bodyPlace.offset}`;
