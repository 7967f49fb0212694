import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bodyText } from '#kernel/body-text.ts';
import { parseExactJson } from '#kernel/exact-json.ts';
import { limits } from '#kernel/limits.ts';
import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { systemClock } from '#kernel/time.ts';
import { CommandFailure } from '../exit.ts';
import { filledPath, mappedFields, valueAt, type Mapping, type Section } from './mapping.ts';
import type { SectionName } from './mapping.ts';

/** The source did not return what was requested. */
export class SourceFailure extends Error {
  override readonly name = 'SourceFailure';
  /** Of the response; null without one. */
  readonly status: number | null;

  constructor(message: string, status: number | null, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** The entries of a section, with the fields of the mapping. */
export interface SectionEntries {
  readonly entries: readonly JsonObject[];
  /** What is missing from the list, as sentences. */
  readonly gaps: readonly string[];
}

/** Where an import reads from. */
export interface Source {
  /** As reports name it. */
  readonly name: string;
  /** @throws SourceFailure */
  list(name: SectionName, values?: JsonObject): Promise<SectionEntries>;
  /** The entry with all of its fields. @throws SourceFailure */
  whole(name: SectionName, entry: JsonObject): Promise<JsonObject>;
}

/** An export file: its lists are read as the API returns them. @throws CommandFailure */
export function openFileSource(root: string, file: string, mapping: Mapping): Source {
  let content: unknown;
  try {
    content = parseExactJson(bodyText(readFileSync(resolve(root, file))));
  } catch (error) {
    // A parser's message quotes the file, which may hold secrets.
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const reason = isMissing ? 'there is no such file' : 'it is not JSON';
    throw new CommandFailure(`Could not read ${file}: ${reason}`);
  }
  return {
    name: file,
    list: async (name) => {
      const section = mapping[name];
      const found = valueAt(content as Json, section?.file ?? name);
      if (section === undefined || found === undefined) return { entries: [], gaps: [] };
      if (!Array.isArray(found)) throw new SourceFailure(`"${name}" in the file is no list`, null);
      return mappedEntries(section, found as readonly Json[]);
    },
    whole: async (_name, entry) => entry,
  };
}

function mappedEntries({ fields }: Section, items: readonly Json[]): SectionEntries {
  const objects = items.filter((item) => isJsonObject(item));
  const others = items.length - objects.length;
  // The sealed part of our own export is opened before its fields are used.
  const entries = objects.map((item) => ({
    ...mappedFields(fields, item),
    ...(typeof item['sealed'] === 'string' ? { sealed: item['sealed'] } : {}),
  }));
  return { entries, gaps: others === 0 ? [] : [`${others} entries are no objects`] };
}

const triesMax = 5;
const waitMaxMs = 60_000;
const responseBytesMax = 128 * 1024 * 1024;
/** Pages in a row that repeat entries, after which a list is refused: a source may repeat some while it is written to. */
const stalePagesMax = 3;

interface HttpSourceOptions {
  readonly url: string;
  readonly key: string;
  readonly mapping: Mapping;
  readonly signal: AbortSignal;
  /** For one request; default 60 s. */
  readonly timeoutMs?: number;
  /** Before the second try; doubles each time. Default 500 ms. */
  readonly firstWaitMs?: number;
}

/** The API of another gateway. It is only read. */
export class HttpSource implements Source {
  readonly name: string;
  readonly #options: Required<HttpSourceOptions>;

  constructor(options: HttpSourceOptions) {
    this.#options = { timeoutMs: 60_000, firstWaitMs: 500, ...options };
    this.name = new URL(options.url).host;
  }

  async list(name: SectionName, values: JsonObject = {}): Promise<SectionEntries> {
    const section = this.#options.mapping[name];
    if (section === undefined) return { entries: [], gaps: [] };
    const path = filledPath(section.list.path, values);
    if (path === null) throw new SourceFailure('a name cannot stand in a path', null);
    const entries = new Map<string, JsonObject>();
    const gaps = new Set<string>();
    let stalePages = 0;
    for await (const items of this.#pages(section, path)) {
      const before = entries.size;
      const page = mappedEntries(section, items);
      for (const gap of page.gaps) gaps.add(gap);
      for (const entry of page.entries) {
        const key = keyOf(entry);
        if (!entries.has(key)) entries.set(key, { ...values, ...entry });
      }
      const isStale = items.length > 0 && entries.size === before;
      stalePages = isStale ? stalePages + 1 : 0;
      if (stalePages === stalePagesMax) {
        const fix = 'take "page" or "cursor" out of the mapping if it has one page';
        throw new SourceFailure(`the list ${path} repeats its entries: ${fix}`, null);
      }
    }
    return { entries: [...entries.values()], gaps: [...gaps] };
  }

  async whole(name: SectionName, entry: JsonObject): Promise<JsonObject> {
    const { item, fields } = this.#options.mapping[name] ?? {};
    if (item === undefined) return entry;
    const path = filledPath(item.path, entry);
    if (path === null) throw new SourceFailure('its name cannot stand in a path', null);
    const { body } = await this.#get(path);
    const value = valueAt(body, item.value);
    if (!isJsonObject(value)) throw new SourceFailure('the response is no object', null);
    return { ...entry, ...mappedFields(fields ?? {}, value) };
  }

  async *#pages({ list }: Section, path: string): AsyncGenerator<readonly Json[]> {
    const { page, cursor } = list;
    const seen = new Set<string>();
    let pages = 0;
    let bytes = 0;
    for (let number = page?.first ?? 0, at: string | null = null; ; number += 1) {
      const parameters = new URLSearchParams({
        ...(page === undefined ? {} : { [page.parameter]: String(number) }),
        ...(page?.size_parameter === undefined
          ? {}
          : { [page.size_parameter]: String(page.size ?? 100) }),
        ...(cursor === undefined || at === null ? {} : { [cursor.parameter]: at }),
      }).toString();
      const separator = path.includes('?') ? '&' : '?';
      pages += 1;
      if (pages > limits.importPagesMax) {
        const message = `the list ${path} has more than ${limits.importPagesMax} pages`;
        throw new SourceFailure(`${message}: larger pages, or a list that ends, can be read`, null);
      }
      const received = await this.#get(parameters === '' ? path : path + separator + parameters);
      const { body } = received;
      bytes += received.bytes;
      if (bytes > limits.importListBytesMax) {
        const most = limits.importListBytesMax / 1024 ** 2;
        throw new SourceFailure(`the list ${path} is larger than ${most} MB`, null);
      }
      const items = valueAt(body, list.items);
      if (!Array.isArray(items))
        throw new SourceFailure(`the response to ${path} has no list`, null);
      yield items as readonly Json[];
      if (cursor !== undefined) {
        const next = valueAt(body, cursor.at);
        if (typeof next !== 'string' || next === '') return;
        if (seen.has(next)) throw new SourceFailure(`the list ${path} repeats a cursor`, null);
        seen.add(next);
        at = next;
      } else if (page === undefined || items.length === 0) return;
    }
  }

  /** @throws SourceFailure after the last try */
  async #get(path: string): Promise<SourceResponse> {
    const { signal, firstWaitMs } = this.#options;
    for (let tries = 1; ; tries += 1) {
      const outcome = await this.#tryOnce(path);
      signal.throwIfAborted();
      if (!('failure' in outcome)) return outcome;
      if (outcome.waitMs === null || tries === triesMax) {
        const after = tries === 1 ? '' : ` after ${tries} tries`;
        throw new SourceFailure(`${outcome.failure}${after}`, outcome.status);
      }
      const wait = Math.max(outcome.waitMs, firstWaitMs * 2 ** (tries - 1));
      await sleep(Math.min(wait, waitMaxMs), undefined, { signal });
    }
  }

