import { createHash } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import { parseWrittenJson } from '#kernel/exact-json.ts';
import type { Mask } from '#kernel/mask.ts';
import { objectOf, stableJson, type JsonObject } from '#kernel/stable-json.ts';
import type { HostMethod, RunContext } from '#ports/sandbox.ts';

/**
 * What the code of one attempt was given and did, so that it can run again on it. Written as compressed frames, each in
 * one or more pieces (`Piece`); the last frame holds the facts of the attempt and makes the recording whole.
 */
export interface Recording extends RecordedFacts {
  /** In the order in which the code made them. */
  readonly calls: readonly RecordedCall[];
}

export interface RecordedFacts {
  /** Of the function that ran. */
  readonly contentHash: string;
  readonly functionVersion: string;
  readonly context: RunContext;
  /** JSON text; null: the caller sent none. */
  readonly input: string | null;
  /** JSON text of the checkpoint at the start. */
  readonly checkpoint: string;
  readonly outcome: RecordedOutcome;
  /** Why it is not whole; null: it is. */
  readonly missing: MissingCalls | null;
}

/** `size`: over `limits.recordedRunBytesMax`; `calls`: over `limits.recordedRunCallsMax`; `lost`: the log did not take a part. */
export type MissingCalls = 'size' | 'calls' | 'lost';

export interface RecordedOutcome {
  readonly status: string;
  /** JSON text; null without one. */
  readonly output: string | null;
  readonly error: RecordedError | null;
}

export interface RecordedError {
  readonly code: string;
  readonly message: string;
}

export interface RecordedCall {
  /** Its number in the attempt, from 0. */
  readonly n: number;
  readonly method: HostMethod;
  /** Hash of what it asked for, without headers and secrets. */
  readonly key: string;
  /** Of a request: method and path. */
  readonly shown?: string;
  /** JSON text of its arguments; of calls whose arguments are their meaning (saves, log lines). */
  readonly args?: string;
  /** JSON text of its answer. */
  readonly json?: string;
  readonly body?: string;
  readonly error?: RecordedError;
}

/** Calls whose arguments are compared; their answer is always the same. */
export const writtenMethods: ReadonlySet<HostMethod> = new Set<HostMethod>([
  'log',
  'batchSave',
  'batchUpdate',
  'batchDelete',
  'trackDeletesStart',
  'saveCheckpoint',
  'clearCheckpoint',
  'setMetadata',
  'updateMetadata',
  'triggerSync',
  'startSync',
  'setMergingStrategy',
]);

/** Calls whose arguments say what they did, and whose answer the code reads. */
export const effectiveMethods: ReadonlySet<HostMethod> = new Set<HostMethod>([
  'trackDeletesEnd',
  'deleteRecordsFromPreviousExecutions',
  'triggerAction',
]);

/** What a call asks for: equal calls of the past and of a replay have the same key. */
export function askedOf(
  method: HostMethod,
  args: string,
  mask: Pick<Mask, 'text'>,
): Pick<RecordedCall, 'key' | 'shown'> {
  const isRequest = method === 'http' || method === 'fetch';
  const parsed = isRequest ? parsedOf(args) : null;
  if (parsed === null) return { key: hashOf(mask.text(args)) };
  const {
    headers: _headers,
    retries: _retries,
    retryOn: _retryOn,
    retryHeader: _retryHeader,
    ...asked
  } = parsed;
  const verb = typeof asked['method'] === 'string' ? asked['method'] : 'GET';
  const address = asked['endpoint'] ?? asked['url'];
  const path = typeof address === 'string' ? address.replace(/[?#].*$/s, '') : '';
  return { key: hashOf(mask.text(stableJson(asked))), shown: mask.text(`${verb} ${path}`) };
}

/** Null: the arguments are not valid, and the call failed. */
function parsedOf(args: string): JsonObject | null {
  try {
    return objectOf(parseWrittenJson(args));
  } catch {
    return null;
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** Part of a recording on the log. */
export interface Piece {
  readonly attempt: number;
  /** From 0. */
  readonly number: number;
  readonly bytes: Buffer;
}

/** First byte of a piece: its frame continues, ends, or is the last one. */
export const pieceMarks = { continued: 0, frameEnd: 1, lastFrame: 2 } as const;

/** The last frame. */
export type LastFrame = Recording;

/** The recording of an attempt from its pieces; null when some are missing: its process crashed, or it still runs. */
export function readRecording(pieces: readonly Piece[]): Recording | null {
  const calls: RecordedCall[] = [];
  let frame: Buffer[] = [];
  const ordered = [...pieces].sort((one, other) => one.number - other.number);
  for (const [at, { number, bytes }] of ordered.entries()) {
    if (number !== at) return null;
    frame.push(bytes.subarray(1));
    const mark = bytes[0];
    if (mark === pieceMarks.continued) continue;
    const content: unknown = JSON.parse(zstdDecompressSync(Buffer.concat(frame)).toString());
    frame = [];
    if (mark === pieceMarks.frameEnd) {
      calls.push(...(content as RecordedCall[]));
      continue;
    }
    const { calls: rest, ...facts } = content as LastFrame;
    return { ...facts, calls: [...calls, ...rest].sort((one, other) => one.n - other.n) };
  }
  return null;
}
