import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import { createPersonCode } from '#modules/access/console-codes/handlers.ts';
import { isStillAuthorized } from '#modules/access/console-sessions/handlers.ts';
import { personCaller } from '#modules/access/people/caller.ts';
import { requirePerson } from '#modules/access/people/queries.ts';
import { roleNames } from '#modules/access/people/roles.ts';
import type { Mail } from '#ports/mailer.ts';
import { movedClock } from '#test/support/fakes/clock.ts';
import { codeOf, startApi, type Api } from '#test/support/worlds/api.ts';
import {
  browserAt,
  cookieIn,
  idOf,
  outcome,
  samePage,
  type Browser,
} from '#test/support/worlds/console-browser.ts';

const clock = movedClock();
const mails: Mail[] = [];
const mailer = {
  send: (mail: Mail) => {
    mails.push(mail);
    return Promise.resolve();
  },
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
let api: Api;
let otherNode: string;
beforeAll(async () => {
  api = await startApi({ clock, mailer });
  otherNode = await api.startAnother();
});
afterAll(() => api[Symbol.asyncDispose]());

const { send, signIn } = browserAt(() => api);
const asAccount = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { key: api.keys.account, ...(body === undefined ? {} : { body }) });

let people = 0;
interface Invited {
  readonly id: string;
  readonly email: string;
  readonly code: string;
}

const codeIn = (url: unknown): string => /#\w+=([\w-]+)$/.exec(String(url))?.[1] ?? '';

/** Invites a person with one role in each place. */
async function invite(roles: Readonly<Record<string, string>>): Promise<Invited> {
  people += 1;
  const email = `person${people}@example.com`;
  const listed = Object.entries(roles).map(([environment, role]) => ({ environment, role }));
  const body = { email, display_name: `Person ${people}`, roles: listed };
  const made = await asAccount('POST', '/people', body);
  expect(made.status).toBe(201);
  const id = made.at('data.person.id') as string;
  return { id, email, code: codeIn(made.at('data.link.url')) };
}

/** Invites a person and signs in with the link. */
async function enter(roles: Readonly<Record<string, string>>): Promise<Browser & Invited> {
  const invited = await invite(roles);
  return { ...invited, ...(await signIn({ code: invited.code })) };
}

describe('an invitation', () => {
  it('signs its person in once, with the roles', async () => {
    const { code, email, id } = await invite({ dev: 'developer', prod: 'support' });
    const came = await send('POST', '/console/session', { headers: samePage, body: { code } });
    expect(came.status).toBe(201);
    expect(came.body).toMatchObject({ person: { id, email }, keys: [] });
    const roles = came.body!.access.map((one) => [one.environment?.name, one.roles]);
    expect(roles).toEqual([
      ['dev', ['developer']],
      ['prod', ['support']],
    ]);
    expect(came.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Strict/);
    const again = await send('POST', '/console/session', { headers: samePage, body: { code } });
    expect(outcome(again)).toBe('401 unknown_console_code');
    const shown = await asAccount('GET', '/people');
    const list = shown.at('data') as { id: string }[];
    expect(list.find((one) => one.id === id)).toMatchObject({
      email,
      is_active: true,
      issuer: null,
      roles: [
        { environment: 'dev', role: 'developer', from: 'owner' },
        { environment: 'prod', role: 'support', from: 'owner' },
      ],
      last_sign_in_at: expect.any(String) as string,
    });
  });

  it('is mailed where there is a mail server, and works for seven days', async () => {
    const { code, email } = await invite({ dev: 'read_only' });
    const mail = mails.find(({ to }) => to === email);
    expect(mail?.text).toContain(`/console#invitation=${code}`);
    clock.forward(limits.invitationMs);
    const late = await send('POST', '/console/session', { headers: samePage, body: { code } });
    expect(outcome(late)).toBe('401 unknown_console_code');
  });

  it('makes way for a newer link, which lives 15 minutes after the first sign-in', async () => {
    const { code, id } = await invite({ dev: 'read_only' });
    const link = async () => {
      const made = await asAccount('POST', `/people/${id}/sign-in-links`);
      return { url: String(made.at('data.link.url')), code: codeIn(made.at('data.link.url')) };
    };
    const second = await link();
    const old = await send('POST', '/console/session', { headers: samePage, body: { code } });
    expect(outcome(old)).toBe('401 unknown_console_code');
    await signIn({ code: second.code });
    const third = await link();
    expect(third.url).toContain('/console#code=');
    clock.forward(limits.signInLinkMs);
    const late = { headers: samePage, body: { code: third.code } };
    expect(outcome(await send('POST', '/console/session', late))).toBe('401 unknown_console_code');
  });

  it('names what is wrong with it', async () => {
    const { email } = await invite({ dev: 'read_only' });
    const body = { email: email.toUpperCase(), display_name: 'Twice' };
    const role = { environment: 'dev', role: 'support' };
    const twice = await asAccount('POST', '/people', { ...body, roles: [role] });
    expect(codeOf(twice)).toBe('409 conflict');
    const unknown = { environment: 'nowhere', role: 'support' };
    const nowhere = await asAccount('POST', '/people', { ...body, roles: [unknown] });
    expect(codeOf(nowhere)).toBe('404 unknown_environment');
    expect(codeOf(await asAccount('POST', '/people', { ...body, roles: [] }))).toBe(
      '400 invalid_body',
    );
    const { id } = await invite({ dev: 'read_only' });
    const moved = await asAccount('PATCH', `/people/${id}`, { roles: [unknown] });
    expect(codeOf(moved)).toBe('404 unknown_environment');
    const missing = '/people/0198c1a2-7d30-7000-8000-000000000001';
    expect(codeOf(await asAccount('PATCH', missing, {}))).toBe('404 not_found');
    expect(codeOf(await asAccount('POST', `${missing}/sign-in-links`))).toBe('404 not_found');
    expect(codeOf(await asAccount('DELETE', `${missing}/sessions`))).toBe('404 not_found');
    expect(codeOf(await asAccount('DELETE', missing.replace('people', 'account/sessions')))).toBe(
      '404 not_found',
    );
  });
});

