import { describe, expect, it } from 'vitest';
import type { PublicMessage } from '../../../../../src/control-plane/entity.ts';
import { inTrace, traceOf } from '../../../../../src/control-plane/trace.ts';
import { createRunLogs } from '../../../../../src/modules/runs/run-log.ts';
import { silent } from '../../../../support/control.ts';

const of = {
  operationId: 'r1',
  operationType: 'sync:run',
  environmentUid: 'env',
  integration: 'crm',
  connectionId: 'acme',
  runId: 'r1',
};

describe('the log of a run', () => {
  it('holds the operation from its begin to its end, with its messages between', async () => {
    const sent: PublicMessage[] = [];
    const publisher = {
      publish: async (messages: readonly PublicMessage[]) => (sent.push(...messages), []),
    };
    const logs = createRunLogs(publisher, silent);
    const operation = logs.begin(of, 'Sync started');
    operation.write('warn', 'careful', '{"n":1}');
    operation.write('warn', 'much', JSON.stringify('x'.repeat(20_000)));
    operation.end('failed', 'no');
    await logs.flush();
    expect(sent.map(({ topic, key }) => `${topic} ${key}`)).toEqual(
      Array(4).fill('svc.logs.v1 env/r1'),
    );
    expect(
      sent.map(({ value }) => [value?.['level'], value?.['message'], value?.['state']]),
    ).toEqual([
      ['info', 'Sync started', 'running'],
      ['warn', 'careful', null],
      ['warn', 'much', null],
      ['error', 'no', 'failed'],
    ]);
    const contexts = sent.map(({ value }) => value?.['context'] as string | null);
    expect(contexts[1]).toBe('{"n":1}');
    expect(Buffer.byteLength(contexts[2] ?? '')).toBeLessThanOrEqual(16 * 1024);
    expect(() => JSON.parse(contexts[2] ?? '') as unknown).not.toThrow();
  });

  it('belongs to the trace in which it began, whatever it travels with', async () => {
    const sent: PublicMessage[] = [];
    const publisher = {
      publish: async (messages: readonly PublicMessage[]) => (sent.push(...messages), []),
    };
    const logs = createRunLogs(publisher, silent);
    const traces = [traceOf(undefined), traceOf(undefined)];
    const [one, other] = traces.map((trace) =>
      inTrace(trace, () => logs.begin(of, 'Sync started')),
    );
    inTrace(traces[1]!, () => one!.end('success', 'done'));
    other!.end('success', 'done');
    await logs.flush();
    expect(sent.map(({ trace }) => trace)).toEqual([...traces, ...traces]);
  });

  it('fails nobody when the log cannot be written', async () => {
    const logs = createRunLogs({ publish: () => Promise.reject(new Error('down')) }, silent);
    logs.begin(of, 'Sync started').end('success', 'done');
    await logs[Symbol.asyncDispose]();
  });
});
