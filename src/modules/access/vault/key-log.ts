import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { consume } from '../../../control-plane/consume.ts';
import { GatewayError } from '../../../kernel/errors.ts';
import type { Clock } from '../../../kernel/time.ts';
import type { EventLog, TransactionalWriter } from '../../../ports/event-log.ts';
import type { Codec } from '../../../ports/schemas.ts';
import { createKeyFiller } from './key-filler.ts';
import type { KeyRing, WrappedKey } from './key-ring.ts';

export const keysTopic = 'svc.internal.keys.v1';

const readyTimeoutMs = 5_000;
const fencedTriesMax = 20;
/** Some milliseconds of work on the thread that serves requests. */
const rewrapAtOnceMax = 200;

interface Deps {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly faultPoint?: (name: string) => void;
}

export interface KeyFollower {
  /**
   * Resolves when the ring has applied the log up to its end at the time of the call.
   * @throws GatewayError `log_unavailable`
   */
  caughtUp(): Promise<void>;
  /**
   * Resolves when the ring has applied the log up to the offset; the end offset of the log may not include a recent
   * commit yet.
   * @throws GatewayError `log_unavailable`
   */
  reached(end: number): Promise<void>;
  close(): Promise<void>;
}

/** Applies the topic to the ring, from its first message on. */
export function followKeys(deps: Deps, codec: Codec<WrappedKey>, ring: KeyRing): KeyFollower {
  const { log, logger } = deps;
  const ending = new AbortController();
  const filler = log.erasureMs === 0 ? null : createKeyFiller(deps, keysTopic);
  const waiting = new Set<{ readonly end: number; readonly arrived: () => void }>();
  let applied = 0;

  const running = consume(
    log,
    [{ topic: keysTopic, partition: 0, offset: 0 }],
    (batch) => {
      for (const message of batch.messages) {
        const { key, value } = message;
        ring.apply(key, value === null ? null : codec.decode(value));
        filler?.saw(message);
      }
      applied = batch.next;
      for (const { end, arrived } of waiting) if (end <= applied) arrived();
    },
    { signal: ending.signal, failed: (err) => logger.error({ err }, 'following the keys failed') },
  );

  const reached = async (end: number): Promise<void> => {
    if (end <= applied) return;
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const waiter = { end, arrived: () => resolve(undefined) };
    waiting.add(waiter);
    const timer = setTimeout(() => reject(new GatewayError('log_unavailable')), readyTimeoutMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      waiting.delete(waiter);
    }
  };

  return {
    async caughtUp() {
      const end = await log.endOffset(keysTopic, 0);
      if (end > (await log.startOffset(keysTopic, 0))) await reached(end);
    },
    reached,
    async close() {
      ending.abort();
      filler?.[Symbol.dispose]();
      await running;
    },
  };
}

export interface KeyWriter {
  create(keyId: string): Promise<void>;
  shred(keyId: string): Promise<void>;
  rewrap(signal?: AbortSignal): Promise<number>;
  close(): Promise<void>;
}

type Change = readonly [keyId: string, wrapped: WrappedKey | null];

/**
 * Writes keys, one call after the other. Of two nodes that make the same key at once, one wins and the
 * other uses its key: opening the writer fences its former holder, what that one wrote is read before the
 * first commit, and a commit that succeeds proves that nobody wrote since.
 */
export function createKeyWriter(
  deps: Deps,
  codec: Codec<WrappedKey>,
  ring: KeyRing,
  follower: KeyFollower,
): KeyWriter {
  const commit = createCommit(deps, codec, follower);
  let last: Promise<unknown> = Promise.resolve();

  const inTurn = <T>(task: () => Promise<T>): Promise<T> => {
    const turn = last.then(task, task);
    last = turn.catch(() => undefined);
    return turn;
  };

  const made = (keyId: string): Change => [
    keyId,
    ring.wrap(keyId, randomBytes(32), deps.clock.now()),
  ];

  return {
    async create(keyId) {
      if (ring.has(keyId)) return;
      await inTurn(() => commit.run(() => (ring.has(keyId) ? [] : [made(keyId)])));
    },
    async shred(keyId) {
      // Also when this node does not have the key: another node may have created it.
      await inTurn(() => commit.run(() => [[keyId, null]]));
    },
    async rewrap(signal) {
      const renewed = (): Change[] =>
        ring.outdated(rewrapAtOnceMax).map(({ key_id, created_at }) => {
          return [key_id, ring.wrap(key_id, ring.bytes(key_id), created_at)];
        });
      for (let total = 0; ;) {
        const count = signal?.aborted === true ? 0 : await inTurn(() => commit.run(renewed));
        if (count === 0) return total;
        total += count;
        deps.faultPoint?.('root-keys:batch');
      }
    },
    async close() {
      await last;
      await commit.close();
    },
  };
}

/** Commits what `wanted` asks for; it is asked again after each loss of the writer's name. */
function createCommit(deps: Deps, codec: Codec<WrappedKey>, follower: KeyFollower) {
  let writer: TransactionalWriter | null = null;

  const take = async (): Promise<TransactionalWriter> => {
    if (writer !== null) return writer;
    writer = await deps.log.openWriter('keys');
    await follower.caughtUp();
    return writer;
  };

  const discard = async (): Promise<void> => {
    const old = writer;
    writer = null;
    await old?.[Symbol.asyncDispose]();
  };

  const run = async (wanted: () => Change[]): Promise<number> => {
    for (let tries = 1; ; tries += 1) {
      try {
        const holder = await take();
        const changes = wanted();
        if (changes.length === 0) return 0;
        const messages = changes.map((change) => toMessage(codec, change));
        const [position] = await holder.commit([{ topic: keysTopic, partition: 0, messages }]);
        await follower.reached((position?.offset ?? 0) + messages.length);
        return changes.length;
      } catch (error) {
        await discard();
        const isFenced = error instanceof GatewayError && error.code === 'writer_fenced';
        if (!isFenced || tries >= fencedTriesMax) throw error;
      }
    }
  };

  return { run, close: discard };
}

function toMessage(codec: Codec<WrappedKey>, [key, wrapped]: Change) {
  const headers = { 'content-type': 'application/avro' };
  return { key, value: wrapped === null ? null : codec.encode(wrapped), headers };
}
