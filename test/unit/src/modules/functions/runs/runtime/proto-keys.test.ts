import { describe, expect, it } from 'vitest';
import type { RuntimeDeps } from '#modules/functions/runs/runtime/deps.ts';
import type { HostCalls, HostMethod } from '#ports/sandbox.ts';
import { fakeHttp, fakeRuntime, ok } from './fakes.ts';

/** An object as JSON has it; a literal would set its prototype. */
const odd = '{"a":1,"__proto__":{"b":[{"__proto__":2}]}}';

/** The call with its arguments as the text that crosses. */
const call = async (calls: HostCalls, method: HostMethod, args: string): Promise<string> => {
  const answer = await calls[method]!(args);
  return typeof answer === 'string' ? answer : answer.json;
};

/** The runtime, and what reached its dependencies, as JSON texts. */
function watched() {
  const seen: string[] = [];
  const see = async (value: unknown): Promise<void> => void seen.push(JSON.stringify(value));
  const { client, requests } = fakeHttp(ok());
  const base = fakeRuntime().deps;
  const deps: Partial<RuntimeDeps> = {
    http: client,
    connections: { ...base.connections, setMetadata: see, updateMetadata: see },
    checkpoint: { ...base.checkpoint, save: see },
    syncs: { ...base.syncs, trigger: (_name, options) => see(options) },
    triggerAction: async ({ input }) => {
      await see(input);
      return input;
    },
  };
  return { calls: fakeRuntime(deps).calls, seen, requests };
}

const http = (more: string): string =>
  `{"method":"POST","endpoint":"/x","bodyAs":"text","body":{"kind":"none"},${more}}`;

describe('a key __proto__ in the calls of functions', () => {
  it.each(['setMetadata', 'updateMetadata'] as const)('is kept by %s', async (method) => {
    const { calls, seen } = watched();
    await call(calls, method, `{"metadata":${odd}}`);
    expect(seen).toEqual([odd]);
  });

  it('is kept in checkpoints, which stay flat', async () => {
    const { calls, seen } = watched();
    await call(calls, 'saveCheckpoint', '{"checkpoint":{"__proto__":"x"}}');
    expect(seen).toEqual(['{"__proto__":"x"}']);
    const deep = call(calls, 'saveCheckpoint', `{"checkpoint":${odd}}`);
    await expect(deep).rejects.toThrow('"__proto__" must be a string, a number or a boolean');
  });

  it('is kept in inputs and outputs of actions, and in options of syncs', async () => {
    const { calls, seen } = watched();
    const output = await call(calls, 'triggerAction', `{"name":"echo","input":${odd}}`);
    expect([output, ...seen]).toEqual([`{"output":${odd}}`, odd]);
    const sync = '{"providerConfigKey":"crm","connectionId":"c","name":"s",';
    await call(calls, 'triggerSync', `${sync}"options":${odd}}`);
    expect(seen[1]).toBe(odd);
  });

  it('is kept in bodies, parameters and parts of requests', async () => {
    const { calls, requests } = watched();
    const sent = (at: number): string => Buffer.from(requests[at]?.body ?? '').toString();
    await call(calls, 'http', http(`"body":{"kind":"json","value":${odd}}`));
    expect(sent(0)).toBe(odd);
    await call(calls, 'http', http('"params":{"__proto__":"x","b":"y"}'));
    expect(requests[1]?.url.search).toBe('?__proto__=x&b=y');
    const fields = '[["__proto__",{"base64":"aGk="}],["b",{"value":{"__proto__":1}}]]';
    const form = '"headers":{"content-type":"multipart/form-data"}';
    await call(calls, 'http', http(`${form},"body":{"kind":"fields","fields":${fields}}`));
    expect(sent(2)).toContain('name="__proto__"');
    expect(sent(2)).toContain('{"__proto__":1}');
  });

  it.each(['http', 'fetch'] as const)(
    'is refused by its name as a header of %s',
    async (method) => {
      const { calls, requests } = watched();
      const args = {
        http: http('"headers":{"__proto__":"x"}'),
        fetch:
          '{"url":"https://x.test","method":"GET","body":{"kind":"none"},"headers":{"__proto__":"x"}}',
      }[method];
      await expect(call(calls, method, args)).rejects.toThrow('headers.__proto__');
      expect(requests).toEqual([]);
    },
  );
});
