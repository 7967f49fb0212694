import { describe, expect, it } from 'vitest';
import type { PublicMessage } from '#control-plane/entity.ts';
import { inTrace, traceOf } from '#control-plane/trace.ts';
import { systemClock } from '#kernel/time.ts';
import { createOperationLogs } from '#modules/operations/logs/operation-log.ts';
import { silent } from '#test/support/worlds/control.ts';

const of = {
  operationId: 'r1',
  operationType: 'sync:run' as const,
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
    const logs = createOperationLogs({ publisher, logger: silent, clock: systemClock });
    const operation = logs.begin(of, 'Sync started');
    operation.write('warn', 'careful', '{"n":1}');
    operation.write(
      'info',
      'Bearer abcdef123456 sent',
      '{"access_token":"t","n":"password=x"}',
      'user',
    );
    operation.write('warn', 'much', JSON.stringify('x'.repeat(20_000)));
    operation.end('failed', 'no');
    await logs.flush();
    const values = sent.map((message) => (message.topic === 'svc.logs.v1' ? message.value : null));
    expect(sent.map(({ topic, key }) => `${topic} ${key}`)).toEqual(
      Array(5).fill('svc.logs.v1 env/r1'),
    );
    expect(values.map((value) => [value?.level, value?.message, value?.state])).toEqual([
      ['info', 'Sync started', 'running'],
      ['warn', 'careful', null],
      ['info', 'Bearer [removed] sent', null],
      ['warn', 'much', null],
      ['error', 'no', 'failed'],
    ]);
    const contexts = values.map((value) => value?.context);
    expect(contexts[1]).toBe('{"n":1}');
    expect(contexts[2]).toBe('{"access_token":"[removed]","n":"password=[removed]"}');
    expect(values.map((value) => value?.source)).toContain('user');
    const begun = values[0]?.started_at;
    expect(values.map((value) => value?.started_at)).toEqual([begun, null, null, null, begun]);
    expect(Buffer.byteLength(contexts[3] ?? '')).toBeLessThanOrEqual(16 * 1024);
    expect(() => JSON.parse(contexts[3] ?? '') as unknown).not.toThrow();
  });

  it('belongs to the trace in which it began, whatever it travels with', async () => {
    const sent: PublicMessage[] = [];
    const publisher = {
      publish: async (messages: readonly PublicMessage[]) => (sent.push(...messages), []),
    };
    const logs = createOperationLogs({ publisher, logger: silent, clock: systemClock });
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
    const logs = createOperationLogs({
      publisher: { publish: () => Promise.reject(new Error('down')) },
      logger: silent,
      clock: systemClock,
    });
    logs.begin(of, 'Sync started').end('success', 'done');
    await logs[Symbol.asyncDispose]();
  });
});

describe('entries', () => {
  const noted = { state: 'success', text: 'done', contextJson: '{}', tookMs: 1 } as const;

  it('go out at once when there are enough, and together when a batch is on its way', async () => {
    const sizes: number[] = [];
    const begun = Promise.withResolvers<undefined>();
    const stored = Promise.withResolvers<undefined>();
    const publisher = {
      publish: async (messages: readonly PublicMessage[]) => {
        sizes.push(messages.length);
        begun.resolve(undefined);
        await stored.promise;
        return [];
      },
    };
    const logs = createOperationLogs({ publisher, logger: silent, clock: systemClock });
    for (let n = 0; n < 1_000; n += 1) logs.note(of, noted);
    await begun.promise;
    for (let n = 0; n < 3; n += 1) {
      logs.note(of, noted);
      await Promise.resolve();
    }
    stored.resolve(undefined);
    await logs.flush();
    expect(sizes).toEqual([1_000, 3]);
  });
});
