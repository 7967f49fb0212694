import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPythonPackages } from '#test/clients/toolchains.ts';
import { versions } from '#test/services/versions.ts';

/** Checks of schemathesis: those of the document, and that no credential is passed over. */
const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'ignored_auth',
];

/** The folder of its packages, outside the repository. @throws ServiceUnavailable without Python, or the packages */
export const installSchemathesis = (): Promise<string> =>
  installPythonPackages(`schemathesis-${versions.schemathesis}`, 'The fuzz', [
    `schemathesis==${versions.schemathesis}`,
  ]);

export interface FuzzOptions {
  readonly packages: string;
  readonly url: string;
  readonly seed: number;
  /** Whole run, in seconds. */
  readonly secondsMax: number;
  /** By security scheme of the document. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly phases: readonly string[];
  readonly select: readonly string[];
}

/** A request as it was answered. */
export interface Asked {
  /** `GET /connections` */
  readonly endpoint: string;
  readonly status: number;
  /** Of a refusal; null without one. */
  readonly code: string | null;
}

export interface FuzzOutcome {
  readonly isGreen: boolean;
  readonly output: string;
  readonly asked: readonly Asked[];
}

/** Runs schemathesis to its end. */
export async function runSchemathesis(options: FuzzOptions): Promise<FuzzOutcome> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-fuzz-'));
  try {
    const [config, report] = [join(folder, 'schemathesis.toml'), join(folder, 'report.ndjson')];
    await writeFile(config, configText(options.credentials), { mode: 0o600 });
    const { url, phases, secondsMax, seed, select } = options;
    const args = ['-m', 'schemathesis.cli', '--config-file', config, 'run', `${url}/openapi.json`];
    const child = spawn(
      'python3',
      [
        ...[...args, '--url', url, '--phases', phases.join(','), '--checks', checks.join(',')],
        // With several workers the parser of Python 3.11 fails now and then.
        ...['--max-time', String(secondsMax), '--seed', String(seed), '--workers', '1'],
        ...['--max-examples', '10', '--no-shrink', '--continue-on-failure', '--warnings', 'off'],
        ...['--report', 'ndjson', '--report-ndjson-path', report, '--request-timeout', '60'],
        ...select,
      ],
      { cwd: folder, env: { PATH: process.env['PATH'], PYTHONPATH: options.packages } },
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    const [code] = (await once(child, 'close')) as [number | null];
    return { isGreen: code === 0, output, asked: askedIn(await readFile(report, 'utf8')) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A busy gateway answers 503; the caller judges its codes. */
const expectedStatuses =
  '[checks.not_a_server_error]\nexpected-statuses = ["2xx", "3xx", "4xx", 503]\n';

function configText(credentials: Readonly<Record<string, string>>): string {
  const entries = Object.entries(credentials).map(([scheme, secret]) => {
    const how = scheme.endsWith('InQuery') ? 'api_key' : 'bearer';
    return `[auth.openapi.${scheme}]\n${how} = ${JSON.stringify(secret)}\n`;
  });
  return [...entries, expectedStatuses].join('\n');
}

interface ReportLine {
  readonly ScenarioFinished?: {
    readonly recorder: {
      readonly label: string;
      readonly interactions?: Readonly<Record<string, Interaction>>;
    };
  };
}

interface Interaction {
  readonly request: { readonly method: string };
  readonly response?: {
    readonly status_code: number;
    readonly content?: { readonly $base64: string } | null;
  };
}

function askedIn(report: string): Asked[] {
  const lines = report.split('\n').filter((line) => line !== '');
  return lines.flatMap((line) => {
    const { ScenarioFinished: scenario } = JSON.parse(line) as ReportLine;
    if (scenario === undefined) return [];
    const { label, interactions = {} } = scenario.recorder;
    // Requests with a method that the document does not have bear the label of one that it has.
    const path = label.slice(label.indexOf(' ') + 1);
    return Object.values(interactions).flatMap(({ request: { method }, response }) => {
      const endpoint = `${method.toUpperCase()} ${path}`;
      return response ? [{ endpoint, status: response.status_code, code: codeIn(response) }] : [];
    });
  });
}

function codeIn({
  status_code: status,
  content,
}: NonNullable<Interaction['response']>): string | null {
  // What is asked for may have an error of its own, such as a deployment that failed.
  if (status < 400) return null;
  try {
    const text = Buffer.from(content?.$base64 ?? '', 'base64').toString();
    const { error } = JSON.parse(text) as { error?: { code?: unknown } };
    return typeof error?.code === 'string' ? error.code : null;
  } catch {
    return null;
  }
}
