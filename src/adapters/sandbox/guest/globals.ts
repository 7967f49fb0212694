import { clearTimeout, setTimeout } from './bridge.ts';
import { Buffer } from './buffer.ts';
import { getRandomValues, randomUUID } from './crypto.ts';
import { DOMException } from './dom-exception.ts';
import { atob, btoa, TextDecoder, TextEncoder } from './encodings.ts';
import { Blob, FormData, Headers } from './form.ts';
import { bytesOf } from './text.ts';
import { URLSearchParams } from './url-search-params.ts';
import { URL } from './url.ts';

/**
 * A deep copy of data, with cycles (the structured clone algorithm for values of this isolate).
 * @throws Error named `DataCloneError` for functions, symbols, promises and weak collections
 */
function structuredClone(value: unknown): unknown {
  return clone(value, new Map());
}

function clone(value: unknown, seen: Map<object, unknown>): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') throw uncloneable(value);
  if (typeof value !== 'object' || value === null) return value;
  const existing = seen.get(value);
  if (existing !== undefined) return existing;
  const atom = cloneAtom(value);
  if (atom !== null) {
    seen.set(value, atom);
    return atom;
  }
  if (Array.isArray(value)) {
    const copy: unknown[] = new Array(value.length);
    seen.set(value, copy);
    for (const key of Object.keys(value))
      copy[key as unknown as number] = clone(value[key as unknown as number], seen);
    return copy;
  }
  if (value instanceof Map) {
    const copy = new Map<unknown, unknown>();
    seen.set(value, copy);
    for (const [key, item] of value as Map<unknown, unknown>)
      copy.set(clone(key, seen), clone(item, seen));
    return copy;
  }
  if (value instanceof Set) {
    const copy = new Set<unknown>();
    seen.set(value, copy);
    for (const item of value as Set<unknown>) copy.add(clone(item, seen));
    return copy;
  }
  return cloneObject(value, seen);
}

/** Copies objects that contain no other objects; null for the rest. */
function cloneAtom(value: object): object | null {
  if (value instanceof Date) return new Date(value.getTime());
  // oxlint-disable-next-line svc/literal-pattern -- the function's own, which runs in its time
  if (value instanceof RegExp) return new RegExp(value.source, value.flags);
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (value instanceof Boolean || value instanceof Number || value instanceof String) {
    return Object(value.valueOf()) as object;
  }
  if (!ArrayBuffer.isView(value)) return null;
  const { buffer } = new Uint8Array(bytesOf(value) ?? []);
  if (value instanceof DataView) return new DataView(buffer);
  const kinds = [
    Uint8Array,
    Uint8ClampedArray,
    Int8Array,
    Uint16Array,
    Int16Array,
    Uint32Array,
    Int32Array,
    Float32Array,
    Float64Array,
    BigInt64Array,
    BigUint64Array,
  ];
  const kind = kinds.find((candidate) => value instanceof candidate);
  return kind === undefined ? null : new kind(buffer);
}

