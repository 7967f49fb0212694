/**
 * After a whole run of the tests: names each endpoint of which no test has seen a success that it declares, or an
 * error that it lists, and each change of the console that no test has pressed. `test/support/judges/answers.ts` has noted
 * what was seen.
 */
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { routes, streamRoutes } from '#api/routes.ts';
import { codeOf, statusOf, type RouteError } from '#http/define-route.ts';
import { changeSites } from '#test/browser/change-sites.ts';
import { ofConsole, ofSite } from '#test/support/judges/answers.ts';

interface Demand {
  readonly endpoint: string;
  readonly statuses: readonly number[];
  readonly errors: readonly RouteError[];
}

const successMax = 399;

const demands: readonly Demand[] = [
  ...routes.map(({ method, path, answers, errors }) => {
    const statuses = Object.keys(answers ?? {})
      .map(Number)
      .filter((status) => status <= successMax);
    return { endpoint: `${method} ${path}`, statuses, errors };
  }),
  ...streamRoutes.flatMap(({ methods, path, errors }) =>
    methods.map((method, at) => {
      // One implementation for all methods: its errors are looked for with the first.
      return { endpoint: `${method} ${path}`, statuses: [200], errors: at === 0 ? errors : [] };
    }),
  ),
];

/** Endpoints that one function makes: an error that they all answer is looked for on any one of them. */
const families: Readonly<Record<string, RegExp>> = {
  'front-end auth':
    /^POST \/(oauth2\/auth|auth\/[^/]+|api-auth\/[^/]+|app-store-auth)\/\{providerConfigKey\}$/,
  'sign-in by redirect, and its scopes': /^GET \/oauth\/connect\/\{providerConfigKey\}(\/scopes)?$/,
  'the proxy': /^[A-Z]+ \/proxy\//,
  'webhooks of providers, and their challenges': /^(GET|POST) \/webhook\//,
  'connections, old and new': /^[A-Z]+ \/connections?(\/|$)/,
  'sync commands': /^POST \/sync\/(trigger|pause|start)$/,
  'orders to projections': /^POST \/projections\/\{name\}\/\w+$/,
};

const familyOf = (endpoint: string): string =>
  Object.entries(families).find(([, pattern]) => pattern.test(endpoint))?.[0] ?? endpoint;

/** What endpoints promise and no test has seen. @param folder of the notes */
export function unseen(folder: string): readonly string[] {
  const seen = new Set<string>();
  for (const line of linesIn(folder)) {
    const [endpoint = '', status = '', code = ''] = line.split('\t');
    seen.add(`${endpoint} ${status}`).add(`${familyOf(endpoint)} ${status} ${code}`);
  }
  const wanted = new Set(
    demands.flatMap(({ endpoint, statuses, errors }) => [
      ...statuses.map((status) => `${endpoint} ${status}`),
      ...errors.map((error) => `${familyOf(endpoint)} ${statusOf(error)} ${codeOf(error)}`),
    ]),
  );
  return [...wanted].filter((one) => !seen.has(one));
}

const linesIn = (folder: string): string[] =>
  readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'));

const sourceOfConsole = fileURLToPath(new URL('../src/console', import.meta.url));

/**
 * Changes of the console that no browser of the tests made: operations other than GET that its sources name and that
 * none sent with success, and controls and requests that none ran. @param folder of the notes
 */
export async function unpressed(folder: string): Promise<readonly string[]> {
  const pressed = new Set(linesIn(folder));
  const named = globSync('**/*.{ts,tsx}', { cwd: sourceOfConsole }).flatMap((file) => {
    const text = readFileSync(join(sourceOfConsole, file), 'utf8');
    const found = text.matchAll(/'((?:POST|PUT|PATCH|DELETE) \/[^']*)'/g);
    const operations = Array.from(found, ([, operation = '']) => operation);
    // They take a path in place of an operation.
    const isHidden = /\.(send|fetch)\(/.test(text) && operations.length === 0;
    return isHidden ? [`${file}: name the operation`] : operations;
  });
  const sites = [...(await changeSites()).values()].flat().map(({ name }) => name);
  return [
    ...[...new Set(named)].filter((operation) => !pressed.has(ofConsole + operation)),
    ...[...new Set(sites)].filter((name) => !pressed.has(ofSite + name)),
  ].sort();
}
