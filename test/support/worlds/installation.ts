import { createHash, createHmac } from 'node:crypto';
import { checkedFetch } from '../judges/answers.ts';
import type { Api } from './api.ts';

/** Sends what the provider of an app says of its installation; resolves with the status, and of a refusal its code. */
export async function tellInstallation(api: Api, custom: string, event: object): Promise<string> {
  const path = `/integrations/${custom}?include=webhook&include=credentials`;
  const shown = await api.call('GET', path);
  const { pathname } = new URL(String(shown.at('data.webhook_url')));
  const app = shown.at('data.credentials') as Record<'app_id' | 'private_key' | 'app_link', string>;
  const key = createHash('sha256').update(`${app.app_id}${app.private_key}${app.app_link}`);
  const body = JSON.stringify(event);
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'installation',
    'x-hub-signature-256': `sha256=${createHmac('sha256', key.digest('hex')).update(body).digest('hex')}`,
  };
  const answer = await checkedFetch(api.url + pathname, { method: 'POST', headers, body });
  const said = JSON.parse(await answer.text()) as { error?: { code: string } };
  return `${answer.status} ${said.error?.code ?? ''}`;
}
