import { describe, expect, it } from 'vitest';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import {
  integration,
  type CreateIntegration,
  type Integration,
  type IntegrationCredentials,
} from '#modules/connections/integrations/integration.ts';
import { given } from '#test/support/judges/given.ts';

const sealed = (text: string) => text as Sealed<IntegrationCredentials>;
const create: CreateIntegration = {
  type: 'Create',
  uid: 'i1',
  environmentUid: 'e1',
  uniqueKey: 'crm',
  displayName: 'CRM',
  provider: 'crm',
  forwardWebhooks: true,
  credentials: sealed('c1'),
  integrationConfig: {},
  custom: {},
  at: 1,
};
const state = given(integration).when(create).state();
if (state === null) throw new Error('not made');
const made = { type: 'IntegrationCreated', integration: state } as const;

describe('an integration', () => {
  it('is refused under a key that is taken, with the path of the contract', () => {
    const issue: unknown = expect.objectContaining({ path: ['unique_key'] });
    const details: unknown = expect.objectContaining({ errors: [issue] });
    const refused: unknown = expect.objectContaining({ code: 'invalid_body', details });
    expect(() => integration.decide(create, state)).toThrow(refused);
  });

  it('refuses changes that were made from other credentials than the stored ones', () => {
    const changes = { credentials: sealed('c2') };
    given(integration, made)
      .when({ type: 'Update', changes, ifCredentials: sealed('c0'), at: 2 })
      .refused('conflict');
    given(integration, made)
      .when({ type: 'Update', changes, ifCredentials: sealed('c1'), at: 2 })
      .then({ type: 'IntegrationChanged', changes, at: 2 });
  });

  it('says nothing when nothing changes', () => {
    given(integration, made)
      .when({ type: 'Update', changes: { displayName: 'CRM' }, at: 2 })
      .then();
  });

  it('keeps the first of two registrations with an authorization server, and the last ones of all', () => {
    const client = (text: string) => text as Sealed<JsonObject>;
    const register = (key: string, text: string, former: string | null = null) =>
      ({
        type: 'RegisterClient',
        key,
        client: client(text),
        former: former === null ? null : client(former),
        at: 2,
      }) as const;
    const clientsOf = (...commands: ReturnType<typeof register>[]) => {
      let current: Integration | null = state;
      for (const command of commands) {
        for (const event of integration.decide(command, current)) {
          current = integration.evolve(current, event);
        }
      }
      return current?.registeredClients;
    };
    expect(clientsOf(register('a', '1'), register('a', '2'))).toEqual({ a: '1' });
    expect(clientsOf(register('a', '1'), register('a', '2', '1'))).toEqual({ a: '2' });
    const many = Array.from({ length: limits.registeredClientsMax + 1 }, (_, at) =>
      register(`k${at}`, 'x'),
    );
    const kept = Object.keys(clientsOf(...many) ?? {});
    expect(kept).toHaveLength(limits.registeredClientsMax);
    expect(kept).not.toContain('k0');
  });

  it('is gone for changes from the mark on, and the mark is made once', () => {
    const begun = { type: 'IntegrationDeletionBegun', at: 2 } as const;
    given(integration, made).when({ type: 'MarkDeleting', at: 2 }).then(begun);
    const deleting = given(integration, made, begun);
    deleting.when({ type: 'MarkDeleting', at: 3 }).then();
    deleting.when({ type: 'Update', changes: { displayName: 'x' }, at: 3 }).refused('not_found');
    deleting.when({ type: 'Delete', at: 3 }).then({ type: 'IntegrationDeleted' });
    given(integration).when({ type: 'Delete', at: 3 }).then();
  });

  it('moves: it leaves one path and arrives whole at another that is free', () => {
    given(integration, made).when({ type: 'Leave', at: 2 }).then({ type: 'IntegrationRenamed' });
    const moved = { ...state, uniqueKey: 'crm2' };
    given(integration)
      .when({ type: 'Arrive', integration: moved, at: 2 })
      .then({ type: 'IntegrationCreated', integration: { ...moved, updatedAt: 2 } });
    given(integration, made)
      .when({ type: 'Arrive', integration: moved, at: 2 })
      .refused('invalid_body');
  });
});
