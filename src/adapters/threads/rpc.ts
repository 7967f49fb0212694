import type { MessagePort, Transferable } from 'node:worker_threads';
import { GatewayError } from '#kernel/errors.ts';

/** Calls between the threads of one process, over a MessagePort. */
interface Call {
  readonly kind: 'call';
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}
type Answer =
  | { readonly kind: 'done'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly error: Failure };
interface Event {
  readonly kind: 'event';
  readonly name: string;
  readonly value: unknown;
}
type Packet = Call | Answer | Event;

/** An error as plain data: only what is listed here arrives. */
interface Failure {
  readonly gateway?: ReturnType<GatewayError['toJSON']>;
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly codes: Readonly<Record<string, string | number>>;
  /** Of an AggregateError. */
  readonly errors?: readonly ThrownValue[];
  readonly cause?: ThrownValue;
}

/** A thrown value, which may be no error. */
type ThrownValue = { readonly error: Failure } | { readonly text: string };

/** Fields by which the engines and the system name a failure; callers distinguish errors by them. */
const codeFields = ['code', 'errcode', 'errstr', 'clickhouseCode', 'errno', 'syscall'] as const;

/** Causes below this are left out: they may form a circle. */
const depthMax = 8;

type Method = (...args: never[]) => unknown;
export type Methods = Readonly<Record<string, Method>>;

/** A result whose buffers are transferred instead of copied. */
export class TransferredResult<T> {
  readonly value: T;
  readonly transfer: readonly Transferable[];
  constructor(value: T, transfer: readonly Transferable[]) {
    this.value = value;
    this.transfer = transfer;
  }
}

/** One end of a pair. Both ends may serve and call. */
export interface Peer {
  call<T>(method: string, args: readonly unknown[], transfer?: readonly Transferable[]): Promise<T>;
  /** Sends an event without a response. */
  emit(name: string, value: unknown): void;
  on(name: string, listener: (value: never) => void): void;
  close(): void;
}

export function connect(port: MessagePort, methods: Methods = {}): Peer {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const listeners = new Map<string, ((value: never) => void)[]>();
  let lastId = 0;
  let isClosed = false;
  const ended = () => new GatewayError('log_unavailable', { message: 'The thread has ended.' });

  port.on('message', (packet: Packet) => {
    if (packet.kind === 'call') void answer(port, methods, packet);
    else if (packet.kind === 'event') {
      for (const listener of listeners.get(packet.name) ?? []) listener(packet.value as never);
    } else settlePacket(waiting, packet);
  });
  port.on('close', () => {
    isClosed = true;
    for (const promise of waiting.values()) promise.reject(ended());
    waiting.clear();
  });

  return {
    call<T>(method: string, args: readonly unknown[], transfer: readonly Transferable[] = []) {
      // A message to a closed port is dropped silently.
      if (isClosed) return Promise.reject(ended());
      const id = ++lastId;
      const promise = Promise.withResolvers<unknown>();
      waiting.set(id, promise);
      port.postMessage({ kind: 'call', id, method, args } satisfies Call, transfer);
      return promise.promise as Promise<T>;
    },
    emit: (name, value) => port.postMessage({ kind: 'event', name, value } satisfies Event),
    on: (name, listener) => {
      listeners.set(name, [...(listeners.get(name) ?? []), listener]);
    },
    close: () => port.close(),
  };
}

async function answer(port: MessagePort, methods: Methods, call: Call): Promise<void> {
  try {
    const method = Object.hasOwn(methods, call.method) ? methods[call.method] : undefined;
    if (method === undefined) throw new Error(`no method ${call.method}`);
    const value = await method(...(call.args as never[]));
    const moved = value instanceof TransferredResult ? (value as TransferredResult<unknown>) : null;
    const done: Answer = { kind: 'done', id: call.id, value: moved === null ? value : moved.value };
    port.postMessage(done, moved?.transfer ?? []);
  } catch (error) {
    port.postMessage({ kind: 'failed', id: call.id, error: pack(error) } satisfies Answer);
  }
}

function settlePacket(waiting: Map<number, PromiseWithResolvers<unknown>>, packet: Answer): void {
  const promise = waiting.get(packet.id);
  waiting.delete(packet.id);
  if (packet.kind === 'done') promise?.resolve(packet.value);
  else promise?.reject(unpack(packet.error));
}

function pack(error: unknown, depth = 0): Failure {
  const failure = error instanceof Error ? error : new Error(String(error));
  const { name, message, stack } = failure;
  const causes =
    depth >= depthMax
      ? {}
      : {
          ...(failure.cause === undefined ? {} : { cause: thrown(failure.cause, depth + 1) }),
          ...(failure instanceof AggregateError
            ? { errors: failure.errors.map((one) => thrown(one, depth + 1)) }
            : {}),
        };
  if (failure instanceof GatewayError) {
    return { gateway: failure.toJSON(), name, message, stack, codes: {}, ...causes };
  }
  return { name, message, stack, codes: codesOf(failure), ...causes };
}

const thrown = (value: unknown, depth: number): ThrownValue =>
  value instanceof Error ? { error: pack(value, depth) } : { text: String(value) };

function codesOf(error: Error): Failure['codes'] {
  const found: Record<string, string | number> = {};
  for (const field of codeFields) {
    const value: unknown = Reflect.get(error, field);
    if (typeof value === 'string' || typeof value === 'number') found[field] = value;
  }
  return found;
}

function unpack(failure: Failure): Error {
  const { gateway, name, message, stack, codes, errors } = failure;
  const options = failure.cause === undefined ? {} : { cause: valueOf(failure.cause) };
  const error =
    gateway !== undefined
      ? GatewayError.from(gateway, options)
      : errors === undefined
        ? new Error(message, options)
        : new AggregateError(errors.map(valueOf), message, options);
  if (stack !== undefined) error.stack = stack;
  if (gateway === undefined) Object.assign(error, { name, ...codes });
  return error;
}

const valueOf = (value: ThrownValue): unknown =>
  'text' in value ? value.text : unpack(value.error);
