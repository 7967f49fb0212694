import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { TextDecoder } from '@exodus/bytes/encoding.js';
import { z } from 'zod';
import type { RunFailure, RunLimits, RunResult } from '#ports/sandbox.ts';
import { aborted, outOfMemory, reportOf, stuck, tooMany } from './failures.ts';
import type { RunIsolate } from './isolate.ts';
import type { AbortReason } from './messages.ts';
import { urlParts } from './url-parts.ts';

/** Bytes of one call's arguments, and calls in flight (docs/reference/functions.md#limits). */
const argsBytesMax = 4 * 1024 * 1024;
const pendingCallsMax = 64;
const timersMax = 1000;
/** How long a disposed isolate may continue its current work. */
const stopMs = 2_000;
/** The longest delay of a Node timer. */
const timerMsMax = 2 ** 31 - 1;

export interface GuestRunEvents {
  called(id: number, method: string, args: string): void;
  /** Called exactly once, whatever the code does. */
  ended(result: RunResult): void;
  /** The isolate continues although the run has ended: it is in a loop inside V8 that cannot be interrupted. */
  unstoppable(): void;
}

/** Of all threads. */
function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

export interface GuestRunOrder {
  readonly bundle: string;
  readonly fileName: string;
  readonly order: string;
  readonly limits: RunLimits;
}

/** One run in one isolate, seen from the child process: counters, timers, and the end. */
export class GuestRun {
  readonly limits: RunLimits;
  readonly #isolate: RunIsolate;
  readonly #events: GuestRunEvents;
  readonly #pending = new Set<number>();
  readonly #timers = new Map<number, NodeJS.Timeout>();
  readonly #clocks: NodeJS.Timeout[] = [];
  readonly #processCpuMsBefore = processCpuMs();
  /** Pending turns of the isolate: while there are any, it may still make calls. */
  #turns = 0;
  #calls = 0;
  #aborted: AbortReason | null = null;
  #hasEnded = false;

