import { describe, expect, it } from 'vitest';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { Mask } from '#kernel/mask.ts';
import { requireRecording } from '#modules/functions/runs/invocation/recordings.ts';
import { CallRecorder } from '#modules/functions/runs/runtime/call-recorder.ts';
import {
  readRecording,
  type Piece,
  type RecordedFacts,
} from '#modules/functions/runs/runtime/recording.ts';
import type { HostCalls, RunContext } from '#ports/sandbox.ts';

const facts: Omit<RecordedFacts, 'missing'> = {
  contentHash: 'hash',
  functionVersion: '1',
  context: {} as RunContext,
  input: null,
  checkpoint: 'null',
  outcome: { status: 'succeeded', output: null, error: null },
};

/** A recorder of these calls, and the pieces that it keeps. */
function recording(calls: HostCalls, mask = new Mask(), attempt = 1) {
  const pieces: Piece[] = [];
  const recorder = new CallRecorder(async (number, bytes) => {
    pieces.push({ attempt, number, bytes });
  });
  return { recorder, calls: recorder.recorded(calls, mask), pieces };
}

const requestOf = (endpoint: string, more: object = {}): string =>
  JSON.stringify({ method: 'GET', endpoint, body: { kind: 'none' }, bodyAs: 'text', ...more });

const sought = { runId: 'run', environmentUid: 'env', queuedAt: 0, endedAt: 0 };
const kept = (pieces: Piece[] | null) => ({ findCalls: async () => pieces });

describe('a recorded attempt', () => {
  it('keeps calls in the order of the code, with their responses as they are', async () => {
    const late = Promise.withResolvers<string>();
    const { recorder, calls, pieces } = recording({
      http: async (args) =>
        args.includes('/slow')
          ? { json: await late.promise, body: 'slow' }
          : { json: '{"status":200}', body: 'fast' },
      batchSave: async () => 'null',
    });
    const slow = calls.http?.(requestOf('/slow?page=1'));
    await calls.http?.(requestOf('/fast'));
    late.resolve('{"status":201}');
    await slow;
    await calls.batchSave?.('{"model":"A","records":[{"id":"1"}]}');
    const price = await recorder.end(facts);
    expect(price).toMatchObject({ calls: 3, missing: null });
    const read = readRecording(pieces);
    expect(read?.calls).toMatchObject([
      { method: 'http', shown: 'GET /slow', json: '{"status":201}', body: 'slow' },
      { method: 'http', shown: 'GET /fast', body: 'fast' },
      { method: 'batchSave', args: '{"model":"A","records":[{"id":"1"}]}' },
    ]);
    expect(price.bytes).toBe(pieces.reduce((sum, { bytes }) => sum + bytes.length, 0));
  });

  it('has neither headers nor secrets of requests, connection and log', async () => {
    const mask = new Mask();
    mask.add('a-secret-token');
    const view = JSON.stringify({ credentials: { access_token: 'a-secret-token' } });
    const { recorder, calls, pieces } = recording(
      {
        http: async () => ({ json: '{}', body: '' }),
        getConnection: async () => view,
        log: async () => 'null',
      },
      mask,
    );
    const headers = { authorization: 'Bearer other-secret' };
    await calls.http?.(requestOf('/a/a-secret-token', { headers }));
    await calls.getConnection?.('{}');
    await calls.log?.('{"lines":[{"message":"a-secret-token"}]}');
    await recorder.end(facts);
    const text = JSON.stringify(readRecording(pieces));
    expect(text).not.toContain('secret');
    expect(text).toContain('[removed]');
  });

  it('keeps the error of a call, and throws it', async () => {
    const refused = new GatewayError('unknown_model', { message: 'no' });
    const { recorder, calls, pieces } = recording({ batchSave: () => Promise.reject(refused) });
    await expect(calls.batchSave?.('{"model":"X"}')).rejects.toBe(refused);
    await recorder.end(facts);
    expect(readRecording(pieces)?.calls).toMatchObject([
      { error: { code: 'unknown_model', message: 'no' } },
    ]);
  });

  it('spans frames and pieces', async () => {
    // Not compressible: more than one piece of the log.
    const body = Array.from({ length: 400_000 }, () => Math.random().toString(36)).join('');
    const { recorder, calls, pieces } = recording({ http: async () => ({ json: '{}', body }) });
    for (const page of [1, 2, 3]) await calls.http?.(requestOf(`/${page}`));
    await recorder.end(facts);
    expect(pieces.length).toBeGreaterThan(3);
    expect(readRecording(pieces.toReversed())?.calls.map((call) => call.body === body)).toEqual([
      true,
      true,
      true,
    ]);
    for (const lost of pieces.keys()) {
      expect(readRecording(pieces.filter((_, at) => at !== lost))).toBeNull();
    }
  });
});

describe('a replay', () => {
  it('takes the newest whole attempt: a killed one has no end', async () => {
    const killed = recording({ log: async () => 'null' });
    await killed.calls.log?.('{}');
    const second = recording({}, new Mask(), 2);
    await second.recorder.end(facts);
    const third = recording({ http: async () => 'x'.repeat(2 * 1024 ** 2) }, new Mask(), 3);
    await third.calls.http?.(requestOf('/'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const pieces = [...third.pieces, ...killed.pieces, ...second.pieces];
    expect(await requireRecording(kept(pieces), sought)).toMatchObject({ attempt: 2 });
  });

  it('is refused without a recording, without its key, and of an incomplete one', async () => {
    await expect(requireRecording(kept([]), sought)).rejects.toThrow('were not recorded');
    await expect(requireRecording(kept(null), sought)).rejects.toThrow('connection was deleted');
    const { recorder, calls, pieces } = recording({ http: async () => 'null' });
    for (let at = 0; at <= limits.recordedRunCallsMax; at++) await calls.http?.('{}');
    await recorder.end(facts);
    await expect(requireRecording(kept(pieces), sought)).rejects.toThrow('more than 10000 calls');
    const failing = new CallRecorder(() => Promise.reject(new Error('away')));
    expect(await failing.end(facts)).toMatchObject({ missing: 'lost' });
  });

  it('is refused of calls that were too large', async () => {
    const { recorder, calls, pieces } = recording({
      http: async () => ({ json: '{}', body: 'x'.repeat(limits.recordedRunBytesMax) }),
    });
    await calls.http?.(requestOf('/'));
    await recorder.end(facts);
    await expect(requireRecording(kept(pieces), sought)).rejects.toThrow('more than 32 MiB');
  });
});
