import { describe, expect, it } from 'vitest';
import { compileSource } from '#modules/functions/functions/compile-source.ts';
import { refusal } from '#test/support/worlds/functions-api.ts';

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

  it('is bundled, checked within that memory', async () => {
    const { signal } = new AbortController();
    const compiled = await compileSource({ code, target }, signal, {
      environmentUid: 'e',
      heapMb: 200,
    });
    expect(compiled.sent).toMatchObject({ syncName: 'add-one', providerConfigKey: 'crm' });
  });

  it('is refused with the way to deploy it where it is a projection', async () => {
    const { signal } = new AbortController();
    const projection = `import { createProjection } from 'svc';\nexport default createProjection({});`;
    const compiling = compileSource({ code: projection }, signal, { environmentUid: 'e' });
    expect(await refusal(compiling)).toMatchObject({
      code: 'compilation_error',
      message: expect.stringContaining('projections/<name>.ts') as string,
    });
  });

  it('is refused when checking it takes more memory than it may have', async () => {
    const { signal } = new AbortController();
    const hostile = `${code}
type Choice<S extends string> = \`\${S}\${'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h'}\`;
type Many = Choice<Choice<Choice<Choice<Choice<'x'>>>>>;
type All = { [K in Many]: { [L in Many]: K extends L ? [K, L] : never }[Many] };
const all: All = null as unknown as { [K in Many]: 1 };
void all;
`;
    const heapMb = 200;
    const compiling = compileSource({ code: hostile, target }, signal, {
      environmentUid: 'e',
      heapMb,
    });
    expect(await refusal(compiling)).toMatchObject({
      code: 'compilation_error',
      message: expect.stringContaining('too much memory') as string,
    });
  });
});
