import { setTimeout as wait } from 'node:timers/promises';
import { ApiError, type Client } from '#client/index.ts';
import { hourMs, isoMillis, systemClock } from '#kernel/time.ts';
import { stopOnInterrupt, type Context } from './context.ts';

const pollMs = 1_000;
const userId = 'cli-test';

/** Connects a test account of a new integration, if the user likes: shows the link, and how each sign-in ends. */
export async function offerTestAccount(
  context: Context,
  client: Client,
  integration: string,
): Promise<void> {
  const answer = await context.prompt('Connect a test account now? y/n ');
  if (!/^y(es)?$/i.test(answer)) return;
  const { data: session } = await client.request('POST /connect/sessions', {
    body: { end_user: { id: userId }, allowed_integrations: [integration] },
  });
  const { output } = context;
  output.result(session.connect_link);
  output.note('Open the link and sign in. Waiting for the account; Ctrl-C ends.');
  using stopping = stopOnInterrupt(context);
  const reported = new Set<string>();
  const until = Date.parse(session.expires_at);
  while (!stopping.signal.aborted && systemClock.now() < until) {
    const connection = await connectionOf(client, integration);
    if (connection !== null) {
      output.result(`Connected ${connection} of ${integration}`);
      return;
    }
    for (const line of await newFailures(client, integration, reported)) output.note(line);
    await wait(pollMs, undefined, { signal: stopping.signal }).catch(() => undefined);
  }
}

/** The connection of a new integration; null while there is none. */
async function connectionOf(client: Client, integration: string): Promise<string | null> {
  const { connections } = await client.request('GET /connections', {
    query: { integrationId: [integration], endUserId: userId, credentials: 'none', limit: 1 },
  });
  return connections[0]?.connection_id ?? null;
}

/** The sign-ins that failed and were not shown yet, with what to do; none where the key may not read the log. */
async function newFailures(
  client: Client,
  integration: string,
  reported: Set<string>,
): Promise<string[]> {
  const now = systemClock.now();
  const period = { from: isoMillis(now - hourMs), to: isoMillis(now + hourMs) };
  try {
    const { data: failed } = await client.request('POST /logs/operations', {
      body: { types: ['auth'], integrations: [integration], states: ['failed'], period },
    });
    const lines: string[] = [];
    for (const { id, message } of failed.filter((one) => !reported.has(one.id))) {
      reported.add(id);
      const { data: messages } = await client.request('POST /logs/messages', {
        body: { operationId: id, period },
      });
      const [advice] = messages.filter((one) => one.message.startsWith('What to do: '));
      lines.push(`Not connected: ${message}`, ...(advice === undefined ? [] : [advice.message]));
    }
    return lines;
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return [];
    throw error;
  }
}
