import type { Logger } from 'pino';
import { GatewayError, type ErrorDetails } from '#kernel/errors.ts';
import { partitionOf } from '#kernel/partition.ts';
import type { Message } from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';
import { consume } from './consume.ts';
import { repliesTopic, type ReplyValue } from './message-codec.ts';
import type { LogPorts } from './ports.ts';

/** An owner's reply. */
export interface Reply<T> {
  readonly partition: number;
  /** For the control plane the number of the decision, for records an offset. */
  readonly offset: number;
  readonly body: T | null;
}

export interface Replies extends AsyncDisposable {
  /** Name of this node: what a command's `replyTo` must be. */
  readonly node: string;
  /**
   * Waits for the reply to a command; called before the command is appended. The body is JSON.
   * @throws GatewayError what the owner refused with; `log_unavailable` after the timeout: the command may
   *   or may not have been decided
   */
  expect<T>(commandId: string, timeoutMs: number): Promise<Reply<T>>;
}

/** Consumes the replies to this node from now on. */
export async function openReplies(
  deps: LogPorts & {
    readonly logger: Logger;
    /** Unique among running nodes and, where several threads of one send commands, among threads. */
    readonly node: string;
  },
): Promise<Replies> {
  const { log, schemas, node, logger } = deps;
  const codec = await schemas.codec<ReplyValue>(repliesTopic);
  const partition = partitionOf(node, await log.partitions(repliesTopic));
  const offset = await log.endOffset(repliesTopic, partition);
  const waiting = new Map<string, (reply: ReplyValue | null) => void>();
  const ending = new AbortController();

  const running = consume(
    log,
    [{ topic: repliesTopic, partition, offset }],
    (batch) => {
      for (const { key, value } of batch.messages) {
        if (key !== node || value === null) continue;
        const reply = codec.decode(value);
        waiting.get(reply.command_id)?.(reply);
      }
    },
    {
      signal: ending.signal,
      failed: (err) => logger.error({ err }, 'consuming the replies failed'),
    },
  );

  return {
    node,
    expect<T>(commandId: string, timeoutMs: number): Promise<Reply<T>> {
      const { promise, resolve, reject } = Promise.withResolvers<Reply<T>>();
      const settle = (reply: ReplyValue | null): void => {
        clearTimeout(timer);
        waiting.delete(commandId);
        if (reply?.outcome === 'done') resolve(toReply(reply));
        else reject(reply === null ? unanswered() : refusal(reply));
      };
      const timer = setTimeout(() => settle(null), timeoutMs).unref();
      waiting.set(commandId, settle);
      // The caller may have given up because the command could not be appended.
      promise.catch(() => undefined);
      return promise;
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      for (const settle of [...waiting.values()]) settle(null);
      await running;
    },
  };
}

/** The reply as a message and its destination: the partition of the node's name. */
export function replyMessage(
  codec: Codec<ReplyValue>,
  partitions: number,
  reply: {
    readonly commandId: string;
    readonly node: string;
    readonly place: { readonly partition: number; readonly offset: number };
    readonly answer:
      | { readonly outcome: 'done'; readonly body?: unknown }
      | { readonly outcome: 'refused'; readonly error: GatewayError };
  },
): { readonly topic: string; readonly partition: number; readonly message: Message } {
  const { commandId, node, place, answer } = reply;
  const value: ReplyValue = {
    command_id: commandId,
    node,
    outcome: answer.outcome,
    partition: place.partition,
    offset: place.offset,
    code: answer.outcome === 'refused' ? answer.error.code : null,
    details: answer.outcome === 'refused' ? JSON.stringify(answer.error.details) : null,
    body: answer.outcome === 'done' ? jsonBytes(answer.body) : null,
  };
  const headers = { 'content-type': 'application/avro' };
  return {
    topic: repliesTopic,
    partition: partitionOf(node, partitions),
    message: { key: node, value: codec.encode(value), headers },
  };
}

const jsonBytes = (body: unknown): Buffer | null =>
  body === undefined ? null : Buffer.from(JSON.stringify(body));

function toReply<T>({ partition, offset, body }: ReplyValue): Reply<T> {
  const text = body === null ? null : Buffer.from(body).toString();
  return { partition, offset, body: text === null ? null : (JSON.parse(text) as T) };
}

function refusal({ code, details }: ReplyValue): GatewayError {
  const parsed = details === null ? {} : (JSON.parse(details) as ErrorDetails);
  return GatewayError.from({ code: code ?? 'server_error', details: parsed });
}

const unanswered = (): GatewayError =>
  new GatewayError('log_unavailable', {
    message: 'The owner did not reply in time; the request may have been executed.',
  });
