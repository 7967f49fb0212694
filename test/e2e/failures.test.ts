/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-explicit-any --
   a test looks into any answer */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFakeAuth, visit, type FakeAuth } from '#fake-providers/server.ts';
import { commandLine, type Ended } from '#test/support/processes/command-line.ts';
import { withLimits } from '#test/support/processes/with-limits.ts';
import { providerOf } from '#test/support/worlds/authorizing.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';
import { compileFunctions } from '#test/support/worlds/deploy.ts';
import { functionsProject, type FunctionsProject } from '#test/support/worlds/functions-project.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

/**
 * What a user reads of each failure: what is wrong, where, and what to do, in the API and in the command line.
 * Failures of code, and those of values, are in `first-failure.test.ts`.
 */

const failing = `import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Fails in the way it is asked to',
  input: z.object({ how: z.string() }),
  output: z.void(),
  exec: async (svc, { how }) => {
    if (how === 'limited') await svc.get({ endpoint: '/limited' });
    if (how === 'unreachable') await svc.get({ endpoint: '/a', baseUrlOverride: 'http://127.0.0.1:1' });
    if (how === 'internal') await svc.get({ endpoint: '/a', baseUrlOverride: 'http://169.254.169.254' });
    if (how === 'endless') await new Promise((resolve) => setTimeout(resolve, 600_000));
  },
});

export default action;
`;

const beacon = 'beacon-crm';

let stack: AsyncDisposableStack;
let world: CrmWorld;
let fake: FakeAuth;
let project: FunctionsProject;
let crm: CrmConnection;
const played = () => playedBeacon!;
let playedBeacon: ReturnType<FakeAuth['play']> | undefined;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  fake = stack.use(await openFakeAuth());
  playedBeacon = fake.play(providerOf('OAUTH2', { name: beacon, display_name: 'Beacon' }));
  world = stack.use(
    await openCrmWorld({
      definitions: fake.definitions(),
      hosts: [fake.hostPort, '127.0.0.1:1'],
      env: withLimits({ actionRunMaxMs: 2_000, runGraceMs: 100 }),
    }),
  );
  project = stack.use(functionsProject({ 'crm/actions/failing.ts': failing }));
  const body = await compileFunctions(project.root);
  succeeded(await call('POST', '/functions/deployments/bundle', { body }));
  const { integration } = played();
  const beaconBody = { unique_key: beacon, provider: beacon, credentials: integration };
  succeeded(await call('POST', '/integrations', { body: beaconBody }));
  crm = await world.connect();
});
afterAll(() => stack.disposeAsync());

const call = (...args: Parameters<CrmWorld['gateway']['call']>) => world.gateway.call(...args);

async function svc(args: readonly string[], key = world.gateway.key): Promise<Ended> {
  const variables = { SVC_HOSTPORT: world.gateway.url, SVC_SECRET_KEY_DEV: key };
  const sandbox = await sharedSandbox();
  return commandLine([...args, '-e', 'dev'], { root: project.root, sandbox, variables });
}

type Body = Readonly<Record<string, any>>;

describe('a run that fails', () => {
  it.each([
    ['limited', 'the rate limit of the provider', /status code 429/, /retries/, 9],
    ['unreachable', 'a network failure', /ECONNREFUSED/, /provider is reachable/, 10],
    [
      'internal',
      'an address that is not allowed',
      /169\.254\.169\.254 .* SVC_EGRESS_ALLOW/,
      /./,
      11,
    ],
    ['endless', 'too much time', /exceeded its time limit/, /checkpoint/, null],
  ])('by %s: %s', async (how, _what, message, fix, line) => {
    const slow = { status: 429, headers: { 'retry-after': '7' }, body: { error: 'slow down' } };
    crm.account.plan('/limited', slow);
    const { body } = await crm.action('failing', { how });
    const { error } = body as { error: Body };
    expect(error['message']).toMatch(message);
    expect(error['fix']).toMatch(fix);
    const place = `crm/actions/failing.ts:${line}:`;
    if (line !== null) expect(error['failure'].location).toContain(place);
    const shown = await svc(['runs', 'show', error['run_id'] as string]);
    expect(shown.out).toContain(error['message']);
    expect(shown.out).toContain(`fix: ${error['fix']}`);
    if (line !== null) expect(shown.out).toContain(place);
    if (how === 'limited') expect(shown.out).toContain('slow down');
  });
});

