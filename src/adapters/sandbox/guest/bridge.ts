import { parseWrittenJson } from '#kernel/exact-json.ts';
import type { HostMethod, HostProtocol } from '#ports/sandbox.ts';

/** Posts to the supervisor; the only response is a later `settle`. Only strings and numbers cross. */
type Post = (kind: 'call' | 'end' | 'fail', id: number, first: string, second: string) => void;
/** Calls the supervisor synchronously. */
type Sync = (method: string, args: string) => string;

export interface Answer<M extends HostMethod> {
  readonly value: HostProtocol[M][1];
  readonly body: string;
}

/** A failure is made into an error by the waiting call, so that its stack shows who called. */
type Settlement =
  | { readonly json: string; readonly body: string }
  | { readonly failure: () => Error };

interface Call {
  readonly method: string;
  readonly args: string;
  readonly settle: (settled: Settlement) => void;
}

/** Calls in flight; further ones wait here. The supervisor refuses more (docs/reference/functions.md#limits). */
const inFlightMax = 64;
/** Characters of one call's arguments; the supervisor counts the bytes. */
const argsCharsMax = 4 * 1024 * 1024;
const timersMax = 1000;

let post: Post = unbound;
let callHost: Sync = unbound;
let lastId = 0;
let aborted: { readonly code: string; readonly message: string } | null = null;
const inFlight = new Map<number, Call>();
const waiting: Call[] = [];
const timers = new Map<number, () => void>();

function unbound(): never {
  throw new Error('The runtime has not started.');
}

export function bind(hostPost: Post, hostAsk: Sync): void {
  post = hostPost;
  callHost = hostAsk;
}

/** @throws Error when the arguments are too large, the host refuses, or the run was aborted */
export async function call<M extends HostMethod>(
  method: M,
  args: HostProtocol[M][0],
): Promise<Answer<M>> {
  return callText(method, JSON.stringify(args));
}

/** As `call`, for arguments that are JSON text already. */
export async function callText<M extends HostMethod>(method: M, args: string): Promise<Answer<M>> {
  throwIfAborted();
  if (args.length > argsCharsMax) {
    throw coded(
      new RangeError(`The arguments of one call are limited to 4 MB.`),
      'request_too_large',
    );
  }
  const settled = await new Promise<Settlement>((settle) => {
    const entry: Call = { method, args, settle };
    if (inFlight.size < inFlightMax) send(entry);
    else waiting.push(entry);
  });
  if ('failure' in settled) throw settled.failure();
  return { value: parseWrittenJson(settled.json) as HostProtocol[M][1], body: settled.body };
}

function send(entry: Call): void {
  const id = ++lastId;
  inFlight.set(id, entry);
  post('call', id, entry.method, entry.args);
}

/** JSON text of the response. The supervisor has a table of methods. */
export function callSync(method: string, args: unknown): string {
  return callHost(method, JSON.stringify(args));
}

/** The supervisor's responses. `timer` and `abort` may come without a call. */
export function settleCall(kind: string, id: number, json: string, body: string): void {
  if (kind === 'timer') {
    const fire = timers.get(id);
    timers.delete(id);
    fire?.();
    return;
  }
  if (kind === 'abort') {
    abort(JSON.parse(json) as { code: string; message: string });
    return;
  }
  const entry = inFlight.get(id);
  if (entry === undefined) return;
  inFlight.delete(id);
  const next = waiting.shift();
  if (next !== undefined) send(next);
  if (kind === 'done') entry.settle({ json, body });
  else entry.settle({ failure: () => hostError(parseWrittenJson(json) as HostFailure) });
}

function abort(reason: { readonly code: string; readonly message: string }): void {
  aborted = reason;
  for (const entry of [...inFlight.values(), ...waiting]) {
    entry.settle({ failure: () => abortError(reason) });
  }
  inFlight.clear();
  waiting.length = 0;
}

/** @throws Error with code `script_aborted` or `execution_timeout` once the run is over for the host. */
export function throwIfAborted(): void {
  if (aborted !== null) throw abortError(aborted);
}

function abortError(reason: { readonly code: string; readonly message: string }): Error {
  const error = coded(new Error(reason.message), reason.code);
  error.name = 'AbortError';
  return error;
}

interface HostFailure {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly status?: number;
  readonly payload?: unknown;
  readonly errors?: unknown;
}

/** A failure of the host as an error of this isolate, so that `instanceof Error` is true. */
function hostError(failure: HostFailure): Error {
  const { name, message, ...facts } = failure;
  const error = new Error(message);
  error.name = name;
  return Object.assign(error, facts);
}

export function coded(error: Error, code: string): Error {
  return Object.assign(error, { code });
}

/** The end of the run; undefined = no output. */
export function end(output: string | undefined): void {
  post('end', output === undefined ? 0 : 1, output ?? '', '');
}

export function fail(error: string): void {
  post('fail', 0, error, '');
}

export function setTimeout(callback: unknown, delayMs?: unknown, ...args: unknown[]): number {
  if (typeof callback !== 'function') throw new TypeError('setTimeout takes a function');
  if (timers.size >= timersMax) throw new RangeError(`At most ${timersMax} timers may be pending.`);
  const id = ++lastId;
  timers.set(id, () => {
    (callback as (...args: unknown[]) => void)(...args);
  });
  callSync('timer', [id, Math.max(0, Number(delayMs) || 0)]);
  return id;
}

export function clearTimeout(id: unknown): void {
  if (typeof id !== 'number' || !timers.delete(id)) return;
  callSync('untimer', [id]);
}
