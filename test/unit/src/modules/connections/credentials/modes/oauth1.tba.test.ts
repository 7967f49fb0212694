import { describe, expect, it } from 'vitest';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { playingInEachTest } from '#test/support/fakes/fake-auth/playing.ts';

const play = playingInEachTest();
const accountId = {
  type: 'string',
  title: 'Account',
  description: 'The account.',
  example: '1234567-sb1',
} as const;
const tba: Partial<Provider> = {
  auth_mode: 'TBA',
  connection_config: { accountId },
  proxy: { base_url: 'https://${connectionConfig.accountId}.crm.example' },
};
const form = { 'content-type': 'application/x-www-form-urlencoded' };

describe('token based authentication', () => {
  it('signs calls of every kind for the realm of the account', async () => {
    const caller = play(tba);
    const imported = await caller.import();
    expect(await caller.call(imported, { path: '/records?limit=5&q=a%20b' })).toBe(200);
    const data = 'name=A+%26+B';
    expect(await caller.call(imported, { method: 'POST', data, headers: form })).toBe(200);
    expect(await caller.call(imported, { method: 'PATCH', data: { a: 1 } })).toBe(200);
    expect(caller.asked[0]?.headers.authorization).toContain('realm="1234567_SB1"');
  });

  it('takes a client of the person from the form', async () => {
    const caller = play(tba);
    const { rules, context, integration } = caller;
    const own = {
      ...caller.form,
      oauth_client_id_override: integration?.['client_id'],
      oauth_client_secret_override: integration?.['client_secret'],
    };
    const given = rules.form!.shape(context().provider).parse(own);
    const other = { ...context(), client: null };
    expect(await caller.call(await rules.form!.submit(given, other))).toBe(200);
  });

  it('is refused with another secret', async () => {
    const caller = play(tba);
    expect(await caller.call(await caller.import({ token_secret: 'wrong' }))).toBe(401);
    expect(caller.outcomes('api')).toEqual(['wrong_signature']);
  });
});
