interface ConnectionHandle {
  readonly connectionId: string;
  getWebhookURL(): Promise<string | null>;
}

/**
 * The address at which the gateway receives webhooks of this connection.
 * @throws Error where the provider has no rules for webhooks
 */
export async function webhookAddress(svc: ConnectionHandle): Promise<string> {
  const url = await svc.getWebhookURL();
  if (url === null) throw new Error('The provider has no rules for webhooks');
  return `${url}?svcConnectionId=${encodeURIComponent(svc.connectionId)}`;
}

/** A secret to sign with: 32 random bytes in hex. */
export const newSecret = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex');

/** Whether the provider no longer has the webhook: there is nothing to remove. */
export function isGone(error: unknown): boolean {
  const { status } = (error as { response?: { status?: number } }).response ?? {};
  return status === 404 || status === 410;
}
