import { SignJWT } from 'jose';
import { textAt } from '#kernel/json-path.ts';
import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import { interpolate, type TemplateValues } from '#rules/interpolate.ts';
import { privateKeyOf, unusableKey } from '#rules/private-key.ts';
import type { SigningRules, TokenTemplate } from '../../providers/definition.ts';

/**
 * Signs the token of a provider. Values that cannot be filled are left out; `iat` and `exp` are added. A key of the
 * form `id:secret` is split: the id becomes `kid`.
 * @throws GatewayError `invalid_credentials`: the key cannot sign
 */
export async function signTemplate(
  template: TokenTemplate,
  rules: SigningRules,
  values: TemplateValues,
  now: Instant,
): Promise<{ readonly token: string; readonly expiresAt: Instant }> {
  const filledKey = interpolate(template.signing_key ?? '', values) ?? '';
  const pair = rules.protocol === 'HMAC' ? /^([^:]+):(.+)$/s.exec(filledKey) : null;
  const key = keyOf(pair?.[2] ?? filledKey, rules);
  const header = filled(template.header ?? {}, values);
  const payload = filled(template.payload ?? {}, values);
  const issuedAt = Math.floor(now / 1000);
  const expiresAt = issuedAt * 1000 + template.expires_in_ms;
  const alg = textAt(header, 'alg') ?? defaultAlgorithm[rules.protocol] ?? 'RS256';
  const kid = pair?.[1] ?? textAt(header, 'kid');
  try {
    const token = await new SignJWT({
      ...payload,
      iat: issuedAt,
      exp: Math.floor(expiresAt / 1000),
    })
      .setProtectedHeader({ ...header, alg, ...(kid === null ? {} : { kid }) })
      .sign(key);
    return { token, expiresAt };
  } catch (cause) {
    throw unusableKey(cause);
  }
}

const defaultAlgorithm: Readonly<Record<string, string>> = {
  RSA: 'RS256',
  EC: 'ES256',
  HMAC: 'HS256',
};

function keyOf(text: string, { protocol, hmac_secret_encoding: encoding }: SigningRules) {
  if (protocol === 'HMAC') return Buffer.from(text, encoding === 'utf8' ? 'utf8' : 'hex');
  return privateKeyOf(text);
}

function filled(template: JsonObject, values: TemplateValues): JsonObject {
  const entries = Object.entries(template).flatMap(([name, value]): [string, Json][] => {
    if (typeof value === 'string') {
      const text = interpolate(value, values);
      return text === null ? [] : [[name, text]];
    }
    if (Array.isArray(value)) {
      const items = (value as readonly Json[]).flatMap((item) => {
        const text = typeof item === 'string' ? interpolate(item, values) : null;
        return text === null ? [] : text.split(',').map((part) => part.trim());
      });
      return items.length === 0 ? [] : [[name, items]];
    }
    return [[name, isJsonObject(value) ? filled(value, values) : value]];
  });
  return Object.fromEntries(entries);
}
