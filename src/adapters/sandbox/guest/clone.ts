import { DOMException } from './dom-exception.ts';
import { bytesOf } from './text.ts';

/**
 * A deep copy of data, with cycles (the structured clone algorithm for values of this isolate).
 * @throws Error named `DataCloneError` for functions, symbols, promises and weak collections
 */
export function structuredClone(value: unknown): unknown {
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