describe('a request that is refused', () => {
  it.each([
    [
      'an unknown model',
      '/records?model=Typo',
      {},
      ['records', 'Typo', 'OWN', '-i', 'crm'],
      /declares the model "Typo": it has no sync/,
      1,
    ],
    [
      'a missing connection',
      '/records?model=Contact',
      { 'connection-id': 'nobody' },
      ['records', 'Contact', 'nobody', '-i', 'crm'],
      /connection "nobody" of the integration "crm" does not exist in the environment "dev"/,
      1,
    ],
  ])('%s', async (_what, path, headers, args, message, exitCode) => {
    const refused = await call('GET', path, { headers: { ...crm.headers, ...headers } });
    const { error } = refused.body as { error: Body };
    expect(JSON.stringify(error).replaceAll(String.raw`\"`, '"')).toMatch(message);
    expect(error['fix']).toMatch(/\w/);
    const ended = await svc(args.map((arg) => (arg === 'OWN' ? crm.id : arg)));
    expect(ended.exitCode).toBe(exitCode);
    expect(ended.err).toMatch(message);
    expect(ended.err).toMatch(/Correct what is named here|Look the pair up/);
  });

  it('a wrong key', async () => {
    const key = `svc_env_${'x'.repeat(43)}`;
    const { status, body } = await call('GET', '/connections', { key });
    expect(status).toBe(401);
    const ended = await svc(['connections'], key);
    expect(ended.exitCode).toBe(3);
    for (const text of [body.error.message, body.error.fix]) {
      expect(ended.err).toContain(text as string);
    }
    expect(ended.err).not.toContain(key);
  });

  it('a key without the scope', async () => {
    const scopes = ['environment:records:read'];
    const named = { environment_id: world.environmentId, display_name: 'narrow', scopes };
    const { accountKey: key } = world.gateway;
    const made = succeeded(await call('POST', '/environment/api-keys', { key, body: named }));
    const narrow = made.data.secret as string;
    const { status, body } = await call('GET', '/connections', { key: narrow });
    expect([status, body.error.code]).toEqual([403, 'forbidden']);
    expect(body.error.message).toContain('environment:connections:list');
    const ended = await svc(['connections'], narrow);
    expect(ended.exitCode).toBe(3);
    expect(ended.err).toContain('environment:connections:list');
  });

  it('a deployment with a type error', async () => {
    const code = failing.replace("how === 'limited'", 'how === 7');
    const { status, body } = await call('POST', '/functions/compile', {
      body: { code },
    });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'compilation_error' });
    expect(body.error.message).toContain(':9:9');
    project.write({ 'crm/actions/failing.ts': code });
    const ended = await svc(['deploy', '--auto-confirm', '--no-dependency-update']);
    project.write({ 'crm/actions/failing.ts': failing });
    expect(ended.exitCode).toBe(10);
    expect(ended.err).toContain('crm/actions/failing.ts:9:9');
    expect(ended.err).toContain("the types 'string' and 'number' have no overlap");
    expect(ended.err).toContain('if (how === 7)');
  });
});

describe('a webhook to the application', () => {
  it.each([
    [
      'whose endpoint is down',
      'http://127.0.0.1:1/hooks',
      /ECONNREFUSED/,
      'Start the application, or correct the host and the port',
    ],
    [
      'to an address that is not allowed',
      'http://169.254.169.254/hooks',
      /url_not_allowed/,
      'add the address to SVC_EGRESS_ALLOW',
    ],
  ])('%s', async (_what, url, why, fix) => {
    const { data: endpoint } = succeeded(
      await call('POST', '/webhook-endpoints', { body: { url } }),
    );
    const path = `/webhook-endpoints/${endpoint.id as string}/test`;
    const { data } = succeeded(await call('POST', path, { body: {} }));
    const [id] = data.message_ids as [string];
    const read = async () => (await call('GET', `/webhook-messages/${id}`)).body as Body;
    const message = await eventually(read, (one) => why.test(JSON.stringify(one)));
    expect(JSON.stringify(message)).toContain(endpoint.id as string);
    const shown = await eventually(
      () => svc(['webhooks', 'show', id]),
      ({ out }) => why.test(out),
    );
    expect(shown.err).toContain(`Not delivered to ${endpoint.id as string}`);
    expect(shown.err).toContain(fix);
    succeeded(await call('DELETE', `/webhook-endpoints/${endpoint.id as string}`));
  });
});

describe('a provider that refuses', () => {
  const signIn = async (): Promise<string> => {
    const { url } = world.gateway;
    const wanted = { end_user: { id: 'u' }, allowed_integrations: [beacon] };
    const session = succeeded(await call('POST', '/connect/sessions', { body: wanted }));
    const query = new URLSearchParams({ connect_session_token: session.data.token as string });
    const started = await fetch(`${url}/oauth/connect/${beacon}?${query.toString()}`, {
      redirect: 'manual',
    });
    const back = new URLSearchParams(await visit(started.headers.get('location') ?? ''));
    const cookie = started.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ');
    const landed = await fetch(`${url}/oauth/callback?${back.toString()}`, { headers: { cookie } });
    return landed.text();
  };

  it.each([
    [
      'the client secret',
      { error: 'invalid_client', error_description: 'The client secret has expired' },
      'Copy client id and secret of the app at Beacon',
    ],
    [
      'the callback URL',
      { error: 'invalid_grant', error_description: 'The redirect_uri does not match' },
      '/oauth/callback as the redirect URI of the app at Beacon',
    ],
  ])('%s', async (_what, body, fix) => {
    played().plan('token', { status: 401, body });
    const page = await signIn();
    expect(page).toContain(body.error_description);
    expect(page).toContain(fix);
    const failed = async () => {
      const ended = await svc(['logs', '--type', 'auth', '--state', 'failed', '--json']);
      const found = JSON.parse(ended.out) as { id: string; message: string }[];
      return found.find(({ message }) => message.includes(body.error_description));
    };
    const operation = await eventually(failed, (one) => one !== undefined);
    const lines = await eventually(
      () => svc(['logs', operation!.id]),
      ({ out }) => out.includes('What to do: '),
    );
    expect(lines.out).toContain(fix);
  });

  it('a grant that has expired', async () => {
    const expires_at = new Date(Date.now() - 60_000).toISOString();
    const credentials = { type: 'OAUTH2', access_token: 'a', refresh_token: 'r', expires_at };
    const connection = { provider_config_key: beacon, connection_id: 'old', credentials };
    succeeded(await call('POST', '/connections', { body: connection }));
    const revoked = { error: 'invalid_grant', error_description: 'Token has been revoked' };
    played().plan('token', { status: 400, body: revoked });
    const { body } = await call('GET', `/connections/old?provider_config_key=${beacon}`);
    expect(body.error.message).toContain('invalid_grant (Token has been revoked)');
    expect(body.error.fix).toContain('Reauthorize the connection');
    const ended = await svc(['connections', 'old', '-i', beacon]);
    expect(`${ended.out}${ended.err}`).toMatch(/Token has been revoked|Reauthorize/);
  });
});