  async #tryOnce(path: string): Promise<Outcome> {
    const { url, key, mapping, timeoutMs, signal } = this.#options;
    const headers = Object.fromEntries(
      Object.entries(mapping.headers ?? {}).map(([name, value]) => [
        name,
        value.replaceAll('${key}', key),
      ]),
    );
    try {
      const response = await fetch(url + path, {
        headers: { accept: 'application/json', ...headers },
        // Another address must not get the key.
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      const { status } = response;
      const text = await readResponseText(response);
      if (status >= 200 && status < 300) return parsedBody(text, status);
      const isTransient = status === 408 || status === 429 || status >= 500;
      const waitMs = isTransient ? retryAfterMs(response.headers.get('retry-after')) : null;
      return { failure: `it answered ${status}`, status, waitMs };
    } catch (error) {
      if (error instanceof SourceFailure)
        return { failure: error.message, status: null, waitMs: null };
      const isTimeout = error instanceof Error && error.name === 'TimeoutError';
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const code = isJsonObject(cause) && typeof cause['code'] === 'string' ? cause['code'] : null;
      const failure = isTimeout
        ? `it did not answer within ${timeoutMs / 1000} s`
        : `it could not be reached${code === null ? '' : ` (${code})`}`;
      return { failure, status: null, waitMs: 0 };
    }
  }
}

interface SourceResponse {
  readonly body: Json;
  readonly bytes: number;
}

type Outcome =
  | SourceResponse
  /** `waitMs` null: a repetition is useless. */
  | { readonly failure: string; readonly status: number | null; readonly waitMs: number | null };

/** The key of an entry in its list: the names that the sections have in common. */
const keyOf = (entry: JsonObject): string =>
  JSON.stringify(
    ['unique_key', 'provider_config_key', 'connection_id', 'name', 'variant', 'url', 'id'].map(
      (name) => entry[name] ?? null,
    ),
  );

async function readResponseText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > responseBytesMax) {
      throw new SourceFailure(`its answer is larger than ${responseBytesMax / 1024 ** 2} MB`, null);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** A proxy before the source may answer with a page for a while: worth another try. */
function parsedBody(text: string, status: number): Outcome {
  try {
    return { body: parseExactJson(text) as Json, bytes: Buffer.byteLength(text) };
  } catch {
    return { failure: 'its answer is not JSON', status, waitMs: 0 };
  }
}

/** Seconds or a date (RFC 9110 section 10.2.3), in ms from now. */
function retryAfterMs(header: string | null): number {
  if (header === null) return 0;
  const ms = /^\d{1,6}$/.test(header)
    ? Number(header) * 1000
    : Date.parse(header) - systemClock.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}
