import { expect, it } from 'vitest';
import { systemClock } from '#kernel/time.ts';
import { createAuditRecorder, type EntryInput } from '#modules/access/audit/recorder.ts';

interface Append {
  readonly told: EntryInput;
}

it('counts reads of each agent with its name', async () => {
  const published: (string | null)[] = [];
  const recorder = createAuditRecorder({
    control: {
      enqueue: async (_ref, command) => {
        published.push((command as unknown as Append).told.details);
      },
    },
    clock: systemClock,
    logger: { error: () => undefined },
  });
  const read = (details: object | null): void =>
    recorder.read('env', {
      actor: 'key:k',
      action: 'mcp.call',
      target: 'GET /runs',
      outcome: 'success',
      ip_prefix: null,
      details: details === null ? null : JSON.stringify(details),
    });
  for (const agent of ['a', 'b', 'a', 'a']) read({ agent });
  read(null);
  read(null);
  await recorder[Symbol.asyncDispose]();
  expect(published.map((text) => (text === null ? null : (JSON.parse(text) as object)))).toEqual([
    { agent: 'a' },
    { agent: 'b' },
    null,
    { agent: 'a', reads: 2 },
    { reads: 1 },
  ]);
});
