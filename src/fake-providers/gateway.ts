import type { JsonObject } from '#kernel/stable-json.ts';

/** The gateway that is tested, with a full access key of one environment. */
export interface TestedGateway {
  readonly url: string;
  readonly key: string;
}

/** A response that is not the expected one. */
export class UnexpectedResponse extends Error {}

interface Call {
  readonly body?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the key of the gateway. Null: none. */
  readonly key?: string | null;
}

export interface GatewayResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Redirects are not followed. */
export async function call(
  { url, key: ownKey }: TestedGateway,
  method: string,
  path: string,
  { body, headers = {}, key = ownKey }: Call = {},
): Promise<GatewayResponse> {
  const response = await fetch(new URL(path, url), {
    method,
    redirect: 'manual',
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** @throws UnexpectedResponse with what the gateway says */
export function demandStatus(
  { status, text }: GatewayResponse,
  expected: number,
  what: string,
): void {
  if (status === expected) return;
  throw new UnexpectedResponse(`${what}: ${status} instead of ${expected}. ${messageOf(text)}`);
}

/** The message of an error of the gateway, else the beginning of the body. */
function messageOf(text: string): string {
  const shownMax = 300;
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string; message?: string } };
    if (error?.message !== undefined) return `${error.code ?? ''}: ${error.message}`;
  } catch {
    // No JSON: shown as it is.
  }
  return text.slice(0, shownMax);
}
