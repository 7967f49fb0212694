import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSandbox } from '#adapters/sandbox/sandbox.ts';
import type { HostCalls, Sandbox } from '#ports/sandbox.ts';
import { outputOf, runGuest } from './guest.ts';
import { hostileCorpus, type Hostile } from './hostile-corpus.ts';

/** A run and the one beside it share a process. */
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const answering: HostCalls = {
  getCheckpoint: async () => 'null',
  saveCheckpoint: () => Promise.reject(new Error('refused')),
  setMetadata: async () => 'null',
  getConnection: async () =>
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
  log: async () => 'null',
};

/** A run that waits for the host while another one does its worst. */
function startInnocent() {
  const waiting = Promise.withResolvers<string>();
  const host: HostCalls = { getCheckpoint: () => waiting.promise };
  const body = 'const mine = { n: 1 }; await svc.getCheckpoint(); return mine;';
  const output = outputOf(sandbox, body, { host });
  return {
    finish() {
      waiting.resolve('null');
      return output;
    },
  };
}

function judge({ ends }: Hostile, result: Awaited<ReturnType<typeof runGuest>>): void {
  if ('output' in ends) {
    expect(result).toEqual({ status: 'ok', output: JSON.stringify(ends.output) });
    return;
  }
  expect(result.status === 'error' ? result.error.kind : result).toBeOneOf([...ends.kind]);
  if (result.status !== 'error') return;
  expect(result.error.message).toMatch(ends.message ?? /\S/);
  expect(Buffer.byteLength(JSON.stringify(result.error))).toBeLessThan(250_000);
}

describe('a hostile function', () => {
  it.each(hostileCorpus)('$name', async (hostile) => {
    const innocent = startInnocent();
    const { head = '', limits = {} } = hostile;
    const result = await runGuest(sandbox, hostile.body, { host: answering, head, limits });
    judge(hostile, result);
    expect(await innocent.finish()).toEqual({ n: 1 });
  });

  it('leaves nothing in the memory of this process', async () => {
    const residentMb = (): number => {
      const [, pages = '0'] = readFileSync('/proc/self/statm', 'utf8').split(' ');
      return (Number(pages) * 4096) / 1024 ** 2;
    };
    const repeat = async (): Promise<number> => {
      for (const { body, limits = {} } of hostileCorpus.filter(
        ({ limits: own }) => own?.heapMb === 32,
      ))
        await runGuest(sandbox, body, { host: answering, limits });
      return residentMb();
    };
    const before = await repeat();
    const after = await repeat();
    expect(after - before).toBeLessThan(100);
  });
});