  /** Starts at once. */
  constructor(isolate: RunIsolate, order: GuestRunOrder, events: GuestRunEvents) {
    this.limits = order.limits;
    this.#isolate = isolate;
    this.#events = events;
    isolate.events = {
      posted: (kind, id, first, second) => this.#posted(kind, id, first, second),
      requested: (method, args) => this.#asked(method, args),
      lost: () => this.#fail(outOfMemory),
    };
    const late = {
      code: 'execution_timeout',
      message: 'The run exceeded its time limit.',
    } as const;
    this.#clocks.push(
      setTimeout(() => this.abort(late), Math.min(order.limits.wallMs, timerMsMax)),
    );
    this.#turns += 1;
    compile(isolate, order).then(
      (bundle) => {
        this.#turns -= 1;
        this.#turn(isolate.start(bundle, order.order));
      },
      (error: unknown) => {
        this.#turns -= 1;
        this.#fail(runFailure(error));
      },
    );
  }

  /**
   * Processor time so far, in milliseconds; 0 when the isolate is gone, possibly before the end of its run. The clock of a
   * busy isolate also counts how long its thread waits for a core, but the run has used no more than its process.
   */
  cpuMs(): number {
    const { isolate } = this.#isolate;
    if (isolate.isDisposed) return 0;
    const ofProcess = processCpuMs() - this.#processCpuMsBefore;
    return Math.min(Number(isolate.cpuTime / 1_000_000n), ofProcess);
  }

  /** V8 has stopped the isolate for its memory; the code may still be on its way to its end. */
  get isLost(): boolean {
    return !this.#hasEnded && this.#isolate.isolate.isDisposed;
  }

  /** Heap and external memory in bytes; a busy isolate responds late. */
  async memory(): Promise<number> {
    const heap = await this.#isolate.isolate.getHeapStatistics();
    return heap.used_heap_size + heap.malloced_memory + heap.externally_allocated_size;
  }

  settle(id: number, isDone: boolean, json: string, body: string): void {
    if (this.#pending.delete(id)) this.#settle(isDone ? 'done' : 'failed', id, json, body);
  }

  /** Calls fail from now on; the code has its grace period to clean up. The first reason applies. */
  abort(reason: AbortReason): void {
    if (this.#aborted !== null || this.#hasEnded) return;
    this.#aborted = reason;
    this.#pending.clear();
    this.#settle('abort', 0, JSON.stringify(reason), '');
    this.#clocks.push(setTimeout(() => this.#fail(aborted(reason)), this.limits.graceMs));
  }

  kill(failure: RunFailure): void {
    this.#fail(failure);
  }

  #settle(...answer: Parameters<RunIsolate['settle']>): void {
    this.#turn(this.#isolate.settle(...answer));
  }

  /** An unhandled rejection also ends a turn with an error, which is ignored here. */
  #turn(turn: Promise<void>): void {
    this.#turns += 1;
    turn.then(
      () => this.#rested(),
      (error: unknown) => {
        if (!isLost(error)) this.#rested();
        else {
          this.#turns -= 1;
          this.#fail(this.#aborted === null ? outOfMemory : aborted(this.#aborted));
        }
      },
    );
  }

  /** An idle isolate without pending calls and timers never continues. */
  #rested(): void {
    this.#turns -= 1;
    if (this.#turns > 0 || this.#pending.size > 0 || this.#timers.size > 0) return;
    setImmediate(() => {
      if (this.#turns > 0 || this.#pending.size > 0 || this.#timers.size > 0) return;
      this.#fail(this.#aborted === null ? stuck : aborted(this.#aborted));
    });
  }

  #fail(error: RunFailure): void {
    this.#finish({ status: 'error', error });
  }

  #finish(result: RunResult): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const timer of [...this.#timers.values(), ...this.#clocks]) clearTimeout(timer);
    this.#timers.clear();
    this.#pending.clear();
    // Called first: disposing of an isolate takes half a millisecond, and nothing that it does matters any more.
    const dropped = this.#isolate.dropped();
    this.#events.ended(dropped === undefined ? result : { ...result, dropped });
    this.#isolate.dispose();
    setTimeout(() => {
      if (this.#turns > 0) this.#events.unstoppable();
    }, stopMs).unref();
  }

  #posted(kind: unknown, id: unknown, first: unknown, second: unknown): void {
    if (this.#hasEnded || typeof id !== 'number') return;
    if (typeof first !== 'string' || typeof second !== 'string') return;
    if (kind === 'call') this.#called(id, first, second);
    else if (this.#aborted !== null) this.#fail(abortedAt(this.#aborted, kind, first));
    else if (kind === 'end') this.#finish(outputOf(id === 0 ? undefined : first, this.limits));
    else if (kind === 'fail') this.#fail(reportOf(first));
  }

  #called(id: number, method: string, args: string): void {
    if (this.#aborted !== null) return;
    this.#calls += 1;
    const { hostCalls } = this.limits;
    if (this.#calls > hostCalls) {
      this.#fail(tooMany(`The function made more than ${hostCalls} calls.`));
    } else if (this.#pending.size >= pendingCallsMax) {
      this.#refuse(id, 'Too many calls at the same time.');
    } else if (Buffer.byteLength(args) > argsBytesMax) {
      this.#refuse(id, 'The arguments of one call are limited to 4 MB.');
    } else {
      this.#pending.add(id);
      this.#events.called(id, method, args);
    }
  }

  #refuse(id: number, message: string): void {
    const failure = { name: 'RangeError', message, code: 'request_too_large' };
    this.#settle('failed', id, JSON.stringify(failure), '');
  }

  #asked(method: unknown, args: unknown): string {
    if (this.#hasEnded || typeof method !== 'string' || typeof args !== 'string') {
      throw new Error('The call is not known.');
    }
    if (method === 'timer') return this.#startTimer(args);
    if (method === 'untimer') return this.#stopTimer(args);
    return answerSync(method, args);
  }

  /** Timers run here, so that a loop of timers goes no faster than this thread. */
  #startTimer(args: string): string {
    const [id, delayMs] = JSON.parse(args) as [unknown, unknown];
    if (typeof id !== 'number' || typeof delayMs !== 'number') throw new Error('Not a timer.');
    if (this.#timers.size >= timersMax) throw new RangeError('Too many timers.');
    const fire = () => {
      this.#timers.delete(id);
      this.#settle('timer', id, '', '');
    };
    this.#timers.set(id, setTimeout(fire, Math.min(Math.max(0, delayMs), timerMsMax)));
    return 'null';
  }

  #stopTimer(args: string): string {
    const [id] = JSON.parse(args) as [unknown];
    if (typeof id !== 'number') throw new Error('Not a timer.');
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    return 'null';
  }
}

/** The bundle becomes the body of a function; code that breaks out of it only affects its own isolate. */
async function compile(
  isolate: RunIsolate,
  { bundle, fileName }: GuestRunOrder,
): Promise<Parameters<RunIsolate['start']>[0]> {
  const head = '(function (exports, require, module) {';
  const origin = { filename: fileName, columnOffset: -head.length };
  return isolate.context.eval(`${head}${bundle}\n})`, { ...origin, reference: true });
}

/** With the place where the function noticed it, if its report names one. */
function abortedAt(reason: AbortReason, kind: unknown, report: string): RunFailure {
  const stack = kind === 'fail' ? reportOf(report).stack : undefined;
  return { ...aborted(reason), ...(stack === undefined ? {} : { stack }) };
}

/** A bundle that is no JavaScript, or too large for the isolate. */
function runFailure(error: unknown): RunFailure {
  if (isLost(error)) return outOfMemory;
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return { kind: 'error', name, message };
}

/** Messages of isolated-vm when it lost an isolate. */
function isLost(error: unknown): boolean {
  return error instanceof Error && /isolate (was|is) disposed|memory limit/i.test(error.message);
}

