import type { SvcAction } from 'svc';

interface Response<Data> {
  data?: Data | null;
  errors?: { message: string }[];
  /** Of some errors, beside the status 200. */
  error_message?: string;
}

interface Operation {
  /** Of the query or mutation. */
  name: string;
  query: string;
  variables: Record<string, unknown>;
  retries: number;
  /** Of a mutation: monday.com executes it once for a key, however often it is sent. */
  idempotencyKey?: string;
}

/** @throws Error with the messages of the response, which has the status 200 */
export async function request<Data>(
  svc: Pick<SvcAction, 'post'>,
  { name, query, variables, retries, idempotencyKey }: Operation,
): Promise<Data> {
  const { data } = await svc.post<Response<Data>>({
    endpoint: '/v2',
    ...(idempotencyKey === undefined ? {} : { headers: { 'idempotency-key': idempotencyKey } }),
    data: { operationName: name, query, variables },
    retries,
  });
  const messages = (data.errors ?? []).map(({ message }) => message);
  if (data.error_message !== undefined) messages.push(data.error_message);
  if (messages.length > 0) throw new Error(`${name}: ${messages.join('; ')}`);
  if (data.data === undefined || data.data === null) throw new Error(`${name}: no data`);
  return data.data;
}
