import { describe, expect, it } from 'vitest';
import type { Sealed } from '#kernel/ids.ts';
import { dayMs } from '#kernel/time.ts';
import { environment, type CreateEnvironment } from '#modules/access/environments/environment.ts';
import { given } from '#test/support/judges/given.ts';

const at = 1_000_000;
const key = (name: string) => name as Sealed<string>;
const create = (more: Partial<CreateEnvironment> = {}): CreateEnvironment => ({
  type: 'Create',
  uid: 'e1',
  name: 'dev',
  isProduction: false,
  webhookSigningKey: key('k1'),
  at,
  numericId: 7,
  isNameTaken: false,
  ...more,
});
const made = (more: Partial<CreateEnvironment> = {}) => {
  const state = given(environment).when(create(more)).state();
  if (state === null) throw new Error('not made');
  return { type: 'EnvironmentCreated', environment: state } as const;
};

describe('a new environment', () => {
  it('gets the number the owner gave and webhook flags that are on', () => {
    const state = given(environment).when(create()).state();
    expect(state).toMatchObject({ id: 7, name: 'dev', payloadMode: 'plain', isDeleting: false });
    expect(state?.webhookFlags.onAuthCreation).toBe(true);
  });

  it('is refused when its name is taken', () => {
    given(environment)
      .when(create({ isNameTaken: true }))
      .refused('conflict');
  });

  it('is refused when it is named prod but is not production', () => {
    given(environment)
      .when(create({ name: 'prod' }))
      .refused('invalid_is_prod_flag');
  });
});

describe('an environment', () => {
  it('cannot stop being production when it is named prod', () => {
    const changes = { isProduction: false };
    given(environment, made({ name: 'prod', isProduction: true }))
      .when({ type: 'Patch', changes, at, isNameTaken: false })
      .refused('invalid_is_prod_flag');
  });

  it('says nothing when nothing changes', () => {
    given(environment, made())
      .when({ type: 'Patch', changes: { name: 'dev' }, at, isNameTaken: false })
      .then();
  });

  it('cannot be deleted when it is named prod', () => {
    given(environment, made({ name: 'prod', isProduction: true }))
      .when({ type: 'MarkDeleting', at })
      .refused('cannot_delete_prod_environment');
  });

  it('is unknown when it is not there', () => {
    given(environment).when({ type: 'Delete', at }).refused('unknown_environment');
  });

  it('signs with the old key for a day after a rotation and refuses another meanwhile', () => {
    const rotated = {
      type: 'SigningKeyRotated',
      key: key('k2'),
      previousUntil: at + dayMs,
      at,
    } as const;
    given(environment, made())
      .when({ type: 'RotateSigningKey', key: key('k2'), at })
      .then(rotated);
    const after = given(environment, made(), rotated);
    expect(after.state).toMatchObject({
      webhookSigningKey: 'k2',
      previousSigningKey: { key: 'k1', until: at + dayMs },
    });
    const again = { type: 'RotateSigningKey', key: key('k3') } as const;
    after.when({ ...again, at: at + dayMs - 1 }).refused('multiple_webhook_signing_keys');
    expect(after.when({ ...again, at: at + dayMs }).state()?.webhookSigningKey).toBe('k3');
  });
});
