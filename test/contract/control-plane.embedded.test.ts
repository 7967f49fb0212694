import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { definitions } from '#app/process/entities.ts';
import type { ExecuteOptions } from '#control-plane/control-plane.ts';
import {
  commandTo,
  type AnyEntityDefinition,
  type CommandOf,
  type EntityTypes,
} from '#control-plane/entity.ts';
import { commandsTopic, repliesTopic } from '#control-plane/message-codec.ts';
import { GatewayError } from '#kernel/errors.ts';
import { joinKey } from '#kernel/ids.ts';
import type { Sealed } from '#kernel/ids.ts';
import { systemClock } from '#kernel/time.ts';
import { accountKeyRef } from '#modules/access/api-keys/entity.ts';
import { createKey } from '#modules/access/api-keys/handlers.ts';
import { createEnvironment } from '#modules/access/environments/handlers.ts';
import { environmentByName, listEnvironments } from '#modules/access/environments/queries.ts';
import { createIntegration } from '#modules/connections/integrations/handlers.ts';
import { listIntegrations } from '#modules/connections/integrations/queries.ts';
import { variableRef, type VariableEntity } from '#modules/functions/variables/entity.ts';
import type { EventLog, TransactionalWriter } from '#ports/event-log.ts';
import {
  aProvider,
  openControlWorld,
  partitions,
  type ControlNode,
  type ControlWorld,
} from '#test/support/worlds/control.ts';

const options = { actor: 'system' };
const setTo = (name: string, value: string, environmentUid = 'e1'): CommandOf<VariableEntity> => ({
  type: 'Set',
  environmentUid,
  name,
  value: value as Sealed<string>,
});
const variable = (name: string, value = name) => ({
  ref: variableRef('e1', name),
  body: setTo(name, value),
});
const command = (name: string) => commandTo(variableRef('e1', name), setTo(name, name));
const refusal = (code: string): unknown => expect.objectContaining({ code });

let world: ControlWorld;
let node: ControlNode;
let owners: Awaited<ReturnType<ControlWorld['startOwners']>>;

beforeEach(async () => {
  world = await openControlWorld();
  owners = await world.startOwners();
  node = await world.startNode({ name: 'first' });
});

