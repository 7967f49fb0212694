import { describe, expect, it } from 'vitest';
import { environmentScopes, holdsScope } from '#modules/access/api-keys/scopes.ts';
import {
  rolesIn,
  rolesWith,
  scopesInAccount,
  scopesInEnvironment,
  type Role,
} from '#modules/access/people/roles.ts';

const opened = (role: Role): readonly string[] =>
  environmentScopes.filter((scope) => holdsScope(scopesInEnvironment([role]), scope));

describe('roles of an environment', () => {
  it('each include those below', () => {
    const [owner, developer, support, readOnly] = (
      ['owner', 'developer', 'support', 'read_only'] as const
    ).map(opened);
    expect(owner).toEqual(environmentScopes);
    expect(developer).toEqual(expect.arrayContaining([...support!]));
    expect(support).toEqual(expect.arrayContaining([...readOnly!]));
  });

  it('show secrets to owners alone, and to developers the variables that their code reads', () => {
    const secrets = environmentScopes.filter((scope) =>
      /_credentials$|webhook_signing_key|api_keys/.test(scope),
    );
    expect(secrets.length).toBeGreaterThan(4);
    for (const role of ['developer', 'support', 'read_only'] as const) {
      for (const scope of secrets) expect(opened(role)).not.toContain(scope);
    }
    expect(opened('developer')).toContain('environment:variables:read');
    for (const role of ['support', 'read_only'] as const) {
      expect(opened(role)).not.toContain('environment:variables:read');
      expect(opened(role)).not.toContain('environment:webhook_endpoints:read');
    }
  });

  it('let support repair and change nothing, and readers only read', () => {
    const changes = /:(create|update|delete|write|execute|resend|rotate)$|:deploy$|:proxy$|:mcp$/;
    expect(opened('read_only').filter((scope) => changes.test(scope))).toEqual([]);
    expect(opened('support').filter((scope) => changes.test(scope))).toEqual([
      'environment:connect_sessions:write',
      'environment:syncs:execute',
      'environment:webhooks:resend',
    ]);
  });

  it('of the account hold in every environment, and add to those of the environment', () => {
    const grants = [
      { environmentUid: null, role: 'read_only' },
      { environmentUid: 'e1', role: 'developer' },
    ] as const;
    expect(rolesIn(grants, 'e1')).toEqual(['developer', 'read_only']);
    expect(rolesIn(grants, 'e2')).toEqual(['read_only']);
    expect(rolesIn(grants, null)).toEqual(['read_only']);
    expect(rolesIn([{ environmentUid: 'e1', role: 'owner' }], null)).toEqual([]);
  });

  it('of the account manage it as an owner alone', () => {
    expect(scopesInAccount(['owner'])).toEqual(['account:*']);
    expect(scopesInAccount([])).toEqual([]);
    for (const role of ['developer', 'support', 'read_only'] as const) {
      const scopes = scopesInAccount([role]);
      expect(scopes.every((scope) => /:(list|read)$/.test(scope))).toBe(true);
      expect(scopes.join()).not.toMatch(/people|api_keys|audit|read_messages/);
    }
  });

  it('are named by the scopes that they hold', () => {
    expect(rolesWith(['environment:deploy'])).toEqual(['owner', 'developer']);
    expect(rolesWith(['environment:connections:list'])).toHaveLength(4);
    expect(rolesWith(['account:people:write'])).toEqual(['owner']);
  });
});
