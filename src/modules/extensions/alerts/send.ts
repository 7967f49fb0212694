import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Clock } from '#kernel/time.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import { openSigningKeys } from '#modules/access/environments/queries.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import { HttpFailure, type HttpClient } from '#ports/http-client.ts';
import { MailFailure, type Mailer } from '#ports/mailer.ts';
import { signDelivery } from '#rules/signature.ts';
import type { AlertDestination, AlertKind } from '../alert-destinations/alert-destination.ts';
import { openTarget } from '../alert-destinations/handlers.ts';

/** The content of a notice to a destination. */
interface NoticeContent {
  readonly id: string;
  readonly environment: string;
  readonly kind: AlertKind | 'test';
  readonly state: 'firing' | 'recovered' | 'test';
  readonly count: number;
  readonly subjects: readonly string[];
  /** Why, by subject, where it is known. */
  readonly reasons: Readonly<Record<string, string>>;
  /** RFC 3339. */
  readonly at: string;
}

const summaries: Readonly<Record<AlertKind, readonly [one: string, many: string]>> = {
  connections_failing: ['connection fails', 'connections fail'],
  refreshes_failing: [
    'connection or integration cannot be refreshed',
    'connections or integrations cannot be refreshed',
  ],
  dead_letters: ['message was parked', 'messages were parked'],
  projections_stuck: ['projection is stuck', 'projections are stuck'],
  webhook_endpoints_disabled: [
    'webhook endpoint is disabled by failures',
    'webhook endpoints are disabled by failures',
  ],
};

/** One line, for people. */
function summaryOf({ environment, kind, state, count }: NoticeContent): string {
  if (kind === 'test') return `${environment}: this is a test of an alert destination.`;
  if (state === 'recovered') return `${environment}: recovered, no ${summaries[kind][0]} any more.`;
  return `${environment}: ${count} ${summaries[kind][count === 1 ? 0 : 1]}.`;
}

/** The summary, and the subjects one a line, with their reasons. */
function noticeText(content: NoticeContent): string {
  const lines = content.subjects.map((subject) => {
    const reason = content.reasons[subject];
    return reason === undefined ? `- ${subject}` : `- ${subject}: ${reason}`;
  });
  return [summaryOf(content), ...lines].join('\n');
}

/** The body of a webhook. */
const bodyOf = (content: NoticeContent): string =>
  JSON.stringify({
    type: 'alert',
    from: 'svc',
    id: content.id,
    environment: content.environment,
    alert: content.kind,
    state: content.state,
    summary: summaryOf(content),
    count: content.count,
    subjects: content.subjects,
    reasons: content.reasons,
    at: content.at,
  });

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Slack reads mentions and links between angle brackets: names of connections come from outside. */
const slackBodyOf = (content: NoticeContent): string =>
  JSON.stringify({
    text: noticeText(content).replaceAll(/[&<>]/g, (sign) => escapes[sign] ?? sign),
  });

export interface SendDeps extends SealedEntities {
  readonly http: HttpClient;
  readonly mailer: Mailer | null;
  readonly clock: Clock;
}

/** Responses are read up to here and discarded. */
const answerBytesMax = 64 * 1024;

export interface SendResult {
  readonly isDelivered: boolean;
  /** Of the response; null without one, and for mail. */
  readonly status: number | null;
  /** Why there is none; null for a response. It contains no part of the target. */
  readonly errorCode: string | null;
}

/** Sends the notice once. Never throws. */
export async function sendNotice(
  deps: SendDeps,
  destination: AlertDestination,
  content: NoticeContent,
): Promise<SendResult> {
  try {
    const target = await openTarget(deps.vault, destination);
    if (destination.type === 'email') {
      if (deps.mailer === null) throw new MailFailure('no_mail_server');
      const subject = `[svc] ${summaryOf(content)}`;
      await deps.mailer.send({ to: target, subject, text: noticeText(content) });
      return { isDelivered: true, status: null, errorCode: null };
    }
    const status = await post(deps, destination, target, content);
    return { isDelivered: status >= 200 && status < 300, status, errorCode: null };
  } catch (error) {
    return { isDelivered: false, status: null, errorCode: codeOf(error) };
  }
}

async function post(
  deps: SendDeps,
  { type, environmentUid }: AlertDestination,
  url: string,
  content: NoticeContent,
): Promise<number> {
  const body = Buffer.from(type === 'slack' ? slackBodyOf(content) : bodyOf(content));
  const signature =
    type === 'slack' ? {} : await signed(deps, environmentUid, { id: content.id, body });
  const { status } = await deps.http.request({
    method: 'POST',
    url: new URL(url),
    headers: { 'content-type': 'application/json', ...signature },
    body,
    timeoutMs: limits.webhookTimeoutMs,
    maxBytes: answerBytesMax,
    dropsBody: true,
  });
  return status;
}

/** As webhooks to the application are signed, with the key of the environment. */
async function signed(
  { control, vault, clock }: SendDeps,
  environmentUid: string,
  message: { readonly id: string; readonly body: Uint8Array },
) {
  const environment = control.view.find(environmentRef(environmentUid));
  if (environment === null) throw new GatewayError('not_found');
  const at = clock.now();
  return signDelivery(await openSigningKeys(vault, environment, at), { ...message, at });
}

function codeOf(error: unknown): string {
  const hasCode =
    error instanceof HttpFailure || error instanceof GatewayError || error instanceof MailFailure;
  return hasCode ? error.code : 'ERR_UNKNOWN';
}
