import type { WebhookOut } from '../events.ts';

/**
 * Names of docs/reference/webhooks-out.md#operations-in-the-log.
 * @param body null when it was not decrypted
 */
export function operationOf({ event_kind: kind }: WebhookOut, body: Uint8Array | null): string {
  if (kind !== 'auth') return kind;
  const payload = body === null ? null : (JSON.parse(Buffer.from(body).toString()) as object);
  const isCreation = payload !== null && 'operation' in payload && payload.operation === 'creation';
  return isCreation ? 'connection_create' : 'connection_refresh';
}
