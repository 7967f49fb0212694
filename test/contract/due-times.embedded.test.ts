import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { definitions } from '#app/process/entities.ts';
import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { commandsTopic } from '#control-plane/message-codec.ts';
import { partitionOf } from '#kernel/partition.ts';
import { hourMs, type Clock } from '#kernel/time.ts';
import { ownersGroup } from '#streams/owner/decide-command.ts';
import { ControlStateStore } from '#streams/owner/state-store.ts';
import {
  openControlWorld,
  partitions,
  type ControlNode,
  type ControlWorld,
} from '#test/support/worlds/control.ts';

const stack = new AsyncDisposableStack();
/** How far the owners' clock is ahead. */
let aheadMs = 0;
const clock: Clock = {
  now: () => Date.now() + aheadMs,
  nowMicros: () => (Date.now() + aheadMs) * 1000,
};
let world: ControlWorld;
let node: ControlNode;

interface ReminderEntity {
  readonly kind: 'variable';
  readonly state: { readonly type: string; readonly due: number | null };
  readonly command: { readonly type: 'Set'; readonly due: number } | { readonly type: 'Tick' };
  readonly event: { readonly type: string; readonly due: number | null };
}

/** An entity that is due once, when its command says. */
const reminder: EntityDefinition<ReminderEntity> = {
  kind: 'variable',
  decider: {
    initial: null,
    decide: (command) => [
      { type: command.type, due: command.type === 'Tick' ? null : command.due },
    ],
    evolve: (_, event) => event,
  },
  publish: () => [],
  dueAt: ({ due }) => due,
};
const reminderRef = (name: string): EntityRef<ReminderEntity> => ({
  kind: 'variable',
  scope: 'e1',
  path: ['e1', name],
});

beforeAll(async () => {
  world = await openControlWorld();
  stack.defer(() => rm(world.folder, { recursive: true, force: true }));
  stack.use(world);
  node = stack.use(await world.startNode());
  const withReminder = { ...definitions, variable: reminder };
  stack.use(await world.startOwners({ definitions: withReminder, clock }));
});

afterAll(() => stack.disposeAsync());

const remind = (name: string, due: number) =>
  node.control.execute(reminderRef(name), { type: 'Set', due }, { actor: 'system' });

const isDone = (name: string): boolean =>
  node.control.view.find(reminderRef(name))?.type === 'Tick';

it('are not looked for before the first of them, whatever else happens', async () => {
  await remind('first', clock.now() + hourMs);
  // The owner decides in turn: its look after the first command is over when the next one is decided.
  await remind('later', clock.now() + 2 * hourMs);
  const looks = vi.spyOn(ControlStateStore.prototype, 'due');
  for (let at = 0; at < 20; at += 1) await remind(`later-${at}`, clock.now() + 3 * hourMs);
  expect(looks).not.toHaveBeenCalled();
  looks.mockRestore();
});

it('are met by an entity that becomes due before the others', async () => {
  await remind('soon', clock.now() + 20);
  await vi.waitFor(() => expect(isDone('soon')).toBe(true), 30_000);
  expect(isDone('first')).toBe(false);
});

it('are met when the clock is set forward, and not again when it is set back', async () => {
  aheadMs += hourMs + 1_000;
  await vi.waitFor(() => expect(isDone('first')).toBe(true), 30_000);
  expect(isDone('later')).toBe(false);
  aheadMs = 0;
  await remind('back', clock.now() + 20);
  await vi.waitFor(() => expect(isDone('back')).toBe(true), 30_000);
  expect(isDone('later')).toBe(false);
});

it('leave the position of the group at the last decided command', async () => {
  const partition = partitionOf('e1', partitions);
  const end = await world.log.endOffset(commandsTopic, partition);
  await expect
    .poll(async () => (await world.log.committed(ownersGroup, commandsTopic)).get(partition))
    .toBe(end);
});