function cloneObject(value: object, seen: Map<object, unknown>): unknown {
  if (
    value instanceof WeakMap ||
    value instanceof WeakSet ||
    value instanceof Promise ||
    value instanceof WeakRef
  ) {
    throw uncloneable(value);
  }
  const copy: Record<string, unknown> = value instanceof Error ? cloneError(value) : {};
  seen.set(value, copy);
  for (const key of Object.keys(value)) {
    Object.defineProperty(copy, key, {
      value: clone((value as Record<string, unknown>)[key], seen),
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  return copy;
}

const errorKinds = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];

function cloneError(error: Error): Record<string, unknown> {
  const kind = errorKinds.find((candidate) => error instanceof candidate) ?? Error;
  const copy = new kind(error.message);
  copy.stack = error.stack ?? '';
  return copy as unknown as Record<string, unknown>;
}

function uncloneable(value: object | symbol | ((...args: never[]) => unknown)): Error {
  const text = typeof value === 'object' ? '#<Object>' : String(value);
  return new DOMException(`${text} could not be cloned.`, 'DataCloneError');
}

type Listener = (event: { readonly type: 'abort'; readonly target: AbortSignal }) => void;

/** Whether something was aborted, and why. */
class AbortSignal {
  #reason: unknown = undefined;
  #isAborted = false;
  #listeners: { readonly listener: Listener; readonly once: boolean }[] = [];
  onabort: Listener | null = null;

  static abort(reason?: unknown): AbortSignal {
    const signal = new AbortSignal();
    fire(signal, reason);
    return signal;
  }

  static timeout(delayMs: number): AbortSignal {
    const signal = new AbortSignal();
    const error = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
    setTimeout(() => fire(signal, error), delayMs);
    return signal;
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const any = new AbortSignal();
    for (const signal of signals) {
      if (signal.aborted) fire(any, signal.reason);
      else signal.addEventListener('abort', () => fire(any, signal.reason));
    }
    return any;
  }

  /** Called by the controller; the first reason applies. */
  static readonly fire = (signal: AbortSignal, reason?: unknown): void => {
    if (signal.#isAborted) return;
    signal.#isAborted = true;
    signal.#reason = reason === undefined ? defaultReason() : reason;
    const event = { type: 'abort', target: signal } as const;
    const listeners = signal.#listeners;
    signal.#listeners = listeners.filter(({ once }) => !once);
    signal.onabort?.(event);
    for (const { listener } of listeners) listener(event);
  };

  get aborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#isAborted) throw this.#reason;
  }

  addEventListener(type: string, listener: Listener, options?: { once?: boolean } | boolean): void {
    if (type !== 'abort') return;
    const once = typeof options === 'object' && options.once === true;
    this.#listeners.push({ listener, once });
  }

  removeEventListener(type: string, listener: Listener): void {
    if (type !== 'abort') return;
    this.#listeners = this.#listeners.filter((entry) => entry.listener !== listener);
  }
}

const { fire } = AbortSignal;
Reflect.deleteProperty(AbortSignal, 'fire');

const defaultReason = (): Error => new DOMException('This operation was aborted', 'AbortError');

class AbortController {
  readonly signal = new AbortSignal();

  abort(reason?: unknown): void {
    fire(this.signal, reason);
  }
}

/**
 * The globals of a function besides the language (docs/reference/functions.md#sandbox). Removed: everything that
 * generates code from text, shares memory, or allocates memory beyond the limit.
 */
export function installGlobals(): void {
  const added = {
    AbortController,
    AbortSignal,
    Blob,
    Buffer,
    FormData,
    Headers,
    TextDecoder,
    TextEncoder,
    URL,
    URLSearchParams,
    DOMException,
    atob,
    btoa,
    clearTimeout,
    console: silentConsole(),
    crypto: { getRandomValues, randomUUID },
    performance: monotonicClock(),
    queueMicrotask,
    setTimeout,
    structuredClone,
  };
  for (const [name, value] of Object.entries(added)) define(globalThis, name, value);
  for (const name of ['eval', 'WebAssembly', 'SharedArrayBuffer', 'Atomics', 'ShadowRealm']) {
    Reflect.deleteProperty(globalThis, name);
  }
  refuseCodeFromText();
  refuseResizableBuffers();
}

/** Errors of the callback are rejections that the run reports. */
function queueMicrotask(callback: unknown): void {
  if (typeof callback !== 'function') throw new TypeError('queueMicrotask takes a function');
  void Promise.resolve().then(() => void (callback as () => unknown)());
}

/** Milliseconds since the start of the run, which never go back. */
function monotonicClock(): { readonly timeOrigin: number; now(): number } {
  const timeOrigin = new Date().getTime();
  let last = 0;
  return {
    timeOrigin,
    now: () => (last = Math.max(last, new Date().getTime() - timeOrigin)),
  };
}

function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, {
    value,
    writable: true,
    configurable: true,
    enumerable: false,
  });
}

/** Every method exists and does nothing. */
function silentConsole(): object {
  const silent = () => undefined;
  return new Proxy({}, { get: (_, name) => (name === 'then' ? undefined : silent) });
}

function refuseCodeFromText(): void {
  const prototypes = [
    Function.prototype,
    Object.getPrototypeOf(async () => undefined),
    Object.getPrototypeOf(function* () {
      yield undefined;
    }),
    Object.getPrototypeOf(async function* () {
      yield undefined;
    }),
  ] as object[];
  for (const prototype of prototypes) {
    const refuse = function Function() {
      throw new EvalError('Code generation from strings is not allowed.');
    };
    Object.defineProperty(refuse, 'prototype', { value: prototype });
    define(prototype, 'constructor', refuse);
    if (prototype === Function.prototype) define(globalThis, 'Function', refuse);
  }
}

/** The isolate's limit does not count the growth of resizable buffers. */
function refuseResizableBuffers(): void {
  const Plain = ArrayBuffer;
  const fixed = new Proxy(Plain, {
    construct: (target, args: unknown[], newTarget) =>
      Reflect.construct(target, args.slice(0, 1), newTarget) as object,
  });
  define(Plain.prototype, 'constructor', fixed);
  Reflect.deleteProperty(Plain.prototype, 'resize');
  define(globalThis, 'ArrayBuffer', fixed);
}
