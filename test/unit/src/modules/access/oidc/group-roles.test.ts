import { describe, expect, it } from 'vitest';
import { parseGroupRoles } from '#modules/access/oidc/group-roles.ts';

describe('the roles of groups', () => {
  it('are read from JSON', () => {
    const roles = { engineering: { dev: 'developer', prod: 'support' }, ops: { account: 'owner' } };
    expect(parseGroupRoles(JSON.stringify(roles))).toEqual(roles);
    expect(parseGroupRoles('{}')).toEqual({});
  });

  it.each([
    ['no JSON', '{ops: owner}', /^expected JSON such as/],
    ['a list', '[]', /^expected JSON such as/],
    ['a role alone', '{"ops":"owner"}', /roles are owner, developer, .* at ops$/],
    ['an unknown role', '{"ops":{"dev":"admin"}}', /at ops\.dev$/],
  ])('that are %s are refused, naming the place', (_what, text, message) => {
    expect(() => parseGroupRoles(text)).toThrow(message);
  });
});
