import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { actionRunRef } from '#modules/functions/actions/entity.ts';
import type { RunChanged } from '#modules/functions/runs/ledger/events.ts';
import { attemptOf } from '#modules/functions/runs/ledger/events.ts';
import type { Sandbox } from '#ports/sandbox.ts';
import { openRunWorld, type RunWorld } from '#test/support/worlds/runs.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

const actor = 'key:test';

let world: RunWorld;
const sandbox = await sharedSandbox();
let runner: AsyncDisposable;
/** What a test does before a function begins, and between its end and the report of it. */
let around: { readonly before?: () => Promise<unknown>; readonly after?: () => Promise<unknown> };

beforeAll(async () => {
  world = await openRunWorld();
  const watched: Sandbox = {
    run: async (...given) => {
      await around.before?.();
      const result = await sandbox.run(...given);
      await around.after?.();
      return result;
    },
    describe: (...given) => sandbox.describe(...given),
    [Symbol.asyncDispose]: async () => undefined,
  };
  runner = await world.startRunner(watched);
  const bundle = `module.exports.default = { type: 'action', exec: async () => 1 };`;
  const throws = `module.exports.default = { type: 'action', exec: async () => { throw new Error('no luck'); } };`;
  await world.deploy('action', 'fails', throws);
  for (const name of ['direct', 'late', 'once']) await world.deploy('action', name, bundle);
});
afterAll(async () => {
  await runner[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});
beforeEach(() => {
  around = {};
});

const trigger = (name: string, again: { readonly runId?: string } = {}) => {
  const { environment, runs } = world;
  const of = {
    integrationKey: 'crm',
    connectionId: 'acme',
    name,
    input: undefined,
    actor,
    ...again,
  };
  const { signal } = new AbortController();
  return runs.triggerAction({ environmentUid: environment.uid, ...of }, signal);
};

const stepsOf = async (name: string): Promise<RunChanged[]> =>
  (await world.ledger()).filter((step) => step.function === name && step.action !== 'progress');
const actionsOf = async (name: string) => (await stepsOf(name)).map(({ action }) => action);

const commandsOnLog = async (): Promise<number> =>
  (await world.read('svc.internal.commands.v1')).length;

describe('an action in the process of its owner', () => {
  it('begins once the ledger has its start, is answered once it has its end, and is in no command', async () => {
    let atBegin: string[] = [];
    around = { before: async () => (atBegin = await actionsOf('direct')) };
    const before = await commandsOnLog();
    expect(await trigger('direct')).toBe(1);
    expect(await commandsOnLog()).toBe(before);
    expect(atBegin).toEqual(['queued', 'started']);
    expect(await actionsOf('direct')).toEqual(['queued', 'started', 'succeeded']);
  });

  it('is run once under an id that it was asked for with: while it runs, and after its end', async () => {
    const again = { runId: randomUUID() };
    const second = Promise.withResolvers<unknown>();
    around = { before: async () => second.resolve([trigger('once', again)]) };
    expect(await trigger('once', again)).toBe(1);
    expect(await Promise.all((await second.promise) as unknown[])).toEqual([1]);
    expect(await trigger('once', again)).toBe(1);
    expect(await actionsOf('once')).toEqual(['queued', 'started', 'succeeded']);
  });

  it('fails as it failed where it is asked for again', async () => {
    const again = { runId: randomUUID() };
    const first = await trigger('fails', again).catch((error: unknown) => error);
    expect(first).toMatchObject({ code: 'script_internal_error', message: 'no luck' });
    await expect(trigger('fails', again)).rejects.toMatchObject({
      code: 'script_internal_error',
      message: 'no luck',
    });
    expect(await actionsOf('fails')).toEqual(['queued', 'started', 'failed']);
  });

  it('answers what the ledger says when it is cancelled before it reports its end', async () => {
    const cancel = async () => {
      const [queued] = await stepsOf('late');
      if (queued === undefined) throw new Error('There is no run.');
      await world.node.control.execute(
        actionRunRef(attemptOf(queued)),
        { type: 'Cancel' },
        { actor },
      );
    };
    around = { after: cancel };
    await expect(trigger('late')).rejects.toMatchObject({ code: 'script_aborted' });
    expect(await actionsOf('late')).toEqual(['queued', 'started', 'cancelled']);
  });
});
