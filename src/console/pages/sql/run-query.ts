import { refusal } from '#client/api-error.ts';
import type { Client, Input, SqlResult } from '#client/index.ts';

type Body = NonNullable<Input<'POST /sql'>['body']>;

/** A query with its limits. */
export type LimitedQuery = Pick<Body, 'query' | 'max_rows' | 'timeout_s'>;

export type FileFormat = 'csv' | 'json' | 'parquet';

/** A result, and how long it took. */
export interface TimedResult extends SqlResult {
  readonly milliseconds: number;
}

/** @throws ApiError */
export async function resultOf(client: Client, asked: LimitedQuery): Promise<TimedResult> {
  const start = performance.now();
  const response = await send(client, { ...asked, format: 'json' });
  // The service guarantees the shape.
  const result = (await response.json()) as SqlResult;
  return { ...result, milliseconds: performance.now() - start };
}

/** The rows as the content of a file. @throws ApiError */
export const fileOf = async (
  client: Client,
  asked: LimitedQuery,
  format: FileFormat,
): Promise<Blob> => (await send(client, { ...asked, format })).blob();

/** Not `request`: the service ends a query by its own limit of time, and rows may be no JSON. */
async function send(client: Client, body: Body): Promise<Response> {
  const response = await client.fetch('/sql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: new AbortController().signal,
  });
  if (!response.ok) throw refusal(response.status, await response.text());
  return response;
}
