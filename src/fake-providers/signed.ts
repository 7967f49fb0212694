import { createHash, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';
import { jwtVerify } from 'jose';
import type { JsonObject } from '#kernel/stable-json.ts';
import { systemClock } from '#kernel/time.ts';
import { demand, Refusal, unauthorized, type ReceivedRequest } from './exchange.ts';
import { fill, isFilled, typedInto } from './fill.ts';
import { demandPlaced, placesAuthorization, type Rules, type Stage } from './rules.ts';
import { secret } from './tokens.ts';

const clockSkewS = 60;
const storeJwtSecondsMax = 20 * 60;

const nothingToAsk = (role: string): never => {
  throw new Refusal(404, 'not_found', `no_such_endpoint: ${role}`);
};

/** The token of a call: where the definition's headers have `${accessToken}`, else the Bearer. */
export function sentToken({ definition, known }: Stage, { headers }: ReceivedRequest): string {
  for (const [name, template] of Object.entries(definition.proxy?.headers ?? {})) {
    const [before, after] = fill(template, known).split('${accessToken}');
    if (after === undefined) continue;
    const sent = String(headers[name.toLowerCase()] ?? '');
    const fits = sent.startsWith(before ?? '') && sent.endsWith(after);
    demand(fits, `wrong_value: header ${name}`, unauthorized);
    return sent.slice((before ?? '').length, sent.length - after.length);
  }
  const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
  demand(token !== undefined, 'no_token', unauthorized);
  return token;
}

/** Values for the credential fields of the provider; the one that the token is signed with is a new key. */
export function signingFields({ definition }: Stage): {
  readonly fields: Record<string, string>;
  readonly key: KeyObject | Buffer;
  readonly kid: string | null;
} {
  const { credentials = {}, signature, token } = definition;
  const signingField = /credentials\.(\w+)/.exec(token?.signing_key ?? '')?.[1];
  const fields = Object.fromEntries(
    Object.entries(credentials)
      .filter(([name]) => name !== signingField)
      .map(([name, field]) => [name, typedInto(name, field)]),
  );
  if (signature?.protocol === 'HMAC') {
    const id = randomBytes(12).toString('hex');
    const shared = randomBytes(32).toString('hex');
    const key = Buffer.from(shared, signature.hmac_secret_encoding === 'utf8' ? 'utf8' : 'hex');
    return { fields: { ...fields, [signingField ?? '']: `${id}:${shared}` }, key, kid: id };
  }
  const { privateKey, publicKey } =
    signature?.protocol === 'EC'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { fields: { ...fields, [signingField ?? '']: pem }, key: publicKey, kid: null };
}

/** Signature, header, claims and lifetime of a token, as the definition describes it. @throws Refusal */
export async function demandJwt(
  { definition: { token: template }, known }: Stage,
  token: string,
  { key, kid }: Pick<ReturnType<typeof signingFields>, 'key' | 'kid'>,
): Promise<void> {
  const { payload, protectedHeader } = await jwtVerify(token, key, {
    requiredClaims: ['iat', 'exp'],
    clockTolerance: clockSkewS,
  }).catch((error: unknown) => {
    throw new Refusal(401, 'unauthorized', `wrong_jwt: ${String(error)}`);
  });
  demandFields(template?.header, protectedHeader, known);
  demandFields(template?.payload, payload, known);
  if (kid !== null) demand(protectedHeader.kid === kid, 'wrong_kid', unauthorized);
  const lives = Number(payload.exp) - Number(payload.iat);
  const livesMax = Math.ceil((template?.expires_in_ms ?? 0) / 1000);
  demand(lives <= livesMax, `jwt_lives_too_long: ${lives}`, unauthorized);
}

function demandFields(
  stated: JsonObject | undefined,
  sent: object,
  known: Readonly<Record<string, string>>,
): void {
  for (const [name, value] of Object.entries(stated ?? {})) {
    if (typeof value !== 'string') continue;
    const wanted = value
      .split(' || ')
      .map((alternative) => fill(alternative, known))
      .find(isFilled);
    if (wanted === undefined) continue;
    const has = (sent as Record<string, unknown>)[name];
    demand(has === wanted, `wrong_claim: ${name}`, unauthorized);
  }
}

/** Tokens that the caller signs with a key that the provider knows. */
export function jwtRules(stage: Stage): Rules {
  const { fields, ...signing } = signingFields(stage);
  for (const [name, value] of Object.entries(fields)) stage.known[`credentials.${name}`] = value;
  let notBefore = 0;
  return {
    integration: null,
    form: fields,
    importable: () => ({ type: 'JWT', ...fields }),
    answer: ({ role }) => nothingToAsk(role),
    async admit(request) {
      const token = sentToken(stage, request);
      await demandJwt(stage, token, signing);
      const { payload } = await jwtVerify(token, signing.key);
      demand(Number(payload.iat) >= notBefore, 'ended_token', unauthorized);
      demandPlaced(stage, request, [token]);
    },
    endTokens: () => {
      notBefore = Math.floor(systemClock.now() / 1000) + 1;
    },
  };
}

/** Tokens of the store's API: ES256, at most 20 minutes. */
export function appStoreRules(stage: Stage): Rules {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const given = {
    privateKeyId: secret('KEY'),
    issuerId: secret('issuer'),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
  let notBefore = 0;
  return {
    integration: null,
    form: given,
    importable: () => ({ type: 'APP_STORE', ...given }),
    answer: ({ role }) => nothingToAsk(role),
    async admit(request) {
      const token = sentToken(stage, request);
      const { payload, protectedHeader } = await jwtVerify(token, publicKey, {
        algorithms: ['ES256'],
        issuer: given.issuerId,
        audience: 'appstoreconnect-v1',
        requiredClaims: ['iat', 'exp'],
      }).catch((error: unknown) => {
        throw new Refusal(401, 'unauthorized', `wrong_jwt: ${String(error)}`);
      });
      demand(protectedHeader.kid === given.privateKeyId, 'wrong_kid', unauthorized);
      const lives = Number(payload.exp) - Number(payload.iat);
      demand(lives <= storeJwtSecondsMax, 'jwt_lives_too_long', unauthorized);
      demand(Number(payload.iat) >= notBefore, 'ended_token', unauthorized);
      demandPlaced(stage, request);
    },
    endTokens: () => {
      notBefore = Math.floor(systemClock.now() / 1000) + 1;
    },
  };
}

/** WSSE: a digest over nonce, time and password, good for as long as the definition says. */
export function signatureRules(stage: Stage): Rules {
  const username = secret('user');
  const password = secret('password');
  const livesMs = stage.definition.token?.expires_in_ms ?? 0;
  let notBefore = 0;
  return {
    integration: null,
    form: { type: 'SIGNATURE', username, password },
    importable: () => ({ type: 'SIGNATURE', username, password }),
    answer: ({ role }) => nothingToAsk(role),
    admit(request) {
      const token = sentToken(stage, request);
      const match =
        /^UsernameToken Username="([^"]+)", PasswordDigest="([^"]+)", Nonce="([0-9a-f]{32})", Created="([^"]+)"$/.exec(
          token,
        );
      demand(match !== null, 'malformed_token', unauthorized);
      const [, user, digest, nonce = '', created = ''] = match;
      demand(user === username, 'wrong_user', unauthorized);
      const sum = createHash('sha1').update(nonce).update(created).update(password).digest('hex');
      const isDigest = digest === Buffer.from(sum, 'ascii').toString('base64');
      demand(isDigest, 'wrong_digest', unauthorized);
      const madeAt = Date.parse(created);
      const age = systemClock.now() - madeAt;
      demand(age >= -clockSkewS * 1000 && age <= livesMs, 'expired_token', unauthorized);
      demand(madeAt >= notBefore, 'ended_token', unauthorized);
      demandPlaced(stage, request, [token]);
      const isPlaced = placesAuthorization(stage.definition);
      demand(isPlaced || request.headers.authorization !== undefined, 'unsigned', unauthorized);
    },
    endTokens: () => {
      notBefore = systemClock.now() + 1;
    },
  };
}
