/**
 * After a whole run of the tests: names each endpoint of which no test has seen a success that it declares, or an
 * error that it lists. `test/support/answers.ts` has noted what was seen.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { routes, streamRoutes } from '../src/http/routes.ts';
import { codeOf, statusOf, type RouteError } from '../src/http/route-errors.ts';

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

/** What of the demands no test has seen, a line each. @param folder of the notes */
export function missingAnswers(folder: string): string[] {
  const seen = new Set<string>();
  for (const file of readdirSync(folder)) {
    for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
      const [endpoint = '', status = '', code = ''] = line.split('\t');
      seen.add(`${endpoint} ${status}`).add(`${endpoint} ${status} ${code}`);
    }
  }
  return demands
    .flatMap(({ endpoint, statuses, errors }) => [
      ...statuses.map((status) => `${endpoint} ${status}`),
      ...errors.map((error) => `${endpoint} ${statusOf(error)} ${codeOf(error)}`),
    ])
    .filter((wanted) => !seen.has(wanted));
}
