import { timingSafeEqual } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { isJsonObject, type JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import type { Vault } from '#modules/access/vault/vault.ts';

/** The consent of the account to an export of one environment, encrypted to one public key. */
export interface ExportGrant {
  readonly environmentUid: string;
  readonly publicKey: JsonObject;
  readonly expiresAt: Instant;
}

const prefix = 'svc_export_';

/** The grant as text that the service recognizes later; it is no secret, and nothing is stored. */
export function writeGrant(
  vault: Pick<Vault, 'fingerprint'>,
  wanted: Pick<ExportGrant, 'environmentUid' | 'publicKey'>,
  now: Instant,
): { readonly text: string; readonly grant: ExportGrant } {
  const grant = { ...wanted, expiresAt: now + limits.exportGrantMs };
  const content = Buffer.from(JSON.stringify(grant)).toString('base64url');
  return { text: `${prefix}${content}.${vault.fingerprint('export-grant', content)}`, grant };
}

/** @throws GatewayError `forbidden` when it was changed, has expired or is of another environment */
export function readGrant(
  vault: Pick<Vault, 'fingerprint'>,
  text: string,
  environmentUid: string,
  now: Instant,
): ExportGrant {
  const [content = '', mac = ''] = text.startsWith(prefix)
    ? text.slice(prefix.length).split('.')
    : [];
  const own = Buffer.from(vault.fingerprint('export-grant', content));
  const sent = Buffer.from(mac);
  const isOurs = own.length === sent.length && timingSafeEqual(own, sent);
  const grant = isOurs
    ? (JSON.parse(Buffer.from(content, 'base64url').toString()) as unknown)
    : null;
  if (isJsonObject(grant) && grant['environmentUid'] === environmentUid) {
    const valid = grant as unknown as ExportGrant;
    if (valid.expiresAt > now) return valid;
  }
  const message = 'The grant is not of this environment, or has expired.';
  const fix = 'Get one with the account key: POST /environments/{environmentId}/exports.';
  throw new GatewayError('forbidden', { message, fix });
}