function outputOf(output: string | undefined, { outputBytes }: RunLimits): RunResult {
  if (output === undefined || Buffer.byteLength(output) <= outputBytes)
    return { status: 'ok', output };
  const error = {
    kind: 'output_too_large',
    name: 'RangeError',
    code: 'script_output_too_large',
    message: `The output is larger than ${Math.round(outputBytes / 1024 ** 2)} MB.`,
  } as const;
  return { status: 'error', error };
}

interface Flags {
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  readonly stream: boolean;
}

/** Bytes of the longest incomplete character. */
const pendingBytesMax = 3;

/** The encoding's name for a label of the Encoding standard; null for another text. */
function encodingOf(label: string): string | null {
  try {
    return new TextDecoder(label).encoding;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * Text of the bytes, null for malformed ones if `fatal`, and how many bytes at their end wait for the rest of their
 * character. These are null, all of them, for an encoding with a state: its text is decoded again from its start.
 */
function decodeText(
  encoding: string,
  { fatal, ignoreBOM, stream }: Flags,
  bytes: Uint8Array,
): { readonly text: string | null; readonly pending: number | null } {
  const text = decodedOrNull(encoding, bytes, { fatal, ignoreBOM, stream });
  if (!stream || text === null) return { text, pending: 0 };
  if (encoding === 'iso-2022-jp') return { text, pending: null };
  // Without its incomplete end the text is the same in one piece.
  let pending = 0;
  while (pending < Math.min(pendingBytesMax, bytes.length)) {
    const complete = bytes.subarray(0, bytes.length - pending);
    if (decodedOrNull(encoding, complete, { fatal: false, ignoreBOM, stream: false }) === text)
      break;
    pending += 1;
  }
  return { text, pending };
}

function decodedOrNull(
  encoding: string,
  bytes: Uint8Array,
  { fatal, ignoreBOM, stream }: Flags,
): string | null {
  try {
    return new TextDecoder(encoding, { fatal, ignoreBOM }).decode(bytes, { stream });
  } catch (error) {
    if (fatal && error instanceof TypeError) return null;
    throw error;
  }
}

/** Synchronous calls of an isolate: digests, random bytes, text, URLs. None reaches outside the process. */
type SyncCall = (args: unknown) => unknown;

const algorithms = new Set(['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512']);
const randomBytesMax = 1_048_576;

const digestArgs = z.tuple([z.string(), z.string().nullable(), z.string()]);
const parseArgs = z.tuple([z.string(), z.string().nullable()]);
const setArgs = z.tuple([z.string(), z.enum(urlParts), z.string()]);
const labelArgs = z.tuple([z.string()]);
const decodeArgs = z.tuple([
  z.string(),
  z.object({ fatal: z.boolean(), ignoreBOM: z.boolean(), stream: z.boolean() }),
  z.string(),
]);
const randomArgs = z.tuple([z.int().min(0).max(randomBytesMax)]);

const calls: Readonly<Record<string, SyncCall>> = {
  digest(args) {
    const [name, key, data] = digestArgs.parse(args);
    const algorithm = name.toLowerCase().replace(/^(rsa-)?sha-?(?=\d)/, 'sha');
    if (!algorithms.has(algorithm)) return { error: `The digest ${name} is not supported` };
    const digest =
      key === null ? createHash(algorithm) : createHmac(algorithm, Buffer.from(key, 'base64'));
    return { digest: digest.update(Buffer.from(data, 'base64')).digest('base64') };
  },
  uuid: () => randomUUID(),
  random(args) {
    const [size] = randomArgs.parse(args);
    return randomBytes(size).toString('base64');
  },
  'text.encoding'(args) {
    const [label] = labelArgs.parse(args);
    return encodingOf(label);
  },
  'text.decode'(args) {
    const [encoding, flags, data] = decodeArgs.parse(args);
    return decodeText(encoding, flags, Buffer.from(data, 'base64'));
  },
  'url.parse'(args) {
    const [url, base] = parseArgs.parse(args);
    return partsOf(URL.parse(url, base ?? undefined));
  },
  'url.set'(args) {
    const [href, part, value] = setArgs.parse(args);
    const url = new URL(href);
    if (part === 'href' && !URL.canParse(value)) return null;
    url[part] = value;
    return partsOf(url);
  },
};

function partsOf(url: URL | null): object | null {
  if (url === null) return null;
  const parts = urlParts.map((part) => [part, url[part]]);
  return { ...Object.fromEntries(parts), origin: url.origin } as object;
}

/** JSON in, JSON out. @throws Error without details when the call is unknown or its arguments are invalid */
function answerSync(method: string, args: string): string {
  const call = Object.hasOwn(calls, method) ? calls[method] : undefined;
  if (call === undefined) throw new Error('The call is not known.');
  try {
    return JSON.stringify(call(JSON.parse(args)));
  } catch {
    throw new Error('The arguments of the call are not valid.');
  }
}