describe('the list of people', () => {
  it('has a limit', async () => {
    const person = { email: 'many@example.com', display_name: 'Many' };
    const roles = [{ environment: 'dev', role: 'support' }];
    const { peopleMax } = limits;
    Object.assign(limits, { peopleMax: 0 });
    try {
      const created = await asAccount('POST', '/people', { ...person, roles });
      expect(codeOf(created)).toBe('400 resource_capped');
    } finally {
      Object.assign(limits, { peopleMax });
    }
  });
});

describe('a person who is signed in', () => {
  it('acts with the role of the environment, and is refused in words', async () => {
    const { at } = await enter({ dev: 'developer', prod: 'support' });
    const set = (where: string) =>
      send('PUT', '/environment-variables/REGION', { headers: at(where), body: { value: 'eu' } });
    expect(outcome(await set('dev'))).toBe('200 ');
    const refused = await set('prod');
    expect(outcome(refused)).toBe('403 forbidden');
    expect(refused.body?.error).toMatchObject({
      message: 'Your role in prod is support, without the scope environment:variables:write.',
      fix: 'Ask an owner of the account for the role owner or developer.',
    });
    expect(outcome(await send('GET', '/integrations', { headers: at('prod') }))).toBe('200 ');
  });

  it('has no way into another environment, the account, or what is closed to cookies', async () => {
    const { at } = await enter({ dev: 'owner' });
    const prod = (await enter({ prod: 'owner' })).access[0]?.environment?.uid ?? '';
    for (const where of [prod, 'account', 'nowhere', '']) {
      const came = await send('GET', '/integrations', { headers: at(where) });
      expect(outcome(came)).toBe('403 forbidden');
    }
    expect(outcome(await send('GET', '/people', { headers: at('account') }))).toBe('403 forbidden');
    // An environment is no account, whatever the role.
    expect(outcome(await send('GET', '/people', { headers: at('dev') }))).toBe('403 forbidden');
    const closed = await send('POST', '/console/codes', { headers: at('dev') });
    expect(outcome(closed)).toBe('401 missing_auth_header');
  });

  it('needs the token of the page, and a page of this origin', async () => {
    const { at } = await enter({ dev: 'read_only' });
    const { 'svc-csrf-token': _token, ...bare } = at('dev');
    const came = await send('GET', '/integrations', { headers: bare });
    expect(outcome(came)).toBe('403 invalid_csrf_token');
    const foreign = { ...at('dev'), 'sec-fetch-site': 'cross-site' };
    expect(outcome(await send('GET', '/integrations', { headers: foreign }))).toBe(
      '401 missing_auth_header',
    );
  });

  it('is named by no key: neither of its session nor of another', async () => {
    const person = await enter({ dev: 'owner' });
    const keys = await signIn({ key: api.keys.dev });
    const came = await send('GET', '/integrations', { headers: person.as(idOf(keys)) });
    expect(outcome(came)).toBe('403 forbidden');
    const other = await send('GET', '/integrations', { headers: keys.at('dev') });
    expect(outcome(other)).toBe('401 unknown_console_session');
  });

  it('always gets a new token, and ends the session that the browser had', async () => {
    const planted = await signIn({ key: api.keys.dev });
    const { code, id } = await invite({ dev: 'owner' });
    const victim = await signIn({ code }, { cookie: planted.cookie });
    expect(victim.cookie).not.toBe(planted.cookie);
    for (const url of [otherNode, api.url]) {
      const came = await send('GET', '/integrations', { headers: planted.as(idOf(planted)), url });
      expect(outcome(came)).toBe('401 unknown_console_session');
    }
    const made = await asAccount('POST', `/people/${id}/sign-in-links`);
    const body = { code: codeIn(made.at('data.link.url')) };
    const again = await signIn(body, { cookie: victim.cookie });
    expect(again.cookie).not.toBe(victim.cookie);
    const old = await send('GET', '/integrations', { headers: victim.at('dev') });
    expect(outcome(old)).toBe('401 unknown_console_session');
    // A key does not add itself to the session of a person.
    const keyed = await signIn({ key: api.keys.prod }, { cookie: again.cookie });
    expect(keyed.access).toEqual([]);
    expect(keyed.keys).toHaveLength(1);
  });
});

