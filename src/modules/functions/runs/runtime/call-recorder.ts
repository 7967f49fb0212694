import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import { limits } from '#kernel/limits.ts';
import type { Mask } from '#kernel/mask.ts';
import type { HostCall, HostCalls, HostMethod } from '#ports/sandbox.ts';
import {
  askedOf,
  effectiveMethods,
  pieceMarks,
  writtenMethods,
  type MissingCalls,
  type RecordedCall,
  type RecordedFacts,
} from './recording.ts';

/** Characters of calls that make a frame. */
const frameChars = 1024 ** 2;
/** A message of the log holds less than 4 MiB. */
const pieceBytes = 2 * 1024 ** 2;
/** The least work: the texts of responses and saves repeat one another. */
const compression = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const compress = promisify(zstdCompress);

/** Appends one piece of the recording; durable when it resolves. */
export type KeepPiece = (number: number, bytes: Buffer) => Promise<void>;

/** Records the calls of one attempt. Nothing here fails the run: what cannot be kept makes the recording incomplete. */
export class CallRecorder {
  readonly #keep: KeepPiece;
  #calls: string[] = [];
  #chars = 0;
  #count = 0;
  #plainBytes = 0;
  #keptBytes = 0;
  #pieces = 0;
  #missing: MissingCalls | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(keep: KeepPiece) {
    this.#keep = keep;
  }

  /** The calls, which are recorded as they end. */
  recorded(calls: HostCalls, mask: Mask): HostCalls {
    const wrapped = Object.entries(calls).map(([name, call]) => {
      const method = name as HostMethod;
      return [method, unrecorded.has(method) ? call : this.#recordedCall(method, call, mask)];
    });
    return Object.fromEntries(wrapped) as HostCalls;
  }

  /** Keeps the rest. Resolves with the price: the number of calls, and the bytes that are kept of them. */
  async end(facts: Omit<RecordedFacts, 'missing'>): Promise<{
    readonly calls: number;
    readonly bytes: number;
    readonly missing: MissingCalls | null;
  }> {
    await this.#writing;
    const missing = this.#missing;
    const calls = missing === null ? this.#calls.join(',') : '';
    const head = JSON.stringify({ ...facts, missing }).slice(0, -1);
    await this.#write(`${head},"calls":[${calls}]}`, pieceMarks.lastFrame);
    return { calls: this.#count, bytes: this.#keptBytes, missing: this.#missing };
  }

  #recordedCall(method: HostMethod, call: HostCall, mask: Mask): HostCall {
    return async (args) => {
      const n = this.#count++;
      if (this.#missing !== null) return call(args);
      const kept =
        writtenMethods.has(method) || effectiveMethods.has(method)
          ? { args: method === 'log' ? mask.text(args) : args }
          : {};
      try {
        const answer = await call(args);
        this.#add({
          n,
          method,
          ...askedOf(method, args, mask),
          ...kept,
          ...(writtenMethods.has(method) ? {} : answerOf(method, answer, mask)),
        });
        return answer;
      } catch (error) {
        this.#add({
          n,
          method,
          ...askedOf(method, args, mask),
          ...kept,
          error: errorOf(error, mask),
        });
        throw error;
      }
    };
  }

  #add(call: RecordedCall): void {
    if (this.#missing !== null) return;
    const text = JSON.stringify(call);
    this.#plainBytes += Buffer.byteLength(text);
    if (this.#count > limits.recordedRunCallsMax) this.#giveUp('calls');
    else if (this.#plainBytes > limits.recordedRunBytesMax) this.#giveUp('size');
    else this.#push(text);
  }

  #push(text: string): void {
    this.#calls.push(text);
    this.#chars += text.length;
    if (this.#chars < frameChars) return;
    const frame = `[${this.#calls.join(',')}]`;
    this.#calls = [];
    this.#chars = 0;
    this.#writing = this.#writing.then(() => this.#write(frame, pieceMarks.frameEnd));
  }

  #giveUp(missing: MissingCalls): void {
    this.#missing = missing;
    this.#calls = [];
  }

  async #write(frame: string, mark: number): Promise<void> {
    try {
      const packed = await compress(frame, compression);
      for (let from = 0; from < packed.length; from += pieceBytes) {
        const isEnd = from + pieceBytes >= packed.length;
        const first = Buffer.of(isEnd ? mark : pieceMarks.continued);
        const bytes = Buffer.concat([first, packed.subarray(from, from + pieceBytes)]);
        await this.#keep(this.#pieces++, bytes);
        this.#keptBytes += bytes.length;
      }
    } catch {
      this.#giveUp('lost');
    }
  }
}

/** They answer from what the recording begins with, or their answer has no meaning for the code. */
const unrecorded: ReadonlySet<HostMethod> = new Set<HostMethod>([
  'getCheckpoint',
  'releaseLock',
  'releaseAllLocks',
]);

/** Responses as they are; the connection and the integration without their secrets. */
function answerOf(
  method: HostMethod,
  answer: Awaited<ReturnType<HostCall>>,
  mask: Mask,
): Pick<RecordedCall, 'json' | 'body'> {
  const { json, body } = typeof answer === 'string' ? { json: answer, body: undefined } : answer;
  const isMasked = method === 'getConnection' || method === 'getIntegration';
  return {
    json: isMasked ? mask.text(json) : json,
    ...(body === undefined ? {} : { body }),
  };
}

function errorOf(error: unknown, mask: Mask): NonNullable<RecordedCall['error']> {
  const { code = 'server_error', message = '' } = error as { code?: string; message?: string };
  return { code, message: mask.text(message) };
}
