import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { definitions } from '#app/process/entities.ts';
import type { AnyEntityDefinition } from '#control-plane/entity.ts';
import { createPublisher, type Publisher } from '#control-plane/publisher.ts';
import type { Sealed } from '#kernel/ids.ts';
import { systemClock } from '#kernel/time.ts';
import { variableRef } from '#modules/functions/variables/entity.ts';
import { openOperatorRequests } from '#modules/operations/consumer-groups/handlers.ts';
import {
  startCommandRetries,
  dropDeadLetter,
  findDeadLetter,
  messageOf,
  retryDeadLetter,
} from '#modules/operations/dead-letters/handlers.ts';
import { openDeadLetters, type DeadLetters } from '#modules/operations/dead-letters/view.ts';
import { startMessageReactor } from '#streams/reactor/runner.ts';
import {
  openControlWorld,
  silent,
  type ControlNode,
  type ControlWorld,
} from '#test/support/worlds/control.ts';
import { until } from '#test/support/worlds/runs.ts';

const clock = systemClock;
const by = { actor: 'key:7' };
const topic = 'svc.logs.v1';

let stack: AsyncDisposableStack;
let world: ControlWorld;
let node: ControlNode;
let publisher: Publisher;
let deadLetters: DeadLetters;
/** While it is not, the reactor and the owner of variables fail. */
let isHealed: boolean;

beforeEach(async () => {
  isHealed = false;
  stack = new AsyncDisposableStack();
  world = stack.use(await openControlWorld());
  const variable: AnyEntityDefinition = definitions.variable;
  const healable: AnyEntityDefinition = {
    ...variable,
    decider: {
      ...variable.decider,
      decide: (command, state): unknown[] => {
        if (!isHealed) throw new TypeError('a bug');
        return variable.decider.decide(command, state);
      },
    },
  };
  stack.use(await world.startOwners({ definitions: { ...definitions, variable: healable } }));
  node = stack.use(await world.startNode());
  publisher = createPublisher(ports());
  deadLetters = stack.use(await openDeadLetters({ ...ports(), file: ':memory:' }));
});
afterEach(() => stack.disposeAsync());

const ports = () => {
  const { log, embedded } = world;
  return { log, schemas: embedded.schemas, clock, logger: silent };
};
const deps = () => ({ deadLetters, publisher, schemas: world.embedded.schemas });
const operatorRequests = (group: string) =>
  openOperatorRequests({ control: node.control, deadLetters, publisher }, group);
const startHealable = async (seen: string[]) =>
  startMessageReactor({
    ...ports(),
    group: 'svc.testers',
    topic,
    operatorRequests: operatorRequests('svc.testers'),
    retryWaitMs: 1,
    async handle({ message: { key, headers } }) {
      if (key === 'bad' && !isHealed) throw new Error('not yet');
      seen.push(`${key} ${headers['why'] ?? ''}`);
    },
  });
const append = (...keys: string[]) => {
  const headers = { why: 'test' };
  const messages = keys.map((key) => ({ key, value: Buffer.from(`value of ${key}`), headers }));
  return world.log.append([{ topic, partition: 2, messages }]);
};
const onlyLetter = () => until(() => deadLetters.tables.list({ limit: 10 })[0] ?? null);

describe('a message that a reactor gave up', () => {
  it('is processed once more with its headers, and the outcome is visible', async () => {
    const seen: string[] = [];
    await using _ = await startHealable(seen);
    await append('bad', 'good');
    const { id } = await onlyLetter();
    expect(seen).toEqual(['good test']);
    const failed = await retryDeadLetter(deps(), id, by);
    expect(failed).toMatchObject({ state: 'parked', retries: 1, attempts: 6 });
    expect(failed.errorMessage).toBe('not yet');
    isHealed = true;
    const resolved = await retryDeadLetter(deps(), id, by);
    expect(resolved).toMatchObject({ state: 'resolved', retries: 2, attempts: 7, errorCode: '' });
    expect(seen).toEqual(['good test', 'bad test']);
    await expect(retryDeadLetter(deps(), id, by)).rejects.toMatchObject({ code: 'conflict' });
    expect(seen).toHaveLength(2);
  });

  it('is retried once by two orders at once, and by one key', async () => {
    const seen: string[] = [];
    await using _ = await startHealable(seen);
    await append('bad');
    const { id } = await onlyLetter();
    isHealed = true;
    const keyed = { ...by, idempotency: { idempotencyKey: 'k', requestHash: '' } };
    const both = await Promise.allSettled([
      retryDeadLetter(deps(), id, keyed),
      retryDeadLetter(deps(), id, by),
      dropDeadLetter(deps(), id, by),
    ]);
    const taken = both.filter(({ status }) => status === 'fulfilled');
    expect(taken).toHaveLength(1);
    await retryDeadLetter(deps(), id, keyed).catch(() => undefined);
    expect(seen.length).toBeLessThanOrEqual(1);
  });

  it('waits for the next owner of the partition, which retries it', async () => {
    const seen: string[] = [];
    const first = await startHealable(seen);
    await append('bad');
    const { id } = await onlyLetter();
    await first[Symbol.asyncDispose]();
    isHealed = true;
    const [waiting] = await Promise.all([retryDeadLetter(deps(), id, by)]);
    expect(waiting.state).toBe('retrying');
    await using _ = await startHealable(seen);
    await until(() => deadLetters.tables.get(id)?.state === 'resolved');
    expect(seen).toEqual(['bad test']);
  });

  it('is known to a view that is rebuilt', async () => {
    await using _ = await startHealable([]);
    await append('bad');
    const { id } = await onlyLetter();
    await dropDeadLetter(deps(), id, by);
    await using another = await openDeadLetters({ ...ports(), file: ':memory:' });
    expect(another.tables.get(id)).toEqual(deadLetters.tables.get(id));
    expect(another.tables.get(id)).toMatchObject({ state: 'dropped', changedBy: 'key:7' });
  });
});

describe('a command that an owner gave up', () => {
  const ref = variableRef('e1', 'A');
  const value = `v1.k1.${'x'.repeat(40)}` as Sealed<string>;
  const body = { type: 'Set', environmentUid: 'e1', name: 'A', value } as const;

  it('is decided once more, though its deadline is long over', async () => {
    await using _ = await startCommandRetries({
      ...ports(),
      deadLetters,
      operatorRequests: operatorRequests('svc.command-retries'),
    });
    const asked = node.control.execute(ref, body, { actor: 'key:1', timeoutMs: 2_000 });
    await expect(asked).rejects.toMatchObject({ code: 'server_error' });
    const { id } = await onlyLetter();
    const shown = await messageOf(deps(), await findDeadLetter(deps(), id));
    expect(shown?.value).toMatchObject({ items: [{ body: { name: 'A', value: '[sealed]' } }] });
    const failed = await retryDeadLetter(deps(), id, by);
    expect(failed).toMatchObject({ state: 'parked', attempts: 10, errorMessage: 'TypeError' });
    expect(deadLetters.tables.list({ limit: 10 })).toHaveLength(1);
    isHealed = true;
    expect(await retryDeadLetter(deps(), id, by)).toMatchObject({
      state: 'resolved',
      errorCode: '',
    });
    await node.control.view.caughtUp();
    expect(node.control.view.find(ref)).toMatchObject({ name: 'A' });
  });
});