describe('a change of a person', () => {
  it('of the roles acts at once, on every node', async () => {
    const { at, id } = await enter({ dev: 'developer' });
    const set = (url: string) => {
      const sent = { headers: at('dev'), body: { value: 'eu' }, url };
      return send('PUT', '/environment-variables/REGION', sent);
    };
    expect(outcome(await set(otherNode))).toBe('200 ');
    const roles = [{ environment: 'dev', role: 'support' }];
    expect((await asAccount('PATCH', `/people/${id}`, { roles })).status).toBe(200);
    for (const url of [otherNode, api.url]) expect(outcome(await set(url))).toBe('403 forbidden');
  });

  it('to inactive signs out at once, on every node, until it is taken back', async () => {
    const { at, id, cookie } = await enter({ dev: 'developer' });
    const made = await asAccount('POST', `/people/${id}/sign-in-links`);
    const body = { code: codeIn(made.at('data.link.url')) };
    await asAccount('PATCH', `/people/${id}`, { is_active: false });
    for (const url of [otherNode, api.url]) {
      const came = await send('GET', '/integrations', { headers: at('dev'), url });
      expect(outcome(came)).toBe('401 unknown_console_session');
    }
    const shown = await send('GET', '/console/session', { headers: { ...samePage, cookie } });
    expect(outcome(shown)).toBe('401 unknown_console_session');
    const used = await send('POST', '/console/session', { headers: samePage, body });
    expect(outcome(used)).toBe('401 unknown_console_code');
    const refused = await asAccount('POST', `/people/${id}/sign-in-links`);
    expect(codeOf(refused)).toBe('403 person_deactivated');
    // A node that did not know of it yet may have made one more link.
    const late = { personId: id, lifetimeMs: 60_000 };
    const { code } = await createPersonCode(api.services, late, { actor: 'system' });
    const unused = { headers: samePage, body: { code } };
    expect(outcome(await send('POST', '/console/session', unused))).toBe('403 person_deactivated');
    await asAccount('PATCH', `/people/${id}`, { is_active: true });
    const next = await asAccount('POST', `/people/${id}/sign-in-links`);
    const back = await signIn({ code: codeIn(next.at('data.link.url')) });
    expect(outcome(await send('GET', '/integrations', { headers: back.at('dev') }))).toBe('200 ');
  });

  it('ends responses that outlast their authorization', async () => {
    const { access, id } = await enter({ dev: 'developer' });
    const { services } = api;
    const person = await requirePerson(services.control, id);
    const listed = await asAccount('GET', `/account/sessions?person_id=${id}`);
    const where = access[0]?.environment?.uid;
    const sessionId = listed.at('data.0.id') as string;
    const caller = personCaller(services, person, { where, sessionId });
    expect(isStillAuthorized(services, caller)).toBe(true);
    await asAccount('PATCH', `/people/${id}`, { display_name: 'Renamed' });
    expect(isStillAuthorized(services, caller)).toBe(true);
    const roles = [{ environment: 'dev', role: 'support' }];
    await asAccount('PATCH', `/people/${id}`, { roles });
    expect(isStillAuthorized(services, caller)).toBe(false);
  });

  it('needs an owner, who cannot lock themselves out', async () => {
    const owner = await enter({ account: 'owner' });
    const body = { is_active: false };
    const own = await send('PATCH', `/people/${owner.id}`, { headers: owner.at('account'), body });
    expect(outcome(own)).toBe('409 conflict');
    for (const role of roleNames.filter((one) => one !== 'owner')) {
      const { at } = await enter({ account: role });
      for (const [method, path] of [
        ['GET', '/people'],
        ['POST', '/people'],
        ['PATCH', `/people/${owner.id}`],
        ['POST', `/people/${owner.id}/sign-in-links`],
        ['GET', '/account/api-keys'],
        ['GET', '/audit'],
      ] as const) {
        const sent = { headers: at('account'), ...(method === 'GET' ? {} : { body: {} }) };
        expect(outcome(await send(method, path, sent))).toBe('403 forbidden');
      }
      expect(outcome(await send('GET', '/environments', { headers: at('account') }))).toBe('200 ');
    }
  });
});

