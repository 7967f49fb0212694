import type { Logger } from 'pino';
import { consume } from '#control-plane/consume.ts';
import {
  controlTopic,
  epochHeader,
  refOfKey,
  type EntityValue,
} from '#control-plane/message-codec.ts';
import type { LogPorts } from '#control-plane/ports.ts';
import { joinKey } from '#kernel/ids.ts';
import { partitionOf } from '#kernel/partition.ts';
import type { Batch } from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';
import type { FollowedProjection } from '#streams/projector/consume-projections.ts';
import { messageOf, type PublishedProjection } from '#streams/projector/projection-message.ts';
import { untouched, type Projection } from '#streams/projector/projection-state.ts';
import { projectionEntity, projectionsScope } from '../projections/entity.ts';
import type { CustomProjection } from './custom-projection.ts';
import { customProjectionEntity } from './entity.ts';

/** The custom projections and their generations, as a thread without a view of the control plane knows them. */
export interface FollowedCustomProjections extends AsyncDisposable {
  readonly list: () => readonly CustomProjection[];
  /** Null when it is deleted. */
  readonly find: (uid: string) => CustomProjection | null;
  readonly stateOf: (projection: string) => Projection;
  /** As `followProjection`; both are from one read of the log, so that generations have their versions. */
  readonly follow: (projection: string) => FollowedProjection;
  /** Called after each change of a definition. */
  readonly onChange: (listener: () => void) => void;
}

type Listener = (published: PublishedProjection) => void;

/** Resolves when everything that was decided before the call is known. */
export async function followCustomProjections(
  deps: LogPorts & { readonly logger: Pick<Logger, 'error'> },
): Promise<FollowedCustomProjections> {
  const { log, schemas, logger } = deps;
  const codec = await schemas.codec<EntityValue>(controlTopic);
  const partition = partitionOf(projectionsScope, await log.partitions(controlTopic));
  const known = new KnownProjections(codec);
  const ending = new AbortController();
  const position = { topic: controlTopic, partition };
  for await (const batch of log.read({ ...position, offset: 0 })) known.apply(batch);
  const apply = (batch: Batch): void => known.apply(batch);
  const following = consume(log, [{ ...position, offset: known.next }], apply, {
    signal: ending.signal,
    failed: (err) => logger.error({ err }, 'consuming the definitions of projections failed'),
  });
  return {
    list: () => [...known.definitions.values()],
    find: (uid) => [...known.definitions.values()].find((one) => one.uid === uid) ?? null,
    stateOf: (name) => known.stateOf(name),
    follow: (name) => known.follow(name),
    onChange: (listener) => void known.listeners.add(listener),
    async [Symbol.asyncDispose]() {
      ending.abort();
      await following;
    },
  };
}

const prefixes = [customProjectionEntity, projectionEntity].map(({ kind }) => `${joinKey(kind)}/`);

class KnownProjections {
  readonly definitions = new Map<string, CustomProjection>();
  readonly listeners = new Set<() => void>();
  next = 0;
  readonly #codec: Codec<EntityValue>;
  readonly #states = new Map<string, Projection>();
  readonly #followers = new Map<string, Set<Listener>>();
  #epoch = 0;

  constructor(codec: Codec<EntityValue>) {
    this.#codec = codec;
  }

  stateOf(name: string): Projection {
    return this.#states.get(name) ?? untouched(name);
  }

  apply(batch: Batch): void {
    this.next = batch.next;
    let isChanged = false;
    const moved = new Set<string>();
    for (const { key, value, headers } of batch.messages) {
      const epoch = Number(headers[epochHeader] ?? 0);
      if (epoch < this.#epoch) continue;
      this.#epoch = epoch;
      if (!prefixes.some((prefix) => key.startsWith(prefix))) continue;
      const state = value === null ? null : (JSON.parse(this.#codec.decode(value).state) as object);
      const { kind, path } = refOfKey(key, projectionsScope);
      if (kind === customProjectionEntity.kind) {
        isChanged = true;
        putOrDelete(this.definitions, key, state as CustomProjection | null);
      } else {
        const [name = ''] = path;
        moved.add(name);
        putOrDelete(this.#states, name, state as Projection | null);
      }
    }
    for (const name of moved) {
      for (const listener of this.#followers.get(name) ?? []) listener(this.#publishedOf(name));
    }
    if (isChanged) for (const listener of this.listeners) listener();
  }

  follow(name: string): FollowedProjection {
    const own = new Set<Listener>();
    const current = (): PublishedProjection => this.#publishedOf(name);
    const followers = this.#followers.get(name) ?? new Set<Listener>();
    this.#followers.set(name, followers);
    return {
      get current() {
        return current();
      },
      onChange(listener) {
        own.add(listener);
        followers.add(listener);
      },
      async [Symbol.asyncDispose]() {
        for (const listener of own) followers.delete(listener);
      },
    };
  }

  #publishedOf(name: string): PublishedProjection {
    return messageOf(this.stateOf(name), '', 0);
  }
}

function putOrDelete<T>(map: Map<string, T>, key: string, value: T | null): void {
  if (value === null) map.delete(key);
  else map.set(key, value);
}
