import { parseRawJson } from '#kernel/exact-json.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import { savedRequest, type RequestedCall } from '../mocks/identity.ts';
import type { SavedAnswer, SavedAnswers, SavedCall } from '../mocks/mocks.ts';

/** What a sync would have stored: one call of a batch method. */
export interface Batch {
  readonly kind: 'save' | 'update' | 'delete';
  readonly model: string;
  readonly variant: string;
  readonly records: readonly JsonObject[];
}

/** A provider's unmodified response. */
export interface ProviderResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly isBinary: boolean;
}

/** Headers specific to one request, to the connection, or to the gateway. */
const momentary =
  /^(date|connection|keep-alive|content-length|transfer-encoding|set-cookie|server|via|x-request-id|traceparent|x-ratelimit-.*|x-content-type-options|access-control-.*)$/;

/** Everything that a dry run did, for its report and for its saved mocks. */
export class Journal {
  readonly batches: Batch[] = [];
  readonly #api: [string, string, SavedAnswer][] = [];
  readonly #fetch: [string, string, SavedAnswer][] = [];
  readonly #calls = new Map<string, SavedCall[]>();

  noteAnswer(where: 'api' | 'fetch', call: RequestedCall, response: ProviderResponse): void {
    const { method, path, request, hash } = savedRequest(call);
    const headers = Object.entries(response.headers).filter(([name]) => !momentary.test(name));
    const answer = {
      request,
      ...bodyOf(response),
      status: response.status,
      headers: Object.fromEntries(headers),
      hash,
    };
    (where === 'api' ? this.#api : this.#fetch).push([method, path, answer]);
  }

  noteCall(method: string, args: Json, answer: Json): void {
    this.#calls.set(method, [...(this.#calls.get(method) ?? []), { args, answer }]);
  }

  /** The records of all calls of that kind, by model. */
  recordsOf(kind: Batch['kind']): Record<string, JsonObject[]> {
    const found: Record<string, JsonObject[]> = {};
    for (const batch of this.batches) {
      if (batch.kind === kind) (found[batch.model] ??= []).push(...batch.records);
    }
    return found;
  }

  count(kind: Batch['kind']): number {
    return this.batches
      .filter((batch) => batch.kind === kind)
      .reduce((sum, { records }) => sum + records.length, 0);
  }

  get calls(): Readonly<Record<string, readonly SavedCall[]>> {
    return Object.fromEntries(this.#calls);
  }

  get api(): SavedAnswers {
    return grouped(this.#api);
  }

  get fetched(): SavedAnswers {
    return grouped(this.#fetch);
  }
}

function bodyOf({ text, isBinary }: ProviderResponse): Pick<SavedAnswer, 'response' | 'encoding'> {
  if (isBinary) {
    const bytes = Buffer.from(text, 'latin1');
    const utf8 = bytes.toString('utf8');
    if (!Buffer.from(utf8, 'utf8').equals(bytes)) {
      return { response: bytes.toString('base64'), encoding: 'base64' };
    }
    return { response: utf8 };
  }
  try {
    const parsed = parseRawJson(text) as Json;
    // A text that is itself the JSON of a string would not be restored unchanged.
    return { response: typeof parsed === 'string' ? text : parsed };
  } catch {
    return { response: text };
  }
}

function grouped(answers: readonly [string, string, SavedAnswer][]): SavedAnswers {
  const found: Record<string, Record<string, SavedAnswer[]>> = {};
  for (const [method, path, answer] of answers) ((found[method] ??= {})[path] ??= []).push(answer);
  return found;
}