afterEach(async () => {
  await node[Symbol.asyncDispose]();
  await owners[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

/** A command that no owner can process, asked through the node. */
async function isSetAside(through: ControlNode, how: ExecuteOptions): Promise<void> {
  await owners[Symbol.asyncDispose]();
  const poison: AnyEntityDefinition = {
    ...definitions['account-key'],
    decider: { initial: null, decide: () => JSON.parse('{') as never, evolve: () => null },
  };
  owners = await world.startOwners({ definitions: { ...definitions, 'account-key': poison } });
  const ref = { ...accountKeyRef('k'), scope: 'e1' };
  const poisoned = through.control.execute(ref, { type: 'Delete' }, how);
  await expect(poisoned).rejects.toThrow(refusal('server_error'));
  expect(await world.log.endOffset('svc.dead-letters.v1', 0)).toBeGreaterThan(0);
}

describe('a command', () => {
  it('is in the view of the node that asked when it is answered', async () => {
    const { ref, body } = variable('A');
    const state = await node.control.execute(ref, body, options);
    expect(node.control.view.find(ref)).toEqual(state);
    expect(state).toMatchObject({ name: 'A', value: 'A' });
  });

  it('is known to another node once that has caught up', async () => {
    await using other = await world.startNode();
    const { ref, body } = variable('A');
    await node.control.execute(ref, body, options);
    await other.control.view.caughtUp();
    expect(other.control.view.find(ref)).toMatchObject({ value: 'A' });
  });

  it('that was only enqueued is decided too', async () => {
    const { ref, body } = variable('A');
    await node.control.enqueue(ref, body, options);
    await node.control.execute(variable('B').ref, variable('B').body, options);
    expect(node.control.view.find(ref)).not.toBeNull();
  });

  it('is refused when its owner comes to it after its deadline', async () => {
    await owners[Symbol.asyncDispose]();
    const late = { ...systemClock, now: () => systemClock.now() + 60_000 };
    owners = await world.startOwners({ clock: late });
    const { ref, body } = variable('A');
    await expect(node.control.execute(ref, body, options)).rejects.toThrow(
      refusal('command_expired'),
    );
    expect(node.control.view.find(ref)).toBeNull();
  });

  it('that cannot be processed is set aside, refused, and holds nothing back', async () => {
    await isSetAside(node, options);
    await node.control.execute(variable('A').ref, variable('A').body, options);
  });
});

describe('a command of the same process', () => {
  const direct = { ...options, isDirect: true };
  let near: ControlNode;

  beforeEach(async () => {
    near = await world.startNode({ owners: { decide: (...asked) => owners.decide(...asked) } });
  });
  afterEach(() => near[Symbol.asyncDispose]());

  const commandsOnLog = async (): Promise<number> => {
    let count = 0;
    for (let partition = 0; partition < partitions; partition += 1) {
      count += await world.log.endOffset(commandsTopic, partition);
    }
    return count;
  };
  const ask = ({ ref, body }: ReturnType<typeof variable>, how: object = {}) =>
    near.control.execute(ref, body, { ...direct, ...how });

  it('is decided without being on the log, and is in the view when it is answered', async () => {
    const before = await commandsOnLog();
    expect(await ask(variable('A'))).toMatchObject({ value: 'A' });
    expect(near.control.view.find(variableRef('e1', 'A'))).toMatchObject({ value: 'A' });
    expect(await commandsOnLog()).toBe(before);
  });

  it('that comes with others is decided in their order, among what came over the log', async () => {
    const { ref, body } = variable('A', 'log');
    const values = Array.from({ length: 300 }, (_, index) => String(index));
    const asked = values.map((value) => ask(variable('A', value)));
    const overLog = near.control.execute(ref, body, options);
    expect(await Promise.all(asked)).toMatchObject(values.map((value) => ({ value })));
    expect(await overLog).toMatchObject({ value: 'log' });
  });

  it('is refused as it would be over the log, and the next one is decided', async () => {
    const refused = near.control.execute(variableRef('e1', 'X'), { type: 'Delete' }, direct);
    const next = ask(variable('A'));
    await expect(refused).rejects.toThrow(refusal('not_found'));
    expect(await next).toMatchObject({ name: 'A' });
  });

  it('goes over the log where the owners are elsewhere, or on their way', async () => {
    await owners[Symbol.asyncDispose]();
    const before = await commandsOnLog();
    const asked = ask(variable('A'));
    owners = await world.startOwners();
    expect(await asked).toMatchObject({ name: 'A' });
    expect(await commandsOnLog()).toBe(before + 1);
  });

  it('is decided once, by its new owner, when the one of this process was fenced', async () => {
    for (let partition = 0; partition < partitions; partition += 1) {
      await using _ = await world.log.openWriter(`control/${partition}`);
    }
    const fenced = owners;
    const asked = ask(variable('A'));
    owners = await world.startOwners({ folder: join(world.folder, 'second') });
    await fenced[Symbol.asyncDispose]();
    expect(await asked).toMatchObject({ name: 'A' });
  });

  it('that cannot be processed is set aside like any other', async () => {
    await isSetAside(near, direct);
    expect(await ask(variable('A'))).toMatchObject({ name: 'A' });
  });

  it('is kept from a repetition by its Idempotency-Key', async () => {
    const keyed = { idempotencyKey: 'once' };
    const first = await ask(variable('A', '1'), keyed);
    expect(await ask(variable('A', '1'), keyed)).toEqual(first);
    const other = ask(variable('A', '2'), keyed);
    await expect(other).rejects.toThrow(refusal('idempotency_conflict'));
  });
});

describe('several commands together', () => {
  it('see one another and are answered with every state', async () => {
    const states = await node.control.askAll([command('A'), command('B')], options);
    expect(states).toMatchObject([{ name: 'A' }, { name: 'B' }]);
  });

  it('are decided all or none', async () => {
    const missing = commandTo(variableRef('e1', 'X'), { type: 'Delete' });
    const asked = node.control.askAll([command('A'), missing], options);
    await expect(asked).rejects.toThrow(refusal('not_found'));
    await node.control.view.caughtUp();
    expect(node.control.view.find(variableRef('e1', 'A'))).toBeNull();
  });

  it('must have one scope', async () => {
    const elsewhere = commandTo(variableRef('e2', 'A'), setTo('A', 'A'));
    const asked = node.control.askAll([command('A'), elsewhere], options);
    await expect(asked).rejects.toThrow(refusal('invalid_request'));
  });
});

describe('one owner for one scope', () => {
  it('lets one of two creators of the same path win', async () => {
    await using other = await world.startNode();
    const { environment } = await createEnvironment(node, { name: 'dev' }, options);
    await other.control.view.caughtUp();
    const wanted = {
      environmentUid: environment.uid,
      uniqueKey: 'crm',
      provider: aProvider(),
    };
    const outcomes = await Promise.allSettled([
      createIntegration(node, wanted, options),
      createIntegration({ ...other, vault: node.vault }, wanted, options),
    ]);
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused).toMatchObject([{ reason: { code: 'invalid_body' } }]);
    await node.control.view.caughtUp();
    expect(listIntegrations(node.control, environment.uid)).toHaveLength(1);
  });

  it('gives numbers out once', async () => {
    const names = Array.from({ length: 5 }, (_, index) => `env-${index}`);
    const made = await Promise.all(names.map((name) => createEnvironment(node, { name }, options)));
    expect(new Set(made.map(({ environment }) => environment.id)).size).toBe(5);
    await expect(createEnvironment(node, { name: 'env-0' }, options)).rejects.toThrow(
      refusal('conflict'),
    );
  });
});

describe('an Idempotency-Key', () => {
  it('gets its first answer again, and a conflict with another request', async () => {
    const { environment } = await createEnvironment(node, { name: 'dev' }, options);
    const wanted = { environmentUid: environment.uid, displayName: 'CI' };
    const keyed = { ...options, idempotencyKey: randomUUID() };
    const first = await createKey(node, wanted, keyed);
    const again = await createKey(node, wanted, keyed);
    expect(again).toEqual(first);
    const other = createKey(node, { ...wanted, displayName: 'Other' }, keyed);
    await expect(other).rejects.toThrow(refusal('idempotency_conflict'));
  });
});

describe('a restart', () => {
  const restart = async (wiped: boolean): Promise<void> => {
    await node[Symbol.asyncDispose]();
    await owners[Symbol.asyncDispose]();
    if (wiped) {
      await rm(join(world.folder, 'owners'), { recursive: true });
      await rm(join(world.folder, 'views'), { recursive: true });
    }
    owners = await world.startOwners();
    node = await world.startNode({ name: 'first' });
  };

  it.each([
    ['its files', false],
    ['the log alone', true],
  ])('brings everything back from %s', async (_, wiped) => {
    const keyed = { ...options, idempotencyKey: 'once' };
    const first = await createEnvironment(node, { name: 'dev' }, keyed);
    await restart(wiped);
    expect(environmentByName(node.control, 'dev')).toEqual(first.environment);
    expect(await createEnvironment(node, { name: 'dev' }, keyed)).toEqual(first);
    const second = await createEnvironment(node, { name: 'other' }, options);
    expect(second.environment.id).not.toBe(first.environment.id);
    expect(listEnvironments(node.control)).toHaveLength(2);
  });

  it('goes on with the commands that came while no owner ran', async () => {
    await owners[Symbol.asyncDispose]();
    const asked = node.control.execute(variable('A').ref, variable('A').body, options);
    owners = await world.startOwners();
    expect(await asked).toMatchObject({ name: 'A' });
  });
});

interface TimerEntity extends EntityTypes {
  readonly kind: 'variable';
  readonly state: { readonly last: string };
}

describe('an owner', () => {
  it('hands its partitions over to another and takes them back', async () => {
    const second = await world.startOwners({ folder: join(world.folder, 'second') });
    const names = 'a b c d e f g h'.split(' ');
    const askAll = (value: string) =>
      Promise.all(
        names.map((name) => {
          const ref = variableRef(name, 'A');
          return node.control.execute(ref, setTo('A', value, name), options);
        }),
      );
    await askAll('1');
    await second[Symbol.asyncDispose]();
    expect(await askAll('2')).toMatchObject(names.map(() => ({ value: '2' })));
  });

  it('that was fenced decides nothing any more', async () => {
    const { ref, body } = variable('A');
    for (let partition = 0; partition < 3; partition += 1) {
      await using _ = await world.log.openWriter(`control/${partition}`);
    }
    await expect(node.control.execute(ref, body, { ...options, timeoutMs: 300 })).rejects.toThrow(
      refusal('log_unavailable'),
    );
    expect(node.control.view.find(ref)).toBeNull();
  });

  it('takes over from itself when it cannot know whether its commit was written', async () => {
    await owners[Symbol.asyncDispose]();
    let faults = 3;
    const openWriter: EventLog['openWriter'] = async (name) => {
      const writer = await world.log.openWriter(name);
      const commit: TransactionalWriter['commit'] = async (batch) => {
        const positions = await writer.commit(batch);
        const isAnswer = batch.some(({ topic }) => topic === repliesTopic);
        if (!isAnswer || faults === 0) return positions;
        faults -= 1;
        throw new GatewayError('log_unavailable');
      };
      return { commit, [Symbol.asyncDispose]: () => writer[Symbol.asyncDispose]() };
    };
    const log = new Proxy(world.log, {
      get: (of, name) => {
        if (name === 'openWriter') return openWriter;
        const member: unknown = Reflect.get(of, name, of);
        return typeof member === 'function' ? (member.bind(of) as unknown) : member;
      },
    });
    owners = await world.startOwners({ log });
    for (const name of 'abcde') {
      const { ref, body } = variable(name);
      expect(await node.control.execute(ref, body, options)).toMatchObject({ name });
    }
    expect(faults).toBe(0);
    const made = await Promise.all(
      ['x', 'y'].map((name) => createEnvironment(node, { name }, options)),
    );
    expect(new Set(made.map(({ environment }) => environment.id)).size).toBe(2);
  });

  it('decides what is due without a command', async () => {
    await owners[Symbol.asyncDispose]();
    const timer: AnyEntityDefinition = {
      kind: 'variable',
      decider: {
        initial: null,
        decide: (command: { type: string }) => [{ type: command.type }],
        evolve: (_, event: { type: string }) => ({ last: event.type }),
      },
      publish: () => [],
      dueAt: (state: { last: string }) => (state.last === 'Tick' ? null : 1),
    };
    owners = await world.startOwners({ definitions: { ...definitions, variable: timer } });
    const { ref } = variable('A');
    const ticked = new Promise<void>((resolve) => {
      node.control.view.onChange([timer], () => {
        const state = node.control.view.find<TimerEntity>({ kind: 'variable', path: ref.path });
        if (state?.last === 'Tick') resolve();
      });
    });
    await node.control.execute(ref, setTo('A', 'A'), options);
    await ticked;
  });
});

it('keeps each change on the log under the key of the entity, and a tombstone at its end', async () => {
  const { ref, body } = variable('A');
  await node.control.execute(ref, body, options);
  await node.control.execute(ref, { type: 'Delete' }, options);
  const values: boolean[] = [];
  for (const partition of [0, 1, 2]) {
    const from = { topic: 'svc.internal.control.v1', partition, offset: 0 };
    for await (const batch of world.log.read(from)) {
      for (const { key, value } of batch.messages) {
        if (key === joinKey('variable', 'e1', 'A')) values.push(value !== null);
      }
    }
  }
  expect(values).toEqual([true, false]);
});
