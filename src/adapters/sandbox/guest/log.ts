import type { LogLevel, LogLine } from '#ports/sandbox.ts';
import { levelSlot, ownLevelSlot } from '../dropped-counts.ts';
import { call, throwIfAborted } from './bridge.ts';
import { jsonText } from './errors.ts';

/** By severity, which is also the slot of a count. */
const order: Readonly<Record<LogLevel | 'off', number>> = {
  debug: 0,
  info: 1,
  warn: 2,
  error: 3,
  off: 4,
};
const entryCharsMax = 99_000;
const depthMax = 10;
const linesPerCall = 100;

let level: LogLevel | 'off' = 'warn';
/** The function chose the level. */
let isOwnLevel = false;
/** Lines below the level, by their own; the supervisor reads it when the run has ended, however it ended. */
let dropped: { [slot: number]: number } = [];
let lines: LogLine[] = [];
let flushing: Promise<void> | null = null;

/** @param counts shared with the supervisor */
export function countDropped(counts: ArrayBufferLike): void {
  dropped = new Int32Array(counts);
}

export function startLogging(initial: LogLevel | 'off'): void {
  level = initial;
  noteLevel();
}

function noteLevel(): void {
  dropped[levelSlot] = order[level];
  dropped[ownLevelSlot] = isOwnLevel ? 1 : 0;
}

/** A logger that is `off` stays off. */
export function setLogger(options: unknown): void {
  const wanted = (options as { level?: unknown } | null | undefined)?.level;
  if (typeof wanted !== 'string' || !Object.hasOwn(order, wanted)) {
    throw new TypeError('setLogger takes { level } of debug, info, warn, error or off');
  }
  if (level === 'off') return;
  level = wanted as LogLevel | 'off';
  isOwnLevel = true;
  noteLevel();
}

/**
 * `log(message, payload?, { level }?)`: a last object with `level` holds the options. Lines of one turn are sent
 * together; the promise resolves when this one was sent.
 * @throws Error once the run was aborted
 */
export async function log(...args: unknown[]): Promise<void> {
  throwIfAborted();
  const options = optionsOf(args);
  const rest = options === null ? args : args.slice(0, -1);
  const lineLevel = options?.level ?? 'info';
  if (order[lineLevel] < order[level]) {
    const slot = order[lineLevel];
    dropped[slot] = (dropped[slot] ?? 0) + 1;
    return;
  }
  const [message, payload] = rest;
  lines.push({
    level: lineLevel,
    message: cut(typeof message === 'string' ? message : logJson(message)),
    payload: payload === undefined ? null : cut(logJson(payload)),
  });
  await flushLogs();
}

/** Resolves when every line so far was sent. Logging never fails a run. */
export async function flushLogs(): Promise<void> {
  while (lines.length > 0 || flushing !== null) {
    flushing ??= flushOnce();
    await flushing;
  }
}

async function flushOnce(): Promise<void> {
  // Lines of the same turn join before the first one is sent.
  await Promise.resolve();
  const batch = lines.slice(0, linesPerCall);
  lines = lines.slice(linesPerCall);
  try {
    await call('log', { lines: batch });
  } catch {
    lines = [];
  } finally {
    flushing = null;
  }
}

function optionsOf(args: readonly unknown[]): { level: LogLevel } | null {
  const last = args.at(-1);
  if (typeof last !== 'object' || last === null || !('level' in last)) return null;
  const wanted = last.level;
  const isKnown = typeof wanted === 'string' && wanted !== 'off' && Object.hasOwn(order, wanted);
  return { level: isKnown ? (wanted as LogLevel) : 'info' };
}

/** Readable JSON text: cycles and depth are cut, secrets hidden, lists keyed by index. */
function logJson(value: unknown): string {
  try {
    const plain = plainOf(value, 0, []);
    const keyed = Array.isArray(plain) ? Object.assign({}, plain) : plain;
    return jsonText(keyed) ?? 'null';
  } catch {
    return '"[unreadable]"';
  }
}

function plainOf(value: unknown, depth: number, above: readonly object[]): unknown {
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (typeof value === 'function') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (above.includes(value)) return '[circular]';
  if (depth >= depthMax) return '[cut]';
  const chain = [...above, value];
  if (value instanceof Error) {
    const { name, message, stack } = value;
    return { name, message, stack, ...plainFields(value, depth, chain) };
  }
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return toJSON.call(value);
  if (Array.isArray(value)) return value.map((item) => plainOf(item, depth + 1, chain));
  return plainFields(value, depth, chain);
}

function plainFields(value: object, depth: number, chain: readonly object[]): object {
  const fields = Object.entries(value).map(([key, item]) => [
    key,
    key.toLowerCase() === 'authorization' ? '[redacted]' : plainOf(item, depth + 1, chain),
  ]);
  return Object.fromEntries(fields) as object;
}

const cut = (text: string): string =>
  text.length <= entryCharsMax ? text : `${text.slice(0, entryCharsMax)}… (truncated)`;
