import {
  createPrivateKey,
  createPublicKey,
  type JsonWebKeyInput,
  type KeyObject,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { calculateJwkThumbprint, compactDecrypt, decodeProtectedHeader, exportJWK } from 'jose';
import type { Client } from '#client/index.ts';
import { parseExactJson } from '#kernel/exact-json.ts';
import { textAt } from '#kernel/json-path.ts';
import { parsePrivateKey } from '#kernel/pem.ts';
import { type JsonObject, isJsonObject } from '#kernel/stable-json.ts';
import { CommandFailure } from '../exit.ts';
import { inParallel } from '../in-parallel.ts';
import type { Step } from './decision.ts';
import { sectionNames, type Mapping, type SectionName } from './mapping.ts';
import { planImport, type Plan } from './plan.ts';
import { refusedProblem, type Problem } from './problem.ts';
import { readSource, idOf } from './read.ts';
import { reportOf, type Report } from './report.ts';
import { SourceFailure, type Source } from './source.ts';
import { patientClient, readTarget } from './target.ts';

export interface ImportRequest {
  readonly client: Client;
  readonly source: Source;
  readonly mapping: Mapping;
  readonly secrets: JsonObject;
  /** Opens the sealed part of an entry of an export. */
  readonly open: Parameters<typeof readSource>[1];
  readonly signal: AbortSignal;
  readonly now: number;
  /** A line that the next one replaces. */
  readonly progress: (text: string) => void;
}

/** What an import would do, and how to do it. */
export interface PlannedImport {
  readonly report: Report;
  /** Applies the plan; a step that is refused is a problem of the report. */
  apply(): Promise<Report>;
}

/**
 * Reads the source and compares it with the environment. Nothing is changed before `apply`.
 * @throws CommandFailure when the source cannot be listed; ApiError
 */
export async function prepareImport(request: ImportRequest): Promise<PlannedImport> {
  const { source, mapping, secrets, now, signal, progress } = request;
  const client = patientClient(request.client, signal);
  const data = await readSource(source, request.open, progress).catch((error: unknown) => {
    if (!(error instanceof SourceFailure)) throw error;
    throw new CommandFailure(`Could not read ${source.name}: ${error.message}`);
  });
  const target = await readTarget(client, data.entries);
  const plan = await planImport(data, { client, mapping, target, secrets, now });
  return {
    report: reportOf(source.name, plan, plan.steps, plan.problems, false),
    async apply() {
      const { done, problems } = await applied(plan, client, request);
      return reportOf(source.name, plan, done, [...plan.problems, ...problems], true);
    },
  };
}

async function applied(
  { steps }: Plan,
  client: Client,
  { signal, progress }: ImportRequest,
): Promise<{ readonly done: readonly Step[]; readonly problems: readonly Problem[] }> {
  const done: Step[] = [];
  const problems: Problem[] = [];
  const order = ['variables', ...sectionNames.filter((name) => name !== 'variables')] as const;
  for (const kind of order) {
    const some = steps.filter((step) => step.kind === kind);
    await inParallel(some, async (step) => {
      signal.throwIfAborted();
      try {
        await step.apply(client);
        done.push(step);
      } catch (error) {
        signal.throwIfAborted();
        const { id } = step;
        problems.push(refusedProblem({ kind, id }, error, step.entry));
      }
      progress(`Writing: ${done.length + problems.length}/${steps.length}`);
    });
  }
  return { done, problems };
}

/**
 * Opens the sealed part of entries of `svc export`: fields as a compact JWE, bound to the name of the entry by `sub`.
 * @throws CommandFailure when the key cannot be read
 */
export async function openerOf(
  root: string,
  file: string | undefined,
): Promise<(kind: SectionName, entry: JsonObject) => Promise<JsonObject>> {
  const key = file === undefined ? null : readPrivateKey(resolve(root, file), file);
  const kid =
    key === null ? null : await calculateJwkThumbprint(await exportJWK(createPublicKey(key)));
  return async (kind, entry) => {
    const { sealed, ...plain } = entry;
    if (typeof sealed !== 'string') return entry;
    if (key === null) throw new CommandFailure('The file is encrypted: open it with --private-key');
    if (kidOf(sealed) !== kid)
      throw new CommandFailure(`${file} is not the key that opens the file`);
    return { ...plain, ...(await opened(sealed, key, subjectOf(kind, entry))) };
  };
}

/** The address of an endpoint is sealed itself. */
const subjectOf = (kind: SectionName, entry: JsonObject): string =>
  `${kind}/${kind === 'webhook_endpoints' ? (textAt(entry, 'id') ?? '') : idOf(kind, entry)}`;

function readPrivateKey(path: string, file: string): KeyObject {
  try {
    const text = readFileSync(path, 'utf8');
    return text.trimStart().startsWith('{')
      ? createPrivateKey({ key: JSON.parse(text) as JsonWebKeyInput['key'], format: 'jwk' })
      : parsePrivateKey(text);
  } catch (error) {
    // A parser's message may quote the key.
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const reason = isMissing ? 'there is no such file' : 'it is no private key (PEM or JWK)';
    throw new CommandFailure(`Could not read ${file}: ${reason}`);
  }
}

function kidOf(sealed: string): string | undefined {
  try {
    return decodeProtectedHeader(sealed).kid;
  } catch {
    return undefined;
  }
}

async function opened(sealed: string, key: KeyObject, subject: string): Promise<JsonObject> {
  try {
    const { plaintext, protectedHeader } = await compactDecrypt(sealed, key, {
      keyManagementAlgorithms: ['RSA-OAEP-256', 'ECDH-ES'],
      contentEncryptionAlgorithms: ['A256GCM'],
    });
    const value: unknown = parseExactJson(Buffer.from(plaintext).toString());
    if (protectedHeader['sub'] === subject && isJsonObject(value)) return value;
  } catch {
    throw new SourceFailure('its sealed part was changed', null);
  }
  throw new SourceFailure('its sealed part belongs to another entry', null);
}
