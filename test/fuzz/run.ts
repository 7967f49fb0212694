/**
 * `npm run fuzz`: our client of HTTP/1.1 and Node's read the same answers (`http1.ts`); schemathesis asks a real gateway
 * what its OpenAPI document allows, and what it does not. No 5xx but of busy runners, nothing that the document does not name, no way past the
 * credentials.
 */
import { routes } from '#api/routes.ts';
import { seedOfRun } from '#test/support/judges/random.ts';
import { openCrmWorld, succeeded } from '#test/support/worlds/crm-world.ts';
import { fuzzLeftovers } from './http1-leftovers.ts';
import { fuzzHttp1 } from './http1.ts';
import { installSchemathesis, runSchemathesis, type Asked } from './schemathesis.ts';

/**
 * Seconds that schemathesis may take: for all endpoints, and for those that end what the others need. On a push it
 * runs briefly, for `test/e2e/bad-input.test.ts` sends bad input at length.
 */
const secondsMax = { push: 20, long: 85 };
const endingSecondsMax = { push: 5, long: 10 };
const lineMax = 2_000;

const clientRounds = { answers: 50_000, leftovers: 5_000 };

/** They remove the key's environment, the token's session, or what the examples name. */
const endings = [
  'DELETE /connect/session',
  'DELETE /environments/{environmentId}',
  'DELETE /integrations/{uniqueKey}',
  'DELETE /connections/{connectionId}',
  'DELETE /connection/{connectionId}',
];

/** Of another behind the proxy, or without an end: schemathesis reads an answer until it ends. */
const passedOver = [
  '/proxy/{path}',
  '/records/stream',
  '/changes/stream',
  '/logs/tail',
  '/runs/tail',
];

/**
 * @returns what is wrong; empty when nothing is
 * @throws ServiceUnavailable where schemathesis cannot be installed
 */
export async function fuzz({ isLong }: { readonly isLong: boolean }): Promise<readonly string[]> {
  const length = isLong ? 'long' : 'push';
  const packages = await installSchemathesis();
  const seed = seedOfRun();
  console.log(`SVC_TEST_SEED=${seed}`);
  await using world = await openCrmWorld({ env: { SVC_RATE_LIMIT_PER_MINUTE: '0' } });
  const { gateway } = world;
  // As the examples of the document have it.
  await world.connect({ connection_id: 'acme-1' });
  const made = await gateway.call('POST', '/connect/sessions', {
    body: { end_user: { id: 'u1' } },
  });
  const { token } = (succeeded(made) as { data: { token: string } }).data;
  const credentials = {
    environmentCredential: gateway.key,
    accountCredential: gateway.accountKey,
    connectCredential: token,
    connectTokenInQuery: token,
  };
  const ground = { packages, url: gateway.url, seed, credentials };
  const names = (option: string) => endings.flatMap((name) => [option, name]);
  const most = await runSchemathesis({
    ...ground,
    secondsMax: secondsMax[length],
    phases: ['examples', 'coverage', 'fuzzing'],
    select: [...names('--exclude-name'), ...passedOver.flatMap((path) => ['--exclude-path', path])],
  });
  const last = await runSchemathesis({
    ...ground,
    secondsMax: endingSecondsMax[length],
    phases: ['examples', 'fuzzing'],
    select: names('--include-name'),
  });
  const asked = [...most.asked, ...last.asked];
  const problems = [
    ...[most, last].flatMap(({ isGreen, output }) => (isGreen ? [] : [output])),
    ...unheard(asked),
    ...unavailable(asked),
    ...unnamedCodes(asked, succeeded(await gateway.call('GET', '/openapi.json'))),
    ...gateway.log.filter((line) => line.includes('request failed')),
  ];
  // A command that repeats a request may have a line of a hundred thousand characters.
  const cut = (line: string) => (line.length > lineMax ? `${line.slice(0, lineMax)} …` : line);
  const answered = asked.filter(({ status }) => status !== 405).map(({ endpoint }) => endpoint);
  console.log(`${asked.length} requests to ${new Set(answered).size} endpoints`);
  return problems.map((problem) => problem.split('\n').map(cut).join('\n'));
}

/** The runners are few, and a request that finds none is to be sent again; every other 503 is a defect here. */
const unavailable = (asked: readonly Asked[]): string[] =>
  asked
    .filter(({ status, code }) => status === 503 && code !== 'execution_environment_unavailable')
    .map(({ endpoint, code }) => `${endpoint} answered 503 ${String(code)}`);

/** A credential that is always refused would hide everything behind it. */
function unheard(asked: readonly Asked[]): string[] {
  const kinds = ['environment', 'account', 'connect'] as const;
  return kinds.flatMap((kind) => {
    const endpoints = routes
      .filter(({ credential }) => credential === kind)
      .map(({ method, path }) => `${method} ${path}`);
    const isHeard = asked.some(
      ({ endpoint, status }) => endpoints.includes(endpoint) && ![401, 403, 405].includes(status),
    );
    return isHeard ? [] : [`no request with the credential of ${kind} got past the gate`];
  });
}

interface Named {
  readonly $ref?: string;
  readonly 'x-svc-error-codes'?: readonly string[];
}
interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly responses: Readonly<Record<string, Named>> }>>
    >
  >;
  readonly components: { readonly responses: Readonly<Record<string, Named>> };
}

/** Codes that the document does not name for their operation and status. */
function unnamedCodes(asked: readonly Asked[], body: unknown): string[] {
  const { paths, components } = body as Document;
  const found = asked.flatMap(({ endpoint, status, code }) => {
    const [method = '', path = ''] = endpoint.split(' ');
    const operation = paths[path]?.[method.toLowerCase()];
    if (operation === undefined && code === 'method_not_allowed') return [];
    const { $ref: reference = '', ...own } = operation?.responses[String(status)] ?? {};
    const shared = components.responses[reference.slice(reference.lastIndexOf('/') + 1)];
    const codes = (shared ?? own)['x-svc-error-codes'] ?? [];
    return code === null || codes.includes(code) ? [] : [`${endpoint}: ${status} ${code}`];
  });
  return [...new Set(found)].map((one) => `the document does not name ${one}`);
}

/** @returns what is wrong; empty when nothing is */
async function fuzzClient(): Promise<readonly string[]> {
  const seed = seedOfRun();
  console.log(`SVC_TEST_SEED=${seed}`);
  const { rounds, accepted, differences } = await fuzzHttp1(seed, clientRounds.answers);
  console.log(
    `${rounds} answers, ${accepted} of them accepted, ${differences.length} read differently`,
  );
  const { connections, mistaken, ...calls } = await fuzzLeftovers(seed, clientRounds.leftovers);
  console.log(`${calls.rounds} calls over ${connections} connections, ${mistaken.length} mistaken`);
  return [...differences, ...mistaken];
}

if (import.meta.main) {
  const problems = [...(await fuzzClient()), ...(await fuzz({ isLong: true }))];
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
