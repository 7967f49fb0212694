import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from '#app/config/config.ts';
import { addProviders } from '#app/roles/added-providers.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import type { Extension } from '#modules/extensions/extension.ts';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

const providerOf = (name: string, displayName: string) =>
  ({ name, display_name: displayName }) as unknown as Provider;

const parts: readonly Extension[] = [
  {},
  {
    openProviders: async () => ({
      definitions: [providerOf('local', 'Of a part'), providerOf('crm', 'Of a part')],
      allow: ['127.0.0.1:4000'],
    }),
  },
];
const ofOperator = [providerOf('crm', 'Of the operator')];
const providers = {
  find: (name: string) => ofOperator.find((one) => one.name === name) ?? null,
  all: () => ofOperator,
};

const open = (env: Readonly<Record<string, string>>) =>
  addProviders(stack, { config: loadConfig(env), extensions: parts }, { providers } as never);

const servers = {
  SVC_LOG_URL: 'kafka://broker:9092',
  SVC_REGISTRY_URL: 'http://registry:8080',
  SVC_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
};

describe('providers of optional parts', () => {
  it.each([
    ['it listens on every address', { SVC_HOST: '0.0.0.0' }],
    ['it has a public URL', { SVC_PUBLIC_URL: 'http://127.0.0.1:3003' }],
    ['its log is in Kafka', servers],
    ['it has no API', { SVC_ROLES: 'owner,projector' }],
    ['the setting says so', { SVC_DEMO: 'no' }],
  ])('a gateway has none if %s', async (_why, env) => {
    const opened = await open(env);
    expect(opened.providers.all()).toEqual(ofOperator);
    expect([...opened.addedProviders]).toEqual([]);
    expect(opened.allow).toEqual([]);
  });

  it('stand in the catalog beside those of the operator, which stay', async () => {
    const opened = await open({});
    expect(opened.providers.all().map((one) => one.display_name)).toEqual([
      'Of the operator',
      'Of a part',
    ]);
    expect(opened.providers.find('crm')?.display_name).toBe('Of the operator');
    expect(opened.providers.find('local')?.display_name).toBe('Of a part');
    expect(opened.allow).toEqual(['127.0.0.1:4000']);
  });
});
