import { AbortController, AbortSignal } from './abort.ts';
import { clearTimeout, setTimeout } from './bridge.ts';
import { Buffer } from './buffer.ts';
import { structuredClone } from './clone.ts';
import { getRandomValues, randomUUID } from './crypto.ts';
import { DOMException } from './dom-exception.ts';
import { atob, btoa, TextDecoder, TextEncoder } from './encodings.ts';
import { Blob, FormData, Headers } from './form.ts';
import { URLSearchParams } from './url-search-params.ts';
import { URL } from './url.ts';

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
