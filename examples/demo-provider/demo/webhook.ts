import type { SvcAction, SvcSync } from 'svc';

type Handle = Pick<SvcAction | SvcSync, 'connectionId' | 'getWebhookURL' | 'put'>;

/** Asks the provider to send webhooks of changes for the connection. @returns the secret that signs them */
export async function subscribe(svc: Handle): Promise<string> {
  const url = new URL((await svc.getWebhookURL()) ?? '');
  url.searchParams.set('svcConnectionId', svc.connectionId);
  const { data } = await svc.put<{ secret: string }>({
    endpoint: '/webhook',
    data: { url: url.href },
    retries: 3,
  });
  return data.secret;
}
