import { expect, it } from 'vitest';
import { definitions } from '#app/process/entities.ts';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import {
  commandTo,
  isOfKind,
  type EntityDefinition,
  type EntityRef,
} from '#control-plane/entity.ts';
import { connectionEntity, connectionRef } from '#modules/connections/connections/entity.ts';
import { integrationRef } from '#modules/connections/integrations/entity.ts';
import { actionRunRef, type ActionRunEntity } from '#modules/functions/actions/entity.ts';
import { syncEntity, syncRef, type SyncEntity } from '#modules/functions/syncs/entity.ts';
import {
  variableEntity,
  variableRef,
  type VariableEntity,
} from '#modules/functions/variables/entity.ts';
import { variable } from '#modules/functions/variables/variable.ts';

const run = { environmentUid: 'e', integrationKey: 'i', connectionId: 'c', runId: 'r' };
const options = { actor: 'system' };

/** Checked by `npm run types`, which refuses an `@ts-expect-error` above a line without an error; never called. */
export const refusedByTheCompiler = {
  async commands(control: ControlPlane): Promise<void> {
    const ref = connectionRef('e', 'i', 'c');
    await control.execute(ref, { type: 'Confirm', uid: 'u' }, options);
    // @ts-expect-error -- a misspelled field
    await control.execute(ref, { type: 'Confirm', uuid: 'u' }, options);
    // @ts-expect-error -- a field too many
    await control.execute(ref, { type: 'Confirm', uid: 'u', runId: 'r' }, options);
    // @ts-expect-error -- a field too few
    await control.execute(ref, { type: 'Confirm' }, options);
    // @ts-expect-error -- a value of another type
    await control.execute(ref, { type: 'Confirm', uid: 1 }, options);
    // @ts-expect-error -- a command of another kind
    await control.execute(integrationRef('e', 'i'), { type: 'Confirm', uid: 'u' }, options);
    // @ts-expect-error -- a command of another kind, without an answer
    await control.enqueue(integrationRef('e', 'i'), { type: 'Confirm', uid: 'u' }, options);
    // @ts-expect-error -- a command of another kind, among several
    commandTo(integrationRef('e', 'i'), { type: 'Confirm', uid: 'u' });
    // @ts-expect-error -- a pair whose command nothing has checked
    await control.askAll([{ ref, body: { type: 'Confirm', uid: 'u' } }], options);
    // @ts-expect-error -- the time is the owner's
    await control.execute(ref, { type: 'Confirm', uid: 'u', at: 0 }, options);
    // @ts-expect-error -- ticks are sent by the owner
    await control.execute(ref, { type: 'Tick' }, options);
  },

  async facts(control: ControlPlane): Promise<void> {
    const ref = syncRef(['e', 'i', 'c'], 's', 'base');
    const born = { ...run, id: 'i', connectionUid: 'u', syncName: 's', variant: 'base' };
    const create = { ...born, models: [], functionVersion: '1', frequencyMs: 1, autoStart: true };
    await control.execute(ref, { type: 'Create', ...create }, options);
    // @ts-expect-error -- whether the connection is there is for its owner to say
    await control.execute(ref, { type: 'Create', isConnectionLive: true, ...create }, options);
  },

  async kinds(control: ControlPlane, unknownRef: EntityRef): Promise<void> {
    const either: EntityRef<SyncEntity | ActionRunEntity> = actionRunRef(run);
    await control.execute(either, { type: 'Cancel' }, options);
    // @ts-expect-error -- a command that one of the two kinds does not have
    await control.execute(either, { type: 'Pause' }, options);
    // @ts-expect-error -- the kind is not known
    await control.execute(unknownRef, { type: 'Cancel' }, options);
    if (isOfKind(syncEntity, unknownRef)) {
      await control.execute(unknownRef, { type: 'Pause' }, options);
    }
    // @ts-expect-error -- the reference of a variable has the kind `variable`
    const wrong: EntityRef<VariableEntity> = { kind: 'sync', scope: 'e', path: [] };
    void wrong;
  },

  async states(control: ControlPlane): Promise<void> {
    const { view } = control;
    const ref = connectionRef('e', 'i', 'c');
    const after = await control.execute(ref, { type: 'Confirm', uid: 'u' }, options);
    const several = await control.askAll(
      [
        commandTo(ref, { type: 'MarkDeleting' }),
        commandTo(integrationRef('e', 'i'), { type: 'Leave' }),
      ],
      options,
    );
    void after?.connectionConfig;
    void several[0]?.connectionConfig;
    void several[1]?.forwardWebhooks;
    void view.find(ref)?.connectionConfig;
    void view.findBy(connectionEntity, 'uid', 'u')?.state.connectionConfig;
    // @ts-expect-error -- a field of integrations
    void after?.forwardWebhooks;
    // @ts-expect-error -- a field of integrations
    void several[0]?.forwardWebhooks;
    // @ts-expect-error -- a field of integrations
    void view.find(ref)?.forwardWebhooks;
    // @ts-expect-error -- a field of integrations
    void view.findBy(connectionEntity, 'uid', 'u')?.state.forwardWebhooks;
    // @ts-expect-error -- a field of integrations
    void view.list(connectionEntity, ['e'])[0]?.state.forwardWebhooks;
    // @ts-expect-error -- an index of syncs
    void view.findBy(connectionEntity, 'run', 'r');
    // @ts-expect-error -- a kind without an index
    void view.listBy(variableEntity, 'name', 'A');
    // @ts-expect-error -- the state is not the caller's to choose
    void view.find<{ readonly forwardWebhooks: boolean }>(ref);
  },

  definitions(): void {
    const common = { kind: 'variable', decider: variable, publish: () => [] } as const;
    // @ts-expect-error -- the facts that its commands need
    const withoutFacts: EntityDefinition<VariableEntity> = common;
    const otherFacts: EntityDefinition<VariableEntity> = {
      ...common,
      // @ts-expect-error -- a fact that its commands do not have
      facts: () => ({ others: 1 }),
    };
    interface Indexed extends VariableEntity {
      readonly index: 'name';
    }
    const facts = { facts: () => ({ othersInScope: 0 }) };
    // @ts-expect-error -- the index that it promises
    const withoutIndex: EntityDefinition<Indexed> = { ...common, ...facts };
    void [withoutFacts, otherFacts, withoutIndex];
    interface Published extends VariableEntity {
      readonly topic: 'svc.runs.v1';
    }
    // @ts-expect-error -- the topics that the owner opens
    const withoutTopics: EntityDefinition<Published> = { ...common, ...facts };
    const { publish: _none, ...silent } = { ...common, ...facts };
    const envelope = { key: 'k', type: 'svc.a.b', environmentUid: 'e', value: null };
    const otherTopic: EntityDefinition<Published> = {
      ...silent,
      publishes: { 'svc.runs.v1': true },
      // @ts-expect-error -- a topic that is not among those of its types
      publish: () => [{ ...envelope, topic: 'svc.syncs.v1' }],
    };
    const noTopic: EntityDefinition<VariableEntity> = {
      ...silent,
      // @ts-expect-error -- its types have no topic
      publish: () => [{ ...envelope, topic: 'svc.runs.v1' }],
    };
    void [withoutTopics, otherTopic, noTopic];
  },
};

it('of every kind has its types under the name of the definition', () => {
  for (const [kind, definition] of Object.entries(definitions)) expect(definition.kind).toBe(kind);
  const { kind } = variableRef('e', 'A');
  expect(isOfKind(definitions.variable, { kind, scope: 'e', path: [] })).toBe(true);
  expect(isOfKind(definitions.sync, { kind, scope: 'e', path: [] })).toBe(false);
});

it('is the reference with the command, and nothing else on its way', () => {
  const ref = variableRef('e', 'A');
  expect(commandTo(ref, { type: 'Delete' })).toStrictEqual({ ref, body: { type: 'Delete' } });
});
