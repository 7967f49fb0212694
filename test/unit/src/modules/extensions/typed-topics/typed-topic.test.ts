import { describe, expect, it } from 'vitest';
import {
  forgottenAt,
  typedTopic,
  type EnableTypedTopic,
  type TypedTopic,
} from '#modules/extensions/typed-topics/typed-topic.ts';
import { given } from '#test/support/judges/given.ts';

const day = 86_400_000;
const enable = (more: Partial<EnableTypedTopic> = {}): EnableTypedTopic => ({
  type: 'Enable',
  at: 1000,
  uid: 'u1',
  environmentUid: 'e',
  integrationKey: 'crm',
  model: 'Contact',
  address: 'svc.cdc.dev.crm.contact',
  isIntegrationKnown: true,
  sameAddress: null,
  ...more,
});
const state: TypedTopic = {
  uid: 'u1',
  environmentUid: 'e',
  integrationKey: 'crm',
  model: 'Contact',
  address: 'svc.cdc.dev.crm.contact',
  major: 0,
  enabledAt: 1000,
  endedAt: null,
};
const enabled = { type: 'TypedTopicEnabled', typedTopic: state } as const;
const ended = { type: 'TypedTopicEnded', at: 2000 } as const;

describe('a model without a typed topic', () => {
  it('gets one', () => given(typedTopic).when(enable()).then(enabled));

  it('gets none whose name another model has, nor of an unknown integration', () => {
    given(typedTopic)
      .when(enable({ sameAddress: 'crm/CONTACT' }))
      .refused('conflict');
    given(typedTopic)
      .when(enable({ isIntegrationKnown: false }))
      .refused('not_found');
  });

  it('has nothing to end', () =>
    given(typedTopic).when({ type: 'End', at: 1 }).refused('not_found'));
});

describe('a model with a typed topic', () => {
  it('keeps it when asked again', () =>
    given(typedTopic, enabled)
      .when(enable({ uid: 'u2' }))
      .then());

  it('notes each new major version once', () => {
    const opened = { type: 'TypedTopicOpened', major: 2 } as const;
    given(typedTopic, enabled).when({ type: 'Opened', major: 2, at: 5 }).then(opened);
    given(typedTopic, enabled, opened).when({ type: 'Opened', major: 1, at: 5 }).then();
  });

  it('is forgotten when nothing is left in it, and not before', () => {
    given(typedTopic, enabled)
      .when({ type: 'Tick', at: 400 * day })
      .then();
    given(typedTopic, enabled).when({ type: 'End', at: 2000 }).then(ended);
    given(typedTopic, enabled, ended).when({ type: 'End', at: 3000 }).refused('not_found');
    const due = forgottenAt({ ...state, endedAt: 2000 })!;
    expect(due).toBe(2000 + 30 * day);
    given(typedTopic, enabled, ended)
      .when({ type: 'Tick', at: due - 1 })
      .then();
    given(typedTopic, enabled, ended)
      .when({ type: 'Tick', at: due })
      .then({ type: 'TypedTopicForgotten' });
  });

  it('keeps its format, and after it was ended that of its keys', () => {
    const choice = { hasBefore: true, hasNanoseconds: true, hasStructKey: true } as const;
    const chosen = { type: 'TypedTopicEnabled', typedTopic: { ...state, ...choice } } as const;
    given(typedTopic).when(enable(choice)).then(chosen);
    given(typedTopic, chosen).when(enable(choice)).then();
    given(typedTopic, chosen).when(enable()).refused('conflict');
    given(typedTopic, enabled)
      .when(enable({ hasBefore: true }))
      .refused('conflict');
    given(typedTopic, chosen, ended)
      .when(enable({ hasBefore: true }))
      .refused('conflict');
    const { hasBefore: _, hasNanoseconds: __, ...withoutBefore } = { ...state, ...choice };
    given(typedTopic, chosen, ended)
      .when(enable({ hasStructKey: true }))
      .then({ type: 'TypedTopicEnabled', typedTopic: withoutBefore });
  });

  it('takes each snapshot once by its name', () => {
    const requested = { type: 'TypedTopicSnapshotRequested', snapshot: 'one' } as const;
    given(typedTopic, enabled)
      .when(enable({ snapshot: 'one' }))
      .then(requested);
    given(typedTopic, enabled, requested)
      .when(enable({ snapshot: 'one' }))
      .then();
    given(typedTopic, enabled, requested)
      .when(enable({ snapshot: 'two' }))
      .then({ ...requested, snapshot: 'two' });
    given(typedTopic, enabled, requested).when(enable()).then();
  });

  it('keeps its heartbeats unless others are named, and ends them by 0', () => {
    const changed = (heartbeatS: number) =>
      ({ type: 'TypedTopicHeartbeatChanged', heartbeatS }) as const;
    given(typedTopic)
      .when(enable({ heartbeatS: 60 }))
      .then({ ...enabled, typedTopic: { ...state, heartbeatS: 60 } });
    given(typedTopic, enabled, changed(60)).when(enable()).then();
    given(typedTopic, enabled, changed(60))
      .when(enable({ heartbeatS: 60 }))
      .then();
    given(typedTopic, enabled, changed(60))
      .when(enable({ heartbeatS: 0 }))
      .then(changed(0));
    given(typedTopic, enabled, changed(60), changed(0))
      .when(enable({ heartbeatS: 0 }))
      .then();
  });

  it('is another one after it was ended, in the same place', () => {
    const opened = { type: 'TypedTopicOpened', major: 2 } as const;
    const again = { ...state, uid: 'u2', major: 2 };
    given(typedTopic, enabled, opened, ended)
      .when(enable({ uid: 'u2' }))
      .then({ type: 'TypedTopicEnabled', typedTopic: again });
  });
});
