import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { createAction, createOnEvent, createSync } from '#sdk/index.ts';
import type { ProxyConfiguration, SvcAction, SvcSync } from '#sdk/index.ts';

const contact = z.object({
  id: z.string(),
  name: z.string().nullable(),
  tags: z.array(z.string()),
});

const sync = createSync({
  description: 'Contacts',
  frequency: 'every hour',
  models: { Contact: contact, Deal: z.object({ id: z.string(), amount: z.number() }) },
  metadata: z.object({ team: z.string() }),
  checkpoint: z.object({ after: z.string(), page: z.number() }),
  exec: async (svc) => {
    await svc.batchSave([{ id: '1', name: null, tags: [] }], 'Contact');
  },
  onWebhook: async (svc, payload: { id: number }) => {
    await svc.batchDelete([{ id: String(payload.id) }], 'Deal');
  },
});

type SyncHandle = Parameters<(typeof sync)['exec']>[0];

const action = createAction({
  description: 'Create',
  input: z.object({ name: z.string() }),
  output: z.object({ id: z.number() }),
  exec: async (svc, input) => {
    if (input.name === '') throw new svc.ActionError({ message: 'empty' });
    const { data } = await svc.post<{ id: number }>({
      endpoint: '/contacts',
      data: input,
      retries: 3,
    });
    return { id: data.id };
  },
});

const onEvent = createOnEvent({
  description: 'Check',
  event: 'validate-connection',
  exec: async (svc) => {
    await svc.getConnection();
  },
});

describe('the create functions', () => {
  it('add the kind, and nothing else', () => {
    const { exec, input, output } = action;
    expect(action).toEqual({ type: 'action', description: 'Create', exec, input, output });
    expect(sync.type).toBe('sync');
    expect(onEvent.type).toBe('onEvent');
  });
});

describe('types', () => {
  it('§2 models: records are those of the model', () => {
    expectTypeOf<SyncHandle['batchSave']>().toBeCallableWith(
      [{ id: '1', name: 'n', tags: [] }],
      'Contact',
    );
    expectTypeOf<SyncHandle['batchUpdate']>().toBeCallableWith(
      [{ id: '1', tags: ['x'] }],
      'Contact',
    );
    const refused = async (svc: SyncHandle) => {
      // @ts-expect-error -- a field of another type
      await svc.batchSave([{ id: '1', name: 5, tags: [] }], 'Contact');
      // @ts-expect-error -- a model that is not declared
      await svc.batchSave([], 'Nope');
      // @ts-expect-error -- no id at all
      await svc.batchDelete([{ name: 'n' }], 'Contact');
      // @ts-expect-error -- a record of the caller's own type without an id
      await svc.batchSave<{ name: string }>([{ name: 'n' }], 'Contact');
    };
    expect(refused).toBeInstanceOf(Function);
    expectTypeOf<Awaited<ReturnType<SyncHandle['trackDeletesEnd']>>>().toEqualTypeOf<{
      deletedKeys: string[];
    }>();
  });

  it('§2 metadata and checkpoint are those of their schemas', () => {
    const read = async (svc: SyncHandle) => ({
      metadata: await svc.getMetadata(),
      checkpoint: await svc.getCheckpoint(),
    });
    expectTypeOf(read).returns.resolves.toEqualTypeOf<{
      metadata: { team: string };
      checkpoint: { after: string; page: number } | null;
    }>();
    expectTypeOf<SyncHandle['updateMetadata']>().toBeCallableWith({});
    // prettier-ignore
    // @ts-expect-error -- a field is missing
    expectTypeOf<SyncHandle['saveCheckpoint']>().toBeCallableWith({ after: 'x' });
    const ofAction = (svc: SvcAction) => svc.getMetadata();
    expectTypeOf(ofAction).returns.resolves.toEqualTypeOf<Record<string, unknown>>();
  });

  it('§2 input and output are those of the action', () => {
    expectTypeOf<Parameters<(typeof action)['exec']>[1]>().toEqualTypeOf<{ name: string }>();
    expectTypeOf<Awaited<ReturnType<(typeof action)['exec']>>>().toEqualTypeOf<{ id: number }>();
    createAction({ description: '', input: z.void(), output: z.void(), exec: () => undefined });
    // prettier-ignore
    // @ts-expect-error -- the output does not fit
    createAction({ description: '', input: z.void(), output: z.string(), exec: () => 5 });
  });

  it('§2 options that must be there are asked for', () => {
    // prettier-ignore
    // @ts-expect-error -- no frequency
    createSync({ description: '', models: {}, exec: () => undefined });
    // prettier-ignore
    // @ts-expect-error -- a model without an id
    createSync({ description: '', frequency: 'every hour', models: { A: z.object({ a: z.string() }) }, exec: () => undefined, });
    // prettier-ignore
    // @ts-expect-error -- a model whose id is no text
    createSync({ description: '', frequency: 'every hour', models: { A: z.object({ id: z.number() }) }, exec: () => undefined, });
    // prettier-ignore
    // @ts-expect-error -- a model that is no object
    createSync({ description: '', frequency: 'every hour', models: { A: z.record(z.string(), z.string()) }, exec: () => undefined, });
    // prettier-ignore
    // @ts-expect-error -- metadata that is no object
    createSync({ description: '', frequency: 'every hour', models: {}, metadata: z.string(), exec: () => undefined, });
    // prettier-ignore
    // @ts-expect-error -- an input that is no schema
    createAction({ description: '', input: { name: 'text' }, output: z.void(), exec: () => undefined });
    // prettier-ignore
    // @ts-expect-error -- an event that does not exist
    createOnEvent({ description: '', event: 'other', exec: () => undefined });
    // prettier-ignore
    // @ts-expect-error -- a checkpoint that is not flat
    createSync({ description: '', frequency: 'every hour', models: {}, checkpoint: z.object({ a: z.object({}) }), exec: () => undefined, });
    createSync({
      description: '',
      frequency: 'every hour',
      models: {},
      metadata: z.void(),
      exec: () => undefined,
    });
  });

  it('handles fit helpers that take any handle', () => {
    const helper = (svc: SvcAction): Promise<unknown> => svc.get({ endpoint: 'x' });
    createAction({
      description: '',
      input: z.void(),
      output: z.unknown(),
      exec: (svc) => helper(svc),
    });
    const anySync = async (svc: SvcSync): Promise<void> => {
      await svc.batchSave([{ id: '1', name: 'a field of whichever model' }], 'Contact');
      expectTypeOf<Awaited<ReturnType<typeof svc.getCheckpoint>>>().toEqualTypeOf<Readonly<
        Record<string, string | number | boolean | undefined>
      > | null>();
    };
    createSync({
      description: '',
      frequency: 'every hour',
      models: { Contact: contact },
      exec: anySync,
    });
    expectTypeOf(anySync).parameter(0).toHaveProperty('batchSave');
    const config: ProxyConfiguration = {
      endpoint: 'x',
      params: { a: 1, b: undefined, c: [1, '2'] },
      paginate: {
        type: 'offset',
        offset_name_in_request: 'o',
        on_page: ({ nextPageParam }) => {
          expectTypeOf(nextPageParam).toEqualTypeOf<string | number | undefined>();
        },
      },
    };
    expect(config.endpoint).toBe('x');
  });
});
