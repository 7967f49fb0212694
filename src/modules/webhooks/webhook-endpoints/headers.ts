import { z } from 'zod';
import { mapOf } from '#http/fields.ts';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { sealingContext, type Vault } from '#modules/access/vault/vault.ts';
import type { EndpointSettings } from './webhook-endpoint.ts';

/** Headers by their names in lower case. */
export type EndpointHeaders = Readonly<Record<string, string>>;

/** A token of RFC 9110 section 5.6.2. */
const name = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Visible characters, with blanks and tabs between them (RFC 9110 section 5.5). */
const value = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;
/** What a delivery itself says, and what belongs to one connection of the network. */
const reserved =
  /^(?:connection|content-.*|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|user-agent|webhook-.*|x-svc-.*)$/;

/** Headers of a request of the API; names become lower case. */
export const headersShape = mapOf(z.string(), z.string())
  .nullable()
  .transform((input, context): EndpointHeaders | null => {
    if (input === null) return null;
    const result: Record<string, string> = {};
    const refuse = (path: string, message: string): void => {
      context.addIssue({ code: 'custom', message, path: [path] });
    };
    if (Object.keys(input).length > limits.webhookHeadersMax) {
      refuse('', `Send at most ${limits.webhookHeadersMax} headers.`);
    }
    for (const [sent, text] of Object.entries(input)) {
      const lower = sent.toLowerCase();
      if (!name.test(sent) || sent.length > 255) refuse(sent, 'Not a name of a header.');
      else if (reserved.test(lower)) refuse(sent, 'The service itself sets this header.');
      else if (Object.hasOwn(result, lower)) refuse(sent, 'Two headers differ only in case.');
      else if (!value.test(text) || text.length > limits.webhookHeaderBytesMax) {
        refuse(sent, `Send 1 to ${limits.webhookHeaderBytesMax} visible ASCII characters.`);
      } else result[lower] = text;
    }
    return result;
  });

const contextOf = (environmentUid: string, id: string): string =>
  sealingContext(environmentUid, id, 'webhook_endpoint_headers');

/** What is stored: values may be secrets, names are shown. Undefined headers change nothing. */
export async function sealHeaders(
  vault: Vault,
  environmentUid: string,
  id: string,
  headers: EndpointHeaders | null | undefined,
): Promise<Pick<EndpointSettings, 'headers' | 'headerNames'>> {
  if (headers === undefined) return {};
  const headerNames = Object.keys(headers ?? {}).sort();
  if (headerNames.length === 0) return { headers: null, headerNames };
  await vault.ready(environmentUid);
  const text = JSON.stringify(headers);
  return { headers: vault.seal(environmentUid, text, contextOf(environmentUid, id)), headerNames };
}

/** @throws GatewayError `not_found` when the key was destroyed */
export async function openHeaders(
  vault: Vault,
  {
    environmentUid,
    id,
    headers,
  }: {
    readonly environmentUid: string;
    readonly id: string;
    readonly headers?: Sealed<string> | null;
  },
): Promise<EndpointHeaders> {
  if (headers === undefined || headers === null) return {};
  await vault.ready(environmentUid);
  const text = vault.open(environmentUid, headers, contextOf(environmentUid, id));
  return JSON.parse(text) as EndpointHeaders;
}
