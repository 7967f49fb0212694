import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  providerOf,
  startAuthorizing,
  type AuthorizingApi,
} from '#test/support/worlds/authorizing.ts';

const mcp = 'mcp';

let api: AuthorizingApi;
beforeAll(async () => {
  api = await startAuthorizing([{ provider: providerOf('MCP_OAUTH2', { name: mcp }) }]);
});
afterAll(() => api[Symbol.asyncDispose]());

const refusalOf = async (): Promise<unknown> => {
  const { status, body } = await api.redirect(mcp);
  return [status, (JSON.parse(body) as { error: { code: unknown } }).error.code];
};

it('a redirect is refused where the MCP server names no usable authorization server', async () => {
  api.played(mcp).plan('issuer', { status: 200, body: { issuer: 'https://other.example' } });
  expect(await refusalOf()).toEqual([400, 'authorization_server_unknown']);
});

it('a redirect is refused where the authorization server registers no client', async () => {
  api.played(mcp).plan('register', { status: 403, body: { error: 'access_denied' } });
  expect(await refusalOf()).toEqual([400, 'client_registration_refused']);
});
