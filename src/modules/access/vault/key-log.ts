import { randomBytes, randomInt } from 'node:crypto';
import { consume } from '#control-plane/consume.ts';
import type { ProcessPorts } from '#control-plane/ports.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { retrying } from '#kernel/retry.ts';
import type { Instant } from '#kernel/time.ts';
import type { TransactionalWriter, ReadMessage, EventLog } from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';
import type { KeyRing, WrappedKey } from './key-ring.ts';

export const keysTopic = 'svc.internal.keys.v1';

const readyTimeoutMs = 5_000;
/** Nodes that destroy keys at the same time take the writer's name from each other: random pauses end that. */
const fencedPauses = { firstMs: 50, lastMs: 2_000, withinMs: 15_000 };
/** Some milliseconds of work on the thread that serves requests. */
const rewrapAtOnceMax = 200;

interface Deps extends ProcessPorts {
  readonly log: EventLog;
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
  /** Creates the key of an id that no other node uses yet. */
  create(keyId: string): Promise<void>;
  /** Creates the key if no node has created it. */
  createShared(keyId: string): Promise<void>;
  shred(keyId: string): Promise<void>;
  rewrap(signal?: AbortSignal): Promise<number>;
  close(): Promise<void>;
}

type Change = readonly [keyId: string, wrapped: WrappedKey | null];

/**
 * Writes keys. The key of a new id is appended: nodes that create connections at the same time do not meet. Whatever
 * depends on the keys in the log is written by one node at a time, one call after the other: opening the writer fences
 * its former holder, what that one wrote is read before the first commit, and a commit that succeeds proves that
 * nobody has written since but keys of new ids. So of two nodes that make the same shared key, one wins and the other
 * uses its key, and a key that was destroyed is not wrapped again.
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
      const messages = [toMessage(codec, made(keyId))];
      const [position] = await deps.log.append([{ topic: keysTopic, partition: 0, messages }]);
      const end = (position?.offset ?? 0) + 1;
      await follower.reached(end).catch(async () => {
        // Kafka shows nothing behind a transaction that a killed node left open: opening the writer ends it.
        await inTurn(() => commit.reopen());
        await follower.reached(end);
      });
    },
    async createShared(keyId) {
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

  const once = async (wanted: () => Change[]): Promise<number> => {
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
      throw error;
    }
  };

  return {
    run: (wanted: () => Change[]) =>
      retrying(() => once(wanted), { ...fencedPauses, isRetryable: isFenced }),
    async reopen() {
      await discard();
      await take();
    },
    close: discard,
  };
}

const isFenced = (error: unknown): boolean =>
  error instanceof GatewayError && error.code === 'writer_fenced';

function toMessage(codec: Codec<WrappedKey>, [key, wrapped]: Change) {
  const headers = { 'content-type': 'application/avro' };
  return { key, value: wrapped === null ? null : codec.encode(wrapped), headers };
}

/** Key of a message without content. */
export const fillerKey = '-';

/** Random delay: the filler of the first node makes those of the other nodes unnecessary. */
const spreadMs = 15_000;

interface KeyFiller extends Disposable {
  /** Messages of the keys topic, in order. */
  saw(message: Pick<ReadMessage, 'key' | 'value' | 'timestamp'>): void;
}

/**
 * Kafka compacts closed segments only, and only an append closes one, by the times of messages: on an idle topic a key
 * that was destroyed would stay beside its tombstone. So a minute after the last tombstone, the longest that a segment
 * is open, one message more is appended, unless others came meanwhile.
 */
function createKeyFiller(
  { log, clock, logger }: ProcessPorts & { readonly log: EventLog },
  topic: string,
): KeyFiller {
  /** The newest time in the log when the last key was destroyed: its segment began no later. */
  let shreddedAt: Instant | null = null;
  let newest: Instant = 0;
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  const fillIn = (ms: number): void => {
    if (timer !== null) clearTimeout(timer);
    timer = isClosed ? null : setTimeout(() => void fill(), ms).unref();
  };
  const fill = async (): Promise<void> => {
    const closesAt = (shreddedAt ?? newest) + limits.keySegmentMs + 1;
    const timestamp = Math.max(clock.now(), closesAt);
    try {
      const messages = [{ key: fillerKey, value: null, headers: {}, timestamp }];
      await log.append([{ topic, partition: 0, messages }]);
    } catch (err) {
      logger.warn({ err }, 'the segment of destroyed keys could not be closed yet');
      if (shreddedAt !== null) fillIn(limits.keySegmentMs);
    }
  };
  const cancel = (): void => {
    shreddedAt = null;
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };

  return {
    saw({ key, value, timestamp }) {
      newest = Math.max(newest, timestamp);
      if (key !== fillerKey && value === null) {
        shreddedAt = newest;
        const left = newest + limits.keySegmentMs - clock.now();
        fillIn(left <= 0 ? 0 : left + randomInt(spreadMs));
      } else if (shreddedAt !== null && timestamp > shreddedAt + limits.keySegmentMs) {
        cancel();
      }
    },
    [Symbol.dispose]() {
      isClosed = true;
      cancel();
    },
  };
}