describe('sessions', () => {
  const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

  it('are listed with their browser, and ended by their person', async () => {
    const first = await enter({ dev: 'read_only' });
    const made = await asAccount('POST', `/people/${first.id}/sign-in-links`);
    const body = { code: codeIn(made.at('data.link.url')) };
    const second = await signIn(body, { 'user-agent': firefox });
    const own = { ...samePage, cookie: second.cookie, 'svc-csrf-token': second.csrf };
    const list = async () =>
      (await send('GET', '/console/sessions', { headers: own })).body as unknown as {
        data: { id: string; browser: string | null; is_current: boolean }[];
      };
    const { data } = await list();
    expect(data).toHaveLength(2);
    expect(data.find((one) => one.is_current)).toMatchObject({
      browser: 'Firefox on Linux',
      ip_prefix: expect.stringMatching(/^127\.0\.0\.0\/24$|^0:0:0::\/48$/) as string,
      keys: [],
      person: { id: first.id },
    });
    const other = data.find((one) => !one.is_current)?.id ?? '';
    const stranger = await enter({ dev: 'read_only' });
    const theirs = { ...samePage, cookie: stranger.cookie, 'svc-csrf-token': stranger.csrf };
    const end = (headers: Record<string, string>) =>
      send('DELETE', `/console/sessions/${other}`, { headers });
    expect(outcome(await end(theirs))).toBe('404 not_found');
    const { 'svc-csrf-token': _token, ...bare } = own;
    expect(outcome(await end(bare))).toBe('403 invalid_csrf_token');
    const foreign = { ...own, 'sec-fetch-site': 'cross-site' };
    expect(outcome(await end(foreign))).toBe('403 foreign_origin');
    expect(outcome(await end(samePage))).toBe('401 unknown_console_session');
    const path = '/console/sessions';
    const listed = async (headers: Record<string, string>) =>
      outcome(await send('GET', path, { headers }));
    expect(await listed(foreign)).toBe('403 foreign_origin');
    expect(await listed(samePage)).toBe('401 unknown_console_session');
    expect(outcome(await end(own))).toBe('204 ');
    expect((await list()).data).toHaveLength(1);
    const gone = await send('GET', '/integrations', { headers: first.at('dev') });
    expect(outcome(gone)).toBe('401 unknown_console_session');
  });

  it('of all are listed and ended by an owner', async () => {
    const person = await enter({ dev: 'read_only' });
    const keys = await signIn({ key: api.keys.prod });
    const owner = await enter({ account: 'owner' });
    const headers = owner.at('account');
    const listed = await send('GET', '/account/sessions', { headers });
    const { data } = listed.body as unknown as {
      data: { id: string; keys: string[]; is_current: boolean; person: { id: string } | null }[];
    };
    const ofPerson = data.find((one) => one.person?.id === person.id);
    const ofKeys = data.find((one) => one.keys.includes('Default - Full access (prod)'));
    expect(ofPerson?.is_current).toBe(false);
    expect(data.find((one) => one.is_current)?.person?.id).toBe(owner.id);
    const ended = await send('DELETE', `/account/sessions/${ofKeys?.id}`, { headers });
    expect(outcome(ended)).toBe('200 ');
    const old = await send('GET', '/integrations', { headers: keys.as(idOf(keys)) });
    expect(outcome(old)).toBe('401 unknown_console_session');
    await send('DELETE', `/people/${person.id}/sessions`, { headers });
    const gone = await send('GET', '/integrations', { headers: person.at('dev'), url: otherNode });
    expect(outcome(gone)).toBe('401 unknown_console_session');
  });

  it('of a person end with the sign-out', async () => {
    const person = await enter({ dev: 'read_only' });
    const own = { ...samePage, cookie: person.cookie, 'svc-csrf-token': person.csrf };
    const came = await send('DELETE', '/console/session', { headers: own });
    expect(outcome(came)).toBe('204 ');
    expect(cookieIn(came)).toMatch(/=$/);
    const gone = await send('GET', '/integrations', { headers: person.at('dev') });
    expect(outcome(gone)).toBe('401 unknown_console_session');
  });
});
