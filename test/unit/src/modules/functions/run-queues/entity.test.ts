import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandBody } from '#control-plane/entity.ts';
import { actionRunEntity, actionRunRef } from '#modules/functions/actions/entity.ts';
import { runQueueEntity } from '#modules/functions/run-queues/entity.ts';
import { Round, type Decision } from '#streams/owner/round.ts';
import { ControlStateStore } from '#streams/owner/state-store.ts';

const at = Date.UTC(2026, 0, 1);
const connection = { environmentUid: 'env', integrationKey: 'crm', connectionId: 'acme' };
const definitions = { 'action-run': actionRunEntity, 'run-queue': runQueueEntity };

let folder: string;
let store: ControlStateStore;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-run-queue-'));
  store = new ControlStateStore(join(folder, 'state.sqlite'));
});
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const queue = {
  type: 'Queue',
  ...connection,
  connectionUid: 'uid-1',
  kind: 'webhook',
  name: 'contacts',
  functionVersion: '1',
  isAsync: true,
  depth: 0,
  retriesLeft: 0,
  input: null,
  inputHash: null,
  concurrency: 1,
};

const stepsOf = ({ published }: Decision) =>
  published.map(({ message }) => [message.runId, message.type.replace('svc.run.', '')]);

describe('a run of a function with a concurrency', () => {
  const round = () => new Round(store, definitions, { supplied: 0, numberOf: (n) => n });
  const decide = (one: Round, runId: string, body: CommandBody) => {
    const ref = actionRunRef({ ...connection, runId });
    const made = one.decide([{ ref, body }], { at, actor: 'system' });
    one.accept(made);
    return {
      state: made.state as { status: string; isHeld?: true; startBy: number } | null,
      steps: stepsOf(made),
    };
  };

  it('is held, and admitted by the decision that ends the run before it', () => {
    const one = round();
    const first = decide(one, 'a', { ...queue, runId: 'a' });
    expect(first).toMatchObject({ state: { status: 'queued' }, steps: [['a', 'queued']] });
    expect(first.state?.isHeld).toBeUndefined();
    const second = decide(one, 'b', { ...queue, runId: 'b' });
    expect(second).toMatchObject({
      state: { status: 'queued', isHeld: true },
      steps: [['b', 'queued']],
    });
    expect(() => decide(one, 'b', { type: 'RunStarted', attempt: 1, runner: 'p', at })).toThrow(
      expect.objectContaining({ code: 'stale_attempt' }),
    );
    decide(one, 'a', { type: 'RunStarted', attempt: 1, runner: 'p' });
    const end = { type: 'RunEnded', attempt: 1, status: 'succeeded', error: null };
    const ended = decide(one, 'a', { ...end, output: null, outputHash: null });
    // The reply is the state of the run that the command is about.
    expect(ended).toMatchObject({
      state: { status: 'succeeded' },
      steps: [
        ['a', 'succeeded'],
        ['b', 'admitted'],
      ],
    });
    const begun = decide(one, 'b', { type: 'RunStarted', attempt: 1, runner: 'p' });
    expect(begun).toMatchObject({ state: { status: 'started' }, steps: [['b', 'started']] });
    expect([...one.changes()].map(({ key }) => key).toSorted()).toEqual([
      'action-run/env/a',
      'action-run/env/b',
      'run-queue/env/crm/acme/webhook/contacts',
    ]);
  });

  it('frees its place when its runner is lost', () => {
    const one = round();
    decide(one, 'a', { ...queue, runId: 'a' });
    decide(one, 'a', { type: 'RunStarted', attempt: 1, runner: 'p' });
    decide(one, 'b', { ...queue, runId: 'b' });
    const ref = actionRunRef({ ...connection, runId: 'a' });
    const lost = one.decide([{ ref, body: { type: 'Tick' } }], {
      at: at + 61_000,
      actor: 'system',
    });
    expect(stepsOf(lost)).toEqual([
      ['a', 'interrupted'],
      ['b', 'admitted'],
    ]);
  });
});
