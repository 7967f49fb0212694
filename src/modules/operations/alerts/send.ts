import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import { openSigningKeys } from '#modules/access/environments/signing-keys.ts';
import { signDelivery } from '#modules/webhooks/webhooks-out/signature.ts';
import { HttpFailure } from '#ports/http-client.ts';
import { MailFailure } from '#ports/mailer.ts';
import type { AlertDestination } from '../alert-destinations/alert-destination.ts';
import { openTarget } from '../alert-destinations/handlers.ts';
import type { OperationsServices } from '../services.ts';
import { bodyOf, slackBodyOf, summaryOf, noticeText, type NoticeContent } from './notice.ts';

export type SendDeps = Pick<OperationsServices, 'control' | 'vault' | 'http' | 'mailer' | 'clock'>;

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
