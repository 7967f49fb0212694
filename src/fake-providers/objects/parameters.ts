import { atPath, plainText } from '#kernel/json-path.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import { patternOf } from '#modules/connections/providers/pattern.ts';
import { demand, type ReceivedRequest } from '../exchange.ts';

/** What a request sends: its query, its headers, and its body as JSON or a form. */
export class SentParameters {
  readonly query: URLSearchParams;
  readonly headers: ReceivedRequest['headers'];
  readonly body: JsonObject;

  constructor({ url, headers, body }: Pick<ReceivedRequest, 'url' | 'headers' | 'body'>) {
    this.query = url.searchParams;
    this.headers = headers;
    const type = headers['content-type'] ?? '';
    if (body === '') this.body = {};
    else if (type.startsWith('application/x-www-form-urlencoded'))
      this.body = Object.fromEntries(new URLSearchParams(body));
    else this.body = jsonOf(body);
  }

  /** From the query, else at the path of the body; null: it is not sent. */
  text(name: string): string | null {
    const inQuery = this.query.get(name);
    if (inQuery !== null) return inQuery;
    const inBody = atPath(this.body, name);
    return inBody === undefined || inBody === null ? null : plainText(inBody);
  }

  has(params: Readonly<Record<string, string>>): boolean {
    return Object.entries(params).every(([name, value]) => this.text(name) === value);
  }

  matches(patterns: Readonly<Record<string, string>>): boolean {
    return Object.entries(patterns).every(([name, pattern]) =>
      patternOf(pattern).test(this.text(name) ?? ''),
    );
  }
}

function jsonOf(body: string): JsonObject {
  let value: Json;
  try {
    value = JSON.parse(body) as Json;
  } catch {
    demand(false, 'no_json_body');
  }
  demand(typeof value === 'object' && value !== null, 'no_object_in_body');
  return value as JsonObject;
}
