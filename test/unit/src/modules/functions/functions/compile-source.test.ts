import { describe, expect, it } from 'vitest';
import { compileSource } from '../../../../../../src/modules/functions/functions/compile-source.ts';
import { refusal } from '../../../../../support/functions-api.ts';

const code = `import { createAction } from 'svc';
import { z } from 'zod';
export default createAction({
  description: 'Adds one',
  input: z.object({ of: z.number() }),
  output: z.number(),
  exec: (_svc, { of }) => Promise.resolve(of + 1),
});`;

describe('a file that is compiled', () => {
  const target = { integrationKey: 'crm', name: 'add-one', kind: 'action' } as const;

  it('is refused when checking it takes more memory than it may have', async () => {
    const { signal } = new AbortController();
    const heapMb = 24;
    expect(await refusal(compileSource({ code, target }, signal, { heapMb }))).toMatchObject({
      code: 'compilation_error',
      message: expect.stringContaining('too much memory') as string,
    });
  });
});
